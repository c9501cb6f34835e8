"""What rows look up: dense, sparse, by combination or cell by cell, it is the formula's number."""

import math
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from conftest import examples
from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts
from hebnb.counts.single import Counts
from hebnb.scores.build import family_tables, levels, value_tables
from hebnb.scores.lookups import TIE, BlockLookup, DenseLookup, SparseLookup, best_classes, separate, summed
from hebnb.scores.tables import FamilyLookup, ValueTable, every_combination
from hebnb.smoothing.smoothers import SMOOTHERS, smoother

PARENTS = ((1, 2), (), (0,), (2, 0, 1))


def random_rows(seed, sizes=(2, 3, 2, 4), rows=40, classes=3):
    """Codes of which some are silent and some never occur; neighbours depend on each other."""
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(classes, size=rows - classes), np.arange(classes))
    codes = []
    for f, k in enumerate(sizes):
        own = np.where(rng.random(rows) < 0.5, (labels + sum(codes[:f])) % k, rng.integers(k, size=rows))
        codes.append(np.where(rng.random(rows) < 0.15, k, np.where(own == k - 1, 0, own) if f == 3 else own))
    features = tuple(Categories(np.arange(k), False) for k in sizes)
    vocabulary = Vocabulary(tuple("abcd"[: len(sizes)]), features, "ignore")
    weights = rng.choice([0.5, 1.0, 2.0], rows)
    return EncodedRows(vocabulary, Categories(np.arange(classes), False), codes, labels, weights)


def slow_log_probability(rows, child, parents, values, c, means, m):
    """log P(value | class, parents' values), with one parent less where these never met; None where it says nothing.

    ``m`` are the concentrations of class c given no parent, one, …; ``means`` has the prior mean of every value, and
    whether the table with one parent less is the prior where there is one.
    """
    theta, backs_off = means
    value, *above = values
    if value == len(theta) or theta[value] == 0:
        return None
    known = rows.codes[child] < len(theta)
    probability = None
    for level in range(len(parents) + 1):
        sizes = [rows.vocabulary.features[f].size for f in parents[:level]]
        if any(own == size for own, size in zip(above, sizes, strict=False)):
            break
        here = known.copy()
        for f, own in zip(parents[:level], above, strict=False):
            here &= rows.codes[f] == own
        if level and not here.any():
            break
        here &= rows.labels == c
        total, n = rows.weights[here].sum(), rows.weights[here & (rows.codes[child] == value)].sum()
        prior = theta[value] if probability is None or not backs_off else probability
        probability = (n + m[level] * prior) / (total + m[level])
    return math.log(probability)


@st.composite
def value_tables_of_any_kind(draw):
    """Counts, totals, means and concentrations that need not go together."""
    n_values, n_classes = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    count = rng.integers(0, 3, (n_values, n_classes)) * rng.choice([0.5, 1.0], (n_values, n_classes))
    mean = rng.dirichlet(np.ones(n_values)) if n_values else np.empty(0)
    unseen = rng.random(n_values) < 0.3
    mean[unseen], count[unseen] = 0, 0
    kind = Categories(np.arange(n_values), False)
    return ValueTable(0, kind, count, count.sum(axis=0), mean, rng.uniform(0.01, 20, n_classes))


@given(value_tables_of_any_kind(), st.sampled_from([1.0, 0.0, -0.5, 2.5]))
@examples(80)
def test_dense_and_sparse_tables_say_what_the_formula_says(table, weight):
    codes = [np.arange(table.n_cells + 1)]
    expected = np.zeros((table.n_cells + 1, len(table.m)))
    for v in range(table.n_cells):
        for c, m in enumerate(table.m):
            if table.mean[v] > 0:
                share = (table.count[v, c] + m * table.mean[v]) / (table.total[c] + m)
                expected[v, c] = weight * math.log(share)
    sparse = ValueTable(0, table.kind, csr_array(table.count), table.total, table.mean, table.m)
    for own, kind in ((table, DenseLookup), (sparse, SparseLookup)):
        lookup = own.lookup(weight)
        assert isinstance(lookup, kind)
        found = np.full(expected.shape, 7.0)
        lookup.add_to(found, codes)
        assert_allclose(found - 7, expected, atol=1e-12)
        assert_allclose(weight * own.scores(codes), expected, atol=1e-12)
    assert_array_equal(table.silent, [*(table.mean == 0), True])


