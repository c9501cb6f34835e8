"""Tables written batch by batch: CSV, TSV, Parquet and JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from hebnb.errors import InputError
from hebnb.foundation.printable import visible, without_nan
from hebnb.tabular.files import COMPRESSED, STANDARD, Kind, kind_of_name

if TYPE_CHECKING:
    import pyarrow as pa

# What spreadsheets take for the beginning of a formula.
_FORMULA = r"\A[=+\-@\t\r\n]"


def kind_of_output(target: str) -> Kind:
    """What to write, by the ending; to standard output, CSV."""
    if target == STANDARD:
        return "csv"
    if Path(target).suffix.lower() in COMPRESSED:
        raise InputError(f"{target!r}: compressed text is not written.", "A .parquet file is compressed by itself.")
    return kind_of_name(Path(target))


@contextmanager
def table_writer(path: Path | None, kind: Kind) -> Iterator[Callable[[pa.Table], None]]:
    """A function that appends a table to a file, or to standard output.

    Text in CSV and TSV that a spreadsheet would take for a formula gets an apostrophe before it; Parquet and JSON lines
    hold values as they are.
    """
    if kind == "parquet":
        if path is None:
            raise InputError("Parquet is not written to standard output.", "Name a file with -o.")
        import pyarrow.parquet as pq

        with _appending(lambda schema: pq.ParquetWriter(path, schema)) as write:
            yield write
        return
    with _text_stream(path) as stream:
        if kind == "jsonl":
            yield lambda table: _write_lines(stream, table)
        else:
            from pyarrow import csv

            separated = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
            on_screen = stream is sys.stdout.buffer and sys.stdout.isatty()
            with _appending(lambda schema: csv.CSVWriter(stream, schema, write_options=separated)) as write:
                yield lambda table: write(_without_formulas(table, on_screen))


@contextmanager
def _text_stream(path: Path | None) -> Iterator[IO[bytes]]:
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.flush()
    else:
        with path.open("wb") as stream:
            yield stream


@contextmanager
def _appending(open_writer: Callable[[Any], Any]) -> Iterator[Callable[[pa.Table], None]]:
    """A function that writes tables one after the other, by a writer that is opened for the columns of the first."""
    writer: Any = None

    def write(table: pa.Table) -> None:
        nonlocal writer
        writer = writer or open_writer(table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _without_formulas(table: pa.Table, on_screen: bool) -> pa.Table:
    """The table with text that cannot be taken for a formula, nor, on a screen, for a command of the terminal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)  # noqa: PLW2901
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            text = column.cast(pa.large_string())
            if on_screen:
                text = pa.array([None if item is None else visible(item) for item in text.to_pylist()])
            columns.append(pc.replace_substring_regex(text, f"({_FORMULA})", r"'\1"))
        elif pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
            columns.append(pa.array([None if item is None else str(item) for item in column.to_pylist()], pa.string()))
        else:
            columns.append(column)
    names = [f"'{name}" if name[:1] in "=+-@\t\r\n" and name else name for name in table.column_names]
    return pa.table(columns, names=[visible(name) for name in names] if on_screen else names)


def _write_lines(stream: IO[bytes], table: pa.Table) -> None:
    rows = (json.dumps(without_nan(row), default=str, allow_nan=False) for row in table.to_pylist())
    stream.writelines(f"{row}\n".encode() for row in rows)
