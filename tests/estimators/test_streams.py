"""Rows that come, fade and are taken back: the model is that of a fit on what is left of them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hebnb import AODE, KDB, TAN, EvidenceClassifier, InputError, NaiveBayes, ParameterError, fit_batches, load, save
from hebnb.columns.table import read

EDGES = {"bin_edges": {"size": [0.0, 1.0]}}
# Models that a fit on other rows makes in the same way; the others keep what the first rows decided.
EXACT = {
    "naive Bayes": partial(NaiveBayes, **EDGES),
    "Laplace": partial(NaiveBayes, "laplace", missing="ignore", **EDGES),
    "by information": partial(NaiveBayes, weighting="sqrt-mi", **EDGES),
    "AODE": partial(AODE, **EDGES),
    "TAN": partial(TAN, **EDGES),
}
CHOOSING = {"KDB": partial(KDB, **EDGES), "evidence": EvidenceClassifier}
LEARNING_WEIGHTS = {
    "naive Bayes": partial(NaiveBayes, weighting="loo", **EDGES),
    "AODE": partial(AODE, weighting="loo", **EDGES),
    "TAN": partial(TAN, weighting="loo", **EDGES),
}


def table(seed, rows=120):
    """Text with gaps, numbers with gaps, and two columns that tell together; a category and a class of one row."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(3, size=(2, rows))
    X = pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.array(list("abc"), dtype=object)[first]),
            "other": np.array(list("xyz"), dtype=object)[second],
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(first)),
        }
    )
    y = np.array(["no", "yes"], dtype=object)[(rng.random(rows) < 0.2) ^ ((first + second) % 2)]
    X.loc[0, "text"], y[0] = "only here", "never again"
    return X, y


def like(model, X, y, weights=None):
    """A model of these rows alone, with the parents and crosses of another."""
    scores = model.score_tables_
    learning = model._learning()
    rows, _ = learning.encoded(read(X), y, weights, scores.counts.vocabulary)
    counts = learning.structure.count(rows, scores.counts)
    return type(model)(**model.get_params()).fit_counts(counts.with_classes(scores.counts.classes)._left(scores.counts))


def assert_same(found, expected, X, atol=1e-12):
    assert_array_equal(found.classes_, expected.classes_)
    for own, other in zip(found.categories_, expected.categories_, strict=True):
        assert own.tolist() == other.tolist()
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=atol)


class TestForget:
    @pytest.mark.parametrize("name", EXACT)
    def test_a_model_is_that_of_a_fit_without_the_rows(self, name):
        X, y = table(1)
        found = EXACT[name]().fit(X, y).forget(X[:40], y[:40])
        assert "never again" not in found.classes_
        assert_same(found, EXACT[name]().fit(X[40:], y[40:]), X[40:])

    @pytest.mark.parametrize("name", CHOOSING)
    def test_parents_and_crosses_stay(self, name):
        X, y = table(2)
        model = CHOOSING[name]().fit(X, y)
        expected = like(model, X[40:], y[40:])
        assert_same(model.forget(X[:40], y[:40]), expected, X[40:])

    @pytest.mark.parametrize("name", LEARNING_WEIGHTS)
    def test_weights_are_learned_anew_from_the_rows_that_are_left(self, name):
        X, y = table(3)
        found = LEARNING_WEIGHTS[name]().partial_fit(X, y).forget(X[:40], y[:40])
        expected = LEARNING_WEIGHTS[name]().partial_fit(X[40:], y[40:])
        assert_same(found, expected, X[40:], atol=1e-5)  # where the search for weights began
        assert found.loo_log_loss_ == pytest.approx(expected.loo_log_loss_, abs=1e-6)
        sample = found._learned.kept.sample
        assert len(sample) == len(y) - 40
        assert_array_equal(sample.seen, found.class_count_)

    def test_weights_of_fit_stay(self):
        X, y = table(4)
        model = NaiveBayes(weighting="loo", **EDGES).fit(X, y)
        weights = model.feature_weights_
        assert_array_equal(model.forget(X[1:40], y[1:40]).feature_weights_, weights)

    def test_row_by_row_is_all_at_once(self):
        X, y = table(5)
        together, apart = EXACT["AODE"]().fit(X, y).forget(X[:3], y[:3]), EXACT["AODE"]().fit(X, y)
        for row in range(3):
            apart.forget(X[row : row + 1], y[row : row + 1])
        assert_same(apart, together, X[3:])

    def test_weights_of_rows(self):
        X, y = table(6)
        weights = np.random.default_rng(6).choice([0.1, 1.5, 0.0], len(y))
        weights[:2] = 1.0
        found = EXACT["naive Bayes"]().fit(X, y, weights).forget(X[:40], y[:40], weights[:40])
        assert_same(found, EXACT["naive Bayes"]().fit(X[40:], y[40:], weights[40:]), X[40:])

    def test_classes_that_may_occur_stay(self):
        X, y = table(7)
        model = EXACT["TAN"]().partial_fit(X, y, classes=["never again", "no", "yes"])
        model.forget(X[:1], y[:1])
        assert model.classes_.tolist() == ["never again", "no", "yes"]
        assert model.class_count_[0] == 0

    def test_in_a_file_and_back(self, tmp_path):
        X, y = table(8)
        for name, make in (EXACT | CHOOSING).items():
            model = make().fit(X, y).forget(X[:40], y[:40])
            save(model, tmp_path / f"{name}.skops")
            assert_same(load(tmp_path / f"{name}.skops"), model, X[40:])

    @pytest.mark.parametrize("name", EXACT | CHOOSING)
    def test_rows_that_were_never_learned_change_nothing(self, name):
        X, y = table(9)
        model = (EXACT | CHOOSING)[name]().fit(X, y)
        learned = model._learned
        new = X[:1].assign(text="new")
        with pytest.raises(InputError, match="Column 'text': row 0 has 'new', which was never counted"):
            model.forget(new, y[:1])
        with pytest.raises(InputError, match="y: row 0 has 'new', which was never counted"):
            model.forget(X[:1], ["new"])
        with pytest.raises(InputError, match="cannot be taken back: class 'never again' was counted 1 times"):
            model.forget(X[[True, True] + [False] * 118], ["never again"] * 2)
        with pytest.raises(InputError, match="No row would be left"):
            model.forget(X, y)
        with pytest.raises(InputError, match="size"):
            model.forget(X.drop(columns="size"), y)
        assert model._learned is learned

    def test_limited_categories_are_for_one_fit(self):
        X, y = table(10)
        with pytest.raises(ParameterError, match="max_categories=None for forget"):
            NaiveBayes(max_categories=2).fit(X, y).forget(X[:1], y[:1])


