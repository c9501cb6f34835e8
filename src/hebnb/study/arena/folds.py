"""What a contender is given: rows of a dataset as people have them, in folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from hebnb.foundation.arrays import IntArray
from hebnb.study.protocol import SEED, Settings, kept_rows, prepare
from hebnb.study.registry import FLIGHTS, Dataset
from hebnb.study.sources import Raw


@dataclass(frozen=True)
class Rows:
    """A dataset as a table.

    Parameters
    ----------
    name, fingerprint : str
        Which dataset, and which copy of it.
    X : DataFrame
        Text with gaps for categories, floats with NaN for numbers.
    y : array of shape (S,)
        Class of every row, 0 … C−1.
    """

    name: str
    fingerprint: str
    X: Any
    y: IntArray

    def folds(self, settings: Settings) -> Iterator[Fold]:
        """All folds, one after the other."""
        return _split(self.X, self.y, settings.folds, SEED, int(self.y.max()) + 1)


@dataclass(frozen=True)
class Fold:
    """Training and test rows."""

    train: Any
    train_labels: IntArray
    test: Any
    test_labels: IntArray
    n_classes: int

    @property
    def categorical(self) -> list[str]:
        """Columns of categories."""
        return [name for name in self.train.columns if self.train[name].dtype.kind not in "fi"]

    def inner(self, folds: int) -> Iterator[Fold]:
        """Folds of the training rows, for whoever has to choose something."""
        return _split(self.train, self.train_labels, folds, 0, self.n_classes)


def _split(X: Any, y: IntArray, folds: int, seed: int, n_classes: int) -> Iterator[Fold]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some classes have fewer rows than there are folds
        parts = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y))
    for train, test in parts:
        yield Fold(X.iloc[train], y[train], X.iloc[test], y[test], n_classes)


def rows_of(dataset: Dataset, raw: Raw, settings: Settings) -> Rows:
    """The rows that the paper's protocol takes, before it fills gaps and cuts numbers."""
    prepared = prepare(dataset, raw, settings)
    # The paper does not say what the columns of the flights are, so they are as people have them: text and integers.
    X = raw.X.iloc[kept_rows(raw.y, settings)] if dataset is FLIGHTS else as_table(prepared.columns)
    return Rows(dataset.name, prepared.fingerprint, X, prepared.labels)


def as_table(columns: Sequence[Any]) -> Any:
    """Columns as a table in which codes are text, so that nobody can take them for numbers.

    Examples
    --------
    >>> as_table([np.array([1, 0, -1]), np.array([0.5, np.nan, 2.0])])["x0"].fillna("a gap").tolist()
    ['v1', 'v0', 'a gap']
    """
    return pd.DataFrame({f"x{n}": _as_text(c) if c.dtype.kind == "i" else c for n, c in enumerate(columns)})


def _as_text(codes: IntArray) -> Any:
    names = np.array([*(f"v{code}" for code in range(codes.max() + 1)), None], dtype=object)
    return names[codes]  # −1, a gap, is the last
