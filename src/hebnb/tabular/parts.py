"""Rows in files with parts of their columns as further columns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hebnb import errors
from hebnb.errors import InputError
from hebnb.parts import ColumnParts
from hebnb.parts.column_parts import MOST_ROWS
from hebnb.tabular.labelled import IN_MEMORY, Labelled
from hebnb.tabular.table import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def with_parts(rows: Labelled, parts: ColumnParts | None) -> Iterator[Labelled]:
    """The rows with parts of dates and texts, which are chosen here on some of them; the rows themselves without any.

    They are in memory if there are few, and in a temporary file if not, so that whatever learns from a table in files
    learns from these.
    """
    import duckdb

    if parts is None:
        yield rows
        return
    X, y, *_ = (rows if rows.n_rows <= MOST_ROWS else rows.sample(MOST_ROWS, seed=0)).collect()
    parts.fit(X, y)
    features = [str(name) for name in parts.get_feature_names_out()]
    beside = list(dict.fromkeys(name for name in (rows.target, rows.weight, rows.beside) if name is not None))
    clash = next((name for name in beside if name in features[len(rows.features) :]), None)
    if clash is not None:
        raise InputError(f"{errors.column(clash)} would be the name of a part of another column too.", "Rename it.")
    in_memory = rows.n_rows * (len(features) + len(beside)) <= IN_MEMORY
    with nullcontext() if in_memory else tempfile.TemporaryDirectory(prefix="hebnb-") as folder:
        batches = _transformed(rows, parts, beside)
        made = _collected(batches) if folder is None else _on_disk(batches, Path(folder))
        with duckdb.connect() as connection:
            table = replace(rows.table, relation=connection.from_arrow(made), counted=rows.n_rows)
            yield replace(rows, table=table, features=features)


def _transformed(rows: Labelled, parts: ColumnParts, beside: list[str]) -> Iterator[pa.Table]:
    """Batches of rows with all columns that are needed."""
    for batch in rows.table.select(list(dict.fromkeys([*rows.features, *beside]))).batches(BATCH_ROWS):
        made = parts.transform(batch.select(rows.features))
        for name in beside:
            if name not in rows.features:
                made = made.append_column(name, batch[name])
        yield made


def _collected(batches: Iterator[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(batches)


def _on_disk(batches: Iterator[pa.Table], folder: Path) -> Any:
    """The rows in a file of Arrow's own format, which has all of its types."""
    import pyarrow as pa
    from pyarrow import dataset

    path = folder / "rows.arrow"
    first = next(batches)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, first.schema) as file:
        file.write_table(first)
        for batch in batches:
            file.write_table(batch)
    return dataset.dataset(path, format="ipc")
