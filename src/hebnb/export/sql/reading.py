"""The first steps of a query: what the values of rows are compared with, and the codes of those that are in a tree."""

from __future__ import annotations

from hebnb.export.sql.dialect import Query
from hebnb.export.sql.keys import Keys


def add_read(query: Query, columns: list[Keys], table: str) -> tuple[list[Keys], list[str]]:
    """Steps to the key of every column, the last of which is ``read``; the keys then, and the columns that they make.

    A text in a tree of categories, some of whose ancestors are cut from it, is joined with itself and with each of
    them; its key is the code of the first that is found.
    """
    trees = [f for f, keys in enumerate(columns) if keys.above]
    names = [f"text_{f}" if f in trees else f"key_{f}" for f in range(len(columns))]
    values = [f"{keys.value} AS {query.own(name)}" for keys, name in zip(columns, names, strict=True)]
    steps = ["read", *(f"rows_{f}" for f in trees)][::-1]
    every = ",\n".join([query.carried(), *values])
    query.add_step(steps[0], "SELECT {every}\nFROM {table} AS {rows}", every=every, table=table)
    found = list(columns)
    for before, name, f in zip(steps, steps[1:], reversed(trees), strict=False):
        found[f] = _add_codes(query, columns[f], f, before, name)
    return found, [*names, *(f"key_{f}" for f in trees)]


def _add_codes(query: Query, keys: Keys, f: int, before: str, name: str) -> Keys:
    """A step that finds the code of a text, NULL where there is none."""
    dialect, text = query.dialect, query.own(f"text_{f}")
    known = dict(zip(keys.keys, keys.codes, strict=True))
    ways = [(text, known), *((dialect.beginning(text, way), codes) for way, codes in keys.above)]
    found, joins = [], ""
    for n, (expression, codes) in enumerate(ways):
        if codes:
            lookup = query.add_table(f"f{f}way{n}", {"key": "text", "position": "integer"}, map(list, codes.items()))
            found.append(query.write("{lookup}.{position}", lookup=lookup))
            joins += query.write("\nLEFT JOIN {lookup} ON {lookup}.{key} = {mine}", lookup=lookup, mine=expression)
    code = f"COALESCE({', '.join(found)})" if len(found) > 1 else found[0]
    if keys.gap is not None:
        code = f"CASE WHEN {text} IS NULL THEN {keys.gap} ELSE {code} END"
    code = dialect.cast(code, "integer")
    select = "SELECT {before}.*,\n{code} AS {mine}\nFROM {before}{joins}"
    mine = query.own(f"key_{f}")
    query.add_step(name, select, apart=True, before=query.own(before), code=code, mine=mine, joins=joins)
    every = sorted({*keys.codes, *(code for _, own in keys.above for code in own.values())})
    every += [] if keys.gap is None else [keys.gap]
    return Keys("integer", mine, every, every, None, is_code=True)
