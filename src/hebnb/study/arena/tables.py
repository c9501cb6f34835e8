"""The tables of the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hebnb.study.arena.comparing import NOT_INSTALLED, NOT_REACHED, Comparison, Judged, worst_pairs
from hebnb.study.arena.contenders import CONTENDERS, HERO, titles
from hebnb.study.arena.measuring import COSTS, QUALITIES
from hebnb.study.arena.sheets import Sheet, Value

_DIGITS = {
    "log-loss": ".4f",
    "Brier": ".4f",
    "ECE": ".3f",
    "ECE by chance": ".3f",
    "AUC": ".4f",
    "accuracy": ".4f",
    "macro F1": ".4f",
}


def all_sheets(comparison: Comparison) -> list[Sheet]:
    """Every table that the outcomes allow."""
    sheets = [
        contenders_sheet(comparison),
        ranks_sheet(comparison),
        against_sheet(comparison),
        costs_sheet(comparison),
        worst_sheet(comparison),
        *(by_dataset(comparison, measure) for measure in (*QUALITIES, "ECE by chance")),
        estimate_sheet(comparison),
        failures_sheet(comparison),
    ]
    return [sheet for sheet in sheets if sheet.rows]


def contenders_sheet(comparison: Comparison) -> Sheet:
    """How far everybody came, and how long it took."""
    rows: list[list[Value]] = []
    minutes = comparison.values("took s").sum(axis="rows") / 60
    for name in comparison.contenders:
        states = comparison.states[name]
        counts = states[states != ""].value_counts(sort=False)
        missing = ", ".join(f"{word} on {count}" for word, count in counts.items())
        rows.append([titles()[name], int((states == "").sum()), missing, float(minutes[name])])
    note = (
        f"Of {len(comparison.datasets)} datasets. Done is one of which a contender has all folds. Minutes are by the "
        "clock, of all folds that were begun, with what it took to start."
    )
    heads = [("", ""), ("datasets done", ".0f"), ("the others", ""), ("minutes", ".1f")]
    return Sheet("contenders", "How far everybody came", heads, rows, note)


def ranks_sheet(comparison: Comparison) -> Sheet:
    """Mean ranks of those that are tested; who is not has a dash, and is named."""
    ranks = {measure: comparison.ranks(measure) for measure in QUALITIES}
    order = sorted(comparison.contenders, key=lambda name: ranks["log-loss"].get(name, np.inf))
    rows: list[list[Value]] = [[titles()[name], *(ranks[m].get(name) for m in QUALITIES)] for name in order]
    if not comparison.tested:
        rows = []
    else:
        rows.append(["Friedman p", *(_p(comparison.friedman(measure)) for measure in QUALITIES)])
    untested = [titles()[name] for name in comparison.contenders if name not in comparison.tested]
    note = (
        f"{len(comparison.tested)} contenders on {len(comparison.reached)} datasets; Nemenyi's critical difference is "
        f"{comparison.critical:.2f}. Where a contender failed, it has the last rank."
        if comparison.tested
        else ""
    )
    if untested and note:
        note += f" Without an outcome on each of these, and so without a rank: {', '.join(untested)}."
    heads = [("", ""), *((measure, ".2f") for measure in QUALITIES)]
    return Sheet("ranks", "Mean ranks", heads, rows, note)


def _p(value: float) -> str | None:
    return None if np.isnan(value) else f"{value:.1e}" if value < 0.001 else f"{value:.3f}"


def against_sheet(comparison: Comparison, measures: Sequence[str] = ("log-loss", "Brier", "ECE")) -> Sheet:
    """EvidenceClassifier beside everybody else."""
    rows: list[list[Value]] = []
    judged: Mapping[str, Mapping[str, Judged]] = (
        {measure: comparison.against(HERO, measure) for measure in measures} if HERO in comparison.contenders else {}
    )
    for other in comparison.contenders if judged else ():
        if other == HERO:
            continue
        row: list[Value] = [titles()[other], judged[measures[0]][other].datasets]
        for measure in measures:
            one = judged[measure][other]
            row += [f"{one.outcome.wins}/{one.outcome.losses}", _p(one.adjusted), one.word]
        rows.append(row)
    heads = [("", ""), ("datasets", ".0f")]
    for measure in measures:
        heads += [(f"{measure}, won/lost", ""), ("p", ""), ("", "")]
    note = "Over the datasets that both have; Wilcoxon's p, corrected for all tests of a measure by Holm's way."
    return Sheet("against", f"{titles()[HERO]} beside everybody", heads, rows, note)


def costs_sheet(comparison: Comparison) -> Sheet:
    """Medians over the datasets that a contender has."""
    rows: list[list[Value]] = []
    for name in comparison.contenders:
        numbers = [comparison.values(cost)[name].dropna() for cost in COSTS]
        medians = [float(column.median()) if len(column) else None for column in numbers]
        rows.append([titles()[name], int((comparison.states[name] == "").sum()), *medians])
    heads = [("", ""), ("datasets", ".0f"), *((cost, ".0f" if cost == "MB" else ".2f") for cost in COSTS)]
    note = (
        "Medians over the datasets that a contender has. CPU seconds count all threads and helpers, and depend less on "
        "what else the machine does; MB is how far the memory of the process and its helpers grew."
    )
    return Sheet("costs", "What it costs", heads, rows, note)


def by_dataset(comparison: Comparison, measure: str) -> Sheet:
    """A measure of everybody on every dataset, or the word for why it is not there."""
    values, states = comparison.values(measure), comparison.states
    sizes = {outcome["dataset"]: outcome["rows"] for outcome in comparison.outcomes if outcome.get("rows")}
    rows: list[list[Value]] = [
        [dataset, sizes.get(dataset), *(states.loc[dataset, n] or float(values.loc[dataset, n]) for n in values)]
        for dataset in comparison.datasets
    ]
    heads = [("", ""), ("rows", ",.0f"), *((_short(name), _DIGITS[measure]) for name in values)]
    return Sheet(measure.replace(" ", "-"), f"{measure.capitalize()} by dataset", heads, rows)


def _short(name: str) -> str:
    """The names of the store are those that fit above a column."""
    return "Evidence" if name == HERO else name


def worst_sheet(comparison: Comparison, n: int = 10) -> Sheet:
    """Where EvidenceClassifier loses most."""
    peers = [name for name in comparison.contenders if not CONTENDERS[name].is_ours]
    worst = worst_pairs(comparison, HERO, peers, n) if HERO in comparison.contenders and peers else []
    rows: list[list[Value]] = [[one.dataset, titles()[one.peer], one.ours, one.theirs, one.ratio] for one in worst]
    heads = [("", ""), ("lowest", ""), (titles()[HERO], ".4f"), ("theirs", ".4f"), ("ratio", ".2f")]
    note = "Of every dataset the peer with the lowest log-loss; differences below 0.005 nats do not count."
    return Sheet("worst", f"Where {titles()[HERO]} loses most, by log-loss", heads, rows, note)


def estimate_sheet(comparison: Comparison) -> Sheet:
    """What EvidenceClassifier said that new rows would see, and what they saw, where rows are more than a thousand."""
    rows: list[list[Value]] = []
    for outcome in comparison.outcomes:
        if outcome["method"] == HERO and (outcome["rows"] or 0) > 1_000 and outcome.get("loo log-loss") is not None:
            said, seen = outcome["loo log-loss"], outcome["log-loss"]
            rows.append([outcome["dataset"], said, seen, said / seen - 1 if seen else None])
    heads = [("", ""), ("loo_log_loss_", ".4f"), ("log-loss", ".4f"), ("off", "+.1%")]
    return Sheet("estimate", f"What {titles()[HERO]} says of new rows, and what they see", heads, rows)


def failures_sheet(comparison: Comparison) -> Sheet:
    """Whoever failed, and why."""
    rows: list[list[Value]] = [
        [o["dataset"], titles()[o["method"]], o["state"], o["reason"].split("\n")[0][:160]]
        for o in comparison.outcomes
        if o.get("reason") and o["state"] != NOT_INSTALLED
    ]
    return Sheet("failures", "What failed", [("", ""), ("contender", ""), ("how", ""), ("reason", "")], rows)


def tuned_sheet(plain: Comparison, tuned: Comparison) -> Sheet:
    """Log-loss after a search for parameters, beside that of the defaults."""
    rows: list[list[Value]] = []
    before = {(one["dataset"], one["method"]): one for one in plain.outcomes}
    for after in tuned.outcomes:
        if after["state"] == NOT_REACHED:
            continue
        default = before.get((after["dataset"], after["method"]), {}).get("log-loss")
        found = [after["state"] or after["log-loss"], after.get("tried"), after.get("budget")]
        rows.append([after["dataset"], titles()[after["method"]], default, *found])
    heads = [("", ""), ("contender", ""), ("at its defaults", ".4f"), ("tuned", ".4f")]
    heads += [("sets tried", ".0f"), ("search, s a fold", ".0f")]
    note = (
        "Random search by the log-loss of inner folds, for so many seconds a fold. Sets of parameters are means over "
        "the folds, the defaults among them."
    )
    return Sheet("tuned", "Log-loss with tuning", heads, rows, note)
