"""Prior means, and the one formula that mixes them with counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb import HEB, NaiveBayes, ParameterError, Smoother
from hebnb.smoothing.posterior import class_log_prior, posterior_mean
from hebnb.smoothing.priors import PRIOR_MEANS, Marginal, Uniform

COUNTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=8).map(np.array)


@given(COUNTS)
@examples(60)
def test_means_are_those_of_their_definitions(counts):
    total, size = counts.sum(), len(counts)
    assert_allclose(Uniform().of_value(counts, total, size), np.full(size, 1 / size))
    if total > 1e-300:
        assert_allclose(Marginal().of_value(counts, total, size), counts / total)
    for rule in PRIOR_MEANS.values():
        mean = rule.of_value(counts, total, size)
        assert mean.shape == counts.shape
        assert (mean >= 0).all()
        if total > 1e-300 or rule is PRIOR_MEANS["uniform"]:
            assert mean.sum() == pytest.approx(1)
        # Of some of the values: the others do not matter.
        assert_allclose(rule.of_value(counts[:1], total, size), mean[:1])


def test_a_feature_without_rows_has_no_mean_and_gives_no_warning():
    nothing = np.zeros(3)
    assert_array_equal(Marginal().of_value(nothing, 0.0, 3), [0, 0, 0])
    assert_allclose(Uniform().of_value(nothing, 0.0, 3), [1 / 3] * 3)
    assert Uniform().of_value(np.empty(0), 0.0, 0).shape == (0,)


def test_means_of_many_features_at_once():
    counts, totals, sizes = np.array([[3.0, 1.0], [5.0, 0.0]]), np.array([[4.0], [10.0]]), np.array([[2], [4]])
    assert_allclose(Marginal().of_value(counts, totals, sizes), [[3 / 4, 1 / 4], [1 / 2, 0]])
    assert_allclose(Uniform().of_value(counts, totals, sizes), [[1 / 2, 1 / 2], [1 / 4, 1 / 4]])


def test_who_backs_off():
    assert PRIOR_MEANS["marginal"].backs_off
    assert not PRIOR_MEANS["uniform"].backs_off


class Own(Smoother):
    prior_mean = "marginl"

    def concentration(self, sizes, largest, evidence):
        return sizes


@pytest.mark.parametrize("rule", [HEB(prior_mean="marginl"), Own()])
def test_a_prior_mean_that_is_not_known_is_named(rule):
    complaint = "(?s)prior_mean='marginl' is not known.*Did you mean 'marginal'"
    with pytest.raises(ParameterError, match=complaint):
        _ = rule.prior
    with pytest.raises(ParameterError, match=complaint):
        NaiveBayes(rule).fit([["a"], ["b"]], [0, 1])


@given(COUNTS, st.floats(1e-3, 1e6), st.data())
@examples(80)
def test_the_posterior_mean_lies_between_frequency_and_prior(counts, m, data):
    weights = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=len(counts), max_size=len(counts))))
    mean, total = weights / weights.sum(), counts.sum()
    probability = posterior_mean(counts, total, mean, m)
    assert probability.sum() == pytest.approx(1)
    share = m / (total + m)
    frequency = counts / total if total > 1e-300 else mean
    assert_allclose(probability, (1 - share) * frequency + share * mean, rtol=1e-9, atol=1e-12)
    # m = 0 is data alone; a strong prior is the prior alone.
    if total > 1e-300:
        assert_allclose(posterior_mean(counts, total, mean, 0.0), frequency)
    assert_allclose(posterior_mean(counts, total, mean, 1e16 * max(total, 1.0)), mean, atol=1e-12)
    out = np.empty_like(counts)
    assert posterior_mean(counts, total, mean, m, out=out) is out
    assert_array_equal(out, probability)


@given(COUNTS)
@examples(30)
def test_the_class_prior_has_one_imaginary_row_a_class(counts):
    proba = np.exp(class_log_prior(counts))
    assert_allclose(proba, (counts + 1) / (counts.sum() + len(counts)))
    assert proba.sum() == pytest.approx(1)
