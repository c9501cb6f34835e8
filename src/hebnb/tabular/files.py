"""Tables in files: CSV, TSV, Parquet and JSON lines, read by DuckDB."""

from __future__ import annotations

import codecs
import csv
import glob
import gzip
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

Kind: TypeAlias = Literal["csv", "tsv", "parquet", "jsonl"]
KINDS: tuple[Kind, ...] = ("csv", "tsv", "parquet", "jsonl")
STANDARD = "-"  # by custom, standard input or output
FLIGHTS = "@flights"  # a table that comes along, for trying things out

_SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
COMPRESSED = (".gz", ".zst")
# Rows read, scored and written at a time.
BATCH_ROWS = 1 << 16
_REMEDY = "Convert it to UTF-8, for example with iconv -f latin1 -t utf-8."
# Rows of a CSV file that types are guessed from.
_GUESSED_FROM = 100_000


@dataclass(frozen=True)
class TableFile:
    """A table whose rows are in files, as a query that has not run.

    Parameters
    ----------
    source : str
        What the user called it.
    relation : DuckDB relation
    counted : int, optional
        The number of rows, where it is known already.
    """

    source: str
    relation: duckdb.DuckDBPyRelation
    counted: int | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.relation.columns)

    def require(self, names: Iterable[str], option: str) -> None:
        """Complain of a name that is no column's, and offer the nearest."""
        for name in names:
            if name not in self.columns:
                raise errors.unknown_name(option, name, self.columns)

    def where(self, condition: str) -> TableFile:
        """The rows that meet a condition."""
        return replace(self, relation=self.relation.filter(condition), counted=None)

    def select(self, names: Sequence[str]) -> TableFile:
        """Some of the columns."""
        return replace(self, relation=self.relation.project(", ".join(map(quoted, names))))

    def as_in_print(self, names: Iterable[str]) -> TableFile:
        """The table with these columns such that values which are equal in print are equal, whatever file they are in.

        Decimals and single floats become the doubles that their digits mean, and times lose their nanoseconds.
        """
        chosen, digits = set(names), "CAST(CAST({} AS VARCHAR) AS DOUBLE)"
        casts = {
            "DECIMAL": digits,
            "FLOAT": digits,
            "TIMESTAMP_NS": "CAST({} AS TIMESTAMP)",
            "TIME_NS": "CAST({} AS TIME)",
        }
        made = []
        for name, kind in zip(self.columns, map(str, self.relation.types), strict=True):
            cast = casts.get(kind.partition("(")[0]) if name in chosen else None
            made.append(f"{cast.format(quoted(name))} AS {quoted(name)}" if cast else quoted(name))
        return replace(self, relation=self.relation.project(", ".join(made)))

    def slice(self, start: int, rows: int) -> pa.Table:
        """Some rows, by number from 0."""
        with reading(self.source):
            return self.relation.limit(rows, start).to_arrow_table()

    def sample(self, rows: int, seed: int) -> TableFile:
        """A random sample of that many rows."""
        query = f"SELECT * FROM hebnb_rows USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE ({int(seed)})"
        relation: Any = self.relation.query("hebnb_rows", query)
        return replace(self, relation=relation, counted=None)

    def n_rows(self) -> int:
        """The number of rows; reads the files once, if it is not known."""
        if self.counted is not None:
            return self.counted
        (rows,) = self.values("count(*)")
        return int(rows)

    def values(self, expressions: str) -> tuple[Any, ...]:
        """What aggregations give."""
        with reading(self.source):
            (found,) = self.relation.aggregate(expressions).fetchall()
        return tuple(found)

    def collect(self) -> pa.Table:
        """All rows, in memory."""
        with reading(self.source):
            return self.relation.to_arrow_table()

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.Table]:
        """All rows, some at a time, in their order."""
        import pyarrow as pa

        with reading(self.source):
            make = getattr(self.relation, "to_arrow_reader", None) or self.relation.fetch_record_batch
            for batch in make(rows):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch])


