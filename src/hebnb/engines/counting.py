"""Counts from a lazy table: values by group-by on the engine that holds its rows, cells by one pass over the rows.

The rows of an aggregation, (value, class, count), are themselves a small table whose rows have weights, so what follows
the group-by is what any table goes through. Where values are known, a pass over the rows counts all tables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from hebnb.columns.column import Column, Levels
from hebnb.columns.kinds import KINDS, Categories, CategoryTree, Kind, MissingPolicy
from hebnb.columns.kinds.base import refuse_missing, warn_of_gaps
from hebnb.columns.reading import Reading, ReadingParameters
from hebnb.columns.table import read_labels
from hebnb.columns.vocabulary import Dropped, Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts, Parents
from hebnb.counts.pairs import Caps, Layout, PairCounts, SparsePairs, held
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, tabulate
from hebnb.engines.backends import Frame
from hebnb.engines.cutting import Cutting, floats
from hebnb.engines.lazy_table import CLASS, COUNT, WEIGHT, LazyColumn, LazyTable
from hebnb.engines.tallying import MOST_CELLS, Codes, Tally, Together, ValueTally
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

# Names that no column of a user has.
_VALUE, _OTHER = "__hebnb_value", "__hebnb_other"


def count(table: LazyTable, parameters: ReadingParameters, max_categories: int | None = None) -> tuple[Counts, Dropped]:
    """Counts from one aggregation a feature, and what was dropped of columns with too many categories.

    Numbers that are cut are counted in one pass over the rows, if the engine hands them out.
    """
    classes, class_count = _classes(table)
    reading = parameters.of(table.names)
    features = _expected(table, Cutting(table).columns(reading.cut), reading)
    lines, totals = _lines(table, features, classes, max_categories)
    dropped: Dropped = {}
    parts = []
    for f, (name, feature) in enumerate(zip(table.names, features, strict=True)):
        part = _Part.of(feature, lines[f], reading.missing)
        if f in totals:
            distinct, total = totals[f]
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


class _Lines(NamedTuple):
    """The aggregation of a feature: keys, classes and how often these occurred together."""

    keys: Column
    labels: Levels
    weights: FloatArray


def _lines(
    table: LazyTable, features: Sequence[Kind], classes: Categories, max_categories: int | None
) -> tuple[dict[int, _Lines], dict[int, tuple[float, float]]]:
    """The aggregation of every feature; where only the most frequent values came, how many there are, and rows."""
    lines = _lines_of_cut(table, features, classes)
    if max_categories is None:  # else not all values need come
        lines |= _lines_of_values(table, features, classes)
    ready = table.with_numbers(features)
    queries, notes, limited, rest = [], [], [], [f for f in range(len(features)) if f not in lines]
    for f in rest:
        name, feature = table.names[f], features[f]
        tally = _tally(ready, {_VALUE: ready.columns[f].key(feature)})
        # The rows of categories that a tree has no room for count for its nodes, so all have to come.
        is_limited = max_categories is not None and feature.cut_at is None and not isinstance(feature, CategoryTree)
        queries.append(_most_frequent(tally, max_categories) if is_limited else tally)
        notes.append(f"counting column {name!r}")
        if is_limited:
            limited.append(f)
            queries.append(tally.select(nw.col(_VALUE).n_unique(), nw.col(COUNT).sum()))
            notes.append(f"counting the categories of column {name!r}")
    results = iter(table.backend.collect(queries, notes))
    totals = {}
    for f in rest:
        result = next(results)
        labels = read_labels(result[CLASS].to_native(), name=table.target)
        lines[f] = _Lines(table.columns[f].keys(features[f], result[_VALUE]), labels, floats(result[COUNT]))
        if f in limited:
            distinct, total = (float(number or 0) for number in next(results).row(0))
            totals[f] = distinct, total
    return lines, totals


def _lines_of_cut(table: LazyTable, features: Sequence[Kind], classes: Categories) -> dict[int, _Lines]:
    """The aggregations of all features that are cut, if the engine counts them in one pass."""
    cut = [f for f, kind in enumerate(features) if kind.cut_at is not None]
    views = {f: np.arange(features[f].size + 1) for f in cut}  # a gap is silent before it is known to occur
    tables = [Together((f,), (views[f],)) for f in cut]
    found = _in_one_pass(table, features, classes, tables, "counting the columns that are cut")
    lines = {}
    for f, own in zip(cut, found or [], strict=False):
        bins = own.codes[:, 0].astype(float)
        bins[bins == features[f].size] = np.nan
        lines[f] = _Lines(Column(table.names[f], bins), Levels(own.class_, classes.values), own.count)
    return lines


def _lines_of_values(table: LazyTable, features: Sequence[Kind], classes: Categories) -> dict[int, _Lines]:
    """The aggregations of all features whose values are categories, if the engine counts them in one pass."""
    plain = [f for f, kind in enumerate(features) if kind.cut_at is None and not isinstance(kind, CategoryTree)]
    if not plain:
        return {}
    codes = Codes(tuple(table.columns[f] for f in plain), (), classes, table.target)
    tally, frame = ValueTally(codes), table.frame.select(*codes.expressions(table.weight is not None))
    found = table.backend.valued(frame, tally, f"counting {len(plain)} columns")
    if found is None:
        return {}
    return {
        f: _Lines(keys, Levels(class_.astype(np.intp), classes.values), count)
        for f, (keys, class_, count) in zip(plain, tally.columns(found), strict=True)
    }


@dataclass(frozen=True)
class TogetherCells:
    """How often values of some features occurred together: codes of shape (cells, features), class and count."""

    codes: IntArray
    class_: IntArray
    count: FloatArray


def count_together(
    table: LazyTable, counts: Counts, columns: Sequence[tuple[int, ...]], levels: Sequence[int] | None = None
) -> list[TogetherCells]:
    """The cells of tuples of features, by codes; by the nodes of a level of their trees, if one is given for each.

    All are counted in one pass over the rows if the engine hands these out, and by one aggregation each if not.
    """
    features, classes = counts.vocabulary.features, counts.classes
    of_codes = [np.arange(kind.size + 1) for kind in features]
    tables = []
    for n, together in enumerate(columns):
        views = [of_codes[f] if levels is None else _nodes(features[f], levels[n]) for f in together]
        tables.append(Together(together, tuple(views)))
    numbered = [n for n, own in enumerate(tables) if own.n_lines * classes.size < MOST_CELLS]
    note = f"counting cells of {len(columns)} tables"
    found = _in_one_pass(table, features, classes, [tables[n] for n in numbered], note)
    cells = dict(zip(numbered, found or [], strict=False))
    rest = [n for n in range(len(columns)) if n not in cells]
    by_query = _by_queries(table, counts, [columns[n] for n in rest], levels and [levels[n] for n in rest])
    cells |= zip(rest, by_query, strict=True)
    return [cells[n] for n in range(len(columns))]


def _nodes(kind: Kind, level: int) -> IntArray:
    """The node of every code at a level of the kind's tree."""
    return kind.levels[min(level, len(kind.levels) - 1)]


