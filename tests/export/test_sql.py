"""A query gives what predict_proba gives, in every database at hand, whatever the names in it are."""

import datetime as dt
import glob
import os
import re
import shutil
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from conftest import examples
from hebnb import AODE, KDB, TAN, Additive, EvidenceClassifier, InputError, NaiveBayes, ParameterError
from hebnb.export.sql.dialect import DIALECTS
from hebnb.export.sql.query import to_sql

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

# Types of columns in the tests: as pandas has them, and by dialect.
TYPES = {
    "text": ("object", "VARCHAR", "TEXT", "string"),
    "integer": ("Int64", "BIGINT", "BIGINT", "bigint"),
    "unsigned": ("UInt64", "UBIGINT", "NUMERIC(20)", "decimal(20,0)"),
    "number": ("float64", "DOUBLE", "DOUBLE PRECISION", "double"),
    "flag": ("boolean", "BOOLEAN", "BOOLEAN", "boolean"),
    "day": ("object", "DATE", "DATE", "date"),
    "time": ("object", "TIME", "TIME", None),
    "moment": ("datetime64[us]", "TIMESTAMP", "TIMESTAMP", "timestamp"),
    "instant": ("datetime64[us, UTC]", "TIMESTAMPTZ", "TIMESTAMPTZ", "timestamp"),
    "decimal": ("object", "DECIMAL(12, 3)", "NUMERIC(12, 3)", "decimal(12,3)"),
}
HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE rows; --",
    '"; DROP TABLE rows; --',
    "`; DROP TABLE rows; --",
    "\\'; DROP TABLE rows; --",
    "\\",
    "\\\\'",
    "C:\\new\\table",
    "it's",
    "''",
    '""',
    "``",
    "two\nlines;\nthree",
    "cr\r\nlf",
    "tab\there",
    "\u202eright to left",
    "line\u2028separator",
    "/* comment */ -- more",
    "${env:HOME}",
    "{score_0}",
    "%s %(x)s :x ? $1",
    "x" * 10_000,
    "",
    " ",
    "NULL",
    "NaN",
    "😀 naïve",
    "\x01\x0b\x0c\x1b\x7f",
    "\\u0041",
    "\\N",
]


def quoted(name, mark='"'):
    return mark + name.replace(mark, 2 * mark) + mark


class DuckDB:
    dialect, place, mark = "duckdb", 1, '"'

    def __init__(self):
        self.connection = pytest.importorskip("duckdb").connect()
        self.connection.execute("SET TimeZone = 'UTC'")

    def load(self, table, columns):
        types = ", ".join(f"{quoted(name)} {TYPES[kind][1]}" for name, (kind, _) in columns.items())
        self.connection.execute(f"CREATE OR REPLACE TABLE {quoted(table)} ({types})")
        marks = ", ".join("?" * len(columns))
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        self.connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)

    def run(self, sql):
        found = self.connection.execute(sql).to_arrow_table()  # whose times need no further package
        return found.column_names, list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def drop(self, tables):
        for table in tables:
            self.connection.execute(f"DROP TABLE {quoted(table)}")

    def close(self):
        self.connection.close()


