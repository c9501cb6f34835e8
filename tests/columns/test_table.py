"""Any table in: kinds of columns, bins, gaps, unseen values, and the same answers from every library."""

import datetime as dt
import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

from conftest import BACKENDS, make_table
from hebnb import Additive, NaiveBayes
from hebnb.columns.column import Column
from hebnb.columns.kinds.bins import Bins, quantile_edges
from hebnb.columns.reading import ReadingParameters

START = dt.datetime(2024, 1, 1, 12)
COLUMNS = {
    "text": ["a", "b", "a", None, "c", "b"] * 4,
    "flag": [True, False, None, True, True, False] * 4,
    "code": [3, 1, 1, 7, 3, 3] * 4,
    "float": [i / 7 for i in range(24)],
    "gappy": [None if i % 5 == 0 else i + 0.5 for i in range(24)],
    "few": [0.5, 1.5, 2.5] * 8,
    "when": [START + dt.timedelta(hours=7 * i * i) for i in range(24)],
}
LABELS = ["x", "y", "y", "x", "x", "y"] * 4
NEW = {
    "text": ["a", "never", None],
    "flag": [None, True, False],
    "code": [1, 2, 7],
    "float": [-100.0, 1.0, 100.0],
    "gappy": [3.5, None, 99.0],
    "few": [0.5, 0.7, None],
    "when": [START, START + dt.timedelta(days=30), None],
}


def fitted(backend, **parameters):
    return NaiveBayes(**parameters).fit(make_table(backend, COLUMNS), LABELS)


@pytest.mark.parametrize(("at_fit", "at_predict"), list(itertools.product(BACKENDS, BACKENDS)))
def test_the_same_answers_from_every_library(at_fit, at_predict):
    expected = fitted("pandas").predict_proba(make_table("pandas", NEW))
    model = fitted(at_fit)
    if (at_fit == "numpy") != (at_predict == "numpy"):
        with pytest.warns(UserWarning, match="feature names"):
            proba = model.predict_proba(make_table(at_predict, NEW))
    else:
        proba = model.predict_proba(make_table(at_predict, NEW))
    assert_array_equal(proba, expected)


def test_kinds_go_by_dtype(table):
    X = table(COLUMNS)
    model = NaiveBayes(n_bins=4).fit(X, LABELS)
    text, flag, code, float_, gappy, few, when = model.categories_
    assert_array_equal(text, np.array(["a", "b", "c", None], dtype=object))
    assert_array_equal(flag, np.array([False, True, None], dtype=object))
    assert_array_equal(code, [1, 3, 7])
    assert len(float_) == 4
    assert float_[0].startswith("≤")
    assert len(gappy) == 5
    assert gappy[-1] is None
    assert_array_equal(few, [0.5, 1.5, 2.5])
    assert len(when) == 4
    names = ["float", "gappy", "when"] if hasattr(model, "feature_names_in_") else [3, 4, 6]
    assert list(model.bin_edges_) == names


def test_categories_of_the_dataframe_libraries():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    values = ["b", "a", None, "a", "b", "b"]
    y = [0, 1, 0, 1, 0, 1]
    columns = [
        pd.DataFrame({"x": values}, dtype=object),
        pd.DataFrame({"x": pd.Categorical(values, categories=["z", "b", "a"])}),
        pd.DataFrame({"x": pd.array(values, dtype="string")}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(["z", "b", "a"]))}),
        pa.table({"x": pa.array(values).dictionary_encode()}),
        pa.table({"x": pa.chunked_array([values[:2], values[2:]])}),
    ]
    for X in columns:
        model = NaiveBayes("laplace").fit(X, y)
        assert_array_equal(model.categories_[0], np.array(["a", "b", None], dtype=object))
        assert_array_equal(model.category_count_[0], [[0, 2, 1], [2, 1, 0]])
        assert_allclose(model.predict_proba(X)[2], [2 / 3, 1 / 3])


def test_integers_with_gaps_are_recognised_as_floats_later():
    pd = pytest.importorskip("pandas")
    model = NaiveBayes("laplace").fit(pd.DataFrame({"n": [1, 1, 2, 2]}), [0, 0, 1, 1])
    with_gap = pd.DataFrame({"n": [1.0, 2.0, np.nan, 1.5]})
    assert_allclose(model.predict_proba(with_gap)[:, 0], [3 / 4, 1 / 4, 1 / 2, 1 / 2])


