"""Counts of pairs: what counting by hand gives, dense and sparse, and that they add."""

from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from conftest import examples
from hebnb.columns.kinds import Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, read_labels
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.dependence import conditional_mutual_information
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.pairs import Caps, DensePairs, Layout, PairCounts, SparsePairs, held
from hebnb.counts.single import Counts
from hebnb.scores.directed import Directed

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

NO_CAPS = Caps(None, None)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]),
        st.integers(0, 3),
        st.sampled_from(["s", "m", None]),
        st.sampled_from(["no", "yes", "maybe"]),
        st.sampled_from([0.25, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=25,
)
POLICIES = st.sampled_from(["category", "ignore"])


def sparsely(sparse):
    return patch("hebnb.counts.pairs.dense_fits", lambda *_: not sparse)


def encoded(rows, policy="category"):
    X = np.empty((len(rows), 3), dtype=object)
    X[:] = [row[:3] for row in rows]
    table = read(X)
    vocabulary = Vocabulary.learn(table, ReadingParameters(missing=policy).of(table.names))
    labels = read_labels(np.array([row[3] for row in rows], dtype=object))
    return EncodedRows.of(vocabulary, vocabulary.encode(table), labels, np.array([row[4] for row in rows]))


def counted(rows, policy="category", caps=NO_CAPS):
    own = encoded(rows, policy)
    return PairCounts.of_rows(Counts.of(own), own, caps)


def as_dict(counts):
    """The weight of every ((feature, category), (feature, category), class) that met; either feature is the first."""
    texts = [(f, text) for f, kind in enumerate(counts.vocabulary.features) for text in kind.texts]
    cells = counts.pairs.cells()
    found = {}
    for u, v, c, n in zip(cells.first, cells.second, cells.class_, cells.count.tolist(), strict=True):
        assert texts[u][0] < texts[v][0]
        key = texts[u], texts[v], counts.classes.values[c]
        assert key not in found
        found[key] = n
    return {key: n for key, n in found.items() if n}


def slowly(rows, policy="category", pairs=((0, 1), (0, 2), (1, 2))):
    found = {}
    for *values, label, weight in rows:
        texts = [values[0], str(values[1]), values[2]]
        for i, j in pairs:
            if policy == "category" or (texts[i] is not None and texts[j] is not None):
                key = (i, texts[i]), (j, texts[j]), label
                found[key] = found.get(key, 0) + weight
    return found


def square_of(counts):
    """The counts as an array, whatever holds them."""
    shape = counts.classes.size, counts.layout.width, counts.layout.width
    square = np.zeros(shape)
    cells = counts.pairs.cells()
    square[cells.class_, cells.first, cells.second] = cells.count
    return square + square.transpose(0, 2, 1)


@given(ROWS, POLICIES, st.booleans())
@examples(60)
def test_counts_are_those_of_counting_by_hand(rows, policy, sparse):
    with sparsely(sparse):
        counts = counted(rows, policy)
    assert isinstance(counts.pairs, SparsePairs if sparse else DensePairs)
    assert as_dict(counts) == slowly(rows, policy)
    assert counts.n_rows == len(rows)


@given(ROWS, ROWS, POLICIES, st.booleans(), st.booleans(), st.booleans())
@examples(100)
def test_a_sum_is_what_counting_both_gives(one, two, policy, first, second, third):
    with sparsely(first):
        ours = counted(one, policy)
    with sparsely(second):
        theirs = counted(two, policy)
    with sparsely(third):
        added = ours + theirs
    whole = counted([*one, *two], policy)
    assert isinstance(added.pairs, SparsePairs if third else DensePairs)
    assert as_dict(added) == as_dict(whole)
    assert added.n_rows == whole.n_rows
    assert added.vocabulary.sizes.tolist() == whole.vocabulary.sizes.tolist()
    for ours, theirs in zip(added.tables, whole.tables, strict=True):
        assert_array_equal(ours, theirs)


@given(ROWS, ROWS, ROWS, st.booleans())
@examples(40)
def test_the_order_of_sums_does_not_matter(one, two, three, sparse):
    with sparsely(sparse):
        a, b, c = counted(one), counted(two), counted(three)
        expected = as_dict(a + b + c)
        assert as_dict(a + (b + c)) == as_dict(c + b + a) == expected


@given(ROWS, POLICIES)
@examples(60)
def test_what_is_dense_is_what_is_sparse(rows, policy):
    with sparsely(False):
        full = counted(rows, policy)
    with sparsely(True):
        few = counted(rows, policy)
    assert_array_equal(square_of(few), full.pairs.square)
    own = full.layout
    for f in range(len(own.sizes)):
        assert not full.pairs.square[:, own.span(f), own.span(f)].any()
    counted_pairs = NO_CAPS.counted(own.sizes, full.classes.size)
    for fits in (True, False):
        with sparsely(not fits):
            again = held(few.pairs, own, full.classes.size, len(rows), counted_pairs)
        assert isinstance(again, DensePairs) == fits
    for child, parent in permutations(range(3), 2):
        ours, theirs = full.family(child, (parent,)), few.family(child, (parent,))
        assert_array_equal(ours.codes, theirs.codes)
        assert_array_equal(ours.count, theirs.count)


@given(ROWS, POLICIES, st.booleans())
@examples(60)
def test_totals_are_the_rows_in_which_both_are_known(rows, policy, sparse):
    with sparsely(sparse):
        counts = counted(rows, policy)
    directed = Directed.of(counts, ~np.eye(3, dtype=bool))
    assert directed.total.shape == (counts.classes.size, counts.layout.width, 3)
    texts = [(f, text) for f, kind in enumerate(counts.vocabulary.features) for text in kind.texts]
    expected = np.zeros(directed.total.shape)
    for ((i, u), (j, v), label), n in slowly(rows, policy).items():
        c = counts.classes.values.tolist().index(label)
        expected[c, texts.index((i, u)), j] += n
        expected[c, texts.index((j, v)), i] += n
    assert_allclose(directed.total, expected, rtol=1e-12)
    if policy == "category":
        for f, table in enumerate(counts.tables):
            for other in {0, 1, 2} - {f}:
                assert_allclose(directed.total[:, counts.layout.span(f), other], table.T)


@given(ROWS, POLICIES, st.booleans())
@examples(60)
def test_dependence_is_mutual_information_within_classes(rows, policy, sparse):
    """scikit-learn's, of the rows of every class in which both values are known."""
    whole = [(*row[:4], 1.0) for row in rows]
    with sparsely(sparse):
        counts = counted(whole, policy)
    found = conditional_mutual_information(counts)
    codes, labels, sizes = encoded(whole, policy).codes, encoded(whole, policy).labels, counts.vocabulary.sizes
    for i, j in permutations(range(3), 2):
        known = (codes[i] < sizes[i]) & (codes[j] < sizes[j])
        nats = 0.0
        for c in np.unique(labels[known]):
            here = known & (labels == c)
            nats += here.sum() / known.sum() * mutual_info_score(codes[i][here], codes[j][here])
        assert found[i, j] == pytest.approx(nats / np.log(2), abs=1e-10)
    assert_array_equal(np.diag(found), 0)
    assert_allclose(found, found.T, atol=1e-12)


def test_both_ways_of_counting_agree():
    rng = np.random.default_rng(14)
    sizes, rows = (3, 4, 2, 5), 300
    codes = [rng.integers(k + 1, size=rows) for k in sizes]  # the last is silent
    layout, labels = Layout(np.array(sizes)), rng.integers(3, size=rows)
    features = tuple(Categories(np.arange(k), False) for k in sizes)
    vocabulary = Vocabulary(tuple("abcd"), features, "ignore")
    for weights in (None, rng.uniform(0.5, 2, rows)):
        own = EncodedRows(vocabulary, Categories(np.arange(3), False), codes, labels, weights)
        squares = []
        for few in (0, 100):
            with patch("hebnb.counts.pairs._FEW_CATEGORIES", few):
                squares.append(PairCounts.of_rows(Counts.of(own), own, NO_CAPS).pairs.square)
        assert_allclose(*squares, rtol=1e-12)
        with patch("hebnb.counts.pairs._BLOCK", 7), patch("hebnb.counts.pairs._FEW_CATEGORIES", 100):
            assert_allclose(PairCounts.of_rows(Counts.of(own), own, NO_CAPS).pairs.square, squares[0], rtol=1e-12)
    assert layout.width == squares[0].shape[1]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.data())
