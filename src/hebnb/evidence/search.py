"""Which columns are crossed: those whose cross makes left-out rows more likely, by more than chance would.

Everything here is learned from a sample of rows, in stages: single columns, their weights; crosses of two, compared
with what their columns say under these weights; the weights of both; crosses of three, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hebnb.evidence import strength
from hebnb.evidence.choice import Choice, ColumnStrengths, Cross
from hebnb.evidence.leaving import Units
from hebnb.evidence.paths import Level, Path, of_column, of_cross
from hebnb.evidence.pool import FIRST_PRECISION, Pool, learn
from hebnb.evidence.sampled import SampledRows, depth_of
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.weighting.leave_one_out import row_limit
from hebnb.weighting.log_linear import Likelihood

# Columns whose crosses are looked at, those that tell most by themselves; crosses of three or more that are.
_COLUMNS, _CANDIDATES = 40, 200
# Crosses of an order with a weight of their own; the weights of the others are tied.
_BEST = 64
# Columns with a weight of their own, those that tell most by themselves; the others have one together.
_FREE = 256
# Crosses are chosen by what they add to all that is known where there are so many rows for each that is looked at.
_ROWS_A_CANDIDATE = 5
# Digits of a gain that decide between crosses.
_DIGITS = 9
# By how many standard errors a level of a column's tree has to pay.
_ERRORS = 1.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cross that was looked at, and what it says of rows that are alike: the first of them, and which each row is."""

    cross: Cross
    path: Path
    gain: float
    errors: float
    first: IntArray
    of_row: IntArray

    def of_all_rows(self) -> Candidate:
        """With what it says of all rows."""
        path = [replace(level, of_row=level.of_row[self.of_row], first=self.first[level.first]) for level in self.path]
        every = np.arange(len(self.of_row))
        return replace(self, path=path, first=every, of_row=every)


@dataclass(frozen=True, eq=False)
class Stage:
    """What is known after a stage: the columns, the crosses of every order, and their weights.

    ``singles`` has the components of columns, of shape (components, F): a column each, or several that share a weight.
    """

    columns: tuple[ColumnStrengths, ...]
    singles: FloatArray
    paths: tuple[Path, ...]
    orders: tuple[tuple[Candidate, ...], ...]
    weights: FloatArray
    offsets: FloatArray

    @property
    def crosses(self) -> list[Candidate]:
        """Of all orders."""
        return [candidate for order in self.orders for candidate in order]

    @property
    def all_paths(self) -> list[Path]:
        """What columns and crosses say of left-out rows."""
        return [*self.paths, *(candidate.path for candidate in self.crosses)]


