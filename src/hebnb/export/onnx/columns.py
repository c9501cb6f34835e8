"""How a column enters an ONNX graph: as which tensor, with which token for a gap, and how it becomes codes there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hebnb import errors
from hebnb.columns.column import Column, Name
from hebnb.columns.hierarchies import Ancestry
from hebnb.columns.kinds import Kind
from hebnb.export.onnx.graph import ML, Graph, text_of, texts_of
from hebnb.foundation.arrays import Array, FloatArray, IntArray

_INT64 = np.iinfo(np.int64)
LABEL, PROBABILITIES = "label", "probabilities"


class Port(Protocol):
    """One column of the model as an input of the graph."""

    @property
    def kind(self) -> str:
        """``"string"``, or the name of a NumPy type."""

    @property
    def gap(self) -> str | int | float:
        """What stands for a missing value."""

    @property
    def unit(self) -> str | None:
        """What numbers are, where that is not plain."""

    def feed(self, column: Column, codes: IntArray) -> Array:
        """The tensor for a column that hebnb has read and encoded."""

    def codes(self, graph: Graph, values: str) -> str:
        """The codes of the tensor of this name, by nodes of the graph."""


@dataclass(frozen=True)
class Tokens:
    """Categories that are text or whole numbers, or known by their text, found by lookup.

    What is not a category becomes a token of its own in a feed, lest it be taken for a gap; ``also`` are the codes of
    further texts.
    """

    kind: str
    tokens: list[Any]
    gap_code: int | None
    gap: str | int
    unseen: str | int
    unit: str | None = None
    also: Mapping[str, int] = field(default_factory=dict)

    def feed(self, column: Column, codes: IntArray) -> Array:
        """The token of every row."""
        gaps = [] if self.gap_code is None else [self.gap]
        by_code = np.array([*self.tokens, *gaps, self.unseen], dtype=object if self.kind == "string" else self.kind)
        found = by_code.take(codes)
        found[column.levels.codes < 0] = self.gap
        return found

    def codes(self, graph: Graph, values: str) -> str:
        """Look the tokens up."""
        silent = len(self.tokens) + (self.gap_code is not None)
        of_gap = silent if self.gap_code is None else self.gap_code
        found = [*range(len(self.tokens)), of_gap, silent, *self.also.values()]
        attributes: dict[str, Any] = {"values_int64s": found, "default_int64": silent}
        attributes[f"keys_{self.kind}s"] = [*self.tokens, self.gap, self.unseen, *self.also]
        return graph.apply("LabelEncoder", values, domain=ML, **attributes)


@dataclass(frozen=True)
class Floats:
    """Categories that are floats, found by binary search and met exactly; NaN is a gap."""

    values: FloatArray
    gap_code: int | None
    kind: str = "double"
    gap: float = np.nan
    unit: str | None = None

    def feed(self, column: Column, codes: IntArray) -> Array:
        """The number of every row."""
        gaps = [] if self.gap_code is None else [self.gap]
        # No column holds infinity, so it stands for what is not a category.
        found: FloatArray = np.concatenate([self.values, gaps, [np.inf]]).take(codes)
        return np.where(column.levels.codes < 0, self.gap, found)

    def codes(self, graph: Graph, values: str) -> str:
        """Count the categories below, and compare with the next."""
        silent = len(self.values) + (self.gap_code is not None)
        below = _number_below(graph, self.values, values)
        nearest = graph.apply("Gather", graph.constant(np.append(self.values, np.nan)), below)
        found = graph.apply("Where", graph.apply("Equal", nearest, values), below, graph.constant(silent))
        return _with_gap(graph, values, found, silent if self.gap_code is None else self.gap_code)


@dataclass(frozen=True)
class Steps:
    """Numbers that are cut; NaN is a gap."""

    edges: FloatArray
    gap_code: int | None
    unit: str | None = None
    kind: str = "double"
    gap: float = np.nan

    def feed(self, column: Column, codes: IntArray) -> Array:
        """The number of every row."""
        return column.numbers

    def codes(self, graph: Graph, values: str) -> str:
        """Count the edges below."""
        silent = len(self.edges) + 1
        found = _number_below(graph, self.edges, values)
        return _with_gap(graph, values, found, silent if self.gap_code is None else self.gap_code)


def _with_gap(graph: Graph, values: str, codes: str, of_gap: int) -> str:
    return graph.apply("Where", graph.apply("IsNaN", values), graph.constant(of_gap), codes)


@dataclass(frozen=True)
class _Ports:
    """Makes the port of a column."""

    name: Name

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> Port:
        """Numbers that are cut."""
        return Steps(edges, gap, "microseconds since 1970" if of_times else None)

    def lookup(self, values: Array, gap: int | None) -> Port:
        """Numbers or tokens."""
        if values.dtype.kind == "f":
            return Floats(values, gap)
        known = values.tolist()
        if values.dtype.kind in "bi" or (values.dtype.kind == "u" and max(known, default=0) <= _INT64.max):
            whole = [int(value) for value in known]
            taken = set(whole)
            free = (number for number in range(_INT64.min, _INT64.max) if number not in taken)
            return Tokens("int64", whole, gap, next(free), next(free))
        texts = texts_of(known, errors.column(self.name))
        token = "" if "" not in texts else _free_text("<missing>", texts)
        return Tokens("string", texts, gap, token, _free_text("<unseen>", [*texts, token]))

    def climb(self, ancestry: Ancestry) -> Port:
        """Tokens for categories and for the nodes above them.

        A graph has no way to cut a text, so it is the feed that finds the ancestor of a value which was not seen, and
        gives its token. Texts whose ancestors are known beforehand are looked up in the graph too.
        """
        known = dict(zip(map(text_of, ancestry.codes), ancestry.codes.values(), strict=True))
        taken, texts = set(known), []
        for code, token in enumerate(map(text_of, ancestry.tokens)):
            texts.append(token if known.get(token) == code else _free_text(token, taken))
            taken.add(texts[-1])
        also = {text: code for text, code in known.items() if texts[code] != text}
        token = _free_text("" if "" not in taken else "<missing>", taken)
        return Tokens("string", texts, ancestry.gap, token, _free_text("<unseen>", {*taken, token}), also=also)


def port(name: Name, kind: Kind) -> Port:
    """How a feature's column enters the graph.

    Examples
    --------
    >>> from hebnb.columns.kinds import Categories
    >>> port("colour", Categories(np.array(["", "red"], dtype=object), missing=True)).gap
    '<missing>'
    """
    return kind.computed_by(_Ports(name))


def input_names(names: Sequence[Name]) -> list[str]:
    """The names of the columns as text; underscores set apart one that ONNX cannot take or that is taken.

    Examples
    --------
    >>> input_names(["carrier", "label", ""]), input_names([0, 1])
    (['carrier', '_label', '_'], ['0', '1'])
    """
    texts = [text_of(name) for name in names]
    taken = {"", LABEL, PROBABILITIES}
    made = []
    for place, text in enumerate(texts):
        name = text
        while name in taken or (name != text and name in texts[place:]):
            name = f"_{name}"
        taken.add(name)
        made.append(name)
    return made


def _free_text(text: str, taken: Collection[str]) -> str:
    while text in taken:
        text += "_"
    return text


def _number_below(graph: Graph, ordered: FloatArray, values: str) -> str:
    """How many of the ordered numbers are less than each value: ``np.searchsorted``, with none below NaN.

    Every step halves what is left, so its cost hardly grows with the numbers; comparing with all of them would make a
    matrix of rows × numbers.
    """
    steps = max(len(ordered).bit_length(), 1)
    padded = np.full(2**steps - 1, np.inf)
    padded[: len(ordered)] = ordered
    table = graph.constant(padded)
    place = graph.constant(0)
    for step in (2**power for power in reversed(range(steps))):
        probe = graph.apply("Gather", table, graph.apply("Add", place, graph.constant(step - 1)))
        less = graph.apply("Cast", graph.apply("Less", probe, values), to=graph.onnx.TensorProto.INT64)
        place = graph.apply("Add", place, graph.apply("Mul", less, graph.constant(step)))
    return place
