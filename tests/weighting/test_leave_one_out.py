"""Leave-one-out scores against refitting, the weights learned from them, and what people can throw at both."""

import math
import pickle
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss

from hebnb import AODE, InputError, NaiveBayes, Smoother
from hebnb.columns.table import read
from hebnb.scores.left_out import Rows
from hebnb.weighting.leave_one_out import MOST_ROWS, left_out_likelihood, parts_of, row_limit

SMOOTHINGS = ["heb-m", "heb-u", "laplace", "lidstone", "kt", "m-estimate", "te"]


class Pinned(Smoother):
    """Concentrations that were learned elsewhere, of shape (F, C) or (C, F, F)."""

    def __init__(self, prior_mean="marginal", m=None):
        self.prior_mean = prior_mean
        self.m = m

    def concentration(self, sizes, largest, evidence):
        return np.broadcast_to(self.m, sizes.shape)


def make_data(seed=0, rows=60, classes=3):
    """Text with rare values and gaps, integers, and numbers to be cut; neighbours depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    first = (rng.geometric(0.3, size=rows) + y) % 12
    second = np.where(rng.random(rows) < 0.5, first % 4, rng.integers(4, size=rows))
    X = np.empty((rows, 4), dtype=object)
    X[:, 0] = [None if rng.random() < 0.1 else f"v{code}" for code in first]
    X[:, 1] = second
    X[:, 2] = (y + second) % 3
    X[:, 3] = rng.normal(y, 1.0)
    return X, np.array(["no", "yes", "maybe"], dtype=object)[y]


def larger_data(rows, seed=0, repeats=1):
    """Binary labels; features of few and of many categories, some of them repeated."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=rows)
    tilt = rng.normal(size=(3, 2, 200)) * 0.7
    columns = []
    for f, k in enumerate((5, 20, 200)):
        p = np.exp(tilt[f, :, :k])
        draw = [rng.choice(k, size=rows, p=p[c] / p[c].sum()) for c in (0, 1)]
        columns += [np.where(y == 0, *draw)] * repeats
    return np.stack(columns, axis=1), y


def refitted(model, X, y, row, weights, smoothing):
    """A model of all rows but one, or with one less of it, with the same concentrations and bins."""
    rest = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    rest = rest - np.where(np.arange(len(y)) == row, np.minimum(rest, 1), 0)
    other = type(model)(smoothing, bin_edges=model.bin_edges_)
    return other.partial_fit(X, y, classes=model.classes_, sample_weight=rest)


