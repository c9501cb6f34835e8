"""Clusters lose workers while they count: the model is the same, or the error names the worker."""

import os
import signal
import threading
import time

import pytest
from clusters import SparkCluster, wait_for
from numpy.testing import assert_allclose
from test_engines import EDGES, FEATURES, make_frame, with_agreement

from hebnb import AODE, EvidenceClassifier, HebnbError, NaiveBayes
from hebnb.engines.backends import BACKENDS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

LAST = 399
# What is being counted when the worker is lost, by which model.
STEPS = {
    "classes": ("collect", NaiveBayes),
    "values": ("valued", NaiveBayes),
    "pairs": ("tallied", AODE),
    "crosses": ("tallied", EvidenceClassifier),
}


def numbered():
    """Rows with their numbers, so that the last partition can be told from the others."""
    return with_agreement(make_frame(LAST + 1)).assign(row=range(LAST + 1))


def held_up(folder, identity):
    """A step that whoever has the last row does not get through before somebody was killed.

    It begins to wait once ``armed`` is there, writes down who it is, and goes on once ``killed`` is there.
    """

    def step(rows):
        if LAST in rows and (folder / "armed").exists() and not (folder / "killed").exists():
            (folder / "writing").write_text(identity())
            (folder / "writing").rename(folder / "waiting")
            while not (folder / "killed").exists():
                time.sleep(0.02)

    return step


def fitted_while_losing(model, table, folder, method, kill, monkeypatch):
    """Fit a model; as soon as the engine has begun with a method, whoever waits there is killed."""
    backend = type(BACKENDS["DASK" if table.__module__.startswith("dask") else "PYSPARK"])
    original, killed = getattr(backend, method), []

    def armed(*given):
        (folder / "armed").touch()
        return original(*given)

    def killer():
        wait_for("the last partition", (folder / "waiting").exists)
        killed.append((folder / "waiting").read_text())
        kill(killed[0])
        (folder / "killed").touch()

    monkeypatch.setattr(backend, method, armed)
    thread = threading.Thread(target=killer)
    thread.start()
    model.fit(table, "y", features=FEATURES)
    thread.join()
    assert killed
    return model


def assert_as_in_memory(model, make):
    frame = numbered()
    here = make().fit(frame[FEATURES], frame["y"])
    for mine, other in zip(model.category_count_, here.category_count_, strict=True):
        assert_allclose(mine, other, atol=1e-12)
    probe = make_frame(50, seed=9)[FEATURES]
    assert_allclose(model.predict_proba(probe), here.predict_proba(probe), atol=1e-9)


def made(make):
    return make() if make is EvidenceClassifier else make(bin_edges=EDGES)


class TestSpark:
    @pytest.fixture(scope="class")
    def spark(self, tmp_path_factory):
        """A cluster with a session; four partitions, so that who has the last has finished another before."""
        with SparkCluster(tmp_path_factory.mktemp("spark")) as cluster:
            session = cluster.session(**{"spark.sql.leafNodeDefaultParallelism": "4", "spark.task.maxFailures": "2"})
            yield cluster, session
            session.stop()

    @pytest.mark.parametrize("step", ["values", "crosses"])
    def test_a_worker_is_lost(self, spark, step, tmp_path, monkeypatch):
        """The worker, its executor and the partial counts that the executor had finished."""
        cluster, session = spark
        method, make = STEPS[step]
        cluster.complete(session)
        rows = session.createDataFrame(numbered())
        wait = held_up(tmp_path, os.getcwd)

        def slowed(batches):
            for batch in batches:
                wait(batch.column("row").to_pylist())
                yield batch

        kill = lambda cwd: cluster.kill(next(name for name in cluster.workers if f"/{name}/" in cwd))  # noqa: E731
        table = rows.mapInArrow(slowed, rows.schema)
        model = fitted_while_losing(made(make), table, tmp_path, method, kill, monkeypatch)
        assert len(cluster.running) == 1
        assert_as_in_memory(model, lambda: made(make))

    def test_workers_that_are_lost_again_and_again_are_named(self, spark):
        cluster, session = spark
        cluster.complete(session)
        rows = session.createDataFrame(numbered())

        def deadly(batches):
            import psutil

            for batch in batches:
                if LAST in batch.column("row").to_pylist():
                    psutil.Process().parent().parent().kill()  # the daemon's, which is the executor
                yield batch

        model = NaiveBayes(bin_edges=EDGES).fit(make_frame()[FEATURES], make_frame()["y"])
        before = model.counts_
        with pytest.raises(HebnbError, match=r"Spark lost executor \d+ on 127.0.0.1.* failed 2 times") as caught:
            model.fit(rows.mapInArrow(deadly, rows.schema), "y", features=FEATURES)
        assert "While hebnb was counting classes in column 'y'" in str(caught.value)
        assert "spark.executor.memory" in str(caught.value)
        assert model.counts_ is before


class TestDask:
    @pytest.fixture(scope="class")
    def dask(self):
        """A cluster of two processes, each of which is started anew when it is gone."""
        frame = pytest.importorskip("dask.dataframe")
        distributed = pytest.importorskip("distributed")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
            ) as cluster,
            distributed.Client(cluster),
        ):
            yield cluster, lambda table: frame.from_pandas(table, npartitions=4)

    @pytest.mark.parametrize("step", ["classes", "pairs", "crosses"])
    def test_a_worker_is_lost(self, dask, step, tmp_path, monkeypatch):
        _, on_dask = dask
        method, make = STEPS[step]
        wait = held_up(tmp_path, lambda: str(os.getpid()))

        def slowed(rows):
            wait(rows["row"].tolist())
            return rows

        table = on_dask(numbered())
        table = table.map_partitions(slowed, meta=table._meta)
        kill = lambda pid: os.kill(int(pid), signal.SIGKILL)  # noqa: E731
        model = fitted_while_losing(made(make), table, tmp_path, method, kill, monkeypatch)
        assert_as_in_memory(model, lambda: made(make))

    def test_workers_that_are_lost_again_and_again_are_named(self, dask):
        cluster, on_dask = dask

        def deadly(rows):
            if LAST in rows["row"].tolist():
                os.kill(os.getpid(), signal.SIGKILL)
            return rows

        table = on_dask(numbered())
        cluster.scheduler.allowed_failures = 1
        with pytest.raises(HebnbError, match=r"Dask lost worker tcp://127.0.0.1:\d+.* failed 2 times"):
            NaiveBayes(bin_edges=EDGES).fit(table.map_partitions(deadly, meta=table._meta), "y", features=FEATURES)
