"""Programs that are told to stop: they clean up, say so in a line, and end with 128 and the number of the signal."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from commands import run, write_csv

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))


@pytest.fixture
def model():
    write_csv("t.csv", {"x": ["a", "b"] * 50, "y": ["p", "q"] * 50})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    return "model.skops"


@pytest.fixture
def start():
    """Starts a command in a session of its own, of which nothing is left after the test."""
    started = []

    def begin(*command, **options):
        line = [sys.executable, "-m", *map(str, command)]
        started.append(subprocess.Popen(line, stderr=subprocess.PIPE, text=True, start_new_session=True, **options))
        return started[-1]

    yield begin
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(holds, process):
    deadline = time.monotonic() + 120
    while not holds():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(session):
    """The processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        state, _, _, own, *_ = rest.split()
        if int(own) == session and state not in "ZX":
            found.append(name)
    return found


def stop(process, number, code):
    """Send a signal; what was said."""
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == code, said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_partial_files_are_removed(start, model, number, code):
    pd.DataFrame({"x": ["a", "b"] * 2_000_000}).to_parquet("big.parquet")
    before = sorted(path.name for path in Path().iterdir())
    process = start("hebnb", "predict", model, "big.parquet", "-o", "out.jsonl")
    wait_until(lambda: any(path.stat().st_size for path in Path().glob(".out.jsonl*")), process)
    said = stop(process, number, code)
    assert "Interrupted; nothing was left behind." in said
    assert sorted(path.name for path in Path().iterdir()) == before


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_the_copy_of_standard_input_is_removed(start, model, number, code):
    process = start("hebnb", "predict", model, "-", stdin=subprocess.PIPE)
    process.stdin.write("x\n" + "a\n" * 100_000)
    process.stdin.flush()
    wait_until(lambda: any(path.stat().st_size for path in Path("tmp").glob("*/standard-input")), process)
    stop(process, number, code)
    assert list(Path("tmp").iterdir()) == []


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("package", ["typer", "duckdb", "sklearn"])
def test_imports_are_cut_short_quietly(start, model, package, number, code):
    """A package that takes its time to be imported."""
    Path("slow", package).mkdir(parents=True)
    Path("slow", package, "__init__.py").write_text("import time\nopen('importing', 'w').close()\ntime.sleep(120)\n")
    path = os.pathsep.join(["slow", os.environ.get("PYTHONPATH", "")])
    process = start("hebnb", "predict", model, "t.csv", env=os.environ | {"PYTHONPATH": path})
    wait_until(Path("importing").exists, process)
    said = stop(process, number, code)
    assert len(said.splitlines()) <= 1


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("program", [["hebnb", "study"], ["hebnb.study"]])
def test_no_worker_of_the_study_outlives_it(start, program, number, code):
    process = start(*program, "--datasets", "flights", "--jobs", 2, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(alive(process.pid)) >= 4, process)  # itself, two workers, and who looks after them
    time.sleep(1)  # they are at work
    said = stop(process, number, code)
    assert "What was finished is kept" in said
    deadline = time.monotonic() + 5
    while alive(process.pid) and time.monotonic() < deadline:  # who looks after them goes last
        time.sleep(0.05)
    assert alive(process.pid) == []


def test_who_ignores_a_signal_goes_on_ignoring_it(start, model):
    process = start(
        "hebnb", "predict", model, "-", stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    process.stdin.write("x\n" + "a\n" * 100_000)
    process.stdin.flush()
    wait_until(lambda: any(path.stat().st_size for path in Path("tmp").glob("*/standard-input")), process)
    process.send_signal(signal.SIGHUP)
    printed, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert len(printed.splitlines()) == 100_001
