"""Every model on every engine: fitted there and scored there, it says what it says in memory."""

from functools import partial

import narwhals as nw
import numpy as np
import pytest
from clusters import SparkCluster, SparkConnect
from numpy.testing import assert_allclose, assert_array_equal
from test_engines import (
    EDGES,
    FEATURES,
    collected,
    dask_engine,
    duckdb_engine,
    ibis_engine,
    make_frame,
    make_probe,
    polars_engine,
    with_agreement,
)

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes
from hebnb.engines.backends import backend_of

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

# Every model, and the weightings that engines tell apart.
MODELS = {
    "naive Bayes": partial(NaiveBayes, bin_edges=EDGES),
    "naive Bayes, sqrt-mi": partial(NaiveBayes, bin_edges=EDGES, weighting="sqrt-mi"),
    "naive Bayes, loo": partial(NaiveBayes, bin_edges=EDGES, weighting="loo"),
    "AODE": partial(AODE, bin_edges=EDGES),
    "AODE, loo": partial(AODE, bin_edges=EDGES, weighting="loo"),
    "TAN": partial(TAN, bin_edges=EDGES),
    "HNB": partial(HNB, bin_edges=EDGES),
    "KDB, loo": partial(KDB, bin_edges=EDGES, weighting="loo"),
    "evidence": EvidenceClassifier,
}

# Two engines have processes of their own: Dask two workers, Spark a master, two workers and their executors.
ENGINES = {"polars": polars_engine, "duckdb": duckdb_engine, "ibis": ibis_engine, "dask": dask_engine}
ORDERED = {"joins": ["polars", "dask"], "batches": ["polars", "dask", "duckdb", "ibis"]}


@pytest.fixture(scope="module", params=[*ENGINES, "spark"])
def engine(request, tmp_path_factory):
    """The name of an engine, and a function from a pandas table to a lazy one."""
    if request.param == "spark":
        with SparkCluster(tmp_path_factory.mktemp("spark")) as cluster:
            session = cluster.session()
            yield "spark", session.createDataFrame
            session.stop()
    else:
        make = ENGINES[request.param]()
        yield request.param, make
        getattr(make, "close", lambda: None)()


@pytest.fixture(scope="module")
def spark_connect(tmp_path_factory):
    with SparkConnect(tmp_path_factory.mktemp("spark")) as server:
        session = server.session()
        yield "spark-connect", session.createDataFrame
        session.stop()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_on_every_engine(engine, name, monkeypatch):
    check(*engine, name, monkeypatch)


@pytest.mark.parametrize("name", ["naive Bayes, loo", "TAN", "AODE", "evidence"])  # all ways to count and to score
def test_models_on_spark_connect(spark_connect, name, monkeypatch):
    check(*spark_connect, name, monkeypatch)


def check(kind, on_engine, name, monkeypatch):
    """A model that is fitted on an engine, and scored there in every way, says what one in memory says."""
    frame, probe = with_agreement(make_frame()), make_probe()
    here = MODELS[name]().fit(frame[FEATURES], frame["y"])
    there = MODELS[name]().fit(on_engine(frame), "y", features=FEATURES)
    for mine, other in zip(there.category_count_, here.category_count_, strict=True):
        assert_allclose(mine, other, atol=1e-12)
    expected = here.predict_proba(probe[FEATURES])
    assert_allclose(there.predict_proba(probe[FEATURES]), expected, atol=1e-9)

    lazy = on_engine(probe)
    before = collected(lazy).sort_values("row", ignore_index=True)
    backend = type(backend_of(nw.from_native(lazy)))
    for way, most_joined in {"joins": backend.most_joined, "batches": 0}.items():
        monkeypatch.setattr(backend, "most_joined", most_joined)
        scored = there.predict_proba(lazy)
        assert type(scored) is type(lazy)
        for _ in range(1 if way == "joins" else 2):  # a stream of batches can be run more than once
            found = collected(scored)
            if kind in ORDERED[way]:
                assert_array_equal(found["row"], probe["row"])
            found = found.sort_values("row", ignore_index=True)
            assert list(found.columns) == [*probe.columns, "proba_p", "proba_q", "proba_r"]
            assert_allclose(found.iloc[:, -3:].to_numpy(dtype=float), expected, atol=1e-9)
            pd.testing.assert_frame_equal(found[before.columns], before)
        best = collected(there.predict(lazy)).sort_values("row", ignore_index=True)
        assert_array_equal(best["prediction"].to_numpy(), here.predict(probe[FEATURES]))
    logs = collected(there.predict_log_proba(lazy)).sort_values("row", ignore_index=True)
    assert_allclose(logs.iloc[:, -3:].to_numpy(dtype=float), np.log(expected), atol=1e-9)
