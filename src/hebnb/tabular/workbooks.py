"""Excel workbooks, as files of text in which numbers, dates, true and false stand as everybody writes them."""

from __future__ import annotations

import csv
import datetime as dt
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hebnb import errors
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.memory import free_memory
from hebnb.foundation.printable import visible
from hebnb.tabular.archives import open_archive, require_honest
from hebnb.tabular.dates import formats_like

# A sheet is held as a rectangle, which a single cell far away makes large: what a cell of it may take.
_BYTES_A_CELL = 200
_PLACE = re.compile(rb"""\br=["']([A-Z]{0,3})([0-9]{1,7})["']""")
_CHUNK = 1 << 20
# Digits that somebody typed as text because they begin with zeros.
_CODE = re.compile(r"\s*0\d+\s*")


def is_workbook(path: Path) -> bool:
    """Whether a ZIP archive is a workbook."""
    with open_archive(path) as opened:
        return "xl/workbook.xml" in opened.namelist()


@dataclass(frozen=True)
class Sheet:
    """A sheet as a CSV file, and what its cells say of its columns that the file does not.

    Parameters
    ----------
    path : Path
    texts : set of str
        Columns that have nothing but text.
    codes : set of str
        Columns with text that would lose zeros as a number, so that their numbers are codes too.
    dates : set of str
        Columns whose cells are dates, or text that has not the shape of one.
    """

    path: Path
    texts: set[str]
    codes: set[str]
    dates: set[str]


def as_text(path: Path, folder: Path, sheet: str | None) -> Sheet:
    """A sheet as a CSV file in a folder."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError as error:
        raise InputError(
            "Reading Excel workbooks needs the package 'python-calamine'.", 'pip install ".[excel]"'
        ) from error

    folder.mkdir(parents=True, exist_ok=True)
    safe = folder / "workbook.xlsx"
    _copy_within_bounds(path, safe)
    try:
        workbook = CalamineWorkbook.from_path(str(safe))
        rows = _chosen_sheet(path, {name: workbook.get_sheet_by_name(name) for name in _names(workbook)}, sheet)
    except CalamineError as error:
        raise InputError(f"{visible(str(path))!r} cannot be read: {visible(str(error), 200)}.") from error
    finally:
        safe.unlink()
    made = folder / f"{path.stem}.csv"
    with made.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([_written(cell) for cell in row] for row in rows)
    header, *others = rows
    columns = [(_written(name), [row[n] for row in others]) for n, name in enumerate(header)]

    def those(have: Callable[[list[Any]], bool]) -> set[str]:
        return {name for name, cells in columns if have(cells)}

    return Sheet(made, those(_have_only_text), those(_have_codes), those(_have_dates))


def _have_only_text(cells: list[Any]) -> bool:
    return all(isinstance(cell, str) for cell in cells)


def _have_codes(cells: list[Any]) -> bool:
    return any(isinstance(cell, str) and _CODE.fullmatch(cell) for cell in cells)


def _have_dates(cells: list[Any]) -> bool:
    return all(not formats_like(cell) if isinstance(cell, str) else isinstance(cell, dt.date) for cell in cells)


def _names(workbook: Any) -> list[str]:
    return [own.name for own in workbook.sheets_metadata if "WorkSheet" in str(own.typ)]


def _chosen_sheet(path: Path, sheets: dict[str, Any], wanted: str | None) -> list[list[Any]]:
    """The rows of the sheet that is named, or of the only one with data, without rows that are empty."""
    if wanted is not None:
        if wanted not in sheets:
            raise errors.unknown_name(errors.argument("sheet"), wanted, list(sheets))
        sheets = {wanted: sheets[wanted]}
    filled = {name: rows for name, own in sheets.items() if (rows := _filled(own.to_python()))}
    if not filled:
        raise InputError(f"{visible(str(path))!r} is empty." if wanted is None else f"Sheet {wanted!r} is empty.")
    if len(filled) > 1:
        shown = ", ".join(repr(visible(name, 40)) for name in filled)
        raise ParameterError(
            f"{visible(str(path))!r} has several sheets with data: {shown}.",
            f"Say which with {errors.argument('sheet')}.",
        )
    (rows,) = filled.values()
    return rows


def _filled(rows: Sequence[list[Any]]) -> list[list[Any]]:
    """The rows that are not empty."""
    return [row for row in rows if any(cell != "" for cell in row)]


def _written(cell: Any) -> str:
    """A cell as everybody writes it. An empty one, and an error, has nothing."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, dt.timedelta):
        return repr(cell.total_seconds())
    return str(cell)


def _copy_within_bounds(path: Path, copy: Path) -> None:
    """The workbook with its parts unpacked, if neither they nor its sheets are larger than is honest."""
    with open_archive(path) as packed, zipfile.ZipFile(copy, "w") as plain:
        require_honest(path, packed.infolist())
        cells = 0
        for own in packed.infolist():
            columns, rows, tail = 0, 0, b""
            with packed.open(own) as part, plain.open(own.filename, "w", force_zip64=True) as unpacked:
                while chunk := part.read(_CHUNK):
                    unpacked.write(chunk)
                    if own.filename.startswith("xl/worksheets/"):
                        for letters, digits in set(_PLACE.findall(tail + chunk)):
                            columns, rows = max(columns, _column(letters)), max(rows, int(digits))
                        tail = chunk[-32:]
            cells += columns * rows
    if cells * _BYTES_A_CELL > free_memory() / 2:
        raise InputError(
            f"{visible(str(path))!r} has sheets of {cells:,} cells, empty ones included, which do not fit into memory.",
            "Save the sheet as a CSV file.",
        )


def _column(letters: bytes) -> int:
    """The number of a column, from 1, by its letters."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
