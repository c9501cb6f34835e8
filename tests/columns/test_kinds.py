"""What every kind of feature promises, of one list of features of all kinds."""

import datetime as dt
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb import InputError
from hebnb.columns.column import Column, in_order
from hebnb.columns.kinds import KINDS, Bins, Categories, Kind
from hebnb.columns.reading import ReadingParameters

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

EPOCH = dt.datetime(1970, 1, 1)
TIMES = [dt.datetime(2024, 1, day, 12) for day in range(1, 9)]
NUMBERS = [-7.5, -1.0, 0.0, 0.25, 1.0, 2.5, 1e300]
# Values that a column of one type may hold; features are made of some of them and asked about all.
POOLS = {
    "text": ["", "a", "b", "B", "élan", "<missing>", "None"],
    "integers": [-5, 0, 1, 2, 2**62],
    "unsigned": [0, 3, 2**63, 2**64 - 1],
    "floats": NUMBERS,
    "flags": [False, True],
    "days": [time.date() for time in TIMES],
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "mixed": ["1", 1, 2.5, "x", dt.date(2024, 1, 1)],
}


def microseconds(time):
    return (time - EPOCH) / dt.timedelta(microseconds=1)


def objects(values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def column(values, name="x"):
    return Column(name, objects(values))


@st.composite
def cases(draw):
    """A function that makes features alike out of values, and the values to ask about."""
    name = draw(st.sampled_from([*POOLS, "bins", "times"]))
    if name in POOLS:
        pool = POOLS[name]
        chosen = st.lists(st.sampled_from(pool), unique=True).map(lambda values: Categories(in_order(values), False))
    else:
        pool = NUMBERS if name == "bins" else TIMES
        edges = sorted(draw(st.lists(st.sampled_from(pool), unique=True, min_size=1)))
        numbers = np.array(edges if name == "bins" else [microseconds(time) for time in edges], dtype=float)
        chosen = st.just(Bins(numbers, False, of_times=name == "times"))
    features = st.tuples(chosen, st.booleans()).map(lambda pair: replace(pair[0], missing=pair[1]))
    return features, pool


@st.composite
def features_and_columns(draw):
    features, pool = draw(cases())
    values = draw(st.lists(st.sampled_from([*pool, None]), min_size=1, max_size=12))
    return draw(features), column(values)


@st.composite
def two_features_and_columns(draw):
    features, pool = draw(cases())
    values = draw(st.lists(st.sampled_from([*pool, None]), min_size=1, max_size=12))
    return draw(features), draw(features), column(values)


class Slowly:
    """Codes computed elsewhere, one value at a time."""

    def __init__(self, asked):
        self.values = asked.data.tolist()

    def lookup(self, values, gap):
        known = values.tolist()
        silent = len(known) + (gap is not None)
        codes = []
        for value in self.values:
            if value is None:
                codes.append(silent if gap is None else gap)
            else:
                codes.append(known.index(value) if value in known else silent)
        return codes

    def staircase(self, edges, of_times, gap):
        silent = len(edges) + 1 + (gap is not None)
        codes = []
        for value in self.values:
            if value is None:
                codes.append(silent if gap is None else gap)
            else:
                number = microseconds(value) if of_times else value
                codes.append(sum(number > edge for edge in edges.tolist()))
        return codes


@given(features_and_columns())
@examples(150)
def test_a_code_is_that_of_a_value_or_silent(case):
    feature, asked = case
    codes = feature.encode(asked)
    assert codes.min() >= 0
    assert codes.max() <= feature.size
    gaps = feature.gaps(asked)
    assert gaps.tolist() == [value is None for value in asked.data.tolist()]
    assert (codes[gaps] == feature.missing_code).all()
    assert feature.missing_code == (feature.size - 1 if feature.missing else feature.size)
    assert feature.gap == (feature.missing_code if feature.missing else None)
    if isinstance(feature, Categories):
        for value, code in zip(asked.data.tolist(), codes.tolist(), strict=True):
            if value is not None:
                assert (code == feature.size) == (value not in feature.values.tolist())
                assert code == feature.size or feature.labels[code] == value


@given(features_and_columns())
@examples(150)
def test_computed_elsewhere_codes_are_the_same(case):
    feature, asked = case
    assert feature.computed_by(Slowly(asked)) == feature.encode(asked).tolist()


@given(features_and_columns())
@examples(100)
def test_every_category_has_a_label_and_a_text(case):
    feature, asked = case
    assert len(feature.labels) == len(feature.texts) == feature.size
    known = feature.texts[: len(feature.texts) - feature.missing]
    assert all(isinstance(text, str) for text in known)
    assert not feature.missing or feature.texts[-1] is None
    assert feature.description
    codes = feature.encode(asked)
    shown = feature.shown(asked, codes)
    for value, code, text in zip(asked.data.tolist(), codes.tolist(), shown.tolist(), strict=True):
        assert (text is None) == (value is None)
        if value is not None and code < feature.size:
            assert text == feature.texts[code]


@given(features_and_columns())
@examples(100)
def test_a_document_holds_all(case):
    feature, asked = case
    described, array = feature.document()
    (kind,) = (kind for kind in KINDS if kind.name == described["kind"])
    again = kind.restored(json.loads(json.dumps(described)), None if array is None else array.copy())
    assert type(again) is type(feature)
    assert (again.size, again.missing, again.description) == (feature.size, feature.missing, feature.description)
    assert again.texts == feature.texts
    assert_array_equal(again.encode(asked), feature.encode(asked))


@given(two_features_and_columns())
@examples(150)
def test_a_union_knows_what_either_knows(case):
    ours, theirs, asked = case
    union = ours.union(theirs)
    assert union.missing == (ours.missing or theirs.missing)
    assert union.size <= ours.size + theirs.size
    for part in (ours, theirs):
        places = part.codes_in(union)
        assert len(places) == len(set(places.tolist())) == part.size
        codes = part.encode(asked)
        known = codes < part.size
        assert_array_equal(places[codes[known]], union.encode(asked)[known])
    told = (ours.encode(asked) < ours.size) | (theirs.encode(asked) < theirs.size)
    assert_array_equal(union.encode(asked) < union.size, told)


@given(two_features_and_columns())
@examples(100)
def test_a_union_is_the_same_either_way(case):
    ours, theirs, asked = case
    one, other = ours.union(theirs), theirs.union(ours)
    assert one.texts == other.texts
    assert_array_equal(one.encode(asked), other.encode(asked))
    assert ours.union(ours).texts == ours.texts


@given(features_and_columns(), st.sampled_from(["category", "ignore"]))
@examples(150)
def test_a_further_batch_joins(case, policy):
    feature, batch = case
    learned = feature.relearned(batch, policy)
    gaps = learned.gaps(batch)
    assert learned.missing == (policy == "category" and bool(gaps.any()))
    codes = learned.encode(batch)
    assert (codes[~gaps] < learned.size).all()
    union = feature.union(learned)
    assert type(union) is type(feature)
    assert (union.encode(batch)[~gaps] < union.size).all()
    assert (learned.cut_at is None) == (feature.cut_at is None)


@given(features_and_columns())
@examples(40)
def test_gaps_can_be_refused(case):
    feature, batch = case
    gaps = int(feature.gaps(batch).sum())
    if not gaps:
        assert not feature.relearned(batch, "error").missing
        return
    with pytest.raises(InputError, match=f"Column 'x': {gaps} values are missing"):
        feature.relearned(batch, "error")


@given(features_and_columns(), st.data())
@examples(100)
def test_a_limit_keeps_the_most_frequent(case, data):
    feature, _ = case
    most = data.draw(st.integers(1, 5))
    known = feature.missing_code
    rows = np.array(data.draw(st.lists(st.integers(0, 9), min_size=known, max_size=known)), dtype=float)
    fewer = feature.limited(rows, most)
    if feature.cut_at is not None or known <= most:
        assert fewer is None
        return
    limited, kept = fewer
    assert limited.missing == feature.missing
    assert limited.size == most + feature.missing
    assert limited.texts == [feature.texts[code] for code in kept] + [None] * feature.missing
    left_out = np.setdiff1d(np.arange(known), kept)
    assert rows[left_out].max() <= rows[kept].min()


@given(features_and_columns())
@examples(40)
def test_bins_outlive_their_rows_and_categories_do_not(case):
    feature, _ = case
    codes = np.arange(feature.size + 1)
    bins = isinstance(feature, Bins)
    assert_array_equal(feature.outlives(codes), codes < feature.missing_code if bins else np.zeros(len(codes)))
    assert feature.may_be_silent == bins


@pytest.mark.parametrize("policy", ["category", "ignore"])
@pytest.mark.parametrize("name", [*POOLS, "bins", "times"])
def test_what_is_learned_knows_its_column(name, policy):
    pool = POOLS.get(name) or (NUMBERS if name == "bins" else TIMES)
    batch = column([*pool, None] * 3)
    kind = Categories if name in POOLS else Bins
    feature = kind.learn(batch, ReadingParameters(missing=policy, n_bins=3).of(("x",)))
    assert isinstance(feature, kind)
    assert feature.missing == (policy == "category")
    gaps = feature.gaps(batch)
    assert (feature.encode(batch)[~gaps] < feature.missing_code).all()
    assert not feature.is_empty
    if kind is Categories:
        assert set(feature.values.tolist()) == set(pool)
        assert [str(value) for value in feature.values.tolist()] == feature.texts[: feature.missing_code]
    else:
        counts = np.bincount(feature.encode(batch), minlength=feature.size)
        assert (counts[: feature.missing_code] > 0).all()


def test_nothing_but_gaps():
    gone = column([None, None])
    reading = ReadingParameters().of(("x",))
    assert Categories.learn(gone, reading).is_empty
    assert Bins.learn(gone, reading).is_empty  # few numbers are categories
    cut = ReadingParameters(bin_edges={"x": [1.0]}).of(("x",))
    feature = Bins.learn(gone, cut)
    assert feature.is_empty
    assert feature.texts == [None]
    assert_array_equal(feature.encode(column([None, 0.5])), [0, 1])  # a number was never seen
    wider = feature.union(Bins(np.array([1.0]), missing=False))
    assert wider.texts == ["≤ 1", "> 1", None]
    assert_array_equal(feature.codes_in(wider), [2])


def test_features_of_other_kinds_do_not_join():
    words, bins = Categories(objects(["a"]), False), Bins(np.array([1.0]), False)
    assert words.union(bins) is bins.union(words) is None
    assert bins.union(Bins(np.array([2.0]), False)) is None


@pytest.mark.parametrize(
    ("kind", "described", "array", "complaint"),
    [
        (Categories, {"values": ["b", "a"]}, None, "not in order"),
        (Categories, {"values": ["a", "a"]}, None, "twice"),
        (Categories, {}, np.array([2, 1]), "not in order"),
        (Categories, {}, np.array([[1]]), "no list"),
        (Categories, {}, None, "no list"),
        (Bins, {"of_times": False}, None, "no edges"),
        (Bins, {"of_times": False}, np.array(["a"]), "no edges"),
        (Bins, {"of_times": False}, np.array([1.0, 1.0]), "not increasing"),
    ],
)
def test_a_document_that_cannot_be(kind, described, array, complaint):
    with pytest.raises(ValueError, match=complaint):
        kind.restored({"kind": kind.name, "missing": False, **described}, array)


def test_kinds_have_names_of_their_own():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert all(issubclass(kind, Kind) for kind in KINDS)
    assert KINDS[-1] is Categories  # which claims everything
