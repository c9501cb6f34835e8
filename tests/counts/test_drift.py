"""Drift: distances as counted by hand, noise as dealing all rows anew shows it, and what chance does not do."""

from collections import Counter
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conftest import examples
from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, InputError, NaiveBayes
from hebnb.counts import drift as module
from hebnb.counts.drift import drift, noise_level
from hebnb.estimators.rows import new_rows

MAKES = [NaiveBayes, AODE, TAN, KDB, HNB, EvidenceClassifier, lambda: NaiveBayes(missing="ignore")]


def table(rng, rows=400):
    return pd.DataFrame(
        {
            "few": rng.choice(["a", "b", None], rows),
            "many": rng.integers(150, size=rows).astype(str),
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "id": [f"{rng.integers(1 << 60)}" for _ in range(rows)],
            "flag": rng.random(rows) < 0.3,
        }
    ).astype({"few": object})


def lines(found):
    return pd.DataFrame(found.columns).set_index("column")


@pytest.mark.filterwarnings("ignore:Column .* every value is missing")
class TestDistances:
    VALUES = st.lists(st.sampled_from(["a", "b", "c", "d", "e", None]), min_size=1, max_size=30)

    @given(old=VALUES, new=VALUES, missing=st.sampled_from(["category", "ignore"]))
    @examples(40)
    def test_they_are_those_of_counting_by_hand(self, old, new, missing):
        model = NaiveBayes(missing=missing).fit(pd.DataFrame({"x": np.array(old, dtype=object)}), [0] * len(old))
        found = lines(model.drift(pd.DataFrame({"x": np.array(new, dtype=object)}))).loc["x"]
        before, now = Counter(old), Counter(new)
        apart = [before[value] / len(old) - now[value] / len(new) for value in {*old, *new}]
        assert found["distance"] == pytest.approx(sum(map(abs, apart)) / 2)
        valued = [value for value in new if value is not None]
        if valued:
            assert found["unseen"] == pytest.approx(sum(value not in before for value in valued) / len(valued))
        once, known = sum(before[value] == 1 for value in before if value), len(old) - before[None]
        if known:
            assert found["expected_unseen"] == pytest.approx(once / known)

    def test_bins_and_gaps(self):
        model = NaiveBayes(bin_edges={"x": [0.0]}).fit(pd.DataFrame({"x": [-1.0, -2.0, 1.0, np.nan]}), [0, 1, 0, 1])
        found = lines(model.drift(pd.DataFrame({"x": [5.0, 6.0, np.nan, np.nan]}))).loc["x"]
        assert found["distance"] == pytest.approx(0.5)
        assert found["unseen"] == 0

    def test_values_below_a_known_node_are_unseen(self):
        model = EvidenceClassifier(hierarchies={"x": "/"}).fit(pd.DataFrame({"x": ["a/b", "a/c"] * 20}), [0, 1] * 20)
        found = lines(model.drift(pd.DataFrame({"x": ["a/b", "a/new", "a/newer", "z"]}))).loc["x"]
        assert found["unseen"] == pytest.approx(0.75)
        assert found["distance"] == pytest.approx(0.75)

    def test_categories_that_were_left_out(self):
        old = pd.DataFrame({"x": ["a"] * 5 + ["b"] * 3 + ["c", "d"]})
        model = NaiveBayes(max_categories=2).fit(old, [0, 1] * 5)
        same, other = model.drift(old), model.drift(pd.DataFrame({"x": ["c", "z", "z", "z"]}))
        assert lines(same).loc["x", "distance"] == pytest.approx(0)
        assert lines(same).loc["x", "expected_unseen"] == pytest.approx(0.2)
        assert lines(other).loc["x", "distance"] == pytest.approx(0.8)

    @pytest.mark.parametrize("make", MAKES)
    def test_classes(self, make):
        rng = np.random.default_rng(0)
        X, y = table(rng), rng.choice(["x", "y"], 400, p=[0.8, 0.2])
        model = make().fit(X.drop(columns="id"), y)
        new = table(rng, 50).drop(columns="id")
        found = model.drift(new)
        assert found.classes["class"] == ["x", "y"]
        assert_allclose(found.classes["learned"], model.class_count_ / 400)
        assert_allclose(found.classes["predicted"], model.predict_proba(new).mean(axis=0))
        last = lines(found).loc["(class)"]
        assert last["distance"] == pytest.approx(abs(found.classes["learned"][0] - found.classes["predicted"][0]))
        assert last["drifted"] is None

    def test_rows_may_come_in_parts(self):
        rng = np.random.default_rng(1)
        model, new = NaiveBayes().fit(table(rng), rng.integers(2, size=400)), table(rng, 90)
        parts = new_rows(model, new[:30]) + new_rows(model, new[30:50]) + new_rows(model, new[50:])
        assert repr(drift(model.counts_, parts, {})) == repr(model.drift(new))


