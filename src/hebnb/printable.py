"""Text that other people wrote, made fit to be shown."""

from __future__ import annotations


def visible(text: str, most: int | None = None) -> str:
    r"""The text with every character that would not be seen, or would act on a terminal, written out; shortened.

    Examples
    --------
    >>> print(visible("red\x1b[2J\u202e", 20))
    red\x1b[2J\u202e
    >>> visible("a very long name", 10)
    'a very lo…'
    """
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
