"""How honest probabilities are: calibration error, Brier score, reliability curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import Array, FloatArray, IntArray

__all__ = ["brier_score_macro", "expected_calibration_error", "reliability_curve"]


def expected_calibration_error(
    y_true: Any, y_proba: Any, *, classes: Any = None, n_bins: int = 10, sample_weight: Any = None
) -> float:
    """Top-1 expected calibration error: how far confidence is from accuracy, on average.

    Rows are put into ``n_bins`` bins of equal width by the probability of their most probable class; the error is the
    weighted mean over the bins of ``|accuracy − mean confidence|``.

    Parameters
    ----------
    y_true : array of shape (S,)
        True labels.
    y_proba : array of shape (S, C)
        Probabilities of the classes, as ``predict_proba`` gives them.
    classes : array of shape (C,), optional
        Labels of the columns; by default the sorted labels of ``y_true``.
    n_bins : int, default=10
        Number of bins.
    sample_weight : array of shape (S,), optional
        How many times each row counts.

    Returns
    -------
    float
        Between 0, calibrated, and 1.

    Examples
    --------
    Four rows, each sure at 0.9, three of them right:

    >>> expected_calibration_error([0, 0, 0, 1], [[0.9, 0.1]] * 4)
    0.15...
    """
    curve = reliability_curve(y_true, y_proba, classes=classes, n_bins=n_bins, sample_weight=sample_weight)
    gap = np.abs(curve["accuracy"] - curve["confidence"])
    return float(np.average(gap, weights=curve["weight"]))


def reliability_curve(
    y_true: Any, y_proba: Any, *, classes: Any = None, n_bins: int = 10, sample_weight: Any = None, label: Any = None
) -> dict[str, FloatArray]:
    """Confidence against accuracy, for the bins of ``expected_calibration_error`` that hold rows.

    Parameters
    ----------
    y_true, y_proba, classes, n_bins, sample_weight
        As for ``expected_calibration_error``.
    label : object, optional
        A class. The curve is then that of its probability, against the share of rows that are of this class.

    Returns
    -------
    dict of arrays
        The columns of a table, one row a bin: ``lower`` and ``upper`` end, mean ``confidence``, ``accuracy``,
        ``count`` of rows and their ``weight``. ``pandas.DataFrame(curve)`` and ``polars.DataFrame(curve)`` show it.

    Examples
    --------
    >>> curve = reliability_curve([0, 0, 0, 1], [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]], n_bins=5)
    >>> curve["confidence"], curve["accuracy"]
    (array([0.6, 0.9]), array([0.5, 1. ]))
    >>> reliability_curve(["a", "b"], [[0.7, 0.3], [0.3, 0.7]], label="b")["accuracy"]
    array([0., 1.])
    """
    if n_bins < 1:
        raise ParameterError(f"n_bins={n_bins!r} must be at least 1.")
    proba, column, weight = _checked(y_true, y_proba, classes, sample_weight)
    if label is None:
        confidence, correct = proba.max(axis=1), proba.argmax(axis=1) == column
    else:
        labels = (np.unique(np.asarray(y_true)) if classes is None else np.asarray(classes)).tolist()
        if label not in labels:
            raise ParameterError(f"label={label!r} is not among the classes.")
        confidence, correct = proba[:, labels.index(label)], column == labels.index(label)
    bin_ = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
    total = np.bincount(bin_, weight, n_bins)
    used = np.flatnonzero(total)
    return {
        "lower": used / n_bins,
        "upper": (used + 1) / n_bins,
        "confidence": np.bincount(bin_, weight * confidence, n_bins)[used] / total[used],
        "accuracy": np.bincount(bin_, weight * correct, n_bins)[used] / total[used],
        "count": np.bincount(bin_, minlength=n_bins)[used].astype(float),
        "weight": total[used],
    }


def brier_score_macro(y_true: Any, y_proba: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Brier score, one class against the rest, averaged over the classes.

    Parameters
    ----------
    y_true, y_proba, classes, sample_weight
        As for ``expected_calibration_error``.

    Returns
    -------
    float
        Between 0, certain and right, and 1.

    Examples
    --------
    >>> brier_score_macro([0, 1], [[1.0, 0.0], [0.5, 0.5]])
    0.125
    """
    proba, column, weight = _checked(y_true, y_proba, classes, sample_weight)
    truth = np.zeros_like(proba)
    truth[np.arange(len(column)), column] = 1
    return float(np.average(np.square(proba - truth).mean(axis=1), weights=weight))


def _checked(y_true: Any, y_proba: Any, classes: Any, sample_weight: Any) -> tuple[FloatArray, IntArray, FloatArray]:
    """Probabilities, the column of every true label, and weights."""
    proba = np.asarray(y_proba, dtype=float)
    truth = np.asarray(y_true)
    if proba.ndim != 2 or truth.ndim != 1 or len(proba) != len(truth):
        raise InputError(
            f"y_true has shape {truth.shape} and y_proba {proba.shape}; (S,) and (S, C) are expected.",
            "For two classes pass both columns, as predict_proba gives them.",
        )
    if not len(truth):
        raise InputError("y_true is empty.")
    if not (proba >= 0).all() or not np.allclose(proba.sum(axis=1), 1, atol=1e-6):
        raise InputError("y_proba has rows that are not probabilities.", "Pass predict_proba, not scores.")
    labels: Array = np.unique(truth) if classes is None else np.asarray(classes)
    if len(labels) != proba.shape[1]:
        raise InputError(
            f"y_proba has {proba.shape[1]} columns for {len(labels)} labels.",
            "Pass classes=model.classes_ where y_true may lack some of them.",
        )
    number = {label: column for column, label in enumerate(labels.tolist())}
    try:
        column = np.array([number[label] for label in truth.tolist()], dtype=np.intp)
    except KeyError as error:
        raise InputError(f"y_true has the label {error.args[0]!r}, which is not among the classes.") from error
    weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weight.shape != truth.shape or not (weight >= 0).all() or not weight.sum():
        raise InputError("sample_weight must be one non-negative number a row, not all zero.")
    return proba, column, weight
