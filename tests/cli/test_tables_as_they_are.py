"""Every row and every column of a file is read, and nothing that is not in it."""

import pandas as pd
import pytest

from hebnb.tabular.files import open_table


def test_rows_that_begin_with_a_hash_are_rows(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{'#N/A' if n % 10 == 3 else n},{'ab'[n % 2]},{'pq'[n % 2]}" for n in range(1_000)]
    path.write_text("\n".join(["id,x,y", *lines]) + "\n")
    with open_table(str(path)) as table:
        assert table.n_rows() == 1_000
        assert table.collect().num_rows == 1_000
        assert table.slice(3, 1).to_pylist() == [{"id": "#N/A", "x": "b", "y": "q"}]


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
