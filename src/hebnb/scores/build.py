"""Score tables from counts: concentrations learned where they are not known, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from hebnb.counts.families import FamilyCells, Parents
from hebnb.counts.single import Counts
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.mixtures import MixtureTable
from hebnb.scores.tables import Contexts, FamilyTable, ScoreTable, ValueTable, prior_of_cells
from hebnb.smoothing.smoothers import Smoother, concentrations, prior_means
from hebnb.smoothing.strength import CountLikelihood, Terms


class CountsFamilies(Protocol):
    """Counts that know those of families."""

    def family(self, child: int, parents: tuple[int, ...]) -> FamilyCells:
        """How often the values of a child occurred with those of its parents."""


def value_tables(counts: Counts, rule: Smoother, concentration: FloatArray | None = None) -> tuple[ValueTable, ...]:
    """log P(x | y) of every feature."""
    m = concentrations(counts, rule) if concentration is None else concentration
    features, means = counts.vocabulary.features, prior_means(counts, rule)
    parts = zip(features, counts.tables, counts.totals.T, means, m.T, strict=True)
    return tuple(ValueTable(f, *part) for f, part in enumerate(parts))


def family_tables(
    counts: Counts,
    families: CountsFamilies,
    parents: Parents,
    rule: Smoother,
    concentration: Sequence[FloatArray] = (),
) -> tuple[ScoreTable, ...]:
    """log P(x | y, parents) of every feature.

    Parameters
    ----------
    counts : Counts
    families : CountsFamilies
        Counts of the families, which may be the same.
    parents : tuple of tuples of int
        The parents of every feature.
    rule : Smoother
    concentration : list of arrays of shape (C, F)
        For as many parents as the place says; what is not here is learned.
    """
    known = list(concentration)
    tables: list[ValueTable | FamilyTable] = list(value_tables(counts, rule, known[0] if known else None))
    for level in range(1, max(map(len, parents), default=0) + 1):
        here = [f for f, own in enumerate(parents) if len(own) >= level]
        cells = [families.family(f, parents[f][:level]) for f in here]
        above = [tables[f] for f in here]
        m = known[level][:, here] if level < len(known) else _learned(counts, rule, cells, above)
        for f, family, table, own in zip(here, cells, above, m.T, strict=True):
            tables[f] = FamilyTable(family, counts.vocabulary.sizes, rule.prior.backs_off, own, table)
    return tuple(tables)


def mixture_tables(
    counts: Counts,
    families: CountsFamilies,
    weights: FloatArray,
    rule: Smoother,
    concentration: Sequence[FloatArray] = (),
) -> tuple[ScoreTable, ...]:
    """log Σ_i w_i P(x | y, x_i) of every feature.

    Parameters
    ----------
    counts : Counts
    families : CountsFamilies
        Counts of pairs, which may be the same.
    weights : array of shape (F, F)
        How much every other feature (column) counts for a feature (row). One without any depends on the class alone.
    rule : Smoother
    concentration : list of arrays of shape (C, F)
        Given no parent, and given one; what is not here is learned.
    """
    known = list(concentration)
    alone = value_tables(counts, rule, known[0] if known else None)
    child, parent = np.nonzero(weights)
    if not len(child):
        return alone
    cells = [families.family(f, (i,)) for f, i in zip(child.tolist(), parent.tolist(), strict=True)]
    above = [alone[f] for f in child.tolist()]
    m = known[1][:, child] if len(known) > 1 else _learned(counts, rule, cells, list(above))
    sizes, backs_off = counts.vocabulary.sizes, rule.prior.backs_off
    parts = iter([FamilyTable(own, sizes, backs_off, *rest) for own, *rest in zip(cells, m.T, above, strict=True)])
    own_parts = [tuple(islice(parts, int(n))) for n in np.bincount(child, minlength=len(alone))]
    return tuple(
        MixtureTable(own, share[share > 0]) if own else table
        for own, share, table in zip(own_parts, weights, alone, strict=True)
    )


def levels(tables: Sequence[ScoreTable]) -> list[FloatArray]:
    """The concentrations of tables, of shape (C, F), given no parent, one, two, …; NaN for features with fewer."""
    deepest = max(len(table.concentration) for table in tables)
    nothing = np.full_like(tables[0].concentration[0], np.nan)
    return [
        np.stack([(*table.concentration, *[nothing] * deepest)[level] for table in tables], axis=1)
        for level in range(deepest)
    ]


def _learned(
    counts: Counts, rule: Smoother, cells: list[FamilyCells], above: list[ValueTable | FamilyTable]
) -> FloatArray:
    """The concentrations of families with the same number of parents, of shape (C, families).

    What is learned is one number for all of them (Petitjean et al., 2018, found tying by level best, and so do we);
    smoothers that learn nothing give every family the concentration that its number of categories calls for.
    """
    sizes = counts.vocabulary.sizes
    contexts = [Contexts.of(family, sizes, table.contexts) for family, table in zip(cells, above, strict=True)]
    size = np.maximum([sizes[family.child] for family in cells], 1).astype(float)
    problem = np.arange(len(cells))
    if rule.learns:
        size, problem = size.mean(keepdims=True), np.zeros_like(problem)
    largest = np.zeros(len(size))
    np.maximum.at(largest, problem, [found.total.max(initial=0) for found in contexts])

    def likelihood() -> CountLikelihood:
        means = [prior_of_cells(own, table, rule.prior.backs_off) for own, table in zip(cells, above, strict=True)]
        ones = [np.ones_like(found.total) for found in contexts]
        return CountLikelihood(
            _terms(problem, [family.count for family in cells], means, len(size)),
            _terms(problem, [found.total for found in contexts], ones, len(size)),
        )

    m = rule.concentration(size, largest, likelihood)[problem]
    return np.repeat(m[np.newaxis], counts.classes.size, axis=0)


def _terms(problem: IntArray, counts: list[FloatArray], means: list[FloatArray], size: int) -> Terms:
    """The cells of all families that are not zero, as terms of the problem that the family belongs to."""
    some = [np.nonzero(count) for count in counts]
    problems = [np.full(len(at[0]), number) for number, at in zip(problem.tolist(), some, strict=True)]
    mean = np.concatenate([own[at] for own, at in zip(means, some, strict=True)])
    count = np.concatenate([own[at] for own, at in zip(counts, some, strict=True)])
    order = np.argsort(count, kind="stable")  # small whole counts first, which are evaluated faster
    return Terms(np.concatenate(problems)[order], mean[order], count[order], np.ones(len(order)), size)