class TestDecay:
    @pytest.mark.parametrize("name", EXACT | CHOOSING)
    def test_earlier_rows_count_less(self, name):
        X, y = table(11)
        batches = [slice(0, 50), slice(50, 90), slice(90, 120)]
        ages = np.repeat([2, 1, 0], [50, 40, 30])
        found = (EXACT | CHOOSING)[name]()
        for batch in batches:
            found.partial_fit(X[batch], y[batch], decay=0.7)
        expected = like(found, X, y, 0.7**ages) if name in CHOOSING else EXACT[name]().fit(X, y, 0.7**ages)
        assert_same(found, expected, X, atol=1e-9)

    @pytest.mark.parametrize("name", LEARNING_WEIGHTS)
    def test_weights_are_learned_from_rows_that_fade(self, name):
        X, y = table(12)
        ages = np.repeat([1, 0], [60, 60])
        found = LEARNING_WEIGHTS[name]().partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:], decay=0.5)
        assert_same(found, LEARNING_WEIGHTS[name]().partial_fit(X, y, sample_weight=0.5**ages), X, atol=1e-5)

    def test_a_stream_that_drifts_is_followed(self):
        """What "a" means changes half-way; a model that forgets nothing is wrong for as long again."""
        X, before, after = [["a"], ["b"]] * 20, [0, 1] * 20, [1, 0] * 20
        fading, lasting = NaiveBayes(), NaiveBayes()
        for y in [before] * 20 + [after] * 10:
            fading.partial_fit(X, y, decay=0.8)
            lasting.partial_fit(X, y)
        assert fading.predict([["a"], ["b"]]).tolist() == [1, 0]
        assert lasting.predict([["a"], ["b"]]).tolist() == [0, 1]

    def test_batches_one_after_the_other(self):
        X, y = table(13)
        batches = [X[i : i + 40].assign(y=y[i : i + 40]) for i in (0, 40, 80)]
        found = fit_batches(EXACT["naive Bayes"](), batches, "y", decay=0.5)
        expected = EXACT["naive Bayes"]().fit(X, y, np.repeat([0.25, 0.5, 1.0], 40))
        assert_same(found, expected, X)

    def test_without_decay_nothing_fades(self):
        X, y = table(14)
        one = NaiveBayes(**EDGES).partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:], decay=1)
        assert_array_equal(one.class_count_, NaiveBayes(**EDGES).fit(X, y).class_count_)

    @pytest.mark.parametrize("decay", [0, -0.5, 1.01, np.nan, "0.9", None, True])
    def test_not_everything_is_a_decay(self, decay):
        X, y = table(15)
        model = NaiveBayes(**EDGES).fit(X, y)
        learned = model._learned
        with pytest.raises(ParameterError, match="decay=.* must be a number above 0 and at most 1"):
            model.partial_fit(X, y, decay=decay)
        assert model._learned is learned
