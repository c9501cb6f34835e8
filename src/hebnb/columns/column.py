"""One column of any table, as plain NumPy arrays.

A column can be read in two ways: as *numbers* (floats, NaN where missing) or as *levels* (a code per row into a short
array of distinct values, −1 where missing). What a column is by its dtype decides which one applies unless the
user says otherwise.
"""

from __future__ import annotations

import datetime as dt
import sys
import uuid
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

Name: TypeAlias = str | int
Series: TypeAlias = nw.Series[Any]

# Integers spread over a range up to this many times the rows are coded by subtraction; wider ones by sorting.
_WIDEST_RANGE = 4
_SMALL_RANGE = 1 << 16

# Below this, a float that is a whole number is that integer and no other.
EXACT = float(1 << 53)

_TIMES = (dt.date, dt.timedelta, np.datetime64, np.timedelta64)
_FLOATS = (float, np.floating, Decimal)


class Levels(NamedTuple):
    """A dictionary-encoded column: ``values[codes]``, with −1 for missing.

    The values are distinct and in canonical order; some may not occur.
    """

    codes: IntArray
    values: Array


@dataclass(frozen=True)
class Column:
    """One column, held as a NumPy array or a narwhals series and converted when read."""

    name: Name
    data: Array | Series

    @cached_property
    def is_continuous(self) -> bool:
        """Whether the column holds a measured quantity (float, decimal, time) rather than categories."""
        if self.are_integers_with_gaps:
            return False
        if isinstance(self.data, nw.Series):
            if not _holds_objects(self.data):
                dtype = self.data.dtype
                return is_measured(dtype)
        elif self.data.dtype.kind != "O":
            return self.data.dtype.kind in "fMm"
        return _are_measurements(self.levels.values)

    @cached_property
    def are_integers_with_gaps(self) -> bool:
        """Whether the values are whole numbers that are floats only because some are missing.

        Libraries without a gap of their own for integers make floats of them as soon as one is missing.
        """
        if _are_floats(self.data):
            return _are_whole(self.numbers)
        if _are_objects(self.data):
            codes, values = self.levels_as_held
            if _are_measurements(values) and not _hold_decimals_or_times(self.data):
                return _are_whole(np.append(values.astype(float), np.nan).take(codes))
        return False

    @property
    def is_text(self) -> bool:
        """Whether the column is text in a dataframe."""
        return isinstance(self.data, nw.Series) and self.data.dtype in (nw.String, nw.Categorical, nw.Enum)

    @cached_property
    def holds_times(self) -> bool:
        """Whether numbers read from this column are microseconds since 1970."""
        if isinstance(self.data, nw.Series) and not _holds_objects(self.data):
            return isinstance(self.data.dtype, nw.Datetime | nw.Date)
        if isinstance(self.data, np.ndarray) and self.data.dtype.kind != "O":
            return self.data.dtype.kind == "M"
        values = self.levels.values.tolist()
        return bool(values) and all(isinstance(value, dt.date | np.datetime64) for value in values)

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as floats, NaN where missing; times as microseconds."""
        try:
            numbers = _series_numbers(self.data) if isinstance(self.data, nw.Series) else _array_numbers(self.data)
        except Exception as error:  # whatever a dataframe library says, say which column it is about
            raise InputError(
                f"{errors.column(self.name)}: its values are not all numbers ({_first_line(error)}).",
                "This column is cut into bins; convert it to numbers, or list it in categorical_features at fit.",
            ) from error
        self._refuse_infinite(numbers)
        return numbers

    @cached_property
    def levels(self) -> Levels:
        """The values as codes into an array of distinct values, −1 where missing."""
        if not self.are_integers_with_gaps:
            return self.levels_as_held
        if _are_objects(self.data):
            codes, values = self.levels_as_held
            return Levels(codes, values.astype(np.int64))
        return _levels_beside_gaps(self.numbers)

    @cached_property
    def levels_as_held(self) -> Levels:
        """The levels with values of the type in which they are held."""
        try:
            levels = _series_levels(self.data) if isinstance(self.data, nw.Series) else _array_levels(self.data)
        except Exception as error:  # whatever a dataframe library says, say which column it is about
            raise InputError(
                f"{errors.column(self.name)}: its values cannot be categories ({_first_line(error)}).",
                "Only strings, numbers, booleans, times and tuples of them can; convert it, or leave it out.",
            ) from error
        if levels.values.dtype.kind == "f":
            self._refuse_infinite(levels.values)
        return levels

    def rows(self, kept: BoolArray) -> Column:
        """The rows marked true."""
        if not isinstance(self.data, nw.Series):
            return Column(self.name, self.data[kept])
        return Column(self.name, self.data.filter(kept.tolist()))

    def _refuse_infinite(self, numbers: FloatArray) -> None:
        if np.isinf(numbers).any():
            raise InputError(
                f"{errors.column(self.name)}: some values are infinite.",
                "Replace them by the largest finite value, or by NaN if they mean missing.",
            )


def is_measured(dtype: Any) -> bool:
    """Whether values of a type are measured quantities rather than categories."""
    times = dtype.is_temporal() and dtype != nw.Time  # a time of day has no place in a line
    return bool(dtype.is_float() or (dtype.is_decimal() and not is_wide(dtype)) or times)


def is_wide(dtype: Any) -> bool:
    """Whether values of a type are whole numbers that may need more than 64 bits.

    The 128 bits of one library are decimals without a fraction to another.
    """
    if dtype.is_decimal():
        return getattr(dtype, "scale", None) == 0
    return dtype in (nw.Int128, nw.UInt128)


def in_order(values: list[Any]) -> Array:
    """Distinct values in canonical order: their own if they have one, else by type and then by text.

    Examples
    --------
    >>> in_order(["b", 2, "a", 1])
    array([1, 2, 'a', 'b'], dtype=object)
    """
    try:
        return _typed(sorted(values))
    except TypeError:
        return _typed(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def is_fractional(value: object) -> bool:
    """Whether a value is a number that is not whole."""
    return isinstance(value, _FLOATS) and value % 1 != 0


def _series_levels(series: Series) -> Levels:
    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum) or _holds_objects(series):
        return _dictionary_levels(series)
    if is_wide(dtype):
        return _wide_levels(series)
    if dtype.is_decimal():
        return _array_levels(_decimal_numbers(series))
    if dtype.is_integer() or dtype == nw.Boolean:
        missing = series.is_null().to_numpy() if series.null_count() else None
        if missing is not None:
            series = series.fill_null(False if dtype == nw.Boolean else 0)
        levels = _array_levels(series.to_numpy())
        return levels if missing is None else Levels(np.where(missing, -1, levels.codes), levels.values)
    if dtype.is_float():
        return _array_levels(series.to_numpy())
    return _object_levels(series.to_list())


def _wide_levels(series: Series) -> Levels:
    """Whole numbers of any width: as integers of 64 bits where that is enough."""
    limits = np.iinfo(np.int64)
    is_gap = series.is_null().to_numpy()  # libraries have values of their own for gaps
    if is_gap.all() or not limits.min <= series.min() <= series.max() <= limits.max:
        return _object_levels([None if gap else int(own) for gap, own in zip(is_gap, series.to_list(), strict=True)])
    return _series_levels(series.cast(nw.Int64))


def _dictionary_levels(series: Series) -> Levels:
    """Strings, categoricals and objects, encoded, and where it can also sorted, by the library that holds them."""
    native = series.to_native()
    if series.implementation.is_polars() and series.dtype != nw.Object:
        import polars as pl

        native = native.cast(pl.String)
        if hasattr(pl, "Categories"):  # since Polars 1.32: a dictionary of the column's own
            coded = native.cast(pl.Categorical(pl.Categories.random()))
            codes, values = coded.to_physical(), coded.dtype.categories.to_series()
        else:
            values = native.drop_nulls().unique(maintain_order=True)
            codes = native.cast(pl.Enum(values)).to_physical()
        order = values.arg_sort()
        codes = codes.cast(pl.Int64).fill_null(-1).to_numpy()
        return _reordered(codes, order.to_numpy(), _as_objects(values.gather(order).to_list()))
    if series.implementation.is_pyarrow() and series.dtype == nw.String:
        import pyarrow as pa
        import pyarrow.compute as pc

        coded = native.combine_chunks().dictionary_encode()
        order = pc.array_sort_indices(coded.dictionary)
        codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return _reordered(codes, order.to_numpy(), _as_objects(coded.dictionary.take(order).to_pylist()))
    if series.implementation.is_pandas():
        codes, values = native.factorize()
        if native.dtype == "str":
            order = values.argsort()
            return _reordered(codes, order, values[order].to_numpy(dtype=object))
        return _ordered_levels(codes, values.tolist())
    return _object_levels(series.to_list())


def _array_levels(data: Array) -> Levels:
    kind = data.dtype.kind
    if kind == "b":
        return Levels(data.astype(np.intp), np.array([False, True]))
    if kind in "iu":
        return _integer_levels(data)
    if kind == "f":
        values, codes = np.unique(data.astype(float), return_inverse=True)
        return Levels(np.where(np.isnan(data), -1, codes), values[~np.isnan(values)])
    if kind in "Mm":
        data = data.astype(f"{kind}8[us]")  # a unit that Python's times share
    return _object_levels(data.tolist())


def _integer_levels(data: Array) -> Levels:
    data = data.astype(np.uint64 if data.dtype == np.uint64 else np.int64, copy=False)
    if not len(data):
        return Levels(np.empty(0, dtype=np.intp), data)
    low, high = int(data.min()), int(data.max())
    if data.dtype == np.uint64 and high <= np.iinfo(np.int64).max:
        data = data.astype(np.int64)
    if high - low <= max(_WIDEST_RANGE * len(data), _SMALL_RANGE):
        values = np.arange(low, high + 1, dtype=data.dtype)
        codes = data - data.dtype.type(low) if low else data
        return Levels(codes.astype(np.intp, copy=False), values)
    values, codes = np.unique(data, return_inverse=True)
    return Levels(codes.astype(np.intp, copy=False), values)


def _levels_beside_gaps(numbers: FloatArray) -> Levels:
    """Whole numbers as integers, with a gap for NaN."""
    gaps = np.isnan(numbers)
    codes, values = _integer_levels(np.where(gaps, numbers[~gaps][0], numbers).astype(np.int64))
    return Levels(np.where(gaps, -1, codes), values)


def _object_levels(data: list[Hashable]) -> Levels:
    number: dict[Hashable, int] = {}
    codes = np.fromiter((number.setdefault(value, len(number)) for value in data), np.intp, len(data))
    missing = [is_missing(value) for value in number]
    if any(missing):
        present = np.where(missing, -1, np.cumsum(np.logical_not(missing)) - 1)
        codes = present.take(codes)
    return _ordered_levels(codes, [value for value, gone in zip(number, missing, strict=True) if not gone])


def _ordered_levels(codes: IntArray, values: list[Any]) -> Levels:
    """Levels from distinct values that stand in any order."""
    plain = plain_values(values)
    ordered = in_order(list(dict.fromkeys(plain)))
    number = {value: position for position, value in enumerate(ordered.tolist())}
    position = np.fromiter((*map(number.__getitem__, plain), -1), np.intp, len(plain) + 1)
    return Levels(position.take(codes), ordered)


def plain_values(values: list[Any]) -> list[Any]:
    """Values as others have them too: decimals as numbers, identifiers as text, times without nanoseconds.

    Decimals are integers where none has a place for a fraction, and floats, correctly rounded, where one has.

    Examples
    --------
    >>> plain_values([Decimal("0.10"), Decimal(2)]), plain_values([Decimal(2)])
    ([0.1, 2.0], [2])
    """
    kinds = {type(value) for value in values}
    if any(issubclass(kind, Decimal) for kind in kinds):
        decimals = [value for value in values if isinstance(value, Decimal)]
        as_number = int if all(_is_written_whole(value) for value in decimals) else float
        values = [as_number(value) if isinstance(value, Decimal) else value for value in values]
    if uuid.UUID in kinds:
        values = [str(value) if isinstance(value, uuid.UUID) else value for value in values]
    if any(issubclass(kind, dt.datetime | dt.timedelta) for kind in kinds):
        values = [value.floor("us") if _has_nanoseconds(value) else value for value in values]
    return values


def _has_nanoseconds(value: Any) -> bool:
    """Whether a time is one of pandas that Python's times cannot tell from its neighbours."""
    return bool(getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0))


