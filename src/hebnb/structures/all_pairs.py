"""What structures share that count every pair of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.pair_memory import check_memory, family_bytes
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.engines.counting import count_pairs
from hebnb.engines.lazy_table import LazyTable
from hebnb.errors import InputError
from hebnb.estimators.structure import Structure

# Every pair is counted, whatever its number of categories.
_NO_CAPS = Caps(None, None)


@dataclass(frozen=True)
class AllPairs(Structure):
    """Counts of all pairs of features, as far as memory allows."""

    memory_limit: float | None = None
    counts_type: ClassVar[type[Counts]] = PairCounts
    who: ClassVar[str]

    def count(self, rows: EncodedRows, known: Counts | None) -> PairCounts:
        """Single features, and pairs."""
        self._check_memory(rows.vocabulary, rows.classes.size, len(rows))
        return PairCounts.of_rows(Counts.of(rows), rows, _NO_CAPS)

    def count_lazily(self, table: LazyTable, single: Counts) -> PairCounts:
        """Pairs, by the table's engine."""
        self._check_memory(single.vocabulary, single.classes.size, table.n_rows)
        return count_pairs(table, single, _NO_CAPS)

    def of_all_pairs(self, counts: Counts) -> PairCounts:
        """The counts, if no pair is left out of them."""
        assert isinstance(counts, PairCounts)
        if counts.caps != _NO_CAPS:
            hint = f"Make them with {self.who}().count(X, y)."
            raise InputError("These counts lack the pairs that caps left out.", hint)
        return counts

    def n_parents(self, n_features: int) -> int:
        """How many parents a feature has at most."""
        return 1

    def _check_memory(self, vocabulary: Vocabulary, n_classes: int, n_rows: int) -> None:
        besides = self.n_parents(len(vocabulary.names)) * family_bytes(vocabulary, n_classes, n_rows, 1)
        check_memory(vocabulary, n_classes, n_rows, _NO_CAPS, limit=self.memory_limit, besides=besides, who=self.who)
