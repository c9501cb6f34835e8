"use strict";
// Drawings of what a model's tables say. Each fits the width that it finds, and tells in words about the part that the
// pointer is over, or that the arrow keys have led to.
const drawings = (() => {
  const holder = document.createElement("template");
  holder.innerHTML = "<svg></svg>";
  const space = holder.content.firstChild.namespaceURI;
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
  const signed = (number) => {
    const digits = Math.abs(number).toFixed(3);
    return Number(digits) === 0 ? digits : (number < 0 ? "−" : "+") + digits;
  };
  // A probability that is nearly none, or nearly sure, is not said to be so.
  const chance = (share) => share < 0.0005 ? "< 0.1 %" : share > 0.9995 ? "> 99.9 %" : percent(share);
  // A number as people write it, and this page: with either minus, with commas between thousands. Null if it is none.
  const numberOf = (text) => {
    const plain = text.trim().replaceAll("−", "-");
    const bare = /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(plain) ? plain.replaceAll(",", "") : plain;
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare) ? Number(bare) : null;
  };
  // A date, or a time of one, in microseconds since 1970. Null if it is none: browsers take nearly all text for a date.
  const microseconds = (text) => {
    const found = /^(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?(?:[T ](\d\d?):(\d\d)(?::(\d\d)(\.\d+)?)?)?$/.exec(text.trim());
    if (!found) return null;
    const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part, n) => Number(part ?? (n === 1 || n === 2 ? 1 : 0)));
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute, second);
    const fits = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
    return fits.join() === [month, day, hour, minute, second].join() ? 1000 * date.getTime() + Math.round(1e6 * Number(found[7] ?? 0)) : null;
  };
  const within = (number, low, high) => Math.min(Math.max(number, low), high);
  // How wide a text is at an axis, in pixels, and the text with as much of it as has room. Names often begin alike, so
  // what is too long loses its middle.
  const measured = document.createElement("canvas").getContext("2d");
  const wide = (text) => {
    measured.font = `10.5px ${getComputedStyle(document.body).fontFamily}`;
    return measured.measureText(text).width;
  };
  const cut = (label, room) => {
    const letters = [...label], shorter = (kept) => [...letters.slice(0, Math.ceil(kept / 2)), "…", ...letters.slice(letters.length - Math.floor(kept / 2))].join("");
    if (wide(label) <= room) return label;
    let kept = letters.length - 1;
    while (kept > 1 && wide(shorter(kept)) > room) kept--;
    return shorter(kept);
  };
  const bdi = (content) => html("bdi", {}, content);
  const key = (name, content) => html("span", {}, html("i", { class: name }), content);

  // Put a picture into a figure. `find` gives the part at a place of the picture, `move` the one that a key leads to.
  const show = (figure, { label, width, height, parts, find, move, mark, tell, caption, hint = "" }) => {
    const marker = svg("rect", { class: "marker", visibility: "hidden" });
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, tabindex: "0" }, ...parts, marker);
    const words = html("p", { class: "told", "aria-live": "polite" }, hint);
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
  const heatMap = (figure, { names, sides, of, value, rows, share, subject, few }) => {
    const [down, across] = sides, width = within(figure.clientWidth, 240, 760);
    const left = within(Math.max(...down.map(wide)) + 8, 30, 0.34 * width);
    const high = within(900 / down.length, 9, 18), w = Math.min((width - left - 2) / across.length, 44);
    const top = within(Math.max(...across.map(wide)), 14, 112) + 6;
    const height = top + high * down.length + 2;
    const numbers = down.map((_, y) => across.map((_, x) => rows(y, x) ? value(y, x) : null));
    const most = Math.max(1e-9, ...numbers.flat().map((number) => Math.abs(number ?? 0)));
    const parts = [];
    const everyX = Math.ceil(11 / w), everyY = Math.ceil(11 / high);
    across.forEach((label, x) => {
      if (x % everyX) return;
      const spot = `translate(${(left + w * (x + 0.5) + 3.5).toFixed(1)} ${top - 4}) rotate(-90)`;
      parts.push(svg("text", { class: "tick", transform: spot }, cut(label, top - 6)));
    });
    down.forEach((label, y) => {
      if (!(y % everyY)) parts.push(svg("text", { class: "tick", x: left - 5, y: top + high * (y + 0.5) + 3.5, "text-anchor": "end" }, cut(label, left - 6)));
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
      hint: "Point at a cell, or use the arrow keys.",
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
        ? `${signed(value(y, x))}; ${rows(y, x).toLocaleString("en")} rows, ${(100 * share(y, x)).toFixed(1)} % ${subject}` : few),
      caption: [
        html("span", {}, bdi(names[0]), `${noted[0]} down, `, bdi(names[1]), `${noted[1]} across`),
        key("against", `against ${subject}`), key("for", `for ${subject}, up to ±${most.toFixed(3)}; blank: ${few}`),
      ],
    });
  };

  // Multiples of a round step between two numbers, at most so many.
  const roundTicks = (low, high, most = 3) => {
    if (!(high > low)) return [low];
    const power = 10 ** Math.floor(Math.log10((high - low) / most));
    for (const factor of [1, 2, 2.5, 5, 10, 20, 50]) {
      const step = factor * power, first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
      if (last - first < most) return Array.from({ length: last - first + 1 }, (_, n) => Number(((first + n) * step).toPrecision(12)));
    }
    return [low, high];
  };
  // Every one, every second, every third … of the texts at an axis, so that none touches the next.
  const withRoom = (placed) => {
    for (let step = 1; step < placed.length; step++) {
      const kept = placed.filter((_, n) => n % step === 0);
      if (kept.every((own, n) => !n || kept[n - 1].x + kept[n - 1].half + 8 <= own.x - own.half)) return kept;
    }
    return placed.slice(0, 1);
  };
  const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
  const tickPercent = (share) => `${Number((100 * share).toPrecision(6))} %`;
  const rowsOf = (count) => `${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}`;
  // The ends of an axis of shares that has room for all of them, and some air.
  const span = (shares) => {
    const low = Math.min(...shares), high = Math.max(...shares), air = Math.max(0.08 * (high - low), 0.005);
    return [Math.max(0, low - air), Math.min(1, high + air)];
  };
  const told = (name, label, count, share, subject) =>
    `${name} ${label}: ${rowsOf(count)}` + (share === null ? "" : `, ${percent(share)} ${subject}`);

  // A column whose values have an order: the share of a class as a line of steps, and the rows of every value below.
  const steps = (figure, { name, labels, ticks, rows, share, average, others, subject }) => {
    const width = within(figure.clientWidth, 240, 760), left = 46, top = 8, tall = 96, bars = 38, height = top + tall + bars + 32;
    const gaps = labels.filter((label) => label === null).length, n = labels.length - gaps;
    const apart = gaps ? 58 : 0, w = (width - left - 8 - apart) / Math.max(n, 1), base = top + tall + 8 + bars;
    const edge = (v) => v < n ? left + w * v : width - 44, end = (v) => v < n ? edge(v) + w : width - 18;
    const fullest = Math.max(1, ...labels.slice(0, n || undefined).map((_, v) => rows(v)));
    const [low, high] = span([average, ...labels.map((_, v) => share(v))]);
    const at = (number) => (top + tall * (1 - (number - low) / (high - low))).toFixed(1);
    const text = (v) => labels[v] ?? "missing";
    const parts = roundTicks(low, high).flatMap((number) => [
      svg("line", { class: "grid", x1: left, x2: width - 8, y1: at(number), y2: at(number) }),
      svg("text", { class: "tick", x: left - 6, y: Number(at(number)) + 3.5, "text-anchor": "end" }, tickPercent(number)),
    ]);
    parts.push(svg("line", { class: "diagonal", x1: left, x2: width - 8, y1: at(average), y2: at(average) }));
    labels.forEach((_, v) => {
      // Gaps may be many more than the rows of a bin: then their number is written instead.
      const isCut = rows(v) > fullest, tallness = isCut ? bars - 11 : bars * rows(v) / fullest;
      if (isCut) parts.push(svg("text", { class: "tick", x: (edge(v) + end(v)) / 2, y: base - tallness - 3, "text-anchor": "middle" }, rows(v).toLocaleString("en")));
      parts.push(svg("rect", { class: "bar", x: edge(v).toFixed(2), y: (base - tallness).toFixed(1), width: Math.max(end(v) - edge(v) - (w > 4 ? 1 : 0), 0.5).toFixed(2), height: tallness.toFixed(1) }));
    });
    const line = (v) => `${edge(v).toFixed(1)},${at(share(v))} ${end(v).toFixed(1)},${at(share(v))}`;
    parts.push(svg("polyline", { class: "after", points: Array.from({ length: n }, (_, v) => line(v)).join(" ") }));
    for (let v = n; v < labels.length; v++) {
      parts.push(svg("polyline", { class: "after", points: line(v) }));
      parts.push(svg("text", { class: "tick", x: (edge(v) + end(v)) / 2, y: base + 15, "text-anchor": "middle" }, "missing"));
    }
    const placed = ticks.map(([place, label]) => ({ x: left + w * place, half: wide(label) / 2, label }))
      .filter(({ x, half }) => x + half <= width - (gaps ? 66 : 0));
    for (const { x, label } of withRoom(placed)) {
      parts.push(svg("line", { class: "grid", x1: x, x2: x, y1: base, y2: base + 4 }));
      parts.push(svg("text", { class: "tick", x, y: base + 15, "text-anchor": "middle" }, label));
    }
    show(figure, {
      label: `The share of ${subject} by ${name}, and how many rows have every value`, width, height, parts,
      find: (x) => labels.findIndex((_, v) => x >= edge(v) && x < end(v)) + 1 || null,
      move: (pressed, found) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[pressed];
        return step ? found ? within(found + step, 1, labels.length) : 1 : null;
      },
      mark: (found) => ({ x: edge(found - 1) - 0.5, y: top, width: end(found - 1) - edge(found - 1) + 1, height: base - top }),
      tell: (found) => told(name, text(found - 1), rows(found - 1), share(found - 1), subject),
      caption: [key("after", `share of ${subject}`), key("average", `without it ${percent(average)}`), key("rows", "rows"),
        ...(others ? [html("span", {}, `not drawn: ${others.values.toLocaleString("en")} values that few rows have, ${rowsOf(others.rows)}`)] : [])],
    });
  };

  // A column of categories: a line each, with bars of their rows and marks of the share of a class.
  const bars = (figure, { name, labels, rows, share, average, others, subject }) => {
    const width = within(figure.clientWidth, 240, 760), high = 17, top = 4;
    const texts = labels.map((label) => label ?? "missing"), n = texts.length + (others ? 1 : 0);
    if (others) texts.push(`the other ${others.values.toLocaleString("en")}`);
    const count = (v) => v < labels.length ? rows(v) : others.rows, of = (v) => v < labels.length ? share(v) : others.share;
    const left = within(Math.max(0, ...texts.map(wide)) + 8, 30, 0.34 * width);
    const middle = left + 0.46 * (width - left), right = width - 22, height = top + high * n + 22;
    const fullest = Math.max(1, ...labels.map((_, v) => count(v)));
    const [low, most] = span([average, ...texts.map((_, v) => of(v))]);
    const at = (number) => (middle + 30 + (right - middle - 30) * (number - low) / (most - low)).toFixed(1);
    const y = (v) => top + high * v;
    const numbers = roundTicks(low, most, within(Math.floor((right - middle - 30) / 40), 1, 4));
    const placed = numbers.map((number) => ({ x: Number(at(number)), half: wide(tickPercent(number)) / 2, label: tickPercent(number) }));
    const parts = withRoom(placed).flatMap(({ x, label }) => [
      svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: top + high * n }),
      svg("text", { class: "tick", x, y: height - 6, "text-anchor": "middle" }, label),
    ]);
    parts.push(svg("line", { class: "diagonal", x1: at(average), x2: at(average), y1: top, y2: top + high * n }));
    texts.forEach((label, v) => {
      const long = (middle - left - 34) * Math.min(count(v) / fullest, 1);
      parts.push(svg("text", { class: v < labels.length ? "tick" : "tick rest", x: left - 6, y: y(v) + 12, "text-anchor": "end" }, cut(label, left - 6)));
      parts.push(svg("rect", { class: "bar", x: left, y: y(v) + 3, width: Math.max(long, 0.5).toFixed(1), height: high - 6 }));
      parts.push(svg("text", { class: "tick", x: (left + long + 4).toFixed(1), y: y(v) + 12 }, (count(v) > fullest ? "› " : "") + count(v).toLocaleString("en")));
      parts.push(svg("line", { class: "stem", x1: at(average), x2: at(of(v)), y1: y(v) + high / 2, y2: y(v) + high / 2 }));
      parts.push(svg("circle", { class: "after", cx: at(of(v)), cy: y(v) + high / 2, r: 3.5 }));
    });
    show(figure, {
      label: `Rows and share of ${subject} by ${name}`, width, height, parts,
      find: (_, down) => { const v = Math.floor((down - top) / high); return v >= 0 && v < n ? v + 1 : null; },
      move: (pressed, found) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[pressed];
        return step ? found ? within(found + step, 1, n) : 1 : null;
      },
      mark: (found) => ({ x: left - 2, y: y(found - 1) + 0.5, width: width - left, height: high - 1 }),
      tell: (found) => told(name, texts[found - 1], count(found - 1), of(found - 1), subject),
      caption: [key("rows", "rows"), key("after", `share of ${subject}`), key("average", `without it ${percent(average)}`)],
    });
  };

  // A curve in the unit square, from (0, 0) to (1, 1), with a mark at one of its points.
  const square = (figure, { label, points, names, at, tell, caption }) => {
    const width = 320, height = 296, left = 50, side = 240, bottom = 8 + side;
    const x = (share) => (left + side * share).toFixed(1), y = (share) => (bottom - side * share).toFixed(1);
    const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: x(share), x2: x(share), y1: 8, y2: bottom }),
      svg("line", { class: "grid", x1: left, x2: left + side, y1: y(share), y2: y(share) }),
      svg("text", { class: "tick", x: x(share), y: bottom + 15, "text-anchor": "middle" }, tickPercent(share)),
      svg("text", { class: "tick", x: left - 6, y: Number(y(share)) + 3.5, "text-anchor": "end" }, tickPercent(share)),
    ]);
    parts.push(svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    parts.push(svg("polyline", { class: "after", points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }));
    parts.push(svg("circle", { class: "here", cx: x(points[at][0]), cy: y(points[at][1]), r: 5 }));
    parts.push(svg("text", { class: "axis", x: left + side / 2, y: bottom + 36, "text-anchor": "middle" }, names[0]));
    parts.push(svg("text", { class: "axis", transform: `translate(11 ${8 + side / 2}) rotate(-90)`, "text-anchor": "middle" }, names[1]));
    const nearest = (across) => points.reduce((best, point, n) => Math.abs(left + side * point[0] - across) < Math.abs(left + side * points[best][0] - across) ? n : best, 0);
    show(figure, {
      label, width, height, parts, hint: "Point at the curve, or use the arrow keys.", find: (across) => nearest(across) + 1,
      move: (pressed, found) => {
        const step = { ArrowRight: -1, ArrowLeft: 1 }[pressed];  // thresholds fall from left to right
        return step ? within((found ?? at + 1) + step, 1, points.length) : null;
      },
      mark: (found) => ({ x: Number(x(points[found - 1][0])) - 4, y: Number(y(points[found - 1][1])) - 4, width: 8, height: 8 }),
      tell: (found) => tell(found - 1), caption,
    });
  };

  return { heatMap, steps, bars, square, signed, percent, chance, numberOf, microseconds, within, rowsOf, html, svg, key };
})();
