"""Counts of families: what counting by hand gives, that they add, and that parents can be left out."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb import InputError
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, read_labels
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", None]),
        st.integers(0, 3),
        st.sampled_from(["s", "m", None]),
        st.sampled_from(["no", "yes", "maybe"]),
        st.sampled_from([0.25, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=25,
)
POLICIES = st.sampled_from(["category", "ignore"])
PARENTS = ((1, 2), (), (0, 1))


def encoded(rows, policy="category"):
    X = np.empty((len(rows), 3), dtype=object)
    X[:] = [row[:3] for row in rows]
    table = read(X)
    vocabulary = Vocabulary.learn(table, ReadingParameters(missing=policy).of(table.names))
    labels = read_labels(np.array([row[3] for row in rows], dtype=object))
    return EncodedRows.of(vocabulary, vocabulary.encode(table), labels, np.array([row[4] for row in rows]))


def counted(rows, policy="category", parents=PARENTS):
    own = encoded(rows, policy)
    cells = [FamilyCells.of_rows(f, above, own) for f, above in enumerate(parents) if above]
    return FamilyCounts.of_families(Counts.of(own), parents, cells)


def as_dict(cells, counts):
    """The weight of every (value, parents' values, class); a silent parent is called so."""
    texts = [[*kind.texts, "(silent)"] for kind in counts.vocabulary.features]
    found = {}
    for codes, line in zip(cells.codes.tolist(), cells.count.tolist(), strict=True):
        values = tuple(texts[f][code] for f, code in zip((cells.child, *cells.parents), codes, strict=True))
        for label, n in zip(counts.classes.values.tolist(), line, strict=True):
            assert (*values, label) not in found
            found[*values, label] = n
    return {key: n for key, n in found.items() if n}


def slowly(rows, child, parents, policy="category", only_known=False):
    found = {}
    for *values, label, weight in rows:
        texts = [values[0], str(values[1]), values[2]]
        if policy == "ignore":
            texts = ["(silent)" if text is None else text for text in texts]
        key = tuple(texts[f] for f in (child, *parents))
        if key[0] == "(silent)" or (only_known and "(silent)" in key):
            continue
        found[*key, label] = found.get((*key, label), 0) + weight
    return found


def in_order(cells):
    """Whether lines go by parents, then by child, and none occurs twice."""
    keys = [(*codes[1:], codes[0]) for codes in cells.codes.tolist()]
    return keys == sorted(set(keys))


@given(ROWS, POLICIES)
@examples(60)
def test_counts_are_those_of_counting_by_hand(rows, policy):
    counts = counted(rows, policy)
    for cells in counts.cells:
        assert as_dict(cells, counts) == slowly(rows, cells.child, cells.parents, policy)
        assert in_order(cells)
    for child, parents in ((0, (1, 2)), (0, (1,)), (2, (0, 1)), (2, (0,))):
        known = counts.family(child, parents)
        assert known.parents == parents
        assert as_dict(known, counts) == slowly(rows, child, parents, policy, only_known=True)
        assert in_order(known)


@given(ROWS, POLICIES)
@examples(60)
def test_leaving_parents_out_is_counting_without_them(rows, policy):
    own, counts = encoded(rows, policy), counted(rows, policy)
    for cells in counts.cells:
        for number in range(1, len(cells.parents) + 1):
            fewer, direct = cells.with_parents(number), FamilyCells.of_rows(cells.child, cells.parents[:number], own)
            assert_array_equal(fewer.codes, direct.codes)
            assert_array_equal(fewer.count, direct.count)
        alone = np.zeros_like(counts.tables[cells.child])
        np.add.at(alone, cells.codes[:, 0], cells.count)
        assert_array_equal(alone, counts.tables[cells.child])  # also where parents are silent


@given(ROWS, ROWS, POLICIES)
@examples(80)
def test_a_sum_is_what_counting_both_gives(one, two, policy):
    added, whole = counted(one, policy) + counted(two, policy), counted([*one, *two], policy)
    assert added.parents == whole.parents == PARENTS
    for ours, theirs in zip(added.cells, whole.cells, strict=True):
        assert as_dict(ours, added) == as_dict(theirs, whole)
    for child, parents in ((0, (1, 2)), (2, (0,))):
        ours, theirs = added.family(child, parents), whole.family(child, parents)
        assert in_order(ours)
        assert_array_equal(ours.codes, theirs.codes)
        assert_array_equal(ours.count, theirs.count)
    for ours, theirs in zip(added.tables, whole.tables, strict=True):
        assert_array_equal(ours, theirs)


@given(ROWS, ROWS, ROWS)
@examples(30)
def test_the_order_of_sums_does_not_matter(one, two, three):
    a, b, c = counted(one), counted(two), counted(three)
    for sum_ in (a + (b + c), c + b + a):
        for ours, theirs in zip(sum_.cells, (a + b + c).cells, strict=True):
            assert as_dict(ours, sum_) == as_dict(theirs, a + b + c)


@given(ROWS, POLICIES, st.booleans())
@examples(40)
def test_a_family_with_one_parent_is_a_pair(rows, policy, sparse):
    own = encoded(rows, policy)
    with patch("hebnb.counts.pairs.dense_fits", lambda *_: not sparse):
        pairs = PairCounts.of_rows(Counts.of(own), own, Caps(None, None))
    families = counted(rows, policy, parents=((2,), (0,), (1,)))
    for child, parents in enumerate(families.parents):
        ours, theirs = families.family(child, parents), pairs.family(child, parents)
        assert in_order(theirs)
        assert_array_equal(ours.codes, theirs.codes)
        assert_array_equal(ours.count, theirs.count)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), max_size=30),
    st.sampled_from([1, 1 << 31, 1 << 40]),
)
@examples(60)
def test_lines_in_any_order_add_up(lines, scale):
    """Codes whose combinations are beyond 64 bits are told apart too."""
    table = np.array(lines, dtype=np.intp).reshape(-1, 4)
    codes, classes = table[:, :3] * scale, table[:, 3]
    weights = np.arange(1.0, len(lines) + 1)
    cells = FamilyCells.of_cells(0, (1, 2), codes, (classes, weights), 2)
    expected = {}
    for line, c, weight in zip(codes.tolist(), classes.tolist(), weights.tolist(), strict=True):
        expected.setdefault(tuple(line), [0.0, 0.0])[c] += weight
    assert in_order(cells)
    assert {tuple(line): n for line, n in zip(cells.codes.tolist(), cells.count.tolist(), strict=True)} == expected
    both = cells + cells
    assert_array_equal(both.codes, cells.codes)
    assert_array_equal(both.count, 2 * cells.count)


def test_a_child_without_values_has_no_cells():
    rows = [(None, 1, "s", "no", 1.0), (None, 2, "m", "yes", 1.0)]
    counts = counted(rows, "ignore")
    assert counts.family(0, (1, 2)).codes.shape == (0, 3)
    assert counts.family(0, (1,)).count.shape == (0, 2)
    added = counts + counted([("red", 1, "s", "no", 1.0)], "ignore")
    assert added.family(0, (1, 2)).count.tolist() == [[1.0, 0.0]]


def test_counts_of_other_families_do_not_add():
    rows = [("red", 1, "s", "no", 1.0)]
    with pytest.raises(InputError, match="different families"):
        _ = counted(rows) + counted(rows, parents=((1,), (), ()))
    with pytest.raises(TypeError):
        _ = counted(rows) + Counts.of(encoded(rows))
