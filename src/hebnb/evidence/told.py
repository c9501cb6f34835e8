"""What tables say of rows, side by side, so that many crosses can ask at once what their parts say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.evidence.paths import Path, Said
from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Told:
    """What tables say of the rows that each was asked about.

    Parameters
    ----------
    paths : sequence of Path
        For every table.
    n_classes : int
    """

    paths: Sequence[Path]
    n_classes: int

    @cached_property
    def start(self) -> IntArray:
        """Where the rows of every table begin among those of all; last is a row that nobody says anything about."""
        return np.cumsum([0, *(len(path[0].of_row) for path in self.paths)])

    @property
    def nothing(self) -> int:
        """The row that nobody says anything about."""
        return int(self.start[-1])

    def said(self, parts: Sequence[tuple[IntArray, FloatArray]]) -> Said:
        """What parts say together: for each, where the rows are here, and how much it counts for them."""

        def said(number: int, rows: IntArray) -> FloatArray:
            unit, evidence = self._levels(number)
            total = np.zeros((self.n_classes, len(rows)))
            for at, weight in parts:
                total += weight[rows] * evidence.take(unit[at[rows]], axis=1)
            return total

        return said

    def _levels(self, number: int) -> tuple[IntArray, FloatArray]:
        """The unit of every row at a level, or the last of its table, and what is said of the units."""
        number = min(number, max(len(path) for path in self.paths) - 1)
        if number not in self._known:
            levels = [path[min(number, len(path) - 1)] for path in self.paths]
            before = np.cumsum([0, *(level.evidence.shape[1] for level in levels)])
            units = [level.of_row + start for level, start in zip(levels, before[:-1], strict=True)]
            evidence = [*(level.evidence for level in levels), np.zeros((self.n_classes, 1))]
            self._known[number] = np.concatenate([*units, before[-1:]]), np.hstack(evidence)
        return self._known[number]

    @cached_property
    def _known(self) -> dict[int, tuple[IntArray, FloatArray]]:
        """Those that were asked for."""
        return {}
