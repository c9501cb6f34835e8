"""Averaged one-dependence estimators for categories, with learned smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.kinds import MissingPolicy
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.pair_memory import check_memory
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.engines.counting import count_pairs
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.build import value_tables
from hebnb.scores.estimates import Estimates
from hebnb.smoothing.smoothers import Smoother
from hebnb.weighting import WEIGHTINGS
from hebnb.weighting.leave_one_out import score_bytes


@dataclass(frozen=True)
class OneDependence(Structure):
    """Every feature in turn is a parent of all others.

    Parameters
    ----------
    caps : Caps
        Which pairs are used.
    skips : bool
        Whether a parent with a pair that is not used is left out.
    min_parent_count : float
        How often a value has to occur to act as a parent.
    memory_limit : float, optional
    learns_from_rows : bool
        Whether weights are learned from rows, which takes memory too.
    """

    caps: Caps
    skips: bool
    min_parent_count: float
    memory_limit: float | None
    learns_from_rows: bool
    counts_type: ClassVar[type[Counts]] = PairCounts
    has_estimates: ClassVar[bool] = True

    def count(self, rows: EncodedRows, known: Counts | None) -> PairCounts:
        """Single features, and pairs."""
        single = Counts.of(rows)
        self._check_memory(rows.vocabulary, rows.classes.size, len(rows))
        return PairCounts.of_rows(single, rows, self.caps)

    def count_lazily(self, table: LazyTable, single: Counts) -> PairCounts:
        """Pairs, by the table's engine."""
        self._check_memory(single.vocabulary, single.classes.size, table.n_rows)
        return count_pairs(table, single, self.caps)

    def added(self, known: Counts, new: Counts) -> Counts:
        """The counts of all batches, which have to have the same caps."""
        assert isinstance(known, PairCounts)
        assert isinstance(new, PairCounts)
        if known.caps != new.caps:
            raise ParameterError("The caps differ from those of earlier batches.", "Set them before the first batch.")
        n_rows = known.n_rows + new.n_rows
        self._check_memory(known.vocabulary | new.vocabulary, (known.classes | new.classes).size, n_rows)
        return known + new

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log P(x | y), and the estimates of the parents."""
        assert isinstance(counts, PairCounts)
        used = counts.caps.used(counts.layout.sizes, counts.classes.size)
        n_features = len(used)
        parents = np.arange(n_features)
        if self.skips:
            parents = parents[(used | np.eye(n_features, dtype=bool)).all(axis=1)]
        if n_features == 1:
            parents = parents[:0]
        used &= np.isin(np.arange(n_features), parents)[:, np.newaxis]
        estimates = Estimates.of(counts, rule, parents, used=used, min_count=self.min_parent_count)
        return value_tables(counts, rule), estimates

    def _check_memory(self, vocabulary: Vocabulary, n_classes: int, n_rows: int) -> None:
        besides = 1.5 * score_bytes(2 * len(vocabulary.names), n_classes, n_rows) if self.learns_from_rows else 0.0
        check_memory(vocabulary, n_classes, n_rows, self.caps, limit=self.memory_limit, besides=besides, who="AODE")


class AODE(CategoricalClassifier):
    """Averaged one-dependence estimators whose smoothing is learned from the data.

    Naive Bayes lets every feature depend on the class alone. Here each feature in turn is a *parent*, on which all the
    others depend too, and the estimates of all parents are averaged. The probabilities of a child's values given the
    class and a parent's value are smoothed with a concentration learned for every (class, parent, child).

    ``AODE()`` is the paper's HEB-AODE, ``AODE("laplace", over_cap="skip")`` its AODE. With a single feature there is no
    child, and the model is naive Bayes with the same smoothing.

    Parameters
    ----------
    smoothing : str or Smoother, default="heb-m"
        How probabilities are made from counts, as for ``NaiveBayes``.
    weighting : {None, "loo"}, default=None
        How the estimates of the parents are put together: by their mean; or as a product of powers, together with
        powers of the factors of naive Bayes and an offset for every class, all learned on the leave-one-out
        likelihood of the training rows. The second gives calibrated probabilities and has nothing to tune.
    max_parent_categories : int or None, default=200
        Largest number of categories of a parent. None: every feature may be one.
    max_joint_cells : float or None, default=5e7
        Largest number of (class, parent value, child value) combinations of a pair.
    over_cap : {"marginal", "skip"}, default="marginal"
        What becomes of a parent or pair over these: its children depend on the class alone, or the parent is left out.
    min_parent_count : float, default=1
        A value acts as a parent only if it occurred in at least this weight of training rows.
    memory_limit : float, optional
        Most bytes that the tables may take; by default half of what is free.
    categorical_features, numeric_features, n_bins, bin_edges, missing
        How columns are read, as for ``NaiveBayes``.
    max_categories : int, optional
        Keep at most so many categories of a column, as for ``NaiveBayes``.
    random_state : int, RandomState or None, default=0
        Seed of the sample that leave-one-out weights are learned from, as for ``NaiveBayes``.

    Attributes
    ----------
    parents_ : array of int
        Positions of the features that act as parents.
    parent_weights_ : array of shape (parents,)
        With leave-one-out weights, the exponent of every parent's estimate.
    feature_weights_ : array of shape (F,)
        With leave-one-out weights, the exponent of every feature's naive Bayes factor beside these.
    class_offsets_ : array of shape (C,)
        With leave-one-out weights, what is added to the score of every class.
    loo_log_loss_ : float
        With leave-one-out weights, an estimate of the log-loss that new rows will see.
    concentration_ : array of shape (C, F, F)
        Strength of the prior for (class, parent, child), in rows; NaN where the child depends on the class alone.
    classes_, class_count_, class_log_prior_, categories_, category_count_, prior_mean_, bin_edges_, counts_
        As for ``NaiveBayes``.
    feature_importances_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Whether two things agree is beyond naive Bayes, but not beyond one dependence:

    >>> import numpy as np
    >>> from hebnb import AODE
    >>> X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 10)
    >>> y = X[:, 0] == X[:, 1]
    >>> AODE().fit(X, y).score(X, y)
    1.0
    """

    _STRUCTURE: ClassVar[type[Structure]] = OneDependence

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: str | None = None,
        max_parent_categories: int | None = 200,
        max_joint_cells: float | None = 5e7,
        over_cap: Literal["marginal", "skip"] = "marginal",
        min_parent_count: float = 1,
        memory_limit: float | None = None,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        n_bins: int = 10,
        bin_edges: Mapping[Name, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
        max_categories: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.smoothing = smoothing
        self.weighting = weighting
        self.max_parent_categories = max_parent_categories
        self.max_joint_cells = max_joint_cells
        self.over_cap = over_cap
        self.min_parent_count = min_parent_count
        self.memory_limit = memory_limit
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.n_bins = n_bins
        self.bin_edges = bin_edges
        self.missing = missing
        self.max_categories = max_categories
        self.random_state = random_state

    def _structure(self) -> OneDependence:
        for name in ("max_parent_categories", "max_joint_cells", "min_parent_count", "memory_limit"):
            value = getattr(self, name)
            if value is None and name != "min_parent_count":
                continue
            if not isinstance(value, Real) or not float(value) >= 0:
                raise ParameterError(f"{name}={value!r} must be a number that is not negative.")
        if self.over_cap not in ("marginal", "skip"):
            raise errors.unknown_name("over_cap", self.over_cap, ["marginal", "skip"])
        return OneDependence(
            Caps(self.max_parent_categories, self.max_joint_cells),
            self.over_cap == "skip",
            float(self.min_parent_count),
            self.memory_limit,
            WEIGHTINGS[self.weighting].needs_rows,
        )

    @property
    def parents_(self) -> IntArray:
        """Positions of the features that act as parents."""
        return self._fitted("parents_").parents

    @property
    def parent_weights_(self) -> FloatArray:
        """Exponent of every parent's estimate."""
        weights = self._weights("parent_weights_").estimate_weights
        assert weights is not None
        return weights

    @property
    def concentration_(self) -> FloatArray:
        """Strength of the prior for (class, parent, child), in rows."""
        estimates = self._fitted("concentration_").estimates
        assert estimates is not None
        return estimates.concentration
