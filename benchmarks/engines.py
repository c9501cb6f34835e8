"""Fitting and scoring where the rows are: ``python benchmarks/engines.py --rows 10 100`` (millions; needs DuckDB).

Parquet files are made in batches, fitted on by DuckDB, and compared with the bare group-bys in SQL; then ten million
rows are scored on the engine and, for comparison, collected and scored in memory. ``--evidence 1`` counts what
``EvidenceClassifier`` needs of a million rows and twenty columns, beside the group-bys of the same tables over columns
that are codes already, and over columns as they are. ``--spark 200`` counts so many columns on Spark in one job and,
for comparison, in a job a column. Every other side is a process of its own, so that
its peak memory can be told. The files are deleted afterwards.
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
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import duckdb

from record import Results, Table, Value, record

COLUMNS = {"c0": 10, "c1": 20, "c2": 50, "c3": 100, "c4": 300, "c5": 1_000, "c6": 3_000, "c7": 10_000, "c8": 30_000}
BATCH = 10_000_000
HEADS = [
    ("", ""),
    *[("clock, ours", ".1f s"), ("other", ".1f s"), ("ratio", ".2f")],
    *[("processor, ours", ".1f s"), ("other", ".1f s"), ("ratio", ".2f")],
    *[("peak memory, ours", ".2f GB"), ("other", ".2f GB")],
]


# Seconds by the clock, and of the processor, which others on the machine change less.
Times: TypeAlias = tuple[float, float]


def now() -> Times:
    return time.perf_counter(), time.process_time()


def since(began: Times) -> Times:
    wall, processor = now()
    return wall - began[0], processor - began[1]


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


def fit(folder: str) -> Times:
    from hebnb import NaiveBayes

    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/*.parquet'")
    began = now()
    NaiveBayes().fit(relation, "y")
    return since(began)


def bare(folder: str) -> Times:
    connection = duckdb.connect()
    began = now()
    for name in COLUMNS:
        connection.sql(f"SELECT {name}, y, count(*) FROM '{folder}/*.parquet' GROUP BY ALL").to_arrow_table()
    return since(began)


def score_lazily(folder: str) -> Times:
    from hebnb import NaiveBayes

    connection = duckdb.connect()
    model = NaiveBayes().fit(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"), "y")
    began = now()
    scored = model.predict_proba(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"))
    scored.aggregate("sum(proba_1)").fetchall()
    return since(began)


def score_in_memory(folder: str) -> Times:
    from hebnb import NaiveBayes

    connection = duckdb.connect()
    model = NaiveBayes().fit(connection.sql(f"SELECT * FROM '{folder}/0.parquet'"), "y")
    began = now()
    table = connection.sql(f"SELECT * EXCLUDE y FROM '{folder}/0.parquet'").to_arrow_table()
    model.predict_proba(table)[:, 1].sum()
    return since(began)


def generate_mixed(path: Path, rows: int) -> None:
    """Twelve columns of categories and eight of numbers that tell a label together; a model; the codes of its rows."""
    path.mkdir()
    sizes = [2, 3, 5, 8, 12, 20, 30, 50, 100, 300, 1_000, 5_000]
    categories = ", ".join(
        f"CAST(floor({size} * pow(random(), 1.5)) AS INTEGER) AS k{n}" for n, size in enumerate(sizes)
    )
    numbers = ", ".join(
        f"random() + {n} * random() AS x{n}" if n % 2 else f"exp(3 * random()) AS x{n}" for n in range(8)
    )
    told = " + ".join(
        [
            "(k0 + k1) % 2 + 0.7 * ((k2 + k3) % 3 = 0)::INT - 0.8 * (k4 % 4 = k5 % 4)::INT + sin(6 * x1) * cos(4 * x3)",
            "0.5 * (x0 > x2)::INT + 0.6 * (k6 % 2 = (x5 > 2)::INT)::INT + 0.01 * (k8 % 30) - 1.6",
            "0.4 * (k7 % 5 = k9 % 5)::INT - 0.7 * ((x7 > 3) = (k10 % 2 = 0))::INT + 0.5 * (x4 * x6 > 60)::INT",
        ]
    )
    shown = [f"'value ' || k{n} AS c{n}" for n in range(10)] + ["k10 AS c10", "k11 AS c11"]
    shown += [f"CASE WHEN random() < 0.97 THEN x{n} END AS x{n}" for n in range(8)]
    connection = duckdb.connect(config={"threads": 1})  # so that the seed tells the rows
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"CREATE TABLE made AS SELECT {categories}, {numbers} FROM range({rows})")
    label = f"CASE WHEN random() < 1 / (1 + exp(-1.5 * ({told}))) THEN 'yes' ELSE 'no' END AS y"
    connection.execute(f"COPY (SELECT {label}, {', '.join(shown)} FROM made) TO '{path}/rows.parquet' (FORMAT parquet)")
    apart("prepare_mixed", path)


def prepare_mixed(folder: str) -> Times:
    """Fit a model, write it down, and the codes that its tables are counted by."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hebnb import EvidenceClassifier, save
    from hebnb.estimators.rows import encoded

    connection = duckdb.connect()
    model = EvidenceClassifier().fit(connection.sql(f"SELECT * FROM '{folder}/rows.parquet'"), "y")
    save(model, f"{folder}/model.skops")
    rows = connection.sql(f"SELECT * FROM '{folder}/rows.parquet'").to_arrow_table()
    codes, kinds, names = (
        encoded(model, rows.drop_columns("y")),
        model.counts_.vocabulary.features,
        rows.column_names[1:],
    )
    columns = {"y": np.asarray(rows["y"]) == "yes"} | dict(zip(names, codes, strict=True))
    tables = [[name] for name in names]
    for cross in model.counts_.choice.crosses:
        level = cross.depth - 1
        for f in cross.columns:
            columns[f"{names[f]}_{level}"] = kinds[f].levels[min(level, len(kinds[f].levels) - 1)][codes[f]]
        tables.append([f"{names[f]}_{level}" for f in cross.columns])
    small = {name: values.astype(np.int16) for name, values in columns.items()}
    pq.write_table(pa.table(small), f"{folder}/codes.parquet")
    Path(f"{folder}/tables.json").write_text(json.dumps(tables))
    return 0.0, 0.0


