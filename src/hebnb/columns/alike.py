"""Values that are the same although they are held otherwise: true and false as words, whole numbers as floats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hebnb.columns.column import EXACT, in_order
from hebnb.foundation.arrays import Array

# How true and false are spelled, in any letter case. Text is text, and is compared with these beside booleans only.
_SPELLINGS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))
TRUTHS = {spelled: truth for pair in _SPELLINGS for spelled, truth in zip(pair, (True, False), strict=True)}


def truth_of(text: object) -> bool | None:
    """What a text says of true and false; None if it is another, or no text.

    Examples
    --------
    >>> truth_of("True"), truth_of("no"), truth_of("maybe"), truth_of(1)
    (True, False, None, None)
    """
    return TRUTHS.get(text.lower()) if isinstance(text, str) else None


def words_for_truths(texts: Sequence[str]) -> dict[bool, str]:
    """The words among some texts that mean true and false, each in the one letter case that it has there.

    Of yes and no, and of letters, both have to be there: an F beside an M is no truth.

    Examples
    --------
    >>> words_for_truths(["No", "Yes", "unknown"]), words_for_truths(["f", "m"])
    ({True: 'Yes', False: 'No'}, {True: 'true', False: 'false'})
    """
    for pair in _SPELLINGS:
        found = [[text for text in texts if text.lower() == word] for word in pair]
        if all(len(own) == 1 for own in found):
            return dict(zip((True, False), (own[0] for own in found), strict=True))
    words = {}
    for word in _SPELLINGS[0]:
        own = [text for text in texts if text.lower() == word]
        words[TRUTHS[word]] = own[0] if len(own) == 1 else word
    return words


def are_texts(values: Array) -> bool:
    """Whether all values are text."""
    return values.dtype.kind == "O" and all(isinstance(value, str) for value in values.tolist())


def as_learned(values: Array, learned: Array) -> Array:
    """The values as a column would hold them whose other values are these.

    Examples
    --------
    >>> as_learned(np.array([False, True]), np.array(["False", "True"], dtype=object))
    array(['False', 'True'], dtype=object)
    >>> as_learned(np.array(["maybe", "true"], dtype=object), np.array([False, True]))
    array(['maybe', True], dtype=object)
    """
    if values.dtype.kind == "b":
        return _as_words(values, learned)
    if learned.dtype.kind == "b" and values.dtype.kind == "O":
        held = values.copy()
        for place, value in enumerate(values.tolist()):
            truth = truth_of(value)
            held[place] = value if truth is None else truth
        return held
    return values


def joined(ours: Array, theirs: Array) -> Array:
    """The distinct values of both, in order, as one column would hold them: whole numbers as integers, truths as words.

    Examples
    --------
    >>> joined(np.array([1, 2]), np.array([2.0, 3.0])), joined(np.array([1, 2]), np.array([2.5]))
    (array([1, 2, 3]), array([1. , 2. , 2.5]))
    >>> joined(np.array([False, True]), np.array(["maybe", "yes", "no"], dtype=object))
    array(['maybe', 'no', 'yes'], dtype=object)
    """
    ours, theirs = _as_others(ours, theirs), _as_others(theirs, ours)
    if ours.dtype == theirs.dtype and ours.dtype.kind in "biuf":
        return np.union1d(ours, theirs)
    if {ours.dtype.kind, theirs.dtype.kind} == {"i", "f"}:
        whole, floats = (ours, theirs) if ours.dtype.kind == "i" else (theirs, ours)
        if _are_exact(floats) and (floats == np.rint(floats)).all():
            return np.union1d(whole, floats.astype(np.int64))
        if _are_exact(whole):
            return np.union1d(whole.astype(float), floats)
    return in_order(list({value: None for part in (ours, theirs) for value in part.tolist()}))


def _as_others(values: Array, others: Array) -> Array:
    """True and false as one and zero beside numbers, and as words beside text; anything else as it is."""
    if values.dtype.kind == "b" and others.dtype.kind in "iuf":
        return values.astype(others.dtype)
    return _as_words(values, others)


def _as_words(values: Array, others: Array) -> Array:
    """True and false as words beside text; anything else as it is."""
    if values.dtype.kind != "b" or not len(others) or not are_texts(others):
        return values
    words = words_for_truths(others.tolist())
    return np.array([words[truth] for truth in values.tolist()], dtype=object)


def _are_exact(numbers: Array) -> bool:
    return bool(((numbers > -EXACT) & (numbers < EXACT)).all())
