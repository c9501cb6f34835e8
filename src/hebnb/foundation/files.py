"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible

# What new files are not allowed to be. It can only be read by setting it, so once, before there are threads.
_UMASK = os.umask(0o077)
os.umask(_UMASK)


@contextmanager
def written_whole(target: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[Path]:
    """A path to write to, beside the target, which takes its place only when all went well.

    Whatever happens before that (a full disk, an exception, Ctrl-C), the target stays as it was and the partial file is
    removed. Without ``overwrite`` nothing is ever replaced: of several programs that write to one name at once, the
    first to finish has it, and the others are told that it exists.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> with written_whole(folder / "notes.txt") as path:
    ...     _ = path.write_text("done")
    >>> [file.name for file in folder.iterdir()]
    ['notes.txt']
    """
    target = _resolved(Path(target))  # a link keeps pointing to what is written
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
        if overwrite:
            partial.replace(target)
        else:
            _publish(partial, target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


# What file systems say that have no hard links.
_NO_LINKS = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV)


def _publish(partial: Path, target: Path) -> None:
    """Give a finished file a name that nobody has."""
    try:
        try:
            os.link(partial, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            partial.replace(target)  # the name is ours now
    except FileExistsError as error:
        raise _exists(target) from error


def refuse_existing(target: Path, *, overwrite: bool) -> None:
    """Complain before any work is done if there is something that may not be replaced."""
    _resolved(target)
    if target.is_dir():
        raise InputError(f"{visible(str(target))!r} is a folder.", "Name a file in it.")
    if target.exists() and not overwrite and not _is_special(target):
        raise _exists(target)
    if not target.parent.is_dir():
        raise InputError(f"There is no folder {visible(str(target.parent))!r}.", "Make it first.")


def refuse_input(target: Path, inputs: Iterable[os.stat_result]) -> None:
    """Complain of an output that is also an input, by whatever name."""
    try:
        own = target.stat()
    except OSError:
        return
    if stat.S_ISREG(own.st_mode) and any(os.path.samestat(own, one) for one in inputs):
        raise InputError(f"{visible(str(target))!r} is also what is read.", "Name another file for the output.")


def _resolved(target: Path) -> Path:
    """The path without links."""
    try:
        return target.resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"{visible(str(target))!r} is a link that leads nowhere.") from error


def _exists(target: Path) -> InputError:
    return InputError(
        f"{visible(str(target))!r} exists.", f"Name another file, or pass {errors.argument('overwrite')}."
    )


def _is_special(target: Path) -> bool:
    """Whether this is a pipe or a device, which is written to and never replaced."""
    return target.exists() and not target.is_file() and not target.is_dir()


def cannot_write(target: Path, error: OSError) -> InputError:
    """The error for a disk that is full, a folder that may not be written to and the like."""
    return InputError(
        f"{visible(str(target))!r} could not be written: {error.strerror or error}. Nothing was left behind."
    )
