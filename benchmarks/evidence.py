"""How long EvidenceClassifier takes, beside LightGBM and CatBoost: ``HEBNB_DATA=FOLDER python benchmarks/evidence.py``.

The sides take turns, so that a busy moment of the machine hits both. Threads of LightGBM wait by spinning: beside other
work they are many times slower than on a machine of their own. How good everybody's probabilities are is for the arena:
``python -m hebnb.study --arena``. ``--record`` writes ``benchmarks/results/evidence_speed.json``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import numpy as np

from hebnb.study.arena.children import OPENMP, pin
from hebnb.study.arena.command import FOLDS
from hebnb.study.arena.contenders import CONTENDERS
from hebnb.study.arena.folds import Fold, Rows, as_table, rows_of
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS
from hebnb.study.sources import Bundled, Folder
from measure import medians
from record import Results, Table, Value, record

SETTINGS = Settings(folds=FOLDS)
# Seconds of both sides.
Times: TypeAlias = tuple[float, float]
SPEED = ("adult", "bank-marketing", "amazon-employee", "click-prediction")


def load(name: str) -> Rows:
    dataset = DATASETS[name]
    source = Folder(Path(os.environ["HEBNB_DATA"])) if dataset.openml_id else Bundled()
    return rows_of(dataset, source.load(dataset), SETTINGS)


def first_fold(name: str) -> Fold:
    return next(load(name).folds(SETTINGS))


def sides(method: str, fold: Fold, threads: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """To fit, and to predict with what was fitted."""
    train, test = CONTENDERS[method].view(fold)
    model = CONTENDERS[method].make(fold, threads)
    return lambda: model.fit(train, fold.train_labels), lambda: model.predict_proba(test)


def compare(what: str, one: tuple[str, Fold], other: tuple[str, Fold], threads: int, repeat: int) -> list[Times]:
    """Fit times of two methods that take turns, then those of their predictions."""
    pairs = zip(sides(*one, threads), sides(*other, threads), strict=True)
    found = []
    for verb, pair in zip(("fit", "predict"), pairs, strict=True):
        ours, theirs = medians(pair, repeat)
        print(f"{f'{what}: {verb}':<58}{1e3 * ours:>10.1f}{1e3 * theirs:>10.1f}{ours / theirs:>8.2f}", flush=True)
        found.append((ours, theirs))
    return found


def synthetic(rows: int, columns: int) -> Fold:
    """As many columns of thirty categories as of numbers, all leaning towards the label; a fifth is for predicting."""
    from aode import make_data

    half, tested = columns // 2, rows // 4
    codes, y = make_data(rows + tested, np.full(half, 30))
    numbers = np.random.default_rng(1).normal(size=(len(y), half)) + 0.2 * y[:, None]
    X = as_table([*codes.T, *numbers.T])
    return Fold(X.iloc[:rows], y[:rows], X.iloc[rows:], y[rows:], 2)


def beside_peers(threads: int, repeat: int) -> Results:
    """Times of evidence beside those of others."""
    lines: list[list[Value]] = []
    for name in SPEED:
        fold, found = first_fold(name), {}
        for other in ("LightGBM", "CatBoost"):
            times = max(1, repeat // 3) if other == "CatBoost" else repeat
            found[other] = compare(f"{name}: evidence / {other}", ("evidence", fold), (other, fold), threads, times)
        lines.append(line_of(name, found))
    heads = [("fit", ""), ("Evidence, s", ".2f"), ("LightGBM, s", ".2f"), ("ratio", ".1f")]
    heads += [("Evidence, s", ".2f"), ("CatBoost, s", ".1f"), ("ratio", ".2f"), ("predict beside LightGBM's", ".2f")]
    return Results({"fit": Table(heads, lines)})


def line_of(name: str, found: Mapping[str, Sequence[Times]]) -> list[Value]:
    """Seconds of fits and their ratios, and the ratio of the predictions beside LightGBM's."""
    line: list[Value] = [name]
    for (ours, theirs), _ in found.values():
        line += [ours, theirs, ours / theirs]
    _, (ours, theirs) = found["LightGBM"]
    return [*line, ours / theirs]


def growth(threads: int, repeat: int) -> Results:
    """How times grow with rows and columns."""
    once, *twice = (("evidence", synthetic(*shape)) for shape in ((16_000, 12), (32_000, 12), (16_000, 24)))
    facts: dict[str, Value] = {}
    for what, more in zip(("twice the rows", "twice the columns"), twice, strict=True):
        (ours, theirs), _ = compare(what, more, once, threads, repeat)
        facts[what.replace(" ", "-")] = ours / theirs
    return Results({}, facts)


def run(threads: int, repeat: int, is_recorded: bool) -> None:
    """Measure, and keep what was found."""
    pin(threads)
    warnings.simplefilter("ignore")
    print(f"16,000 rows to fit, 4,000 to predict, {threads} threads, medians of {repeat}; beside CatBoost of fewer")
    print(f"{'':<58}{'one, ms':>10}{'other, ms':>10}{'ratio':>8}")
    for measured in (beside_peers, growth):
        results = measured(threads, repeat)
        if is_recorded:
            record("evidence_speed", results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2, help="threads of every method (default: 2)")
    parser.add_argument("--repeat", type=int, default=5, help="measurements of every side (default: 5)")
    parser.add_argument("--record", action="store_true", help="write what docs/benchmarks.md shows")
    options = parser.parse_args()
    if "HEBNB_DATA" not in os.environ:
        parser.error("HEBNB_DATA must name the folder of the paper's datasets.")
    os.environ.update(dict.fromkeys(OPENMP, str(options.threads)))  # of the process that is started
    what = partial(run, options.threads, options.repeat, options.record)
    process = get_context("spawn").Process(target=what)
    process.start()
    process.join()
    raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
