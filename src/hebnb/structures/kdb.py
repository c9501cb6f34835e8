"""Bayesian classifiers with k parents a feature, with smoothing that is learned and backs off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.kinds import MissingPolicy
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.dependence import conditional_mutual_information, without_rounding
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts, Parents
from hebnb.counts.pair_memory import check_memory, family_bytes
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.engines.counting import count_families, count_pairs
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import ParameterError
from hebnb.estimators.families import FamilyClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.scores.build import family_tables
from hebnb.smoothing.smoothers import Smoother
from hebnb.weighting.mutual_information import mutual_information

# Every pair is counted, whatever its number of categories.
_NO_CAPS = Caps(None, None)


@dataclass(frozen=True)
class KParents(Structure):
    """Every feature depends on the class and on at most k features that tell more about the class.

    Pairs are counted to choose the parents, and families when they are chosen; further batches keep the parents.
    """

    k: int
    memory_limit: float | None = None
    counts_type: ClassVar[type[Counts]] = FamilyCounts

    def count(self, rows: EncodedRows, known: Counts | None) -> FamilyCounts:
        """Single features, and families."""
        single = Counts.of(rows)
        if isinstance(known, FamilyCounts):
            parents = known.parents
        else:
            self._check_memory(rows.vocabulary, rows.classes.size, len(rows))
            parents = k_parents(PairCounts.of_rows(single, rows, _NO_CAPS), self.k)
        cells = [FamilyCells.of_rows(f, own, rows) for f, own in enumerate(parents) if own]
        return FamilyCounts.of_families(single, parents, cells)

    def count_lazily(self, table: LazyTable, single: Counts) -> FamilyCounts:
        """Pairs and then families, by the table's engine."""
        self._check_memory(single.vocabulary, single.classes.size, table.n_rows)
        return count_families(table, single, k_parents(count_pairs(table, single, _NO_CAPS), self.k))

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log P(x | y, parents)."""
        assert isinstance(counts, FamilyCounts)
        return family_tables(counts, counts, counts.parents, rule), None

    def _check_memory(self, vocabulary: Vocabulary, n_classes: int, n_rows: int) -> None:
        besides = family_bytes(vocabulary, n_classes, n_rows, self.k)
        check_memory(vocabulary, n_classes, n_rows, _NO_CAPS, limit=self.memory_limit, besides=besides, who="KDB")


def k_parents(counts: PairCounts, k: int) -> Parents:
    """At most k parents for every feature, the one of greatest conditional mutual information first (Sahami, 1996).

    Features come in the order of what they tell about the class, and those before it can be a feature's parents.
    """
    weight = conditional_mutual_information(counts)
    order = np.argsort(-without_rounding(mutual_information(counts)), kind="stable").tolist()
    parents: list[tuple[int, ...]] = [()] * len(weight)
    for place, f in enumerate(order):
        before = np.array(order[:place], dtype=np.intp)
        ranked = before[np.argsort(-weight[f, before], kind="stable")]
        parents[f] = tuple(int(parent) for parent in ranked[:k] if weight[f, parent] > 0)
    return tuple(parents)


class KDB(FamilyClassifier):
    """A Bayesian classifier with k parents a feature, whose smoothing is learned from the data.

    Every feature depends on the class and on up to ``k`` others that tell more about the class: those it shares most
    with, given the class. P(x | class, two parents) is shrunk towards P(x | class, one parent), and that towards
    P(x | class), with one strength learned for each number of parents; P(x | class) is shrunk towards P(x), as in naive
    Bayes. Smoothers with a uniform prior shrink all of them towards equal probabilities. Without weights KDB is
    over-confident where columns have many categories.

    Parameters
    ----------
    k : int, default=2
        Most parents of a feature.
    smoothing : str or Smoother, default="heb-m"
        How probabilities are made from counts, as for ``NaiveBayes``.
    weighting : {None, "sqrt-mi", "loo"}, default=None
        Raise every feature's factor to a power, as for ``NaiveBayes``.
    memory_limit : float, optional
        Most bytes that counting pairs may take; by default half of what is free.
    categorical_features, numeric_features, n_bins, bin_edges, missing, max_categories, random_state
        As for ``NaiveBayes``.

    Attributes
    ----------
    parents_ : list of F tuples of int
        The positions of every feature's parents, the one given up last first. ``partial_fit`` keeps those of the first
        batch.
    concentration_ : list of arrays of shape (C, F)
        Strength of the prior given the class alone, and given one parent, two, …: one number each, NaN for features
        with fewer.
    feature_weights_, class_offsets_, loo_log_loss_
        As for ``NaiveBayes``.
    classes_, class_count_, class_log_prior_, categories_, category_count_, prior_mean_, bin_edges_, counts_
        As for ``NaiveBayes``.
    feature_importances_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Whether two things agree is beyond naive Bayes:

    >>> import numpy as np
    >>> from hebnb import KDB
    >>> X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 10)
    >>> y = X[:, 0] == X[:, 1]
    >>> KDB(k=1).fit(X, y).score(X, y)
    1.0
    """

    _STRUCTURE: ClassVar[type[Structure]] = KParents

    def __init__(
        self,
        k: int = 2,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: str | None = None,
        memory_limit: float | None = None,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        n_bins: int = 10,
        bin_edges: Mapping[Name, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
        max_categories: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(
            smoothing,
            weighting=weighting,
            memory_limit=memory_limit,
            categorical_features=categorical_features,
            numeric_features=numeric_features,
            n_bins=n_bins,
            bin_edges=bin_edges,
            missing=missing,
            max_categories=max_categories,
            random_state=random_state,
        )
        self.k = k

    def _structure(self) -> KParents:
        if not isinstance(self.k, int | np.integer) or isinstance(self.k, bool) or self.k < 0:
            raise ParameterError(f"k={self.k!r} must be an integer that is not negative.")
        return KParents(int(self.k), self.memory_limit)
