"""Trees of bins: where they cut, and what does not depend on how numbers are written."""

import datetime as dt
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb import InputError
from hebnb.columns.column import Column
from hebnb.columns.kinds import Bins, BinTree, Categories
from hebnb.columns.kinds.bin_tree import DEEPEST, MOST_LEAVES
from hebnb.columns.reading import ReadingParameters

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([-1.0, 0.0, 0.0, 0.5, 7.0])


def tree_of(numbers, weights=None, missing="category"):
    reading = ReadingParameters(trees=True, missing=missing).of(("x",))
    return BinTree.learn(column(numbers), reading, weights)


def column(numbers):
    return Column("x", np.asarray(numbers, dtype=float))


@st.composite
def numbers(draw, min_size=1, max_size=80):
    return np.array(draw(st.lists(NUMBERS, min_size=min_size, max_size=max_size)))


@st.composite
def frequencies(draw):
    """Of values in order: even, with some that many rows have, or with long tails."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 1500))
    many = {
        "even": lambda: rng.integers(1, 4, size=n),
        "spikes": lambda: np.where(rng.random(n) < 0.05, rng.integers(5, 500, size=n), 1),
        "tails": lambda: rng.pareto(0.7, size=n).clip(max=1e6) + 1,
        "sorted": lambda: np.sort(rng.pareto(0.5, size=n).clip(max=1e6) + 1),
        "powers": lambda: 2 ** rng.integers(0, 12, size=n),
    }
    return many[draw(st.sampled_from(sorted(many)))]().astype(int).astype(float)


@examples(60)
@given(frequencies())
def test_heavy_values_have_a_leaf_of_their_own(rows):
    values = np.arange(len(rows)) / 8
    tree = BinTree.grown(values, rows, missing=False)
    assert len(tree.edges) < MOST_LEAVES
    leaf = tree.encode(column(values))
    in_leaf = np.bincount(leaf)
    assert (in_leaf > 0).all()
    heavy = rows > rows.sum() / 64
    assert_array_equal(in_leaf[leaf[heavy]], 1)


def test_few_values_have_leaves_of_their_own():
    for n in (1, 2, 3, 100, MOST_LEAVES):
        tree = tree_of(np.arange(n))
        assert_array_equal(tree.encode(column(np.arange(n))), np.arange(n))
        assert tree.size == n


def test_many_values_share_leaves_evenly():
    tree = tree_of(np.random.default_rng(0).normal(size=100_000))
    assert tree.size == MOST_LEAVES
    assert len(tree.levels) == 8
    assert [len(np.unique(level[:-1])) for level in tree.levels] == [2, 4, 8, 16, 32, 64, 128, 256]


def test_a_value_of_most_rows_is_set_apart_at_once():
    numbers = np.concatenate([np.zeros(9000), np.random.default_rng(0).exponential(size=1000)])
    tree = tree_of(numbers)
    first = tree.levels[0][tree.encode(column(numbers))]
    assert_array_equal(first == first[0], numbers == 0)
    middle = tree_of(np.concatenate([numbers, -numbers[9000:]]))
    second = middle.levels[1][middle.encode(column(numbers))]
    assert_array_equal(second == second[0], numbers == 0)


@examples(60)
@given(frequencies())
def test_levels_are_nested(rows):
    tree = BinTree.grown(np.arange(len(rows)).astype(float), rows, missing=True)
    levels = tree.levels
    assert 1 <= len(levels) <= DEEPEST
    assert_array_equal(np.unique(levels[-1]), np.arange(tree.size + 1))
    for level in levels:
        assert level.shape == (tree.size + 1,)
        assert_array_equal(np.unique(level), np.arange(level.max() + 1))
        assert (np.diff(level) >= 0).all()
        # The gap and what is silent are nodes of their own.
        assert (level == level[-1]).sum() == 1
        assert (level == level[-2]).sum() == 1
    for coarse, fine in pairwise(levels):
        above = {}
        for node, below in zip(coarse.tolist(), fine.tolist(), strict=True):
            assert above.setdefault(below, node) == node
        children = np.bincount([above[below] for below in sorted(above)])
        assert children.max() <= 2


@examples(60)
@given(frequencies())
def test_nodes_are_halved_as_nearly_as_their_values_allow(rows):
    values = np.arange(len(rows)).astype(float)
    tree = BinTree.grown(values, rows, missing=False)
    codes = tree.encode(column(values))
    whole = np.zeros(len(rows), dtype=int)
    for level in tree.levels:
        node = level[codes]
        for above in np.unique(whole):
            own = np.flatnonzero(whole == above)
            first = own[node[own] == node[own[0]]]
            if len(first) == len(own):
                continue
            below = np.cumsum(rows[own])
            uneven = np.abs(2 * below[:-1] - below[-1])
            assert uneven[len(first) - 1] == uneven.min()
        whole = node


INCREASING = {
    "scaled": lambda x: 3 * x - 20,
    "rooted": np.cbrt,
    "squashed": lambda x: np.arctan(x / 1e4),
    "stretched": lambda x: np.sinh(x / 1e5),
}


@pytest.mark.parametrize("name", INCREASING)
@examples(40)
@given(values=st.lists(st.integers(-1000, 1000), min_size=1, max_size=300), new=st.lists(st.integers(-1200, 1200)))
def test_what_keeps_the_order_changes_no_code(name, values, new):
    """Neither that of a training value nor that of a new one between two of them."""
    transform, values = INCREASING[name], np.array(values, dtype=float)
    new = np.array(new, dtype=float)
    tree, other = tree_of(values), tree_of(transform(values))
    assert_array_equal(other.depths, tree.depths)
    for asked in (values, new, new + 0.5):
        assert_array_equal(other.encode(column(transform(asked))), tree.encode(column(asked)))


@examples(40)
@given(numbers(), st.integers(0, 2**32))
def test_weights_are_repeated_rows(values, seed):
    times = np.random.default_rng(seed).integers(1, 5, size=len(values))
    weighted, repeated = tree_of(values, times.astype(float)), tree_of(np.repeat(values, times))
    assert_array_equal(weighted.edges, repeated.edges)
    assert_array_equal(weighted.depths, repeated.depths)


@given(numbers(), st.randoms())
def test_the_order_of_rows_does_not_matter(values, random):
    shuffled = values.tolist()
    random.shuffle(shuffled)
    tree, other = tree_of(values), tree_of(shuffled)
    assert_array_equal(tree.edges, other.edges)
    assert_array_equal(tree.depths, other.depths)


@given(numbers(), st.booleans())
def test_numbers_beyond_the_range_are_in_the_end_leaves(values, with_gap):
    tree = tree_of(np.append(values, np.nan) if with_gap else values)
    least, most, gap = tree.encode(column([values.min() - 1e9, values.max() + 1e9, np.nan]))
    assert (least, most) == (0, len(tree.edges))
    assert_array_equal(tree.encode(column([values.min(), values.max()])), [least, most])
    assert gap == (tree.gap if with_gap else tree.size)
    assert tree.missing is with_gap


def test_edges_are_values_and_belong_to_the_leaf_below():
    values = np.random.default_rng(0).normal(size=1000)
    tree = tree_of(values)
    assert np.isin(tree.edges, values).all()
    assert_array_equal(tree.encode(column(tree.edges)), np.arange(len(tree.edges)))
    assert_array_equal(tree.encode(column(np.nextafter(tree.edges, np.inf))), np.arange(1, len(tree.edges) + 1))


def test_gaps_by_policy():
    gaps = [1.0, np.nan, 2.0, 3.0]
    assert_array_equal(tree_of(gaps).encode(column(gaps)), [0, 3, 1, 2])
    ignoring = tree_of(gaps, missing="ignore")
    assert_array_equal(ignoring.encode(column(gaps)), [0, ignoring.size, 1, 2])
    assert ignoring.gap is None
    with pytest.raises(InputError, match="1 values are missing"):
        tree_of(gaps, missing="error")


def test_gaps_do_not_move_the_edges():
    values = np.random.default_rng(0).normal(size=500)
    assert_array_equal(tree_of(np.append(values, [np.nan] * 300)).edges, tree_of(values).edges)


def test_nothing_but_gaps_is_no_tree():
    assert isinstance(tree_of([np.nan, np.nan]), Categories)


def test_times():
    days = np.array([dt.datetime(2024, 1, day) for day in range(1, 9)], dtype="M8[us]")
    tree = BinTree.learn(Column("x", days), ReadingParameters(trees=True).of(("x",)))
    assert tree.of_times
    assert_array_equal(tree.encode(Column("x", days)), np.arange(8))
    assert tree.texts[:2] == ["≤ 2024-01-01", "2024-01-01 – 2024-01-02"]
    assert replace(tree, edges=tree.edges + 60e6).texts[0] == "≤ 2024-01-01 00:01"
    assert replace(tree, edges=tree.edges + 1.5e6).texts[0] == "≤ 2024-01-01 00:00:01"
    assert replace(tree, edges=tree.edges[:1] + np.array([0.0, 5e5])).texts[1] == (
        "2024-01-01 00:00:00.000 – 2024-01-01 00:00:00.500"  # as exactly as tells them apart
    )


@given(numbers(), st.booleans(), st.booleans())
def test_a_document_holds_all(values, missing, of_times):
    tree = replace(tree_of(values), missing=missing, of_times=of_times)
    described, edges = tree.document()
    again = BinTree.restored(json.loads(json.dumps(described)), edges)
    assert (again.missing, again.of_times, described["kind"]) == (missing, of_times, "tree")
    assert_array_equal(again.edges, tree.edges)
    assert_array_equal(again.depths, tree.depths)
    for ours, theirs in zip(again.levels, tree.levels, strict=True):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("depths", [[1], [1, 2, 3], [0, 1], [1, DEEPEST + 1], [[1, 2]]])
def test_depths_that_cannot_be(depths):
    described, edges = tree_of([1.0, 2.0, 3.0]).document()
    assert len(edges) == 2
    with pytest.raises(ValueError, match="depths and edges do not match"):
        BinTree.restored(described | {"depths": depths}, edges)


def test_edges_that_cannot_be():
    described, edges = tree_of([1.0, 2.0, 3.0]).document()
    with pytest.raises(ValueError, match="not increasing"):
        BinTree.restored(described, edges[::-1])


@given(numbers(), numbers(min_size=0))
def test_a_further_batch_has_the_same_tree(values, more):
    tree = tree_of(values)
    further = tree.relearned(column(np.append(more, np.nan)), "category")
    assert_array_equal(further.edges, tree.edges)
    assert (tree.missing, further.missing) == (False, True)
    both = tree.union(further)
    assert isinstance(both, BinTree)
    assert both.missing
    assert_array_equal(both.depths, tree.depths)
    for one in (tree, further):  # a code of a part means the same in both together
        asked = column(np.append(values, more))
        assert_array_equal(one.codes_in(both)[one.encode(asked)], both.encode(asked))
    assert further.codes_in(both)[further.gap] == both.gap


def test_what_is_another_tree_is_not_joined():
    tree = tree_of([1.0, 2.0, 3.0])
    assert tree.union(tree_of([1.0, 2.0, 4.0, 5.0])) is None
    assert tree.union(Categories(np.array([1.0, 2.0]), False)) is None
    assert tree.union(Bins(tree.edges, False)) is None
    assert tree.union(replace(tree, depths=tree.depths[::-1])) is None


@given(frequencies(), st.integers(0, 6), st.booleans())
def test_bins_of_a_level_are_its_nodes(rows, level, missing):
    values = np.arange(len(rows)).astype(float)
    tree = BinTree.grown(values, rows, missing)
    coarser = tree.coarser(level)
    asked = column([*values, -1.0, 1e9, np.nan])
    nodes = tree.levels[min(level, len(tree.levels) - 1)][tree.encode(asked)]
    assert_array_equal(tree.nodes_of_coarser(coarser, level)[coarser.encode(asked)], nodes)
