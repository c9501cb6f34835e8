"""How much memory there is."""

from __future__ import annotations

import math
import os

# What any file may take, and what every byte of it may add.
_FLOOR = 96e6
_PER_BYTE = 256.0


def honest_bytes(file_bytes: int) -> float:
    """What a file of that size may take, unpacked or in memory, without being made to fill it.

    Examples
    --------
    >>> honest_bytes(1_000_000)
    352000000.0
    """
    return _FLOOR + _PER_BYTE * file_bytes


def free_memory() -> float:
    """Bytes that can be had without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo") as lines:
            return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf
