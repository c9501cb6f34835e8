"""Results that outlive the process: one row of an SQLite file for every (dataset, method, bins, fold).

Workers write a result the moment they have it, each in a transaction of its own, so that killing the run at any time
loses only the cells in the making.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hebnb.errors import InputError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    dataset TEXT, method TEXT, bins INTEGER, fold INTEGER, settings TEXT,
    definition TEXT,  -- the method's parameters and the copy of the data: a result of others is no result
    result TEXT,      -- JSON
    error TEXT,
    PRIMARY KEY (dataset, method, bins, fold, settings)
)
"""


@dataclass(frozen=True)
class Cell:
    """One method on one fold of one dataset."""

    dataset: str
    method: str
    bins: int
    fold: int
    settings: str
    definition: str


@dataclass(frozen=True)
class Store:
    """The file of results."""

    path: Path

    def create(self) -> None:
        """Make the file, or check that it is one of ours."""
        try:
            with self._open() as connection:
                connection.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path}: cannot be used for results ({error}).", "Name another folder with --output."
            ) from error

    def put(self, cell: Cell, result: dict[str, Any] | None, error: str | None = None) -> None:
        """Keep the result of a cell, or the error it ended with."""
        row = (cell.dataset, cell.method, cell.bins, cell.fold, cell.settings, cell.definition)
        with self._open() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(result), error)
            )

    def missing(self, cells: Iterable[Cell]) -> list[Cell]:
        """The cells that have no result yet; those that failed are among them."""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT dataset, method, bins, fold, settings, definition FROM cells WHERE error IS NULL"
            )
            known = {Cell(*row) for row in rows}
        return [cell for cell in cells if cell not in known]

    def forget(self, settings: str) -> None:
        """Drop all results under these settings."""
        with self._open() as connection:
            connection.execute("DELETE FROM cells WHERE settings = ?", (settings,))

    def results(self, settings: str) -> list[dict[str, Any]]:
        """Every result under these settings as a record, in a fixed order."""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT dataset, method, bins, fold, result FROM cells WHERE settings = ? AND error IS NULL"
                " ORDER BY dataset, method, bins, fold",
                (settings,),
            ).fetchall()
        names = ("dataset", "method", "bins", "fold")
        return [dict(zip(names, row, strict=False)) | json.loads(row[4]) for row in rows]

    def failures(self, settings: str) -> list[tuple[str, str, int, int, str]]:
        """Dataset, method, bins, fold and error of every cell that failed."""
        with self._open() as connection:
            return connection.execute(
                "SELECT dataset, method, bins, fold, error FROM cells WHERE settings = ? AND error IS NOT NULL"
                " ORDER BY dataset, method, bins, fold",
                (settings,),
            ).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=120)) as connection, connection:
            connection.execute("PRAGMA journal_mode = WAL")
            yield connection
