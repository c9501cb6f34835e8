"""Counts from a lazy table, by group-by on the engine that holds its rows. Only counts travel.

The rows of an aggregation, (value, class, count), are themselves a small table whose rows have weights, so what follows
the group-by is what any table goes through. This module and ``lazy_scores`` are the only ones that know engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Levels
from hebnb.columns.table import Table, read, read_labels
from hebnb.columns.vocabulary import (
    Bins,
    Categories,
    Dropped,
    Feature,
    Reading,
    Vocabulary,
    refuse_missing,
    warn_of_gaps,
)
from hebnb.counts.pairs import Caps, Layout, PairCounts, SparsePairs, held
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, tabulate
from hebnb.errors import HebnbError, InputError, ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

# Names that no column of a user has.
_VALUE, _OTHER, _CLASS, _WEIGHT, _COUNT = (f"__hebnb_{part}" for part in ("value", "other", "class", "weight", "count"))

Frame: TypeAlias = nw.LazyFrame[Any]
Eager: TypeAlias = nw.DataFrame[Any]


@dataclass(frozen=True)
class LazyColumn:
    """What is known of a column before its engine has done anything."""

    name: str
    dtype: Any
    nan_is_text: bool = False

    @classmethod
    def of(cls, frame: Frame, name: str, dtype: Any) -> LazyColumn:
        """A column of a lazy table.

        DuckDB, also where Ibis uses it, takes the least and greatest number that a Parquet file declares for the whole
        truth and finds no NaN beside them; in print it shows.
        """
        return cls(name, dtype, frame.implementation.is_duckdb() or frame.implementation.is_ibis())

    @property
    def is_continuous(self) -> bool:
        """Whether the column holds a measured quantity rather than categories."""
        times = self.dtype.is_temporal() and self.dtype != nw.Time
        return bool(self.dtype.is_float() or self.dtype.is_decimal() or times)

    @property
    def numbers(self) -> nw.Expr:
        """The values as floats, null where missing."""
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

    def coded(self, feature: Feature) -> nw.Expr:
        """What is grouped by and looked up: the value itself, or the number of its bin."""
        if isinstance(feature, Bins):
            return bin_number(self.numbers, feature.edges)
        if self.dtype.is_float():
            return self.numbers
        if self.dtype in (nw.Categorical, nw.Enum):
            return nw.col(self.name).cast(nw.String)
        return nw.col(self.name)


def bin_number(numbers: nw.Expr, edges: FloatArray) -> nw.Expr:
    """How many edges a number is above; null for null."""
    above = [(numbers > float(edge)).cast(nw.Int64) for edge in edges]
    total = above[0]
    for one in above[1:]:
        total = total + one
    return nw.when(~numbers.is_null()).then(total)


@dataclass(frozen=True)
class LazyTable:
    """A lazy table and what its columns are for.

    Parameters
    ----------
    frame : narwhals LazyFrame
    columns : tuple of LazyColumn
        The features.
    target : str
    weight : str, optional
        Column that says how often every row counts.
    """

    frame: Frame
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
            frame = _with_positive_weights(frame, weight)
        return cls(frame, tuple(LazyColumn.of(frame, name, schema[name]) for name in names), target, weight)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(column.name for column in self.columns)


def chosen_features(features: Any, columns: list[str], target: str, weight: str | None) -> list[str]:
    """The columns to learn from: those named, or all that are for nothing else."""
    for argument, name in (("target", target), ("sample_weight", weight)):
        if name is not None and name not in columns:
            raise errors.unknown_name(f"column in {argument}", name, columns)
    if target == weight:
        raise InputError(f"{errors.column(target)} cannot be the target and the weight.")
    if features is None:
        names = [name for name in columns if name not in (target, weight)]
    elif isinstance(features, str):
        raise ParameterError(f"features={features!r} must be a list of column names.")
    else:
        names = list(features)
    for name in names:
        if name not in columns:
            raise errors.unknown_name("column in features", name, columns)
        if name in (target, weight):
            use = "target" if name == target else "weight"
            raise InputError(f"{errors.column(name)} is the {use} and cannot be a feature.")
        if names.count(name) > 1:
            raise InputError(f"{errors.column(name)} is named twice in features.")
    if not names:
        raise InputError("There is no feature.", "Name at least one column besides the target.")
    return names


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


def count(table: LazyTable, reading: Reading, max_categories: int | None = None) -> tuple[Counts, Dropped]:
    """Counts from one aggregation a feature, and what was dropped of columns with too many categories."""
    classes, class_count = _classes(table)
    features = _kinds(table, reading)
    tallies = [
        _tally(table, {_VALUE: column.coded(feature)}) for column, feature in zip(table.columns, features, strict=True)
    ]
    queries, notes, kept = [], [], []
    for column, feature, tally in zip(table.columns, features, tallies, strict=True):
        limited = max_categories is not None and isinstance(feature, Categories)
        queries.append(_most_frequent(tally, max_categories) if limited else tally)
        notes.append(f"counting column {column.name!r}")
        if limited:
            kept.append(column.name)
            queries.append(tally.select(nw.col(_VALUE).n_unique(), nw.col(_COUNT).sum()))
            notes.append(f"counting the categories of column {column.name!r}")
    results = iter(collect(queries, notes))
    dropped: Dropped = {}
    parts = []
    for column, feature in zip(table.columns, features, strict=True):
        part = _Part.of(column, feature, next(results), reading, table.target)
        if column.name in kept:
            distinct, total = (float(number or 0) for number in next(results).row(0))
            if part.weights.sum() < total - 1e-9 * total:
                values = len(np.unique(part.codes))
                dropped[column.name] = {"categories": int(distinct) - values, "rows": total - float(part.weights.sum())}
        parts.append(part)
    vocabulary = Vocabulary(table.names, tuple(part.feature for part in parts), reading.missing)
    tables = tuple(
        tabulate(part.codes, part.labels_in(classes), (part.feature.size, classes.size), part.weights) for part in parts
    )
    return Counts(classes, class_count, vocabulary, tables), dropped


def count_pairs(table: LazyTable, counts: Counts, caps: Caps, n_rows: int) -> PairCounts:
    """Counts of pairs, from one aggregation a pair."""
    layout = Layout(counts.sizes.astype(np.intp))
    counted = caps.counted(layout.sizes, counts.classes.size)
    pairs = list(zip(*np.nonzero(np.triu(counted)), strict=True))
    features = counts.vocabulary.features
    queries = [
        _tally(table, {_VALUE: table.columns[i].coded(features[i]), _OTHER: table.columns[j].coded(features[j])})
        for i, j in pairs
    ]
    notes = [f"counting columns {table.names[i]!r} and {table.names[j]!r} together" for i, j in pairs]
    cells: list[tuple[IntArray, IntArray, IntArray, FloatArray]] = []
    for (i, j), result in zip(pairs, collect(queries, notes), strict=True):
        first = _codes(table.columns[i], features[i], result[_VALUE])
        second = _codes(table.columns[j], features[j], result[_OTHER])
        labels = read_labels(result[_CLASS].to_native(), name=table.target)
        weights = _numbers(result[_COUNT])
        some = np.flatnonzero((first < features[i].size) & (second < features[j].size))
        class_ = counts.classes.codes_of(labels.values)[labels.codes]
        cells.append((layout.starts[i] + first[some], layout.starts[j] + second[some], class_[some], weights[some]))
    empty = np.empty(0, dtype=np.intp)
    cells.append((empty, empty, empty, np.empty(0)))
    parts = (np.concatenate(part) for part in zip(*cells, strict=True))
    single = counts.classes, counts.class_count, counts.vocabulary, counts.tables
    return PairCounts(*single, held(SparsePairs(*parts), layout, counts.classes.size, n_rows, counted), n_rows, caps)


def sample(table: LazyTable, counts: Counts, limit: int, seed: int) -> Sample:
    """A bounded sample of rows, drawn by the engine; classes are weighted to their shares."""
    total = float(counts.class_count.sum())
    wanted = [*table.names, table.target, *([table.weight] if table.weight else [])]
    frame = _drawn(table.frame.select(wanted), limit, n_rows(table), seed)
    (rows,) = collect([frame], ["drawing a sample of rows"])
    weights = _numbers(rows[table.weight]) if table.weight else None
    codes = counts.vocabulary.encode(_eager(rows, table))
    labels = read_labels(rows[table.target].to_native(), name=table.target)
    class_codes = counts.classes.codes_of(labels.values)[labels.codes]
    drawn = Sample.of(counts, codes, class_codes, weights, np.random.RandomState(seed))
    return drawn if len(drawn) == total or weights is not None else replace(drawn, seen=counts.class_count.astype(int))


def n_rows(table: LazyTable) -> int:
    """How many rows there are."""
    (result,) = collect([table.frame.select(nw.len().alias(_COUNT))], ["counting the rows"])
    return int(result.row(0)[0])


def collect(queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
    """Run aggregations, together where the engine shares a scan between them; an error says which it was."""
    if not queries:
        return []
    kind = queries[0].implementation
    try:
        if kind.is_polars():
            import polars as pl

            return [nw.from_native(frame) for frame in pl.collect_all([query.to_native() for query in queries])]
        if kind.is_dask():
            from dask.base import compute

            frames = compute(*(query.to_native() for query in queries))  # type: ignore[no-untyped-call]
            return [nw.from_native(frame) for frame in frames]
    except Exception as error:
        error.add_note(f"hebnb was {notes[0]}{' and others' if len(notes) > 1 else ''}.")
        raise
    results = []
    for query, note in zip(queries, notes, strict=True):
        try:
            results.append(query.collect())
        except ModuleNotFoundError as error:
            raise HebnbError(f"{error.name} is needed for {note}.", f"pip install {error.name}") from error
        except Exception as error:
            error.add_note(f"hebnb was {note}.")
            raise
    return results


@dataclass(frozen=True)
class _Part:
    """One feature's aggregation, as rows with weights."""

    feature: Feature
    codes: IntArray
    labels: Levels
    weights: FloatArray

    @classmethod
    def of(cls, column: LazyColumn, feature: Feature, result: Eager, reading: Reading, target: str) -> _Part:
        weights = _numbers(result[_COUNT])
        values = Column(column.name, result[_VALUE])
        gaps = np.isnan(values.numbers) if isinstance(feature, Bins) else values.levels.codes < 0
        if reading.missing == "error":
            refuse_missing(int(weights[gaps].sum()), column.name)
        if isinstance(feature, Bins):
            if gaps.all():
                warn_of_gaps(column.name)
            feature = Bins(feature.edges, bool(gaps.any() and not gaps.all()) and reading.missing == "category")
        else:
            feature = Vocabulary.learn(
                Table((values,), len(weights)), Reading(categorical_features="all", missing=reading.missing)
            ).features[0]
        labels = read_labels(result[_CLASS].to_native(), name=target)
        return cls(feature, _codes(column, feature, result[_VALUE]), labels, weights)

    def labels_in(self, classes: Categories) -> IntArray:
        """The classes of the rows."""
        return classes.codes_of(self.labels.values)[self.labels.codes]


