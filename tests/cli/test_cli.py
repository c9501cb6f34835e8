"""The command line, as people use and misuse it."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import hebnb
from hebnb import AODE, EvidenceClassifier, NaiveBayes, load, save
from hebnb.cli.app import app
from hebnb.datasets import load_flights
from models import HOSTILE


def run(*arguments, stdin=None, code=0):
    """What a command prints, which ends as expected and without a traceback."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def flights():
    X, y = load_flights(backend="pandas")
    return X.head(3000).assign(arrival=y.head(3000))


@pytest.fixture(scope="module")
def learned(flights, tmp_path_factory):
    """A folder with a table and the model of it, of which tests get copies."""
    folder = tmp_path_factory.mktemp("learned")
    flights.to_csv(folder / "flights.csv", index=False)
    run("fit", folder / "flights.csv", "--target", "arrival", "-o", folder / "model.skops")
    return folder


@pytest.fixture
def csv_file(learned):
    shutil.copy(learned / "flights.csv", ".")
    return "flights.csv"


@pytest.fixture
def model_file(csv_file, learned):
    shutil.copy(learned / "model.skops", ".")
    return "model.skops"


# fit


def test_fit_learns_what_python_learns(csv_file, flights):
    said = run("fit", csv_file, "-t", "arrival", "-o", "m.skops").stderr
    assert "10 columns of 3,000 rows with Evidence" in said
    model = EvidenceClassifier().fit(flights.drop(columns="arrival"), flights["arrival"])
    X = flights.drop(columns="arrival").head(50)
    assert_allclose(load("m.skops").predict_proba(pa.Table.from_pandas(X)), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
def test_fit_from_every_format_and_from_standard_input(kind, flights):
    path = Path(f"table.{kind}")
    if kind == "parquet":
        flights.to_parquet(path)
    elif kind == "jsonl":
        flights.to_json(path, orient="records", lines=True)
    else:
        flights.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    run("fit", path, "-t", "arrival", "-m", "heb-m", "-o", "m.skops")
    model = NaiveBayes().fit(flights.drop(columns="arrival"), flights["arrival"])
    rows = pa.Table.from_pandas(flights.drop(columns="arrival").head(9))
    expected = model.predict_proba(flights.drop(columns="arrival").head(9))
    assert_allclose(load("m.skops").predict_proba(rows), expected, atol=1e-12)
    if kind != "csv.gz":
        run("fit", "-", "-t", "arrival", "-m", "heb-m", "-o", "piped.skops", stdin=path.read_bytes())
        assert_allclose(load("piped.skops").predict_proba(rows), expected, atol=1e-12)


def test_fit_from_a_glob(flights):
    flights[:1000].to_csv("part-1.csv", index=False)
    flights[1000:].to_csv("part-2.csv", index=False)
    Path("part[9].csv").write_text("not,meant\n1,2\n")
    run("fit", "part-*.csv", "-t", "arrival", "-m", "heb-m")
    assert load("model.skops").class_count_.sum() == 3000
    run("fit", "part[9].csv", "-t", "meant", "-o", "other.skops", code=1)


def test_files_that_do_not_go_together(flights):
    part = flights.head(20)
    part.to_csv("a-1.csv", index=False)
    for content, message in (
        (part.to_csv(index=False, sep=";"), "does not go with"),
        (part.to_csv(index=False, header=False), "does not go with"),
        ("", "is empty"),
    ):
        Path("a-2.csv").write_text(content)
        assert message in run("fit", "a-*.csv", "-t", "arrival", code=1).stderr
    Path("a-2.csv").unlink()
    part.to_csv("a-2.tsv", index=False, sep="\t")
    assert "several formats: csv, tsv" in run("fit", "a-*", "-t", "arrival", code=1).stderr
    Path("a-2.tsv").unlink()
    part[part.columns[::-1]].to_csv("a-2.csv", index=False)
    run("fit", "a-*.csv", "-t", "arrival", "-m", "heb-m")
    assert load("model.skops").class_count_.sum() == 40


def test_packed_standard_input(flights):
    import gzip

    content = gzip.compress(flights.head(50).to_csv(index=False).encode())
    run("fit", "-", "-t", "arrival", "-m", "heb-m", stdin=content)
    assert load("model.skops").class_count_.sum() == 50
    listed = flights.head(50).to_json(orient="records")
    run("fit", "-", "-t", "arrival", "-m", "heb-m", "--overwrite", stdin=listed)
    Path("broken.csv.gz").write_bytes(content[:-20])
    assert "broken.csv.gz" in run("fit", "broken.csv.gz", "-t", "arrival", "-o", "n.skops", code=1).stderr
    Path("plain.csv.gz").write_text("a,y\n1,2\n")
    assert "plain.csv.gz" in run("fit", "plain.csv.gz", "-t", "y", "-o", "n.skops", code=1).stderr


def test_labels_of_odd_types():
    big = [2**63 + 5, 2**63 + 9] * 20
    pq.write_table(pa.table({"x": list("ab") * 20, "y": pa.array(big, pa.uint64())}), "t.parquet")
    run("fit", "t.parquet", "-t", "y", "-m", "heb-m")
    run("predict", "model.skops", "t.parquet", "-o", "out.parquet")
    assert pq.read_table("out.parquet")["prediction"].to_pylist() == big
    pq.write_table(pa.table({"x": list("abc") * 20, "y": [0.0, 1.0, np.nan] * 20}), "t.parquet")
    said = run("fit", "t.parquet", "-t", "y", "-m", "heb-m", "--overwrite").stderr
    assert "20 rows without a label were left out" in said


def test_every_method_by_name(csv_file):
    for name in ("Laplace", "heb-m", "HEB-M+GR", "heb-aode", "NB+loo", "aode+LOO"):
        run("fit", csv_file, "-t", "arrival", "-m", name, "-o", "m.skops", "--overwrite")
    assert isinstance(load("m.skops"), AODE)
    assert "Did you mean 'HEB-M'" in run("fit", csv_file, "-t", "arrival", "-m", "hebm", code=2).stderr


def test_options_of_fit(flights):
    flights.assign(zip="007", w=2, x=np.arange(3000) / 7).to_csv("t.csv", index=False)
    said = run(
        "fit", "t.csv", "-t", "arrival", "--drop", "flight", "--categorical", "zip", "--numeric", "distance",
        "--bins", "4", "-m", "NB+loo", "--weight", "w", "--max-categories", "50", "--json",
    )  # fmt: skip
    model = load("model.skops")
    assert "flight" not in model.feature_names_in_
    assert "w" not in model.feature_names_in_
    categories = dict(zip(model.feature_names_in_, model.categories_, strict=True))
    assert categories["zip"].tolist() == ["007"]
    assert len(categories["x"]) == len(categories["distance"]) == 4
    assert len(categories["tailnum"]) == 50
    assert model.class_count_.sum() == 6000
    summary = json.loads(said.stdout)
    assert summary["rows"] == 3000
    assert summary["features"][-2:] == ["zip", "x"]
    run("fit", "t.csv", "-t", "arrival", "--feature", "month", "--feature", "zip", "-o", "two.skops")
    assert load("two.skops").feature_names_in_.tolist() == ["month", "zip"]


def test_rows_without_a_label_are_left_out_and_counted(flights):
    flights.assign(arrival=flights["arrival"].where(np.arange(3000) % 3 > 0)).to_csv("t.csv", index=False)
    assert "1,000 rows without a label were left out" in run("fit", "t.csv", "-t", "arrival").stderr
    assert load("model.skops").class_count_.sum() == 2000


def test_types_that_change_far_down_a_file():
    rows = "\n".join(f"{n % 7},{'a' if n % 2 else 'b'}" for n in range(120_000))
    Path("t.csv").write_text(f"x,y\n{rows}\nnot a number,a\n")
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    assert load("model.skops").categories_[0].tolist() == [*"0123456", "not a number"]


def test_separators_are_read_off_the_header():
    for separator in ",;|\t":
        Path("t.csv").write_text(f'x{separator}"y{separator}"\n' + f'"a{separator}b"{separator}1\nc{separator}2\n' * 3)
        run("fit", "t.csv", "-t", f"y{separator}", "-m", "heb-m", "--overwrite")
        assert load("model.skops").categories_[0].tolist() == [f"a{separator}b", "c"]


def test_uneven_lines_are_named():
    good = "a,x,1,p\nb,y,2,q\n" * 30
    for bad, line in (("a,x\n", 62), ("a,x,1,p,7\n", 62)):
        Path("t.csv").write_text(f"c,d,n,y\n{good}{bad}{good}")
        said = run("fit", "t.csv", "-t", "y", code=1).stderr
        assert f"line {line} of 't.csv' has {len(bad.split(','))} fields and the header 4" in said


def test_other_encodings_are_pointed_out():
    Path("t.csv").write_bytes("x,y\ncafé,1\nb,2\n".encode("latin-1"))
    assert "is not UTF-8: line 2" in run("fit", "t.csv", "-t", "y", code=1).stderr
    for encoding in ("utf-8-sig", "utf-16"):
        Path("t.csv").write_bytes("x,y\ncafé,1\nb,2\n".encode(encoding))
        run("fit", "t.csv", "-t", "y", "-m", "heb-m", "--overwrite")
        assert load("model.skops").feature_names_in_.tolist() == ["x"]


def test_an_array_in_a_json_file(flights):
    flights.head(200).to_json("t.json", orient="records")
    run("fit", "t.json", "-t", "arrival", "-m", "heb-m")
    assert load("model.skops").class_count_.sum() == 200


def test_warnings_read_like_messages(flights):
    flights.assign(nothing=None).to_parquet("t.parquet")
    said = run("fit", "t.parquet", "-t", "arrival", "-m", "heb-m").stderr
    assert "Note: Column 'nothing': every value is missing" in said
    assert "UserWarning" not in said


def test_gaps_by_name():
    Path("t.csv").write_text("x,y\n1,a\nNA,b\n2,a\n1,b\n,a\n")
    run("fit", "t.csv", "-t", "y", "-m", "heb-m", "--missing-value", "NA")
    assert load("model.skops").categories_[0].tolist() == [1, 2, None]


def test_large_tables_are_counted_by_duckdb(csv_file, flights, monkeypatch):
    import hebnb.tabular.labelled

    monkeypatch.setattr(hebnb.tabular.labelled, "IN_MEMORY", 0)
    run("fit", csv_file, "-t", "arrival", "-m", "heb-m", "--drop", "day")
    model = NaiveBayes().fit(flights.drop(columns=["arrival", "day"]), flights["arrival"])
    X = flights.drop(columns=["arrival", "day"]).head(20)
    assert_allclose(load("model.skops").predict_proba(pa.Table.from_pandas(X)), model.predict_proba(X), atol=1e-12)


# predict


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_predict_to_every_format(model_file, csv_file, flights, ending):
    run("predict", model_file, csv_file, "-o", f"out.{ending}")
    readers = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "parquet": pd.read_parquet,
        "jsonl": lambda path: pd.read_json(path, lines=True),
    }
    found = readers[ending](f"out.{ending}")
    model = load(model_file)
    X = pa.Table.from_pandas(flights.drop(columns="arrival"))
    assert_allclose(found[["proba_late", "proba_ontime"]].to_numpy(), model.predict_proba(X), atol=1e-12)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    assert found["tailnum"].fillna("").tolist() == flights["tailnum"].fillna("").tolist()


