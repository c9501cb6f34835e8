"""NaiveBayes against a slow reference, against scikit-learn, and its laws."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import gammaln
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

from conftest import examples
from hebnb import HEB, Additive, MEstimate, NaiveBayes

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")

SMOOTHINGS = ["heb-m", "heb-u", "laplace", "lidstone", "kt", "m-estimate", "te"]

# Small tables: a text column with gaps, an integer one, and a label; few enough values that all meet.
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]), st.integers(0, 3), st.sampled_from(["no", "yes", "maybe"])
    ),
    min_size=2,
    max_size=40,
)


def split(rows):
    """Features as an object array, and labels."""
    X = np.empty((len(rows), 2), dtype=object)
    X[:] = [row[:2] for row in rows]
    return X, np.array([row[2] for row in rows], dtype=object)


def random_data(seed=0, rows=400, sizes=(2, 5, 40), classes=3):
    """Integer codes that depend on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    X = np.stack(
        [
            rng.choice(k, size=(classes, rows), p=None)[y, np.arange(rows)] * (rng.random(rows) < 0.6)
            + (y * (rng.random(rows) < 0.5)) % k
            for k in sizes
        ],
        axis=1,
    ) % np.array(sizes)
    return X, y


def reference(X, y, prior_mean, concentration, weights=None, new=None):
    """P(class | row) from the definitions, one row, class and feature at a time. Gaps are a category."""
    weights = np.ones(len(y)) if weights is None else weights
    classes = sorted(set(y.tolist()))
    proba = []
    for row in X if new is None else new:
        scores = []
        for c in classes:
            here = y == c
            score = math.log((weights[here].sum() + 1) / (weights.sum() + len(classes)))
            for f in range(X.shape[1]):
                column = X[:, f]
                values = set(column.tolist())
                if row[f] not in values:
                    continue
                pooled = weights[column == row[f]].sum() / weights.sum()
                theta = pooled if prior_mean == "marginal" else 1 / len(values)
                m = concentration(c, f, values)
                n = weights[here & (column == row[f])].sum()
                score += math.log((n + m * theta) / (weights[here].sum() + m))
            scores.append(score)
        total = np.logaddexp.reduce(scores)
        proba.append(np.exp(np.array(scores) - total))
    return np.array(proba)


