"""Categories that are the leaves of a tree: a category never seen is known by the deepest of its ancestors that was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from hebnb import errors
from hebnb.columns.alike import as_learned
from hebnb.columns.column import Column, Name
from hebnb.columns.hierarchies import Ancestry, Hierarchy, as_text, is_nameable, restored, warn_of_lacking
from hebnb.columns.kinds.base import Climber, Coder, Cutting, Kind, MissingPolicy, T_co, refuse_missing, with_missing
from hebnb.columns.kinds.categories import Categories
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hebnb.columns.reading import Reading

# Levels above the categories at most; what lies deeper is told apart by the categories alone.
DEEPEST = 12


@dataclass(frozen=True, eq=False)
class CategoryTree(Categories):
    """A feature whose values are leaves of a tree that the user gave, in the order of the tree.

    The codes are those of the categories that were seen, then one for every node above one of them, which stands for
    what is below it and was not seen, then that of a gap.

    Parameters
    ----------
    values : array of str
        The categories; whole numbers are the text of their digits.
    missing : bool
        Whether a gap is a category.
    hierarchy : Hierarchy
        What is above a value.
    inner : tuple of str
        The nodes above values that were seen.
    depth : int
        How many levels the tree has above the categories; further batches keep it.
    of_numbers : bool
        Whether the values were whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hebnb.columns.hierarchies import Prefixes
    >>> zips = CategoryTree.over(["101", "102", "201"], Prefixes((1,)), missing=False)
    >>> zips.texts
    ['101', '102', '201', '1… (others)', '2… (others)']
    >>> zips.encode(Column("zip", np.array(["102", "109", "301"], dtype=object)))
    array([1, 3, 5])
    >>> zips.levels
    (array([0, 0, 1, 0, 1, 2]), array([0, 1, 2, 3, 4, 5]))
    """

    hierarchy: Hierarchy
    inner: tuple[str, ...]
    depth: int
    of_numbers: bool
    name: ClassVar[str] = "category tree"

    @classmethod
    def over(
        cls,
        texts: Iterable[str],
        hierarchy: Hierarchy,
        missing: bool,
        of_numbers: bool = False,
        depth: int | None = None,
    ) -> CategoryTree:
        """The tree over some values."""
        paths = {text: hierarchy.path(text) for text in texts}
        if depth is None:
            depth = min(max(map(len, paths.values()), default=1) - 1, DEEPEST)
        inner = {node for path in paths.values() for node in path[: min(depth, len(path) - 1)]}
        values = _as_objects(sorted(paths, key=paths.__getitem__))
        return cls(values, missing, hierarchy, tuple(sorted(inner, key=hierarchy.path)), depth, of_numbers)

    @classmethod
    def claims(cls, column: Any, reading: Reading) -> bool:
        """What has a hierarchy."""
        return column.name in reading.hierarchies

    @classmethod
    def learn(
        cls, column: Column, reading: Reading, weights: FloatArray | None = None, labels: IntArray | None = None
    ) -> CategoryTree:
        """The tree over the values that occur."""
        return cls._over_column(column, reading.missing, reading.hierarchies[column.name])

    @classmethod
    def _over_column(
        cls, column: Column, policy: MissingPolicy, hierarchy: Hierarchy, of_numbers: bool | None = None
    ) -> CategoryTree:
        texts, missing, numbers = _read(column, policy)
        fitted = hierarchy.fitted(texts, column.name)
        return cls.over(texts, fitted, missing, numbers if of_numbers is None else of_numbers)

    @classmethod
    def expected(cls, columns: list[Any], reading: Reading, engine: Cutting) -> list[Kind]:
        """Which values there are is known when they are counted."""
        return [
            cls.over([], reading.hierarchies[column.name], missing=False, of_numbers=column.dtype.is_numeric())
            for column in columns
        ]

    def counted(self, keys: Column, policy: MissingPolicy) -> CategoryTree:
        """The tree over the values that occur."""
        return self._over_column(keys, policy, self.hierarchy, self.of_numbers)

    @property
    def size(self) -> int:
        """K, the number of categories and of nodes above them, the missing one included."""
        return len(self.values) + len(self.inner) + self.missing

    @property
    def labels(self) -> Array:
        """The texts by code."""
        return _as_objects(self.texts)

    @property
    def texts(self) -> list[str | None]:
        """The categories, and what the nodes above them stand for."""
        return [*self.values.tolist(), *map(self._others, self.inner), *([None] if self.missing else [])]

    def _others(self, node: str) -> str:
        return f"{self.hierarchy.marked(node)} (others)"

    @property
    def description(self) -> str:
        """What is in the tree."""
        return "tree of integers" if self.of_numbers else "tree of text"

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The node of every code at every level; the last tells all codes apart."""
        return (*(self._numbered(keys) for keys in self._keys), np.arange(self.size + 1))

    @cached_property
    def _keys(self) -> list[list[tuple[str, bool]]]:
        """The node at every level but the last, for every code but those of gaps and of silence.

        A node is a name and whether it stands for others. A value with fewer ancestors than others is its own node
        below them; what stands for others is a node without rows there.
        """
        paths = list(map(self.hierarchy.path, self.values.tolist()))
        above = list(map(self.hierarchy.path, self.inner))
        return [
            [
                *((path[min(level, len(path) - 1)], False) for path in paths),
                *((path[level], False) if level < len(path) else (path[-1], True) for path in above),
            ]
            for level in range(self.depth)
        ]

    def _numbered(self, keys: list[tuple[str, bool]]) -> IntArray:
        number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        own = np.fromiter(map(number.__getitem__, keys), np.intp, len(keys))
        return np.concatenate([own, len(number) + np.arange(self.missing + 1)])

    def coarser(self, level: int) -> Categories:
        """The nodes of a level as categories of their own."""
        if level >= self.depth:
            return self
        ends = {node for node in self.inner if len(self.hierarchy.path(node)) == level + 1}
        shown = [
            self._others(node) if others else self.hierarchy.marked(node) if node in ends else node
            for node, others in dict.fromkeys(self._keys[level])
        ]
        return TreeNodes(_as_objects(shown), self.missing, self, level)

    def nodes_of_coarser(self, coarser: Kind, level: int) -> IntArray:
        """The categories counted by are the nodes."""
        return np.arange(coarser.size + 1)

    def encode(self, column: Column) -> IntArray:
        """A code for every row."""
        codes, values = column.levels
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[codes] = True
        found = np.full(len(values), self.size)
        found[occurs[:-1]] = self.codes_of(values[occurs[:-1]])
        return with_missing(found, self).take(codes)

    def codes_of(self, values: Array) -> IntArray:
        """The code of every value, or of its deepest ancestor that is known; the silent one where there is none."""
        held = as_learned(values, self.values).tolist()
        return np.fromiter((self._code_of(as_text(value)) for value in held), np.intp, len(held))

    def _code_of(self, text: str) -> int:
        code = self._code.get(text)
        if code is not None:
            return code
        for node in reversed(self.hierarchy.path(text)[:-1]):
            if node in self._above:
                return self._above[node]
        return self.size

    @cached_property
    def _code(self) -> dict[Any, int]:
        """The codes of texts by themselves: a category rather than a node of the same name."""
        return self._inner_codes | {value: code for code, value in enumerate(self.values.tolist())}

    @cached_property
    def _above(self) -> dict[str, int]:
        """The codes of ancestors: a node rather than a category of the same name."""
        return {value: code for code, value in enumerate(self.values.tolist())} | self._inner_codes

    @cached_property
    def _inner_codes(self) -> dict[str, int]:
        return {node: code for code, node in enumerate(self.inner, len(self.values))}

    def outlives(self, codes: IntArray) -> BoolArray:
        """A category is gone with its last row; a node above never needs one of its own."""
        return (codes >= len(self.values)) & (codes < self.missing_code)

    def relearned(self, column: Column, policy: MissingPolicy) -> CategoryTree:
        """The values of the batch, in the same tree."""
        texts, missing, numbers = _read(column, policy)
        known = set(self.values.tolist())
        warn_of_lacking(self.hierarchy, [text for text in texts if text not in known], column.name)
        return self.over(texts, self.hierarchy, missing, numbers, self.depth)

    def union(self, other: Kind) -> CategoryTree | None:
        """The categories of both, if the tree is the same."""
        if not isinstance(other, CategoryTree) or (self.hierarchy, self.depth) != (other.hierarchy, other.depth):
            return None
        path = self.hierarchy.path
        return replace(
            self,
            values=_as_objects(sorted({*self.values.tolist(), *other.values.tolist()}, key=path)),
            missing=self.missing or other.missing,
            inner=tuple(sorted({*self.inner, *other.inner}, key=path)),
            of_numbers=self.of_numbers and other.of_numbers,
        )

    def codes_in(self, wider: Categories) -> IntArray:
        """The codes in a tree that contains this one; a category that it lacks is known by an ancestor there."""
        assert isinstance(wider, CategoryTree)
        inner = [wider._inner_codes.get(node, wider.size) for node in self.inner]
        codes = np.concatenate([wider.codes_of(self.values), np.array(inner, dtype=np.intp)])
        return with_missing(codes, wider) if self.missing else codes

    def with_rows(self, rows: FloatArray) -> Self:
        """The categories that occur, and the nodes above them."""
        n_values = len(self.values)
        missing = self.missing and bool(rows[self.missing_code] > 0)
        left = self.over(
            self.values[rows[:n_values] > 0].tolist(), self.hierarchy, missing, self.of_numbers, self.depth
        )
        counted = {node for node, count in zip(self.inner, rows[n_values:], strict=False) if count > 0}
        inner = sorted({*left.inner, *counted}, key=self.hierarchy.path)
        return replace(self, values=left.values, missing=missing, inner=tuple(inner))

    def unlike(self, other: Kind) -> str:
        """Other trees, most often."""
        if not isinstance(other, CategoryTree):
            return super().unlike(other)
        return "the parts have different hierarchies"

    def limited(self, rows: FloatArray, most: int) -> tuple[Categories, IntArray] | None:
        """The most frequent categories; the rows of others count for the nodes above them."""
        known = rows[: len(self.values)]
        if len(known) <= most:
            return None
        by_name = np.argsort(np.argsort(self.values))
        kept = np.sort(np.lexsort((by_name, known))[::-1][:most])  # of equals the later
        return replace(self, values=self.values[kept]), kept

    def computed_by(self, coder: Coder[T_co]) -> T_co:
        """By looking up the value, and else its ancestors."""
        if not isinstance(coder, Climber):
            return coder.lookup(self.labels[: self.missing_code], self.gap)
        codes = {text: self._code_of(text) for text in self.hierarchy.mapped()} | self._code
        above = self.hierarchy.beginnings(self._above)
        found: T_co = coder.climb(
            Ancestry(
                {text: code for text, code in codes.items() if code < self.size},
                tuple((way, {text: self._above[text] for text in texts}) for way, texts in above),
                [str(text) for text in self.texts[: self.missing_code]],
                self.gap,
                self.of_numbers,
            )
        )
        return found

    def document(self) -> tuple[dict[str, Any], Array | None]:
        """The categories and the tree."""
        return {
            "kind": self.name,
            "missing": self.missing,
            "values": self.values.tolist(),
            "inner": list(self.inner),
            "depth": self.depth,
            "of_numbers": self.of_numbers,
            "hierarchy": self.hierarchy.document(),
        }, None

    @classmethod
    def restored(cls, described: Mapping[str, Any], array: Array | None) -> CategoryTree:
        """The categories and nodes, which have to be distinct, in order and in the tree."""
        hierarchy = restored(described["hierarchy"])
        values, inner, depth = list(described["values"]), list(described["inner"]), int(described["depth"])
        if not all(isinstance(text, str) for text in (*values, *inner)):
            raise ValueError("categories are no text")
        for texts in (values, inner):
            if texts != sorted(set(texts), key=hierarchy.path):
                raise ValueError("categories are not in order")
        given = cls.over(values, hierarchy, bool(described["missing"]), bool(described["of_numbers"]), depth)
        if not 0 <= depth <= DEEPEST or not set(given.inner) <= set(inner):
            raise ValueError("categories and their tree do not match")
        if any(len(hierarchy.path(node)) > depth for node in inner):
            raise ValueError("a node is below its tree")
        return replace(given, inner=tuple(inner))


