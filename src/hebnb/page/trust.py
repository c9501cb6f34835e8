"""How far a model can be trusted, from predictions of rows that it had not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t
from sklearn.metrics import roc_auc_score

from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.metrics import reliability_curve
from hebnb.metrics.bins import LEVEL
from hebnb.page.comparison import MEASURES, Comparison, Result, measures_of
from hebnb.page.explorer import packed

# Thresholds that can be chosen, in steps of the probability; and further ones, where probabilities are dense.
STEPS = 200
_QUANTILES = 100


@dataclass(frozen=True, eq=False)
class ClassTrust:
    """A class against all others.

    Parameters
    ----------
    label : object
    name : str
        What it is called.
    rows : int
    curve : dict of arrays
        Its reliability, with the band of a perfect model.
    auc, precision, recall : float
        NaN where there is nothing to tell them by. Precision and recall are those of the best guesses.
    thresholds : dict
        How many rows of the class, and others, have at least a probability, as the page draws and counts them.
    """

    label: Any
    name: str
    rows: int
    curve: dict[str, FloatArray]
    auc: float
    precision: float
    recall: float
    thresholds: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Trust:
    """How far to trust the chosen method.

    Parameters
    ----------
    measures : dict of str to (float, float)
        Every measure, and half of its interval over folds, NaN if there is but one.
    curves : dict of str to dict
        Reliability before, if that is known, and after, with the band of a perfect model.
    classes : list of ClassTrust
        The most frequent first.
    guessed : array of shape (classes, classes + 1)
        How many rows of every class in ``classes`` were guessed to be of each, and of others.
    """

    measures: dict[str, tuple[float, float]]
    curves: dict[str, dict[str, FloatArray]]
    classes: list[ClassTrust]
    guessed: IntArray


def trust(comparison: Comparison, names: Sequence[str], most_classes: int) -> Trust:
    """What predictions of left-out rows tell about the chosen method.

    Parameters
    ----------
    comparison : Comparison
    names : list of C str
        What the classes are called.
    most_classes : int
        How many are told apart.
    """
    best, before = comparison.best, comparison.result("Laplace")
    codes, guess = comparison.codes, comparison.best.proba.argmax(axis=1)
    shown = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")[:most_classes]
    shown = shown[np.bincount(codes, minlength=len(names))[shown] > 0]
    curves = {} if before is None or before is best else {before.method.name: _curve(comparison, before)}
    curves[best.method.name] = _curve(comparison, best)
    place = np.full(len(names), len(shown))
    place[shown] = np.arange(len(shown))
    guessed = np.zeros((len(shown) + 1, len(shown) + 1), dtype=np.intp)
    np.add.at(guessed, (place[codes], place[guess]), 1)
    return Trust(
        {
            name: (value, interval(comparison, best, name) if name in MEASURES else np.nan)
            for name, value in best.measures.items()
        },
        curves,
        [_of_class(comparison, c, names[c], guess) for c in shown.tolist()],
        guessed[: len(shown)],
    )


def interval(comparison: Comparison, result: Result, measure: str) -> float:
    """Half the width of a measure's interval over folds, by Student's t; NaN if there are not two to compare."""
    folds = [comparison.fold == n for n in np.unique(comparison.fold)]
    values = np.array([measures_of(comparison.codes[own], result.proba[own], [measure])[measure] for own in folds])
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return np.nan
    return float(t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def _curve(comparison: Comparison, result: Result, label: Any = None) -> dict[str, FloatArray]:
    return reliability_curve(comparison.labels, result.proba, classes=comparison.classes, label=label)


def _of_class(comparison: Comparison, c: int, name: str, guess: IntArray) -> ClassTrust:
    codes, proba = comparison.codes, comparison.best.proba[:, c]
    is_class, said = codes == c, guess == c
    both = np.count_nonzero(is_class & said)
    label = comparison.classes.tolist()[c]
    return ClassTrust(
        label,
        name,
        int(is_class.sum()),
        _curve(comparison, comparison.best, label),
        float(roc_auc_score(is_class, proba)) if is_class.any() and not is_class.all() else np.nan,
        both / said.sum() if said.any() else np.nan,
        both / is_class.sum() if is_class.any() else np.nan,
        thresholds(proba, is_class),
    )


def thresholds(proba: FloatArray, is_class: Any) -> dict[str, Any]:
    """Rows of a class, and others, with at least a probability: at even steps, and where probabilities are dense."""
    dense = np.quantile(proba, np.linspace(0, 1, _QUANTILES + 1), method="inverted_cdf")
    at = np.union1d(np.arange(STEPS + 1) / STEPS, dense)
    taken = [np.sort(proba[own]) for own in (is_class, ~is_class)]
    found, false = (len(own) - np.searchsorted(own, at, side="left") for own in taken)
    return {"at": packed(at), "found": packed(found), "false": packed(false)}
