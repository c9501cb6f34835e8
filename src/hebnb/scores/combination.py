"""How tables and estimates are put together to the score of a class.

Without estimates the score is ``log prior + offset + Σ weight · table``. With them it is the log of the mean of the
estimates in effect, or, where these have weights, ``offset + Σ weight · estimate + Σ weight · table``. The plain sum
``log prior + Σ table`` stands in for an estimate that is not in effect, and for the mean where none is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import entr, softmax

from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Combination:
    """The weights of tables and estimates.

    Parameters
    ----------
    offsets : array of shape (C,)
        What is added to the score of every class.
    table_weights : array of shape (F,)
    estimate_weights : array of shape (P,), optional
        None takes the mean of the estimates.
    log_loss : float, optional
        What a new row will see, on average, where the weights were learned from left-out rows.
    """

    offsets: FloatArray
    table_weights: FloatArray
    estimate_weights: FloatArray | None = None
    log_loss: float | None = None

    @classmethod
    def unweighted(cls, n_classes: int, n_features: int) -> Combination:
        """Every table counts once."""
        return cls(np.zeros(n_classes), np.ones(n_features))

    def scores(
        self,
        start: FloatArray,
        estimates: FloatArray,
        in_effect: BoolArray,
        stand_in: Callable[[IntArray], FloatArray],
    ) -> FloatArray:
        """The scores of rows, of shape (C, rows).

        Parameters
        ----------
        start : array of shape (C, rows)
            Offsets plus weighted tables, and without estimates the log prior.
        estimates : array of shape (P, C, rows)
            Changed in place.
        in_effect : array of shape (P, rows)
        stand_in : function
            The plain sum of tables for some rows, of shape (C, rows).
        """
        if not len(estimates):
            return start
        if self.estimate_weights is None:
            return _log_mean(estimates, in_effect, stand_in)
        completed(estimates, in_effect, stand_in)
        scores: FloatArray = np.tensordot(self.estimate_weights, estimates, axes=1) + start
        return scores

    def shares(self, estimates: FloatArray, in_effect: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """The score taken apart: a sum of the estimates' parts and of the tables, each so many times, and a rest.

        Parameters
        ----------
        estimates : array of shape (P, rows, C)
            With the plain sum for those that are not in effect.
        in_effect : array of shape (P, rows)

        Returns
        -------
        of_estimates : array of shape (P, rows, C)
        of_tables : array of shape (rows or 1, F or 1, C or 1)
        rest : array of shape (rows, C) or None
            What the log of a mean has that a weighted sum of logs lacks: log Σ exp(e) = Σ r·e + H(r), with r the shares
            of the estimates and H their entropy.
        """
        if self.estimate_weights is not None or not len(estimates):
            weights = np.zeros(0) if self.estimate_weights is None else self.estimate_weights
            of_estimates = np.zeros(estimates.shape) + weights[:, np.newaxis, np.newaxis]
            return of_estimates, self.table_weights[np.newaxis, :, np.newaxis], None
        counted = in_effect[..., np.newaxis]
        n = np.broadcast_to(counted, estimates.shape).sum(axis=0)
        shares = np.where(counted, softmax(np.where(counted, estimates, -1e300), axis=0), 0.0)
        rest = np.where(n, entr(shares).sum(axis=0) - np.log(np.maximum(n, 1)), 0.0)
        alone = np.where(in_effect.any(axis=0), 0.0, 1.0)  # the plain sum, for want of estimates
        return shares, alone[:, np.newaxis, np.newaxis], rest

    def weight_of_prior(self) -> float:
        """How often the class's prior is in the score: once in every estimate, or in the sum."""
        weights = self.estimate_weights
        return 1.0 if weights is None or not len(weights) else float(weights.sum())


def completed(estimates: FloatArray, in_effect: BoolArray, stand_in: Callable[[IntArray], FloatArray]) -> FloatArray:
    """The estimates, of shape (P, C, rows), with the plain sum for those that are not in effect; changed in place."""
    some = np.flatnonzero(~in_effect.all(axis=0))
    if len(some):
        estimates[:, :, some] = np.where(in_effect[:, np.newaxis, some], estimates[:, :, some], stand_in(some))
    return estimates


def _log_mean(estimates: FloatArray, in_effect: BoolArray, stand_in: Callable[[IntArray], FloatArray]) -> FloatArray:
    estimates[~np.broadcast_to(in_effect[:, np.newaxis], estimates.shape)] = -np.inf
    active = in_effect.sum(axis=0)
    peak = np.where(active, estimates.max(axis=0, initial=-np.inf), 0.0)
    with np.errstate(divide="ignore"):
        scores: FloatArray = peak + np.log(np.exp(estimates - peak).sum(axis=0)) - np.log(np.maximum(active, 1))
    alone = np.flatnonzero(active == 0)
    if len(alone):
        scores[:, alone] = stand_in(alone)
    return scores
