"""What single columns tell, from the counts of any model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hebnb import AODE, EvidenceClassifier, NaiveBayes
from hebnb.evidence.single import _strengths, class_rates, gains
from hebnb.explain.summary import feature_summaries, telling_categories


def table(n=400, seed=0):
    """A telling column, noise, and an id that every row has for itself."""
    random = np.random.RandomState(seed)
    y = random.randint(0, 2, n)
    telling = np.where(random.random_sample(n) < 0.8, y, 1 - y).astype(str)
    return np.column_stack([telling, random.randint(0, 5, n).astype(str), [f"id{k}" for k in range(n)]]), y


@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes(weighting="loo"), AODE(), EvidenceClassifier()])
def test_ids_and_noise_gain_nothing(model):
    X, y = table()
    told = gains(model.fit(X, y).counts_)
    assert told[0] > 0.1
    assert (told[1:] < 0.01).all()
    assert [own.gain for own in feature_summaries(model.score_tables_)] == told.tolist()


def test_gain_is_that_of_each_row_without_itself():
    """Against a reference that takes out one row after the other, given the strengths."""
    X, y = table(60)
    x = X[:, 0]

    def gain(strength, buckets):
        total = 0.0
        for s in range(len(y)):
            others = np.arange(len(y)) != s
            prior = np.array([(np.sum(y[others] == c) + 1) / (len(y) + 1) for c in (0, 1)])
            own = np.array([np.sum(others & (x == x[s]) & (y == c)) for c in (0, 1)])
            alike = np.zeros(2)  # the other value, if it occurs about as often
            other = np.array([np.sum((x != x[s]) & (y == c)) for c in (0, 1)])
            if int(np.log2(other.sum())) == int(np.log2(own.sum())):
                alike += other
            mean = (alike + buckets * prior) / (alike.sum() + buckets)
            total += np.log((own + strength * mean)[y[s]] / (own.sum() + strength) / prior[y[s]])
        return total / len(y)

    counts = NaiveBayes().fit(X[:, :1], y).counts_
    own, _ = _strengths(counts, 0)
    assert_allclose(gains(counts)[0], gain(own.levels[0], own.buckets), rtol=1e-10)


def test_rates_tell_one_row_from_two_hundred():
    """HEB-M itself cannot: with the pooled frequency as its prior, a pure category is as pure with one row."""
    x = np.array(["once"] + ["often"] * 200 + [f"other{k % 40}" for k in range(800)])
    y = np.r_[np.zeros(201), np.random.RandomState(0).randint(0, 2, 800)].astype(int)
    model = NaiveBayes().fit(x.reshape(-1, 1), y)
    often, once = class_rates(model.counts_, 0)[[0, 1], 0]
    assert often > 0.97
    assert once < often - 0.1
    proba = model.predict_proba([["often"], ["once"]])[:, 0]
    assert_allclose(proba[0], proba[1], atol=0.01)  # the paper's estimator, unchanged
    telling = telling_categories(model.score_tables_, 0, most=100)
    assert_allclose(telling.rate[telling.labels.index("often"), 0], often)


def test_weights_and_ignored_gaps_are_taken():
    X = np.array([["a"], ["b"], [None]] * 30, dtype=object)
    y = np.tile([0, 1, 1], 30)
    heavy = NaiveBayes(missing="ignore").fit(X, y, sample_weight=np.full(90, 2.0))
    twice = NaiveBayes(missing="ignore").fit(np.vstack([X, X]), np.r_[y, y])
    assert_allclose(gains(heavy.counts_), gains(twice.counts_))
    assert_allclose(class_rates(heavy.counts_, 0).sum(axis=1), 1)
