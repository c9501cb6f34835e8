"""What is learned besides counts: strengths, which columns are crossed, and how much everything counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hebnb.columns.kinds import Categories
from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class ColumnStrengths:
    """How strongly the classes of a column's cells are shrunk.

    Parameters
    ----------
    levels : tuple of float
        At every level of its tree, in rows.
    buckets : float, optional
        Of categories that are as frequent, towards all rows; None for ordered columns.
    """

    levels: tuple[float, ...]
    buckets: float | None


@dataclass(frozen=True)
class Cross:
    """Some columns that tell more together than apart.

    Parameters
    ----------
    columns : tuple of int
    strengths : tuple of float
        How strongly cells are shrunk at every level, the coarsest first; there are as many levels as strengths.
    parts : tuple of int
        The tables about some of its columns, by number: those of single columns first, then crosses in their order.
    part_weights : tuple of float
        How much the parts count in what the cross is compared with.
    gain : float
        How much more likely left-out rows are with the cross than with its parts, in nats.
    """

    columns: tuple[int, ...]
    strengths: tuple[float, ...]
    parts: tuple[int, ...]
    part_weights: tuple[float, ...]
    gain: float

    @property
    def depth(self) -> int:
        """The number of levels."""
        return len(self.strengths)


@dataclass(frozen=True, eq=False)
class Choice:
    """What a sample of rows has decided.

    Parameters
    ----------
    columns : tuple of ColumnStrengths
        For every column.
    crosses : tuple of Cross
    weights : array of shape (F + crosses,)
        How much the tables of columns and crosses count.
    offsets : array of shape (C,)
        What is added to the score of every class.
    log_loss : float
        What a new row will see, on average.
    gains : array of shape (F,)
        How much more likely left-out rows are with a column than without any, in nats.
    n_rows : float
        The weight of the rows that were learned from.
    """

    columns: tuple[ColumnStrengths, ...]
    crosses: tuple[Cross, ...]
    weights: FloatArray
    offsets: FloatArray
    log_loss: float
    gains: FloatArray
    n_rows: float

    def widened(self, old: Categories, new: Categories) -> Choice:
        """The same with room for more classes."""
        offsets = np.zeros(new.size)
        offsets[old.codes_in(new)] = self.offsets
        return replace(self, offsets=offsets)

    def narrowed(self, classes: IntArray) -> Choice:
        """The same for some of the classes."""
        return replace(self, offsets=self.offsets[classes])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Choice) and self.document() == other.document()

    def __hash__(self) -> int:
        return hash((self.columns, self.crosses, self.log_loss))

    def document(self) -> dict[str, Any]:
        """The choice as JSON."""
        return {
            "columns": [[list(own.levels), own.buckets] for own in self.columns],
            "crosses": [
                [list(c.columns), list(c.strengths), list(c.parts), list(c.part_weights), c.gain] for c in self.crosses
            ],
            "weights": self.weights.tolist(),
            "offsets": self.offsets.tolist(),
            "log_loss": self.log_loss,
            "gains": self.gains.tolist(),
            "n_rows": self.n_rows,
        }

    @classmethod
    def restored(cls, described: dict[str, Any], n_classes: int) -> Choice:
        """The choice behind a document; a ValueError says what is wrong with it."""
        columns = tuple(
            ColumnStrengths(tuple(map(_strength, levels)), None if buckets is None else _strength(buckets))
            for levels, buckets in described["columns"]
        )
        crosses: list[Cross] = []
        for own, strengths, parts, weights, gain in described["crosses"]:
            cross = Cross(
                tuple(map(int, own)),
                tuple(map(_strength, strengths)),
                tuple(map(int, parts)),
                tuple(map(float, weights)),
                float(gain),
            )
            _check(cross, len(columns), len(crosses))
            crosses.append(cross)
        arrays = [np.array(described[name], dtype=float) for name in ("weights", "offsets", "gains")]
        shapes = (len(columns) + len(crosses),), (n_classes,), (len(columns),)
        for array, shape in zip(arrays, shapes, strict=True):
            if array.shape != shape or not np.isfinite(array).all():
                raise ValueError("weights and tables do not match")
        weights, offsets, gains = arrays
        n_rows = _strength(described["n_rows"])
        return cls(columns, tuple(crosses), weights, offsets, float(described["log_loss"]), gains, n_rows)


def _strength(number: Any) -> float:
    strength = float(number)
    if not 0 < strength < np.inf:
        raise ValueError("a strength is not positive")
    return strength


def _check(cross: Cross, n_columns: int, n_before: int) -> None:
    """Complain of a cross of columns or parts that there are not."""
    known = len(set(cross.columns)) == len(cross.columns) > 1 and all(0 <= f < n_columns for f in cross.columns)
    parts = len(cross.parts) == len(cross.part_weights) and all(0 <= t < n_columns + n_before for t in cross.parts)
    if not (known and parts and cross.strengths and np.isfinite(cross.part_weights).all()):
        raise ValueError("a cross is not one of columns")
