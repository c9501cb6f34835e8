"""Folders that are columns, and files with odd names, beginnings and headers."""

from pathlib import Path

import pandas as pd
import pytest

from commands import predicted, run, write_csv
from hebnb.errors import InputError
from hebnb.tabular.files import open_table


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def partitioned(request):
    """Files in folders named after the class and a year, and the glob of them."""
    for group in ("left", "right"):
        folder = Path(f"side={group}", "year=2024")
        folder.mkdir(parents=True)
        frame = pd.DataFrame({"x": ["a", "b", "b"] if group == "left" else ["c"] * 3, "d": ["2024-01-01"] * 3})
        path = folder / f"t.{request.param}"
        if request.param == "parquet":
            frame.to_parquet(path)
        else:
            is_csv = request.param == "csv"
            path.write_text(frame.to_csv(index=False) if is_csv else frame.to_json(orient="records", lines=True))
    return f"side=*/year=2024/t.{request.param}"


def test_folders_are_columns_if_asked_for(partitioned):
    with open_table(partitioned) as table:
        assert table.columns == ["x", "d"]
    with open_table(partitioned, hive=True) as table:
        assert sorted(table.columns) == ["d", "side", "x", "year"]
        assert table.collect()["side"].to_pylist() == ["left"] * 3 + ["right"] * 3
        assert set(table.collect()["year"].to_pylist()) == {2024}
    run("fit", partitioned, "-t", "side", "-m", "heb-m", code=2)
    run("fit", partitioned, "-t", "side", "-m", "heb-m", "--hive")
    found = predicted("model.skops", partitioned, "--hive")
    assert [row["prediction"] for row in found] == [row["side"] for row in found]
    run("explain", "model.skops", partitioned, "--hive")
    run("report", partitioned, "-t", "side", "--hive", "--folds", "2")


def test_a_folder_does_not_overwrite_a_column(partitioned):
    for column in ("x", "X"):
        folder = Path(f"{column}=1") / partitioned.rpartition(".")[2]
        folder.mkdir(parents=True)
        path = next(Path().glob(partitioned))
        (folder / path.name).write_bytes(path.read_bytes())
        with pytest.raises(InputError, match="in its files and in the name of a folder"):
            open_table(str(folder / path.name), hive=True).__enter__()
        with open_table(str(folder / path.name)) as table:
            assert table.columns == ["x", "d"]


def test_hive_without_such_folders_is_refused():
    write_csv("t.csv", {"x": ["a"]})
    assert "key=value" in run("fit", "t.csv", "-t", "x", "--hive", code=1).stderr


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_mark_before_a_quoted_name_with_a_comma(ending):
    import gzip

    content = '\ufeff"weight, kg",y\n' + '1,a\n"2",b\n' * 10
    Path(f"t.{ending}").write_bytes((gzip.compress if ending == "csv.gz" else bytes)(content.encode()))
    with open_table(f"t.{ending}") as table:
        assert table.columns == ["weight, kg", "y"]
        assert table.n_rows() == 20
    Path("k=1").mkdir()
    Path("k=1/t.csv").write_text(content)
    with open_table("k=1/t.csv", hive=True) as table:
        assert table.columns == ["weight, kg", "y", "k"]
    Path("plain.csv").write_text("\ufeffweight,y\n1,a\n")
    with open_table("plain.csv") as table:
        assert table.columns == ["weight", "y"]


def test_a_very_long_name():
    name = "n" * 200_000
    Path("t.csv").write_text(f"{name},y\n" + "1,a\n2,b\n" * 10)
    with open_table("t.csv") as table:
        assert table.columns == [name, "y"]
    said = run("fit", "t.csv", "-t", "why", code=2).stderr
    assert len(said) < 3_000
    Path("t.csv").write_text(f"{name * 20},y\n" + "1,a\n2,b\n" * 10)
    said = run("fit", "t.csv", "-t", "y", code=1).stderr
    assert "t.csv cannot be read" in said
    assert len(said) < 3_000


def test_links_that_lead_nowhere():
    Path("loop.csv").symlink_to("loop.csv")
    Path("gone.csv").symlink_to("absent.csv")
    Path("loop.skops").symlink_to("loop.skops")
    write_csv("t.csv", {"x": ["a", "b"] * 5, "y": ["p", "q"] * 5})
    for name in ("loop.csv", "gone.csv"):
        assert "is a link that leads nowhere" in run("fit", name, "-t", "y", code=1).stderr
    assert "loop.skops" in run("fit", "t.csv", "-t", "y", "-o", "loop.skops", code=1).stderr
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    assert "loop.csv" in run("predict", "model.skops", "t.csv", "-o", "loop.csv", "--overwrite", code=1).stderr
    assert "loop.skops" in run("predict", "loop.skops", "t.csv", code=1).stderr


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_name_that_begins_with_a_tilde(ending):
    frame = pd.DataFrame({"x": ["a", "b"]})
    path = f"~x.{ending}"
    if ending == "parquet":
        frame.to_parquet(f"./{path}")
    else:
        Path(path).write_text(frame.to_csv(index=False) if ending == "csv" else '{"x": "a"}\n{"x": "b"}\n')
    with open_table(path) as table:
        assert table.collect()["x"].to_pylist() == ["a", "b"]
