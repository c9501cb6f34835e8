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
from hebnb.evidence.batch import Batch, batches
from hebnb.evidence.choice import Choice, ColumnStrengths, Cross
from hebnb.evidence.heard import Heard, said_of
from hebnb.evidence.leaving import Units
from hebnb.evidence.paths import of_column, of_cross
from hebnb.evidence.pool import FIRST_PRECISION, Pool, learn
from hebnb.evidence.sampled import SampledRows, depth_of
from hebnb.evidence.told import Told
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
_ROWS_A_CANDIDATE = 3
# Digits of a gain that decide between crosses.
_DIGITS = 9
# By how many standard errors a level of a column's tree has to pay.
_ERRORS = 1.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A cross that was looked at, what it says of rows, and what that gains, in nats and in its standard errors."""

    cross: Cross
    heard: Heard
    gain: float
    errors: float


@dataclass(frozen=True, eq=False)
class Stage:
    """What is known after a stage: the columns, the crosses of every order, and their weights.

    ``singles`` has the components of columns, of shape (components, F): a column each, or several that share a weight.
    """

    columns: tuple[ColumnStrengths, ...]
    singles: FloatArray
    heard: tuple[Heard, ...]
    orders: tuple[tuple[Candidate, ...], ...]
    weights: FloatArray
    offsets: FloatArray

    @property
    def crosses(self) -> list[Candidate]:
        """Of all orders."""
        return [candidate for order in self.orders for candidate in order]

    @property
    def all_heard(self) -> list[Heard]:
        """What columns and crosses say of left-out rows."""
        return [*self.heard, *(candidate.heard for candidate in self.crosses)]


def searched(rows: SampledRows, max_crosses: int, max_order: int) -> tuple[Choice, Weighed]:
    """What the rows decide, and how their weights were learned; what new rows will see is not known yet."""
    singles = [column_heard(rows, f) for f in range(len(rows.features))]
    gains = np.array([own.gain for own in singles])
    # Of few columns all have a say, as their weights tell real ones from others; of many, too many would be lucky.
    luck = _luck(len(singles) / _COLUMNS) if len(singles) > _COLUMNS else -np.inf
    singles = [_silenced(rows, own) if own.errors <= luck else own for own in singles]
    columns, heard = tuple(own.strengths for own in singles), tuple(own.heard for own in singles)
    weighed = _weighed(
        rows, Stage(columns, _singles(gains), heard, (), np.ones(len(heard)), np.zeros(rows.n_classes)), None
    )
    for order in range(2, min(max_order, len(heard)) + 1):
        room = min(-(-max_crosses // (max_order - 1)), max_crosses - len(weighed.stage.crosses))
        kept = _kept(rows, weighed, _candidates(rows, weighed.stage, gains, order), room) if room else ()
        if kept:
            stage = replace(weighed.stage, orders=(*weighed.stage.orders, kept))
            weighed = _weighed(rows, stage, weighed.pool)
    stage = weighed.stage
    crosses = tuple(candidate.cross for candidate in stage.crosses)
    choice = Choice(columns, crosses, stage.weights, stage.offsets, np.nan, gains, float(rows.weights.sum()))
    return choice, weighed


@dataclass(frozen=True, eq=False)
class Single:
    """A column: its strengths, what it says of rows, and what that gains, in nats and in its standard errors."""

    strengths: ColumnStrengths
    heard: Heard
    gain: float
    errors: float


def column_heard(rows: SampledRows, f: int) -> Single:
    """The strengths of a column and what it says of left-out rows."""
    kind, found = rows.features[f], {}
    own = rows.alike([f], len(kind.levels))
    batch = Batch([own], rows, np.array([[f]]), len(kind.levels))
    cells = batch.cells()
    buckets, top = None, None
    if not kind.is_ordered:
        buckets, top = strength.of_categories(cells[0][1], rows.class_count)

    def learned(level: int, units: Units, prior: FloatArray) -> float:
        if level == 0 and top is not None:
            found[level] = top
        else:
            labels, times, _ = batch.of_units(units)
            found[level] = float(strength.of_rows(units, labels, times, prior, errors=_ERRORS)[0])
        return found[level]

    path = of_column(batch.leaving, cells, learned, buckets, batch.mute)
    (gain,), (errors,) = batch.gains(path[-1])
    return Single(ColumnStrengths(tuple(found.values()), buckets), Heard(own, path), float(gain), float(errors))


def _crosses(rows: SampledRows, stage: Stage, every: Sequence[tuple[int, ...]]) -> list[Candidate]:
    """Crosses of as many columns each: their strengths, what they say of left-out rows, and how much that helps."""
    told = Told([heard.path for heard in stage.all_heard], rows.n_classes)
    found: dict[tuple[int, ...], Candidate] = {}
    for depth, some in _by_depth(rows, every).items():
        for batch in batches(rows, depth, ((columns, rows.alike(columns, depth)) for columns in some)):
            found |= {candidate.cross.columns: candidate for candidate in _looked_at(batch, stage, told)}
    return [found[columns] for columns in every]


def _by_depth(rows: SampledRows, every: Sequence[tuple[int, ...]]) -> dict[int, list[tuple[int, ...]]]:
    """Crosses by the number of their levels."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for columns in every:
        found.setdefault(depth_of(rows.features, columns), []).append(columns)
    return found


