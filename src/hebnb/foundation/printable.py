"""Values that other people wrote, made fit to be shown or sent."""

from __future__ import annotations

import math
import unicodedata
from typing import Any


def visible(text: str, most: int | None = None) -> str:
    r"""The text with every character that would not be seen, or would act on a terminal, written out; shortened.

    Examples
    --------
    >>> print(visible("red\x1b[2J\u202e", 20))
    red\x1b[2J\u202e
    >>> visible("a very long name", 10)
    'a very lo…'
    """
    if most is not None:
        text = text[: most + 1]  # enough to know that there is more, and little to look through
    if not text.isprintable():
        text = "".join(map(_visible, text))
    return text if most is None or len(text) <= most else text[: most - 1] + "…"


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    is_space = unicodedata.category(character) == "Zs"
    return " " if is_space else character.encode("unicode_escape").decode()


def without_nan(value: Any) -> Any:
    """The value with None for every number that JSON lacks.

    Examples
    --------
    >>> without_nan({"loss": [0.5, float("nan"), float("-inf")]})
    {'loss': [0.5, None, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value
