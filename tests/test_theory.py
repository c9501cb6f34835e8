"""Every bound of the paper, by simulation or as an identity."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebnb import HEB, NaiveBayes, theory
from hebnb.smoothing.strength import CountLikelihood, Terms, maximize


def heb_estimate(counts, mean, bounds=(1e-2, 1e4)):
    """The learned posterior mean of one class, and its concentration."""
    seen = np.flatnonzero(counts)
    evidence = CountLikelihood(
        Terms(np.zeros(len(seen), dtype=int), mean[seen], counts[seen].astype(float), np.ones(len(seen)), 1),
        Terms(np.zeros(1, dtype=int), np.ones(1), np.array([float(counts.sum())]), np.ones(1), 1),
    )
    m = maximize(evidence, bounds)[0]
    return (counts + m * mean) / (counts.sum() + m), m


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize(("k", "n"), [(10, 50), (100, 50), (500, 200)])
def test_expected_errors_stay_below_the_bounds_of_theorem_1(alpha, k, n):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(k, alpha))
    mean = np.full(k, 1 / k)
    heb, laplace, shares = [], [], []
    for _ in range(200):
        counts = rng.multinomial(n, p)
        estimate, m = heb_estimate(counts, mean)
        heb.append(np.abs(estimate - p).sum())
        shares.append(m / (n + m))
        laplace.append(np.abs((counts + 1) / (n + k) - p).sum())
    bound = theory.heb_l1_bound(n, k, np.mean(shares), np.abs(mean - p).sum())
    assert np.mean(heb) <= bound
    assert np.mean(laplace) <= theory.laplace_l1_bound(n, k)


@given(n=st.integers(1, 10_000), k=st.integers(2, 10_000))
def test_laplace_at_the_vertex_exactly(n, k):
    estimate = np.full(k, 1 / (n + k))
    estimate[0] = (n + 1) / (n + k)
    error = np.abs(estimate - np.eye(1, k)[0]).sum()
    assert float(theory.laplace_vertex_error(n, k)) == pytest.approx(error)
    assert theory.laplace_l1_bound(n, k) >= error


@given(n=st.integers(10, 5000), k=st.integers(2, 300), weight=st.floats(0.01, 0.99))
def test_separation_at_the_vertex_exactly(n, k, weight):
    mean = np.full(k, (1 - weight) / (k - 1))
    mean[0] = weight
    counts = np.eye(1, k)[0] * n
    estimate, m = heb_estimate(counts, mean)
    assert m == 1e-2
    error = np.abs(estimate - np.eye(1, k)[0]).sum()
    assert float(theory.heb_vertex_error(n, m, weight)) == pytest.approx(error, rel=1e-9)
    gap = theory.strict_separation_gap(n, k, weight)
    assert gap == pytest.approx(float(theory.laplace_vertex_error(n, k)) - error, rel=1e-9)
    assert gap > 0


@pytest.mark.parametrize("floor", [0.05, 0.5])
def test_laplace_near_the_vertex(floor):
    n, k = 40, 60
    rng = np.random.default_rng(0)
    p = np.full(k, floor / k)
    p[0] = 1 - floor * (k - 1) / k
    errors = np.abs((rng.multinomial(n, p, size=4000) + 1) / (n + k) - p).sum(axis=1)
    standard_error = errors.std() / np.sqrt(len(errors))
    assert errors.mean() >= theory.laplace_near_vertex_bound(n, k, floor) - 4 * standard_error
    bias = np.abs((n * p + 1) / (n + k) - p).sum()
    assert float(theory.laplace_near_vertex_bound(n, k, floor)) == pytest.approx(bias)


@given(seed=st.integers(0, 10_000), high=st.floats(1, 1e4))
def test_shrinkage_never_exceeds_the_lemma(seed, high):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(30, size=(60, 1)), np.repeat([0, 1], 30)
    model = NaiveBayes(HEB(bounds=(1e-2, high))).fit(X, y)
    assert (model.shrinkage_ <= theory.shrinkage_bound(model.class_count_, high)[:, np.newaxis] + 1e-12).all()
    assert (theory.shrinkage_bound(model.class_count_, high) <= high / model.class_count_).all()


class Population:
    """A naive Bayes distribution small enough to enumerate, and the classifier learned from a sample of it."""

    def __init__(self, seed, rows=60, sizes=(3, 4)):
        rng = np.random.default_rng(seed)
        self.prior = rng.dirichlet([3, 3])
        self.tables = [rng.dirichlet(np.ones(k), size=2) for k in sizes]
        y = np.append(rng.choice(2, size=rows, p=self.prior), [0, 1])
        X = np.stack([[rng.choice(table.shape[1], p=table[c]) for c in y] for table in self.tables], axis=1)
        X = np.concatenate([X, [[v % k for k in sizes] for v in range(max(sizes))]])  # every value is known
        y = np.append(y, np.arange(max(sizes)) % 2)
        self.model = NaiveBayes().fit(X, y)
        self.points = np.array(list(itertools.product(*map(range, sizes))))
        self.joint = self.prior * np.prod(
            [table[:, column].T for table, column in zip(self.tables, self.points.T, strict=True)], axis=0
        )
        self.evidence = self.joint.sum(axis=1)
        self.l1 = np.stack(
            [
                np.abs(np.exp(mine) - true).sum(axis=1)
                for mine, true in zip(self.model.feature_log_prob_, self.tables, strict=True)
            ],
            axis=1,
        )
        self.estimated_prior = np.exp(self.model.class_log_prior_)
        self.prior_error = np.abs(self.estimated_prior - self.prior).sum()


@pytest.mark.parametrize("seed", range(30))
def test_excess_risk_stays_below_corollary_2(seed):
    population = Population(seed)
    chosen = population.model.predict_joint_log_proba(population.points).argmax(axis=1)
    risk = 1 - population.joint[np.arange(len(chosen)), chosen].sum()
    bayes = 1 - population.joint.max(axis=1).sum()
    bound = theory.excess_risk_bound(population.prior_error, population.l1, population.estimated_prior)
    assert 0 <= risk - bayes + 1e-12 <= bound + 1e-12
    from_true_prior = theory.excess_risk_bound(population.prior_error, population.l1, population.prior)
    assert bound <= from_true_prior + 2 * population.l1.shape[1] * population.prior_error


@pytest.mark.parametrize("seed", range(30))
def test_calibration_error_stays_below_theorem_3(seed):
    population = Population(seed)
    estimate = population.model.predict_proba(population.points)
    truth = population.joint / population.evidence[:, np.newaxis]
    top = estimate.argmax(axis=1)
    confidence = estimate.max(axis=1)
    error = 0.0
    for value in np.unique(confidence):
        here = confidence == value
        accuracy = np.average(truth[here, top[here]], weights=population.evidence[here])
        error += population.evidence[here].sum() * abs(value - accuracy)
    universal = theory.top1_ece_bound(estimate, truth, population.evidence)
    assert error <= universal
    from_tables = theory.top1_ece_evidence_bound(
        population.prior_error, population.l1, population.prior, 1 / population.evidence.min()
    )
    assert universal <= from_tables


def test_the_bounds_of_theorem_1_by_hand():
    assert float(theory.laplace_l1_bound(25, 26)) == pytest.approx(1 + 50 / 51)
    assert float(theory.heb_l1_bound(25, 26, 0.5, 0.1)) == pytest.approx(1.05)


def test_bad_arguments():
    with pytest.raises(ValueError, match="n must be positive"):
        theory.laplace_vertex_error(0, 2)
    with pytest.raises(ValueError, match="class_prior"):
        theory.excess_risk_bound(0, [[1, 2]], [0.5, 0.5])
