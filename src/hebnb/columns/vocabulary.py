"""Column values ↔ integer codes: categories, quantile bins, missing and unseen values.

A feature of size K gives its values the codes 0 … K−1, with the missing value, where it is a category, last. Whatever
contributes nothing (an unseen category, an ignored gap) gets the code K, the *silent* code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name, in_order
from hebnb.columns.table import Table, as_array
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import Array, FloatArray, IntArray

MissingPolicy: TypeAlias = Literal["category", "ignore", "error"]
# What a limit on categories left out, by column: numbers of categories and rows.
Dropped: TypeAlias = dict[Name, dict[str, float]]
MISSING_POLICIES: tuple[MissingPolicy, ...] = ("category", "ignore", "error")


@dataclass(frozen=True, eq=False)
class Categories:
    """A feature whose values are their own categories, in sorted order.

    Examples
    --------
    >>> import numpy as np
    >>> colours = Categories(np.array(["blue", "red"], dtype=object), missing=True)
    >>> colours.encode(Column("colour", np.array(["red", "green", None, "blue"], dtype=object)))
    array([1, 3, 2, 0])
    >>> colours.labels
    array(['blue', 'red', None], dtype=object)
    """

    values: Array
    missing: bool

    @classmethod
    def occurring(cls, codes: IntArray, values: Array, missing: bool = False) -> Categories:
        """The values, in order, that some code points to; −1, a gap, is a category if ``missing``."""
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[codes] = True
        return cls(values if occurs[:-1].all() else values[occurs[:-1]], missing and bool(occurs[-1]))

    @property
    def size(self) -> int:
        """K, the number of categories, the missing one included."""
        return len(self.values) + self.missing

    @property
    def labels(self) -> Array:
        """The categories by code; the missing one is NaN among floats and None elsewhere."""
        if not self.missing:
            return self.values
        if self.values.dtype.kind == "f":
            return np.append(self.values, np.nan)
        labels = np.empty(self.size, dtype=object)
        labels[:-1] = self.values
        return labels

    def encode(self, column: Column) -> IntArray:
        """A code for every row."""
        codes, values = column.levels
        if values is self.values:  # the column the categories were learned from
            return codes if codes.min() >= 0 else np.where(codes < 0, _missing_code(self), codes)
        return _with_missing(self.codes_of(values), self).take(codes)

    def codes_of(self, values: Array) -> IntArray:
        """The code of every value, the silent one where it is not a category."""
        if self.values.dtype.kind in "iuf" and self.values.dtype == values.dtype:
            at = np.searchsorted(self.values, values)
            known = at < len(self.values)
            known[known] = self.values[at[known]] == values[known]
            return np.where(known, at, self.size)
        code, silent = self._code, self.size
        return np.fromiter((code.get(value, silent) for value in values.tolist()), np.intp, len(values))

    def codes_in(self, wider: Categories) -> IntArray:
        """The codes that this feature's categories have in a vocabulary that contains them."""
        codes = wider.codes_of(self.values)
        return _with_missing(codes, wider) if self.missing else codes

    def __or__(self, other: Categories) -> Categories:
        if self.values.dtype == other.values.dtype and self.values.dtype.kind in "biuf":
            values = np.union1d(self.values, other.values)
        else:
            values = in_order(list({value: None for part in (self, other) for value in part.values.tolist()}))
        return Categories(values, self.missing or other.missing)

    @cached_property
    def _code(self) -> dict[Hashable, int]:
        return {value: code for code, value in enumerate(self.values.tolist())}