def _codes(column: LazyColumn, feature: Feature, values: Any) -> IntArray:
    """Codes of aggregated values; those of a cut column are bin numbers already."""
    series = Column(column.name, values)
    if isinstance(feature, Bins):
        numbers = series.numbers
        missing = feature.size - feature.missing
        return np.where(np.isnan(numbers), missing, np.nan_to_num(numbers)).astype(np.intp)
    return feature.encode(series)


def _tally(table: LazyTable, values: dict[str, nw.Expr]) -> Frame:
    """(values, class) → rows, or their weight."""
    columns = [expression.alias(name) for name, expression in values.items()]
    columns.append(nw.col(table.target).alias(_CLASS))
    number = nw.len()
    if table.weight is not None:
        columns.append(nw.col(table.weight).cast(nw.Float64).alias(_WEIGHT))
        number = nw.col(_WEIGHT).sum()
    return table.frame.select(*columns).group_by(*values, _CLASS).agg(number.alias(_COUNT))


def _most_frequent(tally: Frame, limit: int | None) -> Frame:
    """The lines of a tally of the most frequent values, and of the gaps."""
    assert limit is not None
    totals = tally.filter(~nw.col(_VALUE).is_null()).group_by(_VALUE).agg(nw.col(_COUNT).sum().alias(_OTHER))
    top = totals.sort(_OTHER, _VALUE, descending=True).head(limit)
    kept = tally.join(top, on=_VALUE, how="left").filter(~nw.col(_OTHER).is_null() | nw.col(_VALUE).is_null())
    return kept.select(_VALUE, _CLASS, _COUNT)


