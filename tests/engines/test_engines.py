"""The same model from every engine, and the same probabilities on it."""

import pickle

import narwhals as nw
import numpy as np
import pytest
from clusters import spark_session
from numpy.testing import assert_allclose, assert_array_equal

from hebnb import AODE, KDB, TAN, EvidenceClassifier, HebnbError, InputError, NaiveBayes, ParameterError, fit_batches
from hebnb.engines.backends.duckdb import DuckDB

pd = pytest.importorskip("pandas")

EDGES = {"x": [-0.5, 0.0, 0.7]}
FEATURES = ["c", "i", "b", "x", "few"]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


def make_frame(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["p", "q", "r"], rows)
    text = np.array([f"v{code}" for code in rng.integers(30, size=rows)], dtype=object)
    text[rng.random(rows) < 0.1] = None
    return pd.DataFrame(
        {
            "c": text,
            "i": rng.integers(0, 5, rows) + (y == "q"),
            "b": rng.random(rows) < 0.5,
            "x": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(y == "p")),
            "few": rng.integers(0, 3, rows).astype(float),
            "w": rng.integers(0, 4, rows).astype(float),
            "y": y,
        }
    )


def make_probe():
    """Rows to score: values never seen, gaps, repeated rows, and a number of every row."""
    frame = make_frame(60, seed=5)
    frame.loc[0, "c"] = "never seen"
    frame.loc[1, "c"] = None
    frame = pd.concat([frame, frame.iloc[:5]], ignore_index=True)
    frame["row"] = np.arange(len(frame))
    return frame


def with_agreement(frame):
    """Labels that two columns tell together and neither by itself."""
    agree = (frame["i"] % 2 == 1) == frame["b"]
    rare = np.random.default_rng(7).random(len(frame)) < 0.15
    return frame.assign(y=np.where(rare, "r", np.where(agree, "p", "q")))


def polars_engine():
    polars = pytest.importorskip("polars")
    return lambda frame: polars.from_pandas(frame, nan_to_null=True).lazy()


def duckdb_engine():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()

    def make(frame):
        connection.register(f"frame_{id(frame)}", frame)
        return connection.sql(f"SELECT * FROM frame_{id(frame)}")

    return make


def ibis_engine():
    ibis = pytest.importorskip("ibis")
    return ibis.memtable


def dask_engine():
    dask = pytest.importorskip("dask.dataframe")
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    client = distributed.Client(cluster)

    def make(frame):
        return dask.from_pandas(frame, npartitions=3)

    make.close = lambda: (client.close(), cluster.close())
    return make


def spark_engine():
    session = spark_session("local[2]")

    def make(frame):
        return session.createDataFrame(frame)

    make.close = session.stop
    make.session = session
    return make


ENGINES = {
    "polars": polars_engine,
    "duckdb": duckdb_engine,
    "dask": dask_engine,
    "ibis": ibis_engine,
    "spark": spark_engine,
}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    """A function from a pandas table to a lazy one; the tests run once for each engine."""
    make = ENGINES[request.param]()

    def table(frame):
        return make(frame)

    table.kind = request.param
    yield table
    getattr(make, "close", lambda: None)()


def collected(table):
    frame = nw.from_native(table)
    assert isinstance(frame, nw.LazyFrame)
    return frame.collect().to_pandas()


def assert_same(ours, theirs):
    assert_array_equal(ours.classes_, theirs.classes_)
    for mine, other in zip(ours.categories_, theirs.categories_, strict=True):
        assert_array_equal(mine.astype(str), other.astype(str))
    for part in ("category_count_", "prior_mean_"):
        for mine, other in zip(getattr(ours, part), getattr(theirs, part), strict=True):
            assert_allclose(mine, other, atol=1e-12)
    assert_allclose(ours.class_count_, theirs.class_count_, atol=1e-12)
    strengths = [model.concentration_ for model in (ours, theirs)]
    for mine, other in zip(*(part if isinstance(part, list) else [part] for part in strengths), strict=True):
        assert_allclose(mine, other, rtol=1e-10)


