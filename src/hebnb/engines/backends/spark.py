"""Spark."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from hebnb import errors
from hebnb.counts.cell_sums import CellSums, Sums
from hebnb.engines.backends.base import (
    Backend,
    Eager,
    Frame,
    Scorer,
    Tally,
    Times,
    prediction_type,
    with_predictions,
)
from hebnb.errors import HebnbError, InputError

# What Spark says of a task that failed once too often because its executor, or the Python in it, is gone.
_LOST = re.compile(
    r"Task \d+ in stage \S+ failed (?P<times>\d+) times, most recent failure: Lost task \S+ in stage \S+ \(TID \d+\) "
    r"\((?P<host>\S+) executor (?P<executor>\S+)\): (ExecutorLostFailure|.*Python worker exited unexpectedly)"
)
# What it says of a file whose column has another type than the table.
_OTHER_TYPE = re.compile(
    r"reading file (?P<file>\S+)\. Data type mismatches when reading Parquet column \[(?P<column>.*?)\]\. "
    r"Expected Spark type (?P<ours>.*?), actual Parquet type (?P<theirs>\w+)"
)


class Spark(Backend):
    """Dataframes of PySpark."""

    oldest: ClassVar[tuple[str, str]] = ("pyspark", "3.5")

    def failure(self, error: Exception) -> HebnbError | None:
        """An executor lost more often than Spark tries again, one that lacks hebnb, a file that differs in a type."""
        text = str(error)
        if lost := _LOST.search(text):
            return HebnbError(
                f"Spark lost executor {lost['executor']} on {lost['host']}, and gives up a task that has failed "
                f"{lost['times']} times. Nothing was learned.",
                "The log of the executor tells why; if it was short of memory, set spark.executor.memory or "
                "spark.executor.memoryOverhead higher.",
            )
        if "No module named 'hebnb'" in text:
            return HebnbError(
                "The Python workers of Spark's executors have no hebnb.",
                "Install hebnb where executors run, in the Python that spark.pyspark.python names.",
            )
        if other := _OTHER_TYPE.search(text):
            return InputError(
                f"{errors.column(other['column'])} changes its type: the table says {other['ours']}, and "
                f"{other['file']} has {other['theirs']}.",
                "Write its files anew with one type, or convert the column as it is read.",
            )
        return None

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

        native = frame.to_native()
        lookup = native.sparkSession.createDataFrame(pd.DataFrame(data)).hint("broadcast")
        found: Frame = nw.from_native(native.join(lookup, on=key, how="left"))
        return found

    def valued(self, frame: Frame, tally: Callable[[Eager], dict[str, Any]], note: str) -> dict[str, Any] | None:
        """All columns in one job: partial counts in the workers, one shuffle, one sum."""
        import pyarrow as pa

        held = _held_by_executors(frame.to_native(), tally)

        def count(batches: Any) -> Any:
            for batch in batches:
                yield from pa.table(held()(_as_frame(batch))).to_batches()

        schema = "number long, value string, key long, count double"
        return self._summed(frame.to_native().mapInArrow(count, schema), ["number", "value", "key"], note)

    def tallied(self, frame: Frame, tally: Tally, note: str) -> list[CellSums] | None:
        """All tables in one job, in the same way."""
        import pyarrow as pa

        held = _held_by_executors(frame.to_native(), tally)

        def count(batches: Any) -> Any:
            sums = Sums()
            for batch in batches:
                sums.add(held()(_as_frame(batch)))
            for number, own in enumerate(sums.total()):
                keys, counts = own.occurring()
                lines = {"number": np.full(len(keys), number), "key": keys, "count": counts}
                yield from pa.table(lines).to_batches()

        parts = frame.to_native().mapInArrow(count, "number long, key long, count double")
        lines = self._summed(parts, ["number", "key"], note)
        order = np.lexsort((lines["key"], lines["number"]))
        ends = np.searchsorted(lines["number"][order], np.arange(len(tally) + 1))
        spans = [order[start:stop] for start, stop in pairwise(ends)]
        return [CellSums(lines["key"][own], lines["count"][own]) for own in spans]

    def _summed(self, parts: Any, names: list[str], note: str) -> dict[str, Any]:
        """The sums of partial counts that have the same names."""
        lines: Frame = nw.from_native(parts)
        (result,) = self.collect([lines.group_by(*names).agg(nw.col("count").sum())], [note])
        return {name: result[name].to_numpy() for name in result.columns}

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


def _as_frame(batch: Any) -> Eager:
    import pyarrow as pa

    return nw.from_native(pa.Table.from_batches([batch]), eager_only=True)


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
