"""Words of free text: the first, the last, how many there are, and which of the key words are among them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

import numpy as np

from hebnb.columns.column import Column
from hebnb.foundation.arrays import Array, IntArray
from hebnb.parts.telling import telling_words, word_columns

# Text with at least so many different values, of which more than this share are several words, is free text.
LEAST_VALUES, LEAST_SHARE = 50, 0.5

_WORD = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W\d_]")


def words_of(text: str) -> list[str]:
    """The words of a text: runs of letters, digits and underscores, whatever their case; accents stay.

    A letter and its accent may be one character or two.

    Examples
    --------
    >>> words_of("Château d'Yquem, 2001")
    ['château', 'd', 'yquem', '2001']
    """
    return _WORD.findall(normalize("NFC", text.casefold()))


def _first(words: Sequence[str]) -> str | None:
    return words[0] if words else None


def _last(words: Sequence[str]) -> str | None:
    return words[-1] if words else None


# The value of a text that has none of the key words of a column; no word is like it.
NO_WORD = "(none)"

# What is made of the words of a text, and the type of it.
TEXT_PARTS: dict[str, tuple[Callable[[Sequence[str]], Any], type]] = {
    "first word": (_first, object),
    "last word": (_last, object),
    "number of words": (len, int),
}


def is_free_text(column: Column) -> bool:
    """Whether a column is text that is more than names of categories.

    It has many different values, and most of them have several words, with blanks between them and letters in them: a
    date or a code with dashes is no text.
    """
    values = [] if column.is_continuous else column.levels.values.tolist()
    if len(values) < LEAST_VALUES or not all(isinstance(value, str) for value in values):
        return False
    return sum(map(_has_several_words, values)) > LEAST_SHARE * len(values)


def _has_several_words(text: str) -> bool:
    return sum(_LETTER.search(piece) is not None for piece in text.split()) > 1


@dataclass(frozen=True)
class TextParts:
    """Which parts of a column of text are columns of their own.

    Parameters
    ----------
    at : int
        The position of the column.
    parts : tuple of str
        Names among ``TEXT_PARTS``.
    words : tuple of tuples of str
        Key words, by columns: of those in one, hardly ever two are in a text, and then the first is its value.
    """

    at: int
    parts: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    @classmethod
    def learned(cls, at: int, column: Column, labels: IntArray | None, max_words: int) -> TextParts:
        """The parts that vary, and the words that tell something of the labels, or are most frequent without any."""
        codes, texts = _texts(column)
        parts = tuple(name for name in TEXT_PARTS if len({_made(name, words) for words in texts}) > 1)
        return cls(at, parts, word_columns(codes, texts, telling_words(codes, texts, labels, max_words)))

    @property
    def titles(self) -> tuple[str, ...]:
        """What the parts are called, after the name of the column."""
        return *self.parts, *(f"key word {n}" if n > 1 else "key word" for n in range(1, len(self.words) + 1))

    def columns(self, column: Column) -> list[Any]:
        """The parts as masked arrays."""
        codes, texts = _texts(column)
        made = [_column([_made(name, words) for words in texts], TEXT_PARTS[name][1], codes) for name in self.parts]
        return made + [_column(own, object, codes) for own in self._key_words(texts).T]

    def _key_words(self, texts: Sequence[Sequence[str]]) -> Array:
        """The key word of every text in every column, of shape (texts, columns)."""
        place = {word: (c, rank) for c, column in enumerate(self.words) for rank, word in enumerate(column)}
        found = np.full((len(texts), len(self.words)), NO_WORD, dtype=object)
        for of_text, words in zip(found, texts, strict=True):
            for c, rank in sorted((place[word] for word in words if word in place), reverse=True):
                of_text[c] = self.words[c][rank]
        return found

    def instead(self, column: Column) -> None:
        """Nothing: the text stays as it is."""

    def document(self) -> dict[str, Any]:
        """What was learned, as JSON has it."""
        return {"kind": "text", "at": self.at, "parts": list(self.parts), "words": list(map(list, self.words))}

    @classmethod
    def restored(cls, described: Mapping[str, Any]) -> TextParts:
        """What such a document tells."""
        return cls(described["at"], tuple(described["parts"]), tuple(map(tuple, described["words"])))


def _texts(column: Column) -> tuple[IntArray, list[list[str]]]:
    """The words of every different text of a column, and which text each row has, −1 for a gap."""
    codes, values = column.levels
    return codes, [words_of(str(value)) for value in values.tolist()]


def _made(part: str, words: Sequence[str]) -> Any:
    return TEXT_PARTS[part][0](words)


def _column(of_texts: Sequence[Any] | Array, kind: type, codes: IntArray) -> Any:
    """A masked array of what rows have, from what texts have."""
    known: Array = np.zeros(len(of_texts) + 1, dtype=kind)
    known[:-1] = of_texts
    is_gap = np.array([*(own is None for own in of_texts), True])
    return np.ma.MaskedArray(known[codes], is_gap[codes])
