"""What tables say of rows, side by side, so that many crosses can ask at once what their parts say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hebnb.evidence.choice import Cross
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

    def places(
        self, crosses: Sequence[Cross], sizes: Sequence[int], place: Callable[[int, int], IntArray]
    ) -> list[tuple[IntArray, FloatArray]]:
        """For the first part of every cross, and so on: where its own rows are here, and its weight for each.

        Parameters
        ----------
        crosses : list of Cross
        sizes : list of int
            How many own rows each has.
        place : function
            Which rows of a part's own, by its number, those of a cross are, by its place in the list; −1 for none.
        """
        found = []
        for number in range(max(len(cross.parts) for cross in crosses)):
            at, weight = [], []
            for n, (cross, size) in enumerate(zip(crosses, sizes, strict=True)):
                if number < len(cross.parts):
                    own = place(n, cross.parts[number])
                    at.append(np.where(own < 0, self.nothing, own + self.start[cross.parts[number]]))
                    weight.append(cross.part_weights[number])
                else:
                    at.append(np.full(size, self.nothing))
                    weight.append(0.0)
            found.append((np.concatenate(at), np.repeat(weight, sizes)))
        return found

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
