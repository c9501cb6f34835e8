"""The categories that the values of a lazy column can be equal to, as keys of one type.

A value equals a category on an engine exactly if it does in memory: numbers are equal across types, whatever holds
them, times only if both are of one kind. No two keys are equal.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from hebnb.columns.alike import TRUTHS, are_texts, words_for_truths
from hebnb.columns.column import is_wide
from hebnb.engines.lazy_table import LazyColumn
from hebnb.foundation.arrays import Array, IntArray

_MICROSECOND = dt.timedelta(microseconds=1)
_START = dt.datetime(1970, 1, 1)
_LIMITS = np.iinfo(np.int64)


class Match(NamedTuple):
    """What a row is looked up by, the keys that it can be equal to, and the places of these among the categories."""

    expression: nw.Expr
    keys: Array
    places: IntArray


def matched(column: LazyColumn, values: Array) -> Match:
    """The column and the categories as values of one type."""
    dtype, kind = column.dtype, values.dtype.kind
    if dtype == nw.Boolean:
        truths = {word: truth for truth, word in words_for_truths(values.tolist()).items()} if are_texts(values) else {}
        return _match(column.plain, values, lambda value: truths.get(value, _as_bool(value)), np.dtype(bool))
    if dtype.is_integer() and dtype not in (nw.UInt64, nw.Int128, nw.UInt128):
        expression = column.plain.cast(nw.Int64)
        every = Match(expression, values, np.arange(len(values)))
        return every if kind == "i" else _match(expression, values, _as_integer, np.dtype(np.int64))
    if dtype.is_integer() or is_wide(dtype):
        return _match(column.plain.cast(nw.String), values, _as_digits, np.dtype(object))
    if dtype.is_numeric():
        every = Match(column.numbers, values, np.arange(len(values)))
        return every if kind == "f" else _match(column.numbers, values, _as_float, np.dtype(float))
    if dtype.is_temporal():
        return _match(column.moment, values, _moment_of(dtype), np.dtype(np.int64))
    return _words_of(column, values) if kind == "b" else _match(column.plain, values, _as_text, np.dtype(object))


def _words_of(column: LazyColumn, values: Array) -> Match:
    """Text that says true or false, in any letter case."""
    places = {truth: place for place, truth in enumerate(values.tolist())}
    found = [(word, places[truth]) for word, truth in TRUTHS.items() if truth in places]
    keys, at = zip(*found, strict=True)
    return Match(column.plain.str.to_lowercase(), np.array(keys, dtype=object), np.array(at, dtype=np.intp))


def _match(expression: nw.Expr, values: Array, key_of: Callable[[Any], Hashable | None], dtype: np.dtype[Any]) -> Match:
    """The keys of the values that have one."""
    found = [(place, key) for place, value in enumerate(values.tolist()) if (key := key_of(value)) is not None]
    keys = np.empty(len(found), dtype=dtype)
    keys[:] = [key for _, key in found]
    return Match(expression, keys, np.array([place for place, _ in found], dtype=np.intp))


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _as_bool(value: Any) -> bool | None:
    return bool(value) if isinstance(value, Real | Decimal) and value in (0, 1) else None


def _as_whole(value: Any) -> int | None:
    is_number = isinstance(value, int | float | np.integer | np.floating | Decimal)
    return int(value) if is_number and value == int(value) else None


def _as_integer(value: Any) -> int | None:
    whole = _as_whole(value)
    return whole if whole is not None and _LIMITS.min <= whole <= _LIMITS.max else None


def _as_digits(value: Any) -> str | None:
    whole = _as_whole(value)
    return None if whole is None else str(whole)


def _as_float(value: Any) -> float | None:
    """The number, if it is a float: of large integers, most are none."""
    if not isinstance(value, Real | Decimal):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number == value else None


def _moment_of(dtype: Any) -> Callable[[Any], int | None]:
    """Microseconds of those times that are of the same kind as the values of a type."""
    zone = getattr(dtype, "time_zone", None) is not None

    def moment(value: Any) -> int | None:
        if isinstance(dtype, nw.Duration):
            return value // _MICROSECOND if isinstance(value, dt.timedelta) else None
        if dtype == nw.Time:
            return (dt.datetime.combine(_START, value) - _START) // _MICROSECOND if isinstance(value, dt.time) else None
        if isinstance(value, dt.datetime):
            if isinstance(dtype, nw.Date) or (value.tzinfo is not None) != zone:
                return None
            return (value - _START.replace(tzinfo=dt.UTC if zone else None)) // _MICROSECOND
        if not isinstance(value, dt.date) or not isinstance(dtype, nw.Date):
            return None
        return (dt.datetime.combine(value, dt.time()) - _START) // _MICROSECOND

    return moment
