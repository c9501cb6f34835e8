"""Tables in files: CSV, TSV, Parquet and JSON lines, read by DuckDB."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.readings import Guesses, Readings
from hebnb.tabular.separated import read_separated
from hebnb.tabular.source import STANDARD, Files, Kind, found_files, kind_of_content, kind_of_name, spooled
from hebnb.tabular.table import TableFile, Written, reading

if TYPE_CHECKING:
    import duckdb


@contextmanager
def open_table(
    source: str,
    *,
    kind: Kind | None = None,
    text: Sequence[str] = (),
    gap: str | None = None,
    hive: bool = False,
    dates: Mapping[str, str | None] | None = None,
    used: Sequence[str] | None = None,
) -> Iterator[TableFile]:
    r"""Open a file, a glob of files, or standard input.

    Parameters
    ----------
    source : str
        A path, a glob such as ``"part-*.csv"``, ``"-"``, or ``"@flights"``, which comes with the package.
    kind : {"csv", "tsv", "parquet", "jsonl"}, optional
        By default the ending tells, and of standard input the first bytes.
    text : list of str
        Columns of a CSV or TSV file, if it has them, that are to be read as they stand, so that ``007`` is not the
        number 7.
    gap : str, optional
        What stands for a missing value in a CSV or TSV file, besides nothing at all.
    hive : bool
        Whether folders named ``key=value`` are columns.
    dates : dict of str to str or None, optional
        Columns that are dates for certain, and how they are written; None if that is not known. A file in which they
        are written otherwise is refused.
    used : list of str, optional
        Columns whose values matter; other text is read as it stands. By default all matter.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text("name,legs\nRex,4\nTweety,2\n")
    >>> with open_table(str(path)) as table:
    ...     table.columns, table.n_rows(), table.slice(1, 1).to_pylist()
    (['name', 'legs'], 2, [{'name': 'Tweety', 'legs': 2}])
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="hebnb-") as folder, duckdb.connect() as connection:
        # Nothing is fetched from elsewhere: what DuckDB needs for these formats it has.
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET autoload_known_extensions = false")
        paths = [spooled(sys.stdin.buffer, Path(folder))] if source == STANDARD else found_files(source)
        kinds = {kind or (kind_of_content(path) if source == STANDARD else kind_of_name(path)) for path in paths}
        if len(kinds) > 1:
            raise InputError(f"{visible(source)} has files of several formats: {', '.join(sorted(kinds))}.")
        (found,) = kinds
        name = "standard input" if source == STANDARD else source
        files = Files(name, paths, found, Path(folder), gap, hive, tuple(text), dates or {}, used)
        table = _opened(files, connection)
        if not table.columns:
            raise InputError(f"{visible(name)} has no columns.")
        yield replace(table, inputs=_inputs(source, paths))


def _inputs(source: str, paths: list[Path]) -> list[os.stat_result]:
    """What is read; of standard input, what was redirected to it."""
    if source != STANDARD:
        return [path.stat() for path in paths]
    try:
        return [os.fstat(sys.stdin.fileno())]
    except (OSError, ValueError):
        return []


def _opened(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    if files.kind == "parquet":
        return _parquet(files, connection)
    written, readings = (read_separated if files.kind in ("csv", "tsv") else _read_json)(files, connection)
    return TableFile(files.source, written.read(), written, readings.n_rows, readings.dates, readings.unsure)


def _parquet(files: Files, connection: duckdb.DuckDBPyConnection) -> TableFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with reading(files.source):
        relation = connection.read_parquet(files.names, union_by_name=True, hive_partitioning=files.hive)
        types = {own.name: own.type for own in pq.read_schema(files.paths[0])}
    files.refuse_overwritten(types)
    zones = {name: kind for name, kind in types.items() if pa.types.is_timestamp(kind) and kind.tz}
    return TableFile(files.source, relation, Written(relation, {}, ()), zones=zones)


# What DuckDB takes strings in JSON for.
_STRINGS = ("VARCHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID")


def _read_json(files: Files, connection: duckdb.DuckDBPyConnection) -> tuple[Written, Readings]:
    """JSON lines; what is a string there is text, and read as the text of a CSV file is."""
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
        text = connection.read_json(files.names, columns=columns, union_by_name=True, hive_partitioning=files.hive)
        types = {name: kind for name, kind in files.types(guessed).items() if name in strings}
        readings = Guesses(types, files.dates, gaps=()).tried(text)
    return Written(text, readings.of, ()), readings
