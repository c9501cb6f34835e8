"""Shares of classes that change: exchanged exactly, and found from rows without labels."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hebnb import AODE, EvidenceClassifier, InputError, NaiveBayes, ParameterError, load, save
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.scores.class_prior import estimated_prior
from models import MODELS, strange_rows, table

X, Y = table(90)
NEW = strange_rows(X)
PRIOR = np.array([0.7, 0.05, 0.25])
FITTED = [model.__class__(**model.get_params()).fit(X, Y) for model in MODELS]


@pytest.fixture(params=range(len(MODELS)), ids=[repr(model) for model in MODELS])
def model(request):
    return FITTED[request.param]


def reweighed(proba, old, new):
    """The probabilities under another prior, by Bayes' rule, row by row."""
    rows = []
    for row in proba:
        odds = [p * after / before for p, before, after in zip(row, old, new, strict=True)]
        rows.append([own / sum(odds) for own in odds])
    return np.array(rows)


class TestWithPrior:
    def test_odds_change_as_the_prior_does(self, model):
        old = np.exp(model.class_log_prior_)
        changed = model.with_prior(PRIOR)
        assert_allclose(changed.predict_proba(NEW), reweighed(model.predict_proba(NEW), old, PRIOR), rtol=1e-9)
        assert_allclose(np.exp(changed.class_log_prior_), PRIOR)

    def test_the_model_itself_stays(self, model):
        before = model.predict_proba(NEW)
        changed = model.with_prior(PRIOR)
        assert_array_equal(model.predict_proba(NEW), before)
        assert type(changed) is type(model)
        assert repr(changed) == repr(model)

    def test_the_last_prior_counts(self, model):
        found = model.with_prior([0.1, 0.1, 0.8]).with_prior(PRIOR).predict_joint_log_proba(NEW)
        assert_allclose(found, model.with_prior(PRIOR).predict_joint_log_proba(NEW), rtol=1e-9)
        back = model.with_prior(PRIOR).with_prior(np.exp(model.class_log_prior_))
        assert_allclose(back.predict_proba(NEW), model.predict_proba(NEW), rtol=1e-9)

    def test_an_explanation_sums_to_the_score(self, model):
        changed = model.with_prior(PRIOR)
        sums = changed.explain(NEW).groupby(["row", "class"])["contribution"].sum().unstack().to_numpy()
        assert_allclose(sums, changed.predict_joint_log_proba(NEW), atol=1e-10)

    def test_in_a_file(self, model, tmp_path):
        changed = model.with_prior(PRIOR)
        save(changed, tmp_path / "model.skops")
        assert_allclose(load(tmp_path / "model.skops").predict_proba(NEW), changed.predict_proba(NEW), rtol=1e-12)

    def test_elsewhere(self, model):
        duckdb, runtime = pytest.importorskip("duckdb"), pytest.importorskip("onnxruntime")
        changed = model.with_prior(PRIOR)
        rows = X.head(20).assign(place=range(20))  # noqa: F841
        with duckdb.connect() as connection:
            connection.execute('CREATE TABLE "rows" AS SELECT * FROM rows')
            found = connection.execute(to_sql(changed)).df().sort_values("place")
        assert_allclose(found[["proba_x", "proba_y", "proba_z"]], changed.predict_proba(X.head(20)), atol=1e-9)
        session = runtime.InferenceSession(to_onnx(changed).SerializeToString())
        assert_allclose(
            session.run(None, onnx_inputs(changed, X.head(20)))[1], changed.predict_proba(X.head(20)), atol=1e-9
        )

    def test_left_out_rows_change_likewise(self, model):
        """The prior is no longer that of the other rows; in estimates it is theirs, changed as much as that of all."""
        scores = model.score_tables_
        if scores.prior_is_given or (scores.estimates is not None and not scores.is_mean):
            return
        left_out, found = model.loo_predict_proba(X, Y), model.with_prior(PRIOR).loo_predict_proba(X, Y)
        in_effect = np.ones(len(Y), dtype=bool)
        if len(scores.parents):
            values = scores.estimates.may_be_parent[scores.estimates.layout.positions(model._codes(X, scores))]
            in_effect = values.all(axis=0) & (scores.estimates.min_count <= 1)
        for row in np.flatnonzero(in_effect)[::7]:
            rest = model.class_count_ - (model.classes_ == Y[row])
            old = np.exp(model.class_log_prior_) if len(scores.parents) else (rest + 1) / (rest.sum() + len(rest))
            assert_allclose(found[[row]], reweighed(left_out[[row]], old, PRIOR), rtol=1e-9)

    def test_further_batches_begin_with_the_shares_of_rows(self):
        for make in (NaiveBayes, AODE, lambda: AODE(weighting="loo"), EvidenceClassifier):
            expected = make().fit(X[:60], Y[:60])
            found = expected.with_prior(PRIOR).partial_fit(X[60:], Y[60:])
            assert_allclose(
                found.predict_proba(NEW), expected.partial_fit(X[60:], Y[60:]).predict_proba(NEW), rtol=1e-9
            )

    @pytest.mark.parametrize(
        ("prior", "complaint"),
        [
            ([0.5, 0.5], r"prior has shape \(2,\), and there are 3 classes"),
            ([[0.2, 0.3, 0.5]], "prior has shape"),
            (0.5, "prior has shape"),
            ([0.5, 0.5, 0.5], "prior sums to 1.5"),
            ([0.6, -0.1, 0.5], "prior gives class 'y' the share -0.1"),
            ([0.5, 0.5, 0.0], "prior gives class 'z' the share 0"),
            ([0.5, 0.5, np.nan], "prior gives class 'z' the share nan"),
            ("abc", "must be a list of shares"),
            ({"x": 1}, "must be a list of shares"),
        ],
    )
    def test_not_everything_is_a_prior(self, prior, complaint):
        with pytest.raises(ParameterError, match=complaint):
            FITTED[0].with_prior(prior)