class TestNoise:
    @pytest.mark.parametrize(
        ("before", "now"), [([3, 2, 0], [1, 1, 2]), ([4, 4], [1, 3]), ([1, 1, 1, 0], [0, 0, 0, 2])]
    )
    def test_it_is_what_dealing_all_rows_anew_shows(self, before, now):
        rows = [value for value, n in enumerate(np.add(before, now)) for _ in range(n)]
        distances = []
        for dealt in combinations(range(len(rows)), sum(now)):
            own = Counter(rows[place] for place in dealt)
            rest = Counter(rows) - own
            apart = [own[value] / sum(now) - rest[value] / sum(before) for value in set(rows)]
            distances.append(sum(map(abs, apart)) / 2)
        with patch.multiple(module, _DEALS=20_000, _VALUES_DEALT=1 << 40):
            found = noise_level(np.array(before, float), np.array(now, float), np.random.default_rng(0))
        assert found == pytest.approx(np.mean(distances) + module._ERRORS * np.std(distances), rel=0.05)

    def test_rows_of_the_same_distribution_do_not_drift(self):
        rng = np.random.default_rng(2)
        for _ in range(40):
            model = NaiveBayes().fit(table(rng), np.arange(400) % 2)
            assert model.drift(table(rng, int(rng.integers(1, 300)))).drifted == []

    def test_ids_are_expected_to_be_new(self):
        rng = np.random.default_rng(3)
        found = lines(NaiveBayes().fit(table(rng), np.arange(400) % 2).drift(table(rng, 100))).loc["id"]
        assert found["unseen"] == found["expected_unseen"] == found["distance"] == 1
        assert not found["drifted"]

    @pytest.mark.parametrize("make", MAKES)
    def test_columns_that_changed_are_named(self, make):
        rng = np.random.default_rng(4)
        model = make().fit(table(rng).drop(columns="id"), np.arange(400) % 2)
        new = table(rng, 200).drop(columns="id").assign(size=lambda X: X["size"] + 1, flag=rng.random(200) < 0.7)
        assert model.drift(new).drifted == ["size", "flag"]
        gone = new.assign(few=np.where(rng.random(200) < 0.8, None, new["few"]), many="elsewhere")
        assert model.drift(gone).drifted == ["few", "many", "size", "flag"]

    def test_weights_that_are_no_rows(self):
        X = pd.DataFrame({"x": ["a", "b"] * 20})
        found = NaiveBayes().fit(X, [0, 1] * 20, np.full(40, 1e-3)).drift(X)
        assert np.isnan(lines(found).loc["x", "noise"])
        assert found.drifted == []

    def test_many_millions_of_rows(self):
        X = pd.DataFrame({"x": ["a", "b"]})
        model = NaiveBayes().fit(X, [0, 1], [3e9, 7e9])
        assert model.drift(pd.DataFrame({"x": ["a"] * 3 + ["b"] * 7})).drifted == []
        assert model.drift(pd.DataFrame({"x": ["a"] * 100})).drifted == ["x"]


def test_it_is_printed_as_a_table():
    rng = np.random.default_rng(5)
    shown = repr(NaiveBayes().fit(table(rng), np.arange(400) % 2).drift(table(rng, 20))).splitlines()
    assert shown[0] == "20 new rows, 5 columns"
    assert shown[2].split() == ["column", "unseen", "expected_unseen", "distance", "noise", "drifted"]
    assert [line.split()[0] for line in shown[3:9]] == ["few", "many", "size", "id", "flag", "(class)"]
    assert len({len(line) for line in shown[2:9]}) == 1
    assert shown[-1].startswith("Classes, learned → predicted: ")


def test_libraries_agree():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(6)
    model, new = NaiveBayes().fit(table(rng), np.arange(400) % 2), table(rng, 60)
    assert repr(model.drift(polars.from_pandas(new))) == repr(model.drift(new))


def test_what_cannot_be_compared():
    rng = np.random.default_rng(7)
    X = table(rng, 40)
    model = NaiveBayes().fit(X, np.arange(40) % 2)
    with pytest.raises(InputError, match="size"):
        model.drift(X.drop(columns="size"))
    with pytest.raises(InputError, match="0 rows"):
        model.drift(X[:0])
    with pytest.raises(InputError, match="rows in memory"):
        model.drift(pytest.importorskip("polars").from_pandas(X).lazy())
