"""Dates in text mean at predict what they meant at fit."""

import json
import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from commands import predicted, run, write_csv
from hebnb import NaiveBayes, load, save
from hebnb.persistence import document
from hebnb.persistence.allowance import Allowance
from hebnb.tabular.files import open_table


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def days(form, first="2024-01-01", number=200):
    return [day.strftime(form) for day in pd.date_range(first, periods=number)]


def fit(form, extra=()):
    """A model that tells the first half of the year from the second."""
    written = days(form, number=366)
    write_csv("train.csv", {"d": written, "y": ["early" if n < 183 else "late" for n in range(366)]})
    return run("fit", "train.csv", "-t", "y", "-m", "heb-m", "--overwrite", *extra)


def early(path, *options):
    return [float(row["proba_early"]) for row in predicted("model.skops", path, *options)]


# Days below 13 only: each could as well be a month.
UNSURE = ["2024-02-03", "2024-03-02", "2024-09-01", "2024-01-09", "2024-12-05", "2024-05-12"]


@pytest.mark.parametrize(
    "form", ["%m/%d/%Y", "%d/%m/%Y", "%m-%d-%y", "%d.%m.%Y", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"]
)
def test_a_later_file_is_read_as_the_first_was(form):
    fit(form)
    moments = pd.to_datetime(UNSURE)
    write_csv("new.csv", {"d": [moment.strftime(form) for moment in moments]})
    found = early("new.csv")
    assert [p > 0.5 for p in found] == [moment < pd.Timestamp("2024-07-02") for moment in moments]
    pq.write_table(pa.table({"d": pa.array(moments)}), "new.parquet")
    assert_allclose(found, early("new.parquet"))


def test_files_read_together_are_read_alike():
    write_csv("part-1.csv", {"d": days("%m/%d/%Y", number=12), "y": ["a"] * 12})
    write_csv("part-2.csv", {"d": days("%m/%d/%Y", "2024-06-01", 30), "y": ["b"] * 30})
    run("fit", "part-*.csv", "-t", "y", "-m", "heb-m")
    write_csv("new.csv", {"d": ["01/12/2024"]})
    (row,) = predicted("model.skops", "new.csv")
    assert row["prediction"] == "a"


def test_a_file_that_contradicts_the_model_is_refused():
    fit("%m/%d/%Y")
    write_csv("new.csv", {"d": ["03/04/2024", "12/31/2024", "31/12/2024", "30/12/2024"]})
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "Column 'd' does not fit the model: row 3 has '31/12/2024'" in said
    assert "month/day/year" in said
    write_csv("new.csv", {"d": UNSURE})
    assert "row 1 has '2024-02-03'" in run("explain", "model.skops", "new.csv", code=1).stderr
    fit("%Y-%m-%d")
    write_csv("new.csv", {"d": ["03/04/2024"]})
    assert "year-month-day" in run("predict", "model.skops", "new.csv", code=1).stderr
    write_csv("new.csv", {"d": ["2024-02-03", "2024-02-03 12:00:00"]})
    assert len(early("new.csv")) == 2
    write_csv("new.csv", {"d": ["2024-02-03", "NA"]})
    assert len(early("new.csv", "--missing-value", "NA")) == 2


def test_only_columns_that_the_model_reads_have_to_fit():
    fit("%m/%d/%Y")
    write_csv("new.csv", {"d": ["12/31/2024"], "when": ["03/04/2024"]})
    assert predicted("model.skops", "new.csv")[0]["when"] == "03/04/2024"


def test_unsure_dates_are_told_at_fit():
    write_csv("train.csv", {"d": ["03/04/2024", "05/06/2024"] * 20, "when": ["03/04/2024"] * 40, "y": ["a", "b"] * 20})
    said = " ".join(run("fit", "train.csv", "-t", "y", "-m", "heb-m", "--drop", "when").stderr.split())
    assert "Column 'd': its dates written as day/month/year" in said
    assert "month/day/year" in said.replace("day/month/year", "")
    assert "'when'" not in said
    assert "day/month" not in fit("%m/%d/%Y").stderr
    write_csv("train.csv", {"d": ["03/03/2024", "05/05/2024"] * 20, "y": ["a", "b"] * 20})
    assert "day/month" not in run("fit", "train.csv", "-t", "y", "-o", "n.skops").stderr


def test_models_that_do_not_know_the_format_read_what_has_one_meaning():
    table = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=366)})
    save(NaiveBayes().fit(table, ["early"] * 183 + ["late"] * 183), "model.skops")
    for content in (["13/02/2024", "01/03/2024"], ["02/13/2024", "03/01/2024"], ["2024-02-13", "2024-03-01"]):
        write_csv("new.csv", {"d": content})
        assert min(early("new.csv")) > 0.9
    write_csv("new.csv", {"d": ["03/02/2024", "01/03/2024"]})
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "Column 'd' does not fit the model" in said
    assert "day/month/year" in said


