"""Columns of a table in SQL: what a row's value is compared with, and how."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.vocabulary import Bins, Feature
from hebnb.errors import InputError
from hebnb.export.sql.dialect import Dialect

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
    """

    kind: str
    value: str
    codes: list[int]
    keys: list[Any]
    gap: int | None

    is_code: bool = False

    @classmethod
    def of(cls, name: Name, feature: Feature, column: str, dialect: Dialect) -> Keys:
        """The keys of a feature, of which ``column`` is the column in the query."""
        if isinstance(feature, Bins):
            codes = list(range(feature.size))
            return cls("integer", _bin_number(feature, column, dialect), codes, codes, None, is_code=True)
        kind = kind_of(feature.values.tolist(), errors.column(name))
        if feature.values.dtype.kind == "f":  # also where all were gaps, of which NaN is one
            kind = "double"
        if feature.values.size and kind not in dialect.types:
            raise InputError(
                f"{errors.column(name)}: this dialect has no type for its values ({kind}).", "Convert it to text."
            )
        pairs = [
            (code, value)
            for code, value in enumerate(feature.values.tolist())
            if kind != "text" or dialect.can_hold(value)
        ]
        gap = len(feature.values) if feature.missing else None
        return cls(kind, _value(column, kind, dialect), [code for code, _ in pairs], [key for _, key in pairs], gap)


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


def _bin_number(feature: Bins, column: str, dialect: Dialect) -> str:
    """A staircase: the first edge that is not below the value has the number of its bin."""
    kind = "timestamp" if feature.of_times else "double"
    value = dialect.cast(column, kind)
    edges = map(_time, feature.edges) if feature.of_times else feature.edges.tolist()
    steps = [
        f"WHEN {value} <= {dialect.cast(dialect.constant(kind, edge), kind)} THEN {code}"
        for code, edge in enumerate(edges)
    ]
    gap = feature.size - 1 if feature.missing else "NULL"
    known = value if feature.of_times else dialect.without_nan(value)
    return f"CASE WHEN {known} IS NULL THEN {gap} {' '.join(steps)} ELSE {len(feature.edges)} END"


def _time(microseconds: float) -> Any:
    """The last moment that is not after an edge."""
    return np.datetime64(int(np.floor(microseconds)), "us").item()