@dataclass(frozen=True, eq=False)
class TreeNodes(Categories):
    """The nodes of a tree at one level, as categories: their texts are not those of values."""

    tree: CategoryTree
    level: int

    def encode(self, column: Column) -> IntArray:
        """The node of every row's value."""
        return self.tree.levels[self.level][self.tree.encode(column)]

    def computed_by(self, coder: Coder[T_co]) -> T_co:
        """By that of the value."""
        if not isinstance(coder, Climber):
            return coder.lookup(self.values, self.gap)
        return self.tree.computed_by(cast("Coder[T_co]", coder))


def _read(column: Column, policy: MissingPolicy) -> tuple[list[str], bool, bool]:
    """The distinct values of a column as text, whether a gap is a category, and whether all are numbers."""
    codes, values = column.levels
    gaps = int((codes < 0).sum())
    if policy == "error":
        refuse_missing(gaps, column.name)
    given = values[np.unique(codes[codes >= 0])].tolist()
    _refuse_others(given, column.name)
    numbers = bool(given) and not any(isinstance(value, str) for value in given)
    return sorted(set(map(as_text, given))), gaps > 0 and policy == "category", numbers


def _refuse_others(values: Sequence[Any], name: Name) -> None:
    """Complain of values that have no text of their own."""
    strange = next((value for value in values if not is_nameable(value)), None)
    if strange is not None:
        raise InputError(
            f"{errors.column(name)}: it has a hierarchy, and {strange!r} is neither text nor a whole number.",
            "Convert it to text, or leave it out of hierarchies.",
        )


def _as_objects(texts: Sequence[Any]) -> Array:
    objects = np.empty(len(texts), dtype=object)
    objects[:] = texts
    return objects
