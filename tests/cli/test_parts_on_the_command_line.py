"""``--parts``: what commands say is what Python says."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from commands import predicted, run
from hebnb import ColumnParts, EvidenceClassifier, NaiveBayes, load
from hebnb.tabular import labelled, parts
from wines import wines


@pytest.fixture
def table(tmp_path):
    """A CSV file of 300 wines, when they were sold and what colour they have."""
    columns, colours = wines(300)
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=31 * n) for n in range(300)]
    frame = pd.DataFrame(columns | {"sold": times, "colour": colours})
    frame.to_csv(tmp_path / "wines.csv", index=False)
    return tmp_path / "wines.csv", frame


def in_python(frame, classifier):
    X = pa.table(frame.drop(columns="colour"))
    return make_pipeline(ColumnParts(), classifier).fit(X, frame["colour"]), X


@pytest.mark.parametrize(("method", "classifier"), [("Evidence", EvidenceClassifier()), ("HEB-M", NaiveBayes())])
def test_fit_predict_explain_as_in_python(table, tmp_path, method, classifier):
    path, frame = table
    model = tmp_path / "model.skops"
    said = json.loads(run("fit", path, "-t", "colour", "--parts", "-m", method, "-o", model, "--json").stdout)
    expected, X = in_python(frame, classifier)
    assert said["parts"] == expected[0].get_feature_names_out().tolist()[3:]
    assert "name: key word" in said["parts"]
    assert {"sold: month", "sold: weekday", "sold: hour"} <= set(said["parts"])
    proba = expected.predict_proba(X)
    assert_allclose(load(model).predict_proba(X), proba, atol=1e-12)
    rows = predicted(model, path)
    assert_allclose([[float(row["proba_red"]), float(row["proba_white"])] for row in rows], proba, atol=1e-9)
    assert [row["prediction"] for row in rows] == expected.predict(X).tolist()
    explained = json.loads(run("explain", model, path, "--row", "7", "--json").stdout)
    assert_allclose(list(explained["probabilities"].values()), proba[7], atol=1e-9)
    lines = {line["feature"]: line for line in explained["evidence"]}
    assert {"name: last word", "sold: weekday"} <= set(lines)
    assert lines["sold: weekday"]["value"] == frame["sold"][7].day_name()
    by_hand = expected[-1].explain(expected[:-1].transform(X.slice(7, 1))).to_pandas()
    one = by_hand[by_hand["feature"] == "name: last word"].set_index("class")["contribution"]
    sign = 1 if explained["class"] == "red" else -1
    assert lines["name: last word"]["log_odds"] == pytest.approx(sign * (one["red"] - one["white"]))


def test_inspect_and_export(table, tmp_path):
    path, _ = table
    model = tmp_path / "model.skops"
    run("fit", path, "-t", "colour", "--parts", "-m", "HEB-M", "-o", model)
    shown = run("inspect", model).stdout
    assert "Pipeline(steps=[('columnparts', ColumnParts()), ('naivebayes', NaiveBayes())])" in shown
    assert "sold: weekday" in shown
    features = json.loads(run("inspect", model, "--json").stdout)["features"]
    assert "name: key word" in [feature["name"] for feature in features]
    for output in ("-", tmp_path / "model.sql", tmp_path / "model.onnx"):
        refused = run("export", model, "-o", output, code=1).stderr
        assert "does not make: 'name: last word'" in refused
        assert "--parts" in refused


def test_a_table_without_dates_and_text(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "model.skops"
    path.write_text("x,y\n" + "a,p\nb,q\n" * 20)
    assert "No column is a date or free text" in run("fit", path, "-t", "y", "--parts", "-o", model).stderr
    assert {row["prediction"] for row in predicted(model, path)} == {"p", "q"}
    assert run("export", model, "-o", "-").stdout.startswith("WITH")


def test_no_option_is_advised_for_parts(tmp_path):
    """An option names columns of the file."""
    path, model = tmp_path / "t.csv", tmp_path / "model.skops"
    random = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=800)
    count = random.integers(0, 60, 800)
    late = (days.day > 15) ^ (random.random(800) < 0.1)
    y = np.where(late & (count > 30), "p", "q")
    pd.DataFrame({"date": days, "count": count, "y": y}).to_csv(path, index=False)
    done = json.loads(run("fit", path, "-t", "y", "--parts", "-o", model, "--json").stdout)
    assert {"date: day", "count"} <= set(done["integers_as_numbers"])
    said = run("fit", path, "-t", "y", "--parts", "-o", model, "--overwrite").stderr
    assert "which tell more so: count. --categorical COL" in said
    assert "--parts" not in said  # it is there
    assert "with ColumnParts or --parts" in run("fit", path, "-t", "y", "-o", model, "--overwrite").stderr


def test_later_rows_are_no_surprise(tmp_path):
    old, later, model = tmp_path / "old.csv", tmp_path / "later.csv", tmp_path / "model.skops"
    random = np.random.default_rng(0)
    k, days = random.choice(["x", "y", "z"], 400), pd.date_range("2022-01-01", periods=400, freq="2D")
    frame = pd.DataFrame({"when": days, "k": k, "y": random.choice(["p", "q"], 400)})
    frame.to_csv(old, index=False)
    frame.assign(when=days + pd.DateOffset(years=4)).to_csv(later, index=False)
    run("fit", old, "-t", "y", "--parts", "-m", "HEB-M", "-o", model)
    run("predict", model, later, "--strict", "-o", tmp_path / "out.csv")
    frame.assign(k=frame["k"].str.upper()).to_csv(later, index=False)
    assert "Column 'k'" in run("predict", model, later, "--strict", "-o", tmp_path / "b.csv", code=1).stderr


def test_rows_that_do_not_fit_into_memory(table, tmp_path, monkeypatch):
    """They go through a file, batch by batch, and the model is the same."""
    path, frame = table
    model = tmp_path / "model.skops"
    monkeypatch.setattr(parts, "IN_MEMORY", 0)
    monkeypatch.setattr(labelled, "IN_MEMORY", 0)
    monkeypatch.setattr(parts, "BATCH_ROWS", 64)
    run("fit", path, "-t", "colour", "--parts", "-m", "HEB-M", "-o", model)
    expected, X = in_python(frame, NaiveBayes())
    assert_allclose(load(model).predict_proba(X), expected.predict_proba(X), atol=1e-9)


def test_a_part_with_the_name_of_the_target(table, tmp_path):
    _, frame = table
    path = tmp_path / "t.parquet"
    frame.rename(columns={"colour": "sold: month"}).to_parquet(path)
    refused = run("fit", path, "-t", "sold: month", "--parts", "-o", tmp_path / "m.skops", code=1).stderr
    assert "'sold: month' would be the name of a part" in refused


@pytest.mark.parametrize("here", ["UTC", "America/New_York"])
def test_hours_are_those_of_the_zone_in_the_file(tmp_path, monkeypatch, here):
    """Wherever the machine is."""
    import time

    monkeypatch.setenv("TZ", here)
    time.tzset()
    random = np.random.default_rng(0)
    hours = random.integers(0, 24, 400)
    wall = [dt.datetime(2024, 1, 1 + n % 28, int(hour)) for n, hour in enumerate(hours)]
    instants = [own.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))) for own in wall]
    rows = pa.table({"sent": pa.array(instants, pa.timestamp("us", "Asia/Tokyo")), "n": list(range(400))})
    labels = ["am" if hour < 12 else "pm" for hour in hours]
    path, model = tmp_path / "t.parquet", tmp_path / "m.skops"
    pq.write_table(rows.append_column("y", pa.array(labels)), path)
    run("fit", path, "-t", "y", "--parts", "-m", "HEB-M", "-o", model)
    hour = load(model)[0].transform(rows)["sent: hour"].to_pylist()
    assert hour == hours.tolist()
    explained = json.loads(run("explain", model, path, "--row", "5", "--json").stdout)
    assert next(own["value"] for own in explained["evidence"] if own["feature"] == "sent: hour") == str(hours[5])
    shown = predicted(model, path)
    expected = load(model).predict_proba(rows)
    assert_allclose([float(row["proba_am"]) for row in shown], expected[:, 0], atol=1e-9)
    time.tzset()


def test_a_report_with_parts(table, tmp_path):
    path, frame = table
    page, model = tmp_path / "page.html", tmp_path / "model.skops"
    without = json.loads(
        run("report", path, "-t", "colour", "--folds", "2", "-o", tmp_path / "a.html", "--json").stdout
    )
    arguments = "report", path, "-t", "colour", "--folds", "2", "--parts", "-o", page, "--model", model, "--json"
    with_parts = json.loads(run(*arguments).stdout)
    losses = [own["methods"]["NB+loo"]["log-loss"] for own in (without, with_parts)]
    assert losses[0] > 0.6
    assert losses[1] < 0.75 * losses[0]
    assert "name: key word" in page.read_text(encoding="utf-8")
    loaded = load(model)
    assert isinstance(loaded[0], ColumnParts)
    assert loaded.score(pa.table(frame.drop(columns="colour")), frame["colour"]) > 0.85
