"""The laws that ``soak.py`` checks: every way in, through and out of a model says the same."""

from __future__ import annotations

import csv
import glob
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import skops.io
from numpy.testing import assert_allclose, assert_array_equal, assert_equal
from typer.testing import CliRunner

from hebnb import AODE, KDB, Counts, EvidenceClassifier, HebnbError, NaiveBayes, load, save
from hebnb.cli.app import app
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.methods import METHODS
from hebnb.persistence import document
from soak_tables import Case

TOLERANCE = 1e-9


@dataclass
class Learned:
    """A case, the model that learned it, and a folder for files."""

    case: Case
    folder: Path

    @cached_property
    def model(self) -> Any:
        """The model, learned in memory from Arrow."""
        return self.fit(self.case.X)

    @cached_property
    def proba(self) -> Any:
        """What it says of the new rows."""
        return self.model.predict_proba(self.case.new)

    def fit(self, X: Any, **more: Any) -> Any:
        """The same model, learned from the rows of another table."""
        return self.case.make(**more).fit(X, self.case.y.to_pylist(), self.weight)

    def fit_rows(self, rows: Any) -> Any:
        """The same model, learned from these rows."""
        weight = self.weight
        labels = self.case.y.take(pa.array(rows)).to_pylist()
        return self.case.make().fit(self.case.X.take(rows), labels, None if weight is None else weight[rows])

    def fit_lazily(self, table: Any) -> Any:
        """The same model, learned by an engine."""
        weight = None if self.case.weight is None else "the weight"
        return self.case.make().fit(table, "the label", weight, features=self.case.X.column_names)

    @cached_property
    def files(self) -> Path:
        """A folder whose name looks like the first column and its value."""
        place = self.folder / f"{self.case.X.column_names[0].replace('/', '')}=1"
        place.mkdir()
        return place

    @cached_property
    def labelled(self) -> pa.Table:
        """The rows with their labels, and weights if they have some."""
        table = self.case.X.append_column("the label", self.case.y)
        return table if self.case.weight is None else table.append_column("the weight", self.case.weight)

    @property
    def names_clash(self) -> bool:
        """Whether there are columns that databases do not tell apart."""
        names = self.case.X.column_names
        return len({name.casefold() for name in names}) < len(names)

    @property
    def weight(self) -> Any:
        """How often every row counts, if that is known."""
        return None if self.case.weight is None else self.case.weight.to_numpy()


CHECKS: dict[str, tuple[Callable[[Learned], None], int]] = {}


def check(name: str, every: int = 1) -> Callable[[Callable[[Learned], None]], Callable[[Learned], None]]:
    """Add a law to those that are checked, on one in so many cases."""

    def add(law: Callable[[Learned], None]) -> Callable[[Learned], None]:
        CHECKS[name] = law, every
        return law

    return add