class PostgreSQL:
    dialect, place, mark = "postgres", 2, '"'

    def __init__(self):
        psycopg = pytest.importorskip("psycopg", reason="PostgreSQL: psycopg is not installed")
        found = [
            *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True),
            os.path.dirname(shutil.which("initdb") or ""),
        ]
        self.programs = next((folder for folder in found if folder and Path(folder, "initdb").exists()), None)
        if self.programs is None:
            pytest.skip("PostgreSQL is not installed, such as Debian's postgresql")
        self.home = tempfile.mkdtemp(prefix="hebnb-pg-")
        self.user = "postgres" if os.getuid() == 0 else None  # the server will not run as root
        if self.user:
            shutil.chown(self.home, self.user)
        self.data = str(Path(self.home, "data"))
        self.do("initdb", "-D", self.data, "-A", "trust", "-U", "hebnb", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-k {self.home} -c listen_addresses='' -F"
        self.do("pg_ctl", "-D", self.data, "-o", options, "-l", f"{self.data}/log", "-w", "start")
        self.connection = psycopg.connect(host=self.home, user="hebnb", dbname="postgres", autocommit=True)
        self.connection.execute("SET TIME ZONE 'UTC'")

    def do(self, program, *arguments):
        command = [str(Path(self.programs, program)), *arguments]
        subprocess.run(command, user=self.user, cwd=self.home, check=True, stdout=subprocess.DEVNULL, timeout=120)

    def load(self, table, columns):
        types = ", ".join(f"{quoted(name)} {TYPES[kind][2]}" for name, (kind, _) in columns.items())
        self.connection.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
        self.connection.execute(f"CREATE TABLE {quoted(table)} ({types})")
        marks = ", ".join(f"%s::{TYPES[kind][2]}" for kind, _ in columns.values())
        rows = list(zip(*(values for _, values in columns.values()), strict=True))
        with self.connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})".encode(), rows)

    def run(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql.encode())
            while cursor.nextset():
                pass
            return [column.name for column in cursor.description], cursor.fetchall()

    def drop(self, tables):
        for table in tables:
            self.connection.execute(f"DROP TABLE {quoted(table)}")

    def close(self):
        self.connection.close()
        self.do("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.home)


class Spark:
    dialect, place, mark = "spark", 3, "`"

    def __init__(self):
        sql = pytest.importorskip("pyspark.sql", reason='PySpark is not installed: pip install ".[spark]"')
        if shutil.which("java") is None:
            pytest.skip("PySpark needs a Java runtime, such as Debian's default-jre-headless")
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        self.home = tempfile.mkdtemp(prefix="hebnb-spark-")
        builder = sql.SparkSession.builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": self.home,
        }.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("ERROR")

    def load(self, table, columns):
        from pyspark.sql.types import StructField, StructType, _parse_datatype_string

        fields = [StructField(name, _parse_datatype_string(TYPES[kind][3])) for name, (kind, _) in columns.items()]
        values = [
            [None if v is None else Decimal(v) for v in values] if kind == "unsigned" else values
            for kind, values in columns.values()
        ]
        rows = list(zip(*values, strict=True))
        self.session.createDataFrame(rows, StructType(fields)).createOrReplaceTempView(table)

    def run(self, sql):
        *before, last = sql.split(";\n") if sql.startswith("CREATE") else [sql]
        for statement in before:
            self.session.sql(statement)
        frame = self.session.sql(last)
        return frame.columns, [tuple(row) for row in frame.collect()]

    def drop(self, tables):
        for table in tables:
            self.session.sql(f"DROP TABLE {quoted(table, '`')}")

    def close(self):
        self.session.stop()
        shutil.rmtree(self.home)


@pytest.fixture(scope="module", params=[DuckDB, PostgreSQL, Spark], ids=lambda kind: kind.__name__)
def database(request):
    made = request.param()
    yield made
    made.close()


@pytest.fixture(scope="module")
def duckdb():
    made = DuckDB()
    yield made
    made.close()


def as_pandas(columns):
    return pd.DataFrame({name: pd.Series(values, dtype=TYPES[kind][0]) for name, (kind, values) in columns.items()})


def check(database, model, columns, *, create=False, table="rows", **options):
    """The query's answer is the model's."""
    n_rows = len(next(iter(columns.values()))[1])
    stored = {"row number": ("integer", list(range(n_rows)))} | columns
    database.load(table, stored)
    sql = to_sql(model, database.dialect, table=quoted(table), create=create, **options)
    names, rows = database.run(sql)
    if create:
        database.drop(re.findall(r"^CREATE TABLE .(\w+).", sql, re.MULTILINE))
    assert names[: len(stored)] == list(stored)
    assert names[len(stored)] == "prediction"
    assert len(names) == len(stored) + 1 + len(model.classes_)
    assert len(rows) == n_rows
    rows = sorted(rows)
    assert [row[0] for row in rows] == list(range(n_rows))
    X = as_pandas(columns)
    proba = model.predict_proba(X)
    assert_allclose(np.array([row[len(stored) + 1 :] for row in rows], dtype=float), proba, atol=1e-9)
    first, second = np.sort(proba, axis=1)[:, ::-1][:, :2].T if proba.shape[1] > 1 else (np.ones(n_rows), 0)
    clear = first - second > 1e-9
    predicted = np.array([row[len(stored)] for row in rows], dtype=object)
    assert predicted[clear].tolist() == model.predict(X)[clear].tolist()
    return names, rows


