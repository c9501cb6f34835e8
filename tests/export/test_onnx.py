"""ONNX graphs against the models they were made of."""

import datetime as dt
import json
import sys
from decimal import Decimal
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import CategoricalNB

from conftest import examples, make_table
from hebnb import AODE, HEB, KDB, TAN, Additive, InputError, NaiveBayes, ParameterError
from hebnb.datasets import load_flights
from hebnb.export.onnx import model as export
from hebnb.export.onnx import scores as onnx_scores
from hebnb.export.onnx.model import onnx_inputs, to_onnx
from hebnb.scores.lookups import SparseLookup
from hebnb.scores.pair_tables import SparsePairTables

onnx, ort = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
pytestmark = pytest.mark.filterwarnings("ignore::hebnb.errors.UnseenWarning")  # such values are asked about here

HOSTILE = [
    "",
    " ",
    "<script>alert(1)</script>",
    "'; DROP TABLE flights; --",
    'double "quotes" and \\back\\slashes\\',
    "new\nline\r\nand\ttab",
    "right\u202eto\u200fleft",
    "🛫👩‍👩‍👧",
    "e\u0301",
    "\u00e9",
    "nul\0byte",
    "nul",
    "half a pair \ud83d",
    "{}[]%s",
    "NaN",
    "None",
    "<missing>",
    "<unseen>",
    "x" * 10_000,
    "x" * 9_999,
]
SMALLEST = -(2**63)
TOLERANCE = 1e-9


def session(graph):
    """A runtime for what is written to a file, which is valid and has nothing that is not needed."""
    onnx.checker.check_model(graph, full_check=True)
    used = {name for node in graph.graph.node for name in node.input} | {"label", "probabilities"}
    assert used >= {made.name for made in [*graph.graph.initializer, *graph.graph.node]}
    return ort.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


def by_hand(model, **feeds):
    """The probabilities for tensors made without ``onnx_inputs``."""
    return session(to_onnx(model)).run(["probabilities"], feeds)[0]


def assert_same(model, *tables):
    """The graph says of these rows what the model says."""
    runtime = session(to_onnx(model))
    for X in tables:
        labels, probabilities = runtime.run(None, onnx_inputs(model, X))
        expected = model.predict_proba(X)
        assert probabilities.dtype == np.float64
        assert_allclose(probabilities, expected, rtol=0, atol=TOLERANCE)
        best = model.predict(X)
        known = model.classes_.dtype.kind in "biuf"
        assert labels.tolist() == (best.tolist() if known else [export.texts_of([b], "")[0] for b in best.tolist()])


def mixed_columns(n_rows, seed, strange=()):
    """Columns of many kinds, with gaps; ``strange`` values are added to the choices of the first."""
    random = np.random.default_rng(seed)

    def chosen(*choices):
        return [choices[k] for k in random.integers(0, len(choices), n_rows)]

    return {
        "text": chosen("red", "green", "blue", None, *strange),
        "whole": chosen(3, 1, -7, 2**62, 8),
        "flag": chosen(True, False),
        "few": chosen(0.5, -0.25, 1e300, None),
        "many": [None if i % 11 == 3 else float(x) for i, x in enumerate(random.normal(size=n_rows))],
        "when": [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(m)) for m in random.integers(0, 10**6, n_rows)],
        "day": chosen(dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 29), dt.datetime(1969, 7, 20)),
    }


def strange_rows():
    """Rows of which some have only gaps or only values that were not seen."""
    columns = mixed_columns(40, 1, strange=("violet", ""))
    unseen = {"text": "RED", "whole": SMALLEST, "flag": True, "few": 0.75, "many": 1e9, "when": dt.datetime(1900, 1, 1)}
    for name, values in columns.items():
        values[:3] = [None if name in ("text", "few", "many") else values[0], unseen.get(name, values[1]), values[2]]
    return columns


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(2).choice(["a", "b", "c"], 300, p=[0.6, 0.3, 0.1])


