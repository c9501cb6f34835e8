"""What tables say of the rows of some folds, each fold left out of what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from hebnb.evidence.batch import Batch, OwnRows, batches
from hebnb.evidence.choice import Choice, Cross
from hebnb.evidence.heard import Heard, said_of
from hebnb.evidence.leaving import Folds, Units, grouped
from hebnb.evidence.paths import Cells, given, of_column, of_cross
from hebnb.evidence.sampled import Alike, SampledRows
from hebnb.evidence.told import Told
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FoldRows:
    """Rows of some folds.

    Parameters
    ----------
    rows : SampledRows
        All of them.
    here : array of int
        Those of the folds.
    leaving : Folds
        These, left out.
    """

    rows: SampledRows
    here: IntArray
    leaving: Folds

    @classmethod
    def of(cls, rows: SampledRows, fold: IntArray, n_folds: int) -> FoldRows:
        """Of the first folds, given the fold of every row."""
        here = np.flatnonzero(fold < n_folds)
        return cls(rows, here, Folds.of(fold[here], rows.labels[here], rows.weights[here], n_folds, rows.class_count))

    def heard(self, choice: Choice, alike: Sequence[Alike]) -> list[Heard]:
        """What the tables of a choice, whose own rows are given, say of the rows."""
        found = []
        for f, own in enumerate(choice.columns):
            batch = FoldBatch.of(self, Batch([alike[f]], self.rows, np.array([[f]]), len(own.levels)))
            path = of_column(batch.leaving, batch.cells, given(own.levels), own.buckets, batch.mute)
            found.append(Heard(batch.alike[0], path))
        numbered = enumerate(choice.crosses, len(found))
        for _, order in groupby(numbered, key=lambda own: len(own[1].columns)):
            found += self._of_order(list(order), alike, found)
        return found

    def _of_order(
        self, crosses: Sequence[tuple[int, Cross]], alike: Sequence[Alike], known: Sequence[Heard]
    ) -> list[Heard]:
        """What crosses of as many columns, given by number, say of the rows."""
        told = Told([own.path for own in known], self.rows.n_classes)
        found: dict[int, Heard] = {}
        for depth in sorted({cross.depth for _, cross in crosses}):
            some = [(t, cross) for t, cross in crosses if cross.depth == depth]
            for batch in batches(self.rows, depth, [(cross.columns, alike[t]) for t, cross in some]):
                own, some = some[: len(batch)], some[len(batch) :]
                heard = _crosses(FoldBatch.of(self, batch), [cross for _, cross in own], known, told)
                found |= dict(zip((t for t, _ in own), heard, strict=True))
        return [found[t] for t, _ in crosses]


def _crosses(batch: FoldBatch, crosses: Sequence[Cross], known: Sequence[Heard], told: Told) -> list[Heard]:
    """What the crosses of a batch say of the rows."""
    strengths = np.array([cross.strengths for cross in crosses])
    said = said_of(batch.alike, known, told, crosses)

    def given_strength(level: int, units: Units, prior: FloatArray) -> FloatArray:
        own: FloatArray = strengths[batch.own_rows.table[units.first], level]
        return own

    path = of_cross(batch.leaving, batch.cells, given_strength, said, batch.mute)
    return [Heard(own, of_own) for own, of_own in zip(batch.alike, batch.own_rows.parted(path), strict=True)]


@dataclass(frozen=True, eq=False)
class FoldBatch:
    """Tables that are asked about the rows of folds; those that are alike, and of one fold, are one own row.

    Parameters
    ----------
    alike : list of Alike
        The own rows of every table.
    cells : list of Cells
        Of the own rows, from coarse to fine, with the counts of all rows.
    leaving : Folds
    mute : array of bool, optional
        Own rows that their table says nothing about.
    """

    alike: Sequence[Alike]
    cells: Sequence[Cells]
    leaving: Folds
    mute: BoolArray | None

    @cached_property
    def own_rows(self) -> OwnRows:
        """One table after the other."""
        return OwnRows([len(own.first) for own in self.alike])

    @classmethod
    def of(cls, asked: FoldRows, batch: Batch) -> FoldBatch:
        """The tables of a batch of all rows."""
        alike, at, fold, n_folds = [], [], [], asked.leaving.n_folds
        for own, start in zip(batch.alike, batch.own_rows.start[:-1].tolist(), strict=True):
            key = own.of_row[asked.here] * n_folds + asked.leaving.fold
            of_row, first, distinct = grouped(key, len(own.first) * n_folds)
            row, of_fold = np.divmod(distinct, n_folds)
            weights = np.bincount(of_row, asked.leaving.weights).astype(float)
            alike.append(Alike(of_row, first, weights, own.cell[row], own.n_cells))
            at.append(start + row)
            fold.append(of_fold)
        row = np.concatenate(at)
        weights = np.concatenate([own.weights for own in alike])
        leaving = Folds(np.concatenate(fold), batch.labels[row], weights, asked.leaving.left)
        cells = [(cell[row], count) for cell, count in batch.cells()]
        return cls(alike, cells, leaving, None if batch.mute is None else batch.mute[row])
