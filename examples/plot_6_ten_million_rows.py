"""
Ten million rows with DuckDB
============================

A table that does not fit into memory can stay in its files. ``fit`` asks the database engine for counts and never
needs the rows themselves. In this example DuckDB makes the rows and writes them to a Parquet file, hebnb learns from
the file, and DuckDB scores the rows.

This page was made with 200,000 rows, so that it is made quickly. ``HEBNB_EXAMPLE_ROWS=10000000 python
examples/plot_6_ten_million_rows.py`` does the same with ten million.
"""

# %%
# We make a table of clicks with seven columns, which have between 10 and 30,000 categories. All of them tell a little
# about whether the row is a click.

import os
import tempfile
import time
from pathlib import Path

import duckdb
import matplotlib.pyplot as plt

from hebnb import EvidenceClassifier, NaiveBayes

rows = int(os.environ.get("HEBNB_EXAMPLE_ROWS", "200_000"))
sizes = {"country": 10, "device": 20, "browser": 50, "hour": 24, "campaign": 300, "shop": 3_000, "item": 30_000}
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "clicks.parquet"

database = duckdb.connect(config={"threads": 1})  # one thread, so that the seed makes the rows
database.execute("SELECT setseed(0.25)")
drawn = ", ".join(f"CAST(floor({size} * pow(random(), 2 + y)) AS INTEGER) AS {name}" for name, size in sizes.items())
label = f"SELECT CAST(random() < 0.2 AS INTEGER) AS y FROM range({rows})"
database.execute(
    f"COPY (SELECT CASE y WHEN 1 THEN 'click' ELSE 'no' END AS bought, {drawn} FROM ({label})) TO '{path}'"
)
print(f"{rows:,} rows, {path.stat().st_size / 1e6:.1f} MB of Parquet")

# %%
# We learn from the file. ``clicks`` is a relation of DuckDB, which reads nothing until it is asked for counts. Instead
# of labels, ``fit`` gets the name of their column.

database.execute("SET threads TO 2")
clicks = database.sql(f"SELECT * FROM '{path}'")
seconds = {}
began = time.perf_counter()
model = NaiveBayes().fit(clicks, "bought")
seconds["learn"] = time.perf_counter() - began

# %%
# How long would DuckDB alone take for these counts? They are one query for each column:

began = time.perf_counter()
for name in sizes:
    database.sql(f"SELECT {name}, bought, count(*) FROM '{path}' GROUP BY ALL").fetchall()
seconds["the group-bys alone"] = time.perf_counter() - began

# %%
# Scoring is lazy as well. The result is another relation, with columns of probabilities, which can be filtered, joined
# or written to a file. Here DuckDB computes the mean of a column, so no row reaches Python.

began = time.perf_counter()
scored = model.predict_proba(clicks)
mean = scored.aggregate("avg(proba_click)").fetchall()[0][0]
seconds["score"] = time.perf_counter() - began
print("mean probability of a click:", round(mean, 3))

# %%
# This is how long it took on the machine that made this page:

figure, axis = plt.subplots(figsize=(6.4, 2), layout="constrained")
axis.barh(list(seconds), list(seconds.values()), color="tab:blue")
axis.invert_yaxis()
axis.set_xlabel(f"seconds, {rows:,} rows")
plt.show()

# %%
# ``EvidenceClassifier`` learns from files too. It decides on a sample of at most 50,000 rows which columns to cross,
# and then counts all rows in one pass.

crossed = EvidenceClassifier(max_order=2, max_crosses=10).fit(clicks, "bought")
print("log-loss that new rows will see:", round(crossed.loo_log_loss_, 3))
print("the most telling columns:", sorted(crossed.gains_, key=crossed.gains_.get, reverse=True)[:3])

# %%
# If there are files on several machines, each machine can count its own. The sum of the counts gives the same model:

first = database.sql(f"SELECT * FROM '{path}' WHERE hour < 12")
second = database.sql(f"SELECT * FROM '{path}' WHERE hour >= 12")
together = NaiveBayes().fit_counts(model.count(first, "bought") + model.count(second, "bought"))
print("the same model:", (together.class_count_ == model.class_count_).all())

database.close()
folder.cleanup()
