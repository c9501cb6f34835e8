"""Values that were never seen: how many rows have one, and whether these are more than there should be."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.alike import are_texts
from hebnb.columns.column import Column, Name
from hebnb.columns.hierarchies import as_text
from hebnb.columns.kinds import Kind
from hebnb.columns.table import Table
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.single import Counts, nonzero_cells
from hebnb.errors import UnseenWarning
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray

# With fewer rows nothing is said: a few new values in a row are no sign of anything.
_FEWEST_ROWS = 10
# By how many standard errors the rows have to be more than expected, so that no column in thousands is named by chance.
_ERRORS = 4.0
# What columns made of a date are called, after its name: later rows are expected to have new ones.
PARTS_OF_DATES = ("year", "month", "day", "weekday", "hour")
# How far sums of equal weights may be from a multiple of them.
_ROUNDING = 1e-9
# Most rows and values that are looked at for a reason, and most columns that are named.
_MOST_ROWS, _MOST_VALUES, _MOST_NAMED = 1_000, 100, 10


@dataclass(frozen=True, eq=False)
class Unseen:
    """How often the values of rows were never seen. A frozen value that adds, so that rows may come in parts.

    Parameters
    ----------
    n_valued, n_unseen : arrays of shape (F,)
        Rows that have a value in a column, and those of them whose value was never seen.
    values : tuple of F tuples
        Some of these values, where they are many.
    """

    n_valued: IntArray
    n_unseen: IntArray
    values: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, vocabulary: Vocabulary, table: Table, codes: Sequence[IntArray]) -> Unseen:
        """Those of rows that were encoded."""
        found = list(map(_column, table.columns, vocabulary.features, codes))
        n_valued, n_unseen, values = zip(*found, strict=True)
        return cls(np.array(n_valued), np.array(n_unseen), values)

    def __add__(self, other: Unseen) -> Unseen:
        values = tuple((*own, *more)[:_MOST_VALUES] for own, more in zip(self.values, other.values, strict=True))
        return Unseen(self.n_valued + other.n_valued, self.n_unseen + other.n_unseen, values)

    def complaint(self, counts: Counts) -> str | None:
        """What is to be said of columns in which most rows have unseen values, though few should; None if of none.

        The share of training rows whose value no other row has estimates the share of new rows whose value is unseen
        (Good and Turing). A column is named if the share of unseen values is above one half, above twice that estimate,
        and above it by far more than chance allows. Where no reason can be told, so it has to be if the rows of a class
        may have had a weight. Parts of dates, which ``ColumnParts`` makes, are never named.
        """
        lines = [line for f in np.flatnonzero(self._are_many(counts)) if (line := self._line(counts, int(f)))]
        more = [f"{len(lines) - _MOST_NAMED} more columns are like that."] if len(lines) > _MOST_NAMED else []
        return " ".join([*lines[:_MOST_NAMED], *more]) or None

    def _are_many(self, counts: Counts) -> Any:
        n = np.maximum(self.n_valued, 1)
        often = (self.n_valued >= _FEWEST_ROWS) & (self.n_unseen > n / 2)
        if not often.any():
            return often
        expected = np.array([expected_unseen(counts, f) if often[f] else 0.0 for f in range(len(n))])
        return often & ~_are_parts(counts.vocabulary.names) & _are_more(self.n_unseen, n, expected)

    def _line(self, counts: Counts, f: int) -> str | None:
        """What is said of a column; nothing where weights hide what to expect and no reason can be told."""
        reason = _reason(self.values[f], counts.vocabulary.features[f])
        if not reason and not _are_more(self.n_unseen[f], self.n_valued[f], _expected_if_weighted(counts, f)):
            return None
        share = self.n_unseen[f] / self.n_valued[f]
        return (
            f"{errors.column(counts.vocabulary.names[f])}: {share:.0%} of {self.n_valued[f]:,} rows have values that "
            f"were never seen at fit, and tell next to nothing.{reason}"
        )


def expected_unseen(counts: Counts, f: int) -> float:
    """The share of new rows whose value in a column should be unseen, cautiously: one row more than was counted.

    Rows without a known value, whose category was left out or whose gap was ignored, count as well.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> counts = NaiveBayes().fit([["a"], ["a"], ["b"]], [0, 1, 1]).counts_
    >>> expected_unseen(counts, 0)
    0.5
    """
    rows = float(counts.class_count.sum())
    return float((seen_once(counts, f) + rows - counts.marginal[f].sum() + 1) / (rows + 1))


def seen_once(counts: Counts, f: int) -> int:
    """How many rows have a value that no other row has: without the row it would be unseen."""
    feature = counts.vocabulary.features[f]
    return int(np.count_nonzero((counts.marginal[f] == 1) & ~feature.outlives(np.arange(feature.size))))


def _are_parts(names: Sequence[Name]) -> BoolArray:
    """Which columns are parts of dates."""
    parts = {f"{name}: {part}" for name in names for part in PARTS_OF_DATES}
    return np.array([name in parts for name in names], dtype=bool)


def _are_more(n_unseen: Any, n: Any, expected: Any) -> Any:
    """Whether unseen values are twice as many as expected, and more than chance allows."""
    beyond_chance = n_unseen - n * expected > _ERRORS * np.sqrt(n * expected * (1 - expected))
    return (n_unseen > 2 * n * expected) & beyond_chance


def _expected_if_weighted(counts: Counts, f: int) -> float:
    """The share of new rows whose value should be unseen if every row of a class had the largest weight possible.

    That is the number of which all counts of the class are multiples. If there is none, anything may be unseen, and so
    it is if no value has rows of two classes: each may be of one row, with a weight of its own.
    """
    weights = _possible_weights(counts)
    value, class_, count = nonzero_cells(counts.tables[f])
    if weights is None or len(np.unique(value)) == len(value):
        return 1.0
    feature = counts.vocabulary.features[f]
    marginal = np.bincount(value, np.rint(count / weights[class_]), feature.size)
    rows = float(np.rint(counts.class_count / weights).sum())
    once = np.count_nonzero((marginal == 1) & ~feature.outlives(np.arange(feature.size)))
    return min(1.0, float((once + rows - marginal.sum() + 1) / (rows + 1)))


def _possible_weights(counts: Counts) -> FloatArray | None:
    """The largest weight that all rows of each class may have had; None if rows of a class had several, with fractions.

    Whole numbers that differ within a class cannot be told from rows that are repeated.
    """
    cells = [nonzero_cells(table)[1:] for table in counts.tables]
    n_classes = len(counts.class_count)
    class_ = np.concatenate([np.arange(n_classes), *(own for own, _ in cells)])
    count = np.concatenate([counts.class_count, *(own for _, own in cells)])
    if (count == np.rint(count)).all():
        whole = np.zeros(n_classes, dtype=np.int64)
        np.gcd.at(whole, class_, count.astype(np.int64))
        return np.maximum(whole, 1).astype(float)
    least = np.full(n_classes, np.inf)
    positive = count > 0
    np.minimum.at(least, class_[positive], count[positive])
    times = count / least[class_]
    return least if np.allclose(times, np.rint(times), rtol=_ROUNDING, atol=0) else None


def warn_of_unseen(counts: Counts, unseen: Unseen) -> None:
    """Warn of columns whose values a model does not know."""
    complaint = unseen.complaint(counts)
    if complaint is not None:
        errors.warn(complaint, UnseenWarning)


def _column(column: Column, feature: Kind, codes: IntArray) -> tuple[int, int, tuple[Any, ...]]:
    """The rows that have a value, those that have an unseen one, and some of these where they are many."""
    if feature.cut_at is not None:  # every number is in a bin
        return 0, 0, ()
    silent = codes == feature.size
    if not np.count_nonzero(silent):  # as nearly always, and found out sooner than gaps are
        n_gaps = np.count_nonzero(codes == feature.missing_code) if feature.missing else 0
        return len(codes) - int(n_gaps), 0, ()
    gaps = feature.gaps(column)
    n_valued = len(codes) - int(np.count_nonzero(gaps))
    unseen = np.flatnonzero(silent & ~gaps)
    if len(unseen) <= n_valued / 2:
        return n_valued, len(unseen), ()
    at, values = column.levels
    return n_valued, len(unseen), tuple(values[np.unique(at[unseen[:_MOST_ROWS]])[:_MOST_VALUES]].tolist())


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


# In which reading values may be equal, and what is said then.
_READINGS: tuple[tuple[Callable[[Any], Hashable], str], ...] = (
    (as_text, "They match when they are converted to {learned}."),
    (lambda value: as_text(value).casefold(), "They match in another letter case."),
    (lambda value: as_text(value).strip(), "They match without the spaces around them."),
    (lambda value: as_text(value).strip().casefold(), "They match in another letter case, without spaces around them."),
    (_number, "They match as numbers."),
)


def _reason(values: tuple[Any, ...], feature: Kind) -> str:
    """Why the values are unseen, if that can be told: at least half are known in another reading."""
    known = feature.labels[: feature.missing_code]
    learned = "text" if are_texts(known) else "numbers" if known.dtype.kind in "iuf" else "what they were at fit"
    for reading, said in _READINGS:
        read = {reading(value) for value in known.tolist()} - {None}
        matching = sum(reading(value) in read for value in values)
        if values and matching >= len(values) / 2:
            return f" {said.format(learned=learned)}"
    return ""
