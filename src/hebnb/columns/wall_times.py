"""Dates and times of a column as they are written, whatever their time zone."""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, is_missing
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array

_GAP = np.datetime64("NaT", "us")


def wall_times(column: Column) -> Array:
    """What calendar and clock show, as NumPy times in microseconds; NaT for a gap.

    A time with a zone is what the clocks there show. Text is a date if it is written as ISO 8601 has it.

    Examples
    --------
    >>> wall_times(Column("sent", np.array(["2024-02-29T23:30+09:00", None], dtype=object)))
    array(['2024-02-29T23:30:00.000000',                        'NaT'], dtype='datetime64[us]')
    """
    data = column.data
    if isinstance(data, nw.Series) and isinstance(data.dtype, nw.Datetime | nw.Date) and not _forgets_zones(data):
        has_zone = isinstance(data.dtype, nw.Datetime) and data.dtype.time_zone is not None
        data = (data.dt.replace_time_zone(None) if has_zone else data).to_numpy()
    if isinstance(data, np.ndarray) and data.dtype.kind == "M":
        return data.astype("M8[us]")
    values = data.to_list() if isinstance(data, nw.Series) else data.tolist()
    try:
        return np.array([_wall_time(value) for value in values], dtype="M8[us]")
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{errors.column(column.name)}: not all of its values are dates ({error}).",
            "Dates in text are written as 2024-12-31 or 2024-12-31T23:59; leave the column out of dates otherwise.",
        ) from error


def _forgets_zones(series: nw.Series[Any]) -> bool:
    """Whether this is pandas on Arrow, whose version 2 gives UTC where the clocks of a zone are asked for."""
    return series.implementation.is_pandas() and "pyarrow" in str(series.to_native().dtype)


def _wall_time(value: Any) -> Any:
    if is_missing(value) or value == "":
        return _GAP
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value.strip())
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, dt.date | np.datetime64):
        return value
    raise TypeError(f"{value!r} is none")
