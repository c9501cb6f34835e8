"""The numbers behind figures of columns and crosses are those that rows are explained by."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from hebnb import AODE, TAN, EvidenceClassifier, NaiveBayes, ParameterError
from hebnb.estimators.rows import encoded
from hebnb.explain.contributions import against_others
from hebnb.explain.evidence_tables import UNSEEN, column_evidence, cross_evidence, importances
from models import strange_rows, table


def crossed(n_rows=400, seed=0, n_classes=3):
    """Rows whose classes depend on two columns together, one of which has gaps; and a column of times."""
    random = np.random.default_rng(seed)
    X, y = table(n_rows, seed)
    X["when"] = pd.Timestamp("2024-02-01") + pd.to_timedelta(random.integers(0, 9_000, n_rows), unit="h")
    together = (X["number"] % 2 == 0) ^ (X["cut"].fillna(3) > 0)
    y = np.where(random.random(n_rows) < 0.8, np.where(together, "x", "y"), y if n_classes == 3 else "x")
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = crossed()
    return EvidenceClassifier().fit(X, y), X


def odds_explained(model, X, title):
    """What explain says a column or cross adds to the log-odds of every class, of shape (S, C), with the values."""
    explained = model.explain(X)
    own = explained[explained["feature"] == title]
    scores = own["contribution"].to_numpy().reshape(len(X), -1)
    return against_others(scores), own["value"].to_numpy().reshape(len(X), -1)[:, 0]


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("make", [EvidenceClassifier, NaiveBayes])
def test_columns_add_what_rows_are_explained_by(make, missing):
    X, y = crossed()
    model = make(missing=missing).fit(X, y)
    rows = pd.concat([X.astype(object), strange_rows(X.drop(columns="when")).assign(when=pd.Timestamp("2031-01-01"))])
    for name in X:
        for c, label in enumerate(model.classes_):
            numbers = column_evidence(model.score_tables_, name, label)
            known = {
                None if pd.isna(v) else v: odds for v, odds in zip(numbers["value"], numbers["log_odds"], strict=True)
            }
            odds, values = odds_explained(model, rows, name)
            values = [None if pd.isna(value) else value for value in values]
            # A gap that is no value of a category is as good as unseen.
            found = [known.get(value, known.get(UNSEEN)) for value in values]
            assert_allclose(np.array(found, dtype=float), odds[:, c], atol=1e-12)


def test_counts_of_a_column_are_all_rows(fitted):
    model, X = fitted
    for name in X:
        numbers = column_evidence(model.score_tables_, name)
        assert numbers["count"].sum() == len(X)
        assert ((numbers["shrinkage"] >= 0) & (numbers["shrinkage"] <= 1)).all()
        assert len({len(own) for own in numbers.values()}) == 1


def test_bins_follow_each_other(fitted):
    model, X = fitted
    for name, open_low in (("cut", -np.inf), ("when", np.datetime64("NaT"))):
        numbers = column_evidence(model.score_tables_, name)
        bins = numbers["value"] != None  # noqa: E711
        low, high = numbers["low"][bins], numbers["high"][bins]
        np.testing.assert_array_equal(low[1:], high[:-1])
        np.testing.assert_array_equal(low[0], open_low)
        assert (np.diff(low[1:]) > np.zeros(1, dtype=np.diff(low[1:]).dtype)).all()
    inside = (X["when"] > low[1]) & (X["when"] <= high[1])
    assert numbers["count"][1] == inside.sum()
    assert np.isnan(column_evidence(model.score_tables_, "text")["low"]).all()


def test_crosses_add_what_rows_are_explained_by(fitted):
    model, X = fitted
    assert model.crosses_
    scores, rows = (
        model.score_tables_,
        pd.concat([X.astype(object), strange_rows(X.drop(columns="when")).assign(when=None)]),
    )
    codes = encoded(model, rows)
    for t, names in enumerate(model.crosses_, X.shape[1]):
        own = scores.tables[t]
        numbers = cross_evidence(scores, names, "y")
        ordinals = ["first", "second", "third", "fourth"][: len(names)]
        lines = zip(*(numbers[f"{ordinal}_place"].tolist() for ordinal in ordinals), strict=True)
        known = dict(zip(lines, numbers["log_odds"].tolist(), strict=True))
        places = zip(*(view[codes[f]].tolist() for f, view in zip(own.columns, own.views, strict=True)), strict=True)
        odds, _ = odds_explained(model, rows, scores.titles[t])
        assert_allclose([known.get(place, 0.0) for place in places], odds[:, 1], atol=1e-12)
        assert numbers["count"].sum() == len(X)


def test_names_of_a_cross_come_in_any_order(fitted):
    model, _ = fitted
    names = model.crosses_[0]
    one, other = (cross_evidence(model.score_tables_, order) for order in (names, names[::-1]))
    np.testing.assert_array_equal(one["first"], other["second"])
    np.testing.assert_array_equal(one["log_odds"], other["log_odds"])


def test_bins_of_a_cross_are_those_of_its_rows(fitted):
    model, X = fitted
    assert ("number", "cut") in model.crosses_
    numbers = cross_evidence(model.score_tables_, ("number", "cut"))
    for first, second, count in zip(numbers["first"], numbers["second"], numbers["count"], strict=True):
        if first == "1" and second is not None and second.startswith("≤"):
            edge = float(second.split()[1])
            assert count == ((X["number"] == 1) & (X["cut"] <= edge + 1e-5)).sum()
        if first == "1" and second is None:
            assert count == ((X["number"] == 1) & X["cut"].isna()).sum()


def test_importances_are_gains_in_order(fitted):
    model, _ = fitted
    numbers = importances(model.score_tables_, model.gains_)
    assert sorted(numbers["gain"], reverse=True) == numbers["gain"].tolist()
    titles = {" × ".join(names) if isinstance(names, tuple) else names: gain for names, gain in model.gains_.items()}
    assert dict(zip(numbers["feature"], numbers["gain"], strict=True)) == titles
    assert ((numbers["columns"] > 1) == [" × " in title for title in numbers["feature"]]).all()


def test_complaints(fitted):
    model, X = fitted
    scores, (X, y) = model.score_tables_, crossed()
    with pytest.raises(ParameterError, match="column='txt' is not known.*\n.*'text'"):
        column_evidence(scores, "txt")
    with pytest.raises(ParameterError, match="label='w' is not known"):
        column_evidence(scores, "text", "w")
    for other in (AODE(), AODE(weighting="loo"), TAN()):
        tables = other.fit(X, y).score_tables_
        name = max(zip(X, tables.tables, strict=True), key=lambda own: len(own[1].columns))[0]  # no root of a tree
        with pytest.raises(ParameterError, match="depends on other columns"):
            column_evidence(tables, name)
    with pytest.raises(ParameterError, match="cross='flag × flag' is not known. Known: .*number × cut"):
        cross_evidence(scores, ("flag", "flag"))
    with pytest.raises(ParameterError, match="column='nobody'"):
        cross_evidence(scores, ("number", "nobody"))
    with pytest.raises(ParameterError, match="no crosses"):
        cross_evidence(NaiveBayes().fit(X, y).score_tables_, ("number", "cut"))
