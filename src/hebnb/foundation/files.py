"""Writing files whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hebnb import errors
from hebnb.errors import InputError

# What new files are not allowed to be. It can only be read by setting it, so once, before there are threads.
_UMASK = os.umask(0o077)
os.umask(_UMASK)


@contextmanager
def written_whole(target: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """A path to write to, beside the target, which takes its place only when all went well.

    Whatever happens before that (a full disk, an exception, Ctrl-C), the target stays as it was and the partial file is
    removed.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "notes.txt") as path:
    ...     _ = path.write_text("done")
    >>> [file.name for file in folder.iterdir()]
    ['notes.txt']
    """
    target = Path(target).resolve()  # a link keeps pointing to what is written
    refuse_existing(target, overwrite=overwrite)
    if _is_special(target):
        yield target
        return
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.", suffix=target.suffix)
    except OSError as error:
        raise cannot_write(target, error) from error
    os.close(handle)
    partial = Path(name)
    try:
        # mkstemp makes files for their owner alone; a file that is replaced keeps its permissions.
        partial.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_UMASK)
        yield partial
        partial.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def refuse_existing(target: Path, *, overwrite: bool) -> None:
    """Complain before any work is done if there is something that may not be replaced."""
    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder.", "Name a file in it.")
    if target.exists() and not overwrite and not _is_special(target):
        raise InputError(f"{str(target)!r} exists.", f"Name another file, or pass {errors.argument('overwrite')}.")
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {str(target.parent)!r}.", "Make it first.")


def _is_special(target: Path) -> bool:
    """Whether this is a pipe or a device, which is written to and never replaced."""
    return target.exists() and not target.is_file() and not target.is_dir()


def cannot_write(target: Path, error: OSError) -> InputError:
    """The error for a disk that is full, a folder that may not be written to and the like."""
    return InputError(f"{str(target)!r} could not be written: {error.strerror or error}. Nothing was left behind.")
