"""Making score tables of counts: what every cell of a column, and of a cross, says about the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import prod

import numpy as np

from hebnb.evidence.batch import OwnRows
from hebnb.evidence.choice import Cross
from hebnb.evidence.counts import nodes_of
from hebnb.evidence.leaving import NoRow, Units
from hebnb.evidence.paths import Path, of_cross
from hebnb.evidence.sampled import MOST_CELLS, Nodes, n_nodes_at
from hebnb.evidence.tables import EvidenceModel, EvidenceTable, added_up
from hebnb.evidence.told import Told
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray

# Crosses whose tables are made together.
_TOGETHER = 16


@dataclass(frozen=True, eq=False)
class CellsOfTable:
    """The cells of a cross's table: as one number each, their counts, codes that lead to them, which say nothing."""

    keys: IntArray
    count: FloatArray
    codes: list[IntArray]
    mute: BoolArray


@dataclass(frozen=True, eq=False)
class Made:
    """A table, and what it says of its cells at every level."""

    table: EvidenceTable
    path: Path


def tables(model: EvidenceModel) -> tuple[EvidenceTable, ...]:
    """A table for every column, and one for every cross."""
    made = [_column(model, f) for f in range(len(model.features))]
    crosses = list(enumerate(model.counts.choice.crosses, len(made)))
    while len(made) < len(model.features) + len(crosses):
        made += _Making(model, made).crosses(_ready(crosses[len(made) - len(model.features) :], len(made)))
    return tuple(own.table for own in made)


def _ready(crosses: Sequence[tuple[int, Cross]], n_made: int) -> list[tuple[int, Cross]]:
    """The first crosses, as many as have parts that have been made."""
    return list(takewhile(lambda numbered: max(numbered[1].parts) < n_made, crosses))


def _column(model: EvidenceModel, f: int) -> Made:
    """The table of a column, which has all its codes."""
    every = np.arange(model.features[f].size + 1)
    path = model.path(f, _placed(model, (f,), [every]), NoRow(model.counts.class_count), {})
    finest = model.levels[f][-1]
    cells = CellsOfTable(every, finest.count[:, finest.nodes[0]].T, [every], np.zeros(len(every), dtype=bool))
    return _made(model, f, (every,), cells, path)


def _made(model: EvidenceModel, t: int, views: tuple[IntArray, ...], cells: CellsOfTable, path: Path) -> Made:
    level, columns = path[-1], model.columns_of(t)
    numbers, share = level.evidence.T[level.of_row], level.prior_share[level.of_row]
    return Made(EvidenceTable(model, t, columns, views, cells.keys, numbers, cells.count, share), path)


@dataclass(frozen=True, eq=False)
class _Making:
    """Making tables of crosses whose parts, among others, have been made."""

    model: EvidenceModel
    made: Sequence[Made]

    @cached_property
    def told(self) -> Told:
        return Told([own.path for own in self.made], len(self.model.counts.class_count))

    def crosses(self, crosses: Sequence[tuple[int, Cross]]) -> list[Made]:
        """The tables of crosses, given by number."""
        found: dict[int, Made] = {}
        for order, depth in sorted({(len(cross.columns), cross.depth) for _, cross in crosses}):
            nodes = [Nodes.of(self.model.features, level) for level in range(depth - 1)]
            some = [(t, own) for t, own in crosses if (len(own.columns), own.depth) == (order, depth)]
            for start in range(0, len(some), _TOGETHER):
                found |= self._together(some[start : start + _TOGETHER], nodes)
        return [found[t] for t, _ in crosses]

    def _together(self, crosses: Sequence[tuple[int, Cross]], nodes: Sequence[Nodes]) -> dict[int, Made]:
        """The tables of crosses of as many columns and levels, given the nodes of all levels but the finest."""
        model, told = self.model, self.told
        cells = [_cells_of(model, t, cross) for t, cross in crosses]
        columns = np.array([cross.columns for _, cross in crosses])
        codes = [np.concatenate(own) for own in zip(*(own.codes for own in cells), strict=True)]
        own_rows = OwnRows([len(own.keys) for own in cells])
        count = np.concatenate([own.count for own in cells])
        coarse = [own.cells(columns, codes, own_rows.table) for own in nodes]
        finest = np.arange(len(count)), len(count)
        levels = [(cell, added_up(cell, count, n_cells + 1)) for cell, n_cells in (*coarse, finest)]
        strengths = np.array([cross.strengths for _, cross in crosses])

        def given_strength(level: int, units: Units, prior: FloatArray) -> FloatArray:
            own: FloatArray = strengths[own_rows.table[units.first], level]
            return own

        def place(n: int, part: int) -> IntArray:
            return self.made[part].table.places(_placed(model, crosses[n][1].columns, cells[n].codes))

        said = told.said(told.places([cross for _, cross in crosses], own_rows.sizes, place))
        mute = np.concatenate([own.mute for own in cells]) if model.silence else None
        path = of_cross(NoRow(model.counts.class_count), levels, given_strength, said, mute)
        views = [tuple(nodes_of(model.features[f], len(levels)) for f in cross.columns) for _, cross in crosses]
        parted = zip(crosses, views, cells, own_rows.parted(path), strict=True)
        return {t: _made(model, t, view, own, of_own) for (t, _), view, own, of_own in parted}


def _cells_of(model: EvidenceModel, t: int, cross: Cross) -> CellsOfTable:
    """The cells that the table of a cross has: every combination of nodes, or, of many, those that occur."""
    kinds = [model.features[f] for f in cross.columns]
    sizes = tuple(n_nodes_at(kind, cross.depth - 1) for kind in kinds)
    counted = model.counts.cells[t - len(model.features)]
    n_cells = prod(sizes)
    occurs = np.zeros(len(counted.codes), dtype=np.intp)
    for own, size in zip(counted.codes.T, sizes, strict=True):
        occurs = occurs * size + own
    # A cell that does not occur says what the one above it says, if there is one.
    if cross.depth > 1 or n_cells <= MOST_CELLS:
        keys, count = np.arange(n_cells), np.zeros((n_cells, len(model.counts.class_count)))
        count[occurs] = counted.count
    else:
        order = np.argsort(occurs)
        keys, count = occurs[order], counted.count[order]
    codes = []
    for kind, node, size in zip(kinds, np.unravel_index(keys, sizes), sizes, strict=True):
        view = nodes_of(kind, cross.depth)
        some_code = np.empty(size, dtype=np.intp)
        some_code[view] = np.arange(len(view))
        codes.append(some_code[node])
    mute: BoolArray = np.any([code == kind.size for code, kind in zip(codes, kinds, strict=True)], axis=0)
    if model.silence:  # rows with a gap were not counted
        count = np.where(mute[:, np.newaxis], 0.0, count)
    return CellsOfTable(keys, count, codes, mute)


def _placed(model: EvidenceModel, columns: Sequence[int], codes: Sequence[IntArray]) -> list[IntArray]:
    """Codes of some columns among those of all, which have none."""
    every = [np.empty(0, dtype=np.intp)] * len(model.features)
    for f, own in zip(columns, codes, strict=True):
        every[f] = own
    return every
