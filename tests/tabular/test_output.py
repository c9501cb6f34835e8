"""Tables are written in the format that their name says, and can be read again."""

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from commands import predicted, run, write_csv
from hebnb.errors import InputError
from hebnb.tabular.output import kind_of_output, table_writer


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("ending", [".xlsx", ".XLSM", ".arrow", ".feather", ".ipc", ".ods", ""])
def test_an_ending_of_a_format_that_is_not_written_is_refused(ending):
    with pytest.raises(InputError, match=r"Tables are written as \.csv, .*\.tsv, .*\.parquet, .*\.jsonl") as refused:
        kind_of_output(f"x{ending}")
    assert ".xlsx," not in str(refused.value)
    assert "format=" not in str(refused.value)


def test_nothing_is_written_under_the_name_of_a_workbook():
    write_csv("t.csv", {"x": ["a", "b"] * 10, "y": ["p", "q"] * 10})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    said = run("predict", "model.skops", "t.csv", "-o", "x.xlsx", code=1).stderr
    assert "--format" not in said
    assert not Path("x.xlsx").exists()


# Gap words and numbers, as columns of them are read; and what only a spreadsheet would compute.
HARMLESS = [
    "-",
    "--",
    " - ",
    "-1,50",
    "-1.234,5",
    "-1,234.5",
    "-12 %",
    "-5 €",
    "-$5",
    "- 5 €",
    "+1'234",
    "-.5",
    "-1,5e3",
]
FORMULAS = ["=1+1", "+a1", "-a1", "@sum(1)", "-1+1", "--1", "-1,5+cmd", "-5 €|x", "\t=1", "-1,50\n=1", "-\n=1", "-n/a"]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_gaps_and_numbers_in_any_notation_are_written_as_they_are(ending):
    table = pa.table({"x": [*HARMLESS, *FORMULAS, None], "-": ["a"] * (len(HARMLESS) + len(FORMULAS) + 1)})
    with table_writer(Path(f"t.{ending}"), ending) as write:
        write(table)
    with open(f"t.{ending}", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if ending == "tsv" else ","))
    assert rows[0] == ["x", "-"]
    assert [row[0] for row in rows[1:]] == [*HARMLESS, *(f"'{text}" for text in FORMULAS), ""]


def test_what_is_predicted_can_be_read_again():
    Path("t.csv").write_text("x;y\n" + "-1,50;p\n-;q\n2,25;q\n--;p\n" * 10)
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    run("predict", "model.skops", "t.csv", "-o", "first.csv")
    first = predicted("model.skops", "first.csv", "--keep", "x")
    assert first == predicted("model.skops", "t.csv", "--keep", "x")
