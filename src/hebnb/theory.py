"""The paper's bounds as functions.

N is the number of rows of a class, K the number of categories, p the true distribution of a category given the
class, θ the prior mean, m the concentration. Errors are ℓ1 distances, between 0 and 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray

__all__ = [
    "excess_risk_bound",
    "heb_l1_bound",
    "heb_vertex_error",
    "laplace_l1_bound",
    "laplace_near_vertex_bound",
    "laplace_vertex_error",
    "shrinkage_bound",
    "strict_separation_gap",
    "top1_ece_bound",
    "top1_ece_evidence_bound",
]


def heb_l1_bound(n: Any, k: Any, shrinkage: Any, prior_distance: Any) -> FloatArray:
    """Bound on the expected ℓ1 error of the HEB estimate: √((K−1)/N) + ρ‖θ − p‖₁ (Theorem 1).

    Parameters
    ----------
    n, k : array_like
        Rows of the class, and categories.
    shrinkage : array_like
        ρ, the expectation of m/(N + m).
    prior_distance : array_like
        ‖θ − p‖₁. Exact for a fixed prior mean; where θ is learned from the same rows, ρ‖θ − p‖₁ stands for the
        expectation of the product.

    Returns
    -------
    array

    Examples
    --------
    >>> from hebnb.theory import heb_l1_bound
    >>> float(heb_l1_bound(100, 26, 0.1, 0.5))
    0.55
    """
    n, k = _counted(n, k)
    error: FloatArray = _sampling_error(n, k) + np.asarray(shrinkage, dtype=float) * np.asarray(
        prior_distance, dtype=float
    )
    return error


def laplace_l1_bound(n: Any, k: Any) -> FloatArray:
    """Bound on the expected ℓ1 error of add-one smoothing: √((K−1)/N) + 2(K−1)/(N+K) (Theorem 1).

    Examples
    --------
    >>> from hebnb.theory import laplace_l1_bound
    >>> float(laplace_l1_bound(100, 26).round(3))
    0.897
    """
    n, k = _counted(n, k)
    error: FloatArray = _sampling_error(n, k) + laplace_vertex_error(n, k)
    return error


def laplace_vertex_error(n: Any, k: Any) -> FloatArray:
    """ℓ1 error of add-one smoothing, exactly, where one category has all the mass: 2(K−1)/(N+K) (Theorem 2).

    Examples
    --------
    >>> from hebnb.theory import laplace_vertex_error
    >>> float(laplace_vertex_error(10, 10))
    0.9
    """
    n, k = _counted(n, k)
    error: FloatArray = 2 * (k - 1) / (n + k)
    return error


def laplace_near_vertex_bound(n: Any, k: Any, floor: Any) -> FloatArray:
    """Lower bound on the expected ℓ1 error of add-one smoothing near a vertex: (1−c₀)·2(K−1)/(N+K).

    The distribution has mass c₀/K in every category but one (corollary to Theorem 2, step 2.1).

    Parameters
    ----------
    n, k : array_like
        Rows of the class, and categories.
    floor : array_like
        c₀, in [0, 1].

    Examples
    --------
    >>> from hebnb.theory import laplace_near_vertex_bound
    >>> float(laplace_near_vertex_bound(10, 10, 0.5))
    0.45
    """
    return (1 - np.asarray(floor, dtype=float)) * laplace_vertex_error(n, k)


def heb_vertex_error(n: Any, m: Any, mean_at_vertex: Any) -> FloatArray:
    """ℓ1 error of the HEB estimate, exactly, where category 1 has all the mass: 2m(1−θ₁)/(N+m) (corollary 1).

    The learned concentration is the lower bound there, because the evidence falls with m.

    Parameters
    ----------
    n : array_like
        Rows of the class.
    m : array_like
        Concentration.
    mean_at_vertex : array_like
        θ₁, the prior mean of that category.

    Examples
    --------
    >>> from hebnb.theory import heb_vertex_error
    >>> float(heb_vertex_error(10, 10, 0.1))
    0.9
    """
    n, m = np.asarray(n, dtype=float), np.asarray(m, dtype=float)
    error: FloatArray = 2 * m * (1 - np.asarray(mean_at_vertex, dtype=float)) / (n + m)
    return error


def strict_separation_gap(n: Any, k: Any, mean_at_vertex: Any, m_min: float = 1e-2) -> FloatArray:
    """How much larger Laplace's error is than HEB's where one category has all the mass (corollary 1).

    Positive for every N ≥ 10, K ≥ 2 and θ₁ in (0, 1) with the default ``m_min``.

    Parameters
    ----------
    n, k : array_like
        Rows of the class, at least the low-count threshold, and categories.
    mean_at_vertex : array_like
        θ₁, the prior mean of the category.
    m_min : float, default=1e-2
        Lower bound of the concentration.

    Examples
    --------
    >>> from hebnb.theory import strict_separation_gap
    >>> float(strict_separation_gap(100, 1000, 0.001).round(3))
    1.816
    """
    return laplace_vertex_error(n, k) - heb_vertex_error(n, m_min, mean_at_vertex)


def shrinkage_bound(n: Any, m_max: float = 1e4) -> FloatArray:
    """Bound on the share of the prior, m/(N+m) ≤ m_max/(N+m_max) ≤ m_max/N (lemma 1); the sharper of the two.

    Examples
    --------
    >>> from hebnb.theory import shrinkage_bound
    >>> float(shrinkage_bound(30_000))
    0.25
    """
    n = np.asarray(n, dtype=float)
    error: FloatArray = m_max / (n + m_max)
    return error


def excess_risk_bound(prior_error: Any, l1_error: Any, class_prior: Any) -> float:
    """Bound on the excess risk of the plug-in classifier: ‖π̂ − π‖₁ + Σ_f Σ_c π̂_c ‖p̂_cf − p_cf‖₁ (corollary 2).

    Parameters
    ----------
    prior_error : float
        ‖π̂ − π‖₁.
    l1_error : array of shape (C, F)
        ℓ1 error of every class-conditional distribution, or a bound on it such as ``heb_l1_bound``.
    class_prior : array of shape (C,)
        π̂, the estimated class probabilities.

    Returns
    -------
    float

    Examples
    --------
    >>> from hebnb.theory import excess_risk_bound
    >>> excess_risk_bound(0.1, [[0.2, 0.1], [0.4, 0.1]], [0.5, 0.5])
    0.5
    """
    error, prior = np.asarray(l1_error, dtype=float), np.asarray(class_prior, dtype=float)
    if error.ndim != 2 or prior.shape != error.shape[:1]:
        raise ParameterError(f"l1_error has shape {error.shape} and class_prior {prior.shape}; (C, F) and (C,) wanted.")
    return float(prior_error + prior @ error.sum(axis=1))


def top1_ece_bound(posterior_estimate: Any, posterior: Any, weights: Any = None) -> float:
    """Bound on the population top-1 ECE: the mean ℓ1 distance of estimated and true posteriors (Theorem 3).

    Parameters
    ----------
    posterior_estimate, posterior : arrays of shape (S, C)
        Estimated and true P(class | x), at every point or a sample of them.
    weights : array of shape (S,), optional
        Probabilities of the points; equal by default.

    Returns
    -------
    float

    Examples
    --------
    >>> from hebnb.theory import top1_ece_bound
    >>> round(top1_ece_bound([[0.9, 0.1]], [[0.7, 0.3]]), 10)
    0.4
    """
    difference = np.asarray(posterior_estimate, dtype=float) - np.asarray(posterior, dtype=float)
    return float(np.average(np.abs(difference).sum(axis=1), weights=weights))


def top1_ece_evidence_bound(prior_error: Any, l1_error: Any, class_prior: Any, max_inverse_evidence: float) -> float:
    """Bound on the population top-1 ECE from the errors of the tables: 8 M_X times the sum of errors (Theorem 3).

    Parameters
    ----------
    prior_error : float
        E‖π̂ − π‖₁.
    l1_error : array of shape (C, F)
        Expected ℓ1 error of every class-conditional distribution, or a bound on it.
    class_prior : array of shape (C,)
        π, the true class probabilities.
    max_inverse_evidence : float
        M_X, the largest 1/P(x).

    Returns
    -------
    float
        Of qualitative use with many categories, where M_X is huge; the ratio of two such bounds is free of it.

    Examples
    --------
    >>> from hebnb.theory import top1_ece_evidence_bound
    >>> top1_ece_evidence_bound(0.0, [[0.01], [0.01]], [0.5, 0.5], 4.0)
    0.32
    """
    return 8 * max_inverse_evidence * excess_risk_bound(prior_error, l1_error, class_prior)


def _sampling_error(n: FloatArray, k: FloatArray) -> FloatArray:
    return np.sqrt((k - 1) / n)


def _counted(n: Any, k: Any) -> tuple[FloatArray, FloatArray]:
    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    if (n <= 0).any() or (k < 1).any():
        raise ParameterError("n must be positive and k at least 1.")
    return n, k
