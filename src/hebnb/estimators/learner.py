"""Learning from tables, which is counting them: in memory, on an engine, batch after batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from hebnb import errors
from hebnb.columns.table import Table, as_array, is_lazy, read, read_labels, read_weights
from hebnb.columns.vocabulary import Categories, Dropped, Reading, Vocabulary
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.engines import counting as engine
from hebnb.engines.counting import LazyTable
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.smoothing.smoothers import Smoother
from hebnb.weighting.leave_one_out import row_limit
from hebnb.weighting.log_linear import Pool

# Attributes that only some weightings have.
OF_WEIGHTING = ("parent_weights_", "feature_weights_", "class_offsets_", "loo_log_loss_")
# What is kept of the training rows.
Tally = TypeVar("Tally", bound=Counts)


class CountLearner(BaseEstimator, Generic[Tally]):  # type: ignore[misc]
    """An estimator that learns from counts.

    A subclass says in ``_tally`` what it counts, in ``_learn_from`` what it learns from the counts, and in ``_derived``
    what follows from that. It has the parameters of ``Reading``, and ``max_categories``, ``weighting`` and
    ``random_state``.
    """

    counts_: Tally
    dropped_: Dropped
    _kept: _Kept | None
    _WEIGHTINGS: tuple[str | None, ...]
    _TALLY: type[Counts] = Counts
    # Attributes that hold what was learned, some of them only with some parameters.
    _LEARNED: tuple[str, ...]

    @abstractmethod
    def _tally(
        self, vocabulary: Vocabulary, codes: list[IntArray], labels: tuple[IntArray, Array], weights: FloatArray | None
    ) -> Tally:
        """Count encoded rows."""

    @abstractmethod
    def _learn_from(self, counts: Tally, sample: Sample | None, start: Pool | None) -> dict[str, Any]:
        """The attributes to be set. Nothing is stored before everything has succeeded.

        With leave-one-out weights there is a sample of the rows, weights to start from, or both.
        """

    @abstractmethod
    def _derived(self, counts: Tally, rule: Smoother, learned: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes that follow from the counts and from what was learned."""

    @abstractmethod
    def _pool(self) -> Pool:
        """The weights of these parts."""

    def _combine(self, known: Tally, new: Tally) -> Tally:
        """The counts of all batches."""
        return known + new  # type: ignore[return-value]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, features: Sequence[str] | None = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : table or array of shape (S, F), or lazy table
            Of a lazy table (a DuckDB relation, a Polars LazyFrame, a PySpark or Dask DataFrame, an Ibis table) only
            counts are collected: its engine makes them, one group-by a feature or, for ``AODE``, a pair.
        y : array or series of shape (S,), or the name of a lazy table's column
        sample_weight : array of shape (S,), or the name of a lazy table's column, optional
            How many times each row counts. A row of weight 0 might as well not be there.
        features : list of str, optional
            Columns of a lazy table to learn from; by default all others.

        Returns
        -------
        self

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes().fit([["a"], ["b"]], [0, 1], sample_weight=[2, 1]).class_count_
        array([2., 1.])
        """
        X = as_array(X)
        self._check_weighting()
        if is_lazy(X):
            return self._fit_lazy(LazyTable.read(X, y, sample_weight, features))
        if features is not None:
            raise ParameterError("features is for lazy tables.", "Pass a table of the columns to learn from.")
        counts, sample, dropped = self._count(read(X), y, sample_weight, self._new_random())
        self._learn(counts, sample, X, first=True)
        self._kept, self.dropped_ = None, dropped
        return self

    def _fit_lazy(self, table: LazyTable) -> Self:
        random = self._new_random()
        counts, dropped = engine.count(table, self._reading(), self.max_categories)
        tally = self._tally_lazy(table, counts)
        sample = None
        if self.weighting == "loo":
            limit = row_limit(2 * len(counts.tables), counts.classes.size)
            sample = engine.sample(table, counts, limit, int(random.randint(1 << 30)))
        self._learn(tally, sample, None, first=True)
        self._kept, self.dropped_ = None, dropped
        return self

    @abstractmethod
    def _tally_lazy(self, table: LazyTable, counts: Counts) -> Tally:
        """What is counted besides single features, by the table's engine."""

    def count(self, X: Any, y: Any, sample_weight: Any = None, *, features: Sequence[str] | None = None) -> Tally:
        """Count rows without learning from them. Counts add, wherever they were made.

        Parameters
        ----------
        X, y, sample_weight, features
            As for ``fit``.

        Returns
        -------
        Counts

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes()
        >>> here, there = model.count([["a"], ["b"]], [0, 1]), model.count([["c"]], [1])
        >>> model.fit_counts(here + there).category_count_
        [array([[1., 0., 0.],
               [0., 1., 1.]])]
        """
        self._refuse_limit("count")
        X = as_array(X)
        if is_lazy(X):
            table = LazyTable.read(X, y, sample_weight, features)
            counts, _ = engine.count(table, self._reading())
            return self._tally_lazy(table, counts)
        return self._count(read(X), y, sample_weight, self._new_random())[0]

    def fit_counts(self, counts: Tally) -> Self:
        """Learn from counts, made by ``count`` or added up from several.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes()
        >>> model.fit_counts(model.count([["a"], ["b"]], [0, 1])).predict([["b"]])
        array([1])
        """
        self._check_weighting()
        if self.weighting == "loo":
            raise ParameterError('weighting="loo" learns from rows, and counts have none.', "Use fit or partial_fit.")
        if not isinstance(counts, self._TALLY):
            raise InputError(
                f"{type(self).__name__} learns from {self._TALLY.__name__}, not from {type(counts).__name__}.",
                f"Make them with {type(self).__name__}().count(X, y).",
            )
        self._learn(counts, None, None, first=True)
        self._kept = None
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch, which may bring new categories.

        The result is that of one ``fit`` on all rows together, except that float columns keep the bins, or the
        decision to have none, of the first batch; ``bin_edges`` sets them beforehand. Leave-one-out weights are learned
        anew from a bounded sample of the rows of all batches, which the model keeps. ``fit`` keeps no rows; after it
        the weights stay as they are.

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
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes().partial_fit([["a"], ["b"]], [0, 1]).partial_fit([["c"]], [1])
        >>> model.categories_
        [array(['a', 'b', 'c'], dtype=object)]
        """
        self._check_weighting()
        self._refuse_limit("partial_fit")
        X = as_array(X)
        table = read(X)
        known: Tally | None = getattr(self, "counts_", None)
        if known is not None:
            self._check_features(X, table)
        kept: _Kept | None = getattr(self, "_kept", None)
        if known is not None and self.weighting == "loo" and not hasattr(self, "loo_log_loss_"):
            raise InputError(
                "The batches so far were learned without leave-one-out weights, and their rows are gone.",
                'Set weighting="loo" before the first batch.',
            )
        random = self._new_random() if kept is None else deepcopy(kept.random)
        earlier = known.vocabulary if known is not None else None
        counts, sample, _ = self._count(table, y, sample_weight, random, earlier)
        if known is not None and kept is None:
            sample = None  # the rows of fit are gone, so its weights stay
        allowed: Categories | None = getattr(self, "_allowed", None)
        if classes is not None:
            given = Categories.occurring(*read_labels(classes, name="classes"))
            if allowed is not None and not np.array_equal(allowed.values, given.values):
                raise InputError("classes differ from those of the first call.", "Give them once, or the same again.")
            late = [] if known is None else _not_among(known.classes, given)
            if late:
                raise InputError(f"classes lacks labels of earlier batches: {', '.join(map(repr, late))}.")
            allowed = given
        if allowed is not None:
            new = _not_among(counts.classes, allowed)
            if new:
                raise InputError(f"y has labels that are not in classes: {', '.join(map(repr, new))}.")
            counts = counts.with_classes(allowed)  # type: ignore[assignment]
            sample = sample and sample.with_classes(allowed)
        if kept is not None and sample is not None:
            sample = kept.sample + sample
        sample = self._learn(counts if known is None else self._combine(known, counts), sample, X, first=known is None)
        self._allowed = allowed
        self._kept = None if sample is None else _Kept(sample.detached(), random)
        return self

    def _check_weighting(self) -> None:
        known = [name for name in self._WEIGHTINGS if name is not None]
        if self.weighting is not None and str(self.weighting) not in known:
            raise errors.unknown_name("weighting", self.weighting, known)

    def _refuse_limit(self, method: str) -> None:
        if self.max_categories is not None:
            raise ParameterError(
                "max_categories is for one fit: a category dropped from one part may be frequent in the next.",
                f"Set max_categories=None for {method}.",
            )

    def _new_random(self) -> np.random.RandomState:
        """A source of random numbers of the model's own."""
        try:
            return np.random.RandomState(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError as error:
            raise ParameterError(f"random_state={self.random_state!r} cannot seed anything.", str(error)) from error

    def _fitted_counts(self, attribute: str) -> Tally:
        counts: Tally | None = self.__dict__.get("counts_")
        if counts is None:
            raise AttributeError(f"{attribute} is learned by fit, which has not been called.")
        return counts

    def _reading(self) -> Reading:
        engine.check_limit(self.max_categories)
        return Reading(self.categorical_features, self.numeric_features, self.n_bins, self.bin_edges, self.missing)

    def _count(
        self,
        table: Table,
        y: Any,
        sample_weight: Any,
        random: np.random.RandomState,
        known: Vocabulary | None = None,
    ) -> tuple[Tally, Sample | None, Dropped]:
        """Encode and count, and keep the rows if they are needed; ``known`` is the vocabulary of earlier batches."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if not table.n_rows:
            raise no_rows()
        weights = read_weights(sample_weight, table.n_rows)
        kept = None if weights is None or weights.all() else weights > 0
        labels, label_values = read_labels(y, table.n_rows, kept)
        if weights is not None and kept is not None:
            table, weights = table.rows(kept), weights[kept]
        reading = self._reading()
        vocabulary = Vocabulary.learn(table, reading, weights) if known is None else known.relearn(table, reading)
        codes = vocabulary.encode(table)
        dropped: Dropped = {}
        if self.max_categories is not None:
            vocabulary, codes, dropped = vocabulary.limited(codes, weights, self.max_categories)
        counts = self._tally(vocabulary, codes, (labels, label_values), weights)
        if self.weighting != "loo":
            return counts, None, dropped
        classes = counts.classes.codes_of(label_values)[labels]
        return counts, Sample.of(counts, codes, classes, weights, random), dropped

    def _learn(self, counts: Tally, sample: Sample | None, X: Any, first: bool) -> Sample | None:
        """Learn and store; what is left of the sample."""
        if sample is not None:
            sample = sample.thinned(row_limit(2 * len(counts.tables), counts.classes.size))
        start = None
        if not first and self.weighting == "loo":
            start = self._pool().among(self.counts_.classes.codes_in(counts.classes), counts.classes.size)
        learned = self._learn_from(counts, sample, start)
        if first:
            names = counts.vocabulary.names
            if X is not None:
                validate_data(self, X, reset=True, skip_check_array=True)
            else:
                self.__dict__.pop("feature_names_in_", None)
                if all(isinstance(name, str) for name in names):
                    self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
            self._allowed = None
            self.dropped_ = {}
        self.counts_ = counts
        for name in OF_WEIGHTING:
            self.__dict__.pop(name, None)
        for name, value in learned.items():
            setattr(self, name, value)
        return sample

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
            gone = [name for name in then if name not in now]
            moved = next((pair for pair in zip(now, then, strict=False) if pair[0] != pair[1]), None)
            if gone and not isinstance(gone[0], str):
                complaint += f"\n{errors.column(gone[0])} is missing."
            elif moved:
                complaint += f"{errors.column(moved[0])} stands where {moved[1]!r} stood at fit."
        if complaint:
            raise InputError(complaint.strip(), "Pass the columns of fit, in their order.")


@dataclass(frozen=True)
class _Kept:
    """What is kept of the rows of earlier batches, and the source of the next batch's random keys."""

    sample: Sample
    random: np.random.RandomState


def _not_among(labels: Categories, known: Categories) -> list[Any]:
    new: list[Any] = labels.values[known.codes_of(labels.values) == known.size].tolist()
    return new


def no_rows() -> InputError:
    """The complaint about a table without any."""
    return InputError("X has 0 rows.", "Pass at least one.")