def test_predict_prints(model_file, csv_file, flights):
    lines = list(csv.DictReader(io.StringIO(run("predict", model_file, csv_file, "--keep", "flight").stdout)))
    assert len(lines) == 3000
    assert list(lines[0]) == ["flight", "prediction", "proba_late", "proba_ontime"]
    some = flights.head(5).to_csv(index=False)
    objects = [json.loads(line) for line in run("predict", model_file, "-", "--json", stdin=some).stdout.splitlines()]
    assert [o["proba_late"] for o in objects] == [float(line["proba_late"]) for line in lines[:5]]


def test_predict_streams(flights, monkeypatch):
    import hebnb.tabular.files

    monkeypatch.setattr(hebnb.tabular.files.TableFile.batches, "__defaults__", (700,))
    flights.to_csv("t.csv", index=False)
    run("fit", "t.csv", "-t", "arrival")
    run("predict", "model.skops", "t.csv", "-o", "out.parquet")
    assert pq.ParquetFile("out.parquet").num_row_groups >= 3
    assert pq.read_table("out.parquet")["flight"].to_pylist() == flights["flight"].tolist()


def test_columns_mean_what_they_meant_at_fit():
    """Ids that look like numbers, numbers that come as text, other column orders, columns more."""
    Path("train.csv").write_text("id,n,y\n" + "007,1,a\n8x,2,b\n007,1,a\n9,2,b\n" * 5)
    run("fit", "train.csv", "-t", "y", "-m", "heb-m")
    expected = load("model.skops").predict_proba(pa.table({"id": ["007", "9"], "n": [1, 2]}))
    Path("new.csv").write_text("extra,n,id\nz,1,007\nz,2,9\n")
    found = pd.read_csv(io.StringIO(run("predict", "model.skops", "new.csv").stdout))
    assert_allclose(found[["proba_a", "proba_b"]], expected, atol=1e-12)
    pq.write_table(pa.table({"n": ["1", "2"], "id": ["007", "9"]}), "new.parquet")
    found = pd.read_csv(io.StringIO(run("predict", "model.skops", "new.parquet").stdout))
    assert_allclose(found[["proba_a", "proba_b"]], expected, atol=1e-12)
    pq.write_table(pa.table({"n": ["one", "2"], "id": ["007", "9"]}), "bad.parquet")
    said = run("predict", "model.skops", "bad.parquet", code=1).stderr
    assert "Column 'n' does not fit the model" in said
    assert "one" in said


