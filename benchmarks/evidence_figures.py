"""Results of the arena for README.md: ``python benchmarks/evidence_figures.py arena/results.jsonl``.

It takes means over the five folds of the store that the arena wrote, makes tables and facts of them, and writes
``benchmarks/results/evidence.json``; ``python docs/figures.py`` then shows them. Without a store it makes the tables of
the means anew that the file has.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from hebnb.study.arena.contenders import titles
from record import FOLDER, Results, Table, Value, record

Row: TypeAlias = dict[str, Any]
FOLDS = 5
NAMES = titles()  # as the arena calls them, and as people know them
IN_README = ("evidence", "CatBoost", "LightGBM", "EBM", "logistic")
TABLES_IN_README = ("amazon-employee", "click-prediction", "adult", "bank-marketing", "flights", "nomao")
TIMED = "adult"  # the table whose fits README.md tells the seconds of
AIMS = {"amazon-employee": 1.02, "click-prediction": 1.0, "adult": 1.0, "bank-marketing": 1.01, "nomao": 1.1}
MEASURES = ("log-loss", "ECE", "loo log-loss", "fit s", "predict s")


def means_of(folds: Iterable[Row]) -> list[Row]:
    """Means of what a method measured on a dataset; if folds are missing, the reason instead."""
    groups: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    for row in folds:
        groups[row["dataset"], row["method"]][row["fold"]] = row
    return [_mean(list(rows.values())) for rows in groups.values()]


def _mean(rows: Sequence[Row]) -> Row:
    found: Row = {name: rows[0].get(name) for name in ("dataset", "method", "rows", "threads")}
    done = [row for row in rows if row.get("error") is None]
    if len(done) < FOLDS:
        return found | {"state": _state([row["error"] for row in rows if row.get("error")], len(rows))}
    for measure in MEASURES:
        numbers = [row[measure] for row in done if row.get(measure) is not None]
        found[measure] = statistics.fmean(numbers) if len(numbers) == len(done) else None
    return found


def _state(errors: Sequence[str], folds: int) -> str:
    if not errors:
        return f"{folds} folds"
    known = {"more than": "too slow", "died": "died"}
    return next((word for start, word in known.items() if any(e.startswith(start) for e in errors)), "raised")


def by_dataset(means: Sequence[Row], measure: str) -> dict[str, dict[str, float]]:
    """A measure by dataset and method, of those that have all folds."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in means:
        if row.get(measure) is not None:
            found[row["dataset"]][row["method"]] = row[measure]
    return found


def mean_ranks(losses: dict[str, dict[str, float]]) -> dict[str, float]:
    """Mean rank of every method among those that a dataset has; equal losses share their ranks."""
    ranks: dict[str, list[float]] = defaultdict(list)
    for own in losses.values():
        rounded = {method: round(loss, 6) for method, loss in own.items()}
        for method, loss in rounded.items():
            below = sum(other < loss for other in rounded.values())
            equal = sum(other == loss for other in rounded.values())
            ranks[method].append(below + (equal + 1) / 2)
    return {method: statistics.fmean(own) for method, own in ranks.items()}


def log_loss_table(means: Sequence[Row]) -> Table:
    methods = [method for method in NAMES if any(row["method"] == method for row in means)]
    cells: dict[str, dict[str, Value]] = defaultdict(dict)
    rows = {}
    for row in means:
        cells[row["dataset"]][row["method"]] = row.get("log-loss", row.get("state"))
        rows[row["dataset"]] = row["rows"]
    lines = [[name, rows[name], *(own.get(method) for method in methods)] for name, own in cells.items()]
    return Table({"": "", "rows": ",.0f"} | {NAMES[m].replace("Classifier", ""): ".4f" for m in methods}, lines)


def methods_table(means: Sequence[Row], methods: dict[str, Row]) -> Table:
    order = sorted(methods, key=lambda method: methods[method]["rank"])
    lines = [[NAMES[method], *(methods[method][part] for part in ("datasets", "rank", "ECE"))] for method in order]
    return Table({"": "", "datasets": ".0f", "mean rank of log-loss": ".2f", "mean ECE": ".3f"}, lines)


def summary(means: Sequence[Row]) -> dict[str, Row]:
    """Of every method: datasets, mean rank and mean calibration error."""
    losses, errors = by_dataset(means, "log-loss"), by_dataset(means, "ECE")
    ranks = mean_ranks(losses)
    return {
        method: {
            "datasets": sum(method in own for own in losses.values()),
            "rank": ranks[method],
            "ECE": statistics.fmean(own[method] for own in errors.values() if method in own),
        }
        for method in NAMES
        if method in ranks
    }


