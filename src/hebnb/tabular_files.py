"""Tables in files: CSV, TSV, Parquet and JSON lines, read by DuckDB."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from hebnb import errors
from hebnb.errors import InputError
from hebnb.printable import visible

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
    reopen : function of names to TableFile
        The same table with these columns read as text, as they stand in the file.
    """

    source: str
    relation: duckdb.DuckDBPyRelation
    reopen: Callable[[Sequence[str]], TableFile]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.relation.columns)

    def is_text(self, column: str) -> bool:
        """Whether the column is read as text."""
        return str(self.relation.types[self.columns.index(column)]) == "VARCHAR"

    def require(self, names: Iterable[str], option: str) -> None:
        """Complain of a name that is no column's, and offer the nearest."""
        for name in names:
            if name not in self.columns:
                raise errors.unknown_name(option, name, self.columns)

    def where(self, condition: str) -> TableFile:
        """The rows that meet a condition."""
        return replace(self, relation=self.relation.filter(condition))

    def select(self, names: Sequence[str]) -> TableFile:
        """Some of the columns."""
        return replace(self, relation=self.relation.project(", ".join(map(quoted, names))))

    def slice(self, start: int, rows: int) -> pa.Table:
        """Some rows, by number from 0."""
        with _reading(self.source):
            return self.relation.limit(rows, start).to_arrow_table()

    def sample(self, rows: int, seed: int) -> TableFile:
        """A random sample of that many rows."""
        query = f"SELECT * FROM hebnb_rows USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE ({int(seed)})"
        relation: Any = self.relation.query("hebnb_rows", query)
        return replace(self, relation=relation)

    def n_rows(self) -> int:
        """The number of rows; reads the files once."""
        (rows,) = self.values("count(*)")
        return int(rows)

    def values(self, expressions: str) -> tuple[Any, ...]:
        """What aggregations give."""
        with _reading(self.source):
            (found,) = self.relation.aggregate(expressions).fetchall()
        return tuple(found)

    def collect(self) -> pa.Table:
        """All rows, in memory."""
        with _reading(self.source):
            return self.relation.to_arrow_table()

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.Table]:
        """All rows, some at a time, in their order."""
        import pyarrow as pa

        with _reading(self.source):
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
        Columns of a CSV or TSV file that are to be read as they stand, so that ``007`` is not the number 7.
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
        found = kind or (_kind_of_content(paths[0]) if source == STANDARD else kind_of_name(paths[0]))
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
    with _reading(files.source):
        if files.kind == "parquet":
            relation = connection.read_parquet(names, union_by_name=True)
        elif files.kind == "jsonl":
            relation = connection.read_json(names, format="newline_delimited", union_by_name=True)
        else:
            relation = _separated(files, names, connection, text)

    def reopen(more: Sequence[str]) -> TableFile:
        if files.kind not in ("csv", "tsv") or not more:
            return table
        return _opened(files, connection, (*text, *more))

    table = TableFile(files.source, relation, reopen)
    return table


def _separated(files: _Files, names: Any, connection: duckdb.DuckDBPyConnection, text: Sequence[str]) -> Any:
    """A CSV or TSV file with types that hold for all its rows.

    They are guessed from the first rows and tried on all; only where they break are they guessed from all, which is
    several times slower.
    """
    import duckdb

    for rows in (_GUESSED_FROM, -1):
        relation = connection.read_csv(
            names,
            header=True,
            sep="\t" if files.kind == "tsv" else None,
            dtype=dict.fromkeys(text, "VARCHAR"),
            na_values=None if files.gap is None else ["", files.gap],
            sample_size=rows,
            union_by_name=True,
        )
        try:
            relation.aggregate(", ".join(f"count({quoted(name)})" for name in relation.columns)).fetchall()
        except duckdb.Error:
            if rows == -1:
                raise
        else:
            break
    return relation


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
    if not found:
        what = "No file matches" if glob.has_magic(source) else "There is no file"
        raise InputError(f"{what} {source!r}.")
    return found


def _spooled(stream: IO[bytes], folder: Path) -> Path:
    """Standard input in a file: formats with an index need to be read from both ends."""
    path = folder / "standard-input"
    with path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    if not path.stat().st_size:
        raise InputError("Standard input is empty.", "Pipe a table into it, or name a file.")
    return path


def _kind_of_content(path: Path) -> Kind:
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.lstrip().startswith(b"{"):
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
        raise InputError(f"{str(path)!r} has an ending that is not known.", f"Known: {known}. Or say it with --format.")
    return kind


@contextmanager
def _reading(source: str) -> Iterator[None]:
    """What DuckDB complains of, in one line and with the table's name."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except (duckdb.Error, UnicodeDecodeError) as error:
        said = str(error).strip().split("\n")[0]
        raise InputError(f"{visible(source)} cannot be read. {visible(said, 300)}") from error


def quoted(name: str) -> str:
    """A column's name in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'
