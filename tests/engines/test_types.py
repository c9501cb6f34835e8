"""Every type of column is learned from and scored alike in memory and on the engines, or refused by name."""

import datetime as dt
import uuid
from decimal import Decimal
from itertools import product

import narwhals as nw
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_engines import spark_engine

from hebnb import EvidenceClassifier, InputError, NaiveBayes

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

START = dt.datetime(1969, 12, 31, 23, 59, 30)
SPANS = [dt.timedelta(seconds=7 * n - 20, microseconds=n) for n in range(30)]
DAYTIMES = [(START + dt.timedelta(minutes=11 * n)).time() for n in range(30)]
# What a type is called by Arrow, by DuckDB where Arrow has no such type, and some values of it.
TYPES = {
    "boolean": (pa.bool_(), None, [True, False] * 15),
    "small integers": (pa.int8(), None, list(range(-15, 15))),
    "unsigned integers": (pa.uint64(), None, [2**63 + n for n in range(30)]),
    "wide integers": (pa.decimal128(38, 0), "HUGEINT", [n - 15 for n in range(30)]),
    "very wide integers": (pa.decimal128(38, 0), "HUGEINT", [2**80 + n for n in range(30)]),
    "wide unsigned integers": (pa.decimal128(38, 0), "UHUGEINT", [2**70 + n for n in range(30)]),
    "whole decimals": (pa.decimal128(12, 0), None, [Decimal(n - 15) for n in range(30)]),
    "decimals": (pa.decimal128(9, 3), None, [Decimal(n) / 1000 for n in range(-31368, -31338)]),
    "wide decimals": (pa.decimal128(30, 10), None, [Decimal(f"{n - 15}.1234567891") for n in range(30)]),
    "single floats": (pa.float32(), None, [n / 10 for n in range(30)]),
    "floats": (pa.float64(), None, [n / 10 for n in range(30)]),
    "integers as floats": (pa.float64(), None, [float(n - 15) for n in range(30)]),
    "integers as single floats": (pa.float32(), None, [float(n - 15) for n in range(30)]),
    "text": (pa.string(), None, [f"v{n}" for n in range(30)]),
    "identifiers": (pa.string(), "UUID", [str(uuid.UUID(int=n)) for n in range(30)]),
    "dates": (pa.date32(), None, [START.date() + dt.timedelta(days=n) for n in range(30)]),
    "times": (pa.timestamp("us"), None, [START + span for span in SPANS]),
    "times to the second": (pa.timestamp("s"), None, [START + dt.timedelta(seconds=n) for n in range(30)]),
    "times to the nanosecond": (pa.timestamp("ns"), None, [1000 * n - 15_001 for n in range(30)]),
    "instants": (pa.timestamp("us", "UTC"), None, [START.replace(tzinfo=dt.UTC) + span for span in SPANS]),
    "times of day": (pa.time64("us"), None, DAYTIMES),
    "durations": (pa.duration("us"), None, SPANS),
}
# Ibis cannot hand out an interval; Spark has neither these integers nor times of day that Arrow would bring it.
REFUSED = {
    ("durations", "ibis"): "interval",
    ("durations", "spark"): "interval day to second",
}
ABSENT = {(name, "spark") for name in ("unsigned integers", "times of day")}
if duckdb.__version__ < "2":  # which cannot count the nanoseconds between two times, so that Ibis cannot either
    ABSENT.add(("times to the nanosecond", "ibis"))


