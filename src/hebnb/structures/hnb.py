"""Hidden naive Bayes, with smoothing that is learned and backs off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hebnb.counts.dependence import conditional_mutual_information
from hebnb.counts.families import Parents
from hebnb.counts.pairs import PairCounts
from hebnb.counts.single import Counts
from hebnb.estimators.families import FamilyClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.build import mixture_tables
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.smoothers import Smoother
from hebnb.structures.all_pairs import AllPairs


@dataclass(frozen=True)
class HiddenParent(AllPairs):
    """Every feature depends on the class and on a mean of all other features."""

    who: ClassVar[str] = "HNB"

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log Σ_i w_i P(x | y, x_i)."""
        counts = self.of_all_pairs(counts)
        return mixture_tables(counts, counts, parent_weights(counts), rule), None

    @classmethod
    def families(cls, parents: Parents) -> list[tuple[int, ...]]:
        """A feature with each of the others."""
        return [(f, i) for f, own in enumerate(parents) for i in own]

    @classmethod
    def restored(
        cls, counts: Any, parents: Parents, rule: Smoother, concentration: Sequence[FloatArray]
    ) -> tuple[ScoreTable, ...]:
        """The tables, for parents and concentrations that are known."""
        return mixture_tables(counts, counts, parent_weights(counts, parents), rule, concentration)

    def n_parents(self, n_features: int) -> int:
        """All others."""
        return n_features - 1


def parent_weights(counts: PairCounts, parents: Parents | None = None) -> FloatArray:
    """How much every other feature (column) counts for a feature (row), of shape (F, F).

    In proportion to what they tell about each other within a class. A feature that is independent of all others, given
    the class, has no parents. Where the parents are known already, others do not count.
    """
    information = conditional_mutual_information(counts)
    for f, own in enumerate(parents or ()):
        information[f, np.setdiff1d(np.arange(len(information)), own)] = 0.0
    total = information.sum(axis=1, keepdims=True)
    weights: FloatArray = information / np.where(total > 0, total, 1.0)
    return weights


class HNB(FamilyClassifier):
    """Hidden naive Bayes whose smoothing is learned from the data.

    Every feature depends on the class and on a *hidden parent* that stands for all other features: P(x | class, hidden
    parent) is the mean of P(x | class, x_i) over the others, each in proportion to the conditional mutual information
    of the two (Jiang, Zhang and Cai, 2009). These are shrunk towards P(x | class), with one strength learned for all
    pairs, and that towards P(x), as in ``TAN``; smoothers with a uniform prior shrink both towards equal
    probabilities.

    Tables of all features at once are as large as the product of their categories, so only models of a few columns can
    be exported to SQL and ONNX.

    Parameters
    ----------
    smoothing : str or Smoother, default="heb-m"
        How probabilities are made from counts, as for ``NaiveBayes``.
    weighting : {None, "sqrt-mi", "loo"}, default=None
        Raise every feature's factor to a power, as for ``NaiveBayes``.
    memory_limit : float, optional
        Most bytes that counts and tables of pairs may take; by default half of what is free.
    categorical_features, numeric_features, n_bins, bin_edges, missing, max_categories, random_state
        As for ``NaiveBayes``.

    Attributes
    ----------
    parents_ : list of F tuples of int
        The positions of the features that every feature's hidden parent is made of.
    parent_weights_ : array of shape (F, F)
        The share of every other feature (column) in the hidden parent of a feature (row).
    concentration_ : list of arrays of shape (C, F)
        Strength of the prior given the class alone, and given the class and one other feature.
    feature_weights_, class_offsets_, loo_log_loss_
        As for ``NaiveBayes``.
    classes_, class_count_, class_log_prior_, categories_, category_count_, prior_mean_, bin_edges_, counts_
        As for ``NaiveBayes``.
    feature_importances_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    The second column repeats the first, so that they are most of each other's hidden parent:

    >>> import numpy as np
    >>> from hebnb import HNB
    >>> X = np.array([["a", "a", "s"], ["a", "a", "t"], ["b", "b", "s"], ["b", "b", "t"]] * 10)
    >>> y = np.array(["x", "x", "z", "x"] * 10)
    >>> HNB().fit(X, y).parent_weights_.round(2)
    array([[0.  , 0.78, 0.22],
           [0.78, 0.  , 0.22],
           [0.5 , 0.5 , 0.  ]])
    """

    _STRUCTURE: ClassVar[type[Structure]] = HiddenParent

    def _structure(self) -> HiddenParent:
        return HiddenParent(self.memory_limit)

    @property
    def parent_weights_(self) -> FloatArray:
        """The share of every other feature (column) in the hidden parent of a feature (row)."""
        counts = self._fitted("parent_weights_").counts
        assert isinstance(counts, PairCounts)
        return parent_weights(counts)