def choice(rng, values, rows, gaps=0.1):
    """Values at random, with gaps."""
    return [None if rng.random() < gaps else values[k] for k in rng.integers(len(values), size=rows)]


def make_columns(rows, seed=0, new=False, time=True):
    """Columns of all kinds; new ones have values that were not seen before."""
    rng = np.random.default_rng(seed)
    start = dt.datetime(2024, 2, 28, 23, 59, 59, 123456)
    columns = {
        "text": ("text", choice(rng, [f"v{k}" for k in range(12 + 4 * new)], rows)),
        "integer": ("integer", choice(rng, [-3, 0, 7, 2**40, *([99] * new)], rows)),
        "unsigned": ("unsigned", choice(rng, [1, 2**64 - 1, 2**64 - 2, *([17] * new)], rows, gaps=0)),
        "few": ("number", choice(rng, [0.1, -0.5, 1e300, 5e-324, *([0.2] * new)], rows)),
        "x": ("number", [v if v is None else float(v) for v in choice(rng, rng.normal(size=rows), rows)]),
        "flag": ("flag", choice(rng, [True, False], rows)),
        "day": ("day", choice(rng, [dt.date(2024, 1, 1 + k) for k in range(5 + new)], rows)),
        "time": ("time", choice(rng, [dt.time(k, 30, 0, k) for k in range(5 + new)], rows)),
        "moment": ("moment", choice(rng, [start + dt.timedelta(hours=k, microseconds=k) for k in range(50)], rows)),
        "once": ("moment", choice(rng, [start + dt.timedelta(hours=k) for k in range(5 + new)], rows)),
        "zone": ("instant", choice(rng, [(start + dt.timedelta(hours=k)).astimezone(dt.UTC) for k in range(4)], rows)),
        "price": ("decimal", choice(rng, [Decimal("1.125"), Decimal("0.100"), Decimal("-7.5")], rows)),
    }
    if new:
        columns["x"][1][0] = float("nan")
        columns["few"][1][1] = float("nan")
    if not time:
        del columns["time"]
    return columns


def labels_for(columns, labels, seed=1):
    rng = np.random.default_rng(seed)
    n_rows = len(columns["text"][1])
    hints = np.array([hash_of(value) for value in columns["text"][1]]) + np.array(
        [hash_of(value) for value in columns["flag"][1]]
    )
    return np.array(labels, dtype=object)[(hints + rng.integers(2, size=n_rows)) % len(labels)]


def hash_of(value):
    return sum(map(ord, str(value)))


