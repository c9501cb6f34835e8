"""Naive Bayes for categories, with learned smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.kinds import MissingPolicy
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.single import Counts, dense
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.structure import Structure, Tables
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.build import levels, value_tables
from hebnb.smoothing.posterior import posterior_mean
from hebnb.smoothing.smoothers import Smoother, prior_means


@dataclass(frozen=True)
class Independent(Structure):
    """Features depend on the class alone."""

    def count(self, rows: EncodedRows, known: Counts | None) -> Counts:
        """Single features."""
        return Counts.of(rows)

    def count_lazily(self, table: LazyTable, single: Counts) -> Counts:
        """Nothing besides single features."""
        return single

    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """log P(x | y)."""
        return value_tables(counts, rule), None


class NaiveBayes(CategoricalClassifier):
    """Naive Bayes whose smoothing is learned from the data, for every class and feature.

    It takes pandas, Polars and PyArrow tables and NumPy arrays as they are. Strings, categoricals, booleans and
    integers are categories, floats are cut into bins at quantiles, and gaps are a category of their own. A value that
    was not seen in training leaves the odds of the classes as they are.

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
        Number of quantile bins of a float column. One with no more distinct values than that keeps them, and a value
        that more than one in ``n_bins`` rows have gets a bin to itself.
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
    feature_importances_ : array of shape (F,)
        The share of every column in what all tell about left-out rows, each by itself: at least zero, one altogether,
        and zero for noise and ids.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : array of shape (F,)
        Names of the columns at fit, where they are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from hebnb import NaiveBayes
    >>> X = np.array([["red", "s"], ["red", "m"], ["blue", "m"], ["blue", None]] * 5, dtype=object)
    >>> y = np.array(["no", "no", "yes", "yes"] * 5)
    >>> model = NaiveBayes().fit(X, y)
    >>> model.predict([["red", "s"], ["blue", "never seen"]])
    array(['no', 'yes'], dtype=object)
    >>> model.shrinkage_.round(2)
    array([[0.  , 0.18],
           [0.  , 0.18]])
    """

    _STRUCTURE: ClassVar[type[Structure]] = Independent

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: str | None = None,
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

    def _structure(self) -> Independent:
        return Independent()

    def _given_prior(self, n_classes: int) -> FloatArray | None:
        if self.class_prior is None:
            return None
        try:
            prior = np.asarray(self.class_prior, dtype=float)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"class_prior={self.class_prior!r} must be one probability a class.") from error
        if prior.shape != (n_classes,):
            raise ParameterError(f"class_prior has shape {prior.shape} but there are {n_classes} classes.")
        if not (prior >= 0).all() or not np.isclose(prior.sum(), 1):
            raise ParameterError("class_prior must be probabilities that sum to 1.")
        return prior

    @property
    def concentration_(self) -> FloatArray:
        """Strength of the prior, in rows."""
        return levels(self._fitted("concentration_").tables)[0]

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Log probability of each category given the class."""
        scores = self._fitted("feature_log_prob_")
        counts, m = scores.counts, levels(scores.tables)[0]
        parts = zip(counts.tables, counts.totals.T, prior_means(counts, scores.rule), m.T, strict=True)
        with np.errstate(divide="ignore"):  # a bin without rows has probability 0 where the prior says so
            return [
                np.log(posterior_mean(dense(table), total, mean[:, np.newaxis], m)).T for table, total, mean, m in parts
            ]

    @property
    def shrinkage_(self) -> FloatArray:
        """The share of the prior in every probability."""
        scores = self._fitted("shrinkage_")
        m = levels(scores.tables)[0]
        share: FloatArray = m / (scores.counts.totals + m)
        return share
