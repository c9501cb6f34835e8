"""Samples of rows: thinned by class, added, and standing for all."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb.columns.kinds import Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, read_labels
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

# A value that may be a gap, and a class.
ROWS = st.lists(
    st.tuples(st.sampled_from(["red", "green", "blue", None]), st.sampled_from("aabbbbbc")), min_size=1, max_size=60
)


def sampled(rows, seed=0, policy="category", weights=None):
    X = np.empty((len(rows), 1), dtype=object)
    X[:, 0] = [row[0] for row in rows]
    table = read(X)
    vocabulary = Vocabulary.learn(table, ReadingParameters(missing=policy).of(table.names))
    labels = read_labels(np.array([row[1] for row in rows], dtype=object))
    own = EncodedRows.of(vocabulary, vocabulary.encode(table), labels, weights)
    return Sample.of(own, np.random.RandomState(seed))


def decoded(sample):
    """The rows, with their keys, as values."""
    texts = [*sample.vocabulary.features[0].texts, None]
    values = [texts[code] for code in sample.codes[0]]
    return list(zip(values, sample.classes.values[sample.labels], sample.keys.tolist(), strict=True))


@given(ROWS, st.integers(1, 40))
@examples(80)
def test_thinning_keeps_the_lowest_keys_of_every_class(rows, limit):
    whole = sampled(rows)
    thin = whole.thinned(limit)
    assert len(thin) <= max(limit, 1)
    if len(rows) <= limit:
        assert thin is whole
        return
    assert_array_equal(thin.seen, whole.seen)
    held = np.bincount(thin.labels, minlength=whole.classes.size)
    for c in range(whole.classes.size):
        lowest = np.sort(whole.keys[whole.labels == c])[: held[c]]
        assert_array_equal(np.sort(thin.keys[thin.labels == c]), lowest)
    assert decoded(thin) == [row for row in decoded(whole) if row[2] in thin.keys]  # in their order
    # One row of every class as far as they reach, and the rest in proportion.
    assert (held > 0).sum() == min(limit, whole.classes.size)
    assert (held <= 1 + limit * whole.seen / len(rows)).all()
    if limit >= whole.classes.size:
        assert (held >= np.floor((limit - whole.classes.size) * whole.seen / len(rows))).all()


@given(ROWS, st.integers(1, 60))
@examples(60)
def test_classes_keep_their_shares(rows, limit):
    """The rows stand for as many as they are, in the shares of all rows."""
    whole = sampled(rows)
    thin = whole.thinned(limit)
    if limit < whole.classes.size:
        return
    shares = np.bincount(thin.labels, thin.representative_weights, whole.classes.size) / len(thin)
    assert_allclose(shares, whole.seen / whole.seen.sum())


@given(ROWS, ROWS, st.sampled_from(["category", "ignore"]))
@examples(60)
def test_a_sum_has_the_rows_of_both(one, two, policy):
    ours, theirs = sampled(one, 1, policy), sampled(two, 2, policy)
    both = ours + theirs
    assert decoded(both) == decoded(ours) + decoded(theirs)
    whole = sampled([*one, *two], policy=policy)
    assert_array_equal(both.seen, whole.seen)
    assert_array_equal(both.codes[0], whole.codes[0])
    assert_array_equal(both.labels, whole.labels)


@given(ROWS, ROWS, st.integers(3, 30), st.integers(3, 30))
@examples(60)
def test_thinning_by_steps_loses_no_row_that_one_step_keeps(one, two, limit, other):
    both = sampled(one, 1) + sampled(two, 2)
    fewer, more = sorted([limit, other])
    direct, by_steps = both.thinned(fewer), both.thinned(more).thinned(fewer)
    assert len(by_steps) <= fewer
    assert set(decoded(direct)) <= set(decoded(by_steps))  # which may be few enough before they are thinned again
    assert_array_equal(direct.seen, by_steps.seen)


def test_there_is_room_for_classes_that_have_not_occurred():
    sample = sampled([("red", "b"), ("blue", "d"), ("red", "d")])
    wider = sample.with_classes(Categories(np.array(["a", "c"], dtype=object), False))
    assert decoded(wider) == decoded(sample)
    assert wider.seen.tolist() == [0, 1, 0, 2]
    assert wider.thinned(2).seen.tolist() == [0, 1, 0, 2]
    assert sorted(wider.classes.values[wider.thinned(2).labels]) == ["b", "d"]


def test_weights_are_kept_and_ones_by_default():
    rows = [("red", "a"), ("blue", "b")]
    assert_array_equal(sampled(rows).weights, [1, 1])
    weighted = sampled(rows, weights=np.array([0.5, 3.0]))
    assert_array_equal((weighted + weighted).weights, [0.5, 3, 0.5, 3])
    assert_array_equal(weighted.representative_weights, [0.5, 3.0])  # nothing was left out


def test_a_detached_sample_has_memory_of_its_own():
    weights = np.array([1.0, 2.0])
    sample = sampled([("red", "a"), ("blue", "b")], weights=weights)
    detached = sample.detached()
    weights[:] = 9
    sample.codes[0][:] = 0
    assert_array_equal(detached.weights, [1, 2])
    assert_array_equal(detached.codes[0], [1, 0])


@given(ROWS, st.data())
@examples(60)
def test_rows_leave_a_sample(rows, data):
    """Of rows that are alike, as many are left as there are fewer."""
    whole = sampled(rows)
    gone = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=len(rows) - 1))
    at = np.array(sorted(gone), dtype=int)
    own = EncodedRows(whole.vocabulary, whole.classes, [whole.codes[0][at]], whole.labels[at])
    left = whole.without(own)
    expected = Counter(row for place, row in enumerate(rows) if place not in gone)
    assert Counter(row[:2] for row in decoded(left)) == expected
    assert_array_equal(left.seen, np.bincount(left.labels, minlength=whole.classes.size))


def test_rows_that_count_as_much_leave_first():
    whole = sampled([("red", "a")] * 3 + [("blue", "b")], weights=np.array([2.0, 1.0, 0.5, 2.0]))
    own = EncodedRows(whole.vocabulary, whole.classes, [whole.codes[0][1:3]], whole.labels[1:3], whole.weights[1:3])
    assert_allclose(whole.without(own).weights, [2.0, 2.0])


def test_part_of_a_row_leaves_a_sample():
    whole = sampled([("red", "a"), ("red", "a"), ("blue", "b")], weights=np.array([0.3, 1.0, 2.0]))
    own = EncodedRows(whole.vocabulary, whole.classes, [whole.codes[0][:1]], whole.labels[:1], np.array([0.5]))
    assert_allclose(whole.without(own).weights, [0.8, 2.0])


def test_rows_that_hardly_count_make_room():
    """Two classes, one of which comes no more; what is left stands for what all rows count by now."""
    sample = sampled([("red", "a"), ("blue", "b")] * 10)
    for _ in range(9):
        sample = sample.faded(0.5) + sampled([("red", "a")] * 8)
    assert_allclose(sample.representative_weights.sum(), 8 * (2 - 0.5**8) + 20 * 0.5**9)
    sample = sample.faded(0.5)
    assert len(sample) == 9 * 8
    assert sample.seen.tolist() == [72, 0]
    assert (sample.fade >= 1e-3).all()
