"""Years, months, days, weekdays and hours of dates and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.column import Column
from hebnb.columns.wall_times import wall_times
from hebnb.foundation.arrays import Array

WEEKDAYS = np.array(
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], dtype=object
)  # fmt: skip
# The first of January 1970 was a Thursday.
_FIRST_WEEKDAY = 3


def _since_1970(times: Array, unit: str) -> Array:
    return times.astype(f"M8[{unit}]").astype(np.int64)


def _day(times: Array) -> Array:
    return _since_1970(times, "D") - _since_1970(times.astype("M8[M]"), "D") + 1


DATE_PARTS: dict[str, Callable[[Array], Array]] = {
    "year": lambda times: _since_1970(times, "Y") + 1970,
    "month": lambda times: _since_1970(times, "M") % 12 + 1,
    "day": _day,
    "weekday": lambda times: WEEKDAYS[(_since_1970(times, "D") + _FIRST_WEEKDAY) % 7],
    "hour": lambda times: _since_1970(times, "h") % 24,
}


@dataclass(frozen=True)
class DateParts:
    """Which parts of a column of dates are columns of their own.

    Parameters
    ----------
    at : int
        The position of the column.
    parts : tuple of str
        Names among ``DATE_PARTS``.
    """

    at: int
    parts: tuple[str, ...]

    @classmethod
    def learned(cls, at: int, column: Column) -> DateParts:
        """The parts that vary."""
        times = wall_times(column)
        times = times[~np.isnat(times)]
        return cls(at, tuple(name for name, part in DATE_PARTS.items() if len(np.unique(part(times))) > 1))

    @property
    def titles(self) -> tuple[str, ...]:
        """What the parts are called, after the name of the column."""
        return self.parts

    def columns(self, column: Column) -> list[Any]:
        """The parts as masked arrays."""
        times = wall_times(column)
        gaps = np.isnat(times)
        known = np.where(gaps, np.datetime64(0, "us"), times)
        return [np.ma.MaskedArray(DATE_PARTS[name](known), gaps) for name in self.parts]

    def instead(self, column: Column) -> Any:
        """The column as times, as a masked array, if it is text; None if it can stay as it is."""
        if column.holds_times:
            return None
        times = wall_times(column)
        return np.ma.MaskedArray(times, np.isnat(times)) if len(times) else None

    def document(self) -> dict[str, Any]:
        """What was learned, as JSON has it."""
        return {"kind": "dates", "at": self.at, "parts": list(self.parts)}

    @classmethod
    def restored(cls, described: Mapping[str, Any]) -> DateParts:
        """What such a document tells."""
        return cls(described["at"], tuple(described["parts"]))
