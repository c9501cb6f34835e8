"""The methods, and what people would use otherwise, compared by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from hebnb import errors
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, taken
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.errors import HebnbError, InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.methods import METHODS, Method
from hebnb.metrics import brier_score_macro, calibration_error_by_chance, expected_calibration_error
from hebnb.page.baselines import BASELINES, Baseline, Columns
from hebnb.page.folds import parts as folds_of
from hebnb.parts import ColumnParts

# How the measures are called, and whether less is better.
MEASURES = {"log-loss": True, "Brier": True, "ECE": True, "accuracy": False, "AUC": False}
# Beside the calibration error, what perfect probabilities would show: neither more nor less of it is better.
BY_CHANCE = "ECE by chance"


@dataclass(frozen=True)
class Result:
    """How a method did.

    Parameters
    ----------
    method : Method or Baseline
    proba : array of shape (S, C)
        The probabilities of all rows, each from a model that had not seen the row.
    measures : dict of str to float
    seconds : float
        Time to learn and predict, all folds together.
    """

    method: Method | Baseline
    proba: FloatArray
    measures: dict[str, float]
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """How all methods did.

    Parameters
    ----------
    codes : array of shape (S,)
        The truth, of the rows compared on, by their places among the classes.
    classes : array of shape (C,)
    fold : array of shape (S,)
        In which fold every row was tried.
    results : list of Result
        Baselines first, then in the order of ``METHODS``.
    refused : dict of str to str
        Methods that could not be used on this table, and why.
    folds : int
    unknown : int
        Number of rows left out because only their own fold has their class.
    parted_by : {"chance", "group", "time"}
        What decides which fold a row is in.
    """

    codes: IntArray
    classes: Array
    fold: IntArray
    results: list[Result]
    refused: dict[str, str]
    folds: int
    unknown: int
    parted_by: Literal["chance", "group", "time"]

    @property
    def labels(self) -> Array:
        """The truth, of the rows compared on."""
        labels: Array = self.classes[self.codes]
        return labels

    @property
    def best(self) -> Result:
        """The method of least log-loss, baselines aside."""
        own = [result for result in self.results if result.method.name not in BASELINES]
        return min(own, key=lambda result: result.measures["log-loss"])

    @property
    def ahead(self) -> Result | None:
        """The baseline of least log-loss, if that is less than the best method's."""
        least = min(self.results, key=lambda result: result.measures["log-loss"])
        return None if least.measures["log-loss"] >= self.best.measures["log-loss"] else least

    def result(self, name: str) -> Result | None:
        """That of a method."""
        return next((result for result in self.results if result.method.name == name), None)

    @property
    def majority(self) -> float:
        """The accuracy of always saying the most frequent class."""
        return float(np.bincount(self.codes).max() / len(self.codes))