VARIANTS = {
    "heb-m": (NaiveBayes(), ["p", "q", "r"]),
    "heb-u": (NaiveBayes("heb-u"), [0, 1]),
    "laplace sqrt-mi": (NaiveBayes("laplace", weighting="sqrt-mi"), ["p", "q"]),
    "m-estimate ignore": (NaiveBayes("m-estimate", missing="ignore"), [1.0, -2.0, 0.0]),
    "loo": (NaiveBayes(weighting="loo"), ["p", "q", "r"]),
    "te, all categories": (NaiveBayes("te", categorical_features="all"), [True, False]),
    "prior": (NaiveBayes(class_prior=[0.9, 0.0, 0.1]), ["p", "q", "r"]),
    "certain": (NaiveBayes(class_prior=[0, 1]), ["p", "q"]),
    "one class": (NaiveBayes(), ["only"]),
    "many classes": (NaiveBayes(), [dt.date(2020, 1, 1 + k) for k in range(20)]),
    "capped": (NaiveBayes(max_categories=3, bin_edges={"x": [-1.0, 0.0, 5.0, 6.0]}), ["p", "q"]),
    "aode": (AODE(), ["p", "q", "r"]),
    "aode loo": (AODE(weighting="loo"), ["p", "q"]),
    "aode caps": (AODE(max_parent_categories=5, min_parent_count=20), ["p", "q"]),
    "aode skip": (AODE("laplace", over_cap="skip", max_parent_categories=5), ["p", "q"]),
    "aode loo caps": (
        AODE(weighting="loo", max_parent_categories=4, min_parent_count=30, missing="ignore"),
        ["p", "q"],
    ),
    "aode no parents": (AODE(max_parent_categories=0, over_cap="skip"), ["p", "q"]),
    "aode loo no parents": (AODE(weighting="loo", max_parent_categories=0, over_cap="skip"), ["p", "q"]),
    "aode none in effect": (AODE(weighting="loo", min_parent_count=1e6), ["p", "q"]),
    "aode one class": (AODE(), ["only"]),
    "tan": (TAN(), ["p", "q", "r"]),
    "tan loo": (TAN(weighting="loo", missing="ignore"), ["p", "q"]),
    "kdb": (KDB(), ["p", "q"]),
    "kdb laplace": (KDB(2, "laplace", weighting="sqrt-mi"), ["p", "q", "r"]),
}


