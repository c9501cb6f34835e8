"""Sums of score tables in SQL: rows joined with one table of constants after the other.

Where every table is about one column, rows are joined by its value. Where some are about several, values become codes
first, and the cells of a family are found by the codes of all its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.errors import InputError
from hebnb.export.sql.dialect import Query
from hebnb.export.sql.keys import Keys
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.score_tables import ScoreTables

# Joins in a step: planners take a time that grows faster than their number.
_JOINED = 16


@dataclass(frozen=True)
class Term:
    """What a table adds to every class, as expressions, and the joins that these need."""

    added: list[str]
    joins: list[str]


def add_sums(query: Query, model: ScoreTables, columns: list[Keys], possible: list[int]) -> list[str]:
    """Steps to the score of every class that has a chance; the columns that they make."""
    made: list[str] = []
    before, terms = "read", (_by_value(query, model, f, keys, possible) for f, keys in enumerate(columns))
    if not model.adds_up_by_feature:
        made, before = _add_codes(query, model, columns)
        views = _Views(query, model)
        made += views.added_to(before)
        before = views.step if views.names else before
        terms = (_by_code(query, model, t, possible, views) for t in range(len(model.tables)))
    return made + _add_terms(query, [query.dialect.double(model.start[c]) for c in possible], terms, before, possible)


def _add_terms(query: Query, sums: list[str], terms: Iterator[Term], before: str, possible: list[int]) -> list[str]:
    """Steps that add up all terms, some of them at a time."""
    made: list[str] = []
    groups = list(_grouped(terms))
    for number, group in enumerate(groups):
        is_last = number == len(groups) - 1
        name, column = ("scores", "score") if is_last else (f"sums_{number}", f"sum_{number}")
        for term in group:
            sums = [f"{total} + {part}" for total, part in zip(sums, term.added, strict=True)]
        written = ",\n".join(
            f"{total} AS {query.own(f'{column}_{c}')}" for c, total in zip(possible, sums, strict=True)
        )
        joins = "".join(join for term in group for join in term.joins)
        select = "SELECT {before}.*,\n{sums}\nFROM {before}{joins}"
        query.add_step(name, select, apart=not is_last, before=query.own(before), sums=written, joins=joins)
        made += [f"{column}_{c}" for c in possible]
        sums, before = [query.own(f"{column}_{c}") for c in possible], name
    return made


def _grouped(terms: Iterable[Term]) -> Iterator[list[Term]]:
    """Runs of terms with at most so many joins, and at least one term; one run without any if there are none."""
    group: list[Term] = []
    for term in terms:
        if group and sum(len(one.joins) for one in [*group, term]) > _JOINED:
            yield group
            group = []
        group.append(term)
    yield group


def _by_value(query: Query, model: ScoreTables, f: int, keys: Keys, possible: list[int]) -> Term:
    """What the table of a feature adds, found by the value itself."""
    weight = float(model.combination.table_weights[f])
    parts = weight * model.tables[f].lines()[1][:, possible]
    unseen = [query.dialect.double(number) if number else "0" for number in parts[-1].tolist()]
    said = [
        (key, parts[code]) for code, key in zip(keys.codes, keys.keys, strict=True) if (parts[code] != parts[-1]).any()
    ]
    found, joins, lookup, classes = unseen, [], query.own(f"f{f}"), range(len(possible))
    if said:
        names = {"key": keys.kind} | {f"part_{c}": "double" for c in classes}
        query.add_table(f"f{f}", names, ([key, *part.tolist()] for key, part in said))
        joins = [query.join_key(f)]
        found = [query.write("COALESCE({f}.{part_c}, {unseen})", c, f=lookup, unseen=unseen[c]) for c in classes]
    of_gap = parts[-1 if keys.gap is None else keys.gap]
    if not keys.is_code and (of_gap != parts[-1]).any():
        gap, key = map(query.dialect.double, of_gap), query.own(f"key_{f}")
        found = [f"CASE WHEN {key} IS NULL THEN {g} ELSE {part} END" for g, part in zip(gap, found, strict=True)]
    return Term(found, joins)


def _add_codes(query: Query, model: ScoreTables, columns: list[Keys]) -> tuple[list[str], str]:
    """Steps to the code of every value, NULL for one that says nothing; the columns they make, and the last step."""
    names, before = [f"code_{f}" for f in range(len(columns))], "read"
    for start in range(0, len(columns), _JOINED):
        here = range(start, min(start + _JOINED, len(columns)))
        found = [place_of_value(query, f, columns[f], 0) for f in here]
        made = ",\n".join(
            f"{query.dialect.cast(code, 'integer')} AS {query.own(names[f])}"
            for f, (code, _) in zip(here, found, strict=True)
        )
        joins, name = "".join(join for _, join in found), f"coded_{start}"
        select = "SELECT {before}.*,\n{made}\nFROM {before}{joins}"
        query.add_step(name, select, apart=True, before=query.own(before), made=made, joins=joins)
        before = name
    return names, before


class _Views:
    """The codes of columns as tables see them, which may tell fewer values apart; each is a column of its own."""

    step = "viewed"

    def __init__(self, query: Query, model: ScoreTables) -> None:
        self.query = query
        self.names: dict[tuple[int, bytes], str] = {}
        self._made: list[tuple[str, str]] = []
        for table in model.tables:
            if table.root is None:
                for f, view in zip(table.columns, table.views, strict=True):
                    self._add(f, view)

    def _add(self, f: int, view: IntArray) -> None:
        if (f, view.tobytes()) in self.names:
            return
        code, name = self.query.own(f"code_{f}"), f"view_{len(self.names)}"
        starts = np.flatnonzero(np.diff(view)) + 1
        as_it_is = np.array_equal(view, np.arange(len(view)))
        steps = " ".join(f"WHEN {code} < {start} THEN {view[start - 1]}" for start in starts.tolist())
        seen = f"COALESCE({code}, {view[-1]})" if as_it_is else f"CASE {steps} ELSE {view[-1]} END"
        self.names[f, view.tobytes()] = self.query.own(name)
        self._made.append((name, seen))

    def added_to(self, before: str) -> list[str]:
        """A step that makes the columns, and what they are called."""
        if self._made:
            made = ",\n".join(f"{seen} AS {self.query.own(name)}" for name, seen in self._made)
            select = "SELECT {before}.*,\n{made}\nFROM {before}"
            self.query.add_step(self.step, select, apart=True, before=self.query.own(before), made=made)
        return [name for name, _ in self._made]


def place_of_value(query: Query, f: int, keys: Keys, start: int) -> tuple[str, str]:
    """The code of a row's value plus a number as an expression, NULL where it is unknown; the join that it needs."""
    mine = query.own(f"key_{f}")
    if keys.is_code:
        return f"{mine} + {start}", ""
    found, join = "NULL", ""
    if keys.keys:
        rows = ([key, start + code] for code, key in zip(keys.codes, keys.keys, strict=True))
        query.add_table(f"f{f}", {"key": keys.kind, "position": "integer"}, rows)
        found, join = query.write("{f}.{position}", f=query.own(f"f{f}")), query.join_key(f)
    if keys.gap is not None:
        found = f"CASE WHEN {mine} IS NULL THEN {start + keys.gap} ELSE {found} END"
    return found, join


