"""Weights by what every feature tells about the class."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, nonzero_cells
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables


class SqrtMutualInformation:
    """The square root of every feature's mutual information with the class."""

    needs_rows: ClassVar[bool] = False
    weighs_estimates: ClassVar[bool] = False

    def combination(self, model: ScoreTables, sample: Sample | None, start: Combination | None) -> Combination:
        """The weights of the tables."""
        return Combination(np.zeros(model.n_classes), np.sqrt(mutual_information(model.counts)))


def mutual_information(counts: Counts) -> FloatArray:
    """I(X_f; Y) in bits, from the observed frequencies, for every feature.

    The paper leaves the unit open; bits, not normalised, reproduce its tables.
    """
    information = np.zeros(len(counts.tables))
    for f, (table, marginal, total) in enumerate(zip(counts.tables, counts.marginal, counts.totals.T, strict=True)):
        value, class_, n = nonzero_cells(table)
        if len(n):
            rows = total.sum()
            information[f] = np.sum(n * np.log2(n * rows / (marginal[value] * total[class_]))) / rows
    return np.maximum(information, 0.0)
