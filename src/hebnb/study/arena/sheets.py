"""Tables of numbers and words, as Markdown, as CSV and as text."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = str | float | int | None
MARK = "†"  # an asterisk would be Markdown


@dataclass(frozen=True)
class Sheet:
    """Rows of values under heads, each with a format.

    Parameters
    ----------
    name : str
        Stem of the file.
    title : str
    columns : list of (str, str)
        Heads, and Python's formats of the numbers below, such as ``".4f"``.
    rows : list of lists
        Numbers, words for what is no number, and None for nothing.
    note : str
    marked : set of (int, int)
        Rows and columns of cells that have a dagger where people read them; the note says what it means.
    """

    name: str
    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Value]]
    note: str = ""
    marked: frozenset[tuple[int, int]] = frozenset()

    def cells(self) -> list[list[str]]:
        """Everything as text, without the heads."""
        formats = [pattern for _, pattern in self.columns]
        texts = [[shown(value, pattern) for value, pattern in zip(row, formats, strict=True)] for row in self.rows]
        for n, m in self.marked:
            texts[n][m] += MARK
        return texts

    def markdown(self) -> str:
        """As a table of Markdown.

        Examples
        --------
        >>> print(Sheet("s", "S", [("", ""), ("loss", ".2f")], [["a", 0.5], ["b", "too slow"], ["c", None]]).markdown())
        |  | loss |
        |---|---:|
        | a | 0.50 |
        | b | too slow |
        | c | – |
        """
        heads = [head for head, _ in self.columns]
        rule = "|".join(["", "---", *["---:"] * (len(heads) - 1), ""])
        lines = [" | ".join(text.replace("|", "\\|") for text in line) for line in [heads, *self.cells()]]
        head, *body = (f"| {line} |" for line in lines)
        return "\n".join([head, rule, *body])

    def text(self) -> str:
        """Lined up, for a terminal."""
        lines = [[head for head, _ in self.columns], *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
        )

    def csv(self) -> str:
        """Every digit."""
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([head for head, _ in self.columns])
        writer.writerows(self.rows)
        return file.getvalue()

    def write(self, folder: Path) -> None:
        """As CSV."""
        (folder / f"{self.name}.csv").write_text(self.csv(), encoding="utf-8")


def shown(value: Value, pattern: str) -> str:
    """A value under a format; words are words, and None and NaN a dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return value if isinstance(value, str) else format(value, pattern)
