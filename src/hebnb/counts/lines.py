"""Counts line by line: how often cells of some columns occurred with a class."""

from __future__ import annotations

from dataclasses import dataclass

from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Lines:
    """How often cells of some columns occurred with classes.

    Parameters
    ----------
    columns : tuple of int
        The columns; none for lines that count rows of classes.
    codes : array of shape (lines, columns)
    class_ : array of shape (lines,)
    count : array of shape (lines,)
    by_number : bool
        Whether codes are numbers of nodes, which have no text, rather than those of values.
    """

    columns: tuple[int, ...]
    codes: IntArray
    class_: IntArray
    count: FloatArray
    by_number: bool = False