class TestAgainstReferences:
    @pytest.mark.parametrize(("name", "alpha"), [("laplace", 1.0), ("lidstone", 0.1), ("kt", 0.5)])
    @pytest.mark.parametrize("classes", [2, 3, 7])
    def test_additive_smoothing_is_categorical_nb(self, name, alpha, classes):
        X, y = random_data(classes, classes=classes)
        prior = (np.bincount(y) + 1) / (len(y) + classes)
        theirs = CategoricalNB(alpha=alpha, class_prior=prior).fit(X, y)
        ours = NaiveBayes(name).fit(X, y)
        assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-12, atol=1e-12)
        assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        for mine, sklearns in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
            assert_allclose(mine, sklearns, rtol=1e-12)
        for mine, sklearns in zip(ours.category_count_, theirs.category_count_, strict=True):
            assert_array_equal(mine, sklearns)
        assert_array_equal(ours.class_count_, theirs.class_count_)

    def test_weighted_additive_smoothing_is_categorical_nb(self):
        X, y = random_data(5)
        weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
        class_weight = np.bincount(y, weights)
        theirs = CategoricalNB(class_prior=(class_weight + 1) / (class_weight.sum() + 3)).fit(X, y, weights)
        ours = NaiveBayes("laplace").fit(X, y, weights)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-11)

    @given(rows=ROWS, new=ROWS)
    @examples(40)
    def test_fixed_smoothers_follow_their_definition(self, rows, new):
        (X, y), (unseen, _) = split(rows), split(new)
        for name, mean, m in [
            ("kt", "uniform", lambda c, f, values: 0.5 * len(values)),
            ("m-estimate", "marginal", lambda c, f, values: 2),
            ("te", "marginal", lambda c, f, values: 10),
        ]:
            model = NaiveBayes(name).fit(X, y)
            assert_allclose(model.predict_proba(unseen), reference(X, y, mean, m, new=unseen), rtol=1e-10)

    @pytest.mark.parametrize("name", ["heb-m", "heb-u"])
    def test_learned_smoothing_follows_its_definition(self, name):
        X, y = random_data(2)
        model = NaiveBayes(name).fit(X, y)
        mean = "marginal" if name == "heb-m" else "uniform"

        def concentration(c, f, values):
            theta = np.array([np.mean(X[:, f] == v) if mean == "marginal" else 1 / len(values) for v in sorted(values)])
            n = np.array([np.sum((X[:, f] == v) & (y == c)) for v in sorted(values)])

            def loss(log_m):
                m = np.exp(log_m)
                seen = n > 0
                return -(
                    gammaln(m) - gammaln(n.sum() + m) + np.sum(gammaln(n + m * theta)[seen] - gammaln(m * theta)[seen])
                )

            best = minimize_scalar(loss, bounds=np.log((1e-2, 1e4)), method="bounded", options={"xatol": 1e-10})
            return np.exp(best.x)

        expected = [[concentration(c, f, set(X[:, f].tolist())) for f in range(3)] for c in range(3)]
        assert_allclose(np.log(model.concentration_), np.log(expected), atol=1e-4)
        learned = reference(X, y, mean, lambda c, f, values: model.concentration_[c, f])
        assert_allclose(model.predict_proba(X), learned, rtol=1e-10)

    def test_sparse_tables_give_what_dense_ones_do(self, monkeypatch):
        rng = np.random.default_rng(0)
        X = np.stack([rng.integers(700, size=3000), rng.integers(4, size=3000)], axis=1)
        y = rng.integers(120, size=3000)
        new = np.concatenate([X[:500], [[9999, 1], [5, 9999], [9999, 9999]]])
        for name in ("heb-m", "laplace"):
            model = NaiveBayes(name).fit(X, y)
            assert not isinstance(model.counts_.tables[0], np.ndarray)
            with monkeypatch.context() as patch:
                patch.setattr("hebnb.counts.single._SMALL_TABLE", 1 << 30)
                dense = NaiveBayes(name).fit(X, y)
            assert isinstance(dense.counts_.tables[0], np.ndarray)
            assert_allclose(model.concentration_, dense.concentration_, rtol=1e-9)
            assert_allclose(model.predict_joint_log_proba(new), dense.predict_joint_log_proba(new), rtol=1e-10)
            assert_allclose(model.feature_log_prob_[0], dense.feature_log_prob_[0], rtol=1e-10)
            parts = NaiveBayes(name).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
            assert_allclose(model.predict_joint_log_proba(new), parts.predict_joint_log_proba(new), rtol=1e-10)


