"""Explanations: their parts sum to the score, and each is what the formula says."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conftest import examples
from hebnb import AODE, InputError, NaiveBayes
from hebnb.datasets import load_flights
from hebnb.explain.contributions import against_others
from hebnb.scores.pair_tables import DensePairTables, SparsePairTables
from models import MODELS, strange_rows, table


def sums(explained):
    """The contributions of every row and class added up, of shape (S, C)."""
    return explained.groupby(["row", "class"], sort=True)["contribution"].sum().unstack().to_numpy()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_contributions_and_prior_sum_to_the_score(model):
    X, y = table()
    model.fit(X, y)
    for rows in (X, strange_rows(X)):
        explained = model.explain(rows)
        assert_allclose(sums(explained), model.predict_joint_log_proba(rows), rtol=0, atol=1e-11)
        shares = explained["shrinkage"].dropna()
        assert shares.between(0, 1).all()


@examples(60)
@given(st.integers(0, 10_000), st.integers(4, 40), st.booleans(), st.sampled_from([NaiveBayes, AODE]))
def test_sums_of_any_table(seed, n_rows, weighted, structure):
    X, y = table(n_rows, seed)
    model = structure(weighting="loo" if weighted else None).fit(X, y)
    rows = strange_rows(table(8, seed + 1)[0])
    assert_allclose(sums(model.explain(rows)), model.predict_joint_log_proba(rows), rtol=0, atol=1e-10)


def test_a_contribution_is_a_log_probability_and_shrinkage_the_share_of_the_prior():
    X, y = table()
    model = NaiveBayes().fit(X, y)
    explained = model.explain(X.head(5)).set_index(["row", "class", "feature"])
    for c, label in enumerate(model.classes_):
        value = list(model.categories_[0]).index(X["text"][0])
        line = explained.loc[(0, label, "text")]
        assert line["value"] == X["text"][0]
        assert_allclose(line["contribution"], model.feature_log_prob_[0][c, value])
        assert_allclose(line["shrinkage"], model.shrinkage_[c, 0])
        assert line["count"] == ((X["text"] == X["text"][0]) & (y == label)).sum()
        n, m, theta = line["count"], model.concentration_[c, 0], model.prior_mean_[0][value]
        total = model.counts_.totals[c, 0]
        mixed = (1 - line["shrinkage"]) * n / total + line["shrinkage"] * theta
        assert_allclose(line["contribution"], np.log(mixed))
        assert m > 0


def slow_pooled_contribution(model, X, row, c, f):
    """What a feature adds to the pool of one-dependence estimates, factor by factor, from pair counts of the table."""
    y, features = model.y_, list(X.columns)
    label, value = model.classes_[c], X.iloc[row, f]
    here = y == label

    def factor(mask, m, j):
        """(n + mθ)/(N + m) of feature j's value among the rows of a mask."""
        column = X[features[j]]
        n, total = (column[mask] == X.iloc[row, j]).sum(), mask.sum()
        theta = (column == X.iloc[row, j]).mean()
        return np.log((n + m * theta) / (total + m))

    marginal = factor(here, model.score_tables_.tables[f].concentration[0][c], f)
    found = model.feature_weights_[f] * marginal
    for place, i in enumerate(model.parents_.tolist()):
        w = model.parent_weights_[place]
        if i == f:
            joint = (here & (X[features[f]] == value)).sum() + 1
            joint = joint / (len(X) + len(model.classes_) * X[features[f]].nunique())
            found += w * (np.log(joint) - model.class_log_prior_[c])
        else:
            found += w * factor(here & (X[features[i]] == X.iloc[row, i]), model.concentration_[c, i, f], f)
    return found


def test_contributions_to_pooled_aode_against_a_slow_reference():
    random = np.random.default_rng(3)
    X = pd.DataFrame(random.choice(list("abcd"), (80, 4)), columns=list("pqrs"))
    y = np.where(random.random(80) < 0.4, X["p"] == X["q"], random.random(80) < 0.5).astype(str)
    model = AODE(weighting="loo").fit(X, y)
    model.y_ = y
    explained = model.explain(X.head(3)).set_index(["row", "class", "feature"])
    for row in range(3):
        for c, label in enumerate(model.classes_):
            for f, name in enumerate(X.columns):
                expected = slow_pooled_contribution(model, X, row, c, f)
                assert_allclose(explained.loc[(row, label, name), "contribution"], expected, atol=1e-10)


