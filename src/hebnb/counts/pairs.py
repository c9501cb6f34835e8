"""Counts of pairs of categories with classes, for every pair of features. They add, like the counts they extend.

The categories of all features are laid out in one line of W = ΣK positions; a pair of categories is a pair of
positions. The counts of all pairs of a class are the Gram matrix of the one-hot encoding of its rows. Where W is
moderate the matrix is held as an array, counted by BLAS if features have few categories and by ``bincount`` if they
have many. Where W is large, only the cells that occur are kept: at most rows × pairs of them, whatever K is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias, cast

import numpy as np

from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells
from hebnb.counts.lines import Lines
from hebnb.counts.single import Counts, rest_of
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

# Below this many categories a feature, on average, multiplying one-hot matrices is faster than counting codes.
_FEW_CATEGORIES = 8
# Rows one-hot encoded at a time; single precision counts them exactly.
_BLOCK = 1 << 13
# An array of this many cells is small whatever the rows.
_SMALL_SQUARE = 1 << 20
# How far sums of counts may be off, as a share of them.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Layout:
    """Where the categories of every feature lie in one line."""

    sizes: IntArray

    @cached_property
    def starts(self) -> IntArray:
        """First position of every feature, and at the end W."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @property
    def width(self) -> int:
        """W, the number of positions; also the position of what says nothing."""
        return int(self.starts[-1])

    @cached_property
    def feature(self) -> IntArray:
        """The feature of every position."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def span(self, f: int) -> slice:
        """The positions of a feature."""
        return slice(int(self.starts[f]), int(self.starts[f + 1]))

    def positions(self, codes: Sequence[IntArray]) -> IntArray:
        """Codes of every feature as positions, of shape (F, rows); silent codes become W."""
        line = np.empty((len(codes), len(codes[0])), dtype=np.intp)
        for f, column in enumerate(codes):
            np.add(column, self.starts[f], out=line[f])
            line[f][column == self.sizes[f]] = self.width
        return line


@dataclass(frozen=True, eq=False)
class DensePairs:
    """Counts of all pairs of positions for every class, of shape (C, W, W); zero within a feature."""

    square: FloatArray

    def placed(self, positions: IntArray, classes: IntArray, shape: tuple[int, int]) -> Pairs:
        """The same cells in a larger layout, of that width and number of classes."""
        width, n_classes = shape
        square = np.zeros((n_classes, width, width))
        square[np.ix_(classes, positions, positions)] = self.square
        return DensePairs(square)

    def times(self, times: float) -> DensePairs:
        """All counts, so many times."""
        return DensePairs(times * self.square)

    def rest(self, both: Pairs, named: Callable[[int, int, int], str]) -> DensePairs:
        """A difference without the dust of rounding; ``named`` names two positions and a class in a complaint."""
        assert isinstance(both, DensePairs)
        shape = self.square.shape

        def at_place(at: int) -> str:
            class_, first, second = np.unravel_index(at, shape)
            return named(int(first), int(second), int(class_))

        return DensePairs(rest_of(self.square.ravel(), both.square.ravel(), at_place).reshape(shape))

    def narrowed(self, positions: IntArray, classes: IntArray) -> DensePairs:
        """The cells at some of the positions and classes; the others have no rows."""
        return DensePairs(self.square[np.ix_(classes, positions, positions)])

    def cells(self) -> SparsePairs:
        """The cells that occur."""
        class_, first, second = np.nonzero(np.triu(self.square))
        return SparsePairs(first, second, class_, self.square[class_, first, second])

    def block(self, child: slice, parent: slice, n_classes: int) -> tuple[IntArray, IntArray, FloatArray]:
        """The pairs of values of two features that occur: their places in the spans, and counts of shape (cells, C)."""
        block = self.square[:, parent, child]
        above, value = np.nonzero(block.any(axis=0))
        return value, above, np.ascontiguousarray(block[:, above, value].T)


@dataclass(frozen=True, eq=False)
class SparsePairs:
    """Counts of the pairs of positions that occur, once for each pair: the first belongs to the earlier feature."""

    first: IntArray
    second: IntArray
    class_: IntArray
    count: FloatArray

    def placed(self, positions: IntArray, classes: IntArray, shape: tuple[int, int]) -> Pairs:
        """The same cells in a larger layout."""
        return SparsePairs(positions[self.first], positions[self.second], classes[self.class_], self.count)

    def times(self, times: float) -> SparsePairs:
        """All counts, so many times."""
        return replace(self, count=times * self.count)

    def rest(self, both: Pairs, named: Callable[[int, int, int], str]) -> SparsePairs:
        """A difference without the dust of rounding, and without cells that have no row left."""
        assert isinstance(both, SparsePairs)

        def at_place(at: int) -> str:
            return named(int(self.first[at]), int(self.second[at]), int(self.class_[at]))

        count = rest_of(self.count, both.count, at_place)
        kept = np.flatnonzero(count)
        return SparsePairs(self.first[kept], self.second[kept], self.class_[kept], count[kept])

    def narrowed(self, positions: IntArray, classes: IntArray) -> SparsePairs:
        """The cells at some of the positions and classes; the others have no rows."""
        kept = np.flatnonzero(self.count)
        place = np.zeros(
            int(max(self.first.max(initial=0), self.second.max(initial=0), positions.max(initial=0))) + 1, np.intp
        )
        place[positions] = np.arange(len(positions))
        class_ = np.zeros(int(max(self.class_.max(initial=0), classes.max(initial=0))) + 1, np.intp)
        class_[classes] = np.arange(len(classes))
        return SparsePairs(
            place[self.first[kept]], place[self.second[kept]], class_[self.class_[kept]], self.count[kept]
        )

    def cells(self) -> SparsePairs:
        """The cells that occur."""
        return self

    def block(self, child: slice, parent: slice, n_classes: int) -> tuple[IntArray, IntArray, FloatArray]:
        """The pairs of values of two features that occur: their places in the spans, and counts of shape (cells, C)."""
        earlier, later = (child, parent) if child.start < parent.start else (parent, child)
        here = self._by_first[slice(*np.searchsorted(self._firsts, [earlier.start, earlier.stop]))]
        here = here[(self.second[here] >= later.start) & (self.second[here] < later.stop)]
        width = later.stop - later.start
        key = (self.first[here] - earlier.start) * width + self.second[here] - later.start
        distinct, at = np.unique(key, return_inverse=True)
        count = np.zeros((len(distinct), n_classes))
        count[at, self.class_[here]] = self.count[here]
        in_earlier, in_later = np.divmod(distinct, max(width, 1))
        return (in_earlier, in_later, count) if earlier is child else (in_later, in_earlier, count)

    @cached_property
    def _by_first(self) -> IntArray:
        return np.argsort(self.first, kind="stable")

    @cached_property
    def _firsts(self) -> IntArray:
        return self.first[self._by_first]


Pairs: TypeAlias = DensePairs | SparsePairs


@dataclass(frozen=True, eq=False)
class PairCounts(Counts):
    """Counts, and counts of pairs of features.

    Parameters
    ----------
    pairs : DensePairs or SparsePairs
        How often every pair of categories of different features occurred with every class.
    n_rows : int
        Number of rows counted.
    caps : Caps
        Which pairs are counted at all.
    """

    pairs: Pairs
    n_rows: int
    caps: Caps
    sort: ClassVar[str] = "pairs"

    @classmethod
    def of_rows(cls, counts: Counts, rows: EncodedRows, caps: Caps) -> PairCounts:
        """Count pairs of rows whose single categories have been counted."""
        layout = Layout(counts.vocabulary.sizes)
        counted = caps.counted(layout.sizes, counts.classes.size)
        positions = layout.positions(rows.codes)
        if dense_fits(layout, counts.classes.size, len(rows), counted):
            square = count_square(positions, rows.labels, rows.weights, layout, counts.classes.size)
            pairs: Pairs = DensePairs(square)
        else:
            pairs = count_cells(positions, rows.labels, rows.weights, layout, counted)
        single = counts.classes, counts.class_count, counts.vocabulary, counts.tables
        return cls(*single, pairs, len(rows), caps)

    def further_lines(self) -> Iterator[Lines]:
        """A block for every pair of features."""
        cells, layout = self.pairs.cells(), self.layout
        first, second = layout.feature[cells.first], layout.feature[cells.second]
        codes = np.stack([cells.first - layout.starts[first], cells.second - layout.starts[second]], axis=1)
        order = np.argsort(first * len(layout.sizes) + second, kind="stable")
        starts = np.flatnonzero(np.diff((first * len(layout.sizes) + second)[order], prepend=-1))
        for lines in np.split(order, starts[1:]) if len(starts) else []:
            columns = int(first[lines[0]]), int(second[lines[0]])
            yield Lines(columns, codes[lines], cells.class_[lines], cells.count[lines])

    def described(self) -> dict[str, Any]:
        """Rows and caps."""
        return {"n_rows": self.n_rows, "caps": [self.caps.max_parent_categories, self.caps.max_joint_cells]}

    @classmethod
    def of_lines(
        cls, single: Counts, further: Mapping[tuple[int, ...], Lines], described: Mapping[str, Any]
    ) -> PairCounts:
        """Pairs; where nothing is said of caps, all of them have to be there."""
        caps = Caps(*described.get("caps", (None, None)))
        layout, n_classes = Layout(single.vocabulary.sizes), single.classes.size
        n_rows = int(described.get("n_rows", np.rint(single.class_count.sum())))
        parts = [(np.empty(0, dtype=np.intp), np.empty(0))]
        for columns, lines in further.items():
            at = [layout.starts[f] + lines.codes[:, n] for n, f in enumerate(columns)]
            if len(columns) != 2 or columns[0] == columns[1] or (lines.codes >= layout.sizes[list(columns)]).any():
                raise ValueError("cells that are no pairs")
            first, second = at if columns[0] < columns[1] else at[::-1]
            parts.append(_summed((first * layout.width + second) * n_classes + lines.class_, lines.count))
        key, count = (np.concatenate(part) for part in zip(*parts, strict=True))
        cells = _unpacked(*_summed(key, count), layout.width, n_classes)
        if "caps" not in described:
            _check_pairs(cells, layout, single)
        counted = caps.counted(layout.sizes, n_classes)
        pairs = held(cells, layout, n_classes, min(n_rows, len(count)), counted)
        return cls(single.classes, single.class_count, single.vocabulary, single.tables, pairs, n_rows, caps)

    @cached_property
    def layout(self) -> Layout:
        """Where the categories lie."""
        return Layout(self.vocabulary.sizes)

    def family(self, child: int, parents: tuple[int, ...]) -> FamilyCells:
        """How often the values of a child occurred with those of its one parent."""
        (parent,) = parents
        ours, theirs = self.layout.span(child), self.layout.span(parent)
        values, above, count = self.pairs.block(ours, theirs, self.classes.size)
        order = np.lexsort((values, above))
        return FamilyCells(child, parents, np.stack([values, above], axis=1)[order], count[order])

    def _widen(self, vocabulary: Vocabulary, classes: Categories) -> PairCounts:
        single = super()._widen(vocabulary, classes)
        layout = Layout(vocabulary.sizes)
        columns = self.classes.codes_in(classes)
        positions = np.concatenate(
            [
                start + old.codes_in(new)
                for start, old, new in zip(layout.starts, self.vocabulary.features, vocabulary.features, strict=False)
            ]
        )
        counted = self.caps.counted(layout.sizes, classes.size)
        fits = dense_fits(layout, classes.size, self.n_rows, counted)
        pairs = (self.pairs if fits else self.pairs.cells()).placed(positions, columns, (layout.width, classes.size))
        return PairCounts(classes, single.class_count, vocabulary, single.tables, pairs, self.n_rows, self.caps)

    def __sub__(self, other: Counts) -> Self:
        rest = super().__sub__(other)
        if rest is NotImplemented:
            return NotImplemented
        assert isinstance(other, PairCounts)
        return replace(rest, n_rows=max(self.n_rows - other.n_rows, 1))

    def _times(self, times: float) -> PairCounts:
        return replace(cast("PairCounts", super()._times(times)), pairs=self.pairs.times(times))

    def _settled(self, both: Counts) -> PairCounts:
        assert isinstance(both, PairCounts)
        single = cast("PairCounts", super()._settled(both))
        return replace(single, pairs=self.pairs.rest(both.pairs, self._named_pair))

    def _named_pair(self, first: int, second: int, class_: int) -> str:
        columns = self.layout.feature[[first, second]].tolist()
        codes = [place - int(self.layout.starts[f]) for place, f in zip((first, second), columns, strict=True)]
        return f"{self._named(columns, codes)} in class {self._label(class_)}"

    def _narrow(self, vocabulary: Vocabulary, classes: Categories) -> PairCounts:
        single = super()._narrow(vocabulary, classes)
        layout = Layout(vocabulary.sizes)
        counted = self.caps.counted(layout.sizes, classes.size)
        new = np.argwhere(counted & ~self.caps.counted(self.layout.sizes, self.classes.size))
        if len(new):
            first, second = (vocabulary.names[f] for f in new[0])
            raise InputError(
                f"Columns {first!r} and {second!r} have so few categories left that their pairs are within the caps, "
                "and these were not counted.",
                "Count the rows that are left anew.",
            )
        features = zip(self.layout.starts, self.vocabulary.features, vocabulary.features, strict=False)
        positions = np.concatenate([start + own.codes_in(old) for start, old, own in features])
        pairs = self.pairs.narrowed(positions, classes.codes_in(self.classes))
        held_pairs = held(pairs.cells(), layout, classes.size, self.n_rows, counted)
        return PairCounts(classes, single.class_count, vocabulary, single.tables, held_pairs, self.n_rows, self.caps)

    def __add__(self, other: Counts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        if self.caps != other.caps:
            raise InputError(
                "Counts of pairs with different caps cannot be added.", "Count all parts with the same caps."
            )
        single = super().__add__(other)
        ours, theirs = self._widen(single.vocabulary, single.classes), other._widen(single.vocabulary, single.classes)
        n_rows = self.n_rows + other.n_rows
        counted = self.caps.counted(ours.layout.sizes, single.classes.size)
        if dense_fits(ours.layout, single.classes.size, n_rows, counted):
            shape = ours.layout.width, single.classes.size
            pairs: Pairs = DensePairs(_as_square(ours.pairs, shape) + _as_square(theirs.pairs, shape))
        else:
            pairs = _added(ours.pairs.cells(), theirs.pairs.cells(), ours.layout, counted)
        return PairCounts(
            single.classes, single.class_count, single.vocabulary, single.tables, pairs, n_rows, self.caps
        )


@dataclass(frozen=True)
class Caps:
    """Which feature may be the parent of which, by numbers of categories."""

    max_parent_categories: int | None = 200
    max_joint_cells: float | None = 5e7

    def used(self, sizes: IntArray, n_classes: int) -> BoolArray:
        """Whether the child (column) is conditioned on the parent (row), of shape (F, F)."""
        used = ~np.eye(len(sizes), dtype=bool)
        if self.max_parent_categories is not None:
            used &= (sizes <= self.max_parent_categories)[:, np.newaxis]
        if self.max_joint_cells is not None:
            used &= np.outer(sizes.astype(float), sizes) * n_classes <= self.max_joint_cells
        return used

    def counted(self, sizes: IntArray, n_classes: int) -> BoolArray:
        """Whether a pair is used in either direction. It never becomes so again once it is not: sizes only grow."""
        used = self.used(sizes, n_classes)
        return used | used.T


def _check_pairs(cells: SparsePairs, layout: Layout, single: Counts) -> None:
    """Complain of pairs of columns that have other rows than the classes have."""
    names, n = single.vocabulary.names, len(layout.sizes)
    key = layout.feature[cells.first] * n + layout.feature[cells.second]
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        here = key == i * n + j
        rows = np.bincount(cells.class_[here], cells.count[here], single.classes.size)
        wrong = rows > single.class_count * (1 + _ROUNDING)
        if single.vocabulary.missing != "ignore":
            wrong |= rows < single.class_count * (1 - _ROUNDING)
        if wrong.any():
            c = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"Columns {names[i]!r} and {names[j]!r} together count {rows[c]:,.6g} rows of class "
                f"{single.classes.values.tolist()[c]!r}, and there are {single.class_count[c]:,.6g}.",
                "Count every pair of columns, gaps included.",
            )


def dense_fits(layout: Layout, n_classes: int, n_rows: int, counted: BoolArray) -> bool:
    """Whether the square array is no larger than what the rows could fill otherwise."""
    square = n_classes * layout.width**2
    return square <= max(_SMALL_SQUARE, n_rows * int(counted.sum()))


def held(cells: SparsePairs, layout: Layout, n_classes: int, n_rows: int, counted: BoolArray) -> Pairs:
    """The cells in the form that suits their number."""
    if dense_fits(layout, n_classes, n_rows, counted):
        return DensePairs(_as_square(cells, (layout.width, n_classes)))
    return cells


def count_square(
    positions: IntArray, classes: IntArray, weights: FloatArray | None, layout: Layout, n_classes: int
) -> FloatArray:
    """Counts of all pairs, of shape (C, W, W)."""
    if layout.width < _FEW_CATEGORIES * len(layout.sizes):
        square = _gram(positions, classes, weights, layout, n_classes)
        for f in range(len(layout.sizes)):
            square[:, layout.span(f), layout.span(f)] = 0
        return square
    square = np.zeros((n_classes, layout.width, layout.width))
    for f in range(len(layout.sizes) - 1):
        span = layout.span(f)
        size, rest = span.stop - span.start, layout.width - span.stop + 1
        row = np.minimum(positions[f] - span.start, size)  # what says nothing counts in a row of its own
        cell = positions[f + 1 :] + ((row * n_classes + classes) * rest - span.stop)
        repeated = None if weights is None else np.broadcast_to(weights, cell.shape).ravel()
        counts = np.bincount(cell.ravel(), repeated, (size + 1) * n_classes * rest)
        counts = counts.reshape(size + 1, n_classes, rest)[:size, :, :-1].transpose(1, 0, 2)
        square[:, span, span.stop :] = counts
        square[:, span.stop :, span] = counts.transpose(0, 2, 1)
    return square


def _gram(
    positions: IntArray, classes: IntArray, weights: FloatArray | None, layout: Layout, n_classes: int
) -> FloatArray:
    """OᵀO of the one-hot encoding O of every class's rows."""
    square = np.zeros((n_classes, layout.width, layout.width))
    for c in range(n_classes):
        rows = np.flatnonzero(classes == c)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            one_hot = np.zeros((len(block), layout.width + 1), dtype=np.float32 if weights is None else np.float64)
            one_hot[np.arange(len(block))[:, np.newaxis], positions[:, block].T] = 1
            one_hot = one_hot[:, :-1]
            weighted = one_hot if weights is None else one_hot * weights[block, np.newaxis]
            square[c] += weighted.T @ one_hot
    return square


def count_cells(
    positions: IntArray, classes: IntArray, weights: FloatArray | None, layout: Layout, counted: BoolArray
) -> SparsePairs:
    """Counts of the pairs that occur."""
    n_classes = int(classes.max()) + 1
    parts = [(np.empty(0, dtype=np.intp), np.empty(0))]
    for i, j in zip(*np.nonzero(np.triu(counted)), strict=True):
        known = np.flatnonzero((positions[i] < layout.width) & (positions[j] < layout.width))
        key = (positions[i][known] * layout.width + positions[j][known]) * n_classes + classes[known]
        parts.append(_summed(key, None if weights is None else weights[known]))
    key, count = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _unpacked(key, count, layout.width, n_classes)


def _summed(key: IntArray, weights: FloatArray | None) -> tuple[IntArray, FloatArray]:
    """Distinct keys in order, and how often each occurs."""
    if weights is None:
        distinct, count = np.unique(key, return_counts=True)
        return distinct, count.astype(float)
    distinct, inverse = np.unique(key, return_inverse=True)
    return distinct, np.bincount(inverse, weights, len(distinct)).astype(float)


def _unpacked(key: IntArray, count: FloatArray, width: int, n_classes: int) -> SparsePairs:
    pair, class_ = np.divmod(key, n_classes)
    first, second = np.divmod(pair, width)
    return SparsePairs(first, second, class_, count)


def _added(a: SparsePairs, b: SparsePairs, layout: Layout, counted: BoolArray) -> SparsePairs:
    first, second, class_, count = (
        np.concatenate([getattr(a, part), getattr(b, part)]) for part in ("first", "second", "class_", "count")
    )
    kept = counted[layout.feature[first], layout.feature[second]]
    n_classes = int(class_.max(initial=0)) + 1
    key = (first[kept] * layout.width + second[kept]) * n_classes + class_[kept]
    return _unpacked(*_summed(key, count[kept]), layout.width, n_classes)


def _as_square(pairs: Pairs, shape: tuple[int, int]) -> FloatArray:
    if isinstance(pairs, DensePairs):
        return pairs.square
    width, n_classes = shape
    square: Array = np.zeros((n_classes, width, width))
    square[pairs.class_, pairs.first, pairs.second] = pairs.count
    square[pairs.class_, pairs.second, pairs.first] = pairs.count
    return square
