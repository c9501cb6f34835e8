"""Calibrators side by side with leave-one-out weights and evidence.

``python benchmarks/calibration.py --data FOLDER``: five folds of the study's datasets with more than 1,000 rows, at
most 10,000 rows of each, numbers in ten bins. Naive Bayes with Laplace's smoothing, HEB-M and HEB-AODE are measured as
they are and after five calibrators, learned from the training rows in five folds of their own: Platt's, isotonic and
temperature as scikit-learn (1.8 or later) has them, beta by logistic regression on log p and log(1 − p), and
Venn–Abers by the package venn-abers. Beside them stand models that need none of it, NB+loo, AODE+loo and evidence; and
these after calibrators that are learned from their own left-out rows.

Results are kept in ``--store`` the moment they are there, and a second run does what is missing. ``--record`` writes
the tables for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from hebnb import AODE, EvidenceClassifier, NaiveBayes
from hebnb.study.protocol import SEED, Fold, Prepared, Settings, fit, prepare, scores, split
from hebnb.study.registry import DATASETS, FLIGHTS
from hebnb.study.sources import Bundled, Folder
from hebnb.study.statistics import critical_difference, paired
from hebnb.study.store import Cell, Store
from record import Results, Table, Value, record

SETTINGS = Settings(10_000, 5)
FEWEST_ROWS = 1_000
INNER = 5
BASES = {"Laplace": lambda: NaiveBayes("laplace"), "HEB-M": NaiveBayes, "HEB-AODE": AODE}
OURS = {
    "NB+loo": lambda: NaiveBayes(weighting="loo"),
    "AODE+loo": lambda: AODE(weighting="loo"),
    "evidence": lambda: EvidenceClassifier(categorical_features="all"),
}
RAW = "as it is"
MEASURES = ("log-loss", "Brier", "ECE", "ECE by chance")
_LEAST = 1e-12
Calibrator: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Said(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are probabilities that were said already."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Said:
        """Nothing is learned."""
        self.classes_ = np.arange(X.shape[1])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The logarithms, or of two classes the log-odds."""
        logs = np.log(np.maximum(X, _LEAST))
        return logs[:, 1] - logs[:, 0] if X.shape[1] == 2 else logs

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The most probable class."""
        return X.argmax(axis=1)


def of_scikit_learn(method: str) -> Calibrator:
    """A calibrator of scikit-learn, for probabilities that are there."""

    def calibrated(said: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        model = CalibratedClassifierCV(FrozenEstimator(Said().fit(said, y)), method=method)
        proba: np.ndarray = model.fit(said, y).predict_proba(new)
        return proba

    return calibrated


def one_against_the_rest(binary: Calibrator) -> Calibrator:
    """A calibrator of one probability for every class, and what comes out made to sum to one."""

    def calibrated(said: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        classes = [1] if said.shape[1] == 2 else range(said.shape[1])
        found = [binary(said[:, c], y == c, new[:, c]) if 0 < (y == c).sum() < len(y) else new[:, c] for c in classes]
        if len(found) == 1:
            return np.stack([1 - found[0], found[0]], axis=1)
        proba = np.maximum(np.stack(found, axis=1), _LEAST)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    return calibrated


def regressed(features: Callable[[np.ndarray], list[np.ndarray]]) -> Calibrator:
    """Logistic regression on functions of a probability."""

    def calibrated(said: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        before, after = (np.stack(features(np.clip(p, _LEAST, 1 - _LEAST)), axis=1) for p in (said, new))
        scale = np.abs(before).max(axis=0)
        model = LogisticRegression(C=1e4, max_iter=1_000).fit(before / scale, y)
        proba: np.ndarray = model.predict_proba(after / scale)[:, 1]
        return proba

    return calibrated


def venn_abers(said: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The two probabilities of Venn–Abers as one, as the package puts them together."""
    from venn_abers import VennAbers

    model = VennAbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of slopes that nobody needs
        model.fit(np.stack([1 - said, said], axis=1), y.astype(int))
        proba, _ = model.predict_proba(np.stack([1 - new, new], axis=1))
    return np.asarray(proba)[:, 1]


def _odds(p: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(p) - np.log1p(-p))


CALIBRATORS: dict[str, Calibrator] = {
    "Platt": of_scikit_learn("sigmoid"),
    "isotonic": of_scikit_learn("isotonic"),
    "temperature": of_scikit_learn("temperature"),
    "beta": one_against_the_rest(regressed(lambda p: [np.log(p), -np.log1p(-p)])),
    "Venn–Abers": one_against_the_rest(venn_abers),
}
ON_LEFT_OUT: dict[str, Calibrator] = {
    "temperature": CALIBRATORS["temperature"],
    "beta": CALIBRATORS["beta"],
    "quadratic": one_against_the_rest(regressed(lambda p: [_odds(p), _odds(p) ** 2])),
    "isotonic": CALIBRATORS["isotonic"],
}


