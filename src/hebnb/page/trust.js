// Thresholds: what is found, missed and wrongly called by the name of a class, and what that costs.
const thresholds = ({ percent, numberOf, square, key }) => {
  const $ = (id) => document.getElementById(id);
  if (!$("threshold")) return () => {};
  let shown = null;  // the class, as { name, at, found, false }
  const whole = (count) => count.toLocaleString("en");
  const cost = (id) => { const typed = numberOf($(id).value); return typed !== null && typed >= 0 && Number.isFinite(typed) ? typed : null; };
  const mistakes = (n, costs) => costs[0] * shown.false[n] + costs[1] * (shown.found[0] - shown.found[n]);
  // The last threshold that does not exceed a probability.
  const placeOf = (probability) => {
    let n = 0;
    while (n + 1 < shown.at.length && shown.at[n + 1] <= probability + 1e-12) n++;
    return n;
  };
  const costs = () => {
    const both = ["cost-false", "cost-missed"].map((id) => { $(id).setAttribute("aria-invalid", cost(id) === null ? "true" : "false"); return cost(id); });
    return both.includes(null) ? null : both;
  };
  const draw = (n) => {
    const all = shown.found[0] + shown.false[0], positives = shown.found[0], negatives = shown.false[0];
    const share = (of, among) => among ? of / among : 0;
    square($("roc"), {
      label: `ROC curve of ${shown.name}`, at: n, names: ["others called so", "found"],
      points: Array.from(shown.at, (_, k) => [share(shown.false[k], negatives), share(shown.found[k], positives)]).concat([[0, 0]]),
      tell: (k) => k < shown.at.length ? `threshold ${percent(shown.at[k], 2)}: ${percent(share(shown.found[k], positives))} are found, and ${percent(share(shown.false[k], negatives))} of the others are called so` : "above all probabilities: none are found",
      caption: [key("after", "found, against false alarms (ROC)"), key("here", "the threshold")],
    });
    square($("gain"), {
      label: `Gain curve of ${shown.name}`, at: n, names: ["rows, the most probable first", "found"],
      points: Array.from(shown.at, (_, k) => [share(shown.found[k] + shown.false[k], all), share(shown.found[k], positives)]).concat([[0, 0]]),
      tell: (k) => {
        const taken = k < shown.at.length ? shown.found[k] + shown.false[k] : 0;
        if (!taken) return "no rows";
        return `the first ${percent(share(taken, all))} of rows hold ${percent(share(shown.found[k], positives))} of ${shown.name}: ${(share(shown.found[k], positives) / share(taken, all)).toFixed(2)} times as many as by chance (lift)`;
      },
      caption: [key("after", "found among the first rows (gain)"), key("here", "the threshold")],
    });
  };
  const update = () => {
    if (!shown) return;
    const probability = Number($("threshold").value) / 100, n = placeOf(probability), both = costs();
    const found = shown.found[n], wrong = shown.false[n], missed = shown.found[0] - found, rejected = shown.false[0] - wrong;
    const all = found + wrong + missed + rejected;
    $("threshold-told").textContent = percent(probability);
    $("threshold").setAttribute("aria-valuetext", percent(probability));
    for (const [id, count] of Object.entries({ found, missed, false: wrong, rejected })) {
      $(id).textContent = whole(count);
      $(id).style.setProperty("--share", (all ? count / all : 0).toFixed(3));
    }
    const said = [found + wrong ? `Of the rows called ${shown.name}, ${percent(found / (found + wrong))} are ${shown.name} (precision)` : `No row is called ${shown.name}`];
    said.push(found + missed ? `Of the rows that are ${shown.name}, ${percent(found / (found + missed))} are called so (recall)` : "There is none to find");
    if (both) said.push(`Mistakes cost ${Number((1000 * mistakes(n, both) / all).toPrecision(4)).toLocaleString("en")} per 1,000 rows`);
    else said.push("To see what mistakes cost, type numbers that are not negative");
    $("threshold-says").textContent = `${said.join(". ")}.`;
    draw(n);
  };
  const cheapest = () => {
    const both = costs();
    if (!shown || !both) { update(); return; }
    // Of the thresholds that the slider has, the first of least cost.
    const steps = Array.from({ length: 201 }, (_, k) => k / 2), price = steps.map((step) => mistakes(placeOf(step / 100), both));
    $("threshold").value = steps[price.indexOf(Math.min(...price))];
    update();
  };
  $("threshold").addEventListener("input", update);
  for (const id of ["cost-false", "cost-missed"]) $(id).addEventListener("input", update);
  $("cheapest").addEventListener("click", cheapest);
  return (name, numbers) => {
    shown = numbers ? { name, ...numbers } : null;
    for (const element of document.querySelectorAll(".subject-name")) element.textContent = name;
    update();
  };
};
