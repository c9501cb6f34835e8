"""Tree-augmented naive Bayes, with smoothing that is learned and backs off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.dependence import conditional_mutual_information, without_rounding
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import Parents
from hebnb.counts.pair_memory import check_memory, family_bytes
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.engines.counting import count_pairs
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import InputError
from hebnb.estimators.families import FamilyClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.scores.build import family_tables
from hebnb.smoothing.smoothers import Smoother
from hebnb.weighting.mutual_information import mutual_information

# Every pair is counted, whatever its number of categories.
_NO_CAPS = Caps(None, None)


@dataclass(frozen=True)
class Tree(Structure):
    """Every feature but one depends on the class and on one other feature, in a tree."""

    memory_limit: float | None = None
    counts_type: ClassVar[type[Counts]] = PairCounts

    def count(self, rows: EncodedRows, known: Counts | None) -> PairCounts:
        """Single features, and pairs."""
        self._check_memory(rows.vocabulary, rows.classes.size, len(rows))
        return PairCounts.of_rows(Counts.of(rows), rows, _NO_CAPS)

    def count_lazily(self, table: LazyTable, single: Counts) -> PairCounts:
        """Pairs, by the table's engine."""
        self._check_memory(single.vocabulary, single.classes.size, table.n_rows)
        return count_pairs(table, single, _NO_CAPS)

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log P(x | y, parent) along the tree."""
        assert isinstance(counts, PairCounts)
        if counts.caps != _NO_CAPS:
            raise InputError("These counts lack the pairs that caps left out.", "Make them with TAN().count(X, y).")
        return family_tables(counts, counts, tree(counts), rule), None

    def _check_memory(self, vocabulary: Vocabulary, n_classes: int, n_rows: int) -> None:
        besides = family_bytes(vocabulary, n_classes, n_rows, 1)
        check_memory(vocabulary, n_classes, n_rows, _NO_CAPS, limit=self.memory_limit, besides=besides, who="TAN")


def tree(counts: PairCounts) -> Parents:
    """The parent of every feature in the tree of greatest conditional mutual information (Friedman et al., 1997).

    The root is the feature that tells most about the class. A feature that is independent of all others, given the
    class, has no parent.
    """
    weight = conditional_mutual_information(counts)
    parents: list[tuple[int, ...]] = [()] * len(weight)
    nearest = np.full(len(weight), int(np.argmax(without_rounding(mutual_information(counts)))))
    outside = np.arange(len(weight)) != nearest[0]
    best = weight[nearest[0]].copy()
    while outside.any():
        joining = int(np.argmax(np.where(outside, best, -1.0)))
        if best[joining] > 0:
            parents[joining] = (int(nearest[joining]),)
        outside[joining] = False
        closer = outside & (weight[joining] > best)
        nearest[closer], best[closer] = joining, weight[joining][closer]
    return tuple(parents)


class TAN(FamilyClassifier):
    """Tree-augmented naive Bayes whose smoothing is learned from the data.

    Every feature depends on the class and on one other feature, its *parent*; the parents form the tree of greatest
    conditional mutual information. P(x | class, parent) is shrunk towards P(x | class), with one strength learned for
    all features, and that towards P(x), as in naive Bayes; smoothers with a uniform prior shrink both towards equal
    probabilities. Without weights TAN is over-confident where columns have many categories.

    Parameters
    ----------
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
        The position of every feature's parent; empty for the root.
    concentration_ : list of arrays of shape (C, F)
        Strength of the prior given the class alone, and given the class and the parent: one number, NaN for the root.
    feature_weights_, class_offsets_, loo_log_loss_
        As for ``NaiveBayes``.
    classes_, class_count_, class_log_prior_, categories_, category_count_, prior_mean_, bin_edges_, counts_
        As for ``NaiveBayes``.
    feature_importances_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The second column repeats the first, so it depends on it:

    >>> import numpy as np
    >>> X = np.array([["a", "a", "s"], ["a", "a", "t"], ["b", "b", "s"], ["b", "b", "t"]] * 10)
    >>> y = np.array(["x", "x", "z", "x"] * 10)
    >>> TAN().fit(X, y).parents_
    [(), (0,), (0,)]
    """

    _STRUCTURE: ClassVar[type[Structure]] = Tree

    def _structure(self) -> Tree:
        return Tree(self.memory_limit)
