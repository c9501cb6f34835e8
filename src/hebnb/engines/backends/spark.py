"""Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw

from hebnb.engines.backends.base import Backend, Frame, Scorer, Times, prediction_type, with_predictions


class Spark(Backend):
    """Dataframes of PySpark."""

    def readable(self, native: Any) -> Any:
        """Spark takes what follows a dot for a part of a column, and what is between backticks for a name."""
        return native.toDF(*(_readable(name, n) for n, name in enumerate(native.columns)))

    def named(self, native: Any, names: Sequence[str]) -> Any:
        """By position, which needs no expression."""
        return native.toDF(*names)

    def type_name(self, native: Any, name: str) -> str:
        """As SQL has it."""
        return str(native.schema[name].dataType.simpleString())

    def with_microseconds(self, frame: Frame, times: Sequence[Times]) -> Frame:
        """By functions of SQL, of which only one knows times without a zone."""
        native = frame.to_native()
        made = [f"{_microseconds(own)} AS `{own.made}`" for own in times]
        found: Frame = nw.from_native(native.selectExpr("*", *made))
        return found

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """That share of the rows."""
        return native.sample(fraction=share, seed=seed)

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With a table that every executor gets."""
        import pandas as pd
        from pyspark.sql.functions import broadcast

        native = frame.to_native()
        lookup = broadcast(native.sparkSession.createDataFrame(pd.DataFrame(data)))
        found: Frame = nw.from_native(native.join(lookup, on=key, how="left"))
        return found

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """In the Python workers of the executors, which need hebnb; the model is broadcast to each of them once."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        made = [StructField(name, from_arrow_type(prediction_type(scorer))) for name in scorer.names]
        schema = StructType([*(native.schema[name] for name in kept), *made])
        held = _held_by_executors(native, scorer)

        def predict(batches: Any) -> Any:
            for batch in batches:
                yield from with_predictions(pa.Table.from_batches([batch]), kept, held()).to_batches()

        return native.mapInArrow(predict, schema)


def _held_by_executors(native: Any, value: Any) -> Callable[[], Any]:
    """A function that finds the value on an executor. Spark Connect cannot broadcast: there it goes with every task."""
    if type(native).__module__.startswith("pyspark.sql.connect"):
        return lambda: value
    broadcast = native.sparkSession.sparkContext.broadcast(value)
    return lambda: broadcast.value


def _readable(name: str, number: int) -> str:
    return f"__hebnb_column{number}" if "." in name or "`" in name else name


def _microseconds(times: Times) -> str:
    if getattr(times.dtype, "time_zone", None) is not None:
        return f"unix_micros(`{times.name}`)"
    return f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01', CAST(`{times.name}` AS TIMESTAMP_NTZ))"
