"""Columns that once went wrong, or easily could."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import BACKENDS, make_table
from hebnb import InputError, NaiveBayes, load, save
from hebnb.export import onnx_inputs, to_onnx, to_sql

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))

DAYS = [dt.datetime(2024, 1, day) for day in (1, 2, 3)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "values",
    [DAYS, [dt.timedelta(hours=h) for h in (1, 2, 3)], [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]],
    ids=["times", "durations", "decimals"],
)
def test_a_few_distinct_measurements_are_categories(backend, values):
    X = make_table(backend, {"x": values * 10})
    y = ["a", "b", "c"] * 10
    model = NaiveBayes().fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert_array_equal(model.category_count_[0], 10 * np.eye(3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "value",
    [lambda i: DAYS[0] + dt.timedelta(days=i), lambda i: dt.timedelta(minutes=i), lambda i: Decimal(i) / 8],
    ids=["times", "durations", "decimals"],
)
def test_many_distinct_measurements_are_cut(backend, value):
    X = make_table(backend, {"x": [value(i) for i in range(40)]})
    model = NaiveBayes(n_bins=4).fit(X, [i < 20 for i in range(40)])
    assert [len(categories) for categories in model.categories_] == [4]
    assert model.score(X, [i < 20 for i in range(40)]) == 1


def test_bins_of_times_are_named_by_times():
    X = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40, freq="h")})
    assert NaiveBayes(n_bins=2).fit(X, [0, 1] * 20).categories_[0].tolist() == [
        "≤ 2024-01-01 19:00",
        "> 2024-01-01 19:00",
    ]
    edges = [dt.datetime(2024, 1, 2)]
    model = NaiveBayes(bin_edges={"when": edges}).fit(X, [0, 1] * 20)
    assert_array_equal(model.category_count_[0].sum(axis=0), [25, 15])


def test_the_unit_and_zone_of_times_do_not_matter():
    moments = pd.date_range("2024-01-01", periods=40, freq="37min")
    y = [i < 20 for i in range(40)]
    model = NaiveBayes().fit(pd.DataFrame({"t": moments.astype("datetime64[s]")}), y)
    expected = model.predict_proba(pd.DataFrame({"t": moments.astype("datetime64[ns]")}))
    in_utc = pl.DataFrame({"t": moments.tolist()}).with_columns(pl.col("t").dt.replace_time_zone("UTC"))
    assert_array_equal(model.predict_proba(in_utc), expected)
    assert_array_equal(
        model.predict_proba(in_utc.with_columns(pl.col("t").dt.convert_time_zone("Asia/Tokyo"))), expected
    )


def test_labels_of_large_bins_can_be_told_apart():
    X = 1e9 + np.arange(100.0)[:, np.newaxis]
    categories = NaiveBayes().fit(X, np.arange(100) % 2).categories_[0]
    assert len(set(categories)) == 10


@pytest.mark.parametrize("smoothing", ["heb-m", "heb-u", "laplace", "te"])
def test_an_empty_bin_is_no_catastrophe(smoothing):
    X = np.linspace(1, 99, 50)[:, np.newaxis]
    model = NaiveBayes(smoothing, bin_edges={0: [0, 100]}).fit(X, [0, 1] * 25)
    assert_allclose(model.predict_proba([[200.0]]), [[0.5, 0.5]])
    assert_allclose(np.exp(model.feature_log_prob_[0]).sum(axis=1), 1)


def test_a_value_that_is_nearly_all_gets_a_bin_to_itself():
    rng = np.random.default_rng(0)
    rare = rng.random(1000) < 0.05
    for heavy in (1.0, 0.0):
        X = np.where(rare, rng.random(1000), heavy)[:, np.newaxis]
        assert NaiveBayes().fit(X, rare).score(X, rare) == 1


class TestArrowDictionaries:
    def test_a_null_in_the_dictionary_is_a_gap(self):
        X = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 5), pa.array(["x", None]))})
        plain = pa.table({"a": pa.array(["x", None] * 5)})
        model, other = NaiveBayes().fit(X, [0, 1] * 5), NaiveBayes().fit(plain, [0, 1] * 5)
        assert model.categories_[0].tolist() == ["x", None]
        assert_array_equal(model.predict_proba(plain), other.predict_proba(plain))
        with pytest.raises(ValueError, match="5 values are missing"):
            NaiveBayes(missing="error").fit(X, [0, 1] * 5)

    def test_repeated_values_are_one_category(self):
        X = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "a", "b"]))})
        assert_array_equal(NaiveBayes().fit(X, [0, 1, 1]).category_count_[0], [[1, 0], [1, 1]])

    def test_numbers_in_the_dictionary(self):
        X = pa.table({"a": pa.array([1.5, None, 2.5]).dictionary_encode()})
        assert NaiveBayes().fit(X, [0, 1, 1]).categories_[0].tolist()[:2] == [1.5, 2.5]


class TestNames:
    def test_columns_named_by_numbers_must_keep_their_order(self):
        X = pd.DataFrame({7: ["x", "y"] * 2, 9: ["p", "p", "q", "q"]})
        model = NaiveBayes().fit(X, [0, 1] * 2)
        with pytest.raises(ValueError, match="Column 9 stands where 7 stood"):
            model.predict(X[[9, 7]])
        with pytest.raises(ValueError, match="Column 9 is missing"):
            model.predict(X[[7]])
        with pytest.raises(ValueError, match="Column 9 stands where 7 stood"):
            model.partial_fit(X[[9, 7]], [0, 1] * 2)

    def test_names_of_mixed_types(self):
        with pytest.raises(ValueError, match="Some column names are strings and some are not"):
            NaiveBayes().fit(pd.DataFrame({"a": [1, 2], 1: [1, 2]}), [0, 1])


class TestGapsOnly:
    GONE = [
        pd.DataFrame({"f": [None, None]}),
        pd.DataFrame({"f": pd.array([None, None], dtype="string")}),
        pl.DataFrame({"f": [None, None]}),
        pa.table({"f": pa.nulls(2)}),
    ]

    @pytest.mark.parametrize("X", GONE, ids=["objects", "strings", "polars", "arrow"])
    @pytest.mark.parametrize("values", [np.arange(30.0), pd.date_range("2024", periods=30)], ids=["floats", "times"])
    def test_at_predict(self, X, values):
        model = NaiveBayes().fit(pd.DataFrame({"f": values}), [0, 1] * 15)
        assert_allclose(model.predict_proba(X), 0.5)
        assert model.partial_fit(X, [0, 1]).category_count_[0][:, -1].tolist() == [1, 1]

    def test_with_edges_given(self):
        X = pd.DataFrame({"a": [np.nan] * 6})
        with pytest.warns(UserWarning, match="every value is missing"):
            model = NaiveBayes("laplace", bin_edges={"a": [1, 2]}).fit(X, [0, 1, 1, 1, 1, 1])
        assert_allclose(model.predict_proba(X)[0], [2 / 8, 6 / 8])

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.filterwarnings("ignore:Column .* every value is missing")
    def test_with_edges_given_it_says_nothing_anywhere(self, missing, tmp_path):
        """Neither a gap nor a number: in files, queries, graphs and engines, and counted there too."""
        runtime, duckdb = pytest.importorskip("onnxruntime"), pytest.importorskip("duckdb")
        X = pd.DataFrame({"a": [np.nan] * 6, "b": list("xxyyyx")})
        y, rows = [0, 1, 1, 1, 1, 0], pd.DataFrame({"a": [np.nan, 1.5, -3.0], "b": ["x", "y", "z"]})
        how = {"smoothing": "laplace", "missing": missing}
        expected = NaiveBayes(**how).fit(X[["b"]], y).predict_proba(rows[["b"]])
        lazy = pl.from_pandas(X.assign(y=y)).lazy()
        for model in (
            NaiveBayes(bin_edges={"a": [1, 2]}, **how).fit(X, y),
            NaiveBayes(bin_edges={"a": [1, 2]}, **how).fit(lazy, "y"),
        ):
            assert list(model.bin_edges_["a"]) == [1, 2]
            save(model, tmp_path / "model.skops")
            for own in (model, load(tmp_path / "model.skops")):
                assert_allclose(own.predict_proba(rows), expected)
                collected = own.predict_proba(pl.from_pandas(rows).lazy()).collect()
                assert_allclose(collected[["proba_0", "proba_1"]].to_numpy(), expected)
                with duckdb.connect() as connection:
                    connection.execute('CREATE TABLE "rows" AS SELECT * FROM rows')
                    found = connection.execute(to_sql(own)).df()
                assert_allclose(found.sort_values("b")[["proba_0", "proba_1"]], expected)
                session = runtime.InferenceSession(to_onnx(own).SerializeToString())
                assert_allclose(session.run(None, onnx_inputs(own, rows))[1], expected)

    def test_shrinkage_of_an_ignored_column_is_complete(self):
        with pytest.warns(UserWarning, match="every value is missing") as seen:
            model = NaiveBayes(missing="ignore").fit([[None], [None]], [0, 1])
        assert seen[0].filename == __file__
        assert_array_equal(model.shrinkage_, [[1], [1]])


def test_objects_that_begin_with_gaps():
    late = pd.DataFrame({"f": [None] * 150 + [i / 3 for i in range(50)]}, dtype=object)
    model = NaiveBayes().fit(late, [0, 1] * 100)
    assert len(model.categories_[0]) == 11


def test_masked_cells_are_gaps():
    X = np.ma.masked_array([[1], [2], [1]], mask=[[False], [True], [False]])
    assert NaiveBayes().fit(X, [0, 1, 0]).categories_[0].tolist() == [1, None]
    with pytest.raises(ValueError, match="1 labels are missing"):
        NaiveBayes().fit([[1], [2]], np.ma.masked_array([0, 1], mask=[True, False]))


def test_string_views_can_be_weighted():
    X = pa.table({"a": pa.array(["x", "y", "x"], pa.string_view())})
    assert NaiveBayes().fit(X, [0, 1, 1], sample_weight=[1, 0, 1]).categories_[0].tolist() == ["x"]


def test_what_a_library_cannot_do_names_the_column():
    X = pa.table({"ok": [1, 2], "odd": pa.array([[("k", 1)], []], type=pa.map_(pa.string(), pa.int64()))})
    with pytest.raises(ValueError, match="Column 'odd'"):
        NaiveBayes().fit(X, [0, 1])


@pytest.mark.parametrize("backend", BACKENDS)
def test_times_of_day_are_categories(backend):
    X = make_table(backend, {"at": [dt.time(hour) for hour in range(24)] * 2})
    assert len(NaiveBayes().fit(X, [0, 1] * 24).categories_[0]) == 24


class TestTargets:
    def test_a_row_without_weight_needs_no_label(self):
        model = NaiveBayes().fit([["a"], ["b"], ["a"]], ["x", None, "y"], sample_weight=[1, 0, 1])
        assert model.classes_.tolist() == ["x", "y"]

    def test_whole_and_fractional_numbers(self):
        with pytest.raises(ValueError, match="Unknown label type"):
            NaiveBayes().fit([[1], [2]], [0.5, 1])
        assert NaiveBayes().fit([[1], [2]], [1.0, 2.0]).classes_.tolist() == [1, 2]

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
    def test_a_table_of_one_column(self, library):
        assert NaiveBayes().fit([[1], [2]], library({"y": ["a", "b"]})).classes_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="y has 2 columns"):
            NaiveBayes().fit([[1], [2]], library({"y": ["a", "b"], "z": [1, 2]}))

    @pytest.mark.parametrize("y", [[[0, 1], [1, 0]], 3, "ab", {"a": 1}])
    def test_shapes_that_are_no_labels(self, y):
        with pytest.raises(ValueError, match="y"):
            NaiveBayes().fit([[1], [2], [3]], y)

    @pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array, pd.Categorical, np.array, list])
    def test_labels_in_every_library(self, series):
        assert NaiveBayes().fit([[1], [2], [2]], series(["b", "a", "b"])).classes_.tolist() == ["a", "b"]

    def test_a_set_of_classes(self):
        assert NaiveBayes().partial_fit([[1]], [1], classes={0, 1}).classes_.tolist() == [0, 1]


class TestParameters:
    X = np.arange(30)[:, np.newaxis].repeat(2, axis=1)
    y = np.arange(30) % 2

    @pytest.mark.parametrize("which", [np.array([0]), (0,), [True, False], np.array([True, False]), pd.Index([0])])
    def test_lists_of_columns(self, which):
        assert list(NaiveBayes(numeric_features=which).fit(self.X, self.y).bin_edges_) == [0]

    @pytest.mark.parametrize("name", ["numeric_features", "categorical_features"])
    @pytest.mark.parametrize("value", [0, [True], ["a"], [7]])
    def test_what_is_no_list_of_columns(self, name, value):
        with pytest.raises(ValueError, match=name):
            NaiveBayes(**{name: value}).fit(self.X, self.y)

    def test_edges_given_twice(self):
        frame = pd.DataFrame({"a": range(4)})
        with pytest.raises(ValueError, match="'a' twice"):
            NaiveBayes(bin_edges={"a": [1], 0: [2]}).fit(frame, [0, 1, 0, 1])

    def test_edges_are_copied(self):
        edges = np.array([10.0, 20.0])
        model = NaiveBayes(bin_edges={0: edges}).fit(self.X, self.y)
        edges[:] = 0
        assert model.bin_edges_[0].tolist() == [10, 20]

    @pytest.mark.parametrize("weights", [["a"] * 30, {"a": 1}, np.full(30, "2020", dtype="M8[D]"), [1e308] * 30])
    def test_weights_that_are_no_numbers(self, weights):
        with pytest.raises(ValueError, match="sample_weight"):
            NaiveBayes().fit(self.X, self.y, sample_weight=weights)


def test_columns_named_by_integers_are_not_taken_by_position():
    X = pd.DataFrame({0: list("aabb"), 1: list("xyxy")})
    model = NaiveBayes().fit(X, [0, 0, 1, 1])
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    with pytest.raises(InputError, match="Column 1 stands where 0 stood at fit"):
        model.predict(X[[1, 0]])
    with pytest.raises(InputError, match="Column 0 is missing"):
        model.predict(X.rename(columns={0: 7, 1: 8}))
    assert model.predict(X.to_numpy()).tolist() == [0, 0, 1, 1]  # an array has no names


def test_whole_decimals_that_are_all_missing_in_pandas_with_types_of_arrow():
    dtype = pd.ArrowDtype(pa.decimal128(12, 0))
    learned = pd.DataFrame({"x": pd.array([Decimal(1), Decimal(2), None] * 4, dtype=dtype)})
    gaps = pd.DataFrame({"x": pd.array([None, None], dtype=dtype)})
    model = NaiveBayes().fit(learned, [0, 1, 1] * 4)
    assert_allclose(model.predict_proba(gaps), model.predict_proba(learned.iloc[[2, 2]]))
    with pytest.warns(UserWarning, match="every value is missing"):
        assert NaiveBayes().fit(gaps, [0, 1]).categories_[0].tolist() == [None]
