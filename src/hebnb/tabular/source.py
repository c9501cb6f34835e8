"""The files that make up a table: found by a path or a glob, of one format."""

from __future__ import annotations

import codecs
import glob
import gzip
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from hebnb import errors
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.printable import visible

Kind: TypeAlias = Literal["csv", "tsv", "parquet", "jsonl", "xlsx", "arrow"]
KINDS: tuple[Kind, ...] = ("csv", "tsv", "parquet", "jsonl", "xlsx", "arrow")
STANDARD = "-"  # by custom, standard input or output
FLIGHTS = "@flights"  # a table that comes along, for trying things out

SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
COMPRESSED = (".gz", ".zst")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True)
class How:
    """How the user wants files to be read.

    Parameters
    ----------
    kind : {"csv", "tsv", "parquet", "jsonl", "xlsx", "arrow"}, optional
        By default the ending tells, and of standard input the first bytes.
    gaps : list of str
        What stands for a missing value in any column, besides nothing at all.
    hive : bool
        Whether folders named ``key=value`` are columns.
    delimiter : str, optional
        What separates fields; by default the first line tells.
    decimal : {".", ","}, optional
        What stands before a fraction; by default the numbers tell.
    encoding : str, optional
        Of files of text; by default UTF-8, or UTF-16 where a file begins with its mark.
    sheet : str, optional
        Of a workbook; by default the only one with data.
    skip_bad_rows : bool
        Whether lines are left out that have more or fewer fields than the header.
    """

    kind: Kind | None = None
    gaps: Sequence[str] = ()
    hive: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError(
                f"{errors.argument('delimiter')}={self.delimiter!r} must be one character, and no quotation mark.",
                "For example ; or |, and a tab as \\t.",
            )
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"{errors.argument('decimal')}={self.decimal!r} must be a point or a comma.")


@dataclass(frozen=True)
class Files:
    """Files that make up one table, and what is known of their columns.

    Parameters
    ----------
    source : str
        What the user called them.
    paths : list of Path
    kind : {"csv", "tsv", "parquet", "jsonl"}
    folder : Path
        Where copies may be put; it is removed in the end.
    how : How
    text : list of str
        Columns that are read as they stand.
    dates, numbers : dict of str to str or None
        Columns that are dates, or numbers, for certain, and their format; None if it is not known.
    used : list of str, optional
        Columns whose values matter; the others are read as they stand. By default all matter.
    notations : dict of str to str
        Columns of numbers that are text in a workbook, and the notation that is tried before that of its numbers.
    """

    source: str
    paths: list[Path]
    kind: Kind
    folder: Path
    how: How = How()
    text: Sequence[str] = ()
    dates: Mapping[str, str | None] = field(default_factory=dict)
    numbers: Mapping[str, str | None] = field(default_factory=dict)
    used: Sequence[str] | None = None
    notations: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> Any:
        """The paths as DuckDB reads them, which would take some for patterns and ~ for a home."""
        escaped = [glob.escape(str(path)) for path in self.paths]
        return [f"./{name}" if name.startswith("~") else name for name in escaped]

    def with_paths(self, paths: list[Path]) -> Files:
        """The table in other files."""
        return replace(self, paths=paths)

    def types(self, guessed: Any) -> dict[str, str | None]:
        """What columns of text seem to be, where that matters."""
        found = zip(guessed.columns, map(str, guessed.types), strict=True)
        return {name: kind if self.matters(name) else None for name, kind in found}

    def matters(self, name: str) -> bool:
        """Whether it matters what the text of a column means."""
        return name not in self.text and (self.used is None or name in self.used)

    def partitions(self) -> list[str]:
        """The columns that folders named ``key=value`` make."""
        if not self.how.hive:
            return []
        named = [[part.partition("=")[0] for part in path.parent.parts if "=" in part] for path in self.paths]
        if not named[0] or any(own != named[0] for own in named):
            raise InputError(
                f"{visible(self.source)}: not all its files are in folders named key=value, with the same keys.",
                f"Leave {errors.argument('hive')} out.",
            )
        return named[0]

    def refuse_overwritten(self, columns: Iterable[str]) -> None:
        """Complain of folders that would overwrite a column of the files, or each other."""
        taken = {name.casefold() for name in columns}
        for name in self.partitions():
            if name.casefold() in taken:
                raise InputError(
                    f"{errors.column(visible(name))} of {visible(self.source)} is in its files and in the name of a "
                    "folder, or in the names of two.",
                    f"Leave {errors.argument('hive')} out, or rename the folder.",
                )
            taken.add(name.casefold())


def found_files(source: str) -> list[Path]:
    """The files that a path or a glob means."""
    if _ADDRESS.match(source):
        raise InputError(
            f"{visible(source)!r} is an address; hebnb reads files, and fetches nothing.",
            f"Download it first: curl -O {visible(source)}",
        )
    path = Path(str(resources.files("hebnb") / "data" / "flights.csv.gz") if source == FLIGHTS else source)
    if path.is_dir():
        raise InputError(
            f"{visible(source)!r} is a folder.", "Name its files, for example with a glob such as 'folder/*.csv'."
        )
    if path.exists():
        if path.is_file() and not path.stat().st_size:
            raise InputError(f"{visible(source)!r} is empty.")
        return [path]
    if path.is_symlink():
        raise InputError(f"{visible(source)!r} is a link that leads nowhere.")
    found = sorted(Path(name) for name in glob.glob(source, recursive=True) if Path(name).is_file())
    empty = [path.name for path in found if not path.stat().st_size]
    if empty:
        raise InputError(f"{visible(empty[0])!r} is empty.", "Leave it out.")
    if not found:
        what = "No file matches" if glob.has_magic(source) else "There is no file"
        raise InputError(f"{what} {visible(source)!r}.")
    return found


def spooled(stream: IO[bytes], folder: Path) -> Path:
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


# How files begin that are no text; a workbook is a ZIP archive, and one of something else was unpacked before.
_MARKS: dict[bytes, Kind] = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK": "xlsx"}


def kind_of_content(path: Path) -> Kind:
    """The format that the first bytes of a file mean."""
    with path.open("rb") as file:
        start = file.read(4096)
    for mark, kind in _MARKS.items():
        if start.startswith(mark):
            return kind
    if start[:2] in _UTF16:
        start = start[2:].decode(_UTF16[start[:2]], "ignore").encode()
    if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith((b"{", b"[")):
        return "jsonl"
    header = start.split(b"\n")[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"


def kind_of_name(path: Path) -> Kind:
    """The format that a file's ending means."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = SUFFIXES.get(suffixes[-1] if suffixes else "")
    if kind is None:
        known = ", ".join(dict.fromkeys(SUFFIXES))
        raise InputError(
            f"{visible(str(path))!r} has an ending that is not known.",
            f"Known: {known}. Or say it with {errors.argument('format')}.",
        )
    return kind
