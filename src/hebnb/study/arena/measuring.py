"""What is measured of a contender on a fold."""

from __future__ import annotations

import time
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import log_loss

from hebnb.foundation.arrays import FloatArray
from hebnb.study.arena.contenders import Contender
from hebnb.study.arena.folds import Fold
from hebnb.study.arena.resources import Meter
from hebnb.study.arena.tuning import search
from hebnb.study.protocol import scores

Row: TypeAlias = dict[str, Any]

# Of the probabilities, and of what they cost.
QUALITIES = ("log-loss", "Brier", "ECE", "AUC", "accuracy", "macro F1")
COSTS = ("fit s", "fit CPU s", "predict s", "predict CPU s", "MB")
# What perfect probabilities would show as ECE, what a method expects of new rows, and how many sets it was tuned over.
FURTHER = ("ECE by chance", "loo log-loss", "tried")


def measure(contender: Contender, fold: Fold, threads: int, budget: float | None = None) -> Row:
    """Measures of a contender at its defaults or, within a budget of seconds, tuned.

    Its times are without the view, which is our way of handing rows over; those of its own encoders are in.
    """
    row: Row = {}
    parameters: dict[str, Any] = {}
    if budget is not None:
        found = search(contender, fold, threads, budget, loss=inner_loss)
        parameters = found.best
        row = {"tried": found.tried, "search s": found.seconds, "parameters": found.best}
    train, test = contender.view(fold)
    model = _made(contender, fold, threads, parameters)
    meter, began = Meter(), time.perf_counter()
    model.fit(train, fold.train_labels)
    fitted, fitting = time.perf_counter(), meter.read()
    proba = model.predict_proba(test)
    predicted, both = time.perf_counter(), meter.read()
    found_scores = scores(fold.test_labels, all_classes(proba, model.classes_, fold.n_classes))
    return row | {name: _number(found_scores[name]) for name in (*QUALITIES, "ECE by chance")} | {
        "fit s": fitted - began,
        "fit CPU s": fitting.seconds,
        "predict s": predicted - fitted,
        "predict CPU s": both.seconds - fitting.seconds,
        "MB": both.megabytes,
        "loo log-loss": float(model.loo_log_loss_) if hasattr(model, "loo_log_loss_") else None,
    }  # fmt: skip


def inner_loss(contender: Contender, fold: Fold, threads: int, parameters: dict[str, Any]) -> float:
    """Log-loss under some parameters, for a search."""
    train, test = contender.view(fold)
    model = _made(contender, fold, threads, parameters)
    model.fit(train, fold.train_labels)
    proba = all_classes(model.predict_proba(test), model.classes_, fold.n_classes)
    return float(log_loss(fold.test_labels, proba, labels=np.arange(fold.n_classes)))


def _made(contender: Contender, fold: Fold, threads: int, parameters: dict[str, Any]) -> Any:
    model = contender.make(fold, threads)
    return model.set_params(**parameters) if parameters else model


def all_classes(proba: Any, classes: Any, n_classes: int) -> FloatArray:
    """Probabilities with a column for every class; zero for those that the training rows lack.

    Examples
    --------
    >>> all_classes(np.array([[0.5, 1.5]]), np.array([0, 2]), 3)
    array([[0.25, 0.  , 0.75]])
    """
    whole = np.zeros((len(proba), n_classes))
    whole[:, np.asarray(classes, dtype=int)] = proba
    whole /= whole.sum(axis=1, keepdims=True)  # those of 32 bits do not quite add up to one
    return whole


def _number(value: Any) -> float | None:
    """A measure that JSON knows."""
    return None if np.isnan(value) else float(value)
