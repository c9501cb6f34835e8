"""The log-linear pool: its derivatives, its maximum against other programs, and the precision it chooses."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from conftest import examples
from hebnb.weighting.log_linear import Likelihood, Pool, Prior, climb, learn


def random_likelihood(seed=0, components=4, classes=3, rows=50, spread=1.0):
    rng = np.random.default_rng(seed)
    return Likelihood(
        spread * rng.normal(size=(components, classes - 1, rows)),
        rng.normal(size=(classes - 1, rows)),
        rng.integers(classes, size=rows),
        rng.uniform(0.5, 2, size=rows),
    )


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_derivatives_are_those_of_the_loss(classes):
    likelihood = random_likelihood(classes=classes)
    at = np.random.default_rng(1).normal(size=4 + classes)

    def loss(at):
        return likelihood.loss(likelihood.log_proba(at))

    def gradient(at):
        return likelihood.derivatives(likelihood.log_proba(at))[0]

    assert check_grad(loss, gradient, at) < 1e-4
    _, hessian = likelihood.derivatives(likelihood.log_proba(at))
    step = 1e-5
    slopes = [(gradient(at + step * e) - gradient(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    assert_allclose(hessian, slopes, atol=1e-6)


def test_blocks_add_up():
    likelihood = random_likelihood(rows=2_000)
    log_proba = likelihood.log_proba(np.zeros(7))
    whole = likelihood.derivatives(log_proba), likelihood.squared_gradients(log_proba)
    with patch("hebnb.weighting.log_linear._BLOCK_SCORES", 1):
        parts = likelihood.derivatives(log_proba), likelihood.squared_gradients(log_proba)
    for a, b in zip((*whole[0], whole[1]), (*parts[0], parts[1]), strict=True):
        assert_allclose(a, b, rtol=1e-10, atol=1e-9)


def test_the_order_of_rows_does_not_matter():
    """Where a step gains as little as rounding takes, it is taken whichever way that goes."""
    prior = Prior((4,), (1.0,), 3)
    for seed in range(200):
        ours = random_likelihood(seed, rows=30, spread=0.02)
        order = np.random.default_rng(seed).permutation(30)
        other = Likelihood(ours.scores[:, :, order], ours.base[:, order], ours.labels[order], ours.weights[order])
        assert_allclose(learn(other, prior).weights, learn(ours, prior).weights, rtol=0, atol=1e-10, err_msg=str(seed))


def test_where_the_search_begins_does_not_matter():
    """Batches begin where the last one ended."""
    prior = Prior((4,), (1.0,), 3)
    for seed in range(100):
        likelihood = random_likelihood(seed, rows=30)
        elsewhere = Pool(np.random.default_rng(seed).normal(1, 0.3, size=4), np.zeros(3))
        found = learn(likelihood, prior, elsewhere)
        assert_allclose(found.weights, learn(likelihood, prior).weights, rtol=0, atol=1e-8, err_msg=str(seed))


def test_newton_finds_what_a_general_optimiser_finds():
    likelihood, prior = random_likelihood(), Prior((3, 1), (1.0, 0.0), 3)
    penalty = prior.fixed + 2.0 * prior.straying

    def objective(at):
        log_proba = likelihood.log_proba(at)
        away = at - prior.centre
        gradient = likelihood.derivatives(log_proba)[0] + penalty @ away
        return likelihood.loss(log_proba) + away @ penalty @ away / 2, gradient

    found = minimize(objective, np.zeros(7), jac=True, method="BFGS", options={"gtol": 1e-8})
    assert_allclose(climb(likelihood, prior, 2.0, prior.centre).at, found.x, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_precision_has_the_greatest_evidence(seed):
    """Laplace's approximation computed directly, at every precision."""
    likelihood, prior = random_likelihood(seed, components=8, rows=400), Prior((8,), (1.0,), 3)
    grid = np.geomspace(1e-4, 1e6, 61)

    def evidence(precision):
        peak = climb(likelihood, prior, precision, prior.centre)
        penalty = prior.fixed + precision * prior.straying
        away = peak.at - prior.centre
        _, hessian = likelihood.derivatives(peak.log_proba)
        log_prior = 7 * np.log(precision) / 2 - away @ penalty @ away / 2
        return log_prior - peak.loss - np.linalg.slogdet(hessian + penalty)[1] / 2

    values = np.array([evidence(precision) for precision in grid])
    chosen = evidence(learn(likelihood, prior).precision)
    assert chosen >= values.max() - 0.1  # the curvature is held fixed between neighbours