def said_in_folds(make: Callable[[], Any], fold: Fold) -> np.ndarray:
    """What a model says of every training row that it has not seen."""
    said = np.empty((len(fold.train), fold.n_classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some classes have fewer rows than there are folds
        parts = list(StratifiedKFold(INNER, shuffle=True, random_state=SEED).split(fold.train, fold.train_labels))
    for train, test in parts:
        model, labels = make(), fold.train_labels
        fit(model, Fold(fold.train[train], labels[train], fold.train[test], labels[test], fold.n_classes))
        said[test] = model.predict_proba(fold.train[test])
    return said


def measured(name: str, fold: Fold) -> dict[str, Any]:
    """A model as it is and calibrated, on a fold: measures by calibrator."""
    make, ours = (BASES | OURS)[name], name in OURS
    model = make()
    fit(model, fold)
    new = model.predict_proba(fold.test)
    y = fold.train_labels
    said = model.loo_predict_proba(fold.train, y) if ours else said_in_folds(make, fold)
    found = {RAW: scores(fold.test_labels, new)}
    for title, calibrate in (ON_LEFT_OUT if ours else CALIBRATORS).items():
        found[title] = scores(fold.test_labels, calibrate(said, y, new))
    return {title: {measure: own[measure] for measure in MEASURES} for title, own in found.items()}


def run(folder: Path, store: Store, names: list[str]) -> None:
    """Do what is missing, the smallest datasets first."""
    for name in sorted(names, key=lambda name: DATASETS[name].rows * DATASETS[name].features):
        began, dataset = time.perf_counter(), DATASETS[name]
        raw = (Bundled() if name == FLIGHTS.name else Folder(folder)).load(dataset)
        prepared = prepare(dataset, raw, SETTINGS)
        for base, number in product((*BASES, *OURS), range(SETTINGS.folds)):
            cell = _cell(prepared, base, number)
            if store.missing([cell]):
                try:
                    store.put(cell, measured(base, split(prepared, SETTINGS, number)))
                except Exception:  # a failing cell must not stop the others, whatever it raised
                    store.put(cell, None, traceback.format_exc())
                    print(traceback.format_exc())
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)


def _cell(prepared: Prepared, base: str, number: int) -> Cell:
    definition = f"{(BASES | OURS)[base]()} on {prepared.fingerprint}"
    return Cell(prepared.name, base, 10, number, str(SETTINGS), definition)


def frame_of(store: Store) -> pd.DataFrame:
    """A line for every dataset, model, calibrator and fold."""
    return pd.DataFrame(
        {"dataset": cell["dataset"], "model": cell["method"], "calibrator": title, "fold": cell["fold"], **own}
        for cell in store.results(str(SETTINGS))
        for title, own in cell.items()
        if isinstance(own, dict)
    )


def results_of(found: pd.DataFrame) -> Results:
    """Both tables, over the datasets that have everything."""
    columns = [(name, title) for name in BASES for title in (RAW, *CALIBRATORS)]
    columns += [(name, title) for name in OURS for title in (RAW, *ON_LEFT_OUT)]
    means = {
        measure: found.pivot_table(index="dataset", columns=["model", "calibrator"], values=measure)
        .reindex(columns=pd.MultiIndex.from_tuples(columns))
        .dropna()
        for measure in MEASURES
    }
    loss = means["log-loss"]
    compared = [*((name, title) for name in BASES for title in (RAW, *CALIBRATORS)), *((name, RAW) for name in OURS)]
    ranks = {measure: means[measure][compared].rank(axis=1).mean() for measure in MEASURES[:3]}
    rows: list[list[Value]] = []
    for name, title in compared:
        numbers = [(ranks[measure][name, title], means[measure][name, title].mean()) for measure in MEASURES[:3]]
        flat = [float(value) for pair in numbers for value in pair]
        rows.append([name, title, *flat, float(means["ECE by chance"][name, title].mean())])
    heads = [("", ""), ("", ""), ("log-loss, rank", ".1f"), ("mean", ".3f"), ("Brier, rank", ".1f"), ("mean", ".4f"),
             ("ECE, rank", ".1f"), ("mean", ".3f"), ("by chance", ".3f")]  # fmt: skip
    after: list[list[Value]] = []
    for name, title in product(OURS, ON_LEFT_OUT):
        line: list[Value] = [name, title]
        for measure in ("log-loss", "ECE"):
            ours, raw = means[measure][name, title].to_numpy(), means[measure][name, RAW].to_numpy()
            outcome = paired(ours, raw, lower_is_better=True)
            line += [outcome.wins, outcome.losses, outcome.p]
        change = loss[name, title] / loss[name, RAW] - 1
        after.append([*line, float(change.median()), float(change.max()), str(change.idxmax())])
    after_heads = [("", ""), ("", ""), ("log-loss: lower", ".0f"), ("higher", ".0f"), ("p", ".3f"),
                   ("ECE: lower", ".0f"), ("higher", ".0f"), ("p", ".3f"), ("log-loss, median change", "+.1%"),
                   ("worst", "+.1%"), ("on", "")]  # fmt: skip
    facts: dict[str, Value] = {"datasets": len(loss), "methods": len(compared)}
    facts["critical-difference"] = critical_difference(len(compared), len(loss))
    for name, title, lower, higher, p, *_, median, _, _ in after:
        parts = {"lower": lower, "higher": higher, "p": p, "median": median}
        facts |= {f"{name}/{title}/{part}": value for part, value in parts.items()}
    tables = {"calibrators": Table(heads, rows, grouped=True), "left-out": Table(after_heads, after, grouped=True)}
    return Results(tables, facts)


def chosen(given: list[str] | None) -> Iterator[str]:
    """Datasets with enough rows, or those that were asked for."""
    yield from given or [name for name, dataset in DATASETS.items() if dataset.rows > FEWEST_ROWS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of CSV files")
    parser.add_argument("--store", type=Path, default=Path("calibration.sqlite"), help="where results are kept")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/calibration.json")
    options = parser.parse_args()
    store = Store(options.store)
    store.create()
    run(options.data, store, list(chosen(options.datasets)))
    results = results_of(frame_of(store))
    for table in results.tables.values():
        print("\t".join(head for head, _ in table.document()["columns"]))
        for row in table.rows:
            print("\t".join(value if isinstance(value, str) else f"{value:.4f}" for value in row))
    for name, method, _, fold, error in store.failures(str(SETTINGS)):
        print(f"failed: {name}, {method}, fold {fold}: {error.strip().splitlines()[-1]}")
    if options.record:
        print(record("calibration", results))


if __name__ == "__main__":
    main()
