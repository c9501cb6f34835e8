"use strict";
// Drawings of what a model's tables say. Each fits the width that it finds, and tells in words about the part that the
// pointer is over, or that the arrow keys have led to.
const drawings = (() => {
  const space = document.querySelector("svg").namespaceURI;
  const svg = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const html = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(3);
  const within = (number, low, high) => Math.min(Math.max(number, low), high);
  // Names often begin alike, so what is too long loses its middle.
  const cut = (label, most) => label.length > most ? `${label.slice(0, Math.ceil((most - 1) / 2))}…${label.slice(-Math.max(Math.floor((most - 1) / 2), 1))}` : label;
  const bdi = (content) => html("bdi", {}, content);
  const key = (name, content) => html("span", {}, html("i", { class: name }), content);

  // Put a picture into a figure. `find` gives the part at a place of the picture, `move` the one that a key leads to.
  const show = (figure, { label, width, height, parts, find, move, mark, tell, caption }) => {
    const marker = svg("rect", { class: "marker", visibility: "hidden" });
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, tabindex: "0" }, ...parts, marker);
    const words = html("p", { class: "told", "aria-live": "polite" }, "Point at a part, or use the arrow keys.");
    let at = null;
    const lead = (next) => {
      if (next === null) return;
      at = next;
      for (const [name, value] of Object.entries(mark(at))) marker.setAttribute(name, value);
      marker.setAttribute("visibility", "visible");
      words.textContent = tell(at);
    };
    const point = (event) => {
      const box = picture.getBoundingClientRect(), scale = width / box.width;
      lead(find((event.clientX - box.left) * scale, (event.clientY - box.top) * scale));
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
    picture.addEventListener("keydown", (event) => {
      const next = move(event.key, at);
      if (next === null) return;
      event.preventDefault();
      lead(next);
    });
    figure.replaceChildren(html("figcaption", { class: "legend" }, ...caption), picture, words);
  };

  // Two columns against each other. `value` is what a cell adds to the log-odds, `rows` how many rows it has.
  const heatMap = (figure, { names, sides, of, value, rows, share, subject }) => {
    const [down, across] = sides, width = within(figure.clientWidth, 240, 760), letter = 6.2;
    const room = Math.max(...down.map((label) => label.length)) * letter + 8, left = within(room, 30, 0.34 * width);
    const wide = (width - left - 2) / across.length, high = within(900 / down.length, 9, 18), w = Math.min(wide, 44);
    const longest = Math.max(...across.map((label) => label.length)), top = within(longest * letter, 14, 112) + 6;
    const height = top + high * down.length + 2;
    const numbers = down.map((_, y) => across.map((_, x) => rows(y, x) ? value(y, x) : null));
    const most = Math.max(1e-9, ...numbers.flat().map((number) => Math.abs(number ?? 0)));
    const parts = [];
    const everyX = Math.ceil(11 / w), everyY = Math.ceil(11 / high);
    across.forEach((label, x) => {
      if (x % everyX) return;
      const spot = `translate(${(left + w * (x + 0.5) + 3.5).toFixed(1)} ${top - 4}) rotate(-90)`;
      parts.push(svg("text", { class: "tick", transform: spot }, cut(label, Math.floor((top - 6) / letter))));
    });
    down.forEach((label, y) => {
      if (!(y % everyY)) parts.push(svg("text", { class: "tick", x: left - 5, y: top + high * (y + 0.5) + 3.5, "text-anchor": "end" }, cut(label, Math.floor((left - 6) / letter))));
      across.forEach((_, x) => {
        const number = numbers[y][x];
        if (number === null) return;
        parts.push(svg("rect", {
          class: number < 0 ? "against" : "for", x: (left + w * x).toFixed(2), y: (top + high * y).toFixed(2),
          width: Math.max(w - 1, w * 0.8).toFixed(2), height: high - 1, "fill-opacity": (Math.abs(number) / most).toFixed(3),
        }));
      });
    });
    parts.unshift(svg("rect", { class: "ground", x: left, y: top, width: w * across.length, height: high * down.length }));
    const noted = of.map((n, side) => n > sides[side].length ? ` (the ${sides[side].length} most frequent of ${n.toLocaleString("en")})` : "");
    show(figure, {
      label: `What ${names[0]} and ${names[1]} together add to the log-odds of ${subject}`, width, height, parts,
      find: (x, y) => {
        const cell = [Math.floor((y - top) / high), Math.floor((x - left) / w)];
        return cell[0] >= 0 && cell[0] < down.length && cell[1] >= 0 && cell[1] < across.length ? cell : null;
      },
      move: (pressed, at) => {
        const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[pressed];
        if (!step) return null;
        return at ? [within(at[0] + step[0], 0, down.length - 1), within(at[1] + step[1], 0, across.length - 1)] : [0, 0];
      },
      mark: ([y, x]) => ({ x: left + w * x - 0.5, y: top + high * y - 0.5, width: w, height: high }),
      tell: ([y, x]) => `${names[0]} ${down[y]}, ${names[1]} ${across[x]}: ` + (rows(y, x)
        ? `${signed(value(y, x))}; ${rows(y, x).toLocaleString("en")} rows, ${(100 * share(y, x)).toFixed(1)} % ${subject}` : "no rows"),
      caption: [
        html("span", {}, bdi(names[0]), `${noted[0]} down, `, bdi(names[1]), `${noted[1]} across`),
        key("against", `against ${subject}`), key("for", `for ${subject}, up to ±${most.toFixed(3)}; blank where there are no rows`),
      ],
    });
  };

  // A column of bins in order: what they add to the log-odds as a line of steps, and their rows below. A gap stands apart.
  const curve = (figure, { name, labels, ticks, value, rows, share, subject }) => {
    const width = within(figure.clientWidth, 240, 760), left = 50, top = 10, tall = 150, bars = 44, height = top + tall + bars + 34;
    const gaps = labels.filter((label) => label === null).length, n = labels.length - gaps;
    const w = (width - left - 8 - gaps * 64) / n, base = top + tall + 10 + bars;
    const edge = (v) => v < n ? left + w * v : width - 46, end = (v) => v < n ? edge(v) + w : width - 18;
    const numbers = labels.map((_, v) => value(v)), counts = labels.map((_, v) => rows(v));
    const most = Math.max(0.05, ...numbers.map(Math.abs)), fullest = Math.max(1, ...counts);
    const at = (number) => (top + tall / 2 * (1 - number / most)).toFixed(1);
    const text = (v) => labels[v] ?? "missing";
    const parts = [most, 0, -most].flatMap((number) => [
      svg("line", { class: "grid", x1: left, x2: width - 8, y1: at(number), y2: at(number) }),
      svg("text", { class: "tick", x: left - 6, y: Number(at(number)) + 3.5, "text-anchor": "end" }, number ? signed(number).slice(0, 5) : "0"),
    ]);
    counts.forEach((count, v) => {
      const high = bars * count / fullest;
      parts.push(svg("rect", { class: "bar", x: edge(v).toFixed(2), y: (base - high).toFixed(1), width: Math.max(end(v) - edge(v) - (w > 4 ? 1 : 0), 0.5).toFixed(2), height: high.toFixed(1) }));
    });
    const steps = Array.from({ length: n }, (_, v) => `${edge(v).toFixed(1)},${at(numbers[v])} ${end(v).toFixed(1)},${at(numbers[v])}`);
    parts.push(svg("polyline", { class: "after", points: steps.join(" ") }));
    for (let v = n; v < labels.length; v++) {
      parts.push(svg("polyline", { class: "after", points: `${edge(v)},${at(numbers[v])} ${end(v)},${at(numbers[v])}` }));
      parts.push(svg("text", { class: "tick", x: (edge(v) + end(v)) / 2, y: base + 15, "text-anchor": "middle" }, "missing"));
    }
    let taken = 0;
    for (const [place, label] of ticks) {
      const x = left + w * place, half = label.length * 3.1;
      if (x - half < taken || x + half > width - gaps * 72) continue;  // there is no room for it
      taken = x + half + 8;
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: base, y2: base + 4 }));
      parts.push(svg("text", { class: "tick", x, y: base + 15, "text-anchor": "middle" }, label));
    }
    show(figure, {
      label: `What ${name} adds to the log-odds of ${subject}, and how many rows have it`, width, height, parts,
      find: (x) => labels.findIndex((_, v) => x >= edge(v) && x < end(v)) + 1 || null,
      move: (pressed, found) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[pressed];
        return step ? found ? within(found + step, 1, labels.length) : 1 : null;
      },
      mark: (found) => ({ x: edge(found - 1) - 0.5, y: top, width: end(found - 1) - edge(found - 1) + 1, height: base - top }),
      tell: (found) => `${name} ${text(found - 1)}: ${signed(numbers[found - 1])}; ` +
        `${counts[found - 1].toLocaleString("en")} rows` + (counts[found - 1] ? `, ${(100 * share(found - 1)).toFixed(1)} % ${subject}` : ""),
      caption: [key("after", `log-odds for ${subject}`), key("rows", "rows; every bin is drawn as wide as the others")],
    });
  };

  return { heatMap, curve, signed };
})();