class TestLaws:
    @given(rows=ROWS, smoothing=st.sampled_from(SMOOTHINGS), weighting=st.sampled_from([None, "sqrt-mi", "loo"]))
    @examples(100)
    def test_probabilities_are_probabilities(self, rows, smoothing, weighting):
        X, y = split(rows)
        proba = NaiveBayes(smoothing, weighting=weighting).fit(X, y).predict_proba([["unheard of", 7], ["red", None]])
        assert (proba >= 0).all()
        assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)

    @given(rows=ROWS, smoothing=st.sampled_from(SMOOTHINGS))
    @examples(100)
    def test_every_class_distribution_sums_to_one(self, rows, smoothing):
        X, y = split(rows)
        for logs in NaiveBayes(smoothing).fit(X, y).feature_log_prob_:
            assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=1e-10)

    @given(rows=ROWS, data=st.data(), smoothing=st.sampled_from(SMOOTHINGS))
    @examples(100)
    def test_the_order_of_rows_does_not_matter(self, rows, data, smoothing):
        X, y = split(rows)
        shuffled, labels = split(data.draw(st.permutations(rows)))
        model, other = NaiveBayes(smoothing).fit(X, y), NaiveBayes(smoothing).fit(shuffled, labels)
        assert_array_equal(model.concentration_, other.concentration_)
        assert_array_equal(model.predict_joint_log_proba(X), other.predict_joint_log_proba(X))

    @given(rows=ROWS, smoothing=st.sampled_from(SMOOTHINGS))
    @examples(100)
    def test_the_names_of_categories_do_not_matter(self, rows, smoothing):
        X, y = split(rows)
        renamed = np.array(
            [[{"red": 3, "green": -1, "blue": 17, None: 99}[a], f"z{9 - b}"] for a, b in X], dtype=object
        )
        model, other = NaiveBayes(smoothing).fit(X, y), NaiveBayes(smoothing).fit(renamed, y)
        assert_allclose(model.predict_joint_log_proba(X), other.predict_joint_log_proba(renamed), rtol=1e-9)

    @given(rows=ROWS, data=st.data(), smoothing=st.sampled_from(SMOOTHINGS))
    @examples(100)
    def test_batches_add_up_to_the_whole(self, rows, data, smoothing):
        cut = data.draw(st.integers(1, len(rows) - 1))
        X, y = split(rows)
        whole = NaiveBayes(smoothing).fit(X, y)
        parts = NaiveBayes(smoothing).partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
        assert_array_equal(whole.classes_, parts.classes_)
        for mine, theirs in zip(whole.categories_, parts.categories_, strict=True):
            assert_array_equal(mine, theirs)
        assert_array_equal(whole.concentration_, parts.concentration_)
        assert_array_equal(whole.predict_joint_log_proba(X), parts.predict_joint_log_proba(X))

    @given(
        rows=ROWS,
        data=st.data(),
        smoothing=st.sampled_from(SMOOTHINGS),
        weighting=st.sampled_from([None, "sqrt-mi"]),
    )
    @examples(100)
    def test_a_weight_is_a_number_of_rows(self, rows, data, smoothing, weighting):
        X, y = split(rows)
        floats = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(y), max_size=len(y))))
        X = np.concatenate([X, floats[:, np.newaxis]], axis=1).astype(object)
        weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
        weights[0] = 1
        model = NaiveBayes(smoothing, weighting=weighting, n_bins=3)
        weighted = clone(model).fit(X, y, sample_weight=weights)
        repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert_array_equal(weighted.classes_, repeated.classes_)
        for mine, theirs in zip(weighted.categories_, repeated.categories_, strict=True):
            assert_array_equal(mine, theirs)
        assert_array_equal(weighted.concentration_, repeated.concentration_)
        assert_allclose(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-12)


