"""The algebra of counts: what is taken back was never there, and what fades counts less. For all counts there are."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from conftest import examples
from counted import EDGES, MAKES, assert_same, cells, counted, table
from hebnb import AODE, KDB, TAN, EvidenceClassifier, InputError, NaiveBayes, ParameterError
from hebnb.counts.pairs import PairCounts, SparsePairs
from hebnb.counts.single import Counts
from hebnb.evidence.counts import EvidenceCounts

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")


@pytest.mark.parametrize("name", MAKES)
@given(seed=st.integers(0, 1000), share=st.sampled_from([0.05, 0.5, 0.9]), whole=st.booleans())
@examples(12)
def test_what_is_taken_back_was_never_there(name, seed, share, whole):
    X, y = table(seed)
    rng = np.random.default_rng(seed)
    weights = None if whole else rng.choice([0.1, 0.3, 2.0], len(y))
    gone = rng.random(len(y)) < share
    gone[0] = False
    model = MAKES[name]()
    all_rows = counted(model, X, y, None, weights)
    part = counted(model, X[gone], y[gone], all_rows, None if whole else weights[gone]) if gone.any() else None
    rest = counted(model, X[~gone], y[~gone], all_rows, None if whole else weights[~gone])
    if part is None:
        return
    if isinstance(rest, EvidenceCounts):  # classes that occur earlier have room in what is counted like them
        rest = rest._left(all_rows)
    assert_same(all_rows - part, rest)


@pytest.mark.parametrize("name", ["naive Bayes", "AODE", "TAN"])
@pytest.mark.parametrize("seed", range(4))
def test_tables_of_mostly_nothing_are_subtracted_too(name, seed):
    X, y = table(seed)
    model = MAKES[name]()
    with patch("hebnb.counts.single._dense_fits", lambda *_: False), patch("hebnb.counts.pairs.dense_fits", no):
        all_rows = counted(model, X, y)
        rest = all_rows - counted(model, X[:60], y[:60], all_rows)
        assert isinstance(rest.tables[0], csr_array)
        assert not isinstance(rest, PairCounts) or isinstance(rest.pairs, SparsePairs)
        assert_same(rest, counted(model, X[60:], y[60:], all_rows))
        assert_same(rest * 3, counted(model, X[60:], y[60:], all_rows, np.full(20, 3.0)))
        assert_same(Counts.from_arrow(rest.to_arrow()), rest)


def no(*_):
    return False


@pytest.mark.parametrize("name", MAKES)
def test_adding_again_is_as_before(name):
    X, y = table(3)
    model = MAKES[name]()
    counts = counted(model, X, y)
    part = counted(model, X[:9], y[:9], counts)
    assert_same((counts - part) + part, counts)


@pytest.mark.parametrize("name", MAKES)
def test_counts_can_be_multiplied(name):
    X, y = table(4)
    model = MAKES[name]()
    counts = counted(model, X, y)
    assert_same(counts * 2, counts + counts)
    assert_same(0.5 * (counts * 2), counts)
    assert_same(counts * 0.25, counted(model, X, y, counts, np.full(len(y), 0.25)))


def test_what_fades_to_nothing_is_gone():
    old, new = NaiveBayes().count([["a"], ["b"]], [0, 1]), NaiveBayes().count([["b"], ["c"]], [1, 2])
    faded = (old * 1e-300 + new) * 1e-30
    assert faded.vocabulary.features[0].texts == ["b", "c"]
    assert faded.classes.values.tolist() == [1, 2]
    with pytest.raises(InputError, match="No row would be left"):
        _ = NaiveBayes().count([["a"]], [0]) * 1e-300 * 1e-300


@pytest.mark.parametrize("times", [0, -1, np.nan, np.inf, True, "2", None])
def test_not_everything_is_a_factor(times):
    with pytest.raises(ParameterError, match="Counts cannot be multiplied by"):
        _ = NaiveBayes().count([["a"]], [0]) * times


class TestRowsThatWereNeverCounted:
    COUNTS = NaiveBayes().count([["a", "x"], ["b", "y"]], ["no", "yes"])

    def test_a_category(self):
        with pytest.raises(InputError, match="'c' in column 0 in class 'no' was counted 0 times, and 1 would"):
            _ = self.COUNTS - NaiveBayes().count([["c", "x"]], ["no"])

    def test_a_class(self):
        with pytest.raises(InputError, match="class 'maybe' was counted 0 times"):
            _ = self.COUNTS - NaiveBayes().count([["a", "x"]], ["maybe"])

    def test_too_often(self):
        twice = NaiveBayes().count([["a", "x"]], ["no"], [2])
        with pytest.raises(InputError, match="class 'no' was counted 1 times, and 2 would be taken"):
            _ = self.COUNTS - twice

    def test_a_gap(self):
        with pytest.raises(InputError, match="a gap in column 0"):
            _ = self.COUNTS - NaiveBayes().count([[None, "x"]], ["no"])

    @pytest.mark.parametrize("make", [AODE, TAN])
    def test_a_pair(self, make):
        counts = make().count([["a", "x"], ["b", "y"]], ["no", "no"])
        with pytest.raises(InputError, match="'a' in column 0 with 'y' in column 1 in class 'no' was counted 0 times"):
            _ = counts - make().count([["a", "y"]], ["no"])

    def test_a_family(self):
        X, y = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 5, [1, 0, 0, 1] * 5
        counts = KDB(1).fit(X, y).counts_
        with pytest.raises(InputError, match="was counted 0 times"):
            _ = counts - counted(KDB(1), np.array([["a", "b"]], dtype=object), [1], counts)

    def test_a_cell_of_a_cross(self):
        X, y = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 20, [1, 0, 0, 1] * 20
        counts = EvidenceClassifier().fit(X, y).counts_
        with pytest.raises(InputError, match="a combination of columns 0 and 1 in class 1"):
            _ = counts - counted(EvidenceClassifier(), np.array([["a", "b"]], dtype=object), [1], counts)

    def test_all_rows(self):
        with pytest.raises(InputError, match="No row would be left"):
            _ = self.COUNTS - self.COUNTS

    def test_other_columns(self):
        with pytest.raises(InputError, match="different columns"):
            _ = self.COUNTS - NaiveBayes().count([["a"]], ["no"])

    def test_other_counts(self):
        with pytest.raises(TypeError):
            _ = self.COUNTS - AODE().count([["a", "x"]], ["no"])


def test_pairs_that_were_over_the_cap_are_not_made_up():
    make = partial(AODE, max_parent_categories=2)
    counts = make().count([["a", 1], ["b", 2], ["c", 3]], [0, 1, 0])
    with pytest.raises(InputError, match="Columns 0 and 1 have so few categories left"):
        _ = counts - make().count([["c", 3]], [0])


def test_the_reason_why_counts_do_not_add():
    def cut(edges):
        return NaiveBayes(bin_edges={0: edges}).count([[0.5], [1.5]], [0, 1])

    with pytest.raises(InputError, match="the parts are cut at different edges"):
        _ = cut([1.0]) + cut([1.2])
    with pytest.raises(InputError, match="one part has numbers, cut, the other text"):
        _ = cut([1.0]) + NaiveBayes().count([["a"], ["b"]], [0, 1])

    def in_tree(hierarchy):
        return EvidenceClassifier(max_crosses=0, hierarchies={0: hierarchy}).count([["a/b"], ["a.c"]], [0, 1])

    with pytest.raises(InputError, match="the parts have different hierarchies"):
        _ = in_tree("/") + in_tree(".")


def test_counts_that_are_not_touched_stay_as_they_are():
    X, y = table(5)
    counts = NaiveBayes(**EDGES).count(X, y)
    before = cells(counts)
    part = NaiveBayes(**EDGES).count(X[:5], y[:5])
    _ = counts - part, counts * 0.5, counts + part
    assert cells(counts) == before
    assert isinstance(counts - part, Counts)
