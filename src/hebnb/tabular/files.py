"""Tables in files: CSV, TSV, Parquet, JSON lines, Excel and Arrow, read by DuckDB."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.archives import inside_archive, unpacked
from hebnb.tabular.arrow_files import as_parquet
from hebnb.tabular.dates import ISO
from hebnb.tabular.decisions import Decisions
from hebnb.tabular.encodings import require_encoding
from hebnb.tabular.guesses import Guesses
from hebnb.tabular.numbers import Notation
from hebnb.tabular.readings import TEXT
from hebnb.tabular.separated import read_separated
from hebnb.tabular.source import STANDARD, Files, How, Kind, found_files, kind_of_content, kind_of_name, spooled
from hebnb.tabular.sql import quoted
from hebnb.tabular.table import TableFile, Written, reading
from hebnb.tabular.workbooks import as_text, is_workbook

if TYPE_CHECKING:
    import duckdb


@contextmanager
def open_table(
    source: str,
    *,
    text: Sequence[str] = (),
    dates: Mapping[str, str | None] | None = None,
    numbers: Mapping[str, str | None] | None = None,
    used: Sequence[str] | None = None,
    **how: Any,
) -> Iterator[TableFile]:
    r"""Open a file, a glob of files, or standard input.

    Parameters
    ----------
    source : str
        A path, a glob such as ``"part-*.csv"``, ``"-"``, or ``"@flights"``, which comes with the package. Of a ZIP
        archive the only file in it, or what a path or a glob in it says: ``"parts.zip/2024-*.csv"``.
    text : list of str
        Columns of files of text, if they have them, that are to be read as they stand, so that ``007`` is not the
        number 7.
    dates, numbers : dict of str to str or None, optional
        Columns that are dates, or numbers, for certain, and how they are written; None if that is not known. A file in
        which they are written otherwise is refused.
    used : list of str, optional
        Columns whose values matter; other text is read as it stands. By default all matter.
    **how
        How the files are to be read, as `How` has it.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name;legs;kg\nRex;4;12,5\nTweety;2;NA\n")
    >>> with open_table(str(path)) as table:
    ...     table.columns, table.n_rows(), table.slice(1, 1).to_pylist()
    ...     table.decisions.told(table.columns)
    (['name', 'legs', 'kg'], 2, [{'name': 'Tweety', 'legs': 2, 'kg': None}])
    ["Column 'kg': numbers with a decimal comma; 1 gap written as NA."]
    """
    import duckdb

    wanted = How(**how)
    require_encoding(wanted.encoding)
    with tempfile.TemporaryDirectory(prefix="hebnb-") as folder, duckdb.connect() as connection:
        # Nothing is fetched from elsewhere: what DuckDB needs for these formats it has.
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET autoload_known_extensions = false")
        inputs, paths = _found(source, Path(folder))
        kinds = {wanted.kind or (kind_of_content if source == STANDARD else kind_of_name)(path) for path in paths}
        if len(kinds) > 1:
            raise InputError(f"{visible(source)} has files of several formats: {', '.join(sorted(kinds))}.")
        (kind,) = kinds
        name = "standard input" if source == STANDARD else source
        files = Files(name, paths, kind, Path(folder), wanted, tuple(text), dates or {}, numbers or {}, used)
        table = _READERS[kind](files, connection)
        if not table.columns:
            raise InputError(f"{visible(name)} has no columns.")
        yield replace(table, inputs=_inputs(source, inputs))


def _found(source: str, folder: Path) -> tuple[list[Path], list[Path]]:
    """The files that a source means, and where their tables are: of an archive, unpacked in a folder."""
    if source == STANDARD:
        paths = [spooled(sys.stdin.buffer, folder)]
        is_archive = zipfile.is_zipfile(paths[0]) and not is_workbook(paths[0])
        return paths, unpacked(paths[0], "*", folder) if is_archive else paths
    archive = inside_archive(source)
    if archive is not None:
        return [archive[0]], unpacked(*archive, folder)
    paths = found_files(source)
    return paths, paths


def _inputs(source: str, paths: list[Path]) -> list[os.stat_result]:
    """What is read; of standard input, what was redirected to it."""
    if source != STANDARD:
        return [path.stat() for path in paths]
    try:
        return [os.fstat(sys.stdin.fileno())]
    except (OSError, ValueError):
        return []


def _workbook(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    """A sheet of every workbook; its dates have no format, and text in it is no number."""
    sheets = [as_text(path, files.folder / "sheets" / str(n), files.how.sheet) for n, path in enumerate(files.paths)]
    only_text = set.intersection(*(own.texts for own in sheets))
    texts = only_text.union(*(own.codes for own in sheets)) - {*files.numbers, *files.dates}
    real = set.intersection(*(own.dates for own in sheets)) - only_text
    dates = {name: ISO if name in real else form for name, form in files.dates.items()}
    notations = {name: form for name in only_text & set(files.numbers) if (form := _notation(files, name)) is not None}
    how = replace(files.how, encoding=None, delimiter=",", decimal=".", skip_bad_rows=False)
    same = replace(files, paths=[own.path for own in sheets], text=[*files.text, *texts], dates=dates, how=how)
    return replace(read_separated(replace(same, notations=notations), connection), formats={})


def _notation(files: Files, name: str) -> str | None:
    """How numbers are written in a column of text: as the user says, or else as a model learned."""
    learned = files.numbers[name]
    if files.how.decimal is None:
        return learned
    return Notation(files.how.decimal, Notation.named(learned).sign if learned else "").name


def _arrow(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    copies = [as_parquet(path, files.folder / "parquet" / str(n)) for n, path in enumerate(files.paths)]
    return _parquet(files.with_paths(copies), connection)


def _parquet(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    gaps = files.how.gaps
    with reading(files.source):
        relation = connection.read_parquet(files.names, union_by_name=True, hive_partitioning=files.how.hive)
        types = {own.name: own.type for own in pq.read_schema(files.paths[0])}
    files.refuse_overwritten(types)
    zones = {name: kind for name, kind in types.items() if pa.types.is_timestamp(kind) and kind.tz}
    texts = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "VARCHAR"]
    written = Written(relation, dict.fromkeys(texts if gaps else (), TEXT), gaps)
    return TableFile(files.source, written.read(), written, zones=zones)


# Rows in which something is looked for that will be tried on all of them, and what is looked for.
_LOOKED_AT, _TIME = 1_000, re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
# What DuckDB takes strings in JSON for.
_STRINGS = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")


def _json_lines(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    """JSON lines; what is a string there is text, and read as the text of a CSV file is, if it is no number."""
    gaps, hive = files.how.gaps, files.how.hive
    with reading(files.source):
        guessed = connection.read_json(files.names, union_by_name=True, hive_partitioning=False)
        files.refuse_overwritten(guessed.columns)
        strings = [
            name for name, kind in zip(guessed.columns, map(str, guessed.types), strict=True) if kind in _STRINGS
        ]
        columns = {
            name: "VARCHAR" if name in strings else str(kind)
            for name, kind in zip(guessed.columns, guessed.types, strict=True)
        }
        text = connection.read_json(files.names, columns=columns, union_by_name=True, hive_partitioning=hive)
        types = {name: kind for name, kind in files.types(guessed).items() if name in strings}
        words = [name for name, kind in types.items() if kind == "VARCHAR" and files.matters(name)]
        types |= _times_among(words, text)
        text_or_dates = {
            name: None if kind == "VARCHAR" and name not in {*files.dates, *files.numbers} else kind
            for name, kind in types.items()
        }
        readings = Guesses(text_or_dates, files.dates, files.numbers, gaps, files.how.decimal).tried(text)
    written = Written(text, readings.of, gaps)
    return TableFile(files.source, written.read(), written, readings.n_rows, readings.formats, Decisions(readings))


def _times_among(names: list[str], text: duckdb.DuckDBPyRelation) -> dict[str, str]:
    """Columns of strings that seem to be times; before version 2, DuckDB overlooks those with a T in them."""
    if not names:
        return {}
    firsts = ", ".join(f"any_value({quoted(name)})" for name in names)
    (values,) = text.limit(_LOOKED_AT).aggregate(firsts).fetchall()
    return {name: "TIMESTAMP" for name, value in zip(names, values, strict=True) if _TIME.match(value or "")}


_READERS: dict[Kind, Callable[[Files, duckdb.DuckDBPyConnection], TableFile]] = {
    "csv": read_separated,
    "tsv": read_separated,
    "parquet": _parquet,
    "jsonl": _json_lines,
    "xlsx": _workbook,
    "arrow": _arrow,
}
