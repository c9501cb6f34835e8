"""What every column tells about the class by itself, and what whole numbers tell as names and as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts
from hebnb.evidence.integers import Readings, both_readings, reread, rows_reread
from hebnb.evidence.single import gains
from hebnb.foundation.arrays import FloatArray, one_blas_thread
from hebnb.weighting.leave_one_out import MOST_ROWS

# Of more classes than this nothing is said.
MOST_CLASSES = 1_000


@dataclass(frozen=True, eq=False)
class Told:
    """What columns tell about the class.

    Parameters
    ----------
    vocabulary : Vocabulary
        What the columns are taken for.
    gains : array of shape (F,)
        How much more likely the class of a left-out row is with a column than without any, in nats a row; NaN where
        that is not known.
    readings : dict of int to Readings
        Whole numbers that were read both ways.
    counts : Counts, optional
        Of the rows that were looked at.
    """

    vocabulary: Vocabulary
    gains: FloatArray
    readings: dict[int, Readings] = field(default_factory=dict)
    counts: Counts | None = None

    @classmethod
    def nothing(cls, vocabulary: Vocabulary) -> Told:
        """Of a table without classes."""
        return cls(vocabulary, np.full(len(vocabulary.names), np.nan))

    @classmethod
    def by(cls, rows: EncodedRows, names: set[Name]) -> Told:
        """By labelled rows, of which some are looked at; columns of ``names`` are categories whatever they hold."""
        sample = Sample.of(rows, np.random.RandomState(0)).thinned(MOST_ROWS)
        some = EncodedRows(sample.vocabulary, sample.classes, sample.codes, sample.labels)
        if not 2 <= sample.classes.size <= MOST_CLASSES:
            return replace(cls.nothing(rows.vocabulary), counts=Counts.of(some))
        with one_blas_thread():  # products are small, and many; threads would mostly wait for each other
            readings = both_readings(sample, names)
            trees = {f: own.tree for f, own in readings.items() if own.are_numbers}
            counts = Counts.of(rows_reread(some, trees))
            return cls(reread(rows.vocabulary, trees), gains(counts), readings, counts)
