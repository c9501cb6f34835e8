"""Importances follow what columns tell about left-out rows, and scikit-learn can choose columns by them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes, load, save
from hebnb.explain.summary import feature_summaries

MODELS = [NaiveBayes(), NaiveBayes(weighting="loo"), AODE(), TAN(), KDB(), HNB(), EvidenceClassifier()]


def rows(n_rows=600):
    """One column that tells, one that tells little, noise, and a number that nobody shares."""
    random = np.random.default_rng(0)
    y = random.choice(["no", "yes"], n_rows)
    frame = pd.DataFrame(
        {
            "phone": random.permutation(10**6)[:n_rows],
            "telling": np.where(random.random(n_rows) < 0.9, y, random.choice(["no", "yes"], n_rows)),
            "noise": random.choice(list("abcd"), n_rows),
            "weak": np.where(random.random(n_rows) < 0.3, y, random.choice(["no", "yes"], n_rows)),
        }
    )
    return frame, y


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_columns_count_by_what_they_tell(model, tmp_path):
    X, y = rows()
    fitted = clone(model).fit(X, y)
    importances = fitted.feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    assert (importances >= 0).all()
    by_name = dict(zip(X.columns, importances.tolist(), strict=True))
    assert by_name["phone"] == 0
    assert by_name["telling"] > 5 * by_name["weak"] > 5 * by_name["noise"]
    gains = np.array([feature.gain for feature in feature_summaries(fitted.score_tables_)])
    if not getattr(fitted, "crosses_", []):
        assert_allclose(importances, gains.clip(min=0) / gains.clip(min=0).sum())
    save(fitted, tmp_path / "model.skops")
    assert_allclose(load(tmp_path / "model.skops").feature_importances_, importances)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_there_are_none_before_fit(model):
    assert not hasattr(clone(model), "feature_importances_")


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_scikit_learn_selects_by_them(model):
    X, y = rows()
    chosen = SelectFromModel(clone(model)).set_output(transform="pandas").fit(X, y)
    assert list(chosen.transform(X).columns) == ["telling"]
    two = make_pipeline(
        SelectFromModel(clone(model), max_features=2, threshold=-np.inf).set_output(transform="pandas"), NaiveBayes()
    )
    assert two.fit(X, y)[-1].feature_names_in_.tolist() == ["telling", "weak"]
    assert two.score(X, y) > 0.9


def test_columns_that_tell_only_together_count():
    X = np.array([["a", "a", "u"], ["a", "b", "v"], ["b", "a", "v"], ["b", "b", "u"]] * 40)
    X[:, 2] = np.random.default_rng(1).choice(["u", "v"], len(X))
    model = EvidenceClassifier().fit(X, X[:, 0] == X[:, 1])
    assert (0, 1) in model.crosses_
    assert_allclose(model.feature_importances_, [0.5, 0.5, 0], atol=0.02)


def test_nothing_counts_where_nothing_tells():
    X = [["always", number] for number in range(60)]
    assert NaiveBayes().fit(X, [0, 0, 1, 1] * 15).feature_importances_.tolist() == [0, 0]