@contextmanager
def open_table(
    source: str, *, kind: Kind | None = None, text: Sequence[str] = (), gap: str | None = None
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
        paths = [_spooled(sys.stdin.buffer, Path(folder))] if source == STANDARD else _files(source)
        kinds = {kind or (_kind_of_content(path) if source == STANDARD else kind_of_name(path)) for path in paths}
        if len(kinds) > 1:
            raise InputError(f"{visible(source)} has files of several formats: {', '.join(sorted(kinds))}.")
        (found,) = kinds
        name = "standard input" if source == STANDARD else source
        table = _opened(_Files(name, paths, found, gap), connection, tuple(text))
        if not table.columns:
            raise InputError(f"{visible(name)} has no columns.")
        yield table


@dataclass(frozen=True)
class _Files:
    """Files that make up one table."""

    source: str
    paths: list[Path]
    kind: Kind
    gap: str | None


def _opened(files: _Files, connection: duckdb.DuckDBPyConnection, text: Sequence[str]) -> TableFile:
    names: Any = [glob.escape(str(path)) for path in files.paths]  # DuckDB would take them for patterns
    counted = None
    if files.kind in ("csv", "tsv"):
        relation, counted = _separated(files, names, connection, text)
    else:
        with reading(files.source):
            if files.kind == "parquet":
                relation = connection.read_parquet(names, union_by_name=True, hive_partitioning=False)
            else:
                relation = connection.read_json(names, union_by_name=True, hive_partitioning=False)
    return TableFile(files.source, relation, counted)


def _separated(
    files: _Files, names: Any, connection: duckdb.DuckDBPyConnection, text: Sequence[str]
) -> tuple[Any, int]:
    """A CSV or TSV file with types that hold for all its rows, and their number.

    They are guessed from the first rows and tried on all; only where they break are they guessed from all, which is
    several times slower.
    """
    import duckdb

    with reading(files.source):
        firsts = [first_line(path, "\t" if files.kind == "tsv" else None) for path in files.paths]
    separator, header = firsts[0]
    for path, (other, names_there) in zip(files.paths, firsts, strict=True):
        if (other != separator and len(header) > 1) or not set(names_there) & set(header):
            raise InputError(
                f"{path.name!r} does not go with {files.paths[0].name!r}: its first line has another separator, or "
                "none of the other's columns.",
                "Read files together that have the same columns.",
            )
    for rows in (_GUESSED_FROM, -1):
        try:
            # Types are guessed when the file is opened, and tried by an aggregation over all rows.
            relation = connection.read_csv(
                names,
                header=True,
                sep=separator,
                quotechar='"',
                escapechar='"',
                skiprows=0,
                dtype={name: "VARCHAR" for name in text if name in header},
                na_values=None if files.gap is None else ["", files.gap],
                sample_size=rows,
                union_by_name=True,
                comment="",  # a row that begins with # is a row
                hive_partitioning=False,
            )
            counts = ", ".join(["count(*)", *(f"count({quoted(name)})" for name in relation.columns)])
            (counted,) = relation.aggregate(counts).fetchall()
        except (duckdb.Error, RuntimeError) as error:
            if _is_interrupt(error):
                raise KeyboardInterrupt from error
            if rows == -1:
                if "unicode" not in str(error).lower():
                    _refuse_uneven(files, separator)
                with reading(files.source):
                    raise
        else:
            break
    if len(files.paths) == 1 and len(header) != len(relation.columns):
        _refuse_uneven(files, separator)  # some lines were taken for a preamble
    return relation, int(counted[0])


def first_line(path: Path, separator: str | None) -> tuple[str, list[str]]:
    r"""The separator of a file, guessed from its first line if it is not known, and the names in that line.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "pets.csv"
    >>> _ = path.write_text('name;"legs; if any"\nRex;4\n')
    >>> first_line(path, None)
    (';', ['name', 'legs; if any'])
    """
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise InputError(f"{str(path)!r} is not UTF-8 but UTF-16.", _REMEDY.replace("latin1", "utf-16"))
    with _decoded(path) as lines:
        line = lines.readline(1 << 20)
    outside = re.sub(r'"[^"]*"', "", line)
    separator = separator or max(",;\t|", key=outside.count)
    return separator, next(csv.reader([line], delimiter=separator), [])


def _refuse_uneven(files: _Files, separator: str) -> None:
    """Name the first line that has not as many fields as the header."""
    for path in files.paths:
        with _decoded(path) as lines:
            rows = csv.reader(lines, delimiter=separator)
            with suppress(csv.Error):
                header = next(rows, [])
                for row in rows:
                    if row and len(row) != len(header):
                        raise InputError(
                            f"{visible(files.source)} cannot be read: line {rows.line_num} of {str(path.name)!r} has "
                            f"{len(row)} fields and the header {len(header)}.",
                            "Correct the line; a field that contains the separator needs quotation marks.",
                        )


def _decoded(path: Path) -> IO[str]:
    import pyarrow as pa

    packing = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower())
    stream: Any = pa.input_stream(str(path), compression=packing)
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")