@dataclass(frozen=True, eq=False)
class Bins:
    """A numeric feature cut at ``edges``; an edge belongs to the bin below it, and the end bins are open.

    Examples
    --------
    >>> import numpy as np
    >>> ages = Bins(np.array([18.0, 65.0]), missing=False)
    >>> ages.encode(Column("age", np.array([-1.0, 18.0, 40.0, 99.0, np.nan])))
    array([0, 0, 1, 2, 3])
    >>> ages.labels
    array(['≤ 18', '18 – 65', '> 65'], dtype=object)
    """

    edges: FloatArray
    missing: bool
    of_times: bool = False

    @property
    def size(self) -> int:
        """K, the number of bins, the missing one included."""
        return len(self.edges) + 1 + self.missing

    @property
    def labels(self) -> Array:
        """The bins by code, as text; the missing one is None."""
        ends = self._edge_texts()
        inner = [f"{low} – {high}" for low, high in pairwise(ends)]
        bins = [f"≤ {ends[0]}", *inner, f"> {ends[-1]}"] if ends else ["any number"]
        labels = np.empty(self.size, dtype=object)
        labels[: len(bins)] = bins
        return labels

    def _edge_texts(self) -> list[str]:
        if self.of_times:
            return [str(time) for time in self.edges.astype("M8[us]").astype("M8[s]")]
        texts: list[str] = []
        for digits in (6, 9, 12, 17):  # as few as tell the edges apart
            texts = [f"{edge:.{digits}g}" for edge in self.edges]
            if len(set(texts)) == len(texts):
                break
        return texts

    def encode(self, column: Column) -> IntArray:
        """A code for every row."""
        numbers = column.numbers
        bins = np.searchsorted(self.edges, numbers)
        return np.where(np.isnan(numbers), _missing_code(self), bins)

    def codes_in(self, wider: Bins) -> IntArray:
        """The codes that these bins have in a feature with the same edges."""
        codes = np.arange(len(self.edges) + 1)
        return _with_missing(codes, wider) if self.missing else codes

    def __or__(self, other: Bins) -> Bins:
        return replace(self, missing=self.missing or other.missing)


Feature: TypeAlias = Categories | Bins