@examples(40)
def test_a_layout_has_a_place_for_every_value(sizes, data):
    layout = Layout(np.array(sizes))
    rows = data.draw(st.integers(1, 6))
    codes = [np.array(data.draw(st.lists(st.integers(0, k), min_size=rows, max_size=rows))) for k in sizes]
    positions = layout.positions(codes)
    assert layout.width == sum(sizes)
    for f, k in enumerate(sizes):
        assert_array_equal(layout.feature[layout.span(f)], [f] * k)
        line = [*range(layout.width)][layout.span(f)]
        assert positions[f].tolist() == [[*line, layout.width][code] for code in codes[f].tolist()]


@given(ROWS, st.integers(1, 5), st.integers(1, 40))
@examples(40)
def test_pairs_over_the_caps_are_not_counted(rows, categories, cells):
    caps = Caps(categories, cells)
    with sparsely(True):
        counts = counted(rows, caps=caps)
    sizes, n_classes = counts.vocabulary.sizes, counts.classes.size
    used = caps.used(sizes, n_classes)
    for i, j in permutations(range(3), 2):
        assert used[i, j] == (sizes[i] <= categories and sizes[i] * sizes[j] * n_classes <= cells)
    assert not np.diag(used).any()
    pairs = [(i, j) for i in range(3) for j in range(i + 1, 3) if used[i, j] or used[j, i]]
    assert as_dict(counts) == slowly(rows, pairs=pairs)


@given(ROWS, ROWS)
@examples(30)
def test_sums_that_outgrow_a_cap_forget_the_pair(one, two):
    caps = Caps(3, None)
    with sparsely(True):
        added, whole = counted(one, caps=caps) + counted(two, caps=caps), counted([*one, *two], caps=caps)
    assert as_dict(added) == as_dict(whole)


def test_counts_without_pairs_do_not_add_to_those_with():
    rows = [("red", 1, "s", "no", 1.0)]
    with pytest.raises(TypeError):
        _ = counted(rows) + Counts.of(encoded(rows))


@pytest.mark.parametrize("order", [1, -1])
def test_counts_under_other_caps_do_not_add(order):
    rows = [("red", 1, "s", "no", 1.0), ("blue", 2, "m", "yes", 1.0)]
    with sparsely(True):
        parts = [counted(rows, caps=NO_CAPS), counted(rows, caps=Caps(1, None))][::order]
        with pytest.raises(ValueError, match="caps"):
            _ = parts[0] + parts[1]
