"""The command line and exported models: ``python benchmarks/command_line.py --rows 2`` (millions).

The report on the bundled flights, beside the cross-validation alone; predictions of a large Parquet file, beside DuckDB
copying the same file and beside ten times fewer rows, each in a process of its own so that its peak memory can be told;
saved models; and the flights scored by ONNX and by SQL, beside ``predict_proba``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from hebnb import AODE, NaiveBayes, load, save
from hebnb.datasets import load_flights
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.page.comparison import compare
from measure import medians
from record import Results, Table, Value, record

_MEASURED = """
import json, sys, time
began = time.perf_counter()
sys.argv = sys.argv[1:]
try:
    {job}
except SystemExit:
    pass
# Not getrusage, in which a process begins with the peak of its parent.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([time.perf_counter() - began, peak / 1e6]), file=sys.stderr)
"""
MODEL_LINES = (
    "model file",
    "save, load",
    "`predict_proba`",
    "ONNX graph in onnxruntime, feeds aside",
    "largest difference of a probability, ONNX",
    "SQL in DuckDB, model in the query",
    "largest difference of a probability, SQL",
)
HEBNB = "from hebnb.cli import main; main()"
COPY = "import duckdb; duckdb.connect().execute(sys.argv[1])"


def measured(job: str, *arguments: str, repeat: int = 3) -> tuple[float, float]:
    """Median seconds and peak gigabytes of a process."""
    found = []
    for _ in range(repeat):
        command = [sys.executable, "-c", _MEASURED.format(job=job), "hebnb", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(json.loads(done.stderr.splitlines()[-1]))
    return statistics.median(seconds for seconds, _ in found), max(peak for _, peak in found)


def report(folder: Path) -> list[Value]:
    X, y = load_flights(backend="pyarrow")
    labels = np.array(y.to_pylist(), dtype=object)
    page = folder / "report.html"
    whole, _ = measured(HEBNB, "report", "-o", str(page), "--overwrite")
    (alone,) = medians([lambda: compare(X, labels, {})], 3)
    print(f"report on the flights {whole:.1f} s (aim 60), of which cross-validation {alone:.1f} s; ", end="")
    print(f"page {page.stat().st_size / 1e3:.0f} kB")
    return ["`hebnb report` on the flights / its cross-validation alone (aim: 60 s)", whole, alone, None, None]


def predict(folder: Path, millions: float) -> list[list[Value]]:
    lines: list[list[Value]] = []
    X, y = load_flights(backend="pyarrow")
    save(NaiveBayes(weighting="loo").fit(X, y), folder / "model.skops")
    source, target = folder / "rows.parquet", folder / "scored.parquet"
    for rows in (int(1e5 * millions), int(1e6 * millions)):
        with duckdb.connect() as connection:
            connection.register("flights", X)
            numbers = f"(SELECT unnest(range({rows // len(X) + 1})))"
            connection.execute(f"COPY (SELECT flights.* FROM flights, {numbers} LIMIT {rows}) TO '{source}'")
        ours, peak = measured(
            HEBNB, "predict", str(folder / "model.skops"), str(source), "-o", str(target), "--overwrite"
        )
        floor, other = measured(COPY, f"COPY (SELECT * FROM '{source}') TO '{target}'")
        print(f"predict {rows:>10,} rows {ours:6.1f} s, {peak:.2f} GB; DuckDB's copy {floor:.1f} s, {other:.2f} GB")
        lines.append([f"`hebnb predict`, {rows:,} rows / DuckDB copying the file", ours, floor, peak, other])
    return lines


def exported() -> Table:
    """Both models as files, as ONNX graphs and as SQL, beside themselves."""
    import onnxruntime

    columns: list[list[str]] = []
    X, y = load_flights(backend="pyarrow")
    for model in (NaiveBayes(weighting="loo"), AODE(weighting="loo")):
        model.fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.skops"
            saving, loading = medians([lambda m=model, p=path: save(m, p), lambda p=path: load(p)], 5)
            size = path.stat().st_size / 1e3
            print(f"{model!r}: save {1e3 * saving:.0f} ms, load {1e3 * loading:.0f} ms, {size:.0f} kB")
            columns.append([f"{size:.0f} kB", f"{1e3 * saving:.0f} ms, {1e3 * loading:.0f} ms"])
        graph = to_onnx(model).SerializeToString()
        session = onnxruntime.InferenceSession(graph)
        feeds = onnx_inputs(model, X)
        sides = [lambda m=model: m.predict_proba(X), lambda s=session, f=feeds: s.run(None, f)]
        python, onnx = medians(sides, 5)
        apart = float(np.abs(session.run(None, feeds)[1] - model.predict_proba(X)).max())
        print(f"  predict_proba {1e3 * python:.0f} ms; ONNX {1e3 * onnx:.0f} ms, {len(graph) / 1e6:.1f} MB, ", end="")
        print(f"apart by {apart:.0e}")
        columns[-1] += [f"{1e3 * python:.0f} ms", f"{1e3 * onnx:.0f} ms ({len(graph) / 1e6:.1f} MB)", f"{apart:.0e}"]
    columns[0] += in_sql(X, y)
    columns[1] += ["refused: over 200,000 pairs", "–"]
    heads = {"20,000 flights": "", "NB + loo": "", "AODE + loo": ""}
    return Table(heads, [list(line) for line in zip(MODEL_LINES, *columns, strict=True)])


def in_sql(X: pa.Table, y: pa.ChunkedArray) -> list[str]:
    model = NaiveBayes(weighting="loo").fit(X, y)
    began = time.perf_counter()
    query = to_sql(model, table="flights")
    writing = time.perf_counter() - began
    with duckdb.connect() as connection:
        connection.register("numbered", X.append_column("number", pa.array(np.arange(len(X)))))
        connection.execute("CREATE TABLE flights AS SELECT * FROM numbered")
        running, python = medians(
            [lambda: connection.sql(query).to_arrow_table(), lambda: model.predict_proba(X)], 5
        )  # fmt: skip
        found = connection.sql(query).to_arrow_table().sort_by("number")
    proba = np.stack([found[f"proba_{label}"].to_numpy() for label in model.classes_], axis=1)
    apart = float(np.abs(proba - model.predict_proba(X)).max())
    print(f"SQL of NB+loo: written in {1e3 * writing:.0f} ms, {len(query) / 1e3:.0f} kB; in DuckDB ", end="")
    print(f"{1e3 * running:.0f} ms, predict_proba {1e3 * python:.0f} ms, apart by {apart:.0e}")
    return [f"{1e3 * running:.0f} ms ({len(query) / 1e3:.0f} kB)", f"{apart:.0e}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=2, help="millions of rows to predict")
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    options = parser.parse_args()
    os.environ["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        lines = [report(Path(folder)), *predict(Path(folder), options.rows)]
    models = exported()
    if options.record:
        heads = [("", ""), ("ours", ".1f s"), ("other", ".1f s"), ("peak memory, ours", ".2f GB"), ("other", ".2f GB")]
        record("command_line", Results({"commands": Table(heads, lines), "models": models}))


if __name__ == "__main__":
    main()
