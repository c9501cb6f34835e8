"""The features of a table together: learned, joined, limited, and asked for codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb import InputError
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read
from hebnb.columns.vocabulary import Vocabulary

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

EDGES = {"size": [0.5, 1.5, 2.5]}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]), st.integers(0, 4), st.sampled_from([0.0, 1.0, 2.0, None])
    ),
    min_size=1,
    max_size=25,
)


def frame(rows):
    colours, numbers, sizes = zip(*rows, strict=True)
    columns = {"colour": np.array(colours, dtype=object), "number": np.array(numbers)}
    return read(pd.DataFrame(columns | {"size": np.array(sizes, dtype=float)}))


def vocabulary(rows, **parameters):
    table = frame(rows)
    return Vocabulary.learn(table, ReadingParameters(bin_edges=EDGES, **parameters).of(table.names))


def decoded(vocabulary, codes):
    """What every code means, as text; gaps that are no category and values never seen are alike."""
    return [[[*kind.texts, None][code] for code in own] for kind, own in zip(vocabulary.features, codes, strict=True)]


@given(ROWS)
@examples(60)
def test_rows_can_be_read_back(rows):
    table, learned = frame(rows), vocabulary(rows)
    colours, numbers, sizes = decoded(learned, learned.encode(table))
    assert colours == [row[0] for row in rows]
    assert numbers == [str(row[1]) for row in rows]
    bins = {0.0: "≤ 0.5", 1.0: "0.5 – 1.5", 2.0: "1.5 – 2.5", None: None}
    assert sizes == [bins[row[2]] for row in rows]
    assert learned.names == ("colour", "number", "size")
    assert learned.sizes.tolist() == [kind.size for kind in learned.features]
    assert_array_equal(learned.edges["size"], EDGES["size"])
    assert_array_equal(learned.shown(table, learned.encode(table)).T.tolist(), [colours, numbers, sizes])


@given(ROWS, ROWS, ROWS)
@examples(60)
def test_a_union_is_what_all_rows_teach(one, two, three):
    whole = vocabulary([*one, *two, *three])
    a, b, c = (vocabulary(rows) for rows in (one, two, three))
    for joined in ((a | b) | c, a | (b | c), c | b | a):
        for ours, theirs in zip(joined.features[:2], whole.features[:2], strict=True):
            assert ours.texts == theirs.texts
        codes = joined.encode(frame(one))
        assert decoded(joined, codes)[:2] == decoded(whole, whole.encode(frame(one)))[:2]


@given(ROWS, ROWS)
@examples(40)
def test_a_further_batch_keeps_bins_and_brings_categories(one, two):
    table = frame(one)
    first = Vocabulary.learn(table, ReadingParameters(bin_edges={"number": [1, 2]}).of(table.names))
    second = first.relearn(frame(two), ReadingParameters().of(table.names))
    assert_array_equal(second.edges["number"], [1, 2])
    joined = first | second
    colours = {row[0] for row in [*one, *two]}
    assert set(joined.features[0].labels.tolist()) == colours
    assert (joined.encode(frame(two))[0] < joined.features[0].size).all()


@given(ROWS, st.integers(1, 4), st.booleans())
@examples(80)
def test_a_limit_keeps_the_most_frequent_categories(rows, most, weighted):
    table, learned = frame(rows), vocabulary(rows)
    weights = np.arange(1.0, len(rows) + 1) if weighted else None
    codes = learned.encode(table)
    fewer, recoded, dropped = learned.limited(codes, weights, most)
    assert decoded(fewer, recoded)[2] == decoded(learned, codes)[2]  # bins stay
    for f, name in enumerate(learned.names[:2]):
        values = decoded(learned, codes)[f]
        rows_of = {}
        for n, value in enumerate(values):
            if value is not None:
                rows_of[value] = rows_of.get(value, 0.0) + (1.0 if weights is None else weights[n])
        order = [text for text in learned.features[f].texts if text is not None]
        # The most frequent; of those that are as frequent, the later.
        kept = sorted(order, key=lambda value: (rows_of[value], order.index(value)))[-most:]
        assert decoded(fewer, recoded)[f] == [value if value in kept else None for value in values]
        gone = [value for value in order if value not in kept]
        if gone:
            assert dropped[name] == {"categories": len(gone), "rows": sum(rows_of[value] for value in gone)}
        else:
            assert name not in dropped


@given(ROWS)
@examples(40)
def test_ignored_gaps_are_silent(rows):
    learned = vocabulary(rows, missing="ignore")
    codes = learned.encode(frame(rows))
    for f, kind in enumerate(learned.features):
        assert not kind.missing
        assert_array_equal(codes[f] == kind.size, [row[f] is None for row in rows])


def test_gaps_that_are_mistakes_are_counted_by_column():
    whole, gappy = [("red", 1, 0.0)], [("red", 1, None), ("red", 1, None), (None, 1, 1.0)]
    with pytest.raises(InputError, match="Column 'colour': 1 values are missing"):
        vocabulary(gappy, missing="error")
    learned = vocabulary(whole, missing="error")
    with pytest.raises(InputError, match="Column 'size': 2 values are missing"):
        learned.encode(frame(gappy[:2]))


def test_columns_read_in_two_ways_do_not_join():
    rows = [("red", 1, 0.0), ("blue", 2, 1.0)]
    table = frame(rows)
    cut = Vocabulary.learn(table, ReadingParameters(bin_edges={"number": [1]}).of(table.names))
    with pytest.raises(InputError, match="Column 'number': it was read in two different ways"):
        _ = vocabulary(rows) | cut
    with pytest.raises(InputError, match="Column 'size': it was read in two different ways"):
        _ = vocabulary(rows) | Vocabulary.learn(table, ReadingParameters(bin_edges={"size": [7]}).of(table.names))


def test_columns_of_gaps_are_pointed_out():
    table = frame([(None, 1, 0.0)])
    with pytest.warns(UserWarning, match="Column 'colour': every value is missing") as seen:
        Vocabulary.learn(table, ReadingParameters().of(table.names))
    assert seen[0].filename == __file__


def test_weights_move_quantiles_like_rows():
    numbers = np.arange(40.0)
    weights = np.random.default_rng(0).integers(0, 5, 40)
    reading = ReadingParameters(n_bins=4).of(("x",))
    weighted = Vocabulary.learn(read(pd.DataFrame({"x": numbers})), reading, weights.astype(float))
    repeated = Vocabulary.learn(read(pd.DataFrame({"x": np.repeat(numbers, weights)})), reading)
    assert_array_equal(weighted.edges["x"], repeated.edges["x"])
