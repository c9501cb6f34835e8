"""Where numbers are cut does not depend on who holds them, nor needs memory that grows with the rows."""

import datetime as dt
from decimal import Decimal
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

from hebnb import EvidenceClassifier, NaiveBayes, load
from hebnb.cli.app import app
from hebnb.engines.backends.base import Backend
from hebnb.export import to_sql

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


def relation(table):
    return duckdb.connect().register("arrow", table).table("arrow")


def decimals(scale, seed, rows=600):
    """Few enough digits that most numbers occur several times, and edges are hit."""
    random = np.random.default_rng(seed)
    whole = random.integers(-(10**5), 10**5, 150)[random.integers(150, size=rows)]
    numbers = [Decimal(int(n)).scaleb(-scale) for n in whole]
    array = pa.array(numbers, pa.decimal128(18, scale))
    return pa.table({"x": array, "y": ["pq"[int(n) % 3 % 2] for n in whole], "row": list(range(rows))})


@pytest.mark.parametrize("make", [NaiveBayes, EvidenceClassifier])
@pytest.mark.parametrize("scale", [1, 3, 5, 9])
def test_decimals_at_edges_are_the_same_for_everyone(make, scale):
    table = decimals(scale, scale)
    floats = np.array([float(value) for value in table["x"].to_pylist()])
    expected = make().fit(pd.DataFrame({"x": floats}), table["y"])
    probabilities = expected.predict_proba(pd.DataFrame({"x": floats}))
    arrow = table.select(["x"])
    held = {
        "arrow": arrow,
        "polars": pl.from_arrow(arrow),
        "pandas": arrow.to_pandas(),
        "pandas on arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
    }
    for name, X in held.items():
        model = make().fit(X, table["y"])
        assert_array_equal(model.bin_edges_["x"], expected.bin_edges_["x"], err_msg=name)
        assert_allclose(model.predict_proba(X), probabilities, atol=1e-12, err_msg=name)
    for lazy in (relation(table), pl.from_arrow(table).lazy()):
        there = make().fit(lazy, "y", features=["x"])
        assert_array_equal(there.bin_edges_["x"], expected.bin_edges_["x"])
        found = pl.DataFrame(_collected(there.predict_proba(lazy))).sort("row")
        assert_allclose(found["proba_p"].to_numpy(), probabilities[:, 0], atol=1e-9)
    connection = duckdb.connect()
    connection.register("rows", table)
    found = pl.DataFrame(connection.sql(to_sql(expected)).to_arrow_table()).sort("row")
    assert_allclose(found["proba_p"].to_numpy(), probabilities[:, 0], atol=1e-9)


def _collected(lazy):
    return lazy.collect() if isinstance(lazy, pl.LazyFrame) else lazy.to_arrow_table()


def test_durations_are_the_same_for_everyone():
    spans = [dt.timedelta(microseconds=int(n)) for n in np.random.default_rng(0).integers(-(10**9), 10**9, 300)]
    y = ["pq"[span.microseconds % 3 % 2] for span in spans]
    table = pa.table({"x": pa.array(spans, pa.duration("us")), "y": y})
    expected = NaiveBayes().fit(table.select(["x"]), y)
    lazy = relation(table)
    assert str(lazy.types[0]) == "INTERVAL"
    there = NaiveBayes().fit(lazy, "y")
    intervals = lazy.to_arrow_table().select(["x"])  # months, days and nanoseconds
    for X in (table.select(["x"]), intervals, pd.DataFrame({"x": spans}), pl.DataFrame({"x": spans})):
        model = NaiveBayes().fit(X, y)
        assert_array_equal(model.bin_edges_["x"], expected.bin_edges_["x"])
        assert_allclose(there.predict_proba(X), expected.predict_proba(X))
    assert_array_equal(there.bin_edges_["x"], expected.bin_edges_["x"])


@pytest.mark.parametrize("weight", [None, "w"])
def test_quantiles_of_a_lazy_table_are_those_in_memory(weight):
    random = np.random.default_rng(1)
    frame = pl.DataFrame({"x": random.normal(size=900), "y": random.integers(2, size=900)})
    frame = frame.with_columns(w=pl.Series(random.integers(1, 5, 900).astype(float)))
    here = NaiveBayes().fit(frame.select("x"), frame["y"], frame[weight] if weight else None)
    for lazy in (frame.lazy(), relation(frame.to_arrow())):
        there = NaiveBayes().fit(lazy, "y", weight, features=["x"])
        assert_array_equal(there.bin_edges_["x"], here.bin_edges_["x"])


