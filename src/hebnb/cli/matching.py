"""A table as a model knows it: the columns it learned from, with values of the kinds it learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hebnb import errors
from hebnb.document import Model
from hebnb.errors import InputError
from hebnb.printable import visible
from hebnb.tabular_files import TableFile
from hebnb.vocabulary import Bins, Feature

if TYPE_CHECKING:
    import pyarrow as pa


def matched(table: TableFile, model: Model) -> TableFile:
    """The table, checked for the model's columns; those learned as text are read as text."""
    vocabulary = model.counts_.vocabulary
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
    pairs = zip(names, vocabulary.features, strict=True)
    return table.reopen([name for name, feature in pairs if _is_text(feature) and not table.is_text(name)])


def features(rows: pa.Table, model: Model) -> Any:
    """The columns of the model, of these rows, as a table that it takes."""
    import pyarrow as pa

    names = _names(model)
    columns = []
    for name, feature in zip(names, model.counts_.vocabulary.features, strict=True):
        column = rows[name]
        wanted = _wanted(feature, column.type)
        if wanted is not None:
            try:
                column = column.cast(wanted)
            except pa.ArrowInvalid as error:
                raise InputError(
                    f"{errors.column(visible(name))} does not fit the model: it learned numbers, and this table has "
                    f"something else ({visible(str(error).splitlines()[0], 200)}).",
                    "Correct the column, or say what means a gap with --missing-value.",
                ) from error
        columns.append(column)
    if hasattr(model, "feature_names_in_"):
        return pa.table(columns, names=names)
    return np.array([column.to_pylist() for column in columns], dtype=object).T


def _names(model: Model) -> list[str]:
    return [str(name) for name in model.counts_.vocabulary.names]


def _wanted(feature: Feature, found: Any) -> Any:
    """The type to cast a column to, if its own means something else than at fit."""
    import pyarrow as pa

    is_text = pa.types.is_string(found) or pa.types.is_large_string(found)
    if _is_text(feature):
        return None if is_text or pa.types.is_dictionary(found) else pa.string()
    if not is_text:
        return None
    if isinstance(feature, Bins):
        return pa.timestamp("us") if feature.of_times else pa.float64()
    return {"i": pa.int64(), "u": pa.uint64(), "f": pa.float64(), "b": pa.bool_()}.get(feature.values.dtype.kind)


def _is_text(feature: Feature) -> bool:
    if isinstance(feature, Bins) or feature.values.dtype.kind != "O":
        return False
    return all(isinstance(value, str) for value in feature.values.tolist())