class TestScores:
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_are_those_of_the_model(self, database, variant):
        model, labels = VARIANTS[variant]
        time = database.dialect != "spark"
        known = make_columns(150, time=time)
        model.fit(as_pandas(known), labels_for(known, labels))
        new = make_columns(60, seed=2, new=True, time=time)
        check(database, model, new, create=variant in ("loo", "aode"))

    @pytest.mark.parametrize("model", [NaiveBayes(), AODE(), AODE(weighting="loo")], ids=str)
    def test_of_a_single_column(self, database, model):
        columns = {"a": ("text", ["x", "y", None] * 10)}
        model.fit(as_pandas(columns), ["p", "q", "q"] * 10)
        check(database, model, {"a": ("text", ["x", "z", None])})

    def test_with_score_tables_of_their_own(self, duckdb):
        columns = {"a": ("text", [f"v{k}" for k in range(2500)])}
        model = NaiveBayes().fit(as_pandas(columns), np.arange(2500) % 2)
        sql = to_sql(model, create=True)
        assert sql.count("CREATE TABLE") == 1
        assert sql.count("INSERT INTO") == 3
        check(duckdb, model, columns, create=True, prefix="mine_")

    def test_of_a_long_list(self, duckdb):
        columns = {"a": ("text", [f"v{k}" for k in range(10_500)])}
        model = NaiveBayes().fit(as_pandas(columns), np.arange(10_500) % 2)
        assert "UNION ALL" in to_sql(model)
        check(duckdb, model, {"a": ("text", ["v0", "v10499", "new"])})

    def test_of_sparse_tables(self, duckdb):
        rng = np.random.default_rng(0)
        values = [f"v{k}" for k in rng.integers(2000, size=4000)]
        model = NaiveBayes(weighting="sqrt-mi").fit(as_pandas({"a": ("text", values)}), rng.integers(40, size=4000))
        check(duckdb, model, {"a": ("text", [*values[:200], "new", None])})

    def test_of_sparse_pairs(self, duckdb):
        rng = np.random.default_rng(0)
        columns = {name: ("text", [f"v{k}" for k in rng.integers(600, size=900)]) for name in "ab"}
        columns["c"] = ("flag", choice(rng, [True, False], 900))
        model = AODE(max_parent_categories=None).fit(as_pandas(columns), rng.integers(3, size=900))
        check(duckdb, model, {name: (kind, values[:300]) for name, (kind, values) in columns.items()})

    def test_far_apart(self, database):
        """Powers that would underflow."""
        known = {f"c{k}": ("text", ["x", "y"] * 50) for k in range(40)}
        model = NaiveBayes(Additive(alpha=1e-9)).fit(as_pandas(known), ["p", "q"] * 50)
        check(database, model, {name: ("text", ["x", "y", None]) for name in known})

    def test_of_ties_go_to_the_first_class(self, database):
        columns = {"a": ("text", ["x", "y"])}
        model = NaiveBayes("laplace").fit(as_pandas(columns), ["q", "p"])
        _, rows = check(database, model, {"a": ("text", ["unseen", None])})
        assert [row[2] for row in rows] == ["p", "p"]

    def test_of_empty_bins_say_nothing(self, duckdb):
        known = {"x": ("number", [0.5, 0.6, 9.0, 9.5])}
        model = NaiveBayes(bin_edges={"x": [1.0, 2.0, 3.0]}).fit(as_pandas(known), [0, 0, 1, 1])
        check(duckdb, model, {"x": ("number", [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, None, float("nan"), -0.0])})

    def test_of_edges(self, database):
        edges = [-1.5, 0.0, 0.1, 1e-300, 1e300]
        known = {"x": ("number", [-2.0, 0.05, 0.5, 1e301] * 5)}
        model = NaiveBayes(bin_edges={"x": sorted(edges)}).fit(as_pandas(known), [0, 1, 0, 1] * 5)
        near = [v for edge in edges for v in (edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf))]
        check(database, model, {"x": ("number", [float(v) for v in near])})

    def test_of_a_column_without_values(self, duckdb):
        known = {"a": ("text", [None] * 4), "x": ("number", [None] * 4), "b": ("text", ["u", "v", "v", "u"])}
        for model in (NaiveBayes(), AODE()):
            model.fit(as_pandas(known), [0, 1, 1, 1])
            new = {
                "a": ("text", ["s", None, None]),
                "x": ("number", [1.0, None, np.nan]),
                "b": ("text", ["u", None, "v"]),
            }
            check(duckdb, model, new)

    @pytest.mark.parametrize("n_columns", [1, 2])
    @pytest.mark.parametrize("create", [False, True])
    @pytest.mark.parametrize("model", [NaiveBayes, AODE, TAN, KDB, EvidenceClassifier])
    def test_of_nothing_but_gaps_are_the_prior(self, database, model, n_columns, create):
        """There is no value to look up, and still a query."""
        columns = {f"x{n}": ("text", [None] * 6) for n in range(n_columns)}
        fitted = model(missing="ignore").fit(as_pandas(columns), list("ppqpqq"))
        seen = {name: ("text", [None, "never seen"]) for name in columns}
        check(database, fitted, seen, create=create)

    def test_gaps_say_nothing_where_they_are_an_error(self, duckdb):
        known = {"a": ("text", ["x", "y", "y"])}
        model = NaiveBayes("laplace", missing="error").fit(as_pandas(known), ["p", "q", "q"])
        duckdb.load("rows", {"a": ("text", ["unseen", None])})
        _, (unseen, gap) = duckdb.run(to_sql(model))
        assert unseen[1:] == gap[1:]

    def test_whole_floats_are_integers(self, database):
        """A database may hold integers as floats; fractions stay unseen and NaN is a gap."""
        model = NaiveBayes().fit(as_pandas({"i": ("integer", [1, 2, None, 2] * 5)}), [0, 1, 0, 1] * 5)
        database.load("rows", {"i": ("number", [1.0, 2.0, 1.5, None, float("nan")])})
        _, rows = database.run(to_sql(model, database.dialect))
        one, two, other, gap = model.predict_proba(as_pandas({"i": ("integer", [1, 2, 77, None])}))
        expected = sorted(map(tuple, [one, two, other, gap, gap]))
        assert_allclose(sorted(row[2:] for row in rows), expected, atol=1e-9)

    def test_of_an_array(self, duckdb):
        X = np.array([["a", 1], ["b", 2]] * 5, dtype=object)
        model = NaiveBayes().fit(X, [0, 1] * 5)
        duckdb.load("rows", {"0": ("text", ["a", "b"]), "1": ("integer", [1, 2])})
        _, rows = duckdb.run(to_sql(model))
        assert_allclose([row[3:] for row in sorted(rows)], model.predict_proba(X[:2]), atol=1e-9)

    @given(data=st.data())
    @examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_of_any_table(self, duckdb, data):
        rows = data.draw(st.integers(2, 12))
        texts = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
        integers = st.none() | st.integers(-(2**63), 2**63 - 1)
        numbers = st.none() | st.floats(allow_infinity=False) | st.sampled_from([0.0, -0.0, 0.1])
        kinds = {
            "t": ("text", texts),
            "i": ("integer", integers),
            "x": ("number", numbers),
            "f": ("flag", st.none() | st.booleans()),
        }
        draw = {name: st.lists(values, min_size=rows, max_size=rows) for name, (_, values) in kinds.items()}
        known = {name: (kinds[name][0], data.draw(values)) for name, values in draw.items()}
        new = {name: (kinds[name][0], data.draw(values)) for name, values in draw.items()}
        labels = [k % 3 for k in range(rows)]
        kind = data.draw(st.sampled_from([NaiveBayes, AODE, TAN, KDB]))
        categorical = data.draw(st.sampled_from(["auto", "all"]))
        model = kind(categorical_features=categorical, n_bins=3).fit(as_pandas(known), labels)
        check(duckdb, model, {name: (kinds[name][0], known[name][1] + new[name][1]) for name in kinds})