def _by_code(query: Query, model: ScoreTables, t: int, possible: list[int], views: _Views) -> Term:
    """What a table adds, found by codes; nothing for a value that says nothing."""
    table, weight = model.tables[t], query.dialect.double(float(model.combination.table_weights[t]))
    if table.root is None:
        return _by_cells(query, model, t, possible, views)
    alone = table.root.lines()[1][:-1, possible]
    codes = np.arange(len(alone))[:, np.newaxis]
    log_mean = table.root.log_mean[:-1, np.newaxis]
    (*found, mean), joins = _joined(query, f"t{t}", table.root.columns, codes, np.hstack([alone, log_mean]))
    child = query.own(f"code_{t}")
    for n, family in enumerate(table.families):
        log_probability, rest = family.log_probability[:, possible], family.rest[:-1, possible]
        cells, cell_join = _joined(query, f"t{t}cell{n}", family.columns, family.cells.codes, log_probability)
        contexts, context_join = _joined(query, f"t{t}from{n}", family.columns[1:], family.contexts.codes, rest)
        joins += cell_join + context_join
        stand_in = found if family.backs_off else [mean] * len(possible)
        found = [
            f"CASE WHEN {cell} IS NOT NULL THEN {cell} "
            f"WHEN {context} IS NOT NULL AND {child} IS NOT NULL THEN {context} + {prior} ELSE {above} END"
            for cell, context, prior, above in zip(cells, contexts, stand_in, found, strict=True)
        ]
    return Term([f"{weight} * COALESCE({part}, 0)" for part in found], joins)


