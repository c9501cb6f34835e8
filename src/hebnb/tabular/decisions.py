"""What was decided about the columns of files of text, in words."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hebnb import errors
from hebnb.foundation.printable import visible
from hebnb.tabular.dates import formats_like
from hebnb.tabular.readings import NUMBERS, Readings

# The most columns, and words, that a line names.
_MOST_COLUMNS, _MOST_WORDS = 4, 3


@dataclass(frozen=True)
class Skipped:
    """Lines that were left out: how many, and the first of them."""

    lines: int = 0
    first: str = ""

    def __add__(self, other: Skipped) -> Skipped:
        return Skipped(self.lines + other.lines, self.first or other.first)


@dataclass(frozen=True)
class Decisions:
    """What columns of text are read as, and which lines were not read.

    Parameters
    ----------
    readings : Readings
    skipped : Skipped
    decimal : {".", ","}, optional
        What the user said stands before a fraction.
    nameless : list of str
        What columns are called that the header does not name.
    """

    readings: Readings = field(default_factory=lambda: Readings({}, {}, 0))
    skipped: Skipped = Skipped()
    decimal: str | None = None
    nameless: Sequence[str] = ()

    def told(self, names: Iterable[str], learned: Mapping[str, str] | None = None) -> list[str]:
        """What there is to say about some columns, in a line for all of which the same is to be said.

        Parameters
        ----------
        names : list of str
        learned : dict of str to str, optional
            Formats that a model knows, of which nothing is said.
        """
        said = []
        if self.skipped.lines:
            said.append(f"Left out {_number(self.skipped.lines, 'line')}, the first {self.skipped.first}.")
        columns = [name for name in names if name in self.readings.of]
        nameless = [name for name in columns if name in self.nameless]
        if nameless:
            said.append(f"{_columns(nameless)}: called so because the header has no name there.")
        said += self._formats_and_gaps(columns, learned or {})
        spaced = [name for name in columns if name in self.readings.spaced]
        if spaced:
            said.append(f"{_columns(spaced)}: text that begins with a space, which is kept.")
        return [*said, *_categories(columns, self.readings), *_odd(columns, self.readings)]

    def _formats_and_gaps(self, names: list[str], learned: Mapping[str, str]) -> list[str]:
        """How numbers are written that are not written as everybody does, and what is written for gaps."""
        alike: dict[tuple[str, tuple[str, ...]], dict[str, int]] = defaultdict(dict)
        for name in names:
            gaps = self.readings.gaps.get(name, {})
            what = self.readings.of[name].described() if self._is_news(name, learned) else ""
            words = tuple(sorted({_word(word) for word in gaps}))
            if what or words:
                alike[what, words][name] = sum(gaps.values())
        lines = []
        for (what, words), columns in alike.items():
            written = f"{_number(sum(columns.values()), 'gap')} written as {_listed(words, 'or')}" if words else ""
            lines.append(f"{_columns(list(columns))}: {'; '.join(filter(None, (what, written)))}.")
        return lines

    def _is_news(self, name: str, learned: Mapping[str, str]) -> bool:
        """Whether numbers are written in a way that neither the user nor a model told, and of which no more is said."""
        own = self.readings.of[name]
        is_told = own.format == learned.get(name) or own.decimal == self.decimal or name in self.readings.unsure
        return own.notation is not None and not is_told


def _categories(names: list[str], readings: Readings) -> list[str]:
    """Words in columns of text that others write for gaps."""
    alike: dict[str, dict[str, int]] = defaultdict(dict)
    for name in names:
        for word, rows in readings.words.get(name, {}).items():
            alike[word][name] = rows
    flag = errors.argument("na")
    return [
        f"{_columns(list(columns))}: '{visible(word)}' in {_number(sum(columns.values()), 'row')} is a category, "
        f"because this is text; {flag} {shlex.quote(word)} makes it a gap."
        for word, columns in alike.items()
    ]


def _odd(names: list[str], readings: Readings) -> list[str]:
    """Columns that nearly are numbers or dates."""
    lines = []
    for name in names:
        if name in readings.odd:
            own = readings.odd[name]
            first = visible(own.first, 40)
            is_date = own.reading.type not in NUMBERS and formats_like(own.first)
            remedy = f"If that is a gap, say {errors.argument('na')} {shlex.quote(first)}."
            remedy = "Write all of them in one way." if is_date else remedy
            which = "1 value," if own.values == 1 else f"{own.values:,} values, the first"
            lines.append(
                f"{_columns([name])}: text and not {own.reading.described()}, because of {which} {first!r} in row "
                f"{own.row:,}. {remedy}"
            )
    return lines


def _columns(names: list[str]) -> str:
    shown = [repr(visible(name, 40)) for name in names]
    if len(shown) > _MOST_COLUMNS:
        return f"Columns {', '.join(shown[: _MOST_COLUMNS - 1])} and {len(shown) - _MOST_COLUMNS + 1} more"
    return f"Column{'s' if len(shown) > 1 else ''} {_listed(shown, 'and')}"


def _listed(items: Iterable[str], word: str) -> str:
    *others, last = items
    if len(others) >= _MOST_WORDS and word == "or":
        others, last = others[: _MOST_WORDS - 1], "otherwise"
    return f"{', '.join(others)} {word} {last}" if others else last


def _number(number: int, of: str) -> str:
    return f"{number:,} {of}{'' if number == 1 else 's'}"


def _word(word: str) -> str:
    """What is written for a gap, in quotation marks where it would be taken for a part of the sentence."""
    word = visible(word.strip(), 40)
    return word if any(map(str.isalnum, word)) else f"'{word}'" if word else "spaces"
