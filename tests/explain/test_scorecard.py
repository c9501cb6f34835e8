"""Scorecards: points are linear in log-odds, add up by the table, and are the same in a database."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from conftest import examples
from hebnb import AODE, KDB, TAN, EvidenceClassifier, NaiveBayes, ParameterError
from hebnb.estimators.rows import encoded
from hebnb.explain.contributions import against_others
from hebnb.explain.scorecard import BASE, Scorecard
from hebnb.export.sql.scorecard import scorecard_to_sql
from models import HOSTILE, strange_rows, table

MODELS = [
    EvidenceClassifier(),
    EvidenceClassifier(max_crosses=0),
    EvidenceClassifier(missing="ignore"),
    NaiveBayes(),
    NaiveBayes(weighting="loo", missing="ignore"),
    TAN(),
    KDB(),
]


def two_classes(n_rows=300, seed=0):
    """Rows of two classes, which depend on two columns together."""
    random = np.random.default_rng(seed)
    X, _ = table(n_rows, seed)
    together = (X["number"] % 2 == 0) ^ (X["cut"].fillna(3) > 0)
    return X, np.where(together ^ (random.random(n_rows) < 0.2), "good", "bad")


def carded(model, **how):
    return Scorecard.of(model.score_tables_, partial(encoded, model), **how)


def log_odds(model, X, label):
    c = model.classes_.tolist().index(label)
    return against_others(model.predict_joint_log_proba(X))[:, c]


@pytest.fixture(scope="module")
def fitted():
    X, y = two_classes()
    model = EvidenceClassifier().fit(X, y)
    assert model.crosses_
    return model, X


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_points_are_linear_in_log_odds(model):
    X, y = two_classes()
    model.fit(X, y)
    for rows in (X, strange_rows(X)):
        card = carded(model, points_to_double=30, base=500, base_odds=4, label="bad")
        expected = 500 + 30 * (log_odds(model, rows, "bad") / np.log(2) - 2)
        assert_allclose(card.score(rows), expected, atol=1e-9)


@examples(40)
@given(st.floats(1, 100), st.floats(-1000, 1000), st.floats(0.01, 100), st.sampled_from(["good", "bad"]))
def test_any_scale(fitted, double, base, odds, label):
    model, X = fitted
    card = model.scorecard(points_to_double=double, base=base, base_odds=odds, label=label)
    assert card.label == label
    assert_allclose(card.score(X[:20]), card.offset + card.factor * log_odds(model, X[:20], label), atol=1e-8)
    # At the base odds there are the base points, and that many more at twice these odds.
    assert_allclose(card.offset + card.factor * np.log(odds), base, atol=1e-8)
    assert_allclose(card.offset + card.factor * np.log(2 * odds), base + double, atol=1e-8)


def test_the_scale_of_the_textbook(fitted):
    """600 points at odds of 50, 20 points to double them: Siddiqi, Credit Risk Scorecards, 2006."""
    model, X = fitted
    card = model.scorecard()
    assert_allclose([card.factor, card.offset], [28.8539, 487.123], rtol=1e-6)
    assert card.label == "good"
    assert_allclose(card.score(X) - card.offset, card.offset - model.scorecard(label="bad").score(X), atol=1e-9)


@pytest.mark.parametrize("digits", [None, 0, 2])
def test_points_of_the_table_add_up_to_the_score(digits):
    X, y = two_classes()
    model = EvidenceClassifier(max_crosses=0).fit(X, y)
    card = model.scorecard(digits=digits)
    lines = card.table()
    known = dict(zip(zip(lines["feature"], lines["value"], strict=True), lines["points"], strict=True))
    assert len(known) == len(lines["points"])
    explained = model.explain(X)
    explained = explained[(explained["class"] == "good") & (explained["feature"] != "(prior)")]
    values = [None if pd.isna(value) else value for value in explained["value"]]
    points = np.array([known[key] for key in zip(explained["feature"], values, strict=True)]).reshape(len(X), -1)
    assert_allclose(known[BASE, None] + points.sum(axis=1), card.score(X), atol=1e-9)


def test_the_table_has_every_row_once_in_every_column_and_cross(fitted):
    model, X = fitted
    lines = pd.DataFrame(model.scorecard().table())
    assert lines["feature"].iloc[0] == BASE
    assert not lines.duplicated(["feature", "value"]).any()
    rows = lines.iloc[1:].groupby("feature")["rows"].sum()
    assert set(rows.index) == set(model.score_tables_.titles)
    assert (rows == len(X)).all()


@pytest.mark.parametrize("digits", [0, 1, -1])
def test_rounded_points_are_round_and_near(fitted, digits):
    model, X = fitted
    rounded, exact = model.scorecard(digits=digits), model.scorecard()
    points = rounded.table()["points"]
    assert_allclose(points, np.round(exact.table()["points"], digits), atol=1e-9)
    assert not np.signbit(points[points == 0]).any()
    score = rounded.score(X)
    assert_allclose(score, np.round(score, digits), rtol=0, atol=1e-12)
    n_numbers = len(model.score_tables_.tables) + 1
    assert_allclose(score, exact.score(X), rtol=0, atol=n_numbers * 0.5 * 10.0**-digits)


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_database_gives_the_same_points(model, digits, create):
    duckdb = pytest.importorskip("duckdb")
    X, y = two_classes(150)
    model.fit(X, y)
    card = carded(model, digits=digits)
    rows = pd.concat([X, strange_rows(X)]).convert_dtypes().assign(place=np.arange(len(X) + 6))
    with duckdb.connect() as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE borrowers AS SELECT * FROM given")
        found = connection.execute(scorecard_to_sql(card, table="borrowers", create=create)).df().sort_values("place")
    assert list(found.columns) == [*rows.columns, "score"]
    assert_allclose(found["score"], card.score(pd.concat([X.astype(object), strange_rows(X)])), rtol=0, atol=1e-6)


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "snowflake", "spark"])
def test_other_dialects_are_read_back(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    X = pd.DataFrame({"a": HOSTILE * 8, "x": np.arange(8.0 * len(HOSTILE))})
    model = EvidenceClassifier().fit(X, np.arange(len(X)) % 3 == 0)
    (statement,) = sqlglot.parse(scorecard_to_sql(model.scorecard(), dialect, table="a.b"), read=dialect)
    assert statement.expressions[-1].alias == "score"


def test_a_card_outlives_its_model(fitted):
    model, X = fitted
    card = model.scorecard(digits=1)
    expected = card.score(X)
    assert_allclose(pickle.loads(pickle.dumps(card)).score(X), expected)
    other = EvidenceClassifier().fit(*two_classes(seed=7))
    kept = other.scorecard()
    before = kept.score(X)
    other.fit(*two_classes(seed=8))
    assert_allclose(kept.score(X), before)
    assert "ScoreTables" not in repr(card)


class TestComplaints:
    def test_of_classes(self):
        X, y = table()
        with pytest.raises(ParameterError, match="two classes, and this model knows 3"):
            EvidenceClassifier().fit(X, y).scorecard()
        with pytest.raises(NotFittedError):
            EvidenceClassifier().scorecard()
        X, y = two_classes(60)
        with pytest.raises(ParameterError, match="label='fair' is not known"):
            EvidenceClassifier().fit(X, y).scorecard(label="fair")
        with pytest.raises(ParameterError, match="class_prior"):
            carded(NaiveBayes(class_prior=[0.0, 1.0]).fit(X, y))

    def test_of_models_that_are_no_sum(self):
        X, y = two_classes(60)
        with pytest.raises(ParameterError, match="sum of tables"):
            carded(AODE().fit(X, y))

    @pytest.mark.parametrize("how", [{"points_to_double": 0}, {"base_odds": -1}, {"base": np.inf}, {"digits": 1.5}])
    def test_of_numbers(self, fitted, how):
        with pytest.raises(ParameterError, match=f"{next(iter(how))}="):
            fitted[0].scorecard(**how)

    def test_of_dialects(self, fitted):
        with pytest.raises(ParameterError, match="Did you mean 'postgres'"):
            scorecard_to_sql(fitted[0].scorecard(), "postgresql")
        with pytest.raises(ParameterError, match="table="):
            scorecard_to_sql(fitted[0].scorecard(), table="a..b")
