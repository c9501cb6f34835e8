"""The numbers that lazy columns are cut by: all where rows are few, a sample of bounded size where they are many."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.column import EXACT, Name
from hebnb.columns.kinds.base import Numbers
from hebnb.engines.backends import Frame
from hebnb.engines.lazy_table import WEIGHT, LazyColumn, LazyTable
from hebnb.errors import InputError
from hebnb.foundation.arrays import FloatArray

_NUMBER = "__hebnb_number"
# Most rows whose number no sampled row has that are looked at.
_MOST_RARE = 10_000


@dataclass(frozen=True)
class Cutting:
    """What the engine of a table tells of the numbers of its columns."""

    table: LazyTable

    def columns(self, wanted: Collection[Name]) -> tuple[LazyColumn, ...]:
        """The columns of the table, those marked whose floats are integers with gaps; infinite numbers are refused.

        Both are asked of all columns at once. ``wanted`` names columns that are cut whatever they hold.
        """
        table = self.table
        floats_or_texts = [
            column
            for column in table.columns
            if column.dtype.is_float() or (column.name in wanted and not column.dtype.is_numeric())
        ]
        asked = [column for column in floats_or_texts if not column.dtype.is_temporal()]
        if not asked:
            return table.columns
        may_be_whole = []
        for column, (is_infinite, has_fractions) in zip(asked, self._told(asked, _at_a_glance), strict=True):
            if is_infinite:
                raise InputError(
                    f"{errors.column(column.name)}: some values are infinite.",
                    "Replace them by the largest finite value, or by null if they mean missing.",
                )
            if column.dtype.is_float() and not has_fractions:
                may_be_whole.append(column)
        whole = {
            column.name
            for column, (has_gaps, has_values, has_large) in zip(
                may_be_whole, self._told(may_be_whole, _of_integers), strict=True
            )
            if has_gaps and has_values and not has_large
        }
        return tuple(replace(column, is_whole=column.name in whole) for column in table.columns)

    def _told(
        self, columns: list[LazyColumn], facts: Callable[[LazyColumn], tuple[nw.Expr, ...]]
    ) -> list[tuple[bool, ...]]:
        """Facts about columns, all asked at once."""
        asked = [facts(column) for column in columns]
        named = [fact.alias(f"{_NUMBER}{n}_{m}") for n, own in enumerate(asked) for m, fact in enumerate(own)]
        if not named:
            return []
        (found,) = self.table.backend.collect(
            [self.table.frame.select(*named)], ["looking at the numbers of all columns"]
        )
        answers = iter(map(bool, found.row(0)))
        return [tuple(next(answers) for _ in own) for own in asked]

    def sampled(self, columns: list[LazyColumn], limit: int, few: int) -> list[Numbers]:
        """The numbers of all rows, or of about ``limit`` rows, the same for all columns.

        Where a sample has no more than ``few`` different numbers, rows that have others are added, so that what most
        rows have does not hide them.
        """
        table = self.table
        weights_in = [] if table.weight is None else [WEIGHT]
        frame, is_sample = table.frame, table.n_rows > limit
        if is_sample:  # drawn before numbers are made of the rows, which for most is then not needed
            frame = frame.select(*(column.source for column in columns), *weights_in)
            frame = nw.from_native(table.backend.sample(frame.to_native(), limit, limit / table.n_rows, 0))
        made = [column.raw_numbers.alias(f"{_NUMBER}{n}") for n, column in enumerate(columns)]
        (rows,) = table.backend.collect([frame.select(*made, *weights_in)], ["looking at the numbers to be cut"])
        weights = None if table.weight is None else floats(rows[WEIGHT])
        found = [Numbers(floats(rows[f"{_NUMBER}{n}"]), weights) for n in range(len(columns))]
        if is_sample:
            found = [self._with_rare(column, own, few) for column, own in zip(columns, found, strict=True)]
        return found

    def _with_rare(self, column: LazyColumn, sampled: Numbers, few: int) -> Numbers:
        """A sample, and beside it rows whose numbers it lacks, each of which stands for itself alone."""
        known = np.unique(sampled.numbers[~np.isnan(sampled.numbers)])
        if len(known) > few:
            return sampled
        table, number = self.table, nw.col(_NUMBER)
        weight = nw.lit(1.0) if table.weight is None else nw.col(WEIGHT)
        rows: Frame = table.frame.select(column.numbers.alias(_NUMBER), weight.alias(WEIGHT))
        rows = rows.filter(~number.is_in(known.tolist()) if len(known) else ~number.is_null()).head(_MOST_RARE)
        (rare,) = table.backend.collect([rows], [f"looking for rare numbers in column {column.name!r}"])
        stands_for = table.n_rows / len(sampled.numbers)
        own = np.ones(len(sampled.numbers)) if sampled.weights is None else sampled.weights
        return Numbers(
            np.concatenate([sampled.numbers, floats(rare[_NUMBER])]),
            np.concatenate([own * stands_for, floats(rare[WEIGHT])]),
        )


def _at_a_glance(column: LazyColumn) -> tuple[nw.Expr, ...]:
    """Whether some numbers are infinite, or not whole. Where NaN is hard to find it equals itself: it is neither."""
    plain = column.plain.cast(nw.Float64)
    numbers = column.raw_numbers if column.nan_is_text else column.numbers
    return (plain.abs() == np.inf).any(), (~numbers.is_null() & (numbers != numbers.round(0))).any()


def _of_integers(column: LazyColumn) -> tuple[nw.Expr, ...]:
    """Whether some of them are missing, are there, and are too large to be known as integers."""
    numbers = column.numbers
    has_value = ~numbers.is_null()
    return numbers.is_null().any(), has_value.any(), (has_value & (numbers.abs() >= EXACT)).any()


def floats(series: nw.Series[Any]) -> FloatArray:
    """Collected numbers, NaN for a gap."""
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers
