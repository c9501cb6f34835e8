"""Trees of categories as the user gives them: prefixes of a text, its parts between separators, or parents by name.

All names in a tree are text; a whole number is the text of its digits. The *path* of a value are its ancestors, from
the coarsest to the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name
from hebnb.columns.table import as_array, read
from hebnb.errors import ParameterError

_WAYS = "Give lengths of prefixes, a separator, a dict of value to parent, or a table with a column for every level."


@dataclass(frozen=True)
class Beginning:
    """How an ancestor is cut from a text: its first characters, or its first parts between separators."""

    number: int
    separator: str | None = None


@dataclass(frozen=True)
class Ancestry:
    """How other programs find the code of a text: by itself, or else by the deepest of its ancestors that is known.

    Parameters
    ----------
    codes : mapping of text to code
        What is looked up first.
    above : tuple of (Beginning, mapping of text to code)
        What is looked up where that fails, in this order.
    tokens : list of str
        The codes as they are shown, but for that of a gap.
    gap : int or None
        The code of a missing value, None if that is silent.
    of_numbers : bool
        Whether the texts are digits of whole numbers.
    """

    codes: Mapping[str, int]
    above: tuple[tuple[Beginning, Mapping[str, int]], ...]
    tokens: list[str]
    gap: int | None
    of_numbers: bool


class Hierarchy(Protocol):
    """A tree over texts."""

    def path(self, text: str) -> tuple[str, ...]:
        """The ancestors of a text, the coarsest first, and the text itself."""

    def fitted(self, texts: Sequence[str], name: Name) -> Hierarchy:
        """The tree over the values of a column, checked; one in which no value has an ancestor is none."""

    def lacking(self, texts: Iterable[str]) -> int:
        """How many of the texts the tree does not know."""

    def beginnings(self, known: Iterable[str]) -> list[tuple[Beginning, list[str]]]:
        """How these ancestors are cut from a text, the deepest first."""

    def mapped(self) -> Iterable[str]:
        """The texts whose ancestors cannot be cut from them."""

    def marked(self, node: str) -> str:
        """How a node is shown that stands for all below it."""

    def document(self) -> dict[str, Any]:
        """The tree as JSON."""


@dataclass(frozen=True)
class Prefixes:
    """The first characters of a text are above it.

    Examples
    --------
    >>> Prefixes((1, 3)).path("10115"), Prefixes((1, 3)).path("10")
    (('1', '101', '10115'), ('1', '10'))
    """

    lengths: tuple[int, ...]

    @classmethod
    def given(cls, lengths: Any, argument: str) -> Prefixes:
        """As the user gives them."""
        found = as_array(list(lengths)).tolist()
        if not found or not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in found):
            raise ParameterError(f"{argument}={lengths!r} must be lengths of prefixes.", "For example [1, 3].")
        if found[0] < 1:
            raise ParameterError(f"{argument}: a prefix of {found[0]} characters is none.", "Begin with 1 or more.")
        for shorter, longer in pairwise(found):
            if longer <= shorter:
                raise ParameterError(
                    f"{argument}: a prefix of {longer} characters is not longer than one of {shorter}.",
                    "List lengths from short to long.",
                )
        return cls(tuple(map(int, found)))

    def path(self, text: str) -> tuple[str, ...]:
        """Those that are shorter, and the text."""
        return (*(text[:length] for length in self.lengths if length < len(text)), text)

    def fitted(self, texts: Sequence[str], name: Name) -> Prefixes:
        """A prefix longer than every value is a mistake."""
        longest = max(map(len, texts), default=None)
        if longest is None or not self.lengths:
            return self
        if self.lengths[-1] > longest:
            raise ParameterError(
                f"{errors.column(name)}: hierarchies has a prefix of {self.lengths[-1]} characters, and its values "
                f"have no more than {longest}.",
                f"Leave out lengths above {longest}.",
            )
        return self if self.lengths[0] < longest else Prefixes(())

    def lacking(self, texts: Iterable[str]) -> int:
        """Every text has a beginning."""
        return 0

    def beginnings(self, known: Iterable[str]) -> list[tuple[Beginning, list[str]]]:
        """Of every length, the longest first."""
        by_length = _grouped(known, len)
        return [(Beginning(n), by_length[n]) for n in reversed(self.lengths) if n in by_length]

    def mapped(self) -> Iterable[str]:
        """None."""
        return ()

    def marked(self, node: str) -> str:
        """As something that goes on."""
        return f"{node}…"

    def document(self) -> dict[str, Any]:
        """The lengths."""
        return {"prefixes": list(self.lengths)}


@dataclass(frozen=True)
class Separated:
    """The first parts of a text are above it; a text that begins with the separator has no ancestor before it.

    Examples
    --------
    >>> Separated("/").path("a/b/c"), Separated("/").path("/a/b")
    (('a', 'a/b', 'a/b/c'), ('/a', '/a/b'))
    """

    separator: str

    @classmethod
    def given(cls, separator: str, argument: str) -> Separated:
        """As the user gives it."""
        if not separator:
            raise ParameterError(f"{argument}={separator!r} is no separator.", 'For example "/".')
        return cls(separator)

    def path(self, text: str) -> tuple[str, ...]:
        """Up to every separator, and the text."""
        parts = text.split(self.separator)
        nodes = (self.separator.join(parts[:n]) for n in range(1, len(parts)))
        return (*filter(None, nodes), text)

    def fitted(self, texts: Sequence[str], name: Name) -> Hierarchy:
        """None, where the separator never occurs."""
        return self if not texts or any(len(self.path(text)) > 1 for text in texts) else Prefixes(())

    def lacking(self, texts: Iterable[str]) -> int:
        """Every text has a first part."""
        return 0

    def beginnings(self, known: Iterable[str]) -> list[tuple[Beginning, list[str]]]:
        """Of every number of parts, the most first; nothing is above a text only because it begins with a separator."""
        by_parts = _grouped(filter(None, known), lambda text: text.count(self.separator) + 1)
        return [(Beginning(n, self.separator), by_parts[n]) for n in sorted(by_parts, reverse=True)]

    def mapped(self) -> Iterable[str]:
        """None."""
        return ()

    def marked(self, node: str) -> str:
        """As something that goes on."""
        return f"{node}{self.separator}…"

    def document(self) -> dict[str, Any]:
        """The separator."""
        return {"separator": self.separator}


@dataclass(frozen=True)
class Parents:
    """Every name has a parent, or None where it hangs from the root.

    Examples
    --------
    >>> Parents({"beagle": "dog", "dog": "animal", "animal": None}).path("beagle")
    ('animal', 'dog', 'beagle')
    """

    parents: Mapping[str, str | None]

    @classmethod
    def given(cls, mapping: Mapping[Any, Any], argument: str) -> Parents:
        """As the user gives it: a value's parent, its parent's parent, and so on."""
        parents: dict[str, str | None] = {}
        for key, value in mapping.items():
            child, parent = _name(key, argument), None if _is_gap(value) else _name(value, argument)
            _hang(parents, child, parent, f"{argument}: a value has two parents", "A value has one parent.")
        for parent in list(parents.values()):
            if parent is not None:
                parents.setdefault(parent, None)
        return cls._checked(parents, argument)

    @classmethod
    def of_table(cls, columns: Mapping[Any, Sequence[str | None]], argument: str) -> Parents:
        """From a column for every level, the finest first; a name in two columns is two nodes."""
        if len({len(column) for column in columns.values()}) > 1:
            raise ParameterError(f"{argument}: its columns have different lengths.")
        names = list(columns)
        taken: set[str] = set()
        nodes: list[dict[str, str]] = []
        for name in names:
            own = dict.fromkeys(text for text in columns[name] if text is not None)
            nodes.append({text: _free(text, name, taken) for text in own})
            taken |= set(nodes[-1].values())
        parents: dict[str, str | None] = {}
        for row in zip(*columns.values(), strict=True):
            chain = [(names[level], nodes[level][text]) for level, text in enumerate(row) if text is not None]
            ends = [*chain, (None, None)] if chain else []
            for (fine, child), (coarse, parent) in pairwise(ends):
                where = f"{argument}: column {coarse!r} is not a level above {fine!r}"
                if coarse is None:
                    where = f"{argument}: column {fine!r} is not a level below another"
                _hang(
                    parents,
                    str(child),
                    parent,
                    where,
                    "Columns go from fine to coarse, and a value has one parent in the next.",
                )
        return cls._checked(parents, argument)

    @classmethod
    def _checked(cls, parents: dict[str, str | None], argument: str) -> Parents:
        """The tree, if it is one."""
        rooted: set[str] = set()
        for name in parents:
            trail: dict[str, None] = {}
            at: str | None = name
            while at is not None and at not in rooted:
                if at in trail:
                    round_ = [*list(trail)[list(trail).index(at) :], at]
                    raise ParameterError(
                        f"{argument}: a value is above itself: {' → '.join(map(repr, round_))}.", "Break the cycle."
                    )
                trail[at] = None
                at = parents.get(at)
            rooted |= trail.keys()
        return cls(parents)

    def path(self, text: str) -> tuple[str, ...]:
        """Up to the root."""
        nodes = [text]
        while (above := self.parents.get(nodes[-1])) is not None:
            nodes.append(above)
        return tuple(reversed(nodes))

    def fitted(self, texts: Sequence[str], name: Name) -> Parents:
        """As it is; a warning counts the values that are not in it."""
        warn_of_lacking(self, texts, name)
        return self

    def lacking(self, texts: Iterable[str]) -> int:
        """Those without a place."""
        return sum(text not in self.parents for text in texts)

    def beginnings(self, known: Iterable[str]) -> list[tuple[Beginning, list[str]]]:
        """None: an ancestor is not part of a text."""
        return []

    def mapped(self) -> Iterable[str]:
        """All names."""
        return self.parents

    def marked(self, node: str) -> str:
        """By its name."""
        return node

    def document(self) -> dict[str, Any]:
        """The parents."""
        return {"parents": dict(self.parents)}


def as_hierarchy(given: Any, argument: str) -> Hierarchy:
    """A tree from what the user gave.

    Examples
    --------
    >>> as_hierarchy({"city": ["Bonn", "Köln"], "country": ["DE", "DE"]}, "hierarchies['city']").path("Bonn")
    ('DE', 'Bonn')
    """
    if isinstance(given, str):
        return Separated.given(given, argument)
    levels = _levels(given)
    if levels is not None:
        if not levels:
            raise ParameterError(f"{argument} is a table without columns.", _WAYS)
        return Parents.of_table({column.name: _texts(column, argument) for column in levels}, argument)
    if isinstance(given, Mapping):
        return Parents.given(given, argument)
    if isinstance(given, Iterable):
        return Prefixes.given(given, argument)
    raise ParameterError(f"{argument}={given!r} is no hierarchy.", _WAYS)


def restored(described: Mapping[str, Any]) -> Hierarchy:
    """The tree behind a document; a ValueError says what is wrong with it."""
    if "prefixes" in described:
        return Prefixes.given(described["prefixes"], "prefixes") if described["prefixes"] else Prefixes(())
    if "separator" in described:
        return Separated.given(str(described["separator"]), "separator")
    return Parents.given(described["parents"], "parents")


def savable(hierarchies: Any) -> Any:
    """The parameter as plain values: a table becomes a dict of columns."""
    if not isinstance(hierarchies, Mapping):
        return hierarchies
    return {key: _savable(given) for key, given in hierarchies.items()}


def _savable(given: Any) -> Any:
    levels = _levels(given)
    if levels is None:
        return list(given) if isinstance(given, range | set | frozenset) else given
    return {column.name: _values(column) for column in levels}


def as_text(value: Any) -> str:
    """A value as the text that it is in a tree.

    Examples
    --------
    >>> as_text("007"), as_text(7), as_text(7.0), as_text(7.5)
    ('007', '7', '7', '7.5')
    """
    if isinstance(value, float | Decimal) and value % 1 == 0:
        return str(int(value))
    return str(value)


def is_nameable(value: Any) -> bool:
    """Whether a value is text or a whole number, whose text all programs agree on."""
    if isinstance(value, float | Decimal):
        return bool(value % 1 == 0)
    return isinstance(value, str | int) and not isinstance(value, bool)


def warn_of_lacking(hierarchy: Hierarchy, texts: Sequence[str], name: Name) -> None:
    """Say how many values a tree does not know."""
    lacking = hierarchy.lacking(texts)
    if lacking:
        errors.warn(
            f"{errors.column(name)}: {lacking} of {len(texts)} categories are not in its hierarchy; they hang from its "
            "root."
        )


def _levels(given: Any) -> list[Column] | None:
    """The columns of a table; None if it is none."""
    if nw.dependencies.is_into_dataframe(given):
        return list(read(given).columns)
    if not isinstance(given, Mapping) or not given:
        return None
    if not all(isinstance(one, Iterable) and not isinstance(one, str) for one in given.values()):
        return None
    return [Column(name, _column_data(one)) for name, one in given.items()]


def _column_data(given: Any) -> Any:
    if nw.dependencies.is_into_series(given):
        return nw.from_native(given, series_only=True)
    return as_array(given if isinstance(given, np.ndarray) else list(given))


def _values(column: Column) -> list[Any]:
    """The values of a column, None for a gap."""
    codes, values = column.levels
    every = [*values.tolist(), None]
    return [every[code] for code in codes]


def _texts(column: Column, argument: str) -> list[str | None]:
    return [None if value is None else _name(value, argument) for value in _values(column)]


def _name(value: Any, argument: str) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if not is_nameable(value):
        raise ParameterError(f"{argument}: {value!r} is neither text nor a whole number.", "Convert it to text.")
    return as_text(value)


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _hang(parents: dict[str, str | None], child: str, parent: str | None, where: str, hint: str) -> None:
    """Give a name its parent, unless it has another."""
    if child in parents and parents[child] != parent:
        two = " and ".join("none" if one is None else repr(one) for one in (parents[child], parent))
        raise ParameterError(f"{where}: {child!r} has the parents {two}.", hint)
    parents[child] = parent


def _free(text: str, column: Any, taken: set[str]) -> str:
    """The text, or with the name of its column before it where a finer level has the same."""
    while text in taken:
        text = f"{column}: {text}"
    return text


def _grouped(texts: Iterable[str], key: Any) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for text in texts:
        groups.setdefault(key(text), []).append(text)
    return groups
