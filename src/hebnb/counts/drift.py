"""How far new rows are from those that were counted, column by column, and how far chance alone would take them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.column import Column, Name
from hebnb.columns.kinds import Kind
from hebnb.columns.table import Table
from hebnb.columns.vocabulary import Dropped
from hebnb.counts.single import Counts
from hebnb.counts.unseen import seen_once
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.foundation.printable import visible

# Rows are dealt anew this often, or less often where values are many.
_DEALS, _FEWEST_DEALS, _VALUES_DEALT = 200, 20, 2_000_000
# By how many standard errors a distance has to exceed what that shows on average, so that no column in thousands is
# named by chance. Of two values the distance is the absolute of a normal variable, and these are four of its own.
_ERRORS = 5.5
# Most nodes of a tree of numbers, with those of gaps and of silence: in more, each would have too few rows to tell.
_MOST_NODES = 18
# Most rows that are dealt; NumPy deals no more than a thousand million.
_MOST_ROWS = 5e8
# What is called the class, among columns.
CLASS = "(class)"
_LONGEST, _MOST_CLASSES = 40, 6


@dataclass(frozen=True, eq=False)
class NewColumn:
    """The values of a column in new rows. A frozen value that adds.

    Parameters
    ----------
    count : array of shape (K,)
        Rows that have each category.
    gaps : int
        Rows with a gap that is no category.
    unseen, unseen_count : arrays
        Values that were never seen, as hashes, and how many rows have each.
    """

    count: IntArray
    gaps: int
    unseen: IntArray
    unseen_count: IntArray

    @classmethod
    def of(cls, column: Column, kind: Kind, codes: IntArray, learned: FloatArray) -> NewColumn:
        """That of encoded rows; ``learned`` is how often every category was counted."""
        gap = kind.gaps(column) & (codes == kind.size)
        # A value that was never seen is silent, or is known by its ancestor in a tree, which has no rows of its own.
        known = np.append(np.ones(kind.size, dtype=bool) if kind.cut_at is not None else learned > 0, False)
        if kind.gap is not None:
            known[kind.gap] = True
        fresh = np.flatnonzero(~known[codes] & ~gap)
        count = np.bincount(codes[known[codes]], minlength=kind.size)
        none = np.empty(0, dtype=np.int64)
        if not len(fresh):
            return cls(count, int(gap.sum()), none, none)
        at, values = column.levels
        places, rows = np.unique(at[fresh], return_counts=True)
        hashes = np.array([hash(value) for value in values[places].tolist()], dtype=np.int64)
        return cls(count, int(gap.sum()), hashes, rows)

    def __add__(self, other: NewColumn) -> NewColumn:
        unseen, at = np.unique(np.concatenate([self.unseen, other.unseen]), return_inverse=True)
        rows = np.concatenate([self.unseen_count, other.unseen_count])
        unseen_count = np.bincount(at.reshape(-1), rows, len(unseen)).astype(np.int64)
        return NewColumn(self.count + other.count, self.gaps + other.gaps, unseen, unseen_count)


@dataclass(frozen=True, eq=False)
class NewRows:
    """What new rows have in every column, and what is predicted of them. A frozen value that adds.

    Parameters
    ----------
    n_rows : int
    columns : tuple of NewColumn
    predicted : array of shape (C,)
        The sum of the probabilities of every class.
    """

    n_rows: int
    columns: tuple[NewColumn, ...]
    predicted: FloatArray

    @classmethod
    def of(cls, counts: Counts, table: Table, codes: Sequence[IntArray], proba: FloatArray) -> NewRows:
        """Those of rows that were encoded, with their probabilities."""
        columns = tuple(map(NewColumn.of, table.columns, counts.vocabulary.features, codes, counts.marginal))
        return cls(table.n_rows, columns, proba.sum(axis=0))

    def __add__(self, other: NewRows) -> NewRows:
        columns = tuple(one + two for one, two in zip(self.columns, other.columns, strict=True))
        return NewRows(self.n_rows + other.n_rows, columns, self.predicted + other.predicted)


@dataclass(frozen=True, eq=False)
class Drift:
    """How far new rows are from those that a model learned from; printing it shows all of it.

    Parameters
    ----------
    n_rows : int
        The new rows.
    columns : dict of str to list
        A table with a line for every ``column``, as any dataframe library takes it: the share of ``unseen`` values
        among those that are there, the share that was to be ``expected_unseen`` (Good and Turing), the ``distance`` of
        the distributions (total variation: the share of rows that would have to have another value, in trees of numbers
        at a level of at most 16 nodes), the ``noise`` that rows like those learned from hardly ever exceed, and whether
        the column ``drifted``: its distance does. The last line, of the ``(class)``, compares the learned shares with
        the mean probabilities of the new rows, and has no noise: a model may be off on its own rows too.
    classes : dict of str to list
        A table with a line for every ``class``: its share among the rows that were ``learned`` from, and the mean of
        the probability that is ``predicted`` of it now.
    """

    n_rows: int
    columns: dict[str, list[Any]]
    classes: dict[str, list[Any]]

    @property
    def drifted(self) -> list[Name]:
        """The columns that drifted."""
        return [name for name, own in zip(self.columns["column"], self.columns["drifted"], strict=True) if own]

    def __repr__(self) -> str:
        return "\n".join([f"{self.n_rows:,} new rows, {len(self.columns['column']) - 1:,} columns", "", *self._lines()])

    def _lines(self) -> list[str]:
        rows = [[*map(str, self.columns)], *map(_shown, zip(*self.columns.values(), strict=True))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lined_up = [
            "  ".join([row[0].ljust(widths[0]), *(own.rjust(w) for own, w in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        ]
        return [*(line.rstrip() for line in lined_up), "", f"Classes, learned → predicted: {self._shares()}"]

    def _shares(self) -> str:
        lines = sorted(zip(*self.classes.values(), strict=True), key=lambda line: -line[1])
        shown = [f"{visible(str(label), _LONGEST)} {a:.1%} → {b:.1%}" for label, a, b in lines[:_MOST_CLASSES]]
        more = f" and {len(lines) - len(shown):,} more" if len(lines) > len(shown) else ""
        return ", ".join(shown) + more + "."


def drift(counts: Counts, new: NewRows, dropped: Dropped) -> Drift:
    """Compare new rows with those that were counted; ``dropped`` is what a limit on categories left out."""
    random = np.random.default_rng(0)
    names = counts.vocabulary.names
    lines = [_line(counts, f, new, dropped, random) for f in range(len(names))]
    learned = counts.class_count / counts.class_count.sum()
    predicted = new.predicted / new.n_rows
    last = {"column": CLASS, "unseen": None, "expected_unseen": None, "distance": _distance(learned, predicted)}
    lines.append(last | {"noise": None, "drifted": None})
    columns = {key: [line[key] for line in lines] for key in lines[0]}
    labels = counts.classes.values.tolist()
    return Drift(new.n_rows, columns, {"class": labels, "learned": learned.tolist(), "predicted": predicted.tolist()})


def _line(
    counts: Counts, f: int, new: NewRows, dropped: Mapping[Name, Mapping[str, float]], random: np.random.Generator
) -> dict[str, Any]:
    name, own = counts.vocabulary.names[f], new.columns[f]
    before, now = _cells(counts, f, own, dropped)
    distance = _distance(before / before.sum(), now / now.sum())
    noise = noise_level(before, now, random)
    n_unseen, n_valued = int(own.unseen_count.sum()), new.n_rows - own.gaps - _gaps_counted(counts, f, own.count)
    return {
        "column": name,
        "unseen": n_unseen / n_valued if n_valued else None,
        "expected_unseen": _expected_unseen(counts, f, dropped),
        "distance": distance,
        "noise": noise,
        "drifted": bool(distance > noise + 1e-12),
    }


def _cells(counts: Counts, f: int, own: NewColumn, dropped: Container[Name]) -> tuple[FloatArray, FloatArray]:
    """How many rows were counted, and how many new ones there are, of every value, gap and unseen value."""
    marginal, count = counts.marginal[f], own.count.astype(float)
    rest = max(float(counts.class_count.sum() - marginal.sum()), 0.0)
    kind = counts.vocabulary.features[f]
    if kind.is_ordered:
        nodes = [level for level, n_nodes in zip(kind.levels, kind.n_nodes, strict=True) if n_nodes <= _MOST_NODES]
        if nodes:
            marginal = np.bincount(nodes[-1][:-1], marginal).astype(float)
            count = np.bincount(nodes[-1][:-1], count).astype(float)
    if counts.vocabulary.names[f] in dropped:  # what was left out cannot be told from what is new, nor from gaps
        return np.append(marginal, rest), np.append(count, own.gaps + own.unseen_count.sum())
    before = np.concatenate([marginal, [rest], np.zeros(len(own.unseen))])
    return before, np.concatenate([count, [own.gaps], own.unseen_count])


def noise_level(before: FloatArray, now: FloatArray, random: np.random.Generator) -> float:
    """The distance that two samples of these sizes hardly ever exceed if both are drawn from the same rows.

    All rows are put together and dealt anew: so many of them are the new ones. It is some standard errors above what
    that shows on average. Weights count as numbers of rows, rounded.

    Examples
    --------
    Where no value ever comes twice, all new values are unseen, and that is nothing to wonder at:

    >>> noise_level(np.append(np.ones(50), np.zeros(9)), np.append(np.zeros(50), np.ones(9)), np.random.default_rng(0))
    1.0
    """
    n_new = int(now.sum())
    shrink = min(1.0, (_MOST_ROWS - n_new) / max(float(before.sum()), 1.0))
    old = np.rint(before * shrink).astype(np.int64)
    n_old = int(old.sum())
    if not n_old or not n_new:
        return float("nan")
    pool = old + now.astype(np.int64)
    # Values of one row are all alike: only how many of them are dealt matters.
    single, several = int((pool == 1).sum()), pool[pool > 1]
    deals = int(np.clip(_VALUES_DEALT // (len(several) + 1), _FEWEST_DEALS, _DEALS))
    distances = np.empty(deals)
    for deal in range(deals):
        dealt = random.multivariate_hypergeometric(np.append(several, single), n_new, method="marginals")
        own, once = dealt[:-1], int(dealt[-1])
        apart = np.abs(own / n_new - (several - own) / n_old).sum() + once / n_new + (single - once) / n_old
        distances[deal] = apart / 2
    return float(distances.mean() + _ERRORS * distances.std())


def _expected_unseen(counts: Counts, f: int, dropped: Mapping[Name, Mapping[str, float]]) -> float | None:
    """The share of values that no other row has; of what was left out, all is taken to be unseen."""
    if counts.vocabulary.features[f].cut_at is not None:
        return 0.0
    left_out = dropped.get(counts.vocabulary.names[f], {}).get("rows", 0.0)
    marginal = counts.marginal[f]
    gaps = _gaps_counted(counts, f, marginal)
    valued = float(marginal.sum()) - gaps + left_out
    return (seen_once(counts, f) - (gaps == 1) + left_out) / valued if valued > 0 else None


def _gaps_counted(counts: Counts, f: int, count: Any) -> float:
    gap = counts.vocabulary.features[f].gap
    return 0.0 if gap is None else float(count[gap])


def _distance(one: FloatArray, two: FloatArray) -> float:
    """Half the sum of the differences: the total variation."""
    return float(np.abs(one - two).sum() / 2)


def _shown(line: tuple[Any, ...]) -> list[str]:
    name, unseen, expected, distance, noise, drifted = line
    shares = ["–" if share is None else f"{share:.1%}" for share in (unseen, expected)]
    numbers = ["–" if number is None else f"{number:.4f}" for number in (distance, noise)]
    return [visible(str(name), _LONGEST), *shares, *numbers, {True: "yes", False: "no"}.get(drifted, "–")]
