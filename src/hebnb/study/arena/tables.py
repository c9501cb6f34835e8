"""The tables of the arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hebnb.study.arena.comparing import (
    LEAST_LOSS,
    NOT_INSTALLED,
    NOT_REACHED,
    Comparison,
    Judged,
    mean_of,
    worst_pairs,
)
from hebnb.study.arena.contenders import CONTENDERS, HERO, titles
from hebnb.study.arena.measuring import COSTS, QUALITIES
from hebnb.study.arena.sheets import MARK, Sheet, Value

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
        against_sheet(comparison, "against", QUALITIES[:3]),
        against_sheet(comparison, "against-labels", QUALITIES[3:]),
        costs_sheet(comparison),
        worst_sheet(comparison),
        *(by_dataset(comparison, measure) for measure in (*QUALITIES, "ECE by chance")),
        folds_sheet(comparison),
        estimate_sheet(comparison),
        failures_sheet(comparison),
    ]
    return [sheet for sheet in sheets if sheet.rows]


def contenders_sheet(comparison: Comparison) -> Sheet:
    """How far everybody came, and how long it took."""
    rows: list[list[Value]] = []
    minutes = comparison.took.sum(axis="rows") / 60
    for name in comparison.contenders:
        states, partial = comparison.states[name], int(comparison.partial[name].sum())
        counts = states[states != ""].value_counts(sort=False)
        missing = ", ".join(f"{word} on {count}" for word, count in counts.items())
        done = int((states == "").sum()) - partial
        rows.append([titles()[name], done, partial, missing, float(minutes[name])])
    note = (
        f"Of {len(comparison.datasets)} datasets. Whoever failed on a fold has no result on the dataset. Minutes are "
        "by the clock, of all folds that were begun, with what it took to start."
    )
    heads = [("", ""), ("all folds", ".0f"), ("some folds", ".0f"), ("no result", ""), ("minutes", ".1f")]
    return Sheet("contenders", "How far everybody came", heads, rows, note)


def ranks_sheet(comparison: Comparison) -> Sheet:
    """Mean ranks of those that are tested, with failures and without; who is not has a dash, and is named."""
    ranks = {measure: comparison.ranks(measure) for measure in QUALITIES}
    unfailing = comparison.ranks("log-loss", comparison.unfailing)
    failed = {name: int((comparison.folds.loc[comparison.reached, name] == 0).sum()) for name in comparison.tested}
    order = sorted(comparison.contenders, key=lambda name: ranks["log-loss"].get(name, np.inf))
    rows: list[list[Value]] = [
        [titles()[name], *(ranks[m].get(name) for m in QUALITIES), failed.get(name), unfailing.get(name)]
        for name in order
    ]
    if not comparison.tested:
        rows = []
    else:
        rows.append(["Friedman p", *(_p(comparison.friedman(measure)) for measure in QUALITIES), None, None])
    untested = [titles()[name] for name in comparison.contenders if name not in comparison.tested]
    note = (
        f"{len(comparison.tested)} contenders on {len(comparison.reached)} datasets; Nemenyi's critical difference is "
        f"{comparison.critical:.2f}.{_folds_that_count(comparison)} Where a contender failed, it has the last rank; "
        f"the last column is of the {len(comparison.unfailing)} datasets on which nobody failed."
        if comparison.tested
        else ""
    )
    if untested and note:
        note += f" Without an outcome on each of these, and so without a rank: {', '.join(untested)}."
    heads = [("", ""), *((measure, ".2f") for measure in QUALITIES), ("failed on", ".0f")]
    heads.append(("log-loss, nobody failing", ".2f"))
    return Sheet("ranks", "Mean ranks", heads, rows, note)


def _folds_that_count(comparison: Comparison) -> str:
    """Of how many folds ranks are, if somebody lacks some."""
    folds = comparison.shared_folds(comparison.tested)[comparison.reached]
    fewer = folds[folds < comparison.wanted]
    if fewer.empty:
        return ""
    return (
        f" Of every dataset the folds count that all of these have, which are fewer than {comparison.wanted} on "
        f"{len(fewer)} datasets and at least {fewer.min()}."
    )


def _p(value: float) -> str | None:
    return None if np.isnan(value) else f"{value:.1e}" if value < 0.001 else f"{value:.3f}"


def against_sheet(comparison: Comparison, name: str, measures: Sequence[str]) -> Sheet:
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
    note = (
        "Over the datasets that both have, and of each the folds that both have; Wilcoxon's p, corrected for all tests "
        "of a measure by Holm's way. Level are those whom the test does not tell apart, which is not to say that they "
        "are the same."
    )
    return Sheet(name, f"{titles()[HERO]} beside everybody, by {', '.join(measures)}", heads, rows, note)


def costs_sheet(comparison: Comparison) -> Sheet:
    """Medians over the datasets that a contender has."""
    rows: list[list[Value]] = []
    tables = {cost: comparison.first(cost) if cost == "MB" else comparison.values(cost) for cost in COSTS}
    for name in comparison.contenders:
        medians = [None if table[name].isna().all() else float(table[name].median()) for table in tables.values()]
        rows.append([titles()[name], int((comparison.states[name] == "").sum()), *medians])
    heads = [("", ""), ("datasets", ".0f"), *((cost, ".0f" if cost == "MB" else ".2f") for cost in COSTS)]
    note = (
        "Medians over the datasets that a contender has, of means over its folds. CPU seconds count all threads and "
        "helpers, and depend less on what else the machine does; MB is how far the memory of the process and its "
        "helpers grew on the first fold, before which it had done nothing."
    )
    return Sheet("costs", "What it costs", heads, rows, note)


def by_dataset(comparison: Comparison, measure: str) -> Sheet:
    """A measure of everybody on every dataset, or the word for why it is not there."""
    values, states = comparison.values(measure), comparison.states
    rows: list[list[Value]] = [
        [
            dataset,
            comparison.sizes.get(dataset),
            *(states.loc[dataset, n] or float(values.loc[dataset, n]) for n in values),
        ]
        for dataset in comparison.datasets
    ]
    heads = [("", ""), ("rows", ",.0f"), *((_short(name), _DIGITS[measure]) for name in values)]
    marked = frozenset((n, 2 + m) for n, m in np.argwhere(comparison.partial.to_numpy()).tolist())
    note = (
        f"{MARK} The mean of fewer folds than {comparison.wanted}; the table of folds says how many. Other folds may "
        "be easier or harder, so compare it with nothing in its row: ranks and tests are of folds that all have."
        if marked
        else ""
    )
    return Sheet(measure.replace(" ", "-"), f"{measure.capitalize()} by dataset", heads, rows, note, marked)


def folds_sheet(comparison: Comparison) -> Sheet:
    """How many folds those have who lack some; 0 for a failure."""
    names = [name for name in comparison.contenders if comparison.partial[name].any()]
    rows: list[list[Value]] = [
        [d, *(int(comparison.folds.loc[d, name]) for name in names)] for d in comparison.datasets
    ]
    heads = [("", ""), *((_short(name), ".0f") for name in names)]
    return Sheet("folds", f"Folds of those who do not have all {comparison.wanted}", heads, rows if names else [])


def _short(name: str) -> str:
    """The names of the store are those that fit above a column."""
    return "Evidence" if name == HERO else name


def worst_sheet(comparison: Comparison, n: int = 10) -> Sheet:
    """Where EvidenceClassifier loses most."""
    peers = [name for name in comparison.contenders if not CONTENDERS[name].is_ours]
    worst = worst_pairs(comparison, HERO, peers, n) if HERO in comparison.contenders and peers else []
    rows: list[list[Value]] = [[one.dataset, titles()[one.peer], one.ours, one.theirs, one.ratio] for one in worst]
    heads = [("", ""), ("peer", ""), (titles()[HERO], ".4f"), ("theirs", ".4f"), ("ratio", ",.3g")]
    marked = frozenset((n, m) for n, one in enumerate(worst) for m in (2, 3) if one.folds < comparison.wanted)
    note = (
        "Of every dataset the peer with the highest ratio on the folds that both have; differences below 0.005 nats do "
        f"not count, and a log-loss below {LEAST_LOSS:g} counts as that."
    )
    if marked:
        note += f" {MARK} Of fewer folds than {comparison.wanted}."
    return Sheet("worst", f"Where {titles()[HERO]} loses most, by log-loss", heads, rows, note, marked)


def estimate_sheet(comparison: Comparison) -> Sheet:
    """What EvidenceClassifier said that new rows would see, and what they saw, where rows are more than a thousand."""
    rows: list[list[Value]] = []
    if HERO in comparison.contenders:
        large = [dataset for dataset, size in comparison.sizes.items() if size > 1_000]
        said, seen = (comparison.values(measure).loc[large, HERO].dropna() for measure in ("loo log-loss", "log-loss"))
        rows = [[d, said[d], seen[d], said[d] / seen[d] - 1 if seen[d] else None] for d in said.index]
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
    """Log-loss after a search for parameters, beside that of the defaults and that of EvidenceClassifier."""
    rows: list[list[Value]] = []
    before = {(one["dataset"], one["method"]): one for one in plain.outcomes}
    missing = {"state": NOT_REACHED}
    for after in tuned.outcomes:
        if after["state"] == NOT_REACHED:
            continue
        default, ours = (before.get((after["dataset"], name), missing) for name in (after["method"], HERO))
        folds = min((one["folds"] for one in (default, after) if one.get("folds")), default=0)
        losses = [one.get("state") or mean_of(one.get("log-loss"), folds) for one in (default, after, ours)]
        sets = mean_of(after.get("tried"), folds)
        rows.append([after["dataset"], titles()[after["method"]], folds, *losses, sets, after.get("budget")])
    heads = [("", ""), ("contender", ""), ("folds", ".0f"), ("at its defaults", ".4f"), ("tuned", ".4f")]
    heads += [(f"{titles()[HERO]}, untuned", ".4f"), ("sets tried", ".0f"), ("search, s a fold", ".0f")]
    note = (
        "Means over so many folds. Random search by the log-loss of inner folds, for so many seconds a fold; the "
        "defaults are always tried, however long that takes, and are counted."
    )
    return Sheet("tuned", "Log-loss with tuning", heads, rows, note)