def test_nullable_integers_keep_every_digit():
    pd = pytest.importorskip("pandas")
    big = 2**53
    X = pd.DataFrame({"id": pd.array([big, big + 1, None, big + 1], dtype="Int64")})
    assert NaiveBayes().fit(X, [0, 1, 0, 1]).categories_[0].tolist() == [big, big + 1, None]
    hashes = np.array([[2**64 - 1], [2**63], [5]], dtype=np.uint64)
    model = NaiveBayes("laplace").fit(hashes, [0, 1, 1])
    assert model.categories_[0].tolist() == [5, 2**63, 2**64 - 1]
    assert_array_equal(model.predict([[2**64 - 1], [5]]), [0, 1])


class TestKindsByHand:
    X = np.array([[1, 10], [2, 20], [3, 30], [4, 40]] * 3)
    y = [0, 0, 1, 1] * 3

    def test_integers_can_be_cut(self):
        model = NaiveBayes(numeric_features=[0], n_bins=2).fit(self.X, self.y)
        assert_array_equal(model.categories_[0], ["≤ 2", "> 2"])
        assert_array_equal(model.categories_[1], [10, 20, 30, 40])

    def test_floats_can_be_kept(self):
        X = self.X / 8
        assert NaiveBayes(n_bins=2).fit(X, self.y).bin_edges_.keys() == {0, 1}
        assert NaiveBayes(n_bins=2, categorical_features="all").fit(X, self.y).bin_edges_ == {}
        assert NaiveBayes(n_bins=2, categorical_features=[1]).fit(X, self.y).bin_edges_.keys() == {0}

    def test_names_and_positions(self, table):
        X = table({"a": [0.1, 0.2, 0.3, 0.4], "b": [0.1, 0.2, 0.3, 0.4]})
        for which in (["b"], [1], [-1]):
            if isinstance(X, np.ndarray) and which == ["b"]:
                continue
            model = NaiveBayes(n_bins=2, categorical_features=which).fit(X, [0, 0, 1, 1])
            assert [len(categories) for categories in model.categories_] == [2, 4]

    def test_contradictions_are_named(self):
        with pytest.raises(ValueError, match="Columns 0 are in categorical_features and also"):
            NaiveBayes(categorical_features=[0], numeric_features=[0]).fit(self.X, self.y)
        with pytest.raises(ValueError, match="'nonsense' is not known"):
            NaiveBayes(numeric_features=["nonsense"]).fit(self.X, self.y)
        with pytest.raises(ValueError, match="Column 0: its values are not all numbers"):
            NaiveBayes(numeric_features=[0]).fit([["a"], ["b"]], [0, 1])


