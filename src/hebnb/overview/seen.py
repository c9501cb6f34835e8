"""The columns of a table as they are: their values, how often each occurs, and where there are none."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.columns.column import Column, Name
from hebnb.columns.kinds import Kind
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible

# Examples of a column, and the longest that one is shown.
_EXAMPLES, _LONGEST = 3, 24
# A share of the rows below which it is not told; a number from which on all its digits are.
_LEAST_SHARE, _LARGE = 0.005, 1e6


@dataclass(frozen=True, eq=False)
class Seen:
    """A column as it is.

    Parameters
    ----------
    column : Column
    kind : Kind
        What it was taken for.
    codes : array of shape (S,)
        The place of every row's value, −1 for a gap.
    values : array
        Those that occur, in order; numbers and microseconds where the column is measured.
    """

    column: Column
    kind: Kind
    codes: IntArray
    values: Array

    @classmethod
    def of(cls, column: Column, kind: Kind) -> Seen:
        """The column, with a code for every value that occurs."""
        if kind.cut_at is not None:
            return cls(column, kind, *_occurring_numbers(column.numbers))
        codes, values = column.levels
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[codes] = True
        place = np.append(np.cumsum(occurs[:-1]) - 1, -1)
        return cls(column, kind, place[codes], values[occurs[:-1]])

    @property
    def name(self) -> Name:
        """The name of the column."""
        return self.column.name

    @property
    def is_cut(self) -> bool:
        """Whether it is read as numbers or times."""
        return self.kind.cut_at is not None

    @property
    def n_values(self) -> int:
        """How many different values there are."""
        return len(self.values)

    @cached_property
    def n_gaps(self) -> int:
        """How many rows have no value."""
        return int((self.codes < 0).sum())

    @cached_property
    def rows(self) -> IntArray:
        """How many rows have each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @property
    def n_alone(self) -> int:
        """How many rows have a value that no other row has."""
        return int(np.count_nonzero(self.rows == 1))

    @cached_property
    def holds(self) -> str:
        """What the values are, in a word or two."""
        if not len(self.values):
            return "nothing"
        if not self.is_cut:
            return _WORDS.get(self.kind.description, self.kind.description)
        if self.column.holds_times:
            return "times" if (self.values % _DAY).any() else "dates"
        if _is_a_span(self.column):
            return "durations"
        return "floats" if self.column.is_continuous else "whole numbers"

    @cached_property
    def examples(self) -> str:
        """The least and the greatest of numbers and times; else the most frequent values."""
        if not len(self.values):
            return ""
        if self.is_cut:
            return " … ".join(map(self.shown, [0, self.n_values - 1] if self.n_values > 1 else [0]))
        most = np.argsort(-self.rows, kind="stable")[:_EXAMPLES].tolist()
        texts, shares = [self.shown(v) for v in most], self.rows[most] / len(self.codes)
        if shares[0] >= _LEAST_SHARE and self.rows[most[0]] > 1:
            texts = [f"{text} ({_percent(share)})" for text, share in zip(texts, shares, strict=True)]
        return ", ".join(texts) + (" …" if self.n_values > _EXAMPLES else "")

    def shown(self, v: int) -> str:
        """A value, by its place, as text."""
        value = self.values[v]
        if not self.is_cut:
            return visible(str(value), _LONGEST)
        if self.holds in ("dates", "times"):
            time = np.datetime64(int(value), "us").astype("M8[D]" if self.holds == "dates" else "M8[s]")
            return str(time).replace("T", " ")
        if self.holds == "durations":
            return str(np.timedelta64(int(value), "us").item())
        return f"{value:.6g}" if abs(value) < _LARGE or value % 1 else f"{value:.0f}"


# Microseconds.
_DAY = 24 * 3600 * 10**6
_WORDS = {"integers": "whole numbers", "yes or no": "true or false", "numbers": "floats", "mixed": "mixed types"}


def _occurring_numbers(numbers: FloatArray) -> tuple[IntArray, FloatArray]:
    values, codes = np.unique(numbers, return_inverse=True)
    gap = np.isnan(values)
    return np.where(np.isnan(numbers), -1, codes), values[~gap]


def _is_a_span(column: Column) -> bool:
    """Whether numbers read from a column that is measured are microseconds of a duration."""
    first = column.data[:1].tolist() if isinstance(column.data, np.ndarray) else column.data.drop_nulls()[:1].to_list()
    return bool(first) and isinstance(first[0], dt.timedelta | np.timedelta64)


def _percent(share: float) -> str:
    return "<1%" if share < _LEAST_SHARE else f"{share:.0%}"
