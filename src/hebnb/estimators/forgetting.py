"""Rows taken back: what a classifier knows without them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.table import Table, read_labels, read_weights
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.single import Counts
from hebnb.errors import InputError
from hebnb.foundation.arrays import IntArray


def as_counted(counts: Counts, table: Table, y: Any, sample_weight: Any) -> EncodedRows:
    """Labelled rows under the codes that they were counted with; a complaint of values that were not."""
    weights = read_weights(sample_weight, table.n_rows)
    kept = None if weights is None or weights.all() else weights > 0
    levels = read_labels(y, table.n_rows, kept)
    if weights is not None and kept is not None:
        table, weights = table.rows(kept), weights[kept]
    vocabulary = counts.vocabulary
    codes = vocabulary.encode(table)
    for name, column, kind, own in zip(vocabulary.names, table.columns, vocabulary.features, codes, strict=True):
        silent = own == kind.size
        if vocabulary.missing == "ignore":
            silent &= ~kind.gaps(column)
        _refuse(kind.shown(column, own), silent, errors.column(name))
    labels = counts.classes.codes_of(levels.values)[levels.codes]
    _refuse(levels.values[levels.codes], labels == counts.classes.size, "y")
    return EncodedRows(vocabulary, counts.classes, codes, labels, weights)


def _refuse(shown: Any, uncounted: Any, where: str) -> None:
    """Complain of the first row whose value was never counted."""
    rows: IntArray = np.flatnonzero(uncounted)
    if len(rows):
        value = shown.tolist()[int(rows[0])]
        named = "a gap" if value is None else repr(value)
        raise InputError(
            f"{where}: row {int(rows[0])} has {named}, which was never counted, so the row cannot be taken back.",
            "Pass rows that the model learned from, as they were.",
        )