MODELS = {
    **{f"nb {rule}": NaiveBayes(rule) for rule in ("heb-m", "heb-u", "laplace", "lidstone", "kt", "m-estimate", "te")},
    "nb solver": NaiveBayes(HEB(solver="minka")),
    "nb sqrt-mi": NaiveBayes(weighting="sqrt-mi"),
    "nb loo": NaiveBayes(weighting="loo"),
    "nb prior": NaiveBayes(class_prior=[0.2, 0.3, 0.5], weighting="loo"),
    "nb prior of zero": NaiveBayes(class_prior=[0.4, 0.0, 0.6]),
    "nb ignore": NaiveBayes(missing="ignore"),
    "nb capped": NaiveBayes(max_categories=2),
    "nb all categories": NaiveBayes(categorical_features="all"),
    "nb three bins": NaiveBayes(n_bins=3, numeric_features=["whole"]),
    "nb many bins": NaiveBayes(n_bins=100),
    "nb edges": NaiveBayes(bin_edges={"many": [0.0], "few": [-1.0, 0.5, 1e299]}),
    "aode": AODE(),
    "aode loo": AODE(weighting="loo"),
    "aode laplace": AODE(Additive(1.0), over_cap="skip"),
    "aode ignore": AODE(missing="ignore", weighting="loo"),
    "aode unconditioned": AODE(max_parent_categories=4),
    "aode unconditioned loo": AODE(max_parent_categories=4, weighting="loo"),
    "aode nothing conditioned": AODE(max_parent_categories=0),
    "aode skip": AODE(max_parent_categories=4, max_joint_cells=100, over_cap="skip"),
    "aode no parents": AODE(max_parent_categories=0, over_cap="skip"),
    "aode no parents loo": AODE(max_parent_categories=0, over_cap="skip", weighting="loo"),
    "aode rare parents": AODE(min_parent_count=60),
    "aode rare parents loo": AODE(min_parent_count=60, weighting="loo"),
    "aode parents never in effect": AODE(min_parent_count=1000),
    "tan": TAN(),
    "tan ignore loo": TAN(missing="ignore", weighting="loo"),
    "kdb": KDB(),
    "kdb laplace sqrt-mi": KDB(3, "laplace", weighting="sqrt-mi"),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_model_says_the_same_in_a_runtime(model, y):
    X = pd.DataFrame(mixed_columns(300, 0))
    model.fit(X, y)
    assert_same(model, X, X[:1], pd.DataFrame(strange_rows()))


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(weighting="loo")], ids=["nb", "aode"])
def test_every_table_makes_the_same_feeds(table, model, y):
    model.fit(table(mixed_columns(300, 0)), y)
    assert_same(model, table(mixed_columns(300, 0)), table(strange_rows()))


class Shade(str, Enum):  # noqa: UP042, text that does not print as itself, unlike a StrEnum
    dark = "a"
    light = "b"


KINDS = {
    "text": (["a", "b", None], ["b", "", "c", None, "A", "a ", 1, 1.5, True, ("a",)]),
    "text without gaps": (["a", "b"], ["b", "", None]),
    "empty text": (["", "b", None], ["", "b", "<missing>", "<unseen>", None, "c"]),
    "taken tokens": (["", "<missing>", "<missing>_", "<unseen>"], ["", "<missing>", None, "<unseen>", "<missing>__"]),
    "text of a class of its own": ([Shade.dark, Shade.light], ["a", Shade.light, "Shade.dark"]),
    "half a pair": (["\ud83d", "b"], ["\ud83d", "b", "\\ud83d", "\udfff"]),
    "integers": ([1, 2, None], [1, 2.0, True, 3, 2.5, "1", Decimal(1), None, 2**70, SMALLEST]),
    "smallest integers": ([SMALLEST, SMALLEST + 1, None], [SMALLEST, SMALLEST + 1, SMALLEST + 2, SMALLEST + 3, None]),
    "big integers": ([2**63, 2**70, None], [2**63, float(2**70), 2**71, 1, "9223372036854775808", None]),
    "booleans": ([True, False, None], [True, 1, 0.0, 2, "True", None]),
    "floats": ([0.1, 0.0, None], [0.1, -0.0, 0, 0.1 + 1e-17, 0.2, np.float32(0.1), False, "0.1", None]),
    "decimals": ([Decimal("0.1"), Decimal("0.5")], [Decimal("0.10"), 0.1, 0.5, Decimal("0.2"), None]),
    "dates": ([dt.date(2024, 1, 1), dt.date(2024, 1, 2), None], [dt.date(2024, 1, 2), dt.date(2025, 1, 1), None]),
    "durations": ([dt.timedelta(1), dt.timedelta(2)], [dt.timedelta(hours=24), dt.timedelta(3), None]),
    "mixed": ([1, "a", None, 2.5], [1.0, "a", "1", 2.5, "2.5", None, b"a"]),
    "tuples": ([("a", 1), ("a", 2)], [("a", 1.0), ("a",), "('a', 1)", None]),
    "only gaps": ([None, None], [None, "a", 1, ""]),
}


