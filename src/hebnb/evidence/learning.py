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
from hebnb.foundation.arrays import IntArray, one_blas_thread
from hebnb.weighting.leave_one_out import row_limit

# Folds that the loss of new rows is estimated with, and about how many rows in them are enough.
_FOLDS, _ROWS_IN_FOLDS = 10, 4_000
# Parts of the rows without each of which all is chosen again, and rows beyond which that would add more noise than
# the choice has luck.
_PARTS, _FEW_ROWS = 5, 3_000


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
        if choice.crosses and len(rows) <= _FEW_ROWS:
            loss *= _luck_of_choice(rows, max_crosses, max_order, random)
    return replace(counts, choice=replace(choice, log_loss=loss))


def _luck_of_choice(rows: SampledRows, max_crosses: int, max_order: int, random: np.random.RandomState) -> float:
    """What rows see that had no part in the choice of crosses, over what is expected of rows that had one.

    Everything is learned again without each part of the rows, which then see it; and the others say what they expect.
    """
    part = _dealt(rows, _PARTS, random)
    seen = expected = 0.0
    for number in np.unique(part).tolist():
        others, here = np.flatnonzero(part != number), np.flatnonzero(part == number)
        choice, weighed = searched(rows.of_rows(others), max_crosses, max_order)
        weight = float(rows.weights[here].sum())
        seen += weight * seen_by(rows, here, choice, weighed)
        expected += weight * expected_loss(rows.of_rows(others), weighed, choice, random)
    return seen / expected if expected > 0 else 1.0


def seen_by(rows: SampledRows, here: IntArray, choice: Choice, weighed: Weighed) -> float:
    """The mean loss of some rows under what all the others have decided."""
    are_here = np.zeros(len(rows), dtype=bool)
    are_here[here] = True
    asked = FoldRows.of(rows, (~are_here).astype(np.intp), 1)
    alike = [rows.alike([f], len(own.levels)) for f, own in enumerate(choice.columns)]
    alike += [rows.alike(cross.columns, cross.depth) for cross in choice.crosses]
    heard = asked.heard(choice, alike)
    every = np.arange(len(here))
    log_prior = asked.leaving.log_prior(every)
    return mean_loss(likelihood_of(rows.of_rows(here), weighed.components, heard, every, log_prior), weighed.pool)


def _dealt(rows: SampledRows, n_parts: int, random: np.random.RandomState) -> IntArray:
    """The part of every row, with every class in all parts as far as its rows reach."""
    order = np.argsort(rows.labels + random.random_sample(len(rows)), kind="stable")
    part = np.empty(len(rows), dtype=np.intp)
    part[order] = np.arange(len(rows)) % n_parts
    return part


def expected_loss(rows: SampledRows, weighed: Weighed, choice: Choice, random: np.random.RandomState) -> float:
    """What new rows will see if the choice was made without them: a fold, by tables and weights of the other folds.

    Of many rows that is compared, on some folds, with what they are said to see when they are left out one by one, and
    the difference is added to what all of them see so. It varies far less than the losses themselves.
    """
    fold = _dealt(rows, _FOLDS, random)
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