def _kinds(table: LazyTable, reading: Reading) -> list[Feature]:
    """Which columns are cut, and where; the others are categories, to be filled in."""
    cut, given = reading.cuts(table.names), reading.edges(table.names)
    categories = Categories(np.empty(0, dtype=object), missing=False)
    to_cut = [column for column in table.columns if cut(column)]  # type: ignore[arg-type]
    edges: dict[Any, FloatArray] = {**_quantiles(table.frame, to_cut, reading.n_bins), **given}
    return [Bins(edges[name], missing=False) if name in edges else categories for name in table.names]


def _quantiles(frame: Frame, columns: Iterable[LazyColumn], n_bins: int) -> dict[str, FloatArray]:
    """Edges by the engine's quantiles, for the columns that have more distinct numbers than bins."""
    names = [column.name for column in columns]
    if not names:
        return {}
    plain = frame.select(*(column.numbers.alias(column.name) for column in columns))
    facts = [
        fact
        for name in names
        for fact in (nw.col(name).n_unique(), nw.col(name).null_count(), nw.col(name).min(), nw.col(name).max())
    ]
    facts = [fact.alias(f"{_VALUE}{k}") for k, fact in enumerate(facts)]
    (found,) = collect([plain.select(*facts)], ["looking at the numbers to be cut"])
    numbers = iter([np.nan if number is None else float(number) for number in found.row(0)])
    largest = {}
    for name in names:
        distinct, gaps, low, high = next(numbers), next(numbers), next(numbers), next(numbers)
        if np.isinf([low, high]).any():
            raise InputError(
                f"{errors.column(name)}: some values are infinite.",
                "Replace them by the largest finite value, or by null if they mean missing.",
            )
        if distinct - (gaps > 0) > n_bins:
            largest[name] = high
    if not largest:
        return {}
    quantiles = _engine_quantiles(plain.select(list(largest)), list(largest), np.arange(1, n_bins) / n_bins)
    return {name: _distinct_edges(quantiles[name], top) for name, top in largest.items()}


