"""What a classifier has learned is one value: replaced as a whole, never changed, and carried by its copies."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from threading import Event

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hebnb import AODE, HEB, KDB, TAN, InputError, NaiveBayes, ParameterError, Smoother

pd = pytest.importorskip("pandas")

MODELS = [
    NaiveBayes(),
    NaiveBayes(HEB(solver="minka"), weighting="sqrt-mi"),
    NaiveBayes(weighting="loo"),
    AODE(),
    AODE(weighting="loo"),
    TAN(),
    KDB(weighting="loo"),
]
EDGES = {"number": [-0.5, 0.5]}


def batch(n, rows=40):
    """Rows with a category, and from the third batch on a class, that no batch before had."""
    rng = np.random.default_rng(n)
    first = rng.integers(4, size=rows)
    y = (first + rng.integers(2, size=rows)) % (2 + (n >= 3))
    columns = {
        "text": [None if code == 3 else f"v{code * (1 + n * (row % 3 == 0))}" for row, code in enumerate(first)],
        "code": (first + y + rng.integers(2, size=rows)) % 3,
        "number": rng.normal(y),
    }
    return pd.DataFrame(columns), np.array(["a", "b", "c"], dtype=object)[y]


def ready(model):
    """An unfitted copy that cuts every batch at the same edges."""
    return clone(model).set_params(bin_edges=EDGES)


ASKED = pd.concat([batch(n, 8)[0] for n in range(8)], ignore_index=True)


def answer(model):
    """What a model says, as something that can be looked up."""
    proba = model.predict_proba(ASKED)
    return proba.shape, proba.tobytes()


def learned(model):
    """What fits leave behind."""
    return {name: value for name, value in vars(model).items() if name not in model.get_params(deep=False)}


@pytest.fixture
def quick_switching():
    """Threads that take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switching")
