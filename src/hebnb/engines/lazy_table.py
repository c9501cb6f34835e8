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
from hebnb.columns.hierarchies import Ancestry
from hebnb.columns.kinds import Kind
from hebnb.engines.backends import Backend, Frame, backend_of
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray

# A name that no column of a user has.
COUNT = "__hebnb_count"
_NUMBERS = "__hebnb_numbers"
# Below this, a float that is a whole number is that integer and no other.
_EXACT = float(1 << 53)


@dataclass(frozen=True)
class LazyColumn:
    """What is known of a column before its engine has done anything."""

    name: str
    dtype: Any
    nan_is_text: bool = False
    # A column of the frame that has the numbers already, so that they are made once and compared often.
    made: str | None = None

    @property
    def is_continuous(self) -> bool:
        """Whether the column holds a measured quantity rather than categories."""
        times = self.dtype.is_temporal() and self.dtype != nw.Time
        return bool(self.dtype.is_float() or self.dtype.is_decimal() or times)

    @property
    def numbers(self) -> nw.Expr:
        """The values as floats, null where missing."""
        if self.made is not None:
            return nw.col(self.made)
        if self.dtype.is_temporal():
            raise InputError(
                f"{errors.column(self.name)}: the times of a lazy table cannot be cut into bins.",
                "Make numbers of them, for example seconds, or list the column in categorical_features.",
            )
        numbers = nw.col(self.name).cast(nw.Float64)
        if not self.dtype.is_float():
            return numbers
        if not self.nan_is_text:
            return nw.when(~numbers.is_nan()).then(numbers)
        text = numbers.cast(nw.String).str.to_lowercase()
        return nw.when((text != "nan") & (text != "-nan")).then(numbers)

    @property
    def value(self) -> nw.Expr:
        """The value itself, null for a gap; categoricals as text."""
        if self.dtype.is_float():
            return self.numbers
        if self.dtype in (nw.Categorical, nw.Enum):
            return nw.col(self.name).cast(nw.String)
        return nw.col(self.name)

    @property
    def text(self) -> nw.Expr:
        """The value as the text that it is in a tree of categories, null for a gap."""
        if self.dtype in (nw.String, nw.Categorical, nw.Enum):
            return self.value
        if self.dtype.is_integer():
            return self.value.cast(nw.String)
        if not self.dtype.is_float():
            raise InputError(
                f"{errors.column(self.name)}: it has a hierarchy, and values of type {self.dtype} are neither text nor "
                "whole numbers.",
                "Convert it to text, or leave it out of hierarchies.",
            )
        numbers = self.numbers
        whole = nw.when((numbers == numbers.round(0)) & (numbers.abs() < _EXACT)).then(numbers)
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
    """

    frame: Frame
    backend: Backend
    columns: tuple[LazyColumn, ...]
    target: str
    weight: str | None = None

    @classmethod
    def read(cls, X: Any, y: Any, sample_weight: Any = None, features: Sequence[str] | None = None) -> LazyTable:
        """Check names and types against the schema."""
        frame: Frame = nw.from_native(X)
        schema = dict(frame.collect_schema())
        target = _known_name("y", y, schema)
        weight = None if sample_weight is None else _known_name("sample_weight", sample_weight, schema)
        names = chosen_features(features, list(schema), target, weight)
        for name in (*names, target):
            refuse_strange(name, schema[name])
        if weight is not None:
            frame = _with_positive_weights(frame, backend_of(frame), weight)
        backend = backend_of(frame)
        columns = tuple(LazyColumn(name, schema[name], backend.nan_is_text) for name in names)
        return cls(frame, backend, columns, target, weight)

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


def refuse_strange(name: str, dtype: Any) -> None:
    """Complain of a type whose values cannot be categories."""
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(
            f"{errors.column(name)}: values of type {dtype} cannot be categories.",
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


def _with_positive_weights(frame: Frame, backend: Backend, name: str) -> Frame:
    """The rows that count at all; an error if weights are not what weights are."""
    weight = nw.col(name).cast(nw.Float64)
    query = frame.select(weight.min().alias("least"), weight.sum().alias("total"), weight.null_count().alias("gaps"))
    (result,) = backend.collect([query], [f"checking the weights in column {name!r}"])
    least, total, gaps = (float(number) if number is not None else np.nan for number in result.row(0))
    if gaps or not least >= 0 or not 0 < total < np.inf:
        raise InputError(f"{errors.column(name)}: weights must be finite, not negative, not missing, and not all zero.")
    return frame.filter(weight > 0)