class TestFit:
    @pytest.mark.parametrize("make", [NaiveBayes, AODE, TAN, KDB])
    @pytest.mark.parametrize("weight", [None, "w"])
    def test_the_same_model(self, engine, make, weight):
        frame = make_frame()
        here = make(bin_edges=EDGES).fit(frame[FEATURES], frame["y"], frame[weight] if weight else None)
        there = make(bin_edges=EDGES).fit(engine(frame), "y", sample_weight=weight, features=FEATURES)
        assert_same(there, here)
        assert_array_equal(there.feature_names_in_, FEATURES)
        probe = make_frame(50, seed=9)[FEATURES]
        probe.loc[0, "c"] = "never seen"
        assert_allclose(there.predict_proba(probe), here.predict_proba(probe), atol=1e-12)

    @pytest.mark.parametrize("weight", [None, "w"])
    def test_the_same_evidence(self, engine, weight):
        frame = with_agreement(make_frame())
        here = EvidenceClassifier().fit(frame[FEATURES], frame["y"], frame[weight] if weight else None)
        there = EvidenceClassifier().fit(engine(frame), "y", sample_weight=weight, features=FEATURES)
        assert there.crosses_ == here.crosses_
        assert there.crosses_
        for mine, other in zip(there.category_count_, here.category_count_, strict=True):
            assert_allclose(mine, other, atol=1e-12)
        for mine, other in zip(there.counts_.cells, here.counts_.cells, strict=True):
            assert_array_equal(mine.codes, other.codes)
            assert_allclose(mine.count, other.count, atol=1e-12)
        probe = make_frame(50, seed=9)[FEATURES]
        assert_allclose(there.predict_proba(probe), here.predict_proba(probe), atol=1e-9)

    @pytest.mark.parametrize("missing", ["ignore", "category"])
    def test_gaps(self, engine, missing):
        frame = make_frame()
        here = NaiveBayes(bin_edges=EDGES, missing=missing).fit(frame[FEATURES], frame["y"])
        there = NaiveBayes(bin_edges=EDGES, missing=missing).fit(engine(frame), "y", features=FEATURES)
        assert_same(there, here)

    def test_gaps_can_be_refused(self, engine):
        with pytest.raises(InputError, match="Column 'c': .* values are missing"):
            NaiveBayes(missing="error").fit(engine(make_frame()[["c", "y"]]), "y")

    def test_bins_by_the_engines_quantiles(self, engine):
        frame = make_frame(4_000)
        model = NaiveBayes(n_bins=5).fit(engine(frame), "y", features=["x", "few"])
        assert list(model.bin_edges_) == ["x"]  # three numbers are categories
        shares = [(frame["x"].dropna() <= edge).mean() for edge in model.bin_edges_["x"]]
        assert_allclose(shares, [0.2, 0.4, 0.6, 0.8], atol=0.03)

    def test_other_columns_are_features(self, engine):
        frame = make_frame()[["c", "i", "y"]]
        model = NaiveBayes().fit(engine(frame), "y")
        assert_array_equal(model.feature_names_in_, ["c", "i"])

    def test_weights_learned_from_a_sample(self, engine):
        frame = make_frame(3_000)
        here = NaiveBayes(bin_edges=EDGES, weighting="loo").fit(frame[FEATURES], frame["y"])
        there = NaiveBayes(bin_edges=EDGES, weighting="loo").fit(engine(frame), "y", features=FEATURES)
        assert_allclose(there.feature_weights_, here.feature_weights_, atol=1e-6)
        from unittest.mock import patch

        with patch("hebnb.weighting.leave_one_out.MOST_ROWS", 1_500):
            sampled = NaiveBayes(bin_edges=EDGES, weighting="loo").fit(engine(frame), "y", features=FEATURES)
        assert sampled.loo_log_loss_ == pytest.approx(here.loo_log_loss_, rel=0.1)

    def test_a_limit_on_categories(self, engine):
        frame = make_frame()
        here = NaiveBayes(max_categories=7).fit(frame[["c", "i"]], frame["y"])
        there = NaiveBayes(max_categories=7).fit(engine(frame), "y", features=["c", "i"])
        assert len(here.categories_[0]) == 8  # and the gap
        assert here.dropped_["c"]["categories"] == 23
        assert here.dropped_.keys() == there.dropped_.keys() == {"c"}
        assert there.dropped_["c"]["categories"] == 23
        assert there.dropped_["c"]["rows"] == pytest.approx(here.dropped_["c"]["rows"], abs=8)  # ties
        assert len(there.categories_[0]) == 8


