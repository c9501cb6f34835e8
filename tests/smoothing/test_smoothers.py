"""Every smoother against its formula, what it asks for, and where its parameters lead."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln
from sklearn.base import clone

from conftest import examples
from hebnb import AODE, HEB, KDB, TAN, Additive, MEstimate, NaiveBayes, ParameterError, Smoother
from hebnb.smoothing.smoothers import SMOOTHERS, concentrations, prior_means, smoother
from hebnb.smoothing.strength import CountLikelihood

# The concentration of a feature of K categories, and the prior mean, of smoothers that learn nothing.
FIXED = {
    "laplace": (lambda size: size, "uniform"),
    "lidstone": (lambda size: 0.1 * size, "uniform"),
    "kt": (lambda size: 0.5 * size, "uniform"),
    "m-estimate": (lambda size: 2.0 + 0 * size, "marginal"),
    "te": (lambda size: 10.0 + 0 * size, "marginal"),
}
LEARNED = {"heb-m": "marginal", "heb-u": "uniform"}
SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=6).map(lambda sizes: np.array(sizes, dtype=float))


def never():
    raise AssertionError("evidence was asked for")


def random_data(seed=0, rows=400, sizes=(2, 5, 40), classes=3):
    """Integer codes that depend on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    columns = [
        np.where(rng.random(rows) < 0.5, (7 * y + f) % k, rng.integers(k, size=rows)) for f, k in enumerate(sizes)
    ]
    return np.stack(columns, axis=1), y


def grid_maximum(counts, mean):
    """The best of many concentrations, by the evidence as it is written in the paper."""
    grid = np.geomspace(1e-2, 1e4, 4001)
    seen = counts > 0
    rising = sum(
        gammaln(n + grid * theta) - gammaln(grid * theta) for n, theta in zip(counts[seen], mean[seen], strict=True)
    )
    return grid[np.argmax(gammaln(grid) - gammaln(counts.sum() + grid) + rising)]


def test_there_is_a_formula_for_every_name():
    assert {*FIXED, *LEARNED} == {*SMOOTHERS}


@given(SIZES, st.sampled_from([*FIXED]))
@examples(60)
def test_fixed_smoothers_follow_their_formula_and_look_at_nothing(sizes, name):
    formula, prior_mean = FIXED[name]
    rule = smoother(name)
    assert rule.prior_mean == prior_mean
    assert not rule.learns
    for shaped in (sizes, sizes[:, np.newaxis]):
        found = rule.concentration(shaped, np.zeros_like(shaped), never)
        assert_allclose(found, formula(shaped))
        assert found.shape == shaped.shape


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("seed", range(3))
def test_learned_concentrations_are_best_on_a_grid(name, seed):
    X, y = random_data(seed)
    counts = NaiveBayes().fit(X, y).counts_
    rule = smoother(name)
    assert rule.learns
    assert rule.prior_mean == LEARNED[name]
    found = concentrations(counts, rule)
    assert found.shape == (3, 3)
    for f, (table, mean) in enumerate(zip(counts.tables, prior_means(counts, rule), strict=True)):
        for c in range(3):
            assert np.log(found[c, f]) == pytest.approx(np.log(grid_maximum(table[:, c], mean)), abs=0.004)


@pytest.mark.parametrize("name", SMOOTHERS)
def test_prior_means_are_distributions(name):
    X, y = random_data()
    counts, rule = NaiveBayes().fit(X, y).counts_, smoother(name)
    for f, mean in enumerate(prior_means(counts, rule)):
        frequencies = np.bincount(X[:, f]) / len(y)
        assert_allclose(mean, np.full(len(mean), 1 / len(mean)) if rule.prior_mean == "uniform" else frequencies)


def test_a_class_with_few_rows_learns_nothing():
    X, y = random_data(3, rows=300)
    y[y == 2] = 1
    y[:9] = 2
    model = NaiveBayes().fit(X, y)
    assert_array_equal(model.concentration_[2], [len(c) for c in model.categories_])
    assert (NaiveBayes(HEB(low_count=0)).fit(X, y).concentration_[2] != model.concentration_[2]).any()
    y[9] = 2  # ten rows are enough
    assert (NaiveBayes().fit(X, y).concentration_[2] != model.concentration_[2]).any()


