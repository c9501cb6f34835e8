"""Counts as an Arrow table: a line for every cell and class, which SQL can make too.

The columns ``feature`` and ``value`` name a cell of one column, ``feature_2`` and ``value_2`` and so on further columns
of it, ``class`` its class, ``count`` how many rows it has. What lines do not tell (types, edges of bins, trees, what a
model chose) is JSON in the metadata of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import in_order
from hebnb.columns.kinds import Categories, Kind
from hebnb.counts.arrow_lines import FORMAT, KEY, Texts, column_names, type_of, written
from hebnb.counts.lines import Lines
from hebnb.counts.single import Counts, nonzero_cells
from hebnb.errors import InputError
from hebnb.foundation.json_values import from_json, to_json

if TYPE_CHECKING:
    import pyarrow as pa


def table_of(counts: Counts) -> pa.Table:
    """The table of counts."""
    import pyarrow as pa

    vocabulary, labels = counts.vocabulary, counts.classes.values
    class_type = type_of(labels)
    classes = pa.array(written(labels) if class_type == "json" else labels.tolist())
    texts = [_texts(name, kind) for name, kind in zip(vocabulary.names, vocabulary.features, strict=True)]
    blocks = list(_all_lines(counts))
    width = max(1, *(len(block.columns) for block in blocks))
    parts = []
    for block in blocks:
        n_lines, columns = len(block.count), []
        for place in range(width):
            known = place < len(block.columns)
            f = block.columns[place] if known else 0
            columns += [
                pa.array([str(vocabulary.names[f]) if known else None], pa.string()).take(
                    pa.array(np.zeros(n_lines, int))
                ),
                _values(block, place, texts[f]) if known else pa.nulls(n_lines, pa.string()),
            ]
        columns += [classes.take(pa.array(block.class_)), pa.array(block.count, pa.float64())]
        parts.append(pa.table(columns, names=column_names(width)))
    described = {
        "counts": FORMAT,
        "sort": counts.sort,
        "missing": vocabulary.missing,
        "features": [_described(*own) for own in zip(vocabulary.names, vocabulary.features, strict=True)],
        "classes": {"type": class_type, "values": to_json(labels.tolist())},
        **counts.described(),
    }
    return pa.concat_tables(parts).replace_schema_metadata({KEY: json.dumps(described)})


def _all_lines(counts: Counts) -> Iterator[Lines]:
    """Those of classes, of single columns, and of what else was counted."""
    some = np.flatnonzero(counts.class_count)
    yield Lines((), np.empty((len(some), 0), dtype=np.intp), some, counts.class_count[some])
    for f, table in enumerate(counts.tables):
        value, class_, count = nonzero_cells(table)
        yield Lines((f,), value[:, np.newaxis], class_, count)
    yield from counts.further_lines()


def _texts(name: Any, kind: Kind) -> list[str | None]:
    """The texts of a feature's codes, that of a gap and of silence included, which have none."""
    texts = kind.computed_by(Texts())
    if len(set(texts)) != len(texts):
        raise InputError(
            f"{errors.column(name)}: categories of the same name cannot be told apart in a table.", "Rename them."
        )
    return [*texts, *[None] * (kind.size + 1 - len(texts))]


def _values(block: Lines, place: int, texts: list[str | None]) -> Any:
    import pyarrow as pa

    codes = block.codes[:, place]
    if block.by_number:
        return pa.array(list(map(str, codes.tolist())), pa.string())
    return pa.array(texts, pa.string()).take(pa.array(codes))


def _described(name: Any, kind: Kind) -> dict[str, Any]:
    described, array = kind.document()
    if described["kind"] == Categories.name:
        values = np.array([], dtype=object) if array is None else array
        if "values" in described:
            values = in_order(from_json(described.pop("values")))
        described["type"] = type_of(values)
    elif array is not None:
        described["edges"] = array.tolist()
    return described | {"name": to_json(name)}
