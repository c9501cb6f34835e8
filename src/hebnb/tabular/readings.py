"""What the text of a column is read as: numbers, times, true and false, or itself.

A guess is tried on all rows before it holds. Where it breaks, the next wider one is tried; text holds always.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    import duckdb

# The format of dates that begin with the year in four digits, in whatever detail; every other is one of strptime.
ISO = "ISO"

_YEAR_FIRST = r"^\s*\d{4}[-/]"
_DAY = r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}\s*"
_WRITTEN = re.compile(
    r"\s*(\d{1,4})([-/. ])\d{1,2}\2(\d{1,4})(?:(?P<between>[ T])(?P<hour>\d{1,2}:\d\d)(?P<second>:\d\d)?"
    r"(?P<fraction>\.\d+)?(?P<half> ?[AaPp][Mm])?)?\s*"
)


@dataclass(frozen=True)
class Reading:
    """What text is read as.

    Parameters
    ----------
    type : str
        As DuckDB calls it.
    format : str, optional
        How dates are written, as ``strptime`` has it, or ``ISO``.
    """

    type: str
    format: str | None = None

    def value(self, text: str) -> str:
        """The value that an expression of text means, in SQL."""
        if self.type == "VARCHAR":
            return text
        if self.type == "BOOLEAN":
            return f"(lower({text}) = 'true')"
        if self.format in (None, ISO):
            return f"TRY_CAST({text} AS {self.type})"
        return f"CAST(TRY_STRPTIME({text}, {literal(str(self.format))}) AS {self.type})"

    def fits(self, text: str) -> str:
        """Whether text can be read so, in SQL; DuckDB casts much that is no number or day to one."""
        value = self.value(text)
        if self.type == "BOOLEAN":
            return f"lower({text}) IN ('true', 'false')"
        if self.format == ISO:
            shape = f"regexp_matches({text}, '{_YEAR_FIRST}')"
            if self.type == "DATE":
                shape = f"regexp_full_match({text}, '{_DAY}')"
            return f"{value} IS NOT NULL AND {shape}"
        if self.type in ("BIGINT", "HUGEINT"):  # not 1.5, which it rounds
            return f"{value} = TRY_CAST({text} AS DOUBLE) AND NOT contains({text}, '_')"
        if self.type == "DOUBLE":
            return f"{value} IS NOT NULL AND NOT contains({text}, '_')"
        return f"{value} IS NOT NULL"


TEXT = Reading("VARCHAR")
_DAY_IN_ISO, _TIME_IN_ISO = Reading("DATE", ISO), Reading("TIMESTAMP", ISO)
_WIDER: dict[str, tuple[str, ...]] = {"BIGINT": ("BIGINT", "HUGEINT", "DOUBLE"), "HUGEINT": ("HUGEINT", "DOUBLE")}

# Readings of which the first that holds is taken, and which are tried together.
_Rung: TypeAlias = list[Reading]


@dataclass(frozen=True)
class Readings:
    """What the columns of a table of text are read as.

    Parameters
    ----------
    of : dict of str to Reading
    unsure : dict of str to Reading
        Columns of dates that could as well be read another way, and that way.
    n_rows : int
    """

    of: dict[str, Reading]
    unsure: dict[str, Reading]
    n_rows: int

    @property
    def dates(self) -> dict[str, str]:
        """The formats of dates."""
        return {name: own.format for name, own in self.of.items() if own.format is not None}


@dataclass(frozen=True)
class Guesses:
    """What columns seem to be, and what is known of them already.

    Parameters
    ----------
    types : dict of str to str
        DuckDB's guess for every column of text that is to be read.
    dates : dict of str to str or None
        Columns that are dates for certain, and their format; None if it is not known.
    gaps : list of str
        What stands for a missing value.
    """

    types: Mapping[str, str]
    dates: Mapping[str, str | None] = field(default_factory=dict)
    gaps: Sequence[str] = ("",)

    def text(self, name: str) -> str:
        """The text of a column, NULL where there is a gap, in SQL."""
        return with_gaps(name, self.gaps)

    def tried(self, table: duckdb.DuckDBPyRelation) -> Readings:
        """The readings that hold for all rows of a table of text."""
        rungs = {name: self._rungs(name, table) for name in self.types}
        found: dict[str, list[Reading]] = {}
        n_rows = None
        while n_rows is None or len(found) < len(rungs):
            trials = [(name, own) for name, ladder in rungs.items() if name not in found for own in ladder[0]]
            misfits, n_rows = self._misfits(table, [trial for trial in trials if trial[1] != TEXT])
            for name, ladder in rungs.items():
                if name in found:
                    continue
                holding = [own for own in ladder.pop(0) if not misfits.get((name, own))]
                if holding:
                    found[name] = holding
                elif not ladder:
                    raise self._contradiction(name, table)
        unsure = self._unsure(table, {name: own for name, own in found.items() if len(own) > 1})
        for name, other in unsure.items():
            if name in self.dates:
                raise _ambiguous(name, found[name][0], other)
        return Readings({name: own[0] for name, own in found.items()}, unsure, n_rows)

    def _rungs(self, name: str, table: Any) -> list[_Rung]:
        """What is tried for a column, one after the other."""
        kind, known = self.types[name], self.dates.get(name)
        if known is not None and not (known == ISO and kind.endswith("TIME ZONE")):
            if known == ISO:
                return [[_DAY_IN_ISO], [_TIME_IN_ISO]]
            return [[_date(known)]]
        if kind in ("DATE", "TIMESTAMP") or (name in self.dates and kind == "VARCHAR"):
            written = self._first(name, table)
            others = [_date(one) for one in formats_like(written)]
            return [[_DAY_IN_ISO], [_TIME_IN_ISO], *([others] if others else []), [TEXT]]
        if kind == "VARCHAR":
            return [[TEXT]]
        return [*([Reading(wider)] for wider in _WIDER.get(kind, (kind,))), [TEXT]]

    def _first(self, name: str, table: Any) -> str:
        rows = table.filter(f"{self.text(name)} IS NOT NULL").limit(1).project(quoted(name)).fetchall()
        return str(rows[0][0]) if rows else ""

    def _misfits(self, table: Any, trials: list[tuple[str, Reading]]) -> tuple[dict[tuple[str, Reading], int], int]:
        """How many values each reading does not hold for, and the number of rows."""
        counts = [
            f"count(*) FILTER (WHERE {self.text(name)} IS NOT NULL AND ({own.fits(self.text(name))}) IS NOT TRUE)"
            for name, own in trials
        ]
        (found,) = table.aggregate(", ".join(["count(*)", *counts])).fetchall()
        return dict(zip(trials, found[1:], strict=True)), int(found[0])

    def _unsure(self, table: Any, found: Mapping[str, list[Reading]]) -> dict[str, Reading]:
        """Columns for which several readings hold and give other values, with the second such reading."""
        pairs = [(name, own[0], other) for name, own in found.items() for other in own[1:]]
        if not pairs:
            return {}
        differ = [
            f"bool_or({first.value(self.text(name))} IS DISTINCT FROM {other.value(self.text(name))})"
            for name, first, other in pairs
        ]
        (verdicts,) = table.aggregate(", ".join(differ)).fetchall()
        unsure: dict[str, Reading] = {}
        for (name, _, other), differs in zip(pairs, verdicts, strict=True):
            if differs:
                unsure.setdefault(name, other)
        return unsure

    def _contradiction(self, name: str, table: Any) -> InputError:
        """The error for dates that are not written as they were when the model learned them."""
        known, text = str(self.dates[name]), self.text(name)
        reading = _TIME_IN_ISO if known == ISO else _date(known)
        misfit = f"{text} IS NOT NULL AND ({reading.fits(text)}) IS NOT TRUE"
        numbered = table.project(f"row_number() OVER () AS hebnb_row, {quoted(name)}")
        ((row, value),) = numbered.filter(misfit).limit(1).fetchall()
        return InputError(
            f"{errors.column(visible(name))} does not fit the model: row {row} has {visible(str(value), 60)!r}, and "
            f"the model learned {described(known)}.",
            "Write the dates as they were when the model learned, or say what means a gap with "
            f"{errors.argument('missing_value')}.",
        )


def _ambiguous(name: str, first: Reading, other: Reading) -> InputError:
    return InputError(
        f"{errors.column(visible(name))} does not fit the model: it could be {described(str(first.format))} or "
        f"{described(str(other.format))}, and the model does not say which.",
        "Write its dates as 2024-12-31, or fit the model to a table in which they are written like this.",
    )


def described(form: str) -> str:
    """A format of dates in words.

    Examples
    --------
    >>> described("%d/%m/%Y"), described(ISO)
    ('dates written as day/month/year', 'dates written as year-month-day')
    """
    words = {"%d": "day", "%m": "month", "%y": "year", "%Y": "year"}
    day = "year-month-day" if form == ISO else re.split(r"[ T]%[HI]", form)[0]
    for code, word in words.items():
        day = day.replace(code, word)
    return f"dates written as {day}"


def formats_like(written: str) -> list[str]:
    """The formats that a date may be written in, the likeliest first, by its shape alone.

    Examples
    --------
    >>> formats_like("03/04/2024")
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> formats_like("3.4.24 9:30 PM")
    ['%d.%m.%y %I:%M %p', '%m.%d.%y %I:%M %p', '%y.%m.%d %I:%M %p']
    >>> formats_like("yesterday")
    []
    """
    shape = _WRITTEN.fullmatch(written)
    if shape is None:
        return []
    first, separator, last = shape.group(1, 2, 3)
    if len(first) > 2:
        orders = [("%Y", "%m", "%d")]
    elif len(last) > 2:
        orders = [("%d", "%m", "%Y"), ("%m", "%d", "%Y")]
    else:
        orders = [("%d", "%m", "%y"), ("%m", "%d", "%y"), ("%y", "%m", "%d")]
        if separator == "-":
            orders = orders[-1:] + orders[:-1]
    return [separator.join(order) + _time_like(shape) for order in orders]


def _time_like(shape: re.Match[str]) -> str:
    if shape["hour"] is None:
        return ""
    half = shape["half"]
    parts = [
        shape["between"],
        "%I:%M" if half else "%H:%M",
        ":%S" if shape["second"] else "",
        ".%f" if shape["fraction"] else "",
        "" if not half else " %p" if half.startswith(" ") else "%p",
    ]
    return "".join(parts)


def _date(form: str) -> Reading:
    return Reading("TIMESTAMP" if "%M" in form else "DATE", form)


def with_gaps(name: str, gaps: Sequence[str]) -> str:
    """The text of a column, NULL where there is a gap, in SQL."""
    text = quoted(name)
    for gap in gaps:
        text = f"NULLIF({text}, {literal(gap)})"
    return text


def quoted(name: str) -> str:
    """A column's name in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string in DuckDB's SQL."""
    return "'" + text.replace("'", "''") + "'"