def same(found: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
    """Probabilities that are equal but for rounding."""
    assert_allclose(np.asarray(found, dtype=float), expected, rtol=0, atol=tolerance)


def assert_refused(ask: Callable[[], Any], what: str) -> None:
    """Something that hebnb complains about, and in its own words."""
    try:
        ask()
    except HebnbError:
        return
    raise AssertionError(f"{what} was not refused")


@check("probabilities are probabilities")
def _probabilities(learned: Learned) -> None:
    proba = learned.proba
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    same(np.exp(learned.model.predict_log_proba(learned.case.new)), proba, 1e-12)
    assert set(learned.model.predict(learned.case.new).tolist()) <= set(learned.model.classes_.tolist())


@check("left-out rows have probabilities")
def _left_out(learned: Learned) -> None:
    proba = learned.model.loo_predict_proba(learned.case.X, learned.case.y.to_pylist(), learned.weight)
    assert np.isfinite(proba).all()
    assert_allclose(proba.sum(axis=1), 1)


@check("explanations sum to the score")
def _explanations(learned: Learned) -> None:
    explained = nw.from_native(learned.model.explain(learned.case.new))
    n_rows, n_classes = learned.proba.shape
    sums = np.zeros((n_rows, n_classes))
    places = {str(label): c for c, label in enumerate(learned.model.classes_.tolist())}
    classes = [places[str(label)] for label in explained["class"].to_list()]
    np.add.at(sums, (explained["row"].to_numpy(), classes), explained["contribution"].to_numpy())
    same(sums, learned.model.predict_joint_log_proba(learned.case.new), 1e-10)


@check("the order of rows does not matter")
def _rows(learned: Learned) -> None:
    order = np.random.default_rng(learned.case.seed).permutation(len(learned.case.y))
    same(learned.fit_rows(order).predict_proba(learned.case.new), learned.proba)
    backwards = np.arange(learned.case.new.num_rows)[::-1]
    same(learned.model.predict_proba(learned.case.new.take(backwards))[backwards], learned.proba, 1e-14)


@check("the order of columns does not matter")
def _columns(learned: Learned) -> None:
    """Not at fit, but for trees of columns, which have to choose among equals; in memory another order is refused."""
    names, new = learned.case.X.column_names, learned.case.new
    backwards = names[::-1]
    if isinstance(learned.model, (NaiveBayes, AODE)):
        same(learned.fit(learned.case.X.select(backwards)).predict_proba(new.select(backwards)), learned.proba)
    if len(names) > 1:
        assert_refused(lambda: learned.model.predict_proba(new.select(backwards)), "another order of columns")
        numbered = [_pandas(table).set_axis(range(len(names)), axis=1) for table in (learned.case.X, new)]
        by_number = learned.fit(numbered[0])
        assert_refused(lambda: by_number.predict_proba(numbered[1].iloc[:, ::-1]), "another order of numbered columns")


def _mapped(table: pa.Table, name: str, renamed: dict[Any, Any]) -> pa.Table:
    values = pa.array([renamed[value] for value in table[name].to_pylist()], pa.string())
    return table.set_column(table.column_names.index(name), name, values)


@check("the names of categories do not matter")
def _categories(learned: Learned) -> None:
    tables = learned.case.X, learned.case.new
    texts = [name for name in tables[0].column_names if pa.types.is_string(tables[0].schema.field(name).type)]
    for name in texts:
        known = sorted({value for table in tables for value in table[name].to_pylist()} - {None}, reverse=True)
        renamed = {None: None} | {value: f"{number:05d}" for number, value in enumerate(known)}
        tables = tuple(_mapped(table, name, renamed) for table in tables)
    same(learned.fit(tables[0]).predict_proba(tables[1]), learned.proba)


@check("batches add up to the whole")
def _batches(learned: Learned) -> None:
    """Where that is promised: bins, parents of KDB and the choices of evidence are those of the first batch.

    Leave-one-out weights are found by iteration, from another start.
    """
    model, rows = learned.model, len(learned.case.y)
    if isinstance(model, (KDB, EvidenceClassifier)):
        return
    weight, batches = learned.weight, learned.case.make(bin_edges=dict(model.bin_edges_))
    for part in np.array_split(np.arange(rows), min(3, rows)):
        own = None if weight is None else weight[part]
        labels = learned.case.y.take(pa.array(part)).to_pylist()
        batches.partial_fit(learned.case.X.take(part), labels, sample_weight=own)
    if [*batches.bin_edges_] == [*model.bin_edges_]:
        same(batches.predict_proba(learned.case.new), learned.proba, 1e-6 if model.weighting == "loo" else TOLERANCE)


def _halves(learned: Learned) -> list[tuple[pa.Table, list[Any], Any]]:
    """The rows in two parts, each with its labels and weights."""
    weight, rows = learned.weight, len(learned.case.y)
    parts = np.split(np.arange(rows), [rows // 2])
    labels = [learned.case.y.take(pa.array(part)).to_pylist() for part in parts]
    weights = [None if weight is None else weight[part] for part in parts]
    return [(learned.case.X.take(part), *own) for part, *own in zip(parts, labels, weights, strict=True)]


@check("rows that are taken back leave nothing")
def _forgotten(learned: Learned) -> None:
    """Leave-one-out weights are found by iteration, from another start."""
    first, second = _halves(learned)
    if not first[1]:
        return
    model = learned.case.make()
    before = model.partial_fit(*first[:2], sample_weight=first[2]).predict_proba(learned.case.new)
    model.partial_fit(*second[:2], sample_weight=second[2]).forget(*second)
    iterated = getattr(model, "weighting", None) == "loo"
    same(model.predict_proba(learned.case.new), before, 1e-5 if iterated else TOLERANCE)


@check("rows that fade count less")
def _faded(learned: Learned) -> None:
    """As much as if they had been given so; bins, parents of KDB and the choices of evidence are of the first batch."""
    first, second = _halves(learned)
    if not first[1] or isinstance(learned.model, (KDB, EvidenceClassifier)) or learned.model.weighting == "loo":
        return
    edges = dict(learned.model.bin_edges_)
    model = learned.case.make(bin_edges=edges).partial_fit(*first[:2], sample_weight=first[2])
    model.partial_fit(*second[:2], sample_weight=second[2], decay=0.5)
    counted = np.ones(len(learned.case.y)) if learned.weight is None else learned.weight.copy()
    counted[: len(first[1])] *= 0.5
    whole = learned.case.make(bin_edges=edges).fit(learned.case.X, learned.case.y.to_pylist(), counted)
    if [*model.bin_edges_] == [*whole.bin_edges_]:
        same(model.predict_proba(learned.case.new), whole.predict_proba(learned.case.new))


@check("counts are an Arrow table")
def _counts(learned: Learned) -> None:
    """Leave-one-out weights are learned from rows, which counts do not have."""
    counts = learned.model.counts_
    more = {"weighting": None} if getattr(learned.model, "weighting", None) == "loo" else {}
    there = learned.case.make(**more).fit_counts(counts)
    back = learned.case.make(**more).fit_counts(Counts.from_arrow(counts.to_arrow()))
    assert_array_equal(back.predict_proba(learned.case.new), there.predict_proba(learned.case.new))


@check("rows have not drifted from themselves")
def _drift(learned: Learned) -> None:
    itself, new = (learned.model.drift(table) for table in (learned.case.X, learned.case.new))
    if learned.case.weight is None:
        same(itself.columns["distance"][:-1], 0.0)  # the last is of predicted classes
        assert not itself.drifted
    distance = np.array(new.columns["distance"], dtype=float)
    assert ((distance >= 0) & (distance <= 1 + TOLERANCE)).all()
    assert str(new)


def _pandas(table: pa.Table) -> Any:
    """As people have it where that holds the same values, and else with the types of Arrow."""
    integers = any(column.null_count and pa.types.is_integer(column.type) for column in table.columns)
    return table.to_pandas(types_mapper=pd.ArrowDtype if integers else None)


@check("pandas and Polars say what Arrow says")
def _libraries(learned: Learned) -> None:
    for library in (_pandas, pl.from_arrow):
        there = learned.fit(library(learned.case.X))
        for model in (there, learned.model):
            same(model.predict_proba(library(learned.case.new)), learned.proba)
        same(there.predict_proba(learned.case.new), learned.proba)


def _engines(learned: Learned) -> Iterator[Callable[[pa.Table], Any]]:
    yield lambda table: pl.from_arrow(table).lazy()
    if not learned.names_clash:
        yield lambda table: database().from_arrow(table)
        yield lambda table: _in_types_of_duckdb(learned, database().from_arrow(table))


# Kinds of columns for which DuckDB has types of its own.
_DUCKDB = {"wide integers": "HUGEINT", "universal identifiers": "UUID"}


def _in_types_of_duckdb(learned: Learned, relation: Any) -> Any:
    kinds = dict(zip(learned.case.X.column_names, learned.case.kinds, strict=True))
    names = {name: '"' + name.replace('"', '""') + '"' for name in relation.columns}
    types = {name: _DUCKDB[kinds[name]] for name in names if kinds.get(name) in _DUCKDB}
    made = [f"CAST({own} AS {types[name]}) AS {own}" if name in types else own for name, own in names.items()]
    return relation.project(", ".join(made))


def database() -> Any:
    """A database whose session is in UTC."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@check("engines learn the same")
def _engines_learn(learned: Learned) -> None:
    for engine in _engines(learned):
        same(learned.fit_lazily(engine(learned.labelled)).predict_proba(learned.case.new), learned.proba)


@check("engines score the same")
def _engines_score(learned: Learned) -> None:
    numbered = learned.case.new.append_column("the row", pa.array(range(learned.case.new.num_rows)))
    names = [f"proba_{label}" for label in learned.model.classes_.tolist()]
    for engine in _engines(learned):
        table = engine(numbered.select(numbered.column_names[::-1]))  # engines know columns by name
        scored = nw.from_native(learned.model.predict_proba(table)).collect().sort("the row")
        same(np.column_stack([scored[name].to_numpy() for name in names]), learned.proba)


@check("SQL says the same")
def _sql(learned: Learned) -> None:
    """Durations come as numbers of microseconds, as the documentation asks for; a gap among floats may be NaN."""
    if learned.names_clash:
        return
    table = learned.case.new.append_column("the row", pa.array(range(learned.case.new.num_rows)))
    for place, column in enumerate(table.columns):
        if pa.types.is_floating(column.type) and learned.case.seed % 2:
            table = table.set_column(place, table.column_names[place], column.fill_null(float("nan")))
        if pa.types.is_duration(column.type):
            table = table.set_column(place, table.column_names[place], column.cast(pa.int64()))
    connection = database()
    connection.register("the table", table)
    connection.execute('CREATE TABLE "rows" AS SELECT * FROM "the table"')
    scored = connection.execute(to_sql(learned.model)).to_arrow_table().sort_by("the row")
    made = scored.columns[len(table.column_names) :]
    same(np.column_stack([column.to_numpy() for column in made[1:]]), learned.proba)
    assert made[0].to_pylist() == learned.model.predict(learned.case.new).tolist()


@check("ONNX says the same")
def _onnx(learned: Learned) -> None:
    session = onnxruntime.InferenceSession(to_onnx(learned.model).SerializeToString())
    _, proba = session.run(None, onnx_inputs(learned.model, learned.case.new))
    same(proba, learned.proba)


@check("a file holds all")
def _file(learned: Learned) -> None:
    path = learned.folder / "model.skops"
    save(learned.model, path)
    loaded = load(path)
    assert repr(loaded) == repr(learned.model)
    assert_array_equal(loaded.predict_proba(learned.case.new), learned.proba)


# What an array in a file never has, or not there.
_ODD = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308)


@check("an altered file is refused or is a model")
def _altered_file(learned: Learned) -> None:
    """One number is another, in a file that is whole otherwise; what is refused is well."""
    rng = np.random.default_rng(learned.case.seed)
    content = document.of_model(learned.model)
    arrays = {name: array for name, array in content["arrays"].items() if array.size and array.dtype.kind == "f"}
    name = sorted(arrays)[rng.integers(len(arrays))] if arrays else None
    if name is None:
        return
    altered = arrays[name].copy()
    altered.ravel()[rng.integers(altered.size)] = _ODD[rng.integers(len(_ODD))]
    path = learned.folder / "altered.skops"
    skops.io.dump(content | {"arrays": content["arrays"] | {name: altered}}, path)
    proba = load(path).predict_proba(learned.case.new)
    assert np.isfinite(proba).all(), name
    assert_allclose(proba.sum(axis=1), 1, err_msg=name)


def run(*arguments: Any) -> str:
    """What a command prints, which ends well or with an error meant for people."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code in (0, 1, 2), result
    assert "should not happen" not in result.stderr, result.stderr
    assert "Traceback" not in result.stderr, result.stderr
    if result.exit_code:
        raise HebnbError(result.stderr)
    return result.stdout


def _write(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".csv":
        table.to_pandas(types_mapper=pd.ArrowDtype).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    return path


def _by_commands(learned: Learned, model: Path, new: pa.Table, ending: str) -> Any:
    """The probabilities of rows in a file, of which every row and column comes out again as it was."""
    path, scored = _write(new, learned.files / f"new{ending}"), learned.files / f"scored{ending}"
    run("predict", model, path, "-o", scored, "--overwrite")
    header, *found = _rows_of(scored)
    names, *given = _rows_of(path)
    width = len(names)
    assert len(found) == new.num_rows
    if not learned.names_clash:
        as_written = _inert if ending == ".csv" else lambda value: value
        assert header[:width] == list(map(as_written, names))
        kept = [n for n, kind in enumerate(learned.case.kinds) if kind != "durations"]
        for was, is_now in zip(given, found, strict=True):
            assert_equal([is_now[n] for n in kept], [as_written(was[n]) for n in kept])
    proba = np.array([row[width + 1 :] for row in found], dtype=float)
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    return proba


def _inert(text: str) -> str:
    """Text in CSV: what would be a formula has an apostrophe before it; numbers and dashes for gaps are none."""
    is_harmless = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?| *--? *", text)
    return f"'{text}" if text[:1] and text[0] in "=+-@\t\r\n" and not is_harmless else text


def _rows_of(path: Path) -> list[list[Any]]:
    """The names and the rows of a file, read without hebnb and without DuckDB."""
    if path.suffix == ".parquet":
        table = pq.ParquetFile(path).read()
        return [table.column_names, *(list(row.values()) for row in table.to_pylist())]
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return [list(rows[0]), *(list(row.values()) for row in rows)]


@check("commands predict every row", every=3)
def _commands(learned: Learned) -> None:
    """A row means the same in whichever file it is; and what Parquet gives is what memory gives.

    Parquet has no durations: DuckDB reads them as integers.
    """
    turn = learned.case.seed // 3
    method, ending = list(METHODS)[turn % len(METHODS)], [".csv", ".parquet", ".jsonl"][turn // len(METHODS) % 3]
    model, new = learned.files / "command.skops", learned.case.new
    rows = _write(learned.labelled, learned.files / f"learned{ending}")
    weight = ["--weight", "the weight"] if learned.case.weight is not None else []
    fit = ["fit", "--target", "the label", "-m", method, *weight, "--json", "--overwrite", "-o", model]
    assert json.loads(run(*fit, rows))["rows"] == len(learned.case.y)
    proba = _by_commands(learned, model, new, ending)
    if ending == ".parquet" and not learned.names_clash and "durations" not in learned.case.kinds:
        here = METHODS[method].model().fit(learned.case.X, learned.case.y.to_pylist(), learned.weight)
        same(proba, here.predict_proba(new))
    first = [_by_commands(learned, model, part, ending) for part in (new.slice(0, 3), new.slice(3))]
    same(np.concatenate(first), proba)
    middle = len(learned.case.y) // 2
    if middle:
        for number, part in enumerate((learned.labelled.slice(0, middle), learned.labelled.slice(middle))):
            _write(part, learned.files / f"part-{number}{ending}")
        run(*fit, f"{glob.escape(str(learned.files))}/part-*{ending}")
        same(_by_commands(learned, model, new, ending), proba)


@check("a page is made", every=25)
def _page(learned: Learned) -> None:
    rows, page = _write(learned.labelled, learned.files / "page.parquet"), learned.files / "page.html"
    run("report", rows, "--target", "the label", "--folds", 2, "-o", page, "--overwrite")
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


def spoiled(learned: Learned) -> Iterator[Callable[[], Any]]:
    """What no model can do."""
    X, y, rows = learned.case.X, learned.case.y.to_pylist(), len(learned.case.y)
    make, name = learned.case.make, learned.case.X.column_names[0]
    yield lambda: make().fit(X, y[:-1])
    yield lambda: make().fit(X, [None] * rows)
    yield lambda: make().fit(X.slice(0, 0), [])
    yield lambda: make().fit(X.select([]), y)
    yield lambda: make().fit(X, y, [-1.0] * rows)
    yield lambda: make().fit(X, y, [float("nan")] * rows)
    yield lambda: make().fit(X, y, [0.0] * rows)
    yield lambda: make().fit(pa.table({"nested": [[1]] * rows}), y)
    yield lambda: make(missing="sometimes").fit(X, y)
    yield lambda: make(missing="error").fit(pa.table({"gaps": pa.nulls(rows, pa.string())}), y)
    yield lambda: learned.model.predict_proba(learned.case.new.drop([name]))
    yield lambda: learned.model.predict_proba(learned.case.new.rename_columns(["?", *X.column_names[1:]]))
    yield lambda: learned.model.predict_proba(learned.case.new.slice(0, 0))
    yield lambda: learned.model.predict_proba(pl.from_arrow(learned.case.new).lazy().drop(name))


@check("nonsense is refused")
def _nonsense(learned: Learned) -> None:
    for number, ask in enumerate(spoiled(learned)):
        assert_refused(ask, f"nonsense number {number}")
