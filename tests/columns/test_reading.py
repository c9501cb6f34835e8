"""Which kind a column becomes, and how the user says so."""

import datetime as dt
from decimal import Decimal

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb import InputError, ParameterError
from hebnb.columns.column import Column
from hebnb.columns.kinds import KINDS, Bins, Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.engines.lazy_table import LazyColumn

pl = pytest.importorskip("polars")

NAMES = ("a", "b", "c", "d")
SERIES = {
    "text": (["u", "v"], Categories),
    "integers": ([1, 2], Categories),
    "flags": ([True, False], Categories),
    "times of day": ([dt.time(1), dt.time(2)], Categories),
    "floats": ([0.5, 1.5], Bins),
    "decimals": ([Decimal("0.5"), Decimal("1.5")], Bins),
    "days": ([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], Bins),
    "moments": ([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)], Bins),
    "durations": ([dt.timedelta(hours=1), dt.timedelta(hours=2)], Bins),
}


def claimed(column, **parameters):
    """The first kind that claims a column."""
    reading = ReadingParameters(**parameters).of((column.name,))
    return next(kind for kind in KINDS if kind.claims(column, reading))


def columns_of(values):
    """The same values in a dataframe, in an array of objects, and lazily."""
    series = nw.from_native(pl.Series("x", values), series_only=True)
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return Column("x", series), Column("x", objects), LazyColumn("x", series.dtype)


@pytest.mark.parametrize(("values", "kind"), SERIES.values(), ids=SERIES)
def test_a_kind_goes_by_type_wherever_the_column_is(values, kind):
    for column in columns_of(values):
        assert claimed(column) is kind
        assert claimed(column, categorical_features="all") is Categories
        assert claimed(column, categorical_features=["x"]) is Categories
        assert claimed(column, numeric_features=["x"]) is Bins
        assert claimed(column, bin_edges={"x": [1.0]}) is Bins


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["u", "v"])])
def test_categoricals_are_categories(dtype):
    series = nw.from_native(pl.Series("x", ["u", "v"], dtype=dtype), series_only=True)
    assert claimed(Column("x", series)) is claimed(LazyColumn("x", series.dtype)) is Categories


@given(marked=st.lists(st.booleans(), min_size=len(NAMES), max_size=len(NAMES)), floats=st.booleans())
@examples(40)
def test_names_positions_and_masks_say_the_same(marked, floats):
    data = np.array([0.5, 1.5]) if floats else np.array([1, 2])
    chosen = [n for n, mark in enumerate(marked) if mark]
    ways = [chosen, [NAMES[n] for n in chosen], [n - len(NAMES) for n in chosen], np.array(chosen, dtype=int), marked]
    for way in ways:
        for argument in ("numeric_features", "categorical_features"):
            reading = ReadingParameters(**{argument: way}).of(NAMES)
            cut = [reading.cuts(Column(name, data)) for name in NAMES]
            expected = [floats or mark for mark in marked] if argument == "numeric_features" else None
            assert cut == (expected or [floats and not mark for mark in marked])


def test_a_number_is_a_name_where_columns_have_such_names():
    reading = ReadingParameters(numeric_features=[7, 1]).of((7, 9, 11))  # the name 7, and the position 1
    assert [reading.cuts(Column(name, np.array([1]))) for name in (7, 9, 11)] == [True, True, False]


@given(st.lists(st.integers(-100, 100), min_size=1, unique=True).map(sorted))
@examples(30)
def test_given_edges_are_cut_at(edges):
    parameters = ReadingParameters(bin_edges={0: edges}, categorical_features="all")
    reading = parameters.of(NAMES)
    assert reading.given_edges.keys() == {"a"}
    assert_array_equal(reading.given_edges["a"], edges)
    numbers = Column("a", np.array([*edges, -1000, 1000], dtype=float))
    learned = Bins.learn(numbers, reading)
    assert_array_equal(learned.cut_at, edges)
    assert_array_equal(learned.encode(numbers), [*range(len(edges)), 0, len(edges)])
    assert [reading.cuts(Column(name, np.array(["u"]))) for name in NAMES] == [True, False, False, False]


