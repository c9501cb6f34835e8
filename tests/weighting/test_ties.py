"""Where components are very many, those that say least share a weight; where classes are, they have no offsets."""

import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hebnb import AODE, KDB, TAN, InputError, NaiveBayes
from hebnb.weighting import leave_one_out, ties
from hebnb.weighting.log_linear import Likelihood, Pool, Prior, climb, learn
from hebnb.weighting.ties import Ties


def random_likelihood(components=12, classes=3, rows=300, has_offsets=True, seed=0):
    """Components of which every other one says five times as much."""
    rng = np.random.default_rng(seed)
    scores = (
        rng.normal(size=(components, classes - 1, rows))
        * np.where(np.arange(components) % 2, 1.0, 0.2)[:, np.newaxis, np.newaxis]
    )
    return Likelihood(
        scores, rng.normal(size=(classes - 1, rows)), rng.integers(classes, size=rows), np.ones(rows), has_offsets
    )


@pytest.fixture
def few_free():
    with patch.object(ties, "MOST_FREE", 5), patch.object(leave_one_out, "MOST_FREE", 5):
        yield


@pytest.mark.usefixtures("few_free")
def test_those_that_vary_least_are_tied():
    tied = Ties.between(random_likelihood(), Prior((8, 4), (1.0, 0.0), 3))
    alone = np.bincount(tied.of_component) == 1
    assert set(np.flatnonzero(alone[tied.of_component])) <= {1, 3, 5, 7, 9, 11}
    assert alone.sum() == 5
    assert sum(tied.sizes) == len(tied.span) == 7  # one more for the rest of either group
    assert len(set(tied.of_component[:8]) & set(tied.of_component[8:])) == 0


@pytest.mark.usefixtures("few_free")
@pytest.mark.parametrize("precision", [0.5, 20.0])
def test_tied_weights_are_the_best_of_those_that_are_equal(precision):
    """The maximum of the same penalised likelihood, under the condition that tied weights are equal."""
    likelihood, prior = random_likelihood(), Prior((8, 4), (1.0, 0.0), 3)
    tied = Ties.between(likelihood, prior)
    at = climb(tied.likelihood(likelihood), tied.prior(prior), precision, tied.prior(prior).centre).at
    weights = tied.pool(Pool(at[:-3], at[-3:])).weights
    full = np.concatenate([weights, at[-3:]])
    penalty = prior.fixed + precision * prior.straying
    slope = likelihood.derivatives(likelihood.log_proba(full))[0] + penalty @ (full - prior.centre)
    along = np.concatenate([np.bincount(tied.of_component, slope[:-3]), slope[-3:]])
    assert_allclose(along, 0, atol=1e-3)
    start = tied.start(Pool(weights, at[-3:]))
    assert_allclose(start.weights, at[:-3], atol=1e-12)
    assert_allclose(
        tied.prior(prior).centre[:-3] / tied.span, prior.centre[:-3][np.unique(tied.of_component, return_index=True)[1]]
    )


def test_where_nothing_is_tied_the_prior_is_the_same():
    prior = Prior((3, 2), (1.0, 0.25), 2)
    apart = Prior((3, 2), (1.0, 0.25), 2, spans=(np.ones(3), np.ones(2)))
    for part in ("centre", "straying", "fixed"):
        assert_array_equal(getattr(prior, part), getattr(apart, part))


def wide(n_rows=300, n_columns=30, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    X = rng.integers(4, size=(n_rows, n_columns))
    X[:, :4] = np.where(rng.random((n_rows, 4)) < 0.6, y[:, np.newaxis], X[:, :4])
    return X, y


@pytest.mark.usefixtures("few_free")
@pytest.mark.parametrize("model", [NaiveBayes(weighting="loo"), AODE(weighting="loo"), TAN(weighting="loo")], ids=repr)
def test_models_with_tied_weights(model):
    X, y = wide()
    model.fit(X[:200], y[:200])
    weights = model.feature_weights_
    assert len(set(weights.tolist())) <= 6
    assert -np.log(model.predict_proba(X[200:])[np.arange(100), y[200:]]).mean() < np.log(2)
    batches = NaiveBayes(weighting="loo").partial_fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    whole = NaiveBayes(weighting="loo").fit(X[:200], y[:200])
    assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-4)


def test_without_offsets_weights_are_the_best_there_are():
    likelihood, prior = random_likelihood(has_offsets=False), Prior((12,), (1.0,), 3, has_offsets=False)
    pool = learn(likelihood, prior)
    assert_array_equal(pool.offsets, np.zeros(3))
    slope = likelihood.derivatives(likelihood.log_proba(pool.weights))[0]
    penalty = prior.fixed + pool.precision * prior.straying
    assert_allclose(slope + penalty @ (pool.weights - 1), 0, atol=1e-3)
    assert np.isfinite(pool.log_loss)


@pytest.mark.filterwarnings("ignore:The target has:hebnb.TableWarning")
def test_very_many_classes_have_weights_and_no_offsets():
    """18,000 classes: a matrix over all of them would take 2.6 GB, and there were several."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(18_000), rng.integers(18_000, size=2_000)])
    X = np.stack([y % 30, y % 7], axis=1)
    tracemalloc.start()
    model = NaiveBayes(weighting="loo").fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5e9
    assert_array_equal(model.class_offsets_, 0)
    assert np.isfinite(model.predict_proba(X[:5])).all()
    with patch.object(leave_one_out, "MOST_OFFSETS", 2):
        few = NaiveBayes(weighting="loo").fit([["a"], ["b"], ["c"]] * 20, ["x", "y", "z"] * 20)
    assert_array_equal(few.class_offsets_, 0)


@pytest.mark.parametrize("model", [TAN(memory_limit=1e9), KDB(memory_limit=1e9)], ids=repr)
def test_cells_with_very_many_classes_are_refused_before_they_are_made(model):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(18_000), rng.integers(18_000, size=2_000)])
    X = np.stack([rng.integers(100, size=len(y)), rng.integers(90, size=len(y))], axis=1)
    with pytest.raises(InputError, match=r"needs about [\d,]+ MB"):
        model.fit(X, y)
