"""Evidence along trees of categories that the user gives: its laws, and the same numbers wherever it is computed."""

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone

from conftest import examples
from hebnb import EvidenceClassifier, InputError, ParameterError, load, save
from hebnb.columns.table import read
from hebnb.counts.encoded import EncodedRows
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.making import tables
from hebnb.evidence.tables import EvidenceModel
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.export.sql.dialect import DIALECTS
from hebnb.export.sql.scorecard import scorecard_to_sql
from hebnb.smoothing.posterior import class_log_prior

PETS = {"beagle": "dog", "pug": "dog", "dog": "animal", "cat": "animal", "newt": "animal", "oak": "plant"}
HIERARCHIES = {"zip": [1, 2, 3], "area": [1, 2], "path": "/", "pet": PETS}
COLUMNS = ["zip", "area", "path", "pet", "size"]

pytestmark = pytest.mark.filterwarnings("ignore:Column 'pet'. 1 of")  # sand is in no tree


def table(n_rows=300, seed=0):
    """ZIP codes as integers, areas and paths as text with gaps, pets, numbers; the first digits say most."""
    random = np.random.default_rng(seed)
    zips = random.integers(100, 400, n_rows) * 10
    path = ["/".join(random.choice(list("abc"), random.integers(1, 4))) for _ in range(n_rows)]
    X = pd.DataFrame(
        {
            "zip": zips,
            "area": np.where(random.random(n_rows) < 0.1, None, random.choice(["aa", "ab", "abc", "ba", "b"], n_rows)),
            "path": np.where(random.random(n_rows) < 0.05, None, np.array(path, dtype=object)),
            "pet": random.choice(["beagle", "dog", "cat", "sand"], n_rows),
            "size": random.normal(size=n_rows),
        }
    )
    likely = (zips // 100 % 2 == 0) ^ (X["pet"] == "sand")
    return X, np.where(random.random(n_rows) < 0.8, likely, random.random(n_rows) < 0.5).astype(int)


def strange_rows(X):
    """Rows of training, and rows of values never seen, at every distance from those that were."""
    new = pd.DataFrame(
        {
            "zip": [1001, 1234, 9999, 101, 1, 2220],
            "area": ["abcd", "ac", "zz", None, "", "a"],
            "path": ["a/b/z/z/z/z", "a//", "z", None, "", "/a"],
            "pet": ["pug", "newt", "animal", "oak", "lava", "dog"],
            "size": [0.0, 1.0, np.nan, 2.0, -1.0, 0.5],
        }
    )
    return pd.concat([X.head(40), new, new.iloc[::-1]], ignore_index=True)


MODELS = [{}, {"missing": "ignore"}, {"max_crosses": 0}, {"max_categories": 9}, {"max_order": 2, "max_crosses": 3}]


@pytest.fixture(scope="module", params=MODELS, ids=str)
def fitted(request):
    X, y = table()
    with pytest.warns(UserWarning, match="Column 'pet': 1 of 4 categories are not in its hierarchy"):
        model = EvidenceClassifier(hierarchies=HIERARCHIES, **request.param).fit(X, y)
    rows = strange_rows(X)
    return model, rows, model.predict_proba(rows)


def test_it_helps():
    X, y = table(2000)
    X, new, labels = X.head(1000), X.tail(1000), y[1000:]

    def loss(hierarchies):
        model = EvidenceClassifier(hierarchies=hierarchies, categorical_features=["zip"]).fit(X, y[:1000])
        return -np.log(model.predict_proba(new)[np.arange(1000), labels]).mean(), model.loo_log_loss_

    (seen, expected), (without, _) = loss(HIERARCHIES), loss(None)
    assert seen < without - 0.02
    assert abs(seen - expected) < 0.05


words = st.text("ab/c", min_size=1, max_size=3)


@given(st.lists(st.tuples(words, words, st.integers(0, 2)), min_size=4, max_size=40), st.integers(0, 3))
@examples(25)
def test_a_tree_of_one_level_is_none(rows, way):
    X = pd.DataFrame([row[:2] for row in rows], columns=["one", "two"], dtype=object)
    y = [row[2] for row in rows]
    longest = max(map(len, X["one"]))
    names = list(dict.fromkeys(X["one"]))
    hierarchy = [[longest], "::", dict.fromkeys(names), {"leaf": names}][way]
    plain, tree = EvidenceClassifier().fit(X, y), EvidenceClassifier(hierarchies={"one": hierarchy}).fit(X, y)
    assert_array_equal(tree.predict_proba(X), plain.predict_proba(X))
    new = X.assign(one="unheard")
    assert_array_equal(tree.predict_proba(new), plain.predict_proba(new))
    assert_array_equal(tree.loo_predict_proba(X, y), plain.loo_predict_proba(X, y))
    assert tree.loo_log_loss_ == plain.loo_log_loss_


@pytest.mark.parametrize("given", [[1], {"a": "top", "b": "top", "c": "top"}])
def test_a_tree_whose_nodes_say_nothing_of_their_own(given):
    """A node above every row, or one for every category, adds nothing to what its categories are told by."""
    X, y = pd.DataFrame({"x": list("abc") * 20}), np.tile([0, 1, 1, 0, 1, 0], 10)
    model = EvidenceClassifier(hierarchies={"x": given}).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert len(model.strengths_["x"]) == (1 if given == [1] else 2)


def test_what_was_never_seen_is_what_is_known_above_it(fitted):
    model, rows, _ = fitted
    same = {
        "zip": (["1001", "1007"], ["2229", "2228"], ["9999", "8"]),
        "path": (["a/b/z", "a/b/y", "a/b/z/z/z"], ["z", "y/y"]),
        "pet": (["newt", "animal"], ["lava", "magma"]),
    }
    row = rows.head(1).astype({"zip": object, "path": object})
    for name, groups in same.items():
        for group in groups:
            several = pd.concat([row.assign(**{name: value}) for value in group])
            proba = model.predict_proba(several)
            assert_array_equal(proba, np.repeat(proba[:1], len(group), axis=0))


def test_the_probability_of_others_is_that_of_their_node():
    X, y = table()
    X = X[["zip"]]
    model = EvidenceClassifier(hierarchies={"zip": [1, 2]}, max_crosses=0).fit(X, y)
    tables = model.score_tables_
    kind, counts = tables.counts.vocabulary.features[0], tables.counts
    buckets, strengths = counts.choice.columns[0].buckets, counts.choice.columns[0].levels
    count = counts.tables[0]
    tops = {
        digit: np.array([c for t, c in zip(kind.texts, count, strict=False) if t[0] == digit]).sum(axis=0)
        for digit in "123"
    }
    digit = "2"
    alike = [d for d in tops if d != digit and np.frexp(tops[d].sum())[1] == np.frexp(tops[digit].sum())[1]]
    others = sum((tops[d] for d in alike), np.zeros(2))
    class_prior = np.exp(model.class_log_prior_)
    mean = (others + buckets * class_prior) / (others.sum() + buckets)
    expected = (tops[digit] + strengths[0] * mean) / (tops[digit].sum() + strengths[0])
    code = kind.texts.index("2… (others)")
    assert_allclose(tables.tables[0].numbers[code], np.log(expected) - np.log(class_prior))


@pytest.mark.parametrize("parameters", MODELS[:4], ids=str)
def test_left_out_rows_are_as_the_others_see_them(parameters):
    X, y = table(60)
    model = EvidenceClassifier(hierarchies=HIERARCHIES, **parameters).fit(X, y)
    found, scores = model.loo_predict_proba(X, y), model.score_tables_
    codes, choice = scores.counts.vocabulary.encode(read(X)), scores.counts.choice
    for row in range(0, len(y), 3):
        rest = np.arange(len(y)) != row
        rows = EncodedRows(scores.counts.vocabulary, scores.counts.classes, [own[rest] for own in codes], y[rest])
        counts = EvidenceCounts.of_rows(rows, choice)
        joint = class_log_prior(counts.class_count) + scores.combination.offsets
        for own, weight in zip(tables(EvidenceModel(counts)), scores.combination.table_weights, strict=True):
            joint = joint + weight * own.scores([code[[row]] for code in codes])[0]
        assert_allclose(found[row], softmax(joint), atol=1e-10)


def test_batches(fitted):
    X, y = table()
    model = EvidenceClassifier(hierarchies=HIERARCHIES)
    model.partial_fit(X.head(150), y[:150], classes=[0, 1])
    first = model.counts_
    model.partial_fit(X.tail(150), y[150:])
    whole = EvidenceClassifier(hierarchies=HIERARCHIES).fit(X, y)
    for ours, theirs in zip(model.categories_[:4], whole.categories_[:4], strict=True):
        assert_array_equal(ours, theirs)
    for ours, theirs in zip(model.category_count_[:4], whole.category_count_[:4], strict=True):
        assert_array_equal(ours, theirs)
    assert model.counts_.choice == first.choice
    assert np.isfinite(model.predict_proba(fitted[1])).all()


def test_files(fitted, tmp_path):
    model, rows, proba = fitted
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert again.hierarchies == HIERARCHIES
    assert_array_equal(again.predict_proba(rows), proba)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_tables_as_hierarchies(library, tmp_path):
    X, y = table()
    levels = {"pet": ["beagle", "pug", "cat"], "group": ["dog", "dog", "cat"], "all": ["animal"] * 3}
    mapping = {"beagle": "dog", "pug": "dog", "cat": "group: cat", "dog": "animal", "group: cat": "animal"}
    X["pet"] = X["pet"].replace({"sand": "cat", "dog": "beagle"})
    model = EvidenceClassifier(hierarchies={"pet": library(levels)})
    model = clone(model).fit(X, y)
    proba = model.predict_proba(strange_rows(X))
    same = EvidenceClassifier(hierarchies={"pet": mapping}).fit(X, y)
    assert_array_equal(proba, same.predict_proba(strange_rows(X)))
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert_array_equal(again.predict_proba(strange_rows(X)), proba)
    assert again.hierarchies == {"pet": levels}
    assert_array_equal(clone(again).fit(X, y).predict_proba(strange_rows(X)), proba)


def test_clones():
    hierarchies = {"zip": [1, 2], "pet": pd.DataFrame({"pet": ["dog"], "group": ["animal"]})}
    model = EvidenceClassifier(hierarchies=hierarchies)
    assert model.hierarchies is hierarchies
    assert model.get_params()["hierarchies"] is hierarchies
    copy = clone(model)
    assert copy.hierarchies["zip"] == [1, 2]
    assert "hierarchies" in repr(model)


def arranged(frame, rows):
    """Probabilities of rows that come in any order, by their number."""
    made = [name for name in frame.columns if name.startswith("proba_")]
    return frame.sort_values("number")[made].to_numpy()[: len(rows)]


def test_sql(fitted):
    model, rows, proba = fitted
    numbered = rows.assign(number=np.arange(len(rows)))
    connection = duckdb.connect().register("numbered", numbered)
    found = connection.sql(to_sql(model, table="numbered")).df()
    assert_allclose(arranged(found, rows), proba, atol=1e-12)
    assert list(found.columns) == [*numbered.columns, "prediction", "proba_0", "proba_1"]
    *creating, query = to_sql(model, table="numbered", create=True).split(";\n")
    for statement in creating:
        connection.execute(statement)
    assert_allclose(arranged(connection.sql(query).df(), rows), proba, atol=1e-12)
    floats = numbered.assign(zip=numbered["zip"].astype(float))
    connection.register("floats", floats)
    assert_allclose(arranged(connection.sql(to_sql(model, table="floats")).df(), rows), proba, atol=1e-12)


def test_scorecards_in_sql(fitted):
    model, rows, _ = fitted
    card = model.scorecard(label=1)
    numbered = rows.assign(number=np.arange(len(rows)))
    connection = duckdb.connect().register("numbered", numbered)
    found = connection.sql(scorecard_to_sql(card, table="numbered")).df().sort_values("number")
    assert_allclose(found["score"], card.score(rows), atol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(fitted, dialect):
    model, _, _ = fitted
    query = to_sql(model, dialect)
    assert "SUBSTR(" in query
    assert ("SPLIT(" if dialect == "bigquery" else "SPLIT_PART(") in query


def test_onnx(fitted):
    model, rows, proba = fitted
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    feeds = onnx_inputs(model, rows)
    assert_allclose(session.run(None, feeds)[1], proba, atol=1e-12)
    # A graph knows the names of a mapping without being fed by hebnb.
    feeds["pet"] = rows["pet"].to_numpy(dtype=object)
    assert_allclose(session.run(None, feeds)[1], proba, atol=1e-12)


def test_lazy_tables(fitted):
    model, rows, proba = fitted
    found = model.predict_proba(pl.from_pandas(rows).lazy()).collect().select("proba_0", "proba_1")
    assert_allclose(found.to_numpy(), proba, atol=1e-12)
    numbered = rows.assign(number=np.arange(len(rows)))
    relation = duckdb.connect().from_df(numbered)
    assert_allclose(arranged(model.predict_proba(relation).df(), rows), proba, atol=1e-12)
    floats = pl.from_pandas(rows.assign(zip=rows["zip"].astype(float))).lazy()
    assert_allclose(model.predict_proba(floats).collect().select("proba_0", "proba_1").to_numpy(), proba, atol=1e-12)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_fit_on_engines(fitted, engine):
    model, rows, proba = fitted
    X, y = table()
    whole = X.assign(label=y)
    lazy = pl.from_pandas(whole).lazy() if engine == "polars" else duckdb.connect().from_df(whole)
    same = clone(model).fit(lazy, "label")
    assert_allclose(same.predict_proba(rows), proba, atol=1e-9)
    assert same.dropped_ == model.dropped_
    assert np.isfinite(same.loo_predict_proba(X, y)).all()


def test_types_that_engines_have_no_text_of():
    X, y = table()
    model = EvidenceClassifier(hierarchies={"path": "/"}).fit(X[["path"]], y)
    lazy = pl.DataFrame({"path": [True, False]}).lazy()
    with pytest.raises(InputError, match="Column 'path': it has a hierarchy, and values of type Boolean"):
        model.predict_proba(lazy)


def test_separators_of_several_characters_and_strange_texts():
    random = np.random.default_rng(1)
    parts = ["a", "a:", ":b", "é∞", "😀", "'", '"', "\\", "", "%", "x\ny"]
    path = ["::".join(random.choice(parts, random.integers(1, 4))) for _ in range(200)]
    code = ["".join(random.choice(["é", "😀", "a", "'"], 3)) for _ in range(200)]
    X = pd.DataFrame({"path": path, "code": code, "number": np.arange(200)})
    X, new, y = X.head(100), X.tail(100), random.integers(0, 2, 100)
    y = np.where([text.startswith("a") for text in X["path"]], 1, y)
    model = EvidenceClassifier(hierarchies={"path": "::", "code": [1, 2]}).fit(X[["path", "code"]], y)
    proba = model.predict_proba(new[["path", "code"]])
    connection = duckdb.connect().register("new", new)
    assert_allclose(arranged(connection.sql(to_sql(model, table="new")).df(), new), proba, atol=1e-12)
    assert_allclose(arranged(model.predict_proba(connection.table("new")).df(), new), proba, atol=1e-12)
    lazily = model.predict_proba(pl.from_pandas(new).lazy()).collect().select("proba_0", "proba_1")
    assert_allclose(lazily.to_numpy(), proba, atol=1e-12)


def test_explanations_add_up(fitted):
    model, rows, _ = fitted
    explained = model.explain(rows).groupby(["row", "class"])["contribution"].sum().unstack().to_numpy()
    assert_allclose(explained, model.predict_joint_log_proba(rows), atol=1e-10)


def test_integers_in_a_tree_are_never_numbers():
    X, y = table()
    model = EvidenceClassifier(hierarchies={"zip": [1]}).fit(X, y)
    assert "zip" not in model.bin_edges_
    assert "zip" in EvidenceClassifier().fit(X, y).bin_edges_


@pytest.mark.parametrize(
    ("hierarchies", "complaint"),
    [
        ({"zip": [1, 9]}, "Column 'zip': .* prefix of 9 characters, and its values have no more than 4"),
        ({"zip": [0]}, r"hierarchies\['zip'\]: a prefix of 0 characters"),
        ({"zip": [2, 1]}, r"hierarchies\['zip'\]: a prefix of 1 characters is not longer"),
        (
            {"pet": {"dog": "cat", "cat": "dog"}},
            r"hierarchies\['pet'\]: a value is above itself: 'dog' → 'cat' → 'dog'",
        ),
        ({"pet": {"pet": ["dog", "dog"], "group": ["a", "b"]}}, "column 'group' is not a level above 'pet'"),
        ({"zap": [1]}, "column in hierarchies='zap' is not known(.|\n)*Did you mean 'zip'"),
        ({"size": [1]}, "Column 'size': it has a hierarchy, and .* is neither text nor a whole number"),
        ([1], "hierarchies must be a dict"),
    ],
)
def test_bad_input_leaves_the_model_alone(hierarchies, complaint):
    X, y = table(60)
    model = EvidenceClassifier().fit(X, y)
    before = model.predict_proba(X)
    model.set_params(hierarchies=hierarchies)
    with pytest.raises((InputError, ParameterError), match=complaint):
        model.fit(X, y)
    assert_array_equal(model.predict_proba(X), before)
