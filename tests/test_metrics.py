"""Calibration error and Brier score against hand computation and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from hebnb.metrics import brier_score_macro, expected_calibration_error, reliability_curve


def random_predictions(seed, rows=300, classes=3):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(classes), size=rows)
    return rng.integers(classes, size=rows), proba


def reference_ece(y, proba, n_bins):
    """Bin by bin, as the paper defines it: [(b−1)/B, b/B), the last one closed."""
    total = 0.0
    confidence = proba.max(axis=1)
    for b in range(n_bins):
        here = (confidence >= b / n_bins) & ((confidence < (b + 1) / n_bins) | (b == n_bins - 1))
        if here.any():
            accuracy = np.mean(proba[here].argmax(axis=1) == y[here])
            total += here.mean() * abs(accuracy - confidence[here].mean())
    return total


@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_calibration_error_by_definition(n_bins):
    y, proba = random_predictions(0)
    assert expected_calibration_error(y, proba, n_bins=n_bins) == pytest.approx(reference_ece(y, proba, n_bins))


def test_calibration_of_certain_predictions():
    assert expected_calibration_error([0, 1], np.eye(2)) == 0
    assert expected_calibration_error([1, 0], np.eye(2)) == 1


def test_reliability_curve_is_scikit_learns_for_a_binary_top_class():
    rng = np.random.default_rng(1)
    top = rng.uniform(0.5, 1, 400)
    y = (rng.random(400) > top).astype(int)
    curve = reliability_curve(y, np.stack([top, 1 - top], axis=1))
    accuracy, confidence = calibration_curve(y == 0, top, n_bins=10)
    assert_allclose(curve["accuracy"], accuracy)
    assert_allclose(curve["confidence"], confidence)
    assert curve["count"].sum() == 400
    assert_allclose(curve["upper"] - curve["lower"], 0.1)


@given(st.integers(0, 1000))
def test_weights_are_repetitions(seed):
    y, proba = random_predictions(seed, rows=30)
    weights = np.random.default_rng(seed).integers(0, 4, 30)
    weights[0] = 1
    y[:3] = 0, 1, 2
    repeated = np.repeat(y, weights), np.repeat(proba, weights, axis=0)
    for metric in (expected_calibration_error, brier_score_macro):
        assert metric(y, proba, sample_weight=weights) == pytest.approx(metric(*repeated, classes=[0, 1, 2]))


def test_brier_is_the_mean_of_one_against_the_rest():
    y, proba = random_predictions(2)
    expected = np.mean([brier_score_loss(y == c, proba[:, c]) for c in range(3)])
    assert brier_score_macro(y, proba) == pytest.approx(expected)


def test_labels_of_any_sort():
    y, proba = random_predictions(3)
    names = np.array(["a", "b", "c"], dtype=object)
    assert brier_score_macro(names[y], proba) == brier_score_macro(y, proba)
    assert expected_calibration_error(["a"], [[0.2, 0.8]], classes=["a", "b"]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 0.8]), "both columns"),
        (([0], [[0.2, 0.8]]), "2 columns for 1 labels"),
        (([0, 2], [[0.2, 0.8]] * 2, [0, 1]), "label 2"),
        (([0, 1], [[2, -1]] * 2), "not probabilities"),
        (([0, 1], [[0.2, 0.2]] * 2), "not probabilities"),
        (([], np.empty((0, 2))), "empty"),
    ],
)
def test_bad_input(arguments, message):
    y, proba, *classes = arguments
    with pytest.raises(ValueError, match=message):
        brier_score_macro(y, proba, classes=classes[0] if classes else None)
    with pytest.raises(ValueError, match="n_bins"):
        reliability_curve([0, 1], np.eye(2), n_bins=0)
    with pytest.raises(ValueError, match="sample_weight"):
        brier_score_macro([0, 1], np.eye(2), sample_weight=[0, 0])