class TestPredict:
    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_logs_and_labels(self, engine, make):
        frame = make_frame()
        model = make(bin_edges=EDGES).fit(frame[FEATURES], frame["y"])
        probe = make_probe()
        logs = collected(model.predict_log_proba(engine(probe))).sort_values("row", ignore_index=True)
        assert_allclose(logs.iloc[:, -3:].to_numpy(dtype=float), model.predict_log_proba(probe[FEATURES]), atol=1e-10)
        best = collected(model.predict(engine(probe))).sort_values("row", ignore_index=True)
        assert_array_equal(best["prediction"].to_numpy(), model.predict(probe[FEATURES]))

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_order_is_kept_where_there_is_one(self, engine, make):
        frame = make_frame()
        model = make(bin_edges=EDGES).fit(frame[FEATURES], frame["y"])
        probe = make_probe()
        rows = collected(model.predict_proba(engine(probe)))["row"].to_numpy()
        ordered = engine.kind in ("polars", "dask")
        assert_array_equal(rows if ordered else np.sort(rows), probe["row"])

    def test_what_cannot_be(self, engine):
        frame = make_frame()
        model = NaiveBayes(bin_edges=EDGES).fit(frame[FEATURES], frame["y"])
        with pytest.raises(InputError, match="Column 'few' is missing"):
            model.predict_proba(engine(frame.drop(columns="few")))
        with pytest.raises(InputError, match="Column 'proba_p' is where a prediction would go"):
            model.predict_proba(engine(frame.assign(proba_p=1.0)))