def aims_table(losses: dict[str, dict[str, float]]) -> Table:
    lines: list[list[Value]] = []
    for name, aim in AIMS.items():
        if {"evidence", "CatBoost"} <= losses[name].keys():
            ours, theirs = losses[name]["evidence"], losses[name]["CatBoost"]
            lines.append([name, ours, theirs, ours / theirs, aim])
    heads = {"": "", "EvidenceClassifier": ".4f", "CatBoost": ".4f", "ratio": ".4f", "aim": ".2f"}
    return Table(heads, lines)


def estimate_table(means: Sequence[Row]) -> Table:
    """The estimate of ``loo_log_loss_`` beside what it estimates, over 1,000 rows."""
    lines: list[list[Value]] = []
    for row in means:
        if row["method"] == "evidence" and row["rows"] > 1_000 and row.get("loo log-loss") is not None:
            said, seen = row["loo log-loss"], row["log-loss"]
            lines.append([row["dataset"], said, seen, said / seen - 1 if seen else None])
    return Table({"": "", "`loo_log_loss_`": ".4f", "log-loss": ".4f", "off": "+.1%"}, lines)


def readme_table(means: Sequence[Row], methods: dict[str, Row]) -> Table:
    """Log-loss on six tables with many categories, calibration over all tables, and seconds of a fit."""
    losses = by_dataset(means, "log-loss")
    seconds = by_dataset(means, "fit s")[TIMED]
    lines: list[list[Value]] = []
    names = [f"**{NAMES[m]}**" if m == "evidence" else NAMES[m] for m in IN_README]
    for name in TABLES_IN_README:
        cells = [losses[name].get(method) for method in IN_README]
        least = min((round(loss, 3) for loss in cells if loss is not None), default=None)
        shown = [None if loss is None else f"{loss:.3f}" for loss in cells]
        lines.append([name, *(f"**{text}**" if text and float(text) == least else text for text in shown)])
    for label, part, pattern in (
        ("tables that a method was run on", "datasets", ".0f"),
        (f"mean rank there, of {len(methods)} methods", "rank", ".1f"),
        ("mean calibration error there", "ECE", ".3f"),
    ):
        numbers = [methods.get(method, {}).get(part) for method in IN_README]
        lines.append([label, *(None if number is None else format(number, pattern) for number in numbers)])
    lines.append([f"seconds to fit {TIMED}", *(_seconds(seconds.get(method)) for method in IN_README)])
    return Table([("log-loss", ""), *((name, "") for name in names)], lines)


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def facts_of(means: Sequence[Row], methods: dict[str, Row]) -> dict[str, Value]:
    losses = by_dataset(means, "log-loss")
    both = [own for own in losses.values() if {"evidence", "CatBoost"} <= own.keys()]
    off = [math.inf if row[3] is None else abs(float(row[3])) for row in estimate_table(means).rows]
    return {
        "datasets": len(losses),
        "beside-catboost": len(both),
        "wins-over-catboost": sum(own["evidence"] < own["CatBoost"] for own in both),
        "ece": methods["evidence"]["ECE"],
        "estimates": len(off),
        "estimates-within-3-percent": sum(own <= 0.03 for own in off),
        "estimates-within-3.3-percent": sum(own <= 0.033 for own in off),
        "flights": losses["flights"].get("evidence"),
        "least-ece": NAMES[min(methods, key=lambda m: methods[m]["ECE"])],
        "threads": " or ".join(sorted({str(row["threads"]) for row in means if row.get("threads")})) or None,
    }


def results_of(means: Sequence[Row], methods: dict[str, Row]) -> Results:
    """Everything that README.md and the pages show of a run."""
    losses = by_dataset(means, "log-loss")
    tables = {
        "log-loss": log_loss_table(means),
        "methods": methods_table(means, methods),
        "aims": aims_table(losses),
        "estimate": estimate_table(means),
        "readme": readme_table(means, methods),
    }
    return Results(tables, facts_of(means, methods))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, nargs="?", help="the file that the arena wrote")
    store = parser.parse_args().store
    if store is None:
        before = json.loads((FOLDER / "evidence.json").read_text())
        means, methods = before["means"], before["methods"]
        source = {name: before[name] for name in ("command", "note", "versions") if name in before}
    else:
        means = means_of(map(json.loads, store.read_text().splitlines()))
        methods = summary(means)
        source = {}
    print(record("evidence", results_of(means, methods), source | {"means": means, "methods": methods}))


if __name__ == "__main__":
    main()
