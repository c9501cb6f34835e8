"""Training rows as codes, with their classes: what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hebnb.columns.column import Levels
from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.foundation.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows.

    Parameters
    ----------
    vocabulary : Vocabulary
        What the codes mean.
    classes : Categories
        What the labels mean; every class occurs.
    codes : sequence of F arrays of shape (S,)
    labels : array of shape (S,)
        Class of every row.
    weights : array of shape (S,), optional
        How often every row counts.
    """

    vocabulary: Vocabulary
    classes: Categories
    codes: Sequence[IntArray]
    labels: IntArray
    weights: FloatArray | None = None

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, codes: Sequence[IntArray], labels: Levels, weights: FloatArray | None = None
    ) -> EncodedRows:
        """Encode the labels, some of whose values may not occur."""
        classes = Categories.occurring(*labels)
        same = classes.values is labels.values
        class_codes = labels.codes if same else classes.codes_of(labels.values)[labels.codes]
        return cls(vocabulary, classes, codes, class_codes, weights)

    def __len__(self) -> int:
        return len(self.labels)