class TestNaiveBayesScores:
    @pytest.mark.parametrize("weights", [None, "integers", "fractions"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_equal_a_model_without_the_row(self, smoothing, weights):
        X, y = make_data()
        rng = np.random.default_rng(1)
        w = {"integers": rng.integers(1, 4, size=len(y)), "fractions": rng.uniform(0.2, 2.0, size=len(y))}.get(weights)
        model = NaiveBayes(smoothing, n_bins=4).fit(X, y, sample_weight=w)
        ours = model.loo_predict_proba(X, y, sample_weight=w)
        pinned = Pinned(model.score_tables_.rule.prior_mean, model.concentration_.T)
        for row in range(len(y)):
            other = refitted(model, X, y, row, w, pinned)
            assert_allclose(ours[row], other.predict_proba(X[row : row + 1])[0], atol=1e-10)

    def test_a_bin_outlives_its_last_row(self):
        X = np.array([[0.1], [0.2], [0.3], [5.0]])
        y = ["a", "b", "a", "b"]
        model = NaiveBayes("laplace", bin_edges={0: [1.0]}).fit(X, y)
        # Without the last row: prior 3/5 and 2/5; no row above 1.0, so 1/(2 + 2) and 1/(1 + 2).
        expected = np.array([3 / 5 / 4, 2 / 5 / 3])
        assert_allclose(model.loo_predict_proba(X, y)[3], expected / expected.sum(), atol=1e-12)

    def test_ignored_gaps(self):
        X, y = make_data(3)
        model = NaiveBayes(missing="ignore", n_bins=4).fit(X, y)
        pinned = Pinned("marginal", model.concentration_.T)
        ours = model.loo_predict_proba(X, y)
        for row in range(len(y)):
            rest = np.arange(len(y)) != row
            other = NaiveBayes(pinned, missing="ignore", bin_edges=model.bin_edges_)
            other.partial_fit(X[rest], y[rest], classes=model.classes_)
            assert_allclose(ours[row], other.predict_proba(X[row : row + 1])[0], atol=1e-10)

    def test_tables_that_are_sparse(self):
        rng = np.random.default_rng(0)
        y = rng.integers(300, size=3_000)
        X = ((y * 7 + rng.integers(3, size=3_000)) % 900)[:, np.newaxis]
        model = NaiveBayes().fit(X, y)
        assert not isinstance(model.counts_.tables[0], np.ndarray)
        pinned = Pinned("marginal", model.concentration_.T)
        ours = model.loo_predict_proba(X, y)
        for row in (0, 17, 2_999):
            other = refitted(model, X, y, row, None, pinned)
            assert_allclose(ours[row], other.predict_proba(X[row : row + 1])[0], atol=1e-10)

    def test_a_given_class_prior_stays(self):
        X, y = [["a"], ["b"], ["a"]], ["x", "y", "x"]
        model = NaiveBayes("laplace", class_prior=[0.1, 0.9]).fit(X, y)
        # Without the second row "b" is unseen and only the prior speaks.
        assert_allclose(model.loo_predict_proba(X, y)[1], [0.1, 0.9])

    def test_weights_and_offsets_are_those_of_the_model(self):
        X, y = make_data(2, rows=200)
        model = NaiveBayes(weighting="loo").fit(X, y)
        rows = Rows.weighing(
            model.counts_.vocabulary.encode(read(X)), model.counts_.classes.codes_of(y), np.zeros(len(y))
        )
        base, scores = parts_of(model.score_tables_)(rows)  # nothing is left out
        joint = base + np.tensordot(model.feature_weights_, scores, axes=1) + model.class_offsets_[:, np.newaxis]
        assert_allclose(joint.T, model.predict_joint_log_proba(X), atol=1e-10)

    def test_rows_whose_category_was_dropped(self):
        X, y = make_data(rows=100)
        model = NaiveBayes(max_categories=3).fit(X, y)
        assert np.isfinite(model.loo_predict_proba(X, y)).all()

    def test_rows_that_do_not_count(self):
        X, y, weights = [["a"], ["b"], ["a"], ["z"], ["b"]], ["x", "y", "y", "q", None], [1, 1, 1, 0, 0]
        model = NaiveBayes("laplace").fit(X, y, sample_weight=weights)
        proba = model.loo_predict_proba(X, y, sample_weight=weights)
        assert_allclose(proba[3:], model.predict_proba(X)[3:])
        with pytest.raises(InputError, match="0 rows"):
            model.loo_predict_proba(np.empty((0, 1)), [])

    @pytest.mark.parametrize(
        ("X", "y", "named"),
        [
            ([["a"], ["z"]], ["x", "y"], "Row 1"),
            ([["a"], ["b"]], ["x", "x"], "Row 1"),
            ([["a"], ["b"]], ["x", "other"], "Row 1"),
        ],
    )
    def test_rows_that_were_not_counted(self, X, y, named):
        model = NaiveBayes().fit([["a"], ["b"]], ["x", "y"])
        with pytest.raises(InputError, match=named):
            model.loo_predict_proba(X, y)


def estimate(X, y, w, row, i, m, rule, marginal, classes):
    """One parent's estimate for a row from the definition; None where the parent's value says nothing.

    A None among the values is nothing.
    """
    values = [set(X[w > 0, f].tolist()) - {None} for f in range(X.shape[1])]
    if row[i] not in values[i]:
        return None
    logs = []
    for c, label in enumerate(classes):
        parent = w * (y == label) * (X[:, i] == row[i])
        log = math.log((parent.sum() + 1) / (w.sum() + len(classes) * len(values[i])))
        for j in range(X.shape[1]):
            if j == i or row[j] not in values[j]:
                continue
            if np.isnan(m[c, i, j]):
                log += marginal[j][c]
                continue
            there = np.array([value is not None for value in X[:, j]])
            pooled = w[X[:, j] == row[j]].sum()
            theta = pooled / w[there].sum() if rule == "marginal" else 1 / len(values[j])
            total = (parent * there).sum()
            log += math.log(((parent * (X[:, j] == row[j])).sum() + m[c, i, j] * theta) / (total + m[c, i, j]))
        logs.append(log)
    return logs


class TestAodeScores:
    @pytest.mark.parametrize("layout", ["dense", "sparse"])
    @pytest.mark.parametrize("smoothing", ["heb-m", "heb-u", "laplace", "te"])
    @pytest.mark.parametrize(("cap", "missing"), [(200, "category"), (4, "category"), (200, "ignore")])
    def test_equal_the_definition_without_the_row(self, smoothing, layout, cap, missing):
        X, y = make_data(rows=40)
        X = X[:, :3]
        if missing == "category":
            X[X[:, 0] == None, 0] = "gap"  # noqa: E711
        weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=len(y))
        model = AODE(smoothing, weighting="loo", max_parent_categories=cap, min_parent_count=0, missing=missing)
        with patch("hebnb.counts.pairs.dense_fits", lambda *_: layout == "dense"):
            model.fit(X, y, sample_weight=weights)
        naive = NaiveBayes(smoothing, missing=missing).fit(X, y, sample_weight=weights)
        codes = model.counts_.vocabulary.encode(read(X))
        labels = model.counts_.classes.codes_of(y)
        rows = Rows.weighing(codes, labels, weights)
        _, scores = parts_of(model.score_tables_)(rows)
        prior, factors = parts_of(naive.score_tables_)(rows)
        n_parents = len(model.parents_)
        assert n_parents == 3
        assert_array_equal(scores[n_parents:], factors)
        for row in range(len(y)):
            rest = weights - np.where(np.arange(len(y)) == row, np.minimum(weights, 1), 0)
            for i in range(n_parents):
                expected = estimate(
                    X, y, rest, X[row], i, model.concentration_, model.score_tables_.rule.prior_mean,
                    factors[:, :, row], model.classes_,
                )  # fmt: skip
                if expected is None:
                    expected = prior[:, row] + factors[:, :, row].sum(axis=0)
                assert_allclose(scores[i, :, row] * n_parents, expected, atol=1e-10)

    def test_prediction_pools_the_same_parts(self):
        X, y = make_data(5, rows=200)
        model = AODE(weighting="loo", min_parent_count=3).fit(X, y)
        codes = model.counts_.vocabulary.encode(read(X))
        rows = Rows.weighing(codes, model.counts_.classes.codes_of(y), np.zeros(len(y)))
        _, scores = parts_of(model.score_tables_)(rows)
        weights = np.concatenate([model.parent_weights_ * len(model.parents_), model.feature_weights_])
        joint = np.tensordot(weights, scores, axes=1) + model.class_offsets_[:, np.newaxis]
        assert_allclose(model.predict_joint_log_proba(X), joint.T, atol=1e-9)

    def test_a_mean_of_estimates_without_the_row(self):
        X, y = make_data(rows=40)
        model = AODE("laplace", missing="ignore").fit(X[:, :3], y)
        ours = model.loo_predict_proba(X[:, :3], y)
        for row in range(0, len(y), 5):
            rest = np.arange(len(y)) != row
            other = AODE("laplace", missing="ignore", bin_edges=model.bin_edges_).partial_fit(
                X[rest][:, :3], y[rest], classes=model.classes_
            )
            sizes = [len(categories) for categories in model.categories_]
            if [len(categories) for categories in other.categories_] == sizes:
                assert_allclose(ours[row], other.predict_proba(X[row : row + 1, :3])[0], atol=1e-10)


class TestWeights:
    def test_they_give_calibrated_probabilities_where_features_repeat(self):
        X, y = larger_data(8_000, repeats=4)
        train, test = slice(0, 4_000), slice(4_000, None)
        plain = NaiveBayes().fit(X[train], y[train])
        weighted = NaiveBayes(weighting="loo").fit(X[train], y[train])
        single = NaiveBayes().fit(X[train, ::4], y[train])  # naive Bayes is true of the features without repeats
        best = log_loss(y[test], single.predict_proba(X[test, ::4]))
        assert log_loss(y[test], weighted.predict_proba(X[test])) < 1.01 * best
        assert log_loss(y[test], plain.predict_proba(X[test])) > 1.5 * best
        # Four copies share the weight of one; with 200 categories that is not 1, for estimates are shrunk.
        assert_allclose(weighted.feature_weights_.reshape(3, 4).sum(axis=1)[:2], 1, atol=0.25)

    @pytest.mark.parametrize("model", [NaiveBayes(weighting="loo"), AODE(weighting="loo")])
    def test_the_estimate_is_what_new_rows_see(self, model):
        X, y = larger_data(40_000, repeats=2)
        model.fit(X[:4_000], y[:4_000])
        seen = log_loss(y[4_000:], model.predict_proba(X[4_000:]))
        assert model.loo_log_loss_ == pytest.approx(seen, rel=0.03)

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_order_and_names_change_nothing(self, make):
        X, y = make_data(7, rows=300)
        model = make(weighting="loo", n_bins=4).fit(X, y)
        order = np.random.default_rng(0).permutation(len(y))
        shuffled = make(weighting="loo", n_bins=4).fit(X[order], y[order])
        assert_allclose(shuffled.predict_proba(X), model.predict_proba(X), atol=1e-8)
        renamed = X.copy()
        renamed[:, 0] = [None if value is None else value[::-1] + "!" for value in X[:, 0]]
        renamed[:, 1] = [100 - value for value in X[:, 1]]
        other = make(weighting="loo", n_bins=4).fit(renamed, y)
        assert_allclose(other.predict_proba(renamed), model.predict_proba(X), atol=1e-8)
        assert other.loo_log_loss_ == pytest.approx(model.loo_log_loss_, abs=1e-9)
        columns = make(weighting="loo", n_bins=4).fit(X[:, ::-1], y)
        assert_allclose(columns.feature_weights_[::-1], model.feature_weights_, atol=1e-6)

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_a_weight_is_a_number_of_rows(self, make):
        X, y = make_data(8, rows=120)
        times = np.random.default_rng(0).integers(0, 4, size=len(y))
        weighted = make(weighting="loo", n_bins=4).fit(X, y, sample_weight=times)
        repeated = make(weighting="loo", n_bins=4).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)
        assert weighted.loo_log_loss_ == pytest.approx(repeated.loo_log_loss_, abs=1e-9)

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_batches(self, make):
        X, y = make_data(9, rows=300)
        X = X[:, :3]
        whole = make(weighting="loo").fit(X, y)
        batches = make(weighting="loo")
        order = np.argsort(y == "no", kind="stable")  # the last batch brings a class of its own
        for part in np.array_split(order, 4):
            batches.partial_fit(X[part], y[part])
        assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-7)
        assert batches.loo_log_loss_ == pytest.approx(whole.loo_log_loss_, abs=1e-8)

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    def test_after_fit_weights_stay(self, make):
        X, y = make_data(rows=100)
        model = make(weighting="loo").fit(X[:80], y[:80])
        weights, offsets, loss = model.feature_weights_, model.class_offsets_, model.loo_log_loss_
        model.partial_fit(X[80:], np.where(y[80:] == "no", "new", y[80:]))
        assert_array_equal(model.classes_, ["maybe", "new", "no", "yes"])
        assert_array_equal(model.feature_weights_, weights)
        assert_array_equal(model.class_offsets_, [offsets[0], 0, *offsets[1:]])
        assert model.loo_log_loss_ == loss
        assert np.isfinite(model.predict_proba(X)).all()

    def test_a_batch_may_be_overwritten(self):
        X, y = larger_data(400)
        buffer, weights = np.asfortranarray(X[:200]), np.ones(200)
        reused = NaiveBayes(weighting="loo").partial_fit(buffer, y[:200], sample_weight=weights)
        buffer[:], weights[:] = X[200:], 5.0
        reused.partial_fit(X[200:], y[200:])
        plain = NaiveBayes(weighting="loo").partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
        assert_array_equal(reused.feature_weights_, plain.feature_weights_)

    def test_a_fitted_model_holds_no_rows(self):
        small, large = (
            len(pickle.dumps(NaiveBayes(weighting="loo").fit(*larger_data(rows)))) for rows in (5_000, 50_000)
        )
        assert large < 1.2 * small

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    @pytest.mark.parametrize("smoothing", ["laplace", "heb-m"])
    def test_noise_is_not_exploited(self, make, smoothing):
        """A feature that by chance tells less than nothing could be given a large negative weight."""
        losses = {"estimate": [], "weighted": [], "plain": []}
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X, y = rng.integers(3, size=(4_000, 20)), rng.integers(2, size=4_000)
            model = make(smoothing, weighting="loo").fit(X[:1_000], y[:1_000])
            plain = make(smoothing).fit(X[:1_000], y[:1_000])
            losses["estimate"].append(model.loo_log_loss_)
            losses["weighted"].append(log_loss(y[1_000:], model.predict_proba(X[1_000:])))
            losses["plain"].append(log_loss(y[1_000:], plain.predict_proba(X[1_000:])))
            assert np.abs(model.feature_weights_).max() < 10
        means = {name: np.mean(values) for name, values in losses.items()}
        assert means["weighted"] < 1.01 * means["plain"]
        assert means["estimate"] > 0.94 * means["weighted"]

    def test_a_class_prior_is_for_new_rows(self):
        """Bayes' rule: another prior moves the log-odds by the difference of the logs."""
        X, y = make_data(5, rows=300)
        model = NaiveBayes(weighting="loo").fit(X, y)
        shifted = NaiveBayes(weighting="loo", class_prior=[0.2, 0.7, 0.1]).fit(X, y)
        assert_allclose(shifted.feature_weights_, model.feature_weights_, atol=1e-12)
        expected = model.predict_log_proba(X) - model.class_log_prior_ + np.log([0.2, 0.7, 0.1])
        expected -= np.logaddexp.reduce(expected, axis=1, keepdims=True)
        assert_allclose(shifted.predict_log_proba(X), expected, atol=1e-10)

    def test_a_parent_that_outgrows_the_cap_takes_its_weight_with_it(self):
        X, y = make_data(rows=120)
        X = X[:, 1:3]
        X = np.concatenate([X, X[:, :1]], axis=1)
        more = X.copy()
        more[0, 0] = 77
        settings = {"weighting": "loo", "over_cap": "skip", "max_parent_categories": 4}
        batches = AODE(**settings).partial_fit(X, y).partial_fit(more, y)
        whole = AODE(**settings).fit(np.concatenate([X, more]), np.concatenate([y, y]))
        assert_array_equal(batches.parents_, [1, 2])
        assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-6)
        model = AODE(**settings).fit(X, y)
        before = model.parent_weights_, model.feature_weights_
        model.partial_fit(more, y)
        assert_allclose(model.parent_weights_, before[0][1:])
        assert_array_equal(model.feature_weights_, before[1])
        assert np.isfinite(model.loo_predict_proba(X, y)).all()

    def test_small_weights_are_small_rows(self):
        X, y = larger_data(2_000)
        model = NaiveBayes(weighting="loo").fit(X, y, sample_weight=np.full(2_000, 1e-3))
        proba = model.loo_predict_proba(X, y, sample_weight=np.full(2_000, 1e-3))
        assert model.loo_log_loss_ == pytest.approx(log_loss(y, proba), rel=0.02)

    @pytest.mark.parametrize("scale", [1e-12, 1e12, 1e15])
    def test_weights_of_any_size(self, scale):
        X, y = make_data(rows=200)
        model = NaiveBayes(weighting="loo").fit(X, y, sample_weight=np.full(200, scale))
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.loo_log_loss_)

    @pytest.mark.parametrize("make", [NaiveBayes, AODE])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_every_smoother(self, make, smoothing):
        X, y = make_data(4, rows=200)
        model = make(smoothing, weighting="loo").fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert log_loss(y, model.loo_predict_proba(X, y), labels=model.classes_) < np.log(3)

    def test_attributes_follow_the_weighting(self):
        X, y = make_data()
        model = AODE(weighting="loo").fit(X, y)
        assert model.parent_weights_.shape == (4,)
        assert model.feature_weights_.shape == (4,)
        assert not hasattr(model.set_params(weighting=None).fit(X, y), "loo_log_loss_")