class TestStrangeNames:
    def test_of_categories_are_inert(self, database):
        values = [*HOSTILE, None]
        columns = {"a": ("text", values * 2), "b": ("text", values[::-1] * 2)}
        model = NaiveBayes("laplace").fit(as_pandas(columns), np.arange(2 * len(values)) % 3)
        check(database, model, columns)
        check(database, model, columns, create=True)
        assert len(database.run("SELECT * FROM rows")[1]) == 2 * len(values)

    def test_whatever_the_server_takes_a_backslash_for(self, database):
        if database.dialect != "postgres":
            return  # the others have no setting for it
        columns = {"a": ("text", HOSTILE)}
        model = NaiveBayes("laplace").fit(as_pandas(columns), HOSTILE)
        database.connection.execute("SET standard_conforming_strings = off; SET escape_string_warning = off")
        check(database, model, columns)
        database.connection.execute("SET standard_conforming_strings = on")

    def test_of_classes_are_inert(self, database):
        columns = {"a": ("text", [f"v{k}" for k in range(len(HOSTILE))])}
        model = NaiveBayes("laplace").fit(as_pandas(columns), HOSTILE)
        names, _ = check(database, model, columns)
        assert names[3:] == [f"proba_{c}" for c in range(len(HOSTILE))]

    def test_of_columns_are_inert(self, database):
        # What no column can be called, by their length or for want of it, and what Spark replaces.
        names = [name for name in HOSTILE if 0 < len(name) < 60 and name.strip() and "${" not in name]
        columns = {name: ("text", ["x", "y", None]) for name in names}
        check(database, NaiveBayes("laplace").fit(as_pandas(columns), ["p", "q", "q"]), columns)
        some = {name: columns[name] for name in names[:6]}
        check(database, AODE("laplace").fit(as_pandas(some), ["p", "q", "q"]), some)

    @pytest.mark.parametrize("table", ["rows", "'; DROP TABLE rows; --", 'a "quoted" `name`', "dots.in it"])
    def test_of_tables_are_inert(self, duckdb, table):
        columns = {"a": ("text", ["x", "y"])}
        check(duckdb, NaiveBayes().fit(as_pandas(columns), [0, 1]), columns, table=table)

    def test_with_nul(self, database):
        columns = {"a": ("text", ["x\0y", "x", "\x0012", "y"] * 2)}
        model = NaiveBayes("laplace").fit(as_pandas(columns), [0, 1, 1, 0] * 2)
        if database.dialect == "postgres":  # which cannot have such rows
            columns = {"a": ("text", ["x", "y", "z"])}
        check(database, model, columns)

    def test_that_are_not_unicode_are_left_out(self, duckdb):
        model = NaiveBayes("laplace").fit(as_pandas({"a": ("text", ["\ud800", "x"])}), [0, 1])
        check(duckdb, model, {"a": ("text", ["x", "y"])})
        model.fit(as_pandas({"a": ("text", ["x", "y"])}), ["\ud800", "p"])
        with pytest.raises(InputError, match="Classes"):
            to_sql(model)

    def test_that_spark_would_replace(self):
        model = NaiveBayes().fit(as_pandas({"${env:HOME}": ("text", ["x", "y"])}), [0, 1])
        with pytest.raises(InputError, match="Spark"):
            to_sql(model, "spark")