DAYS = [f"2024-01-0{day}" for day in range(1, 6)]


def learned_from(values, parquet_type=None):
    """A model file of one column, and what its values should get."""
    y = ["p", "q", "p", "q", "p"]
    if parquet_type is None:
        Path("train.csv").write_text("f,y\n" + "".join(f"{v},{c}\n" for v, c in zip(values, y, strict=True)) * 30)
        run("fit", "train.csv", "-t", "y", "-m", "heb-m", "--overwrite")
    else:
        pq.write_table(pa.table({"f": pa.array(values * 30, parquet_type), "y": y * 30}), "train.parquet")
        run("fit", "train.parquet", "-t", "y", "-m", "heb-m", "--overwrite")


def probabilities(path, **options):
    return pd.read_csv(io.StringIO(run("predict", "model.skops", path, **options).stdout))["proba_p"].to_numpy()


def test_dates_mean_the_same_in_every_type():
    learned_from(DAYS)
    Path("new.csv").write_text("f\n" + "\n".join(DAYS))
    expected = probabilities("new.csv")
    assert np.ptp(expected) > 0.9
    Path("times.csv").write_text("f\n" + "\n".join(f"{day} 00:00:00" for day in DAYS))
    assert_allclose(probabilities("times.csv"), expected)
    pq.write_table(pa.table({"f": DAYS}), "text.parquet")
    assert_allclose(probabilities("text.parquet"), expected)
    pq.write_table(pa.table({"f": pa.nulls(5)}), "nulls.parquet")
    assert_allclose(probabilities("nulls.parquet"), [0.6] * 5, atol=0.01)
    for content in ("f\n2024-01-01\nnobody knows\n2024-01-03\n", "f\nMonday\n", "f\n17\n"):
        Path("bad.csv").write_text(content)
        assert "Column 'f' does not fit the model" in run("predict", "model.skops", "bad.csv", code=1).stderr
    Path("gap.csv").write_text("f\n2024-01-01\nlost\n2024-01-03\n")
    with_gap = pd.read_csv(io.StringIO(run("predict", "model.skops", "gap.csv", "--missing-value", "lost").stdout))
    assert_allclose(with_gap["proba_p"][[0, 2]], expected[[0, 2]])


