"""Columns that say the same as others: every value of one goes with one value of the other, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from scipy.special import gammaln

from hebnb.foundation.arrays import IntArray
from hebnb.overview.seen import Seen

# Columns with as many rows a value would go together by chance less often than once in so many pairs of columns.
_BY_CHANCE = 1e6


def repeats(columns: Sequence[Seen]) -> dict[int, int]:
    """The columns that repeat an earlier one, by their places.

    Whether rows have the same value is all that counts, so metres repeat feet. Of numbers that hardly ever occur twice
    that says little; these repeat each other if they put the rows in the same order, or in the opposite one.

    Examples
    --------
    >>> from hebnb.columns.kinds import Categories
    >>> from hebnb.columns.column import Column
    >>> def seen(values):
    ...     column = Column("x", np.array(values * 10, dtype=object))
    ...     return Seen.of(column, Categories.occurring(*column.levels))
    >>> repeats([seen(list("abca")), seen([3, 1, 2, 3]), seen([3, 1, 2, 2])])
    {1: 0}
    """
    first: dict[bytes, int] = {}
    found: dict[int, int] = {}
    alike = _by_sizes(columns)
    for f, seen in enumerate(columns):
        if len(alike[_sizes(seen)]) < 2:  # no other has as many rows a value, so none can be the same
            continue
        key = _key(seen)
        if key is not None and first.setdefault(key, f) != f:
            found[f] = first[key]
    return found


def _by_sizes(columns: Sequence[Seen]) -> dict[bytes, list[int]]:
    alike: dict[bytes, list[int]] = {}
    for f, seen in enumerate(columns):
        alike.setdefault(_sizes(seen), []).append(f)
    return alike


def _sizes(seen: Seen) -> bytes:
    """How many rows the values have, in whichever order; a gap is a value too."""
    return np.sort(_rows(seen)).tobytes()


def _rows(seen: Seen) -> IntArray:
    return np.append(seen.rows, seen.n_gaps) if seen.n_gaps else seen.rows


def _key(seen: Seen) -> bytes | None:
    """What is the same for columns that repeat each other, and for no others; None if nothing can be said."""
    if len(seen.values) < 2:
        return None
    if _log_ways(_rows(seen)) > np.log(_BY_CHANCE):
        return _hash(_in_order_of_appearance(seen.codes))
    if not seen.is_cut or gammaln(len(seen.values) + 1) <= np.log(_BY_CHANCE):
        return None
    opposite = np.where(seen.codes < 0, -1, len(seen.values) - 1 - seen.codes)
    return min(_hash(seen.codes), _hash(opposite))


def _log_ways(rows: IntArray) -> float:
    """The log of how many ways there are to part the rows into groups of these sizes."""
    _, equals = np.unique(rows, return_counts=True)
    return float(gammaln(rows.sum() + 1) - gammaln(rows + 1).sum() - gammaln(equals + 1).sum())


def _in_order_of_appearance(codes: IntArray) -> IntArray:
    """Codes 0, 1, 2 … in the order in which values first appear."""
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return number[place]


def _hash(codes: IntArray) -> bytes:
    return blake2b(np.ascontiguousarray(codes).tobytes(), digest_size=16).digest()
