"""What trees of categories take in memory, known before any of them is grown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def bytes_of_trees(features: Iterable[Mapping[str, Any]]) -> float:
    """What the ancestors of all categories of trees take: a text above every separator, a name for every parent."""
    trees = [described for described in features if "hierarchy" in described]
    return float(sum(_of_paths(own["hierarchy"], [*own["values"], *own["inner"]]) for own in trees))


def _of_paths(hierarchy: Mapping[str, Any], texts: Sequence[str]) -> float:
    if "prefixes" in hierarchy:
        return sum(60.0 * len(hierarchy["prefixes"]) + sum(map(float, hierarchy["prefixes"])) for _ in texts)
    if "separator" in hierarchy:
        return sum((60.0 + len(text)) * (1 + text.count(hierarchy["separator"])) for text in texts)
    depths: dict[str, int] = {}
    return sum(60.0 * _depth(text, hierarchy["parents"], depths) for text in texts)


def _depth(name: str, parents: Mapping[str, str | None], known: dict[str, int]) -> int:
    """How many names lead up to the root; ``known`` has those that were asked before."""
    trail: dict[str, None] = {}
    at: str | None = name
    while at is not None and at not in known:
        if at in trail:
            raise ValueError("a category is above itself")
        trail[at] = None
        at = parents.get(at)
    depth = 0 if at is None else known[at]
    for own in reversed(trail):
        depth += 1
        known[own] = depth
    return known[name]
