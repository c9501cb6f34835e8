"""The numbers that lazy columns are cut by: all where rows are few, a sample of bounded size where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
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

    def refuse_infinite(self, columns: list[LazyColumn]) -> None:
        """Complain of numbers that have no end."""
        checked = [column for column in columns if column.dtype.is_float() or not column.dtype.is_numeric()]
        checked = [column for column in checked if not column.dtype.is_temporal()]
        if not checked:
            return
        any_infinite = [
            (column.plain.cast(nw.Float64).abs() == np.inf).any().alias(f"{_NUMBER}{n}")
            for n, column in enumerate(checked)
        ]
        query = self.table.frame.select(*any_infinite)
        (found,) = self.table.backend.collect([query], ["looking for infinite numbers"])
        for column, infinite in zip(checked, found.row(0), strict=True):
            if infinite:
                raise InputError(
                    f"{errors.column(column.name)}: some values are infinite.",
                    "Replace them by the largest finite value, or by null if they mean missing.",
                )

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
        made = [column.numbers.alias(f"{_NUMBER}{n}") for n, column in enumerate(columns)]
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


def floats(series: nw.Series[Any]) -> FloatArray:
    """Collected numbers, NaN for a gap."""
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers
