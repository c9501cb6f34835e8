"""Any table as named columns. This module and ``columns`` are the only ones that know dataframes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import column_or_1d

from hebnb import errors
from hebnb.columns.column import Column, Levels, Name, is_fractional
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

# Below this many cells of text, starting threads costs more than they save.
_WORTH_THREADS = 100_000

T = TypeVar("T")


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
        return Table(tuple(column.rows(kept) for column in self.columns), int(kept.sum()))


def as_array(X: Any) -> Any:
    """A NumPy array for what is neither a table nor an array; anything else unchanged.

    Lists become arrays of objects, so that every column keeps its own type: NumPy alone would make text of numbers
    beside strings, and floats of integers beside floats. What a masked array hides becomes a gap.
    """
    if isinstance(X, np.ma.MaskedArray):
        objects = X.data.astype(object)
        objects[np.ma.getmaskarray(X)] = None
        return objects
    if issparse(X) or isinstance(X, np.ndarray) or _is_dataframe(X):
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
    if issparse(X):
        raise InputError(
            "X is a sparse matrix; hebnb reads columns of categories.",
            "Pass the original columns before one-hot encoding, or X.toarray() with numeric_features.",
        )
    X = as_array(X)
    return _read_array(X) if isinstance(X, np.ndarray) else _read_dataframe(X)


def taken(X: Any, places: IntArray) -> Any:
    """The rows of a table or an array at these places, as a table of the same library.

    Examples
    --------
    >>> taken(np.array([["a"], ["b"], ["c"]]), np.array([2, 0])).tolist()
    [['c'], ['a']]
    """
    X = as_array(X)
    return X[places] if isinstance(X, np.ndarray) else nw.from_native(X, eager_only=True)[places].to_native()


def read_labels(y: Any, n_rows: int | None = None, kept: BoolArray | None = None, name: str = "y") -> Levels:
    """The target as levels, of the kept rows; gaps, continuous targets and wrong shapes are errors.

    Examples
    --------
    >>> read_labels(["no", "yes", "no"])
    Levels(codes=array([0, 1, 0]), values=array(['no', 'yes'], dtype=object))
    """
    codes, values = target_levels(y, n_rows, name)
    codes = codes if kept is None else codes[kept]
    gaps = int((codes < 0).sum())
    if gaps:
        raise InputError(f"{name}: {gaps} labels are missing.", "Drop these rows, or give them a label of their own.")
    if any(map(is_fractional, values.tolist())):
        raise InputError(
            f"Unknown label type: continuous. {name} holds numbers that are not whole.",
            "hebnb classifies; cut a continuous target into classes first.",
        )
    return Levels(codes, values)


def target_levels(y: Any, n_rows: int | None = None, name: str = "y") -> Levels:
    """The target as levels, whatever it holds.

    Examples
    --------
    >>> target_levels([0.5, None, 1.5]).codes
    array([ 0, -1,  1])
    """
    column = Column(name, nw.from_native(y, series_only=True) if nw.dependencies.is_into_series(y) else _flat(y, name))
    levels = column.levels_as_held
    if n_rows is not None and len(levels.codes) != n_rows:
        raise InputError(f"X has {n_rows} rows but {name} has {len(levels.codes)}.")
    return levels


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """How often every row counts: one finite, non-negative number a row, not all zero.

    Examples
    --------
    >>> read_weights([1, 0, 2.5], 3)
    array([1. , 0. , 2.5])
    """
    if sample_weight is None:
        return None
    try:
        given = np.asarray(sample_weight)
        weights = np.asarray(given, dtype=float) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        weights = None
    if weights is None:
        raise InputError("sample_weight is not a list of numbers.", "One weight for every row.")
    if weights.ndim != 1:
        raise InputError(f"sample_weight must be 1D, got {weights.ndim}D.", "One weight for every row.")
    if len(weights) != n_rows:
        raise InputError(f"X has {n_rows} rows but sample_weight has {len(weights)}.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight has negative, infinite or missing values.", "It says how often a row counts.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not 0 < total < np.inf:
        raise InputError("The sum of sample_weight is zero or infinite.", "At least one row must count.")
    return weights


def _flat(y: Any, name: str) -> Array:
    if issparse(y):
        raise InputError(f"{name} is a sparse matrix.", "Pass one label a row.")
    array = _first_column(y, name) if _is_dataframe(y) else as_array(list(y) if isinstance(y, set | frozenset) else y)
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name}.", "A label is a class.")
    try:
        flat: Array = column_or_1d(array, warn=True)
    except ValueError as error:
        raise InputError(f"{name} must be one label a row, got shape {array.shape}.") from error
    return flat


def _first_column(y: Any, name: str) -> Array:
    table = read(y)
    if len(table.columns) > 1:
        raise InputError(f"{name} has {len(table.columns)} columns.", "Pass the one that holds the labels.")
    codes, values = table.columns[0].levels
    return np.array([*values.tolist(), None], dtype=object)[codes]


def _read_array(X: Array) -> Table:
    if X.dtype.kind == "V":
        raise InputError("X is a structured array.", "Make a table of it, for example pandas.DataFrame(X).")
    if X.ndim == 1 and len(X) and isinstance(X[0], Sequence) and not isinstance(X[0], str):
        raise InputError(
            "The rows of X have different lengths.", "Give every row a value for every column; None is a gap."
        )
    if X.ndim != 2:
        raise InputError(
            f"Expected a 2D array, got {X.ndim}D.",
            "Reshape your data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row.",
        )
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X has dtype {X.dtype}.", "Pass real and imaginary parts apart.")
    n_rows, n_columns = X.shape
    if not n_columns:
        raise _no_features(n_rows)
    by_column = np.ascontiguousarray(X.T)  # one pass over the array; reading a column at a time takes many
    return Table(tuple(Column(f, by_column[f]) for f in range(n_columns)), n_rows)


def _read_dataframe(X: Any) -> Table:
    if is_lazy(X):
        raise InputError("X is a lazy table.", "Collect it first, for example X.collect().")
    frame = nw.from_native(X, eager_only=True)
    names: list[Name] = list(frame.columns)
    if not names:
        raise _no_features(len(frame))
    if len({isinstance(name, str) for name in names}) > 1:
        raise InputError(
            f"Some column names are strings and some are not: {', '.join(map(repr, names))}.",
            "Make all of them strings, for example X.columns = X.columns.astype(str).",
        )
    for name, dtype in zip(names, frame.schema.values(), strict=True):
        if dtype.is_nested() or dtype == nw.Binary:
            raise InputError(
                f"{errors.column(name)}: values of type {dtype} cannot be categories.",
                "Convert it to strings or numbers, or leave it out.",
            )
    return Table(tuple(map(Column, names, map(_plain, frame.iter_columns()))), len(frame))


def _plain(series: nw.Series[Any]) -> nw.Series[Any]:
    """Arrow's string views, which Arrow itself cannot yet filter, as strings, and its intervals as durations."""
    if series.implementation.is_pyarrow():
        import pyarrow as pa

        native = series.to_native()
        if native.type == pa.string_view():
            return nw.from_native(native.cast(pa.large_string()), series_only=True)
        if native.type == pa.month_day_nano_interval():
            spans = pa.chunked_array([[_span(interval) for interval in native.to_pylist()]], pa.duration("us"))
            return nw.from_native(spans, series_only=True)
    return series


