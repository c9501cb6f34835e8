"""Scores of a lazy table, by lookup joins and column expressions on its engine. Nothing is collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.columns.vocabulary import Bins, Categories, Vocabulary
from hebnb.engines.counting import Frame, LazyColumn, refuse_strange
from hebnb.errors import InputError
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.scores.tables import TIE, ScoreTable, scores_by_code

_KEY, _PART, _SCORE = "__hebnb_key", "__hebnb_part", "__hebnb_score"


def prediction_names(columns: list[str], labels: Array, what: str) -> list[str]:
    """The names of the columns that predictions go to, which no other column may have.

    SQL does not tell apart what differs in case only, and some classes do not even in print.
    """
    names = [what] if what == "prediction" else [f"{what}_{label}" for label in labels.tolist()]
    theirs = {name.casefold() for name in columns}
    ours: set[str] = set()
    for name in names:
        if name.casefold() in theirs:
            raise InputError(
                f"{errors.column(name)} is where a prediction would go, and there is one of that name.",
                "Rename or drop it; on the command line, --keep names the columns to keep.",
            )
        if name.casefold() in ours:
            raise InputError(
                f"{errors.column(name)} is where the predictions of two classes would go.",
                "Rename classes that are equal in print, or differ in case only.",
            )
        ours.add(name.casefold())
    return names


def by_partition(frame: Any, model: Any, what: str, names: list[str]) -> Any:
    """A Dask table with its predictions: every worker has the model and predicts its own partitions."""
    columns = list(model.counts_.vocabulary.names)
    labels = model.classes_

    def with_predictions(part: Any) -> Any:
        if not len(part):
            return part.assign(**{name: empty[name] for name in names})
        found = getattr(model, "predict" if what == "prediction" else f"predict_{what}")(part[columns])
        found = found.reshape(len(part), -1)
        return part.assign(**{name: found[:, c] for c, name in enumerate(names)})

    kind = labels[:0] if what == "prediction" else np.empty(0)
    empty = dict.fromkeys(names, kind)
    return frame.map_partitions(with_predictions, meta=frame._meta.assign(**empty))


def with_scores(frame: Frame, vocabulary: Vocabulary, tables: Sequence[ScoreTable], log_prior: FloatArray) -> Frame:
    """The table with a column ``__hebnb_score{c}`` for every class: log prior plus the parts of all features.

    Every row stays one row, whatever its values: keys of a lookup are distinct.
    """
    schema = dict(frame.collect_schema())
    columns = list(schema)
    scores = [nw.lit(float(prior)) for prior in log_prior]
    for f, (name, feature, table) in enumerate(zip(vocabulary.names, vocabulary.features, tables, strict=True)):
        refuse_strange(str(name), schema[str(name)])
        parts = scores_by_code(table, feature.size, len(log_prior))
        column = LazyColumn.of(frame, str(name), schema[str(name)])
        if isinstance(feature, Bins):
            found = _of_bins(column, feature, parts)
        else:
            frame, found = _looked_up(frame, column, feature, parts, f"{f}")
        scores = [score + part for score, part in zip(scores, found, strict=True)]
    made = [score.alias(f"{_SCORE}{c}") for c, score in enumerate(scores)]
    return frame.with_columns(*made).select(*columns, *(f"{_SCORE}{c}" for c in range(len(log_prior))))


def with_log_proba(frame: Frame, columns: list[str], names: list[str]) -> Frame:
    """The columns, and the normalised scores under these names."""
    scores = [f"{_SCORE}{c}" for c in range(len(names))]
    frame = frame.with_columns(nw.max_horizontal(*scores).alias(_PART))
    frame = frame.with_columns(*((nw.col(score) - nw.col(_PART)).alias(score) for score in scores))
    powers = [nw.col(score).exp().alias(f"{score}_exp") for score in scores]
    frame = frame.with_columns(*powers)
    total = nw.sum_horizontal(*(f"{score}_exp" for score in scores)).log()
    logs = [(nw.col(score) - total).alias(name) for score, name in zip(scores, names, strict=True)]
    return frame.with_columns(*logs).select(*columns, *names)


def with_proba(frame: Frame, columns: list[str], names: list[str]) -> Frame:
    """The columns, and the probabilities under these names."""
    frame = with_log_proba(frame, columns, names)
    return frame.with_columns(*(nw.col(name).exp() for name in names))


def with_best(frame: Frame, columns: list[str], labels: Array, name: str) -> Frame:
    """The columns, and the label of the greatest score; of the first of equals."""
    scores = [nw.col(f"{_SCORE}{c}") for c in range(len(labels))]
    frame = frame.with_columns(nw.max_horizontal(*scores).alias(_PART))
    values = labels.tolist()
    best: Any = nw.lit(values[-1])
    for score, label in zip(reversed(scores[:-1]), reversed(values[:-1]), strict=True):
        best = nw.when(score >= nw.col(_PART) - TIE).then(nw.lit(label)).otherwise(best)
    return frame.with_columns(best.alias(name)).select(*columns, name)


def _of_bins(column: LazyColumn, feature: Bins, parts: FloatArray) -> list[nw.Expr]:
    """A staircase: the first bin, plus a step at every edge."""
    numbers = column.numbers
    gap = parts[feature.size - feature.missing]
    found = []
    for c in range(parts.shape[1]):
        stairs = nw.lit(float(parts[0, c]))
        for edge, step in zip(feature.edges, np.diff(parts[: len(feature.edges) + 1, c]), strict=True):
            stairs = stairs + (numbers > float(edge)).cast(nw.Float64) * float(step)
        found.append(nw.when(numbers.is_null()).then(nw.lit(float(gap[c]))).otherwise(stairs))
    return found


def _looked_up(
    frame: Frame, column: LazyColumn, feature: Categories, parts: FloatArray, mark: str
) -> tuple[Frame, list[nw.Expr]]:
    """The frame joined with the feature's table, and what is found there."""
    key, n_classes = f"{_KEY}{mark}", parts.shape[1]
    names = [f"{_PART}{mark}_{c}" for c in range(n_classes)]
    gap = parts[feature.size - feature.missing] if feature.missing else np.zeros(n_classes)
    matched = _matched(column, feature)
    if matched is None:  # other values than those of fit: whatever they are, they are unseen
        is_gap = column.coded(feature).is_null()
        return frame, [nw.when(is_gap).then(nw.lit(float(g))).otherwise(nw.lit(0.0)) for g in gap]
    expression, keys = matched
    frame = frame.with_columns(expression.alias(key))
    data: dict[str, Any] = {key: keys} | {name: parts[: len(keys), c] for c, name in enumerate(names)}
    frame = _joined(frame, data, key)
    is_gap = nw.col(key).is_null()
    found = [
        nw.when(is_gap).then(nw.lit(float(g))).otherwise(nw.col(name).fill_null(0.0))
        for name, g in zip(names, gap, strict=True)
    ]
    return frame, found


