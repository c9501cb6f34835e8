"""Labelled rows in memory, as the page wants them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from hebnb.columns.table import as_array, read, read_labels, taken, target_levels
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.arrays import Array


@dataclass(frozen=True, eq=False)
class InMemory:
    """Rows with labels.

    Parameters
    ----------
    X : table or array of shape (S, F)
    labels : array of shape (S,)
    target : str
        What is predicted.
    unlabelled : int
        Rows that were left out because they have no label.
    apart : array of shape (S,), optional
        What tells which rows belong together, or when they were.
    beside : str, optional
        What that is called.
    """

    X: Any
    labels: Array
    target: str
    unlabelled: int = 0
    apart: Array | None = None
    beside: str | None = None

    @classmethod
    def of(cls, X: Any, y: Any, target: str, apart: Any = None, beside: str | None = None) -> InMemory:
        """Those that have a label."""
        X = as_array(X)
        n_rows = read(X).n_rows
        kept = target_levels(y, n_rows).codes >= 0
        if not kept.any():
            raise InputError("Every label is missing, or there are no rows.", "Pass labelled rows.")
        codes, values = read_labels(y, n_rows, kept)
        beside_rows = None if apart is None else np.asarray(apart)
        if beside_rows is not None and len(beside_rows) != n_rows:
            raise InputError(f"X has {n_rows} rows but {beside} has {len(beside_rows)}.")
        at = np.flatnonzero(kept)
        some = X if kept.all() else taken(X, at)
        own = None if beside_rows is None else beside_rows[at]
        return cls(some, values[codes], target, int((~kept).sum()), own, beside)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(set(self.labels.tolist()))

    @property
    def repeated(self) -> list[str]:
        """None: a table in memory has a name for every column."""
        return []

    def sample(self, rows: int, seed: int) -> InMemory:
        """A random sample of the rows."""
        at = np.sort(np.random.default_rng(seed).permutation(self.n_rows)[:rows])
        apart = None if self.apart is None else self.apart[at]
        return replace(self, X=taken(self.X, at), labels=self.labels[at], apart=apart)

    def collect(self) -> tuple[Any, Any, Any, Any]:
        """Features, labels, no weights, and what parts the rows."""
        return self.X, self.labels, None, self.apart

    def fit(self, model: CategoricalClassifier) -> CategoricalClassifier:
        """Learn from all rows."""
        return model.fit(self.X, self.labels)


def without_target(table: Any, target: str) -> tuple[Any, Any]:
    """The columns of a table but one, and that one."""
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError as error:
        raise ParameterError("An array has no column names.", "Pass the labels as y.") from error
    if target not in frame.columns:
        raise ParameterError(f"target={target!r} is not among the columns.", "Name one, or pass the labels as y.")
    return frame.drop(target).to_native(), frame[target].to_native()
