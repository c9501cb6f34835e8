"""A table as a model knows it: the columns it learned from, with values of the kinds it learned."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from hebnb import errors
from hebnb.columns.alike import truth_of
from hebnb.columns.hierarchies import Ancestry
from hebnb.columns.kinds import Kind
from hebnb.errors import InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.state import AsWritten
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.foundation.printable import visible
from hebnb.parts.pipeline import apart
from hebnb.tabular.files import open_table
from hebnb.tabular.table import TableFile

if TYPE_CHECKING:
    import pyarrow as pa


def opened_for(
    model: CategoricalClassifier | Pipeline,
    source: str,
    *,
    all_read: bool = False,
    gaps: Sequence[str] = (),
    **how: Any,
) -> AbstractContextManager[TableFile]:
    """A table, opened such that the columns of the model mean what they meant when it learned.

    Other columns stay as they stand in files of text, unless all are to be read.
    """
    return open_table(
        source,
        text=_text_columns(model),
        dates=_of_family(model, "time"),
        numbers=_of_family(model, "number"),
        used=None if all_read else _names(model),
        gaps=tuple(dict.fromkeys([*as_written(model).gaps, *gaps])),
        **how,
    )


def as_written(model: CategoricalClassifier | Pipeline) -> AsWritten:
    """How the values that a model learned were written in their files."""
    written: AsWritten = apart(model)[1]._learned.written
    return written


def _text_columns(model: CategoricalClassifier | Pipeline) -> list[str]:
    """The columns that were learned as text, and are to be read as text wherever they come from."""
    return [name for name, feature in _learned_columns(model).items() if _is_text(feature)]


def _of_family(model: CategoricalClassifier | Pipeline, family: str) -> dict[str, str | None]:
    """The columns that were learned as values of a family, and how those were written; None if the model does not know.

    True and false are no family of their own, and may be spelled in many ways: they are not among them.
    """
    formats = as_written(model).formats
    types = {name: _learned_type(own) for name, own in _learned_columns(model).items()}
    return {name: formats.get(name) for name, own in types.items() if own is not None and _sort(own) == family}


def require_columns(table: TableFile, model: CategoricalClassifier | Pipeline) -> list[str]:
    """The columns of the model, all of which the table has."""
    names = _names(model)
    missing = [name for name in names if name not in table.columns]
    if missing:
        shown = ", ".join(repr(visible(name, 60)) for name in missing[:10])
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        near = errors.nearest(missing[0], table.columns)
        raise InputError(
            f"{visible(table.source)} does not fit the model: it lacks {'columns' if len(missing) > 1 else 'column'} "
            f"{shown}{more}.",
            f"Did you mean {near!r}?" if near else "Pass a table with the columns the model learned from.",
        )
    return names


def features(rows: pa.Table, model: CategoricalClassifier | Pipeline, before: int = 0) -> Any:
    """The columns of the model, of some rows, as a table that it takes; errors count the rows before these."""
    import pyarrow as pa

    parts, classifier = apart(model)
    learned = _learned_columns(model)
    columns = [_as_learned(rows[name], feature, name, before) for name, feature in learned.items()]
    if not hasattr(classifier, "feature_names_in_"):
        given = np.array([column.to_pylist() for column in columns], dtype=object).T
        return given if parts is None else parts.transform(given)
    given = pa.table(columns, names=list(learned))
    if parts is None:
        return given
    zoned = [rows[name] if _has_zone(rows[name].type) else given[name] for name in learned]
    made = parts.transform(pa.table(zoned, names=list(learned)))
    return pa.table([*given.columns, *made.columns[len(learned) :]], names=made.column_names)


def _has_zone(found: Any) -> bool:
    """Whether values are times whose clocks are elsewhere."""
    import pyarrow as pa

    return bool(pa.types.is_timestamp(found) and found.tz)


def _as_learned(column: Any, feature: Kind, name: str, before: int) -> Any:
    """A column with values of the kind that the model learned, so that those that are equal in print are equal."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    wanted = _learned_type(feature)
    if wanted is not None and column.null_count == len(column):  # gaps are gaps, whatever type a file has for them
        column = pa.nulls(len(column), wanted)
    found = column.type
    if wanted is None or found == wanted or _are_truths(column, wanted):
        return column
    try:
        if pa.types.is_decimal(wanted):  # from the digits: floats have others
            return column if pa.types.is_decimal(found) else column.cast(pa.string()).cast(wanted)
        if _is_inexact(found) and not _is_string(wanted):
            return _in_print(column, feature)
        if _family(found) in ("time", "time of day") and _family(found) == _family(wanted):
            return column.cast(wanted, safe=False)  # without nanoseconds
        if _family(found) == _family(wanted) != "time":
            return column
        if _is_string(wanted) or _is_string(found) or _family(found) == "time":
            return column.cast(wanted)
        reason = f"they are {found}, not {wanted}"
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = _first_unfit(column, wanted, before) or str(error).splitlines()[0]
    raise InputError(
        f"{errors.column(visible(name))} does not fit the model: its values are of another kind than those that were "
        f"learned ({visible(reason, 200)}).",
        "Correct the column, or say what means a gap with --na.",
    )