def count_evidence(folder: str) -> Times:
    """Every table of a model: look at the numbers, cut them, count columns, count crosses."""
    from hebnb import EvidenceClassifier, load
    from hebnb.engines import counting
    from hebnb.engines.lazy_table import LazyTable

    model = load(f"{folder}/model.skops")
    crosses = model.counts_.choice.crosses
    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/rows.parquet'")
    began = now()
    table = LazyTable.read(relation, "y")
    counting.count(table, EvidenceClassifier()._reading())
    levels = [cross.depth - 1 for cross in crosses]
    counting.count_together(table, model.counts_, [cross.columns for cross in crosses], levels)
    return since(began)


def group_codes(folder: str) -> Times:
    return group_by(folder, "codes", lambda name: name)


def group_raw(folder: str) -> Times:
    """Numbers, which would be as many groups as rows, by their whole part."""
    raw = {f"x{n}": f"floor(x{n})" for n in range(8)}
    return group_by(folder, "rows", lambda name: raw.get(name.split("_")[0], name.split("_")[0]))


def group_by(folder: str, file: str, column: Callable[[str], str]) -> Times:
    connection, tables = duckdb.connect(), json.loads(Path(f"{folder}/tables.json").read_text())
    began = now()
    for names in tables:
        keys = ", ".join(map(column, names))
        connection.sql(f"SELECT {keys}, y, count(*) FROM '{folder}/{file}.parquet' GROUP BY ALL").to_arrow_table()
    return since(began)


def fit_evidence(folder: str) -> Times:
    from hebnb import EvidenceClassifier

    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/rows.parquet'")
    began = now()
    EvidenceClassifier().fit(relation, "y")
    return since(began)


