"""Labels, probabilities and weights, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray, IntArray


def checked(y_true: Any, y_proba: Any, classes: Any, sample_weight: Any) -> tuple[FloatArray, IntArray, FloatArray]:
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
