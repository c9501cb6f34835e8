"""Score tables from counts: concentrations learned where they are not known, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hebnb.counts.families import FamilyCells, Parents
from hebnb.counts.single import Counts
from hebnb.foundation.arrays import FloatArray, IntArray
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
    """A concentration for every class and family, of shape (C, families), shared by the contexts."""
    n_classes, n_families = counts.classes.size, len(cells)
    sizes = counts.vocabulary.sizes
    contexts = [Contexts.of(family, sizes) for family in cells]
    largest = np.stack([found.total.max(axis=0, initial=0) for found in contexts], axis=1)
    size = np.maximum([sizes[family.child] for family in cells], 1).astype(float)

    def likelihood() -> CountLikelihood:
        backs_off = rule.prior.backs_off
        means = [prior_of_cells(family, table, backs_off) for family, table in zip(cells, above, strict=True)]
        terms = [_terms(n, family.count, mean) for n, (family, mean) in enumerate(zip(cells, means, strict=True))]
        documents = [_terms(n, found.total, np.ones_like(found.total)) for n, found in enumerate(contexts)]
        number = n_classes * n_families
        return CountLikelihood(_joined(terms, n_families, number), _joined(documents, n_families, number))

    return rule.concentration(np.broadcast_to(size, (n_classes, n_families)), largest, likelihood)


def _terms(family: int, count: FloatArray, mean: FloatArray) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Family, class, prior mean and count of the cells that are not zero."""
    line, class_ = np.nonzero(count)
    return np.full(len(line), family), class_, mean[line, class_], count[line, class_]


def _joined(terms: list[tuple[IntArray, IntArray, FloatArray, FloatArray]], n_families: int, number: int) -> Terms:
    family, class_, mean, count = (np.concatenate(part) for part in zip(*terms, strict=True))
    order = np.argsort(count, kind="stable")  # small whole counts first, which are evaluated faster
    problem = class_ * n_families + family
    return Terms(problem[order], mean[order], count[order], np.ones(len(order)), number)
