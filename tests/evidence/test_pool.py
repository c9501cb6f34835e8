"""The weights of the pool against a penalised loss that is written out here, and SciPy's optimiser."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax, softmax

from hebnb.evidence.pool import FIRST_PRECISION, Pool, _penalty, _precisions, learn, left_out_loss, mean_loss
from hebnb.weighting.log_linear import Likelihood

GROUPS = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2])
TRUE = np.array([1.0, 1.3, 0.7, 0.9, 0.6, -0.2, 0.1, 0.0, 0.1])


class Rows:
    """What components say of rows, of shape (D, C, S), whose classes follow it with the true weights."""

    def __init__(self, seed, n_rows=400, n_classes=3, true=TRUE, weighted=False):
        rng = np.random.default_rng(seed)
        self.said = rng.normal(0, 0.8, size=(len(true), n_classes, n_rows))
        self.prior = log_softmax(rng.normal(size=n_classes))[:, np.newaxis] + np.zeros((1, n_rows))
        proba = softmax(self.prior + np.tensordot(true, self.said, axes=1), axis=0)
        self.labels = np.array([rng.choice(n_classes, p=own) for own in proba.T])
        self.weights = rng.choice([0.5, 1.0, 2.0], size=n_rows) if weighted else np.ones(n_rows)
        self.fold = rng.permutation(n_rows) % 10

    def of(self, rows):
        some = object.__new__(Rows)
        some.said, some.prior = self.said[:, :, rows], self.prior[:, rows]
        some.labels, some.weights, some.fold = self.labels[rows], self.weights[rows], self.fold[rows]
        return some

    @property
    def likelihood(self):
        said, prior = self.said[:, 1:] - self.said[:, :1], self.prior[1:] - self.prior[:1]
        return Likelihood.weighing(said, prior, self.labels, self.weights)

    def loss(self, at):
        """Minus the log-likelihood of the labels under weights and offsets."""
        weights, offsets = at[: len(self.said)], at[len(self.said) :]
        logs = self.prior + offsets[:, np.newaxis] + np.tensordot(weights, self.said, axes=1)
        own = logs[self.labels, np.arange(len(self.labels))] - np.logaddexp.reduce(logs, axis=0)
        return -float(self.weights @ own)

    @property
    def start(self):
        return np.concatenate([np.where(GROUPS == 0, 1.0, 0.0), np.zeros(len(self.prior))])


def penalised(rows, pool):
    def value(at):
        away = at - pool.centre
        return rows.loss(at) + 0.5 * away @ pool.penalty @ away

    return value


@pytest.mark.parametrize(("seed", "n_classes", "weighted"), [(0, 2, False), (1, 3, False), (2, 3, True)])
def test_the_weights_are_where_the_penalised_loss_is_least(seed, n_classes, weighted):
    rows = Rows(seed, n_classes=n_classes, weighted=weighted)
    pool = learn(rows.likelihood, GROUPS, rows.start)
    value = penalised(rows, pool)
    begun = approx_fprime(rows.start, value, 1e-6)
    gradient = approx_fprime(pool.at, value, 1e-6)
    assert np.abs(gradient).max() < 0.005 * np.abs(begun).max()
    best = minimize(value, pool.at, method="BFGS")
    assert value(pool.at) - best.fun < 1e-5 * rows.weights.sum()
    assert mean_loss(rows.likelihood, pool) == pytest.approx(rows.loss(pool.at) / rows.weights.sum(), rel=1e-10)


def test_it_does_not_matter_where_to_begin():
    rows = Rows(3)
    pool = learn(rows.likelihood, GROUPS, rows.start)
    elsewhere = learn(rows.likelihood, GROUPS, rows.start + np.random.default_rng(0).normal(size=len(rows.start)))
    assert_allclose(elsewhere.at, pool.at, atol=0.03)


def test_the_order_of_rows_does_not_matter_where_weights_are_equal():
    """Their precision is large then, and what it adds is a small difference of large numbers."""
    group = np.zeros(5, dtype=int)
    for seed in range(60):
        rows = Rows(seed, n_rows=30, n_classes=4, true=np.full(5, 1.35))
        start = np.concatenate([np.ones(5), np.zeros(4)])
        pool = learn(rows.likelihood, group, start)
        other = learn(rows.of(np.random.default_rng(seed).permutation(30)).likelihood, group, start)
        assert_allclose(other.at, pool.at, rtol=0, atol=1e-10, err_msg=str(seed))


def test_components_that_are_the_same_keep_the_precision_they_began_with():
    """The rows say nothing about how far these stray from each other, and what rounding says of it must not count."""
    group = np.array([0, 0, 1, 1, 1])
    rows = Rows(3, n_rows=60, true=np.array([1.0, 1.0, 0.5, 0.0, 0.0]))
    rows.said[3] = rows.said[4] = rows.said[2]
    pool = learn(rows.likelihood, group, np.concatenate([[1.0, 1.0, 0.0, 0.0, 0.0], np.zeros(3)]))
    of_differences = pool.penalty[2, 2] - pool.penalty[2, 3]
    assert of_differences == pytest.approx(FIRST_PRECISION, rel=1e-12)


def plain_precisions(rows, group, precision):
    """MacKay's fixed point, round by round to its end, with the weights sought by SciPy in every round."""
    n_classes, at = len(rows.prior), np.concatenate([np.where(group == 0, 1.0, 0.0), np.zeros(len(rows.prior))])
    pool = Pool(at, None, at.copy(), None)
    for _ in range(60):
        pool = replace(pool, penalty=_penalty(group, precision, n_classes))
        at = minimize(penalised(rows, pool), pool.at, method="BFGS").x
        pool = replace(pool, at=at)
        _, hessian = rows.likelihood.derivatives(rows.likelihood.log_proba(at))
        covariance, before = np.linalg.inv(hessian + pool.penalty), precision
        precision = _precisions(group, at, covariance, before)
        if np.abs(np.log(precision / before)).max() < 1e-3:
            break
    return pool


