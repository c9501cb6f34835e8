"""Results as files: what ``--record`` of a benchmark writes, and README.md and the pages of docs show.

A file holds tables and facts. A column of a table has a head and a format, so that whoever shows it rounds it alike; a
fact is one number with a name, for a sentence. ``python docs/figures.py`` puts both where they are asked for.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from measure import Comparison

FOLDER = Path(__file__).parent / "results"
Value: TypeAlias = str | float | int | None
VERSIONS_OF = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "duckdb")


@dataclass(frozen=True)
class Table:
    """Columns by their heads, each with a format of Python such as ``".2f"`` or ``".1f s"``; rows of values.

    ``grouped`` says that a first cell equal to the one above it is left empty, ``bold`` that the least number of a row
    stands out.
    """

    columns: Mapping[str, str] | Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Value]]
    grouped: bool = False
    bold: bool = False

    def document(self) -> dict[str, Any]:
        """As JSON has it. Heads may repeat, so columns are pairs."""
        columns = list(self.columns.items()) if isinstance(self.columns, Mapping) else list(self.columns)
        return asdict(self) | {"columns": [list(column) for column in columns]}


@dataclass(frozen=True)
class Results:
    """What one benchmark found."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    facts: Mapping[str, Value] = field(default_factory=dict)


def record(name: str, results: Results, more: Mapping[str, Any] | None = None, folder: Path = FOLDER) -> Path:
    """Write what was found to ``results/name.json``; what an earlier run found and this one did not look for stays."""
    path = folder / f"{name}.json"
    before = json.loads(path.read_text()) if path.exists() else {"tables": {}, "facts": {}}
    tables = {title: table.document() for title, table in results.tables.items()}
    found = {
        "command": " ".join(["python", _from_the_root(sys.argv[0]), *map(_on_any_machine, sys.argv[1:])]),
        "versions": versions(),
        **(more or {}),
        "tables": before["tables"] | tables,
        "facts": before["facts"] | dict(results.facts),
    }
    path.write_text(as_text(found), encoding="utf-8")
    return path


def _from_the_root(script: str) -> str:
    """The path of a script of this project, wherever it was called from."""
    path, root = Path(script).resolve(), Path(__file__).resolve().parent.parent
    return str(path.relative_to(root)) if path.is_relative_to(root) else path.name


def _on_any_machine(argument: str) -> str:
    """An argument of a command; of a path that only this machine has, what it is."""
    path = Path(argument)
    return argument if not path.is_absolute() else "FOLDER" if path.is_dir() else path.name


def versions() -> dict[str, str]:
    """Of Python and of what the benchmarks rest on, as far as it is installed."""
    found = {"python": platform.python_version()}
    for package in VERSIONS_OF:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def as_text(document: Any, depth: int = 0) -> str:
    """JSON in which a row of a table, or another small thing, has one line, so that differences can be read."""
    values = list(document.values() if isinstance(document, dict) else document)
    if depth > 1 and not any(isinstance(value, (dict, list)) for value in values):
        return json.dumps(document, ensure_ascii=False)
    if isinstance(document, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {_inner(value, depth)}" for key, value in document.items()]
    else:
        lines = [_inner(value, depth) for value in values]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    inside = ",\n".join(" " * (depth + 1) + line for line in lines)
    text = f"{opening}\n{inside}\n{' ' * depth}{closing}" if lines else opening + closing
    return text if depth else text + "\n"


def _inner(value: Any, depth: int) -> str:
    return as_text(value, depth + 1) if isinstance(value, (dict, list)) else json.dumps(value, ensure_ascii=False)


def comparisons(found: Sequence[Comparison], name: str, folder: Path = FOLDER) -> Table:
    """Both sides of every comparison in milliseconds, their ratio, and the ratios of all runs that were recorded."""
    earlier = _earlier_ratios(folder / f"{name}.json")
    rows: list[list[Value]] = []
    for one in found:
        ratio = one.ours / one.theirs
        ratios = [*earlier.get(one.what, []), ratio]
        spread = f"{min(ratios):.2f} – {max(ratios):.2f}" if len(ratios) > 1 else ""
        rows.append([one.what, _milliseconds(one.ours), _milliseconds(one.theirs), ratio, spread, one.aim])
    heads = {"": "", "ours, ms": "", "other, ms": "", "ratio": ".2f", "over several runs": "", "aim": ".2f"}
    return Table(heads, rows)


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}" if seconds < 0.01 else f"{1e3 * seconds:.0f}"


def _earlier_ratios(path: Path) -> dict[str, list[float]]:
    """The least and the greatest ratio that a file has for every line."""
    if not path.exists():
        return {}
    rows = json.loads(path.read_text())["tables"].get("speed", {"rows": []})["rows"]
    spreads = {row[0]: [float(part) for part in str(row[4]).split(" – ") if part] for row in rows}
    return {row[0]: [*spreads[row[0]], float(row[3])] for row in rows}
