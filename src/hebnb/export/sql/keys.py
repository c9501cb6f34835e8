"""Columns of a table in SQL: what a row's value is compared with, and how."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.hierarchies import Ancestry, Beginning
from hebnb.columns.kinds import Kind
from hebnb.errors import InputError
from hebnb.export.sql.dialect import Dialect
from hebnb.foundation.arrays import Array, FloatArray

# From here on two integers may be one float, and a row that is compared as float would find both.
_EXACT = 1 << 53
# Of the decimals that all dialects have: 29 digits before the point, nine after it.
_LARGEST, _UNITS = 10**29, 10**9


@dataclass(frozen=True)
class Keys:
    """How the values of a column find their codes.

    Parameters
    ----------
    kind : str
        Of the values.
    value : str
        The value of a row as an expression that is equal to the key of its category.
    codes, keys : lists of the same length
        The codes to be found and their keys, which are distinct.
    gap : int or None
        The code of rows whose value is NULL; None where they have no code, or have it as a key.
    is_code : bool
        Whether the value is the code itself, as for bins.
    above : tuple of (Beginning, mapping of key to code)
        What the beginnings of a text are compared with, in this order, where it is no key itself.
    """

    kind: str
    value: str
    codes: list[int]
    keys: list[Any]
    gap: int | None

    is_code: bool = False
    above: tuple[tuple[Beginning, Mapping[str, int]], ...] = ()

    @classmethod
    def of(cls, name: Name, kind: Kind, column: str, dialect: Dialect) -> Keys:
        """The keys of a feature, of which ``column`` is the column in the query."""
        return kind.computed_by(_ColumnKeys(name, column, dialect))


@dataclass(frozen=True)
class _ColumnKeys:
    """Makes the keys of a column of a query."""

    name: Name
    column: str
    dialect: Dialect

    def lookup(self, values: Array, gap: int | None) -> Keys:
        """The value itself."""
        kind = kind_of(values.tolist(), errors.column(self.name))
        if values.dtype.kind == "f":  # also where all were gaps, of which NaN is one
            kind = "double"
        if values.size and kind not in self.dialect.types:
            raise InputError(
                f"{errors.column(self.name)}: this dialect has no type for its values ({kind}).", "Convert it to text."
            )
        pairs = [
            (code, value)
            for code, value in enumerate(values.tolist())
            if kind != "text" or self.dialect.can_hold(value)
        ]
        value = _value(self.column, kind, self.dialect)
        return Keys(kind, value, [code for code, _ in pairs], [key for _, key in pairs], gap)

    def climb(self, ancestry: Ancestry) -> Keys:
        """The value as text; of whole numbers, without the point that floats have."""
        dialect, value = self.dialect, self.dialect.cast(self.column, "text")
        if ancestry.of_numbers:
            value = dialect.cast(dialect.without_nan(self.column), "text")
            value = f"CASE WHEN {value} LIKE '%.0' THEN SUBSTR({value}, 1, LENGTH({value}) - 2) ELSE {value} END"
        known = {text: code for text, code in ancestry.codes.items() if dialect.can_hold(text)}
        above = [
            (way, {text: code for text, code in codes.items() if dialect.can_hold(text)})
            for way, codes in ancestry.above
            if way.separator is None or dialect.can_hold(way.separator)
        ]
        kept = tuple((way, codes) for way, codes in above if codes)
        return Keys("text", value, list(known.values()), list(known), ancestry.gap, above=kept)

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> Keys:
        """The number of the bin: that of the first edge which is not below the value."""
        dialect, kind = self.dialect, "timestamp" if of_times else "double"
        value = dialect.cast(self.column, kind)
        ends = map(_time, edges) if of_times else edges.tolist()
        steps = [
            f"WHEN {value} <= {dialect.cast(dialect.constant(kind, edge), kind)} THEN {code}"
            for code, edge in enumerate(ends)
        ]
        known = value if of_times else dialect.without_nan(value)
        of_gap = "NULL" if gap is None else gap
        number = f"CASE WHEN {known} IS NULL THEN {of_gap} {' '.join(steps)} ELSE {len(edges)} END"
        codes = list(range(len(edges) + 1)) + ([] if gap is None else [gap])
        return Keys("integer", number, codes, codes, None, is_code=True)


def kind_of(values: list[Any], where: str) -> str:
    """The kind of values that a column of a database can hold together."""
    found = {kind for value in values for kind in _kinds(value)}
    if found == {"integer", "decimal"}:
        found = {"decimal"}
    if found == {"integer"} and any(abs(value) >= _EXACT for value in values):
        found = {"decimal"}
    if found == {"decimal"} and not all(_fits(Decimal(value)) for value in values):
        raise InputError(f"{where}: some numbers have more digits than SQL has.", "Convert it to text, or to floats.")
    if not found:
        return "anything"
    if len(found) == 1 and "" not in found:
        return found.pop()
    types = ", ".join(sorted({type(value).__name__ for value in values}))
    raise InputError(
        f"{where}: no type of SQL holds all of its values ({types}).", "Convert it to text, and fit again."
    )


def _kinds(value: Any) -> Iterator[str]:
    """The kind of a value; more than one, or an empty one, where it has no match in SQL."""
    if isinstance(value, dt.datetime):
        yield "timestamp" if value.tzinfo is None else "instant"
        if getattr(value, "nanosecond", 0):  # pandas has them, and databases round them off
            yield ""
        return
    types = (str, "text"), (bool, "boolean"), (int, "integer"), (float, "double"), (Decimal, "decimal")
    times = (dt.date, "date"), (dt.time, "time")
    yield next((kind for type_, kind in (*types, *times) if isinstance(value, type_)), "")


def _fits(number: Decimal) -> bool:
    return number.is_finite() and abs(number) < _LARGEST and (Fraction(number) * _UNITS).denominator == 1


def _value(column: str, kind: str, dialect: Dialect) -> str:
    """A column as an expression that is equal to keys of a kind, and NULL where there is a gap.

    Integers and times are compared as they are: a cast would round 1.5 to a category.
    """
    if kind == "text":
        return dialect.cast(column, "text")
    if kind == "double":
        return dialect.without_nan(dialect.cast(column, "double"))
    if kind == "integer":
        return dialect.without_nan(column)
    if kind == "decimal":
        return dialect.cast(dialect.without_nan(column), "decimal")
    return column


def _time(microseconds: float) -> Any:
    """The last moment that is not after an edge."""
    return np.datetime64(int(np.floor(microseconds)), "us").item()
