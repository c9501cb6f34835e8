"""Clusters on this machine, of processes of their own: Spark with a master and two workers, Dask with two."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PATIENCE = 300  # seconds after which something that should have started never will
HOST = "127.0.0.1"
_DEPLOY, _ANYWHERE = "org.apache.spark.deploy", ("--host", HOST, "--webui-port", "0")


def wait_for(what, condition):
    """What the condition gives as soon as it is something."""
    until = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < until, f"{what} did not come within {PATIENCE} seconds"
        time.sleep(0.02)
    return found


def needs_spark():
    """PySpark's SQL, or a skipped test that says what is missing."""
    sql = pytest.importorskip("pyspark.sql", reason='PySpark is not installed: pip install ".[spark]"')
    if shutil.which("java") is None:
        pytest.skip("PySpark needs a Java runtime, such as Debian's default-jre-headless")
    os.environ["SPARK_LOCAL_IP"] = HOST
    return sql


def spark_session(master, **settings):
    """A classic session that talks to nobody else; one that another test has left behind, elsewhere, is stopped."""
    sessions = needs_spark().SparkSession
    left = sessions.getActiveSession()
    if left is not None and left.sparkContext.master != master:
        left.stop()
    builder = sessions.builder.master(master)
    common = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": HOST,
        "spark.driver.host": HOST,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.adaptive.enabled": "true",
    }
    for name, value in (common | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@dataclass
class SparkProcesses:
    """Programs of Spark's, each of which is a process group of its own and writes a log into a folder."""

    folder: Path
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)

    def __exit__(self, *_):
        for name in [*self.processes]:
            self.kill(name)

    def start(self, name, program, *arguments):
        """Start a program of the PySpark package."""
        import pyspark

        home = Path(pyspark.__file__).parent
        own = {"SPARK_DAEMON_MEMORY": "512m", "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [home / "bin" / program, *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | own,
                start_new_session=True,
            )

    def said(self, name, pattern):
        """What a process writes into its log once it is up."""

        def look():
            log = (self.folder / f"{name}.log").read_text()
            assert self.processes[name].poll() is None, f"Spark's {name} has ended:\n{log[-3000:]}"
            return re.search(pattern, log)

        return wait_for(f"Spark's {name}", look)[0]

    def kill(self, name):
        """Kill a process and those it has started, as a machine that is unplugged."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class SparkCluster(SparkProcesses):
    """A standalone master and two workers with a core each, whose tasks run in the folder that has a worker's name."""

    workers: tuple[str, ...] = ("first", "second")
    master: str = ""

    def __enter__(self):
        needs_spark()
        self.start("master", "spark-class", f"{_DEPLOY}.master.Master", *_ANYWHERE, "--port", "0")
        self.master = self.said("master", r"spark://[\d.]+:[1-9]\d*")
        self.start_workers()
        return self

    @property
    def running(self):
        """The workers that are there."""
        return [name for name in self.workers if name in self.processes]

    def start_workers(self):
        """Those of the two workers that are not there."""
        missing = [name for name in self.workers if name not in self.processes]
        for name in missing:
            size = "--cores", "1", "--memory", "600m", "--work-dir", str(self.folder / name)
            self.start(name, "spark-class", f"{_DEPLOY}.worker.Worker", *_ANYWHERE, *size, self.master)
        for name in missing:
            self.said(name, "Successfully registered")

    def complete(self, session):
        """Start again what was killed, and wait until there is an executor on every worker."""
        self.start_workers()
        status = session.sparkContext._jsc.sc().statusTracker()
        wait_for("Spark's executors", lambda: len(status.getExecutorInfos()) == 1 + len(self.workers))

    def session(self, **settings):
        """A session whose two executors are there before anything runs, one on each worker."""
        executors = {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.cores.max": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{PATIENCE}s",
        }
        return spark_session(self.master, **(executors | settings))


class SparkConnect(SparkProcesses):
    """A server of Spark Connect, which is its own cluster."""

    def __enter__(self):
        needs_spark()
        pytest.importorskip("grpc", reason='Spark Connect is not installed: pip install ".[spark-connect]"')
        with socket.socket() as free:
            free.bind((HOST, 0))
            self.port = free.getsockname()[1]
        settings = {
            "spark.connect.grpc.binding.port": self.port,
            "spark.connect.grpc.binding.address": HOST,
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": 2,
        }
        given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.start("connect", "spark-submit", "--master", "local[2]", *given, "--class", server, "spark-internal")
        self.said("connect", "server started")
        return self

    def session(self):
        """A session of a client."""
        from pyspark.sql.connect.session import SparkSession

        return SparkSession.builder.remote(f"sc://{HOST}:{self.port}").create()
