"""Python values as JSON and back, exactly: what categories, labels and parameters may be."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from hebnb.errors import InputError

# A value that JSON lacks is an object with one key, its kind. A datetime is a date too, so the first that fits counts.
_WRITERS: tuple[tuple[str, type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    ("datetime", dt.datetime, dt.datetime.isoformat),
    ("date", dt.date, dt.date.isoformat),
    ("time", dt.time, dt.time.isoformat),
    ("timedelta", dt.timedelta, lambda span: [span.days, span.seconds, span.microseconds]),
    ("decimal", Decimal, str),
    ("tuple", tuple, lambda items: [to_json(item) for item in items]),
    ("array", np.ndarray, lambda array: [to_json(item) for item in array]),
    ("dict", Mapping, lambda items: [[to_json(key), to_json(item)] for key, item in items.items()]),
)
_READERS: dict[str, Callable[[Any], Any]] = {
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda parts: dt.timedelta(*parts),
    "decimal": Decimal,
    "tuple": lambda items: tuple(map(from_json, items)),
    "array": lambda items: np.array(list(map(from_json, items))),
    "dict": lambda items: {from_json(key): from_json(value) for key, value in items},
}


def to_json(value: Any) -> Any:
    """The value as JSON has it.

    Examples
    --------
    >>> to_json(("a", dt.date(2024, 2, 29)))
    {'tuple': ['a', {'date': '2024-02-29'}]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [to_json(item) for item in value]
    for kind, types, write in _WRITERS:
        if isinstance(value, types):
            return {kind: write(value)}
    raise InputError(
        f"A value of type {type(value).__name__} cannot be saved.",
        "Convert it to text or numbers before fit, or use joblib for a file that only you will load.",
    )


def from_json(value: Any) -> Any:
    """The value behind what ``to_json`` made.

    Examples
    --------
    >>> from_json({"tuple": ["a", {"date": "2024-02-29"}]})
    ('a', datetime.date(2024, 2, 29))
    """
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        return _READERS[kind](content)
    return value