class TestOtherTypes:
    """A column may come back with another type than at fit; what a row says then is what it says in memory."""

    CASES = {
        "few floats, then integers": ([0.0, 0.5, 1.0, 1.5], [0, 1, 7]),
        "integers, then floats": ([1, 2, 3, 300], [1.0, 2.5, 300.0]),
        "text, then integers": (["01", "1", "2", "3"], [1, 2, 3]),
        "integers, then text": ([1, 2, 3, 4], ["1", "2", "x"]),
        "text, then nothing": (["a", "b", "c", "d"], [None, None, None]),
        "booleans": ([True, False, True, False], [True, False, None]),
        "large integers": ([2**62, 2**62 + 1, 5, 6], [2**62, 5, 2**62 + 1]),
    }

    @pytest.mark.parametrize("case", CASES)
    @pytest.mark.parametrize("kind", ["polars", "duckdb", "ibis"])
    def test_rows_stay_rows(self, kind, case):
        polars = pytest.importorskip("polars")
        first, then = self.CASES[case]
        model = NaiveBayes(categorical_features="all").fit(
            polars.DataFrame({"x": first * 9}), ["p", "q", "p", "q", "q", "q", "p", "p", "p"] * 4
        )
        probe = polars.DataFrame({"x": then, "row": range(len(then))})
        if kind == "polars":
            lazy = probe.lazy()
        elif kind == "ibis":
            lazy = pytest.importorskip("ibis").memtable(probe.to_arrow())
        else:
            arrow = probe.to_arrow()
            connection = pytest.importorskip("duckdb").connect()
            lazy = connection.register("probe", arrow).table("probe")
        found = collected(model.predict_proba(lazy)).sort_values("row", ignore_index=True)
        assert len(found) == len(then)
        here = model.predict_proba(probe.select("x"))
        assert_allclose(found[["proba_p", "proba_q"]].to_numpy(dtype=float), here, atol=1e-10)

    @pytest.mark.parametrize("large", [2**63 + 1, 7])
    def test_unsigned_integers(self, large):
        polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
        frame = polars.DataFrame({"x": [large, 5] * 10, "y": [0, 1] * 10}, schema_overrides={"x": polars.UInt64})
        model = NaiveBayes().fit(frame.select("x"), frame["y"])
        arrow = frame.to_arrow()
        out = model.predict_proba(duckdb.connect().register("frame", arrow).table("frame"))
        assert_allclose(collected(out)["proba_0"].to_numpy()[:2], model.predict_proba(frame.select("x"))[:2, 0])

    def test_classes_that_differ_in_case(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"x": list("aabbc") * 8, "y": ["y", "y", "Y", "Y", "z"] * 8})
        model = NaiveBayes().fit(frame.select("x"), frame["y"])
        with pytest.raises(InputError, match="differ in case"):
            model.predict_proba(frame.lazy())

    def test_infinite_numbers(self):
        polars = pytest.importorskip("polars")
        frame = polars.LazyFrame({"x": [1.0, float("inf"), -1.0, 2.0] * 10, "y": [0, 1] * 20})
        for edges in (None, {"x": [0.0]}):
            with pytest.raises(InputError, match="Column 'x': some values are infinite"):
                NaiveBayes(bin_edges=edges).fit(frame, "y")

    def test_rows_of_no_weight_are_not_there(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"x": list("ab") * 19 + ["z", "z"], "y": ["p", "q"] * 19 + [None] * 2})
        frame = frame.with_columns(w=polars.Series([1.0] * 38 + [0.0] * 2))
        for weighting in (None, "loo"):
            model = NaiveBayes(weighting=weighting).fit(frame.lazy(), "y", sample_weight="w")
            assert model.categories_[0].tolist() == ["a", "b"]

    def test_one_feature_has_no_pairs(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"x": ["a", "b"] * 5, "y": [0, 1] * 5})
        lazy, here = AODE().fit(frame.lazy(), "y"), AODE().fit(frame.select("x"), frame["y"])
        assert_allclose(lazy.predict_proba(frame.select("x")), here.predict_proba(frame.select("x")))

    def test_names_follow_the_counts(self):
        model = NaiveBayes().fit(make_frame()[["c", "i"]], make_frame()["y"])
        model.fit_counts(NaiveBayes().count([["a", 1], ["b", 2]], [0, 1]))
        assert not hasattr(model, "feature_names_in_")


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"y": "z"}, "column in y='z' is not known"),
            ({"y": ["p"] * 400}, "y of a lazy table is the name of a column"),
            ({"y": "y", "features": ["c", "y"]}, "Column 'y' is the target"),
            ({"y": "y", "features": ["k"]}, "features='k' is not known"),
            ({"y": "y", "features": []}, "no column to learn from"),
            ({"y": "y", "sample_weight": "x"}, "Column 'x': weights must be"),
            ({"y": "c"}, "c: [2-9][0-9] labels are missing"),
            ({"y": "y", "features": ["c", "c"]}, "Column 'c' is named twice"),
            ({"y": "y", "features": "c"}, "must be a list of column names"),
            ({"y": "w", "sample_weight": "w"}, "cannot be the target and the weight"),
            ({"y": "y", "features": ["c", "w"], "sample_weight": "w"}, "Column 'w' is the weight"),
        ],
    )
    def test_names_and_values(self, engine, arguments, message):
        with pytest.raises(HebnbError, match=message):
            NaiveBayes(bin_edges=EDGES).fit(engine(make_frame()), **arguments)

    def test_types(self):
        polars = pytest.importorskip("polars")
        lists = polars.LazyFrame({"a": [[1], [2]], "y": [0, 1]})
        with pytest.raises(InputError, match="Column 'a': values of type List"):
            NaiveBayes().fit(lists, "y")
        hours = polars.LazyFrame({"a": [0, 1], "y": [0, 1]}).with_columns(a=polars.time("a"))
        with pytest.raises(InputError, match="Column 'a': times of day are not numbers"):
            NaiveBayes(numeric_features=["a"]).fit(hours, "y")
        NaiveBayes().fit(hours, "y")

    def test_an_engine_that_fails_midway(self):
        duckdb = pytest.importorskip("duckdb")
        model = NaiveBayes().fit([["a"], ["b"]], [0, 1])
        before = model.counts_
        broken = duckdb.connect().sql("SELECT CAST(v AS INTEGER) AS a, 1 AS y FROM (VALUES ('1'), ('x')) t(v)")
        with pytest.raises(duckdb.Error) as caught:
            model.fit(broken, "y")
        assert any("hebnb was counting" in note for note in caught.value.__notes__)
        assert model.counts_ is before

    def test_a_package_that_is_missing(self):
        class Query:
            implementation = nw.Implementation.DUCKDB

            def collect(self):
                raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

        with pytest.raises(HebnbError, match="pip install pyarrow"):
            DuckDB().collect([Query()], ["counting column 'a'"])

    def test_features_are_for_lazy_tables(self):
        with pytest.raises(ParameterError, match="lazy tables"):
            NaiveBayes().fit([["a"]], [0], features=["a"])

    @pytest.mark.parametrize("limit", [0, 2.5, "many", True])
    def test_limits(self, limit):
        with pytest.raises(ParameterError, match="max_categories"):
            NaiveBayes(max_categories=limit).fit([["a"]], [0])

    def test_a_limit_and_batches(self):
        for method in ("partial_fit", "count"):
            with pytest.raises(ParameterError, match=f"max_categories=None for {method}"):
                getattr(NaiveBayes(max_categories=1), method)([["a"], ["a"], ["b"]], [0, 1, 1])