class TestDialects:
    @pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "postgres", "duckdb"])
    @pytest.mark.parametrize("kind", [NaiveBayes, AODE])
    def test_are_read_back(self, dialect, kind):
        sqlglot = pytest.importorskip(
            "sqlglot", minversion="30.30"
        )  # those before misread escapes in names and strings
        text, column = sqlglot.exp.Literal, 'odd " ` \\ name'
        columns = {column: ("text", HOSTILE), "b": ("text", HOSTILE[::-1]), "x": ("number", [*map(float, range(30))])}
        model = kind("laplace", max_parent_categories=2) if kind is AODE else kind("laplace")
        model.fit(as_pandas(columns), HOSTILE)
        for create in (False, True):
            statements = sqlglot.parse(to_sql(model, dialect, table="a.b", create=create), read=dialect)
            assert len(statements) == (1 if not create else len(statements))
            assert {type(statement).__name__ for statement in statements} <= {"Select", "Create", "Insert"}
            found = {
                read
                for statement in statements
                for node in statement.find_all(text, sqlglot.exp.ByteString, sqlglot.exp.RawString)
                if not isinstance(node, text) or node.is_string
                for read in (node.this, _unescaped(node.this))
            }
            assert set(HOSTILE) <= found
            assert column in {node.name for node in statements[-1].find_all(sqlglot.exp.Column)}
            tables = [node for node in statements[-1].find_all(sqlglot.exp.Table) if node.db]
            assert [(node.db, node.name) for node in tables] == [("a", "b")]

    @pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark"])
    def test_that_escape_have_one_line_a_string(self, dialect):
        text = DIALECTS[dialect].string("".join(map(chr, range(0x2030))))
        assert text.isprintable() or not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text)
        assert re.fullmatch(r"'(?:[^'\\]|\\.)*'", text)


def _unescaped(text):
    """What sqlglot leaves as it is."""
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text.replace("\\\\", "\\"))


class TestColumns:
    def test_of_plain_labels_have_their_names(self):
        columns = as_pandas({"a": ("text", ["x", "y", "z"])})
        assert '"proba_late"' in to_sql(NaiveBayes().fit(columns, ["late", "ontime", "late"]))
        assert '"proba_1"' in to_sql(NaiveBayes().fit(columns, [1, 2, 1]))
        assert '"proba_late"' not in to_sql(NaiveBayes().fit(columns, ["late", "Late", "late"]))
        assert '"proba_0"' in to_sql(NaiveBayes().fit(columns, [-1, 1, 1]))

    def test_of_unlike_values_are_refused(self):
        mixed = pd.DataFrame({"zip": pd.Series(["x", 1, 2.5], dtype=object)})
        with pytest.raises(InputError, match=r"'zip'.*float, int, str"):
            to_sql(NaiveBayes(categorical_features="all").fit(mixed, [0, 1, 1]))
        pairs = pd.DataFrame({"pair": pd.Series([(1, 2), (3, 4), (1, 2)], dtype=object)})
        with pytest.raises(InputError, match="'pair'.*tuple"):
            to_sql(NaiveBayes().fit(pairs, [0, 1, 1]))

    def test_of_times_of_day_are_refused_by_spark(self):
        columns = {"t": ("time", [dt.time(1), dt.time(2)])}
        with pytest.raises(InputError, match="'t'"):
            to_sql(NaiveBayes().fit(as_pandas(columns), [0, 1]), "spark")

    def test_of_too_many_digits_are_refused(self):
        huge = pd.DataFrame({"n": pd.Series([10**40, 1], dtype=object)})
        with pytest.raises(InputError, match="'n'.*digits"):
            to_sql(NaiveBayes().fit(huge, [0, 1]))


