"""What the processes of ``engines.py`` do: tables are made, and one side of a comparison each is run and timed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

COLUMNS = {"c0": 10, "c1": 20, "c2": 50, "c3": 100, "c4": 300, "c5": 1_000, "c6": 3_000, "c7": 10_000, "c8": 30_000}
BATCH = 10_000_000
# What DuckDB may take where memory is measured.
LIMIT = "1GB"
# How many different values a column has that has very many, and how many of them may be kept.
DISTINCT, KEPT = 20_000_000, 10_000


# Seconds by the clock, and of the processor, which others on the machine change less.
Times: TypeAlias = tuple[float, float]


def now() -> Times:
    return time.perf_counter(), time.process_time()


def since(began: Times) -> Times:
    wall, processor = now()
    return wall - began[0], processor - began[1]


def peak() -> float:
    """Gigabytes that this process took at most, and those that it started and that still run."""
    import psutil

    own = psutil.Process()
    running = [Path(f"/proc/{process.pid}/status").read_text() for process in (own, *own.children(recursive=True))]
    found = [re.search(r"VmHWM:\s*(\d+)", status) for status in running]
    return sum(int(most[1]) for most in found if most) / 1e6


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


def connected(folder: str, memory: str | None = None) -> Any:
    """A connection, which spills beside the files where it is told how much memory it may take."""
    settings = {} if memory is None else {"memory_limit": memory, "temp_directory": f"{folder}/spilled"}
    return duckdb.connect(config=settings)


def fit(folder: str, memory: str | None = None) -> Times:
    from hebnb import NaiveBayes

    relation = connected(folder, memory).sql(f"SELECT * FROM '{folder}/*.parquet'")
    began = now()
    NaiveBayes().fit(relation, "y")
    return since(began)


def fit_limited(folder: str) -> Times:
    return fit(folder, LIMIT)


def bare_limited(folder: str) -> Times:
    return bare(folder, LIMIT)


def fit_aode(folder: str) -> Times:
    from hebnb import AODE

    relation = connected(folder, LIMIT).sql(f"SELECT * FROM '{folder}/*.parquet'")
    began = now()
    AODE().fit(relation, "y")
    return since(began)


def bare_pairs(folder: str) -> Times:
    """The pairs that AODE counts: one of the two has no more categories than a parent may have."""
    from hebnb import AODE

    connection, most = connected(folder, LIMIT), AODE().max_parent_categories
    began = now()
    for j, (second, size) in enumerate(COLUMNS.items()):
        for first, other in list(COLUMNS.items())[:j]:
            if min(size, other) < most:
                query = f"SELECT {first}, {second}, y, count(*) FROM '{folder}/*.parquet' GROUP BY ALL"
                connection.sql(query).to_arrow_table()
    wall, processor = since(began)
    bared = bare(folder, LIMIT)
    return wall + bared[0], processor + bared[1]


def bare(folder: str, memory: str | None = None) -> Times:
    connection = connected(folder, memory)
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
    """Twelve columns of categories and eight of numbers that tell a label together."""
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
    connection.execute(f"COPY (SELECT {label}, {', '.join(shown)} FROM made) TO '{path}/0.parquet' (FORMAT parquet)")


def prepare_evidence(folder: str) -> Times:
    """Fit a model, and write it down, and which columns its tables have at which level."""
    from hebnb import EvidenceClassifier, save

    model = EvidenceClassifier().fit(connected(folder, LIMIT).sql(f"SELECT * FROM '{folder}/0.parquet'"), "y")
    save(model, f"{folder}/model.skops")
    names = list(model.feature_names_in_)
    crosses = model.counts_.choice.crosses
    tables = [[name] for name in names] + [[f"{names[f]}_{own.depth - 1}" for f in own.columns] for own in crosses]
    Path(f"{folder}/tables.json").write_text(json.dumps(tables))
    return 0.0, 0.0


def prepare_codes(folder: str) -> Times:
    """The codes that the tables of a model are counted by."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hebnb import load
    from hebnb.estimators.rows import encoded

    model = load(f"{folder}/model.skops")
    rows = duckdb.connect().sql(f"SELECT * FROM '{folder}/0.parquet'").to_arrow_table()
    codes, kinds, names = (
        encoded(model, rows.drop_columns("y")),
        model.counts_.vocabulary.features,
        rows.column_names[1:],
    )
    columns = {"y": np.asarray(rows["y"]) == "yes"} | dict(zip(names, codes, strict=True))
    for cross in model.counts_.choice.crosses:
        level = cross.depth - 1
        for f in cross.columns:
            columns[f"{names[f]}_{level}"] = kinds[f].levels[min(level, len(kinds[f].levels) - 1)][codes[f]]
    small = {name: values.astype(np.int16) for name, values in columns.items()}
    pq.write_table(pa.table(small), f"{folder}/codes.parquet")
    return 0.0, 0.0


