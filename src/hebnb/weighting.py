"""How much each feature's evidence counts."""

from __future__ import annotations

import numpy as np

from hebnb import errors
from hebnb.arrays import FloatArray
from hebnb.counts import Counts, nonzero_cells


def feature_weights(weighting: str | None, counts: Counts) -> FloatArray:
    """The exponent of every feature's factor: 1 without weighting.

    Examples
    --------
    >>> feature_weights("mi", None)
    Traceback (most recent call last):
    hebnb.errors.ParameterError: weighting='mi' is not known. Known: 'sqrt-mi'.
    """
    if weighting is None:
        return np.ones(len(counts.tables))
    if weighting == "sqrt-mi":
        return np.sqrt(mutual_information(counts))
    raise errors.unknown_name("weighting", weighting, ["sqrt-mi"])


def mutual_information(counts: Counts) -> FloatArray:
    """I(X_f; Y) in bits, from the observed frequencies, for every feature.

    The paper leaves the unit open; bits, not normalised, reproduce its tables.
    """
    information = np.zeros(len(counts.tables))
    for f, (table, pooled, total) in enumerate(zip(counts.tables, counts.pooled, counts.totals.T, strict=True)):
        value, class_, n = nonzero_cells(table)
        if len(n):
            rows = total.sum()
            information[f] = np.sum(n * np.log2(n * rows / (pooled[value] * total[class_]))) / rows
    return np.maximum(information, 0.0)
