"""The features of a table by name: what was learned of its columns, and the codes of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name
from hebnb.columns.kinds import KINDS, Kind, MissingPolicy
from hebnb.columns.kinds.base import refuse_missing, warn_of_gaps
from hebnb.columns.reading import Reading
from hebnb.columns.table import Table
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray, IntArray

# What a limit on categories left out, by column: numbers of categories and rows.
Dropped: TypeAlias = dict[Name, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The features of a table by name, and what a gap means."""

    names: tuple[Name, ...]
    features: tuple[Kind, ...]
    missing: MissingPolicy

    @classmethod
    def learn(cls, table: Table, reading: Reading, weights: FloatArray | None = None) -> Vocabulary:
        """The features of a training table; a weight counts a row that many times in the quantiles."""

        def feature(column: Column) -> Kind:
            kind = next(kind for kind in KINDS if kind.claims(column, reading))
            return kind.learn(column, reading, weights)

        features = tuple(table.map(feature))
        for name, learned in zip(table.names, features, strict=True):
            if learned.is_empty:
                warn_of_gaps(name)
        return cls(table.names, features, reading.missing)

    def relearn(self, table: Table, reading: Reading) -> Vocabulary:
        """The vocabulary of a further batch: categories of its own, bins and column names as they are here."""

        def feature(column: Column, known: Kind) -> Kind:
            learned = known.relearned(column, self.missing)
            if known.cut_at is None and reading.cuts(column):
                joined = known.union(learned)
                most = max(known.size, reading.n_bins)
                if joined is not None and joined.size > most and not joined.are_integers:
                    errors.warn(
                        f"{errors.column(column.name)}: its numbers are categories, since the first batch had few "
                        "distinct ones, and more keep coming; bin_edges cuts them instead."
                    )
            return learned

        return Vocabulary(self.names, tuple(table.map(feature, self.features)), self.missing)

    @property
    def sizes(self) -> IntArray:
        """K, the number of categories of every feature."""
        return np.array([feature.size for feature in self.features], dtype=np.intp)

    @property
    def edges(self) -> dict[Name, FloatArray]:
        """Where numeric columns are cut, by name."""
        pairs = zip(self.names, self.features, strict=True)
        return {name: feature.cut_at for name, feature in pairs if feature.cut_at is not None}

    def encode(self, table: Table) -> list[IntArray]:
        """The codes of every column, in the order of the features."""

        def encode(column: Column, feature: Kind) -> IntArray:
            if self.missing == "error":
                refuse_missing(int(feature.gaps(column).sum()), column.name)
            return feature.encode(column)

        return table.map(encode, self.features)

    def shown(self, table: Table, codes: list[IntArray]) -> Array:
        """The values of rows as they are shown, of shape (S, F)."""

        def shown(column: Column, feature: Kind, own_codes: IntArray) -> Array:
            return feature.shown(column, own_codes)

        return np.stack(table.map(shown, self.features, codes), axis=1)

    def limited(
        self, codes: list[IntArray], weights: FloatArray | None, most: int
    ) -> tuple[Vocabulary, list[IntArray], Dropped]:
        """At most so many categories a feature, the most frequent ones; the codes that go with them; what was dropped.

        The missing value is not one of them, and bins stay as they are.
        """
        features, recoded, dropped = list(self.features), list(codes), {}
        for f, (name, feature, column) in enumerate(zip(self.names, self.features, codes, strict=True)):
            rows = np.bincount(column, weights, feature.size + 1)[: feature.missing_code].astype(float)
            fewer = feature.limited(rows, most)
            if fewer is None:
                continue
            features[f], kept = fewer
            recoded[f] = np.append(feature.codes_in(features[f]), features[f].size)[column]
            dropped[name] = {
                "categories": feature.size - features[f].size,
                "rows": float(rows.sum() - rows[kept].sum()),
            }
        return Vocabulary(self.names, tuple(features), self.missing), recoded, dropped

    def with_rows(self, marginal: Sequence[FloatArray]) -> Vocabulary:
        """What is left of the features where their codes occur so often."""
        features = tuple(kind.with_rows(rows) for kind, rows in zip(self.features, marginal, strict=True))
        return Vocabulary(self.names, features, self.missing)

    def __or__(self, other: Vocabulary) -> Vocabulary:
        features = tuple(map(_union, self.names, self.features, other.features))
        return Vocabulary(self.names, features, self.missing)


def _union(name: Name, ours: Kind, theirs: Kind) -> Kind:
    union = ours.union(theirs)
    if union is None:
        raise InputError(
            f"{errors.column(name)}: it was read in two different ways, so its counts cannot be added: "
            f"{ours.unlike(theirs)}.",
            "Count all parts with the same bin_edges, categorical_features, numeric_features and hierarchies.",
        )
    return union