class TestSamples:
    def test_many_rows_are_sampled(self):
        X, y = larger_data(MOST_ROWS + 10_000)
        models = [NaiveBayes(weighting="loo", random_state=seed).fit(X, y) for seed in (0, 0, 1)]
        assert_array_equal(models[0].feature_weights_, models[1].feature_weights_)
        assert not np.array_equal(models[0].feature_weights_, models[2].feature_weights_)
        assert_allclose(models[0].feature_weights_, models[2].feature_weights_, atol=0.02)

    def test_a_sample_stands_for_all_rows(self):
        X, y = larger_data(20_000)
        whole = NaiveBayes(weighting="loo").fit(X, y)
        with patch("hebnb.weighting.leave_one_out.MOST_ROWS", 5_000):
            sampled = NaiveBayes(weighting="loo").fit(X, y)
            batches = NaiveBayes(weighting="loo")
            for start in range(0, len(y), 3_000):
                batches.partial_fit(X[start : start + 3_000], y[start : start + 3_000])
        assert 4_990 < len(batches._learned.kept.sample) <= 5_000
        for model in (sampled, batches):
            assert_allclose(model.predict_proba(X[:500]), whole.predict_proba(X[:500]), atol=0.03)
            assert model.loo_log_loss_ == pytest.approx(whole.loo_log_loss_, rel=0.05)

    def test_memory_is_bounded(self):
        assert row_limit(2, 2) == MOST_ROWS
        rng = np.random.default_rng(0)
        X, y = rng.integers(5, size=(8_000, 4)), rng.integers(2_000, size=8_000)
        made = []

        def watched(parts, sample, prior):
            made.append(left_out_likelihood(parts, sample, prior))
            return made[-1]

        with (
            patch("hebnb.weighting.leave_one_out._MOST_SCORES", 1 << 22),
            patch("hebnb.weighting.leave_one_out.left_out_likelihood", watched),
        ):
            model = NaiveBayes(weighting="loo").fit(X, y)
        assert made[0].scores.nbytes <= 8 << 22
        assert np.isfinite(model.predict_proba(X[:10])).all()

    def test_streams_are_sampled_like_one_table(self):
        """Classes in proportion to all rows seen, and rows of all batches alike."""
        X, y = larger_data(20_000)
        order = np.argsort(y, kind="stable")  # one class after the other
        with patch("hebnb.weighting.leave_one_out.MOST_ROWS", 2_000):
            model = NaiveBayes(weighting="loo")
            for part in np.array_split(order, 10):
                model.partial_fit(X[part], y[part])
        sample = model._learned.kept.sample
        assert_array_equal(sample.seen, np.bincount(y))
        assert np.mean(sample.labels) == pytest.approx(np.mean(y), abs=0.02)
        assert len(np.unique(sample.keys)) == len(sample)
        # The lowest keys of their class: a fifth or so of the draws in each of the batches that brought it.
        assert sample.keys.max() < 0.3


