"""Strengths against grids and SciPy's optimisers, and against what noise should come to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from conftest import examples
from hebnb.evidence.leaving import AlikeRows, Units
from hebnb.evidence.strength import SILENT, STRONGEST, WEAKEST, of_categories, of_rows

GRID = np.geomspace(WEAKEST, STRONGEST, 401)


def units_of(left):
    at = np.arange(left.shape[1])
    return Units(at, at, at, left)


def rows_likelihood(k, left, labels, weights, prior):
    """Of rows in cells, each given the others there; a cell without others tells nothing of k. One for every k.

    One more row stands in a cell with one other row, of another class.
    """
    k = np.atleast_1d(k)
    total = np.log(k / (1 + k))
    for u, (c, weight) in enumerate(zip(labels, weights, strict=True)):
        if left[:, u].sum() > 0:
            total += weight * np.log((left[c, u] + k * prior[c, u]) / (left[:, u].sum() + k))
    return total


@st.composite
def left_out_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes, n_units = draw(st.integers(2, 3)), draw(st.integers(1, 25))
    prior = rng.dirichlet(np.full(n_classes, rng.choice([1.0, 5.0])), size=n_units).T
    strength = 10 ** rng.uniform(-1, 3)
    rate = np.stack([rng.dirichlet(strength * own + 1e-6) for own in prior.T], axis=1)
    left = np.stack(
        [rng.multinomial(n, own) for n, own in zip(rng.integers(60, size=n_units), rate.T, strict=True)], axis=1
    )
    labels = np.array([rng.choice(n_classes, p=own) for own in rate.T])
    weights = rng.integers(1, 30, size=n_units).astype(float)
    return left.astype(float), labels, weights, prior


@examples(50)
@given(left_out_rows())
def test_the_strength_of_rows_is_a_maximum(case):
    left, labels, weights, prior = case
    found = of_rows(units_of(left), labels, weights, prior, errors=0.0)
    if not left.any():
        assert found == SILENT
        return
    assert WEAKEST * (1 - 1e-9) <= found <= STRONGEST * (1 + 1e-9)
    reached = rows_likelihood(found, left, labels, weights, prior)
    # No neighbour is better, however near; and where the likelihood has one peak, nothing else is.
    for near in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0):
        there = np.clip(found * near, WEAKEST, STRONGEST)
        assert rows_likelihood(there, left, labels, weights, prior) <= reached + 1e-9
    values = rows_likelihood(GRID, left, labels, weights, prior)
    signs = np.sign(np.round(np.diff(values), 9))
    signs = signs[signs != 0]
    if (np.diff(signs) <= 0).all():
        assert values.max() <= reached + 1e-8


def test_one_peak_is_found_to_many_digits():
    rng = np.random.default_rng(0)
    rate = rng.beta(3, 3, size=400)  # of strength 6 around one half
    ones = rng.binomial(9, rate).astype(float)
    left, labels = np.stack([9 - ones, ones]), (rng.random(400) < rate).astype(int)
    prior, weights = np.full((2, 400), 0.5), np.ones(400)
    found = of_rows(units_of(left), labels, weights, prior, errors=1.0)
    best = minimize_scalar(
        lambda log_k: -rows_likelihood(np.exp(log_k), left, labels, weights, prior)[0],
        bounds=(np.log(WEAKEST), np.log(STRONGEST)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert found == pytest.approx(np.exp(best.x), rel=1e-6)
    assert 3 < found < 12


@pytest.mark.parametrize("rows", [5, 50, 500])
def test_a_cell_of_one_class_keeps_a_prior(rows):
    """One cell cannot show that others will be of one class too: a row that differs is not ruled out."""
    left, prior = np.array([[rows - 1.0], [0.0]]), np.array([[0.9], [0.1]])
    (found,) = of_rows(units_of(left), np.array([0]), np.array([float(rows)]), prior, errors=0.0)
    assert 1 < found < 10  # near where 1/(1 + k) is 0.1 k
    many = np.repeat(left, 200, axis=1), np.zeros(200, dtype=int), np.full(200, float(rows)), np.repeat(prior, 200, 1)
    assert of_rows(units_of(many[0]), *many[1:], errors=0.0)[0] < found / 5  # two hundred can


def test_rows_alone_in_their_cells_say_nothing():
    left = np.zeros((2, 5))
    assert of_rows(units_of(left), np.array([0, 1, 0, 1, 1]), np.ones(5), np.full((2, 5), 0.5), errors=0.0) == SILENT


def noise(seed, n_rows, n_cells, n_classes=2):
    """Units of rows that are left out one by one, whose cells have nothing to do with their classes."""
    rng = np.random.default_rng(seed)
    cell, labels = rng.integers(n_cells, size=n_rows), rng.integers(n_classes, size=n_rows)
    count = np.zeros((n_classes, n_cells + 1))
    np.add.at(count, (labels, cell), 1.0)
    leaving = AlikeRows(labels, np.bincount(labels, minlength=n_classes).astype(float))
    units = leaving.units(cell, count)
    weights = np.bincount(units.of_row).astype(float)
    return units, labels[units.first], weights, np.exp(leaving.log_prior(units.first))


@pytest.mark.parametrize(("n_cells", "n_classes"), [(2, 2), (8, 2), (50, 3)])
def test_a_level_of_noise_is_mostly_silent(n_cells, n_classes):
    """A gain of one standard error happens by chance in about a sixth of the cases."""
    found = [of_rows(*noise(seed, 500, n_cells, n_classes), errors=1.0) for seed in range(60)]
    assert np.mean(np.array(found) == SILENT) > 0.75
    # Without that condition a strength is always given, and mostly a large one.
    loose = np.array([of_rows(*noise(seed, 500, n_cells, n_classes), errors=0.0) for seed in range(60)])
    assert (loose < SILENT).all()
    assert np.median(loose) > 100


def test_a_level_that_tells_is_not_silent():
    rng = np.random.default_rng(1)
    cell = rng.integers(10, size=500)
    labels = (rng.random(500) < np.where(cell % 2, 0.7, 0.3)).astype(int)
    count = np.zeros((2, 11))
    np.add.at(count, (labels, cell), 1.0)
    leaving = AlikeRows(labels, np.bincount(labels, minlength=2).astype(float))
    units = leaving.units(cell, count)
    prior = np.exp(leaving.log_prior(units.first))
    found = of_rows(units, labels[units.first], np.bincount(units.of_row).astype(float), prior, errors=1.0)
    assert WEAKEST < found < 100


def power_of_two(total):
    return int(np.floor(np.log2(total))) if total >= 1 else 0


def type_two(k, documents, means):
    """The Dirichlet-multinomial likelihood of documents, each with its own prior mean. One for every k."""
    k, total = np.atleast_1d(k), 0.0
    for n, mean in zip(documents, means, strict=True):
        total += gammaln(k) - gammaln(n.sum() + k)
        for own, theta in zip(n, mean, strict=True):
            total += gammaln(own + k * theta) - gammaln(k * theta)
    return total


def categories(seed, n_categories, strength, n_classes):
    """Counts of categories, frequent and rare ones."""
    rng = np.random.default_rng(seed)
    rate = rng.dirichlet(np.full(n_classes, strength / n_classes), size=n_categories)
    total = (2 ** rng.uniform(0, 7, size=n_categories)).astype(int)
    return np.stack([rng.multinomial(n, own) for n, own in zip(total, rate, strict=True)], axis=1).astype(float)


@pytest.mark.parametrize("seed", range(8))
def test_strengths_of_categories_are_those_of_greatest_evidence(seed):
    count = categories(seed, 60, strength=(0.5, 4.0, 40.0, 1e4)[seed % 4], n_classes=2 + seed % 2)
    class_count = count.sum(axis=1) + seed  # rows without a value count for the classes
    prior = (class_count + 1) / (class_count.sum() + len(class_count))
    of_buckets, of_values = of_categories(count, class_count)

    total = count.sum(axis=0)
    place = np.array([power_of_two(n) for n in total])
    buckets = [count[:, place == own].sum(axis=1) for own in np.unique(place)]
    best = type_two(GRID[GRID <= 1e4], buckets, [prior] * len(buckets)).max()
    assert 1e-2 <= of_buckets <= 1e4
    assert type_two(of_buckets, buckets, [prior] * len(buckets)) >= best - 1e-7

    means = []
    for v in range(count.shape[1]):
        others = count[:, (place == place[v]) & (np.arange(len(place)) != v)].sum(axis=1)
        means.append((others + of_buckets * prior) / (others.sum() + of_buckets))
    best = type_two(GRID, count.T, means).max()
    assert WEAKEST <= of_values <= STRONGEST
    assert type_two(of_values, count.T, means) >= best - 1e-6


def test_the_strength_that_made_categories_is_found_again():
    found = [of_categories(own, own.sum(axis=1))[1] for own in (categories(s, 800, 10.0, 2) for s in range(5))]
    assert np.exp(np.mean(np.log(found))) == pytest.approx(10, rel=0.25)


def test_categories_without_rows_do_not_matter():
    count = categories(3, 30, 4.0, 2)
    wider = np.hstack([count, np.zeros((2, 5))])
    assert of_categories(wider, count.sum(axis=1)) == of_categories(count, count.sum(axis=1))


def test_no_categories_at_all():
    assert of_categories(np.zeros((2, 3)), np.array([4.0, 5.0])) == (1e4, STRONGEST)
