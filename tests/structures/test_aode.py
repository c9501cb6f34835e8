"""AODE against a slow reference, against other programs, and its laws."""

import math
import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import OrdinalEncoder

from conftest import examples
from hebnb import AODE, HEB, Additive, NaiveBayes, Smoother
from hebnb.counts.pair_memory import estimated_bytes
from hebnb.counts.pairs import DensePairs, SparsePairs
from hebnb.datasets import load_flights

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]),
        st.integers(0, 3),
        st.sampled_from(["s", "m"]),
        st.sampled_from(["no", "yes", "maybe"]),
    ),
    min_size=2,
    max_size=40,
)
SKLEARN_DATA = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
NO_CAPS = {"max_parent_categories": None, "max_joint_cells": None}


def split(rows):
    X = np.empty((len(rows), 3), dtype=object)
    X[:] = [row[:3] for row in rows]
    return X, np.array([row[3] for row in rows], dtype=object)


def random_data(seed=0, rows=300, sizes=(2, 5, 3, 12), classes=3):
    """Codes in which neighbouring features depend on each other and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    columns = [rng.integers(sizes[0], size=rows)]
    for k in sizes[1:]:
        follows = rng.random(rows) < 0.5
        columns.append(np.where(follows, (columns[-1] + y) % k, rng.integers(k, size=rows)))
    return np.stack(columns, axis=1), y


def fit_sparse(model, X, y, weights=None):
    with patch("hebnb.counts.pairs.dense_fits", lambda *_: False):
        model.fit(X, y, weights)
    assert isinstance(model.counts_.pairs, SparsePairs)
    return model


def reference(X, y, new, concentration, prior_mean, weights=None, skip=(), marginal=None, min_count=1):
    """The definition, one row, class, parent and child at a time.

    ``concentration(c, i, j)`` is None where the child depends on the class alone; then ``marginal(c, j, value)`` is its
    factor. Parents in ``skip`` are left out.
    """
    w = np.ones(len(y)) if weights is None else weights
    classes = sorted(set(y.tolist()))
    n_features = X.shape[1]
    values = [set(X[:, f].tolist()) for f in range(n_features)]
    proba = []
    for row in new:
        per_class = []
        for c in classes:
            parts = []
            for i in range(n_features):
                if i in skip or row[i] not in values[i] or w[X[:, i] == row[i]].sum() < min_count:
                    continue
                parent = (y == c) & (X[:, i] == row[i])
                log = math.log((w[parent].sum() + 1) / (w.sum() + len(classes) * len(values[i])))
                for j in range(n_features):
                    if j == i or row[j] not in values[j]:
                        continue
                    m = concentration(c, i, j)
                    if m is None:
                        log += marginal(c, j, row[j])
                        continue
                    pooled = w[X[:, j] == row[j]].sum() / w.sum()
                    theta = pooled if prior_mean == "marginal" else 1 / len(values[j])
                    n = w[parent & (X[:, j] == row[j])].sum()
                    log += math.log((n + m * theta) / (w[parent].sum() + m))
                parts.append(log)
            per_class.append(np.logaddexp.reduce(parts) if parts else None)
        proba.append(None if per_class[0] is None else np.exp(per_class - np.logaddexp.reduce(per_class)))
    return proba


class TestAgainstReferences:
    @pytest.mark.parametrize("fit", [lambda model, *data: model.fit(*data), fit_sparse], ids=["dense", "sparse"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_laplace_follows_its_definition(self, fit, weighted):
        X, y = random_data()
        weights = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
        new = np.concatenate([X[:30], [[1, 99, 2, 3], [99, 99, 99, 3]]])
        model = fit(AODE("laplace"), X, y, weights)
        expected = reference(X, y, new, lambda c, i, j: len(set(X[:, j])), "uniform", weights)
        assert_allclose(model.predict_proba(new), expected, rtol=1e-10)

    @pytest.mark.parametrize("fit", [lambda model, *data: model.fit(*data), fit_sparse], ids=["dense", "sparse"])
    @pytest.mark.parametrize("prior_mean", ["marginal", "uniform"])
    def test_learned_smoothing_follows_its_definition(self, fit, prior_mean):
        X, y = random_data(2)
        model = fit(AODE(HEB(prior_mean=prior_mean)), X, y)

        def best(c, i, j):
            values = sorted(set(X[:, j]))
            theta = np.array([np.mean(X[:, j] == v) if prior_mean == "marginal" else 1 / len(values) for v in values])
            documents = np.array(
                [[np.sum((y == c) & (X[:, i] == u) & (X[:, j] == v)) for v in values] for u in sorted(set(X[:, i]))]
            )
            if documents.sum(axis=1).max() < 10:
                return len(values)

            def loss(log_m):
                m = np.exp(log_m)
                rising = gammaln(documents + m * theta) - gammaln(m * theta)
                return -np.sum(gammaln(m) - gammaln(documents.sum(axis=1) + m)) - rising.sum()

            found = minimize_scalar(loss, bounds=np.log((1e-2, 1e4)), method="bounded", options={"xatol": 1e-10})
            return np.exp(found.x)

        expected = np.array(
            [[[np.nan if i == j else best(c, i, j) for j in range(4)] for i in range(4)] for c in range(3)]
        )
        assert_allclose(np.log(model.concentration_), np.log(expected), atol=1e-4)
        probabilities = reference(X, y, X[:40], lambda c, i, j: model.concentration_[c, i, j], prior_mean)
        assert_allclose(model.predict_proba(X[:40]), probabilities, rtol=1e-10)

    def test_minkas_iteration_is_an_option(self):
        X, y = random_data(3)
        exact, minka = AODE().fit(X, y), AODE(HEB(solver="minka")).fit(X, y)
        assert not np.allclose(exact.concentration_, minka.concentration_, equal_nan=True)
        longer = AODE(HEB(solver="minka", max_iter=20_000)).fit(X, y)
        inside = (exact.concentration_ > 0.1) & (exact.concentration_ < 50)
        assert inside.sum() > 10
        assert_allclose(longer.concentration_[inside], exact.concentration_[inside], rtol=1e-2)

    @pytest.mark.parametrize("data", [*SKLEARN_DATA, "flights", "random"])
    def test_laplace_aode_is_scikit_bayes(self, data):
        """scikit-bayes AnDE(n_dependence=1, alpha=1), whose joint factor is smoothed by (N + 1)/(S + C·K) like ours."""
        skbn = pytest.importorskip("skbn")
        if data == "flights":
            X, y = load_flights(backend="numpy")
            X = OrdinalEncoder(dtype=int).fit_transform(X[:2000, [0, 1, 4, 7, 8]])
            y = (y[:2000] == "late").astype(int)
        elif data == "random":
            X, y = random_data(5, classes=4, sizes=(3, 4, 5, 6, 2))
        else:
            X, y = SKLEARN_DATA[data](return_X_y=True)
            quarters = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
            X = OrdinalEncoder(dtype=int).fit_transform((quarters[:, None] < X).sum(axis=0))
        theirs = skbn.AnDE(n_dependence=1, alpha=1.0).fit(X, y)
        ours = AODE("laplace").fit(X, y)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


class TestCaps:
    def test_a_parent_over_the_cap_uses_marginal_factors(self):
        X, y = random_data(6)
        naive = NaiveBayes().fit(X, y)
        model = AODE(max_parent_categories=4).fit(X, y)
        assert np.isnan(model.concentration_[:, 1]).all()
        assert np.isnan(model.concentration_[:, 3]).all()
        assert_array_equal(model.parents_, [0, 1, 2, 3])

        def concentration(c, i, j):
            return None if np.isnan(model.concentration_[c, i, j]) else model.concentration_[c, i, j]

        expected = reference(
            X, y, X[:40], concentration, "marginal", marginal=lambda c, j, v: naive.feature_log_prob_[j][c, v]
        )
        assert_allclose(model.predict_proba(X[:40]), expected, rtol=1e-10)
        assert_allclose(fit_sparse(AODE(max_parent_categories=4), X, y).predict_proba(X[:40]), expected, rtol=1e-10)

    def test_a_parent_over_the_cap_can_be_left_out(self):
        X, y = random_data(7)
        model = AODE("laplace", max_parent_categories=4, over_cap="skip").fit(X, y)
        assert_array_equal(model.parents_, [0, 2])
        expected = reference(X, y, X[:40], lambda c, i, j: len(set(X[:, j])), "uniform", skip=(1, 3))
        assert_allclose(model.predict_proba(X[:40]), expected, rtol=1e-10)

    @pytest.mark.parametrize("smoothing", ["heb-m", "laplace"])
    def test_without_parents_it_is_naive_bayes(self, smoothing):
        X, y = random_data(8)
        naive = NaiveBayes(smoothing).fit(X, y)
        no_parent = AODE(smoothing, max_parent_categories=0, over_cap="skip").fit(X, y)
        assert_allclose(no_parent.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-12)
        assert len(no_parent.parents_) == 0
        one_feature = AODE(smoothing).fit(X[:, [1]], y)
        assert_allclose(
            one_feature.predict_proba(X[:, [1]]), NaiveBayes(smoothing).fit(X[:, [1]], y).predict_proba(X[:, [1]])
        )
        unseen = [[99, 99, 99, 99]]
        assert_allclose(AODE(smoothing).fit(X, y).predict_proba(unseen), naive.predict_proba(unseen))

    def test_a_pair_over_the_joint_cap(self):
        X, y = random_data(9)
        model = AODE(max_joint_cells=5 * 3 * 3).fit(X, y)  # 2·12·3, 5·12·3 and 3·12·3 are over it
        assert_array_equal(np.isnan(model.concentration_[0, :, 3]), True)
        assert np.isfinite(model.concentration_[0, 0, 1])
        assert_array_equal(AODE(max_joint_cells=5 * 3 * 3, over_cap="skip").fit(X, y).parents_, [])

    @pytest.mark.parametrize("over_cap", ["marginal", "skip"])
    def test_every_pair_over_the_caps(self, over_cap):
        X, y = random_data(9)
        dense = AODE(max_joint_cells=0, over_cap=over_cap).fit(X, y)
        sparse = fit_sparse(AODE(max_joint_cells=0, over_cap=over_cap), X, y)
        assert np.isnan(sparse.concentration_).all()
        assert_allclose(sparse.predict_joint_log_proba(X), dense.predict_joint_log_proba(X), rtol=1e-12)

    def test_caps_that_nothing_exceeds_change_nothing(self):
        X, y = random_data(10)
        assert_array_equal(AODE(**NO_CAPS).fit(X, y).predict_proba(X), AODE().fit(X, y).predict_proba(X))

    def test_rare_values_can_be_kept_from_being_parents(self):
        X, y = random_data(11)
        model = AODE("laplace", min_parent_count=30).fit(X, y)
        expected = reference(X, y, X[:40], lambda c, i, j: len(set(X[:, j])), "uniform", min_count=30)
        assert_allclose(model.predict_proba(X[:40]), expected, rtol=1e-10)


class TestLaws:
    pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

    def test_m_equal_to_k_with_equal_means_is_laplace(self):
        class NumberOfCategories(Smoother):
            prior_mean = "uniform"

            def concentration(self, sizes, largest, evidence):
                return sizes

        X, y = random_data(12)
        pinned = AODE(NumberOfCategories()).fit(X, y)
        assert_array_equal(pinned.predict_proba(X), AODE(Additive()).fit(X, y).predict_proba(X))

    @given(rows=ROWS, smoothing=st.sampled_from(["heb-m", "heb-u", "laplace", "te"]))
    @examples(40)
    def test_sparse_and_dense_tables_agree(self, rows, smoothing):
        X, y = split(rows)
        new = np.concatenate([X, [["?", 9, "m"], [None, None, None]]])
        dense, sparse = AODE(smoothing).fit(X, y), fit_sparse(AODE(smoothing), X, y)
        assert isinstance(dense.counts_.pairs, DensePairs)
        assert_allclose(sparse.concentration_, dense.concentration_, rtol=1e-8)
        found, expected = sparse.predict_joint_log_proba(new), dense.predict_joint_log_proba(new)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-14)  # the log of 1 is 0, but for the last bit
        assert_allclose(dense.predict_proba(new).sum(axis=1), 1, rtol=1e-10)

    @given(rows=ROWS, data=st.data(), sparsely=st.booleans())
    @examples(40)
    def test_batches_add_up_to_the_whole(self, rows, data, sparsely):
        cut = data.draw(st.integers(1, len(rows) - 1))
        X, y = split(rows)
        whole = AODE().fit(X, y)
        fits = (lambda *_: False) if sparsely else (lambda *_: True)
        with patch("hebnb.counts.pairs.dense_fits", fits):
            parts = AODE().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
        assert_array_equal(whole.classes_, parts.classes_)
        assert_allclose(parts.concentration_, whole.concentration_, rtol=1e-8)
        assert_allclose(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-8)

    def test_batches_that_cross_a_cap(self):
        X, y = random_data(13)
        first = X[:, 3] < 4
        parts = AODE(max_parent_categories=6).partial_fit(X[first], y[first]).partial_fit(X[~first], y[~first])
        whole = AODE(max_parent_categories=6).fit(X, y)
        assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=1e-9)

    @given(rows=ROWS, data=st.data())
    @examples(40)
    def test_a_weight_is_a_number_of_rows(self, rows, data):
        X, y = split(rows)
        weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
        weights[0] = 1
        weighted = AODE().fit(X, y, sample_weight=weights)
        repeated = AODE().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert_allclose(weighted.concentration_, repeated.concentration_, rtol=1e-8)
        assert_allclose(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-8)

    @given(rows=ROWS, data=st.data())
    @examples(40)
    def test_the_order_of_rows_does_not_matter(self, rows, data):
        X, y = split(rows)
        shuffled, labels = split(data.draw(st.permutations(rows)))
        assert_array_equal(
            AODE().fit(X, y).predict_joint_log_proba(X), AODE().fit(shuffled, labels).predict_joint_log_proba(X)
        )

    def test_an_empty_bin_says_nothing(self):
        X = np.stack([np.tile([0.5, 1.5, 2.5, 3.5], 25), np.arange(100) % 5], axis=1)
        y = np.arange(100) % 2
        new = [[15.0, 2.0], [0.5, 2.0]]
        edges = {0: [1, 2, 3, 10, 20]}
        dense, sparse = AODE(bin_edges=edges).fit(X, y), fit_sparse(AODE(bin_edges=edges), X, y)
        assert_allclose(sparse.predict_joint_log_proba(new), dense.predict_joint_log_proba(new), rtol=1e-10)
        naive = NaiveBayes(bin_edges=edges).fit(X, y)
        with patch("hebnb.counts.single._dense_fits", lambda *_: False):
            sparse_naive = NaiveBayes(bin_edges=edges).fit(X, y)
        assert_allclose(sparse_naive.predict_joint_log_proba(new), naive.predict_joint_log_proba(new), rtol=1e-10)

    @pytest.mark.parametrize("missing", ["ignore", "category"])
    def test_gaps(self, missing):
        X, y = split([("red", 1, "s", "no"), (None, 1, "m", "yes"), ("red", 2, None, "no"), (None, 2, "m", "yes")] * 5)
        model = AODE("laplace", missing=missing).fit(X, y)
        sparse = fit_sparse(AODE("laplace", missing=missing), X, y)
        assert_allclose(sparse.predict_joint_log_proba(X), model.predict_joint_log_proba(X), rtol=1e-10)
        if missing == "ignore":  # P(m | yes, red) has no document: only rows with both values count
            assert model.counts_.pairs.square.sum() == 2 * (10 + 15 + 5)


class TestLimits:
    def test_no_underflow_with_hundreds_of_features(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=300)
        X = (rng.integers(4, size=(300, 400)) + y[:, np.newaxis]) % 4
        proba = AODE().fit(X, y).predict_proba(np.concatenate([X, np.full((1, 400), 99)]))
        assert np.isfinite(proba).all()
        assert_allclose(proba.sum(axis=1), 1)

    def test_a_thousand_features(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=200)
        X = (rng.integers(3, size=(200, 1000)) + y[:, np.newaxis] * (rng.random((200, 1000)) < 0.1)) % 3
        assert AODE().fit(X, y).score(X, y) > 0.9

    def test_thousands_of_categories_without_caps(self):
        rng = np.random.default_rng(0)
        X = rng.integers(7500, size=(5000, 9))
        y = X[:, 0] % 2
        model = AODE(**NO_CAPS).fit(X, y)
        assert isinstance(model.counts_.pairs, SparsePairs)
        assert model.score(X, y) > 0.9

    @pytest.mark.parametrize(
        ("sizes", "rows", "classes"),
        [((7500,) * 9, 20_000, 2), ((400,) * 6, 1000, 300), ((55,) * 16, 20_000, 2), ((240, 240), 60_000, 2)],
    )
    @pytest.mark.parametrize("smoothing", ["laplace", "heb-m"])
    def test_the_estimate_of_memory_is_honest(self, sizes, rows, classes, smoothing):
        rng = np.random.default_rng(0)
        X = np.stack([rng.integers(k, size=rows) for k in sizes], axis=1)
        y = rng.integers(classes, size=rows)
        model = AODE(smoothing, **NO_CAPS)
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        estimate = estimated_bytes(model.counts_.layout, classes, rows, model.counts_.caps)
        assert peak < estimate
        if smoothing == "heb-m":  # the others solve nothing, for which the estimate allows
            assert peak > estimate / 4

    def test_batches_stay_within_the_memory_limit(self):
        model = AODE(memory_limit=3e6, **NO_CAPS)
        rng = np.random.default_rng(0)

        def forty_batches():
            for batch in range(40):
                model.partial_fit(rng.integers(300, size=(300, 4)) + 300 * batch, rng.integers(2, size=300))

        with pytest.raises(ValueError, match="memory_limit is 3 MB"):
            forty_batches()
        assert model.counts_.n_rows < 40 * 300

    def test_caps_may_not_change_between_batches(self):
        X, y = random_data()
        model = AODE(max_parent_categories=10).partial_fit(X, y).set_params(max_parent_categories=None)
        with pytest.raises(ValueError, match="caps differ"):
            model.partial_fit(X, y)

    def test_many_classes_take_little_memory_to_predict(self):
        rng = np.random.default_rng(0)
        X, y = rng.integers(3, size=(3000, 2)), np.arange(3000) % 1000
        model = AODE().fit(X, y)
        tracemalloc.start()
        proba = model.predict_proba(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6 * proba.nbytes

    def test_memory_is_estimated_before_it_is_taken(self):
        X, y = random_data(15, sizes=(40, 50, 60), rows=3000)
        with pytest.raises(ValueError, match="(?s)AODE needs about .* MB.*column 2 .60 categories.*raise memory_limit"):
            AODE(memory_limit=1000).fit(X, y)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"over_cap": "drop"}, "over_cap='drop' is not known"),
            ({"max_parent_categories": -1}, "max_parent_categories"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            AODE(**parameters).fit([[1, 2], [2, 1]], [0, 1])