class TestArguments:
    def test_unfitted(self):
        with pytest.raises(NotFittedError):
            to_sql(NaiveBayes())

    def test_unknown_dialect(self):
        with pytest.raises(ParameterError, match="Did you mean 'postgres'"):
            to_sql(NaiveBayes().fit([["a"], ["b"]], [0, 1]), "postgresql")

    @pytest.mark.parametrize("prefix", ["", "a b", '"', "x" * 40, "1a"])
    def test_strange_prefix(self, prefix):
        with pytest.raises(ParameterError, match="prefix"):
            to_sql(NaiveBayes().fit([["a"], ["b"]], [0, 1]), prefix=prefix)

    @pytest.mark.parametrize("table", ["", "a.", ".a", "a..b", '"a', 'a"b"', '"a"b', "`a"])
    def test_no_table(self, table):
        with pytest.raises(ParameterError, match="table"):
            to_sql(NaiveBayes().fit([["a"], ["b"]], [0, 1]), table=table)

    @pytest.mark.parametrize(
        ("table", "written"),
        [
            ("a.b", '"a"."b"'),
            ('"a.b".c', '"a.b"."c"'),
            ("`x``y`", '"x`y"'),
            ('"q""q"', '"q""q"'),
            ("my-db.t", '"my-db"."t"'),
        ],
    )
    def test_tables_are_quoted(self, table, written):
        assert f"FROM {written} AS" in to_sql(NaiveBayes().fit([["a"], ["b"]], [0, 1]), table=table)

    def test_too_many_pairs(self, monkeypatch):
        monkeypatch.setattr("hebnb.export.sql.estimates._MOST_PAIRS", 3)
        with pytest.raises(InputError, match="NaiveBayes"):
            to_sql(AODE().fit([["a", "b"], ["c", "d"]], [0, 1]))

    def test_too_many_numbers(self, monkeypatch):
        monkeypatch.setattr("hebnb.export.sql.query._MOST_NUMBERS", 3)
        with pytest.raises(InputError, match="max_categories"):
            to_sql(NaiveBayes().fit([["a", "b"], ["c", "d"]], [0, 1]))


class TestTrees:
    """Trees of categories: texts are cut in the database."""

    @pytest.mark.parametrize("create", [False, True])
    def test_ancestors_are_found(self, database, create):
        rng = np.random.default_rng(3)
        parts = ["a", "b", "a:", ":b", "é∞", "😀", "'", '"', "\\", "%", "x\ny", "${x}", ""]
        path = ["::".join(rng.choice(parts, rng.integers(1, 5))) for _ in range(300)]
        columns = {
            "path": ("text", [None if rng.random() < 0.05 else text for text in path]),
            "url": ("text", ["/".join(rng.choice(list("abc"), rng.integers(1, 5))) for _ in range(300)]),
            "code": ("text", ["".join(rng.choice(["é", "😀", "a", "'"], rng.integers(1, 5))) for _ in range(300)]),
            "zip": ("integer", [None if rng.random() < 0.1 else int(k) for k in rng.integers(1000, 1400, 300)]),
            "pet": ("text", rng.choice(["pug", "cat", "oak"], 300).tolist()),
        }
        known = {name: (kind, values[:200]) for name, (kind, values) in columns.items()}
        new = {name: (kind, values[100:]) for name, (kind, values) in columns.items()}
        new["pet"] = ("text", rng.choice(["pug", "dog", "animal", "rock"], 200).tolist())
        pets = {"pug": "dog", "dog": "animal", "cat": "animal", "oak": "plant"}
        hierarchies = {"path": "::", "url": "/", "code": [1, 2, 3], "zip": [2, 3], "pet": pets}
        y = [int((text or "")[:1] == "a") ^ int(rng.random() < 0.2) for text in known["path"][1]]
        model = EvidenceClassifier(hierarchies=hierarchies).fit(as_pandas(known), y)
        check(database, model, new, create=create)
