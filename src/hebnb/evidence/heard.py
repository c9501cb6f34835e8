"""What tables say of sampled rows, and what of that the parts of a cross say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hebnb.evidence.choice import Cross
from hebnb.evidence.counts import CrossCells, nodes_of
from hebnb.evidence.paths import Path, Said
from hebnb.evidence.sampled import Alike, SampledRows
from hebnb.evidence.told import Told
from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Heard:
    """What a table says of rows.

    Parameters
    ----------
    alike : Alike
        The table's own rows, each of which stands for all that are alike.
    path : Path
        What it says of them at every level.
    """

    alike: Alike
    path: Path

    def evidence(self, rows: IntArray) -> FloatArray:
        """What it says of some rows at the finest level, of shape (C, rows)."""
        level = self.path[-1]
        return level.evidence.take(level.of_row[self.alike.of_row[rows]], axis=1)

    def cells(self, rows: SampledRows, cross: Cross) -> CrossCells:
        """The cells of a cross that the sampled rows are in, with their counts."""
        own = self.alike
        some = np.empty(own.n_cells, dtype=np.intp)
        some[own.cell] = own.first
        nodes = [nodes_of(rows.features[f], cross.depth)[rows.codes[f][some]] for f in cross.columns]
        key = own.cell * rows.n_classes + rows.labels[own.first]
        count = np.bincount(key, own.weights, own.n_cells * rows.n_classes).astype(float)
        return CrossCells(np.stack(nodes, axis=1), count.reshape(own.n_cells, -1))


def said_of(alike: Sequence[Alike], heard: Sequence[Heard], told: Told, crosses: Sequence[Cross]) -> Said:
    """What the parts of crosses say of their own rows.

    Parameters
    ----------
    alike : list of Alike
        The own rows of every cross.
    heard : list of Heard
        What tables say of the same rows.
    told : Told
        The same side by side.
    crosses : list of Cross
        Their parts are among the tables.
    """

    def place(n: int, part: int) -> IntArray:
        return heard[part].alike.of_row[alike[n].first]

    return told.said(told.places(crosses, [len(own.first) for own in alike], place))
