"""Columns that go together one to one, against looking at all pairs of values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebnb.columns.column import Column
from hebnb.columns.kinds import BinTree, Categories
from hebnb.columns.reading import ReadingParameters
from hebnb.overview.repeats import repeats
from hebnb.overview.seen import Seen


def seen(values, cut=False):
    column = Column("x", np.array(values, dtype=float if cut else object))
    reading = ReadingParameters(trees=True).of(("x",))
    return Seen.of(column, (BinTree if cut else Categories).learn(column, reading))


def go_together(a, b):
    """Slow and obvious: as many pairs as values, on both sides; a gap is a value."""
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b)) > 1


tables = st.integers(60, 90).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([None, "a", "b"]), min_size=n, max_size=n), min_size=2, max_size=3)
)


@pytest.mark.hypothesis
@given(tables, st.permutations([None, "p", "q"]))
def test_against_all_pairs(columns, names):
    renamed = [[dict(zip([None, "a", "b"], names, strict=True))[value] for value in columns[0]]]
    table = columns + renamed
    found = repeats([seen(column) for column in table])
    for f, column in enumerate(table):
        earlier = [g for g in range(f) if go_together(table[g], column)]
        sizes = sorted(map(column.count, set(column)))
        if sizes[-1] <= len(column) - 8:  # else so few rows stand out that others might by chance
            assert (f in found) == bool(earlier)
            assert found.get(f, -1) == (earlier[0] if earlier else -1)


def test_rare_values_that_meet_by_chance_say_nothing():
    once = [[n == 7 for n in range(1000)], [n == 7 for n in range(1000)]]
    assert repeats([seen(values) for values in once]) == {}
    often = [[n % 3 == 0 for n in range(1000)]] * 2
    assert repeats([seen(values) for values in often]) == {1: 0}


def test_numbers_that_occur_once_repeat_each_other_by_their_order():
    random = np.random.default_rng(0)
    minutes = random.normal(size=200)
    swapped = minutes.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    columns = [minutes, 0.17 * minutes, -(minutes**3), swapped, random.normal(size=200)]
    assert repeats([seen(values, cut=True) for values in columns]) == {1: 0, 2: 0}


def test_ids_do_not_repeat_each_other():
    names = [f"a{n}" for n in range(100)]
    assert repeats([seen(names), seen(names[::-1])]) == {}


def test_charges_go_with_minutes_as_long_as_rounding_keeps_them_apart():
    minutes = np.random.default_rng(1).integers(0, 300, 2000) / 10
    assert repeats([seen(minutes, cut=True), seen(np.round(0.17 * minutes, 2), cut=True)]) == {1: 0}
    assert repeats([seen(minutes, cut=True), seen(np.round(0.045 * minutes, 2), cut=True)]) == {}
