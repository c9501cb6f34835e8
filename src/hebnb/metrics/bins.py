"""Rows by how confident a model is of them, and what chance would make of perfect confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm
from sklearn.utils import check_random_state

from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

# How often an interval holds what it is about, and a perfect model stays within its band.
LEVEL = 0.95
# Draws of all bins that a band is the quantiles of.
_DRAWS = 4_000


@dataclass(frozen=True, eq=False)
class Bins:
    """Rows by confidence: the bins that hold some.

    Parameters
    ----------
    place : array of int
        Which of all bins they are.
    confidence, accuracy : array
        Weighted means.
    count, weight : array
        Rows, and what they weigh.
    rows : array of int
        Rows of equal probability and weight that would vary as much; 0 where nothing varies.
    """

    place: IntArray
    confidence: FloatArray
    accuracy: FloatArray
    count: FloatArray
    weight: FloatArray
    rows: IntArray

    @classmethod
    def of(cls, proba: FloatArray, column: IntArray, weight: FloatArray, n_bins: int, c: int | None = None) -> Bins:
        """Bins by the probability of class c, or of the most probable one."""
        if n_bins < 1:
            raise ParameterError(f"n_bins={n_bins!r} must be at least 1.")
        said = proba.argmax(axis=1) if c is None else np.full(len(proba), c)
        confidence = np.minimum(proba[np.arange(len(proba)), said], 1.0)
        bin_ = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
        total = np.bincount(bin_, weight, n_bins).astype(float)
        used = np.flatnonzero(total)
        mean, accuracy, variance = (
            np.bincount(bin_, part, n_bins)[used] / total[used]
            for part in (weight * confidence, weight * (column == said), weight**2 * confidence * (1 - confidence))
        )
        variance /= total[used]
        rows = np.where(variance > 0, mean * (1 - mean) / np.where(variance > 0, variance, 1.0), 0.0)
        rows = np.where(variance > 0, np.maximum(rows.round(), 1), 0).astype(np.int64)
        count = np.bincount(bin_, minlength=n_bins)[used].astype(float)
        return cls(used, mean, accuracy, count, total[used], rows)

    @property
    def share(self) -> FloatArray:
        """What every bin weighs, of one."""
        share: FloatArray = self.weight / self.weight.sum()
        return share

    @property
    def error(self) -> float:
        """The mean of |accuracy − confidence|."""
        return float(self.share @ np.abs(self.accuracy - self.confidence))

    @property
    def by_chance(self) -> float:
        """The mean of |k/n − p|, where k is binomial: 2p(1 − p) P(⌊np⌋ of n − 1), as De Moivre found."""
        n, p = self.rows, self.confidence
        varies = n > 0
        deviation = 2 * p * (1 - p) * binom.pmf(np.floor(n * p), np.maximum(n, 1) - 1, p)
        return float(self.share @ np.where(varies, deviation, 0.0))

    @property
    def debiased(self) -> float:
        """The error, less the excess of the mean of |N(gap, s)|, a folded normal distribution, over it."""
        gap, s = np.abs(self.accuracy - self.confidence), self._standard_errors
        folded = s * np.sqrt(2 / np.pi) * np.exp(-((gap / s) ** 2) / 2) + gap * (1 - 2 * norm.cdf(-gap / s))
        return float(max(self.share @ (2 * gap - folded), 0.0))

    @property
    def standard_error(self) -> float:
        """How far the error is from that of endless rows, but for its bias."""
        return float(np.sqrt(np.square(self.share * self._standard_errors).sum()))

    @property
    def _standard_errors(self) -> FloatArray:
        """Those of the accuracies: √(a(1 − a)/n), with half a row more on either side, so that none is zero."""
        n = np.where(self.rows > 0, self.rows, self.count)
        a = (n * self.accuracy + 0.5) / (n + 1)
        errors: FloatArray = np.sqrt(a * (1 - a) / n)
        return errors

    def errors_by_chance(self, random_state: int | np.random.RandomState | None) -> FloatArray:
        """Errors that a perfect model would show."""
        random = check_random_state(random_state)
        varies = np.flatnonzero(self.rows)
        n, p = self.rows[varies], self.confidence[varies]
        gaps = np.abs(random.binomial(n, p, (_DRAWS, len(varies))) / n - p)
        errors: FloatArray = gaps @ self.share[varies]
        return errors

    def band(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the accuracies that a perfect model would show in every bin."""
        n, p = np.maximum(self.rows, 1), self.confidence
        low, high = (np.where(self.rows > 0, binom.ppf(end, n, p) / n, p) for end in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
        return low, high