@pytest.mark.filterwarnings("ignore:.*every value is missing")
@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_category_means_what_it_means_to_the_model(kind, missing):
    trained, asked = KINDS[kind]
    X = make_table("numpy", {"x": [v for v in trained for _ in range(6)], "z": list("pqr" * 2) * len(trained)})
    y = [i % 4 > 0 for i in range(len(X))]
    # One at a time: beside others a value may be read as another type.
    rows = [make_table("numpy", {"x": [value], "z": ["p"]}) for value in [*trained, *asked]]
    for model in (NaiveBayes(missing=missing), AODE(missing=missing, weighting="loo")):
        assert_same(model.fit(X, y), X, *rows)


def test_numbers_at_the_edges_of_bins():
    X = np.linspace(0, 1, 41)[:, np.newaxis]
    model = NaiveBayes(n_bins=7).fit(X, X[:, 0] * 7 % 2 > 1)
    edges = model.bin_edges_[0]
    around = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), [-1e308, 1e308, np.nan]])
    assert_same(model, around[:, np.newaxis])
    assert_array_equal(
        by_hand(model, **{"0": np.array([-np.inf, np.inf])}), by_hand(model, **{"0": np.array([-1.0, 2.0])})
    )


@pytest.mark.parametrize("n_edges", [1, 2, 3, 4, 7, 8, 9, 1000])
def test_any_number_of_edges(n_edges):
    edges = np.arange(n_edges) + 0.5
    X = np.arange(n_edges + 1.0)[:, np.newaxis]
    model = NaiveBayes(bin_edges={0: edges}).fit(X, np.arange(n_edges + 1) % 3 == 0)
    assert_same(model, X, edges[:, np.newaxis])


def test_integers_beyond_int64_that_a_limit_took_away():
    X = np.array([1, 1, 2, 2, 2**64 - 1], dtype=np.uint64)[:, np.newaxis]
    model = NaiveBayes(max_categories=2).fit(X, [0, 0, 1, 1, 1])
    assert_same(model, X)
    assert onnx_inputs(model, X)["0"].dtype == np.int64
    assert onnx_inputs(NaiveBayes().fit(X, [0, 0, 1, 1, 1]), X)["0"].tolist()[-1] == "18446744073709551615"


@pytest.mark.parametrize("make", [NaiveBayes, lambda: AODE(weighting="loo")], ids=["nb", "aode"])
def test_hostile_categories_classes_and_columns(make):
    values = [*HOSTILE, None] * 3
    names = [name for name in HOSTILE if "\ud83d" not in name]  # pandas has no half pairs among names
    X = pd.DataFrame({name: values[k:] + values[:k] for k, name in enumerate(names)}, dtype=object)
    labels = (HOSTILE * 4)[: len(X)]
    model = make().fit(X, labels)
    asked = X.copy()
    asked.iloc[::2, 0] = "<b>never seen</b>"
    assert_same(model, X, asked)


def test_names_of_outputs_and_of_nodes_may_be_names_of_columns():
    names = ["label", "_label", "probabilities", "", "Gather_3", "constant_0", "__label"]
    X = pd.DataFrame({name: list("abcd" * 5)[k:][:12] for k, name in enumerate(names)})
    model = NaiveBayes().fit(X, [0, 1, 1] * 4)
    assert_same(model, X)
    assert list(onnx_inputs(model, X)) == [
        "___label",
        "_label",
        "_probabilities",
        "_",
        "Gather_3",
        "constant_0",
        "__label",
    ]


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["no", "yes"], "tensor(string)"),
        ([3, -1], "tensor(int64)"),
        ([False, True], "tensor(bool)"),
        ([0.0, 1.0], "tensor(double)"),
        ([2**64 - 1, 2**63], "tensor(uint64)"),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], "tensor(string)"),
        ([1, "b"], "tensor(string)"),
        (["only"], "tensor(string)"),
    ],
    ids=str,
)
def test_labels_have_the_type_of_the_classes(classes, kind):
    X = [["a"], ["b"]] * 5
    labels = np.array((classes * 10)[:10], dtype=np.uint64 if kind == "tensor(uint64)" else object)
    model = NaiveBayes().fit(X, labels)
    assert_same(model, X)
    assert session(to_onnx(model)).get_outputs()[0].type == kind


