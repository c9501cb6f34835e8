"""One table, in every form that people bring it in: a model learned from any of them says the same of any other."""

import datetime as dt
import json
import random

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from commands import run
from hebnb import NaiveBayes, load, save

ROWS, GAPS = 60, 7
FILES = ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.xlsx", "t.feather", "na.csv", "comma.csv"]
FRAMES = ["pandas object", "pandas string", "pandas arrow", "polars", "duckdb"]


def columns():
    """Text, integers, floats, true and false, dates, times, with gaps in each but the label."""
    draw = random.Random(5)
    made = {
        "text": [draw.choice(["red", "green", "007", "ü, ö"]) for _ in range(ROWS)],
        "whole": [draw.randrange(-3, 1500) for _ in range(ROWS)],
        "few": [draw.randrange(3) for _ in range(ROWS)],
        "real": [draw.randrange(-5_000, 5_000) / 16 for _ in range(ROWS)],
        "truth": [draw.random() < 0.5 for _ in range(ROWS)],
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=draw.randrange(300)) for _ in range(ROWS)],
        "moment": [dt.datetime(2024, 1, 1, 12) + dt.timedelta(minutes=draw.randrange(9_999)) for _ in range(ROWS)],
    }
    for values in made.values():
        for n in draw.sample(range(ROWS), GAPS):
            values[n] = None
    return made | {"y": [draw.choice("pq") for _ in range(ROWS)]}


def written(value, decimal="."):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace(".", decimal) if isinstance(value, float) else str(value)


def write_text(path, made, separator, gap="", decimal="."):
    """Lines of text; text has no other gap than nothing, and quotation marks where it needs them."""
    rows = [separator.join(made)]
    for row in zip(*made.values(), strict=True):
        fields = []
        for name, value in zip(made, row, strict=True):
            text = ("" if name == "text" else gap) if value is None else written(value, decimal)
            fields.append(f'"{text}"' if separator in text else text)
        rows.append(separator.join(fields))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_workbook(path, made):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(list(made))
    for row in zip(*made.values(), strict=True):
        book.active.append(row)
    book.save(path)


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """The table in all forms: paths of files, and frames."""
    folder, made = tmp_path_factory.mktemp("forms"), columns()
    table = pa.table(made)
    write_text(folder / "t.csv", made, ",")
    write_text(folder / "t.tsv", made, "\t")
    write_text(folder / "na.csv", made, ",", gap="NA")
    write_text(folder / "comma.csv", made, ";", gap="#N/A", decimal=",")
    pq.write_table(table, folder / "t.parquet")
    pyarrow.feather.write_feather(table, folder / "t.feather")
    (folder / "t.jsonl").write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    write_workbook(folder / "t.xlsx", made)
    objects = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in made.items()})
    frames = {
        "pandas object": objects,
        "pandas string": objects.astype({"text": "string", "whole": "Int64", "few": "Int64", "truth": "boolean"}),
        "pandas arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(made),
        "duckdb": duckdb.from_arrow(table),
    }
    return {**{name: folder / name for name in FILES}, **frames}, folder


@pytest.fixture(scope="module")
def models(forms):
    """A model of every form, as a file."""
    tables, folder = forms
    for name in FILES:
        run("fit", tables[name], "-t", "y", "-m", "heb-m", "-o", folder / f"{name}.skops")
    for name in FRAMES:
        frame = tables[name]
        if name == "duckdb":
            model = NaiveBayes().fit(frame, "y")
        else:
            frame = frame.drop(columns="y") if name.startswith("pandas") else frame.drop("y")
            model = NaiveBayes().fit(frame, list(tables[name]["y"]))
        save(model, folder / f"{name}.skops")
    return folder


def probabilities(models, learned, tables, asked):
    """The probability of p in every row."""
    if asked in FILES:
        out = models / "out.parquet"
        # A model that learned decimal commas reads commas, unless told otherwise.
        otherwise = ["--decimal", "."] if learned == "comma.csv" and asked != "comma.csv" else []
        run("predict", models / f"{learned}.skops", tables[asked], "-o", out, "--overwrite", *otherwise)
        return pq.read_table(out)["proba_p"].to_numpy()
    frame, model = tables[asked], load(models / f"{learned}.skops")
    if asked == "duckdb":
        numbered = frame.project("*, row_number() OVER () AS place")  # joins keep no order
        return model.predict_proba(numbered).order("place").to_arrow_table()["proba_p"].to_numpy()
    return model.predict_proba(frame.drop(columns="y") if asked.startswith("pandas") else frame.drop("y"))[:, 0]


def test_files_say_what_they_hold(forms):
    said = run("fit", forms[0]["comma.csv"], "-t", "y", "-m", "heb-m", "-o", forms[1] / "said.skops").stderr
    assert f"Column 'real': numbers with a decimal comma; {GAPS} gaps written as #N/A." in said
    assert f"Columns 'whole', 'few', 'truth' and 2 more: {5 * GAPS} gaps written as #N/A." in said


@pytest.mark.parametrize("learned", [*FILES, *FRAMES])
def test_a_model_of_any_form_says_the_same_of_any_other(forms, models, learned):
    expected = probabilities(models, "t.parquet", forms[0], "t.parquet")
    assert len(set(expected.round(12))) > ROWS / 2
    for asked in [*FILES, *FRAMES]:
        found = probabilities(models, learned, forms[0], asked)
        assert_allclose(found, expected, rtol=1e-9, err_msg=f"learned from {learned}, asked about {asked}")
