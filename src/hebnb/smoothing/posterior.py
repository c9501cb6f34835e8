"""The only smoothing formula."""

from __future__ import annotations

import numpy as np

from hebnb.foundation.arrays import FloatArray


def posterior_mean(
    count: FloatArray | float,
    total: FloatArray | float,
    mean: FloatArray | float,
    m: FloatArray | float,
    out: FloatArray | None = None,
) -> FloatArray:
    """(count + m · mean) / (total + m), the mean of a Dirichlet(m · mean) posterior (paper, eq. 2).

    Examples
    --------
    >>> posterior_mean(np.array([3.0, 0.0]), np.array(3.0), np.array([0.5, 0.5]), np.array(1.0))
    array([0.875, 0.125])
    """
    numerator = np.add(count, m * mean, out=out)
    return np.asarray(np.divide(numerator, total + m, out=out))


def class_log_prior(class_count: FloatArray) -> FloatArray:
    """log (N_c + 1)/(S + C): the posterior mean with one imaginary row a class.

    Examples
    --------
    >>> np.exp(class_log_prior(np.array([3.0, 1.0])))
    array([0.66666667, 0.33333333])
    """
    n_classes = len(class_count)
    return np.log(posterior_mean(class_count, class_count.sum(axis=0), 1 / n_classes, n_classes))