def test_decimals_mean_the_same_in_every_type():
    from decimal import Decimal

    values = [Decimal(n) / 10 for n in range(5)]
    learned_from(values, pa.decimal128(10, 2))
    Path("new.csv").write_text("f\n" + "\n".join(map(str, values)))
    expected = probabilities("new.csv")
    assert np.ptp(expected) > 0.9
    pq.write_table(pa.table({"f": pa.array(values, pa.decimal128(12, 4))}), "new.parquet")
    assert_allclose(probabilities("new.parquet"), expected)
    run("predict", "model.skops", "new.parquet", "-o", "out.parquet")
    assert pq.read_table("out.parquet")["f"].to_pylist() == values  # what passes through stays as it is
    run("predict", "model.skops", "new.parquet", "-o", "out.jsonl", "--keep", "f")
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    Path("again.jsonl").write_text("\n".join(json.dumps({"f": line["f"]}) for line in lines))
    assert_allclose(probabilities("again.jsonl"), expected)


def test_single_floats_and_nanoseconds_mean_what_they_print():
    values = [0.1, 2.3, 3.7, 19.99, 3.3]
    learned_from(values)
    Path("new.csv").write_text("f\n" + "\n".join(map(str, values)))
    expected = probabilities("new.csv")
    assert np.ptp(expected) > 0.9
    for kind in (pa.float32(), pa.decimal128(10, 2)):
        column = pa.array([f"{v:.2f}" for v in values]).cast(kind)
        pq.write_table(pa.table({"f": column}), "new.parquet")
        assert_allclose(probabilities("new.parquet"), expected)
        learned_from(column.to_pylist() if kind != pa.float32() else values, kind)
        assert_allclose(probabilities("new.csv"), expected)
        learned_from(values)
    model = NaiveBayes(categorical_features="all").fit(
        pa.table({"f": pa.array(values * 9, pa.float32())}), list("pqpqp") * 9
    )
    save(model, "model.skops")
    pq.write_table(pa.table({"f": pa.array(values, pa.float32())}), "new.parquet")
    assert np.ptp(probabilities("new.parquet")) > 0.9
    nanoseconds = [1577836800000000001 + n * 1_000_000 for n in range(5)]
    for kind in (pa.timestamp("ns"), pa.time64("ns")):
        column = pa.array([n % 86_400_000_000_000 if kind == pa.time64("ns") else n for n in nanoseconds], kind)
        pq.write_table(pa.table({"f": column.take(list(range(5)) * 30), "y": list("pqpqp") * 30}), "t.parquet")
        run("fit", "t.parquet", "-t", "y", "-m", "heb-m", "--overwrite")
        assert np.ptp(probabilities("t.parquet")) > 0.9


def test_dates_far_away_are_cut_too():
    days = [f"20{n:02}-01-0{n % 9 + 1}" for n in range(30)]
    Path("t.csv").write_text("d,y\n" + "".join(f"{day},{'ab'[n % 2]}\n" for n, day in enumerate([*days, "9999-12-31"])))
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    assert len(load("model.skops").bin_edges_["d"]) == 9
    run("predict", "model.skops", "t.csv")


def test_models_from_python_with_odd_categories():
    import datetime as dt
    from decimal import Decimal

    y = ["p", "q", "p", "q", "p"] * 10
    for values, text in (
        ([Decimal(n) / 10 for n in range(5)], ["0", "0.1", "0.2", "0.30", "0.4"]),
        ([dt.time(hour) for hour in range(5)], [f"0{hour}:00:00" for hour in range(5)]),
        ([dt.datetime(2024, 1, 1, hour) for hour in range(5)], [f"2024-01-01 0{hour}:00" for hour in range(5)]),
        ([True, False, True, False, True], ["true", "false", "true", "false", "true"]),
    ):
        X = pd.DataFrame({"f": pd.Series(values * 10, dtype=object)})
        model = NaiveBayes(categorical_features="all").fit(X, y)
        save(model, "model.skops")
        Path("new.csv").write_text("f\n" + "\n".join(text))
        assert_allclose(probabilities("new.csv"), model.predict_proba(X[:5])[:, 0])
    array = np.array([["a", 1], ["b", 2]] * 10, dtype=object)
    model = NaiveBayes().fit(array, [0, 1] * 10)
    save(model, "model.skops")
    Path("new.csv").write_text("1,0\n1,a\n2,b\n")
    found = pd.read_csv(io.StringIO(run("predict", "model.skops", "new.csv").stdout))
    assert_allclose(found["proba_1"], model.predict_proba(array[:2])[:, 1])


