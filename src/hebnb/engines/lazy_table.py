"""A lazy table: a query on an engine, what its columns are for, and the keys that its rows are counted by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.choice import chosen_features
from hebnb.columns.column import EXACT, Column, is_measured, is_wide
from hebnb.columns.hierarchies import Ancestry
from hebnb.columns.kinds import Kind
from hebnb.engines.backends import Backend, Frame, Times, backend_of
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray

# Names that no column of a user has.
COUNT, CLASS, WEIGHT, _NUMBERS, _MOMENTS = (
    f"__hebnb_{part}" for part in ("count", "class", "weight", "numbers", "moments")
)
# Types that narwhals does not know, and whose values are text in memory, or gaps.
_TEXTS = ("uuid", "null", "void")


@dataclass(frozen=True)
class LazyColumn:
    """What is known of a column before its engine has done anything.

    Parameters
    ----------
    name : str
        As the user has it.
    dtype : narwhals type
    held : str, optional
        The column of the frame that has its values, if it goes by another name.
    microseconds : str, optional
        The column of the frame that has its times as whole numbers.
    nan_is_text : bool
        As ``Backend.nan_is_text``.
    made : str, optional
        A column of the frame that has the numbers already, so that they are made once and compared often.
    is_whole : bool
        Whether its floats are integers with gaps, which its engine has told.
    """

    name: str
    dtype: Any
    held: str | None = None
    microseconds: str | None = None
    nan_is_text: bool = False
    made: str | None = None
    is_whole: bool = False

    @property
    def is_continuous(self) -> bool:
        """Whether the column holds a measured quantity rather than categories."""
        return is_measured(self.dtype) and not self.is_whole

    @property
    def holds_times(self) -> bool:
        """Whether the numbers are microseconds since 1970."""
        return isinstance(self.dtype, nw.Datetime | nw.Date)

    @property
    def source(self) -> str:
        """The column of the frame that numbers are made of."""
        return self.microseconds or self.held or self.name

    @property
    def plain(self) -> nw.Expr:
        """The column of the frame; what has no type of its own here as text."""
        column = nw.col(self.held or self.name)
        return column.cast(nw.String) if self.dtype in (nw.Categorical, nw.Enum, nw.Unknown) else column

    @property
    def moment(self) -> nw.Expr:
        """Times as whole microseconds."""
        assert self.microseconds is not None
        return nw.col(self.microseconds)

    @property
    def numbers(self) -> nw.Expr:
        """The values as floats, null where missing; decimals by way of their digits, as in memory."""
        if self.made is not None:
            return nw.col(self.made)
        if self.dtype == nw.Time:
            raise InputError(
                f"{errors.column(self.name)}: times of day are not numbers.",
                "This column is cut into bins; convert it to numbers, or list it in categorical_features at fit.",
            )
        if self.dtype.is_temporal():
            return self.moment.cast(nw.Float64)
        if self.dtype.is_decimal() or is_wide(self.dtype):
            return self.plain.cast(nw.String).cast(nw.Float64)
        numbers = self.plain.cast(nw.Float64)
        if not self.dtype.is_float():
            return numbers
        if not self.nan_is_text:
            return nw.when(~numbers.is_nan()).then(numbers)
        text = numbers.cast(nw.String).str.to_lowercase()
        return nw.when((text != "nan") & (text != "-nan")).then(numbers)

    @property
    def raw_numbers(self) -> nw.Expr:
        """The same with NaN for a gap where the engine has it, since to look for NaN there can be slow."""
        return self.plain.cast(nw.Float64) if self.dtype.is_float() else self.numbers

    @property
    def value(self) -> nw.Expr:
        """What rows are grouped by where the values are categories, null for a gap."""
        if self.dtype.is_float() or (self.dtype.is_decimal() and not is_wide(self.dtype)):
            return self.numbers
        return self.moment if isinstance(self.dtype, nw.Duration) else self.plain

    @property
    def is_made(self) -> bool:
        """Whether what is collected of rows is something else than what the frame has."""
        return isinstance(self.dtype, nw.Duration) or self.dtype in (nw.Categorical, nw.Enum, nw.Unknown)

    @property
    def sampled(self) -> nw.Expr:
        """What is collected of rows that are encoded in memory."""
        return self.moment if isinstance(self.dtype, nw.Duration) else self.plain

    def restored(self, collected: nw.Series[Any]) -> Column:
        """Collected values as a column: durations, which engines hand out in many ways, came as microseconds."""
        is_duration = isinstance(self.dtype, nw.Duration)
        return Column(self.name, collected.cast(nw.Duration("us")) if is_duration else collected)

    def keys(self, kind: Kind, collected: nw.Series[Any]) -> Column:
        """What rows were grouped by as a column: values again, or numbers of bins."""
        return Column(self.name, collected) if kind.cut_at is not None else self.restored(collected)

    @property
    def text(self) -> nw.Expr:
        """The value as the text that it is in a tree of categories, null for a gap."""
        if self.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Unknown):
            return self.plain
        if self.dtype.is_integer() or is_wide(self.dtype):
            return self.plain.cast(nw.String)
        if not self.dtype.is_float():
            raise InputError(
                f"{errors.column(self.name)}: it has a hierarchy, and values of type {self.dtype} are neither text nor "
                "whole numbers.",
                "Convert it to text, or leave it out of hierarchies.",
            )
        numbers = self.numbers
        whole = nw.when((numbers == numbers.round(0)) & (numbers.abs() < EXACT)).then(numbers)
        return nw.coalesce(whole.cast(nw.Int64).cast(nw.String), numbers.cast(nw.String))

    def key(self, kind: Kind) -> nw.Expr:
        """What is grouped by and looked up: the value itself, or the number of its bin."""
        return kind.computed_by(_Key(self))


def stairs(numbers: nw.Expr, edges: FloatArray, steps: Array) -> nw.Expr:
    """The step that a number is on: the first is up to the first edge, and so on. Every comparison halves the rest."""
    if not len(edges):
        return nw.lit(steps[0].item())
    middle = len(edges) // 2
    below = stairs(numbers, edges[:middle], steps[: middle + 1])
    above = stairs(numbers, edges[middle + 1 :], steps[middle + 1 :])
    return nw.when(numbers > float(edges[middle])).then(above).otherwise(below)


@dataclass(frozen=True)
class _Key:
    """A column's key as an expression, null for a gap."""

    column: LazyColumn

    def lookup(self, values: Array, gap: int | None) -> nw.Expr:
        """The value itself."""
        return self.column.value

    def climb(self, ancestry: Ancestry) -> nw.Expr:
        """The value as text."""
        return self.column.text

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> nw.Expr:
        """How many edges a number is above."""
        numbers = self.column.numbers
        return nw.when(~numbers.is_null()).then(stairs(numbers, edges, np.arange(len(edges) + 1)))


