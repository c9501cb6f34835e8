"""The algebra of counts: what is taken back was never there, and what fades counts less. For all counts there are."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb import AODE, KDB, TAN, EvidenceClassifier, InputError, NaiveBayes, ParameterError
from hebnb.columns.table import read
from hebnb.counts.families import FamilyCounts
from hebnb.counts.pairs import PairCounts
from hebnb.counts.single import Counts, dense
from hebnb.evidence.counts import EvidenceCounts, nodes_of

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

EDGES = {"bin_edges": {"size": [0.0, 1.0]}}
MAKES = {
    "naive Bayes": partial(NaiveBayes, **EDGES),
    "gaps ignored": partial(NaiveBayes, missing="ignore", **EDGES),
    "AODE": partial(AODE, **EDGES),
    "TAN": partial(TAN, missing="ignore", **EDGES),
    "KDB": partial(KDB, **EDGES),
    "KDB, gaps ignored": partial(KDB, missing="ignore", **EDGES),
    "evidence": partial(EvidenceClassifier, hierarchies={"path": "/"}),
    "evidence, gaps ignored": partial(EvidenceClassifier, missing="ignore", hierarchies={"path": "/"}),
}


def table(seed, rows=80):
    """Text with gaps, numbers to be cut, mixed values, paths in a tree; two columns that only tell together."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(3, size=(2, rows))
    mixed = np.array([1, 10, 9, "a", "b", None], dtype=object)
    X = pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.array(list("abc"), dtype=object)[first]),
            "other": np.array(list("xyz"), dtype=object)[second],
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "mixed": mixed[rng.integers(len(mixed), size=rows)],
            "path": rng.choice(["a/b", "a/c", "a/c/d", "e", "f/g/h"], rows).astype(object),
        }
    )
    labels = np.where(rng.random(rows) < 0.8, (first + second) % 3, rng.integers(3, size=rows))
    return X, np.array(["no", "perhaps", "yes"], dtype=object)[labels]


def counted(model, X, y, known=None, weights=None):
    """Counts with the bins, parents and crosses of others."""
    learning = model._learning()
    rows, _ = learning.encoded(read(X), y, weights, known and known.vocabulary)
    return learning.structure.count(rows, known)


def cells(counts):
    """The weight of everything that occurs, by names: (columns, values, class)."""
    features, classes = counts.vocabulary.features, counts.classes.values.tolist()
    found = dict(zip(classes, counts.class_count.tolist(), strict=True))

    def add(columns, texts, line):
        for label, weight in zip(classes, line, strict=True):
            if weight:
                found[columns, texts, label] = weight

    for f, own in enumerate(counts.tables):
        for text, line in zip(features[f].texts, dense(own).tolist(), strict=True):
            add((f,), (text,), line)
    texts = [[*kind.texts, "(silent)"] for kind in features]
    if isinstance(counts, PairCounts):
        pairs = counts.pairs.cells()
        line = [(f, text) for f, kind in enumerate(features) for text in kind.texts]
        for one, two, c, weight in zip(pairs.first, pairs.second, pairs.class_, pairs.count, strict=True):
            (f, first), (g, second) = line[one], line[two]
            found[(f, g), (first, second), classes[c]] = weight
    if isinstance(counts, FamilyCounts):
        for family in counts.cells:
            columns = family.child, *family.parents
            for codes, own in zip(family.codes, family.count.tolist(), strict=True):
                add(columns, tuple(texts[f][code] for f, code in zip(columns, codes, strict=True)), own)
    if isinstance(counts, EvidenceCounts):
        for cross, own in zip(counts.choice.crosses, counts.cells, strict=True):
            names = [_names_of_nodes(features[f], cross.depth, texts[f]) for f in cross.columns]
            for codes, line in zip(own.codes, own.count.tolist(), strict=True):
                add(cross.columns, tuple(name[node] for name, node in zip(names, codes, strict=True)), line)
    return found


def _names_of_nodes(kind, depth, texts):
    """A node is called like its categories but those that only stand for others, which come and go."""
    nodes = nodes_of(kind, depth)
    return [
        tuple(t for t, own in zip(texts, nodes, strict=True) if own == node and "others" not in str(t))
        for node in range(nodes.max() + 1)
    ]


def assert_same(found, expected):
    ours, theirs = cells(found), cells(expected)
    assert ours.keys() == theirs.keys()
    assert_allclose([ours[key] for key in theirs], list(theirs.values()), rtol=1e-9)
    for own, other in zip(found.vocabulary.features, expected.vocabulary.features, strict=True):
        assert own.texts == other.texts
        assert own.labels.dtype == other.labels.dtype
    assert_array_equal(found.classes.values, expected.classes.values)


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
        with pytest.raises(
            InputError, match="'c' in column 0 in class 'no' was counted 0 times, and 1 would"
        ):
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
