"""Numbers as a tree of bins: halves, quarters, eighths of the rows, down to single values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hebnb.columns.column import Column
from hebnb.columns.kinds.base import Cutting, Kind, Numbers
from hebnb.columns.kinds.bins import Bins, has_missing
from hebnb.columns.kinds.categories import Categories
from hebnb.foundation.arrays import Array, FloatArray, IntArray

if TYPE_CHECKING:
    from hebnb.columns.reading import Reading

# Most rows of a lazy table that a tree is grown over.
MOST_SAMPLED = 50_000
# Most leaves of a tree, and its depth: a value that many rows have is set apart within a few splits.
MOST_LEAVES = 256
DEEPEST = 12


@dataclass(frozen=True, eq=False)
class BinTree(Bins):
    """A numeric feature cut into bins that are the leaves of a binary tree.

    Every node is split where its rows are halved as nearly as its values allow, so a value that many rows have soon has
    a leaf to itself. Edges are values that occurred, and belong to the bin below them; the end bins are open.

    Parameters
    ----------
    edges, missing, of_times
        As for ``Bins``.
    depths : array of int
        The level of the tree at which each edge was drawn, from 1.
    of_integers : bool
        Whether the numbers are integers that could have been categories, and tell more as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> gains = BinTree.grown(np.array([0.0, 5.0, 7.0, 9.0]), np.array([90.0, 4.0, 3.0, 3.0]), missing=False)
    >>> gains.edges, gains.depths
    (array([0., 5., 7.]), array([1, 2, 3]))
    >>> gains.levels[0]
    array([0, 1, 1, 1, 2])
    """

    depths: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    of_integers: bool = False
    name: ClassVar[str] = "tree"

    @classmethod
    def claims(cls, column: Any, reading: Reading) -> bool:
        """What is cut, where trees are wanted."""
        return reading.trees and reading.cuts(column)

    @classmethod
    def learn(
        cls, column: Column, reading: Reading, weights: FloatArray | None = None, labels: IntArray | None = None
    ) -> Kind:
        """A tree over the numbers that occur."""
        missing = has_missing(column.numbers, reading.missing, column.name)
        if np.isnan(column.numbers).all():
            return Categories.learn(column, reading)
        return replace(cls.over(Numbers(column.numbers, weights), column.holds_times), missing=missing)

    @classmethod
    def over(cls, given: Numbers, of_times: bool) -> BinTree:
        """The tree over the numbers of a column."""
        present = ~np.isnan(given.numbers)
        values, at = np.unique(given.numbers[present], return_inverse=True)
        rows = np.bincount(at, None if given.weights is None else given.weights[present]).astype(float)
        return cls.grown(values, rows, False, of_times)

    @classmethod
    def grown(cls, values: FloatArray, rows: FloatArray, missing: bool, of_times: bool = False) -> BinTree:
        """The tree over increasing values, of which each has so many rows."""
        before = np.append(0.0, np.cumsum(rows))
        starts, depths = np.zeros(1, dtype=np.intp), dict[int, int]()
        for depth in range(1, DEEPEST + 1):
            ends = np.append(starts[1:], len(values))
            splittable = np.flatnonzero(ends - starts > 1)
            room = MOST_LEAVES - len(starts)
            if len(splittable) > room:  # the nodes with the most rows are split first
                held = before[ends[splittable]] - before[starts[splittable]]
                splittable = np.sort(splittable[np.argsort(-held, kind="stable")[:room]])
            if not len(splittable):
                break
            new = _halves(before, starts[splittable], ends[splittable])
            depths |= dict.fromkeys(new.tolist(), depth)
            starts = np.sort(np.concatenate([starts, new]))
        inner = starts[1:]
        level = np.array([depths[start] for start in inner.tolist()], dtype=np.intp)
        return cls(values[inner - 1].astype(float), missing, of_times, level)

    @classmethod
    def expected(cls, columns: list[Any], reading: Reading, engine: Cutting) -> list[Kind]:
        """Trees over a sample of the numbers."""
        few = Categories(np.empty(0, dtype=object), missing=False)
        sampled = engine.sampled(columns, MOST_SAMPLED, reading.n_bins) if columns else []
        return [
            few if np.isnan(given.numbers).all() else cls.over(given, column.holds_times)
            for column, given in zip(columns, sampled, strict=True)
        ]

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The node of every code at every depth."""
        return tuple(self._nodes(depth) for depth in range(1, max(self.depths.max(initial=0), 1) + 1))

    @property
    def description(self) -> str:
        """Numbers or times, or integers that were taken for numbers."""
        return "integers, cut" if self.of_integers else super().description

    @property
    def is_ordered(self) -> bool:
        """Numbers are."""
        return True

    def coarser(self, level: int) -> Bins:
        """The nodes at a level as bins of their own."""
        return Bins(self.edges[self.depths <= level + 1], self.missing, self.of_times, empty=self.empty)

    def nodes_of_coarser(self, coarser: Kind, level: int) -> IntArray:
        """The bins counted by are the nodes."""
        return np.arange(coarser.size + 1)

    def union(self, other: Kind) -> BinTree | None:
        """The same tree, if it is."""
        same = isinstance(other, BinTree) and np.array_equal(self.depths, other.depths)
        joined = super().union(other) if same else None
        return joined if isinstance(joined, BinTree) else None

    def document(self) -> tuple[dict[str, Any], Array | None]:
        """The depths join the description, and whether the numbers are integers."""
        described, edges = super().document()
        return described | {"depths": self.depths.tolist(), "of_integers": self.of_integers}, edges

    @classmethod
    def restored(cls, described: Mapping[str, Any], array: Array | None) -> BinTree:
        """Edges, each with its depth; files of earlier versions do not tell of integers."""
        bins = Bins.restored(described, array)
        depths = np.array(described["depths"], dtype=np.intp)
        if depths.shape != bins.edges.shape or not bool(np.all((depths >= 1) & (depths <= DEEPEST))):
            raise ValueError("depths and edges do not match")
        of_integers = bool(described.get("of_integers", False))
        return cls(bins.edges, bins.missing, bins.of_times, depths, of_integers, empty=bins.empty)

    def _nodes(self, depth: int) -> IntArray:
        leaves = np.append(0, np.cumsum(self.depths <= depth))[: self._n_bins]
        others = leaves.max(initial=-1) + 1 + np.arange(self.missing + 1)  # the gap, and what is silent
        return np.concatenate([leaves, others])


def _halves(before: FloatArray, starts: IntArray, ends: IntArray) -> IntArray:
    """Where ranges of values are divided so that their halves have as nearly the same number of rows as can be."""
    middle = (before[starts] + before[ends]) / 2
    above = np.searchsorted(before, middle)
    nearer_below = middle - before[above - 1] <= before[above] - middle
    return np.clip(np.where(nearer_below, above - 1, above), starts + 1, ends - 1)
