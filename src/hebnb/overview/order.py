"""Whether the order of rows tells their class."""

from __future__ import annotations

import numpy as np

from hebnb.foundation.arrays import IntArray

# Rows whose neighbours are of the same class so much more often than chance would have it are sorted.
_ERRORS_OF_CHANCE = 6.0


def are_sorted(codes: IntArray) -> bool:
    """Whether neighbouring rows are of one class far more often than if they were shuffled.

    Then rows depend on those beside them, on a time or a place, and folds at random flatter every method.

    Examples
    --------
    >>> are_sorted(np.repeat([0, 1], 500)), are_sorted(np.tile([0, 1], 500))
    (True, False)
    """
    n = len(codes) - 1
    share = np.bincount(codes) / len(codes)
    chance = float(np.square(share).sum())
    if n < 1 or chance >= 1:
        return False
    same = float(np.mean(codes[1:] == codes[:-1]))
    return bool(same - chance > _ERRORS_OF_CHANCE * np.sqrt(chance * (1 - chance) / n))
