"""A description as text that lines up."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from hebnb.foundation.printable import visible
from hebnb.overview.alerts import together

if TYPE_CHECKING:
    from hebnb.overview.description import TableDescription

# How wide a description is where nobody says so.
WIDTH = 100
# The longest that labels are shown, and how many classes are.
_LONGEST_LABEL, _MOST_CLASSES = 30, 6
# The narrowest that names get, and the least room in which reasons and examples stand side by side.
_LEAST_NAME, _LEAST_BOTH = 18, 64


def as_text(description: TableDescription, width: int = WIDTH) -> str:
    """Rows and classes, a line or more for every column, and the alerts."""
    return "\n".join([*_heading(description, width), "", *_columns(description, width), *_alerts(description, width)])


def _heading(description: TableDescription, width: int) -> list[str]:
    n_rows, columns = description.n_rows, len(description.columns["column"])
    rows = f"{n_rows:,} rows"
    if description.n_drawn_from > n_rows:
        rows += f" drawn at random from {description.n_drawn_from:,}"
    counts = sorted(description.classes.items(), key=lambda item: -item[1])
    shown = [f"{visible(str(label), _LONGEST_LABEL)} {n:,} ({n / n_rows:.1%})" for label, n in counts[:_MOST_CLASSES]]
    more = f" and {len(counts) - len(shown):,} more classes" if len(counts) > len(shown) else ""
    text = f"{rows}, {columns:,} columns" + (f"; {', '.join(shown)}{more}" if shown else "")
    return textwrap.wrap(text, width)


def _columns(description: TableDescription, width: int) -> list[str]:
    """A table of the columns: names, numbers, and what there is to say, beside or below each other."""
    lines = description.columns
    longest = max(_LEAST_NAME, width // 5)
    names = [visible(str(name), longest) for name in lines["column"]]
    columns = [
        _Column("column", [_cut(name, longest) for name in names]),
        _Column("distinct", [[f"{n:,}"] for n in lines["distinct"]], right=True),
        _Column("gaps", [[f"{share:.1%}"] for share in lines["gaps"]], right=True),
    ]
    if description.classes:
        gains = [["–" if gain is None else f"{round(gain, 4) + 0.0:+.4f}"] for gain in lines["gain"]]
        columns.append(_Column("gain", gains, right=True))
    room = width - sum(column.width + 2 for column in columns)
    return _lined_up([*columns, *_said(lines["why"], lines["examples"], room)])


def _said(reasons: Sequence[str], examples: Sequence[str], room: int) -> list[_Column]:
    """Reasons are wrapped, examples are cut short."""
    if room < _LEAST_BOTH:
        room = max(room, _LEAST_BOTH // 2)
        both = [_below(reason, own, room) for reason, own in zip(reasons, examples, strict=True)]
        return [_Column("taken for, and why; examples", both)]
    of_reasons = min(max(map(len, reasons)), room // 2)
    return [
        _Column("taken for, and why", [textwrap.wrap(reason, of_reasons) for reason in reasons]),
        _Column("examples", [_cut(own, room - of_reasons - 2) for own in examples]),
    ]


def _below(reason: str, example: str, room: int) -> list[str]:
    """A reason and, on a line of its own if need be, examples."""
    together = f"{reason}; {example}"
    return (
        [together] if example and cell_len(together) <= room else [*textwrap.wrap(reason, room), *_cut(example, room)]
    )


def _cut(example: str, room: int) -> list[str]:
    if cell_len(example) > room:
        example = set_cell_size(example, room - 1).rstrip() + "…"
    return [example] if example else []


@dataclass(frozen=True)
class _Column:
    """A column on paper; a cell is some lines."""

    heading: str
    cells: list[list[str]]
    right: bool = False

    @property
    def width(self) -> int:
        return max(map(cell_len, [self.heading, *chain.from_iterable(self.cells)]))

    def padded(self, text: str) -> str:
        room = " " * (self.width - cell_len(text))
        return room + text if self.right else text + room


def _lined_up(columns: Sequence[_Column]) -> list[str]:
    rows = [tuple([column.heading] for column in columns), *zip(*(column.cells for column in columns), strict=True)]
    found = []
    for row in rows:
        for line in zip_longest(*row, fillvalue=""):
            texts = [column.padded(text) for column, text in zip(columns, line, strict=True)]
            found.append("  ".join(texts).rstrip())
    return found


def _alerts(description: TableDescription, width: int) -> list[str]:
    paragraphs = together(description.alerts)
    if not paragraphs:
        return ["", "No alerts."]
    number = len(description.alerts)
    found = ["", f"{number:,} alert{'s' if number > 1 else ''}:"]
    for paragraph in paragraphs:
        found += textwrap.wrap(paragraph.text, width, initial_indent="- ", subsequent_indent="  ")
    return found