def test_edges_can_be_times():
    moments = [dt.datetime(2024, 1, day) for day in range(1, 6)]
    reading = ReadingParameters(bin_edges={"x": [moments[2]]}).of(("x",))
    for column in columns_of(moments)[:2]:
        learned = Bins.learn(column, reading)
        assert learned.of_times
        assert_array_equal(learned.encode(column), [0, 0, 0, 1, 1])


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(2, 12))
@examples(60)
def test_few_numbers_are_categories(values, n_bins):
    column = Column("x", np.array(values, dtype=float))
    learned = Bins.learn(column, ReadingParameters(n_bins=n_bins).of(("x",)))
    if len(set(values)) <= n_bins:
        assert_array_equal(learned.values, sorted(set(values)))
    else:
        # Fewer than n_bins values can have more than a bin's rows, and each of them may need an edge of its own.
        assert 1 <= len(learned.cut_at) < 2 * n_bins
        assert set(learned.cut_at.tolist()) <= set(values)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"missing": "drop"}, "missing='drop' is not known"),
        ({"categorical_features": "none"}, "categorical_features='none' is not known"),
        ({"n_bins": 1}, "n_bins=1"),
        ({"n_bins": 2.5}, "n_bins=2.5"),
        ({"n_bins": True}, "n_bins=True"),
        ({"bin_edges": [1, 2]}, "bin_edges=.* must be a dict"),
    ],
)
def test_parameters_that_cannot_be(parameters, complaint):
    with pytest.raises(ParameterError, match=complaint):
        ReadingParameters(**parameters)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"numeric_features": ["e"]}, "column in numeric_features='e' is not known. Known: 'a', 'b', 'c', 'd'"),
        ({"categorical_features": [4]}, "column in categorical_features=4 is not known"),
        ({"categorical_features": [-5]}, "column in categorical_features=-5 is not known"),
        ({"numeric_features": "a"}, "numeric_features='a' must be a list"),
        ({"numeric_features": 3}, "numeric_features=3 must be a list"),
        ({"numeric_features": [True]}, "numeric_features is a mask of 1 for 4 columns"),
        ({"numeric_features": ["a", "c"], "categorical_features": [0, 2]}, "Columns a, c are in categorical_features"),
        ({"bin_edges": {"c": [1]}, "categorical_features": ["c"]}, "Columns c are in categorical_features"),
        ({"bin_edges": {"e": [1]}}, "column in bin_edges='e' is not known"),
        ({"bin_edges": {"a": [1], 0: [2]}}, "column 'a' twice"),
        ({"bin_edges": {"b": []}}, r"bin_edges\['b'\] must be a list of numbers"),
        ({"bin_edges": {"b": [[1]]}}, r"bin_edges\['b'\] must be a list of numbers"),
        ({"bin_edges": {"b": [2, 1]}}, r"bin_edges\['b'\] must be finite and increasing"),
        ({"bin_edges": {"b": [1, np.nan]}}, r"bin_edges\['b'\] must be finite and increasing"),
        ({"bin_edges": {"b": [1, None]}}, r"bin_edges\['b'\] must be finite and increasing"),
    ],
)
def test_what_a_table_contradicts_is_named(parameters, complaint):
    with pytest.raises(ParameterError, match=complaint):
        ReadingParameters(**parameters).of(NAMES)


@pytest.mark.parametrize("edges", [["x"], [np.inf], [1, -np.inf]])
def test_edges_that_are_no_numbers_are_named(edges):
    with pytest.raises(InputError, match=r"bin_edges\['b'\]"):
        ReadingParameters(bin_edges={"b": edges}).of(NAMES)