def _are_truths(column: Any, wanted: Any) -> bool:
    """Whether one type is boolean and the other text, all of which says true or false; models know either form."""
    import pyarrow as pa

    if pa.types.is_boolean(wanted) and _is_string(column.type):
        return all(truth_of(text) is not None for text in column.unique().drop_null().to_pylist())
    return bool(pa.types.is_boolean(column.type) and _is_string(wanted))


def _first_unfit(column: Any, wanted: Any, before: int) -> str | None:
    """The first value that cannot be cast, and its row, if it is a value that stands in the way."""
    import pyarrow as pa

    for row, value in enumerate(column, before + 1):
        try:
            value.cast(wanted)
        except pa.ArrowInvalid:
            return f"row {row:,} has {visible(str(value), 60)!r}"
        except pa.ArrowNotImplementedError:
            return None
    return None


def _is_inexact(found: Any) -> bool:
    """Whether numbers of this type are others as doubles than their digits say."""
    import pyarrow as pa

    is_fractional = pa.types.is_decimal(found) and found.scale > 0
    return bool(is_fractional or pa.types.is_float32(found) or pa.types.is_float16(found))


def _in_print(column: Any, feature: Kind) -> Any:
    """Numbers as the doubles that their digits mean, unless the model knows them as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    meant = column.cast(pa.string()).cast(pa.float64())
    known = feature.computed_by(_Learned()).floats
    if known is None:
        return meant
    as_it_is = column.cast(pa.float64(), safe=False)
    return pc.if_else(pc.is_in(as_it_is, value_set=pa.array(known)), as_it_is, meant)


def _learned_type(feature: Kind) -> Any:
    """The Arrow type of the values that a feature learned, if there is one."""
    return feature.computed_by(_Learned()).type


@dataclass(frozen=True)
class _Values:
    """What a feature learned: the Arrow type of its values, and the values themselves where they are floats."""

    type: Any
    floats: FloatArray | None = None
    are_texts: bool = False


class _Learned:
    """Tells what a feature learned."""

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> _Values:
        """Numbers or times that are cut."""
        import pyarrow as pa

        return _Values(pa.timestamp("us") if of_times else pa.float64())

    def lookup(self, values: Array, gap: int | None) -> _Values:
        """Values of some type."""
        import pyarrow as pa

        kind = values.dtype.kind
        if kind != "O":
            types = {"i": pa.int64(), "u": pa.uint64(), "f": pa.float64(), "b": pa.bool_()}
            return _Values(types[kind], values if kind == "f" else None)
        items = values.tolist()
        kinds = {type(item) for item in items}
        if any(isinstance(item, dt.datetime) and item.tzinfo for item in items):
            return _Values(pa.timestamp("us", "UTC") if len(kinds) == 1 else None)
        known = {
            str: pa.string(),
            dt.date: pa.date32(),
            dt.datetime: pa.timestamp("us"),
            dt.time: pa.time64("us"),
            Decimal: pa.decimal128(38, 18),
        }
        are_texts = bool(items) and all(isinstance(item, str) for item in items)
        learned = known.get(kinds.pop()) if len(kinds) == 1 else None
        return _Values(learned, are_texts=are_texts)

    def climb(self, ancestry: Ancestry) -> _Values:
        """Text, or whole numbers."""
        import pyarrow as pa

        return _Values(pa.int64() if ancestry.of_numbers else pa.string(), are_texts=not ancestry.of_numbers)


def _family(found: Any) -> str:
    """Kinds of values that are equal across types: True, 1 and 1.0."""
    import pyarrow as pa

    if _is_string(found):
        return "text"
    if pa.types.is_decimal(found) and found.scale == 0:  # integers of more than 64 bits
        return "number"
    if pa.types.is_date(found) or pa.types.is_timestamp(found):
        return "time"
    if pa.types.is_time(found):
        return "time of day"
    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_duration
    return "number" if any(is_one(found) for is_one in numeric) else str(found)


def _sort(found: Any) -> str:
    """The family of values, in which true and false are by themselves."""
    import pyarrow as pa

    return "truth" if pa.types.is_boolean(found) else _family(found)


def _is_string(found: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found))


def _names(model: CategoricalClassifier | Pipeline) -> list[str]:
    return list(_learned_columns(model))


def _learned_columns(model: CategoricalClassifier | Pipeline) -> dict[str, Kind]:
    """The columns that a table has to have, and what was learned of them; parts come after these."""
    parts, classifier = apart(model)
    vocabulary = classifier.counts_.vocabulary
    end = None if parts is None else parts.n_features_in_
    return dict(zip(map(str, vocabulary.names[:end]), vocabulary.features[:end], strict=True))


def _is_text(feature: Kind) -> bool:
    return feature.computed_by(_Learned()).are_texts
