"""Fitting and scoring where the rows are: ``python benchmarks/engines.py --rows 10 100`` (millions; needs DuckDB).

Both sides of a comparison run one after the other, each in a process of its own, so that its peak memory can be told.
Parquet files are made beforehand, in the folder for temporary files, and deleted afterwards.

--rows 10 100    fit naive Bayes / the bare group-bys in SQL; score the first on the engine / collect, score in memory
--evidence 1     count what ``EvidenceClassifier`` needs of twenty columns / group-bys of the same tables over columns
                 that are codes already, and over columns as they are
--memory 10 100  the same within a gigabyte, AODE where rows are few; a column with 20 million different values, with
                 and without a limit; 60 million floats
--scores 10      AODE and evidence on DuckDB, Polars and Spark / collect and score in memory
--spark 200      count so many columns on Spark in one job / in a job a column
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import duckdb

import engine_sides
from record import Results, Table, Value, record

# Seconds by the clock, those of the processor, and peak gigabytes.
Measured: TypeAlias = tuple[float, float, float]
HEADS = [
    ("", ""),
    *[("clock, ours", ".1f s"), ("other", ".1f s"), ("ratio", ".2f")],
    *[("processor, ours", ".1f s"), ("other", ".1f s"), ("ratio", ".2f")],
    *[("peak memory, ours", ".2f GB"), ("other", ".2f GB")],
]
# Rows of a table with these heads.
Rows: TypeAlias = list[list[Value]]


def spark_columns(columns: int, repeat: int, rows: int = 100_000) -> dict[str, Value]:
    """Counting on Spark, in one job and in a job a column, by turns in one session."""
    from unittest.mock import patch

    from pyspark.sql import SparkSession

    from hebnb import NaiveBayes
    from hebnb.engines.backends.base import Backend
    from hebnb.engines.backends.spark import Spark

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    made = ", ".join(f"'v' || CAST(floor(random() * {2 + n % 50}) AS INTEGER) AS c{n}" for n in range(columns))
    with tempfile.TemporaryDirectory() as scratch:
        query = f"SELECT {made}, random() < 0.3 AS y FROM range({rows})"
        duckdb.sql(f"COPY ({query}) TO '{scratch}/rows.parquet' (FORMAT parquet)")
        table = session.read.parquet(f"{scratch}/rows.parquet").repartition(2).cache()
        table.count()
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
    return {"spark/one": ours, "spark/many": theirs, "spark/ratio": theirs / ours}


def apart(side: str, folder: Path) -> Measured:
    """Seconds, those of the processor, and peak gigabytes of one side in a process of its own."""
    out = subprocess.run(
        [sys.executable, __file__, "--side", side, "--folder", str(folder)], capture_output=True, text=True, check=True
    ).stdout
    seconds, processor, memory = json.loads(out)
    return seconds, processor, memory


def compare(what: str, ours: str, theirs: str, folder: Path, repeat: int) -> list[Value]:
    """Clock, processor and memory of both sides; they are printed, and given back as a row of a table."""
    runs = [(apart(ours, folder), apart(theirs, folder)) for _ in range(repeat)]
    sides = [[run[side] for run in runs] for side in (0, 1)]
    return show(what, *(summary(own) for own in sides))


def summary(runs: list[Measured]) -> Measured:
    """The medians of times, and the peak of all."""
    seconds, processor, memory = zip(*runs, strict=True)
    return statistics.median(seconds), statistics.median(processor), max(memory)


def show(what: str, ours: Measured, theirs: Measured) -> list[Value]:
    ratios = [ours[n] / max(theirs[n], 1e-3) for n in (0, 1)]
    pairs = list(zip(ours, theirs, strict=True))
    print(
        f"{what:<64}{ours[0]:>9.1f} s{theirs[0]:>9.1f} s{ratios[0]:>8.2f}"
        f"{ours[1]:>9.1f} s{theirs[1]:>9.1f} s{ratios[1]:>8.2f}{ours[2]:>9.2f} GB{theirs[2]:>9.2f} GB",
        flush=True,
    )
    return [what, *pairs[0], ratios[0], *pairs[1], ratios[1], *pairs[2]]


def against(what: str, sides: list[str], theirs: str, folder: Path) -> Rows:
    """Several sides beside one, each run once."""
    other = apart(theirs, folder)
    return [show(f"{what}: {side} / {theirs}", apart(side, folder), other) for side in sides]


def rows_and_scores(millions: list[int], repeat: int) -> Rows:
    rows: Rows = []
    for number in millions:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rows"
            engine_sides.generate(folder, number * 1_000_000)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e9
            rows.append(
                compare(f"{number} million rows ({size:.1f} GB): fit / group-bys", "fit", "bare", folder, repeat)
            )
            if number == millions[0]:
                what = "10 million rows: score lazily / in memory"
                rows.append(compare(what, "score_lazily", "score_in_memory", folder, repeat))
    return rows


def evidence(millions: list[int], repeat: int) -> Rows:
    rows: Rows = []
    for number in millions:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "mixed"
            engine_sides.generate_mixed(folder, number * 1_000_000)
            apart("prepare_evidence", folder)
            apart("prepare_codes", folder)
            tables = len(json.loads((folder / "tables.json").read_text()))
            what = f"{number} million rows, evidence: count {tables} tables / group codes"
            rows.append(compare(what, "count_evidence", "group_codes", folder, repeat))
            rows.append(compare("the same / group columns as they are", "count_evidence", "group_raw", folder, repeat))
            rows.append(compare("fit / group codes", "fit_evidence", "group_codes", folder, repeat))
    return rows


def memory(millions: list[int]) -> Rows:
    """What DuckDB does within a gigabyte, ours and bare queries, each once."""
    rows: Rows = []
    for number in millions:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rows"
            engine_sides.generate(folder, number * 1_000_000)
            rows.append(compare(f"{number} million rows: fit / group-bys", "fit_limited", "bare_limited", folder, 1))
            if number <= 10:
                rows.append(compare("the same, AODE: fit / group-bys of pairs", "fit_aode", "bare_pairs", folder, 1))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "ids"
        engine_sides.generate_ids(folder)
        rows.append(compare("20 million different values: fit / group-by", "fit_ids", "group_ids", folder, 1))
        rows.append(compare("the same, max_categories=10_000", "fit_ids_kept", "group_ids_kept", folder, 1))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "floats"
        engine_sides.generate_ids(folder, 60_000_000)
        rows.append(
            compare("60 million rows of floats: fit / group-by of tenths", "fit_floats", "group_floats", folder, 1)
        )
    return rows


def scores(millions: list[int]) -> Rows:
    """Models that score by batches, on engines and in memory."""
    rows: Rows = []
    engines = ["score_duckdb", "score_polars", "score_spark"]
    for number in millions:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "rows"
            engine_sides.generate(folder, number * 1_000_000)
            apart("prepare_aode", folder)
            rows += against(f"{number} million rows, AODE", engines, "score_memory", folder)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "mixed"
            engine_sides.generate_mixed(folder, number * 1_000_000)
            apart("prepare_evidence", folder)
            rows.append(compare("fit evidence / group columns as they are", "fit_evidence", "group_raw", folder, 1))
            rows += against(f"{number} million rows, evidence", engines, "score_memory", folder)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[], help="millions of rows")
    parser.add_argument("--evidence", type=int, nargs="*", default=[], help="millions of rows")
    parser.add_argument("--memory", type=int, nargs="*", help="millions of rows")
    parser.add_argument("--scores", type=int, nargs="*", default=[], help="millions of rows")
    parser.add_argument("--spark", type=int, nargs="*", default=[], help="numbers of columns")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        seconds, processor = getattr(engine_sides, options.side)(options.folder)
        print(json.dumps([seconds, processor, engine_sides.peak()]))
        return
    print(
        f"{'':<64}{'ours':>11}{'other':>11}{'ratio':>8}{'processor':>11}{'other':>11}{'ratio':>8}{'ours':>12}{'other':>12}"
    )
    for results in measured(options):
        if options.record:  # at once: what comes later may fail
            record("engines", results)


def measured(options: argparse.Namespace) -> Iterator[Results]:
    """What was asked for, a table or a fact at a time."""
    tables = {
        "rows": lambda: rows_and_scores(options.rows, options.repeat),
        "evidence": lambda: evidence(options.evidence, options.repeat),
        "memory": lambda: memory(options.memory) if options.memory is not None else [],
        "scores": lambda: scores(options.scores),
    }
    for name, measure in tables.items():
        if rows := measure():
            yield Results({name: Table(HEADS, rows)})
    for columns in options.spark:
        yield Results({}, spark_columns(columns, options.repeat))


if __name__ == "__main__":
    main()
