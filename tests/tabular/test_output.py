"""Tables are written in the format that their name says, and can be read again."""

from pathlib import Path

import pytest

from commands import run, write_csv
from hebnb.errors import InputError
from hebnb.tabular.output import kind_of_output


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