def count_evidence(folder: str) -> Times:
    """Every table of a model: look at the numbers, cut them, count columns, count crosses."""
    from hebnb import EvidenceClassifier, load
    from hebnb.engines import counting
    from hebnb.engines.lazy_table import LazyTable

    model = load(f"{folder}/model.skops")
    crosses = model.counts_.choice.crosses
    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/0.parquet'")
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
    return group_by(folder, "0", lambda name: raw.get(name.split("_")[0], name.split("_")[0]))


def group_by(folder: str, file: str, column: Callable[[str], str]) -> Times:
    connection, tables = connected(folder, LIMIT), json.loads(Path(f"{folder}/tables.json").read_text())
    began = now()
    for names in tables:
        keys = ", ".join(map(column, names))
        connection.sql(f"SELECT {keys}, y, count(*) FROM '{folder}/{file}.parquet' GROUP BY ALL").to_arrow_table()
    return since(began)


def fit_evidence(folder: str) -> Times:
    from hebnb import EvidenceClassifier

    relation = connected(folder, LIMIT).sql(f"SELECT * FROM '{folder}/0.parquet'")
    began = now()
    EvidenceClassifier().fit(relation, "y")
    return since(began)


def generate_ids(path: Path, rows: int = 2 * DISTINCT) -> None:
    """A column with very many different values, and a column of floats."""
    path.mkdir()
    columns = f"range % {DISTINCT} AS id, random() AS x, CAST(hash(range) % 3 = 0 AS INTEGER) AS y"
    duckdb.connect().execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{path}/0.parquet' (FORMAT parquet)")


def fit_ids(folder: str, most: int | None = None) -> Times:
    return fit_column(folder, "id", most)


def fit_ids_kept(folder: str) -> Times:
    return fit_column(folder, "id", KEPT)


def fit_floats(folder: str) -> Times:
    return fit_column(folder, "x")


def fit_column(folder: str, column: str, most: int | None = None) -> Times:
    import warnings

    from hebnb import NaiveBayes

    warnings.simplefilter("ignore")  # that there is nothing but ids, which is so
    relation = connected(folder, LIMIT).sql(f"SELECT {column}, y FROM '{folder}/0.parquet'")
    began = now()
    NaiveBayes(max_categories=most).fit(relation, "y")
    return since(began)


def group_ids(folder: str) -> Times:
    return queried(folder, "SELECT id, y, count(*) FROM rows GROUP BY ALL")


def group_ids_kept(folder: str) -> Times:
    """The most frequent ids, and how often each has which class."""
    top = f"SELECT id FROM rows GROUP BY id ORDER BY count(*) DESC, id LIMIT {KEPT}"
    return queried(folder, f"SELECT id, y, count(*) FROM rows WHERE id IN ({top}) GROUP BY ALL")


def group_floats(folder: str) -> Times:
    """By the tenths that the numbers are in."""
    return queried(folder, "SELECT floor(10 * x), y, count(*) FROM rows GROUP BY ALL")


def queried(folder: str, query: str) -> Times:
    connection = connected(folder, LIMIT)
    connection.execute(f"CREATE VIEW rows AS SELECT * FROM '{folder}/0.parquet'")
    began = now()
    connection.sql(query).to_arrow_table()
    return since(began)


def prepare_aode(folder: str) -> Times:
    """A model of a million rows, to score all with."""
    from hebnb import AODE, save

    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/0.parquet' LIMIT 1_000_000")
    save(AODE().fit(relation, "y"), f"{folder}/model.skops")
    return 0.0, 0.0


def score_duckdb(folder: str) -> Times:
    model, files, connection = scored_with(folder), f"{folder}/[0-9]*.parquet", connected(folder, LIMIT)
    began = now()
    scored = model.predict_proba(connection.sql(f"SELECT * FROM '{files}'"))
    scored.aggregate(f"sum({last(model)})").fetchall()
    return since(began)


def score_polars(folder: str) -> Times:
    import polars as pl

    model, files = scored_with(folder), f"{folder}/[0-9]*.parquet"
    began = now()
    model.predict_proba(pl.scan_parquet(files)).select(pl.col(last(model)).sum()).collect(engine="streaming")
    return since(began)


def score_spark(folder: str) -> Times:
    from pyspark.sql import SparkSession

    model = scored_with(folder)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    model.predict_proba(session.read.parquet(f"{folder}/[0-9]*.parquet").limit(10)).collect()  # starts the workers
    began = now()
    model.predict_proba(session.read.parquet(f"{folder}/[0-9]*.parquet")).agg({last(model): "sum"}).collect()
    return since(began)


def score_memory(folder: str) -> Times:
    model, files = scored_with(folder), f"{folder}/[0-9]*.parquet"
    began = now()
    table = duckdb.connect().sql(f"SELECT * EXCLUDE y FROM '{files}'").to_arrow_table()
    model.predict_proba(table)[:, -1].sum()
    return since(began)


def scored_with(folder: str) -> Any:
    """The model that is beside the files."""
    from hebnb import load

    return load(f"{folder}/model.skops")


def last(model: Any) -> str:
    return f"proba_{model.classes_[-1]}"
