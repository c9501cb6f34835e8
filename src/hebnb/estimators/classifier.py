"""What all classifiers are: scikit-learn estimators that learn counts and answer by score tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state

from hebnb import errors
from hebnb.columns.kinds import Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import as_array, as_table_like, is_lazy, read, read_labels, read_weights
from hebnb.columns.vocabulary import Dropped
from hebnb.counts.drift import Drift, drift
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.counts.unseen import warn_of_unseen
from hebnb.engines import scoring
from hebnb.engines.counting import check_limit
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.alerts import warn_of_table
from hebnb.estimators.forgetting import as_counted
from hebnb.estimators.learned_attributes import LearnedAttributes
from hebnb.estimators.learning import Learning, thinned
from hebnb.estimators.rows import (
    check_columns,
    checked_table,
    encoded_and_unseen,
    explained,
    frozen_at,
    new_rows,
    taking_any_column,
)
from hebnb.estimators.state import Kept, Learned
from hebnb.estimators.structure import Structure
from hebnb.foundation.arrays import Array, FloatArray, IntArray, blocks
from hebnb.scores.class_prior import checked_prior, estimated_prior
from hebnb.scores.left_out import Rows
from hebnb.scores.lookups import best_classes
from hebnb.scores.score_tables import LeavingOut, ScoreTables
from hebnb.smoothing.smoothers import smoother
from hebnb.weighting import WEIGHTINGS


class CategoricalClassifier(ClassifierMixin, LearnedAttributes):  # type: ignore[misc]
    """A classifier of categories.

    A subclass has the parameters of ``ReadingParameters``, and ``smoothing``, ``weighting``, ``max_categories`` and
    ``random_state``. It says in ``_structure`` which cells are counted and what is made of them.
    """

    _STRUCTURE: ClassVar[type[Structure]]

    @abstractmethod
    def _structure(self) -> Structure:
        """The structure that the parameters describe."""

    def _given_prior(self, n_classes: int) -> FloatArray | None:
        """Probabilities of the classes, if the user gave them."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, features: Sequence[str] | None = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : table or array of shape (S, F), or lazy table
            Of a lazy table (a DuckDB relation, a Polars LazyFrame, a PySpark or Dask DataFrame, an Ibis table) only
            counts are kept: categories are counted by its engine, all else in one pass over batches of its rows.
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
        learning, random = self._learning(), self._new_random()
        if is_lazy(X):
            table = LazyTable.read(X, y, sample_weight, features)
            counts, dropped = learning.counted_lazily(table)
            sample = learning.sampled_lazily(table, counts, random)
        else:
            self._refuse_features(features)
            rows, dropped = learning.encoded(read(X), self._required(y), sample_weight)
            counts, sample = learning.structure.count(rows, None), learning.sampled(rows, random)
        scores = self._learned_from(learning, counts, thinned(sample, counts))
        warn_of_table(counts)
        return self._begin(scores, dropped)

    def count(self, X: Any, y: Any, sample_weight: Any = None, *, features: Sequence[str] | None = None) -> Counts:
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
        X, learning = as_array(X), self._learning()
        if is_lazy(X):
            return learning.counted_lazily(LazyTable.read(X, y, sample_weight, features))[0]
        self._refuse_features(features)
        return learning.structure.count(learning.encoded(read(X), self._required(y), sample_weight)[0], None)

    def fit_counts(self, counts: Counts) -> Self:
        """Learn from counts, made by ``count`` or added up from several.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes()
        >>> model.fit_counts(model.count([["a"], ["b"]], [0, 1])).predict([["b"]])
        array([1])
        """
        learning = self._learning()
        if learning.weighting.needs_rows:
            raise ParameterError(
                f"weighting={self.weighting!r} learns from rows, and counts have none.", "Use fit or partial_fit."
            )
        expected = learning.structure.counts_type
        if not isinstance(counts, expected):
            raise InputError(
                f"{type(self).__name__} learns from {expected.__name__}, not from {type(counts).__name__}.",
                f"Make them with {type(self).__name__}().count(X, y).",
            )
        return self._begin(self._learned_from(learning, counts, None), {})

    def fit_encoded(self, rows: EncodedRows, counts: Counts | None = None) -> Self:
        """Learn from rows that are encoded already, as when several models learn from the same rows.

        Parameters
        ----------
        rows : EncodedRows
        counts : Counts, optional
            What was counted of the rows, if that is known.

        Returns
        -------
        self

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> rows = NaiveBayes().encode([["a"], ["b"]], [0, 1])
        >>> NaiveBayes().fit_encoded(rows).predict([["b"]])
        array([1])
        """
        learning = self._learning()
        counts = learning.structure.count(rows, None) if counts is None else counts
        sample = thinned(learning.sampled(rows, self._new_random()), counts)
        return self._begin(self._learned_from(learning, counts, sample), {})

    def encode(self, X: Any, y: Any, sample_weight: Any = None) -> EncodedRows:
        """Labelled rows as codes, which depend on the parameters that say how columns are read.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes().encode([["a"], ["b"], ["a"]], ["no", "yes", "no"]).codes
        [array([0, 1, 0])]
        """
        return self._learning().encoded(read(X), self._required(y), sample_weight)[0]

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, decay: float = 1.0
    ) -> Self:
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
        decay : float, default=1.0
            How much the rows of all earlier batches count from now on: with 0.99, those of a batch that is a hundred
            batches old count 0.37 times. Above 0, and at most 1.

        Returns
        -------
        self

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes().partial_fit([["a"], ["b"]], [0, 1]).partial_fit([["c"]], [1])
        >>> model.categories_
        [array(['a', 'b', 'c'], dtype=object)]
        >>> model.partial_fit([["c"]], [1], decay=0.5).class_count_
        array([0.5, 2. ])
        """
        learning = self._learning()
        self._refuse_limit("partial_fit")
        _check_decay(decay)
        X = as_array(X)
        table = read(X)
        known: Learned | None = getattr(self, "_learned", None)
        if known is not None:
            check_columns(frozen_at(self, known.scores), X, table, known.scores.counts.vocabulary.names)
            self._check_same_weighting(known)
        kept = None if known is None else known.kept
        random = self._new_random() if kept is None else deepcopy(kept.random)
        before = None if known is None else known.scores.counts
        rows, _ = learning.encoded(table, self._required(y), sample_weight, before.vocabulary if before else None)
        counts, sample = learning.structure.count(rows, before), learning.sampled(rows, random)
        if known is not None and kept is None:
            sample = None  # the rows of fit are gone, so its weights stay
        allowed = _allowed(classes, known)
        if allowed is not None:
            new = _not_among(counts.classes, allowed)
            if new:
                raise InputError(f"y has labels that are not in classes: {', '.join(map(repr, new))}.")
            counts, sample = counts.with_classes(allowed), sample and sample.with_classes(allowed)
        if kept is not None and sample is not None:
            sample = (kept.sample if decay == 1 else kept.sample.faded(decay)) + sample
        if before is not None:
            counts = learning.structure.added(before if decay == 1 else before * decay, counts)
        sample = thinned(sample, counts)
        scores = self._learned_from(learning, counts, sample, known)
        now_kept = None if sample is None else Kept(sample.detached(), random)
        if known is None:
            return self._begin(scores, {}, allowed, now_kept)
        self._learned = Learned(scores, known.dropped, allowed, now_kept, known.written)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows back that the model has learned from, as when a customer asks to be forgotten.

        The result is that of a fit without them, with the same bins, and of ``KDB`` and ``EvidenceClassifier`` with the
        same parents, crosses, strengths and weights, which only ``fit`` chooses: a category or class whose last row is
        gone is gone, and concentrations are learned anew. Leave-one-out weights are learned anew if the model keeps a
        sample of its rows, as after ``partial_fit``; the rows leave that sample too.

        Parameters
        ----------
        X : table or array of shape (S, F)
        y : array or series of shape (S,)
        sample_weight : array of shape (S,), optional
            How many times each row counted; where earlier batches faded, what they count now.

        Returns
        -------
        self

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes().fit([["a"], ["b"], ["c"]], [0, 1, 1])
        >>> model.forget([["c"]], [1]).categories_
        [array(['a', 'b'], dtype=object)]
        """
        learning = self._learning()
        self._refuse_limit("forget")
        known = self._state()
        counts = known.scores.counts
        rows = as_counted(counts, checked_table(self, X, known.scores), self._required(y), sample_weight)
        counts = counts - learning.structure.count(rows, counts)
        if known.allowed is not None:
            counts = counts.with_classes(known.allowed)
        kept = known.kept
        if kept is not None:
            kept = Kept(kept.sample.without(rows).narrowed(counts.vocabulary, counts.classes), kept.random)
        scores = self._learned_from(learning, counts, None if kept is None else kept.sample, known)
        self._learned = replace(known, scores=scores, kept=kept)
        return self

    def with_prior(self, prior: Any) -> Self:
        """The model for rows among which classes have other shares, and are otherwise as they were.

        The odds of every two classes are multiplied by how much their odds among all rows have changed, exactly,
        whatever the model is. The model itself stays as it is.

        Parameters
        ----------
        prior : array of shape (C,)
            The share of every class among the rows to come, in the order of ``classes_``; positive, and one altogether.

        Returns
        -------
        classifier
            A copy, which answers, explains, is saved and exported like any other. What it learns later begins with the
            shares of the rows again.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes("laplace").fit([["a"], ["b"]], ["fraud", "honest"])
        >>> model.predict_proba([["a"]]).round(3)
        array([[0.667, 0.333]])
        >>> model.with_prior([0.01, 0.99]).predict_proba([["a"]]).round(3)
        array([[0.02, 0.98]])
        """
        known = self._state()
        shares = checked_prior(prior, known.scores.counts.classes)
        changed = copy(self)
        changed._learned = replace(known, scores=known.scores.with_prior(np.log(shares)).prepared())
        return changed

    def estimate_prior(self, X: Any) -> FloatArray:
        """The shares of the classes among new rows without labels, found by expectation and maximisation.

        The shares are those under which the new rows are most likely, if the rows of every class are as they were when
        the model learned, and only the classes are more or less frequent (Saerens, Latinne and Decaestecker, 2002).
        They are as good as the probabilities are calibrated: with ``weighting="loo"`` or ``EvidenceClassifier``.

        Parameters
        ----------
        X : table or array of shape (S, F)

        Returns
        -------
        array of shape (C,)
            In the order of ``classes_``; ``with_prior`` takes it, if every class has a share.

        Examples
        --------
        Of twenty new rows, twelve have what two in three rows of class "y" have, and one in three of class "x":

        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes("laplace").fit([["a"], ["b"]], ["x", "y"])
        >>> model.estimate_prior([["b"]] * 12 + [["a"]] * 8).round(2)
        array([0.2, 0.8])
        """
        scores = self.score_tables_
        if is_lazy(X):
            raise InputError("The shares of classes are estimated from rows in memory.", "Collect some of the rows.")
        proba = softmax(scores.joint_log_scores(self._codes(X, scores)), axis=1)
        return estimated_prior(proba, np.exp(scores.log_prior))

    def drift(self, X: Any) -> Drift:
        """How far new rows are from those that the model learned from, column by column.

        Parameters
        ----------
        X : table or array of shape (S, F)
            New rows; they need no labels.

        Returns
        -------
        Drift
            Printing it shows a line for every column: the share of values that were never seen, and what share was to
            be expected; the distance between the distributions of values then and now, and the distance that rows of
            the same distribution hardly ever exceed in tables of these sizes. ``columns`` is that table as a dict of
            lists, ``drifted`` names the columns beyond chance, ``classes`` has the shares of classes, learned and
            predicted.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> model = NaiveBayes().fit([["a", "p"], ["b", "q"]] * 100, ["x", "y"] * 100)
        >>> model.drift([["a", "p"], ["b", "p"]] * 50)
        100 new rows, 2 columns
        <BLANKLINE>
        column   unseen  expected_unseen  distance   noise  drifted
        0          0.0%             0.0%    0.0000  0.2...       no
        1          0.0%             0.0%    0.5000  0.2...      yes
        (class)       –                –    0.2500       –        –
        <BLANKLINE>
        Classes, learned → predicted: x 50.0% → 75.0%, y 50.0% → 25.0%.
        """
        if is_lazy(X):
            raise InputError("Drift is measured on rows in memory.", "Collect some of the rows.")
        known = self._state()
        return drift(known.scores.counts, new_rows(frozen_at(self, known.scores), X), known.dropped)

    def predict(self, X: Any) -> Any:
        """The most probable class of every row; of a lazy table, that table with a column ``prediction``.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes().fit([["a"], ["a"], ["b"]], ["x", "x", "y"]).predict([["a"]])
        array(['x'], dtype=object)
        """
        if is_lazy(X):
            return self._lazily(X, "prediction")
        scores = self.score_tables_
        labels: Array = scores.counts.classes.values[best_classes(scores.joint_log_scores(self._codes(X, scores)))]
        return labels

    def predict_proba(self, X: Any) -> Any:
        """The probability of every class for every row, of shape (S, C).

        A lazy table stays lazy: it gets a column ``proba_…`` for every class, by joins on its own engine, or batch by
        batch where that would take many.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_proba([["a"], ["unseen"]]).round(3)
        array([[0.667, 0.333],
               [0.5  , 0.5  ]])
        """
        if is_lazy(X):
            return self._lazily(X, "proba")
        probabilities: FloatArray = softmax(self.predict_joint_log_proba(X), axis=1)
        return probabilities

    def predict_log_proba(self, X: Any) -> Any:
        """The log probability of every class for every row, of shape (S, C); of a lazy table as ``predict_proba``.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_log_proba([["unseen"]]).round(3)
        array([[-0.693, -0.693]])
        """
        if is_lazy(X):
            return self._lazily(X, "log_proba")
        logs: FloatArray = log_softmax(self.predict_joint_log_proba(X), axis=1)
        return logs

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """The estimated log P(class, row), of shape (S, C), before it is normalised.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_joint_log_proba([["a"]]).round(3)
        array([[-1.099, -1.792]])
        """
        scores = self.score_tables_
        return scores.joint_log_scores(self._codes(X, scores))

    def explain(self, X: Any) -> Any:
        """What every feature adds to the score of every class, for every row, as a tidy table.

        The contributions of a row and class, with that of the ``(prior)``, sum to its ``predict_joint_log_proba``.
        The mean that ``AODE`` takes without weights is no sum: every parent's part counts by its share in the mean, and
        a line ``(averaging)`` holds the rest.

        Parameters
        ----------
        X : table or array of shape (S, F)

        Returns
        -------
        table of the library that holds X, or a dict of columns where X is an array
            A line for every ``row``, ``class`` and ``feature``: its ``value`` as text, its ``contribution`` to the
            score, the ``count`` of training rows of the class that have the value, and ``shrinkage``, the share of the
            prior in the probability behind it: 0 is data alone, 1 is the prior alone. A value that was never seen
            contributes 0.

        Examples
        --------
        >>> import pandas as pd
        >>> from hebnb import NaiveBayes
        >>> X = pd.DataFrame({"colour": ["red", "red", "blue", "blue"], "size": ["s", "m", "m", "l"]})
        >>> model = NaiveBayes("laplace").fit(X, ["no", "no", "yes", "no"])
        >>> print(model.explain(X[:1]).round(3).to_string(index=False))
         row class feature value  contribution  count  shrinkage
           0    no (prior)   NaN        -0.405    NaN        NaN
           0    no  colour   red        -0.511    2.0      0.400
           0    no    size     s        -1.099    1.0      0.500
           0   yes (prior)   NaN        -1.099    NaN        NaN
           0   yes  colour   red        -1.099    0.0      0.667
           0   yes    size     s        -1.386    0.0      0.750
        """
        return as_table_like(explained(self, X).table(), X)

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> FloatArray:
        """The probability of every class for training rows, each as the other training rows see it.

        Exact, but that concentrations, bins and weights stay as learned from all rows. For stacking, thresholds and
        diagnostics on the training rows themselves, without fitting again.

        Parameters
        ----------
        X, y : table or array, and labels
            Rows that the model was fitted on.
        sample_weight : array of shape (S,), optional
            The weights at fit.

        Returns
        -------
        array of shape (S, C)

        Examples
        --------
        The only row with an "a" would not have been called "x" without itself:

        >>> from hebnb import NaiveBayes
        >>> X, y = [["a"], ["b"], ["b"]], ["x", "y", "y"]
        >>> model = NaiveBayes("laplace").fit(X, y)
        >>> model.predict_proba(X)[0].round(3), model.loo_predict_proba(X, y)[0].round(3)
        (array([0.64, 0.36]), array([0.25, 0.75]))
        """
        learned = self._state()
        scores = learned.scores
        codes = self._codes(X, scores)
        n_rows = len(codes[0])
        weights = read_weights(sample_weight, n_rows)
        counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
        label_codes, values = read_labels(y, n_rows, counted)
        labels = np.zeros(n_rows, dtype=np.intp)  # a row that did not count needs no label
        labels[counted] = scores.counts.classes.codes_of(values)[label_codes]
        rows = Rows.weighing(codes, labels, weights)
        rows.check_counted(scores.counts, dropped=learned.dropped)
        leave_out = LeavingOut(scores)
        proba = np.empty((n_rows, scores.n_classes))
        for block in blocks(n_rows, (len(scores.parents) + len(scores.tables)) * scores.n_classes):
            proba[block] = softmax(leave_out(rows[block]).scores(scores.combination), axis=0).T
        return proba

    def __sklearn_tags__(self) -> Any:
        return taking_any_column(super().__sklearn_tags__())

    def _learning(self) -> Learning:
        """What the parameters come to, checked."""
        known = [
            name
            for name, weighting in WEIGHTINGS.items()
            if weighting.weighs_estimates or not self._STRUCTURE.has_estimates
        ]
        if self.weighting not in known:
            raise errors.unknown_name("weighting", self.weighting, [name for name in known if name is not None])
        check_limit(self.max_categories)
        return Learning(
            self._structure(),
            clone(smoother(self.smoothing)),
            WEIGHTINGS[self.weighting],
            ReadingParameters(
                self.categorical_features, self.numeric_features, self.n_bins, self.bin_edges, self.missing
            ),
            self.max_categories,
        )

    def _learned_from(
        self, learning: Learning, counts: Counts, sample: Sample | None, known: Learned | None = None
    ) -> ScoreTables:
        before = None if known is None else known.scores.as_learned()
        return learning.learned(counts, sample, self._given_prior(counts.classes.size), before)

    def _begin(
        self,
        scores: ScoreTables,
        dropped: Dropped,
        allowed: Categories | None = None,
        kept: Kept | None = None,
    ) -> Self:
        """Store what a fit has learned; everything that can fail has been done."""
        self._learned = Learned(scores, dropped, allowed, kept)
        return self

    def _required(self, y: Any) -> Any:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        return y

    def _refuse_features(self, features: Any) -> None:
        if features is not None:
            raise ParameterError("features is for lazy tables.", "Pass a table of the columns to learn from.")

    def _refuse_limit(self, method: str) -> None:
        if self.max_categories is not None:
            raise ParameterError(
                "max_categories is for one fit: a category dropped from one part may be frequent in the next.",
                f"Set max_categories=None for {method}.",
            )

    def _check_same_weighting(self, known: Learned) -> None:
        if self._learning().weighting.needs_rows and known.scores.combination.log_loss is None:
            raise InputError(
                "The batches so far were learned without leave-one-out weights, and their rows are gone.",
                f"Set weighting={self.weighting!r} before the first batch.",
            )

    def _new_random(self) -> np.random.RandomState:
        """A source of random numbers of the model's own."""
        try:
            return np.random.RandomState(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError as error:
            raise ParameterError(f"random_state={self.random_state!r} cannot seed anything.", str(error)) from error

    def _codes(self, X: Any, scores: ScoreTables) -> list[IntArray]:
        codes, unseen = encoded_and_unseen(self, X, scores)
        warn_of_unseen(scores.counts, unseen)
        return codes

    def _lazily(self, X: Any, what: str) -> Any:
        """The lazy table with its predictions, on the same engine, as the model is now."""
        return scoring.predicted(X, self.score_tables_, what)


def _check_decay(decay: Any) -> None:
    if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 < float(decay) <= 1:
        raise ParameterError(
            f"decay={decay!r} must be a number above 0 and at most 1.",
            "1 lets all rows count alike, 0.99 lets them fade.",
        )


def _allowed(classes: Any, known: Learned | None) -> Categories | None:
    """The labels that may occur, as they were given now or at the first call."""
    before = None if known is None else known.allowed
    if classes is None:
        return before
    given = Categories.occurring(*read_labels(classes, name="classes"))
    if before is not None and not np.array_equal(before.values, given.values):
        raise InputError("classes differ from those of the first call.", "Give them once, or the same again.")
    late = [] if known is None else _not_among(known.scores.counts.classes, given)
    if late:
        raise InputError(f"classes lacks labels of earlier batches: {', '.join(map(repr, late))}.")
    return given


def _not_among(labels: Categories, known: Categories) -> list[Any]:
    new: list[Any] = labels.values[known.codes_of(labels.values) == known.size].tolist()
    return new
