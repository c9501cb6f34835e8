"""Calibration error and Brier score against hand computation and scikit-learn."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from hebnb.metrics import (
    brier_score_macro,
    calibration_error_by_chance,
    debiased_calibration_error,
    expected_calibration_error,
    reliability_curve,
)


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
    with pytest.raises(ValueError, match="level"):
        expected_calibration_error([0, 1], np.eye(2), return_interval=True, level=1.0)
    with pytest.raises(ValueError, match="level"):
        calibration_error_by_chance(np.eye(2), return_interval=True, level=0)
    with pytest.raises(ValueError, match="both columns"):
        calibration_error_by_chance([0.2, 0.8])


# How wrong probabilities are, as a function of what they say: the truth is known, and so is its calibration error.
MISTAKES = {
    "perfect": lambda p: p,
    "too sure": lambda p: 1 / (1 + (1 / p - 1) ** 0.7),
    "not sure enough": lambda p: 1 / (1 + (1 / p - 1) ** 1.5),
    "a bin is off": lambda p: np.where(p > 0.9, p - 0.1, p),
    "up and down": lambda p: np.clip(p + np.where((10 * p).astype(int) % 2, 0.05, -0.05), 0, 1),
}


def drawn(random, n_rows, mistake):
    """Labels and probabilities of two classes, of which the first is the more probable one."""
    said = random.uniform(0.5, 0.999, n_rows)
    return (random.random(n_rows) >= mistake(said)).astype(int), np.stack([said, 1 - said], axis=1)


def error_of_endless_rows(mistake):
    """By bins, as the error is defined, on a fine grid of what ``drawn`` says."""
    said = np.linspace(0.5, 0.999, 499_001)
    gap = np.bincount((10 * said).astype(int), mistake(said) - said)
    return np.abs(gap).sum() / len(said)


def seldom(often, trials):
    """More misses than this happen once in a hundred thousand times, if one happens so often."""
    return binom.ppf(1 - 1e-5, trials, often)


@pytest.mark.parametrize("n_rows", [100, 2_000])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_holds_the_error_of_endless_rows(mistake, n_rows, level):
    random, truth, trials, misses = np.random.default_rng(0), error_of_endless_rows(mistake), 400, 0
    for _ in range(trials):
        y, proba = drawn(random, n_rows, mistake)
        error, (low, high) = expected_calibration_error(y, proba, classes=[0, 1], return_interval=True, level=level)
        assert error == expected_calibration_error(y, proba, classes=[0, 1])
        misses += not low <= truth <= high
    assert misses <= seldom(1 - level, trials)


def test_an_interval_says_something():
    """It narrows with the root of the rows, grows with its level, and does not hold zero where a model is off."""
    y, proba = [0, 0, 0, 1] * 25, [[0.9, 0.1]] * 100
    widths = []
    for times in (1, 4, 16):
        error, (low, high) = expected_calibration_error(y * times, proba * times, return_interval=True)
        assert error == pytest.approx(0.15)
        assert 0 < low < 0.15 < high
        widths.append(high - low)
    assert_allclose(np.divide(widths[:-1], widths[1:]), 2, rtol=0.1)
    narrow, wide = (expected_calibration_error(y, proba, return_interval=True, level=level)[1] for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_rows_that_are_certain_and_right_prove_only_so_much():
    error, (low, high) = expected_calibration_error([0, 1] * 5, np.tile(np.eye(2), (5, 1)), return_interval=True)
    assert (error, low) == (0, 0)
    assert 0.05 < high < 0.4  # ten rows in ten: by Clopper and Pearson 0.31 could still be wrong


@pytest.mark.parametrize("n_rows", [30, 1_000])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_perfect_model_is_in_the_band_as_often_as_stated(n_rows, level):
    random, trials = np.random.default_rng(1), 400
    inside = 0
    for _ in range(trials):
        y, proba = drawn(random, n_rows, MISTAKES["perfect"])
        _, (low, high) = calibration_error_by_chance(proba, return_interval=True, level=level)
        inside += low <= expected_calibration_error(y, proba, classes=[0, 1]) <= high
    assert seldom(1 - level, trials) >= trials - inside
    assert seldom(level, trials) >= inside


def test_the_error_by_chance_is_the_mean_over_all_outcomes():
    """Every way in which nine rows may turn out, with its probability."""
    proba = np.array([[0.62, 0.38]] * 5 + [[0.95, 0.05]] * 4)
    said, expected = proba[:, 0], 0.0
    for wrong in product([0, 1], repeat=9):
        outcome = np.array(wrong)
        probability = np.where(outcome, 1 - said, said).prod()
        expected += probability * expected_calibration_error(outcome, proba, classes=[0, 1])
    assert calibration_error_by_chance(proba) == pytest.approx(expected)


@given(st.integers(0, 1000), st.sampled_from([20, 300]))
def test_the_error_by_chance_is_what_drawn_labels_show(seed, n_rows):
    """Probabilities within a bin differ, and so do weights: the binomial distribution of the same variance is near."""
    random = np.random.default_rng(seed)
    proba, weight = random.dirichlet([0.5, 0.5, 0.5], n_rows), random.uniform(0.5, 2, n_rows)
    steps = proba.cumsum(axis=1)[:, :-1]
    errors = [
        expected_calibration_error(
            (random.random((n_rows, 1)) > steps).sum(axis=1), proba, classes=[0, 1, 2], sample_weight=weight
        )
        for _ in range(200)
    ]
    rounding = 0.04  # of a number of rows to a whole one, and of the shape of a distribution
    near = rounding * np.mean(errors) + 5 * np.std(errors) / np.sqrt(200)
    assert abs(calibration_error_by_chance(proba, sample_weight=weight) - np.mean(errors)) < near


def test_certain_probabilities_leave_nothing_to_chance():
    assert calibration_error_by_chance(np.eye(3), return_interval=True) == (0, (0, 0))


def test_the_debiased_error_is_that_of_its_authors():
    """Kumar, Liang and Ma draw accuracies from normal distributions around those found; half a row steadies them."""
    y, proba = random_predictions(5, rows=200)
    curve = reliability_curve(y, proba)
    share, gap = curve["count"] / 200, curve["accuracy"] - curve["confidence"]
    right = curve["count"] * curve["accuracy"] + 0.5
    wrong = curve["count"] - right + 1
    spread = np.sqrt(right * wrong / (right + wrong) ** 2 / curve["count"])
    draws = gap + spread * np.random.default_rng(0).normal(size=(400_000, len(share)))
    errors = np.abs(draws) @ share
    error = expected_calibration_error(y, proba)
    tolerance = 5 * errors.std() / np.sqrt(len(errors))
    assert abs(debiased_calibration_error(y, proba) - (2 * error - errors.mean())) < tolerance


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_debiased_error_is_nearer_to_the_truth_on_average(mistake):
    random, truth = np.random.default_rng(2), error_of_endless_rows(mistake)
    pairs = [drawn(random, 200, mistake) for _ in range(200)]
    plain = np.mean([expected_calibration_error(y, proba, classes=[0, 1]) for y, proba in pairs])
    debiased = np.mean([debiased_calibration_error(y, proba, classes=[0, 1]) for y, proba in pairs])
    assert truth - 0.01 < debiased < plain


@pytest.mark.parametrize("doubt", [1e-9, 1e-14, 1.2e-16])
def test_all_but_certain_probabilities(doubt):
    """Means of what is all but one are rounded; what they leave to chance, and what rows prove, must not be."""
    sure = np.where(np.arange(3_000) % 3, 1.0, 1 - doubt)
    proba, y = np.stack([sure, 1 - sure], axis=1), np.zeros(3_000, dtype=int)
    by_chance = calibration_error_by_chance(proba)
    assert_allclose(by_chance, 2 * (1 - sure).mean(), rtol=1e-4)  # either nobody is wrong, or one is, once in ages
    error, (low, high) = expected_calibration_error(y, proba, classes=[0, 1], return_interval=True)
    assert 0 <= low <= error <= 2 * doubt
    assert 0 < high < 0.001  # by the rule of three it may be 0.001
    assert calibration_error_by_chance(proba, return_interval=True)[1][1] < 0.001
