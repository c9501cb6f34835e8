"""How much memory a file may take: no more than a file of its size can honestly ask for."""

from __future__ import annotations

from pathlib import Path

from hebnb.errors import InputError
from hebnb.foundation.memory import free_memory, honest_bytes


class Allowance:
    """Memory that a file may take; whoever is about to take some says so first.

    Parameters
    ----------
    path : Path
    file_bytes : int
    limit : float, optional
        What the user allows; by default what is honest for a file of that size, and half of what is free.
    """

    def __init__(self, path: Path, file_bytes: int, limit: float | None = None) -> None:
        self.path, self.file_bytes = path, file_bytes
        self.limit = min(honest_bytes(file_bytes), free_memory() / 2) if limit is None else limit
        self.taken = 0.0

    def take(self, n_bytes: float) -> None:
        """Complain before more is taken than is allowed."""
        self.taken += n_bytes
        if not self.taken <= self.limit:
            raise InputError(
                f"{str(self.path)!r} would take {self.taken / 1e6:,.0f} MB of memory or more, and a file of "
                f"{self.file_bytes / 1e6:,.1f} MB is allowed {self.limit / 1e6:,.0f} MB.",
                "If you trust the file, hebnb.load(path, memory_limit=…) allows it more, in bytes.",
            )
