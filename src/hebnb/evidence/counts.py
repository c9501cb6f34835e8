"""Counts of single columns and of the cells of crosses. They add, as long as the same crosses were chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from hebnb.columns.kinds import Categories, Kind
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.lines import Lines
from hebnb.counts.single import Counts, rest_of
from hebnb.errors import InputError
from hebnb.evidence.choice import Choice, Cross
from hebnb.evidence.leaving import grouped
from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CrossCells:
    """How often nodes of some columns occurred together.

    Parameters
    ----------
    codes : array of shape (cells, columns)
        The nodes, at the finest level of the cross; no line occurs twice.
    count : array of shape (cells, C)
    """

    codes: IntArray
    count: FloatArray

    @classmethod
    def tallied(
        cls, nodes: Sequence[IntArray], classes: IntArray, weights: FloatArray | None, n_classes: int
    ) -> CrossCells:
        """From the nodes of rows, column by column."""
        distinct, at = _distinct(nodes)
        count = np.bincount(at * n_classes + classes, weights, len(distinct) * n_classes).astype(float)
        return cls(distinct, count.reshape(-1, n_classes))

    def placed(self, places: Sequence[IntArray], classes: IntArray, n_classes: int) -> CrossCells:
        """The same cells under other numbers of nodes and classes."""
        codes = np.stack([place[own] for place, own in zip(places, self.codes.T, strict=True)], axis=1)
        count = np.zeros((len(self.count), n_classes))
        count[:, classes] = self.count
        return CrossCells(codes, count)

    def __add__(self, other: CrossCells) -> CrossCells:
        codes, at = _distinct(list(np.concatenate([self.codes, other.codes]).T))
        count = np.zeros((len(codes), self.count.shape[1]))
        np.add.at(count, at, np.concatenate([self.count, other.count]))
        return CrossCells(codes, count)


@dataclass(frozen=True, eq=False)
class EvidenceCounts(Counts):
    """Counts of columns, and of the cells of chosen crosses.

    Parameters
    ----------
    choice : Choice
        What a sample of the first rows has decided.
    cells : tuple of CrossCells
        Of every cross.
    """

    choice: Choice
    cells: tuple[CrossCells, ...]
    sort: ClassVar[str] = "evidence"

    @classmethod
    def with_cells(cls, counts: Counts, choice: Choice, cells: Sequence[CrossCells]) -> EvidenceCounts:
        """Counts that go with those of single columns."""
        return cls(counts.classes, counts.class_count, counts.vocabulary, counts.tables, choice, tuple(cells))

    @classmethod
    def of_rows(cls, rows: EncodedRows, choice: Choice) -> EvidenceCounts:
        """Count rows."""
        features, n_classes = rows.vocabulary.features, rows.classes.size
        seen: dict[tuple[int, int], IntArray] = {}
        cells = []
        for cross in choice.crosses:
            for f in cross.columns:
                if (f, cross.depth) not in seen:
                    seen[f, cross.depth] = nodes_of(features[f], cross.depth)[rows.codes[f]]
            nodes = [seen[f, cross.depth] for f in cross.columns]
            cells.append(CrossCells.tallied(nodes, rows.labels, rows.weights, n_classes))
        return cls.with_cells(Counts.of(rows), choice, cells)

    def further_lines(self) -> Iterator[Lines]:
        """A block for every cross, whose cells are of nodes."""
        for cross, own in zip(self.choice.crosses, self.cells, strict=True):
            cell, class_ = np.nonzero(own.count)
            yield Lines(cross.columns, own.codes[cell], class_, own.count[cell, class_], by_number=True)

    def described(self) -> dict[str, Any]:
        """The choice."""
        return {"choice": self.choice.document()}

    @classmethod
    def of_lines(
        cls, single: Counts, further: Mapping[tuple[int, ...], Lines], described: Mapping[str, Any]
    ) -> EvidenceCounts:
        """The crosses of the choice."""
        choice = Choice.restored(described["choice"], single.classes.size)
        features = single.vocabulary.features
        if [len(own.levels) for own in choice.columns] != [len(kind.levels) for kind in features]:
            raise ValueError("strengths and levels do not match")
        if not further.keys() <= {cross.columns for cross in choice.crosses}:
            raise ValueError("cells of other crosses")
        cells = []
        for cross in choice.crosses:
            lines = further.get(cross.columns)
            if lines is None:
                cells.append(
                    CrossCells(np.empty((0, len(cross.columns)), dtype=np.intp), np.empty((0, single.classes.size)))
                )
                continue
            limits = np.array([int(nodes_of(features[f], cross.depth).max()) + 1 for f in cross.columns])
            if ((lines.codes < 0) | (lines.codes >= limits)).any():
                raise ValueError("cells of no node")
            cells.append(CrossCells.tallied([*lines.codes.T], lines.class_, lines.count, single.classes.size))
        return cls.with_cells(single, choice, cells)

    def _widen(self, vocabulary: Vocabulary, classes: Categories) -> EvidenceCounts:
        single = super()._widen(vocabulary, classes)
        pairs = list(zip(self.vocabulary.features, vocabulary.features, strict=True))
        own = self.classes.codes_in(classes)
        cells = [
            cells.placed([_places(*pairs[f], cross) for f in cross.columns], own, classes.size)
            for cross, cells in zip(self.choice.crosses, self.cells, strict=True)
        ]
        return EvidenceCounts.with_cells(single, self.choice.widened(self.classes, classes), cells)

    def _times(self, times: float) -> EvidenceCounts:
        cells = tuple(CrossCells(own.codes, times * own.count) for own in self.cells)
        return replace(cast("EvidenceCounts", super()._times(times)), cells=cells)

    def _settled(self, both: Counts) -> EvidenceCounts:
        assert isinstance(both, EvidenceCounts)
        single = cast("EvidenceCounts", super()._settled(both))
        parts = zip(self.choice.crosses, self.cells, both.cells, strict=True)
        return replace(single, cells=tuple(self._settled_cells(*part) for part in parts))

    def _settled_cells(self, cross: Cross, cells: CrossCells, both: CrossCells) -> CrossCells:
        n_classes = self.classes.size

        def named(at: int) -> str:
            columns = " and ".join(repr(self.vocabulary.names[f]) for f in cross.columns)
            return f"a combination of columns {columns} in class {self._label(at % n_classes)}"

        rest = rest_of(cells.count.ravel(), both.count.ravel(), named).reshape(-1, n_classes)
        kept = np.flatnonzero(rest.any(axis=1))
        return CrossCells(cells.codes[kept], rest[kept])

    def _narrow(self, vocabulary: Vocabulary, classes: Categories) -> EvidenceCounts:
        single = super()._narrow(vocabulary, classes)
        columns = classes.codes_in(self.classes)
        pairs = list(zip(vocabulary.features, self.vocabulary.features, strict=True))
        cells = []
        for cross, own in zip(self.choice.crosses, self.cells, strict=True):
            kept = np.flatnonzero(own.count.any(axis=1))
            nodes = [_inverse(_places(*pairs[f], cross), own.codes[kept, n]) for n, f in enumerate(cross.columns)]
            cells.append(CrossCells(np.stack(nodes, axis=1), own.count[kept][:, columns]))
        return EvidenceCounts.with_cells(single, self.choice.narrowed(columns), cells)

    def __add__(self, other: Counts) -> EvidenceCounts:
        if not isinstance(other, EvidenceCounts):
            return NotImplemented
        single = super().__add__(other)
        ours, theirs = self._widen(single.vocabulary, single.classes), other._widen(single.vocabulary, single.classes)
        if ours.choice != theirs.choice:
            raise InputError(
                "Counts of different crosses cannot be added: each part has chosen its own.",
                "Count the parts with partial_fit, which keeps the crosses that the first part chose.",
            )
        return EvidenceCounts.with_cells(
            single, ours.choice, [a + b for a, b in zip(ours.cells, theirs.cells, strict=True)]
        )


def nodes_of(kind: Kind, depth: int) -> IntArray:
    """The node of every code at the finest level of a cross."""
    return kind.levels[min(depth, len(kind.levels)) - 1]


def _places(old: Kind, new: Kind, cross: Cross) -> IntArray:
    """The node in a wider kind of every node of a kind."""
    nodes, wider = nodes_of(old, cross.depth), nodes_of(new, cross.depth)
    places = np.empty(int(nodes.max()) + 1, dtype=np.intp)
    places[nodes] = wider[np.append(old.codes_in(new), new.size)]
    return places


def _inverse(places: IntArray, nodes: IntArray) -> IntArray:
    """The numbers that lead to these places."""
    number = np.zeros(int(max(places.max(), nodes.max(initial=0))) + 1, dtype=np.intp)
    number[places] = np.arange(len(places))
    return number[nodes]


def _distinct(columns: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """The distinct lines of some columns, in order, of shape (lines, columns), and which of them each line is."""
    sizes = [int(own.max(initial=0)) + 1 for own in columns]
    space = float(np.prod(sizes, dtype=float))
    if space < 2.0**62:
        key = columns[0]
        for own, size in zip(columns[1:], sizes[1:], strict=True):
            key = key * size + own
        at, first, _ = grouped(key, int(space))
    else:
        _, first, at = np.unique(np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True)
    return np.stack([own[first] for own in columns], axis=1), at.reshape(-1)
