"""Whoever asks a model while another thread fits it gets the answer of one state: every answer reads the state once."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from sklearn.base import clone

from hebnb import save
from hebnb.estimators.classifier import CategoricalClassifier
from models import MODELS, table

N_BATCHES = 5
X, Y = table(200)
BATCHES = [slice(40 * n, 40 * (n + 1)) for n in range(N_BATCHES)]


def labels(n):
    """The labels of a batch; the first has two classes, so that the others bring a new one."""
    return np.where((Y[BATCHES[n]] == "z") & (n == 0), "y", Y[BATCHES[n]])


def ready(model):
    """An unfitted copy that can learn from batches with any number of classes."""
    fresh = clone(model)
    if fresh.max_categories is not None:
        fresh.set_params(max_categories=None)
    if getattr(fresh, "class_prior", None) is not None:
        fresh.set_params(class_prior=None)
    return fresh


def learn(model, n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(X.iloc[BATCHES[n]], labels(n))
    return model


def said(answer):
    """An answer as something that can be looked up."""
    return answer.shape, answer.tobytes() if answer.dtype != object else tuple(answer.ravel().tolist())


ROWS = X.head(12)
ASKED = {
    "predict_proba": lambda model: said(model.predict_proba(ROWS)),
    "predict": lambda model: said(model.predict(ROWS)),
    "explain": lambda model: said(model.explain(ROWS[:3])["contribution"].to_numpy()),
}


@pytest.fixture
def quick_switching():
    """Threads that take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switching")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_answers_while_batches_are_learned_are_those_of_one_state(model):
    replayed = ready(model)
    states = {name: set() for name in ASKED}
    for n in range(N_BATCHES):
        learn(replayed, n)
        for name, ask in ASKED.items():
            states[name].add(ask(replayed))
    asked, done = learn(ready(model), 0), Event()

    def ask_until_done(name):
        found = [ASKED[name](asked)]
        while not done.is_set():
            found.append(ASKED[name](asked))
        return found

    with ThreadPoolExecutor(len(ASKED)) as pool:
        answers = {name: pool.submit(ask_until_done, name) for name in ASKED}
        try:
            for n in range(1, N_BATCHES):
                learn(asked, n)
        finally:
            done.set()
    for name, found in answers.items():
        assert set(found.result()) <= states[name], name


class Counted:
    """The learned state of models, and how often that of one of them was read."""

    def __init__(self):
        self.watched, self.reads = None, 0

    def __get__(self, model, kind=None):
        if model is None or "_learned" not in vars(model):
            raise AttributeError("_learned")
        self.reads += model is self.watched
        return vars(model)["_learned"]

    def __set__(self, model, state):
        vars(model)["_learned"] = state


def attributes(model):
    return [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_answer_reads_the_state_once(model, monkeypatch, tmp_path):
    counted = Counted()
    monkeypatch.setattr(CategoricalClassifier, "_learned", counted, raising=False)
    fitted = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(X, Y)
    answers = {name: lambda name=name: getattr(fitted, name, None) for name in attributes(type(fitted))}
    answers |= {
        "predict": lambda: fitted.predict(ROWS),
        "predict_proba": lambda: fitted.predict_proba(ROWS),
        "predict_log_proba": lambda: fitted.predict_log_proba(ROWS),
        "predict_joint_log_proba": lambda: fitted.predict_joint_log_proba(ROWS),
        "explain": lambda: fitted.explain(ROWS),
        "loo_predict_proba": lambda: fitted.loo_predict_proba(X, Y),
        "save": lambda: save(fitted, tmp_path / "model.skops"),
    }
    counted.watched = fitted
    for name, ask in answers.items():
        counted.reads = 0
        ask()
        assert counted.reads <= 1, name
