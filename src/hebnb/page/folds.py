"""Which rows a method learns from and which it is tried on: at random, a group at a time, or in the order of time."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, IntArray
from hebnb.foundation.printable import visible
from hebnb.tabular.dates import described, formats_like

# Values whose shape is looked at for the format of dates.
_LOOKED_AT = 10


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


def require_times(name: str, texts: Sequence[str]) -> None:
    """Refuse text whose order is not that of time: only dates as ISO 8601 writes them, all as exactly, are in order.

    Examples
    --------
    >>> require_times("day", ["2024-02-29", "2023-12-31"])
    >>> require_times("day", ["1 March 2024", "2 March 2024"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hebnb.errors.InputError: Column 'day' is text, whose order is not that of time: '1 March 2024' is no date as ...
    """
    hint = (
        "Write dates as 2024-12-31 or 2024-12-31T23:59, the same way in every row; or name a column of numbers that "
        "grow with time."
    )
    said = f"{errors.column(name)} is text, whose order is not that of time"
    wrong = next((text for text in texts if not _is_plain_date(text)), None)
    odd = None if wrong is None else _odd_among_dates(texts)
    if odd is not None:
        raise InputError(
            f"{said}: most of its values are {odd[0]}, but {visible(odd[1], 40)!r} is none.",
            "Correct such values, or leave their rows out.",
        )
    if wrong is not None:
        raise InputError(f"{said}: {visible(wrong, 40)!r} is no date as 2024-12-31 is.", hint)
    by_length = {len(text): text for text in texts}
    if len(by_length) > 1:
        one, other, *_ = by_length.values()
        raise InputError(f"{said}: {one!r} and {other!r} are not written the same way.", hint)


def _odd_among_dates(texts: Sequence[str]) -> tuple[str, str] | None:
    """How most texts are written as dates, in words, and the first that is not; None if most are none, or all are."""
    forms = dict.fromkeys(form for text in texts[:_LOOKED_AT] for form in formats_like(text))
    misfits = [([text for text in texts if not _fits(text, form)], form) for form in forms]
    fewest, best = min(misfits, key=lambda own: len(own[0]), default=([], ""))
    return (described(best), fewest[0]) if 0 < len(fewest) < len(texts) / 2 else None


def _fits(text: str, form: str) -> bool:
    try:
        dt.datetime.strptime(text.strip(), form)
    except ValueError:
        return False
    return True


def _is_plain_date(text: str) -> bool:
    """Whether text is a date or time without a zone, with the year first and dashes."""
    try:
        return dt.datetime.fromisoformat(text).tzinfo is None and text[4] == text[7] == "-"
    except ValueError:
        return False


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
