"""Results that outlive the process: a file of JSON lines, one a dataset, contender and fold."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from hebnb.errors import InputError
from hebnb.study.arena.measuring import Row

Place: TypeAlias = tuple[str, str, int]
# What has to be the same for a result to stand: the program, the rows, and how long it was allowed to look.
_IDENTITY = ("version", "fingerprint", "settings", "budget")
# How the reasons begin after which the other folds of a dataset are not tried, and how the reasons of these begin.
_HOPELESS = ("more than", "died", "not installed")
_UNTRIED = "not tried"


@dataclass(frozen=True)
class Lines:
    """The file. Of several lines for one place the last counts."""

    path: Path

    def rows(self) -> dict[Place, Row]:
        """All results by dataset, contender and fold. A line that a killed run left half written is none."""
        if not self.path.exists():
            return {}
        found = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            row = _read(line)
            if row is not None:
                found[row["dataset"], row["method"], row["fold"]] = row
        return found

    def add(self, row: Mapping[str, Any]) -> None:
        """Append, in one piece."""
        text = json.dumps(dict(row), ensure_ascii=False) + "\n"
        with self.path.open("ab") as file:
            if file.tell() and not self._ends_a_line():
                text = "\n" + text
            file.write(text.encode())

    def forget(self, datasets: Collection[str], contenders: Collection[str]) -> None:
        """Leave out the results of some contenders on some datasets; others stay, whatever happens meanwhile."""
        kept = [row for (name, who, _), row in self.rows().items() if name not in datasets or who not in contenders]
        beside = self.path.with_suffix(".new")
        beside.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), encoding="utf-8")
        beside.replace(self.path)

    def check(self) -> None:
        """Whether the file is one of ours, or can become one."""
        if self.path.exists() and self.path.stat().st_size and not self.rows():
            raise InputError(f"{self.path}: holds no results.", "Name another folder with --output.")

    def _ends_a_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


def _read(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and {"dataset", "method", "fold"} <= row.keys() else None


def stands(row: Row | None, wanted: Row) -> bool:
    """Whether what is there is a result of this program on these rows."""
    return row is not None and all(row.get(name) == wanted.get(name) for name in _IDENTITY)


def is_hopeless(row: Row) -> bool:
    """Whether a fold ended so that there is no point in trying another."""
    return str(row.get("error") or "").startswith(_HOPELESS)


def untried(row: Row) -> Row:
    """What is kept of a fold that is not tried, because of how another ended."""
    return {"error": f"{_UNTRIED}: fold {row['fold']} {row['error']}", "took s": 0.0}


def was_tried(row: Row) -> bool:
    """Whether a fold was begun at all."""
    return not str(row.get("error") or "").startswith(_UNTRIED)


def that_count(rows: Sequence[Row]) -> list[Row]:
    """Of a contender on a dataset; folds that were not tried because of another do not count once that one is done."""
    return [row for row in rows if was_tried(row) or any(map(is_hopeless, rows))]
