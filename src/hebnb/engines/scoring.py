"""Scores of a lazy table, by lookup joins and column expressions on its engine, or batch by batch. It stays lazy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.hierarchies import Ancestry, Beginning
from hebnb.engines.backends import Backend, Frame, backend_of
from hebnb.engines.lazy_table import LazyColumn, held_names, readable, stairs
from hebnb.engines.matching import matched
from hebnb.engines.row_scoring import RowScorer
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.scores.lookups import TIE
from hebnb.scores.score_tables import ScoreTables

_KEY, _PART, _SCORE, _CODE = (f"__hebnb_{part}" for part in ("key", "part", "score", "code"))
# Most lines of a table that rows are joined with.
_MOST_LINES = 5_000_000
# Most edges that a query compares numbers with; engines take longer to read it than to run it if there are many.
_MOST_STEPS = 200


def prediction_names(columns: list[str], labels: Array, what: str) -> list[str]:
    """The names of the columns that predictions go to, which no other column may have.

    SQL does not tell apart what differs in case only, and some classes do not even in print.
    """
    names = [what] if what == "prediction" else [f"{what}_{label}" for label in labels.tolist()]
    theirs = {name.casefold() for name in columns}
    ours: set[str] = set()
    for name in names:
        if name.casefold() in theirs:
            raise InputError(
                f"{errors.column(name)} is where a prediction would go, and there is one of that name.",
                f"Rename or drop it, or leave it out of {errors.argument('keep')}.",
            )
        if name.casefold() in ours:
            raise InputError(
                f"{errors.column(name)} is where the predictions of two classes would go.",
                "Rename classes that are equal in print, or differ in case only.",
            )
        ours.add(name.casefold())
    return names


def predicted(X: Any, model: ScoreTables, what: str) -> Any:
    """The lazy table with its predictions, on the same engine.

    ``what`` is ``"prediction"``, ``"proba"`` or ``"log_proba"``. Rows are joined with score tables where these are few,
    and go through the model batch by batch where they are many.
    """
    frame: Frame = nw.from_native(X)
    columns = list(frame.collect_schema())
    labels = model.counts.classes.values
    features = [str(name) for name in model.counts.vocabulary.names]
    for name in features:
        if name not in columns:
            raise InputError(f"{errors.column(name)} is missing.", "Pass the columns of fit.")
    names = prediction_names(columns, labels, what)
    backend = backend_of(frame)
    frame, lazy = readable(X, backend, features)
    held = list(held_names(X, backend).values())
    reason = _against_joins(model, backend.most_joined)
    if reason is not None:
        scorer = RowScorer(model, lazy, what, tuple(names))
        made = backend.scored(scorer.readable(frame, held).to_native(), held, scorer)
        if made is None:
            raise InputError(
                f"{reason}, and rows do not leave this engine.", "Collect the table, or predict batch by batch."
            )
        return backend.named(made, [*columns, *names])
    scored = with_scores(frame, held, lazy, backend, model)
    if what == "prediction":
        found = with_best(scored, held, labels, what)
    else:
        found = (with_log_proba if what == "log_proba" else with_proba)(scored, held, names)
    return backend.named(found.to_native(), [*columns, *names])


def _against_joins(model: ScoreTables, most: int) -> str | None:
    """Why rows are not joined with the tables of a model, if they are not."""
    if not most:
        return "Rows are not joined with anything here"
    if len(model.parents):
        return "A mean or a product of one-dependence estimates takes more than joins"
    if len(model.tables) > most:
        return f"The model has {len(model.tables)} tables, too many to join with"
    steps = sum(len(edges) for edges in model.counts.vocabulary.edges.values())
    if steps > _MOST_STEPS:
        return f"Numbers are cut at {steps} edges, too many to compare with"
    for table in model.tables:
        sizes = [int(view.max()) + 1.0 for view in table.views]
        lines = table.n_cells if table.root is None else np.prod(sizes)
        if len(sizes) > 1 and lines > _MOST_LINES:
            names = " and ".join(repr(model.counts.vocabulary.names[f]) for f in table.columns)
            return f"Columns {names} have {lines:,.0f} combinations of values, too many to join with"
    return None


def with_scores(
    frame: Frame, kept: list[str], columns: Sequence[LazyColumn], backend: Backend, model: ScoreTables
) -> Frame:
    """Some columns of the table, and a column ``__hebnb_score{c}`` for every class.

    Every row stays one row, whatever its values: keys of a lookup are distinct.
    """
    scores = [nw.lit(float(start)) for start in model.start]
    joins = _Joins(frame, backend)
    singles, together = model.tables[: len(columns)], model.tables[len(columns) :]
    by_code = bool(together) or any(len(table.columns) > 1 for table in singles)
    found = _by_code(joins, model, columns) if by_code else _by_value(joins, model, columns)
    for parts in found:
        scores = [score + part for score, part in zip(scores, parts, strict=True)]
    made = [score.alias(f"{_SCORE}{c}") for c, score in enumerate(scores)]
    scored = joins.frame.with_columns(*made)
    return scored.select(*kept, *(f"{_SCORE}{c}" for c in range(model.n_classes)))


def _by_value(joins: _Joins, model: ScoreTables, columns: Sequence[LazyColumn]) -> list[list[nw.Expr]]:
    """What every table adds to every class, by the value of its only column."""
    found = []
    parts = zip(model.tables, model.counts.vocabulary.features, model.combination.table_weights.tolist(), strict=True)
    for f, (table, kind, weight) in enumerate(parts):
        _, numbers = table.lines()
        found.append(kind.computed_by(_Numbers(joins, columns[f], weight * numbers, f"{f}")))
    return found


def _by_code(joins: _Joins, model: ScoreTables, columns: Sequence[LazyColumn]) -> list[list[nw.Expr]]:
    """What every table adds to every class, by one number for the codes of its columns, as the table sees them.

    All numbers are columns before the first join: engines look at a query anew whenever something is added to it.
    """
    codes = {}
    for f, kind in enumerate(model.counts.vocabulary.features):
        every = np.arange(kind.size + 1, dtype=float)[:, np.newaxis]
        (codes[f],) = kind.computed_by(_Numbers(joins, columns[f], every, f"code{f}"))
    joins.add({f"{_CODE}{f}": code.cast(nw.Int64) for f, code in codes.items()})
    views: dict[tuple[int, bytes], str] = {}
    made: dict[str, nw.Expr] = {}
    for table in model.tables:
        for f, view in zip(table.columns, table.views, strict=True):
            if (f, view.tobytes()) not in views:
                views[f, view.tobytes()] = name = f"{_CODE}{f}_{len(views)}"
                made[name] = _viewed(nw.col(f"{_CODE}{f}"), view)
    joins.add(made)
    lines = {}
    for t, table in enumerate(model.tables):
        line = nw.lit(0)
        for f, view in zip(table.columns, table.views, strict=True):
            line = line * (int(view.max()) + 1) + nw.col(views[f, view.tobytes()])
        lines[f"{_KEY}table{t}"] = line
    joins.add(lines)
    weights = model.combination.table_weights.tolist()
    lookups = [(f"table{t}", table.lines()[0], weights[t] * table.lines()[1]) for t, table in enumerate(model.tables)]
    return joins.found_in_all(lookups)


def _viewed(code: nw.Expr, view: IntArray) -> nw.Expr:
    """A code as a table sees it."""
    if np.array_equal(view, np.arange(len(view))):
        return code
    starts = np.flatnonzero(np.diff(view)) + 1
    return stairs(code, (starts - 0.5).astype(float), view[np.append(0, starts)])


@dataclass
class _Joins:
    """A frame that is joined with one lookup after the other."""

    frame: Frame
    backend: Backend
    known: dict[str, tuple[nw.Expr, nw.Expr]] = field(default_factory=dict)

    def kept(self, expression: nw.Expr, name: str) -> nw.Expr:
        """The expression as a column, so that it is computed once."""
        self.frame = self.frame.with_columns(expression.alias(name))
        return nw.col(name)

    def add(self, expressions: dict[str, nw.Expr]) -> None:
        """The expressions as columns, all at once."""
        if expressions:
            self.frame = self.frame.with_columns(*(expression.alias(name) for name, expression in expressions.items()))

    def at(self, expression: nw.Expr, keys: Array, parts: FloatArray, mark: str) -> list[nw.Expr]:
        """What is found at the keys that the expression gives, zero where there is none."""
        self.add({f"{_KEY}{mark}": expression})
        return self.found(keys, parts, mark)

    def found(self, keys: Array, parts: FloatArray, mark: str) -> list[nw.Expr]:
        """What is found at the keys in the column of that mark, zero where there is none."""
        key, data, found = _lookup(mark, keys, parts)
        self.frame = self.backend.joined(self.frame, data, key)
        return found

    def found_in_all(self, lookups: list[tuple[str, IntArray, FloatArray]]) -> list[list[nw.Expr]]:
        """The same for many columns of whole numbers."""
        made = [_lookup(mark, keys, parts) for mark, keys, parts in lookups]
        self.frame = self.backend.joined_with_all(self.frame, [(key, data) for key, data, _ in made])
        return [found for _, _, found in made]

    def climbed(self, column: LazyColumn, ancestry: Ancestry) -> tuple[nw.Expr, nw.Expr]:
        """A column as text, and the code of it or of its deepest known ancestor, from one; zero for what has none."""
        if column.name not in self.known:
            mark = f"tree{len(self.known)}"
            text = self.kept(column.text, f"{_KEY}{mark}_text")
            place = nw.lit(0.0)
            ways = [(text, ancestry.codes), *((_beginning(text, way), codes) for way, codes in ancestry.above)]
            for n, (expression, codes) in reversed(list(enumerate(ways))):
                if codes:
                    keys = np.array(list(codes), dtype=object)
                    numbers = np.array(list(codes.values()), dtype=float)[:, np.newaxis] + 1
                    (own,) = self.at(expression, keys, numbers, f"{mark}_{n}")
                    place = nw.when(own > 0).then(own).otherwise(place)
            self.known[column.name] = text, self.kept(place.cast(nw.Int64), f"{_CODE}{mark}")
        return self.known[column.name]


def _lookup(mark: str, keys: Array, parts: FloatArray) -> tuple[str, dict[str, Any], list[nw.Expr]]:
    """A column of keys, a table with numbers for them, and the numbers that a join finds."""
    key = f"{_KEY}{mark}"
    names = [f"{_PART}{mark}_{c}" for c in range(parts.shape[1])]
    data: dict[str, Any] = {key: keys} | {name: parts[: len(keys), c] for c, name in enumerate(names)}
    return key, data, [nw.col(name).fill_null(0.0) for name in names]


@dataclass(frozen=True)
class _Numbers:
    """The numbers of a row's value, by code: one expression for every column of ``parts``, of shape (K + 1, …)."""

    joins: _Joins
    column: LazyColumn
    parts: FloatArray
    mark: str

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> list[nw.Expr]:
        """That of the bin, which a few comparisons find."""
        numbers = self.column.numbers
        of_gap = self.parts[-1 if gap is None else gap]
        return [
            nw.when(numbers.is_null()).then(nw.lit(float(of_gap[n]))).otherwise(stairs(numbers, edges, own))
            for n, own in enumerate(self.parts.T)
        ]

    def lookup(self, values: Array, gap: int | None) -> list[nw.Expr]:
        """By a join; null, which joins nothing, is a gap."""
        of_gap, silent = self.parts[-1 if gap is None else gap], self.parts[-1]
        expression, keys, places = matched(self.column, values)
        key = self.joins.kept(expression, f"{_KEY}{self.mark}")
        if len(keys):  # else it holds other values than those of fit: whatever they are, they are unseen
            found = self.joins.found(keys, (self.parts - silent)[places], self.mark)  # what is not found is zero
        else:
            found = [nw.lit(0.0) for _ in silent]
        if silent.any():
            found = [part + float(number) for part, number in zip(found, silent, strict=True)]
        pairs = zip(found, of_gap, strict=True)
        return [nw.when(key.is_null()).then(nw.lit(float(number))).otherwise(part) for part, number in pairs]

    def climb(self, ancestry: Ancestry) -> list[nw.Expr]:
        """By joins with the texts that are known, else with their ancestors; then with the numbers."""
        of_gap, silent = self.parts[-1 if ancestry.gap is None else ancestry.gap], self.parts[-1]
        text, place = self.joins.climbed(self.column, ancestry)
        found = self.joins.at(place, np.arange(1, len(self.parts)), self.parts[:-1] - silent, self.mark)
        return [
            nw.when(text.is_null()).then(nw.lit(float(gap))).otherwise(part + float(number))
            for part, gap, number in zip(found, of_gap, silent, strict=True)
        ]


