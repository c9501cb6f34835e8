"""What every engine has to do, without the engines that need a machine of their own."""

import datetime as dt
import inspect
import re
import tomllib
from pathlib import Path

import narwhals as nw
import numpy as np
import pytest
from numpy.testing import assert_allclose

from hebnb import HebnbError, InputError, NaiveBayes
from hebnb.engines.backends import BACKENDS, Backend, backend_of
from hebnb.engines.backends.base import Times, as_lists
from hebnb.engines.lazy_table import LazyTable

pd, pl, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))

METHODS = [
    "collect",
    "together",
    "with_microseconds",
    "readable",
    "failure",
    "named",
    "type_name",
    "sample",
    "joined",
    "batches",
    "tallied",
    "valued",
    "scored",
]
FRAME = pl.DataFrame({"c": ["u", "v", None, "u"] * 5, "x": [float(i) for i in range(20)], "y": ["p", "q"] * 10})


def on_polars(frame):
    return frame.lazy()


def on_duckdb(frame):
    connection = duckdb.connect()
    connection.register("frame", frame.to_arrow())
    return connection.sql("SELECT * FROM frame")


ENGINES = {"POLARS": on_polars, "DUCKDB": on_duckdb}


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_does_what_a_backend_does(name):
    backend = BACKENDS[name]
    assert isinstance(backend, Backend)
    for method in METHODS:
        ours, base = getattr(type(backend), method), getattr(Backend, method)
        assert [*inspect.signature(ours).parameters] == [*inspect.signature(base).parameters]
    assert type(backend).sample is not Backend.sample
    assert type(backend).scored is not Backend.scored
    assert not backend.most_joined or type(backend).joined is not Backend.joined
    assert isinstance(backend.nan_is_text, bool)


def test_backends_go_by_the_names_of_narwhals():
    assert {*BACKENDS} <= {implementation.name for implementation in nw.Implementation}


@pytest.mark.parametrize("name", ENGINES)
def test_a_table_finds_its_backend(name):
    table = ENGINES[name](FRAME)
    assert backend_of(nw.from_native(table)) is BACKENDS[name]
    assert LazyTable.read(table, "y").backend is BACKENDS[name]


def refusal(table):
    with pytest.raises(InputError) as refused:
        backend_of(nw.from_native(table))
    return str(refused.value)


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_that_is_not_in_the_table_is_refused_by_name(name, monkeypatch):
    fitted = NaiveBayes().fit(FRAME.drop("y"), FRAME["y"].to_numpy())
    table, others = ENGINES[name](FRAME), {type(backend).__name__ for key, backend in BACKENDS.items() if key != name}
    monkeypatch.delitem(BACKENDS, name)
    complaint = refusal(table)
    assert f"engine {name.lower()}, which hebnb does not know" in complaint
    assert "collect it first" in complaint
    known = complaint.partition("Known: ")[2].partition(".")[0].split(", ")
    assert set(known) == others
    for ask in (lambda: NaiveBayes().fit(table, "y"), lambda: fitted.predict_proba(table)):
        with pytest.raises(InputError, match=f"engine {name.lower()}, which hebnb does not know"):
            ask()


def test_the_oldest_versions_are_those_that_the_package_asks_for():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = dict(
        re.match(r"([\w-]+)(?:\[.*\])?>=(.*)", line).groups()
        for line in [*project["dependencies"], *extras["test"], *extras["spark"]]
        if ">=" in line
    )
    for backend in BACKENDS.values():
        module, oldest = backend.oldest
        assert asked["ibis-framework" if module == "ibis" else module] == oldest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "library", "old"), [("POLARS", pl, "1.29.0"), ("DUCKDB", duckdb, "1.4.11")])
def test_an_engine_that_is_too_old_is_named(name, library, old, monkeypatch):
    fitted, table = NaiveBayes().fit(FRAME.drop("y"), FRAME["y"].to_numpy()), ENGINES[name](FRAME)
    monkeypatch.setattr(library, "__version__", old)
    for ask in (lambda: NaiveBayes().fit(table, "y"), lambda: fitted.predict_proba(table)):
        with pytest.raises(InputError, match=rf"(?i)on {name} {old}; hebnb needs [\d.]+ or newer.*\n.*Upgrade {name}"):
            ask()
    monkeypatch.setattr(library, "__version__", f"{BACKENDS[name].oldest[1]}.0rc1")
    NaiveBayes().fit(table, "y")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_memory_that_is_short_says_what_to_set():
    connection = duckdb.connect(config={"memory_limit": "40MB", "threads": 1})
    connection.execute("SET temp_directory = ''")  # nowhere to spill
    many = connection.sql("SELECT 'value ' || hash(range) AS c, range % 2 AS y FROM range(2_000_000)")
    with pytest.raises(
        HebnbError, match="(?s)counting column 'c': DuckDB is out of memory.*memory_limit.*max_categories"
    ):
        NaiveBayes().fit(many, "y")