def compare(
    X: Any,
    y: Array,
    parameters: dict[str, Any],
    *,
    folds: int = 5,
    random_state: int = 0,
    groups: Array | None = None,
    times: Array | None = None,
    parts: ColumnParts | None = None,
    begin: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """Cross-validate every method.

    Parameters
    ----------
    X : table or array of shape (S, F)
    y : array of shape (S,)
    parameters : dict
        How columns are read; every method takes those that it has.
    folds : int
    random_state : int
        Seed of the folds.
    groups, times : array of shape (S,), optional
        Of the rows: a group is never on both sides, and no row is tried by what later rows taught.
    parts : ColumnParts, optional
        What makes further columns of those that there are; it learns from the training rows of every fold.
    begin : function
        Called with the name of a method before each of its folds.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            "All rows of the sample are of one class.", f"Compare on more rows, with {errors.argument('max_rows')}."
        )
    pairs = folds_of(codes, folds, random_state, groups, times)
    # A class whose rows are all in one fold is unknown to the model that should predict them.
    tried, known = np.zeros(len(y), dtype=bool), np.zeros(len(y), dtype=bool)
    fold_of = np.zeros(len(y), dtype=np.intp)
    for n, (train, test) in enumerate(pairs):
        tried[test], known[test], fold_of[test] = True, np.isin(codes[test], codes[train]), n
    if not known.any():
        raise InputError("No row that is tried is of a class that was learned.", "Use fewer folds, or other ones.")
    every: list[Method | Baseline] = [*BASELINES.values(), *METHODS.values()]
    trials = {method.name: _Trial(method, np.zeros((len(y), len(classes)))) for method in every}
    refused: dict[str, str] = {}
    for train, test in pairs:
        learned_from, tried_on = taken(X, train), taken(X, test)
        if parts is not None:
            own = clone(parts).fit(learned_from, y[train])
            learned_from, tried_on = own.transform(learned_from), own.transform(tried_on)
        fold = _Fold(learned_from, y[train], tried_on, test)
        for name, trial in trials.items():
            if name in refused:
                continue
            begin(name)
            model = _reader(trial.method, parameters)
            rows = fold.encoded(model)  # a table that cannot be read is no method's fault
            try:
                trial.run(fold, rows, model, classes)
            except HebnbError as error:
                refused[name] = str(error).split("\n")[0]
    results = [
        Result(trial.method, trial.proba[known], measures_of(codes[known], trial.proba[known]), trial.seconds)
        for name, trial in trials.items()
        if name not in refused
    ]
    if not any(name in METHODS for name in trials.keys() - refused.keys()):
        raise InputError(next(reason for name, reason in refused.items() if name in METHODS))
    parted_by: Literal["chance", "group", "time"] = "chance" if groups is None else "group"
    return Comparison(
        codes[known],
        classes,
        fold_of[known],
        results,
        refused,
        len(pairs),
        int((tried & ~known).sum()),
        parted_by if times is None else "time",
    )


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

    def columns(self, rows: _Encoded) -> tuple[Columns, Columns]:
        """Training and test rows as codes, and as numbers where columns are cut."""
        kinds = rows.train.vocabulary.features
        cut = [kind.cut_at is not None for kind in kinds]
        train, test = (
            [column.numbers if own else None for column, own in zip(read(table).columns, cut, strict=True)]
            for table in (self.train, self.test)
        )
        return Columns(kinds, rows.train.codes, train), Columns(kinds, rows.test, test)

    def codes(self, vocabulary: Vocabulary) -> list[IntArray]:
        """The codes of the test rows."""
        return vocabulary.encode(read(self.test))


@dataclass
class _Trial:
    """How a method does, fold by fold."""

    method: Method | Baseline
    proba: FloatArray
    seconds: float = 0.0

    def run(self, fold: _Fold, rows: _Encoded, model: CategoricalClassifier, classes: Array) -> None:
        """Learn from a fold's training rows and predict its test rows; the time is that of doing so alone."""
        began = time.perf_counter()
        proba = (
            _baseline_proba(self.method, fold, rows) if isinstance(self.method, Baseline) else _proba(fold, rows, model)
        )
        self.proba[np.ix_(fold.places, np.searchsorted(classes, rows.train.classes.values))] = proba
        self.seconds += time.perf_counter() - began + rows.seconds


def _reader(method: Method | Baseline, parameters: dict[str, Any]) -> CategoricalClassifier:
    """The classifier that reads the columns; baselines have none, and read them as naive Bayes does."""
    return (method if isinstance(method, Method) else METHODS["HEB-M"]).model(**parameters)


def _proba(fold: _Fold, rows: _Encoded, model: CategoricalClassifier) -> FloatArray:
    tables = model.fit_encoded(rows.train).score_tables_
    vocabulary = tables.counts.vocabulary
    # A model may read columns anew once it has seen what they tell.
    codes = rows.test if vocabulary is rows.train.vocabulary else fold.codes(vocabulary)
    proba: FloatArray = softmax(tables.joint_log_scores(codes), axis=1)
    return proba


def _baseline_proba(method: Baseline, fold: _Fold, rows: _Encoded) -> FloatArray:
    if rows.train.classes.size == 1:  # scikit-learn refuses to learn where nothing is to be told apart
        return np.ones((len(fold.places), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of steps, which defaults have too few of
        return method.proba(*fold.columns(rows), rows.train.labels)


def measures_of(codes: IntArray, proba: FloatArray, names: Iterable[str] | None = None) -> dict[str, float]:
    """Measures of probabilities, for codes of the true classes: scikit-learn does not take all labels that we do."""
    return {name: _MEASURED[name](codes, proba) for name in (_MEASURED if names is None else names)}


def _auc(codes: IntArray, proba: FloatArray) -> float:
    occurring = np.unique(codes)[-1:] if proba.shape[1] == 2 else np.unique(codes)
    areas = [roc_auc_score(codes == c, proba[:, c]) for c in occurring if (codes != c).any()]
    return float(np.mean(areas)) if areas else np.nan


def _classes(proba: FloatArray) -> IntArray:
    return np.arange(proba.shape[1])


_MEASURED: dict[str, Callable[[IntArray, FloatArray], float]] = {
    "log-loss": lambda codes, proba: float(log_loss(codes, proba, labels=_classes(proba))),
    "Brier": lambda codes, proba: brier_score_macro(codes, proba, classes=_classes(proba)),
    "ECE": lambda codes, proba: expected_calibration_error(codes, proba, classes=_classes(proba)),
    BY_CHANCE: lambda _, proba: calibration_error_by_chance(proba),
    "accuracy": lambda codes, proba: float(np.mean(proba.argmax(axis=1) == codes)),
    "AUC": _auc,
}