class TestBins:
    @given(
        st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=60).filter(lambda values: len(set(values)) > 1),
        st.integers(2, 8),
    )
    def test_every_bin_is_used_and_none_is_overfull_without_ties(self, values, n_bins):
        ordered = np.sort(values)
        edges = quantile_edges(ordered, np.ones(len(values)), n_bins)
        assert (np.diff(edges) > 0).all()
        assert len(edges) < n_bins
        bins = np.searchsorted(edges, ordered)
        counts = np.bincount(bins, minlength=len(edges) + 1)
        assert (counts > 0).all()
        _, multiplicity = np.unique(ordered, return_counts=True)
        assert counts.max() <= len(values) / n_bins + multiplicity.max()

    @given(
        st.lists(st.tuples(st.integers(0, 9).map(float), st.integers(1, 4)), min_size=2, max_size=30).filter(
            lambda pairs: len({value for value, _ in pairs}) > 1
        )
    )
    def test_quantiles_see_no_difference_between_weight_and_repetition(self, pairs):
        values, weights = map(np.array, zip(*sorted(pairs), strict=True))
        repeated = np.repeat(values, weights)
        assert_array_equal(
            quantile_edges(values, weights.astype(float), 4), quantile_edges(repeated, np.ones(len(repeated)), 4)
        )

    @given(st.lists(st.integers(0, 40).map(float), min_size=12, max_size=80), st.integers(2, 8))
    def test_heavy_values_have_a_bin_to_themselves_and_others_the_quantiles(self, values, n_bins):
        column = Column("x", np.array(values) / 2)
        distinct, counts = np.unique(column.data, return_counts=True)
        kind = Bins.learn(column, ReadingParameters(n_bins=n_bins).of(("x",)))
        if len(distinct) <= n_bins:
            assert kind.cut_at is None
            return
        codes, heavy = kind.encode(column), distinct[counts * n_bins > len(values)]
        for value in heavy:
            assert set(column.data[codes == codes[column.data == value][0]]) == {value}
        below = [distinct[distinct < value].max() for value in heavy if value > distinct[0]]
        plain = quantile_edges(np.sort(column.data), np.ones(len(values)), n_bins)
        assert set(kind.cut_at) == {*plain, *below}
        if not len(heavy):
            assert_array_equal(kind.cut_at, plain)

    @given(st.integers(2, 8), st.integers(3, 9), st.lists(st.tuples(st.integers(0, 99), st.integers(1, 9)), max_size=3))
    def test_negated_numbers_have_the_mirrored_bins(self, n_bins, share, spikes):
        """Where no quantile falls inside a value that is no spike: others have one row each, and bins equal shares."""
        heavy = {place + 0.5: share + more for place, more in spikes}
        alone = n_bins * share - sum(heavy.values())
        assume(alone + len(heavy) > n_bins)
        numbers = np.concatenate([np.arange(alone), *(np.full(n, value) for value, n in heavy.items())])
        reading = ReadingParameters(n_bins=n_bins).of(("x",))
        here, there = (Column("x", own) for own in (numbers, -numbers))
        codes, mirrored = (Bins.learn(own, reading).encode(own) for own in (here, there))
        assert_array_equal(codes, codes.max() - mirrored)

    def test_a_spike_above_all_others_is_no_worse_than_one_below(self):
        """57 % of the rows at 100, where the class is another than below: the best log-loss is that of two bins."""
        random = np.random.default_rng(0)
        spike = random.random(4_000) < 0.57
        x = np.where(spike, 100.0, random.uniform(0, 100, 4_000))
        y = np.where(random.random(4_000) < np.where(spike, 0.2, 0.4), "p", "q")
        losses = [
            log_loss(y, NaiveBayes(smoothing=Additive(1e-6)).fit(own, y).predict_proba(own))
            for own in (x[:, np.newaxis], -x[:, np.newaxis])
        ]
        told = np.where(spike, *(np.mean(y[own] == "p") for own in (spike, ~spike)))
        best = log_loss(y, np.column_stack([told, 1 - told]))
        assert losses[0] == pytest.approx(losses[1], abs=1e-3)
        assert max(losses) < best + 1e-3

    def test_values_beyond_the_training_range_fall_into_the_end_bins(self):
        X = np.linspace(0, 1, 50)[:, np.newaxis]
        model = NaiveBayes().fit(X, X[:, 0] > 0.5)
        assert_array_equal(model.predict_proba([[-9.0], [9.0]]), model.predict_proba([[0.0], [1.0]]))

    def test_given_edges(self):
        model = NaiveBayes(bin_edges={0: [18, 65]}).fit([[3], [18], [40], [70]], [0, 0, 1, 1])
        assert_array_equal(model.category_count_[0], [[2, 0, 0], [0, 1, 1]])
        for bad in ([3, 1], [1, 1], [np.nan], [[1, 2]], [], "12"):
            with pytest.raises(ValueError, match=r"bin_edges\[0\].* must be "):
                NaiveBayes(bin_edges={0: bad}).fit([[1], [2]], [0, 1])


