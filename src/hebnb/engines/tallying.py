"""Many tables counted in one pass: rows come in batches, are encoded once, and counted by NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from hebnb.columns.column import Column
from hebnb.columns.kinds import Categories, Kind
from hebnb.columns.table import read_labels
from hebnb.counts.cell_sums import CellSums
from hebnb.engines.backends import Eager
from hebnb.engines.lazy_table import CLASS, WEIGHT, LazyColumn
from hebnb.foundation.arrays import IntArray

# The column of a batch that has the values of the n-th feature.
VALUE = "__hebnb_value"
# Cells are numbered by one integer.
MOST_CELLS = 2.0**62


@dataclass(frozen=True)
class Codes:
    """How batches of a lazy table become codes.

    Parameters
    ----------
    columns : tuple of LazyColumn
        Those that are needed; a batch has them as ``VALUE`` and their place here.
    kinds : tuple of Kind
    classes : Categories
    target : str
    """

    columns: tuple[LazyColumn, ...]
    kinds: tuple[Kind, ...]
    classes: Categories
    target: str

    def expressions(self, weighted: bool) -> list[Any]:
        """What a batch is selected by."""
        values = [column.sampled.alias(f"{VALUE}{n}") for n, column in enumerate(self.columns)]
        return [*values, nw.col(CLASS), *([nw.col(WEIGHT)] if weighted else [])]

    def columns_of(self, batch: Eager) -> tuple[Column, ...]:
        """The columns of a batch as they would be in memory."""
        return tuple(column.restored(batch[f"{VALUE}{n}"]) for n, column in enumerate(self.columns))

    def of(self, batch: Eager) -> list[IntArray]:
        """The codes of every column."""
        return [kind.encode(column) for kind, column in zip(self.kinds, self.columns_of(batch), strict=True)]

    def labels(self, batch: Eager) -> IntArray:
        """The classes of the rows."""
        labels = read_labels(batch[CLASS].to_native(), name=self.target)
        return self.classes.codes_of(labels.values)[labels.codes]


@dataclass(frozen=True, eq=False)
class Together:
    """A table to be counted: some columns, by their places, and the node of each code that rows are counted by."""

    columns: tuple[int, ...]
    views: tuple[IntArray, ...]

    @property
    def sizes(self) -> list[int]:
        """How many nodes every column has."""
        return [int(view.max()) + 1 for view in self.views]

    @property
    def n_lines(self) -> float:
        """How many combinations of nodes there may be."""
        return float(np.prod([float(size) for size in self.sizes]))


@dataclass(frozen=True)
class Tally:
    """What is counted of every batch: the cells of some tables."""

    codes: Codes
    tables: tuple[Together, ...]

    def __call__(self, batch: Eager) -> list[CellSums]:
        """Count a batch."""
        codes, labels = self.codes.of(batch), self.codes.labels(batch)
        weights = batch[WEIGHT].to_numpy().astype(float) if WEIGHT in batch.columns else None
        n_classes = self.codes.classes.size
        seen: dict[tuple[int, int], IntArray] = {}
        found = []
        for table in self.tables:
            key = np.zeros(1, dtype=np.intp)
            for f, view, size in zip(table.columns, table.views, table.sizes, strict=True):
                if (f, id(view)) not in seen:  # several tables see a column alike
                    seen[f, id(view)] = view.take(codes[f])
                key = key * size + seen[f, id(view)]
            found.append(CellSums.of(key * n_classes + labels, weights, table.n_lines * n_classes))
        return found
