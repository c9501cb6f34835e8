"""How the user wants columns to be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name
from hebnb.columns.hierarchies import Hierarchy, as_hierarchy
from hebnb.columns.kinds import MISSING_POLICIES, MissingPolicy
from hebnb.columns.table import as_array
from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray


@dataclass(frozen=True)
class ReadingParameters:
    """Which columns are categories, perhaps in trees, which are cut, and what a gap means, as the user gave it."""

    categorical_features: Any = "auto"
    numeric_features: Any = None
    n_bins: int = 10
    bin_edges: Any = None
    missing: MissingPolicy = "category"
    trees: bool = False
    hierarchies: Any = None

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise errors.unknown_name("missing", self.missing, list(MISSING_POLICIES))
        if not isinstance(self.n_bins, int | np.integer) or self.n_bins < 2:
            raise ParameterError(f"n_bins={self.n_bins!r} must be an integer of at least 2.")
        if isinstance(self.categorical_features, str) and self.categorical_features not in ("auto", "all"):
            raise errors.unknown_name("categorical_features", self.categorical_features, ["auto", "all"])
        if self.bin_edges is not None and not isinstance(self.bin_edges, Mapping):
            raise ParameterError(f"bin_edges={self.bin_edges!r} must be a dict of column to edges.")
        if self.hierarchies is not None and not isinstance(self.hierarchies, Mapping):
            raise ParameterError(
                f"hierarchies must be a dict of column to hierarchy, not a {type(self.hierarchies).__name__}.",
                'For example {"zip": [1, 3]}.',
            )

    def of(self, names: tuple[Name, ...]) -> Reading:
        """The same for a table with these columns."""
        return Reading(self, names)


@dataclass(frozen=True)
class Reading:
    """How the columns of one table are read: the user's parameters, checked against its names."""

    parameters: ReadingParameters
    names: tuple[Name, ...]

    def __post_init__(self) -> None:
        both = sorted(map(str, self.cut & self.hierarchies.keys()))
        if both:
            raise ParameterError(f"Columns {', '.join(both)} are in hierarchies and also to be cut into bins.")
        both = sorted(map(str, self.cut & self.kept))
        if both:
            raise ParameterError(f"Columns {', '.join(both)} are in categorical_features and also to be cut into bins.")

    @property
    def missing(self) -> MissingPolicy:
        """What a gap is."""
        return self.parameters.missing

    @property
    def n_bins(self) -> int:
        """Number of quantile bins."""
        return self.parameters.n_bins

    @property
    def trees(self) -> bool:
        """Whether numbers become trees of bins."""
        return self.parameters.trees

    def cuts(self, column: Any) -> bool:
        """Whether a column of the table is cut into bins rather than read as categories."""
        return column.name in self.cut or (column.name not in self.kept and column.is_continuous)

    @cached_property
    def given_edges(self) -> dict[Any, FloatArray]:
        """The edges the user gave, checked, by column name."""
        given: dict[Name, FloatArray] = {}
        for key, values in (self.parameters.bin_edges or {}).items():
            (name,) = listed_columns("bin_edges", [key], self.names)
            if name in given:
                raise ParameterError(f"bin_edges gives edges for column {name!r} twice.")
            edges = as_array(values)
            if edges.ndim != 1 or not len(edges):
                raise ParameterError(f"bin_edges[{key!r}] must be a list of numbers.")
            given[name] = Column(f"bin_edges[{key!r}]", edges).numbers.copy()
            if not (np.diff(given[name], prepend=-np.inf) > 0).all():
                raise ParameterError(f"bin_edges[{key!r}] must be finite and increasing.")
        return given

    @cached_property
    def hierarchies(self) -> dict[Any, Hierarchy]:
        """The trees of categories the user gave, checked, by column name."""
        given: dict[Name, Hierarchy] = {}
        for key, tree in (self.parameters.hierarchies or {}).items():
            (name,) = listed_columns("hierarchies", [key], self.names)
            if name in given:
                raise ParameterError(f"hierarchies has column {name!r} twice.")
            given[name] = as_hierarchy(tree, f"hierarchies[{key!r}]")
        return given

    @cached_property
    def cut(self) -> set[Name]:
        """Columns to be cut whatever they hold."""
        return (
            listed_columns("numeric_features", self.parameters.numeric_features, self.names) | self.given_edges.keys()
        )

    @cached_property
    def kept(self) -> set[Name]:
        """Columns that are categories whatever they hold."""
        listed = self.parameters.categorical_features
        if not isinstance(listed, str):
            return listed_columns("categorical_features", listed, self.names) | self.hierarchies.keys()
        return set(self.names) - self.cut if listed == "all" else set(self.hierarchies)


def listed_columns(argument: str, listed: Any, names: tuple[Name, ...]) -> set[Name]:
    """The columns that an argument lists by name, by position where that is not a name, or by a mask."""
    if listed is None:
        return set()
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise ParameterError(f"{argument}={listed!r} must be a list of column names or positions.")
    items = list(listed)
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ParameterError(f"{argument} is a mask of {len(items)} for {len(names)} columns.")
        return {name for name, marked in zip(names, items, strict=True) if marked}
    found: set[Name] = set()
    for item in items:
        if item in names:
            found.add(item)
        elif isinstance(item, int | np.integer) and -len(names) <= item < len(names):
            found.add(names[int(item)])
        else:
            raise errors.unknown_name(f"column in {argument}", item, [str(name) for name in names])
    return found
