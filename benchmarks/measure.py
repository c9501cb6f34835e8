"""Two sides of a comparison in one run: interleaved, repeated, by their medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


def medians(
    sides: Sequence[Callable[[], object]],
    repeat: int = 15,
    summary: Callable[[list[float]], float] = statistics.median,
) -> list[float]:
    """Median seconds of every side. They take turns, so that a busy moment of the machine hits all of them."""
    seconds: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side()
    for _ in range(repeat):
        for side, taken in zip(sides, seconds, strict=True):
            began = time.perf_counter()
            side()
            taken.append(time.perf_counter() - began)
    return [summary(taken) for taken in seconds]


@dataclass(frozen=True)
class Comparison:
    """What was measured on both sides, and the ratio aimed at."""

    what: str
    ours: float
    theirs: float
    aim: float

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        verdict = "met" if ratio <= self.aim else "NOT MET"
        what, ours, theirs = self.what.replace("`", ""), 1e3 * self.ours, 1e3 * self.theirs
        return f"{what:<76}{ours:>10.1f}{theirs:>10.1f}{ratio:>8.2f}{self.aim:>8.2f}  {verdict}"


HEADER = f"{'':<76}{'ours, ms':>10}{'other, ms':>10}{'ratio':>8}{'aim':>8}"
