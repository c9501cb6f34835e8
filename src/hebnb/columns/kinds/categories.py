"""Values that are their own categories."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hebnb.columns.alike import as_learned, joined
from hebnb.columns.column import Column, in_order, plain_values
from hebnb.columns.kinds.base import Coder, Cutting, Kind, MissingPolicy, T_co, refuse_missing, with_missing
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray
from hebnb.foundation.json_values import from_json, to_json

if TYPE_CHECKING:
    from hebnb.columns.reading import Reading


@dataclass(frozen=True, eq=False)
class Categories(Kind):
    """A feature whose values are their own categories, in sorted order.

    Examples
    --------
    >>> import numpy as np
    >>> colours = Categories(np.array(["blue", "red"], dtype=object), missing=True)
    >>> colours.encode(Column("colour", np.array(["red", "green", None, "blue"], dtype=object)))
    array([1, 3, 2, 0])
    >>> colours.labels
    array(['blue', 'red', None], dtype=object)
    """

    values: Array
    missing: bool
    name: ClassVar[str] = "categories"

    @classmethod
    def occurring(cls, codes: IntArray, values: Array, missing: bool = False) -> Categories:
        """The values, in order, that some code points to; −1, a gap, is a category if ``missing``."""
        occurs = np.zeros(len(values) + 1, dtype=bool)
        occurs[codes] = True
        return cls(values if occurs[:-1].all() else values[occurs[:-1]], missing and bool(occurs[-1]))

    @classmethod
    def claims(cls, column: Any, reading: Reading) -> bool:
        """Every column can be categories."""
        return True

    @classmethod
    def learn(
        cls, column: Column, reading: Reading, weights: FloatArray | None = None, labels: IntArray | None = None
    ) -> Categories:
        """The values that occur."""
        return cls._in_column(column, reading.missing)

    @classmethod
    def _in_column(cls, column: Column, policy: MissingPolicy) -> Categories:
        codes, values = column.levels
        if policy == "error":
            refuse_missing(int((codes < 0).sum()), column.name)
        return cls.occurring(codes, values, policy == "category")

    @classmethod
    def expected(cls, columns: list[Any], reading: Reading, engine: Cutting) -> list[Kind]:
        """Which values there are is known when they are counted."""
        return [cls(np.empty(0, dtype=object), missing=False) for _ in columns]

    def counted(self, keys: Column, policy: MissingPolicy) -> Categories:
        """The values that occur."""
        return self._in_column(keys, policy)

    def codes_of_keys(self, keys: Column) -> IntArray:
        """The keys are the values."""
        return self.encode(keys)

    @property
    def size(self) -> int:
        """K, the number of categories, the missing one included."""
        return len(self.values) + self.missing

    @property
    def labels(self) -> Array:
        """The categories by code; the missing one is NaN among floats and None elsewhere."""
        if not self.missing:
            return self.values
        if self.values.dtype.kind == "f":
            return np.append(self.values, np.nan)
        labels = np.empty(self.size, dtype=object)
        labels[:-1] = self.values
        return labels

    @property
    def texts(self) -> list[str | None]:
        """The categories as text."""
        return [*map(str, self.values.tolist()), *([None] if self.missing else [])]

    @property
    def description(self) -> str:
        """What type the values have."""
        kind = self.values.dtype.kind
        if kind != "O":
            return {"b": "yes or no", "f": "numbers"}.get(kind, "integers")
        types = {type(value).__name__ for value in self.values.tolist()}
        known = {"str": "text", "date": "dates", "datetime": "times"}
        return known.get(types.pop(), "values") if len(types) == 1 else "mixed"

    @property
    def are_integers(self) -> bool:
        """Whether all values are."""
        return self.values.dtype.kind in "iu"

    @property
    def is_empty(self) -> bool:
        """Whether no value was seen but gaps."""
        return not len(self.values)

    def encode(self, column: Column) -> IntArray:
        """A code for every row."""
        codes, values = column.levels
        if values is self.values:  # the column the categories were learned from
            return codes if codes.min() >= 0 else np.where(codes < 0, self.missing_code, codes)
        return with_missing(self.codes_of(values), self).take(codes)

    def gaps(self, column: Column) -> BoolArray:
        """Which rows have no value."""
        return column.levels.codes < 0

    def shown(self, column: Column, codes: IntArray) -> Array:
        """The categories as they were learned, and values that were never seen as they came."""
        at, values = column.levels
        texts = np.empty(len(values) + 1, dtype=object)
        texts[:-1] = [str(value) for value in values.tolist()]
        shown: Array = texts[at]
        known = np.flatnonzero((codes < self.size) & (at >= 0))
        shown[known] = np.array([*self.texts, None], dtype=object)[codes[known]]
        return shown

    def outlives(self, codes: IntArray) -> BoolArray:
        """A category is gone with its last row."""
        return np.zeros(len(codes), dtype=bool)

    @property
    def may_be_silent(self) -> bool:
        """A training row's value is a category."""
        return False

    def relearned(self, column: Column, policy: MissingPolicy) -> Categories:
        """The values that occur in the batch."""
        return self._in_column(column, policy)

    def union(self, other: Kind) -> Categories | None:
        """The categories of both, unless those of one are in a tree."""
        return self | other if isinstance(other, Categories) and type(other) is type(self) else None

    def codes_of(self, values: Array) -> IntArray:
        """The code of every value, the silent one where it is not a category."""
        if self.values.dtype.kind in "iuf" and self.values.dtype == values.dtype:
            at = np.searchsorted(self.values, values)
            known = at < len(self.values)
            known[known] = self.values[at[known]] == values[known]
            return np.where(known, at, self.size)
        code, silent, values = self._code, self.size, as_learned(values, self.values)
        return np.fromiter((code.get(value, silent) for value in values.tolist()), np.intp, len(values))

    def codes_in(self, wider: Categories) -> IntArray:
        """The codes that these categories have in a feature that contains them."""
        codes = wider.codes_of(self.values)
        return with_missing(codes, wider) if self.missing else codes

    def with_rows(self, rows: FloatArray) -> Self:
        """The categories that occur."""
        values = self.values[rows[: len(self.values)] > 0]
        values = in_order(values.tolist()) if values.dtype.kind == "O" else values
        return replace(self, values=values, missing=self.missing and bool(rows[self.missing_code] > 0))

    def limited(self, rows: FloatArray, most: int) -> tuple[Categories, IntArray] | None:
        """The most frequent categories; the missing value is not one of them."""
        known = rows[: len(self.values)]
        if len(known) <= most:
            return None
        order = np.lexsort((np.arange(len(known)), known))[::-1]  # of equals the later, as engines are asked to
        kept = np.sort(order[:most])
        return Categories(self.values[kept], self.missing), kept

    def computed_by(self, coder: Coder[T_co]) -> T_co:
        """By looking values up."""
        return coder.lookup(self.values, self.gap)

    def document(self) -> tuple[dict[str, Any], Array | None]:
        """Text and the like in JSON, numbers as an array."""
        described = {"kind": self.name, "missing": self.missing}
        if self.values.dtype.kind == "O":
            return described | {"values": to_json(self.values.tolist())}, None
        return described, self.values

    @classmethod
    def restored(cls, described: Mapping[str, Any], array: Array | None) -> Categories:
        """The values, which have to be distinct and in order."""
        if "values" in described:
            given = plain_values(from_json(described["values"]))
            if len(set(given)) != len(given):
                raise ValueError("categories occur twice")
            values = in_order(given)
        else:
            values = np.empty((0, 0)) if array is None else array
            if values.ndim != 1 or values.dtype.kind not in "biuf":
                raise ValueError("categories are no list")
            given = values.tolist()
        if in_order(given).tolist() != given:
            raise ValueError("categories are not in order")
        return cls(values, bool(described["missing"]))

    def __or__(self, other: Categories) -> Categories:
        return Categories(joined(self.values, other.values), self.missing or other.missing)

    @cached_property
    def _code(self) -> dict[Hashable, int]:
        return {value: code for code, value in enumerate(self.values.tolist())}