def test_a_table_that_does_not_fit_the_model(model_file, flights):
    flights.drop(columns=["month", "dest"]).rename(columns={"tailnum": "tail_num"}).to_csv("t.csv", index=False)
    for command in ("predict", "explain"):
        said = run(command, model_file, "t.csv", code=1).stderr
        assert "lacks columns 'month', 'tailnum', 'dest'" in said
        assert "Hint" in said


def test_a_column_where_a_prediction_would_go(model_file, flights):
    flights.assign(Prediction=1).to_csv("t.csv", index=False)
    assert "'prediction' is where a prediction would go" in run("predict", model_file, "t.csv", code=1).stderr
    run("predict", model_file, "t.csv", "--keep", "day")


def test_no_rows_give_a_header(model_file, flights):
    flights.head(0).to_csv("t.csv", index=False)
    assert run("predict", model_file, "t.csv").stdout.startswith('"month","day"')
    run("predict", model_file, "t.csv", "-o", "out.parquet")
    assert pq.read_table("out.parquet").num_rows == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_memory_does_not_grow_with_the_table(model_file, flights):
    """Ten times the rows, about the same peak: in processes of their own."""
    peaks = {}
    for times in (10, 100):
        pd.concat([flights] * times).to_parquet("big.parquet")
        code = (
            "import sys; sys.argv = sys.argv[1:]\n"
            "from hebnb.cli import main\n"
            "try: main()\n"
            "finally: print(*(line for line in open('/proc/self/status') if 'VmHWM' in line), file=sys.stderr)"
        )
        command = [
            sys.executable,
            "-c",
            code,
            "hebnb",
            "predict",
            model_file,
            "big.parquet",
            "-o",
            f"out{times}.parquet",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks[times] = int(done.stderr.split()[-2])
    assert pq.ParquetFile("out100.parquet").metadata.num_rows == 300_000
    assert peaks[100] < 1.6 * peaks[10]


# explain, inspect, export


def test_explain_adds_up(model_file, csv_file, flights):
    found = json.loads(run("explain", model_file, csv_file, "--row", "17", "--json").stdout)
    model = load(model_file)
    late, ontime = model.predict_proba(pa.Table.from_pandas(flights.drop(columns="arrival")))[17]
    assert_allclose(found["probabilities"]["late"], late)
    assert found["class"] == "ontime"
    assert_allclose(sum(line["log_odds"] for line in found["evidence"]), np.log(ontime / late))
    assert {line["feature"]: line["value"] for line in found["evidence"]}["carrier"] == flights["carrier"][17]
    text = run("explain", model_file, csv_file, "--row", "17", "--class", "late").stdout
    assert "Log-odds of late" in text
    assert f"{np.log(late / ontime):+.3f}" in text


def test_explain_complains(model_file, csv_file):
    assert (
        "There is no row 3000: flights.csv has 3,000" in run("explain", model_file, csv_file, "-r", 3000, code=1).stderr
    )
    assert "Did you mean 'late'" in run("explain", model_file, csv_file, "--class", "Late", code=2).stderr
    run("explain", model_file, csv_file, "-r", "-1", code=2)


def test_inspect_of_evidence(model_file):
    text = run("inspect", model_file).stdout
    assert "EvidenceClassifier()" in text
    model = load(model_file)
    found = json.loads(run("inspect", model_file, "--json").stdout)
    assert [own["columns"].split(" × ") for own in found["crosses"]] == [list(own) for own in model.crosses_]
    assert "crosses of columns" in text


def test_explain_adds_up_what_it_does_not_show(model_file, csv_file):
    text = run("explain", model_file, csv_file, "-r", "3").stdout
    found = json.loads(run("explain", model_file, csv_file, "-r", "3", "--json").stdout)
    n_others = len(found["evidence"]) - 20
    assert (f"{n_others} others" in text) == (n_others > 0)


def test_bins_are_refused_where_there_are_none(csv_file):
    assert "has no number of bins" in run("fit", csv_file, "-t", "arrival", "--bins", "4", code=2).stderr


def test_inspect(csv_file):
    model_file = "nb.skops"
    run("fit", csv_file, "-t", "arrival", "-m", "NB+loo", "-o", model_file)
    text = run("inspect", model_file).stdout
    assert "NaiveBayes(weighting='loo')" in text
    assert "tailnum" in text
    found = json.loads(run("inspect", model_file, "--json").stdout)
    model = load(model_file)
    assert found["classes"] == {"late": model.class_count_[0], "ontime": model.class_count_[1]}
    by_name = {feature["name"]: feature for feature in found["features"]}
    assert_allclose(by_name["carrier"]["concentration"], model.concentration_[:, 4])
    assert_allclose(by_name["carrier"]["shrinkage"], model.shrinkage_[:, 4])


def test_inspect_every_method(csv_file):
    for name in ("Laplace", "HEB-M+GR", "HEB-AODE", "AODE+loo"):
        run("fit", csv_file, "-t", "arrival", "-m", name, "-o", "m.skops", "--overwrite")
        assert "month" in run("inspect", "m.skops").stdout


def test_export_sql_and_onnx(model_file, flights):
    import duckdb
    import onnxruntime

    from hebnb.export import onnx_inputs

    run("export", model_file, "-o", "model.sql", "--table", "flights")
    printed = run("export", model_file, "--table", "flights").stdout
    assert Path("model.sql").read_text() == printed
    X = flights.drop(columns="arrival")
    with duckdb.connect() as connection:
        connection.register("flights", X.assign(number=np.arange(len(X))))
        found = connection.sql(printed).df().set_index("number").sort_index()
    model = load(model_file)
    expected = model.predict_proba(pa.Table.from_pandas(X))
    assert_allclose(found[["proba_late", "proba_ontime"]].to_numpy(), expected, atol=1e-9)
    run("export", model_file, "-o", "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx")
    _, proba = session.run(None, onnx_inputs(model, pa.Table.from_pandas(X)))
    assert_allclose(proba, expected, atol=1e-5)
    assert "neither .sql nor .onnx" in run("export", model_file, "-o", "model.txt", code=2).stderr
    assert "Did you mean 'postgres'" in run("export", model_file, "-d", "postgre", code=2).stderr


def test_study_is_passed_on(capfd):
    result = CliRunner().invoke(app, ["study", "--help"])
    assert result.exit_code == 0
    assert "--quick" in result.stdout
    assert CliRunner().invoke(app, ["study", "--bogus"]).exit_code == 2


# Bad input


def test_unknown_columns_offer_the_nearest(csv_file):
    for option in ("--target", "--drop", "--feature", "--weight", "--numeric", "--categorical"):
        arguments = ["fit", csv_file, option, "Arrivall"] + ([] if option == "--target" else ["-t", "arrival"])
        said = run(*arguments, code=2).stderr
        assert f"{option}='Arrivall' is not known" in said
        assert "Did you mean 'arrival'?" in said
    assert "Columns: month, day" in run("fit", csv_file, code=2).stderr
    said = run("fit", csv_file, "-t", "arrival", "--weight", "arrival", code=2).stderr
    assert "cannot be the target and the weight" in said


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.csv", None, "There is no file"),
        ("absent-*.csv", None, "No file matches"),
        ("t.csv", b"", "is empty"),
        ("t.xlsx", b"PK\x03\x04", "cannot be unpacked"),
        ("t.parquet", b"PAR1 not really", "cannot be read"),
        ("t.parquet", b"", "is empty"),
        ("t.jsonl", b"{broken", "cannot be read"),
        ("t.csv", b"\x80\x81,y\n\xff\xfe,1\n", "t.csv"),
        ("t.csv", b"x,y\n", "has no rows"),
    ],
)
def test_unreadable_files(name, content, message):
    if content is not None:
        Path(name).write_bytes(content)
    said = run("fit", name, "-t", "y", code=1).stderr
    assert message in said
    assert len(said.splitlines()) <= 4