def column(name, distinct):
    """Ninety values, so many of them distinct, and some gaps."""
    kind, _, values = TYPES[name]
    array = pa.array([None if n % 13 == 12 else values[n % distinct] for n in range(90)], type=kind)
    return pa.table({"x": array, "y": ["pq"[n % distinct // 3 % 2] for n in range(90)], "row": list(range(90))})


def on_polars(name, table):
    frame = pl.from_arrow(table)
    return frame.lazy()


def on_duckdb(name, table):
    connection = duckdb.connect()
    connection.register("arrow", table)
    sql = TYPES[name][1]
    return connection.sql(f"SELECT {'x' if sql is None else f'CAST(x AS {sql})'} AS x, y, row FROM arrow")


def on_ibis(name, table):
    return pytest.importorskip("ibis").memtable(table)


ENGINES = {"polars": on_polars, "duckdb": on_duckdb, "ibis": on_ibis}


@pytest.fixture(scope="module")
def on_spark():
    make = spark_engine()
    make.session.conf.set("spark.sql.session.timeZone", "UTC")

    def table(name, rows):
        frame = make.session.createDataFrame(rows)
        without_zone = name.startswith("times")
        return frame.withColumn("x", frame["x"].cast("timestamp_ntz")) if without_zone else frame

    yield table
    make.close()


def probabilities(table):
    frame = nw.from_native(table).collect().sort("row")
    return np.column_stack([frame["proba_p"].to_numpy(), frame["proba_q"].to_numpy()]).astype(float)


def check_alike(name, distinct, engine, model, make):
    table = column(name, distinct)
    X, y = table.select(["x"]), table["y"]
    here = model().fit(X, y)
    expected = here.predict_proba(X)
    assert np.ptp(expected) > 0.1  # not what is said of the unseen
    if (name, engine) in REFUSED:
        for ask in (lambda lazy: model().fit(lazy, "y", features=["x"]), here.predict_proba):
            with pytest.raises(InputError, match=f"Column 'x': values of type {REFUSED[name, engine]}"):
                ask(make(name, table))
        return
    lazy = make(name, table)
    there = model().fit(lazy, "y", features=["x"])
    assert_array_equal([str(label) for label in there.categories_[0]], [str(label) for label in here.categories_[0]])
    assert_allclose(there.predict_proba(X), expected, atol=1e-9)
    for fitted in (here, there):
        assert_allclose(probabilities(fitted.predict_proba(lazy)), expected, atol=1e-9)


@pytest.mark.parametrize("model", [NaiveBayes, EvidenceClassifier])
@pytest.mark.parametrize("distinct", [4, 30])
@pytest.mark.parametrize(("name", "engine"), [both for both in product(TYPES, ENGINES) if both not in ABSENT])
def test_types(name, engine, distinct, model):
    check_alike(name, distinct, engine, model, ENGINES[engine])


@pytest.mark.parametrize("distinct", [4, 30])
@pytest.mark.parametrize("name", [name for name in TYPES if (name, "spark") not in ABSENT])
def test_types_on_spark(name, distinct, on_spark):
    check_alike(name, distinct, "spark", NaiveBayes, on_spark)


@pytest.mark.parametrize("name", [name for name in TYPES if name != "floats"])
def test_kept_as_categories(name):
    table = column(name, 30)
    model = NaiveBayes(categorical_features="all").fit(table.select(["x"]), table["y"])
    expected = model.predict_proba(table.select(["x"]))
    assert np.ptp(expected) > 0.1
    for engine in ("polars", "duckdb"):
        lazy = ENGINES[engine](name, table)
        there = NaiveBayes(categorical_features="all").fit(lazy, "y", features=["x"])
        assert_allclose(there.predict_proba(table.select(["x"])), expected, atol=1e-9)
        for fitted in (model, there):
            assert_allclose(probabilities(fitted.predict_proba(lazy)), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("value", "called"),
    [
        ("CAST('12:00:00+02' AS TIMETZ)", "TIME WITH TIME ZONE"),
        ("union_value(a := i)", "UNION"),
        ("CAST('101' AS BIT)", "BIT"),
        ("[i]", "List"),
    ],
)
def test_types_that_mean_something_else_in_memory_are_refused(value, called):
    lazy = duckdb.connect().sql(f"SELECT {value} AS x, i % 2 AS y FROM range(20) t(i)")
    with pytest.raises(InputError, match=f"Column 'x': values of type {called}.* cannot be categories"):
        NaiveBayes().fit(lazy, "y")
    model = NaiveBayes().fit(pa.table({"x": ["a", "b"] * 5}), [0, 1] * 5)
    with pytest.raises(InputError, match=f"Column 'x': values of type {called}.* cannot be categories"):
        model.predict_proba(lazy)


def test_sums_of_integers():
    """What DuckDB's sum gives has 128 bits."""
    lazy = duckdb.connect().sql("SELECT sum(i) AS x, k % 2 AS y FROM range(60) t(i), range(40) s(k) GROUP BY k, i % 3")
    lazy = lazy.query("sums", "SELECT x, y, row_number() OVER () AS row FROM sums")
    assert str(lazy.types[0]) == "HUGEINT"
    model = NaiveBayes().fit(lazy, "y", features=["x"])
    assert model.categories_[0].tolist() == [570, 590, 610]
    scored = model.predict_proba(lazy.query("t", "SELECT *, y AS known FROM t")).to_arrow_table()
    assert_allclose(scored["proba_0"].to_numpy(), model.predict_proba(scored.select(["x"]))[:, 0])


class TestOtherTypesThanAtFit:
    """What is equal in memory is equal on an engine."""

    CASES = {
        "floats, then decimals": (
            pa.array([0.1, 1.5, 2.0]),
            pa.array([Decimal("0.10"), Decimal(2)], pa.decimal128(5, 2)),
        ),
        "decimals, then floats": (pa.array([Decimal("0.1"), Decimal("2.5")]), pa.array([0.1, 2.5, 0.2])),
        "wide integers, then integers": (
            pa.array([Decimal(1), Decimal(2**70)], pa.decimal128(38, 0)),
            pa.array([1, 2]),
        ),
        "large integers, then floats": (pa.array([2**62, 2**62 + 1, 5]), pa.array([float(2**62), 5.0, 0.5])),
        "dates, then times": (pa.array([START.date(), dt.date(1970, 1, 1)]), pa.array([dt.datetime(1970, 1, 1)])),
        "times, then instants": (pa.array([START]), pa.array([START.replace(tzinfo=dt.UTC)])),
        "integers, then booleans": (pa.array([0, 1, 2]), pa.array([True, False])),
        "booleans, then integers": (pa.array([True, False]), pa.array([0, 1, 2])),
        "integers, then unsigned ones": (pa.array([1, 2, -3]), pa.array([1, 3], pa.uint64())),
    }

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("case", CASES)
    def test_rows_are_what_they_are_in_memory(self, case, engine):
        first, then = self.CASES[case]
        at = [n % len(first) for n in range(40)]
        y = ["pq"[n % len(first) % 2] if n % 9 else "q" for n in range(40)]
        model = NaiveBayes(categorical_features="all").fit(pa.table({"x": first.take(pa.array(at))}), y)
        probe = pa.table({"x": then, "row": list(range(len(then)))})
        found = probabilities(model.predict_proba(ENGINES[engine]("text", probe.append_column("y", probe["row"]))))
        assert_allclose(found, model.predict_proba(probe.select(["x"])), atol=1e-9)


def test_uuid_objects_are_their_text():
    pd = pytest.importorskip("pandas")
    objects = [uuid.UUID(int=n % 3) for n in range(30)]
    labels = ["pq"[n % 3 % 2] for n in range(30)]
    model = NaiveBayes().fit(pd.DataFrame({"x": objects}), labels)
    texts = pa.table({"x": [str(value) for value in objects]})
    assert_allclose(model.predict_proba(texts), model.predict_proba(pd.DataFrame({"x": objects})))


def test_polars_integers_of_128_bits():
    for values in ([1, 2, 3, None], [2**80, 2**80 + 1, -5, None]):
        frame = pl.DataFrame({"x": pl.Series(values * 10, dtype=pl.Int128), "y": list("ppqq") * 10})
        frame = frame.with_row_index("row")
        model = NaiveBayes().fit(frame.select("x"), frame["y"])
        assert model.categories_[0].tolist() == [*sorted(values[:3]), None]
        there = NaiveBayes().fit(frame.lazy(), "y", features=["x"])
        expected = model.predict_proba(frame.select("x"))
        assert_allclose(there.predict_proba(frame.select("x")), expected)
        assert_allclose(probabilities(there.predict_proba(frame.lazy())), expected)
        cut = NaiveBayes(bin_edges={"x": [0, 2]}).fit(frame.select("x"), frame["y"])
        assert_allclose(probabilities(cut.predict_proba(frame.lazy())), cut.predict_proba(frame.select("x")))


def test_spark_columns_with_dots(on_spark):
    table = pa.table({"a.b": list("uvw") * 10, "c`d": [n / 10 for n in range(30)], "t.y": list("pqq") * 10})
    table = table.append_column("w.t", pa.array([1.0, 2.0, 1.0] * 10)).append_column("row", pa.array(range(30)))
    X = table.select(["a.b", "c`d"])
    here = NaiveBayes(n_bins=4).fit(X, table["t.y"], table["w.t"])
    lazy = on_spark("text", table)
    there = NaiveBayes(n_bins=4).fit(lazy, "t.y", "w.t", features=["a.b", "c`d"])
    assert there.feature_names_in_.tolist() == ["a.b", "c`d"]
    assert_allclose(there.predict_proba(X), here.predict_proba(X))
    scored = here.predict_proba(lazy)
    assert scored.columns == [*table.column_names, "proba_p", "proba_q"]
    assert_allclose(probabilities(scored), here.predict_proba(X), atol=1e-9)