@dataclass(frozen=True)
class Reading:
    """How columns are to be read: which are categories, which are cut into bins, and what a gap means.

    The fields are the parameters of the estimators, as the user gave them.
    """

    categorical_features: Any = "auto"
    numeric_features: Any = None
    n_bins: int = 10
    bin_edges: Any = None
    missing: MissingPolicy = "category"

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise errors.unknown_name("missing", self.missing, list(MISSING_POLICIES))
        if not isinstance(self.n_bins, int | np.integer) or self.n_bins < 2:
            raise ParameterError(f"n_bins={self.n_bins!r} must be an integer of at least 2.")
        if isinstance(self.categorical_features, str) and self.categorical_features not in ("auto", "all"):
            raise errors.unknown_name("categorical_features", self.categorical_features, ["auto", "all"])
        if self.bin_edges is not None and not isinstance(self.bin_edges, Mapping):
            raise ParameterError(f"bin_edges={self.bin_edges!r} must be a dict of column to edges.")

    def cuts(self, names: tuple[Name, ...]) -> Callable[[Column], bool]:
        """A function that says whether a column of this table is cut into bins rather than read as categories."""
        forced = _listed("numeric_features", self.numeric_features, names) | self.edges(names).keys()
        kept: set[Name] = set()
        if not isinstance(self.categorical_features, str):
            kept = _listed("categorical_features", self.categorical_features, names)
        elif self.categorical_features == "all":
            kept = set(names) - forced
        both = sorted(map(str, forced & kept))
        if both:
            raise ParameterError(f"Columns {', '.join(both)} are in categorical_features and also to be cut into bins.")
        return lambda column: column.name in forced or (column.name not in kept and column.is_continuous)

    def edges(self, names: tuple[Name, ...]) -> dict[Name, FloatArray]:
        """The edges the user gave, checked, by column name."""
        given: dict[Name, FloatArray] = {}
        for key, values in (self.bin_edges or {}).items():
            (name,) = _listed("bin_edges", [key], names)
            if name in given:
                raise ParameterError(f"bin_edges gives edges for column {name!r} twice.")
            edges = as_array(values)
            if edges.ndim != 1 or not len(edges):
                raise ParameterError(f"bin_edges[{key!r}] must be a list of numbers.")
            given[name] = Column(f"bin_edges[{key!r}]", edges).numbers.copy()
            if not (np.diff(given[name], prepend=-np.inf) > 0).all():
                raise ParameterError(f"bin_edges[{key!r}] must be finite and increasing.")
        return given


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The features of a table by name, and what a gap means."""

    names: tuple[Name, ...]
    features: tuple[Feature, ...]
    missing: MissingPolicy

    @classmethod
    def learn(cls, table: Table, reading: Reading, weights: FloatArray | None = None) -> Vocabulary:
        """The categories and bins of a training table; a weight counts a row that many times in the quantiles."""
        cut, edges = reading.cuts(table.names), reading.edges(table.names)

        def feature(column: Column) -> Feature:
            if column.name in edges:
                missing = _has_missing(column.numbers, reading.missing, column.name)
                if np.isnan(column.numbers).all():
                    warn_of_gaps(column.name)
                    missing = False
                return Bins(edges[column.name], missing, column.holds_times)
            if cut(column):
                return _learn_bins(column, reading, weights)
            return _learn_categories(column, reading.missing)

        vocabulary = cls(table.names, tuple(table.map(feature)), reading.missing)
        vocabulary._warn_of_empty_columns()
        return vocabulary

    def relearn(self, table: Table, reading: Reading) -> Vocabulary:
        """The vocabulary of a further batch: categories of its own, bins and column names as they are here."""
        cut = reading.cuts(table.names)

        def feature(column: Column, known: Feature) -> Feature:
            if isinstance(known, Bins):
                return replace(known, missing=_has_missing(column.numbers, self.missing, column.name))
            learned = _learn_categories(column, self.missing)
            if cut(column) and (known | learned).size > max(known.size, reading.n_bins):
                warnings.warn(
                    f"{errors.column(column.name)}: its numbers are categories, since the first batch had few distinct "
                    "ones, and more keep coming; bin_edges cuts them instead.",
                    stacklevel=5,
                )
            return learned

        return Vocabulary(self.names, tuple(table.map(feature, self.features)), self.missing)

    @property
    def edges(self) -> dict[Name, FloatArray]:
        """Where numeric columns are cut, by name."""
        pairs = zip(self.names, self.features, strict=True)
        return {name: feature.edges for name, feature in pairs if isinstance(feature, Bins)}

    def encode(self, table: Table) -> list[IntArray]:
        """The codes of every column, in the order of the features."""

        def encode(column: Column, feature: Feature) -> IntArray:
            if self.missing == "error":
                gaps = np.isnan(column.numbers) if isinstance(feature, Bins) else column.levels.codes < 0
                refuse_missing(int(gaps.sum()), column.name)
            return feature.encode(column)

        return table.map(encode, self.features)

    def limited(
        self, codes: list[IntArray], weights: FloatArray | None, most: int
    ) -> tuple[Vocabulary, list[IntArray], Dropped]:
        """At most so many categories a feature, the most frequent ones; the codes that go with them; what was dropped.

        The missing value is not one of them, and bins stay as they are.
        """
        features, recoded, dropped = list(self.features), list(codes), {}
        for f, (name, feature, column) in enumerate(zip(self.names, self.features, codes, strict=True)):
            if isinstance(feature, Bins) or len(feature.values) <= most:
                continue
            rows = np.bincount(column, weights, feature.size + 1)[: len(feature.values)]
            order = np.lexsort((np.arange(len(rows)), rows))[::-1]  # of equals the later, as engines are asked to
            kept = np.sort(order[:most])
            features[f] = Categories(feature.values[kept], feature.missing)
            places = np.full(feature.size + 1, features[f].size)
            places[kept] = np.arange(most)
            if feature.missing:
                places[len(feature.values)] = most
            recoded[f] = places[column]
            dropped[name] = {"categories": len(rows) - most, "rows": float(rows.sum() - rows[kept].sum())}
        return Vocabulary(self.names, tuple(features), self.missing), recoded, dropped

    def _warn_of_empty_columns(self) -> None:
        for name, feature in zip(self.names, self.features, strict=True):
            if isinstance(feature, Categories) and not len(feature.values):
                warn_of_gaps(name)

    def __or__(self, other: Vocabulary) -> Vocabulary:
        features = tuple(map(_union, self.names, self.features, other.features))
        return Vocabulary(self.names, features, self.missing)


def _union(name: Name, ours: Feature, theirs: Feature) -> Feature:
    if isinstance(ours, Categories) and isinstance(theirs, Categories):
        return ours | theirs
    if isinstance(ours, Bins) and isinstance(theirs, Bins) and np.array_equal(ours.edges, theirs.edges):
        return ours | theirs
    raise InputError(
        f"{errors.column(name)}: it was read in two different ways, so its counts cannot be added.",
        "Count both parts with the same bin_edges, categorical_features and numeric_features.",
    )


def _learn_categories(column: Column, missing: MissingPolicy) -> Categories:
    codes, values = column.levels
    if missing == "error":
        refuse_missing(int((codes < 0).sum()), column.name)
    return Categories.occurring(codes, values, missing == "category")


def _learn_bins(column: Column, reading: Reading, weights: FloatArray | None) -> Feature:
    numbers = column.numbers
    missing = _has_missing(numbers, reading.missing, column.name)
    present = ~np.isnan(numbers)
    if weights is None:
        ordered = np.sort(numbers[present])
        weight = np.ones(len(ordered))
    else:
        order = np.argsort(numbers[present], kind="stable")
        ordered, weight = numbers[present][order], weights[present][order]
    if np.count_nonzero(np.diff(ordered)) < reading.n_bins:
        return _learn_categories(column, reading.missing)
    return Bins(quantile_edges(ordered, weight, reading.n_bins), missing, column.holds_times)


def quantile_edges(ordered: FloatArray, weights: FloatArray, n_bins: int) -> FloatArray:
    """At most ``n_bins − 1`` edges at the quantiles of sorted values, of which at least two differ.

    A quantile is the smallest value with at least that share at or below it. This definition, unlike an interpolating
    one, sees no difference between a weight of 2 and a repeated row, and an edge is always a value that occurred. If
    every quantile is the largest value, that value gets a bin to itself.

    Examples
    --------
    >>> import numpy as np
    >>> quantile_edges(np.arange(1.0, 13.0), np.ones(12), 4)
    array([3., 6., 9.])
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]), np.ones(6), 3)
    array([0., 1.])
    """
    below = np.cumsum(weights)
    edges = np.unique(ordered[np.searchsorted(below, np.arange(1, n_bins) * below[-1] / n_bins)])
    inner: FloatArray = edges[edges < ordered[-1]]
    return inner if len(inner) else ordered[ordered < ordered[-1]][-1:]


def _has_missing(numbers: FloatArray, policy: MissingPolicy, name: Name) -> bool:
    gaps = int(np.isnan(numbers).sum())
    if policy == "error":
        refuse_missing(gaps, name)
    return gaps > 0 and policy == "category"


def refuse_missing(gaps: int, name: Name) -> None:
    """Complain of gaps where there may be none."""
    if gaps:
        raise InputError(
            f"{errors.column(name)}: {gaps} values are missing.",
            'missing="category" gives them a category of their own, missing="ignore" leaves them out.',
        )


def warn_of_gaps(name: Name) -> None:
    """Say that a column has nothing to say."""
    warnings.warn(f"{errors.column(name)}: every value is missing; it contributes nothing.", stacklevel=6)


def _missing_code(feature: Feature) -> int:
    return feature.size - feature.missing


def _with_missing(codes: IntArray, feature: Feature) -> IntArray:
    """IntArray by level with that of a missing value appended, where index −1 finds it."""
    return np.append(codes, _missing_code(feature))


def _listed(argument: str, listed: Any, names: tuple[Name, ...]) -> set[Name]:
    """The columns that an argument lists by name, by position where that is not a name, or by a mask."""
    if listed is None:
        return set()
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise ParameterError(f"{argument}={listed!r} must be a list of column names or positions.")
    items = list(listed)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ParameterError(f"{argument} is a mask of {len(items)} for {len(names)} columns.")
        return {name for name, marked in zip(names, items, strict=True) if marked}
    found: set[Name] = set()
    for item in items:
        if item in names:
            found.add(item)
        elif isinstance(item, int | np.integer) and -len(names) <= item < len(names):
            found.add(names[int(item)])
        else:
            raise errors.unknown_name(f"column in {argument}", item, [str(name) for name in names])
    return found