class TestCounts:
    @pytest.mark.parametrize("make", [NaiveBayes, AODE, TAN])
    def test_shards_add_up_to_the_whole(self, engine, make):
        frame = make_frame()
        model = make(bin_edges=EDGES)
        parts = [frame.iloc[:100], frame.iloc[100:250], frame.iloc[250:]]
        counts = [model.count(engine(part.reset_index(drop=True)), "y", features=FEATURES) for part in parts[:2]]
        counts.append(model.count(parts[2][FEATURES], parts[2]["y"]))
        model.fit_counts(counts[0] + counts[1] + counts[2])
        assert_same(model, make(bin_edges=EDGES).fit(frame[FEATURES], frame["y"]))
        assert_array_equal(model.feature_names_in_, FEATURES)

    def test_what_cannot_be(self):
        counts = NaiveBayes().count([["a"], ["b"]], [0, 1])
        with pytest.raises(ParameterError, match="learns from rows"):
            NaiveBayes(weighting="loo").fit_counts(counts)
        with pytest.raises(InputError, match="learns from Counts, not from list"):
            NaiveBayes().fit_counts([1, 2])
        with pytest.raises(InputError, match="learns from PairCounts"):
            AODE().fit_counts(counts)


class TestFilesThatDisagree:
    """A column is a number in one Parquet file and text in the next: whoever reads them, the column is named."""

    @staticmethod
    def read(kind, folder):
        files = str(folder / "*.parquet")
        if kind == "polars":
            return pytest.importorskip("polars").scan_parquet(files)
        if kind == "duckdb":
            return pytest.importorskip("duckdb").connect().read_parquet(files)
        if kind == "ibis":
            return pytest.importorskip("ibis").duckdb.connect().read_parquet(files)
        if kind == "dask":
            return pytest.importorskip("dask.dataframe").read_parquet(files)
        return spark_session("local[2]").read.parquet(str(folder))

    @pytest.mark.parametrize("kind", ENGINES)
    def test_the_column_is_named(self, kind, tmp_path):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        for name, values in {"a": [1, 2], "b": ["one", "two"]}.items():
            table = pa.table({"changing": values * 20, "y": ["p", "q", "q", "p"] * 10})
            pq.write_table(table, tmp_path / f"{name}.parquet")
        model = NaiveBayes().fit([["a"], ["b"]], [0, 1])
        before = model.counts_
        with pytest.raises(Exception, match="changing") as caught:
            model.fit(self.read(kind, tmp_path), "y")
        assert model.counts_ is before
        told = str(caught.value) + str(getattr(caught.value, "__notes__", ""))
        assert "hebnb was counting" in told
        if kind in ("dask", "spark"):  # of whom the one would say nothing and the other four hundred lines
            assert isinstance(caught.value, InputError)
            assert "Column 'changing' changes its type: the table says" in told

    def test_gaps_do_not_make_another_type(self, tmp_path):
        """A file without a gap has integers and booleans; pandas has floats and objects where there is one."""
        dask, pq = pytest.importorskip("dask.dataframe"), pytest.importorskip("pyarrow.parquet")
        pa = pytest.importorskip("pyarrow")
        parts = [
            {"i": [1, 2, 3, 1], "b": [True, False, True, True], "c": ["u", "v", "v", "u"], "y": [0, 1, 1, 0]},
            {"i": [1, None, 3, 1], "b": [True, None, True, True], "c": [None] * 4, "y": [0, 1, 1, 0]},
        ]
        for name, part in zip("ab", parts, strict=True):
            schema = pa.schema({"i": pa.int64(), "b": pa.bool_(), "c": pa.string(), "y": pa.int64()})
            pq.write_table(
                pa.table({own: values * 5 for own, values in part.items()}, schema), tmp_path / f"{name}.parquet"
            )
        model = NaiveBayes().fit(dask.read_parquet(str(tmp_path / "*.parquet")), "y")
        assert [len(values) for values in model.categories_] == [4, 3, 3]