@dataclass(frozen=True)
class LazyTable:
    """A lazy table and what its columns are for.

    Parameters
    ----------
    frame : narwhals LazyFrame
    backend : Backend
        The engine that holds it.
    columns : tuple of LazyColumn
        The features.
    target : str
    weight : str, optional
        Column that says how often every row counts.

    The frame has the labels in the column ``CLASS`` and the weights, as floats, in ``WEIGHT``.
    """

    frame: Frame
    backend: Backend
    columns: tuple[LazyColumn, ...]
    target: str
    weight: str | None = None

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any = None, features: Sequence[str] | None = None) -> LazyTable:
        """Check names and types against the schema."""
        given: Frame = nw.from_native(X)
        schema = dict(given.collect_schema())
        target = _known_name("y", y, schema)
        weight = None if sample_weight is None else _known_name("sample_weight", sample_weight, schema)
        names = chosen_features(features, list(schema), target, weight)
        backend = backend_of(given)
        frame, columns = readable(X, backend, [*names, target])
        frame = frame.with_columns(columns[-1].plain.alias(CLASS))
        if weight is not None:
            frame = _with_positive_weights(frame, backend, weight, held_names(X, backend)[weight])
        return cls(frame, backend, columns[:-1], target, weight)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(column.name for column in self.columns)

    def with_numbers(self, kinds: Sequence[Kind]) -> LazyTable:
        """The same table, with the numbers of columns that are cut made beforehand."""
        made, columns = [], list(self.columns)
        for n, (column, kind) in enumerate(zip(self.columns, kinds, strict=True)):
            if kind.cut_at is not None:
                columns[n] = replace(column, made=f"{_NUMBERS}{n}")
                made.append(column.numbers.alias(f"{_NUMBERS}{n}"))
        return replace(self, frame=self.frame.with_columns(*made), columns=tuple(columns)) if made else self

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are, asked once."""
        (result,) = self.backend.collect([self.frame.select(nw.len().alias(COUNT))], ["counting the rows"])
        return int(result.row(0)[0])


def readable(X: Any, backend: Backend, names: Sequence[str]) -> tuple[Frame, tuple[LazyColumn, ...]]:
    """A lazy table, and some columns of it, whose times are there as microseconds too."""
    schema = dict(nw.from_native(X).collect_schema())
    frame: Frame = nw.from_native(backend.readable(X))
    held = held_names(X, backend)
    columns, times = [], []
    for n, name in enumerate(names):
        dtype = schema[name]
        _refuse_strange(name, dtype, backend, X)
        column = LazyColumn(name, dtype, held[name], nan_is_text=backend.nan_is_text)
        if dtype.is_temporal():
            column = replace(column, microseconds=f"{_MOMENTS}{n}")
            times.append(Times(held[name], dtype, f"{_MOMENTS}{n}"))
        columns.append(column)
    return backend.with_microseconds(frame, times) if times else frame, tuple(columns)


def held_names(X: Any, backend: Backend) -> dict[str, str]:
    """The columns of a lazy table, by the names of the user, under the names that expressions can refer to."""
    before, after = (list(nw.from_native(native).collect_schema()) for native in (X, backend.readable(X)))
    return dict(zip(before, after, strict=True))


def _refuse_strange(name: str, dtype: Any, backend: Backend, native: Any) -> None:
    """Complain of a type whose values cannot be categories, or would be others than in memory."""
    strange = dtype.is_nested() or dtype == nw.Binary or isinstance(dtype, backend.unreadable)
    called = str(dtype)
    if dtype == nw.Unknown or strange:
        called = called if dtype.is_nested() else backend.type_name(native, name)
        strange = strange or called.strip('"').lower() not in _TEXTS
    if strange:
        raise InputError(
            f"{errors.column(name)}: values of type {called} cannot be categories.",
            "Convert it to strings or numbers, or leave it out with features=[…].",
        )


def _known_name(argument: str, name: Any, schema: dict[str, Any]) -> str:
    if not isinstance(name, str):
        raise InputError(
            f"{argument} of a lazy table is the name of a column, not {type(name).__name__}.",
            "The rows of a lazy table are on its engine; name the column that holds them.",
        )
    if name not in schema:
        raise errors.unknown_name(f"column in {argument}", name, list(schema))
    return name


def _with_positive_weights(frame: Frame, backend: Backend, name: str, held: str) -> Frame:
    """The rows that count at all; an error if weights are not what weights are."""
    frame = frame.with_columns(nw.col(held).cast(nw.Float64).alias(WEIGHT))
    weight = nw.col(WEIGHT)
    query = frame.select(weight.min().alias("least"), weight.sum().alias("total"), weight.null_count().alias("gaps"))
    (result,) = backend.collect([query], [f"checking the weights in column {name!r}"])
    least, total, gaps = (float(number) if number is not None else np.nan for number in result.row(0))
    if gaps or not least >= 0 or not 0 < total < np.inf:
        raise InputError(f"{errors.column(name)}: weights must be finite, not negative, not missing, and not all zero.")
    return frame.filter(weight > 0)
