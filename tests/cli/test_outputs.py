"""Where results go: to a name that is free, never over what is read, and echoed so that it cannot act on a terminal."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from commands import run, write_csv
from hebnb.errors import InputError
from hebnb.foundation import files
from hebnb.foundation.files import written_whole


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    write_csv("t.csv", {"x": ["a", "b"] * 50, "y": ["p", "q"] * 50})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    return "model.skops"


def test_of_several_at_once_one_succeeds(model):
    pd.DataFrame({"x": ["a", "b"] * 100_000}).to_parquet("big.parquet")
    command = [sys.executable, "-m", "hebnb", "predict", model, "big.parquet", "-o", "race.csv"]
    racers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [racer.communicate(timeout=300)[1] for racer in racers]
    codes = [racer.returncode for racer in racers]
    assert sorted(codes) == [0, 1, 1, 1], said
    assert all("exists" in text for code, text in zip(codes, said, strict=True) if code)
    assert len(pd.read_csv("race.csv")) == 200_000
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("links", [True, False])
def test_a_name_that_is_taken_meanwhile_stays_as_it_is(links, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "no hard links here")

    if not links:
        monkeypatch.setattr(files.os, "link", no_links)
    with written_whole("free.txt", overwrite=False) as path:
        path.write_text("mine")
    assert Path("free.txt").read_text() == "mine"

    def late():
        with written_whole("taken.txt", overwrite=False) as path:
            path.write_text("mine")
            Path("taken.txt").write_text("theirs")

    with pytest.raises(InputError, match="exists"):
        late()
    assert Path("taken.txt").read_text() == "theirs"
    with written_whole("taken.txt", overwrite=True) as path:
        path.write_text("mine")
    assert Path("taken.txt").read_text() == "mine"
    assert sorted(path.name for path in Path().iterdir()) == ["free.txt", "taken.txt"]


def test_every_command_publishes_to_a_free_name(model, monkeypatch):
    """Somebody takes the name after the first look at it."""
    monkeypatch.setattr(files, "refuse_existing", lambda *_, **__: None)
    for name, command in {
        "m.skops": ["fit", "t.csv", "-t", "y", "-m", "heb-m", "-o"],
        "p.csv": ["predict", model, "t.csv", "-o"],
        "q.sql": ["export", model, "-o"],
        "r.html": ["report", "t.csv", "-t", "y", "--folds", "2", "-o"],
    }.items():
        Path(name).write_text("theirs")
        assert "exists" in run(*command, name, code=1).stderr
        assert Path(name).read_text() == "theirs"


@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_an_output_that_is_an_input_is_refused(model, overwrite):
    os.link("t.csv", "hard.csv")
    Path("soft.csv").symlink_to("t.csv")
    os.link(model, "hard.sql")
    os.link("t.csv", "hard.html")
    before = Path("t.csv").read_bytes(), Path(model).read_bytes()
    commands = [
        *(["predict", model, "t.csv", "-o", name] for name in ("t.csv", "hard.csv", "soft.csv")),
        ["predict", model, "t*.csv", "-o", "hard.csv"],
        ["fit", "t.csv", "-t", "y", "-o", "soft.csv"],
        ["report", "t.csv", "-t", "y", "-o", "hard.html"],
        ["report", "t.csv", "-t", "y", "--model", "hard.csv"],
        ["export", model, "-o", "hard.sql"],
    ]  # fmt: skip
    for command in commands:
        said = run(*command, *overwrite, code=1).stderr
        assert ("is also what is read" if overwrite else "exists") in said, command
    assert (Path("t.csv").read_bytes(), Path(model).read_bytes()) == before


def test_standard_input_is_an_input_too(model):
    with open("t.csv", "rb") as stream:
        command = [sys.executable, "-m", "hebnb", "predict", model, "-", "-o", "t.csv", "--overwrite"]
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is also what is read" in done.stderr


HOSTILE_NAME = "\x1b[2J\x1b]0;title\x07\u202e"


def test_names_of_files_cannot_act_on_a_terminal(model):
    name = HOSTILE_NAME
    Path(f"{name}.csv").write_bytes(Path("t.csv").read_bytes())
    Path(f"{name}.txt").write_text("a,b\n1,2\n1,2,3\n")
    Path(f"{name}-1.csv").write_text("a,b\n1,2\n")
    Path(f"{name}-2.csv").write_text("c;d\n1;2\n")
    Path(name).mkdir()
    outputs = [
        run("predict", model, f"{name}.csv", "-o", f"{name}out.csv"),
        run("predict", model, f"{name}.csv", "-o", f"{name}out.csv", code=1),
        run("predict", model, f"{name}.csv", "-o", f"{name}.csv.gz", code=1),
        run("predict", model, f"{name}.csv", "-o", f"{name}.bogus", code=1),
        run("predict", model, f"{name}.csv", "-o", f"absent{name}/x.csv", code=1),
        run("predict", model, f"{name}.csv", "-o", f"{name}.csv", "--overwrite", code=1),
        run("predict", f"{name}.skops", "t.csv", code=1),
        run("predict", f"{name}.csv", "t.csv", code=1),
        run("predict", model, f"{name}.txt", code=1),
        run("predict", model, f"{name}-*.csv", code=1),
        run("fit", name, "-t", "y", code=1),
        run("fit", f"{name}.csv", "-t", "y", "-m", "heb-m", "-o", f"{name}.skops"),
        run("fit", f"{name}.csv", "-t", "y", "--format", name, "-o", "n.skops", code=2),
        run("fit", f"{name}.csv", f"{name}.csv", code=2),
        run("fit", f"{name}.csv", f"--{name}", code=2),
        run(name, code=2),
        run("report", f"{name}.csv", "-t", "y", "--folds", "2", "-o", f"{name}.html", "--model", f"{name}2.skops"),
        run("export", f"{name}.skops", "-o", f"{name}.sql"),
        run("export", f"{name}.skops", "-o", f"{name}.exe", code=2),
        run("inspect", f"{name}.skops"),
        run("study", "--data", name + "absent", code=2),
        run("study", "--datasets", name, code=2),
    ]
    for output in outputs:
        for forbidden in ("\x1b", "\x07", "\u202e"):
            assert forbidden not in output.stdout + output.stderr, output.stderr