@pytest.mark.parametrize("seed", range(3))
def test_precisions_end_where_the_plain_fixed_point_does(seed):
    rows = Rows(seed, n_rows=250)
    pool, plain = (
        learn(rows.likelihood, GROUPS, rows.start),
        plain_precisions(rows, GROUPS, np.full(3, FIRST_PRECISION)),
    )
    strict, slow = (own.penalty[0, 0] - own.penalty[0, 1] for own in (pool, plain))
    assert abs(np.log(strict / slow)) < 0.3
    assert_allclose(pool.at, plain.at, atol=0.03)


def test_the_true_weights_are_found():
    rows = Rows(4, n_rows=4000)
    pool = learn(rows.likelihood, GROUPS, rows.start)
    assert_allclose(pool.at[: len(GROUPS)], TRUE, atol=0.15)


def test_columns_are_expected_to_count_once_and_the_rest_not_at_all():
    """A few rows do not change that much."""
    rows = Rows(5, n_rows=4)
    pool = learn(rows.likelihood, GROUPS, rows.start)
    columns, rest = pool.at[:4], pool.at[4 : len(GROUPS)]
    assert_allclose(pool.centre, rows.start)
    assert_allclose(columns.mean(), 1, atol=0.8)
    assert np.abs(rest).max() < 0.8


def test_weights_of_a_group_that_are_alike_are_tied():
    """Where they differ no more than chance would have it, each is close to their mean; else each is its own."""
    alike, apart = np.full(9, 0.8), np.where(np.arange(9) % 2, 1.6, 0.0)
    group = np.zeros(9, dtype=int)
    start = np.concatenate([np.ones(9), np.zeros(2)])

    def spread(true):
        found = [learn(Rows(seed, 300, 2, true).likelihood, group, start).at[:9].std() for seed in range(4)]
        return np.mean(found)

    assert spread(alike) < 0.1
    assert 0.5 < spread(apart) < 1.1


def test_groups_do_not_share_their_precision():
    rows = Rows(6, 600, 2, np.array([1.0] * 5 + [2.0, -1.0, 1.5, -0.5]))
    group = np.array([0] * 5 + [1] * 4)
    pool = learn(rows.likelihood, group, np.concatenate([np.where(group == 0, 1.0, 0.0), np.zeros(2)]))
    columns, rest = pool.at[:5], pool.at[5:9]
    assert columns.std() < 0.15
    assert rest.std() > 0.8


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_of_folds_is_close_to_learning_without_them(weighted):
    """The same penalty, and the weights of each fold sought anew without it."""
    rows = Rows(7, n_rows=300, weighted=weighted)
    pool = learn(rows.likelihood, GROUPS, rows.start)
    expected = 0.0
    for number in range(10):
        without = minimize(penalised(rows.of(rows.fold != number), pool), pool.at, method="BFGS").x
        expected += rows.of(rows.fold == number).loss(without)
    expected /= rows.weights.sum()
    found = left_out_loss(rows.likelihood, rows.fold, pool, rows.likelihood, rows.fold)
    seen = mean_loss(rows.likelihood, pool)
    assert expected > seen + 0.005
    assert abs(found - expected) < 0.1 * (expected - seen)


def test_rows_of_some_folds_are_tested_as_they_are_given():
    """What is said of tested rows may differ from what was learned from, and only their folds count."""
    rows, tested = Rows(8, n_rows=300), Rows(9, n_rows=60)
    tested.fold = tested.fold % 2
    pool = learn(rows.likelihood, GROUPS, rows.start)
    expected = 0.0
    for number in range(2):
        without = minimize(penalised(rows.of(rows.fold != number), pool), pool.at, method="BFGS").x
        expected += tested.of(tested.fold == number).loss(without)
    found = left_out_loss(rows.likelihood, rows.fold, pool, tested.likelihood, tested.fold)
    assert found == pytest.approx(expected / 60, rel=0.01)
