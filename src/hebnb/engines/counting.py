"""Counts from a lazy table, by group-by on the engine that holds its rows. Only counts travel.

The rows of an aggregation, (value, class, count), are themselves a small table whose rows have weights, so what follows
the group-by is what any table goes through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from hebnb.columns.column import Column, Levels
from hebnb.columns.kinds import KINDS, Categories, CategoryTree, Kind, MissingPolicy
from hebnb.columns.kinds.base import refuse_missing, warn_of_gaps
from hebnb.columns.reading import Reading, ReadingParameters
from hebnb.columns.table import Table, read_labels
from hebnb.columns.vocabulary import Dropped, Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts, Parents
from hebnb.counts.pairs import Caps, Layout, PairCounts, SparsePairs, held
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, tabulate
from hebnb.engines.backends import Eager, Frame
from hebnb.engines.cutting import Cutting, floats
from hebnb.engines.lazy_table import CLASS, COUNT, WEIGHT, LazyTable
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

# Names that no column of a user has.
_VALUE, _OTHER = "__hebnb_value", "__hebnb_other"


def count(table: LazyTable, parameters: ReadingParameters, max_categories: int | None = None) -> tuple[Counts, Dropped]:
    """Counts from one aggregation a feature, and what was dropped of columns with too many categories."""
    classes, class_count = _classes(table)
    reading = parameters.of(table.names)
    features = _expected(table, reading)
    ready = table.with_numbers(features)
    tallies = [_tally(ready, {_VALUE: c.key(kind)}) for c, kind in zip(ready.columns, features, strict=True)]
    queries, notes, kept = [], [], []
    for name, feature, tally in zip(table.names, features, tallies, strict=True):
        # The rows of categories that a tree has no room for count for its nodes, so all have to come.
        in_tree = isinstance(feature, CategoryTree)
        limited = max_categories is not None and feature.cut_at is None and not in_tree
        queries.append(_most_frequent(tally, max_categories) if limited else tally)
        notes.append(f"counting column {name!r}")
        if limited:
            kept.append(name)
            queries.append(tally.select(nw.col(_VALUE).n_unique(), nw.col(COUNT).sum()))
            notes.append(f"counting the categories of column {name!r}")
    results = iter(table.backend.collect(queries, notes))
    dropped: Dropped = {}
    parts = []
    for column, feature in zip(table.columns, features, strict=True):
        name, result = column.name, next(results)
        part = _Part.of(feature, result, column.keys(feature, result[_VALUE]), reading.missing, table.target)
        if name in kept:
            distinct, total = (float(number or 0) for number in next(results).row(0))
            if part.weights.sum() < total - 1e-9 * total:
                values = len(np.unique(part.codes))
                dropped[name] = {"categories": int(distinct) - values, "rows": total - float(part.weights.sum())}
        elif max_categories is not None and isinstance(part.feature, CategoryTree):
            part, lost = part.limited(max_categories, reading.missing, name)
            dropped |= lost
        parts.append(part)
    vocabulary = Vocabulary(table.names, tuple(part.feature for part in parts), reading.missing)
    tables = tuple(
        tabulate(part.codes, part.labels_in(classes), (part.feature.size, classes.size), part.weights) for part in parts
    )
    return Counts(classes, class_count, vocabulary, tables), dropped


@dataclass(frozen=True)
class TogetherCells:
    """How often values of some features occurred together: codes of shape (cells, features), class and count."""

    codes: IntArray
    class_: IntArray
    count: FloatArray


def count_together(
    table: LazyTable,
    counts: Counts,
    columns: Sequence[tuple[int, ...]],
    kinds: Sequence[tuple[Kind, ...]] | None = None,
) -> list[TogetherCells]:
    """The cells of tuples of features, from one aggregation each; they may be counted by coarser kinds than theirs."""
    features = counts.vocabulary.features
    table = table.with_numbers(features)
    kinds = [tuple(features[f] for f in own) for own in columns] if kinds is None else kinds
    queries, notes = [], []
    for together, own in zip(columns, kinds, strict=True):
        pairs = zip(together, own, strict=True)
        keys = {f"{_VALUE}{n}": table.columns[f].key(kind) for n, (f, kind) in enumerate(pairs)}
        queries.append(_tally(table, keys))
        notes.append(f"counting columns {' and '.join(repr(table.names[f]) for f in together)} together")
    found = []
    for together, own, result in zip(columns, kinds, table.backend.collect(queries, notes), strict=True):
        codes = [
            kind.codes_of_keys(table.columns[f].keys(kind, result[f"{_VALUE}{n}"]))
            for n, (f, kind) in enumerate(zip(together, own, strict=True))
        ]
        labels = read_labels(result[CLASS].to_native(), name=table.target)
        class_ = counts.classes.codes_of(labels.values)[labels.codes]
        found.append(TogetherCells(np.stack(codes, axis=1), class_, floats(result[COUNT])))
    return found


def count_pairs(table: LazyTable, counts: Counts, caps: Caps) -> PairCounts:
    """Counts of pairs, from one aggregation a pair."""
    layout = Layout(counts.vocabulary.sizes)
    counted = caps.counted(layout.sizes, counts.classes.size)
    pairs = [(int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(counted)), strict=True)]
    cells = []
    for (i, j), found in zip(pairs, count_together(table, counts, pairs), strict=True):
        known = np.flatnonzero((found.codes < layout.sizes[[i, j]]).all(axis=1))
        first, second = (layout.starts[[i, j]] + found.codes[known]).T
        cells.append((first, second, found.class_[known], found.count[known]))
    empty = np.empty(0, dtype=np.intp)
    cells.append((empty, empty, empty, np.empty(0)))
    sparse = SparsePairs(*(np.concatenate(part) for part in zip(*cells, strict=True)))
    single = counts.classes, counts.class_count, counts.vocabulary, counts.tables
    kept = held(sparse, layout, counts.classes.size, table.n_rows, counted)
    return PairCounts(*single, kept, table.n_rows, caps)


def count_families(table: LazyTable, counts: Counts, parents: Parents) -> FamilyCounts:
    """Counts of families, from one aggregation each."""
    columns = [(f, *own) for f, own in enumerate(parents) if own]
    cells = []
    for (f, *own), found in zip(columns, count_together(table, counts, columns), strict=True):
        known = np.flatnonzero(found.codes[:, 0] < counts.vocabulary.sizes[f])
        tallied = found.class_[known], found.count[known]
        cells.append(FamilyCells.of_cells(f, tuple(own), found.codes[known], tallied, counts.classes.size))
    return FamilyCounts.of_families(counts, parents, cells)


def sample(table: LazyTable, counts: Counts, limit: int, seed: int) -> Sample:
    """A bounded sample of rows, drawn by the engine; classes are weighted to their shares."""
    total = float(counts.class_count.sum())
    features = [column.sampled.alias(f"{_VALUE}{n}") for n, column in enumerate(table.columns)]
    frame: Frame = table.frame.select(*features, CLASS, *([WEIGHT] if table.weight else []))
    if table.n_rows > limit:
        frame = nw.from_native(table.backend.sample(frame.to_native(), limit, limit / table.n_rows, seed))
    (rows,) = table.backend.collect([frame], ["drawing a sample of rows"])
    weights = floats(rows[WEIGHT]) if table.weight else None
    columns = tuple(column.restored(rows[f"{_VALUE}{n}"]) for n, column in enumerate(table.columns))
    codes = counts.vocabulary.encode(Table(columns, len(rows)))
    labels = read_labels(rows[CLASS].to_native(), name=table.target)
    class_codes = counts.classes.codes_of(labels.values)[labels.codes]
    encoded = EncodedRows(counts.vocabulary, counts.classes, codes, class_codes, weights)
    drawn = Sample.of(encoded, np.random.RandomState(seed))
    return drawn if len(drawn) == total or weights is not None else replace(drawn, seen=counts.class_count.astype(int))


@dataclass(frozen=True)
class _Part:
    """One feature's aggregation, as rows with weights."""

    feature: Kind
    codes: IntArray
    labels: Levels
    weights: FloatArray

    @classmethod
    def of(cls, feature: Kind, result: Eager, keys: Column, policy: MissingPolicy, target: str) -> _Part:
        weights = floats(result[COUNT])
        if policy == "error":
            refuse_missing(int(weights[feature.gaps(keys)].sum()), keys.name)
        counted = feature.counted(keys, policy)
        if counted.is_empty:
            warn_of_gaps(keys.name)
        labels = read_labels(result[CLASS].to_native(), name=target)
        return cls(counted, counted.codes_of_keys(keys), labels, weights)

    def limited(self, most: int, policy: MissingPolicy, name: str) -> tuple[_Part, Dropped]:
        """At most so many categories, and what was dropped."""
        vocabulary = Vocabulary((name,), (self.feature,), policy)
        fewer, (codes,), dropped = vocabulary.limited([self.codes], self.weights, most)
        return replace(self, feature=fewer.features[0], codes=codes), dropped

    def labels_in(self, classes: Categories) -> IntArray:
        """The classes of the rows."""
        return classes.codes_of(self.labels.values)[self.labels.codes]