def _span(interval: Any) -> dt.timedelta | None:
    """An interval in which a month is thirty days, as it is to DuckDB and pandas."""
    if interval is None:
        return None
    days = 30 * interval.months + interval.days
    return dt.timedelta(days=days, microseconds=interval.nanoseconds // 1000)


def table_and_labels(columns: dict[str, list[Any]], target: str, library: str) -> tuple[Any, Any]:
    """The columns as a table of a library, and one of them apart."""
    frame = nw.from_dict(columns, backend=import_module(library))
    return frame.drop(target).to_native(), frame[target].to_native()


def as_table_like(columns: dict[str, Array], X: Any) -> Any:
    """The columns as a table of the library that holds X; as they are, where X is an array."""
    if not nw.dependencies.is_into_dataframe(X):
        return columns
    library: Any = nw.from_native(X, eager_only=True).implementation
    data = {name: values.tolist() if values.dtype.kind == "O" else values for name, values in columns.items()}
    return nw.from_dict(data, backend=library).to_native()


def with_columns(X: Any, names: Sequence[str], columns: Mapping[str, Any], library: str = "default") -> Any:
    """A table or array with more columns, which are masked arrays, at its end; one with a name of X replaces that.

    Parameters
    ----------
    X : table or array of shape (S, F)
    names : list of str
        What the columns of X are called; those of a table have these names already.
    columns : dict of str to masked array
    library : str, default="default"
        Of the table that is wanted, if it is not that of X.

    Examples
    --------
    >>> with_columns([["a"], ["b"]], ["x"], {"words": np.ma.MaskedArray([1, 2], [False, True])})
    array([['a', 1],
           ['b', None]], dtype=object)
    """
    if not columns and isinstance(X, Sequence) and np.asarray(X).dtype.kind in "biuf":
        return np.asarray(X)
    X = as_array(X)
    if library != "default":
        X = _in_library(X, names, library)
    if not columns:
        return X
    if isinstance(X, np.ndarray):
        by_name = {name: own.astype(object) for name, own in zip(names, X.T, strict=True)}
        by_name |= {name: as_array(values) for name, values in columns.items()}
        return np.stack(list(by_name.values()), axis=1)
    frame = nw.from_native(X, eager_only=True)
    return frame.with_columns(*(_series(name, own, frame) for name, own in columns.items())).to_native()


def _in_library(X: Any, names: Sequence[str], library: str) -> Any:
    """A table or array as a table of pandas or Polars."""
    if isinstance(X, np.ndarray):
        data = {name: own.tolist() for name, own in zip(names, X.T, strict=True)}
        return nw.from_dict(data, backend=import_module(library)).to_native()
    frame = nw.from_native(X, eager_only=True)
    if frame.implementation.value == library:
        return X
    return frame.to_pandas() if library == "pandas" else frame.to_polars()


# Types of columns that are made, by the kinds of their arrays; pandas has others of its own where there may be gaps.
_TYPES = {"i": nw.Int64(), "b": nw.Boolean(), "O": nw.String(), "M": nw.Datetime("us")}
_OF_PANDAS = {"i": "Int64", "b": "boolean"}


def _series(name: str, column: Any, frame: nw.DataFrame[Any]) -> nw.Series[Any]:
    """A masked array as a series of the library that holds a table."""
    kind = column.dtype.kind
    values = as_array(column).tolist() if np.ma.is_masked(column) or kind == "O" else column.data
    library: Any = frame.implementation
    if library.is_pandas() and kind in _OF_PANDAS:
        import pandas as pd

        index = frame.to_native().index
        return nw.from_native(pd.Series(values, index, dtype=_OF_PANDAS[kind], name=name), series_only=True)
    return nw.new_series(name, values, _TYPES[kind], backend=library)


def _no_features(n_rows: int) -> InputError:
    return InputError(
        f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required.",
        "Pass a table with at least one column.",
    )


def _is_dataframe(X: Any) -> bool:
    return bool(nw.dependencies.is_into_dataframe(X)) or is_lazy(X)


def is_lazy(X: Any) -> bool:
    """Whether this is a table whose rows are on an engine."""
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)
    except nw.exceptions.DuplicateError as error:
        names = list(X.column_names if hasattr(X, "column_names") else X.columns)
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise InputError(
            f"Column names occur more than once: {', '.join(twice)}.", "Rename or drop the repeats."
        ) from error