class TestStreaming:
    def test_a_dataset_of_files(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        import pyarrow.dataset as ds
        import pyarrow.parquet as pq

        frame = make_frame(1_000)
        for part in range(4):
            pq.write_table(pa.Table.from_pandas(frame.iloc[part::4]), tmp_path / f"{part}.parquet")
        model = fit_batches(
            NaiveBayes(bin_edges=EDGES), ds.dataset(tmp_path), "y", features=FEATURES, batch_size=90, progress=True
        )
        assert_same(model, NaiveBayes(bin_edges=EDGES).fit(frame[FEATURES], frame["y"]))

    def test_record_batches_and_weights(self):
        pa = pytest.importorskip("pyarrow")
        frame = make_frame()
        batches = pa.Table.from_pandas(frame[["c", "i", "w", "y"]]).to_batches(max_chunksize=64)
        model = fit_batches(NaiveBayes(), iter(batches), "y", sample_weight="w")
        assert_same(model, NaiveBayes().fit(frame[["c", "i"]], frame["y"], frame["w"]))

    def test_mistakes(self):
        frame = make_frame(20)
        with pytest.raises(InputError, match="one table"):
            fit_batches(NaiveBayes(), frame, "y")
        with pytest.raises(InputError, match="no batch"):
            fit_batches(NaiveBayes(), [], "y")
        with pytest.raises(ParameterError, match="'z' is not known"):
            fit_batches(NaiveBayes(), [frame], "z")


class TestSparkJobs:
    """However many columns there are, counting is one job: partial counts, one shuffle, one sum."""

    @pytest.fixture(scope="class")
    def spark(self):
        make = spark_engine()
        # Spark would otherwise run every stage as a job of its own to look at its size before the next.
        make.session.conf.set("spark.sql.adaptive.enabled", "false")
        yield make
        make.close()

    @staticmethod
    def jobs(spark, name, run):
        """The stages of every job that something starts."""
        context = spark.session.sparkContext
        context.setJobGroup(name, name)
        try:
            run()
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)
        tracker = context.statusTracker()
        return [len(tracker.getJobInfo(job).stageIds) for job in sorted(tracker.getJobIdsForGroup(name))]

    def wide(self, columns):
        rng = np.random.default_rng(columns)
        made = {f"c{n}": [f"v{code}" for code in rng.integers(2 + n % 5, size=60)] for n in range(columns)}
        return pd.DataFrame(made | {"y": rng.choice(["p", "q"], 60)})

    def test_values(self, spark):
        from hebnb.columns.reading import ReadingParameters
        from hebnb.engines import counting
        from hebnb.engines.lazy_table import LazyTable

        frame = self.wide(200)
        table = LazyTable.read(spark(frame), "y")
        classes, _ = counting._classes(table)
        features = counting._expected(table, table.columns, ReadingParameters().of(table.names))
        found = self.jobs(spark, "values", lambda: counting._lines(table, features, classes, None))
        assert found == [2]
        assert_same(NaiveBayes().fit(spark(frame), "y"), NaiveBayes().fit(frame.drop(columns="y"), frame["y"]))

    def test_cells(self, spark):
        from hebnb.engines import counting
        from hebnb.engines.lazy_table import LazyTable

        frame = self.wide(20)
        table = LazyTable.read(spark(frame), "y")
        counts = NaiveBayes().count(frame.drop(columns="y"), frame["y"])
        pairs = [(i, j) for i in range(20) for j in range(i)]
        assert self.jobs(spark, "cells", lambda: counting.count_together(table, counts, pairs)) == [2]

    def test_a_model_is_broadcast_once(self, spark, monkeypatch):
        """However many tasks there are, and however often they run: a task carries the number of the broadcast."""
        from pyspark import SparkContext
        from pyspark.serializers import CloudPickleSerializer

        broadcast, dumps, sent, carried = SparkContext.broadcast, CloudPickleSerializer.dumps, [], []
        frame = pd.DataFrame({"c": [f"v{n}" for n in range(20_000)], "y": ["p", "q"] * 10_000})
        model = NaiveBayes().fit(frame[["c"]], frame["y"])
        table = spark(frame.head(100)).repartition(8)
        monkeypatch.setattr("hebnb.engines.backends.spark.Spark.most_joined", 0)
        monkeypatch.setattr(SparkContext, "broadcast", lambda *given: sent.append(given[1]) or broadcast(*given))
        monkeypatch.setattr(CloudPickleSerializer, "dumps", lambda *given: carried.append(dumps(*given)) or carried[-1])
        scored = model.predict_proba(table)
        for _ in range(2):
            assert len(scored.collect()) == 100
        (model_sent,) = sent
        assert carried
        assert sum(map(len, carried)) < len(pickle.dumps(model_sent)) / 50

    def test_jobs_do_not_grow_with_columns(self, spark):
        few, many = (
            self.jobs(spark, f"{n} columns", lambda n=n: NaiveBayes().fit(spark(self.wide(n)), "y")) for n in (2, 30)
        )
        assert len(few) == len(many)