class TestOddData:
    MODELS = [NaiveBayes(weighting="loo"), AODE(weighting="loo"), NaiveBayes("laplace", weighting="loo")]

    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(
        ("X", "y"),
        [
            ([["a", 1], ["b", 2]], ["x", "x"]),  # one class
            ([["a"], ["b"], ["a"]], ["x", "y", "x"]),  # one feature
            ([["a", 1]] * 6, ["x", "y"] * 3),  # constant features
            ([["a", 1], ["b", 2]] * 50, ["x", "y"] * 50),  # separable
            ([["a", 1], ["b", 1], ["c", 2], ["a", 2]], ["x", "y", "z", "w"]),  # classes of one row
            ([["a", 1]], ["x"]),  # one row
            ([[None, None], [None, None], [None, None]], ["x", "y", "x"]),  # nothing but gaps
            ([[f"id{n}", n] for n in range(40)], ["x", "y"] * 20),  # nothing occurs twice
        ],
    )
    @pytest.mark.filterwarnings("ignore::hebnb.TableWarning")
    def test_sensible_probabilities(self, model, X, y):
        model.fit(X, y)
        for proba in (model.predict_proba([*X, ["never"] * len(X[0])]), model.loo_predict_proba(X, y)):
            assert np.isfinite(proba).all()
            assert_allclose(proba.sum(axis=1), 1)
        assert np.abs(model.feature_weights_).max() < 100
        assert np.isfinite(model.loo_log_loss_)

    def test_separable_rows_are_told_apart(self):
        X, y = [["a", 1], ["b", 2]] * 50, ["x", "y"] * 50
        for model in self.MODELS:
            assert model.fit(X, y).predict_proba([["a", 1]])[0, 0] > 0.95

    @pytest.mark.filterwarnings("ignore:In every column:hebnb.TableWarning")
    def test_identifiers_say_nothing(self):
        """What occurs once tells nothing of a new row, and the model says so of the class shares."""
        X, y = [[f"id{n}"] for n in range(100)], ["x"] * 75 + ["y"] * 25
        model = NaiveBayes(weighting="loo").fit(X, y)
        assert_allclose(model.predict_proba([["new"]])[0], [0.75, 0.25], atol=0.02)
        assert model.loo_log_loss_ == pytest.approx(log_loss(y, [[0.75, 0.25]] * 100), rel=0.05)

    def test_a_class_without_prior(self):
        X, y = make_data()
        model = NaiveBayes(weighting="loo", class_prior=[0.5, 0.5, 0.0]).fit(X, y)
        assert_array_equal(model.feature_weights_, NaiveBayes(weighting="loo").fit(X, y).feature_weights_)
        assert_array_equal(model.predict_proba(X)[:, 2], 0)
