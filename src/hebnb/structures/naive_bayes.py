"""Naive Bayes for categories, with learned smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from hebnb.columns.column import Name
from hebnb.columns.vocabulary import MissingPolicy, Vocabulary
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, dense
from hebnb.engines.counting import Frame, LazyTable
from hebnb.engines.scoring import with_scores
from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.learner import OF_WEIGHTING
from hebnb.explain.contributions import Evidence
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.scores.left_out import NaiveBayesParts
from hebnb.scores.tables import (
    class_log_prior,
    joint_log_scores,
    posterior_mean,
    score_tables,
    separate_scores,
    silent_codes,
)
from hebnb.smoothing.smoothers import Smoother, concentrations, prior_means, smoother
from hebnb.weighting.leave_one_out import leave_one_out_pool, mutual_information
from hebnb.weighting.log_linear import Pool, Prior


class NaiveBayes(CategoricalClassifier[Counts]):
    """Naive Bayes whose smoothing is learned from the data, for every class and feature.

    Takes pandas, Polars and PyArrow tables and NumPy arrays as they are: strings, categoricals, booleans and integers
    are categories, floats are cut at quantiles, gaps are a category of their own, and values not seen in training
    say nothing about the class.

    Parameters
    ----------
    smoothing : str or Smoother, default="heb-m"
        How probabilities are made from counts: ``"heb-m"`` and ``"heb-u"`` learn the strength of the prior, towards
        pooled frequencies or equal ones; ``"laplace"``, ``"lidstone"``, ``"kt"``, ``"m-estimate"`` and ``"te"`` fix
        it. An object, such as ``HEB(solver="minka")`` or ``Additive(alpha=0.3)``, sets its parameters.
    weighting : {None, "sqrt-mi", "loo"}, default=None
        Raise every feature's factor to a power: 1; the square root of its mutual information with the class in bits;
        or a power learned, with an offset for every class, on the leave-one-out likelihood of the training rows. The
        last gives calibrated probabilities and has nothing to tune.
    class_prior : array of shape (C,), optional
        Probabilities of the classes among new rows, in sorted order of the labels. By default
        ``(N_c + 1) / (S + C)``.
    categorical_features : {"auto", "all"} or list of names or positions, default="auto"
        Which columns are categories. "auto" goes by dtype, "all" keeps floats as they are too, and a list names
        columns that are categories whatever their dtype; the others still go by dtype.
    numeric_features : list of names or positions, optional
        Columns to cut into bins although they hold integers.
    n_bins : int, default=10
        Number of quantile bins of a float column. One with no more distinct values than that keeps them.
    bin_edges : dict of name or position to increasing numbers, optional
        Where to cut these columns, instead of at quantiles.
    missing : {"category", "ignore", "error"}, default="category"
        What a gap is: a category where the training rows have gaps, nothing, or a mistake.
    max_categories : int, optional
        Keep at most so many categories of a column, the most frequent; the others count as unseen. ``dropped_`` says
        what was left out.
    random_state : int, RandomState or None, default=0
        Leave-one-out weights are learned from 50,000 rows at most, and from fewer where features × (classes − 1) is
        above 335. Beyond that a sample is drawn, stratified by class, from this seed.

    Attributes
    ----------
    classes_ : array of shape (C,)
        Class labels in sorted order.
    class_count_ : array of shape (C,)
        Weight of the training rows of each class.
    class_log_prior_ : array of shape (C,)
        Log probabilities of the classes.
    categories_ : list of F arrays
        Categories of every feature; of a cut one, its intervals as text.
    category_count_ : list of F arrays of shape (C, K)
        Weight of the training rows of each class and category.
    feature_log_prob_ : list of F arrays of shape (C, K)
        Log probability of each category given the class.
    prior_mean_ : list of F arrays of shape (K,)
        What the probabilities are shrunk towards.
    concentration_ : array of shape (C, F)
        Strength of the prior, in rows.
    shrinkage_ : array of shape (C, F)
        ``m / (N + m)``: the share of the prior in every probability, between 0 and 1.
    feature_weights_ : array of shape (F,)
        Exponent of every feature's factor.
    class_offsets_ : array of shape (C,)
        What is added to the score of every class: zero but for leave-one-out weights.
    loo_log_loss_ : float
        With leave-one-out weights, an estimate of the log-loss that new rows will see.
    bin_edges_ : dict of name to array
        Where numeric columns are cut. An edge belongs to the bin below it.
    dropped_ : dict of name to dict
        What ``max_categories`` left out: numbers of ``categories`` and ``rows`` by column.
    counts_ : Counts
        What was counted of the training rows.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : array of shape (F,)
        Names of the columns at fit, where they are strings.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([["red", "s"], ["red", "m"], ["blue", "m"], ["blue", None]] * 5, dtype=object)
    >>> y = np.array(["no", "no", "yes", "yes"] * 5)
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["red", "s"], ["blue", "never seen"]])
    array(['no', 'yes'], dtype=object)
    >>> model.shrinkage_.round(2)
    array([[0.  , 0.18],
           [0.  , 0.18]])
    """

    _WEIGHTINGS = (None, "sqrt-mi", "loo")
    _LEARNED = ("class_log_prior_", "concentration_", "_given_log_prior", *OF_WEIGHTING)

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: Literal["sqrt-mi", "loo"] | None = None,
        class_prior: Sequence[float] | None = None,
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
        self.class_prior = class_prior
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.n_bins = n_bins
        self.bin_edges = bin_edges
        self.missing = missing
        self.max_categories = max_categories
        self.random_state = random_state

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Log probability of each category given the class."""
        counts = self._fitted_counts("feature_log_prob_")
        parts = zip(counts.tables, counts.totals.T, self.prior_mean_, self.concentration_.T, strict=True)
        with np.errstate(divide="ignore"):  # a bin without rows has probability 0 where the prior says so
            return [
                np.log(posterior_mean(dense(table), total, mean[:, np.newaxis], m)).T for table, total, mean, m in parts
            ]

    @property
    def shrinkage_(self) -> FloatArray:
        """The share of the prior in every probability."""
        counts = self._fitted_counts("shrinkage_")
        share: FloatArray = self.concentration_ / (counts.totals + self.concentration_)
        return share

    def _tally(
        self, vocabulary: Vocabulary, codes: list[IntArray], labels: tuple[IntArray, Array], weights: FloatArray | None
    ) -> Counts:
        return Counts.of(vocabulary, codes, *labels, weights)

    def _tally_lazy(self, table: LazyTable, counts: Counts) -> Counts:
        return counts

    def _learn_from(self, counts: Counts, sample: Sample | None, start: Pool | None) -> dict[str, Any]:
        rule = clone(smoother(self.smoothing))
        concentration = concentrations(counts, rule)
        log_prior = self._log_prior(counts)
        learned: dict[str, Any] = {}
        n_features, n_classes = len(counts.tables), counts.classes.size
        weights, offsets = np.ones(n_features), np.zeros(n_classes)
        if self.weighting == "loo":
            # A prior that was given is for new rows; these have the one they have.
            parts = NaiveBayesParts(counts, rule, concentration)
            pool = leave_one_out_pool(parts, sample, Prior((n_features,), (1.0,), n_classes), start)
            weights, offsets = pool.weights, pool.offsets
            learned["loo_log_loss_"] = pool.log_loss
        elif self.weighting == "sqrt-mi":
            weights = np.sqrt(mutual_information(counts))
        learned |= {
            "class_log_prior_": log_prior,
            "concentration_": concentration,
            "feature_weights_": weights,
            "class_offsets_": offsets,
            "_given_log_prior": None if self.class_prior is None else log_prior,
        }
        return learned | self._derived(counts, rule, learned)

    def _derived(self, counts: Counts, rule: Smoother, learned: Mapping[str, Any]) -> dict[str, Any]:
        means = prior_means(counts, rule)
        scores = score_tables(counts, means, learned["concentration_"], learned["feature_weights_"])
        return {"prior_mean_": means, "_rule": rule, "_scores": scores}

    def _joint_log_scores(self, codes: list[IntArray]) -> FloatArray:
        return joint_log_scores(self.class_log_prior_ + self.class_offsets_, self._scores, codes)

    def _evidence(self, codes: list[IntArray]) -> Evidence:
        contribution = separate_scores(self._scores, codes, len(self.class_log_prior_))
        prior = np.tile(self.class_log_prior_ + self.class_offsets_, (len(contribution), 1))
        silent = silent_codes(self.prior_mean_, codes)
        return Evidence(prior, contribution, np.where(silent[..., np.newaxis], 1.0, self.shrinkage_.T))

    def _lazy_scores(self, frame: Frame) -> Frame:
        prior = self.class_log_prior_ + self.class_offsets_
        return with_scores(frame, self.counts_.vocabulary, self._scores, prior)

    def _left_out_parts(self) -> NaiveBayesParts:
        return NaiveBayesParts(self.counts_, self._rule, self.concentration_, self._given_log_prior)

    def _pool(self) -> Pool:
        return Pool(self.feature_weights_, self.class_offsets_, log_loss=getattr(self, "loo_log_loss_", np.nan))

    def _log_prior(self, counts: Counts) -> FloatArray:
        n_classes = counts.classes.size
        if self.class_prior is None:
            return class_log_prior(counts.class_count)
        try:
            prior = np.asarray(self.class_prior, dtype=float)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"class_prior={self.class_prior!r} must be one probability a class.") from error
        if prior.shape != (n_classes,):
            raise ParameterError(f"class_prior has shape {prior.shape} but there are {n_classes} classes.")
        if not (prior >= 0).all() or not np.isclose(prior.sum(), 1):
            raise ParameterError("class_prior must be probabilities that sum to 1.")
        with np.errstate(divide="ignore"):
            log_prior: FloatArray = np.log(prior)
        return log_prior