def test_a_folder_is_no_table():
    Path("folder").mkdir()
    assert "is a folder" in run("fit", "folder", "-t", "y", code=1).stderr


def test_empty_standard_input():
    assert "Standard input is empty" in run("fit", "-", "-t", "y", code=1, stdin=b"").stderr


def test_targets_that_are_none(flights):
    flights.assign(one="same", ids=[f"id{n}" for n in range(3000)], none=None).to_csv("t.csv", index=False)
    assert "has one value only" in run("fit", "t.csv", "-t", "one", code=1).stderr
    assert "3,000 different values in 3,000 rows" in run("fit", "t.csv", "-t", "ids", code=1).stderr
    assert "all its values are missing" in run("fit", "t.csv", "-t", "none", code=1).stderr
    for target, message in (("one", "one value only"), ("ids", "different values")):
        assert message in run("report", "t.csv", "-t", target, code=1).stderr


def test_a_table_without_features(flights):
    flights[["arrival"]].to_csv("t.csv", index=False)
    assert "no column to learn from" in run("fit", "t.csv", "-t", "arrival", code=1).stderr
    flights[["arrival", "day"]].to_csv("t.csv", index=False)
    assert "no column to learn from" in run("fit", "t.csv", "-t", "arrival", "--drop", "day", code=1).stderr


