"""Tables that are looked at together say what each says by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hebnb import EvidenceClassifier
from hebnb.evidence import batch, making

pd = pytest.importorskip("pandas")


def mixed(seed, rows, n_classes):
    """Columns of every kind, with gaps; what two of them say together adds up, for four pairs."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], size=(6, rows))
    size, many = rng.normal(size=rows), rng.integers(30, size=rows)
    pairs = [(signs[0], signs[1]), (signs[2], signs[3]), (signs[4], np.sign(size)), (signs[5], np.sign(many - 14.5))]
    y = (sum(one * other for one, other in pairs) + rng.normal(size=rows) > 0).astype(int)
    y = np.where(rng.random(rows) < 0.2, n_classes - 1, y)
    X = pd.DataFrame({f"sign {n}": own.astype(str) for n, own in enumerate(signs)})
    X["many"] = many.astype(str)
    X["size"] = np.where(rng.random(rows) < 0.1, np.nan, size)
    return X, y


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_size_of_batches_does_not_matter(monkeypatch, missing, weighted, n_classes):
    X, y = mixed(n_classes, 900, n_classes)
    weights = np.random.default_rng(5).choice([0.5, 1.0, 2.0], size=len(y)) if weighted else None

    def fitted(numbers, crosses):
        monkeypatch.setattr(batch, "_TOGETHER", numbers)
        monkeypatch.setattr(making, "_TOGETHER", crosses)
        return EvidenceClassifier(missing=missing).fit(X, y, sample_weight=weights)

    together, alone = fitted(1 << 20, 100), fitted(1, 1)
    assert len(together.crosses_) >= 3
    assert together.crosses_ == alone.crosses_
    assert together.loo_log_loss_ == pytest.approx(alone.loo_log_loss_, rel=1e-9)
    for names, strengths in together.strengths_.items():
        assert_allclose(strengths, alone.strengths_[names], rtol=1e-6)
    assert_allclose(together.predict_proba(X), alone.predict_proba(X), atol=1e-9)
    assert_allclose(
        together.loo_predict_proba(X, y, sample_weight=weights),
        alone.loo_predict_proba(X, y, sample_weight=weights),
        atol=1e-9,
    )
