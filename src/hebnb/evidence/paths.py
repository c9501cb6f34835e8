"""Evidence along a path of cells, from coarse to fine: what the classes of a cell add to what was known before.

At every level the classes of a cell are its counts, shrunk towards a prior:

- of a column, the node above it; at the top the other categories that are as frequent, or all rows;
- of a cross, what its parts say at this level, times what the cross said at the level above.

The evidence of a column is log P(class | cell) − log P(class); that of a cross is log P(class | cell) − log Q(class |
cell), with Q the log-linear model of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hebnb.evidence.leaving import Leaving, Units
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.smoothing.posterior import posterior_mean

# The cell of every row, and the counts of the cells, of shape (C, cells + 1), with zeros at the end.
Cells: TypeAlias = tuple[IntArray, FloatArray]
# The strength of a level, or of every unit, given its number, units, and what they are shrunk towards.
Strength: TypeAlias = Callable[[int, Units, FloatArray], float | FloatArray]
# What the parts of a cross say together, given the number of a level and some rows, of shape (C, rows).
Said: TypeAlias = Callable[[int, IntArray], FloatArray]

# Counts that differ by less than this share are those of the same rows.
_SAME = 1e-9
# The least log of a probability, so that none is zero: what many tables rule out can be ruled out no further.
_LEAST = -600.0


@dataclass(frozen=True, eq=False)
class Level:
    """What cells of one level say.

    Parameters
    ----------
    of_row : array of shape (S,)
        The unit of every row.
    first : array of shape (U,)
        A row of every unit.
    total : array of shape (U,)
        How many rows are left in the unit's cell.
    probability : array of shape (C, U)
        Of the classes.
    evidence : array of shape (C, U)
        What that adds to what was known before.
    prior_share : array of shape (U,)
        How much of the probability is prior.
    """

    of_row: IntArray
    first: IntArray
    total: FloatArray
    probability: FloatArray
    evidence: FloatArray
    prior_share: FloatArray

    def part(self, rows: slice, units: slice) -> Level:
        """What they say of some neighbouring rows, which are all that some neighbouring units have."""
        return Level(
            self.of_row[rows] - units.start,
            self.first[units] - rows.start,
            self.total[units],
            self.probability[:, units],
            self.evidence[:, units],
            self.prior_share[units],
        )


Path: TypeAlias = Sequence[Level]


def given(strengths: Sequence[float]) -> Strength:
    """Strengths that are known."""
    return lambda level, units, prior: strengths[level]


def together(parts: Sequence[tuple[Path, float]]) -> Said:
    """What parts say together, each with a weight, of the rows that they were asked about."""

    def said(number: int, rows: IntArray) -> FloatArray:
        levels = [(path[min(number, len(path) - 1)], weight) for path, weight in parts]
        weighed = [weight * own.evidence.take(own.of_row[rows], axis=1) for own, weight in levels]
        total: FloatArray = np.sum(weighed, axis=0)
        return total

    return said


def of_column(
    leaving: Leaving, cells: Sequence[Cells], strength: Strength, of_buckets: float | None, mute: BoolArray | None
) -> list[Level]:
    """The evidence of a column at every level of its tree.

    Parameters
    ----------
    leaving : Leaving
    cells : list of Cells
        The coarsest first.
    strength : function
    of_buckets : float, optional
        How strongly categories as frequent as one are shrunk towards all rows; None where frequency says nothing.
    mute : array of bool, optional
        Rows that the column says nothing about.
    """
    path: list[Level] = []
    for number, (cell, count) in enumerate(cells):
        units = leaving.units(cell, count)
        log_prior = leaving.log_prior(units.first)
        if path:
            prior, whole, share = _above(path[-1], units)
        else:
            prior, whole, share = np.exp(log_prior), leaving.n_rows(units.first), np.ones(len(units.first))
            if of_buckets is not None:
                others = leaving.others(units, cell, count)
                prior = posterior_mean(others, others.sum(axis=0), prior, of_buckets)
        probability, share = _shrunk(units, prior, strength(number, units, prior), whole, share)
        evidence = np.log(probability) - log_prior
        path.append(Level(units.of_row, units.first, units.total, probability, _muted(evidence, units, mute), share))
    return path


def of_cross(
    leaving: Leaving,
    cells: Sequence[Cells],
    strength: Strength,
    said: Said,
    mute: BoolArray | None,
) -> list[Level]:
    """The evidence of a cross at every level, beyond that of its parts.

    Several crosses are one, as long as no cell is that of two of them.
    """
    path: list[Level] = []
    for number, (cell, count) in enumerate(cells):
        units = leaving.units(cell, count)
        log_parts = leaving.log_prior(units.first)
        log_parts += said(number, units.first)
        normalise(log_parts)
        if path:
            _, whole, share = _above(path[-1], units)
            so_far = path[-1].evidence.take(path[-1].of_row[units.first], axis=1)
            prior = np.exp(normalise(log_parts + so_far))
        else:
            prior, whole, share = np.exp(log_parts), leaving.n_rows(units.first), np.ones(len(units.first))
        probability, share = _shrunk(units, prior, strength(number, units, prior), whole, share)
        evidence = np.log(probability) - log_parts
        path.append(Level(units.of_row, units.first, units.total, probability, _muted(evidence, units, mute), share))
    return path


def _above(level: Level, units: Units) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the level above a unit's has: probability, rows, and the share of the prior."""
    at = level.of_row[units.first]
    return level.probability.take(at, axis=1), level.total[at], level.prior_share[at]


def _shrunk(
    units: Units, prior: FloatArray, strength: float | FloatArray, whole: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Probabilities, and the share of the prior in them; a cell with all rows of the one above has nothing to add."""
    probability = posterior_mean(units.left, units.total, prior, strength)
    of_prior = posterior_mean(0.0, units.total, 1.0, strength)
    same = np.flatnonzero(whole - units.total <= _SAME * whole)
    probability[:, same], of_prior[same] = prior[:, same], 1.0
    return probability, share * of_prior


def _muted(evidence: FloatArray, units: Units, mute: BoolArray | None) -> FloatArray:
    if mute is not None:
        evidence[:, mute[units.first]] = 0.0
    return evidence


def normalise(logs: FloatArray) -> FloatArray:
    """Make logs of probabilities, of shape (C, U), of scores, in place."""
    logs -= logs.max(axis=0)
    logs -= np.log(np.exp(logs).sum(axis=0))
    np.maximum(logs, _LEAST, out=logs)
    return logs
