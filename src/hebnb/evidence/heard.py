"""What tables say of sampled rows, and what of that the parts of a cross say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hebnb.evidence.choice import Cross
from hebnb.evidence.paths import Path, Said
from hebnb.evidence.sampled import Alike
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