@pytest.mark.parametrize("make", [NaiveBayes, AODE, lambda: AODE(weighting="loo")], ids=["nb", "aode", "aode loo"])
def test_of_equal_classes_the_first(make):
    X = [["a", "a"], ["b", "b"], ["a", "b"], ["b", "a"]] * 2
    model = make().fit(X, ["y", "y", "y", "y", "x", "x", "x", "x"])
    labels, probabilities = session(to_onnx(model)).run(None, onnx_inputs(model, X))
    assert_allclose(probabilities, 0.5, atol=TOLERANCE)
    assert set(labels.tolist()) == {"x"}


def test_a_class_that_cannot_be():
    X = [["a"], ["b"], ["c"]] * 4
    model = NaiveBayes(class_prior=[0, 1, 0]).fit(X, ["x", "y", "z"] * 4)
    assert_array_equal(by_hand(model, **{"0": np.array(["a", "new", ""], dtype=object)}), [[0, 1, 0]] * 3)


def test_sparse_tables_are_filled():
    random = np.random.default_rng(0)
    x, z = random.integers(0, 400, (2, 2000))
    X = np.stack([x, z], axis=1)
    y = (x * 7 + random.integers(0, 4, 2000)) % 300
    model = NaiveBayes(weighting="sqrt-mi").fit(X, y)
    assert isinstance(model.score_tables_.lookups[0], SparseLookup)
    assert_same(model, X[:300], [[999, 1], [1, 999], [None, None]])


@pytest.mark.parametrize("weighting", [None, "loo"])
def test_sparse_pairs_are_filled(weighting):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": random.permutation(900) % 500,
            "z": [None if z == 0 else str(z) for z in random.permutation(900) % 600],
            "few": random.choice(["a", "b", None], 900),
            "many": random.normal(size=900),
        }
    )
    y = random.choice(["u", "v", "w"], 900)
    bins = {"many": [-50.0, -1.0, 0.0, 1.0]}  # the first has no rows
    model = AODE(weighting=weighting, max_parent_categories=550, bin_edges=bins).fit(X, y)
    assert isinstance(model.score_tables_.estimates.pairs, SparsePairTables)
    assert any(model.score_tables_.estimates.unconditioned)
    X.loc[:9, "x"] = 999
    X.loc[5:15, "few"] = "new"
    X.loc[:3, "many"] = -99.0
    assert_same(model, X)


def test_an_empty_bin_among_dense_pairs():
    X = pd.DataFrame({"x": np.linspace(0, 1, 30), "z": list("abc" * 10)})
    model = AODE(bin_edges={"x": [-9.0, -8.0, 0.5]}, weighting="loo").fit(X, [0, 1] * 15)
    assert_same(model, X, pd.DataFrame({"x": [-99.0, -8.5, 0.1], "z": ["a", "b", None]}))


@pytest.mark.parametrize("model", [NaiveBayes(weighting="loo"), AODE(weighting="loo")], ids=["nb", "aode"])
def test_flights(model, tmp_path):
    X, y = load_flights(backend="polars")
    model.fit(X[:15_000], y[:15_000])
    path = tmp_path / "flights.onnx"
    path.write_bytes(to_onnx(model).SerializeToString())
    runtime = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    labels, probabilities = runtime.run(None, onnx_inputs(model, X))
    assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=TOLERANCE)
    assert_array_equal(labels, model.predict(X))
    assert onnx.load(path) == to_onnx(model)


