"""The evidence against slow references and finite differences; the solver against grids and the paper's iteration."""

from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from hebnb.smoothing.strength import CountLikelihood, Terms, delta, fixed_point, maximize, merge_cells

LOW, HIGH = BOUNDS = (1e-2, 1e4)
GRID = np.geomspace(LOW, HIGH, 601)


def evidence_of(problems):
    """CountLikelihood of problems given as (documents, mean): documents of shape (D, K), mean of shape (K,)."""
    cells, totals = [], []
    for p, (documents, mean) in enumerate(problems):
        for document in np.atleast_2d(documents):
            cells += [(p, theta, n) for theta, n in zip(mean, document, strict=True) if n > 0]
            totals += [(p, 1.0, document.sum())] if document.sum() > 0 else []

    def terms(rows):
        problem, mean, count = map(np.array, zip(*rows, strict=True))
        return Terms(problem, mean, count.astype(float), np.ones(len(rows)), len(problems))

    return CountLikelihood(terms(cells), terms(totals))


def reference_log_likelihood(documents, mean, m):
    """Equation 5 of the paper, one document and one category at a time."""
    total = 0.0
    for document in np.atleast_2d(documents):
        total += gammaln(m) - gammaln(document.sum() + m)
        for n, theta in zip(document, mean, strict=True):
            if n > 0:
                total += gammaln(n + m * theta) - gammaln(m * theta)
    return total