@pytest.mark.parametrize("weighting", [None, "loo"])
def test_sparse_and_dense_aode_explain_alike(weighting):
    X, y = table(150)
    dense = AODE(weighting=weighting).fit(X, y)
    with patch("hebnb.counts.pairs.dense_fits", lambda *_: False):
        sparse = AODE(weighting=weighting).fit(X, y)
    kinds = {type(model.score_tables_.estimates.pairs) for model in (dense, sparse)}
    assert kinds == {DensePairTables, SparsePairTables}
    rows = strange_rows(X)
    pd.testing.assert_frame_equal(sparse.explain(rows), dense.explain(rows), rtol=1e-10, atol=1e-10)


def test_sparse_flights_add_up():
    X, y = load_flights(backend="pandas")
    X, y = X.head(3000), y.head(3000)
    model = AODE(weighting="loo").fit(X, y)
    assert type(model.score_tables_.estimates.pairs) is SparsePairTables
    assert_allclose(sums(model.explain(X.tail(40))), model.predict_joint_log_proba(X.tail(40)), atol=1e-9)


def test_shrinkage_of_pooled_aode_is_that_of_its_factors():
    """The prior's shares in the factors, weighted as these are, from counts of the table."""
    random = np.random.default_rng(3)
    X = pd.DataFrame(random.choice(list("abcd"), (80, 3)), columns=list("pqr"))
    y = random.choice(["n", "y"], 80)
    model = AODE(weighting="loo").fit(X, y)
    lines = model.explain(X.head(4)).set_index(["row", "class", "feature"])
    for row in range(4):
        for c, label in enumerate(model.classes_):
            here = y == label
            for f, name in enumerate(X.columns):
                m = model.score_tables_.tables[f].concentration[0][c]
                factors = [(model.feature_weights_[f], m / (here.sum() + m))]
                for w, i in zip(model.parent_weights_, model.parents_, strict=True):
                    if i == f:
                        factors.append((w, 2 * 4 / (80 + 2 * 4)))  # one imaginary row a class and value
                    else:
                        m = model.concentration_[c, i, f]
                        rows = (here & (X.iloc[:, i] == X.iloc[row, i])).sum()
                        factors.append((w, m / (rows + m)))
                weights, shares = np.array(factors).T
                expected = np.average(shares, weights=np.abs(weights))
                assert_allclose(lines.loc[(row, label, name), "shrinkage"], expected)


def test_what_was_never_seen_contributes_nothing_and_shows_as_it_came():
    X, y = table()
    model = NaiveBayes().fit(X, y)
    explained = model.explain(strange_rows(X)).set_index(["row", "feature"]).sort_index()
    unseen = explained.loc[(1, "text")]
    assert (unseen["contribution"] == 0).all()
    assert (unseen["shrinkage"] == 1).all()
    assert (unseen["count"] == 0).all()
    assert set(unseen["value"]) == {"never seen"}
    assert explained.loc[(3, "text"), "value"].isna().all()
    assert explained.loc[(4, "cut"), "value"].str.startswith("> ").all()


def test_every_library_gets_a_table_of_its_own():
    X, y = table()
    model = NaiveBayes().fit(X, y)
    columns = ["row", "class", "feature", "value", "contribution", "count", "shrinkage"]
    expected = model.explain(X)
    assert list(expected.columns) == columns
    in_polars = NaiveBayes().fit(pl.from_pandas(X), y).explain(pl.from_pandas(X))
    assert isinstance(in_polars, pl.DataFrame)
    assert_allclose(in_polars["contribution"].to_numpy(), expected["contribution"])
    in_arrow = NaiveBayes().fit(pa.Table.from_pandas(X), y).explain(pa.Table.from_pandas(X))
    assert isinstance(in_arrow, pa.Table)
    assert in_arrow.column_names == columns
    assert in_arrow["value"].to_pylist() == in_polars["value"].to_list()
    in_numpy = NaiveBayes().fit(X.to_numpy(dtype=object), y).explain(X.to_numpy(dtype=object))
    assert list(in_numpy) == columns
    assert set(in_numpy["feature"]) == {"(prior)", "0", "1", "2", "3"}


def test_wrong_columns_are_named():
    X, y = table()
    with pytest.raises(InputError, match="flag"):
        NaiveBayes().fit(X, y).explain(X.drop(columns="flag"))


def test_log_odds_against_the_others():
    scores = np.log([[0.7, 0.2, 0.1], [1 / 3] * 3])
    odds = against_others(scores)
    assert_allclose(odds[0, 0], np.log(0.7 / np.sqrt(0.2 * 0.1)))
    assert_allclose(odds[1], 0, atol=1e-15)
    assert_allclose(against_others(np.array([[-3.0]])), 0)