def _looked_at(batch: Batch, stage: Stage, told: Told) -> list[Candidate]:
    """The crosses of a batch."""
    crosses = [_unlearned(stage, tuple(columns)) for columns in batch.columns.tolist()]
    found: list[FloatArray] = []

    def learned(level: int, units: Units, prior: FloatArray) -> FloatArray:
        labels, times, table = batch.of_units(units)
        found.append(strength.of_rows(units, labels, times, prior, errors=0.0, table=table, n_tables=len(batch)))
        return found[-1][table]

    said = said_of(batch.alike, stage.all_heard, told, crosses)
    path = of_cross(batch.leaving, batch.cells(), learned, said, batch.mute)
    gains, errors = (numbers.tolist() for numbers in batch.gains(path[-1]))
    strengths = np.transpose(found).tolist()
    return [
        Candidate(
            replace(crosses[n], strengths=tuple(strengths[n]), gain=gains[n]),
            Heard(batch.alike[n], own),
            gains[n],
            errors[n],
        )
        for n, own in enumerate(batch.own_rows.parted(path))
    ]


def _unlearned(stage: Stage, columns: tuple[int, ...]) -> Cross:
    """A cross with the tables about some of its columns, and nothing learned yet."""
    crosses = enumerate(stage.crosses, len(stage.heard))
    parts = *columns, *(number for number, own in crosses if set(own.cross.columns) < set(columns))
    return Cross(columns, (), parts, tuple(stage.weights[[*parts]].tolist()), 0.0)


def _silenced(rows: SampledRows, single: Single) -> Single:
    """A column that says nothing beyond what is known without it."""
    log_prior = rows.log_prior
    own, alike = single.strengths, single.heard.alike
    path = [
        replace(
            level,
            probability=np.exp(log_prior[:, alike.first[level.first]]),
            evidence=np.zeros_like(level.evidence),
            prior_share=np.ones_like(level.prior_share),
        )
        for level in single.heard.path
    ]
    buckets = None if own.buckets is None else strength.SILENT
    strengths = ColumnStrengths((strength.SILENT,) * len(path), buckets)
    return replace(single, strengths=strengths, heard=Heard(alike, path))


def _luck(number: float) -> float:
    """By how many standard errors the luckiest of so many that gain nothing seems to gain.

    The largest of M standard normal numbers is about √(2 log M).
    """
    return float(np.sqrt(2 * np.log(max(number, 2.0))))


def column_gains(rows: SampledRows, f: int) -> FloatArray:
    """How much more likely each left-out row is with a column than without any, in nats."""
    every = np.arange(len(rows))
    return column_heard(rows, f).heard.evidence(every)[rows.labels, every]


def without_rounding(gain: float) -> float:
    """A gain without the digits that are rounding, so that equals tie in whichever order rows are added up."""
    return float(f"{gain:.{_DIGITS}g}")


def _most_telling(gains: FloatArray) -> list[int]:
    """Columns by what they gain, the most first."""
    return sorted(range(len(gains)), key=lambda f: (-without_rounding(float(gains[f])), f))


def _candidates(rows: SampledRows, stage: Stage, gains: FloatArray, order: int) -> list[Candidate]:
    """The crosses of an order that are worth a look; with a column of one value, a cross would be of the others."""
    varied = [f for f in _most_telling(gains) if np.ptp(rows.codes[f])]
    telling = sorted(varied[:_COLUMNS])
    columns = list(combinations(telling, order)) if order == 2 else _extended(stage, telling, order)
    return _crosses(rows, stage, columns)


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
    return tuple(best)


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
            said = candidate.heard.evidence(self.rows)
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
    likelihood = likelihood_of(rows, components, stage.all_heard, some, rows.log_prior[:, some])
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
    rows: SampledRows, components: FloatArray, heard: Sequence[Heard], some: IntArray, log_prior: FloatArray
) -> Likelihood:
    """The likelihood of the labels of some rows, given what all tables say of them."""
    scores = np.zeros((len(components), rows.n_classes - 1, len(some)))
    for own, column in zip(heard, components.T, strict=True):
        level = own.path[-1]
        said = (level.evidence[1:] - level.evidence[0]).take(level.of_row[own.alike.of_row[some]], axis=1)
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
    n_columns = len(stage.heard)
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
