"""Weights by mutual information, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import entropy
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from conftest import examples
from hebnb import AODE, KDB, TAN, NaiveBayes, ParameterError
from hebnb.counts.single import Counts
from hebnb.weighting.mutual_information import SqrtMutualInformation, mutual_information

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

ROWS = st.lists(
    st.tuples(st.sampled_from(["red", "green", "blue", None]), st.integers(0, 3), st.sampled_from("abc")),
    min_size=1,
    max_size=40,
)


def split(rows):
    X = np.empty((len(rows), 2), dtype=object)
    X[:] = [row[:2] for row in rows]
    return X, np.array([row[2] for row in rows], dtype=object)


@given(ROWS, st.sampled_from(["category", "ignore"]))
@examples(80)
def test_it_is_that_of_the_known_rows_in_bits(rows, missing):
    X, y = split(rows)
    found = mutual_information(NaiveBayes(missing=missing).count(X, y))
    for f in range(2):
        known = np.array([missing == "category" or value is not None for value in X[:, f]])
        texts = [str(value) for value in X[known, f]]
        expected = mutual_info_score(texts, y[known]) / np.log(2) if known.any() else 0.0
        assert found[f] == pytest.approx(expected, abs=1e-12)
        assert 0 <= found[f] <= entropy(np.unique(y, return_counts=True)[1], base=2) + 1e-12 or missing == "ignore"


@given(ROWS, st.data())
@examples(40)
def test_a_weight_is_a_number_of_rows(rows, data):
    X, y = split(rows)
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))))
    weighted = mutual_information(NaiveBayes().count(X, y, times))
    repeated = mutual_information(NaiveBayes().count(np.repeat(X, times, axis=0), np.repeat(y, times)))
    assert_allclose(weighted, repeated, atol=1e-12)
    assert_allclose(mutual_information(NaiveBayes().count(X, y, 1e6 * times)), repeated, atol=1e-12)


@given(ROWS)
@examples(40)
def test_sparse_tables_tell_as_much(rows):
    counts = NaiveBayes().count(*split(rows))
    sparse = Counts(counts.classes, counts.class_count, counts.vocabulary, tuple(map(csr_array, counts.tables)))
    assert_allclose(mutual_information(sparse), mutual_information(counts), atol=1e-12)


def test_what_is_independent_tells_nothing_and_what_decides_tells_all():
    X = np.array([[a, b, c] for a in range(3) for b in range(2) for c in range(5)])
    found = mutual_information(NaiveBayes().count(X, X[:, 1]))
    assert_allclose(found, [0, 1, 0], atol=1e-12)
    assert (found >= 0).all()


def test_square_root_of_mutual_information_in_bits():
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=400)
    X = np.stack([np.where(rng.random(400) < 0.5, y % k, rng.integers(k, size=400)) for k in (2, 5, 40)], axis=1)
    nats = mutual_info_classif(X, y, discrete_features=True)
    model = NaiveBayes(weighting="sqrt-mi").fit(X, y)
    assert_allclose(model.feature_weights_, np.sqrt(nats / np.log(2)), rtol=1e-10)
    expected = model.class_log_prior_ + sum(
        w * logs[:, column].T
        for w, logs, column in zip(model.feature_weights_, model.feature_log_prob_, X.T, strict=True)
    )
    assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-12)


@pytest.mark.parametrize("make", [NaiveBayes, TAN, KDB])
def test_it_weighs_every_table_whatever_the_structure(make):
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=120)
    X = np.stack([(y + rng.integers(2, size=120)) % 3, rng.integers(3, size=120), y], axis=1)
    plain, weighted = make().fit(X, y).score_tables_, make(weighting="sqrt-mi").fit(X, y).score_tables_
    combination = SqrtMutualInformation().combination(plain, None, None)
    nats = [mutual_info_score(X[:, f], y) for f in range(3)]
    assert_allclose(combination.table_weights, np.sqrt(np.array(nats) / np.log(2)))
    assert_array_equal(combination.offsets, 0)
    assert combination.estimate_weights is combination.log_loss is None
    assert_array_equal(weighted.combination.table_weights, combination.table_weights)
    codes = list(X.T)
    expected = plain.log_prior + sum(
        weight * table.scores(codes) for weight, table in zip(combination.table_weights, plain.tables, strict=True)
    )
    assert_allclose(weighted.joint_log_scores(codes), expected, rtol=1e-12)


def test_estimates_of_parents_cannot_be_weighed_by_it():
    with pytest.raises(ParameterError, match="weighting='sqrt-mi' is not known. Known: 'loo'"):
        AODE(weighting="sqrt-mi").fit([["a", 1], ["b", 2]], [0, 1])
