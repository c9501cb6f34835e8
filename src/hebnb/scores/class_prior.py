"""Shares of classes that change: given by the user, or found from rows without labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.columns.kinds import Categories
from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray

# How far shares may be from one altogether.
_ROUNDING = 1e-6
# The log-likelihood of all rows is found up to so many nats, in at most so many steps.
_NATS, _MOST_STEPS = 1e-6, 20_000


def checked_prior(prior: Any, classes: Categories) -> FloatArray:
    """Shares of classes, if that is what was given.

    Examples
    --------
    >>> checked_prior([0.25, 0.75], Categories(np.array([0, 1]), missing=False))
    array([0.25, 0.75])
    """
    try:
        shares = np.asarray(prior, dtype=float)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"prior={prior!r} must be a list of shares, one for every class.") from error
    if shares.shape != (classes.size,):
        raise ParameterError(
            f"prior has shape {shares.shape}, and there are {classes.size} classes.", "Give one share for every class."
        )
    bad = np.flatnonzero(~(shares > 0))
    if len(bad):
        label = classes.values.tolist()[int(bad[0])]
        raise ParameterError(
            f"prior gives class {label!r} the share {shares[bad[0]]:g}, and shares are positive.",
            "Give a class that is hardly ever there a small share.",
        )
    if not abs(shares.sum() - 1) <= _ROUNDING:
        raise ParameterError(f"prior sums to {shares.sum():g}, and shares sum to 1.", "Divide it by its sum.")
    whole: FloatArray = shares / shares.sum()
    return whole


def estimated_prior(proba: FloatArray, prior: FloatArray) -> FloatArray:
    """The shares of classes under which rows are most likely, given the probabilities that a prior led to.

    Every step replaces the shares by the mean probability of each class under them (Saerens, Latinne and Decaestecker,
    2002). The likelihood is concave, and at shares π no shares are better by more than log max_c of the mean of
    P(row | c) / Σ π P(row | c), which tells when to stop. A class that the prior rules out stays ruled out.

    Parameters
    ----------
    proba : array of shape (S, C)
    prior : array of shape (C,)

    Examples
    --------
    >>> estimated_prior(np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5])).round(3)
    array([0.708, 0.292])
    """
    possible = prior > 0
    likelihood = np.divide(proba, prior, out=np.zeros_like(proba), where=possible)  # but for a factor a row
    likelihood /= likelihood.max(axis=1, keepdims=True)
    shares = prior.copy()
    for _ in range(_MOST_STEPS):
        better = (likelihood / (likelihood @ shares)[:, np.newaxis]).mean(axis=0)
        shares = shares * better
        if better[possible].max() - 1 <= _NATS / len(proba):
            break
    total: FloatArray = shares / shares.sum()
    return total
