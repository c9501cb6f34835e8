"""Learning evidence from a sample of rows: what they decide, and what new rows will see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.evidence.choice import Choice
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.folded import FoldRows
from hebnb.evidence.pool import left_out_loss, mean_loss
from hebnb.evidence.sampled import SampledRows
from hebnb.evidence.search import Weighed, likelihood_of, searched, some_rows
from hebnb.foundation.arrays import one_blas_thread
from hebnb.weighting.leave_one_out import row_limit

# Folds that the loss of new rows is estimated with, and about how many rows in them are enough.
_FOLDS, _ROWS_IN_FOLDS = 10, 4_000


def learned(sample: Sample, max_crosses: int, max_order: int, random: np.random.RandomState) -> EvidenceCounts:
    """The counts of the rows of a sample, with what they decide."""
    rows = SampledRows.of(sample)
    with one_blas_thread():  # products are small, and many; threads would mostly wait for each other
        choice, weighed = searched(rows, max_crosses, max_order)
        weights = None if (sample.weights == 1).all() else sample.weights
        encoded = EncodedRows(sample.vocabulary, sample.classes, sample.codes, sample.labels, weights)
        cells = [candidate.heard.cells(rows, candidate.cross) for candidate in weighed.stage.crosses]
        counts = EvidenceCounts.with_cells(Counts.of(encoded), choice, cells)
        loss = expected_loss(rows, weighed, choice, random)
    return replace(counts, choice=replace(choice, log_loss=loss))


def expected_loss(rows: SampledRows, weighed: Weighed, choice: Choice, random: np.random.RandomState) -> float:
    """What new rows will see: rows of a fold, as tables and weights from the other folds see them.

    Of many rows that is compared, on some folds, with what they are said to see when they are left out one by one, and
    the difference is added to what all of them see so. It varies far less than the losses themselves.
    """
    order = np.argsort(rows.labels + random.random_sample(len(rows)), kind="stable")
    fold = np.empty(len(rows), dtype=np.intp)
    fold[order] = np.arange(len(rows)) % _FOLDS
    n_folds = int(np.clip(np.ceil(_FOLDS * _ROWS_IN_FOLDS / len(rows)), 2, _FOLDS))
    asked = FoldRows.of(rows, fold, n_folds)
    place = some_rows(len(asked.here), row_limit(len(weighed.components), rows.n_classes))
    heard = weighed.stage.all_heard
    by_folds = asked.heard(choice, [own.alike for own in heard])
    by_fold = likelihood_of(
        rows.of_rows(asked.here), weighed.components, by_folds, place, asked.leaving.log_prior(place)
    )
    some = asked.here[place]
    one_by_one = likelihood_of(rows, weighed.components, heard, some, rows.log_prior[:, some])
    seen = left_out_loss(weighed.likelihood, fold[weighed.rows], weighed.pool, by_fold, fold[some])
    return seen + mean_loss(weighed.likelihood, weighed.pool) - mean_loss(one_by_one, weighed.pool)
