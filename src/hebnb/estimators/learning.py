"""Learning, from a table to score tables: encode, count, smooth, weigh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import Table, read_labels, read_weights
from hebnb.columns.vocabulary import Dropped, Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.engines import counting
from hebnb.engines.lazy_table import LazyTable
from hebnb.estimators.rows import no_rows
from hebnb.estimators.structure import Structure
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables
from hebnb.smoothing.posterior import class_log_prior
from hebnb.smoothing.smoothers import Smoother
from hebnb.weighting import Weighting
from hebnb.weighting.leave_one_out import row_limit


@dataclass(frozen=True)
class Learning:
    """How a classifier learns: what its parameters come to.

    Parameters
    ----------
    structure : Structure
    rule : Smoother
    weighting : Weighting
    reading : ReadingParameters
    max_categories : int, optional
    """

    structure: Structure
    rule: Smoother
    weighting: Weighting
    reading: ReadingParameters
    max_categories: int | None

    def encoded(
        self, table: Table, y: Any, sample_weight: Any, known: Vocabulary | None = None
    ) -> tuple[EncodedRows, Dropped]:
        """Encode labelled rows, and tell what was dropped; ``known`` is the vocabulary of earlier batches."""
        if not table.n_rows:
            raise no_rows()
        weights = read_weights(sample_weight, table.n_rows)
        kept = None if weights is None or weights.all() else weights > 0
        labels = read_labels(y, table.n_rows, kept)
        if weights is not None and kept is not None:
            table, weights = table.rows(kept), weights[kept]
        reading = self.reading.of(table.names)
        vocabulary = Vocabulary.learn(table, reading, weights) if known is None else known.relearn(table, reading)
        codes = vocabulary.encode(table)
        dropped: Dropped = {}
        if self.max_categories is not None:
            vocabulary, codes, dropped = vocabulary.limited(codes, weights, self.max_categories)
        return EncodedRows.of(vocabulary, codes, labels, weights), dropped

    def counted_lazily(self, table: LazyTable) -> tuple[Counts, Dropped]:
        """Count a lazy table where it is."""
        single, dropped = counting.count(table, self.reading, self.max_categories)
        return self.structure.count_lazily(table, single), dropped

    def sampled(self, rows: EncodedRows, random: np.random.RandomState) -> Sample | None:
        """The rows, if weights are learned from them."""
        return Sample.of(rows, random) if self.weighting.needs_rows else None

    def sampled_lazily(self, table: LazyTable, counts: Counts, random: np.random.RandomState) -> Sample | None:
        """Some rows of a lazy table, if weights are learned from them."""
        if not self.weighting.needs_rows:
            return None
        return counting.sample(table, counts, _most_rows(counts), int(random.randint(1 << 30)))

    def learned(
        self, counts: Counts, sample: Sample | None, given_prior: FloatArray | None, before: ScoreTables | None = None
    ) -> ScoreTables:
        """Smooth and weigh, under a class prior that may be given; ``before`` is what earlier batches led to."""
        tables, estimates = self.structure.tables(counts, self.rule)
        log_prior = class_log_prior(counts.class_count) if given_prior is None else _log(given_prior)
        unweighted = Combination.unweighted(len(log_prior), len(tables))
        model = ScoreTables(counts, self.rule, log_prior, given_prior is not None, tables, estimates, unweighted)
        start = None if before is None or not self.weighting.needs_rows else before.weights_for(model)
        return model.combined(self.weighting.combination(model, sample, start)).prepared()


def thinned(sample: Sample | None, counts: Counts) -> Sample | None:
    """No more rows than weights are learned from."""
    return sample and sample.thinned(_most_rows(counts))


def _most_rows(counts: Counts) -> int:
    return row_limit(2 * len(counts.tables), counts.classes.size)


def _log(prior: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # a class may be given no chance
        log_prior: FloatArray = np.log(prior)
    return log_prior