def _matched(column: LazyColumn, feature: Categories) -> tuple[nw.Expr, Array] | None:
    """The column and the categories as values of one type; None where they are of different kinds.

    Numbers meet as integers if both are, else as floats. Nothing is converted that could make two keys equal.
    """
    dtype, values, expression = column.dtype, feature.values, column.coded(feature)
    kind = values.dtype.kind
    if not len(values):
        return None
    if dtype.is_numeric() and kind in "iuf":
        return _matched_numbers(dtype, values, expression)
    texts = kind == "O" and all(isinstance(value, str) for value in values.tolist())
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        same = texts
    elif dtype == nw.Boolean:
        same = kind == "b"
    else:  # times and the like, which are objects
        same = kind == "O" and not texts and not dtype.is_numeric()
    return (expression, values) if same else None


def _matched_numbers(dtype: Any, values: Array, expression: nw.Expr) -> tuple[nw.Expr, Array] | None:
    if not dtype.is_integer() or values.dtype.kind == "f":
        return expression.cast(nw.Float64), values.astype(float)
    if dtype == nw.UInt64:
        return (expression, values.astype(np.uint64)) if values.min() >= 0 else None
    return (expression.cast(nw.Int64), values) if values.dtype.kind == "i" else None


def _joined(frame: Frame, data: dict[str, Any], key: str) -> Frame:
    """A left join with a small table, by the engine's own means; rows keep their order where they have one."""
    kind, native = frame.implementation, frame.to_native()
    joined: Any
    if kind.is_polars():
        import polars as pl

        lookup = pl.LazyFrame(_as_lists(data, key)).with_columns(pl.col(key).cast(native.collect_schema()[key]))
        joined = native.join(lookup, on=key, how="left", maintain_order="left")
    elif kind.is_duckdb():
        import pyarrow as pa

        hebnb__lookup = pa.table(_as_lists(data, key))  # noqa: F841 (the query finds it by its name)
        parts = ", ".join(f'hebnb__lookup."{name}"' for name in data if name != key)
        match = f'hebnb__rows."{key}" = hebnb__lookup."{key}"'
        joined = native.query(
            "hebnb__rows", f"SELECT hebnb__rows.*, {parts} FROM hebnb__rows LEFT JOIN hebnb__lookup ON {match}"
        )
    elif kind.is_ibis():
        import ibis
        import pyarrow as pa

        return frame.join(nw.from_native(ibis.memtable(pa.table(_as_lists(data, key)))), on=key, how="left")
    else:
        import pandas as pd
        from pyspark.sql.functions import broadcast

        joined = native.join(broadcast(native.sparkSession.createDataFrame(pd.DataFrame(data))), on=key, how="left")
    found: Frame = nw.from_native(joined)
    return found


def _as_lists(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Objects as a list, whose type is that of its values; arrays of numbers have one."""
    return data | {key: data[key].tolist()} if data[key].dtype.kind == "O" else data
