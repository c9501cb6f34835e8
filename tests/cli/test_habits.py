"""What people expect of a program in a terminal: completion, bars that tell what runs, names that are nearly right."""

import os
import re
import subprocess
import sys

import pytest
from rich.progress import Progress

import hebnb.cli.predict
from commands import run, write_csv
from hebnb.cli.console import progress
from hebnb.methods import METHODS
from hebnb.page.comparison import BASELINES


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("t.csv", {"x": ["a", "b"] * 30, "y": ["1", "2", "2"] * 20})


def completed(line):
    """What a shell is offered after a line, with none of the large libraries imported."""
    code = """
import sys
from hebnb.cli import main
try:
    main()
finally:
    large = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "duckdb", "narwhals", "skops", "jinja2"}
    print(sorted(large & set(sys.modules)), file=sys.stderr)
"""
    asked = {"_HEBNB_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[0] = 'hebnb'\n{code}"],
        env=os.environ | asked, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.endswith("[]\n")
    return done.stdout.split()


def test_methods_are_completed():
    assert completed("hebnb fit t.csv -m HEB") == [name for name in METHODS if name.startswith("HEB")]
    assert completed("hebnb fit t.csv --method Evid") == ["Evidence"]


def test_commands_are_completed():
    assert completed("hebnb ex") == ["explain", "export"]


@pytest.mark.parametrize(
    ("given", "offered"),
    [("AODE", ["HEB-AODE", "AODE+loo"]), ("nb", ["NB+loo"]), ("TAN", ["TAN+loo"]), ("kdb", ["KDB+loo"])],
)
def test_methods_that_are_nearly_named(given, offered):
    said = run("fit", "t.csv", "-t", "y", "-m", given, code=2).stderr
    assert f"Did you mean {' or '.join(map(repr, offered))}?" in " ".join(said.split())


@pytest.mark.parametrize("given", ["evidence", "EVIDENCE", "aode+LOO"])
def test_methods_in_another_case(given):
    run("fit", "t.csv", "-t", "y", "-m", given)


def test_labels_are_told_from_their_counts():
    said = " ".join(run("fit", "t.csv", "-t", "y", "-m", "heb-m").stderr.split())
    assert "): 1: 20 rows, 2: 40 rows." in said


class Watched(Progress):
    """Progress that keeps what it shows."""

    def __init__(self):
        super().__init__(disable=True)
        self.shown = []

    def update(self, task_id, **changes):
        super().update(task_id, **changes)
        self.shown.append((self.tasks[task_id].description, self.tasks[task_id].completed))


def test_a_bar_names_what_runs_and_not_what_ended(monkeypatch):
    bars = Watched()
    monkeypatch.setattr("hebnb.cli.report.progress", lambda: bars)
    run("report", "t.csv", "-t", "y", "--folds", "2", "-o", "page.html")
    trials = [*BASELINES, *METHODS] * 2
    named = [(what.removeprefix("comparing: "), done) for what, done in bars.shown if "comparing: " in what]
    assert named == [(name, number) for number, name in enumerate(trials)]
    assert all(task.finished for task in bars.tasks)


def test_bars_tell_the_table_and_what_is_left(monkeypatch, capfd):
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    bars = Watched()
    monkeypatch.setattr(hebnb.cli.predict, "progress", lambda: bars)
    run("predict", "model.skops", "t.csv", "-o", "out.csv")
    assert [(task.description, task.completed) for task in bars.tasks] == [("predicting rows of t.csv", 60)]
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress() as drawn:
        drawn.add_task("[/]", total=3)
    assert re.search(r"\[/\].*0/3.*left:", re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", capfd.readouterr().err))
