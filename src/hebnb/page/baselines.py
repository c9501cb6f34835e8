"""What people would use otherwise, at its defaults, so that a comparison shows what is gained: from scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from hebnb.columns.kinds import Kind
from hebnb.foundation.arrays import FloatArray, IntArray

# Categories that scikit-learn's trees can tell apart.
_MOST_CATEGORIES = 255


@dataclass(frozen=True)
class Columns:
    """The columns of some rows: codes, and numbers where a column is one of numbers.

    Parameters
    ----------
    kinds : tuple of Kind
    codes : list of F arrays of shape (S,)
    numbers : list of F arrays of shape (S,), or None
        With NaN for gaps.
    """

    kinds: tuple[Kind, ...]
    codes: Sequence[IntArray]
    numbers: Sequence[FloatArray | None]


@dataclass(frozen=True)
class Baseline:
    """Another method.

    Parameters
    ----------
    name, summary : str
    proba : function of (training columns, test columns, classes of the training rows)
        The probabilities of the classes that the training rows have, in order.
    """

    name: str
    summary: str
    proba: Callable[[Columns, Columns, IntArray], FloatArray]


def _shares(train: Columns, test: Columns, classes: IntArray) -> FloatArray:
    _, counts = np.unique(classes, return_counts=True)
    return np.tile(counts / counts.sum(), (len(test.codes[0]), 1))


def _logistic(train: Columns, test: Columns, classes: IntArray) -> FloatArray:
    model = LogisticRegression(max_iter=200)
    proba: FloatArray = model.fit(_indicators(train, train), classes).predict_proba(_indicators(test, train))
    return proba


def _boosted(train: Columns, test: Columns, classes: IntArray) -> FloatArray:
    few = [
        numbers is None and kind.size < _MOST_CATEGORIES
        for kind, numbers in zip(train.kinds, train.numbers, strict=True)
    ]
    _, counts = np.unique(classes, return_counts=True)
    # Stopping early sets rows of every class aside, which a class with one row does not have.
    early = "auto" if counts.min() > 1 else False
    model = HistGradientBoostingClassifier(categorical_features=few, early_stopping=early, random_state=0)
    with threadpool_limits(1):  # on a busy machine threads that wait for each other take ten times as long
        proba: FloatArray = model.fit(_matrix(train), classes).predict_proba(_matrix(test))
    return proba


def _matrix(columns: Columns) -> FloatArray:
    """Numbers, and codes with NaN for what is silent."""
    found = []
    for kind, codes, numbers in zip(columns.kinds, columns.codes, columns.numbers, strict=True):
        found.append(np.where(codes < kind.size, codes, np.nan) if numbers is None else numbers)
    return np.column_stack(found)


def _indicators(columns: Columns, train: Columns) -> csr_array:
    """A column for every category; numbers standardised as in training, with a column for gaps."""
    found = []
    for kind, codes, numbers, known in zip(columns.kinds, columns.codes, columns.numbers, train.numbers, strict=True):
        if numbers is None or known is None:
            rows = np.flatnonzero(codes < kind.size)
            at = rows, codes[rows]
            found.append(csr_array((np.ones(len(rows)), at), shape=(len(codes), max(kind.size, 1))))
        else:
            mean, spread = (float(np.nan_to_num(own(known))) for own in (np.nanmean, np.nanstd))
            gaps = np.isnan(numbers)
            scaled = np.where(gaps, 0.0, (numbers - mean) / (spread or 1.0))
            found.append(csr_array(np.column_stack([scaled, gaps])))
    return csr_array(hstack(found, format="csr"))


BASELINES = {
    baseline.name: baseline
    for baseline in (
        Baseline("class shares", "every row gets the share of the classes", _shares),
        Baseline("logistic", "scikit-learn's logistic regression, a column a category", _logistic),
        Baseline("HistGB", "scikit-learn's gradient boosting", _boosted),
    )
}
