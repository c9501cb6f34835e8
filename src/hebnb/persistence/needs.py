"""What a model takes in memory beyond what was read for it, known before any of it is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hebnb.counts.families import FamilyCounts
from hebnb.counts.pairs import DensePairs, PairCounts
from hebnb.counts.single import Counts
from hebnb.evidence.counts import EvidenceCounts, nodes_of
from hebnb.scores.estimates import Estimates
from hebnb.scores.tables import most_numbers

_NUMBER = 8.0
# Copies of the numbers of a table while it is made and afterwards, and of the sums that estimates are made of.
_OF_TABLE, _OF_SUMS = 4.0, 5.0
# What a pair of values that met takes, seen from both sides.
_OF_PAIR = 120.0


def bytes_to_answer(counts: Counts, columns: Sequence[Sequence[int]], estimates: Estimates | None) -> float:
    """What score tables over some columns, and estimates, take beside the counts that they are made of."""
    sizes, n_classes = counts.vocabulary.sizes.astype(float), counts.classes.size
    numbers = _OF_TABLE * (float(sizes.sum()) + sum(table.size for table in counts.tables))
    if isinstance(counts, EvidenceCounts):
        numbers += _OF_TABLE * n_classes * (_of_trees(counts) + _of_crosses(counts))
    else:
        combinations = [float(np.prod(sizes[list(own)] + 1)) * n_classes for own in columns if len(own) > 1]
        most = most_numbers(_most_cells(counts), n_classes, len(sizes))
        blocks = [own for own in combinations if own <= most]
        numbers += sum(blocks) + _OF_TABLE * max(blocks, default=0.0)
    if estimates is not None:
        of_parents = float(sizes[estimates.used.any(axis=1)].sum())
        numbers += _OF_SUMS * n_classes * of_parents * len(sizes)
    return _NUMBER * numbers + _OF_PAIR * _n_pairs(counts)


def _of_trees(counts: EvidenceCounts) -> float:
    """Nodes of columns, at all levels."""
    return float(sum(len(kind.levels) * (kind.size + 2.0) for kind in counts.vocabulary.features))


def _of_crosses(counts: EvidenceCounts) -> float:
    """Combinations of nodes of crosses, at all levels; every one has a line if there is a level above."""
    features = counts.vocabulary.features
    total = 0.0
    for cross, cells in zip(counts.choice.crosses, counts.cells, strict=True):
        combinations = np.prod([float(nodes_of(features[f], cross.depth).max()) + 1 for f in cross.columns])
        total += 2 * float(combinations) if cross.depth > 1 else 2.0 * len(cells.codes)
    return total


def _most_cells(counts: Counts) -> float:
    """Cells of the largest family, or more."""
    if isinstance(counts, FamilyCounts):
        return max((2.0 * len(own.parents) * len(own.codes) for own in counts.cells), default=0.0)
    return 2.0 * _n_pairs(counts)


def _n_pairs(counts: Counts) -> int:
    """Pairs of values that met."""
    if not isinstance(counts, PairCounts):
        return 0
    pairs = counts.pairs
    return int(np.count_nonzero(pairs.square)) // 2 if isinstance(pairs, DensePairs) else len(pairs.count)
