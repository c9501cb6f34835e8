"""Trees of categories: paths, codes, levels, batches, limits, documents."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb.columns.column import Column
from hebnb.columns.hierarchies import Parents, Prefixes, Separated, as_hierarchy, restored, savable
from hebnb.columns.kinds import Categories, CategoryTree
from hebnb.columns.reading import ReadingParameters
from hebnb.errors import InputError, ParameterError

PARENTS = {"beagle": "dog", "pug": "dog", "tabby": "cat", "dog": "animal", "cat": "animal", "oak": "plant"}
TREES = [Prefixes((1, 2)), Separated("/"), Parents.given({"ab": "a", "a/": "a", "abc": "ab", "b/a": "b"}, "tree")]
texts = st.text("ab/", max_size=4)


def column(values, name="x"):
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return Column(name, objects)


@st.composite
def trees(draw):
    values = draw(st.lists(texts, min_size=1, max_size=12))
    return CategoryTree.over(values, draw(st.sampled_from(TREES)), missing=draw(st.booleans()))


@pytest.mark.parametrize(
    ("given", "value", "path"),
    [
        ([1, 3, 5], "10115", ("1", "101", "10115")),
        (range(1, 3), "10", ("1", "10")),
        (np.array([2]), "1", ("1",)),
        ("/", "a/b/c", ("a", "a/b", "a/b/c")),
        ("::", "a::b:c", ("a", "a::b:c")),
        ("/", "/a/b", ("/a", "/a/b")),
        ("/", "a//", ("a", "a/", "a//")),
        (PARENTS, "pug", ("animal", "dog", "pug")),
        (PARENTS, "rock", ("rock",)),
        ({10115: 10, 10: None}, "10115", ("10", "10115")),
        ({"a": None, "b": np.nan}, "b", ("b",)),
    ],
)
def test_paths(given, value, path):
    hierarchy = as_hierarchy(given, "hierarchies['x']")
    assert hierarchy.path(value) == path
    assert restored(json.loads(json.dumps(hierarchy.document()))) == hierarchy


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_have_a_column_for_every_level(library):
    table = {"city": ["Bonn", "New York", "Buffalo", "Berlin"], "state": ["NRW", "New York", "New York", None]}
    table["country"] = ["DE", "US", "US", "DE"]
    hierarchy = as_hierarchy(library(table), "hierarchies['city']")
    assert hierarchy.path("Bonn") == ("DE", "NRW", "Bonn")
    assert hierarchy.path("Buffalo") == ("US", "state: New York", "Buffalo")
    assert hierarchy.path("New York") == ("US", "state: New York", "New York")
    assert hierarchy.path("Berlin") == ("DE", "Berlin")
    plain = savable({"city": library(table), "zip": range(1, 3), "url": "/"})
    assert plain == {"city": table, "zip": [1, 2], "url": "/"}
    assert as_hierarchy(plain["city"], "again") == hierarchy
    assert savable(None) is None


@given(trees())
@examples(100)
def test_levels_are_nested_and_the_last_tells_all_apart(tree):
    assert len(tree.levels) == tree.depth + 1
    assert_array_equal(tree.levels[-1], np.arange(tree.size + 1))
    for coarse, fine in zip(tree.levels, tree.levels[1:], strict=False):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))  # a node lies in one node above it
    for level, nodes in enumerate(tree.levels):
        assert nodes[-1] == nodes.max()
        assert (nodes == nodes[-1]).sum() == 1  # silence is by itself
        assert set(nodes) == set(range(nodes.max() + 1))
        if tree.missing:
            assert nodes[tree.missing_code] == nodes[-1] - 1
        coarser = tree.coarser(level)
        assert coarser.size == nodes[-1]
        assert len(coarser.texts) == coarser.size
        rows = column([*tree.values, "strange", None])
        assert_array_equal(
            tree.nodes_of_coarser(coarser, level)[coarser.codes_of_keys(rows)], nodes[tree.codes_of_keys(rows)]
        )


@given(trees())
@examples(100)
def test_values_share_a_node_where_they_share_an_ancestor(tree):
    paths = [tree.hierarchy.path(value) for value in tree.values]
    for level in range(tree.depth):
        nodes = [path[min(level, len(path) - 1)] for path in paths]
        for one, mine in enumerate(nodes):
            for other, theirs in enumerate(nodes):
                assert (tree.levels[level][one] == tree.levels[level][other]) == (mine == theirs)


@given(trees(), st.lists(texts, max_size=8))
@examples(200)
def test_a_value_is_itself_or_its_deepest_ancestor_that_was_seen(tree, values):
    codes = tree.encode(column([*values, None]))
    assert codes[-1] == tree.missing_code
    seen, inner = tree.values.tolist(), list(tree.inner)
    for value, code in zip(values, codes, strict=False):
        if value in seen:
            assert code == seen.index(value)
            continue
        *above, _ = tree.hierarchy.path(value)
        found = next((node for node in [value, *above[::-1]] if node in inner or node in seen), None)
        if found is None:
            assert code == tree.size
        else:
            assert code == (len(seen) + inner.index(found) if found in inner else seen.index(found))


@given(trees())
@examples(50)
def test_others_have_a_level_of_their_own_below_their_node(tree):
    for code, node in enumerate(tree.inner, len(tree.values)):
        path = tree.hierarchy.path(node)
        below = [n for n, value in enumerate(tree.values) if node in tree.hierarchy.path(value)[:-1]]
        assert below
        for level, nodes in enumerate(tree.levels):
            assert (nodes[code] == nodes[below]).all() == (level < len(path))
            assert level < len(path) or (nodes == nodes[code]).sum() == 1
    assert_array_equal(
        np.flatnonzero(tree.outlives(np.arange(tree.size + 1))), len(tree.values) + np.arange(len(tree.inner))
    )
    assert not tree.may_be_silent


@pytest.mark.filterwarnings("ignore:Column 'x'")
@given(
    st.sampled_from(TREES),
    st.lists(texts, min_size=1, max_size=9),
    st.lists(texts, min_size=1, max_size=9),
    st.sampled_from([None, 0, 1, 3]),
)
@examples(100)
def test_batches_join(hierarchy, one, two, depth):
    first = CategoryTree.over(one, hierarchy, missing=False, depth=depth)
    second = first.relearned(column([*two, None]), "category")
    both = first.union(second)
    assert both.depth == first.depth
    assert set(both.values) == {*one, *two}
    assert both.missing
    assert set(both.inner) == {*first.inner, *second.inner}
    again = second.union(first)
    assert_array_equal(again.values, both.values)
    assert again.inner == both.inner
    for part, values in ((first, one), (second, [*two, None])):
        rows = column(values)
        assert_array_equal(part.codes_in(both)[part.encode(rows)], both.encode(rows))
        wide = np.append(part.codes_in(both), both.size)
        for old, new in zip(part.levels, both.levels, strict=True):  # nodes stay nodes
            assert len(set(zip(old, new[wide], strict=True))) == len(set(old))


def test_different_trees_do_not_join():
    tree = CategoryTree.over(["aa"], Prefixes((1,)), missing=False)
    words = Categories(tree.values, False)
    assert tree.union(words) is words.union(tree) is None
    assert tree.union(CategoryTree.over(["aa"], Separated("a"), missing=False)) is None
    assert tree.union(CategoryTree.over(["aa"], Prefixes((1,)), missing=False, depth=0)) is None


@given(trees(), st.data())
@examples(60)
def test_rows_of_dropped_categories_are_those_of_their_ancestors(tree, data):
    n_values, most = len(tree.values), data.draw(st.integers(1, 4))
    rows = np.array(
        data.draw(st.lists(st.integers(0, 5), min_size=n_values, max_size=n_values)) + [0] * len(tree.inner)
    )
    fewer = tree.limited(rows.astype(float), most)
    if n_values <= most:
        assert fewer is None
        return
    limited, kept = fewer
    assert limited.size == tree.size - n_values + most
    assert_array_equal(limited.values, tree.values[kept])
    assert limited.inner == tree.inner
    left_out = np.setdiff1d(np.arange(n_values), kept)
    assert rows[left_out].max() <= rows[kept].min()
    assert_array_equal(tree.codes_in(limited)[:n_values], limited.encode(column(tree.values)))


@given(trees())
@examples(60)
def test_documents(tree):
    described, array = tree.document()
    assert array is None
    again = CategoryTree.restored(json.loads(json.dumps(described)), None)
    assert again.texts == tree.texts
    assert (again.depth, again.hierarchy, again.missing) == (tree.depth, tree.hierarchy, tree.missing)
    for ours, theirs in zip(tree.levels, again.levels, strict=True):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"values": ["b1", "a1"]}, "not in order"),
        ({"values": ["a1", "a1"]}, "not in order"),
        ({"values": ["a1", 2]}, "no text"),
        ({"inner": ["a"]}, "do not match"),
        ({"inner": ["a", "b", "cc"]}, "below its tree"),
        ({"depth": 99}, "do not match"),
        ({"hierarchy": {"prefixes": [2, 1]}}, "not longer"),
        ({"hierarchy": {"separator": ""}}, "no separator"),
        ({"hierarchy": {"parents": {"a1": "b1", "b1": "a1"}}}, "above itself"),
    ],
)
def test_a_document_that_cannot_be(change, complaint):
    described, _ = CategoryTree.over(["a1", "b1"], Prefixes((1,)), missing=False).document()
    with pytest.raises(ValueError, match=complaint):
        CategoryTree.restored(described | change, None)


def test_whole_numbers_are_their_digits():
    reading = ReadingParameters(hierarchies={"zip": [1]}).of(("zip",))
    whole = CategoryTree.learn(Column("zip", np.array([101, 102, 201])), reading)
    floats = CategoryTree.learn(Column("zip", np.array([101.0, np.nan, 102.0, 201.0])), reading)
    text = CategoryTree.learn(column(["101", "102", "201"], "zip"), reading)
    assert whole.texts == text.texts == ["101", "102", "201", "1… (others)", "2… (others)"]
    assert floats.texts == [*text.texts, None]
    assert (whole.of_numbers, floats.of_numbers, text.of_numbers) == (True, True, False)
    assert (whole.description, text.description) == ("tree of integers", "tree of text")
    for values in (np.array([102, 103, 301]), np.array([102.0, 103.0, 301.0]), np.array(["102", "103", "301"])):
        assert_array_equal(whole.encode(Column("zip", values)), [1, 3, 5])


@pytest.mark.parametrize("values", [np.array([1.5, 2.0]), np.array([True, False]), np.array(["2024-01-01"], "M8[D]")])
def test_other_values_have_no_text(values):
    reading = ReadingParameters(hierarchies={"x": [1]}).of(("x",))
    with pytest.raises(InputError, match="Column 'x': it has a hierarchy, and .* is neither text nor a whole number"):
        CategoryTree.learn(Column("x", values), reading)


def test_levels_have_an_end():
    deep = CategoryTree.over(["/".join("a" * 40)], Separated("/"), missing=False)
    assert deep.depth == 12
    assert len(deep.inner) == 12


@pytest.mark.parametrize(
    ("hierarchy", "complaint"),
    [
        ([], "must be lengths"),
        ([1, "2"], "must be lengths"),
        ([True], "must be lengths"),
        ([0, 1], "a prefix of 0 characters is none"),
        ([-1], "a prefix of -1 characters is none"),
        ([3, 1], "a prefix of 1 characters is not longer than one of 3"),
        ([2, 2], "a prefix of 2 characters is not longer than one of 2"),
        ("", "is no separator"),
        (7, "is no hierarchy"),
        (None, "is no hierarchy"),
        ({"a": "a"}, "above itself: 'a' → 'a'"),
        ({"a": "b", "b": "c", "c": "b"}, "above itself: 'b' → 'c' → 'b'"),
        ({"a": 1.5}, "1.5 is neither text nor a whole number"),
        ({"1": "b", 1: "c"}, "'1' has the parents 'b' and 'c'"),
        (
            {"leaf": ["a", "a"], "top": ["x", "y"]},
            "column 'top' is not a level above 'leaf': 'a' has the parents 'x' and",
        ),
        ({"top": ["x", "x"], "leaf": ["a", "b"]}, "column 'leaf' is not a level above 'top'"),
        ({"leaf": ["a", "a"], "top": ["x", None]}, "'a' has the parents 'x' and none"),
        ({"leaf": ["a", "b"], "top": ["x"]}, "different lengths"),
        (pd.DataFrame({"leaf": [True]}), "True is neither text"),
    ],
)
def test_bad_hierarchies(hierarchy, complaint):
    with pytest.raises(ParameterError, match=r"hierarchies\['x'\]") as error:
        _ = ReadingParameters(hierarchies={"x": hierarchy}).of(("x",)).hierarchies
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"hierarchies": {"y": [1]}}, "column in hierarchies='y' is not known"),
        ({"hierarchies": {"x": [1], 0: [1]}}, "hierarchies has column 'x' twice"),
        ({"hierarchies": {"x": [1]}, "numeric_features": ["x"]}, "Columns x are in hierarchies and also to be cut"),
        ({"hierarchies": {"x": [1]}, "bin_edges": {"x": [1]}}, "Columns x are in hierarchies and also to be cut"),
        ({"hierarchies": [1, 3]}, "hierarchies must be a dict of column to hierarchy, not a list"),
    ],
)
def test_bad_parameters(parameters, complaint):
    with pytest.raises(ParameterError, match=complaint):
        ReadingParameters(**parameters).of(("x", "z"))


def test_a_prefix_beyond_every_value():
    reading = ReadingParameters(hierarchies={"x": [1, 4]}).of(("x",))
    with pytest.raises(
        ParameterError, match="Column 'x': .* a prefix of 4 characters, and its values have no more than 3"
    ):
        CategoryTree.learn(column(["abc", "a"]), reading)


def test_values_that_are_not_in_the_tree_are_counted():
    reading = ReadingParameters(hierarchies={"x": PARENTS}).of(("x",))
    with pytest.warns(UserWarning, match="Column 'x': 2 of 4 categories are not in its hierarchy"):
        tree = CategoryTree.learn(column(["pug", "rock", "sand", "oak"]), reading)
    assert tree.texts == [
        "pug",
        "oak",
        "rock",
        "sand",
        "animal (others)",
        "dog (others)",
        "plant (others)",
    ]
    assert_array_equal(tree.encode(column(["beagle", "tabby", "dog", "animal", "lava"])), [5, 4, 5, 4, 7])
    with pytest.warns(UserWarning, match="Column 'x': 1 of 2 categories"):
        tree.relearned(column(["rock", "clay", "tabby"]), "category")


@pytest.mark.parametrize("hierarchy", [[3], "/", {"abc": None, "abd": None, "b": None}, {"leaf": ["abc", "abd", "b"]}])
def test_one_level_is_none(hierarchy):
    values = column(["abd", "b", "abc", "b"])
    tree = CategoryTree.learn(values, ReadingParameters(hierarchies={"x": hierarchy}).of(("x",)))
    plain = Categories.learn(values, ReadingParameters().of(("x",)))
    assert tree.texts == plain.texts
    assert len(tree.levels) == 1
    rows = column(["b", "abcd", "abc/d", "bb", None])
    assert_array_equal(tree.encode(rows), plain.encode(rows))


def test_nothing_but_gaps():
    reading = ReadingParameters(hierarchies={"x": [1, 9]}).of(("x",))
    tree = CategoryTree.learn(column([None, None]), reading)
    assert tree.is_empty
    assert_array_equal(tree.encode(column([None, "a"])), [0, 1])