def test_nothing_is_replaced_unasked(model_file, csv_file):
    before = Path(model_file).read_bytes()
    assert "'model.skops' exists" in run("fit", csv_file, "-t", "arrival", code=1).stderr
    Path("out.csv").write_text("mine")
    assert "exists" in run("predict", model_file, csv_file, "-o", "out.csv", code=1).stderr
    Path("m.sql").write_text("mine")
    assert "exists" in run("export", model_file, "-o", "m.sql", code=1).stderr
    Path("r.html").write_text("mine")
    assert "exists" in run("report", csv_file, "-t", "arrival", "-o", "r.html", code=1).stderr
    assert Path(model_file).read_bytes() == before
    assert all(Path(name).read_text() == "mine" for name in ("out.csv", "m.sql", "r.html"))
    run("predict", model_file, csv_file, "-o", "out.csv", "--overwrite")
    assert Path("out.csv").read_text() != "mine"


def test_places_that_cannot_be_written(model_file, csv_file):
    assert "no folder" in run("predict", model_file, csv_file, "-o", "absent/out.csv", code=1).stderr
    Path("folder.csv").mkdir()
    assert "is a folder" in run("predict", model_file, csv_file, "-o", "folder.csv", code=1).stderr


def test_links_and_devices_are_written_through(model_file, csv_file):
    Path("real.csv").write_text("old")
    Path("link.csv").symlink_to("real.csv")
    run("predict", model_file, csv_file, "-o", "link.csv", "--overwrite")
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text() != "old"
    run("export", model_file, "-o", "/dev/null", code=2)
    Path("null.sql").symlink_to("/dev/null")
    run("export", model_file, "-o", "null.sql")
    assert Path("/dev/null").is_char_device()


def test_a_file_that_is_replaced_keeps_its_permissions(model_file, csv_file):
    Path(model_file).chmod(0o600)
    run("fit", csv_file, "-t", "arrival", "--overwrite")
    assert Path(model_file).stat().st_mode & 0o777 == 0o600


def test_features_are_learned_once(csv_file):
    run("fit", csv_file, "-t", "arrival", "--feature", "day", "--feature", "day")
    assert load("model.skops").feature_names_in_.tolist() == ["day"]


def test_json_is_printed_only(model_file, csv_file):
    assert (
        "--json is for what is printed" in run("predict", model_file, csv_file, "--json", "-o", "x.csv", code=2).stderr
    )


def test_compressed_by_zstandard(flights):
    with pa.CompressedOutputStream("t.csv.zst", "zstd") as stream:
        stream.write(flights.to_csv(index=False, sep=";").encode())
    run("fit", "t.csv.zst", "-t", "arrival", "-m", "heb-m")
    assert load("model.skops").class_count_.sum() == 3000
    with pa.CompressedOutputStream("bad.csv.zst", "zstd") as stream:
        stream.write(b"a,y\n" + b"1,2\n" * 500 + b"1,2,3\n")
    assert (
        "line 502 of 'bad.csv.zst' has 3 fields" in run("fit", "bad.csv.zst", "-t", "y", "-o", "n.skops", code=1).stderr
    )


def test_columns_are_kept_once(model_file, csv_file):
    header = run("predict", model_file, csv_file, "--keep", "day", "--keep", "day").stdout.splitlines()[0]
    assert header == '"day","prediction","proba_late","proba_ontime"'


def command_line(*arguments):
    return [sys.executable, "-m", "hebnb", *map(str, arguments)]


@pytest.mark.skipif(sys.platform == "win32", reason="limits on file sizes are POSIX")
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_full_disk_leaves_nothing_behind(model_file, csv_file, ending):
    """The system refuses to write more than 64 kB to any file."""
    import resource

    before = sorted(path.name for path in Path().iterdir())
    done = subprocess.run(
        command_line("predict", model_file, csv_file, "-o", f"out.{ending}"),
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)),
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in Path().iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_interrupted(model_file, flights):
    """Ctrl-C while predictions are written: exit code 130, and no partial file."""
    pd.concat([flights] * 400).to_parquet("big.parquet")
    before = sorted(path.name for path in Path().iterdir())
    process = subprocess.Popen(
        command_line("predict", model_file, "big.parquet", "-o", "out.jsonl"), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:  # until something of the output is there
        partial = [path for path in Path().glob(".out.jsonl*") if path.stat().st_size > 0]
        if partial:
            break
        time.sleep(0.02)
    assert partial
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Interrupted" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in Path().iterdir()) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_interrupted_while_duckdb_works(tmp_path):
    """Ctrl-C in the middle of a query, not between batches."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i % 7 AS a, hash(i) AS b, md5(i::VARCHAR) AS c, i % 2 AS y FROM range(3_000_000) t(i)) "
            "TO 'big.csv' (HEADER)"
        )
    for command in (["fit", "big.csv", "-t", "y"], ["report", "big.csv", "-t", "y"]):
        process = subprocess.Popen(command_line(*command), stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and "big.csv" not in open_files(process.pid):
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        assert "Interrupted" in said
        assert [path.name for path in Path().iterdir()] == ["big.csv"]


def open_files(pid):
    """The names of the files that a process has open."""
    try:
        return {os.path.basename(os.readlink(link)) for link in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:
        return set()


def test_a_reader_that_has_had_enough(model_file, csv_file):
    command = " ".join(command_line("predict", model_file, csv_file)) + " | head -n 2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


def test_model_files_are_checked(csv_file):
    Path("bad.skops").write_bytes(b"PK not a model")
    for command in (["predict", "bad.skops", csv_file], ["inspect", "bad.skops"], ["export", "bad.skops"]):
        said = run(*command, code=1).stderr
        assert "bad.skops" in said
    assert "There is no file" in run("inspect", "absent.skops", code=1).stderr


def test_tracebacks_only_on_demand(csv_file):
    assert "Traceback" not in run("fit", csv_file, "-t", "bogus", code=2).stderr
    result = CliRunner().invoke(app, ["fit", csv_file, "-t", "bogus", "--debug"])
    assert "Traceback" in result.stderr
    assert result.exit_code == 2


def test_wrong_arguments_end_with_2(csv_file):
    run("bogus", code=2)
    run("fit", code=2)
    run("fit", csv_file, "-t", "arrival", "--bins", "1", code=2)
    assert "Did you mean 'parquet'" in run("fit", csv_file, "-t", "arrival", "--format", "parkuet", code=2).stderr


def test_help_has_examples():
    assert f"hebnb {hebnb.__version__}" in run("--version").stdout
    text = run("--help").stdout
    for name in ("report", "fit", "predict", "explain", "inspect", "export", "study"):
        assert name in text
        if name != "study":
            assert f"hebnb {name} " in run(name, "--help").stdout.split("For example:")[1]


# Hostile text


@pytest.fixture
def hostile(tmp_path):
    """A table whose categories, classes and one column name mean harm."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "=cmd()": random.choice(HOSTILE, 400),
            "<b>x</b>": random.choice(HOSTILE, 400),
            "y": random.choice(HOSTILE[:4], 400),
        }
    )
    table.to_parquet("t.parquet")
    run("fit", "t.parquet", "-t", "y", "-m", "heb-m")
    return table


