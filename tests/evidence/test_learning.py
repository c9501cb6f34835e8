"""What new rows will see: rows that had no part in the choice see it, and that is held against what was expected."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

from hebnb import EvidenceClassifier
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.evidence import learning
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.learning import seen_by
from hebnb.evidence.sampled import SampledRows
from hebnb.evidence.search import searched


def alike_columns(rng, rows, n_columns):
    """Columns that mostly repeat the class, and in some rows, whose mood it is, each other."""
    y = rng.integers(2, size=rows)
    X = np.where(rng.random((rows, n_columns)) < 0.7, y[:, np.newaxis], rng.integers(2, size=(rows, n_columns)))
    moody = (rng.random(rows) < 0.3)[:, np.newaxis] & (rng.random((rows, n_columns)) < 0.8)
    return np.where(moody, rng.integers(2, size=(rows, 1)), X).astype(str), y


def encoded(X, y, weights):
    """Rows as a model of them encodes them."""
    model = EvidenceClassifier(max_crosses=0).fit(X, y, weights)
    scores = model.score_tables_
    codes = model._codes(X, scores)
    return EncodedRows(scores.counts.vocabulary, scores.counts.classes, codes, y, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_see_what_a_model_of_the_others_tells_them(weighted):
    rng = np.random.default_rng(3)
    X, y = alike_columns(rng, 200, 6)
    X = np.column_stack([X, np.round(rng.normal(y), 1)]).astype(object)
    X[:, -1] = X[:, -1].astype(float)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    whole = encoded(X, y, weights)
    here = np.flatnonzero(rng.random(len(y)) < 0.3)
    others = np.setdiff1d(np.arange(len(y)), here)
    rows = SampledRows.of(Sample.of(whole, np.random.RandomState(0)))
    choice, weighed = searched(rows.of_rows(others), 200, 3)
    assert choice.crosses

    own = None if weights is None else weights[others]
    rest = EncodedRows(whole.vocabulary, whole.classes, [code[others] for code in whole.codes], y[others], own)
    told = EvidenceClassifier().fit_counts(EvidenceCounts.of_rows(rest, choice)).predict_proba(X[here])
    expected = log_loss(y[here], told, sample_weight=None if weights is None else weights[here])
    assert_allclose(seen_by(rows, here, choice, weighed), expected, rtol=1e-9)


def test_the_estimate_is_that_of_new_rows_though_crosses_were_chosen(monkeypatch):
    """Of many crosses of columns that repeat each other, some of 300 rows seem better than they are."""
    luck, factors = learning._luck_of_choice, []
    monkeypatch.setattr(learning, "_luck_of_choice", lambda *given: factors.append(luck(*given)) or factors[-1])
    honest = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model = EvidenceClassifier().fit(*alike_columns(rng, 300, 16))
        assert len(model.crosses_) > 50
        X, y = alike_columns(rng, 4000, 16)
        honest.append(np.log(model.loo_log_loss_ / log_loss(y, model.predict_proba(X))))
    flattered = np.array(honest) - np.log(factors)
    errors = np.std(honest, ddof=1) / np.sqrt(len(honest))
    assert abs(np.mean(honest)) < 3 * errors
    assert np.mean(flattered) < -0.05
    assert abs(np.mean(honest)) < abs(np.mean(flattered))


def test_many_rows_are_learned_from_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = alike_columns(rng, 400, 4)
    calls = []
    monkeypatch.setattr(learning, "searched", lambda rows, *more: calls.append(len(rows)) or searched(rows, *more))
    for limit, parts in ((399, 0), (400, 5)):
        monkeypatch.setattr(learning, "_FEW_ROWS", limit)
        calls.clear()
        EvidenceClassifier().fit(X, y)
        assert calls == [400] + [320] * parts
