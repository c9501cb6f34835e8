"""Fitting and scoring where the rows are: ``python benchmarks/engines.py --rows 10 100`` (millions; needs DuckDB).

Parquet files are made in batches, fitted on by DuckDB, and compared with the bare group-bys in SQL; then ten million
rows are scored on the engine and, for comparison, collected and scored in memory. Every side is a process of its own,
so that its peak memory can be told. The files are deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

COLUMNS = {"c0": 10, "c1": 20, "c2": 50, "c3": 100, "c4": 300, "c5": 1_000, "c6": 3_000, "c7": 10_000, "c8": 30_000}
BATCH = 10_000_000


def generate(path: Path, rows: int) -> None:
    """Nine columns of categories, frequent ones more than rare ones, that lean towards a label."""
    path.mkdir()
    connection = duckdb.connect()
    for part, start in enumerate(range(0, rows, BATCH)):
        columns = ", ".join(
            f"CAST({size} * pow(random(), 2 + y) AS INTEGER) AS {name}" for name, size in COLUMNS.items()
        )
        connection.execute(
            f"COPY (SELECT y, {columns} FROM (SELECT CAST(random() < 0.3 AS INTEGER) AS y "
            f"FROM range({min(BATCH, rows - start)}))) TO '{path}/{part}.parquet' (FORMAT parquet)"
        )


def fit(folder: str) -> float:
    from hebnb import NaiveBayes

    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/*.parquet'")
    began = time.perf_counter()
    NaiveBayes().fit(relation, "y")
    return time.perf_counter() - began


def bare(folder: str) -> float:
    connection = duckdb.connect()
    began = time.perf_counter()
    for name in COLUMNS:
        connection.sql(f"SELECT {name}, y, count(*) FROM '{folder}/*.parquet' GROUP BY ALL").to_arrow_table()
    return time.perf_counter() - began


def score_lazily(folder: str) -> float:
    from hebnb import NaiveBayes

    connection = duckdb.connect()
    model = NaiveBayes().fit(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"), "y")
    began = time.perf_counter()
    scored = model.predict_proba(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"))
    scored.aggregate("sum(proba_1)").fetchall()
    return time.perf_counter() - began


def score_in_memory(folder: str) -> float:
    from hebnb import NaiveBayes

    connection = duckdb.connect()
    model = NaiveBayes().fit(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"), "y")
    began = time.perf_counter()
    table = connection.sql(f"SELECT * EXCLUDE y FROM '{folder}/0.parquet'").to_arrow_table()
    model.predict_proba(table)[:, 1].sum()
    return time.perf_counter() - began


def apart(side: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak gigabytes of one side in a process of its own."""
    out = subprocess.run(
        [sys.executable, __file__, "--side", side, "--folder", str(folder)], capture_output=True, text=True, check=True
    ).stdout
    seconds, memory = json.loads(out)
    return seconds, memory


def compare(what: str, ours: str, theirs: str, folder: Path, repeat: int) -> None:
    runs = [(apart(ours, folder), apart(theirs, folder)) for _ in range(repeat)]
    seconds = [statistics.median(run[side][0] for run in runs) for side in (0, 1)]
    memory = [max(run[side][1] for run in runs) for side in (0, 1)]
    print(
        f"{what:<52}{seconds[0]:>9.1f} s{seconds[1]:>9.1f} s{seconds[0] / seconds[1]:>8.2f}"
        f"{memory[0]:>9.2f} GB{memory[1]:>9.2f} GB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10, 100], help="millions of rows (default: 10 100)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        seconds = globals()[options.side](options.folder)
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6]))
        return
    print(f"{'':<52}{'ours':>11}{'other':>11}{'ratio':>8}{'ours':>12}{'other':>12}")
    for millions in options.rows:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rows"
            generate(folder, millions * 1_000_000)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
            what = f"{millions} million rows ({size:.1f} GB): fit / group-bys"
            compare(what, "fit", "bare", folder, options.repeat)
            if millions == options.rows[0]:
                what = "10 million rows: score lazily / in memory"
                compare(what, "score_lazily", "score_in_memory", folder, options.repeat)


if __name__ == "__main__":
    main()