def searched(rows: SampledRows, max_crosses: int, max_order: int) -> tuple[Choice, Weighed]:
    """What the rows decide, and how their weights were learned; what new rows will see is not known yet."""
    singles = [column_path(rows, f) for f in range(len(rows.features))]
    gains, errors = np.array([gain_of(rows, path[-1]) for _, path in singles]).reshape(-1, 2).T
    # Of few columns all have a say, as their weights tell real ones from others; of many, too many would be lucky.
    luck = _luck(len(singles) / _COLUMNS) if len(singles) > _COLUMNS else -np.inf
    singles = [_silenced(rows, *own) if errors[f] <= luck else own for f, own in enumerate(singles)]
    columns, paths = tuple(own for own, _ in singles), tuple(path for _, path in singles)
    weighed = _weighed(
        rows, Stage(columns, _singles(gains), paths, (), np.ones(len(paths)), np.zeros(rows.n_classes)), None
    )
    for order in range(2, min(max_order, len(paths)) + 1):
        room = min(-(-max_crosses // (max_order - 1)), max_crosses - len(weighed.stage.crosses))
        kept = _kept(rows, weighed, _candidates(rows, weighed.stage, gains, order), room) if room else ()
        if kept:
            stage = replace(weighed.stage, orders=(*weighed.stage.orders, kept))
            weighed = _weighed(rows, stage, weighed.pool)
    stage = weighed.stage
    crosses = tuple(candidate.cross for candidate in stage.crosses)
    choice = Choice(columns, crosses, stage.weights, stage.offsets, np.nan, gains, float(rows.weights.sum()))
    return choice, weighed


def column_path(rows: SampledRows, f: int) -> tuple[ColumnStrengths, list[Level]]:
    """The strengths of a column and what it says of left-out rows."""
    kind, found = rows.features[f], {}
    cells = rows.cells([f], len(kind.levels))
    buckets, top = None, None
    if not kind.is_ordered:
        buckets, top = strength.of_categories(cells[0][1], rows.class_count)

    def learned(level: int, units: Units, prior: FloatArray) -> float:
        found[level] = (
            top if level == 0 and top is not None else strength.of_rows(units, *rows.own(units), prior, _ERRORS)
        )
        return found[level]

    path = of_column(rows.each, cells, learned, buckets, rows.mute([f]))
    return ColumnStrengths(tuple(found.values()), buckets), path


def _cross(rows: SampledRows, stage: Stage, columns: tuple[int, ...]) -> Candidate:
    """The strengths of a cross, what it says of left-out rows, and how much that helps."""
    parts = _parts(stage, columns)
    weights = [float(stage.weights[t]) for t, _ in parts]
    found: list[float] = []
    depth = depth_of(rows.features, columns)
    some, first, of_row = rows.alike(columns, depth)

    def learned(level: int, units: Units, prior: FloatArray) -> float:
        found.append(strength.of_rows(units, *some.own(units), prior, 0.0))
        return found[-1]

    said = [
        ([replace(level, of_row=level.of_row[first]) for level in path[:depth]], weight)
        for (_, path), weight in zip(parts, weights, strict=True)
    ]
    path = of_cross(some.each, some.cells(columns, depth), learned, said, some.mute(columns))
    gain, errors = gain_of(some, path[-1])
    cross = Cross(columns, tuple(found), tuple(t for t, _ in parts), tuple(weights), gain)
    return Candidate(cross, path, gain, errors, first, of_row)


def _parts(stage: Stage, columns: tuple[int, ...]) -> list[tuple[int, Path]]:
    """The tables about some of the columns, by number."""
    parts: list[tuple[int, Path]] = [(f, stage.paths[f]) for f in columns]
    for number, candidate in enumerate(stage.crosses, len(stage.paths)):
        if set(candidate.cross.columns) < set(columns):
            parts.append((number, candidate.path))
    return parts


def _silenced(rows: SampledRows, own: ColumnStrengths, path: Path) -> tuple[ColumnStrengths, list[Level]]:
    """A column that says nothing beyond what is known without it."""
    said = [
        replace(
            level,
            probability=np.exp(rows.each.log_prior(level.first)),
            evidence=np.zeros_like(level.evidence),
            prior_share=np.ones_like(level.prior_share),
        )
        for level in path
    ]
    buckets = None if own.buckets is None else strength.SILENT
    return ColumnStrengths((strength.SILENT,) * len(path), buckets), said


def _luck(number: float) -> float:
    """By how many standard errors the luckiest of so many that gain nothing seems to gain.

    The largest of M standard normal numbers is about √(2 log M).
    """
    return float(np.sqrt(2 * np.log(max(number, 2.0))))


def column_gains(rows: SampledRows, f: int) -> FloatArray:
    """How much more likely each left-out row is with a column than without any, in nats."""
    _, path = column_path(rows, f)
    return path[-1].evidence[rows.labels, path[-1].of_row]


def gain_of(rows: SampledRows, level: Level) -> tuple[float, float]:
    """How much more likely the labels become, in nats, and how many of its standard errors that is."""
    labels, weights = rows.labels[level.first], np.bincount(level.of_row, rows.weights)
    own = level.evidence[labels, np.arange(len(labels))]
    gain = float(weights @ own)
    return gain, gain / max(float(np.sqrt(weights @ own**2)), 1e-12)


def without_rounding(gain: float) -> float:
    """A gain without the digits that are rounding, so that equals tie in whichever order rows are added up."""
    return float(f"{gain:.{_DIGITS}g}")


def _most_telling(gains: FloatArray) -> list[int]:
    """Columns by what they gain, the most first."""
    return sorted(range(len(gains)), key=lambda f: (-without_rounding(float(gains[f])), f))


def _candidates(rows: SampledRows, stage: Stage, gains: FloatArray, order: int) -> list[Candidate]:
    """The crosses of an order that are worth a look."""
    telling = sorted(_most_telling(gains)[:_COLUMNS])
    columns = list(combinations(telling, order)) if order == 2 else _extended(stage, telling, order)
    # Threads would make it slower: arrays are so short that they mostly wait for the interpreter.
    return [_cross(rows, stage, own) for own in columns]


def _extended(stage: Stage, telling: list[int], order: int) -> list[tuple[int, ...]]:
    """The crosses of the order before with one more column, those first that contain the most gain."""
    every = 1
    for n in range(order):
        every = every * (len(telling) - n) // (n + 1)
    if every <= _CANDIDATES:
        return list(combinations(telling, order))
    found: dict[tuple[int, ...], float] = {}
    for candidate in stage.orders[-1] if stage.orders else ():
        for f in telling:
            columns = tuple(sorted({*candidate.cross.columns, f}))
            if len(columns) == order:
                found[columns] = found.get(columns, 0.0) + candidate.gain
    return sorted(found, key=lambda columns: (-without_rounding(found[columns]), columns))[:_CANDIDATES]


def _kept(rows: SampledRows, weighed: Weighed, candidates: list[Candidate], most: int) -> tuple[Candidate, ...]:
    """Those that gain more than the luckiest of as many that gain nothing, the best first.

    Where columns repeat each other, so do their crosses. Of more than there is room for, those stay that add most to
    what everything so far says; on few rows the best of many would only seem to.
    """
    luck = _luck(len(candidates))
    found = [candidate for candidate in candidates if candidate.gain > 0 and candidate.errors > luck]
    if len(found) > most and len(rows) >= _ROWS_A_CANDIDATE * len(candidates):
        added = weighed.added_by(rows, found)
        found = [found[n] for n in sorted(range(len(found)), key=lambda n: (-added[n], found[n].cross.columns))[:most]]
    best = sorted(found, key=lambda candidate: (-without_rounding(candidate.gain), candidate.cross.columns))[:most]
    return tuple(candidate.of_all_rows() for candidate in best)


@dataclass(frozen=True, eq=False)
class Weighed:
    """A stage with its weights, as they were learned.

    Parameters
    ----------
    stage : Stage
    pool : Pool
    components : array of shape (components, tables)
        What has a weight.
    rows : array of int
        Those that were learned from: as many as memory allows.
    likelihood : Likelihood
        Of their labels.
    """

    stage: Stage
    pool: Pool
    components: FloatArray
    rows: IntArray
    likelihood: Likelihood

    def added_by(self, rows: SampledRows, candidates: Sequence[Candidate]) -> list[float]:
        """How much more likely left-out rows would be if each cross had a weight beside everything else.

        That is what one step of Newton's method from a weight of zero gains, whose prior has the precision that those
        of all groups begin with.
        """
        proba = np.exp(self.likelihood.log_proba(self.pool.at))
        labels, weights = self.likelihood.labels, self.likelihood.weights
        every = np.arange(len(labels))

        def added(candidate: Candidate) -> float:
            level = candidate.path[-1]
            said = level.evidence.take(level.of_row[candidate.of_row[self.rows]], axis=1)
            expected = (proba * said).sum(axis=0)
            slope = float(weights @ (said[labels, every] - expected))
            said -= expected
            curvature = float(weights @ (proba * said**2).sum(axis=0))
            return without_rounding(np.sign(slope) * slope**2 / (2 * (curvature + FIRST_PRECISION)))

        return [added(candidate) for candidate in candidates]


def _weighed(rows: SampledRows, stage: Stage, before: Pool | None) -> Weighed:
    """A stage with the weights of its tables, sought from those of the stage before, whose components come first."""
    components, group = _components(stage)
    some = some_rows(len(rows), row_limit(len(components), rows.n_classes))
    likelihood = likelihood_of(rows, components, stage.all_paths, some, rows.each.log_prior(some))
    start = np.zeros(len(components) + rows.n_classes)
    start[: len(stage.singles)] = 1.0
    if before is not None:
        n_before = len(before.at) - rows.n_classes
        start[:n_before], start[len(components) :] = np.split(before.at, [n_before])
    pool = learn(likelihood, group, start)
    weights, offsets = np.split(pool.at, [len(components)])
    return Weighed(replace(stage, weights=components.T @ weights, offsets=offsets), pool, components, some, likelihood)


def some_rows(n_rows: int, limit: int) -> IntArray:
    """Rows, at most so many."""
    if n_rows <= limit:
        return np.arange(n_rows)
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:limit])


