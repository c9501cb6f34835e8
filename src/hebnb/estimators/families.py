"""Classifiers in which every feature depends on the class and on parents of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.kinds import MissingPolicy
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.build import levels
from hebnb.smoothing.smoothers import Smoother


class FamilyClassifier(CategoricalClassifier):
    """A classifier whose features have parents; a subclass says in ``_structure`` which."""

    def __init__(
        self,
        smoothing: str | Smoother = "heb-m",
        *,
        weighting: str | None = None,
        memory_limit: float | None = None,
        categorical_features: Literal["auto", "all"] | Sequence[Name] = "auto",
        numeric_features: Sequence[Name] | None = None,
        n_bins: int = 10,
        bin_edges: Mapping[Name, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
        max_categories: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.smoothing = smoothing
        self.weighting = weighting
        self.memory_limit = memory_limit
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.n_bins = n_bins
        self.bin_edges = bin_edges
        self.missing = missing
        self.max_categories = max_categories
        self.random_state = random_state

    @property
    def parents_(self) -> list[tuple[int, ...]]:
        """The positions of every feature's parents."""
        return [table.columns[1:] for table in self._fitted("parents_").tables]

    @property
    def concentration_(self) -> list[FloatArray]:
        """Strength of the prior, in rows: given the class alone, given one parent, and so on."""
        return levels(self._fitted("concentration_").tables)
