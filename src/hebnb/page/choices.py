"""The values that the page names: those that enough rows have, and of numbers the bins that hold enough.

Whatever is on the page, in the explorer's model too, is about these values alone, so that a value that few rows have
is nowhere in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from hebnb.columns.kinds import Bins, Kind
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible
from hebnb.page.ticks import round_ticks, whole_ticks
from hebnb.scores.score_tables import ScoreTables

# Rows that a category must have to be named, unless the user says otherwise.
LEAST = 5
# Categories of a feature that can be chosen, the most frequent; and counts that a page may hold.
MOST_CHOICES = 20_000
MOST_COUNTS = 5_000_000
# The longest that a category is written out.
_LONGEST = 120
# Whole numbers of a feature that are in order on the page; more are categories like any other.
_MOST_WHOLE = 256


@dataclass(frozen=True, eq=False)
class FeatureChoices:
    """The values of a feature that can be chosen, in their order.

    Neighbouring bins that few rows have are offered as one. It is computed with as the one of them that has its median
    row.

    Parameters
    ----------
    codes : array of shape (choices,)
        What the model computes with.
    place : array of shape (K + 1,)
        The choice that every code belongs to, −1 if to none.
    labels : list of str or None
        None is a gap.
    rows : array of shape (choices,)
        Training rows.
    edges : list of float, optional
        Where numbers are cut, times in microseconds since 1970; None of what is no number.
    of_times : bool
    is_ordered : bool
        Whether the choices, a gap aside, are in the order of what they mean: bins, and whole numbers.
    ticks : list of (float, str), optional
        Round numbers at the axis of what is in order, and after how many choices they stand.
    """

    codes: IntArray
    place: IntArray
    labels: list[str | None]
    rows: FloatArray
    edges: list[float] | None = None
    of_times: bool = False
    is_ordered: bool = False
    ticks: list[tuple[float, str]] | None = None

    @classmethod
    def of(cls, kind: Kind, rows: FloatArray, least: float, most: int) -> FeatureChoices:
        """Those of a feature of which every code has so many rows."""
        cut = kind.computed_by(_Cut())
        if cut is None or len(rows) > most:
            kept = np.argsort(-rows, kind="stable")[:most]
            codes = np.sort(kept[rows[kept] >= least])
            labels = [short(text) for text in np.array(kind.texts, dtype=object)[codes]]
            found = cls(codes, _places(codes, codes, kind.size), labels, rows[codes])
            if not kind.are_integers or len(codes) > _MOST_WHOLE:
                return found
            return replace(found, is_ordered=True, ticks=whole_ticks([int(label) for label in labels if label]))
        n_bins = len(cut.edges) + 1
        starts = _starts(rows[:n_bins], least)
        group = np.cumsum(np.isin(np.arange(n_bins), starts)) - 1
        # A group is computed with as its median row is.
        total = np.cumsum(rows[:n_bins])
        before = np.append(0.0, total)[starts]
        middle = np.searchsorted(total, (before + np.append(before[1:], total[-1])) / 2)
        codes = np.clip(middle, starts, np.append(starts[1:], n_bins) - 1)
        held: FloatArray = np.bincount(group, rows[:n_bins]).astype(float)
        members = np.arange(n_bins)
        if kind.gap is not None and rows[kind.gap] >= least:
            codes, held = np.append(codes, kind.gap), np.append(held, rows[kind.gap])
            members, group = np.append(members, kind.gap), np.append(group, len(starts))
        place = np.full(kind.size + 1, -1)
        place[members] = group
        edges = cut.edges[starts[1:] - 1]
        labels = Bins(edges, len(codes) > len(starts), cut.of_times).texts
        ticks = round_ticks(edges, of_times=cut.of_times)
        return cls(codes, place, [short(text) for text in labels], held, edges.tolist(), cut.of_times, True, ticks)

    @property
    def is_plain(self) -> bool:
        """Whether every choice is a value by itself."""
        return bool(np.count_nonzero(self.place >= 0) == len(self.codes))

    @cached_property
    def n_withheld(self) -> int:
        """How many values are not offered."""
        return int(np.count_nonzero(self.place[:-1] < 0))


@dataclass(frozen=True, eq=False)
class Choices:
    """The values of all features that can be chosen, in one line.

    Parameters
    ----------
    of_features : list of FeatureChoices
    least : float
        Rows that a value must have to be named.
    """

    of_features: list[FeatureChoices]
    least: float = 0

    @classmethod
    def of(cls, model: ScoreTables, least: float = 0) -> Choices:
        """The most frequent values, of those that enough rows have."""
        most, counts = choices_of(model), model.counts
        features = zip(counts.vocabulary.features, counts.marginal, strict=True)
        return cls([FeatureChoices.of(kind, rows, least, most) for kind, rows in features], least)

    @property
    def starts(self) -> IntArray:
        """Where the choices of every feature begin."""
        return np.concatenate([[0], np.cumsum([len(own.codes) for own in self.of_features])])


def choices_of(model: ScoreTables) -> int:
    """How many categories of a feature a page with this model offers."""
    n_features = len(model.counts.marginal)
    numbers = model.n_classes * n_features
    if len(model.parents):  # whose values have a total for every child
        numbers *= n_features
    return max(1, min(MOST_CHOICES, MOST_COUNTS // numbers))


def class_names(labels: Sequence[Any], rows: FloatArray, least: float) -> list[str]:
    """What classes are called on the page: those that few rows have, by a number.

    Examples
    --------
    >>> class_names(["ontime", "late", "lost"], np.array([90, 9, 1]), 5)
    ['ontime', 'late', '(rare class 1)']
    """
    rare = np.cumsum(rows < least).tolist()
    return [f"(rare class {rare[c]})" if rows[c] < least else short(str(label), 60) for c, label in enumerate(labels)]


@overload
def short(label: str, most: int = ...) -> str: ...
@overload
def short(label: str | None, most: int = ...) -> str | None: ...
def short(label: str | None, most: int = _LONGEST) -> str | None:
    """A name or a category as it is shown, in quotation marks if there is nothing to see; None for a gap.

    Examples
    --------
    >>> short("red"), short("  "), short(None)
    ('red', '“  ”', None)
    """
    if label is None:
        return None
    return visible(label, most) if label.strip() else f"“{visible(label, most)}”"


def _places(values: IntArray, codes: IntArray, size: int) -> IntArray:
    places = np.full(size + 1, -1)
    places[values] = np.arange(len(codes))
    return places


def _starts(rows: FloatArray, least: float) -> IntArray:
    """Where groups of neighbours begin that have so many rows each, or where there are not enough, a single one."""
    starts, held = [0], 0.0
    for v, count in enumerate(rows.tolist()):
        if held >= least and held > 0:
            starts.append(v)
            held = 0.0
        held += count
    if held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts) if least > 0 else np.arange(len(rows))


class _Edges(NamedTuple):
    edges: FloatArray
    of_times: bool


class _Cut:
    """Where numbers are cut; None of categories."""

    def lookup(self, values: Array, gap: int | None) -> _Edges | None:
        """None: categories have names."""
        return None

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> _Edges | None:
        """The edges."""
        return _Edges(edges, of_times)
