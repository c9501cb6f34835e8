"""Tree-augmented naive Bayes, with smoothing that is learned and backs off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hebnb.counts.dependence import conditional_mutual_information, without_rounding
from hebnb.counts.families import Parents
from hebnb.counts.pairs import PairCounts
from hebnb.counts.single import Counts
from hebnb.estimators.families import FamilyClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.scores.build import family_tables
from hebnb.smoothing.smoothers import Smoother
from hebnb.structures.all_pairs import AllPairs
from hebnb.weighting.mutual_information import mutual_information


@dataclass(frozen=True)
class Tree(AllPairs):
    """Every feature but one depends on the class and on one other feature, in a tree."""

    who: ClassVar[str] = "TAN"

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log P(x | y, parent) along the tree."""
        counts = self.of_all_pairs(counts)
        return family_tables(counts, counts, tree(counts), rule), None


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
    >>> from hebnb import TAN
    >>> X = np.array([["a", "a", "s"], ["a", "a", "t"], ["b", "b", "s"], ["b", "b", "t"]] * 10)
    >>> y = np.array(["x", "x", "z", "x"] * 10)
    >>> TAN().fit(X, y).parents_
    [(), (0,), (0,)]
    """

    _STRUCTURE: ClassVar[type[Structure]] = Tree

    def _structure(self) -> Tree:
        return Tree(self.memory_limit)
