"""The methods compared by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from hebnb import errors
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.errors import HebnbError, InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.methods import METHODS, Method
from hebnb.metrics import brier_score_macro, expected_calibration_error

# How the measures are called, and whether less is better.
MEASURES = {"log-loss": True, "Brier": True, "ECE": True, "accuracy": False, "AUC": False}


@dataclass(frozen=True)
class Result:
    """How a method did.

    Parameters
    ----------
    method : Method
    proba : array of shape (S, C)
        The probabilities of all rows, each from a model that had not seen the row.
    measures : dict of str to float
    seconds : float
        Time to learn and predict, all folds together.
    """

    method: Method
    proba: FloatArray
    measures: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """How all methods did.

    Parameters
    ----------
    labels : array of shape (S,)
        The truth, of the rows compared on.
    classes : array of shape (C,)
    results : list of Result
        In the order of ``METHODS``.
    refused : dict of str to str
        Methods that could not be used on this table, and why.
    folds : int
    unknown : int
        Number of rows left out because only their own fold has their class.
    """

    labels: Array
    classes: Array
    results: list[Result]
    refused: dict[str, str]
    folds: int
    unknown: int

    @property
    def best(self) -> Result:
        """The method of least log-loss."""
        return min(self.results, key=lambda result: result.measures["log-loss"])

    def result(self, name: str) -> Result | None:
        """That of a method."""
        return next((result for result in self.results if result.method.name == name), None)

    @property
    def majority(self) -> float:
        """The accuracy of always saying the most frequent class."""
        _, counts = np.unique(self.labels, return_counts=True)
        return float(counts.max() / len(self.labels))

    @cached_property
    def calibration_floor(self) -> float:
        """The calibration error that the best method would show by chance, were its probabilities perfect."""
        return self.floor_by_chance()

    def floor_by_chance(self, random_state: int = 0, draws: int = 20) -> float:
        """The mean error where labels are drawn from the probabilities themselves."""
        random = np.random.default_rng(random_state)
        proba = self.best.proba
        steps = proba.cumsum(axis=1)
        drawn = [
            self.classes[(random.random((len(proba), 1)) * steps[:, -1:] > steps).sum(axis=1)] for _ in range(draws)
        ]
        return float(np.mean([expected_calibration_error(y, proba, classes=self.classes) for y in drawn]))


def compare(
    X: Any,
    y: Array,
    parameters: dict[str, Any],
    *,
    folds: int = 5,
    random_state: int = 0,
    advance: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Cross-validate every method.

    Parameters
    ----------
    X : table with ``take`` of row numbers, such as a PyArrow table
    y : array of shape (S,)
    parameters : dict
        How columns are read; every method takes those that it has.
    folds : int
    random_state : int
        Seed of the folds.
    advance : function
        Called with the name of a method after each of its folds.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise InputError(
            "All rows of the sample are of one class.", f"Compare on more rows, with {errors.argument('max_rows')}."
        )
    folds = int(min(folds, counts.max()))
    if folds < 2:
        raise InputError("No class has two rows, so nothing can be tried on rows that were not learned from.")
    split = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        parts = list(split.split(codes, codes))
    # A class whose rows are all in one fold is unknown to the model that should predict them.
    known = np.ones(len(y), dtype=bool)
    for train, test in parts:
        known[test] = np.isin(codes[test], codes[train])
    trials = {name: _Trial(method, np.zeros((len(y), len(classes)))) for name, method in METHODS.items()}
    refused: dict[str, str] = {}
    for train, test in parts:
        fold = _Fold(X.take(train), y[train], X.take(test), test)
        for name, trial in trials.items():
            if name in refused:
                continue
            model = trial.method.model(**parameters)
            fold.encoded(model)  # a table that cannot be read is no method's fault
            try:
                trial.run(fold, model, classes)
            except HebnbError as error:
                refused[name] = str(error).split("\n")[0]
            advance(name)
    results = [
        Result(trial.method, trial.proba[known], _measures(codes[known], trial.proba[known]), trial.seconds)
        for name, trial in trials.items()
        if name not in refused
    ]
    if not results:
        raise InputError(next(iter(refused.values())))
    return Comparison(y[known], classes, results, refused, folds, int((~known).sum()))


@dataclass(frozen=True)
class _Encoded:
    """Training and test rows of a fold as codes.

    Parameters
    ----------
    reading : ReadingParameters
    train : EncodedRows
    test : list of F arrays
    seconds : float
        What encoding took.
    """

    reading: ReadingParameters
    train: EncodedRows
    test: list[IntArray]
    seconds: float


@dataclass(frozen=True)
class _Fold:
    """Training and test rows, encoded once for all methods that read columns alike.

    Parameters
    ----------
    train : table
    labels : array
        Of the training rows.
    test : table
    places : array of int
        The test rows among all.
    """

    train: Any
    labels: Array
    test: Any
    places: IntArray
    _known: list[_Encoded] = field(default_factory=list)

    def encoded(self, model: CategoricalClassifier) -> _Encoded:
        """The rows as a model reads them."""
        reading = model._learning().reading
        found = next((own for own in self._known if own.reading == reading), None)
        if found is None:
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of columns that are all gaps in this fold
                rows = model.encode(self.train, self.labels)
            codes = self.codes(rows.vocabulary)
            found = _Encoded(reading, rows, codes, time.perf_counter() - began)
            self._known.append(found)
        return found

    def codes(self, vocabulary: Vocabulary) -> list[IntArray]:
        """The codes of the test rows."""
        return vocabulary.encode(read(self.test))


@dataclass
class _Trial:
    """How a method does, fold by fold."""

    method: Method
    proba: FloatArray
    seconds: float = 0.0

    def run(self, fold: _Fold, model: CategoricalClassifier, classes: Array) -> None:
        """Learn from a fold's training rows and predict its test rows; the time is that of doing so alone."""
        rows = fold.encoded(model)
        began = time.perf_counter()
        tables = model.fit_encoded(rows.train).score_tables_
        vocabulary = tables.counts.vocabulary
        # A model may read columns anew once it has seen what they tell.
        codes = rows.test if vocabulary is rows.train.vocabulary else fold.codes(vocabulary)
        columns = np.searchsorted(classes, tables.counts.classes.values)
        self.proba[np.ix_(fold.places, columns)] = softmax(tables.joint_log_scores(codes), axis=1)
        self.seconds += time.perf_counter() - began + rows.seconds


def _measures(codes: IntArray, proba: FloatArray) -> dict[str, float]:
    """Measures of probabilities, for codes of the true classes: scikit-learn does not take all labels that we do."""
    classes = np.arange(proba.shape[1])
    occurring = np.unique(codes)[-1:] if len(classes) == 2 else np.unique(codes)
    areas = [roc_auc_score(codes == c, proba[:, c]) for c in occurring if (codes != c).any()]
    return {
        "log-loss": float(log_loss(codes, proba, labels=classes)),
        "Brier": brier_score_macro(codes, proba, classes=classes),
        "ECE": expected_calibration_error(codes, proba, classes=classes),
        "accuracy": float(np.mean(proba.argmax(axis=1) == codes)),
        "AUC": float(np.mean(areas)) if areas else np.nan,
    }