@pytest.mark.parametrize("method", ["partial_fit", "fit"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_whoever_asks_while_a_fit_runs_sees_a_state_that_existed(model, method):
    batches = [batch(n) for n in range(6)]
    states = {}
    replayed = ready(model)
    for part in batches:
        states[answer(getattr(replayed, method)(*part))] = len(states)
    assert len(states) == len(batches)
    asked, done = getattr(ready(model), method)(*batches[0]), Event()

    def ask():
        found = [answer(asked)]
        while not done.is_set():
            found.append(answer(asked))
        return found

    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(ask)
        try:
            for part in batches[1:]:
                getattr(asked, method)(*part)
        finally:
            done.set()
    seen = [states[found] for found in answers.result()]
    assert seen == sorted(seen)
    assert states[answer(asked)] == len(batches) - 1


class Breaks(Smoother):
    """Fails when all has been counted."""

    prior_mean = "marginal"

    def concentration(self, sizes, largest, evidence):
        raise RuntimeError("broken")


def infinite(X):
    return X.assign(number=np.inf)


REFUSED = {
    "labels of another length": lambda model, X, y: model.fit(X, y[1:]),
    "no labels": lambda model, X, y: model.fit(X, None),
    "gaps among labels": lambda model, X, y: model.fit(X, np.where(y == "a", None, y)),
    "no rows": lambda model, X, y: model.fit(X[:0], y[:0]),
    "infinite numbers": lambda model, X, y: model.fit(infinite(X), y),
    "weights below zero": lambda model, X, y: model.fit(X, y, sample_weight=np.full(len(y), -1.0)),
    "a name that is not known": lambda model, X, y: model.set_params(weighting="best").fit(X, y),
    "a column that is not there": lambda model, X, y: model.set_params(numeric_features=["size"]).fit(X, y),
    "gaps that are mistakes": lambda model, X, y: model.set_params(missing="error").fit(X, y),
    "a smoother that breaks": lambda model, X, y: model.set_params(smoothing=Breaks()).fit(X[["code"]], y),
    "a warning that is an error": lambda model, X, y: model.fit(X.assign(text=None), y),
}


@pytest.mark.filterwarnings("error::hebnb.TableWarning")
@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_that_fails_leaves_all_as_it_was(model, refused):
    X, y = batch(0)
    fitted = ready(model).fit(X, y)
    before, state = answer(fitted), learned(fitted)
    with pytest.raises((ValueError, RuntimeError, UserWarning)):
        refused(fitted, *batch(1))
    assert learned(fitted).keys() == state.keys()
    assert all(value is state[name] for name, value in learned(fitted).items())
    assert answer(fitted) == before
    unfitted = ready(model)
    with pytest.raises((ValueError, RuntimeError, UserWarning)):
        refused(unfitted, *batch(1))
    assert not learned(unfitted)


REFUSED_BATCHES = {
    "labels of another length": lambda model, X, y: model.partial_fit(X, y[1:]),
    "a label that may not occur": lambda model, X, y: model.partial_fit(X, np.where(y == "a", "z", y)),
    "classes that differ": lambda model, X, y: model.partial_fit(X, y, classes=["a", "b"]),
    "other columns": lambda model, X, y: model.partial_fit(X.rename(columns={"code": "cod"}), y),
    "fewer columns": lambda model, X, y: model.partial_fit(X[["text"]], y),
    "infinite numbers": lambda model, X, y: model.partial_fit(infinite(X), y),
    "a limit on categories": lambda model, X, y: model.set_params(max_categories=2).partial_fit(X, y),
    "a smoother that breaks": lambda model, X, y: model.set_params(smoothing=Breaks()).partial_fit(X, y),
}


@pytest.mark.parametrize("refused", REFUSED_BATCHES.values(), ids=REFUSED_BATCHES)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_batch_that_fails_leaves_all_as_it_was(model, refused):
    X, y = batch(0)
    fitted = ready(model).partial_fit(X, y, classes=["a", "b", "c"])
    before, parameters = pickle.dumps(learned(fitted)), fitted.get_params(deep=False)
    with pytest.raises((ValueError, RuntimeError)):
        refused(fitted, *batch(3))
    assert pickle.dumps(learned(fitted)) == before
    # And the next batch finds the model as if nothing had happened, random numbers included.
    fitted.set_params(**parameters).partial_fit(*batch(4))
    other = ready(model).partial_fit(X, y, classes=["a", "b", "c"]).partial_fit(*batch(4))
    assert answer(fitted) == answer(other)


def test_batches_are_weighted_from_the_first():
    X, y = batch(0)
    model = NaiveBayes().fit(X, y).set_params(weighting="loo")
    before = pickle.dumps(model)
    with pytest.raises(InputError, match="before the first batch"):
        model.partial_fit(X, y)
    assert pickle.dumps(model) == before


def test_caps_are_set_before_the_first_batch():
    X, y = batch(0)
    model = AODE(max_parent_categories=10).partial_fit(X, y)
    before = pickle.dumps(learned(model))
    with pytest.raises(ParameterError, match="caps differ"):
        model.set_params(max_parent_categories=None).partial_fit(X, y)
    assert pickle.dumps(learned(model)) == before


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_parameters_set_later_change_nothing(model):
    X, y = batch(0)
    fitted = ready(model).fit(X, y)
    before, left_out = answer(fitted), fitted.loo_predict_proba(X, y)
    parameters = {"smoothing": "kt", "weighting": None, "n_bins": 3, "bin_edges": None, "missing": "ignore"}
    fitted.set_params(**parameters)
    assert answer(fitted) == before
    assert_array_equal(fitted.loo_predict_proba(X, y), left_out)


def test_parameters_of_parts_set_later_change_nothing():
    X, y = batch(3)
    aode, naive = AODE(weighting="loo").fit(X, y), NaiveBayes(HEB(), weighting="loo").fit(X, y)
    before = [(answer(model), model.loo_predict_proba(X, y).tobytes()) for model in (aode, naive)]
    aode.set_params(min_parent_count=1_000)
    naive.set_params(smoothing__prior_mean="uniform", class_prior=[0.8, 0.1, 0.1])
    assert [(answer(model), model.loo_predict_proba(X, y).tobytes()) for model in (aode, naive)] == before


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_clone_is_unfitted(model):
    fitted = ready(model).fit(*batch(0))
    check_is_fitted(fitted)
    fresh = clone(fitted)
    assert not learned(fresh)
    assert not hasattr(fresh, "classes_")
    assert not hasattr(fresh, "n_features_in_")
    for ask in (fresh.predict, fresh.predict_proba, fresh.explain):
        with pytest.raises(NotFittedError):
            ask(ASKED)
    assert answer(fresh.fit(*batch(0))) == answer(fitted)


def test_nothing_is_learned_before_fit():
    assert not hasattr(NaiveBayes(), "classes_")
    with pytest.raises(AttributeError, match="concentration_|shrinkage_ is learned by fit"):
        _ = NaiveBayes().shrinkage_


def through_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


COPIES = {
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, _: deepcopy(model),
    "joblib": through_joblib,
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_copies_say_the_same_and_go_their_own_way(model, method, copied, tmp_path):
    fitted = getattr(ready(model), method)(*batch(0))
    before = answer(fitted)
    copy = copied(fitted, tmp_path)
    assert repr(copy) == repr(fitted)
    assert answer(copy) == before
    copy.partial_fit(*batch(1))
    assert answer(copy) != before
    assert answer(fitted) == before
    assert answer(fitted.partial_fit(*batch(1))) == answer(copy)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_score_tables_stay_what_they_were(model):
    fitted = ready(model).partial_fit(*batch(0))
    then = fitted.score_tables_
    codes = [np.arange(3) % (size + 1) for size in then.counts.vocabulary.sizes]
    said = then.joint_log_scores(codes)
    fitted.partial_fit(*batch(3))
    assert fitted.score_tables_ is not then
    assert_array_equal(then.joint_log_scores(codes), said)
    assert fitted.score_tables_.n_classes > then.n_classes


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_batch_after_another_is_what_one_fit_is_of_counts(model):
    X, y = batch(0)
    more, labels = batch(3)
    batches = ready(model).partial_fit(X, y).partial_fit(more, labels)
    whole = ready(model).fit(pd.concat([X, more]), np.concatenate([y, labels]))
    assert_array_equal(batches.classes_, whole.classes_)
    for ours, theirs in zip(batches.category_count_, whole.category_count_, strict=True):
        assert_array_equal(ours, theirs)
    if not isinstance(model, KDB):  # which keeps the parents of the first batch
        assert_allclose(batches.predict_proba(ASKED), whole.predict_proba(ASKED), atol=1e-7)


def test_what_is_read_off_a_model_does_not_change_it():
    model = NaiveBayes().fit(*batch(0))
    before = model.feature_log_prob_[0].copy()
    model.category_count_[0][:] = 99
    model.class_count_[:] = 99
    assert_array_equal(model.feature_log_prob_[0], before)
    assert model.class_count_.sum() == 40