def random_problems(seed, how_many, documents=1):
    """Counts of one class, whose prior mean pools them with another's, over a wide range of sizes and strengths."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        size = int(rng.choice([2, 5, 20, 200]))
        strength = 10 ** rng.uniform(-1.5, 3.7)
        base = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 5.0])))
        shape = rng.dirichlet(np.maximum(strength * base, 1e-9), size=documents + 1)
        rows = (10 ** rng.uniform(1.2, 4, size=documents + 1)).astype(int)
        counts = np.array([rng.multinomial(n, p) for n, p in zip(rows, shape, strict=True)])
        yield counts[:-1].astype(float), counts.sum(axis=0) / counts.sum()


PROBLEMS = [*random_problems(0, 400), *random_problems(1, 60, documents=7)]


@given(
    n=st.floats(1e-3, 1e6) | st.integers(1, 10_000).map(float),
    a=st.floats(1e-8, 1e4),
)
def test_delta_is_accurate_everywhere(n, a):
    first, second = delta(np.array([n]), np.array([a]))
    with mpmath.workdps(40):
        exact = mpmath.digamma(mpmath.mpf(n) + a) - mpmath.digamma(a)
        exact_slope = mpmath.psi(1, mpmath.mpf(n) + a) - mpmath.psi(1, a)
    assert float(first[0]) == pytest.approx(float(exact), rel=1e-11)
    assert float(second[0]) == pytest.approx(float(exact_slope), rel=1e-10)


def test_log_likelihood_is_the_papers():
    evidence = evidence_of(PROBLEMS)
    for m in (0.01, 0.7, 30.0, 1e4):
        expected = [reference_log_likelihood(documents, mean, m) for documents, mean in PROBLEMS]
        np.testing.assert_allclose(evidence.log_likelihood(np.full(len(PROBLEMS), m)), expected, rtol=1e-12, atol=1e-7)


@pytest.mark.parametrize("m", [0.05, 1.0, 40.0, 3000.0])
def test_score_and_hessian_are_derivatives(m):
    evidence = evidence_of(PROBLEMS[:100])
    at = np.full(100, m)
    step = 1e-4 * m
    above, below = at + step, at - step
    slope = (evidence.log_likelihood(above) - evidence.log_likelihood(below)) / (2 * step)
    bend = (evidence.score(above) - evidence.score(below)) / (2 * step)
    # Each problem has its own scale: the size of the two sums whose difference the derivative is.
    sums = [
        np.abs(cells) + np.abs(totals)
        for cells, totals in zip(evidence.cells.slopes(at), evidence.totals.slopes(at), strict=True)
    ]
    assert (np.abs(evidence.score(at) - slope) <= 1e-7 * sums[0]).all()
    assert (np.abs(evidence.hessian(at) - bend) <= 1e-7 * sums[1]).all()


def test_maximum_beats_grid_and_fixed_point_on_every_problem():
    evidence = evidence_of(PROBLEMS)
    best = maximize(evidence, BOUNDS)
    assert ((best >= LOW) & (best <= HIGH)).all()
    reached = evidence.log_likelihood(best)
    rounding = 1e-11 * np.abs(evidence.totals.log_rising(best))
    rivals = [np.full(len(PROBLEMS), m) for m in GRID] + [
        fixed_point(evidence, BOUNDS, steps) for steps in (5, 50, 500)
    ]
    for rival in rivals:
        assert (reached >= evidence.log_likelihood(rival) - rounding).all()
    # The problems are of every kind: both bounds are reached, and most maxima lie inside.
    assert (best == LOW).sum() >= 20
    assert (best == HIGH).sum() >= 20
    inside = (best > LOW) & (best < HIGH)
    assert inside.sum() >= 200
    np.testing.assert_allclose(evidence.score(best)[inside] / evidence.totals.slopes(best)[0][inside], 0, atol=1e-11)


@given(n=st.integers(2, 10_000), mean=st.floats(1e-6, 0.999))
def test_one_category_has_all_rows(n, mean):
    """The vertex of the paper: the evidence falls with m, so the lower bound is the answer."""
    evidence = evidence_of([([[n, 0]], [mean, 1 - mean])])
    assert maximize(evidence, BOUNDS) == [LOW]


def test_classes_that_agree_pool_completely():
    mean = np.array([0.5, 0.3, 0.2])
    evidence = evidence_of([(100 * mean, mean)])
    assert maximize(evidence, BOUNDS) == [HIGH]


def test_evidence_that_does_not_depend_on_m_is_pooled():
    constant = evidence_of([([[25.0]], [1.0])])
    assert maximize(constant, BOUNDS) == [HIGH]
    # One row a document says nothing either, and neither does a single row.
    for documents in ([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]):
        assert maximize(evidence_of([(documents, [0.3, 0.7])]), BOUNDS) == [HIGH]
    nothing = CountLikelihood(*(Terms(np.array([], dtype=int), *(np.array([]),) * 3, 2),) * 2)
    np.testing.assert_array_equal(maximize(nothing, BOUNDS), [HIGH, HIGH])
    np.testing.assert_array_equal(fixed_point(nothing, BOUNDS), [1, 1])


def test_less_than_a_row_favours_pooling():
    """Fractional counts below one: θΔ(n, mθ) > Δ(n, m), so the score is positive everywhere."""
    assert maximize(evidence_of([([[0.5, 0.0]], [0.3, 0.7])]), BOUNDS) == [HIGH]


def test_fixed_point_is_minkas_update():
    documents, mean = PROBLEMS[3]
    evidence = evidence_of([(documents, mean)])
    m = 1.0
    for _ in range(3):
        top = bottom = mpmath.mpf(0)
        for n, theta in zip(documents[0], mean, strict=True):
            top += theta * (mpmath.digamma(n + m * theta) - mpmath.digamma(m * theta)) if theta else 0
        bottom = (mpmath.digamma(documents.sum() + m) - mpmath.digamma(m)) / m
        m = float(top / bottom)
    assert fixed_point(evidence, BOUNDS, max_iter=3)[0] == pytest.approx(m, rel=1e-12)


@pytest.mark.parametrize(("solve", "rtol"), [(maximize, 1e-9), (fixed_point, 1e-12)])
def test_problems_do_not_disturb_each_other(solve, rtol):
    together = solve(evidence_of(PROBLEMS[:50]), BOUNDS)
    alone = [solve(evidence_of([problem]), BOUNDS)[0] for problem in PROBLEMS[:50]]
    np.testing.assert_allclose(together, alone, rtol=rtol)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=60),
    st.sampled_from([1.0, 0.5]),
)
def test_merging_changes_no_sum(cells, unit):
    """Whole counts are merged and fractional ones are not; either way the evidence is the same."""
    problem, count, extra = map(np.array, zip(*cells, strict=True))
    pooled, count = unit * (count + extra), unit * count
    with patch("hebnb.smoothing.strength._WORTH_MERGING", 1):
        merged = merge_cells(problem, pooled, count)
    m = np.array([0.3, 2.0, 50.0, 700.0])
    before = Terms(problem, pooled / 10, count, np.ones(len(cells)), 4)
    after = Terms(merged[0], merged[1] / 10, merged[2], merged[3], 4)
    np.testing.assert_allclose(after.log_rising(m), before.log_rising(m), rtol=1e-12)
    for ours, theirs in zip(after.slopes(m), before.slopes(m), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    if unit == 1:
        assert len(merged[0]) == len(set(map(tuple, np.stack([problem, pooled, count], axis=1).tolist())))


def test_merged_cells_do_not_grow_with_the_number_of_categories():
    rng = np.random.default_rng(0)

    def merged(categories):
        counts = np.bincount(rng.integers(categories, size=20_000), minlength=categories)
        counts = counts[counts > 0].astype(float)
        return len(merge_cells(np.zeros(len(counts), dtype=int), counts, counts)[0])

    assert merged(40_000) < merged(10_000) < 40


def test_numbers_too_large_to_pack_are_left_apart():
    many = np.zeros(2000, dtype=int)
    assert len(merge_cells(many, np.full(2000, 2.0**20), np.full(2000, 2.0**20))[0]) == 1
    assert len(merge_cells(many, np.full(2000, 2.0**40), np.full(2000, 2.0**40))[0]) == 2000
