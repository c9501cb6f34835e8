"""From integer keys to places, for many keys at once: a table where keys are dense, and a hash table where not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hebnb.foundation.arrays import IntArray

# Keys below this, or below so many times their number, are found in a table with a line for every possible key.
_SMALL_SPACE = 1 << 16
_SPARSEST_TABLE = 8
# Fibonacci hashing: 2⁶⁴ over the golden ratio, odd, spreads neighbouring keys evenly over the high bits.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class KeyIndex:
    """Where each of some distinct keys stands.

    Parameters
    ----------
    keys : array of int
        Distinct, not negative.
    space : int
        A number above all of them.

    Examples
    --------
    >>> KeyIndex(np.array([5, 2, 900_000]), 1_000_000).places(np.array([[2, 3], [900_000, 5]]))
    array([[ 1, -1],
           [ 2,  0]])
    """

    keys: IntArray
    space: int

    def places(self, keys: IntArray) -> IntArray:
        """The place of every key, −1 for one that is not there."""
        if not len(self.keys):
            return np.full(keys.shape, -1, dtype=np.intp)
        if self._direct is not None:
            return self._direct.take(keys)
        slots, shift = self._slots
        found = self._hashed(keys.ravel(), shift)
        at = slots.take(found)
        # A key that hashes to a slot taken by another stands in one of the slots after it, before the first free one.
        wrong = np.flatnonzero((self._padded.take(at) != keys.ravel()) & (at >= 0))
        while len(wrong):
            found[wrong] += 1
            found[wrong] &= len(slots) - 1
            at[wrong] = slots[found[wrong]]
            wrong = wrong[(self._padded[at[wrong]] != keys.ravel()[wrong]) & (at[wrong] >= 0)]
        return at.reshape(keys.shape)

    @cached_property
    def _padded(self) -> IntArray:
        """The keys, and at place −1 one that nothing is equal to."""
        return np.append(self.keys, -1)

    @cached_property
    def _direct(self) -> IntArray | None:
        if self.space > max(_SMALL_SPACE, _SPARSEST_TABLE * len(self.keys)):
            return None
        table = np.full(self.space, -1, dtype=np.intp)
        table[self.keys] = np.arange(len(self.keys))
        return table

    @cached_property
    def _slots(self) -> tuple[IntArray, int]:
        """The place that each slot of the hash table holds, −1 for none; at most half of the slots are taken."""
        bits = max(int(2 * len(self.keys)).bit_length(), 1)
        slots: IntArray = np.full(1 << bits, -1, dtype=np.intp)
        shift = 64 - bits
        slot, waiting = self._hashed(self.keys, shift), np.arange(len(self.keys))
        while len(waiting):
            free = slots[slot[waiting]] < 0
            slots[slot[waiting[free]]] = waiting[free]  # of several for one slot the last gets it
            waiting = waiting[slots[slot[waiting]] != waiting]
            slot[waiting] = (slot[waiting] + 1) & (len(slots) - 1)
        return slots, shift

    @staticmethod
    def _hashed(keys: IntArray, shift: int) -> IntArray:
        spread: NDArray[np.uint64] = keys.astype(np.uint64) * _MULTIPLIER
        spread >>= np.uint64(shift)
        return spread.astype(np.intp)
