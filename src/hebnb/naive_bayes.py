"""Naive Bayes for categories, with learned smoothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hebnb import errors
from hebnb.arrays import Array, FloatArray
from hebnb.columns import Name
from hebnb.counts import Counts, dense
from hebnb.errors import InputError, ParameterError
from hebnb.probability import joint_log_scores, log_scores, posterior_mean
from hebnb.smoothing import Smoother, smoother
from hebnb.table import Table, as_array, read, read_labels, read_weights
from hebnb.vocabulary import Categories, MissingPolicy, Reading, Vocabulary
from hebnb.weighting import feature_weights


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    weighting : {None, "sqrt-mi"}, default=None
        Raise every feature's factor to a power: 1, or the square root of its mutual information with the class in
        bits.
    class_prior : array of shape (C,), optional
        Probabilities of the classes, in sorted order of the labels. By default ``(N_c + 1) / (S + C)``.
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
    bin_edges_ : dict of name to array
        Where numeric columns are cut. An edge belongs to the bin below it.
    counts_ : Counts
        All that was kept of the training rows.
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

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: Literal["sqrt-mi"] | None = None,
        class_prior: Sequence[float] | None = None,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        n_bins: int = 10,
        bin_edges: Mapping[Name, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
    ) -> None:
        self.smoothing = smoothing
        self.weighting = weighting
        self.class_prior = class_prior
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.n_bins = n_bins
        self.bin_edges = bin_edges
        self.missing = missing

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : table or array of shape (S, F)
        y : array or series of shape (S,)
        sample_weight : array of shape (S,), optional
            How many times each row counts. A row of weight 0 might as well not be there.

        Returns
        -------
        self

        Examples
        --------
        >>> NaiveBayes().fit([["a"], ["b"]], [0, 1], sample_weight=[2, 1]).class_count_
        array([2., 1.])
        """
        X = as_array(X)
        return self._learn(self._count(read(X), y, sample_weight), X)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch, which may bring new categories.

        The result is that of one ``fit`` on all rows together, except that float columns keep the bins, or the
        decision to have none, of the first batch; ``bin_edges`` sets them beforehand.

        Parameters
        ----------
        X : table or array of shape (S, F)
        y : array or series of shape (S,)
        classes : array, optional
            All labels that may occur. If given, at the first call, any other is an error afterwards; if not, new labels
            are welcome at any time.
        sample_weight : array of shape (S,), optional
            How many times each row counts.

        Returns
        -------
        self

        Examples
        --------
        >>> model = NaiveBayes().partial_fit([["a"], ["b"]], [0, 1]).partial_fit([["c"]], [1])
        >>> model.categories_
        [array(['a', 'b', 'c'], dtype=object)]
        """
        X = as_array(X)
        table = read(X)
        known: Counts | None = getattr(self, "counts_", None)
        if known is not None:
            self._check_features(X, table)
        counts = self._count(table, y, sample_weight, known.vocabulary if known is not None else None)
        allowed: Categories | None = getattr(self, "_allowed", None)
        if classes is not None:
            given = Categories.occurring(*read_labels(classes, name="classes"))
            if allowed is not None and not np.array_equal(allowed.values, given.values):
                raise InputError("classes differ from those of the first call.", "Give them once, or the same again.")
            allowed = given
        if allowed is not None:
            new = counts.classes.values[allowed.codes_of(counts.classes.values) == allowed.size]
            if len(new):
                raise InputError(f"y has labels that are not in classes: {', '.join(map(repr, new.tolist()))}.")
            counts = counts.with_classes(allowed)
        self._learn(counts if known is None else known + counts, X, first=known is None)
        self._allowed = allowed
        return self

    def predict(self, X: Any) -> Array:
        """The most probable class of every row.

        Examples
        --------
        >>> NaiveBayes().fit([["a"], ["a"], ["b"]], ["x", "x", "y"]).predict([["a"]])
        array(['x'], dtype=object)
        """
        scores = self.predict_joint_log_proba(X)
        labels: Array = self.classes_[np.argmax(scores, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of every class for every row, of shape (S, C).

        Examples
        --------
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_proba([["a"], ["unseen"]]).round(3)
        array([[0.667, 0.333],
               [0.5  , 0.5  ]])
        """
        probabilities: FloatArray = softmax(self.predict_joint_log_proba(X), axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The log probability of every class for every row, of shape (S, C).

        Examples
        --------
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_log_proba([["unseen"]]).round(3)
        array([[-0.693, -0.693]])
        """
        logs: FloatArray = log_softmax(self.predict_joint_log_proba(X), axis=1)
        return logs

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """log P(class) plus the weighted log P(value | class) of all features, of shape (S, C).

        Examples
        --------
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_joint_log_proba([["a"]]).round(3)
        array([[-1.099, -1.792]])
        """
        check_is_fitted(self)
        X = as_array(X)
        table = read(X)
        self._check_features(X, table)
        if not table.n_rows:
            raise _no_rows()
        return joint_log_scores(self.class_log_prior_, self._scores, self.counts_.vocabulary.encode(table))

    @property
    def classes_(self) -> Array:
        """Class labels in sorted order."""
        return self._fitted_counts("classes_").classes.values

    @property
    def class_count_(self) -> FloatArray:
        """Weight of the training rows of each class."""
        return self._fitted_counts("class_count_").class_count

    @property
    def categories_(self) -> list[Array]:
        """Categories of every feature."""
        return [feature.labels for feature in self._fitted_counts("categories_").vocabulary.features]

    @property
    def category_count_(self) -> list[FloatArray]:
        """Weight of the training rows of each class and category."""
        return [dense(table).T for table in self._fitted_counts("category_count_").tables]

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
        return self.concentration_ / (counts.totals + self.concentration_)

    @property
    def bin_edges_(self) -> dict[Name, FloatArray]:
        """Where numeric columns are cut."""
        return self._fitted_counts("bin_edges_").vocabulary.edges

    def _fitted_counts(self, attribute: str) -> Counts:
        counts: Counts | None = self.__dict__.get("counts_")
        if counts is None:
            raise AttributeError(f"{attribute} is learned by fit, which has not been called.")
        return counts

    def _count(self, table: Table, y: Any, sample_weight: Any, known: Vocabulary | None = None) -> Counts:
        """Encode and count; ``known`` is the vocabulary of earlier batches."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if not table.n_rows:
            raise _no_rows()
        weights = read_weights(sample_weight, table.n_rows)
        kept = None if weights is None or weights.all() else weights > 0
        labels, label_values = read_labels(y, table.n_rows, kept)
        if weights is not None and kept is not None:
            table, weights = table.rows(kept), weights[kept]
        reading = Reading(self.categorical_features, self.numeric_features, self.n_bins, self.bin_edges, self.missing)
        vocabulary = Vocabulary.learn(table, reading, weights) if known is None else known.relearn(table)
        return Counts.of(vocabulary, vocabulary.encode(table), labels, label_values, weights)

    def _learn(self, counts: Counts, X: Any, first: bool = True) -> Self:
        """Smooth and weigh. Nothing is stored before everything has succeeded."""
        rule = smoother(self.smoothing)
        log_prior = self._log_prior(counts)
        concentration = rule.concentration(counts)
        means = [rule.mean(pooled, pooled.sum(), len(pooled)) for pooled in counts.pooled]
        weights = feature_weights(self.weighting, counts)
        scores = tuple(
            log_scores(*parts)
            for parts in zip(counts.tables, counts.totals.T, means, concentration.T, weights.tolist(), strict=True)
        )
        if first:
            validate_data(self, X, reset=True, skip_check_array=True)
            self.n_features_in_ = len(counts.tables)
            self._allowed = None
        self.counts_ = counts
        self.class_log_prior_ = log_prior
        self.prior_mean_ = means
        self.concentration_ = concentration
        self.feature_weights_ = weights
        self._scores = scores
        return self

    def _log_prior(self, counts: Counts) -> FloatArray:
        n_classes = counts.classes.size
        if self.class_prior is None:
            smoothed = posterior_mean(counts.class_count, counts.class_count.sum(), 1 / n_classes, float(n_classes))
            return np.log(smoothed)
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

    def _check_features(self, X: Any, table: Table) -> None:
        """Compare the columns with those of fit as scikit-learn does, and name the first one out of place."""
        now, then = table.names, self.counts_.vocabulary.names
        complaint = ""
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            complaint = str(error)
        positions = tuple(range(len(now))), tuple(range(len(then)))
        if now not in positions and then not in positions:  # both have names; scikit-learn compares only strings
            moved = next((pair for pair in zip(now, then, strict=False) if pair[0] != pair[1]), None)
            if moved:
                complaint += f"{errors.column(moved[0])} stands where {moved[1]!r} stood at fit."
        if complaint:
            raise InputError(complaint.rstrip(), "Pass the columns of fit, in their order.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _no_rows() -> InputError:
    return InputError("X has 0 rows.", "Pass at least one.")
