"""One list of all models, and the laws that hold for every one of them, whatever its structure."""

import secrets
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from conftest import FRESH
from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes, load, save
from hebnb.columns.table import read
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import FamilyCells, FamilyCounts
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.making import tables as evidence_tables
from hebnb.evidence.tables import EvidenceModel
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.scores.build import family_tables, levels, mixture_tables
from hebnb.smoothing.posterior import class_log_prior
from hebnb.smoothing.smoothers import SMOOTHERS
from hebnb.structures import CLASSIFIERS
from hebnb.weighting import WEIGHTINGS

pd = pytest.importorskip("pandas")

STRUCTURES = {
    "NaiveBayes": NaiveBayes,
    "AODE": AODE,
    "TAN": TAN,
    "KDB(1)": partial(KDB, 1),
    "KDB(2)": partial(KDB, 2),
    "HNB": HNB,
}
# Every structure, smoother and weighting; every other model ignores gaps.
MODELS = [
    (name, partial(make, smoothing=smoothing, weighting=weighting))
    for name, make in STRUCTURES.items()
    for smoothing in SMOOTHERS
    for weighting, rule in WEIGHTINGS.items()
    if rule.weighs_estimates or not make()._STRUCTURE.has_estimates
]
MODELS = [
    (
        f"{name} {make.keywords['smoothing']} {make.keywords['weighting']} {missing}",
        partial(make, missing=missing, n_bins=4),
    )
    for (name, make), missing in zip(MODELS, cycle(["category", "ignore"]))
]
# Those that other programs run, to which numbers are numbers, however they were learned.
ELSEWHERE = [(name, make) for name, make in MODELS if make.keywords["smoothing"] in ("heb-m", "kt")]
# Evidence learns its smoothing and its weights together.
EVIDENCE = [
    ("Evidence category", partial(EvidenceClassifier, missing="category")),
    ("Evidence ignore", partial(EvidenceClassifier, missing="ignore")),
    ("Evidence of columns", partial(EvidenceClassifier, max_crosses=0)),
]
MODELS, ELSEWHERE = MODELS + EVIDENCE, ELSEWHERE + EVIDENCE
TOLERANCE = 1e-9


