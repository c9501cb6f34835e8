"""Numbers as people and spreadsheets write them: decimal commas, marks between thousands, percent signs, currencies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hebnb.tabular.dates import formats_like
from hebnb.tabular.gaps import is_gap
from hebnb.tabular.sql import literal

_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'’"
_MINUS = "−"
# What may stand beside a number: it is left out, and a percent is a hundredth.
_SIGNS = "%€$£¥"
_LIKE_A_NUMBER = re.compile(
    rf"[-+{_MINUS}\s{_SIGNS}]*[\d.,][\d.,{_SPACES}{_APOSTROPHES}]*(?:[eE][-+]?\d+)?[\s{_SIGNS}]*"
)
_WITH_POINTS = re.compile(r"\s*[-+]?[1-9]\d{0,2}(\.\d{3})*\s*")


@dataclass(frozen=True)
class Notation:
    """How numbers are written. Its name is how 1234.5 is written.

    Parameters
    ----------
    decimal : {".", ","}
        What stands before a fraction.
    sign : str
        A percent sign or the sign of a currency, which stands beside every number; nothing, if none does.

    Examples
    --------
    >>> Notation(",", "€").name, Notation.named("1,234.5")
    ('1.234,5 €', Notation(decimal='.', sign=''))
    """

    decimal: str
    sign: str = ""

    @classmethod
    def named(cls, name: str) -> Notation:
        """The notation in which 1234.5 is written so."""
        number, _, sign = name.partition(" ")
        return cls({"1,234.5": ".", "1.234,5": ","}[number], sign)

    @cached_property
    def name(self) -> str:
        """How 1234.5 is written."""
        return f"{'1,234.5' if self.decimal == '.' else '1.234,5'} {self.sign}".rstrip()

    def digits(self, text: str) -> str:
        """The text of a number as everybody writes it, in SQL."""
        drops = ("." if self.decimal == "," else ",") + _SPACES + _APOSTROPHES + self.sign
        plain = f"translate({text}, {literal(self.decimal + _MINUS + drops)}, '.-')"
        return f"({plain} || 'e-2')" if self.sign == "%" else plain

    def fits(self, text: str) -> str:
        """Whether text is a number in this notation, in SQL."""
        return f"regexp_full_match({text}, {literal(self.pattern)})"

    @cached_property
    def pattern(self) -> str:
        """What numbers in this notation match, as a regular expression."""
        decimal, mark = ("\\.", ",") if self.decimal == "." else (",", ".")
        marks = f"[{mark}{_SPACES}{_APOSTROPHES}]"
        number = rf"(?:(?:[1-9]\d{{0,2}}(?:{marks}\d{{3}})+|\d+)(?:{decimal}\d*)?|{decimal}\d+)"
        space, minus = f"[{_SPACES}]*", f"[-+{_MINUS}]?"
        if not self.sign:
            return rf"{space}{minus}{number}(?:[eE][-+]?\d+)?{space}"
        sign = re.escape(self.sign)
        before, after = rf"{sign}{space}{minus}{number}", rf"{number}{space}{sign}"
        return rf"{space}{minus}{space}(?:{before}|{after}){space}"

    def described(self) -> str:
        """The notation in words.

        Examples
        --------
        >>> Notation(",").described(), Notation(".", "%").described()
        ('numbers with a decimal comma', 'percentages')
        """
        comma = " with a decimal comma" if self.decimal == "," else ""
        if self.sign:
            return ("percentages" if self.sign == "%" else f"amounts in {self.sign}") + comma
        return f"numbers{comma or ' with marks between thousands'}"


# What numbers match that are written in any notation.
ANY_NUMBER = "|".join(Notation(decimal, sign).pattern for decimal in ".," for sign in ("", *_SIGNS))


def look_like_numbers(texts: Sequence[str]) -> bool:
    """Whether at least half of some texts, gaps aside, may be numbers in some notation.

    Examples
    --------
    >>> look_like_numbers(["NA", "$1,234", "unknown"]), look_like_numbers(["a1"]), look_like_numbers(["NA"])
    (True, False, False)
    """
    told = [text for text in texts if not is_gap(text)]
    return bool(told) and 2 * sum(map(_is_like_a_number, told)) >= len(told)


def sign_of(texts: Sequence[str]) -> str:
    """What stands beside the first number of some texts.

    Examples
    --------
    >>> sign_of(["n/a", "12 %"]), sign_of(["12"])
    ('%', '')
    """
    first = next(filter(_is_like_a_number, texts), "")
    return next((character for character in first if character in _SIGNS), "")


def may_be_thousands(texts: Sequence[str]) -> bool:
    """Whether points in some numbers may stand between thousands.

    Examples
    --------
    >>> may_be_thousands(["1.234", "-", "12.345"]), may_be_thousands(["1.234", "0.5"])
    (True, False)
    """
    told = [text for text in texts if not is_gap(text)]
    return any("." in text for text in told) and all(_WITH_POINTS.fullmatch(text) for text in told)


def are_whole(texts: Sequence[str]) -> bool:
    """Whether some numbers have no fraction.

    Examples
    --------
    >>> are_whole(["1", "-2"]), are_whole(["1", "2.5"]), are_whole([])
    (True, False, False)
    """
    return bool(texts) and all(text.strip().removeprefix("-").isdigit() for text in texts)


def _is_like_a_number(text: str) -> bool:
    """Whether a text has the shape of a number; 05.10.2024 is a date, because no group of thousands has two digits."""
    is_shaped = _LIKE_A_NUMBER.fullmatch(text) is not None and any(map(str.isdigit, text))
    return is_shaped and not formats_like(text)
