"""ZIP archives: a table inside, unpacked no further than is honest."""

from __future__ import annotations

import fnmatch
import glob
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hebnb.errors import InputError
from hebnb.foundation.memory import honest_bytes
from hebnb.foundation.printable import visible

_ENDING = ".zip"


def inside_archive(source: str) -> tuple[Path, str] | None:
    """An archive and what is meant in it, if that is how a source reads: ``sales.zip``, or ``sales.zip/2024-*.csv``."""
    for path in (Path(source), *Path(source).parents):
        if path.suffix.lower() == _ENDING and path.is_file():
            return path, source[len(str(path)) :].strip("/\\") or "*"
    return None


def unpacked(archive: Path, wanted: str, folder: Path) -> list[Path]:
    """The tables in an archive that are meant, as files in a folder."""
    with open_archive(archive) as opened:
        members = [own for own in opened.infolist() if _is_table(own)]
        names = [own.filename for own in members]
        chosen = [own for own in members if wanted in ("*", own.filename) or fnmatch.fnmatch(own.filename, wanted)]
        shown = ", ".join(repr(visible(name, 60)) for name in names[:20]) or "nothing"
        if not chosen:
            raise InputError(f"{visible(str(archive))!r} has no {visible(wanted)!r}; it has {shown}.")
        if len(chosen) > 1 and not (glob.has_magic(wanted) and wanted != "*"):
            raise InputError(
                f"{visible(str(archive))!r} has {len(chosen)} files: {shown}.",
                f"Name one, as {visible(str(archive / names[0]), 200)!r}, or several of one table with a glob.",
            )
        require_honest(archive, chosen)
        made = []
        for n, own in enumerate(chosen):
            path = folder / "unpacked" / str(n) / Path(own.filename).name
            path.parent.mkdir(parents=True)
            with opened.open(own) as packed, path.open("wb") as copy:
                shutil.copyfileobj(packed, copy)
            if not path.stat().st_size:
                raise InputError(f"{visible(own.filename)!r} in {visible(str(archive))!r} is empty.")
            made.append(path)
        return made


def _is_table(member: zipfile.ZipInfo) -> bool:
    """Whether this may be a table, and not a folder or what some systems put beside files."""
    path = Path(member.filename)
    return not member.is_dir() and not path.name.startswith(".") and path.parts[0] != "__MACOSX"


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive; what is wrong with it is an error that names it."""
    try:
        with zipfile.ZipFile(path) as opened:
            yield opened
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise InputError(f"{visible(str(path))!r} cannot be unpacked: {visible(str(error), 200)}.") from error


def require_honest(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Complain of an archive that would become much more than it is; no member gives more than it declares."""
    declared, allowed = sum(own.file_size for own in members), honest_bytes(path.stat().st_size)
    if declared > allowed:
        raise InputError(
            f"{visible(str(path))!r} would be {declared / 1e6:,.0f} MB unpacked, and an archive of "
            f"{path.stat().st_size / 1e6:,.1f} MB is allowed {allowed / 1e6:,.0f} MB.",
            "If you trust it, unpack it yourself and name the file.",
        )
