"""CSV and TSV files: where fields end, what lines are rows, what columns are read as."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.decisions import Decisions, Skipped
from hebnb.tabular.encodings import CHUNK, as_utf8, packed_bytes, place_of_copy, refuse_other_encodings, text_of
from hebnb.tabular.guesses import Guesses
from hebnb.tabular.source import Files
from hebnb.tabular.table import TableFile, Written, is_interrupt, reading

if TYPE_CHECKING:
    import duckdb

# Rows that types are guessed from.
_GUESSED_FROM = 100_000
# DuckDB reads lines of up to this many bytes.
_LONGEST_LINE = 2_000_000
# The first lines, from which the separator is guessed where the header has none.
_LOOKED_AT = 10


def read_separated(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    """CSV or TSV files, what their columns are read as in all rows, and what was left out."""
    import duckdb

    how = files.how
    with reading(files.source):
        copies = [files.folder / "utf-8" / str(n) for n in range(len(files.paths))]
        files = files.with_paths([as_utf8(*one, how.encoding) for one in zip(files.paths, copies, strict=True)])
        given = how.delimiter or ("\t" if files.kind == "tsv" else None)
        firsts = [first_line(path, given) for path in files.paths]
    separator, header = firsts[0]
    for path, (other, names_there) in zip(files.paths, firsts, strict=True):
        if (other != separator and len(header) > 1) or not set(names_there) & set(header):
            raise InputError(
                f"{visible(path.name)!r} does not go with {visible(files.paths[0].name)!r}: its first line has another "
                "separator, or none of the other's columns.",
                "Read files together that have the same columns.",
            )
        files.refuse_overwritten(names_there)
    skipped = Skipped()
    if how.skip_bad_rows:
        even = [_even_lines(path, files.folder / "even" / str(n), separator) for n, path in enumerate(files.paths)]
        files, skipped = files.with_paths([path for path, _ in even]), sum((own for _, own in even), skipped)
    common: dict[str, Any] = {
        "header": True,
        "sep": separator,
        "quotechar": '"',
        "escapechar": '"',
        "skiprows": 0,
        "union_by_name": True,
        "comment": "",  # a row that begins with # is a row
        "hive_partitioning": how.hive,
    }
    gaps = ["", *how.gaps]
    try:
        guessed = connection.read_csv(files.names, sample_size=_GUESSED_FROM, na_values=gaps, **common)
        guessed = guessed.project("*")  # before version 2, DuckDB knows the types of folders only in a query
        as_text: dict[str, Any] = {"all_varchar": True, "allow_quoted_nulls": False, "hive_types_autocast": False}
        text = connection.read_csv(files.names, **as_text, **common)
        types, commas = files.types(guessed), separator == ";"
        guesses = Guesses(types, files.dates, files.numbers, gaps, how.decimal, commas, files.notations)
        readings = guesses.tried(text)
    except (duckdb.Error, RuntimeError) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        if "unicode" in str(error).lower():
            refuse_other_encodings(files.paths)
        _refuse_uneven(files, separator)
        with reading(files.source):
            raise
    if len(files.paths) == 1 and len(header) + len(files.partitions()) != len(text.columns):
        _refuse_uneven(files, separator)  # some lines were taken for a preamble
    _require_all_rows(files, separator, readings.n_rows)
    nameless = [name for name, own in zip(text.columns, header, strict=False) if not own.strip()]
    decisions = Decisions(readings, skipped, how.decimal, nameless if len(files.paths) == 1 else ())
    written = Written(text, readings.of, gaps, _repeated(header))
    return TableFile(files.source, written.read(), written, readings.n_rows, readings.formats, decisions)


def _repeated(names: list[str]) -> list[str]:
    """Names that occur several times, as the first is written, which DuckDB leaves as it is; case does not count."""
    folded = [name.casefold() for name in names]
    firsts = {own: names[folded.index(own)] for own in folded if own and folded.count(own) > 1}
    return list(firsts.values())


def first_line(path: Path, separator: str | None) -> tuple[str, list[str]]:
    r"""The separator of a file, guessed from its first lines if it is not known, and the names in the first.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text('name;"legs; if any"\nRex;4\n')
    >>> first_line(path, None)
    (';', ['name', 'legs; if any'])
    """
    with text_of(path) as lines:
        line, *others = [lines.readline(_LONGEST_LINE) for _ in range(1 if separator else _LOOKED_AT)]
    separator = separator or _separator(line) or _separator("".join(others)) or ","
    with _fields_of_any_length():
        return separator, next(csv.reader([line], delimiter=separator), [])


def _separator(lines: str) -> str | None:
    """The separator that is there most often outside quotation marks; none, if none is."""
    outside = re.sub(r'"[^"]*"', "", lines)
    likeliest = max(",;\t|", key=outside.count)
    return likeliest if likeliest in outside else None


def _even_lines(path: Path, folder: Path, separator: str) -> tuple[Path, Skipped]:
    """A copy of a file without the lines that have more or fewer fields than its header, and what was left out."""
    copied, skipped = place_of_copy(path, folder), Skipped()
    with text_of(path, "surrogateescape") as file, _fields_of_any_length():
        lines = _Remembered(file)
        rows = csv.reader(lines, delimiter=separator)
        with copied.open("w", encoding="utf-8", errors="surrogateescape", newline="") as copy:
            n_fields = None
            for row in rows:
                n_fields = n_fields or len(row)
                begins = rows.line_num - len(lines.last) + 1
                if row and len(row) != n_fields:
                    where = f"line {begins} of {visible(path.name)!r} with {_fields(len(row))} instead of {n_fields}"
                    skipped += Skipped(1, where)
                else:
                    copy.writelines(lines.last)
                lines.last.clear()
    return copied, skipped


@dataclass
class _Remembered:
    """Lines, and those that were read last."""

    lines: IO[str]
    last: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.last.append(line)
            yield line


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
    with packed_bytes(path) as stream:
        while chunk := stream.read(CHUNK):
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
    with text_of(path) as lines, _fields_of_any_length():
        rows = csv.reader(lines, delimiter=separator)
        header = next(rows, [])
        one = len(header) == 1  # a blank line is a gap where there is a single column
        return 1 + sum(1 for row in rows if row or one)


def _refuse_uneven(files: Files, separator: str) -> None:
    """Name the first line that has not as many fields as the header."""
    for path in files.paths:
        with text_of(path) as file, _fields_of_any_length():
            lines = _Remembered(file)
            rows = csv.reader(lines, delimiter=separator)
            header = next(rows, [])
            lines.last.clear()
            for n, row in enumerate(rows):
                if row and len(row) != len(header):
                    begins, ends = rows.line_num - len(lines.last) + 1, rows.line_num
                    where = f"line {ends}" if begins == ends else f"the row in lines {begins} to {ends}"
                    raise InputError(
                        f"{visible(files.source)} cannot be read: {where} of {visible(path.name)!r} has "
                        f"{_fields(len(row))} and the header {len(header)}.",
                        f"A quotation mark in line {begins} may not be closed."
                        if begins != ends
                        else _remedy(len(header), row, n, f"tail -n +{ends} {visible(path.name)} | hebnb … -"),
                    )
                lines.last.clear()


def _remedy(n_names: int, row: list[str], n: int, without: str) -> str:
    """What may help against a line, the n-th below the header, that has not as many fields as it."""
    if n == 0 and len(row) == n_names + 1:
        return "The header may lack a name for row names, as R's write.table leaves it: write.csv(row.names = FALSE)."
    if n < _LOOKED_AT and n_names == 1:
        return f"The first line may be a title. If this one is the header: {without}"
    return (
        "Correct the line (a field that contains the separator needs quotation marks), or leave such lines out with "
        f"{errors.argument('skip_bad_rows')}."
    )


def _fields(number: int) -> str:
    return f"{number} field{'' if number == 1 else 's'}"


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Python's reader takes fields of up to 128 kB unless told otherwise, and can only be told for all readers."""
    usual = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(usual)
