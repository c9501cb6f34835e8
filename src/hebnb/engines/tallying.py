"""Many tables counted in one pass: rows come in batches, are encoded once, and counted by NumPy."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.foundation.json_values import from_json, to_json

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


def weights_of(batch: Eager) -> FloatArray | None:
    """How often the rows of a batch count, if some count more than others."""
    if WEIGHT not in batch.columns:
        return None
    weights: FloatArray = batch[WEIGHT].to_numpy().astype(float)
    return weights


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
        weights = weights_of(batch)
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

    def __len__(self) -> int:
        return len(self.tables)


@dataclass(frozen=True)
class ValueTally:
    """What is counted of every batch where values are not known beforehand: how often each has which class."""

    codes: Codes

    def __call__(self, batch: Eager) -> dict[str, Any]:
        """Lines of the number of a column, a value as JSON, the code of a class, and how often they occur together."""
        labels, n_classes = self.codes.labels(batch), self.codes.classes.size
        weights = weights_of(batch)
        lines: dict[str, list[Any]] = {"number": [], "value": [], "key": [], "count": []}
        for number, column in enumerate(self.codes.columns_of(batch)):
            at, values = column.levels  # some of which may not occur; −1, a gap, is the last
            n_cells = (len(values) + 1) * n_classes
            cells, count = CellSums.of((at % (len(values) + 1)) * n_classes + labels, weights, n_cells).occurring()
            value, class_ = np.divmod(cells, n_classes)
            occurring, place = np.unique(value, return_inverse=True)
            known = [None if v == len(values) else json.dumps(to_json(values[v])) for v in occurring.tolist()]
            texts = np.array([*known, None], dtype=object)[place]
            for name, part in zip(lines, (np.full(len(cells), number), texts, class_, count), strict=True):
                lines[name].append(part)
        return {name: np.concatenate(parts) for name, parts in lines.items()}

    def columns(self, lines: Mapping[str, Any]) -> list[tuple[Column, IntArray, FloatArray]]:
        """The values of every column, which may repeat, the codes of their classes, and how often they occur."""
        number, order = lines["number"], np.argsort(lines["number"], kind="stable")
        ends = np.searchsorted(number[order], np.arange(len(self.codes.columns) + 1))
        found = []
        for n, column in enumerate(self.codes.columns):
            own = order[ends[n] : ends[n + 1]]
            texts = [None if text is None else json.loads(text) for text in lines["value"][own].tolist()]
            values = np.empty(len(texts), dtype=object)
            values[:] = from_json(texts)
            found.append((Column(column.name, values), lines["key"][own], lines["count"][own]))
        return found