def table(seed, rows=60):
    """Text with gaps, integers, flags, and numbers with gaps to be cut; neighbours depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=rows)
    first = np.where(rng.random(rows) < 0.5, y, rng.integers(5, size=rows))
    second = np.where(rng.random(rows) < 0.5, (first + y) % 4, rng.integers(4, size=rows))
    X = pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.15, None, np.array(list("abcde"), dtype=object)[first]),
            "code": second,
            "flag": (first + rng.integers(3, size=rows)) % 2 == 0,
            "size": np.where(rng.random(rows) < 0.15, np.nan, rng.normal(second)),
        }
    )
    return X, np.array(["x", "y", "z"], dtype=object)[y]


def with_strangers(X):
    """The first rows, with values that were never seen, and with nothing but gaps."""
    rows = X.head(20).copy()
    rows.loc[0, ["text", "code"]] = ["never", 99]
    rows.loc[1, "code"] = -1
    rows.loc[2, "size"] = 1e9
    rows.loc[3, ["text", "size"]] = [None, np.nan]
    rows.loc[4, ["text", "code", "size"]] = ["never", 99, -1e9]
    return rows


@dataclass
class Case:
    """A model of a table, and what it says of new rows."""

    seed: int
    make: Any
    X: Any
    y: Any
    model: Any
    new: Any
    proba: Any


def case_of(name, make):
    seed = sum(map(ord, name)) + (secrets.randbelow(1_000_000) if FRESH else 0)
    X, y = table(seed)
    model, new = make().fit(X, y), with_strangers(X)
    return Case(seed, make, X, y, model, new, model.predict_proba(new))


@pytest.fixture(scope="module", params=MODELS, ids=[name for name, _ in MODELS])
def case(request):
    return case_of(*request.param)


@pytest.fixture(scope="module", params=ELSEWHERE, ids=[name for name, _ in ELSEWHERE])
def exported(request):
    return case_of(*request.param)


def test_the_list_is_complete():
    makes = [*STRUCTURES.values(), *(make for _, make in EVIDENCE)]
    assert {type(make()).__name__ for make in makes} == {*CLASSIFIERS}
    assert len(MODELS) == 7 * (3 + 2 + 3 + 3 + 3 + 3) + len(EVIDENCE)


def test_probabilities_are_probabilities(case):
    assert np.isfinite(case.proba).all()
    assert (case.proba >= 0).all()
    assert_allclose(case.proba.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(np.exp(case.model.predict_log_proba(case.new)), case.proba, atol=1e-12)


def test_the_prediction_is_the_most_probable_class(case):
    best = case.model.classes_[case.proba.argmax(axis=1)]
    clear = np.diff(np.sort(case.proba, axis=1)[:, -2:])[:, 0] > 1e-9
    assert_array_equal(case.model.predict(case.new)[clear], best[clear])
    assert set(case.model.predict(case.new)) <= set(case.model.classes_)


def test_the_order_of_rows_does_not_matter(case):
    order = np.random.default_rng(0).permutation(len(case.y))
    shuffled = case.make().fit(case.X.iloc[order], case.y[order])
    assert_allclose(shuffled.predict_proba(case.new), case.proba, atol=TOLERANCE)
    backwards = case.model.predict_proba(case.new[::-1])
    assert_allclose(backwards[::-1], case.proba, atol=1e-14)


def test_the_names_of_categories_do_not_matter(case):
    """In reverse order, and numbers as anything that keeps their order."""

    def renamed(X):
        texts = [f"{255 - ord(text[0])}{text}" if isinstance(text, str) else None for text in X["text"]]
        columns = {"text": np.array(texts, dtype=object), "code": 100 - X["code"], "flag": ~X["flag"]}
        return pd.DataFrame(columns | {"size": np.arctan(X["size"]) * 1000})

    other = case.make().fit(renamed(case.X), case.y)
    assert_allclose(other.predict_proba(renamed(case.new)), case.proba, atol=TOLERANCE)


def test_the_names_of_columns_do_not_matter(case):
    names = dict(zip(case.X.columns, ["d", "c", "b", "a"], strict=True))
    other = case.make().fit(case.X.rename(columns=names), case.y)
    assert_array_equal(other.predict_proba(case.new.rename(columns=names)), case.proba)


def test_the_names_of_classes_do_not_matter(case):
    names = {"x": "third", "y": "a first", "z": "second"}
    other = case.make().fit(case.X, np.array([names[label] for label in case.y], dtype=object))
    places = [other.classes_.tolist().index(names[label]) for label in case.model.classes_]
    assert_allclose(other.predict_proba(case.new)[:, places], case.proba, atol=TOLERANCE)


def test_a_weight_of_two_is_every_row_twice(case):
    weighted = case.make().fit(case.X, case.y, sample_weight=np.full(len(case.y), 2.0))
    doubled = case.make().fit(pd.concat([case.X, case.X]), np.concatenate([case.y, case.y]))
    assert_allclose(doubled.predict_proba(case.new), weighted.predict_proba(case.new), atol=TOLERANCE)


def test_an_explanation_sums_to_the_score(case):
    explained = case.model.explain(case.new)
    sums = explained.groupby(["row", "class"], sort=True)["contribution"].sum().unstack().to_numpy()
    assert_allclose(sums, case.model.predict_joint_log_proba(case.new), rtol=0, atol=1e-10)
    assert explained["shrinkage"].dropna().between(0, 1).all()


def test_a_file_holds_all(case, tmp_path):
    save(case.model, tmp_path / "model.skops")
    loaded = load(tmp_path / "model.skops")
    assert repr(loaded) == repr(case.model)
    assert_allclose(loaded.predict_proba(case.new), case.proba, atol=1e-14)
    assert_allclose(loaded.loo_predict_proba(case.X, case.y), case.model.loo_predict_proba(case.X, case.y), atol=1e-12)


def test_left_out_rows_have_probabilities(case):
    proba = case.model.loo_predict_proba(case.X, case.y)
    assert np.isfinite(proba).all()
    assert_allclose(proba.sum(axis=1), 1)


def test_left_out_rows_are_seen_as_by_a_model_without_them(case):
    """Counted anew without the row, with the same parents, concentrations and weights."""
    scores = case.model.score_tables_
    if len(scores.parents) or scores.rule.prior_mean != "marginal":
        return  # estimates have a test of their own; equal means are those of a vocabulary that would change too
    codes = scores.counts.vocabulary.encode(read(case.X))
    labels = scores.counts.classes.codes_of(case.y)
    parents = tuple(table.columns[1:] for table in scores.tables)

    def tables_of(rows):
        if isinstance(scores.counts, EvidenceCounts):
            counts = EvidenceCounts.of_rows(rows, scores.counts.choice)
            return counts, evidence_tables(EvidenceModel(counts))
        if isinstance(case.model, HNB):
            pairs = PairCounts.of_rows(Counts.of(rows), rows, Caps(None, None))
            weights = case.model.parent_weights_
            return pairs, mixture_tables(pairs, pairs, weights, scores.rule, levels(scores.tables))
        cells = [FamilyCells.of_rows(f, own, rows) for f, own in enumerate(parents) if own]
        counts = FamilyCounts.of_families(Counts.of(rows), parents, cells)
        return counts, family_tables(counts, counts, parents, scores.rule, levels(scores.tables))

    found = case.model.loo_predict_proba(case.X, case.y)
    for row in range(0, len(labels), 4):
        rest = np.arange(len(labels)) != row
        rows = EncodedRows(scores.counts.vocabulary, scores.counts.classes, [own[rest] for own in codes], labels[rest])
        counts, tables = tables_of(rows)
        joint = class_log_prior(counts.class_count) + scores.combination.offsets
        for table, weight in zip(tables, scores.combination.table_weights, strict=True):
            joint = joint + weight * table.scores([own[[row]] for own in codes])[0]
        assert_allclose(found[row], softmax(joint), atol=1e-10)


def test_parents_that_were_never_known_together():
    """Any two of the columns meet, and no row has all three: with two parents there is not one cell."""
    rows = [["a", "b", None], ["a", None, "c"], [None, "b", "c"], ["A", "B", None], ["A", None, "C"], [None, "B", "C"]]
    X, y = np.array(rows * 6, dtype=object), np.array([0, 0, 0, 1, 1, 1] + [0, 1, 0, 1, 0, 1] + [0, 0, 1, 1, 0, 1] * 4)
    model = KDB(2, missing="ignore").fit(X, y)
    assert max(map(len, model.parents_)) == 2
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_allclose(model.loo_predict_proba(X, y).sum(axis=1), 1)


@pytest.mark.parametrize("make", [TAN, KDB])
def test_what_is_independent_given_the_class_has_no_parent(make):
    """Every combination of values, equally often: whether there is a parent must not depend on rounding."""
    X = np.array([[a, b] for a in range(2) for b in range(2)] * 7)
    for values in (X, X[:, ::-1], 1 - X, np.repeat(X, 3, axis=0)):
        assert make().fit(values, np.zeros(len(values), dtype=int)).parents_ == [(), ()]


def test_a_query_says_the_same(exported):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = exported.new.assign(number=np.arange(len(exported.new)))  # noqa: F841
    connection.execute('CREATE TABLE "rows" AS SELECT * FROM rows')
    found = connection.execute(to_sql(exported.model)).df().sort_values("number")
    names = [f"proba_{label}" for label in exported.model.classes_]
    assert_allclose(found[names].to_numpy(), exported.proba, atol=TOLERANCE)
    assert_array_equal(found["prediction"], exported.model.predict(exported.new))


def test_a_graph_says_the_same(exported):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(exported.model).SerializeToString())
    labels, proba = session.run(None, onnx_inputs(exported.model, exported.new))
    assert_allclose(proba, exported.proba, atol=TOLERANCE)
    assert_array_equal(labels, exported.model.predict(exported.new))


def on_polars(frame):
    return pytest.importorskip("polars").from_pandas(frame).lazy(), lambda lazy: lazy.collect().to_pandas()


def on_duckdb(frame):
    connection = pytest.importorskip("duckdb").connect()
    connection.register("frame", frame)
    return connection.sql("SELECT * FROM frame"), lambda relation: relation.df()


ENGINES = {"polars": on_polars, "duckdb": on_duckdb}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_says_the_same_of_its_rows(exported, engine):
    rows, collected = ENGINES[engine](exported.new.assign(number=np.arange(len(exported.new))))
    found = collected(exported.model.predict_proba(rows)).sort_values("number")
    names = [f"proba_{label}" for label in exported.model.classes_]
    assert_allclose(found[names].to_numpy(), exported.proba, atol=TOLERANCE)
    labels = collected(exported.model.predict(rows)).sort_values("number")["prediction"]
    assert_array_equal(labels, exported.model.predict(exported.new))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_counts_the_same_rows(exported, engine):
    edges = {"bin_edges": {"size": exported.model.bin_edges_["size"]}}  # engines have quantiles of their own
    if isinstance(exported.model, EvidenceClassifier):
        edges = {}  # trees are grown over a sample, which here is all rows
    rows, _ = ENGINES[engine](exported.X.assign(label=exported.y))
    lazily = exported.make(**edges).fit(rows, "label")
    assert_allclose(lazily.predict_proba(exported.new), exported.proba, atol=TOLERANCE)