@pytest.mark.parametrize("name", SMOOTHERS)
@pytest.mark.parametrize("seed", range(3))
def test_tables_of_families_say_what_the_formula_says(name, seed):
    rows, rule = random_rows(seed), smoother(name)
    cells = [FamilyCells.of_rows(f, own, rows) for f, own in enumerate(PARENTS) if own]
    counts = FamilyCounts.of_families(Counts.of(rows), PARENTS, cells)
    sizes = counts.vocabulary.sizes
    tables = family_tables(counts, counts, PARENTS, rule)
    for table, parents in zip(tables, PARENTS, strict=True):
        child = table.columns[0]
        assert table.columns[1:] == parents
        assert [*map(len, (table.concentration, table.families))] == [len(parents) + 1, len(parents)]
        m = np.stack(table.concentration)
        means = table.root.mean, rule.prior.backs_off
        every = list(product(*(range(sizes[f] + 1) for f in table.columns)))
        expected = np.array(
            [
                [slow_log_probability(rows, child, parents, own, c, means, m[:, c]) or 0.0 for c in range(3)]
                for own in every
            ]
        )
        assert_allclose(every_combination(table, sizes), expected, atol=1e-12)
        codes = [np.zeros(len(every), dtype=np.intp)] * 4
        for f, own in zip(table.columns, np.array(every).T, strict=True):
            codes[f] = own
        found = np.zeros((3, *expected.shape))
        table.lookup(0.7).add_to(found[0], codes)
        with patch("hebnb.scores.tables._SMALL_BLOCK", 0), patch("hebnb.scores.tables._SPARSEST_BLOCK", 0):
            by_cell = table.lookup(0.7)
        by_cell.add_to(found[1], codes)
        found[2] = 0.7 * table.scores(codes)
        for own in found:
            assert_allclose(own, 0.7 * expected, atol=1e-12)
        if parents:
            assert isinstance(table.lookup(), BlockLookup)
            assert isinstance(by_cell, FamilyLookup)
        assert ((table.shrinkage(codes) > 0) & (table.shrinkage(codes) <= 1)).all()
    again = family_tables(counts, counts, PARENTS, rule, levels(tables))  # with concentrations that are known
    for ours, theirs in zip(again, tables, strict=True):
        assert_array_equal(every_combination(ours, sizes), every_combination(theirs, sizes))


@pytest.mark.parametrize("name", ["heb-m", "laplace", "te"])
def test_probabilities_of_a_feature_sum_to_one_whatever_its_parents_are(name):
    rows = random_rows(5)
    cells = [FamilyCells.of_rows(f, own, rows) for f, own in enumerate(PARENTS) if own]
    counts = FamilyCounts.of_families(Counts.of(rows), PARENTS, cells)
    for table in family_tables(counts, counts, PARENTS, smoother(name)):
        sizes = counts.vocabulary.sizes[list(table.columns)] + 1
        logs = every_combination(table, counts.vocabulary.sizes).reshape(*sizes, 3)[:-1]
        logs = np.where(table.root.silent[:-1].reshape(-1, *[1] * (logs.ndim - 1)), -np.inf, logs)
        assert_allclose(np.exp(logs).sum(axis=0), 1, rtol=1e-10)


def test_contexts_of_many_parents_are_told_apart():
    """Of 21 parents with 10 categories there are more combinations than 64 bits count."""
    rng = np.random.default_rng(0)
    codes = [rng.integers(10, size=40) for _ in range(22)]
    codes = [np.append(own, own[:20]) for own in codes]
    codes[21][40:] = (codes[21][40:] + 1) % 10  # the last parent alone is another
    features = tuple(Categories(np.arange(10), False) for _ in codes)
    classes = Categories(np.arange(2), False)
    labels = rng.integers(2, size=60)
    rows = EncodedRows(Vocabulary(tuple(range(22)), features, "ignore"), classes, codes, labels, np.ones(60))
    parents = ((*range(1, 22),), *[()] * 21)
    counts = FamilyCounts.of_families(Counts.of(rows), parents, [FamilyCells.of_rows(0, parents[0], rows)])
    for name in ("te", "kt"):
        table, *_ = family_tables(counts, counts, parents, rule := smoother(name))
        asked = [np.append(own[:50], (own[:3] + 1) % 11) for own in codes]
        m, means = np.stack(table.concentration), (table.root.mean, rule.prior.backs_off)
        expected = [
            [slow_log_probability(rows, 0, parents[0], own, c, means, m[:, c]) or 0.0 for c in range(2)]
            for own in np.array(asked).T
        ]
        assert_allclose(table.scores(asked), expected, atol=1e-10)
        found = np.zeros((53, 2))
        table.lookup().add_to(found, asked)
        assert_allclose(found, expected, atol=1e-10)


@given(st.integers(0, 1000), st.sampled_from([1, 3, 1 << 14]))
@examples(30)
def test_a_score_is_the_sum_of_what_tables_add(seed, block):
    rows = random_rows(seed, rows=20)
    tables = value_tables(Counts.of(rows), smoother("heb-m"))
    lookups = [table.lookup(weight) for table, weight in zip(tables, (1.0, 0.3, -1.0, 2.0), strict=True)]
    start = np.array([0.5, -1.0, 2.0])
    apart = separate(lookups, rows.codes, 3)
    assert apart.shape == (20, 4, 3)
    with patch("hebnb.scores.lookups._BLOCK", block):
        assert_allclose(summed(start, lookups, rows.codes), start + apart.sum(axis=1), rtol=1e-12)
    assert_array_equal(summed(start, [], rows.codes), np.tile(start, (20, 1)))


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1e-13, -1e-13, 1e-9, -1.0, -700.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=10,
    )
)
@examples(60)
def test_of_equal_classes_the_first_is_best(scores):
    for row, best in zip(scores, best_classes(np.array(scores)), strict=True):
        assert row[best] >= max(row) - TIE
        assert all(score < max(row) - TIE for score in row[:best])


def test_an_impossible_class_is_never_best():
    assert best_classes(np.array([[-np.inf, -3.0], [-2.0, -np.inf]])).tolist() == [1, 0]
