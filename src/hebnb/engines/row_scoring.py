"""Predictions of batches of rows, wherever an engine has them: for models that would take too many joins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

from hebnb.columns.table import Table
from hebnb.engines.backends import Eager, Frame
from hebnb.engines.lazy_table import LazyColumn
from hebnb.foundation.arrays import Array
from hebnb.scores.lookups import best_classes
from hebnb.scores.score_tables import ScoreTables

_VALUE = "__hebnb_value"


@dataclass(frozen=True)
class RowScorer:
    """Makes predictions of batches; a value that can be sent to where the rows are.

    Parameters
    ----------
    model : ScoreTables
    columns : tuple of LazyColumn
        The features as the engine has them.
    what : str
        ``"prediction"``, ``"proba"`` or ``"log_proba"``.
    names : tuple of str
        The columns that predictions go to.
    """

    model: ScoreTables
    columns: tuple[LazyColumn, ...]
    what: str
    names: tuple[str, ...]

    def readable(self, frame: Frame, kept: list[str]) -> Frame:
        """Some columns of a table, and beside them the features that have to be made of its columns."""
        made = [column.sampled.alias(f"{_VALUE}{n}") for n, column in enumerate(self.columns) if column.is_made]
        return frame.select(*kept, *made)

    @property
    def empty(self) -> dict[str, Array]:
        """Predictions of no row."""
        return dict.fromkeys(self.names, self.example[:0])

    @property
    def example(self) -> Array:
        """Some predictions, which tell their type."""
        return self.model.counts.classes.values if self.what == "prediction" else np.zeros(1)

    def __call__(self, batch: Eager) -> dict[str, Array]:
        """The predictions of a batch by the columns that they go to."""
        if not len(batch):
            return self.empty
        scores = self.model.joint_log_scores(self.model.counts.vocabulary.encode(self._table(batch)))
        if self.what == "prediction":
            return {self.names[0]: self.model.counts.classes.values[best_classes(scores)]}
        normalised = softmax if self.what == "proba" else log_softmax
        return dict(zip(self.names, normalised(scores, axis=1).T, strict=True))

    def _table(self, batch: Eager) -> Table:
        """The features as they would be in memory."""
        columns = []
        for n, column in enumerate(self.columns):
            name = f"{_VALUE}{n}" if column.is_made else column.held or column.name
            columns.append(column.restored(batch[name]))
        return Table(tuple(columns), len(batch))
