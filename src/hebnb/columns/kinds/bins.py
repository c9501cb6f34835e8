"""Numbers cut into bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hebnb.columns.column import Column, Name
from hebnb.columns.kinds.base import (
    Coder,
    Cutting,
    Kind,
    MissingPolicy,
    Numbers,
    T_co,
    refuse_missing,
    with_missing,
)
from hebnb.columns.kinds.categories import Categories
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hebnb.columns.reading import Reading


# Most rows of a lazy table that quantiles are taken of: with probability 0.9999 all are within 0.5 % of the rows of
# where those of all rows are (the inequality of Dvoretzky, Kiefer and Wolfowitz).
MOST_SAMPLED = 200_000
# Numbers that are searched for together, which fit the cache; of fewer than these it does not pay.
_BLOCK, _WORTH_BLOCKS = 1 << 14, 1 << 11


@dataclass(frozen=True, eq=False)
class Bins(Kind):
    """A numeric feature cut at ``edges``; an edge belongs to the bin below it, and the end bins are open.

    Examples
    --------
    >>> import numpy as np
    >>> ages = Bins(np.array([18.0, 65.0]), missing=False)
    >>> ages.encode(Column("age", np.array([-1.0, 18.0, 40.0, 99.0, np.nan])))
    array([0, 0, 1, 2, 3])
    >>> ages.labels
    array(['≤ 18', '18 – 65', '> 65'], dtype=object)
    """

    edges: FloatArray
    missing: bool
    of_times: bool = False
    # Whether no number was seen yet, so that there is no bin but that of gaps.
    empty: bool = field(default=False, kw_only=True)
    name: ClassVar[str] = "bins"

    @classmethod
    def claims(cls, column: Any, reading: Reading) -> bool:
        """Measured quantities, and what the user wants to be cut."""
        return reading.cuts(column)

    @classmethod
    def learn(
        cls, column: Column, reading: Reading, weights: FloatArray | None = None, labels: IntArray | None = None
    ) -> Kind:
        """Bins at the edges that were given, or at quantiles; categories where numbers are few."""
        numbers = column.numbers
        missing = has_missing(numbers, reading.missing, column.name)
        present = ~np.isnan(numbers)
        given = reading.given_edges.get(column.name)
        if given is not None:
            return cls(given, missing, column.holds_times, empty=not present.any())
        edges = _edges(Numbers(numbers, weights), reading.n_bins)
        return Categories.learn(column, reading) if edges is None else cls(edges, missing, column.holds_times)

    @classmethod
    def expected(cls, columns: list[Any], reading: Reading, engine: Cutting) -> list[Kind]:
        """Bins at quantiles of the rows, or of a sample of them; categories where numbers are few."""
        found: dict[Name, FloatArray | None] = dict(reading.given_edges)
        unknown = [column for column in columns if column.name not in found]
        sampled = engine.sampled(unknown, MOST_SAMPLED, reading.n_bins) if unknown else []
        for column, numbers in zip(unknown, sampled, strict=True):
            found[column.name] = _edges(numbers, reading.n_bins)
        few = Categories(np.empty(0, dtype=object), missing=False)
        edges = [found[column.name] for column in columns]
        return [
            few if own is None else cls(own, missing=False, of_times=column.holds_times)
            for column, own in zip(columns, edges, strict=True)
        ]

    def counted(self, keys: Column, policy: MissingPolicy) -> Bins:
        """Whether there were gaps, and numbers."""
        gaps = self.gaps(keys)
        return replace(self, missing=bool(gaps.any()) and policy == "category", empty=bool(gaps.all()))

    def codes_of_keys(self, keys: Column) -> IntArray:
        """The keys are numbers of bins."""
        numbers = keys.numbers
        return np.where(np.isnan(numbers), self.missing_code, np.nan_to_num(numbers)).astype(np.intp)

    @property
    def size(self) -> int:
        """K, the number of bins, the missing one included."""
        return self._n_bins + self.missing

    @property
    def _n_bins(self) -> int:
        return 0 if self.empty else len(self.edges) + 1

    @property
    def is_empty(self) -> bool:
        """Whether no number was seen."""
        return self.empty

    @property
    def labels(self) -> Array:
        """The bins by code, as text; the missing one is None."""
        labels = np.empty(self.size, dtype=object)
        labels[:] = self.texts
        return labels

    @property
    def texts(self) -> list[str | None]:
        """The bins as intervals."""
        ends = self._edge_texts()
        inner = [f"{low} – {high}" for low, high in pairwise(ends)]
        bins = [f"≤ {ends[0]}", *inner, f"> {ends[-1]}"] if ends else ["any number"]
        return [*bins[: self._n_bins], *([None] if self.missing else [])]

    def _edge_texts(self) -> list[str]:
        if self.of_times:
            return _times(self.edges)
        texts: list[str] = []
        for digits in (6, 9, 12, 17):  # as few as tell the edges apart
            texts = [f"{edge:.{digits}g}" for edge in self.edges + 0.0]  # a zero has no sign
            if len(set(texts)) == len(texts):
                break
        return texts

    @property
    def cut_at(self) -> FloatArray:
        """The edges."""
        return self.edges

    @property
    def description(self) -> str:
        """Numbers or times."""
        return "times, cut" if self.of_times else "numbers, cut"

    def encode(self, column: Column) -> IntArray:
        """A code for every row."""
        numbers = column.numbers
        of_numbers = self.size if self.empty else edges_below(self.edges, numbers)
        return np.where(np.isnan(numbers), self.missing_code, of_numbers)

    def gaps(self, column: Column) -> BoolArray:
        """Which rows have no value."""
        return np.isnan(column.numbers)

    def shown(self, column: Column, codes: IntArray) -> Array:
        """The bins of the rows."""
        shown: Array = np.array([*self.texts, None], dtype=object)[codes]
        return shown

    def outlives(self, codes: IntArray) -> BoolArray:
        """A bin stays when its last row is gone."""
        return codes < self._n_bins

    @property
    def may_be_silent(self) -> bool:
        """Earlier versions, whose files are read, did not count the gaps of a column that was all gaps."""
        return True

    def relearned(self, column: Column, policy: MissingPolicy) -> Bins:
        """The same bins."""
        numbers = column.numbers
        empty = self.empty and bool(np.isnan(numbers).all())
        return replace(self, missing=has_missing(numbers, policy, column.name), empty=empty)

    def union(self, other: Kind) -> Bins | None:
        """The same bins, if they are."""
        if not isinstance(other, Bins) or not np.array_equal(self.edges, other.edges):
            return None
        return replace(self, missing=self.missing or other.missing, empty=self.empty and other.empty)

    def codes_in(self, wider: Bins) -> IntArray:
        """The codes that these bins have in a feature with the same edges."""
        codes = np.arange(self._n_bins)
        return with_missing(codes, wider) if self.missing else codes

    def with_rows(self, rows: FloatArray) -> Self:
        """Bins stay, unless there is no number left; gaps are gone with the last."""
        empty = not rows[: self._n_bins].any()
        return replace(self, missing=self.missing and bool(rows[self.missing_code] > 0), empty=empty)

    def unlike(self, other: Kind) -> str:
        """Other edges, most often."""
        if not isinstance(other, Bins):
            return super().unlike(other)
        return "the parts are cut at different edges"

    def computed_by(self, coder: Coder[T_co]) -> T_co:
        """By counting the edges below; where no number was seen, none is known."""
        if self.empty:
            return coder.lookup(np.empty(0, dtype=object), self.gap)
        return coder.staircase(self.edges, self.of_times, self.gap)

    def document(self) -> tuple[dict[str, Any], Array | None]:
        """The edges are an array."""
        described = {"kind": self.name, "missing": self.missing, "of_times": self.of_times}
        return described | ({"empty": True} if self.empty else {}), self.edges

    @classmethod
    def restored(cls, described: Mapping[str, Any], array: Array | None) -> Bins:
        """The edges, which have to be increasing."""
        if array is None or array.ndim != 1 or array.dtype.kind not in "iuf":
            raise ValueError("there are no edges")
        edges = array.astype(float)
        if not bool(np.all(np.diff(edges) > 0)):
            raise ValueError("edges are not increasing")
        empty = bool(described.get("empty", False))
        return cls(edges, bool(described["missing"]), bool(described["of_times"]), empty=empty)


def edges_below(edges: FloatArray, numbers: FloatArray) -> IntArray:
    """How many of the increasing edges a number is above, as ``np.searchsorted`` has it, for numbers that are not NaN.

    All numbers of a block take every step of the search together, which needs no branch that a processor could
    mispredict: of a million numbers and 255 edges it takes a third of the time.

    Examples
    --------
    >>> import numpy as np
    >>> edges_below(np.array([18.0, 65.0]), np.array([17.0, 18.0, 18.5, 99.0]))
    array([0, 0, 1, 2])
    """
    if len(numbers) < _WORTH_BLOCKS:
        return np.searchsorted(edges, numbers)
    padded = np.full(1 << len(edges).bit_length(), np.inf)
    padded[: len(edges)] = edges
    below = np.zeros(len(numbers), dtype=np.intp)
    for start in range(0, len(numbers), _BLOCK):
        block, found = numbers[start : start + _BLOCK], below[start : start + _BLOCK]
        step = len(padded) >> 1
        while step:
            found += (padded.take(found + (step - 1)) < block) * step
            step >>= 1
    return below


def _times(edges: FloatArray) -> list[str]:
    """Times to the day, the minute or the second, as exactly as all of them are; more exactly only to tell them apart.

    Examples
    --------
    >>> import numpy as np
    >>> _times(np.array(["2024-01-31", "2024-02-29"], dtype="M8[us]").astype(float))
    ['2024-01-31', '2024-02-29']
    >>> _times(np.array(["2024-01-31", "2024-02-29T13:30"], dtype="M8[us]").astype(float))
    ['2024-01-31 00:00', '2024-02-29 13:30']
    """
    times, texts = edges.astype("M8[us]"), list[str]()
    for unit in ("D", "m", "s", "ms", "us"):
        cut = times.astype(f"M8[{unit}]")
        texts = [str(time).replace("T", " ") for time in cut]
        if bool(np.all(cut == times)) or (unit in ("s", "ms") and len(set(texts)) == len(texts)):
            break
    return texts


def _edges(given: Numbers, n_bins: int) -> FloatArray | None:
    """Edges at quantiles; None where there are no more distinct numbers than bins."""
    present = ~np.isnan(given.numbers)
    if given.weights is None:
        ordered = np.sort(given.numbers[present])
        weights = np.ones(len(ordered))
    else:
        order = np.argsort(given.numbers[present], kind="stable")
        ordered, weights = given.numbers[present][order], given.weights[present][order]
    return None if np.count_nonzero(np.diff(ordered)) < n_bins else edges_around_heavy(ordered, weights, n_bins)


def edges_around_heavy(ordered: FloatArray, weights: FloatArray, n_bins: int) -> FloatArray:
    """Edges at the quantiles of sorted values, and below every value that has more than a bin's share of the weight.

    Such a value is at a quantile, or the largest; with an edge below it too it has a bin to itself. Without, it would
    share its bin with the values below it, and, were all numbers negated, with those above.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([1.0, 2.0, 3.0, 4.0, 9.0, 9.0, 9.0, 9.0])
    >>> quantile_edges(numbers, np.ones(8), 3), edges_around_heavy(numbers, np.ones(8), 3)
    (array([3.]), array([3., 4.]))
    """
    starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
    heavy = starts[np.add.reduceat(weights, starts) > weights.sum() / n_bins]
    below = ordered[heavy[heavy > 0] - 1]
    return np.union1d(quantile_edges(ordered, weights, n_bins), below)


def quantile_edges(ordered: FloatArray, weights: FloatArray, n_bins: int) -> FloatArray:
    """At most ``n_bins − 1`` edges at the quantiles of sorted values, of which at least two differ.

    A quantile is the smallest value with at least that share at or below it. This definition, unlike an interpolating
    one, sees no difference between a weight of 2 and a repeated row, and an edge is always a value that occurred. If
    every quantile is the largest value, that value gets a bin to itself.

    Examples
    --------
    >>> import numpy as np
    >>> quantile_edges(np.arange(1.0, 13.0), np.ones(12), 4)
    array([3., 6., 9.])
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0]), np.ones(6), 3)
    array([0., 1.])
    """
    below = np.cumsum(weights)
    edges = np.unique(ordered[np.searchsorted(below, np.arange(1, n_bins) * below[-1] / n_bins)])
    inner: FloatArray = edges[edges < ordered[-1]]
    return inner if len(inner) else ordered[ordered < ordered[-1]][-1:]


def has_missing(numbers: FloatArray, policy: MissingPolicy, name: Name) -> bool:
    """Whether gaps are a category; a complaint where there may be none."""
    gaps = int(np.isnan(numbers).sum())
    if policy == "error":
        refuse_missing(gaps, name)
    return gaps > 0 and policy == "category"
