"""HNB against its definition, slowly, and its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from test_tan import (
    ODD_TABLES,
    ROWS,
    SMOOTHINGS,
    Slow,
    cell_by_cell,
    codes_table,
    new_rows,
    slow_information,
    sparse_pairs,
    split,
    text_table,
)

from conftest import examples
from hebnb import HNB, TAN, InputError, NaiveBayes, load, save
from hebnb.export import to_onnx, to_sql


def slow_weights(X, y, weights=None, missing="category"):
    """Shares of conditional mutual information, by scikit-learn."""
    information = slow_information(X, y, weights, missing).round(10)
    np.fill_diagonal(information, 0)
    total = information.sum(axis=1, keepdims=True)
    return np.divide(information, total, out=np.zeros_like(information), where=total > 0)


class SlowMean:
    """Jiang, Zhang and Cai's equation, a row and a pair at a time; of a pair, what ``Slow`` says of one parent."""

    def __init__(self, model, X, y, weights=None, **other):
        self.shares = slow_weights(X, y, weights, model.missing)
        settings = {"backs_off": model.score_tables_.rule.prior_mean == "marginal", "missing": model.missing}
        parents = range(X.shape[1])
        self.given = [
            Slow(X, y, [(i,)] * X.shape[1], model.concentration_, weights=weights, **{**settings, **other})
            for i in parents
        ]

    def joint(self, rows):
        return np.array([self.given[0].log_prior() + self.parts(row).sum(axis=0) for row in rows.tolist()])

    def parts(self, row):
        """What every feature adds to the score of every class, of shape (F, C)."""
        added = []
        for f, shares in enumerate(self.shares):
            terms = [share * np.array(self.given[i].chance(f, row)[0]) for i, share in enumerate(shares) if share]
            added.append(np.log(np.sum(terms, axis=0) if terms else self.given[0].chance(f, row, most=0)[0]))
        return np.array(added)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_is_its_definition(smoothing, missing):
    X, y = text_table(3)
    model = HNB(smoothing, missing=missing).fit(X, y)
    rows = new_rows(X)
    slow = SlowMean(model, X, y)
    assert_allclose(model.parent_weights_, slow.shares, atol=1e-9)
    assert_allclose(model.predict_joint_log_proba(rows), slow.joint(rows), atol=1e-9)


@pytest.mark.parametrize("how", [cell_by_cell, sparse_pairs])
def test_is_its_definition_whatever_tables_are_like(how):
    X, y = text_table(4)
    expected = HNB().fit(X, y).predict_joint_log_proba(new_rows(X))
    with how():
        model = HNB().fit(X, y)
        assert_allclose(model.predict_joint_log_proba(new_rows(X)), expected, atol=1e-10)


@given(ROWS, st.sampled_from(SMOOTHINGS), st.sampled_from(["category", "ignore"]))
@examples(25)
def test_is_its_definition_for_any_table(rows, smoothing, missing):
    X, y = split(rows)
    model = HNB(smoothing, missing=missing).fit(X, y)
    slow = SlowMean(model, X, y)
    assert_allclose(model.predict_joint_log_proba(X), slow.joint(X), atol=1e-8)


def test_weights_are_rows():
    X, y = text_table(5)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    model = HNB("laplace").fit(X, y, sample_weight=weights)
    slow = SlowMean(model, X, y, weights)
    assert_allclose(model.predict_joint_log_proba(new_rows(X)), slow.joint(new_rows(X)), atol=1e-9)


def test_what_is_learned_is_one_strength_for_all_pairs():
    """Of greatest likelihood: TAN's search over the pairs of a tree is the same one over fewer pairs."""
    X, y = codes_table(1)
    strength = HNB().fit(X, y).concentration_[1]
    assert np.unique(strength).size == 1
    two = X[:, :2]
    model = HNB().fit(two, y)
    slow = Slow.of(model, two, y)
    assert_allclose(model.concentration_[1][0, 0], slow.best_concentration(1), rtol=1e-3)


def test_two_features_are_each_others_parents():
    """P(a | y, b) of TAN's tree is one of the two factors."""
    X, y = codes_table(2)
    two = X[:, :2]
    model, tree = HNB("laplace").fit(two, y), TAN("laplace").fit(two, y)
    child = next(f for f, own in enumerate(tree.parents_) if own)
    ours, theirs = (
        own["contribution"][own["feature"] == str(child)] for own in (model.explain(two), tree.explain(two))
    )
    assert len(ours) == 3 * len(two)
    assert_allclose(ours, theirs, atol=1e-12)
    assert model.parents_ == [(1,), (0,)]


def test_features_without_others_are_those_of_naive_bayes():
    """One column has nobody to depend on, and a constant one shares nothing."""
    X, y = codes_table(0)
    for table in (X[:, :1], np.column_stack([X[:, 0], np.zeros(len(X), dtype=int)])):
        model, plain = HNB().fit(table, y), NaiveBayes().fit(table, y)
        assert all(own == () for own in model.parents_)
        assert_allclose(model.predict_proba(table), plain.predict_proba(table))


@pytest.mark.parametrize("table", ODD_TABLES.values(), ids=ODD_TABLES)
@pytest.mark.parametrize("weighting", [None, "loo"])
@pytest.mark.filterwarnings("ignore::hebnb.TableWarning")
def test_odd_tables(table, weighting, tmp_path):
    X, y = table
    model = HNB(weighting=weighting).fit(X, y)
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert np.isfinite(model.loo_predict_proba(X, y)).all()
    save(model, tmp_path / "model.skops")
    assert_allclose(load(tmp_path / "model.skops").predict_proba(X), proba, atol=1e-12)


def test_many_columns_are_answered_saved_and_refused_as_tables(tmp_path):
    """A number for every combination of thirty columns is in nobody's reach."""
    random = np.random.default_rng(0)
    y = random.integers(2, size=400)
    X = np.where(random.random((400, 30)) < 0.4, y[:, np.newaxis], random.integers(4, size=(400, 30)))
    model = HNB(weighting="loo").fit(X, y)
    assert model.score(X, y) > 0.9
    save(model, tmp_path / "model.skops")
    assert_allclose(load(tmp_path / "model.skops").predict_proba(X), model.predict_proba(X), atol=1e-12)
    with pytest.raises(InputError, match="numbers in an ONNX graph"):
        to_onnx(model)
    with pytest.raises(InputError, match="SQL is made for"):
        to_sql(model)
    with pytest.raises(InputError, match="29 others at once"):
        model.score_tables_.tables[0].lines()
