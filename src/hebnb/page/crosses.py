"""Columns that tell more together than apart: how much they do, and their strongest cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hebnb.columns.kinds import Kind
from hebnb.explain.contributions import against_others
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.page.choices import Choices, short
from hebnb.page.explorer import packed
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import codes_at

# Crosses that the page shows, and cells that it lists of each.
MOST_CROSSES = 20
_MOST_LISTED = 8
# Values along a side of a heat map: categories, of which the most frequent are drawn, and bins or whole numbers.
_MOST_CATEGORIES = 30
_MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class ShownCells:
    """The cells of a cross in which there is a known value of every column.

    Parameters
    ----------
    number : int
        Of its table in the model.
    columns : tuple of int
    kinds : tuple of Kind
    views : tuple of arrays
        Of its columns, as they are here.
    nodes : array of shape (cells, columns)
        What they are of every column.
    count : array of shape (cells, C)
        Training rows.
    odds : array of shape (cells, C)
        What they add to the log-odds of every class.
    """

    number: int
    columns: tuple[int, ...]
    kinds: tuple[Kind, ...]
    views: tuple[IntArray, ...]
    nodes: IntArray
    count: FloatArray
    odds: FloatArray

    @classmethod
    def of(cls, model: ScoreTables, number: int) -> ShownCells:
        """Those of a table."""
        table, features = model.tables[number], model.counts.vocabulary.features
        keys, adds = table.lines()
        nodes = np.stack(np.unravel_index(keys, [int(view.max()) + 1 for view in table.views]), axis=1)
        known = np.flatnonzero(np.all(nodes != [view[-1] for view in table.views], axis=1))
        codes = codes_at(table, nodes[known], len(features))
        odds = against_others(float(model.combination.table_weights[number]) * adds[known])
        kinds = tuple(features[f] for f in table.columns)
        return cls(number, table.columns, kinds, table.views, nodes[known], table.counted(codes), odds)

    @cached_property
    def rows(self) -> FloatArray:
        """Training rows of all classes."""
        rows: FloatArray = self.count.sum(axis=1)
        return rows

    @cached_property
    def pushes(self) -> FloatArray:
        """How much every cell moves the log-odds of its rows, on average over classes, times its rows."""
        pushes: FloatArray = self.rows * np.abs(self.odds).mean(axis=1)
        return pushes

    def texts(self, n: int) -> list[str | None]:
        """What the nodes of a column are called; None for a gap."""
        kind, view = self.kinds[n], self.views[n]
        level = next(level for level, own in enumerate(kind.levels) if np.array_equal(own, view))
        return kind.coarser(level).texts


@dataclass(frozen=True)
class CrossSummary:
    """A cross, as the page shows it.

    Parameters
    ----------
    names : list of str
        Of its columns.
    weight : float
    push : float
        By how much it moves the log-odds of a row, on average over training rows and classes.
    strongest : list of (values, rows, odds)
        Cells, by how much they move in all; the log-odds are those of every class.
    number : int
        Of its table in the model.
    """

    names: list[str]
    weight: float
    push: float
    strongest: list[tuple[list[str | None], float, list[float]]]
    number: int


def cross_summaries(model: ScoreTables, least: float = 0) -> list[CrossSummary]:
    """The crosses of a model that move log-odds most, the strongest first; of their cells, those with enough rows."""
    names, n_rows = model.counts.vocabulary.names, float(model.counts.class_count.sum())
    crosses = [ShownCells.of(model, t) for t, table in enumerate(model.tables) if _is_cross(model, t)]
    crosses.sort(key=lambda cells: -float(cells.pushes.sum()))
    summaries = []
    for cells in crosses[:MOST_CROSSES]:
        texts = [cells.texts(n) for n in range(len(cells.columns))]
        pushes = np.where(cells.rows >= least, cells.pushes, 0.0)
        order = np.argsort(-pushes, kind="stable")[:_MOST_LISTED]
        strongest = [
            ([own[node] for own, node in zip(texts, cells.nodes[i], strict=True)], float(cells.rows[i]), cells.odds[i])
            for i in order[pushes[order] > 0].tolist()
        ]
        summaries.append(
            CrossSummary(
                [str(names[f]) for f in cells.columns],
                float(model.combination.table_weights[cells.number]),
                float(cells.pushes.sum() / n_rows),
                [(values, rows, odds.tolist()) for values, rows, odds in strongest],
                cells.number,
            )
        )
    return summaries


def heat_map(model: ScoreTables, number: int, choices: Choices) -> dict[str, Any] | None:
    """The two columns of a cross side by side, and the counts of their cells; None of a cross that has more.

    The one with more values goes down, the other across. Numbers are not held: the page looks them up, by a choice that
    leads to every value. Cells that too few rows have are as good as empty.
    """
    if len(model.tables[number].columns) != 2:
        return None
    cells = ShownCells.of(model, number)
    sides = [_side(cells, n, choices) for n in range(2)]
    down, across = sorted(range(2), key=lambda n: -len(sides[n][0]))
    count = np.zeros((*(len(sides[n][0]) for n in (down, across)), model.n_classes))
    place = [np.full(int(view.max()) + 1, -1) for view in cells.views]
    for own, (nodes, _) in zip(place, sides, strict=True):
        own[nodes] = np.arange(len(nodes))
    y, x = (place[n][cells.nodes[:, n]] for n in (down, across))
    drawn = (y >= 0) & (x >= 0) & (cells.rows >= choices.least)
    count[y[drawn], x[drawn]] = cells.count[drawn]
    return {
        "table": number,
        "sides": [
            {
                "column": cells.columns[n],
                "choices": sides[n][1].tolist(),
                "labels": [short(cells.texts(n)[node]) for node in sides[n][0].tolist()],
                "of": len(cells.texts(n)),
            }
            for n in (down, across)
        ],
        "count": packed(count),
    }


def _side(cells: ShownCells, n: int, choices: Choices) -> tuple[IntArray, IntArray]:
    """The nodes of a column that are drawn, in order, and a choice for each."""
    kind, view = cells.kinds[n], cells.views[n]
    rows = np.bincount(cells.nodes[:, n], cells.rows, int(view.max()) + 1)
    offered = choices.of_features[cells.columns[n]].codes
    choice = np.full(len(rows), -1)
    choice[view[offered]] = np.arange(len(offered))
    found = np.flatnonzero((choice >= 0) & (rows > 0) & (rows >= choices.least))
    most = _MOST_BINS if kind.is_ordered or kind.are_integers else _MOST_CATEGORIES
    nodes = np.sort(found[np.argsort(-rows[found], kind="stable")[:most]])
    return nodes, choice[nodes]


def _is_cross(model: ScoreTables, t: int) -> bool:
    return t >= len(model.counts.marginal) and len(model.tables[t].columns) > 1