def _files(source: str) -> list[Path]:
    """The files that a path or a glob means."""
    path = Path(str(resources.files("hebnb") / "data" / "flights.csv.gz") if source == FLIGHTS else source)
    if path.is_dir():
        raise InputError(f"{source!r} is a folder.", "Name its files, for example with a glob such as 'folder/*.csv'.")
    if path.exists():
        if path.is_file() and not path.stat().st_size:
            raise InputError(f"{source!r} is empty.")
        return [path]
    found = sorted(Path(name) for name in glob.glob(source, recursive=True) if Path(name).is_file())
    empty = [path.name for path in found if not path.stat().st_size]
    if empty:
        raise InputError(f"{visible(empty[0])!r} is empty.", "Leave it out.")
    if not found:
        what = "No file matches" if glob.has_magic(source) else "There is no file"
        raise InputError(f"{what} {source!r}.")
    return found


def _spooled(stream: IO[bytes], folder: Path) -> Path:
    """Standard input in a file: formats with an index need to be read from both ends."""
    path, packed = folder / "standard-input", folder / "packed"
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    if is_packed:
        path.rename(packed)
        with gzip.open(packed) as unpacked, path.open("wb") as copy:
            shutil.copyfileobj(unpacked, copy)
    if not path.stat().st_size:
        raise InputError("Standard input is empty.", "Pipe a table into it, or name a file.")
    return path


def _kind_of_content(path: Path) -> Kind:
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[")):
        return "jsonl"
    header = start.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"


def kind_of_name(path: Path) -> Kind:
    """The format that a file's ending means."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1] if suffixes else "")
    if kind is None:
        known = ", ".join(dict.fromkeys(_SUFFIXES))
        raise InputError(
            f"{str(path)!r} has an ending that is not known.",
            f"Known: {known}. Or say it with {errors.argument('format')}.",
        )
    return kind


@contextmanager
def reading(source: str) -> Iterator[None]:
    """What DuckDB complains of, in one line and with the table's name."""
    import duckdb

    try:
        yield
    except OSError as error:
        raise InputError(f"{visible(source)} cannot be read: {error.strerror or error}.") from error
    except (duckdb.Error, RuntimeError, UnicodeDecodeError) as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        if not isinstance(error, duckdb.Error | UnicodeDecodeError):
            raise
        raise InputError(
            f"{visible(source)} cannot be read. {_reason(str(error))}",
            _REMEDY if "unicode" in str(error).lower() else None,
        ) from error


def _is_interrupt(error: Exception) -> bool:
    """Whether this is Ctrl-C, as DuckDB tells it."""
    import duckdb

    return isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted"


def _reason(said: str) -> str:
    """What DuckDB says in many lines, in two: where, and what."""
    lines = [line.strip() for line in said.strip().split("\n")]
    where, *others = [line for line in lines if line and not line.startswith("Original Line")]
    what = next((line for line in others if not line.startswith(("Possible", "*"))), "")
    return visible(f"{where}. {what}".removesuffix(". "), 300)


def quoted(name: str) -> str:
    """A column's name in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'