def test_a_model_of_batches():
    model = NaiveBayes(bin_edges={1: [0.0]})
    for batch in ([["a", 0.5], [None, -1.0]], [["c", np.nan], ["b", 2.0]]):
        model.partial_fit(batch, ["x", "y"], classes=["x", "y", "z"])
    assert_same(model, [["a", 1.0], ["b", None], [None, -3.0], ["d", 0.0]])


CELLS = st.one_of(st.none(), st.text(max_size=3), st.sampled_from("ab"), st.integers(-3, 3), st.booleans())


@examples(60)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.integers(0, 2)), min_size=2, max_size=12),
    asked=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    make=st.sampled_from([NaiveBayes, AODE, lambda: NaiveBayes(missing="ignore")]),
)
@pytest.mark.filterwarnings("ignore:.*every value is missing")
def test_any_small_table(rows, asked, make):
    X = np.array([row[:2] for row in rows], dtype=object)
    model = make().fit(X, [label for *_, label in rows])
    try:
        assert_same(model, X, np.array(asked, dtype=object))
    except InputError as error:
        assert "as text" in str(error)  # noqa: PT017


def test_a_table_fed_by_hand():
    X = pd.DataFrame(
        {"text": ["a", "b", None] * 5, "whole": pd.array([1, 2, None] * 5, "Int64"), "x": [0.5, np.nan, 2] * 5}
    )
    model = NaiveBayes().fit(X, ["p", "q", "q"] * 5)
    found = by_hand(
        model,
        text=np.array(["a", "", "new"], dtype=object),
        whole=np.array([2, SMALLEST, 99]),
        x=np.array([2.0, np.nan, 7.0]),
    )
    asked = pd.DataFrame(
        {"text": ["a", None, "new"], "whole": pd.array([2, None, 99], "Int64"), "x": [2.0, np.nan, 7.0]}
    )
    assert_allclose(found, model.predict_proba(asked), atol=TOLERANCE)
    none = by_hand(model, text=np.empty(0, dtype=object), whole=np.empty(0, dtype=np.int64), x=np.empty(0))
    assert none.shape == (0, 2)


def test_text_is_fed_as_what_it_equals():
    model = NaiveBayes().fit(np.array([[Shade.dark], [Shade.light]] * 5, dtype=object), [0, 1] * 5)
    found = by_hand(model, **{"0": np.array(["a", "b"], dtype=object)})
    assert_allclose(found, model.predict_proba([["a"], ["b"]]), atol=TOLERANCE)


def test_the_feeds_say_what_a_gap_and_an_unseen_value_are():
    X = pd.DataFrame({"text": ["a", "b", None] * 5, "whole": [1, 2, 2] * 5, "x": [0.5, np.nan, 2] * 5})
    model = NaiveBayes().fit(X, ["p", "q", "q"] * 5)
    asked = pd.DataFrame({"text": ["", None, "a"], "whole": pd.array([9, None, 1], "Int64"), "x": [7.0, np.nan, 0.5]})
    feeds = onnx_inputs(model, asked)
    assert feeds["text"].tolist() == ["<unseen>", "", "a"]
    assert feeds["whole"].tolist() == [SMALLEST + 1, SMALLEST, 1]
    assert_array_equal(feeds["x"], [np.inf, np.nan, 0.5])


def test_the_file_says_what_it_is():
    when = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=h) for h in range(20)]
    X = pd.DataFrame({"text": ["", "b"] * 10, "flag": [True, False] * 10, "label": np.arange(20.0), "when": when})
    model = AODE().fit(X, ["é", "<b>"] * 10)
    meta = session(to_onnx(model)).get_modelmeta()
    assert meta.producer_name == "hebnb"
    assert json.loads(meta.custom_metadata_map["hebnb"]) == {
        "version": sys.modules["hebnb"].__version__,
        "model": "AODE",
        "classes": ["<b>", "é"],
        "features": [
            {"column": "text", "input": "text", "type": "string", "gap": "<missing>"},
            {"column": "flag", "input": "flag", "type": "int64", "gap": SMALLEST},
            {"column": "label", "input": "_label", "type": "double", "gap": "NaN"},
            {"column": "when", "input": "when", "type": "double", "gap": "NaN", "unit": "microseconds since 1970"},
        ],
    }


