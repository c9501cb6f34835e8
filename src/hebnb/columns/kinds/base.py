"""What every kind of feature can do: learn from a column, encode it, grow, be shown, be saved, be computed elsewhere.

A feature of size K gives its values the codes 0 … K−1, with the missing value, where it is a category, last. Whatever
contributes nothing (an unseen category, an ignored gap) gets the code K, the *silent* code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
    runtime_checkable,
)

import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hebnb.columns.hierarchies import Ancestry
    from hebnb.columns.reading import Reading

MissingPolicy: TypeAlias = Literal["category", "ignore", "error"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = ("category", "ignore", "error")

T_co = TypeVar("T_co", covariant=True)


class Coder(Protocol[T_co]):
    """Something that computes codes elsewhere: an engine, a query, a graph. A kind is computed in one of two ways."""

    def lookup(self, values: Array, gap: int | None) -> T_co:
        """The place of a value among these; ``gap`` is the code of a missing one, None if that is silent."""

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> T_co:
        """How many of these edges a number is above; times are microseconds since 1970."""


@runtime_checkable
class Climber(Protocol[T_co]):
    """A coder that meets values which were not seen, and can look up their ancestors.

    Others, who only ask what was learned, are told the values of a tree of categories by ``lookup``.
    """

    def climb(self, ancestry: Ancestry) -> T_co:
        """The code of a value by its text, or of the deepest of its ancestors that is known."""


class Numbers(NamedTuple):
    """The numbers of some rows, NaN for a gap, and the rows' weights if they have any."""

    numbers: FloatArray
    weights: FloatArray | None


class Cutting(Protocol):
    """What an engine tells of the numbers of lazy columns."""

    def sampled(self, columns: list[Any], limit: int, few: int) -> list[Numbers]:
        """For every column the numbers of all rows, or of about ``limit`` at random.

        Where these have no more than ``few`` different numbers, rows with others are among them if there are any.
        """


class Kind(ABC):
    """A feature: what the values of a column mean.

    A kind is a frozen value. Those of two batches are joined by ``union``; that of a further batch is ``relearned``.
    """

    # How files call the kind.
    name: ClassVar[str]
    # Whether a gap is a category.
    missing: bool

    @classmethod
    @abstractmethod
    def claims(cls, column: Any, reading: Reading) -> bool:
        """Whether a column, in memory or lazy, is of this kind. The first kind in ``KINDS`` that claims it has it."""

    @classmethod
    @abstractmethod
    def learn(
        cls, column: Column, reading: Reading, weights: FloatArray | None = None, labels: IntArray | None = None
    ) -> Kind:
        """The feature that a training column becomes; a weight counts a row that many times."""

    @classmethod
    @abstractmethod
    def expected(cls, columns: list[Any], reading: Reading, engine: Cutting) -> list[Kind]:
        """The features that lazy columns become, as far as that is known before they are counted."""

    @abstractmethod
    def counted(self, keys: Column, policy: MissingPolicy) -> Kind:
        """An expected feature, now that the keys that occur are known."""

    @abstractmethod
    def codes_of_keys(self, keys: Column) -> IntArray:
        """The codes of keys that an engine grouped by."""

    @property
    @abstractmethod
    def size(self) -> int:
        """K, the number of categories, the missing one included."""

    @property
    @abstractmethod
    def labels(self) -> Array:
        """The categories by code."""

    @property
    @abstractmethod
    def texts(self) -> list[str | None]:
        """The categories by code as they are shown; None for a gap."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What the values are, in a word or two."""

    @property
    def cut_at(self) -> FloatArray | None:
        """Where numbers are cut, if they are."""
        return None

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The node of every code, the silent one included, at every level of the feature's tree, the coarsest first."""
        return (np.arange(self.size + 1),)

    @cached_property
    def n_nodes(self) -> tuple[int, ...]:
        """How many nodes there are at every level, one for what is silent included."""
        return tuple(int(nodes.max()) + 1 for nodes in self.levels)

    @property
    def is_ordered(self) -> bool:
        """Whether neighbouring codes are alike."""
        return False

    @property
    def are_integers(self) -> bool:
        """Whether the values are whole numbers that are categories."""
        return False

    def coarser(self, level: int) -> Kind:
        """A kind to count by that tells the nodes of a level apart, or more."""
        return self

    def nodes_of_coarser(self, coarser: Kind, level: int) -> IntArray:
        """The node at a level of every code of the kind that was counted by."""
        return self.levels[min(level, len(self.levels) - 1)]

    @property
    def is_empty(self) -> bool:
        """Whether no value was seen but gaps."""
        return False

    @property
    def missing_code(self) -> int:
        """The code of a gap, the silent one where gaps are no category."""
        return self.size - self.missing

    @property
    def gap(self) -> int | None:
        """The code of a gap, if it has one that says something."""
        return self.missing_code if self.missing else None

    @abstractmethod
    def encode(self, column: Column) -> IntArray:
        """A code for every row."""

    @abstractmethod
    def gaps(self, column: Column) -> BoolArray:
        """Which rows have no value."""

    @abstractmethod
    def shown(self, column: Column, codes: IntArray) -> Array:
        """The values of rows as they are shown, None for a gap."""

    @abstractmethod
    def outlives(self, codes: IntArray) -> BoolArray:
        """Whether a value stays known when its last row is gone."""

    @property
    @abstractmethod
    def may_be_silent(self) -> bool:
        """Whether a training row may have the silent code although gaps are not ignored."""

    @abstractmethod
    def relearned(self, column: Column, policy: MissingPolicy) -> Kind:
        """The feature of a further batch, which can be joined with this one."""

    @abstractmethod
    def union(self, other: Kind) -> Kind | None:
        """A feature with the values of both; None if their values mean different things."""

    @abstractmethod
    def codes_in(self, wider: Self) -> IntArray:
        """The codes that these categories have in a feature that contains them."""

    @abstractmethod
    def with_rows(self, rows: FloatArray) -> Self:
        """What is left of the feature where every code occurs so often, perhaps no longer."""

    def unlike(self, other: Kind) -> str:
        """Why the values of two parts mean different things."""
        return f"one part has {self.description}, the other {other.description}"

    def limited(self, rows: FloatArray, most: int) -> tuple[Kind, IntArray] | None:
        """At most so many categories, the most frequent, and their codes here; None if there are no more.

        ``rows`` is how often every code occurs.
        """
        return None

    @abstractmethod
    def computed_by(self, coder: Coder[T_co]) -> T_co:
        """What something that computes codes makes of this kind."""

    @abstractmethod
    def document(self) -> tuple[dict[str, Any], Array | None]:
        """The feature as JSON, and as an array where it is numbers."""

    @classmethod
    @abstractmethod
    def restored(cls, described: Mapping[str, Any], array: Array | None) -> Kind:
        """The feature behind a document; a ValueError says what is wrong with it."""


def with_missing(codes: IntArray, kind: Kind) -> IntArray:
    """Codes by level with that of a missing value appended, where index −1 finds it."""
    return np.append(codes, kind.missing_code)


def refuse_missing(gaps: int, name: Name) -> None:
    """Complain of gaps where there may be none."""
    if gaps:
        raise InputError(
            f"{errors.column(name)}: {gaps} values are missing.",
            'missing="category" gives them a category of their own, missing="ignore" leaves them out.',
        )


def warn_of_gaps(name: Name) -> None:
    """Say that a column contributes nothing."""
    errors.warn(f"{errors.column(name)}: every value is missing; it contributes nothing.", errors.TableWarning)
