"""What is held in another way means on an engine what it means in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_types import on_duckdb, on_polars, probabilities

from hebnb import NaiveBayes
from hebnb.export import onnx_inputs, to_onnx, to_sql

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def on_dask(name, table):
    return pytest.importorskip("dask.dataframe").from_pandas(
        table.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get), npartitions=3
    )


def on_ibis(name, table):
    return pytest.importorskip("ibis").memtable(table)


ENGINES = {"polars": on_polars, "duckdb": on_duckdb, "ibis": on_ibis, "dask": on_dask}


def engine_table(values, n_rows=90):
    x = [values[n % len(values)] for n in range(n_rows)]
    y = ["pq"[(n % len(values)) // 3 % 2] for n in range(n_rows)]
    return pa.table({"x": x, "y": y, "row": list(range(n_rows))})


@pytest.mark.parametrize("engine", ENGINES)
def test_integers_with_gaps_are_integers(engine):
    table = engine_table([*map(float, range(30)), None])
    whole = engine_table([*range(30), None])
    here = NaiveBayes().fit(whole.select(["x"]), whole["y"])
    expected = here.predict_proba(whole.select(["x"]))
    there = NaiveBayes().fit(ENGINES[engine]("floats", table), "y", features=["x"])
    assert there.categories_[0].tolist() == [*range(30), None]
    assert [type(value) for value in there.categories_[0][:-1].tolist()] == [int] * 30
    for model in (here, there):
        for own in (table, whole):
            assert_allclose(model.predict_proba(own.select(["x"])), expected, atol=1e-12)
            assert_allclose(probabilities(model.predict_proba(ENGINES[engine]("floats", own))), expected, atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_measured_numbers_stay_measured(engine):
    for values in ([n / 2 for n in range(30)] + [None], list(map(float, range(31)))):
        table = engine_table(values)
        here = NaiveBayes().fit(table.select(["x"]), table["y"])
        there = NaiveBayes().fit(ENGINES[engine]("floats", table), "y", features=["x"])
        assert len(here.bin_edges_["x"]) == 9
        assert_array_equal(there.bin_edges_["x"], here.bin_edges_["x"])
    whole = ENGINES[engine]("floats", engine_table([*map(float, range(30)), None]))
    assert len(NaiveBayes(numeric_features=["x"]).fit(whole, "y", features=["x"]).bin_edges_["x"]) == 9


@pytest.mark.parametrize("engine", ENGINES)
def test_heavy_values_have_the_bins_of_memory(engine):
    table = engine_table([n + 0.5 if n % 3 else 100.0 for n in range(45)])
    here = NaiveBayes().fit(table.select(["x"]), table["y"])
    assert here.bin_edges_["x"][-1] == 44.5
    there = NaiveBayes().fit(ENGINES[engine]("floats", table), "y", features=["x"])
    assert_array_equal(there.bin_edges_["x"], here.bin_edges_["x"])


@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("Yes", "no")])
@pytest.mark.parametrize("engine", ENGINES)
def test_truths_and_their_words_match(engine, words):
    truths = [True, False, True, True, None]
    spelled = engine_table([None if truth is None else words[not truth] for truth in truths])
    plain = engine_table(truths)
    of_words = NaiveBayes().fit(spelled.select(["x"]), spelled["y"])
    of_truths = NaiveBayes().fit(plain.select(["x"]), plain["y"])
    expected = of_words.predict_proba(spelled.select(["x"]))
    assert np.ptp(expected) > 0.1
    for model in (of_words, of_truths):
        for table in (spelled, plain):
            assert_allclose(probabilities(model.predict_proba(ENGINES[engine]("text", table))), expected, atol=1e-9)


def test_exports_see_integers_with_gaps():
    table = engine_table([*map(float, range(30)), None])
    frame = table.to_pandas()
    model = NaiveBayes().fit(frame[["x"]], table["y"])
    expected = model.predict_proba(frame[["x"]])
    with duckdb.connect() as connection:
        for rows in (table, engine_table([*range(30), None])):
            connection.register("rows", rows)
            found = connection.sql(f"SELECT proba_p FROM ({to_sql(model)}) ORDER BY row").fetchall()
            assert_allclose([row[0] for row in found], expected[:, 0], atol=1e-9)
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(["probabilities"], onnx_inputs(model, frame[["x"]]))[0], expected, atol=1e-6)