def _is_written_whole(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= 0


def _reordered(codes: IntArray, order: IntArray, values: Array) -> Levels:
    """Levels from codes given before the values were sorted by ``order``."""
    position = np.empty(len(order) + 1, dtype=np.intp)
    position[order] = np.arange(len(order))
    position[-1] = -1
    return Levels(position.take(codes), values)


def _series_numbers(series: Series) -> FloatArray:
    dtype = series.dtype
    if isinstance(dtype, nw.Datetime | nw.Date):
        series = series.cast(nw.Datetime("us")) if isinstance(dtype, nw.Date) else series
        series = series.dt.timestamp("us")
    elif isinstance(dtype, nw.Duration):
        return _microseconds(series.to_numpy().astype(f"m8[{dtype.time_unit}]"))
    elif dtype.is_decimal():
        return _decimal_numbers(series)
    elif _holds_objects(series) or not (dtype.is_numeric() or dtype == nw.Boolean):
        return _array_numbers(_as_objects(series.to_list()))
    if series.implementation.is_pyarrow():  # which refuses to round integers beyond 2⁵³
        import pyarrow as pa

        rounded: FloatArray = series.to_native().cast(pa.float64(), safe=False).to_numpy().astype(float)
        return rounded
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers


def _decimal_numbers(series: Series) -> FloatArray:
    """Decimals as the nearest floats, by way of their digits: Arrow multiplies, and so misses some by a bit."""
    numbers: FloatArray = series.cast(nw.String).cast(nw.Float64).to_numpy().astype(float)
    return numbers


def _array_numbers(data: Array) -> FloatArray:
    if data.dtype.kind in "Mm":
        return _microseconds(data)
    if data.dtype.kind in "OUS":
        codes, values = _array_levels(data)
        times = len(values) and all(isinstance(value, _TIMES) for value in values.tolist())
        numbers = _microseconds(_as_times(values.tolist())) if times else values.astype(float)
        return np.append(numbers, np.nan).take(codes)
    return data.astype(float)


def _as_times(values: list[Any]) -> Array:
    """Python and NumPy times as a NumPy array; times with a zone as UTC."""
    plain = [
        value.astimezone(dt.UTC).replace(tzinfo=None) if isinstance(value, dt.datetime) and value.tzinfo else value
        for value in values
    ]
    return np.array(plain, dtype="m8[us]" if isinstance(plain[0], dt.timedelta | np.timedelta64) else "M8[us]")


def _microseconds(times: Array) -> FloatArray:
    numbers = times.astype(f"{times.dtype.kind}8[us]").astype(np.int64).astype(float)
    numbers[np.isnat(times)] = np.nan
    return numbers


def _holds_objects(series: Series) -> bool:
    """Whether the dtype says nothing and the values have to be asked.

    narwhals calls a pandas column of objects text if it begins with strings or gaps; it need not go on like that.
    """
    if series.dtype in (nw.Object, nw.Unknown):
        return True
    return series.implementation.is_pandas() and series.to_native().dtype == object


def _are_objects(data: Array | Series) -> bool:
    return _holds_objects(data) if isinstance(data, nw.Series) else data.dtype.kind == "O"


def _are_floats(data: Array | Series) -> bool:
    return bool(data.dtype.is_float()) if isinstance(data, nw.Series) else data.dtype.kind == "f"


def _are_whole(numbers: FloatArray) -> bool:
    """Whether there are gaps and numbers, all of which are whole."""
    gaps = np.isnan(numbers)
    if not gaps.any() or gaps.all():
        return False
    present = numbers[~gaps]
    return bool((present == np.rint(present)).all() and np.abs(present).max() < EXACT)


def _hold_decimals_or_times(data: Array | Series) -> bool:
    """Whether some objects are decimals, which are written with the places of their fraction, or times."""
    values = data.to_list() if isinstance(data, nw.Series) else data
    return any(isinstance(value, (Decimal, *_TIMES)) for value in values)


def _are_measurements(values: Array) -> bool:
    """An object column is what its values are: measured if all are times, or all numbers and some of them floats."""
    kinds = {type(value) for value in values.tolist()}
    if not kinds or all(issubclass(kind, _TIMES) for kind in kinds):
        return bool(kinds)
    return any(issubclass(kind, _FLOATS) for kind in kinds) and all(
        issubclass(kind, Real | Decimal) and not issubclass(kind, bool) for kind in kinds
    )


def is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is nothing, or is not equal to itself."""
    if value is None:
        return True
    pandas = sys.modules.get("pandas")
    return (pandas is not None and value is pandas.NA) or bool(value != value)  # noqa: PLR0124


def _typed(values: list[Any]) -> Array:
    """Objects as an array of the type they share, if it is a plain one that holds them exactly."""
    kinds = {type(value) for value in values}
    if kinds and (kinds <= {bool, np.bool_} or kinds <= {float, np.float64}):
        return np.array(values, dtype=bool if kinds <= {bool, np.bool_} else float)
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    return _as_objects(values)


def _as_objects(values: list[Any]) -> Array:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