def slowly(proba, prior, steps=20_000):
    """The algorithm of Saerens, Latinne and Decaestecker, as they write it down."""
    now = list(prior)
    for _ in range(steps):
        totals = [0.0] * len(now)
        for row in proba:
            parts = [new / old * p for new, old, p in zip(now, prior, row, strict=True)]
            for c, part in enumerate(parts):
                totals[c] += part / sum(parts)
        now = [total / len(proba) for total in totals]
    return now


def shifted(rng, n_rows, shares):
    """Rows whose columns depend on the class alone, which has these shares."""
    y = rng.choice(len(shares), n_rows, p=shares)
    columns = {}
    for f in range(5):
        kept = rng.random(n_rows) < 0.5
        columns[f"x{f}"] = np.where(kept, y, rng.integers(len(shares), size=n_rows))
    return pd.DataFrame(columns), y


class TestEstimatePrior:
    @pytest.mark.parametrize("seed", range(3))
    def test_it_is_what_the_slow_algorithm_finds(self, seed):
        rng = np.random.default_rng(seed)
        proba, prior = rng.dirichlet([0.3, 0.5, 1.0], 12), rng.dirichlet([3, 3, 3])
        assert_allclose(estimated_prior(proba, prior), slowly(proba, prior), atol=1e-3)

    def test_no_shares_make_the_rows_more_likely(self):
        rng = np.random.default_rng(5)
        proba, prior = rng.dirichlet([0.5, 1.0, 1.0], 50), np.array([0.2, 0.3, 0.5])
        found = estimated_prior(proba, prior)

        def log_likelihood(shares):
            return np.log((proba * shares / prior).sum(axis=1)).sum()

        for other in rng.dirichlet([1, 1, 1], 2000):
            assert log_likelihood(other) <= log_likelihood(found) + 1e-6

    @pytest.mark.parametrize("shares", [[0.8, 0.1, 0.1], [0.05, 0.9, 0.05], [1 / 3, 1 / 3, 1 / 3]])
    @pytest.mark.parametrize("make", [NaiveBayes, lambda: NaiveBayes(weighting="loo"), EvidenceClassifier])
    def test_shares_that_changed_are_found(self, make, shares):
        rng = np.random.default_rng(1)
        model = make().fit(*shifted(rng, 6000, [0.3, 0.3, 0.4]))
        new, labels = shifted(rng, 4000, shares)
        found = model.estimate_prior(new)
        assert found.sum() == pytest.approx(1)
        assert_allclose(found, shares, atol=0.04)  # several standard errors of 4,000 rows of known class
        as_they_are, changed = model.predict_proba(new), model.with_prior(found).predict_proba(new)

        def loss(proba):
            return -np.log(proba[np.arange(len(labels)), labels]).mean()

        if max(shares) > 0.5:
            assert loss(changed) < loss(as_they_are)

    def test_whatever_prior_the_model_has_now(self):
        rng = np.random.default_rng(2)
        model = NaiveBayes().fit(*shifted(rng, 2000, [0.5, 0.5]))
        new, _ = shifted(rng, 1000, [0.8, 0.2])
        found = model.estimate_prior(new)
        assert_allclose(model.with_prior([0.05, 0.95]).estimate_prior(new), found, atol=1e-3)

    def test_rows_that_say_nothing_leave_the_shares_as_they_are(self):
        model = NaiveBayes().fit([["a"], ["b"], ["b"]], ["x", "y", "y"])
        assert_allclose(model.estimate_prior([["never"]] * 5), np.exp(model.class_log_prior_))

    def test_a_class_that_is_ruled_out_stays_so(self):
        model = NaiveBayes(class_prior=[0, 0.5, 0.5]).fit(X, Y)
        assert model.estimate_prior(X)[0] == 0

    def test_rows_that_are_not_there(self):
        polars = pytest.importorskip("polars")
        with pytest.raises(InputError, match="rows in memory"):
            FITTED[0].estimate_prior(polars.from_pandas(X).lazy())
        with pytest.raises(InputError, match="0 rows"):
            FITTED[0].estimate_prior(X[:0])
        with pytest.raises(InputError, match="cut"):
            FITTED[0].estimate_prior(X.drop(columns="cut"))