class TestUse:
    def test_attributes(self):
        X, y = random_data()
        model = NaiveBayes().fit(X, y)
        assert model.concentration_.shape == model.shrinkage_.shape == (3, 3)
        assert_allclose(
            model.shrinkage_, model.concentration_ / (model.class_count_[:, np.newaxis] + model.concentration_)
        )
        assert_allclose(np.exp(model.class_log_prior_), (model.class_count_ + 1) / (len(y) + 3))
        assert_array_equal(model.feature_weights_, [1, 1, 1])
        assert model.n_features_in_ == 3
        assert not hasattr(model, "feature_names_in_")
        for mean, counts in zip(model.prior_mean_, model.category_count_, strict=True):
            assert_allclose(mean, counts.sum(axis=0) / len(y))

    def test_class_prior(self):
        X, y = random_data()
        model = NaiveBayes(class_prior=[0.7, 0.2, 0.1]).fit(X, y)
        assert_allclose(model.predict_proba([[99, 99, 99]]), [[0.7, 0.2, 0.1]])
        assert NaiveBayes(class_prior=[1, 0, 0]).fit(X, y).predict_proba(X)[:, 0] == pytest.approx(1)

    def test_one_class_is_predicted(self):
        model = NaiveBayes().fit([["a"], ["b"]], ["only", "only"])
        assert_array_equal(model.predict([["a"], ["z"]]), ["only", "only"])
        assert_array_equal(model.predict_proba([["a"]]), [[1.0]])

    def test_partial_fit_with_classes_given(self):
        model = NaiveBayes().partial_fit([["a"]], ["x"], classes=["x", "y"])
        assert_array_equal(model.classes_, ["x", "y"])
        assert_array_equal(model.class_count_, [1, 0])
        assert_allclose(model.predict_proba([["a"]]).sum(), 1)
        with pytest.raises(ValueError, match="not in classes: 'z'"):
            model.partial_fit([["a"]], ["z"])
        with pytest.raises(ValueError, match="classes lacks labels of earlier batches: 'z'"):
            NaiveBayes().partial_fit([["a"]], ["z"]).partial_fit([["a"]], ["x"], classes=["x", "y"])
        with pytest.raises(ValueError, match="classes differ"):
            model.partial_fit([["a"]], ["x"], classes=["x", "z"])
        assert_array_equal(model.class_count_, [1, 0])
        assert_array_equal(model.partial_fit([["b"]], ["y"]).class_count_, [1, 1])

    def test_fit_forgets_partial_fits(self):
        X, y = random_data()
        model = NaiveBayes().partial_fit(X, y, classes=[0, 1, 2, 3]).fit(X, y)
        assert_array_equal(model.classes_, [0, 1, 2])
        assert_array_equal(model.partial_fit(X, y + 9).classes_, [0, 1, 2, 9, 10, 11])

    def test_partial_fit_keeps_the_bins_of_the_first_batch(self):
        rng = np.random.default_rng(0)
        first, second = rng.normal(size=(100, 1)), rng.normal(3, size=(100, 1))
        y = rng.integers(2, size=100)
        model = NaiveBayes().partial_fit(first, y)
        edges = model.bin_edges_[0].copy()
        model.partial_fit(second, y)
        assert_array_equal(model.bin_edges_[0], edges)
        assert sum(model.class_count_) == 200
        given_edges = NaiveBayes(bin_edges={0: edges})
        assert_array_equal(
            given_edges.fit(np.concatenate([first, second]), np.concatenate([y, y])).predict_proba(first),
            model.predict_proba(first),
        )

    def test_floats_that_keep_coming_are_pointed_out(self):
        rng = np.random.default_rng(0)
        model = NaiveBayes().partial_fit(rng.random((5, 1)), [0, 1, 0, 1, 0])
        with pytest.warns(UserWarning, match="Column 0: its numbers are categories.*bin_edges") as seen:
            model.partial_fit(rng.random((20, 1)), [0, 1] * 10)
        assert seen[0].filename.endswith(("learner.py", "test_naive_bayes.py"))

    def test_grid_search_reaches_into_smoothers(self):
        X, y = random_data()
        search = GridSearchCV(NaiveBayes(Additive()), {"smoothing__alpha": [0.01, 1.0, 100.0]}, scoring="neg_log_loss")
        scores = search.fit(X, y).cv_results_["mean_test_score"]
        assert len({*scores}) == 3
        assert search.best_score_ == max(scores)
        search = GridSearchCV(
            NaiveBayes(), {"smoothing": ["laplace", HEB(), MEstimate(3)], "weighting": [None, "sqrt-mi"]}
        )
        assert search.fit(X, y).best_score_ > 1 / 3

    def test_among_other_tools(self):
        X, y = random_data()
        pipeline = make_pipeline(FunctionTransformer(), NaiveBayes())
        assert cross_validate(pipeline, X, y, scoring="neg_log_loss")["test_score"].shape == (5,)
        calibrated = CalibratedClassifierCV(NaiveBayes(), cv=3).fit(X, y)
        assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
        assert NaiveBayes().fit(X, y).score(X, y) > 1 / 3

    @pytest.mark.parametrize("backend", ["pandas", "polars"])
    def test_among_other_tools_with_tables(self, backend):
        library = pytest.importorskip(backend)
        X = library.DataFrame({"colour": ["red", "blue", None, "blue"] * 15, "size": ["s", "m", "m", "l"] * 15})
        y = np.array([0, 1, 0, 1] * 15)
        model = NaiveBayes()
        assert cross_validate(model, X, y, scoring="neg_log_loss")["test_score"].min() > -0.5
        assert GridSearchCV(model, {"missing": ["category", "ignore"]}).fit(X, y).best_score_ == 1
        assert CalibratedClassifierCV(model, cv=3).fit(X, y).predict(X).shape == (60,)
        encoder = OrdinalEncoder(dtype=np.int64, encoded_missing_value=-1).set_output(transform=backend)
        assert make_pipeline(encoder, model).fit(X, y).score(X, y) == 1
