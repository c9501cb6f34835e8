"""The lines of an Arrow table of counts: what their values are, and whether they can be counts at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.json_values import from_json, to_json

# Where the metadata of a schema hold ours, and what they look like.
KEY, FORMAT = b"hebnb", 1
HINT = "The guide shows what a table of counts looks like, under “Counts that travel”."


def _integer(text: str) -> int:
    if text != str(int(text)):
        raise ValueError("not a whole number")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not np.isfinite(number):
        raise ValueError("not a number")
    return number


# What values may be, and how they are made of text.
TYPES: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": _integer,
    "number": _number,
    "truth": {"true": True, "false": False}.__getitem__,
    "json": lambda text: from_json(json.loads(text)),
}


def type_of(values: Array) -> str:
    """The name of the type that all values have."""
    if values.dtype.kind != "O":
        return {"b": "truth", "f": "number"}.get(values.dtype.kind, "integer")
    types = {type(value) for value in values.tolist()}
    return {frozenset({str}): "text", frozenset({int}): "integer"}.get(frozenset(types), "json" if types else "text")


def written(values: Array) -> list[str]:
    """Values as text of their type."""
    kind = type_of(values)
    if kind == "text":
        return list(map(str, values.tolist()))
    return [json.dumps(to_json(value)) for value in values.tolist()]


class Texts:
    """The texts of a feature's values, by code."""

    def lookup(self, values: Array, gap: int | None) -> list[str]:
        """Those of values."""
        return written(values)

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> list[str]:
        """The numbers of bins: how many edges are below."""
        return list(map(str, range(len(edges) + 1)))


def column_names(width: int) -> list[str]:
    """The columns of a table whose cells are of at most so many columns."""
    places = ["", *(f"_{place}" for place in range(2, width + 1))]
    return [*(f"{what}{place}" for place in places for what in ("feature", "value")), "class", "count"]


@dataclass(frozen=True, eq=False)
class CountLines:
    """The lines of a table, checked as far as they can be by themselves.

    Parameters
    ----------
    groups : dict
        For the names of every combination of columns that is counted, its lines by number.
    values : list of arrays
        The text of every line's values, place by place; None for a gap.
    class_ : array
        The class of every line, by number among ``labels``.
    """

    table: Any
    groups: dict[tuple[Any, ...], IntArray]
    values: list[Array]
    class_: IntArray
    labels: list[Any]
    count: FloatArray

    @classmethod
    def read(cls, given: Any) -> CountLines:
        """Those of a table, whatever library holds it."""
        table = _as_arrow(given)
        width = 1
        while f"feature_{width + 1}" in table.column_names:
            width += 1
        for name in column_names(width):
            if name not in table.column_names:
                raise InputError(f"A table of counts needs a column {name!r}.", HINT)
        if not table.num_rows:
            raise InputError("The table of counts has no lines.", HINT)
        count = _counts(table["count"])
        class_, labels = _labels(table["class"])
        places = [_text_column(table, name) for name in column_names(width)[:-2:2]]
        values = [_text_column(table, name)[0] for name in column_names(width)[1:-2:2]]
        return cls(table, _grouped(places), values, class_, labels, count)

    def described(self) -> dict[str, Any] | None:
        """What metadata say, if there are any of ours."""
        found = (self.table.schema.metadata or {}).get(KEY)
        if found is None:
            return None
        described: dict[str, Any] = json.loads(found)
        if described["counts"] > FORMAT:
            raise InputError("The table of counts was made by a newer version of hebnb.", "Install that version.")
        return described


def _as_arrow(given: Any) -> Any:
    import pyarrow as pa

    try:
        table = given if isinstance(given, pa.Table) else pa.table(given)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"Counts are made of an Arrow table, not of a {type(given).__name__}.", "Convert it to one of PyArrow."
        ) from error
    # Polars has text as views, which older versions of PyArrow can hardly do anything with.
    views = [n for n, field in enumerate(table.schema) if pa.types.is_string_view(field.type)]
    for n in views:
        table = table.set_column(n, table.column_names[n], table.column(n).cast(pa.large_string()))
    return table


def _counts(column: Any) -> FloatArray:
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        raise InputError(f"Column 'count' holds {column.type}, and counts are numbers.", HINT)
    count = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    bad = np.flatnonzero(~(np.isfinite(count) & (count >= 0)))
    if len(bad):
        raise InputError(f"Column 'count': line {int(bad[0])} is no number of rows.", "Counts are not negative.")
    return np.asarray(count, dtype=float)


def _labels(column: Any) -> tuple[IntArray, list[Any]]:
    """The class of every line by number, and the labels that occur."""
    codes, labels = _encoded(column)
    if (codes < 0).any():
        line = int(np.flatnonzero(codes < 0)[0])
        raise InputError(f"Column 'class': line {line} has no label.", "Leave out rows without a label.")
    types = {type(label) for label in labels}
    are_whole = types <= {float} and all(label.is_integer() for label in labels)
    if not any(types <= {known} for known in (str, int, bool)) and not are_whole:
        raise InputError(
            f"Column 'class' holds {column.type}; labels are text, integers or true and false.", "Cast it to text."
        )
    return codes, labels


def _text_column(table: Any, name: str) -> tuple[Array, IntArray]:
    """The text of every line, None for a gap, and numbers that tell texts apart."""
    import pyarrow as pa

    column = table[name]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    known = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null
    if not any(is_one(kind) for is_one in known):
        raise InputError(f"Column {name!r} holds {kind}, and has to hold text.", f"Cast {name} to text.")
    codes, texts = _encoded(column)
    every = np.empty(len(texts) + 1, dtype=object)
    every[:-1] = texts
    return every[codes], codes


def _encoded(column: Any) -> tuple[IntArray, list[Any]]:
    """Codes of lines, −1 for a gap, and the values that they stand for."""
    import pyarrow as pa

    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        combined = pa.concat_arrays(combined.chunks) if combined.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(combined.type):
        combined = combined.cast(combined.type.value_type)
    if pa.types.is_null(combined.type):
        return np.full(len(combined), -1, dtype=np.intp), []
    encoded = combined.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    return codes, encoded.dictionary.to_pylist()


def _grouped(places: Sequence[tuple[Array, IntArray]]) -> dict[tuple[Any, ...], IntArray]:
    """The lines of every combination of columns, in the order in which these come."""
    codes = np.stack([own for _, own in places], axis=1)
    gone = codes < 0
    if (gone[:, :-1] & ~gone[:, 1:]).any():
        line = int(np.flatnonzero((gone[:, :-1] & ~gone[:, 1:]).any(axis=1))[0])
        raise InputError(f"Line {line} names a further column before the first.", HINT)
    distinct, first, at = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(at.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(at.reshape(-1), minlength=len(distinct)))
    lines = np.split(order, ends[:-1])
    groups = {}
    for group in np.argsort(first).tolist():
        line = first[group]
        names = [texts[line] for texts, _ in places]
        groups[tuple(name for name in names if name is not None)] = lines[group]
    return groups