def _tally(table: LazyTable, values: dict[str, nw.Expr]) -> Frame:
    """(values, class) → rows, or their weight."""
    columns = [expression.alias(name) for name, expression in values.items()]
    columns += [nw.col(CLASS), *([nw.col(WEIGHT)] if table.weight else [])]
    number = nw.col(WEIGHT).sum() if table.weight else nw.len()
    return table.frame.select(*columns).group_by(*values, CLASS).agg(number.alias(COUNT))


def _most_frequent(tally: Frame, limit: int | None) -> Frame:
    """The lines of a tally of the most frequent values, and of the gaps."""
    assert limit is not None
    totals = tally.filter(~nw.col(_VALUE).is_null()).group_by(_VALUE).agg(nw.col(COUNT).sum().alias(_OTHER))
    top = totals.sort(_OTHER, _VALUE, descending=True).head(limit)
    kept = tally.join(top, on=_VALUE, how="left").filter(~nw.col(_OTHER).is_null() | nw.col(_VALUE).is_null())
    return kept.select(_VALUE, CLASS, COUNT)


def _expected(table: LazyTable, reading: Reading) -> list[Kind]:
    """The kinds of the columns, as far as they are known before counting."""
    of_kind: dict[type[Kind], list[int]] = {}
    for f, column in enumerate(table.columns):
        of_kind.setdefault(next(kind for kind in KINDS if kind.claims(column, reading)), []).append(f)
    cutting = Cutting(table)
    cutting.refuse_infinite([column for column in table.columns if reading.cuts(column)])
    features: dict[int, Kind] = {}
    for kind, places in of_kind.items():
        columns = [table.columns[f] for f in places]
        features |= zip(places, kind.expected(columns, reading, cutting), strict=True)
    return [features[f] for f in range(len(table.columns))]


def _classes(table: LazyTable) -> tuple[Categories, FloatArray]:
    """The classes and the weight of their rows."""
    (result,) = table.backend.collect([_tally(table, {})], [f"counting classes in column {table.target!r}"])
    weights = floats(result[COUNT])
    if not len(weights):
        raise InputError("X has 0 rows.", "Pass at least one.")
    gaps = Column(table.target, result[CLASS]).levels.codes < 0
    if gaps.any():
        raise InputError(
            f"{table.target}: {weights[gaps].sum():.0f} labels are missing.",
            "Drop these rows, or give them a label of their own.",
        )
    labels = read_labels(result[CLASS].to_native(), name=table.target)
    classes = Categories.occurring(*labels)
    codes = classes.codes_of(labels.values)[labels.codes]
    return classes, np.bincount(codes, weights, classes.size).astype(float)


def check_limit(max_categories: Any) -> None:
    """Complain of a limit that is none."""
    whole = isinstance(max_categories, int | np.integer) and not isinstance(max_categories, bool)
    if max_categories is not None and not (whole and max_categories >= 1):
        raise ParameterError(f"max_categories={max_categories!r} must be a positive integer or None.")
