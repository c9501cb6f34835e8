"""The paper's protocol: how a dataset is prepared, split, cut, and what is measured on a fold."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from hebnb.columns.kinds.bins import quantile_edges
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.metrics import (
    brier_score_macro,
    calibration_error_by_chance,
    expected_calibration_error,
    reliability_curve,
)
from hebnb.study.methods import METHODS
from hebnb.study.registry import Dataset
from hebnb.study.sources import Raw

SEED = 42
# A number whose column is called like this is a name.
_IDENTIFIERS = ("_id", "_hash", "url", "impression")


@dataclass(frozen=True)
class Settings:
    """What can be made smaller to be quick."""

    most_rows: int = 20_000
    folds: int = 10

    def __str__(self) -> str:
        return f"at most {self.most_rows:,} rows, {self.folds} folds, seed {SEED}"


@dataclass(frozen=True)
class Prepared:
    """A dataset as arrays.

    Parameters
    ----------
    name, fingerprint : str
        Which dataset, and which copy of it.
    columns : list of arrays of shape (S,)
        Integers for categories, with −1 for gaps; floats for numbers, with NaN for gaps.
    labels : array of shape (S,)
        Class of every row, 0 … C−1.
    """

    name: str
    fingerprint: str
    columns: list[Any]
    labels: IntArray

    @property
    def n_classes(self) -> int:
        """C."""
        return int(self.labels.max()) + 1


@dataclass(frozen=True)
class Fold:
    """Training and test rows as codes. Values that training rows lack have a code that they lack too."""

    train: IntArray
    train_labels: IntArray
    test: IntArray
    test_labels: IntArray
    n_classes: int


def prepare(dataset: Dataset, raw: Raw, settings: Settings) -> Prepared:
    """Subsample, drop columns that are all gaps, and tell categories from numbers."""
    X, labels = sampled(raw, settings)
    columns = []
    for name in X.columns:
        if is_nominal(dataset, raw, name):
            columns.append(X[name].factorize(sort=False)[0].astype(np.int64))
        else:
            columns.append(X[name].to_numpy(dtype=float, na_value=np.nan))
    return Prepared(dataset.name, raw.fingerprint, columns, labels)


def sampled(raw: Raw, settings: Settings) -> tuple[Any, IntArray]:
    """A sample of the rows without columns that are all gaps, and the classes of its rows, 0 … C−1."""
    labels, _ = raw.y.factorize(sort=True)
    kept = kept_rows(raw.y, settings)
    return raw.X.iloc[kept].dropna(axis="columns", how="all"), np.unique(labels[kept], return_inverse=True)[1]


def kept_rows(y: Any, settings: Settings) -> IntArray:
    """Positions of the rows that are used: all, or a sample that has the shares of the classes."""
    kept: IntArray = np.arange(len(y))
    if len(kept) > settings.most_rows:
        labels, _ = y.factorize(sort=True)
        kept, _ = train_test_split(kept, train_size=settings.most_rows, stratify=labels, random_state=SEED)
    return kept


def is_nominal(dataset: Dataset, raw: Raw, name: str) -> bool:
    """Whether a column holds categories."""
    from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

    column = raw.X[name]
    if not is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype):
        return True
    if "all" in (dataset.nominal, *raw.nominal) or name in dataset.nominal or name in raw.nominal:
        return True
    return is_integer_dtype(column.dtype) and any(part in name.lower() for part in _IDENTIFIERS)


def split(prepared: Prepared, settings: Settings, fold: int, n_bins: int = 10) -> Fold:
    """One fold. Gaps are filled and numbers cut by what the training rows say."""
    labels = prepared.labels
    train, test = parted(labels, settings, fold)
    codes = np.stack([encoded(column, train, n_bins) for column in prepared.columns], axis=1)
    return Fold(codes[train], labels[train], codes[test], labels[test], prepared.n_classes)


def parted(labels: IntArray, settings: Settings, fold: int) -> tuple[IntArray, IntArray]:
    """The training and the test rows of a fold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some classes have fewer rows than there are folds
        folds = StratifiedKFold(settings.folds, shuffle=True, random_state=SEED)
        train, test = list(folds.split(labels, labels))[fold]
    return train, test


def filled(column: Any, train: IntArray) -> Any:
    """A column whose gaps are the most frequent category, or the median number, of the training rows."""
    seen = column[train]
    if column.dtype.kind == "i":
        counts = np.bincount(seen[seen >= 0], minlength=1)
        return np.where(column < 0, counts.argmax(), column)
    seen = seen[~np.isnan(seen)]
    return np.where(np.isnan(column), np.median(seen), column) if len(seen) else np.zeros(len(column))


def encoded(column: Any, train: IntArray, n_bins: int) -> IntArray:
    """A column as codes: categories as they are, numbers cut at quantiles of the training rows."""
    whole = filled(column, train)
    if column.dtype.kind == "i":
        return np.asarray(whole)
    seen = np.sort(whole[train])
    distinct = np.unique(seen)
    if len(distinct) <= n_bins:
        codes = np.minimum(np.searchsorted(distinct, whole), len(distinct) - 1)
        return np.where(distinct[codes] == whole, codes, len(distinct))
    return np.asarray(np.searchsorted(quantile_edges(seen, np.ones(len(seen)), n_bins), whole, side="left"))


def measure(method: str, fold: Fold, with_memory: bool = False) -> dict[str, Any]:
    """What a method does on a fold."""
    model = METHODS[method]()
    began = time.perf_counter()
    fit(model, fold)
    fitted = time.perf_counter()
    proba = model.predict_proba(fold.test)
    predicted = time.perf_counter()
    result = scores(fold.test_labels, proba)
    result["fit s"], result["predict s"] = fitted - began, predicted - fitted
    if hasattr(model, "loo_log_loss_"):
        result["loo log-loss"] = model.loo_log_loss_
    if with_memory:
        tracemalloc.start()
        fit(METHODS[method](), fold)
        result["peak MB"] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return result


def fit(model: CategoricalClassifier, fold: Fold) -> None:
    """Fit; where the training rows lack a class, the model is told of it."""
    if len(np.unique(fold.train_labels)) == fold.n_classes:
        model.fit(fold.train, fold.train_labels)
    else:
        model.partial_fit(fold.train, fold.train_labels, classes=np.arange(fold.n_classes))


def scores(labels: IntArray, proba: FloatArray) -> dict[str, Any]:
    """The paper's measures, and the counts of the reliability diagram."""
    classes = np.arange(proba.shape[1])
    predicted = proba.argmax(axis=1)
    curve = reliability_curve(labels, proba, classes=classes)
    return {
        "accuracy": accuracy_score(labels, predicted),
        "macro F1": f1_score(labels, predicted, average="macro", zero_division=0.0),
        "log-loss": log_loss(labels, proba, labels=classes) if len(classes) > 1 else 0.0,
        "Brier": brier_score_macro(labels, proba, classes=classes),
        "AUC": _macro_auc(labels, proba),
        "ECE": expected_calibration_error(labels, proba, classes=classes),
        "ECE by chance": calibration_error_by_chance(proba),
        "reliability": {part: curve[part].tolist() for part in ("lower", "confidence", "accuracy", "count")},
    }


def _macro_auc(labels: IntArray, proba: FloatArray) -> float:
    """The mean over the classes that the fold has and has not only."""
    ours = [c for c in range(proba.shape[1]) if 0 < np.count_nonzero(labels == c) < len(labels)]
    return float(np.mean([roc_auc_score(labels == c, proba[:, c]) for c in ours])) if ours else np.nan
