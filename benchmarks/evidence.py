"""Times and estimates of EvidenceClassifier: ``HEBNB_DATA=FOLDER python benchmarks/evidence.py --speed``, ``--nested``.

``--speed`` measures times of fits and predictions beside LightGBM and CatBoost, the sides taking turns; ``--nested``
holds ``loo_log_loss_`` against ten whole fits. How good everybody's probabilities are is for the arena:
``python -m hebnb.study --arena``.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from hebnb.study.arena.children import OPENMP, pin
from hebnb.study.arena.command import FOLDS
from hebnb.study.arena.contenders import CONTENDERS
from hebnb.study.arena.folds import Fold, Rows, as_table, rows_of
from hebnb.study.arena.measuring import measure
from hebnb.study.arena.sheets import Sheet
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS
from hebnb.study.sources import Bundled, Folder
from measure import medians

SETTINGS = Settings(folds=FOLDS)
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


def compare(what: str, one: tuple[str, Fold], other: tuple[str, Fold], threads: int, repeat: int) -> None:
    """Fit times of two methods that take turns, then those of their predictions."""
    pairs = zip(sides(*one, threads), sides(*other, threads), strict=True)
    for verb, pair in zip(("fit", "predict"), pairs, strict=True):
        ours, theirs = medians(pair, repeat)
        print(f"{f'{what}: {verb}':<58}{1e3 * ours:>10.1f}{1e3 * theirs:>10.1f}{ours / theirs:>8.2f}", flush=True)


def synthetic(rows: int, columns: int) -> Fold:
    """As many columns of thirty categories as of numbers, all leaning towards the label; a fifth is for predicting."""
    from aode import make_data

    half, tested = columns // 2, rows // 4
    codes, y = make_data(rows + tested, np.full(half, 30))
    numbers = np.random.default_rng(1).normal(size=(len(y), half)) + 0.2 * y[:, None]
    X = as_table([*codes.T, *numbers.T])
    return Fold(X.iloc[:rows], y[:rows], X.iloc[rows:], y[rows:], 2)


def speed(threads: int, repeat: int) -> None:
    """Times of evidence beside others, and how they grow."""
    pin(threads)
    warnings.simplefilter("ignore")
    others = [name for name in ("LightGBM", "CatBoost") if CONTENDERS[name].version]
    print(f"16,000 rows to fit, 4,000 to predict, {threads} threads, medians of {repeat}; beside CatBoost of fewer")
    print(f"{'':<58}{'one, ms':>10}{'other, ms':>10}{'ratio':>8}")
    for name in SPEED:
        fold = first_fold(name)
        for other in others:
            times = max(1, repeat // 3) if other == "CatBoost" else repeat
            compare(f"{name}: evidence / {other}", ("evidence", fold), (other, fold), threads, times)
    fold = first_fold("nomao")
    compare("nomao: evidence / AODE+loo", ("evidence", fold), ("AODE+loo", fold), threads, repeat)
    once, *twice = (("evidence", synthetic(*shape)) for shape in ((16_000, 12), (32_000, 12), (16_000, 24)))
    for what, more in zip(("32,000 rows / 16,000, 12 columns", "24 columns / 12, 16,000 rows"), twice, strict=True):
        compare(what, more, once, threads, repeat)


def nested(names: Sequence[str], threads: int) -> None:
    """How near an estimate can come: ``loo_log_loss_``, and ten fits within the training rows, beside new rows."""
    warnings.simplefilter("ignore")
    rows = []
    for name in names:
        found = [nested_fold(fold, threads) for fold in load(name).folds(SETTINGS)]
        loss, by_leaving_out, by_fitting = np.mean(found, axis=0).tolist()
        rows.append([name, loss, by_leaving_out, by_fitting, by_leaving_out / loss - 1, by_fitting / loss - 1])
    heads = ("log-loss", "loo", "ten fits", "loo off", "ten fits off")
    print(Sheet("nested", "", [("", ""), *((head, ".4f") for head in heads)], rows).text())


def nested_fold(fold: Fold, threads: int) -> tuple[float, float, float]:
    """Log-loss of new rows, and both estimates of it."""
    own = measure(CONTENDERS["evidence"], fold, threads)
    within = [measure(CONTENDERS["evidence"], inner, threads)["log-loss"] for inner in fold.inner(10)]
    return own["log-loss"], own["loo log-loss"], float(np.mean(within))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", choices=list(DATASETS), help="of --nested; may be repeated")
    parser.add_argument("--threads", type=int, default=2, help="threads of every method (default: 2)")
    parser.add_argument("--speed", action="store_true", help="measure times")
    parser.add_argument("--nested", action="store_true", help="hold loo_log_loss_ against whole fits")
    parser.add_argument("--repeat", type=int, default=9, help="measurements of every side of --speed (default: 9)")
    options = parser.parse_args()
    if "HEBNB_DATA" not in os.environ:
        parser.error("HEBNB_DATA must name the folder of the paper's datasets.")
    if options.speed == options.nested:
        parser.error("Either --speed or --nested; python -m hebnb.study --arena compares log-losses.")
    os.environ.update(dict.fromkeys(OPENMP, str(options.threads)))  # of the process that is started
    what = partial(speed, options.threads, options.repeat)
    if options.nested:
        what = partial(nested, options.dataset or list(DATASETS), options.threads)
    process = get_context("spawn").Process(target=what)
    process.start()
    process.join()
    raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
