"""Tables written batch by batch: CSV, TSV, Parquet and JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from hebnb.errors import InputError
from hebnb.foundation.printable import visible, without_nan
from hebnb.tabular.gaps import GAP_WORDS
from hebnb.tabular.numbers import ANY_NUMBER
from hebnb.tabular.source import COMPRESSED, STANDARD, SUFFIXES

if TYPE_CHECKING:
    import pyarrow as pa

# What is written, and the endings that mean it; other formats are read alone.
OutputKind: TypeAlias = Literal["csv", "tsv", "parquet", "jsonl"]
_KINDS: tuple[OutputKind, ...] = ("csv", "tsv", "parquet", "jsonl")
_ENDINGS = {ending: own for ending, kind in SUFFIXES.items() for own in _KINDS if own == kind}
_SEPARATORS = {"csv": ",", "tsv": "\t"}

# What spreadsheets take for the beginning of a formula, and what is a number all the same: in any notation, or as
# everybody writes it, which needs no quotation marks.
_FORMULA = r"\A[=+\-@\t\r\n]"
_ANY_NUMBER = rf"\A(?:{ANY_NUMBER})\z"
_NUMBER = r"\A[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\z"


def kind_of_output(target: str) -> OutputKind:
    """What to write, by the ending; to standard output, CSV."""
    if target == STANDARD:
        return "csv"
    if Path(target).suffix.lower() in COMPRESSED:
        raise InputError(
            f"{visible(target)!r}: compressed text is not written.", "A .parquet file is compressed by itself."
        )
    kind = _ENDINGS.get(Path(target).suffix.lower())
    if kind is None:
        raise InputError(
            f"{visible(target)!r} has an ending that means no format tables are written in.",
            f"Tables are written as {', '.join(_ENDINGS)}.",
        )
    return kind


@contextmanager
def table_writer(path: Path | None, kind: OutputKind) -> Iterator[Callable[[pa.Table], None]]:
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
            on_screen = stream is sys.stdout.buffer and sys.stdout.isatty()
            with _appending(lambda schema: _Separated(stream, _SEPARATORS[kind], schema, on_screen)) as write:
                yield write


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


class _Separated:
    """Writes lines of fields; text is in quotation marks, and what is a number, or looks like one, is not."""

    def __init__(self, stream: IO[bytes], separator: str, schema: pa.Schema, on_screen: bool) -> None:
        import pyarrow as pa

        self.stream, self.separator, self.on_screen = stream, separator, on_screen
        self._write([_quoted(_inert(pa.array([name]), on_screen)) for name in schema.names])

    def write_table(self, table: pa.Table) -> None:
        """Append rows."""
        if table.num_rows:
            self._write([_field(column.combine_chunks(), self.on_screen) for column in table.columns])

    def close(self) -> None:
        """Nothing is left to be done."""

    def _write(self, fields: list[Any]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        text = pa.large_string()
        fields = [field.cast(text) for field in fields]
        lines = pc.binary_join_element_wise(
            *fields, pa.scalar(self.separator, text), null_handling="replace", null_replacement=""
        )
        self.stream.write("\n".join([*lines.to_pylist(), ""]).encode())


def _has_no_text(kind: Any) -> bool:
    """Whether Arrow does not know how values of this type are written."""
    import pyarrow as pa

    is_one = pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_interval
    return any(test(kind) for test in is_one)


def _field(column: Any, on_screen: bool) -> Any:
    """A column as fields, which cannot be taken for a formula nor, on a screen, for a command of the terminal."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if _has_no_text(column.type):
        column = pa.array([None if item is None else str(item) for item in column.to_pylist()], pa.string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column.cast(pa.string())
    is_number = pc.match_substring_regex(column, _NUMBER)
    return pc.if_else(is_number, column, _quoted(_inert(column, on_screen)))


def _inert(text: Any, on_screen: bool) -> Any:
    """Text with an apostrophe before what a spreadsheet would compute, which gap words and numbers are not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if on_screen:
        text = pa.array([None if item is None else visible(item) for item in text.to_pylist()], text.type)
    is_gap = pc.is_in(pc.utf8_lower(pc.utf8_trim(text, " ")), pa.array(GAP_WORDS, text.type))
    is_harmless = pc.or_(is_gap, pc.match_substring_regex(text, _ANY_NUMBER))
    return pc.if_else(is_harmless, text, pc.replace_substring_regex(text, f"({_FORMULA})", r"'\1"))


def _quoted(text: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    mark = pa.scalar('"', text.type)
    return pc.binary_join_element_wise(mark, pc.replace_substring(text, '"', '""'), mark, pa.scalar("", text.type))


def _write_lines(stream: IO[bytes], table: pa.Table) -> None:
    rows = (json.dumps(without_nan(row), default=_in_json, allow_nan=False) for row in table.to_pylist())
    stream.writelines(f"{row}\n".encode() for row in rows)


def _in_json(value: Any) -> int | str:
    """What JSON has no type for, as text; a decimal without a fraction is an integer, however large."""
    return int(value) if isinstance(value, Decimal) and not value.as_tuple().exponent else str(value)