def likelihood_of(
    rows: SampledRows, components: FloatArray, paths: Sequence[Path], some: IntArray, log_prior: FloatArray
) -> Likelihood:
    """The likelihood of the labels of some rows, given what all tables say of them."""
    scores = np.zeros((len(components), rows.n_classes - 1, len(some)))
    for path, column in zip(paths, components.T, strict=True):
        level = path[-1]
        said = (level.evidence[1:] - level.evidence[0]).take(level.of_row[some], axis=1)
        for place in np.flatnonzero(column).tolist():
            scores[place] += said
    return Likelihood.weighing(scores, log_prior[1:] - log_prior[0], rows.labels[some], rows.weights[some])


def _singles(gains: FloatArray) -> FloatArray:
    """The components of columns: those that tell most, each by itself, and the sum of the others if there are any."""
    order = _most_telling(gains)
    every = np.eye(len(gains))
    if len(gains) <= _FREE:
        return every
    return np.concatenate([every[np.sort(order[:_FREE])], every[order[_FREE:]].sum(axis=0, keepdims=True)])


def _components(stage: Stage) -> tuple[FloatArray, IntArray]:
    """What gets a weight, as sums of tables, of shape (components, tables), and the group of each.

    Every column, the best crosses of every order, and for every column the sum of all its crosses of that order.
    """
    n_columns = len(stage.paths)
    n_tables = n_columns + len(stage.crosses)
    tables = np.eye(n_tables)
    single = np.pad(stage.singles, ((0, 0), (0, n_tables - n_columns)))
    components, group, start = [single], [np.zeros(len(single), dtype=np.intp)], n_columns
    for number, order in enumerate(stage.orders):
        best = min(_BEST, len(order))
        tied = np.zeros((n_columns, n_tables))
        for place, candidate in enumerate(order, start):
            tied[list(candidate.cross.columns), place] = 1.0
        tied = tied[tied.any(axis=1)]
        components += [tables[start : start + best], tied]
        group += [np.full(best, 2 * number + 1), np.full(len(tied), 2 * number + 2)]
        start += len(order)
    return np.concatenate(components), np.concatenate(group)
