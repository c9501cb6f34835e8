"""What a structure is: which cells are counted, and which tables and estimates are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

from hebnb.counts.encoded import EncodedRows
from hebnb.counts.families import Parents
from hebnb.counts.single import Counts
from hebnb.engines.lazy_table import LazyTable
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.build import family_tables
from hebnb.scores.estimates import Estimates
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.smoothers import Smoother

Tables: TypeAlias = tuple[tuple[ScoreTable, ...], Estimates | None]


class Structure(ABC):
    """A frozen value with the parameters of a structure."""

    # What is counted, and whether the score is made of several estimates.
    counts_type: ClassVar[type[Counts]] = Counts
    has_estimates: ClassVar[bool] = False
    # Whether counts hold all that was learned.
    learns_counts_alone: ClassVar[bool] = False

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

    @classmethod
    def families(cls, parents: Parents) -> list[tuple[int, ...]]:
        """The columns of the families that tables are made of, each a feature and then parents."""
        return [(f, *own) for f, own in enumerate(parents)]

    @classmethod
    def restored(
        cls, counts: Any, parents: Parents, rule: Smoother, concentration: Sequence[FloatArray]
    ) -> tuple[ScoreTable, ...]:
        """The tables, where concentrations were learned besides: for parents and concentrations that are known."""
        return family_tables(counts, counts, parents, rule, concentration)

    def added(self, known: Counts, new: Counts) -> Counts:
        """The counts of all batches."""
        return known + new
