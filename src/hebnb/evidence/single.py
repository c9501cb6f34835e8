"""What single columns tell about the class, from counts alone, whatever model they were counted for."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.special import softmax

from hebnb.counts.single import Counts
from hebnb.evidence.choice import Choice, ColumnStrengths
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.making import tables
from hebnb.evidence.sampled import SampledRows
from hebnb.evidence.search import column_heard
from hebnb.evidence.tables import EvidenceModel
from hebnb.foundation.arrays import FloatArray
from hebnb.smoothing.posterior import class_log_prior

# Cells of a column, categories times classes, beyond which nothing is said of it.
_MOST_CELLS = 1 << 26
# Nats a row that are rounding, and no gain.
_LEAST = 1e-12


def gains(counts: Counts) -> FloatArray:
    """How much more likely the class of a left-out row is with a column than without any, in nats a row.

    Zero or below for noise, and for a column of which every row has a value of its own; NaN where categories and
    classes are too many to tell.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> X = [["red", "1"], ["red", "2"], ["blue", "3"], ["blue", "4"]]
    >>> told = gains(NaiveBayes().fit(X, [0, 0, 1, 1]).counts_)
    >>> bool(told[0] > 0 >= told[1])
    True
    """
    if isinstance(counts, EvidenceCounts):
        return counts.choice.gains / counts.choice.n_rows
    nats = np.array([_strengths(counts, f)[1] for f in range(len(counts.tables))])
    return nats / float(counts.class_count.sum())


def importances(counts: Counts) -> FloatArray:
    """The share of every column in what is gained, by columns and crosses: at least zero, and one altogether.

    What a cross gains beyond its columns is divided among them evenly. What is below zero, or too large to be told, is
    zero; and all is zero where nothing is gained.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> X = [[colour, number] for number, colour in enumerate(["red", "blue"] * 5)]
    >>> importances(NaiveBayes().fit(X, [0, 1] * 5).counts_)
    array([1., 0.])
    """
    told = np.nan_to_num(gains(counts))
    told[told < _LEAST] = 0
    if isinstance(counts, EvidenceCounts):
        for cross in counts.choice.crosses:
            told[list(cross.columns)] += max(cross.gain, 0.0) / counts.choice.n_rows / len(cross.columns)
    total = told.sum()
    return told / total if total > 0 else told


def class_rates(counts: Counts, f: int) -> FloatArray:
    """The share of every class among the rows of a category, shrunk the more the fewer these are, of shape (K, C).

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> X = [["often"]] * 30 + [["once"]] + [["other"]] * 30
    >>> rates = class_rates(NaiveBayes().fit(X, [0] * 31 + [1] * 30).counts_, 0)
    >>> bool(rates[0, 0] > rates[1, 0] > 0.5)
    True
    """
    vocabulary = counts.vocabulary
    only = Counts(
        counts.classes,
        counts.class_count,
        type(vocabulary)((vocabulary.names[f],), (vocabulary.features[f],), vocabulary.missing),
        (counts.tables[f],),
    )
    own, gain = _strengths(only, 0)
    choice = Choice((own,), (), np.ones(1), np.zeros(counts.classes.size), np.nan, np.array([gain]), 1.0)
    (table,) = tables(EvidenceModel(EvidenceCounts.with_cells(only, choice, ())))
    rates: FloatArray = softmax(class_log_prior(counts.class_count) + table.numbers[:-1], axis=1)
    return rates


def _strengths(counts: Counts, f: int) -> tuple[ColumnStrengths, float]:
    """The strengths of a column, and its gain in nats."""
    kind, n_classes = counts.vocabulary.features[f], counts.classes.size
    cells = coo_array(counts.tables[f])
    if kind.size * n_classes > _MOST_CELLS or not cells.nnz:
        return ColumnStrengths((1.0,) * len(kind.levels), None if kind.is_ordered else 1.0), np.nan
    value, class_ = (own.astype(np.intp) for own in cells.coords)
    # Rows of one category and class are alike, so one stands for all of them.
    rows = SampledRows((kind,), (value,), class_, cells.data, n_classes, silence=False, once=True)
    single = column_heard(rows, 0)
    return single.strengths, single.gain
