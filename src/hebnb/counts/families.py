"""Counts of families: a child's values together with those of its parents, and with every class. They add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from hebnb import errors
from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.lines import Lines
from hebnb.counts.single import Counts, rest_of
from hebnb.errors import InputError
from hebnb.foundation.arrays import FloatArray, IntArray

# The parents of every feature, the first of which is given up last.
Parents: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class FamilyCells:
    """How often a child's values occurred with those of its parents.

    Parameters
    ----------
    child : int
    parents : tuple of int
    codes : array of shape (cells, 1 + parents)
        The child's code and those of the parents, which may be silent; in the order of the parents and then of the
        child, and no line occurs twice.
    count : array of shape (cells, C)
    """

    child: int
    parents: tuple[int, ...]
    codes: IntArray
    count: FloatArray

    @classmethod
    def of_rows(cls, child: int, parents: tuple[int, ...], rows: EncodedRows) -> FamilyCells:
        """Count rows in which the child is known."""
        known = np.flatnonzero(rows.codes[child] < rows.vocabulary.features[child].size)
        codes = np.stack([rows.codes[f][known] for f in (child, *parents)], axis=1)
        weights = None if rows.weights is None else rows.weights[known]
        return cls(child, parents, *_tallied(codes, rows.labels[known], weights, rows.classes.size))

    @classmethod
    def of_cells(
        cls,
        child: int,
        parents: tuple[int, ...],
        codes: IntArray,
        cells: tuple[IntArray, FloatArray],
        n_classes: int,
    ) -> FamilyCells:
        """From lines of (codes, class, count) in any order, some of which may be the same."""
        classes, count = cells
        return cls(child, parents, *_tallied(codes, classes, count, n_classes))

    def with_parents(self, number: int) -> FamilyCells:
        """The counts with that many of the parents, all of them known."""
        codes, at = _distinct(self.codes[:, : number + 1])
        count = np.zeros((len(codes), self.count.shape[1]))
        np.add.at(count, at, self.count)
        return FamilyCells(self.child, self.parents[:number], codes, count)

    def known(self, sizes: IntArray) -> FamilyCells:
        """The cells in which no parent is silent."""
        kept = np.flatnonzero((self.codes[:, 1:] < sizes[list(self.parents)]).all(axis=1))
        return FamilyCells(self.child, self.parents, self.codes[kept], self.count[kept])

    def widened(self, places: Sequence[IntArray], classes: IntArray, n_classes: int) -> FamilyCells:
        """The same cells under other codes; ``places`` has those of every feature, the silent one last."""
        columns = [places[f][self.codes[:, n]] for n, f in enumerate((self.child, *self.parents))]
        count = np.zeros((len(self.count), n_classes))
        count[:, classes] = self.count
        return FamilyCells(self.child, self.parents, np.stack(columns, axis=1), count)

    def narrowed(self, places: Sequence[IntArray], classes: IntArray) -> FamilyCells:
        """The cells that occur, under codes of fewer categories and classes."""
        kept = np.flatnonzero(self.count.any(axis=1))
        columns = [places[f][self.codes[kept, n]] for n, f in enumerate((self.child, *self.parents))]
        codes, at = _distinct(np.stack(columns, axis=1))
        count = np.empty((len(codes), len(classes)))
        count[at] = self.count[kept][:, classes]
        return FamilyCells(self.child, self.parents, codes, count)

    def __add__(self, other: FamilyCells) -> FamilyCells:
        codes, at = _distinct(np.concatenate([self.codes, other.codes]))
        count = np.zeros((len(codes), self.count.shape[1]))
        np.add.at(count, at, np.concatenate([self.count, other.count]))
        return FamilyCells(self.child, self.parents, codes, count)


@dataclass(frozen=True, eq=False)
class FamilyCounts(Counts):
    """Counts, and counts of a family for every feature that has parents.

    Parameters
    ----------
    parents : tuple of tuples of int
        The parents of every feature.
    cells : tuple of FamilyCells
        Of every feature that has any, in their order.
    """

    parents: Parents
    cells: tuple[FamilyCells, ...]
    sort: ClassVar[str] = "families"

    @classmethod
    def of_families(cls, counts: Counts, parents: Parents, cells: Sequence[FamilyCells]) -> FamilyCounts:
        """Counts that go with those of single features."""
        return cls(counts.classes, counts.class_count, counts.vocabulary, counts.tables, parents, tuple(cells))

    def further_lines(self) -> Iterator[Lines]:
        """A block for every family; a parent that is silent has a gap."""
        features = self.vocabulary.features
        for own in self.cells:
            for n, f in enumerate(own.parents, 1):
                if features[f].missing and (own.codes[:, n] == features[f].size).any():
                    raise InputError(
                        f"{errors.column(self.vocabulary.names[f])} has gaps and categories that were left out, which "
                        "a table cannot tell apart.",
                        "Count without max_categories.",
                    )
            cell, class_ = np.nonzero(own.count)
            yield Lines((own.child, *own.parents), own.codes[cell], class_, own.count[cell, class_])

    def described(self) -> dict[str, Any]:
        """The parents."""
        return {"parents": [list(own) for own in self.parents]}

    @classmethod
    def of_lines(
        cls, single: Counts, further: Mapping[tuple[int, ...], Lines], described: Mapping[str, Any]
    ) -> FamilyCounts:
        """The families of the parents that are told."""
        parents = tuple(tuple(map(int, own)) for own in described["parents"])
        sizes, n_classes = single.vocabulary.sizes, single.classes.size
        columns = [(f, *own) for f, own in enumerate(parents) if own]
        known = all(0 <= f < len(sizes) for own in columns for f in own)
        if len(parents) != len(sizes) or not known or any(len(set(own)) != len(own) for own in columns):
            raise ValueError("no such parent")
        if not further.keys() <= set(columns):
            raise ValueError("cells of other families")
        cells = []
        for child, *own in columns:
            lines = further.get((child, *own))
            codes = np.empty((0, 1 + len(own)), dtype=np.intp) if lines is None else lines.codes
            if (codes[:, 0] >= sizes[child]).any():
                raise ValueError("cells of no category")
            at = (np.empty(0, dtype=np.intp), np.empty(0)) if lines is None else (lines.class_, lines.count)
            cells.append(FamilyCells.of_cells(child, tuple(own), codes, at, n_classes))
        return cls.of_families(single, parents, cells)

    def family(self, child: int, parents: tuple[int, ...]) -> FamilyCells:
        """The counts of a feature's family with these parents, the first of those it has."""
        (cells,) = (cells for cells in self.cells if cells.child == child)
        return cells.with_parents(len(parents)).known(self.vocabulary.sizes)

    def _widen(self, vocabulary: Vocabulary, classes: Categories) -> FamilyCounts:
        single = super()._widen(vocabulary, classes)
        features = zip(self.vocabulary.features, vocabulary.features, strict=True)
        places = [np.append(old.codes_in(new), new.size) for old, new in features]
        columns = self.classes.codes_in(classes)
        cells = [family.widened(places, columns, classes.size) for family in self.cells]
        return FamilyCounts.of_families(single, self.parents, cells)

    def _times(self, times: float) -> FamilyCounts:
        cells = tuple(replace(own, count=times * own.count) for own in self.cells)
        return replace(cast("FamilyCounts", super()._times(times)), cells=cells)

    def _settled(self, both: Counts) -> FamilyCounts:
        assert isinstance(both, FamilyCounts)
        single = cast("FamilyCounts", super()._settled(both))
        return replace(single, cells=tuple(map(self._settled_cells, self.cells, both.cells)))

    def _settled_cells(self, cells: FamilyCells, both: FamilyCells) -> FamilyCells:
        columns, n_classes = (cells.child, *cells.parents), self.classes.size

        def named(at: int) -> str:
            cell, class_ = divmod(at, n_classes)
            return f"{self._named(columns, cells.codes[cell].tolist())} in class {self._label(class_)}"

        rest = rest_of(cells.count.ravel(), both.count.ravel(), named).reshape(-1, n_classes)
        kept = np.flatnonzero(rest.any(axis=1))
        return replace(cells, codes=cells.codes[kept], count=rest[kept])

    def _narrow(self, vocabulary: Vocabulary, classes: Categories) -> FamilyCounts:
        single = super()._narrow(vocabulary, classes)
        places = []
        for old, new in zip(self.vocabulary.features, vocabulary.features, strict=True):
            place = np.full(old.size + 1, new.size)
            place[new.codes_in(old)] = np.arange(new.size)
            places.append(place)
        columns = classes.codes_in(self.classes)
        return FamilyCounts.of_families(single, self.parents, [own.narrowed(places, columns) for own in self.cells])

    def __add__(self, other: Counts) -> FamilyCounts:
        if not isinstance(other, FamilyCounts):
            return NotImplemented
        if self.parents != other.parents:
            raise InputError(
                "Counts of different families cannot be added: their features have other parents.",
                "Count the parts with partial_fit, which keeps the parents that the first part chose.",
            )
        single = super().__add__(other)
        ours, theirs = self._widen(single.vocabulary, single.classes), other._widen(single.vocabulary, single.classes)
        cells = [a + b for a, b in zip(ours.cells, theirs.cells, strict=True)]
        return FamilyCounts.of_families(single, self.parents, cells)


def _tallied(
    codes: IntArray, classes: IntArray, weights: FloatArray | None, n_classes: int
) -> tuple[IntArray, FloatArray]:
    """Distinct lines of codes, and the weight of every class among them."""
    distinct, at = _distinct(codes)
    count = np.bincount(at * n_classes + classes, weights, len(distinct) * n_classes).astype(float)
    return distinct, count.reshape(-1, n_classes)


def _distinct(codes: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct lines, by parents and then by child, and which of them each line is."""
    if not len(codes):
        return codes, np.empty(0, dtype=np.intp)
    order = [*range(1, codes.shape[1]), 0]
    sizes = codes.max(axis=0) + 1
    key = reduce(lambda key, f: key * sizes[f] + codes[:, f], order[1:], codes[:, order[0]])
    if float(np.prod(sizes, dtype=float)) < 2.0**62:
        _, first, at = np.unique(key, return_index=True, return_inverse=True)
    else:
        _, first, at = np.unique(codes[:, order], axis=0, return_index=True, return_inverse=True)
    return codes[first], at.reshape(-1)