def _in_one_pass(
    table: LazyTable, kinds: Sequence[Kind], classes: Categories, tables: Sequence[Together], note: str
) -> list[TogetherCells] | None:
    """The cells of all tables, from one pass over the columns that they need; None if the engine does not do that."""
    used = sorted({f for own in tables for f in own.columns})
    if not used:
        return None
    codes = Codes(tuple(table.columns[f] for f in used), tuple(kinds[f] for f in used), classes, table.target)
    placed = tuple(Together(tuple(used.index(f) for f in own.columns), own.views) for own in tables)
    frame = table.frame.select(*codes.expressions(table.weight is not None))
    sums = table.backend.tallied(frame, Tally(codes, placed), note)
    if sums is None:
        return None
    found = []
    for own, cells in zip(tables, sums, strict=True):
        keys, count = cells.occurring()
        *lines, class_ = np.unravel_index(keys, (*own.sizes, classes.size))
        found.append(TogetherCells(np.stack(lines, axis=1), class_, count))
    return found


def _by_queries(
    table: LazyTable, counts: Counts, columns: Sequence[tuple[int, ...]], levels: Sequence[int] | None
) -> list[TogetherCells]:
    """The cells of tuples of features, from one aggregation each, which may be coarser than codes are."""
    features = counts.vocabulary.features
    table = table.with_numbers(features)
    queries, notes, kinds = [], [], []
    for n, together in enumerate(columns):
        own = [features[f] if levels is None else features[f].coarser(levels[n]) for f in together]
        keys = {
            f"{_VALUE}{k}": table.columns[f].key(kind) for k, (f, kind) in enumerate(zip(together, own, strict=True))
        }
        kinds.append(own)
        queries.append(_tally(table, keys))
        notes.append(f"counting columns {' and '.join(repr(table.names[f]) for f in together)} together")
    found = []
    for n, result in enumerate(table.backend.collect(queries, notes)):
        codes = []
        for k, (f, kind) in enumerate(zip(columns[n], kinds[n], strict=True)):
            own_codes = kind.codes_of_keys(table.columns[f].keys(kind, result[f"{_VALUE}{k}"]))
            nodes = None if levels is None else features[f].nodes_of_coarser(kind, levels[n])
            codes.append(own_codes if nodes is None else nodes[own_codes])
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
    codes = Codes(table.columns, counts.vocabulary.features, counts.classes, table.target)
    frame: Frame = table.frame.select(*codes.expressions(table.weight is not None))
    if table.n_rows > limit:
        frame = nw.from_native(table.backend.sample(frame.to_native(), limit, limit / table.n_rows, seed))
    (rows,) = table.backend.collect([frame], ["drawing a sample of rows"])
    weights = floats(rows[WEIGHT]) if table.weight else None
    encoded = EncodedRows(counts.vocabulary, counts.classes, codes.of(rows), codes.labels(rows), weights)
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
    def of(cls, feature: Kind, lines: _Lines, policy: MissingPolicy) -> _Part:
        keys, labels, weights = lines
        if policy == "error":
            refuse_missing(int(weights[feature.gaps(keys)].sum()), keys.name)
        counted = feature.counted(keys, policy)
        if counted.is_empty:
            warn_of_gaps(keys.name)
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


def _expected(table: LazyTable, columns: tuple[LazyColumn, ...], reading: Reading) -> list[Kind]:
    """The kinds of the columns, as far as they are known before counting."""
    of_kind: dict[type[Kind], list[int]] = {}
    for f, column in enumerate(columns):
        of_kind.setdefault(next(kind for kind in KINDS if kind.claims(column, reading)), []).append(f)
    cutting = Cutting(table)
    features: dict[int, Kind] = {}
    for kind, places in of_kind.items():
        own = [columns[f] for f in places]
        features |= zip(places, kind.expected(own, reading, cutting), strict=True)
    return [features[f] for f in range(len(columns))]


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
