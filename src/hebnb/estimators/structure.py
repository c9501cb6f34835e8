"""What a structure is: which cells are counted, and which tables and estimates are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias

from hebnb.counts.encoded import EncodedRows
from hebnb.counts.single import Counts
from hebnb.engines.lazy_table import LazyTable
from hebnb.scores.estimates import Estimates
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.smoothers import Smoother

Tables: TypeAlias = tuple[tuple[ScoreTable, ...], Estimates | None]


class Structure(ABC):
    """A frozen value with the parameters of a structure."""

    # What is counted, and whether the score is made of several estimates.
    counts_type: ClassVar[type[Counts]] = Counts
    has_estimates: ClassVar[bool] = False

    @abstractmethod
    def count(self, rows: EncodedRows, known: Counts | None) -> Counts:
        """Count rows; ``known`` are the counts of earlier batches, to which these will be added."""

    @abstractmethod
    def count_lazily(self, table: LazyTable, single: Counts) -> Counts:
        """Count a lazy table, whose single features have been counted."""

    @abstractmethod
    def tables(self, counts: Counts, rule: Smoother) -> Tables:
        """Learn: a score table for every feature, and estimates if there are any."""

    @classmethod
    def of_counts(cls, counts: Counts) -> tuple[ScoreTable, ...]:
        """The tables, where counts hold all that was learned; none where concentrations were learned besides."""
        return ()

    def added(self, known: Counts, new: Counts) -> Counts:
        """The counts of all batches."""
        return known + new
