"""Counts of categories with classes: what counting by hand gives, and that they add."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from conftest import examples
from hebnb import InputError
from hebnb.columns.kinds import Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, read_labels
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.single import Counts, compact, counts_at, dense, nonzero_cells, tabulate

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

# Text with gaps, integers, and numbers cut at 0.5; a class; a weight, whose sums are exact in any order.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]),
        st.integers(0, 5),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from(["no", "yes", "maybe"]),
        st.sampled_from([0.25, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=25,
)
POLICIES = st.sampled_from(["category", "ignore"])


def sparsely(sparse):
    """Tables that are all sparse, or all dense."""
    return patch("hebnb.counts.single._dense_fits", lambda *_: not sparse)


def counted(rows, policy="category", edges=(0.5,)):
    X = np.empty((len(rows), 3), dtype=object)
    X[:] = [row[:3] for row in rows]
    table = read(X)
    reading = ReadingParameters(missing=policy, bin_edges={2: list(edges)}).of(table.names)
    vocabulary = Vocabulary.learn(table, reading)
    labels = read_labels(np.array([row[3] for row in rows], dtype=object))
    weights = np.array([row[4] for row in rows])
    return Counts.of(EncodedRows.of(vocabulary, vocabulary.encode(table), labels, weights))


def as_dict(counts):
    """The weight of every (feature, category, class), and of every class."""
    classes = counts.classes.values.tolist()
    cells = dict(zip(classes, counts.class_count.tolist(), strict=True))
    for f, (kind, table) in enumerate(zip(counts.vocabulary.features, counts.tables, strict=True)):
        for text, line in zip(kind.texts, dense(table).tolist(), strict=True):
            cells |= {(f, text, label): weight for label, weight in zip(classes, line, strict=True)}
    return cells


def slowly(rows, policy="category"):
    """The cells that are not zero."""
    cells = {}
    for *values, label, weight in rows:
        texts = [values[0], str(values[1]), "≤ 0.5" if values[2] <= 0.5 else "> 0.5"]
        cells[label] = cells.get(label, 0) + weight
        for f, text in enumerate(texts):
            if text is not None or policy == "category":
                cells[f, text, label] = cells.get((f, text, label), 0) + weight
    return cells


def some(cells):
    return {key: weight for key, weight in cells.items() if weight}


@given(ROWS, POLICIES, st.booleans())
@examples(60)
def test_counts_are_those_of_counting_by_hand(rows, policy, sparse):
    with sparsely(sparse):
        counts = counted(rows, policy)
        assert isinstance(counts.tables[0], csr_array) == sparse
        assert some(as_dict(counts)) == slowly(rows, policy)
        for f, table in enumerate(counts.tables):
            assert_allclose(counts.marginal[f], dense(table).sum(axis=1))
            assert_allclose(counts.totals[:, f], dense(table).sum(axis=0))
            value, class_, count = nonzero_cells(table)
            again = np.zeros(table.shape)
            again[value, class_] = count
            assert_array_equal(again, dense(table))
            asked = np.arange(table.shape[0] + 1)[::-1]
            assert_array_equal(counts_at(table, asked), np.vstack([dense(table), np.zeros(table.shape[1])])[::-1])
    assert_array_equal(counts.sizes, [kind.size for kind in counts.vocabulary.features])


@given(ROWS, ROWS, POLICIES, st.booleans(), st.booleans())
@examples(80)
def test_a_sum_is_what_counting_both_gives(one, two, policy, sparse, other_sparse):
    with sparsely(sparse):
        ours = counted(one, policy)
    with sparsely(other_sparse):
        theirs = counted(two, policy)
        added = ours + theirs
    assert as_dict(added) == as_dict(counted([*one, *two], policy))


@given(ROWS, ROWS, ROWS, st.booleans())
@examples(60)
def test_the_order_of_sums_does_not_matter(one, two, three, sparse):
    with sparsely(sparse):
        a, b, c = counted(one), counted(two), counted(three)
        expected = as_dict(a + b + c)
        for sum_ in (a + (b + c), c + b + a, b + (c + a)):
            assert as_dict(sum_) == expected


@given(ROWS)
@examples(40)
def test_a_weight_is_a_number_of_rows(rows):
    four = [(*row[:4], 4 * row[4]) for row in rows]  # a whole number
    repeated = [(*row[:4], 1.0) for row in four for _ in range(int(row[4]))]
    assert as_dict(counted(four)) == as_dict(counted(repeated))


@given(ROWS, st.booleans())
@examples(30)
def test_there_is_room_for_classes_that_have_not_occurred(rows, sparse):
    with sparsely(sparse):
        counts = counted(rows)
        wider = counts.with_classes(Categories(np.array(["aha", "never"], dtype=object), False))
    assert wider.classes.values.tolist() == sorted({"aha", "never", *counts.classes.values.tolist()})
    assert some(as_dict(wider)) == some(as_dict(counts))
    assert as_dict(wider + counts) == as_dict(counts.with_classes(wider.classes) + wider)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from([0.5, 1.0])), max_size=30))
@examples(60)
def test_silent_codes_count_nowhere(rows):
    codes, classes, weights = (np.array(part) for part in zip(*rows, strict=True)) if rows else np.zeros((3, 0))
    codes, classes = codes.astype(np.intp), classes.astype(np.intp)
    expected = np.zeros((5, 3))
    np.add.at(expected, (codes, classes), weights)
    for sparse in (False, True):
        with sparsely(sparse):
            assert_array_equal(dense(tabulate(codes, classes, (4, 3), weights)), expected[:4])
            assert_array_equal(dense(tabulate(codes, classes, (4, 3), None)).sum(), (codes < 4).sum())


def test_tables_of_mostly_nothing_are_sparse():
    rng = np.random.default_rng(0)
    codes, classes = rng.integers(2000, size=3000), rng.integers(100, size=3000)
    table = tabulate(codes, classes, (2000, 100), None)
    assert isinstance(table, csr_array)
    full = np.zeros((2000, 100))
    np.add.at(full, (codes, classes), 1)
    assert_array_equal(table.toarray(), full)
    assert isinstance(compact(csr_array(np.ones((2000, 100)))), np.ndarray)
    assert isinstance(compact(full), csr_array)


def test_counts_of_other_columns_do_not_add():
    rows = [("red", 1, 0.0, "no", 1.0)]
    counts = counted(rows)
    vocabulary = Vocabulary(("a", "b", "c"), counts.vocabulary.features, "category")
    other = Counts(counts.classes, counts.class_count, vocabulary, counts.tables)
    with pytest.raises(InputError, match="different columns"):
        _ = counts + other
    with pytest.raises(InputError, match="Column 2: it was read in two different ways"):
        _ = counts + counted(rows, edges=[3.0])


def test_a_part_with_nothing_but_gaps_adds_its_gaps():
    gaps, rest = [(None, 1, None, "no", 1.0)] * 2, [("red", 1, 0.0, "no", 1.0), ("red", 1, None, "yes", 1.0)]
    assert as_dict(counted(gaps) + counted(rest)) == as_dict(counted([*gaps, *rest]))