def _beginning(text: nw.Expr, way: Beginning) -> nw.Expr:
    """The first characters or parts of a text; null where it has no such parts."""
    if way.separator is None:
        return text.str.slice(0, way.number)
    # As many separators at the end as make every part one that there is; they leave the first parts alone.
    padded = nw.concat_str(text, nw.lit(way.separator * way.number))
    parts = padded.str.split(way.separator)
    gone = text.str.len_chars() - text.str.replace_all(way.separator, "", literal=True).str.len_chars()
    first = nw.concat_str(*(parts.list.get(n) for n in range(way.number)), separator=way.separator)
    return nw.when(gone >= way.number * len(way.separator)).then(first)


def with_log_proba(frame: Frame, columns: list[str], names: list[str]) -> Frame:
    """The columns, and the normalised scores under these names."""
    scores = [f"{_SCORE}{c}" for c in range(len(names))]
    frame = frame.with_columns(nw.max_horizontal(*scores).alias(_PART))
    frame = frame.with_columns(*((nw.col(score) - nw.col(_PART)).alias(score) for score in scores))
    powers = [nw.col(score).exp().alias(f"{score}_exp") for score in scores]
    frame = frame.with_columns(*powers)
    total = nw.sum_horizontal(*(f"{score}_exp" for score in scores)).log()
    logs = [(nw.col(score) - total).alias(name) for score, name in zip(scores, names, strict=True)]
    return frame.with_columns(*logs).select(*columns, *names)


def with_proba(frame: Frame, columns: list[str], names: list[str]) -> Frame:
    """The columns, and the probabilities under these names."""
    frame = with_log_proba(frame, columns, names)
    return frame.with_columns(*(nw.col(name).exp() for name in names))


def with_best(frame: Frame, columns: list[str], labels: Array, name: str) -> Frame:
    """The columns, and the label of the greatest score; of the first of equals."""
    scores = [nw.col(f"{_SCORE}{c}") for c in range(len(labels))]
    frame = frame.with_columns(nw.max_horizontal(*scores).alias(_PART))
    values = labels.tolist()
    best: Any = nw.lit(values[-1])
    for score, label in zip(reversed(scores[:-1]), reversed(values[:-1]), strict=True):
        best = nw.when(score >= nw.col(_PART) - TIE).then(nw.lit(label)).otherwise(best)
    return frame.with_columns(best.alias(name)).select(*columns, name)