def test_a_refusal_shows_every_engine_once(monkeypatch):
    table = FRAME.lazy()
    monkeypatch.delitem(BACKENDS, "POLARS")
    known = refusal(table).partition("Known: ")[2].partition(".")[0].split(", ")
    assert len(known) == len(set(known))


def test_an_engine_of_ones_own_is_a_line_in_the_table(monkeypatch):
    asked = []

    class Watched(type(BACKENDS["POLARS"])):
        def collect(self, queries, notes):
            asked.extend(notes)
            return super().collect(queries, notes)

    monkeypatch.setitem(BACKENDS, "POLARS", Watched())
    model = NaiveBayes(n_bins=4).fit(FRAME.lazy(), "y")
    assert "counting classes in column 'y'" in asked
    assert "counting column 'c'" in asked
    assert_allclose(model.class_count_, [10, 10])


@pytest.mark.parametrize("name", ENGINES)
class TestEngines:
    def test_results_come_in_the_order_of_queries(self, name):
        frame = nw.from_native(ENGINES[name](FRAME))
        queries = [frame.select(nw.len()), frame.select(nw.col("x").sum()), frame.group_by("c").agg(nw.len())]
        rows, total, groups = BACKENDS[name].collect(queries, ["a", "b", "c"])
        assert rows.row(0) == (20,)
        assert total.row(0) == (190.0,)
        assert sorted(groups.rows(), key=str) == sorted([("u", 10), ("v", 5), (None, 5)], key=str)

    def test_an_error_says_what_hebnb_was_doing(self, name):
        frame = nw.from_native(ENGINES[name](FRAME))
        bad = frame.select(nw.col("c").cast(nw.Float64))
        with pytest.raises(Exception) as failed:  # noqa: PT011
            BACKENDS[name].collect([bad], ["counting column 'c'"])
        assert any("hebnb was counting column 'c'" in note for note in failed.value.__notes__)

    def test_times_are_whole_microseconds(self, name):
        spans = [dt.timedelta(microseconds=-1), dt.timedelta(days=1, microseconds=1), None]
        start = dt.datetime(1970, 1, 1)
        times = pl.DataFrame({"t": [None if span is None else start + span for span in spans]})
        frame = nw.from_native(ENGINES[name](times.with_columns(d=pl.col("t").dt.date(), s=pl.Series(spans))))
        schema = frame.collect_schema()
        made = BACKENDS[name].with_microseconds(frame, [Times(part, schema[part], f"{part}_us") for part in "tds"])
        found = made.collect()
        assert found["t_us"].to_list() == found["s_us"].to_list() == [-1, 86_400_000_001, None]
        assert found["d_us"].to_list() == [-86_400_000_000, 86_400_000_000, None]

    def test_a_sample_has_rows_of_the_table_and_a_seed(self, name):
        table = ENGINES[name](FRAME)
        drawn = [
            sorted(nw.from_native(BACKENDS[name].sample(table, 7, 7 / 20, seed)).collect()["x"].to_list())
            for seed in (1, 1, 2)
        ]
        assert drawn[0] == drawn[1] != drawn[2]
        for values in drawn:
            assert len(set(values)) == 7
            assert set(values) <= set(FRAME["x"].to_list())

    @pytest.mark.parametrize("key", ["c", "x"])
    def test_a_join_keeps_every_row(self, name, key):
        keys = np.array(["v", "w"], dtype=object) if key == "c" else np.array([3.0, 99.0])
        data = {key: keys, "part": np.array([0.5, 1.5])}
        joined = BACKENDS[name].joined(nw.from_native(ENGINES[name](FRAME)), data, key)
        found = {row["x"]: row["part"] for row in joined.collect().rows(named=True)}
        expected = {row["x"]: 0.5 if row[key] == keys[0] else None for row in FRAME.rows(named=True)}
        assert {x: None if part is None or np.isnan(part) else part for x, part in found.items()} == expected


def test_a_package_that_is_not_there_is_named():
    class Query:
        def collect(self):
            raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    with pytest.raises(HebnbError, match="(?s)pyarrow is needed for counting the rows.*pip install pyarrow"):
        Backend().collect([Query()], ["counting the rows"])


@pytest.mark.parametrize("method", ["sample", "joined"])
def test_what_an_engine_does_not_do_is_not_done_silently(method):
    with pytest.raises(NotImplementedError):
        getattr(Backend(), method)(*[None] * (len(inspect.signature(getattr(Backend(), method)).parameters)))
    assert Backend().batches(None, 1) is Backend().scored(None, [], None) is Backend().valued(None, None, "") is None


def test_objects_travel_as_lists():
    data = {"k": np.array(["a", "b"], dtype=object), "n": np.array([1.0, 2.0])}
    assert as_lists(data, "k")["k"] == ["a", "b"]
    assert as_lists(data, "n") is data