def test_start_does_not_matter():
    likelihood, prior = random_likelihood(rows=500), Prior((4,), (1.0,), 3)
    cold = learn(likelihood, prior)
    warm = learn(likelihood, prior, cold)
    assert warm.precision == cold.precision
    assert_allclose(warm.weights, cold.weights, atol=1e-6)


def test_the_estimate_is_that_of_leaving_rows_out_of_the_regression():
    """Every row left out in turn, at the same precision; rows of weight below one are left out whole."""
    likelihood, prior = random_likelihood(components=6, rows=150, spread=0.5), Prior((6,), (1.0,), 3)
    weights = np.where(np.arange(150) % 2, 1.0, 0.3)
    likelihood = Likelihood(likelihood.scores, likelihood.base, likelihood.labels, weights)
    pool = learn(likelihood, prior)
    losses = []
    for row in range(150):
        rest = Likelihood(likelihood.scores, likelihood.base, likelihood.labels, weights * (np.arange(150) != row))
        at = climb(rest, prior, pool.precision, np.concatenate([pool.weights, pool.offsets])).at
        losses.append(-likelihood.log_proba(at)[likelihood.labels[row], row])
    seen = likelihood.loss(likelihood.log_proba(np.concatenate([pool.weights, pool.offsets]))) / weights.sum()
    honest = weights @ losses / weights.sum()
    assert pool.log_loss - seen == pytest.approx(honest - seen, rel=0.1)


def test_groups_shrink_to_their_means():
    prior = Prior((2, 3), (1.0, 0.0), 2)
    weights = np.array([1.0, 3.0, 0.0, 1.0, 5.0, 7.0, 7.0])
    assert_allclose(prior.straying @ weights, [-1, 1, -2, -1, 3, 0, 0])
    assert prior.freedom == 3


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 5))
@examples(40)
def test_probabilities_are_those_of_the_formula(seed, components, classes):
    likelihood = random_likelihood(seed, components, classes, rows=6)
    at = np.random.default_rng(seed).normal(size=components + classes)
    expected = np.zeros((classes, 6))
    for c in range(classes):
        for row in range(6):
            expected[c, row] = at[components + c]
            if c:
                expected[c, row] += likelihood.base[c - 1, row] + at[:components] @ likelihood.scores[:, c - 1, row]
    expected = log_softmax(expected, axis=0)
    found = likelihood.log_proba(at)
    assert_allclose(found, expected, atol=1e-12)
    rows = enumerate(zip(likelihood.labels, likelihood.weights, strict=True))
    losses = [-weight * expected[label, row] for row, (label, weight) in rows]
    assert likelihood.loss(found) == pytest.approx(sum(losses))


@pytest.mark.parametrize("seed", range(5))
def test_the_maximum_is_that_of_logistic_regression(seed):
    """scikit-learn's, where every group has one component: then all weights are shrunk to zero alike.

    Two offsets b and −b with the penalty of one each are an intercept 2b that is penalised a quarter as much: that of
    a column of √2.
    """
    drawn = random_likelihood(seed, components=3, classes=2, rows=80)
    likelihood = Likelihood(drawn.scores, np.zeros((1, 80)), drawn.labels, drawn.weights)
    found = learn(likelihood, Prior((1, 1, 1), (0.0, 0.0, 0.0), 2))
    columns = np.vstack([likelihood.scores[:, 0], np.full(80, np.sqrt(2))]).T
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=10_000)
    theirs.fit(columns, likelihood.labels, likelihood.weights)
    assert_allclose(found.weights, theirs.coef_[0, :3], atol=1e-5)
    assert_allclose(found.offsets[1] - found.offsets[0], np.sqrt(2) * theirs.coef_[0, 3], atol=1e-5)
    assert found.offsets.sum() == pytest.approx(0, abs=1e-9)


def test_a_row_of_weight_three_is_three_rows():
    drawn = random_likelihood(2, rows=60)
    times = np.random.default_rng(0).integers(1, 4, size=60)
    weighted = Likelihood(drawn.scores, drawn.base, drawn.labels, times.astype(float))
    parts = (np.repeat(part, times, axis=-1) for part in (drawn.scores, drawn.base, drawn.labels))
    repeated = Likelihood(*parts, np.ones(times.sum()))
    prior = Prior((2, 2), (1.0, 0.0), 3)
    one, other = learn(weighted, prior), learn(repeated, prior)
    assert one.precision == other.precision
    assert_allclose(one.weights, other.weights, atol=1e-9)
    assert_allclose(one.offsets, other.offsets, atol=1e-9)
    assert one.log_loss == pytest.approx(other.log_loss)