class TestNaNInParquet:
    """A Parquet file declares its least and greatest number, and NaN is neither; DuckDB must see it all the same."""

    @pytest.fixture
    def path(self, tmp_path):
        import pyarrow as pa
        import pyarrow.parquet as pq

        random = np.random.default_rng(0)
        numbers = random.normal(size=400)
        labels = np.where(numbers + random.normal(size=400) > 0, "up", "down")
        numbers[::5], numbers[::7] = np.nan, -np.nan
        few = np.where(random.random(400) < 0.2, np.nan, random.integers(0, 3, 400))
        pq.write_table(pa.table({"cut": numbers, "few": few, "label": labels}), tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    def test_fit_and_score(self, path):
        import duckdb
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        X, y = table.select(["cut", "few"]), table["label"]
        expected = NaiveBayes(bin_edges={"cut": [-1, 0, 1]}).fit(X, y)
        with duckdb.connect() as connection:
            relation = connection.read_parquet(str(path))
            assert not np.isnan(NaiveBayes().fit(relation, "label").bin_edges_["cut"]).any()
            model = NaiveBayes(bin_edges={"cut": [-1, 0, 1]}).fit(relation, "label")
            for ours, theirs in zip(model.categories_, expected.categories_, strict=True):
                assert [str(label) for label in ours] == [str(label) for label in theirs]
            np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-12)
            numbered = connection.sql(f"FROM read_parquet('{path}', file_row_number = true)")
            scored = model.predict_proba(numbered).to_arrow_table().sort_by("file_row_number")
        np.testing.assert_allclose(scored["proba_up"].to_numpy(), expected.predict_proba(X)[:, 1], atol=1e-10)

    def test_exported(self, path):
        import duckdb
        import pyarrow.parquet as pq

        from hebnb.export import to_sql

        table = pq.read_table(path)
        X = table.select(["cut", "few"])
        model = NaiveBayes().fit(X, table["label"])
        with duckdb.connect() as connection:
            connection.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet('{path}', file_row_number = true)")
            found = connection.sql(to_sql(model)).to_arrow_table().sort_by("file_row_number")
        np.testing.assert_allclose(found["proba_up"].to_numpy(), model.predict_proba(X)[:, 1], atol=1e-9)