class TestManyRows:
    """Beyond a number of rows, quantiles are those of a sample."""

    @pytest.fixture(autouse=True)
    def few(self):
        with patch("hebnb.columns.kinds.bins.MOST_SAMPLED", 4_000):
            yield

    def test_edges_are_near_the_quantiles(self):
        numbers = np.random.default_rng(2).normal(size=40_000)
        frame = pl.DataFrame({"x": numbers, "y": numbers > 0})
        for lazy in (frame.lazy(), relation(frame.to_arrow())):
            edges = NaiveBayes().fit(lazy, "y").bin_edges_["x"]
            shares = [(numbers <= edge).mean() for edge in edges]
            # The inequality of Dvoretzky, Kiefer and Wolfowitz for 4,000 rows, with probability 0.9999.
            assert_allclose(shares, np.arange(1, 10) / 10, atol=np.sqrt(np.log(2e4) / 8_000))

    def test_only_the_sample_travels(self):
        frame = pl.DataFrame({"x": np.arange(20_000.0), "y": [0, 1] * 10_000})
        sizes = []
        collect = Backend.collect

        def collected(self, queries, notes):
            results = collect(self, queries, notes)
            sizes.extend(map(len, results))
            return results

        with patch.object(Backend, "collect", collected):
            NaiveBayes().fit(relation(frame.to_arrow()), "y")
        assert max(sizes) == 4_000

    def test_nothing_is_looked_at_where_edges_are_given(self):
        frame = pl.DataFrame({"x": np.arange(20_000.0), "y": [0, 1] * 10_000})
        with patch("hebnb.engines.cutting.Cutting.sampled", side_effect=AssertionError):
            model = NaiveBayes(bin_edges={"x": [7.0]}).fit(relation(frame.to_arrow()), "y")
        assert_array_equal(model.class_count_, [10_000, 10_000])

    @pytest.mark.parametrize("usual", [0.0, None])
    def test_rare_numbers_are_not_overlooked(self, usual):
        """Else every one of them would be a category."""
        numbers = [usual] * 100_000 + [n + 0.5 for n in range(1, 41)]
        frame = pl.DataFrame({"x": numbers, "y": [0, 1] * 50_020}, schema_overrides={"x": pl.Float64})
        for lazy in (frame.lazy(), relation(frame.to_arrow())):
            model = NaiveBayes().fit(lazy, "y")
            assert "x" in model.bin_edges_
            assert len(model.categories_[0]) <= 11

    def test_few_numbers_are_categories(self):
        frame = pl.DataFrame({"x": [0.5, 1.5, 2.5, 3.5] * 5_000, "y": [0, 1] * 10_000})
        for lazy in (frame.lazy(), relation(frame.to_arrow())):
            assert NaiveBayes().fit(lazy, "y").categories_[0].tolist() == [0.5, 1.5, 2.5, 3.5]


def test_a_command_on_times_works_at_any_size(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=37 * n) for n in range(400)]
    table = pa.table({"t": times, "d": [time.date() for time in times], "y": ["ab"[n // 40 % 2] for n in range(400)]})
    pq.write_table(table, tmp_path / "t.parquet")
    X = table.select(["t", "d"])
    for method in ("heb-m", "Evidence"):
        found = []
        for in_memory in (50_000_000, 0):
            with patch("hebnb.tabular.labelled.IN_MEMORY", in_memory):
                output = tmp_path / f"{method}{in_memory}.skops"
                command = ["fit", str(tmp_path / "t.parquet"), "--target", "y", "-o", str(output), "-m", method]
                assert CliRunner().invoke(app, command).exit_code == 0
            model = load(output)
            assert all(feature.of_times for feature in model.counts_.vocabulary.features)
            found.append(model.predict_proba(X))
        assert np.ptp(found[0]) > 0.5
        assert_allclose(found[1], found[0], atol=1e-9)