def test_the_limits_of_the_concentration():
    """m → 0 is the frequency in the class, m → ∞ the pooled one, and m = K with equal means is Laplace."""
    X, y = random_data(6)
    frequencies = [counts / counts.sum(axis=1, keepdims=True) for counts in NaiveBayes().fit(X, y).category_count_]
    small = NaiveBayes(MEstimate(m=1e-12)).fit(X, y)
    large = NaiveBayes(MEstimate(m=1e12)).fit(X, y)
    for f, expected in enumerate(frequencies):
        assert_allclose(np.exp(small.feature_log_prob_[f]), expected, atol=1e-10)
        assert_allclose(np.exp(large.feature_log_prob_[f]), [large.prior_mean_[f]] * 3, atol=1e-8)
    assert_allclose(small.shrinkage_, 0, atol=1e-10)
    assert_allclose(large.shrinkage_, 1, atol=1e-8)
    one_feature = X[:, [1]]
    fixed = HEB(prior_mean="uniform", bounds=(5, 5))
    assert_allclose(
        NaiveBayes(fixed).fit(one_feature, y).predict_proba(one_feature),
        NaiveBayes("laplace").fit(one_feature, y).predict_proba(one_feature),
        rtol=1e-12,
    )


def test_the_papers_vertex_identity():
    """A class whose rows all share one value: m is the lower bound and the error is 2 m (1−θ₁)/(N+m)."""
    X = np.array(["a"] * 30 + ["a", "b", "c"] * 10, dtype=object)[:, np.newaxis]
    y = np.repeat([0, 1], 30)
    model = NaiveBayes().fit(X, y)
    assert model.concentration_[0, 0] == 1e-2
    error = np.abs(np.exp(model.feature_log_prob_[0][0]) - [1, 0, 0]).sum()
    assert error == pytest.approx(2 * 1e-2 * (1 - 40 / 60) / (30 + 1e-2), rel=1e-10)


@given(st.floats(0.01, 50), st.floats(1, 20))
@examples(20)
def test_bounds_hold(low, factor):
    X, y = random_data(1, rows=100)
    for solver in ("exact", "minka"):
        found = NaiveBayes(HEB(solver=solver, bounds=(low, low * factor), low_count=0)).fit(X, y).concentration_
        assert (found >= low * (1 - 1e-12)).all()
        assert (found <= low * factor * (1 + 1e-12)).all()


class Own(Smoother):
    """Remembers what it was asked."""

    prior_mean = "uniform"

    def __init__(self, m=3.0):
        self.m = m

    def concentration(self, sizes, largest, evidence):
        assert sizes.shape == largest.shape
        assert (sizes >= 1).all()
        assert isinstance(evidence(), CountLikelihood)
        return np.full(sizes.shape, self.m)


@pytest.mark.parametrize("make", [NaiveBayes, AODE, TAN, lambda smoothing: KDB(2, smoothing)])
def test_a_smoother_of_ones_own(make):
    X, y = random_data()
    model = make(Own(3.0)).fit(X, y)
    learned = [model.concentration_] if isinstance(model.concentration_, np.ndarray) else model.concentration_
    for m in learned:
        assert_array_equal(m[~np.isnan(m)], 3.0)
    fixed = make(HEB(prior_mean="uniform", bounds=(3, 3), low_count=0)).fit(X, y)
    assert_allclose(model.predict_proba(X), fixed.predict_proba(X), rtol=1e-12)
    assert not np.allclose(
        model.predict_proba(X), clone(model).set_params(smoothing__m=30.0).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        (Additive(0), "alpha=0 must be a positive number"),
        (Additive(np.inf), "alpha=inf"),
        (Additive("1"), "alpha='1'"),
        (MEstimate(-2.0), "m=-2.0 must be a positive number"),
        (MEstimate(np.nan), "m=nan"),
        (HEB(bounds=(2, 1)), "bounds=.* ascending"),
        (HEB(bounds=(0, 1)), "bounds"),
        (HEB(bounds=(1, np.inf)), "bounds"),
        (HEB(bounds=3), "bounds=3"),
        (HEB(bounds="ab"), "bounds='ab'"),
        (HEB(max_iter=0), "max_iter=0"),
        (HEB(max_iter=2.5), "max_iter=2.5"),
        (HEB(low_count=-1), "low_count=-1"),
        (HEB(low_count=np.nan), "low_count=nan"),
        (HEB(solver="newton"), "solver='newton' is not known. Known: 'exact', 'minka'"),
        (HEB(prior_mean="flat"), "prior_mean='flat' is not known"),
    ],
    ids=repr,
)
def test_parameters_that_cannot_be_are_named(rule, complaint):
    with pytest.raises(ParameterError, match=complaint):
        NaiveBayes(rule).fit([["a"], ["b"]], [0, 1])


def test_names():
    assert smoother(Additive(0.3)).alpha == 0.3
    with pytest.raises(ParameterError, match="(?s)smoothing='heb' is not known.*Known: 'heb-m'"):
        smoother("heb")
    with pytest.raises(ParameterError, match="(?s)smoothing='Laplase' is not known.*Did you mean 'laplace'"):
        smoother("Laplase")
    with pytest.raises(ParameterError, match=r"(?s)smoothing=HEB is a class.*HEB\(\)"):
        smoother(HEB)
    with pytest.raises(ParameterError, match="smoothing=None is not known"):
        smoother(None)
