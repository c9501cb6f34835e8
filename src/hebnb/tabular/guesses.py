"""What columns of text seem to be, tried on all rows.

A guess holds if every value fits it or is what people write for a gap. Where it breaks, the next wider one is tried;
text holds always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.dates import ISO, formats_like
from hebnb.tabular.gaps import may_be_gap, reads_as_gap, with_gaps
from hebnb.tabular.numbers import Notation, are_whole, look_like_numbers, may_be_thousands, sign_of
from hebnb.tabular.readings import NUMBERS, TEXT, Odd, Reading, Readings, date, numbers
from hebnb.tabular.sql import quoted

if TYPE_CHECKING:
    import duckdb

_DAY_IN_ISO, _TIME_IN_ISO = Reading("DATE", ISO), Reading("TIMESTAMP", ISO)
# The first rows, in which notations are tried first, and how many values of a column are looked at.
_SAMPLED, _FEW = 10_000, 20
# Text is nearly numbers, or dates, if at most one value in so many is not; and all but certainly text otherwise.
_NEARLY = 4

# Readings of which the first that holds is taken, and which are tried together.
_Rung: TypeAlias = list[Reading]
_Trial: TypeAlias = tuple[str, Reading]


@dataclass(frozen=True)
class _Verdict:
    """How many values a reading does not hold for, and how many are written for gaps."""

    misfits: int
    gaps: int


@dataclass(frozen=True)
class _Glimpse:
    """A few values of a column, and whether it has words that are written for gaps elsewhere."""

    texts: Sequence[str] = ()
    has_words: bool = False

    @property
    def begins_with_spaces(self) -> bool:
        """Whether all of them do."""
        return bool(self.texts) and all(text.startswith(" ") for text in self.texts)


@dataclass(frozen=True)
class Guesses:
    """What columns seem to be, and what is known of them already.

    Parameters
    ----------
    types : dict of str to str or None
        DuckDB's guess for every column of text; None for those that are text whatever they look like.
    dates, numbers : dict of str to str or None
        Columns that are dates, or numbers, for certain, and their format; None if it is not known.
    gaps : list of str
        What stands for a missing value, whatever a column is.
    decimal : {".", ","}, optional
        What stands before a fraction in all columns.
    commas : bool
        Whether decimal commas are likely, because nothing else separates fields by semicolons.
    notations : dict of str to str
        Columns of numbers that are tried in a notation of their own before any other.
    """

    types: Mapping[str, str | None]
    dates: Mapping[str, str | None] = field(default_factory=dict)
    numbers: Mapping[str, str | None] = field(default_factory=dict)
    gaps: Sequence[str] = ("",)
    decimal: str | None = None
    commas: bool = False
    notations: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The text of a column, NULL where there is a gap, in SQL."""
        return with_gaps(name, self.gaps)

    def tried(self, table: duckdb.DuckDBPyRelation) -> Readings:
        """The readings that hold for all rows of a table of text."""
        glimpses = self._glimpses(table)
        rungs = self._ladders(table, glimpses)
        found: dict[str, _Rung] = {}
        having_gaps: list[_Trial] = []
        failed: dict[str, tuple[int, Reading]] = {}
        n_rows = None
        while n_rows is None or len(found) < len(rungs):
            trials = [(name, own) for name, ladder in rungs.items() if name not in found for own in ladder[0]]
            verdicts, n_rows = self._verdicts(table, trials)
            for name, ladder in rungs.items():
                if name in found:
                    continue
                rung = ladder.pop(0)
                holding = [own for own in rung if not verdicts[name, own].misfits]
                if holding:
                    found[name] = _one_a_format(holding)
                    having_gaps += [(name, holding[0])] if verdicts[name, holding[0]].gaps else []
                    continue
                tries = [(verdicts[name, own].misfits, own) for own in rung]
                failed[name] = min([*([failed[name]] if name in failed else []), *tries], key=itemgetter(0))
                if not ladder:
                    raise self._contradiction(name, failed[name][1], table)
        of, unsure = self._settled(table, found)
        having_gaps += [(name, TEXT) for name, own in glimpses.items() if own.has_words and of[name] == TEXT]
        told = self._words(table, having_gaps)
        odd = {name: failed[name] for name in failed if of[name] == TEXT and failed[name][0] * _NEARLY <= n_rows}
        return Readings(
            of,
            unsure,
            n_rows,
            {name: own for name, own in told.items() if of[name] != TEXT},
            {name: own for name, own in told.items() if of[name] == TEXT},
            {name: Odd(own, values, *self._first_misfit(name, own, table)) for name, (values, own) in odd.items()},
            [name for name, own in glimpses.items() if of[name] == TEXT and own.begins_with_spaces],
        )

    def _ladders(self, table: Any, glimpses: Mapping[str, _Glimpse]) -> dict[str, list[_Rung]]:
        """What is tried for every column, one after the other."""
        ladders = {name: self._ladder(name, table, glimpses.get(name, _Glimpse()).texts) for name in self.types}
        return ladders | self._tried_on_some(table, {name: own for name, own in ladders.items() if _is_long(own[0])})

    def _ladder(self, name: str, table: Any, glimpse: Sequence[str]) -> list[_Rung]:
        kind = self.types[name]
        if kind is None:
            return [[TEXT]]
        if name in self.dates:
            return self._dates(kind, self.dates[name], glimpse or self._first(name, table))
        if name in self.numbers:
            own = self.notations.get(name)
            ladder = [
                *(_in_notation(Notation.named(own)) if own else []),
                *self._numbers(kind, self.numbers[name], glimpse),
            ]
            return [[Reading(kind)], *ladder] if kind == "BOOLEAN" else ladder
        return [*self._guessed(kind, name, table, glimpse), [TEXT]]

    def _guessed(self, kind: str, name: str, table: Any, glimpse: Sequence[str]) -> list[_Rung]:
        """What is tried for a column of which nothing is known but a guess, before text."""
        if kind in ("DATE", "TIMESTAMP"):
            return self._dates(kind, None, glimpse or self._first(name, table))[:-1]
        if kind in NUMBERS or (kind == "VARCHAR" and look_like_numbers(glimpse)):
            return self._numbers(kind, None, glimpse)
        if kind == "VARCHAR":
            return [likely] if glimpse and (likely := _likely(glimpse[0])) else []
        return [[Reading(kind)]]

    def _dates(self, kind: str, known: str | None, glimpse: Sequence[str]) -> list[_Rung]:
        """What is tried for a column of dates; what a model learned has no wider rung."""
        if known == ISO and not kind.endswith("TIME ZONE"):
            return [[_DAY_IN_ISO], [_TIME_IN_ISO]]
        if known is not None and known != ISO:
            return [[date(known)]]
        if kind not in ("DATE", "TIMESTAMP", "VARCHAR"):
            return [[Reading(kind)], [TEXT]]
        others = [date(one) for one in formats_like(glimpse[0] if glimpse else "")]
        return [[_DAY_IN_ISO], [_TIME_IN_ISO], *([others] if others else []), [TEXT]]

    def _numbers(self, kind: str, known: str | None, glimpse: Sequence[str]) -> list[_Rung]:
        """What is tried for a column of numbers, without the rung of text."""
        if self.decimal is not None:
            return _in_notation(Notation(self.decimal, sign_of(glimpse)))
        if known is not None:
            return _in_notation(Notation.named(known))
        marked = [own for decimal in self._decimals for own in numbers(Notation(decimal, sign_of(glimpse)).name)]
        if kind not in NUMBERS:
            return [[*numbers(None), *marked]]
        if may_be_thousands(glimpse):
            return [[Reading(kind), *numbers(Notation(",").name)], [Reading("DOUBLE")], marked]
        if are_whole(glimpse):  # and yet taken for fractions: nan is one
            return [numbers(None), marked]
        return [*([Reading(wider)] for wider in NUMBERS[NUMBERS.index(kind) :]), marked]

    @property
    def _decimals(self) -> tuple[str, str]:
        return (",", ".") if self.commas else (".", ",")

    def _tried_on_some(self, table: Any, ladders: Mapping[str, list[_Rung]]) -> dict[str, list[_Rung]]:
        """Ladders whose first rung is long, without what fails on the first rows already."""
        trials = [(name, own) for name, ladder in ladders.items() for own in ladder[0] if own.type == "DOUBLE"]
        if not trials:
            return {}
        verdicts, _ = self._verdicts(table.limit(_SAMPLED), trials)
        shorter = {}
        for name, (rung, *others) in ladders.items():
            misfits = {own.format: verdicts[name, own].misfits for own in rung if own.type == "DOUBLE"}
            likely = [form for form, own in misfits.items() if not own] or [min(misfits, key=misfits.__getitem__)]
            shorter[name] = [[own for own in rung if own.format in likely], *others]
        return shorter

    def _glimpses(self, table: Any) -> dict[str, _Glimpse]:
        """What the first rows show of the columns whose guesses leave open how they are written."""
        names = [name for name, kind in self.types.items() if kind in _LOOKED_AT]
        if not names:
            return {}
        looks = [
            f"list_slice(list({quoted(name)}) FILTER (WHERE {self._is_told(name)}), 1, {_FEW}), "
            f"coalesce(bool_or({may_be_gap(self.text(name))}), false)"
            for name in names
        ]
        (found,) = table.limit(_SAMPLED).aggregate(", ".join(looks)).fetchall()
        return {
            name: _Glimpse(texts or (), has_words)
            for name, texts, has_words in zip(names, found[::2], found[1::2], strict=True)
        }

    def _first(self, name: str, table: Any) -> list[str]:
        rows = table.filter(self._is_told(name)).limit(1).project(quoted(name)).fetchall()
        return [str(value) for (value,) in rows]

    def _is_told(self, name: str) -> str:
        return f"{self.text(name)} IS NOT NULL AND NOT {reads_as_gap(quoted(name))}"

    def _verdicts(self, table: Any, trials: Iterable[_Trial]) -> tuple[dict[_Trial, _Verdict], int]:
        """What trying readings says, in one pass over all rows and another where something is unfit; their number."""
        verdicts = dict.fromkeys(trials, _Verdict(0, 0))
        tried = [trial for trial in verdicts if trial[1] != TEXT]
        unfit, n_rows = _counted(table, [self._is_unfit(*trial) for trial in tried])
        doubtful = [trial for trial, values in zip(tried, unfit, strict=True) if values]
        gaps, _ = _counted(table, [self._is_written_for_gap(*trial) for trial in doubtful]) if doubtful else ([], 0)
        for trial, values in zip(tried, unfit, strict=True):
            found = gaps.pop(0) if values else 0
            verdicts[trial] = _Verdict(values - found, found)
        return verdicts, n_rows

    def _words(self, table: Any, trials: Sequence[_Trial]) -> dict[str, dict[str, int]]:
        """What is written for gaps in some columns, and in how many rows."""
        if not trials:
            return {}
        words = [
            f"histogram({quoted(name)}) FILTER (WHERE {self._is_written_for_gap(name, own)})" for name, own in trials
        ]
        (found,) = table.aggregate(", ".join(words)).fetchall()
        return {name: dict(own or {}) for (name, _), own in zip(trials, found, strict=True)}

    def _is_unfit(self, name: str, own: Reading) -> str:
        """Whether a value is not read, in SQL."""
        text = self.text(name)
        return f"{text} IS NOT NULL AND ({own.fits(text)}) IS NOT TRUE"

    def _is_written_for_gap(self, name: str, own: Reading) -> str:
        """Whether a value is not read but written for a gap, in SQL; in text, whether others would take it for one."""
        text = self.text(name)
        if own == TEXT:
            return may_be_gap(text)
        return f"CASE WHEN {self._is_unfit(name, own)} THEN {reads_as_gap(text)} ELSE false END"

    def _is_misfit(self, name: str, own: Reading) -> str:
        """Whether a value is neither read nor written for a gap, in SQL."""
        return f"CASE WHEN {self._is_unfit(name, own)} THEN NOT {reads_as_gap(self.text(name))} ELSE false END"

    def _settled(self, table: Any, found: Mapping[str, _Rung]) -> tuple[dict[str, Reading], dict[str, Reading]]:
        """One reading a column, and those that could as well be read another way, with that way.

        What a mark means where a column does not tell, the other columns of the file may.
        """
        of = {name: own[0] for name, own in found.items()}
        unsure = self._unsure(table, {name: own for name, own in found.items() if len(own) > 1})
        told = {own[0].decimal for own in found.values() if _tells(own)}
        for name, other in list(unsure.items()):
            if of[name].type not in NUMBERS:
                continue
            is_plain = of[name].format is None
            if told == {other.decimal}:
                of[name] = other
            if len(told) == 1 or is_plain:
                del unsure[name]
        for name, other in unsure.items():
            if name in self.dates or name in self.numbers:
                raise _ambiguous(name, of[name], other)
        return of, unsure

    def _unsure(self, table: Any, found: Mapping[str, _Rung]) -> dict[str, Reading]:
        """Columns for which several readings hold and give other values, with the second such reading."""
        pairs = [(name, own[0], other) for name, own in found.items() for other in own[1:]]
        if not pairs:
            return {}
        differ = [
            f"bool_or({first.value(self.text(name))} IS DISTINCT FROM {other.value(self.text(name))})"
            for name, first, other in pairs
        ]
        (verdicts,) = table.aggregate(", ".join(differ)).fetchall()
        unsure: dict[str, Reading] = {}
        for (name, _, other), differs in zip(pairs, verdicts, strict=True):
            if differs:
                unsure.setdefault(name, other)
        return unsure

    def _first_misfit(self, name: str, own: Reading, table: Any) -> tuple[int, str]:
        """The first row, from 1, that a reading does not hold for, and its text."""
        numbered = table.project(f"row_number() OVER () AS hebnb_row, {quoted(name)}")
        ((row, value),) = numbered.filter(self._is_misfit(name, own)).limit(1).fetchall()
        return int(row), str(value)

    def _contradiction(self, name: str, nearest: Reading, table: Any) -> InputError:
        """The error for values that are not what the model learned, or not written as they were then."""
        row, value = self._first_misfit(name, nearest, table)
        hint, learned = "Write the dates as they were when the model learned", nearest.described()
        if name in self.numbers:
            learned = Reading("DOUBLE", self.numbers[name]).described()
            hint = f"Correct it, or say how this file writes numbers with {errors.argument('decimal')}"
        return InputError(
            f"{errors.column(visible(name))} does not fit the model: row {row} has {visible(value, 60)!r}, and "
            f"the model learned {learned}.",
            f"{hint}, or say what means a gap with {errors.argument('na')}.",
        )


