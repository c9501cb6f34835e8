"""Columns that are passed on come out as they went in."""

import csv
import datetime as dt
import io
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hebnb.tabular.table
from commands import predicted, run, write_csv

# What readers like to rewrite, one column each.
ODD = {
    "answer": ["yes", "no", "Y", "T"],
    "truth": ["True", "FALSE", "true", ""],
    "version": ["1.10", "2.0", "1.1", "3"],
    "zone": ["2024-01-01 10:00:00+02", "2024-01-01T10:00:00Z", "2024-06-01 00:00:00-0530", ""],
    "day": ["03/04/2024", "13/04/2024", "3/4/2024", ""],
    "moment": ["2024-01-01T10:00", "2024-01-01 10:00:00.500", "2024-01-02 00:00:00", ""],
    "time": ["9:30", "09:30:00", "23:59", ""],
    "id": ["007", "1_000", "+5", "0x1F"],
    "number": ["-5", "-1.50", "1e5", "12345678901234567890123"],
    "gap": ["NA", "N/A", "null", "NaN"],
    "blank": [" a", "b ", "  ", "c"],
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("train.csv", {"x": ["1", "2", "3", "4"] * 10, "y": ["a", "b"] * 20})
    run("fit", "train.csv", "-t", "y", "-m", "heb-m")


def test_csv_to_csv():
    write_csv("new.csv", {"x": ["1", "2", "3", "4"], **ODD})
    for options in ((), ("--missing-value", "NA")):
        found = predicted("model.skops", "new.csv", *options)
        for name, texts in ODD.items():
            # Only what begins like a formula, and is no number, has an apostrophe before it.
            assert [row[name] for row in found] == texts, name
    with open("new.csv", newline="") as file:
        before = [line.split(",") for line in file.read().splitlines()[1:]]
    after = [line.split(",") for line in run("predict", "model.skops", "new.csv").stdout.splitlines()[1:]]
    numbers = list(ODD).index("number") + 1
    assert [line[numbers] for line in after] == [line[numbers] for line in before]


def test_quoted_text_and_gaps_stay_apart():
    Path("new.csv").write_text('x,a,b\n1,"",\n2,"a ""b"", c","line\nbreak"\n')
    lines = run("predict", "model.skops", "new.csv").stdout
    assert lines.splitlines()[1].startswith('1,"",,')
    found = list(csv.DictReader(io.StringIO(lines)))
    assert found[1]["a"] == 'a "b", c'
    assert found[1]["b"] == "line\nbreak"


def test_what_the_model_reads_is_passed_on_as_written_too():
    write_csv("train.csv", {"f": ["1.10", "2.20"] * 20, "d": ["13/04/2024", "01/02/2024"] * 20, "y": ["a", "b"] * 20})
    run("fit", "train.csv", "-t", "y", "-m", "heb-m", "--overwrite")
    found = predicted("model.skops", "train.csv")
    assert [(row["f"], row["d"]) for row in found[:2]] == [("1.10", "13/04/2024"), ("2.20", "01/02/2024")]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_formats_with_types_get_them_where_nothing_is_lost(ending):
    columns = ODD | {
        "count": ["-1", "2", "", "30"],
        "share": ["0.5", "2", "", "-1.25"],
        "date": ["2024-01-01", "", "2024-12-31", "2024-02-29"],
    }
    write_csv("new.csv", {"x": ["1", "2", "3", "4"], **columns})
    run("predict", "model.skops", "new.csv", "-o", f"out.{ending}")
    if ending == "parquet":
        rows = pq.read_table("out.parquet").to_pylist()
    else:
        rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    found = {name: [row[name] for row in rows] for name in columns}
    dates = [None if not day else dt.date.fromisoformat(day) for day in columns["date"]]
    assert found.pop("count") == [-1, 2, None, 30]
    assert found.pop("share") == [0.5, 2.0, None, -1.25]
    assert found.pop("truth") == [True, False, True, None]
    assert found.pop("date") == (dates if ending == "parquet" else [None if day is None else str(day) for day in dates])
    assert {name: [text or "" for text in texts] for name, texts in found.items()} == {
        name: columns[name] for name in found
    }


def test_integers_in_json_stay_integers():
    """DuckDB takes them for integers of 128 bits, which are decimals in Arrow."""
    lines = [json.dumps({"x": n % 4 + 1, "count": count}) for n, count in enumerate([-2, None, 0, 2**63 + 3])]
    Path("new.jsonl").write_text("\n".join(lines) + "\n")
    run("predict", "model.skops", "new.jsonl", "-o", "out.jsonl")
    for text in (Path("out.jsonl").read_text(), run("predict", "model.skops", "new.jsonl", "--json").stdout):
        rows = [json.loads(line) for line in text.splitlines()]
        assert [(row["x"], row["count"]) for row in rows] == [(1, -2), (2, None), (3, 0), (4, 2**63 + 3)]


def test_parquet_to_parquet_keeps_types_and_zones():
    moments = [dt.datetime(2024, 1, n + 1, 12, tzinfo=dt.UTC) for n in range(4)]
    table = pa.table(
        {
            "x": [1, 2, 3, 4],
            "zone": pa.array(moments, pa.timestamp("us", "Europe/Berlin")),
            "amount": pa.array(["1.10", "2.00", None, "3.55"]).cast(pa.decimal128(10, 2)),
            "single": pa.array([0.1, 2.5, None, -3.3], pa.float32()),
            "text": ["yes", "no", "", None],
        }
    )
    pq.write_table(table, "new.parquet")
    run("predict", "model.skops", "new.parquet", "-o", "out.parquet")
    found = pq.read_table("out.parquet").select(table.column_names)
    assert found["zone"].type == table["zone"].type
    assert found.to_pylist() == table.to_pylist()


def test_parquet_to_csv_loses_nothing():
    moments = [dt.datetime(2024, 1, 1, 12, 0, 0, 123456, tzinfo=dt.UTC)]
    table = pa.table(
        {
            "x": [1],
            "zone": pa.array(moments, pa.timestamp("us", "Europe/Berlin")),
            "amount": pa.array(["1.10"]).cast(pa.decimal128(10, 2)),
            "double": [0.1 + 0.2],
            "nanosecond": pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")),
            "large": pa.array([2**63 + 1], pa.uint64()),
        }
    )
    pq.write_table(table, "new.parquet")
    (row,) = predicted("model.skops", "new.parquet")
    assert pd.Timestamp(row["zone"]) == pd.Timestamp(moments[0])
    assert row["amount"] == "1.10"
    assert float(row["double"]) == 0.1 + 0.2
    assert pd.Timestamp(row["nanosecond"]).value == 1_700_000_000_123_456_789
    assert int(row["large"]) == 2**63 + 1


def test_every_row_is_predicted_or_the_command_fails(monkeypatch):
    write_csv("new.csv", {"x": ["1", "2", "3", "4"] * 5})
    whole = hebnb.tabular.table.TableFile.batches

    def without_the_last(self, *arguments):
        for rows in whole(self, *arguments):
            yield rows.slice(0, rows.num_rows - 1)

    monkeypatch.setattr(hebnb.tabular.table.TableFile, "batches", without_the_last)
    for kind in ("csv", "parquet"):
        if kind == "parquet":
            pd.read_csv("new.csv").to_parquet("new.parquet")
        said = run("predict", "model.skops", f"new.{kind}", "-o", "out.csv", code=1).stderr
        assert "has 20 rows, of which 19 were predicted" in said
        assert not Path("out.csv").exists()


def test_rows_of_a_file_of_text_are_counted_without_duckdb(monkeypatch):
    """A reader that skips what begins with a hash, as DuckDB does unless told otherwise."""
    import duckdb

    whole = duckdb.DuckDBPyConnection.read_csv

    def skipping(self, *arguments, **options):
        return whole(self, *arguments, **options).filter("x NOT LIKE '#%'")

    write_csv("new.csv", {"x": ["1", "#2", "3", "4"], "z": ["p"] * 4})
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "does not fit the model" in said
    monkeypatch.setattr(duckdb.DuckDBPyConnection, "read_csv", skipping)
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "it has 4 rows, of which 3 were understood" in said


@pytest.mark.parametrize(
    "content",
    [
        "x,z\r\n1,a\r\n2,b\r\n",
        "x,z\n1,a\n\n2,b\n\n\n",
        'x,z\n1,5" pipe\n2,b',
        'x,z\n1,"two\n\nlines, and ""marks"""\n2,b\n',
        "x\n1\n2",
        "x,z\r1,a\r2,b\r",
        "\n".join(["x,z", "1," + "long" * 50_000, '2,5"']),
    ],
)
def test_rows_are_counted_however_lines_end(content):
    Path("new.csv").write_bytes(content.encode())
    assert len(predicted("model.skops", "new.csv", "--keep", "x")) == 2


def test_a_blank_line_is_a_gap_where_there_is_one_column():
    Path("new.csv").write_text("x\n1\n\n2\n")
    assert [row["x"] for row in predicted("model.skops", "new.csv")] == ["1", "", "2"]
