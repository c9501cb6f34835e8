"""
The model in PostgreSQL
=======================

A model consists of tables of numbers, so a database can compute its predictions. ``to_sql`` writes the query for that.
In this example it runs in PostgreSQL if that is installed, and in DuckDB otherwise.
"""

# %%
# We learn a model of the flights from five columns, so that its SQL is short enough to be looked at.

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import duckdb
import matplotlib.pyplot as plt
import numpy as np

from hebnb import EvidenceClassifier
from hebnb.datasets import load_flights
from hebnb.export import to_sql

X, y = load_flights(backend="pandas")
columns = ["month", "carrier", "origin", "dest", "distance"]
model = EvidenceClassifier(max_order=2, max_crosses=4).fit(X[columns], y)
rows = X[columns].head(2_000).assign(number=range(2_000))
print(model.crosses_)

# %%
# The example starts a PostgreSQL server for itself, in a temporary folder. You can skip this part if you have a server.


class Server:
    """A PostgreSQL server that listens on a socket in a temporary folder."""

    def __init__(self, programs):
        self.programs = programs
        self.user = "postgres" if os.getuid() == 0 else None  # it will not run as root
        self.home = tempfile.mkdtemp()
        if self.user:
            shutil.chown(self.home, self.user)
        self.run(
            "initdb", "-D", f"{self.home}/data", "-A", "trust", "-U", "hebnb", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        options = f"-k {self.home} -c listen_addresses='' -F"
        self.run("pg_ctl", "-D", f"{self.home}/data", "-o", options, "-l", f"{self.home}/log", "-w", "start")

    def run(self, program, *arguments):
        """Run one of PostgreSQL's programs."""
        command = [str(self.programs / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=self.user, cwd=self.home)

    def stop(self):
        """Stop the server and remove its folder."""
        self.run("pg_ctl", "-D", f"{self.home}/data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.home)


def programs():
    """The folder of PostgreSQL's programs, if it is installed."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return found[-1] if found else None


# %%
# With ``create=True``, ``to_sql`` writes several statements: the first put the model into tables of the database, and
# the last is a query that joins these tables with the rows. Without it there is one query, which has all numbers in it.


def in_postgresql(folder):
    """Numbers and probabilities of the rows, computed by PostgreSQL."""
    import psycopg

    server = Server(folder)
    try:
        with psycopg.connect(host=server.home, user="hebnb", dbname="postgres", autocommit=True) as connection:
            connection.execute(
                "CREATE TABLE flights (month int, carrier text, origin text, dest text, distance int, number int)"
            )
            with connection.cursor().copy("COPY flights FROM STDIN") as copy:
                for row in rows.itertuples(index=False):
                    copy.write_row(row)
            cursor = connection.cursor()
            cursor.execute(to_sql(model, "postgres", table="flights", create=True))
            while cursor.nextset():
                pass
            names = [column.name for column in cursor.description]
            return [dict(zip(names, line, strict=True)) for line in cursor.fetchall()]
    finally:
        server.stop()


def in_duckdb():
    """The same by DuckDB."""
    with duckdb.connect() as connection:
        connection.register("flights", rows)
        return connection.sql(to_sql(model, "duckdb", table="flights")).df().to_dict("records")


folder = programs()
scored = in_postgresql(folder) if folder else in_duckdb()
print("computed by", "PostgreSQL" if folder else "DuckDB")
print({name: scored[0][name] for name in ("number", "carrier", "prediction", "proba_late")})

# %%
# The probabilities are the same as in Python, but for the last digits:

in_sql = np.empty(len(rows))
in_sql[[line["number"] for line in scored]] = [line["proba_late"] for line in scored]
in_python = model.predict_proba(rows[columns])[:, 0]
print("largest difference:", f"{np.abs(in_sql - in_python).max():.0e}")

figure, axis = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
axis.plot([0, in_python.max()], [0, in_python.max()], color="lightgrey")
axis.plot(in_python, in_sql, ".", markersize=3)
axis.set_xlabel("late, in Python")
axis.set_ylabel("late, in the database")
plt.show()

# %%
# The query begins like this. All names and values are quoted, so nothing in a table can change what the query does.

print(to_sql(model, "postgres", table="flights")[:600])
