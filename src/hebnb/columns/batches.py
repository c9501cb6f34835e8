"""Tables that come one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import narwhals as nw

from hebnb.errors import InputError


def tables_of(batches: Any, batch_size: int) -> Iterator[nw.DataFrame[Any]]:
    """The tables of a PyArrow dataset or scanner, or of an iterable of tables or record batches."""
    if hasattr(batches, "to_batches"):
        is_dataset = hasattr(batches, "scanner") or hasattr(batches, "files")
        batches = batches.to_batches(batch_size=batch_size) if is_dataset else batches.to_batches()
    elif nw.dependencies.is_into_dataframe(batches) or not isinstance(batches, Iterable):
        raise InputError("batches is one table.", "Pass a list of tables, or use fit.")
    for batch in batches:
        yield nw.from_native(_as_table(batch), eager_only=True)


def _as_table(batch: Any) -> Any:
    """A record batch is not a table to everyone; as a table it is."""
    if type(batch).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([batch])
    return batch
