"""CSV and TSV files: where fields end, what lines are rows, what columns are read as."""

from __future__ import annotations

import codecs
import csv
import io
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.readings import Guesses, Readings
from hebnb.tabular.source import Files
from hebnb.tabular.table import UTF8, Written, is_interrupt, reading

if TYPE_CHECKING:
    import duckdb

# Rows that types are guessed from.
_GUESSED_FROM = 100_000
# DuckDB reads lines of up to this many bytes.
_LONGEST_LINE = 2_000_000
# Bytes looked at together.
_CHUNK = 1 << 22


def read_separated(files: Files, connection: duckdb.DuckDBPyConnection) -> tuple[Written, Readings]:
    """CSV or TSV files as text, and what their columns are read as in all rows."""
    import duckdb

    with reading(files.source):
        copies = [files.folder / str(n) for n in range(len(files.paths))]
        files = files.with_paths(list(map(_without_mark, files.paths, copies)))
        firsts = [first_line(path, "\t" if files.kind == "tsv" else None) for path in files.paths]
    separator, header = firsts[0]
    for path, (other, names_there) in zip(files.paths, firsts, strict=True):
        if (other != separator and len(header) > 1) or not set(names_there) & set(header):
            raise InputError(
                f"{visible(path.name)!r} does not go with {visible(files.paths[0].name)!r}: its first line has another "
                "separator, or none of the other's columns.",
                "Read files together that have the same columns.",
            )
        files.refuse_overwritten(names_there)
    common: dict[str, Any] = {
        "header": True,
        "sep": separator,
        "quotechar": '"',
        "escapechar": '"',
        "skiprows": 0,
        "union_by_name": True,
        "comment": "",  # a row that begins with # is a row
        "hive_partitioning": files.hive,
    }
    gaps = ["", *([files.gap] if files.gap else [])]
    try:
        guessed = connection.read_csv(files.names, sample_size=_GUESSED_FROM, na_values=gaps, **common)
        as_text: dict[str, Any] = {"all_varchar": True, "allow_quoted_nulls": False, "hive_types_autocast": False}
        text = connection.read_csv(files.names, **as_text, **common)
        readings = Guesses(files.types(guessed), files.dates, gaps).tried(text)
    except (duckdb.Error, RuntimeError) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        if "unicode" not in str(error).lower():
            _refuse_uneven(files, separator)
        with reading(files.source):
            raise
    if len(files.paths) == 1 and len(header) + len(files.partitions()) != len(text.columns):
        _refuse_uneven(files, separator)  # some lines were taken for a preamble
    _require_all_rows(files, separator, readings.n_rows)
    return Written(text, readings.of, gaps, _repeated(header)), readings


def _repeated(names: list[str]) -> list[str]:
    """Names that occur several times, as the first is written, which DuckDB leaves as it is; case does not count."""
    folded = [name.casefold() for name in names]
    firsts = {own: names[folded.index(own)] for own in folded if own and folded.count(own) > 1}
    return list(firsts.values())


def first_line(path: Path, separator: str | None) -> tuple[str, list[str]]:
    r"""The separator of a file, guessed from its first line if it is not known, and the names in that line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text('name;"legs; if any"\nRex;4\n')
    >>> first_line(path, None)
    (';', ['name', 'legs; if any'])
    """
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise InputError(f"{visible(str(path))!r} is not UTF-8 but UTF-16.", UTF8.replace("latin1", "utf-16"))
    with _decoded(path) as lines:
        line = lines.readline(_LONGEST_LINE)
    outside = re.sub(r'"[^"]*"', "", line)
    separator = separator or max(",;\t|", key=outside.count)
    with _fields_of_any_length():
        return separator, next(csv.reader([line], delimiter=separator), [])


def _without_mark(path: Path, folder: Path) -> Path:
    """The file, or a copy without its byte-order mark, where DuckDB would take that for a part of a quoted name."""
    with _bytes(path) as stream:
        if stream.read(4) != codecs.BOM_UTF8 + b'"':
            return path
    copied = folder.joinpath(*(part for part in path.parent.parts if "=" in part), path.name)
    copied = copied.with_suffix("") if path.suffix.lower() in _PACKING else copied
    copied.parent.mkdir(parents=True)
    with _bytes(path) as stream, copied.open("wb") as copy:
        stream.read(len(codecs.BOM_UTF8))
        shutil.copyfileobj(stream, copy)
    return copied


def _require_all_rows(files: Files, separator: str, n_rows: int) -> None:
    """Complain if other rows were read than the files have, by a count that knows nothing of DuckDB."""
    if sum(_lines(path) for path in files.paths) - len(files.paths) == n_rows:
        return
    # A quotation mark within a field, or a lone carriage return at the end of a line: look closely.
    there = sum(_records(path, separator) for path in files.paths) - len(files.paths)
    if there != n_rows:
        raise InputError(
            f"{visible(files.source)} cannot be read: it has {there:,} rows, of which {n_rows:,} were understood.",
            "Quotation marks that are not closed, or that are not doubled within quotation marks, hide rows.",
        )


def _lines(path: Path) -> int:
    """The number of lines that are not blank, where line ends between quotation marks do not count."""
    found, is_inside, before = 0, np.uint8(0), ord("\n")
    with _bytes(path) as stream:
        while chunk := stream.read(_CHUNK):
            chunk = chunk.replace(b"\r", b"")
            if b'"' not in chunk and not is_inside and b"\n\n" not in chunk and before != ord("\n"):
                found, before = found + chunk.count(b"\n"), chunk[-1] if chunk else before
                continue
            own = np.frombuffer(chunk, np.uint8)
            inside = (np.cumsum(own == ord('"'), dtype=np.uint8) + is_inside) & 1
            previous = np.concatenate([np.array([before], np.uint8), own[:-1]])
            found += int(((own == ord("\n")) & (inside == 0) & (previous != ord("\n"))).sum())
            is_inside, before = inside[-1], int(own[-1])
    return found + (before != ord("\n"))


def _records(path: Path, separator: str) -> int:
    """The number of rows, the header among them, as Python's reader has it."""
    with _decoded(path) as lines, _fields_of_any_length():
        rows = csv.reader(lines, delimiter=separator)
        header = next(rows, [])
        one = len(header) == 1  # a blank line is a gap where there is a single column
        return 1 + sum(1 for row in rows if row or one)


def _refuse_uneven(files: Files, separator: str) -> None:
    """Name the first line that has not as many fields as the header."""
    for path in files.paths:
        with _decoded(path) as lines, _fields_of_any_length():
            rows = csv.reader(lines, delimiter=separator)
            header = next(rows, [])
            for row in rows:
                if row and len(row) != len(header):
                    raise InputError(
                        f"{visible(files.source)} cannot be read: line {rows.line_num} of {visible(path.name)!r} "
                        f"has {len(row)} fields and the header {len(header)}.",
                        "Correct the line; a field that contains the separator needs quotation marks.",
                    )


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Python's reader takes fields of up to 128 kB unless told otherwise, and can only be told for all readers."""
    usual = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


_PACKING = {".gz": "gzip", ".zst": "zstd"}


def _bytes(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression=_PACKING.get(path.suffix.lower()))


def _decoded(path: Path) -> IO[str]:
    return io.TextIOWrapper(_bytes(path), encoding="utf-8-sig", errors="replace", newline="")
