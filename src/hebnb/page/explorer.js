"use strict";
// The explorer: predicts from the model's tables as the library does, and shows every feature's part in it.
(async () => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("model").textContent);
  const C = data.classes.length, F = data.features.length;
  const starts = [0];
  for (const feature of data.features) starts.push(starts.at(-1) + feature.labels.length);
  const W = starts[F];

  if (typeof DecompressionStream === "undefined") {
    $("status").textContent = "The explorer needs a newer browser.";
    return;
  }

  // Arrays come deflated, with bytes of equal weight side by side.
  const unpack = async ({ kind, bytes, least, step }) => {
    const packed = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const planes = new Uint8Array(await new Response(stream).arrayBuffer());
    const width = Number(kind[1]), n = planes.length / width;
    if (kind[0] === "n") {
      const numbers = new Float64Array(n);
      for (let b = width - 1; b >= 0; b--) for (let i = 0; i < n; i++) numbers[i] = numbers[i] * 256 + planes[b * n + i];
      return numbers.map((number) => (least + number) * step);
    }
    const whole = new Uint8Array(planes.length);
    for (let i = 0; i < n; i++) for (let b = 0; b < width; b++) whole[i * width + b] = planes[b * n + i];
    return new { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f8: Float64Array }[kind](whole.buffer);
  };
  const unpackAll = async (object) => {
    for (const [name, value] of Object.entries(object)) {
      if (value !== null && typeof value === "object" && "bytes" in value) object[name] = await unpack(value);
    }
  };
  await unpackAll(data);
  for (const part of [...(data.families ?? []).flat(), ...data.maps]) await unpackAll(part);
  await unpackAll(data.views ?? []);

  // The model. A code is the place of a value among its feature's choices; −1 is that of one never seen.
  const posterior = (n, total, mean, m) => (n + m * mean) / (total + m);
  const smoothed = (...numbers) => Math.log(posterior(...numbers));
  const silent = (f, v) => v < 0 || data.mean[starts[f] + v] === 0;
  const perClass = (make) => Array.from({ length: C }, (_, c) => make(c));
  const perFeature = (make) => Array.from({ length: F }, (_, f) => perClass((c) => make(f, c)));
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

  // Where the cells and contexts of a family are, by their codes.
  const placed = (codes, width) => {
    const at = new Map();
    for (let n = 0; n * width < codes.length; n++) at.set(codes.slice(n * width, (n + 1) * width).join(), n);
    return at;
  };
  for (const family of (data.families ?? []).flat()) {
    family.contextAt = placed(family.contexts, family.parents.length);
    family.cellAt = placed(family.cells, family.parents.length + 1);
  }
  // P(value | class, parents), with the table of one parent less where the parents' values never met.
  const probability = (f, families, codes, c) => {
    const mean = data.mean[starts[f] + codes[f]];
    if (!families.length) {
      return posterior(data.count[(starts[f] + codes[f]) * C + c], data.total[f * C + c], mean, data.m[f * C + c]);
    }
    const family = families.at(-1), above = probability(f, families.slice(0, -1), codes, c);
    const given = family.parents.map((parent) => codes[parent]);
    const context = family.contextAt.get(given.join());
    if (context === undefined) return above;
    const cell = family.cellAt.get([codes[f], ...given].join());
    const count = cell === undefined ? 0 : family.count[cell * C + c];
    return posterior(count, family.total[context * C + c], family.backsOff ? above : mean, family.m[c]);
  };
  const single = (f, codes, c) => silent(f, codes[f]) ? 0 : Math.log(probability(f, data.families[f], codes, c));

  let keys = null, parentAt = null;
  if (data.pairStep) {
    keys = new Float64Array(data.pairStep.length);
    for (let k = 0, key = 0; k < keys.length; k++) keys[k] = key += data.pairStep[k];
    // Totals are kept for the values of features that are a parent of some other.
    parentAt = new Map();
    let at = 0;
    data.used.forEach((row, f) => {
      if (row.some(Boolean)) { parentAt.set(f, at); at += data.features[f].labels.length; }
    });
  }
  // Where a key is among increasing ones; −1 if nowhere.
  const found = (keys, wanted, from = 0, to = keys.length) => {
    let low = from, high = to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (keys[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low < to && keys[low] === wanted ? low : -1;
  };
  const pairAt = (p, q) => found(keys, Math.min(p, q) * W + Math.max(p, q));
  const child = (i, u, j, v, c) => {
    if (silent(j, v)) return 0;
    const pair = pairAt(starts[i] + u, starts[j] + v);
    const total = data.pairTotal[((parentAt.get(i) + u) * F + j) * C + c];
    return smoothed(pair < 0 ? 0 : data.pairCount[pair * C + c], total, data.mean[starts[j] + v], data.pairM[(i * F + j) * C + c]);
  };
  const inEffect = (i, u) => u >= 0 && data.mayBeParent[starts[i] + u] === 1;
  const ofParent = (i, codes) => perFeature((f, c) => {
    const u = codes[i];
    if (f === i) {
      const imaginary = C * data.features[i].size;
      return Math.log((data.count[(starts[i] + u) * C + c] + 1) / (data.rows + imaginary)) - data.logPrior[c];
    }
    return data.used[i][f] ? child(i, u, f, codes[f], c) : single(f, codes, c);
  });

  // Tables of cells: what each adds to the scores of the classes, beyond what it adds to the first.
  const tables = data.tables ?? [], cells = new Float64Array(data.cellStep?.length ?? 0);
  let first = 0;
  for (const table of tables) {
    table.from = first;
    table.to = first += table.cells;
    for (let k = table.from, key = 0; k < table.to; k++) cells[k] = key += data.cellStep[k];
    table.views = table.views.map((place) => ({ node: data.views[place], size: Math.max(...data.views[place]) + 1 }));
  }
  // `codes` gives the code of a feature by its number; those of the table's columns are asked for.
  const cellAdds = (table, codes) => {
    let key = 0;
    table.columns.forEach((f, n) => { key = key * table.views[n].size + table.views[n].node.at(codes[f]); });
    const cell = found(cells, key, table.from, table.to);
    return perClass((c) => cell < 0 || !c ? 0 : data.cellAdds[cell * (C - 1) + c - 1]);
  };

  // Prior and parts of all tables; they add up to the score of every class.
  const evidence = (codes) => {
    if (data.tables) {
      return {
        prior: perClass((c) => data.logPrior[c] + data.offsets[c]),
        parts: tables.map((table) => cellAdds(table, codes)),
        averaging: perClass(() => 0),
      };
    }
    const alone = perFeature((f, c) => single(f, codes, c)), parents = data.parents ?? [];
    const effective = parents.map((i) => inEffect(i, codes[i]));
    const estimates = parents.map((i, place) => effective[place] ? ofParent(i, codes) : alone);
    if (data.kind !== "mean" || !parents.length) {
      const w = data.parentWeights ?? [], ofPrior = w.length ? sum(w) : 1;
      return {
        prior: perClass((c) => ofPrior * data.logPrior[c] + data.offsets[c]),
        parts: perFeature((f, c) => data.weights[f] * alone[f][c] + sum(w.map((weight, p) => weight * estimates[p][f][c]))),
        averaging: perClass(() => 0),
      };
    }
    const counted = estimates.filter((_, place) => effective[place]);
    if (!counted.length) return { prior: [...data.logPrior], parts: alone, averaging: perClass(() => 0) };
    const scores = counted.map((part) => perClass((c) => data.logPrior[c] + sum(part.map((of) => of[c]))));
    const shares = perClass((c) => softmax(scores.map((score) => score[c])));
    return {
      prior: [...data.logPrior],
      parts: perFeature((f, c) => sum(counted.map((part, p) => shares[c][p] * part[f][c]))),
      averaging: perClass((c) => sum(shares[c].map((r) => r > 0 ? -r * Math.log(r) : 0)) - Math.log(counted.length)),
    };
  };
  const softmax = (scores) => {
    const most = Math.max(...scores), powers = scores.map((score) => Math.exp(score - most)), total = sum(powers);
    return powers.map((power) => power / total);
  };
  // Of one class against the geometric mean of the others.
  const against = (scores, c) => C === 1 ? 0 : scores[c] - (sum(scores) - scores[c]) / (C - 1);

  // The state, and what is on the page.
  const state = { codes: Array(F).fill(-1), chosen: 0 };
  // Of some models a value that was never seen says something; of the others it is as good as none.
  const NONE = data.tables ? "never seen" : "not given", GAP = "missing";
  const shown = (f, v) => v < 0 ? "" : data.features[f].labels[v] ?? GAP;
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const probabilityRows = data.classes.map((label, c) => {
    const bar = make("span"), value = make("span", { class: "value" });
    const row = make("div", { class: "probability" },
      make("bdi", { class: "label", title: label }, label), make("span", { class: "track" }, bar), value);
    $("probabilities").append(row);
    $("class").append(make("option", { value: c }, label));
    return { row, bar, value };
  });

  const line = (label, control, extra = "") => {
    const bar = make("span"), value = make("span", { class: "value" });
    const row = make("div", { class: `push ${extra}` }, label, control, make("span", { class: "scale", "aria-hidden": "true" }, bar), value);
    $("pushes").append(row);
    return { row, bar, value };
  };
  const text = (content) => make("span", { class: "label" }, content);
  const priorLine = line(text("prior"), make("span", { class: "soft" }, "before any value"));
  const featureLines = data.features.map((feature, f) => {
    const label = make("label", { class: "label", for: `value-${f}` }, make("bdi", {}, feature.name));
    return line(label, combobox(f));
  });
  // Crosses of columns: lines for those that say most of a row, and one for all others.
  const crossLines = Array.from({ length: Math.min(8, Math.max(tables.length - F, 0)) }, () => {
    const label = make("span", { class: "label two" }), values = make("span", { class: "soft two" });
    return { ...line(label, values, "cross"), label, values };
  });
  const restLine = tables.length - F > crossLines.length
    ? line(text("other crosses"), make("span", { class: "soft" }, `${tables.length - F - crossLines.length} that say less of this row`)) : null;
  const averagingLine = data.kind === "mean"
    ? line(text("averaging"), make("span", { class: "soft" }, "what a mean of estimates adds")) : null;
  const sumLine = line(text("sum"), make("span", {}, ""), "sum");
  sumLine.bar.parentElement.style.visibility = "hidden";

  // A text field with a list of choices: type to filter, arrows to move, Enter to choose, Escape to leave.
  function combobox(f) {
    const { labels, edges } = data.features[f], most = 60;
    const input = make("input", {
      id: `value-${f}`, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder: NONE,
      "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": `list-${f}`,
    });
    const list = make("ul", { id: `list-${f}`, role: "listbox", hidden: "", "aria-label": data.features[f].name });
    let found = [], active = -1;
    const rows = (v) => sum(perClass((c) => data.count[(starts[f] + v) * C + c]));
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
      input.value = shown(f, state.codes[f]);
    };
    const choose = (v) => { state.codes[f] = v; close(); update(); };
    const mark = (place) => {
      active = place;
      [...list.querySelectorAll("[role=option]")].forEach((option, n) => {
        option.setAttribute("aria-selected", n === active ? "true" : "false");
        if (n === active) { input.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); }
      });
    };
    const open = (typed) => {
      const wanted = (typed ?? "").toLowerCase();
      const starting = [], containing = [];
      for (let v = 0; v < labels.length; v++) {
        const label = (labels[v] ?? GAP).toLowerCase();
        if (!wanted || label.startsWith(wanted)) starting.push(v);
        else if (label.includes(wanted)) containing.push(v);
      }
      let all = starting.concat(containing);
      // A number stands for the bin it is in.
      if (edges && wanted.trim() && !Number.isNaN(Number(wanted))) {
        const bin = edges.filter((edge) => edge < Number(wanted)).length;
        all = [bin, ...all.filter((v) => v !== bin)];
      }
      found = (wanted ? [] : [-1]).concat(all.slice(0, most));
      list.replaceChildren(...found.map((v, n) => {
        const option = make("li", { role: "option", id: `option-${f}-${n}`, "aria-selected": "false" },
          make("span", {}, v < 0 ? NONE : shown(f, v)), make("span", {}, v < 0 ? "" : rows(v).toLocaleString("en")));
        option.addEventListener("mousedown", (event) => { event.preventDefault(); choose(v); });
        return option;
      }));
      if (all.length > most) list.append(make("li", { class: "more", role: "presentation" }, `${(all.length - most).toLocaleString("en")} more: type to narrow down`));
      if (!found.length) list.append(make("li", { class: "more", role: "presentation" }, data.tables ? "no such value was seen" : "no such value was seen: it says nothing"));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      // What was typed leads to the first that fits; a list that was only opened, to what is chosen.
      mark(typed === undefined ? Math.max(found.indexOf(state.codes[f]), 0) : Math.min(found.length, 1) - 1);
    };
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => { if (list.hidden) open(); });
    input.addEventListener("input", () => open(input.value));
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (list.hidden) open();
        else mark((active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(found.length, 1));
      } else if (event.key === "Enter") {
        event.preventDefault();
        // A value that was never seen says as much as none.
        if (!list.hidden) choose(found[active] ?? -1);
      } else if (event.key === "Escape") close();
    });
    return make("div", { class: "combobox" }, input, list);
  }

  const { signed } = drawings;
  const place = (at, value, scale) => {
    const width = 50 * Math.min(Math.abs(value) / scale, 1);
    at.bar.className = value < 0 ? "against" : "for";
    at.bar.style.left = `${value < 0 ? 50 - width : 50}%`;
    at.bar.style.width = `${width}%`;
    at.value.textContent = signed(value);
    at.value.dataset.value = value;
  };

  function update() {
    const { prior, parts, averaging } = evidence(state.codes);
    const scores = perClass((c) => prior[c] + averaging[c] + sum(parts.map((part) => part[c])));
    const probabilities = softmax(scores), c = state.chosen;
    probabilityRows.forEach(({ row, bar, value }, n) => {
      row.classList.toggle("chosen", n === c);
      bar.style.width = `${100 * probabilities[n]}%`;
      value.textContent = `${(100 * probabilities[n]).toFixed(1)} %`;
      value.dataset.value = probabilities[n];
    });
    // One announcement for those who listen, instead of one for every number.
    const order = perClass((n) => n).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, 3);
    $("announced").textContent = order.map((n) => `${data.classes[n]} ${(100 * probabilities[n]).toFixed(1)} %`).join(", ");
    const pushes = parts.map((part) => against(part, c)), first = against(prior, c);
    const scale = Math.max(2, Math.abs(first), ...pushes.map(Math.abs));
    place(priorLine, first, scale);
    featureLines.forEach((at, f) => place(at, pushes[f], scale));
    const crosses = tables.map((_, t) => t).slice(F).sort((a, b) => Math.abs(pushes[b]) - Math.abs(pushes[a]));
    crossLines.forEach((at, n) => {
      const columns = tables[crosses[n]].columns, joined = (of) => columns.map(of).join(" × ");
      at.label.textContent = at.label.title = joined((f) => data.features[f].name);
      at.values.textContent = at.values.title = joined((f) => shown(f, state.codes[f]) || NONE);
      at.value.dataset.table = crosses[n];
      place(at, pushes[crosses[n]], scale);
    });
    if (restLine) place(restLine, sum(crosses.slice(crossLines.length).map((t) => pushes[t])), scale);
    if (averagingLine) place(averagingLine, against(averaging, c), scale);
    place(sumLine, against(scores, c), scale);
  }
  // Drawings are made when they come into sight, and anew for another class.
  const share = (counts, at, c) => counts[at * C + c] / sum(perClass((n) => counts[at * C + n]));
  const total = (counts, at) => sum(perClass((n) => counts[at * C + n]));
  const ofCodes = (columns, codes) => Object.fromEntries(columns.map((f, n) => [f, codes[n]]));
  const draw = (figure) => {
    const c = state.chosen, subject = data.classes[c];
    if (figure.dataset.curve) {
      const f = Number(figure.dataset.curve), { name, labels, ticks } = data.features[f];
      drawings.curve(figure, {
        name, labels, ticks, subject,
        value: (v) => against(cellAdds(tables[f], { [f]: v }), c),
        rows: (v) => total(data.count, starts[f] + v), share: (v) => share(data.count, starts[f] + v, c),
      });
      return;
    }
    const { table, sides, count } = data.maps[Number(figure.dataset.map)], [down, across] = sides;
    const columns = sides.map((side) => side.column), at = (y, x) => y * across.choices.length + x;
    drawings.heatMap(figure, {
      names: columns.map((f) => data.features[f].name), subject,
      sides: sides.map((side) => side.labels.map((label) => label ?? GAP)), of: sides.map((side) => side.of),
      value: (y, x) => against(cellAdds(tables[table], ofCodes(columns, [down.choices[y], across.choices[x]])), c),
      rows: (y, x) => total(count, at(y, x)), share: (y, x) => share(count, at(y, x), c),
    });
  };
  const figures = [...document.querySelectorAll("[data-curve], [data-map]")];
  for (const figure of figures) {
    figure.closest("details").addEventListener("toggle", (event) => { if (event.target.open) draw(figure); });
  }
  const redraw = () => figures.filter((figure) => figure.closest("details").open).forEach(draw);

  const fill = () => data.features.forEach((_, f) => { $(`value-${f}`).value = shown(f, state.codes[f]); });
  const load = (codes) => { state.codes = codes; fill(); update(); };
  const example = (n) => Array.from({ length: F }, (_, f) => data.examples[n * F + f] - 1);
  const say = (message) => { $("status").textContent = message; $("link").hidden = true; };

  // A link holds the class and the place of every value.
  const written = () => `#explorer=${state.chosen}:${state.codes.map((v) => v < 0 ? "" : v).join(".")}`;
  const read = (hash) => {
    const found = /^#explorer=(\d+):([\d.]*)$/.exec(hash);
    if (!found) return false;
    const codes = found[2].split(".").map((v) => v === "" ? -1 : Number(v));
    const fits = codes.length === F && Number(found[1]) < C && codes.every((v, f) => v < data.features[f].labels.length);
    if (!fits) { say("The link does not fit this page."); return false; }
    state.chosen = Number(found[1]);
    $("class").value = state.chosen;
    load(codes);
    redraw();
    $("explorer").scrollIntoView();
    return true;
  };

  const EMPTIED = data.tables
    ? "No value was ever seen: what is left is the prior, and what that tells."
    : "No value is given: what is left is the prior.";
  let last = -1;
  $("random").addEventListener("click", () => {
    const n = data.exampleLabels.length;
    let next = Math.floor(Math.random() * n);
    if (next === last) next = (next + 1) % n;
    last = next;
    load(example(next));
    say(`A row that is in truth ${data.classes[data.exampleLabels[next]]}.`);
  });
  $("reset").addEventListener("click", () => { load(Array(F).fill(-1)); say(EMPTIED); });
  $("class").addEventListener("change", () => { state.chosen = Number($("class").value); update(); redraw(); });
  $("copy").addEventListener("click", async () => {
    history.replaceState(null, "", written());
    try {
      await navigator.clipboard.writeText(location.href);
      say("Link copied.");
    } catch {
      say("Copy this link:");
      $("link").value = location.href;
      $("link").hidden = false;
      $("link").select();
    }
  });
  window.addEventListener("hashchange", () => read(location.hash));

  if (!read(location.hash)) load(data.exampleLabels.length ? example(0) : state.codes);
  if (location.hash === "#explorer") $("explorer").scrollIntoView();
  document.documentElement.dataset.ready = "true";
})();
