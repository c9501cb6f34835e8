"""What the text of a column is read as: numbers, times, true and false, or itself, as an expression over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hebnb.tabular.dates import ISO
from hebnb.tabular.dates import described as described_date
from hebnb.tabular.numbers import Notation
from hebnb.tabular.sql import literal

_YEAR_FIRST = r"^\s*\d{4}[-/]"
_DAY = r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}\s*"
NUMBERS = ("BIGINT", "HUGEINT", "DOUBLE")


@dataclass(frozen=True)
class Reading:
    """What text is read as.

    Parameters
    ----------
    type : str
        As DuckDB calls it.
    format : str, optional
        How dates are written, as ``strptime`` has it, or ``ISO``; the name of a `Notation` of numbers, if they are not
        written as everybody does.
    """

    type: str
    format: str | None = None

    def value(self, text: str) -> str:
        """The value that an expression of text means, in SQL; NULL for what is written for a gap."""
        if self.type == "VARCHAR":
            return text
        if self.type == "BOOLEAN":
            return f"CASE lower(trim({text})) WHEN 'true' THEN true WHEN 'false' THEN false END"
        if self.type in NUMBERS:
            return self._number(text)
        if self.format in (None, ISO):
            return f"TRY_CAST({text} AS {self.type})"
        return f"CAST(TRY_STRPTIME({text}, {literal(str(self.format))}) AS {self.type})"

    def fits(self, text: str) -> str:
        """Whether text can be read so, in SQL; DuckDB casts much that is no number or day to one."""
        value = self.value(text)
        if self.type in NUMBERS:
            shape = f"NOT contains({text}, '_')" if self.notation is None else self.notation.fits(text)
            if self.type == "DOUBLE":
                return f"{value} IS NOT NULL AND {shape}"
            return f"{value} = TRY_CAST({self._digits(text)} AS DOUBLE) AND {shape}"  # not 1.5, which it rounds
        if self.format == ISO:
            shape = f"regexp_matches({text}, '{_YEAR_FIRST}')"
            if self.type == "DATE":
                shape = f"regexp_full_match({text}, '{_DAY}')"
            return f"{value} IS NOT NULL AND {shape}"
        return f"{value} IS NOT NULL"

    def _number(self, text: str) -> str:
        number = f"TRY_CAST({self._digits(text)} AS {self.type})"
        return f"NULLIF({number}, 'nan'::DOUBLE)" if self.type == "DOUBLE" else number

    def _digits(self, text: str) -> str:
        return text if self.notation is None else self.notation.digits(text)

    @property
    def notation(self) -> Notation | None:
        """How numbers are written, if not as everybody does."""
        return Notation.named(self.format) if self.format is not None and self.type in NUMBERS else None

    @property
    def decimal(self) -> str | None:
        """What stands before a fraction, of numbers."""
        if self.type not in NUMBERS:
            return None
        return "." if self.notation is None else self.notation.decimal

    def described(self) -> str:
        """What it is in words.

        Examples
        --------
        >>> Reading("DOUBLE", "1.234,5").described(), Reading("DATE", "%d/%m/%Y").described()
        ('numbers with a decimal comma', 'dates written as day/month/year')
        """
        if self.notation is not None:
            is_whole = self.type != "DOUBLE" and not self.notation.sign
            return "whole numbers with marks between thousands" if is_whole else self.notation.described()
        if self.format is not None:
            return described_date(self.format)
        return _WORDS.get(self.type, "numbers" if self.type in NUMBERS else "times")


TEXT = Reading("VARCHAR")
_WORDS = {"VARCHAR": "text", "BOOLEAN": "true or false", "DATE": "dates"}


def date(form: str) -> Reading:
    """Dates in a format of strptime, with or without a time of day."""
    return Reading("TIMESTAMP" if "%M" in form else "DATE", form)


def numbers(form: str | None) -> list[Reading]:
    """Numbers in a notation, the narrowest type first."""
    return [Reading(kind, form) for kind in NUMBERS]


@dataclass(frozen=True)
class Odd:
    """What keeps a column from being numbers or dates: how many values, the first of them and its row, from 1."""

    reading: Reading
    values: int
    row: int
    first: str


@dataclass(frozen=True)
class Readings:
    """What the columns of a table of text are read as.

    Parameters
    ----------
    of : dict of str to Reading
    unsure : dict of str to Reading
        Columns of dates or numbers that could as well be read another way, and that way.
    n_rows : int
    gaps : dict of str to dict of str to int
        What is written for gaps in columns that are not text, and in how many rows.
    words : dict of str to dict of str to int
        The same in columns of text, where it is text.
    odd : dict of str to Odd
        Columns of text that nearly are not.
    spaced : list of str
        Columns of text that begins with a space.
    """

    of: dict[str, Reading]
    unsure: dict[str, Reading]
    n_rows: int
    gaps: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    odd: Mapping[str, Odd] = field(default_factory=dict)
    spaced: Sequence[str] = ()

    @property
    def formats(self) -> dict[str, str]:
        """The formats of dates and numbers, where they have one."""
        return {name: own.format for name, own in self.of.items() if own.format is not None}