def test_hostile_text_is_inert_on_a_terminal(hostile):
    for arguments in (["explain", "model.skops", "t.parquet", "-r", "3"], ["inspect", "model.skops"]):
        result = run(*arguments)
        for forbidden in ("\x1b", "\u202e", "\x07", "x" * 200):
            assert forbidden not in result.stdout + result.stderr
    shown = "".join(run("explain", "model.skops", "t.parquet", "-r", str(n)).stdout for n in range(30))
    assert r"\x1b[2J" in shown
    assert "[bold red]markup[/]" in shown
    assert r"\u202eright" in shown


def test_hostile_text_is_inert_in_errors(hostile):
    said = run("fit", "t.parquet", "-t", "\x1b[2J\u202e[red]" + "z" * 10_000, "-o", "n.skops", code=2).stderr
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert len(said) < 4_000
    said = run("fit", "\x1b[2J.csv", "-t", "y", code=1).stderr
    assert "\x1b" not in said


def test_formulas_are_inert_in_csv_and_exact_elsewhere(hostile):
    run("predict", "model.skops", "t.parquet", "-o", "out.csv")
    with open("out.csv", newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    assert header[0] == "'=cmd()"
    assert len(lines) == 400
    for line in lines:
        for cell in line[:4]:
            assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r"), cell
    assert {line[0] for line in lines} == {f"'{text}" if text[0] in "=+-@\t" else text for text in hostile["=cmd()"]}
    run("predict", "model.skops", "t.parquet", "-o", "out.parquet")
    assert pq.read_table("out.parquet")["=cmd()"].to_pylist() == hostile["=cmd()"].tolist()
    printed = run("predict", "model.skops", "t.parquet", "--json").stdout
    assert "\x1b" not in printed
    assert [json.loads(line)["=cmd()"] for line in printed.splitlines()] == hostile["=cmd()"].tolist()


def test_formulas_are_inert_whatever_type_holds_them(tmp_path):
    from hebnb.tabular.output import table_writer

    table = pa.table(
        {
            "dictionary": pa.array(["=1", "a", None]).dictionary_encode(),
            "large": pa.array(["+a1", "", "b"], pa.large_string()),
            "list": [["=1"], None, []],
            "number": [-1.5, 2, None],
        }
    )
    with table_writer(tmp_path / "t.csv", "csv") as write:
        write(table)
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_text())))
    assert [row[0] for row in rows[1:]] == ["'=1", "a", ""]
    assert [row[1] for row in rows[1:]] == ["'+a1", "", "b"]
    assert rows[1][3] == "-1.5"


def test_what_is_printed_on_a_screen_has_no_escapes(hostile):
    """A pseudo-terminal: what is printed there may not command it."""
    pty = pytest.importorskip("pty")
    chunks = []

    def read(descriptor):
        data = os.read(descriptor, 65536)
        chunks.append(data)
        return data

    kept = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        for command in (["predict", "model.skops", "t.parquet"], ["export", "model.skops"]):
            chunks.clear()
            pty.spawn(command_line(*command), read)
            printed = b"".join(chunks).decode()
            assert r"\x1b[2J" in printed
            assert "\x1b[2J" not in printed
            assert "\u202e" not in printed
    finally:
        os.dup2(kept, 1)
        os.close(kept)
