"""The recipes of docs/architecture.md: a toy of every axis, added as the page says, works everywhere at once."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from hebnb import HEB, KDB, NaiveBayes, Smoother, load, save
from hebnb.columns.kinds import KINDS, Bins
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.engines.backends import BACKENDS
from hebnb.engines.backends.polars import Polars
from hebnb.engines.counting import count_pairs
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.structure import Structure
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.export.sql.dialect import DIALECTS
from hebnb.methods import METHODS, Method, method
from hebnb.page.choices import Choices
from hebnb.page.explorer import explorer_data
from hebnb.scores.build import family_tables
from hebnb.scores.combination import Combination
from hebnb.smoothing.priors import PRIOR_MEANS
from hebnb.smoothing.smoothers import SMOOTHERS
from hebnb.structures import CLASSIFIERS
from hebnb.weighting import WEIGHTINGS
from models import strange_rows, table

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


def check_everywhere(model):
    """What a model says is the same in memory, explained, saved, lazily, in SQL, in ONNX; the page can hold it."""
    X, y = table(120)
    X = X.drop(columns="flag").assign(text=X["text"].where(X["text"].notna(), "gap"))
    model.fit(X, y)
    rows = strange_rows(X.assign(flag=True)).drop(columns="flag").astype({"text": str})
    proba = model.predict_proba(rows)
    assert_allclose(proba.sum(axis=1), 1)
    explained = model.explain(rows).groupby(["row", "class"])["contribution"].sum().unstack().to_numpy()
    assert_allclose(explained, model.predict_joint_log_proba(rows), atol=1e-10)
    assert model.loo_predict_proba(X, y).shape == (120, 3)
    frame = rows.astype({"number": "Int64", "cut": float})
    sql = duckdb.connect().sql(to_sql(model, table="frame")).df()
    ours = pd.DataFrame(model.predict_proba(frame), columns=[f"proba_{label}" for label in model.classes_])
    key = ["proba_x", "proba_y"]
    assert_allclose(sql[key].sort_values(key), ours[key].sort_values(key), atol=1e-9)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert_allclose(session.run(None, onnx_inputs(model, frame))[1], ours, atol=1e-9)
    lazily = model.predict_proba(pl.from_pandas(frame).lazy()).collect()
    assert_allclose(lazily.select(ours.columns.tolist()).to_numpy(), ours, atol=1e-9)
    explorer_data(model.score_tables_, Choices.of(model.score_tables_), [str(label) for label in model.classes_])


@dataclass(frozen=True)
class Chain(Structure):
    """Every feature depends on the class and on the column before it."""

    counts_type: ClassVar[type[Counts]] = PairCounts

    def count(self, rows: EncodedRows, known):
        return PairCounts.of_rows(Counts.of(rows), rows, Caps(None, None))

    def count_lazily(self, table, single):
        return count_pairs(table, single, Caps(None, None))

    def tables(self, counts, rule):
        parents = tuple((f - 1,) if f else () for f in range(len(counts.tables)))
        return family_tables(counts, counts, parents, rule), None


class ChainClassifier(CategoricalClassifier):
    _STRUCTURE: ClassVar[type[Structure]] = Chain

    def __init__(
        self, smoothing="heb-m", *, weighting=None, categorical_features="auto", numeric_features=None, n_bins=10,
        bin_edges=None, missing="category", max_categories=None, random_state=0,
    ):  # fmt: skip
        self.smoothing, self.weighting, self.max_categories = smoothing, weighting, max_categories
        self.categorical_features, self.numeric_features = categorical_features, numeric_features
        self.n_bins, self.bin_edges, self.missing, self.random_state = n_bins, bin_edges, missing, random_state

    def _structure(self):
        return Chain()


@pytest.mark.parametrize("weighting", [None, "sqrt-mi", "loo"])
@pytest.mark.parametrize("smoothing", ["heb-m", "laplace"])
def test_a_structure(smoothing, weighting, tmp_path, monkeypatch):
    monkeypatch.setitem(CLASSIFIERS, "ChainClassifier", ChainClassifier)
    model = ChainClassifier(smoothing, weighting=weighting)
    check_everywhere(model)
    save(model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert type(loaded) is ChainClassifier
    X, _ = table(60)
    rows = X.drop(columns="flag")
    assert_allclose(loaded.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=0)


@dataclass(frozen=True, eq=False)
class Signs(Bins):
    """Numbers that are negative, zero or less, or positive."""

    name: ClassVar[str] = "signs"

    @classmethod
    def claims(cls, column, reading):
        return column.name == "cut"

    @classmethod
    def learn(cls, column, reading, weights=None, labels=None):
        return cls(np.array([0.0]), bool(np.isnan(column.numbers).any()))

    @classmethod
    def expected(cls, columns, reading, edges):
        return [cls(np.array([0.0]), missing=False) for _ in columns]


@pytest.fixture
def signs():
    KINDS.insert(0, Signs)
    yield
    KINDS.remove(Signs)


@pytest.mark.parametrize("model", [NaiveBayes(), KDB(weighting="loo")], ids=repr)
@pytest.mark.usefixtures("signs")
def test_a_column_kind(model, tmp_path):
    check_everywhere(model)
    place = model.feature_names_in_.tolist().index("cut")
    assert model.categories_[place].tolist() == ["≤ 0", "> 0", None]
    save(model, tmp_path / "model.skops")
    assert type(load(tmp_path / "model.skops").counts_.vocabulary.features[place]) is Signs


class Halfway:
    """Between equal probabilities and the frequencies of all classes together."""

    backs_off: ClassVar[bool] = True

    def of_value(self, marginal, total, size):
        return 0.5 * marginal / np.maximum(total, 1) + 0.5 / np.maximum(size, 1)


@pytest.mark.parametrize("model", [NaiveBayes, KDB], ids=lambda kind: kind.__name__)
def test_a_prior_mean(model, monkeypatch):
    monkeypatch.setitem(PRIOR_MEANS, "halfway", Halfway())
    check_everywhere(model(smoothing=HEB(prior_mean="halfway")))


class Perks(Smoother):
    """One imaginary row a feature, spread over its categories."""

    prior_mean = "uniform"

    def concentration(self, sizes, largest, evidence):
        return np.ones_like(sizes)


def test_a_smoother(monkeypatch):
    monkeypatch.setitem(SMOOTHERS, "perks", Perks)
    check_everywhere(NaiveBayes("perks"))
    assert (NaiveBayes("perks").fit([["a"], ["b"]], [0, 1]).concentration_ == 1).all()


class Halved:
    """Every table counts half."""

    needs_rows: ClassVar[bool] = False
    weighs_estimates: ClassVar[bool] = False

    def combination(self, model, sample, start):
        return Combination(np.zeros(model.n_classes), np.full(len(model.tables), 0.5))


def test_a_weighting(monkeypatch):
    monkeypatch.setitem(WEIGHTINGS, "halved", Halved())
    model = NaiveBayes(weighting="halved")
    check_everywhere(model)
    assert (model.feature_weights_ == 0.5).all()


class Counting(Polars):
    """Polars, with a count of the queries that it runs."""

    queries = 0

    def collect(self, queries, notes):
        self.queries += len(queries)
        return super().collect(queries, notes)


def test_an_engine(monkeypatch):
    engine = Counting()
    monkeypatch.setitem(BACKENDS, "POLARS", engine)
    X, y = table(60)
    frame = pl.from_pandas(X.assign(y=y)).lazy()
    model = NaiveBayes().fit(frame, "y")
    assert engine.queries
    assert_allclose(model.predict_proba(frame).collect()["proba_x"], model.predict_proba(frame.collect()[:, :-1])[:, 0])


class Dictionary:
    """Codes of a value, computed in plain Python from what a kind says of itself: an export in miniature."""

    def __init__(self, value):
        self.value = value

    def lookup(self, values, gap):
        if self.value is None or self.value != self.value:
            return len(values) if gap is None else gap
        found = {value: code for code, value in enumerate(values.tolist())}
        return found.get(self.value, len(values) + (gap is not None))

    def staircase(self, edges, of_times, gap):
        if self.value is None or np.isnan(self.value):
            return len(edges) + 1 if gap is None else gap
        return sum(self.value > edge for edge in edges)


@pytest.mark.parametrize("model", [NaiveBayes(weighting="loo"), KDB()], ids=repr)
def test_an_export(model):
    X, y = table(120)
    tables = model.fit(X, y).score_tables_
    for row in range(10):
        values = X.iloc[row].tolist()
        features = tables.counts.vocabulary.features
        codes = [np.array([f.computed_by(Dictionary(v))]) for f, v in zip(features, values, strict=True)]
        weights = tables.combination.table_weights
        score = tables.start + sum(w * t.scores(codes)[0] for w, t in zip(weights, tables.tables, strict=True))
        assert_allclose(score, model.predict_joint_log_proba(X.iloc[[row]])[0])


def test_a_dialect_of_sql(monkeypatch):
    monkeypatch.setitem(DIALECTS, "quack", DIALECTS["duckdb"])
    model = NaiveBayes().fit([["a"], ["b"]], [0, 1])
    assert to_sql(model, "quack") == to_sql(model, "duckdb")


def test_a_method(monkeypatch):
    toy = Method("HEB-U+loo", "NaiveBayes", {"smoothing": "heb-u", "weighting": "loo"}, "a toy")
    monkeypatch.setitem(METHODS, "HEB-U+loo", toy)
    assert method("heb-u+LOO").model().get_params()["smoothing"] == "heb-u"


def test_the_page_has_a_recipe_for_every_axis_of_at_most_ten_lines():
    text = PAGE.read_text()
    recipes = re.findall(r"^### A[n]? ([^\n]+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    names = {name for name, _ in recipes}
    here = {name.removeprefix("test_a_").removeprefix("test_an_").replace("_", " ") for name in globals()
            if name.startswith(("test_a_", "test_an_"))}  # fmt: skip
    assert here == {name.lower() for name in names}
    for name, recipe in recipes:
        assert len(recipe.strip().split("\n")) <= 10, name