def test_files_of_earlier_versions_say_nothing_of_dates():

    fit("%m/%d/%Y")
    model = load("model.skops")
    assert model._learned.written.formats == {"d": "%m/%d/%Y"}
    content = document.of_model(model)
    header = json.loads(content["header"])
    del header["formats"], header["gaps"]
    allowance = Allowance(Path("model.skops"), 1 << 20, math.inf)
    older = document.to_model({"header": json.dumps(header), "arrays": content["arrays"]}, allowance)
    assert older._learned.written.formats == {}
    assert_allclose(older.predict_proba(pd.DataFrame({"d": pd.to_datetime(UNSURE)})),
                    model.predict_proba(pd.DataFrame({"d": pd.to_datetime(UNSURE)})))  # fmt: skip


def test_dates_in_json_are_read_alike():
    rows = pd.DataFrame({"d": days("%Y-%m-%dT%H:%M:%S"), "y": ["a"] * 100 + ["b"] * 100})
    rows.to_json("t.jsonl", orient="records", lines=True)
    run("fit", "t.jsonl", "-t", "y", "-m", "heb-m")
    assert load("model.skops")._learned.written.formats == {"d": "ISO"}
    found = predicted("model.skops", "t.jsonl")
    assert [row["d"] for row in found] == rows["d"].tolist()
    assert [row["prediction"] for row in found] == rows["y"].tolist()


@pytest.mark.parametrize("gap", ["NA", "-"])
@pytest.mark.parametrize("form", ["%d.%m.%Y", "%d/%m/%Y", "%d.%m.%y"])
def test_dates_with_gaps_are_dates(form, gap):
    write_csv("t.csv", {"d": [gap, *days(form), gap]})
    with open_table("t.csv") as table:
        found = [row["d"] for row in table.collect().to_pylist()]
    assert found == [None, *(day.date() for day in pd.date_range("2024-01-01", periods=200)), None]


def test_dates_of_a_workbook_fit_a_model_that_learned_them_from_text():
    fit("%d/%m/%Y")
    moments = pd.to_datetime(UNSURE)
    write_csv("new.csv", {"d": list(moments.strftime("%d/%m/%Y"))})
    expected = early("new.csv")
    pd.DataFrame({"d": moments}).to_excel("moments.xlsx", index=False)
    pd.DataFrame({"d": moments.date}).to_excel("days.xlsx", index=False)
    pd.DataFrame({"d": moments.strftime("%d/%m/%Y")}).to_excel("text.xlsx", index=False)
    for book in ("moments.xlsx", "days.xlsx", "text.xlsx"):
        assert early(book) == expected
    pd.DataFrame({"d": [*moments, "NA", "never"]}).to_excel("gaps.xlsx", index=False)
    assert early("gaps.xlsx", "--na", "never")[:-2] == expected
    assert "'never'" in run("predict", "model.skops", "gaps.xlsx", code=1).stderr


def test_dates_and_text_in_a_column_of_a_workbook_are_refused():
    """A program that took day/month for month/day leaves the days above 12 as text: the others mean something else."""
    fit("%d/%m/%Y")
    pd.DataFrame({"d": [pd.Timestamp("2024-05-10"), "31/12/2024"]}).to_excel("mixed.xlsx", index=False)
    assert "day/month/year" in run("predict", "model.skops", "mixed.xlsx", code=1).stderr
