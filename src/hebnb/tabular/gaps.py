"""What people and their programs write where a value is missing."""

from __future__ import annotations

from collections.abc import Sequence

from hebnb.tabular.sql import literal, quoted

# In lower case, and without spaces around it. In a column of numbers, dates, or true and false these are gaps.
GAP_WORDS = (
    *("", "-", "--", "–", "—", "?", ".", "n/a", "n.a."),  # people; Weka; SAS
    *("na", "nan", "nat", "<na>", "none"),  # R; pandas, Python
    *("null", "(null)", r"\n"),  # databases; PostgreSQL's \copy writes \N
    *(
        "#n/a",
        "#div/0!",
        "#value!",
        "#ref!",
        "#name?",
        "#num!",
        "#null!",
        "#nv",
        "#wert!",
        "#bezug!",
        "#zahl!",
    ),  # Excel
)
# In text each may be a category: Namibia, North America, none of them. They stay what they are, and that is said.
WORDS_IN_TEXT = (
    *("NA", "N/A", "n/a", "NaN", "nan", "NaT", "<NA>", "None", "NULL", "null", r"\N", "?", "-", "--", "."),
    *("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
)


def is_gap(word: str) -> bool:
    """Whether a column of numbers, dates, or true and false has a gap there.

    Examples
    --------
    >>> is_gap(" N/A "), is_gap("0")
    (True, False)
    """
    return word.strip().lower() in GAP_WORDS


def reads_as_gap(text: str) -> str:
    """The same in SQL."""
    return f"lower(trim({text})) IN ({', '.join(map(literal, GAP_WORDS))})"


def may_be_gap(text: str) -> str:
    """Whether text, in a column of text, is a word that others write for a gap, in SQL."""
    return f"{text} IN ({', '.join(map(literal, WORDS_IN_TEXT))})"


def with_gaps(name: str, gaps: Sequence[str]) -> str:
    """The text of a column, NULL where there is nothing or what the user said means a gap, in SQL."""
    text = quoted(name)
    for gap in gaps:
        text = f"NULLIF({text}, {literal(gap)})"
    return text
