"""The Brier score."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.metrics.checked import checked


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
    >>> from hebnb.metrics import brier_score_macro
    >>> brier_score_macro([0, 1], [[1.0, 0.0], [0.5, 0.5]])
    0.125
    """
    proba, column, weight = checked(y_true, y_proba, classes, sample_weight)
    truth = np.zeros_like(proba)
    truth[np.arange(len(column)), column] = 1
    return float(np.average(np.square(proba - truth).mean(axis=1), weights=weight))