class TestMissing:
    COLUMNS = {"a": ["u", None, "u", "v", None, "v"], "b": [1.0, 2.0, 3.0, 4.0, 5.0, None]}
    y = [0, 0, 0, 1, 1, 1]

    def test_a_category_where_seen(self, table):
        model = NaiveBayes("laplace").fit(table(self.COLUMNS), self.y)
        assert_array_equal(model.category_count_[0], [[2, 0, 1], [0, 2, 1]])
        complete = NaiveBayes("laplace").fit(table({"a": ["u", "v"]}), [0, 1])
        assert_allclose(complete.predict_proba(table({"a": [None, "u"]})), [[0.5, 0.5], [2 / 3, 1 / 3]])

    def test_ignored(self, table):
        model = NaiveBayes("laplace", missing="ignore").fit(table(self.COLUMNS), self.y)
        assert_array_equal(model.category_count_[0], [[2, 0], [0, 2]])
        assert_array_equal(model.class_count_, [3, 3])
        assert_allclose(model.predict_proba(table({"a": [None], "b": [None]})), [[0.5, 0.5]])
        assert_allclose(np.exp(model.feature_log_prob_[0]), [[3 / 4, 1 / 4], [1 / 4, 3 / 4]])
        assert_allclose(model.shrinkage_[:, 0], [1 / 2, 1 / 2])

    def test_refused(self, table):
        with pytest.raises(ValueError, match=r"2 values are missing.\nHint: missing=\"category\""):
            NaiveBayes(missing="error").fit(table(self.COLUMNS), self.y)
        whole = {"a": ["u", "v"], "b": [1.0, 2.0]}
        model = NaiveBayes(missing="error").fit(table(whole), [0, 1])
        with pytest.raises(ValueError, match="1 values are missing"):
            model.predict(table({"a": ["u", None], "b": [1.0, 2.0]}))

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    def test_a_column_of_gaps_contributes_nothing(self, table, missing):
        X = table({"gone": [None] * 4, "here": ["u", "u", "v", "v"]})
        with pytest.warns(UserWarning, match="every value is missing"):
            model = NaiveBayes(missing=missing).fit(X, [0, 1, 1, 1])
        alone = NaiveBayes(missing=missing).fit(table({"here": ["u", "u", "v", "v"]}), [0, 1, 1, 1])
        assert_allclose(model.predict_proba(X), alone.predict_proba(table({"here": ["u", "u", "v", "v"]})))

    def test_every_sort_of_gap(self):
        pd = pytest.importorskip("pandas")
        X = np.array([["a"], [None], [np.nan], [pd.NaT], [pd.NA], [np.datetime64("NaT", "ns")]], dtype=object)
        model = NaiveBayes().fit(X, [0, 1, 1, 1, 1, 1])
        assert_array_equal(model.category_count_[0], [[1, 0], [0, 5]])


class TestMixedObjects:
    def test_values_keep_their_types(self):
        X = np.array([["1"], [1], [(1, 2)], ["1"], [1], [b"1"]], dtype=object)
        model = NaiveBayes("laplace").fit(X, [0, 1, 0, 0, 1, 1])
        assert set(model.categories_[0]) == {"1", 1, (1, 2), b"1"}
        assert_array_equal(model.predict([["1"], [1]]), [0, 1])

    def test_a_list_of_rows_keeps_numbers(self):
        model = NaiveBayes(n_bins=2).fit([["a", 1.5], ["b", 2.5], ["a", 3.5]], [0, 1, 1])
        assert list(model.bin_edges_) == [1]


class TestColumnNames:
    def test_as_scikit_learn_has_them(self):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame({"a": ["u", "v"], "b": [1, 2]})
        model = NaiveBayes().fit(X, [0, 1])
        assert_array_equal(model.feature_names_in_, ["a", "b"])
        with pytest.raises(
            ValueError, match="Column 'b' stands where 'a' stood at fit.\nHint: Pass the columns of fit"
        ):
            model.predict(X[["b", "a"]])
        with pytest.raises(ValueError, match="(?s)yet now missing:\n- b"):
            model.predict(X[["a"]])
        with pytest.raises(ValueError, match="(?s)unseen at fit time:\n- c"):
            model.predict(X.assign(c=1))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X.to_numpy())

    def test_the_pandas_index_is_no_column(self):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame({"a": ["u", "v", "w", "u"]}, index=[7, 7, 1, 0])
        y = pd.Series([0, 1, 1, 0], index=[3, 2, 1, 0])
        model = NaiveBayes().fit(X, y, sample_weight=pd.Series([1, 0, 2, 1], index=[9, 9, 9, 9]))
        assert_array_equal(model.category_count_[0], [[2, 0], [0, 2]])
