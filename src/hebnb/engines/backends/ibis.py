"""Ibis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import narwhals as nw

from hebnb.engines.backends.base import Backend, Frame, Scorer, Times, arrow_tables, as_lists, batch_rows
from hebnb.engines.backends.duckdb import ScoredRows, batches_of, out_of_memory
from hebnb.errors import HebnbError

# Engines of Ibis that are in this process; rows of others would have to travel.
_IN_PROCESS = ("duckdb", "polars", "datafusion", "sqlite")


class Ibis(Backend):
    """Tables of Ibis, which by default are DuckDB's."""

    oldest: ClassVar[tuple[str, str]] = ("ibis", "11")
    nan_is_text: ClassVar[bool] = True
    unreadable: ClassVar[tuple[Any, ...]] = (nw.Duration,)

    def failure(self, error: Exception) -> HebnbError | None:
        """As DuckDB, which most tables of Ibis are on."""
        return out_of_memory(error)

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """That share of the rows."""
        return native.sample(share, seed=seed)

    def batches(self, native: Any, rows: int) -> Iterable[Any] | None:
        """As Ibis streams them to Arrow, from engines in this process."""
        engine = native.get_backend()
        if engine.name not in _IN_PROCESS:
            return None
        if hasattr(engine, "_to_duckdb_relation"):  # Ibis 12 streams by a method that DuckDB 2 no longer has
            return batches_of(engine._to_duckdb_relation(native), rows)
        return arrow_tables(native.to_pyarrow_batches(chunk_size=rows))

    def type_name(self, native: Any, name: str) -> str:
        """As Ibis prints it."""
        return str(native.schema()[name])

    def with_microseconds(self, frame: Frame, times: Sequence[Times]) -> Frame:
        """The distance from the first moment of 1970."""
        native = frame.to_native()
        made = {own.made: _microseconds(native[own.name], own) for own in times}
        found: Frame = nw.from_native(native.mutate(**made))
        return found

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With a table in memory."""
        import ibis
        import pyarrow as pa

        lookup: Frame = nw.from_native(ibis.memtable(pa.table(as_lists(data, key))))
        return frame.join(lookup, on=key, how="left")

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """As a stream of Arrow batches that a DuckDB of its own reads, if the engine is in this process."""
        import ibis

        if native.get_backend().name not in _IN_PROCESS:
            return None
        schema = native.schema()
        rows = batch_rows(len(schema))
        stream = ScoredRows(lambda: self.batches(native, rows) or [], schema.to_pyarrow(), kept, scorer)
        connection = ibis.duckdb.connect()
        connection.con.register("hebnb__scored", stream)
        made = connection.table("hebnb__scored")
        return made.cast({name: schema[name] for name in kept if made.schema()[name] != schema[name]})


def _microseconds(column: Any, times: Times) -> Any:
    import ibis

    if times.dtype == nw.Time:
        return column.delta(ibis.time(0, 0, 0), unit="microsecond")
    start = ibis.timestamp("1970-01-01 00:00:00")
    if times.has_nanoseconds:
        return column.delta(start, unit="nanosecond") // 1000
    return column.cast("timestamp").delta(start, unit="microsecond")
