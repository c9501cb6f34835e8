"""Calibration error with an interval, what chance makes of it, and the reliability curve."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, overload

import numpy as np
from scipy.stats import norm

from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray
from hebnb.metrics.bins import LEVEL, Bins
from hebnb.metrics.checked import checked

Interval: TypeAlias = tuple[float, float]


@overload
def expected_calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    classes: Any = None,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: Literal[False] = False,
    level: float = LEVEL,
) -> float: ...


@overload
def expected_calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    classes: Any = None,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: Literal[True],
    level: float = LEVEL,
) -> tuple[float, Interval]: ...


def expected_calibration_error(
    y_true: Any,
    y_proba: Any,
    *,
    classes: Any = None,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: bool = False,
    level: float = LEVEL,
) -> float | tuple[float, Interval]:
    """Top-1 expected calibration error: how far confidence is from accuracy, on average.

    Rows are put into ``n_bins`` bins of equal width by the probability of their most probable class; the error is the
    weighted mean over the bins of ``|accuracy − mean confidence|``.

    Chance alone makes accuracy differ from confidence, so even perfect probabilities have an error.
    ``calibration_error_by_chance`` computes how large that would be. The interval that ``return_interval=True`` adds is
    for the error that one would see with endlessly many rows. Its lower end is the error less what chance may have
    added to it, and less ``z`` standard errors. Its upper end is the debiased error, and ``z`` standard errors more. In
    simulations in which the true error is known, the interval held it about as often as it says or more often
    (docs/architecture.md).

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
    return_interval : bool, default=False
        Also return where the error of endless rows lies.
    level : float, default=0.95
        How often that is so.

    Returns
    -------
    error : float
        Between 0, calibrated, and 1.
    interval : tuple of two floats
        Its ends, with ``return_interval=True``.

    Examples
    --------
    Four rows, each sure at 0.9, three of them right:

    >>> from hebnb.metrics import expected_calibration_error
    >>> expected_calibration_error([0, 0, 0, 1], [[0.9, 0.1]] * 4)
    0.15...

    So few rows prove nothing; a hundred times as many do:

    >>> y, proba = [0, 0, 0, 1] * 100, [[0.9, 0.1]] * 400
    >>> error, (low, high) = expected_calibration_error(y, proba, return_interval=True)
    >>> round(error, 3), round(low, 3), round(high, 3)
    (0.15, 0.096, 0.192)
    """
    bins = Bins.of(*checked(y_true, y_proba, classes, sample_weight), n_bins)
    if not return_interval:
        return bins.error
    z = norm.ppf((1 + _checked_level(level)) / 2)
    below, above = bins.error - bins.by_chance, bins.debiased
    ends = np.clip([below - z * bins.standard_error, above + z * bins.standard_error], 0.0, 1.0)
    return bins.error, (float(ends[0]), float(ends[1]))


def debiased_calibration_error(
    y_true: Any, y_proba: Any, *, classes: Any = None, n_bins: int = 10, sample_weight: Any = None
) -> float:
    """The calibration error, less an estimate of what chance adds to it.

    In every bin the gap between accuracy and confidence is too large on average, because chance adds to it. How much
    is estimated by drawing again around the gap with its standard error, and subtracted (after Kumar, Liang and Ma,
    "Verified uncertainty calibration", 2019). This takes away most of the bias where a model is far off, and two fifths
    of it where a model is perfect.

    Parameters
    ----------
    y_true, y_proba, classes, n_bins, sample_weight
        As for ``expected_calibration_error``.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> from hebnb.metrics import debiased_calibration_error, expected_calibration_error
    >>> y, proba = [0, 0, 0, 1] * 10, [[0.8, 0.2]] * 40
    >>> round(expected_calibration_error(y, proba), 3), round(debiased_calibration_error(y, proba), 3)
    (0.05, 0.031)
    """
    return Bins.of(*checked(y_true, y_proba, classes, sample_weight), n_bins).debiased


@overload
def calibration_error_by_chance(
    y_proba: Any,
    *,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: Literal[False] = False,
    level: float = LEVEL,
    random_state: int | np.random.RandomState | None = 0,
) -> float: ...


@overload
def calibration_error_by_chance(
    y_proba: Any,
    *,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: Literal[True],
    level: float = LEVEL,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[float, Interval]: ...


def calibration_error_by_chance(
    y_proba: Any,
    *,
    n_bins: int = 10,
    sample_weight: Any = None,
    return_interval: bool = False,
    level: float = LEVEL,
    random_state: int | np.random.RandomState | None = 0,
) -> float | tuple[float, Interval]:
    """The calibration error that these probabilities would show, on average, if they were perfect.

    Compare it with the error of a model: if that is hardly larger, the rows do not show that the model is off. If all
    probabilities are right, the number of rows in a bin that are predicted rightly has a binomial distribution, and the
    bin shows its mean absolute deviation. Where probabilities or weights within a bin differ, a binomial distribution
    of the same variance is used.

    Parameters
    ----------
    y_proba, n_bins, sample_weight
        As for ``expected_calibration_error``.
    return_interval : bool, default=False
        Also return the band in which the error of a perfect model lies.
    level : float, default=0.95
        How often it lies there: as often below the band as above it.
    random_state : int, RandomState or None, default=0
        Seed of the draws that the band is made of.

    Returns
    -------
    error : float
    band : tuple of two floats
        Its ends, with ``return_interval=True``.

    Examples
    --------
    A hundred rows at 0.9: two points or three are what chance makes of a perfect model.

    >>> from hebnb.metrics import calibration_error_by_chance
    >>> error, (low, high) = calibration_error_by_chance([[0.9, 0.1]] * 100, return_interval=True)
    >>> round(error, 3), round(low, 3), round(high, 3)
    (0.024, 0.0, 0.07)
    """
    proba = np.asarray(y_proba, dtype=float)
    nobody = np.zeros(len(proba), dtype=np.intp)
    classes = np.arange(proba.shape[1]) if proba.ndim == 2 else None
    bins = Bins.of(*checked(nobody, proba, classes, sample_weight), n_bins)
    if not return_interval:
        return bins.by_chance
    tail = (1 - _checked_level(level)) / 2
    low, high = np.quantile(bins.errors_by_chance(random_state), [tail, 1 - tail])
    return bins.by_chance, (float(low), float(high))


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
        ``count`` of rows and their ``weight``; and the ``low`` and ``high`` end of the accuracies that a perfect model
        would show with as many rows, 95 times in 100. ``pandas.DataFrame(curve)`` and ``polars.DataFrame(curve)`` show
        it.

    Examples
    --------
    >>> from hebnb.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 0, 1], [[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]], n_bins=5)
    >>> curve["confidence"], curve["accuracy"]
    (array([0.6, 0.9]), array([0.5, 1. ]))
    >>> reliability_curve(["a", "b"], [[0.7, 0.3], [0.3, 0.7]], label="b")["accuracy"]
    array([0., 1.])
    >>> curve = reliability_curve([0, 1] * 500, [[0.8, 0.2]] * 1000)
    >>> curve["low"], curve["high"]
    (array([0.775]), array([0.824]))
    """
    proba, column, weight = checked(y_true, y_proba, classes, sample_weight)
    c = None
    if label is not None:
        labels = (np.unique(np.asarray(y_true)) if classes is None else np.asarray(classes)).tolist()
        if label not in labels:
            raise ParameterError(f"label={label!r} is not among the classes.")
        c = labels.index(label)
    bins = Bins.of(proba, column, weight, n_bins, c)
    low, high = bins.band()
    return {
        "lower": bins.place / n_bins,
        "upper": (bins.place + 1) / n_bins,
        "confidence": bins.confidence,
        "accuracy": bins.accuracy,
        "count": bins.count,
        "weight": bins.weight,
        "low": low,
        "high": high,
    }


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} must be between 0 and 1.")
    return level