def _by_cells(query: Query, model: ScoreTables, t: int, possible: list[int], views: _Views) -> Term:
    """What a table adds whose cells have numbers, found by one number for the codes of all columns."""
    table, weight = model.tables[t], float(model.combination.table_weights[t])
    keys, numbers = table.lines()
    mine = ""
    for f, view in zip(table.columns, table.views, strict=True):
        own = views.names[f, view.tobytes()]
        mine = f"({mine}) * {int(view.max()) + 1} + {own}" if mine else own
    if not len(keys):
        return Term(["0"] * len(possible), [])
    kinds = {"code": "integer"} | {f"part_{c}": "double" for c in range(len(possible))}
    lines = ([key, *own] for key, own in zip(keys.tolist(), (weight * numbers[:, possible]).tolist(), strict=True))
    lookup = query.add_table(f"t{t}", kinds, lines)
    match = query.write("{lookup}.{code} = {mine}", lookup=lookup, mine=mine)
    found = [query.write("COALESCE({lookup}.{part_c}, 0)", c, lookup=lookup) for c in range(len(possible))]
    return Term(found, [f"\nLEFT JOIN {lookup} ON {match}"])


def _joined(
    query: Query, name: str, columns: tuple[int, ...], codes: IntArray, numbers: FloatArray
) -> tuple[list[str], list[str]]:
    """Numbers that belong to codes of columns, as expressions, and the join that finds them.

    Several codes are joined as one number, which engines look up in a fraction of the memory.
    """
    parts = range(numbers.shape[1])
    if not len(codes):
        return [query.dialect.cast("NULL", "double") for _ in parts], []
    keys, mine = codes[:, 0].tolist(), query.own(f"code_{columns[0]}")
    for n, f in enumerate(columns[1:], 1):
        size = int(codes[:, n].max()) + 1
        code = query.own(f"code_{f}")
        # A code beyond those that occur must not be taken for another combination.
        known = f"CASE WHEN {code} < {size} THEN {code} END"
        mine = f"({mine}) * {size} + {known}"
        keys = [key * size + own for key, own in zip(keys, codes[:, n].tolist(), strict=True)]
    if max(keys) >= 1 << 62:
        raise InputError(
            "A feature and its parents have more combinations of values than SQL has integers.", "Lower k."
        )
    kinds = {"code": "integer"} | {f"part_{c}": "double" for c in parts}
    rows: Iterator[list[Any]] = ([key, *own] for key, own in zip(keys, numbers.tolist(), strict=True))
    lookup = query.add_table(name, kinds, rows)
    match = query.write("{lookup}.{code} = {mine}", lookup=lookup, mine=mine)
    return [query.write("{lookup}.{part_c}", c, lookup=lookup) for c in parts], [f"\nLEFT JOIN {lookup} ON {match}"]
