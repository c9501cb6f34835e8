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
  const packedParts = [data.families ?? [], data.maps, data.cards, Object.values(data.thresholds), data.features].flat(2);
  for (const part of packedParts) await unpackAll(part);
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
      const joint = Math.log((data.count[(starts[i] + u) * C + c] + 1) / (data.rows + imaginary));
      return joint + data.priorChange[c] - data.logPrior[c];
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

  const say = (message) => { $("status").textContent = message; $("link").hidden = true; };
  const fill = (f) => { $(`value-${f}`).value = $(`value-${f}`).title = shown(f, state.codes[f]); };

  // The state, and what is on the page. A class is shown that was picked, and as long as none was, the most probable one:
  // in the explorer that of the values, elsewhere that of no values.
  const state = { codes: Array(F).fill(-1), typed: Array(F).fill(""), picked: null, chosen: 0 };
  const order = Array.from({ length: C }, (_, c) => c).sort((a, b) => data.logPrior[b] - data.logPrior[a] || a - b);
  const subject = () => state.picked ?? order[0];
  // Of some models a value that was never seen says something; of the others it is as good as none.
  const NONE = data.tables ? "never seen" : "not given", GAP = "missing";
  const UNKNOWN = data.least > 1 ? `never seen, or fewer than ${data.least} rows have it` : "never seen";
  const { numberOf, microseconds, signed, chance, within } = drawings;
  // Why what was typed is none of the choices of a column: in a sentence, and in as few words as fit a field.
  const why = ({ edges, ofTimes }) => !edges ? UNKNOWN : `not a ${ofTimes ? "date such as 2024-12-31" : "number"}, so it counts as ${NONE}`;
  const tag = ({ edges, ofTimes }) => edges ? `not a ${ofTimes ? "date" : "number"}` : data.least > 1 ? "rare or never seen" : "never seen";
  const shown = (f, v) => v < 0 ? state.typed[f] : data.features[f].labels[v] ?? GAP;
  const rowsWith = (f, v) => data.features[f].rows?.[v] ?? sum(perClass((c) => data.count[(starts[f] + v) * C + c]));
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // Bins and whole numbers are in order; a gap, which comes last, is none of them.
  const binsOf = (f) => data.features[f].labels.filter((label) => label !== null).length;
  const stepped = (f, by) => state.codes[f] < 0 || state.codes[f] >= binsOf(f)
    ? Math.floor((binsOf(f) - 1) / 2) : Math.min(Math.max(state.codes[f] + by, 0), binsOf(f) - 1);

  // What a column adds at each of its values in order, for the class that is shown, with all other values as they are.
  const WORTH = 200_000;
  const costly = !data.tables && sum(data.features.map((feature, f) => feature.ordered ? binsOf(f) : 0)) * F * F * C > WORTH;
  const curveOf = (f, c) => Array.from({ length: binsOf(f) }, (_, v) => {
    if (data.tables) return against(cellAdds(tables[f], { [f]: v }), c);
    const codes = [...state.codes];
    codes[f] = v;
    return against(evidence(codes).parts[f], c);
  });

  const probabilityRows = [];
  for (const c of order) {
    const label = data.classes[c], bar = make("span"), value = make("span", { class: "value", "data-class": c });
    const row = make("div", { class: "probability" },
      make("bdi", { class: "label", title: label }, label), make("span", { class: "track" }, bar), value);
    $("probabilities").append(row);
    $("class").append(make("option", { value: c }, label));
    probabilityRows[c] = { row, bar, value };
  }

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
    const field = combobox(f), moved = slider(f);
    if (moved) field.append(moved.element);
    return { ...line(label, field), input: field.querySelector("input"), hint: field.querySelector(".hint"), moved };
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
  const sumOf = make("span", { class: "soft" }), sumLine = line(text("sum"), sumOf, "sum");
  sumLine.bar.parentElement.style.visibility = "hidden";

  // A text field with a list of choices: type to filter, arrows to move, Enter to choose, Escape to leave. What was typed
  // counts when the field is left, too. Where values have an order, arrows step along them while the list is closed.
  function combobox(f) {
    const { labels, edges, ofTimes, ordered, withheld } = data.features[f], most = 60;
    const input = make("input", {
      id: `value-${f}`, type: "text", role: "combobox", autocomplete: "off", spellcheck: "false", placeholder: NONE,
      "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": `list-${f}`, "aria-describedby": `hint-${f}`,
    });
    // A list that scrolls would be a stop of the tab key, if it were not said that it is none.
    const list = make("ul", { id: `list-${f}`, role: "listbox", tabindex: "-1", hidden: "", "aria-label": data.features[f].name });
    const hint = make("span", { id: `hint-${f}`, class: "hint", hidden: "" });
    let found = [], active = -1, isTyped = false;
    const close = () => {
      list.hidden = true;
      isTyped = false;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
      input.value = input.title = shown(f, state.codes[f]);
    };
    const choose = (v, typed = "") => {
      state.codes[f] = v;
      state.typed[f] = typed;
      close();
      say(typed ? `${data.features[f].name} ${typed}: ${why(data.features[f])}.` : "");
      update();
    };
    // A number, or a time in microseconds, stands for the bin it is in: as many edges as are below it.
    const binOf = (text) => {
      const number = !edges ? null : ofTimes ? microseconds(text) : numberOf(text);
      return number === null ? -1 : edges.filter((edge) => edge < number).length;
    };
    // The value that is meant by what was typed; −1 if it is none that is known. What is written the same way comes first.
    const meant = (text) => {
      const bare = (label) => label.trim().toLowerCase(), all = labels.map((label) => label ?? GAP);
      for (const same of [(label) => label === text, (label) => label.trim() === text.trim(), (label) => bare(label) === bare(text)]) {
        const found = all.findIndex(same);
        if (found >= 0) return found;
      }
      const number = edges ? null : numberOf(text);
      return number === null ? binOf(text) : labels.findIndex((label) => label !== null && numberOf(label) === number);
    };
    const take = (text) => {
      const v = text ? meant(text) : -1, says = text.trim() && text.trim().toLowerCase() !== NONE;
      choose(v, v < 0 && says ? text.trim() : "");
    };
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
      const first = wanted ? meant(wanted) : -1;
      if (first >= 0) all = [first, ...all.filter((v) => v !== first)];
      // A list that is only opened shows what is around the value that is chosen.
      const from = wanted ? 0 : within(state.codes[f] - most / 2, 0, Math.max(all.length - most, 0));
      found = (wanted ? [] : [-1]).concat(all.slice(from, from + most));
      list.replaceChildren(...found.map((v, n) => {
        const option = make("li", { role: "option", id: `option-${f}-${n}`, "aria-selected": "false" },
          make("span", {}, v < 0 ? NONE : shown(f, v)), make("span", {}, v < 0 ? "" : rowsWith(f, v).toLocaleString("en")));
        option.addEventListener("mousedown", (event) => { event.preventDefault(); choose(v); });
        return option;
      }));
      if (all.length > most) list.append(make("li", { class: "more", role: "presentation" }, `${(all.length - most).toLocaleString("en")} others: type to find them`));
      else if (!wanted && withheld) list.append(make("li", { class: "more", role: "presentation" }, `${withheld.toLocaleString("en")} that are not on this page`));
      if (!found.length) list.append(make("li", { class: "more", role: "presentation" }, why(data.features[f])));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      // What was typed leads to the first that fits; a list that was only opened, to what is chosen.
      mark(typed === undefined ? Math.max(found.indexOf(state.codes[f]), 0) : Math.min(found.length, 1) - 1);
    };
    input.addEventListener("focus", () => input.select());
    input.addEventListener("click", () => { if (list.hidden) open(); });
    input.addEventListener("input", () => { isTyped = true; open(input.value); });
    input.addEventListener("blur", () => { if (isTyped) take(input.value); else close(); });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const up = event.key === "ArrowUp";
        if (!list.hidden) mark((active + (up ? -1 : 1) + found.length) % Math.max(found.length, 1));
        else if (ordered && !event.altKey) choose(stepped(f, up ? 1 : -1));
        else open();
      } else if (event.key === "Enter") {
        event.preventDefault();
        if (list.hidden) return;
        if (isTyped && !input.value) choose(-1);
        else if (active >= 0 && active < found.length) choose(found[active]);
        else take(input.value);
      } else if (event.key === "Escape") close();
    });
    return make("div", { class: "combobox" }, input, list, hint);
  }

  // A slider along the curve of what a column adds whose values have an order.
  function slider(f) {
    const n = data.features[f].ordered ? binsOf(f) : 0;
    if (n < 2) return null;
    const input = make("input", { type: "range", min: 0, max: n - 1, step: 1, id: `slide-${f}`, "aria-label": data.features[f].name });
    const picture = drawings.svg("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" });
    input.addEventListener("input", () => {
      state.codes[f] = Number(input.value);
      state.typed[f] = "";
      say("");
      update();
      fill(f);
    });
    let drawnFor = null;
    const draw = (c) => {
      const v = state.codes[f], isSet = v >= 0 && v < n;
      input.value = isSet ? v : (n - 1) / 2;
      input.classList.toggle("unset", !isSet);
      input.setAttribute("aria-valuetext", shown(f, v) || NONE);
      if (costly || (data.tables && drawnFor === c)) return;
      drawnFor = c;
      const numbers = curveOf(f, c), most = Math.max(0.1, ...numbers.map(Math.abs));
      const points = numbers.map((number, k) => `${(100 * k / (n - 1)).toFixed(2)},${(15 - 14 * number / most).toFixed(2)}`);
      picture.replaceChildren(
        drawings.svg("line", { class: "grid", x1: 0, x2: 100, y1: 15, y2: 15 }),
        drawings.svg("polyline", { class: "after", points: points.join(" ") }));
    };
    return { element: make("div", { class: "slider" }, picture, input), draw };
  }

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
    const probabilities = softmax(scores);
    const likely = order.reduce((best, n) => probabilities[n] > probabilities[best] ? n : best, order[0]);
    const c = state.chosen = state.picked ?? likely;
    $("class").value = c;
    probabilityRows.forEach(({ row, bar, value }, n) => {
      row.classList.toggle("chosen", n === c);
      bar.style.width = `${100 * probabilities[n]}%`;
      value.textContent = C > 1 ? chance(probabilities[n]) : "100 %";
      value.dataset.value = probabilities[n];
    });
    // One announcement for those who listen, instead of one for every number.
    const first3 = perClass((n) => n).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, 3);
    $("announced").textContent = first3.map((n) => `${data.classes[n]} ${chance(probabilities[n])}`).join(", ");
    const pushes = parts.map((part) => against(part, c)), first = against(prior, c);
    const scale = Math.max(2, Math.abs(first), ...pushes.map(Math.abs));
    place(priorLine, first, scale);
    featureLines.forEach((at, f) => {
      place(at, pushes[f], scale);
      const isUnknown = state.codes[f] < 0 && state.typed[f] !== "";
      at.input.classList.toggle("unknown", isUnknown);
      at.hint.hidden = !isUnknown;
      at.hint.textContent = isUnknown ? tag(data.features[f]) : "";
      at.moved?.draw(c);
    });
    const crosses = tables.map((_, t) => t).slice(F).sort((a, b) => Math.abs(pushes[b]) - Math.abs(pushes[a]));
    crossLines.forEach((at, n) => {
      const { columns } = tables[crosses[n]];
      at.label.textContent = at.label.title = columns.map((f) => data.features[f].name).join(" × ");
      at.values.textContent = at.values.title = columns.map((f) => shown(f, state.codes[f]) || NONE).join(" · ");
      at.value.dataset.table = crosses[n];
      place(at, pushes[crosses[n]], scale);
    });
    if (restLine) place(restLine, sum(crosses.slice(crossLines.length).map((t) => pushes[t])), scale);
    if (averagingLine) place(averagingLine, against(averaging, c), scale);
    place(sumLine, against(scores, c), scale);
    sumOf.textContent = C === 2 ? `log-odds of ${chance(probabilities[c])}` : `log-odds of ${data.classes[c]} against the others`;
  }
  const share = (counts, at, c) => counts[at * C + c] / sum(perClass((n) => counts[at * C + n]));
  const total = (counts, at) => sum(perClass((n) => counts[at * C + n]));
  const ofCodes = (columns, codes) => Object.fromEntries(columns.map((f, n) => [f, codes[n]]));
  const FINEST = 10_000;
  const drawCard = (figure) => {
    const c = subject(), { name, ordered, labels, ticks, rows, rate, others } = data.cards[Number(figure.dataset.card)];
    drawings[ordered ? "steps" : "bars"](figure, {
      name, labels, ticks, subject: data.classes[c], average: data.before[c],
      rows: (v) => rows[v], share: (v) => rate[v * C + c] / FINEST,
      others: others && { ...others, share: others.rate[c] / FINEST },
    });
  };
  const drawMap = (figure) => {
    const c = subject(), { table, sides, count } = data.maps[Number(figure.dataset.map)], [down, across] = sides;
    const columns = sides.map((side) => side.column), at = (y, x) => y * across.choices.length + x;
    drawings.heatMap(figure, {
      names: columns.map((f) => data.features[f].name), subject: data.classes[c],
      sides: sides.map((side) => side.labels.map((label) => label ?? GAP)), of: sides.map((side) => side.of),
      value: (y, x) => against(cellAdds(tables[table], ofCodes(columns, [down.choices[y], across.choices[x]])), c),
      rows: (y, x) => total(count, at(y, x)), share: (y, x) => share(count, at(y, x), c),
      few: data.least > 1 ? `fewer than ${data.least} rows` : "no rows",
    });
  };
  // Crosses are drawn when they are opened, and everything anew for another class.
  const cards = [...document.querySelectorAll("[data-card]")], maps = [...document.querySelectorAll("[data-map]")];
  for (const figure of maps) {
    figure.closest("details").addEventListener("toggle", (event) => { if (event.target.open) drawMap(figure); });
  }
  const showThresholds = thresholds(drawings);
  const redraw = () => {
    cards.forEach(drawCard);
    maps.filter((figure) => figure.closest("details").open).forEach(drawMap);
    const c = data.thresholds[subject()] ? subject() : Number(Object.keys(data.thresholds)[0]);
    showThresholds(data.classes[c] ?? "", data.thresholds[c]);
  };
  const pick = (c) => {
    state.picked = c;
    for (const select of document.querySelectorAll(".subject")) select.value = subject();
    update();
    redraw();
  };

  const load = (codes) => { state.codes = codes; state.typed.fill(""); data.features.forEach((_, f) => fill(f)); say(""); update(); };
  const example = (n) => Array.from({ length: F }, (_, f) => data.examples[n * F + f] - 1);
  // A link holds the class and the place of every value.
  const written = () => `#explorer=${state.chosen}:${state.codes.map((v) => v < 0 ? "" : v).join(".")}`;
  const read = (hash) => {
    const found = /^#explorer=(\d+):([\d.]*)$/.exec(hash);
    if (!found) return false;
    const codes = found[2].split(".").map((v) => v === "" ? -1 : Number(v));
    const fits = codes.length === F && Number(found[1]) < C && codes.every((v, f) => v < data.features[f].labels.length);
    if (!fits) { say("The link does not fit this page."); return false; }
    load(codes);
    pick(Number(found[1]));
    $("explorer").scrollIntoView();
    return true;
  };

  const EMPTIED = data.tables
    ? "No value was ever seen: what is left is the prior, and what that tells."
    : "No value is given: what is left is the prior.";
  // Where there are no rows on the page, values are drawn, each as often as rows have it.
  const drawn = (f) => {
    const counts = data.features[f].labels.map((_, v) => rowsWith(f, v));
    let left = Math.random() * sum(counts);
    return counts.findIndex((count) => (left -= count) < 0);
  };
  // The most frequent value, and where values have an order, the one in the middle of the rows that have any.
  const typical = (f) => {
    const counts = data.features[f].labels.map((_, v) => rowsWith(f, v)), most = counts.indexOf(Math.max(...counts));
    const known = data.features[f].ordered ? counts.slice(0, binsOf(f)) : [];
    if (sum(known) <= sum(counts) / 2) return most;
    let left = sum(known) / 2;
    return known.findIndex((count) => (left -= count) <= 0);
  };
  const perColumn = (choose) => Array.from({ length: F }, (_, f) => choose(f));
  const showExample = (n) => {
    load(example(n));
    say(`A row that is in truth ${data.classes[data.exampleLabels[n]]}.`);
  };
  let last = 0;
  $("random").addEventListener("click", () => {
    if (!data.examples) {
      load(perColumn(drawn));
      say("Values drawn at random, each column by itself.");
      return;
    }
    const n = data.exampleLabels.length;
    let next = Math.floor(Math.random() * n);
    if (next === last) next = (next + 1) % n;
    last = next;
    showExample(next);
  });
  $("reset").addEventListener("click", () => { load(Array(F).fill(-1)); say(EMPTIED); });
  for (const select of document.querySelectorAll("#class, .subject")) select.addEventListener("change", () => pick(Number(select.value)));
  // A page within a page has an address of its own only in part: its links are followed here.
  for (const link of document.querySelectorAll("a[href^='#']")) {
    link.addEventListener("click", (event) => {
      if (location.protocol !== "about:") return;
      event.preventDefault();
      document.querySelector(link.getAttribute("href")).scrollIntoView();
    });
  }
  $("copy").addEventListener("click", async () => {
    try {
      history.replaceState(null, "", written());
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

  if (!read(location.hash)) {
    if (data.examples?.length) {
      showExample(0);
    } else {
      load(perColumn(typical));
      say("To begin with, every column has its most frequent value, or the middle one of its numbers.");
    }
    redraw();
  }
  // Where there are so many classes that they scroll, one has to get there by keyboard.
  if ($("probabilities").scrollHeight > $("probabilities").clientHeight) $("probabilities").tabIndex = 0;
  if (location.hash === "#explorer") $("explorer").scrollIntoView();
  document.documentElement.dataset.ready = "true";
})();