def _distinct_edges(quantiles: FloatArray, largest: float) -> FloatArray:
    """Edges below the largest number; if every quantile is the largest, it gets a bin to itself."""
    edges = np.unique(quantiles)
    inner: FloatArray = edges[edges < largest]
    return inner if len(inner) else np.array([np.nextafter(largest, -np.inf)])


def _engine_quantiles(frame: Frame, names: list[str], shares: FloatArray) -> dict[str, FloatArray]:
    if frame.implementation.is_dask():  # narwhals has no quantiles for several partitions; Dask's are approximate
        native = frame.to_native()
        found = native[names].quantile(shares.tolist()).compute()
        return {name: found[name].to_numpy(dtype=float) for name in names}
    expressions = [
        nw.col(name).quantile(float(share), interpolation="linear").alias(f"{name}{_VALUE}{k}")
        for name in names
        for k, share in enumerate(shares)
    ]
    (found,) = collect([frame.select(*expressions)], ["finding quantiles"])
    row = np.array(found.row(0), dtype=float).reshape(len(names), len(shares))
    return dict(zip(names, row, strict=True))


def _classes(table: LazyTable) -> tuple[Categories, FloatArray]:
    """The classes and the weight of their rows."""
    (result,) = collect([_tally(table, {})], [f"counting classes in column {table.target!r}"])
    weights = _numbers(result[_COUNT])
    if not len(weights):
        raise InputError("X has 0 rows.", "Pass at least one.")
    gaps = Column(table.target, result[_CLASS]).levels.codes < 0
    if gaps.any():
        raise InputError(
            f"{table.target}: {weights[gaps].sum():.0f} labels are missing.",
            "Drop these rows, or give them a label of their own.",
        )
    labels = read_labels(result[_CLASS].to_native(), name=table.target)
    classes = Categories.occurring(*labels)
    codes = classes.codes_of(labels.values)[labels.codes]
    return classes, np.bincount(codes, weights, classes.size).astype(float)


def _with_positive_weights(frame: Frame, name: str) -> Frame:
    """The rows that count at all; an error if weights are not what weights are."""
    weight = nw.col(name).cast(nw.Float64)
    query = frame.select(weight.min().alias("least"), weight.sum().alias("total"), weight.null_count().alias("gaps"))
    (result,) = collect([query], [f"checking the weights in column {name!r}"])
    least, total, gaps = (float(number) if number is not None else np.nan for number in result.row(0))
    if gaps or not least >= 0 or not 0 < total < np.inf:
        raise InputError(f"{errors.column(name)}: weights must be finite, not negative, not missing, and not all zero.")
    return frame.filter(weight > 0)


def _drawn(frame: Frame, limit: int, total: int, seed: int) -> Frame:
    """About ``limit`` rows at random; all of them if there are no more."""
    if total <= limit:
        return frame
    kind, native, share = frame.implementation, frame.to_native(), limit / total
    if kind.is_polars():
        import polars as pl

        drawn = native.filter(pl.int_range(pl.len()).shuffle(seed=seed) < limit)
    elif kind.is_duckdb():
        query = f"SELECT * FROM hebnb__rows USING SAMPLE reservoir({limit} ROWS) REPEATABLE ({seed})"
        drawn = native.query("hebnb__rows", query)
    elif kind.is_dask():
        drawn = native.sample(frac=share, random_state=seed)
    elif kind.is_ibis():
        drawn = native.sample(share, seed=seed)
    else:
        drawn = native.sample(fraction=share, seed=seed)
    sampled: Frame = nw.from_native(drawn)
    return sampled


def _eager(rows: Eager, table: LazyTable) -> Table:
    return read(rows.select(list(table.names)).to_native())


def _numbers(series: nw.Series[Any]) -> FloatArray:
    numbers: FloatArray = series.cast(nw.Float64).to_numpy().astype(float)
    return numbers


def check_limit(max_categories: Any) -> None:
    """Complain of a limit that is none."""
    whole = isinstance(max_categories, int | np.integer) and not isinstance(max_categories, bool)
    if max_categories is not None and not (whole and max_categories >= 1):
        raise ParameterError(f"max_categories={max_categories!r} must be a positive integer or None.")