def test_without_the_package_onnx(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    model = NaiveBayes().fit([["a"]], ["x"])
    with pytest.raises(ParameterError, match=r"needs the package onnx.*\n.*\.\[onnx\]"):
        to_onnx(model)
    assert onnx_inputs(model, [["a"]])["0"].tolist() == ["a"]


@pytest.mark.parametrize("function", [to_onnx, lambda model: onnx_inputs(model, [["a"]])], ids=["graph", "feeds"])
def test_only_fitted_models_of_this_package(function):
    with pytest.raises(NotFittedError):
        function(NaiveBayes())
    with pytest.raises(ParameterError, match="CategoricalNB has no ONNX graph"):
        function(CategoricalNB())


@pytest.mark.parametrize(("model", "remedy"), [(NaiveBayes(), "max_categories"), (AODE(), "max_parent_categories")])
def test_too_many_cells(model, remedy, monkeypatch):
    X = [["a", 1], ["b", 2], ["b", 3]]
    model.fit(X, ["x", "y", "y"])
    cells = 2 * (3 + 4) + (2 * (3 * (1 + 4) + 4 * (1 + 3)) if isinstance(model, AODE) else 0)
    monkeypatch.setattr(onnx_scores, "MOST_CELLS", cells)
    assert_same(model, X)
    monkeypatch.setattr(onnx_scores, "MOST_CELLS", cells - 1)
    with pytest.raises(
        InputError, match=rf"take {cells} numbers.*limit is {cells - 1}(.|\n)*{remedy}.*Column 1 has .*, 3"
    ):
        to_onnx(model)


def test_the_limit_counts_what_the_graph_holds():
    X, y = load_flights(backend="polars")
    model = AODE(max_parent_categories=40).fit(X[:2000], y[:2000])
    graph = to_onnx(model).graph
    cells = sum(
        int(np.prod(c.dims)) for c in graph.initializer if c.data_type == onnx.TensorProto.DOUBLE and len(c.dims) == 2
    )
    onnx_scores.MOST_CELLS, limit = cells, onnx_scores.MOST_CELLS
    try:
        to_onnx(model)
        onnx_scores.MOST_CELLS = cells - 1
        with pytest.raises(InputError, match=f"{cells:,}"):
            to_onnx(model)
    finally:
        onnx_scores.MOST_CELLS = limit


def test_too_many_bytes(monkeypatch):
    model = NaiveBayes().fit([["x" * 10_000], ["b"]], ["x", "y"])
    monkeypatch.setattr(export, "_MOST_BYTES", 10_000)
    with pytest.raises(InputError, match="bytes, and a file of it can have 10,000"):
        to_onnx(model)


def test_values_with_the_same_text():
    model = NaiveBayes().fit(pd.DataFrame({"zip": [1, "1", 2]}, dtype=object), [0, 1, 1])
    for function in (to_onnx, lambda model: onnx_inputs(model, pd.DataFrame({"zip": [1]}))):
        with pytest.raises(InputError, match=r"Column 'zip': 1 and '1' are both '1' as text"):
            function(model)
    with pytest.raises(InputError, match=r"Classes: 1 and '1' are both '1' as text"):
        to_onnx(NaiveBayes().fit([["a"], ["b"]], np.array([1, "1"], dtype=object)))


def test_feeds_are_checked_as_predictions_are():
    model = NaiveBayes(missing="error").fit(pd.DataFrame({"a": ["x", "y"], "b": [0.5, 1.5]}), [0, 1])
    with pytest.raises(InputError, match="Column 'a': 1 values are missing"):
        onnx_inputs(model, pd.DataFrame({"a": ["x", None], "b": [0.5, 1.5]}))
    with pytest.raises(InputError, match="Column 'b'"):
        onnx_inputs(model, pd.DataFrame({"a": ["x"], "b": [np.inf]}))
    with pytest.raises(InputError, match="in their order"):
        onnx_inputs(model, pd.DataFrame({"b": [0.5], "a": ["x"]}))
    with pytest.raises(InputError, match="0 rows"):
        onnx_inputs(model, pd.DataFrame({"a": ["x"], "b": [0.5]})[:0])
    with pytest.raises(InputError, match="lazy"):
        onnx_inputs(model, pl.LazyFrame({"a": ["x"], "b": [0.5]}))