def spark_columns(columns: int, repeat: int, rows: int = 100_000) -> None:
    """Counting on Spark, in one job and in a job a column, by turns in one session."""
    from unittest.mock import patch

    from pyspark.sql import SparkSession
    from pyspark.sql.functions import expr

    from hebnb import NaiveBayes
    from hebnb.engines.backends.base import Backend
    from hebnb.engines.backends.spark import Spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    made = [expr(f"concat('v', cast(rand({n}) * {2 + n % 50} as int))").alias(f"c{n}") for n in range(columns)]
    with tempfile.TemporaryDirectory() as scratch:
        session.range(rows).select(*made, expr("rand(-1) < 0.3").alias("y")).write.parquet(f"{scratch}/rows")
        table = session.read.parquet(f"{scratch}/rows")
        NaiveBayes().count(table.select("c0", "y"), "y")  # starts the workers
        times: list[list[float]] = [[], []]
        for _ in range(repeat):
            for side, valued in enumerate((Spark.valued, Backend.valued)):
                with patch.object(Spark, "valued", valued):
                    began = time.perf_counter()
                    NaiveBayes().count(table, "y")
                    times[side].append(time.perf_counter() - began)
    ours, theirs = map(statistics.median, times)
    what = f"{rows:,} rows, Spark: count {columns} columns in one job / in {columns} jobs"
    print(f"{what:<64}{ours:>9.1f} s{theirs:>9.1f} s{ours / theirs:>8.3f}", flush=True)
    session.stop()


def apart(side: str, folder: Path) -> tuple[float, float, float]:
    """Seconds, those of the processor, and peak gigabytes of one side in a process of its own."""
    out = subprocess.run(
        [sys.executable, __file__, "--side", side, "--folder", str(folder)], capture_output=True, text=True, check=True
    ).stdout
    seconds, processor, memory = json.loads(out)
    return seconds, processor, memory


def compare(what: str, ours: str, theirs: str, folder: Path, repeat: int) -> list[Value]:
    """Clock, processor and memory of both sides; they are printed, and given back as a row of a table."""
    runs = [(apart(ours, folder), apart(theirs, folder)) for _ in range(repeat)]
    seconds, processor = ([statistics.median(run[side][n] for run in runs) for side in (0, 1)] for n in (0, 1))
    memory = [max(run[side][2] for run in runs) for side in (0, 1)]
    print(
        f"{what:<64}{seconds[0]:>9.1f} s{seconds[1]:>9.1f} s{seconds[0] / seconds[1]:>8.2f}"
        f"{processor[0]:>9.1f} s{processor[1]:>9.1f} s{processor[0] / processor[1]:>8.2f}"
        f"{memory[0]:>9.2f} GB{memory[1]:>9.2f} GB",
        flush=True,
    )
    return [what, *seconds, seconds[0] / seconds[1], *processor, processor[0] / processor[1], *memory]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[10, 100], help="millions of rows (default: 10 100)")
    parser.add_argument("--evidence", type=int, nargs="*", default=[1], help="millions of rows (default: 1)")
    parser.add_argument("--spark", type=int, nargs="*", default=[], help="numbers of columns (default: none)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        seconds, processor = globals()[options.side](options.folder)
        print(json.dumps([seconds, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6]))
        return
    print(
        f"{'':<64}{'ours':>11}{'other':>11}{'ratio':>8}{'processor':>11}{'other':>11}{'ratio':>8}{'ours':>12}{'other':>12}"
    )
    rows, evidence = [], []
    for millions in options.rows:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rows"
            generate(folder, millions * 1_000_000)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
            what = f"{millions} million rows ({size:.1f} GB): fit / the bare group-bys"
            rows.append(compare(what, "fit", "bare", folder, options.repeat))
            if millions == options.rows[0]:
                what = "10 million rows: score on the engine / collect and score in memory"
                rows.append(compare(what, "score_lazily", "score_in_memory", folder, options.repeat))
    for columns in options.spark:
        spark_columns(columns, options.repeat)
    for millions in options.evidence:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "mixed"
            generate_mixed(folder, millions * 1_000_000)
            tables = len(json.loads((folder / "tables.json").read_text()))
            what = f"{millions} million rows, evidence: count {tables} tables / group-bys of codes"
            same = "the same / group-bys of columns as they are"
            evidence += [
                compare(what, "count_evidence", "group_codes", folder, options.repeat),
                compare(same, "count_evidence", "group_raw", folder, options.repeat),
                compare("fit / group-bys of codes", "fit_evidence", "group_codes", folder, options.repeat),
            ]
    if options.record:
        found = {"rows": rows, "evidence": evidence}
        record("engines", Results({name: Table(HEADS, lines) for name, lines in found.items() if lines}))


if __name__ == "__main__":
    main()
