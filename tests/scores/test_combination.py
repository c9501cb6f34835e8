"""Combinations of tables and estimates, against their formulas one number at a time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb.scores.combination import Combination, completed


@st.composite
def parts(draw):
    """Tables of shape (F, C, rows), estimates of shape (P, C, rows), where these are in effect, and a log prior."""
    shape = draw(st.tuples(*(st.integers(1, 4) for _ in range(4))))
    n_tables, n_estimates, n_classes, n_rows = shape
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    scale = draw(st.sampled_from([1.0, 30.0, 500.0]))  # logs of products of hundreds of probabilities
    tables = -scale * rng.random((n_tables, n_classes, n_rows))
    estimates = -scale * rng.random((n_estimates, n_classes, n_rows))
    in_effect = rng.random((n_estimates, n_rows)) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    return tables, estimates, in_effect, np.log(rng.dirichlet(np.ones(n_classes)))


def plain_sum(tables, log_prior):
    return lambda rows: log_prior[:, np.newaxis] + tables[:, :, rows].sum(axis=0)


def weighted(rng, n_classes, n_tables, n_estimates=None):
    weights = None if n_estimates is None else rng.normal(size=n_estimates)
    return Combination(rng.normal(size=n_classes), rng.normal(size=n_tables), weights)


@given(parts())
@examples(80)
def test_a_mean_is_that_of_the_probabilities_in_effect(case):
    tables, estimates, in_effect, log_prior = case
    _, n_classes, n_rows = tables.shape
    mean = Combination.unweighted(n_classes, len(tables))
    alone = plain_sum(tables, log_prior)
    found = mean.scores(np.empty(0), estimates.copy(), in_effect, alone)
    for c in range(n_classes):
        for row in range(n_rows):
            logs = [estimates[p, c, row] for p in range(len(estimates)) if in_effect[p, row]]
            if logs:
                top = max(logs)
                expected = top + math.log(sum(math.exp(log - top) for log in logs) / len(logs))
            else:
                expected = alone(np.array([row]))[c, 0]
            assert found[c, row] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(parts(), st.integers(0, 100))
@examples(80)
def test_a_weighted_sum_has_stand_ins(case, seed):
    tables, estimates, in_effect, log_prior = case
    n_tables, n_classes, n_rows = tables.shape
    combination = weighted(np.random.default_rng(seed), n_classes, n_tables, len(estimates))
    start = combination.offsets[:, np.newaxis] + np.tensordot(combination.table_weights, tables, axes=1)
    found = combination.scores(start, estimates.copy(), in_effect, plain_sum(tables, log_prior))
    for c in range(n_classes):
        for row in range(n_rows):
            alone = log_prior[c] + sum(tables[f, c, row] for f in range(n_tables))
            expected = combination.offsets[c]
            for f in range(n_tables):
                expected += combination.table_weights[f] * tables[f, c, row]
            for p, weight in enumerate(combination.estimate_weights):
                expected += weight * (estimates[p, c, row] if in_effect[p, row] else alone)
            assert found[c, row] == pytest.approx(expected, rel=1e-10, abs=1e-9)


@given(parts())
@examples(30)
def test_without_estimates_the_sum_is_all(case):
    tables, estimates, in_effect, log_prior = case
    combination = Combination.unweighted(tables.shape[1], len(tables))
    start = plain_sum(tables, log_prior)(slice(None))
    for one in (combination, Combination(combination.offsets, combination.table_weights, np.empty(0))):
        assert_array_equal(one.scores(start, estimates[:0], in_effect[:0], None), start)
    assert_array_equal(combination.offsets, 0)
    assert_array_equal(combination.table_weights, 1)


@given(parts(), st.sampled_from(["mean", "weights", "tables"]), st.integers(0, 100))
@examples(120)
def test_shares_and_the_rest_add_up_to_the_score(case, way, seed):
    tables, estimates, in_effect, log_prior = case
    n_tables, n_classes, _ = tables.shape
    if way == "tables":
        estimates, in_effect = estimates[:0], in_effect[:0]
    rng = np.random.default_rng(seed)
    combination = {
        "mean": Combination.unweighted(n_classes, n_tables),
        "weights": weighted(rng, n_classes, n_tables, len(estimates)),
        "tables": weighted(rng, n_classes, n_tables),
    }[way]
    alone = plain_sum(tables, log_prior)
    start = combination.offsets[:, np.newaxis] + np.tensordot(combination.table_weights, tables, axes=1)
    if way == "tables":
        start += log_prior[:, np.newaxis]
    score = combination.scores(start, estimates.copy(), in_effect, alone)
    full = completed(estimates.copy(), in_effect, alone).transpose(0, 2, 1)  # with classes last, as shares have it
    of_estimates, of_tables, rest = combination.shares(full, in_effect)
    total = (of_estimates * full).sum(axis=0) + (of_tables * tables.transpose(2, 0, 1)).sum(axis=1)
    if way == "mean":
        assert (of_estimates >= 0).all()
        assert (rest <= 1e-12).all()  # an entropy is at most the log of their number
        total += rest + np.where(in_effect.any(axis=0), 0.0, 1.0)[:, np.newaxis] * log_prior
    else:
        assert rest is None
        total += combination.offsets + (log_prior if way == "tables" else 0)
    assert_allclose(total, score.T, rtol=1e-10, atol=1e-8)


def test_completed_changes_what_is_not_in_effect_alone():
    estimates = np.array([[[1.0, 2.0]], [[3.0, 4.0]]])
    in_effect = np.array([[True, False], [True, True]])
    assert_array_equal(completed(estimates, in_effect, lambda rows: 10.0 * rows[np.newaxis]), [[[1, 10]], [[3, 4]]])
    assert_array_equal(estimates, [[[1, 10]], [[3, 4]]])  # in place


@pytest.mark.parametrize(("weights", "expected"), [(None, 1.0), (np.empty(0), 1.0), (np.array([0.5, 0.25, 1.0]), 1.75)])
def test_how_often_the_prior_counts(weights, expected):
    assert Combination(np.zeros(2), np.ones(3), weights).weight_of_prior() == expected
