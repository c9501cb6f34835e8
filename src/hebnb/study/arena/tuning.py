"""An hour of tuning: random search by the log-loss of inner folds, until the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hebnb.study.arena.contenders import Contender, Space
from hebnb.study.arena.folds import Fold

INNER_FOLDS = 3
SEED = 0


@dataclass(frozen=True)
class Search:
    """What a search found.

    Parameters
    ----------
    best : dict
        Parameters with the least inner log-loss; empty for the defaults.
    tried : int
        Sets of parameters, the defaults among them.
    seconds : float
    """

    best: dict[str, Any] = field(default_factory=dict)
    tried: int = 0
    seconds: float = 0.0


def candidates(space: Space, seed: int = SEED) -> Iterator[dict[str, Any]]:
    """The defaults, and then sets of parameters at random, without end.

    Examples
    --------
    >>> drawn = candidates({"depth": [4, 6, 8], "rate": (0.01, 0.3)})
    >>> next(drawn)
    {}
    >>> all(one["depth"] in (4, 6, 8) and 0.01 <= one["rate"] <= 0.3 for one, _ in zip(drawn, range(50)))
    True
    """
    rng = np.random.default_rng(seed)
    yield {}
    while True:
        yield {name: _draw(values, rng) for name, values in space.items()}


def _draw(values: list[Any] | tuple[float, float], rng: np.random.Generator) -> Any:
    if isinstance(values, tuple):
        low, high = values
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return values[int(rng.integers(len(values)))]


def search(
    contender: Contender,
    fold: Fold,
    threads: int,
    budget: float,
    *,
    loss: Callable[[Contender, Fold, int, dict[str, Any]], float],
    clock: Callable[[], float] = time.perf_counter,
) -> Search:
    """Look for parameters on the training rows of a fold; one more set is tried if it should end in time."""
    began = clock()
    if not contender.space:
        return Search()
    inner = list(fold.inner(INNER_FOLDS))
    best: dict[str, Any] = {}
    least, tried, slowest = np.inf, 0, 0.0
    for parameters in candidates(contender.space):
        started = clock()
        if tried and started - began + slowest > budget:
            break
        try:
            found = float(np.mean([loss(contender, own, threads, parameters) for own in inner]))
        except Exception:  # a set that a program refuses is a bad one
            found = np.inf
        tried += 1
        slowest = max(slowest, clock() - started)
        if found < least:
            best, least = parameters, found
    return Search(best, tried, clock() - began)
