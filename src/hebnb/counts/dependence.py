"""How much two features tell about each other within a class, from counts of pairs."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from hebnb.counts.pairs import DensePairs, PairCounts
from hebnb.foundation.arrays import FloatArray

# Decimals of information, in bits, that decide between columns.
_DIGITS = 10


def conditional_mutual_information(counts: PairCounts) -> FloatArray:
    """I(X_i; X_j | Y) in bits for every pair of features, of shape (F, F), from the rows in which both are known.

    With n the counts of a class, Σ n_uv log n_uv − Σ n_u log n_u − Σ n_v log n_v + n log n is that class's part.
    """
    layout, n_features = counts.layout, len(counts.tables)
    shape = counts.classes.size, layout.width, n_features
    together = np.zeros((n_features, n_features))
    if isinstance(counts.pairs, DensePairs):
        present = np.flatnonzero(layout.sizes)
        starts = layout.starts[present]
        rows = np.zeros(shape)  # of every class and value, in which the other feature is known
        rows[:, :, present] = np.add.reduceat(counts.pairs.square, starts, axis=2)
        cells = np.add.reduceat(xlogy(counts.pairs.square, counts.pairs.square).sum(axis=0), starts, axis=0)
        together[np.ix_(present, present)] = np.add.reduceat(cells, starts, axis=1)
    else:
        pairs = counts.pairs
        i, j = layout.feature[pairs.first], layout.feature[pairs.second]
        one_way = np.bincount(i * n_features + j, xlogy(pairs.count, pairs.count), n_features**2)
        together += one_way.reshape(n_features, n_features)
        together += together.T
        rows = np.zeros(shape)
        np.add.at(rows, (pairs.class_, pairs.first, j), pairs.count)
        np.add.at(rows, (pairs.class_, pairs.second, i), pairs.count)
    of_value, total = np.zeros((n_features, n_features)), np.zeros((shape[0], n_features, n_features))
    for f in range(n_features):
        here = rows[:, layout.span(f)]
        of_value[f] = xlogy(here, here).sum(axis=(0, 1))
        total[:, f] = here.sum(axis=1)
    information = together - of_value - of_value.T + xlogy(total, total).sum(axis=0)
    known = total.sum(axis=0)
    np.fill_diagonal(information, 0.0)
    return without_rounding(information / np.maximum(known, 1e-300) / np.log(2))


def without_rounding(information: FloatArray) -> FloatArray:
    """Information in bits without the digits that are rounding: equal columns tie, and independent ones have none.

    Choosing parents by those digits would make the choice depend on the order in which categories are added up.
    """
    return np.maximum(np.round(information, _DIGITS), 0.0)
