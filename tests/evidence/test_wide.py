"""Tables with very many columns."""

import numpy as np
from sklearn.metrics import log_loss

from hebnb import EvidenceClassifier
from hebnb.evidence import search


def wide(n_columns, n_rows=1200, seed=1):
    """One column tells the class in four rows of five, the others tell nothing."""
    random = np.random.RandomState(seed)
    X, y = random.randint(0, 4, (n_rows, n_columns)).astype(str), random.randint(0, 2, n_rows)
    X[:, 0] = np.where(random.random_sample(n_rows) < 0.8, y, 1 - y).astype(str)
    return X, y


def test_noise_in_many_columns_costs_little():
    X, y = wide(400)
    model = EvidenceClassifier().fit(X[:600], y[:600])
    alone = EvidenceClassifier().fit(X[:600, :1], y[:600])
    loss = log_loss(y[600:], model.predict_proba(X[600:]))
    assert loss < 1.05 * log_loss(y[600:], alone.predict_proba(X[600:, :1]))
    assert abs(model.loo_log_loss_ / alone.loo_log_loss_ - 1) < 0.1
    silent = [strengths[-1] >= 1e12 for strengths in list(model.strengths_.values())[:400]]
    assert not silent[0]
    assert np.mean(silent) > 0.5


def test_columns_that_tell_least_share_a_weight(monkeypatch):
    X, y = wide(30)
    monkeypatch.setattr(search, "_FREE", 5)
    model = EvidenceClassifier(max_crosses=0).fit(X, y)
    weights, gains = (np.array(list(own.values())) for own in (model.weights_, model.gains_))
    tied = np.argsort(-gains, kind="stable")[5:]
    assert len(np.unique(weights[tied])) == 1
    assert len(np.unique(weights)) == 6


def test_a_cross_that_adds_something_is_kept_before_those_of_copies():
    """Of nearly equal columns each says little beside the others, and two of them together seem to say much more."""
    random = np.random.default_rng(0)
    y = random.integers(2, size=3_000)
    once = y ^ (random.random(3_000) < 0.2)
    copies = [once ^ (random.random(3_000) < 0.02) for _ in range(8)]
    c = random.integers(2, size=3_000)
    d = c ^ y ^ (random.random(3_000) < 0.4)
    model = EvidenceClassifier(max_crosses=1, max_order=2).fit(np.column_stack([*copies, c, d]), y)
    assert model.crosses_ == [(8, 9)]
