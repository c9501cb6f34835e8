"""Every row and every column of a file is read, and nothing that is not in it."""

from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from hebnb import NaiveBayes, load
from hebnb.cli.app import app
from hebnb.tabular.files import open_table


def test_rows_that_begin_with_a_hash_are_rows(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{'#N/A' if n % 10 == 3 else n},{'ab'[n % 2]},{'pq'[n % 2]}" for n in range(1_000)]
    path.write_text("\n".join(["id,x,y", *lines]) + "\n")
    with open_table(str(path)) as table:
        assert table.n_rows() == 1_000
        assert table.collect().num_rows == 1_000
        assert table.slice(3, 1).to_pylist() == [{"id": None, "x": "b", "y": "q"}]  # a gap


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_folders_do_not_become_columns(tmp_path, kind):
    folder = tmp_path / "y=wrong" / "run=1"
    folder.mkdir(parents=True)
    frame = pd.DataFrame({"x": ["a", "b"], "y": ["p", "q"]})
    path = folder / f"t.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text(frame.to_csv(index=False) if kind == "csv" else frame.to_json(orient="records", lines=True))
    with open_table(str(path)) as table:
        assert table.columns == ["x", "y"]
        assert table.collect().to_pylist() == frame.to_dict("records")


@pytest.mark.parametrize("first", [-15, 2**62, 2**70])
def test_decimals_without_a_fraction_are_integers(tmp_path, first):
    """Of which there may be many, and some are one float."""
    values, y = [Decimal(first + n % 30) for n in range(90)], ["pq"[n % 30 % 2] for n in range(90)]
    rows = pa.table({"x": pa.array(values, pa.decimal128(38, 0)), "y": y})
    source, model, scored = (tmp_path / name for name in ("t.parquet", "m.skops", "s.parquet"))
    pq.write_table(rows, source)
    for arguments in (["fit", source, "-t", "y", "-m", "heb-m", "-o", model], ["predict", model, source, "-o", scored]):
        assert CliRunner().invoke(app, [str(argument) for argument in arguments]).exit_code == 0
    assert load(model).categories_[0].tolist() == [first + n for n in range(30)]
    expected = NaiveBayes().fit(rows.select(["x"]), y).predict_proba(rows.select(["x"]))
    found = pq.read_table(scored)
    assert_allclose(found["proba_p"].to_numpy(), expected[:, 0], atol=1e-9)
    assert found["x"].to_pylist() == values
