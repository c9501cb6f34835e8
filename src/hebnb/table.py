"""Any table as named columns of plain NumPy arrays. The only module that knows dataframes.

A column can be read in two ways: as *numbers* (floats, NaN where missing) or as *levels* (a code per row into a short
array of distinct values, −1 where missing). What a column is by its dtype decides which one applies unless the
user says otherwise.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.arrays import Array, BoolArray, FloatArray, IntArray
from hebnb.errors import InputError

Name: TypeAlias = str | int

# Integers spread over a range up to this many times the rows are coded by subtraction; wider ones by sorting.
_WIDEST_RANGE = 4
_SMALL_RANGE = 1 << 16
# Below this many cells of text, starting threads costs more than they save.
_WORTH_THREADS = 100_000

_TIMES = (dt.date, dt.timedelta, np.datetime64, np.timedelta64)

T = TypeVar("T")


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
    data: Array | nw.Series[Any]

    @cached_property
    def is_continuous(self) -> bool:
        """Whether the dtype speaks of a measured quantity (float, decimal, time) rather than of categories."""
        if isinstance(self.data, nw.Series):
            dtype = self.data.dtype
            if dtype != nw.Object:
                return dtype.is_float() or dtype.is_decimal() or dtype.is_temporal()
        elif self.data.dtype.kind != "O":
            return self.data.dtype.kind in "fMm"
        return _are_measurements(self.levels.values)

    @property
    def is_text(self) -> bool:
        """Whether the column is text in a dataframe."""
        return isinstance(self.data, nw.Series) and self.data.dtype in (nw.String, nw.Categorical, nw.Enum)

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as floats, NaN where missing."""
        try:
            numbers = _series_numbers(self.data) if isinstance(self.data, nw.Series) else self._array_numbers(self.data)
        except InputError:
            raise
        except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
            raise InputError(
                f"{errors.column(self.name)}: its values are not numbers.",
                "Leave the column out of numeric_features, or convert it before fitting.",
            ) from error
        self._refuse_infinite(numbers)
        return numbers

    @cached_property
    def levels(self) -> Levels:
        """The values as codes into an array of distinct values, −1 where missing."""
        try:
            levels = _series_levels(self.data) if isinstance(self.data, nw.Series) else _array_levels(self.data)
        except TypeError as error:
            raise InputError(
                f"{errors.column(self.name)}: its values cannot be categories ({error}).",
                "Lists, dicts and arrays have no identity to count; turn them into strings or numbers.",
            ) from error
        if levels.values.dtype.kind == "f":
            self._refuse_infinite(levels.values)
        return levels

    def _refuse_infinite(self, numbers: FloatArray) -> None:
        if np.isinf(numbers).any():
            raise InputError(
                f"{errors.column(self.name)}: some values are infinite.",
                "Replace them by the largest finite value, or by NaN if they mean missing.",
            )

    def _array_numbers(self, data: Array) -> FloatArray:
        if data.dtype.kind in "Mm":
            return _microseconds(data)
        if data.dtype.kind in "OUS":
            codes, values = self.levels
            times = all(isinstance(value, _TIMES) for value in values.tolist())
            numbers = _microseconds(_as_times(values)) if times and len(values) else values.astype(float)
            return np.append(numbers, np.nan)[codes]
        return data.astype(float)


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in order."""

    columns: tuple[Column, ...]
    n_rows: int

    @property
    def names(self) -> tuple[Name, ...]:
        """Column names; positions where the table has none."""
        return tuple(column.name for column in self.columns)

    def map(self, function: Callable[..., T], *others: Iterable[Any]) -> list[T]:
        """``map`` over the columns, in threads where their library encodes text outside the interpreter lock."""
        texts = sum(column.is_text for column in self.columns)
        if texts < 2 or texts * self.n_rows < _WORTH_THREADS:
            return list(map(function, self.columns, *others))
        with ThreadPoolExecutor() as pool:
            return list(pool.map(function, self.columns, *others))

    def rows(self, kept: BoolArray) -> Table:
        """The rows marked true."""
        columns = tuple(Column(c.name, _kept(c.data, kept)) for c in self.columns)
        return Table(columns, int(kept.sum()))


def as_array(X: Any) -> Any:
    """A NumPy array for what is neither a table nor an array; anything else unchanged.

    Lists become arrays of objects, so that every column keeps its own type: NumPy alone would make text of numbers
    beside strings, and floats of integers beside floats.
    """
    if _is_dataframe(X) or _is_sparse(X) or isinstance(X, np.ndarray):
        return X
    return np.asarray(X, dtype=object if isinstance(X, Sequence) else None)


def read(X: Any) -> Table:
    """Read a pandas, Polars or PyArrow table, or a two-dimensional array.

    Examples
    --------
    >>> table = read([["a", 1], ["b", 2], ["a", None]])
    >>> table.names, table.n_rows
    ((0, 1), 3)
    >>> table.columns[0].levels.values[table.columns[0].levels.codes]
    array(['a', 'b', 'a'], dtype=object)
    """
    if _is_sparse(X):
        raise InputError(
            "X is a sparse matrix; hebnb reads columns of categories.",
            "Pass the original columns before one-hot encoding, or X.toarray() with numeric_features.",
        )
    X = as_array(X)
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if _is_lazy(X):
        raise InputError("X is a lazy table.", "Collect it first, for example X.collect().")
    frame = nw.from_native(X, eager_only=True)
    names: list[Name] = list(frame.columns)
    if not names:
        raise _no_features(len(frame))
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (nw.Binary, nw.Time):
            raise InputError(
                f"{errors.column(name)}: values of type {dtype} cannot be categories.",
                "Convert it to strings or numbers, or leave it out.",
            )
    return Table(tuple(map(Column, names, frame.iter_columns())), len(frame))


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


def read_labels(y: Any) -> Levels:
    """The target as levels; gaps, continuous targets and wrong shapes are errors.

    Examples
    --------
    >>> read_labels(["no", "yes", "no"])
    Levels(codes=array([0, 1, 0]), values=array(['no', 'yes'], dtype=object))
    """
    column = Column("y", nw.from_native(y, series_only=True) if nw.dependencies.is_into_series(y) else _flat(y))
    levels = column.levels
    gaps = int((levels.codes < 0).sum())
    if gaps:
        raise InputError(f"y: {gaps} labels are missing.", "Drop these rows, or give them a label of their own.")
    if levels.values.dtype.kind == "f" and (levels.values != np.floor(levels.values)).any():
        raise InputError(
            "Unknown label type: continuous. y holds numbers that are not whole.",
            "hebnb classifies; cut a continuous target into classes first.",
        )
    return levels


def _flat(y: Any) -> Array:
    from sklearn.utils.validation import column_or_1d

    array = as_array(y)
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: y.", "A label is a class.")
    flat: Array = column_or_1d(array, warn=True)
    return flat


def _read_array(X: Array) -> Table:
    if X.ndim != 2:
        raise InputError(
            f"Expected a 2D array, got {X.ndim}D.",
            "Reshape your data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row.",
        )
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X has dtype {X.dtype}.", "Pass real and imaginary parts apart.")
    if X.dtype.kind == "V":
        raise InputError("X is a structured array.", "Make a table of it, for example pandas.DataFrame(X).")
    n_rows, n_columns = X.shape
    if not n_columns:
        raise _no_features(n_rows)
    by_column = np.ascontiguousarray(X.T)  # one pass over the array; reading a column at a time takes many
    return Table(tuple(Column(f, by_column[f]) for f in range(n_columns)), n_rows)


def _no_features(n_rows: int) -> InputError:
    return InputError(
        f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.",
        "Pass a table with at least one column.",
    )


def _is_sparse(X: Any) -> bool:
    from scipy.sparse import issparse

    return bool(issparse(X))


def _is_dataframe(X: Any) -> bool:
    return bool(nw.dependencies.is_into_dataframe(X)) or _is_lazy(X)


def _is_lazy(X: Any) -> bool:
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError as error:
        names = list(X.column_names if hasattr(X, "column_names") else X.columns)
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise InputError(
            f"Column names occur more than once: {', '.join(twice)}.", "Rename or drop the repeats."
        ) from error


def _kept(data: Array | nw.Series[Any], kept: BoolArray) -> Array | nw.Series[Any]:
    return data.filter(kept.tolist()) if isinstance(data, nw.Series) else data[kept]


def _series_numbers(series: nw.Series[Any]) -> FloatArray:
    dtype = series.dtype
    if dtype == nw.Object:
        return Column(series.name, _objects(series)).numbers
    if isinstance(dtype, nw.Datetime | nw.Date):
        series = series.cast(nw.Datetime("us")) if isinstance(dtype, nw.Date) else series
        series = series.dt.timestamp("us")
    elif isinstance(dtype, nw.Duration):
        series = series.dt.total_microseconds()
    elif not dtype.is_numeric() and dtype != nw.Boolean:
        raise TypeError(f"{dtype} is not numeric")
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers


def _series_levels(series: nw.Series[Any]) -> Levels:
    dtype = series.dtype
    if dtype.is_integer() or dtype == nw.Boolean:
        missing = series.is_null().to_numpy() if series.null_count() else None
        if missing is not None:
            series = series.fill_null(False if dtype == nw.Boolean else 0)
        return _hide(_array_levels(series.to_numpy()), missing)
    if dtype.is_float():
        return _array_levels(series.to_numpy())
    if dtype.is_numeric() or dtype.is_temporal() or dtype == nw.Object:
        return _array_levels(_objects(series))
    return _text_levels(series)


def _text_levels(series: nw.Series[Any]) -> Levels:
    """Strings and categoricals, dictionary-encoded, and where it can also sorted, by the library that holds them."""
    native = series.to_native()
    if series.implementation.is_polars():
        import polars as pl

        native = native.cast(pl.String)
        values = native.drop_nulls().unique().sort()
        codes = native.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(-1)
        return Levels(codes.to_numpy(), _as_objects(values.to_list()))
    if series.implementation.is_pyarrow():
        import pyarrow as pa
        import pyarrow.compute as pc

        native = (
            pa.chunked_array([native]).combine_chunks() if isinstance(native, pa.Array) else native.combine_chunks()
        )
        coded = native if pa.types.is_dictionary(native.type) else native.dictionary_encode()
        order = pc.array_sort_indices(coded.dictionary)
        codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return _reordered(codes, order.to_numpy(), _as_objects(coded.dictionary.take(order).to_pylist()))
    if series.implementation.is_pandas():
        codes, values = native.factorize()
        if native.dtype == "str":
            order = values.argsort()
            return _reordered(codes, order, values[order].to_numpy(dtype=object))
        return _ordered_levels(codes, values.tolist())
    return _array_levels(_objects(series))


def _reordered(codes: IntArray, order: IntArray, values: Array) -> Levels:
    """Levels whose values were ``values`` before sorting by ``order``."""
    position = np.empty(len(order) + 1, dtype=np.intp)
    position[order] = np.arange(len(order))
    position[-1] = -1
    return Levels(position.take(codes), values)


def _ordered_levels(codes: IntArray, values: list[Any]) -> Levels:
    """Levels from distinct values that stand in any order."""
    ordered = in_order(values)
    number = {value: position for position, value in enumerate(ordered.tolist())}
    position = np.fromiter((*map(number.__getitem__, values), -1), np.intp, len(values) + 1)
    return Levels(position.take(codes), ordered)


def _objects(series: nw.Series[Any]) -> Array:
    return _as_objects(series.to_list())


def _as_objects(values: list[Any]) -> Array:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def _array_levels(data: Array) -> Levels:
    kind = data.dtype.kind
    if kind == "b":
        return Levels(data.astype(np.intp), np.array([False, True]))
    if kind in "iu":
        return _integer_levels(data)
    if kind == "f":
        missing = np.isnan(data)
        values, codes = np.unique(data.astype(float), return_inverse=True, equal_nan=True)
        return _hide(Levels(codes.astype(np.intp, copy=False), values[~np.isnan(values)]), missing)
    return _object_levels(data.tolist() if kind in "USO" else data.astype(object).tolist())


def _integer_levels(data: Array) -> Levels:
    data = data.astype(np.uint64 if data.dtype == np.uint64 else np.int64, copy=False)
    if not len(data):
        return Levels(np.empty(0, dtype=np.intp), data)
    low, high = int(data.min()), int(data.max())
    if data.dtype == np.uint64 and high <= np.iinfo(np.int64).max:
        data = data.astype(np.int64)
    if high - low <= max(_WIDEST_RANGE * len(data), _SMALL_RANGE):
        values = np.arange(low, high + 1, dtype=data.dtype)
        return Levels((data - data.dtype.type(low)).astype(np.intp, copy=False), values)
    values, codes = np.unique(data, return_inverse=True)
    return Levels(codes.astype(np.intp, copy=False), values)


def _object_levels(data: list[Hashable]) -> Levels:
    number: dict[Hashable, int] = {}
    codes = np.fromiter((number.setdefault(value, len(number)) for value in data), np.intp, len(data))
    missing = [_is_missing(value) for value in number]
    if any(missing):
        present = np.where(missing, -1, np.cumsum(np.logical_not(missing)) - 1)
        codes = present.take(codes)
    return _ordered_levels(codes, [value for value, gone in zip(number, missing, strict=True) if not gone])


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


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA: what is nothing, or is not equal to itself."""
    if value is None:
        return True
    pandas = sys.modules.get("pandas")
    return (pandas is not None and value is pandas.NA) or bool(value != value)  # noqa: PLR0124


def _are_measurements(values: Array) -> bool:
    """An object column is what its values are: measured if all are times, or all numbers and some of them floats."""
    kinds = {type(value) for value in values.tolist()}
    if not kinds or all(issubclass(kind, _TIMES) for kind in kinds):
        return bool(kinds)
    return any(issubclass(kind, float | np.floating) for kind in kinds) and all(
        issubclass(kind, Real) and not issubclass(kind, bool) for kind in kinds
    )


def _as_times(values: Array) -> Array:
    """Python and NumPy times as a NumPy array; times with a zone as UTC."""
    plain = [
        value.astimezone(dt.UTC).replace(tzinfo=None) if isinstance(value, dt.datetime) and value.tzinfo else value
        for value in values.tolist()
    ]
    return np.array(plain, dtype="m8[us]" if isinstance(plain[0], dt.timedelta | np.timedelta64) else "M8[us]")


def _microseconds(times: Array) -> FloatArray:
    numbers = times.astype(f"{times.dtype.kind}8[us]").astype(np.int64).astype(float)
    numbers[np.isnat(times)] = np.nan
    return numbers


def _hide(levels: Levels, missing: BoolArray | None) -> Levels:
    return levels if missing is None else Levels(np.where(missing, -1, levels.codes), levels.values)