def _in_notation(notation: Notation) -> list[_Rung]:
    """Numbers in a notation; without the sign of a currency they are what they are too."""
    bare = Notation(notation.decimal)
    written = [*(numbers(None) if bare.decimal == "." else []), *numbers(bare.name)]
    if not notation.sign:
        return [written]
    return [numbers(notation.name), *([written] if notation.sign != "%" else [])]


_ZONED = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.]*(?:Z|[-+]\d\d(?::?\d\d)?)")
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?")
# Columns of which a few values are looked at: guesses of these leave open how they are written.
_LOOKED_AT = ("VARCHAR", "DOUBLE", "DATE", "TIMESTAMP")


def _likely(text: str) -> _Rung:
    """What a column may be that begins with a text, and is not all of that: gaps keep DuckDB from guessing it."""
    if text.strip().lower() in ("true", "false"):
        return [Reading("BOOLEAN")]
    if _ZONED.fullmatch(text):
        return [Reading("TIMESTAMP WITH TIME ZONE")]
    if _TIME.fullmatch(text):
        return [Reading("TIME")]
    formats = [date(one) for one in formats_like(text)]
    return [_DAY_IN_ISO, _TIME_IN_ISO, *formats] if formats else []


def _counted(table: Any, conditions: list[str]) -> tuple[list[int], int]:
    """In how many rows conditions hold, and the number of rows."""
    counts = [f"count(*) FILTER (WHERE {condition})" for condition in conditions]
    ((n_rows, *found),) = table.aggregate(", ".join(["count(*)", *counts])).fetchall()
    return found, n_rows


def _is_long(rung: _Rung) -> bool:
    """Whether numbers are tried in several notations."""
    return len(rung) > len(NUMBERS) and rung[-1].type in NUMBERS


def _one_a_format(holding: _Rung) -> _Rung:
    """The readings that hold, of those that differ by the type alone the first."""
    return list({own.format: own for own in reversed(holding)}.values())[::-1]


def _tells(holding: _Rung) -> bool:
    """Whether a column of numbers shows what its decimal mark is."""
    first = holding[0]
    is_marked = first.type in NUMBERS and (first.type == "DOUBLE" or first.format is not None)
    return is_marked and len({own.decimal for own in holding}) == 1


def _ambiguous(name: str, first: Reading, other: Reading) -> InputError:
    hint = "Write its dates as 2024-12-31, or fit the model to a table in which they are written like this."
    if first.type in NUMBERS:
        hint = f"Say what stands before a fraction with {errors.argument('decimal')}."
    return InputError(
        f"{errors.column(visible(name))} does not fit the model: it could be {first.described()} or "
        f"{other.described()}, and the model does not say which.",
        hint,
    )
