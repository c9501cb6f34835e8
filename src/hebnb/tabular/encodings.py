"""Files of text that are not UTF-8, and those that say so."""

from __future__ import annotations

import codecs
import io
import shutil
from pathlib import Path
from typing import IO, Any

from hebnb import errors
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.printable import visible

_PACKING = {".gz": "gzip", ".zst": "zstd"}
# Bytes, or characters, looked at together.
CHUNK = 1 << 22
# The first bytes, from which an encoding is told.
_LOOKED_AT = 4096


def packed_bytes(path: Path) -> Any:
    """The bytes of a file, unpacked."""
    import pyarrow as pa

    return pa.input_stream(str(path), compression=_PACKING.get(path.suffix.lower()))


def require_encoding(encoding: str | None) -> None:
    """Complain of an encoding that nobody knows."""
    try:
        codecs.lookup(encoding or "utf-8")
    except LookupError:
        raise ParameterError(
            f"{errors.argument('encoding')}={encoding!r} is not known.", "For example cp1252, latin-1 or utf-16."
        ) from None


def as_utf8(path: Path, folder: Path, encoding: str | None) -> Path:
    """The file, or a copy in UTF-8 without a byte-order mark, where DuckDB would stumble over what it is."""
    with packed_bytes(path) as stream:
        start = stream.read(_LOOKED_AT)
    if encoding is None and start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    if encoding is None:
        _refuse_utf16(path, start)
    is_marked = start[:4] == codecs.BOM_UTF8 + b'"'  # which it takes for a part of a quoted name
    if encoding is None and not is_marked:
        return path
    with packed_bytes(path) as stream, place_of_copy(path, folder).open("wb") as copy:
        if encoding is None or codecs.lookup(encoding).name == "utf-8":
            stream.read(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)
            shutil.copyfileobj(stream, copy)
        else:
            _transcode(path, stream, copy, encoding)
        return Path(copy.name)


def _refuse_utf16(path: Path, start: bytes) -> None:
    """Complain of NUL bytes in the first line: UTF-16 has one in every separator and line end."""
    first, end, others = start.partition(b"\n")
    line = first + end + others[:1]
    if b"\0" in line:
        is_little = line[1::2].count(0) > line[::2].count(0)
        raise InputError(
            f"{visible(path.name)!r} is not UTF-8: its first line has NUL bytes, as UTF-16 does.",
            f"Say what it is: {errors.argument('encoding')} {'utf-16le' if is_little else 'utf-16be'}, most likely, or "
            f"{'utf-16be' if is_little else 'utf-16le'}.",
        )


def place_of_copy(path: Path, folder: Path) -> Path:
    """Where a copy goes: folders named ``key=value`` stay, and what unpacking leaves of the ending."""
    copied = folder.joinpath(*(part for part in path.parent.parts if "=" in part), path.name)
    copied = copied.with_suffix("") if path.suffix.lower() in _PACKING else copied
    copied.parent.mkdir(parents=True, exist_ok=True)
    return copied


def _transcode(path: Path, stream: Any, copy: IO[bytes], encoding: str) -> None:
    decoder, is_first = codecs.getincrementaldecoder(encoding)(), True
    try:
        while chunk := stream.read(CHUNK):
            text = decoder.decode(chunk)
            copy.write((text.removeprefix("\ufeff") if is_first else text).encode())
            is_first = False
        copy.write(decoder.decode(b"", final=True).encode())
    except UnicodeError as error:
        raise InputError(
            f"{visible(path.name)!r} is not {encoding}: {visible(str(error), 120)}.",
            f"Say what it is with {errors.argument('encoding')}.",
        ) from error


def refuse_other_encodings(paths: list[Path]) -> None:
    """Name the first line that is not UTF-8, if there is one."""
    for path in paths:
        with packed_bytes(path) as stream:
            decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
            while True:
                chunk = stream.read(CHUNK)
                try:
                    decoder.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:
                    line += error.object[: error.start].count(b"\n")
                    raise InputError(
                        f"{visible(str(path.name))!r} is not UTF-8: line {line} has the byte "
                        f"0x{error.object[error.start]:02X}.",
                        f"Say what it is: {errors.argument('encoding')} cp1252 if Excel or Windows wrote it, and "
                        "anything that Python knows.",
                    ) from error
                if not chunk:
                    break
                line += chunk.count(b"\n")


def text_of(path: Path, otherwise: str = "replace") -> IO[str]:
    """A file of UTF-8 as text, line ends as they are; and what becomes of bytes that are no text."""
    return io.TextIOWrapper(packed_bytes(path), encoding="utf-8-sig", errors=otherwise, newline="")
