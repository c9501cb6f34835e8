"""What the classifiers answer about rows: classes, probabilities, and why."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.table import Table, as_array, as_table_like, is_lazy, read, read_labels, read_weights
from hebnb.counts.single import counts_at, dense
from hebnb.engines import scoring as lazy_scores
from hebnb.engines.counting import Frame
from hebnb.errors import InputError
from hebnb.estimators.learner import CountLearner, Tally, no_rows
from hebnb.explain.contributions import Evidence, Explanation, as_texts
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.scores.left_out import Rows
from hebnb.scores.tables import best_classes
from hebnb.weighting.leave_one_out import Parts, blocks


class CategoricalClassifier(ClassifierMixin, CountLearner[Tally]):  # type: ignore[misc]
    """A classifier of categories.

    Beside what it learns, a subclass says in ``_joint_log_scores`` how encoded rows are scored, in ``_evidence`` what
    these scores are made of, and in ``_left_out_parts`` what they would be without the row.
    """

    @abstractmethod
    def _joint_log_scores(self, codes: list[IntArray]) -> FloatArray:
        """log P(class, row), of shape (S, C)."""

    @abstractmethod
    def _left_out_parts(self) -> Parts:
        """What the fitted model says of training rows that are left out, part by part."""

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
        best = best_classes(self.predict_joint_log_proba(X))
        labels: Array = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Any:
        """The probability of every class for every row, of shape (S, C).

        A lazy table stays lazy: it gets a column ``proba_…`` for every class, by joins on its own engine.

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

    def _lazily(self, X: Any, what: str) -> Any:
        """The lazy table with its predictions, on the same engine."""
        check_is_fitted(self)
        frame: Frame = nw.from_native(X)
        columns = list(frame.collect_schema())
        for name in self.counts_.vocabulary.names:
            if name not in columns:
                raise InputError(f"{errors.column(name)} is missing.", "Pass the columns of fit.")
        names = lazy_scores.prediction_names(columns, self.classes_, what)
        if frame.implementation.is_dask():
            return lazy_scores.by_partition(X, self, what, names)
        scored = self._lazy_scores(frame)
        if what == "prediction":
            made = lazy_scores.with_best(scored, columns, self.classes_, what)
        else:
            make = lazy_scores.with_log_proba if what == "log_proba" else lazy_scores.with_proba
            made = make(scored, columns, names)
        return made.to_native()

    def _lazy_scores(self, frame: Frame) -> Frame:
        """The lazy table with its scores."""
        raise InputError(
            f"{type(self).__name__} cannot score a lazy table on its engine.",
            "Collect it, or predict batch by batch; NaiveBayes can.",
        )

    def predict_joint_log_proba(self, X: Any) -> FloatArray:
        """The estimated log P(class, row), of shape (S, C), before it is normalised.

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> NaiveBayes("laplace").fit([["a"], ["b"]], [0, 1]).predict_joint_log_proba([["a"]]).round(3)
        array([[-1.099, -1.792]])
        """
        return self._joint_log_scores(self._encoded(X))

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
        return as_table_like(self._explanation(X).table(), X)

    def _explanation(self, X: Any, row: int | None = None) -> Explanation:
        """The evidence of all rows, or of one."""
        table = self._checked(X)
        if row is not None:
            table = table.rows(np.arange(table.n_rows) == row)
        vocabulary = self.counts_.vocabulary
        codes = vocabulary.encode(table)
        counts = [counts_at(single, own) for single, own in zip(self.counts_.tables, codes, strict=True)]
        values = as_texts(table, vocabulary, codes)
        return Explanation(self._evidence(codes), self.classes_, vocabulary.names, values, np.stack(counts, axis=1))

    @abstractmethod
    def _evidence(self, codes: list[IntArray]) -> Evidence:
        """The scores of encoded rows, taken apart."""

    def _checked(self, X: Any) -> Table:
        """Rows with the columns of fit."""
        check_is_fitted(self)
        X = as_array(X)
        table = read(X)
        self._check_features(X, table)
        if not table.n_rows:
            raise no_rows()
        return table

    def _encoded(self, X: Any) -> list[IntArray]:
        """The codes of rows with the columns of fit."""
        table = self._checked(X)
        return self.counts_.vocabulary.encode(table)

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
        codes = self._encoded(X)
        n_rows = len(codes[0])
        weights = read_weights(sample_weight, n_rows)
        counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
        label_codes, values = read_labels(y, n_rows, counted)
        labels = np.zeros(n_rows, dtype=np.intp)  # a row that did not count needs no label
        labels[counted] = self.counts_.classes.codes_of(values)[label_codes]
        rows = Rows.weighing(codes, labels, weights)
        rows.check_counted(self.counts_, dropped=self.dropped_)
        parts, pool = self._left_out_parts(), self._pool()
        proba = np.empty((n_rows, len(pool.offsets)))
        for block in blocks(n_rows, len(pool.weights) * len(pool.offsets)):
            base, scores = parts(rows[block])
            scores = base + np.tensordot(pool.weights, scores, axes=1) + pool.offsets[:, np.newaxis]
            proba[block] = softmax(scores, axis=0).T
        return proba

    @property
    def classes_(self) -> Array:
        """Class labels in sorted order."""
        return self._fitted_counts("classes_").classes.values

    @property
    def class_count_(self) -> FloatArray:
        """Weight of the training rows of each class."""
        return self._fitted_counts("class_count_").class_count.copy()

    @property
    def categories_(self) -> list[Array]:
        """Categories of every feature."""
        return [feature.labels for feature in self._fitted_counts("categories_").vocabulary.features]

    @property
    def category_count_(self) -> list[FloatArray]:
        """Weight of the training rows of each class and category."""
        return [dense(table).T.copy() for table in self._fitted_counts("category_count_").tables]

    @property
    def bin_edges_(self) -> dict[Name, FloatArray]:
        """Where numeric columns are cut."""
        return self._fitted_counts("bin_edges_").vocabulary.edges

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