def test_the_limits_of_the_precision():
    """Without any, a group of weights is free but for its mean; with a great one all are its mean."""
    likelihood, prior = random_likelihood(3, components=5, rows=300), Prior((3, 2), (1.0, 0.0), 3)
    tied = climb(likelihood, prior, 1e12, prior.centre).at
    assert_allclose(tied[:3], tied[:3].mean(), atol=1e-6)
    assert_allclose(tied[3:5], tied[3:5].mean(), atol=1e-6)
    # Tied, they are two components: the sums of the scores.
    two = np.stack([likelihood.scores[:3].sum(axis=0), likelihood.scores[3:].sum(axis=0)])
    summed = Likelihood(two, likelihood.base, likelihood.labels, likelihood.weights)
    assert_allclose(tied[[0, 3]], climb(summed, Prior((1, 1), (1.0, 0.0), 3), 1.0, np.zeros(5)).at[:2], atol=1e-5)
    free = climb(likelihood, prior, 1e-12, prior.centre)
    assert np.ptp(free.at[:3]) > 0.01
    peaks = [climb(likelihood, prior, precision, prior.centre) for precision in np.geomspace(1e-3, 1e6, 10)]
    away = [peak.at - prior.centre for peak in peaks]
    # A stronger one lets weights stray less, at the cost of all else.
    assert (np.diff([own @ prior.straying @ own for own in away]) <= 1e-6).all()
    others = [peak.loss + own @ prior.fixed @ own / 2 for peak, own in zip(peaks, away, strict=True)]
    assert (np.diff(others) >= -1e-6).all()


@pytest.mark.parametrize("spread", [0.0, 1e-3, 1.0, 20.0])
def test_the_precision_stays_within_its_range(spread):
    found = learn(random_likelihood(1, components=6, rows=200, spread=spread), Prior((6,), (1.0,), 3))
    assert 0.3 <= found.precision <= 3e5 * (1 + 1e-9)
    assert np.isfinite([*found.weights, *found.offsets, found.log_loss]).all()


def test_without_rows_that_tell_weights_are_what_is_expected():
    silent = Likelihood(np.zeros((5, 2, 30)), np.zeros((2, 30)), np.arange(30) % 3, np.ones(30))
    found = learn(silent, Prior((3, 2), (1.0, 0.25), 3))
    assert_allclose(found.weights, [1, 1, 1, 0.25, 0.25], atol=1e-9)
    assert_allclose(found.offsets, 0, atol=1e-9)


def test_one_component_a_group_has_no_precision_to_choose():
    likelihood, prior = random_likelihood(components=2), Prior((1, 1), (1.0, 0.0), 3)
    assert prior.freedom == 0
    assert_array_equal(prior.straying, 0)
    found = learn(likelihood, prior)
    from_afar = learn(likelihood, prior, Pool(np.array([5.0, -5.0]), np.zeros(3)))
    assert_allclose(found.weights, from_afar.weights, atol=1e-4)


def test_no_weight_stands_for_more_rows_than_matter():
    drawn = random_likelihood(rows=10)
    parts = drawn.scores, drawn.base, drawn.labels
    assert Likelihood.weighing(*parts, np.full(10, 1e30)).weights.sum() == pytest.approx(1e9)
    assert_array_equal(Likelihood.weighing(*parts, drawn.weights).weights, drawn.weights)


@pytest.mark.parametrize("rows", [1, 7])
def test_one_class_needs_no_weights(rows, monkeypatch):
    """Whatever NumPy makes of a sum over no class: it has been memory that nobody had written to."""
    einsum = np.einsum

    def uninitialised(path, *arrays):
        total = einsum(path, *arrays)
        return np.full_like(total, np.nan) if any(0 in array.shape for array in arrays) else total

    monkeypatch.setattr(np, "einsum", uninitialised)
    nothing = Likelihood(np.zeros((3, 0, rows)), np.zeros((0, rows)), np.zeros(rows, dtype=int), np.ones(rows))
    found = learn(nothing, Prior((3,), (1.0,), 1))
    assert_allclose(found.weights, 1)
    assert found.log_loss == pytest.approx(0, abs=1e-12)
