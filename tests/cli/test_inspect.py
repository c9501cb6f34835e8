"""hebnb inspect on tables, and the alerts that fit and report tell."""

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

from commands import run, write_csv
from hebnb import EvidenceClassifier, describe, save
from hebnb.datasets import load_flights
from hebnb.overview import files as files_module

ROWS = 400
random = np.random.default_rng(0)
COIN = random.permutation(np.repeat(["no", "yes"], ROWS // 2))


@pytest.fixture
def odd(tmp_path):
    """A table with one of many things."""
    minutes = random.integers(0, 3000, ROWS) / 10
    table = {
        "id": [f"C{n}" for n in range(ROWS)],
        "reason": ["" if label == "no" else "price" for label in COIN],
        "country<b>": ["AT"] * ROWS,
        "minutes": minutes.astype(str),
        "charge": np.round(0.17 * minutes, 2).astype(str),
        "fax": [""] * (ROWS - 5) + ["1"] * 5,
        "signed": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
        "y": COIN,
    }
    path = tmp_path / "odd.csv"
    write_csv(path, table)
    return path


KINDS = ["leak", "id", "duplicate", "constant", "gaps", "dates"]


def test_a_table_is_described_as_in_python():
    told = json.loads(run("inspect", "@flights", "--target", "arrival", "--json").stdout)
    description = describe(*load_flights(backend="pyarrow"))
    lines = zip(*description.columns.values(), strict=True)
    assert told["columns"] == [dict(zip(description.columns, line, strict=True)) for line in lines]
    assert told["alerts"] == [vars(alert) for alert in description.alerts]
    assert told["classes"] == description.classes
    assert told["rows"] == told["drawn_from"] == 20_000
    assert "late" in run("inspect", "@flights", "--target", "arrival").stdout


def test_a_table_without_a_target(odd):
    told = json.loads(run("inspect", odd, "--json").stdout)
    assert [column["column"] for column in told["columns"]][-1] == "y"
    assert {column["gain"] for column in told["columns"]} == {None}
    assert "leak" not in [alert["kind"] for alert in told["alerts"]]


def test_columns_are_chosen_and_read_as_for_fit(odd):
    told = json.loads(run("inspect", odd, "-t", "y", "--drop", "id", "--categorical", "minutes", "--json").stdout)
    columns = {column["column"]: column for column in told["columns"]}
    assert "id" not in columns
    assert columns["minutes"]["why"] == "text, said to be categories: categories"
    assert "zap" in run("inspect", odd, "--drop", "zap", code=2).stderr
    assert "zap" in run("inspect", odd, "--target", "zap", code=2).stderr
    assert "zap" in run("inspect", odd, "--numeric", "zap", code=2).stderr


def test_targets_that_fit_would_refuse_are_described(tmp_path):
    columns = {"c": ["a", "b"] * 600, "y": [str(n) for n in range(1200)]}
    write_csv(tmp_path / "t.csv", columns)
    told = json.loads(run("inspect", tmp_path / "t.csv", "-t", "y", "--json").stdout)
    assert [alert["kind"] for alert in told["alerts"]] == ["no classes"]


def test_repeated_names_are_told(tmp_path):
    header = "a,b,A,y\n"
    (tmp_path / "t.csv").write_text(
        header + "".join(f"{n % 7},{n % 5},{n % 3},{'no' if n % 2 else 'yes'}\n" for n in range(60))
    )
    told = json.loads(run("inspect", tmp_path / "t.csv", "-t", "y", "--json").stdout)
    assert ("a", "repeated name") in [(alert["column"], alert["kind"]) for alert in told["alerts"]]
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace("A,", "D,", 1))
    told = json.loads(run("inspect", tmp_path / "t.csv", "-t", "y", "--json").stdout)
    assert "repeated name" not in [alert["kind"] for alert in told["alerts"]]


def test_of_a_table_too_large_for_memory_some_rows_are_described(odd, monkeypatch):
    monkeypatch.setattr(files_module, "IN_MEMORY", 1000)
    monkeypatch.setattr(files_module, "MOST_ROWS", 350)
    told = json.loads(run("inspect", odd, "-t", "y", "--json").stdout)
    assert (told["rows"], told["drawn_from"]) == (350, ROWS)
    kinds = [alert["kind"] for alert in told["alerts"]]
    assert "leak" in kinds
    assert "id" not in kinds  # of a sample it is not known whether values repeat
    assert "350 rows drawn at random from 400" in run("inspect", odd, "-t", "y").stdout


# Models and tables


@pytest.fixture
def model(tmp_path):
    save(EvidenceClassifier().fit([["a"], ["b"]] * 10, [0, 1] * 10), tmp_path / "model.skops")
    return tmp_path / "model.skops"


def test_a_model_is_one_whatever_it_is_called(model):
    other = shutil.copy(model, model.with_name("model.csv"))
    assert run("inspect", other).stdout == run("inspect", model).stdout
    assert "learned from 20 rows" in run("inspect", model).stdout


def test_options_of_tables_are_not_for_models(model):
    done = run("inspect", model, "--target", "y", code=2)
    assert "is a model, and --target is for tables" in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("damaged.skops", b"PK\x03\x04 and so on", "damaged"),
        ("text.skops", b"a,b\n1,2\n", "not a model file"),
        ("table.xlsx", b"PK\x03\x04", "cannot be unpacked"),
        ("empty.csv", b"", "empty"),
    ],
)
def test_what_is_neither(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    assert said in run("inspect", tmp_path / name, code=1).stderr


@pytest.mark.parametrize("name", ["nothing.skops", "nothing.csv", "nothing"])
def test_what_is_not_there(tmp_path, name):
    assert "no file" in run("inspect", tmp_path / name, code=1).stderr


# Alerts that are told by the way


def notes(done):
    return re.sub(r"\s+", " ", done.stderr).split("Note: ")[1:]


def test_fit_tells_a_handful_of_alerts_once(odd):
    done = run("fit", odd, "--target", "y", "--method", "NB+loo", "-o", odd.with_name("m.skops"))
    told = notes(done)
    assert len(told) == 5
    assert done.stderr.count("gives the class away") == 1
    assert told[-1].startswith(f"And 2 more: hebnb inspect {odd} --target y")
    again = json.loads(
        run("fit", odd, "--target", "y", "-m", "NB+loo", "-o", odd.with_name("n.skops"), "--json").stdout
    )
    assert [alert["kind"] for alert in again["alerts"]] == KINDS


def test_report_tells_them_and_its_page_leads_with_them(odd):
    page = odd.with_name("page.html")
    done = run("report", odd, "--target", "y", "--folds", "2", "-o", page)
    assert len(notes(done)) == 5
    html = page.read_text()
    section = html[html.index('id="alerts"') : html.index('id="summary"')]
    assert html.index('id="alerts"') < html.index('id="summary"')
    assert re.findall(r'class="tag">(.*?)<', section) == KINDS
    assert "country&lt;b&gt;" in section
    assert "country<b>" not in html
    assert "<summary>2 more</summary>" in section


def test_a_clean_table_is_reported_without_alerts(tmp_path):
    colour, size = random.choice(["red", "green", "blue"], ROWS), random.choice(["s", "m"], ROWS)
    write_csv(tmp_path / "t.csv", {"colour": colour, "size": size, "y": COIN})
    done = run("report", tmp_path / "t.csv", "--target", "y", "--folds", "2", "-o", tmp_path / "p.html", "--json")
    assert json.loads(done.stdout)["alerts"] == []
    assert 'id="alerts"' not in (tmp_path / "p.html").read_text()


def test_rows_parted_by_a_column_may_be_sorted(tmp_path):
    part = np.repeat(np.arange(8), ROWS // 8)
    write_csv(tmp_path / "t.csv", {"c": random.choice(["a", "b"], ROWS), "part": part.astype(str), "y": np.sort(COIN)})
    at_random = run(
        "report", tmp_path / "t.csv", "-t", "y", "--folds", "2", "--drop", "part", "-o", tmp_path / "p.html", "--json"
    )
    assert [alert["kind"] for alert in json.loads(at_random.stdout)["alerts"]] == ["sorted"]
    by_part = run(
        "report", tmp_path / "t.csv", "-t", "y", "--folds", "2", "--group", "part", "-o", tmp_path / "q.html", "--json"
    )
    assert json.loads(by_part.stdout)["alerts"] == []
