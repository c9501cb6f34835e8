"""Which rows a method learns from and which it is tried on: at random, a group at a time, or in the order of time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, IntArray


def parts(
    codes: IntArray, folds: int, seed: int, groups: Array | None = None, times: Array | None = None
) -> list[tuple[IntArray, IntArray]]:
    """Rows to learn from and rows to try, a pair for every fold.

    Parameters
    ----------
    codes : array of shape (S,)
        The classes of the rows.
    folds, seed : int
    groups : array of shape (S,), optional
        Rows of one group are never on both sides.
    times : array of shape (S,), optional
        Rows are tried by what earlier rows taught; the earliest are only learned from.

    Examples
    --------
    >>> ((train, test),) = parts(np.array([0, 1, 0, 1]), 1, 0, times=np.array([4, 1, 2, 3]))
    >>> train, test
    (array([1, 2]), array([0, 3]))
    """
    if times is not None:
        return list(_in_time(times, folds))
    folds = int(min(folds, np.bincount(codes).max()))
    if folds < 2:
        raise InputError("No class has two rows, so nothing can be tried on rows that were not learned from.")
    if groups is not None:
        return _by_group(codes, folds, seed, groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes))


def _by_group(codes: IntArray, folds: int, seed: int, groups: Array) -> list[tuple[IntArray, IntArray]]:
    _, group = np.unique(groups, return_inverse=True)
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        raise InputError("All rows are of one group, so none are left to try.", "Name another column with --group.")
    split = StratifiedGroupKFold(min(folds, n_groups), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = list(split.split(codes, codes, group))
    return [(train, test) for train, test in found if len(train) and len(test)]


def _in_time(times: Array, folds: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Stretches of about equal size, each tried by all before it; rows of one time stay together."""
    _, moment = np.unique(times, return_inverse=True)
    order = np.argsort(moment, kind="stable")
    starts = np.flatnonzero(np.diff(moment[order], prepend=-1))  # where a new time begins
    wished = np.arange(1, folds + 1) * len(order) // (folds + 1)
    cuts = np.unique(starts[np.minimum(np.searchsorted(starts, wished), len(starts) - 1)])
    cuts = cuts[cuts > 0]
    if not len(cuts):
        raise InputError("All rows are of one time, so none are later.", "Name another column with --time.")
    for start, end in zip(cuts, [*cuts[1:], len(order)], strict=True):
        yield np.sort(order[:start]), np.sort(order[start:end])
