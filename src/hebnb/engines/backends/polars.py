"""Polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw

from hebnb.engines.backends.base import Backend, Eager, Frame, as_lists


class Polars(Backend):
    """Lazy frames of Polars."""

    def collect(self, queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
        """All at once, which shares a scan."""
        import polars as pl

        return self.together(lambda: pl.collect_all([query.to_native() for query in queries]), notes)

    def batches(self, native: Any, rows: int) -> Iterable[Any] | None:
        """As the streaming engine has them, of versions of Polars that hand them out."""
        return native.collect_batches(chunk_size=rows) if hasattr(native, "collect_batches") else None

    def type_name(self, native: Any, name: str) -> str:
        """As Polars prints it."""
        return str(native.collect_schema()[name])

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """The rows whose number, shuffled, is low."""
        import polars as pl

        return native.filter(pl.int_range(pl.len()).shuffle(seed=seed) < limit)

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With a lazy frame; rows stay in order."""
        import polars as pl

        native = frame.to_native()
        lookup = pl.LazyFrame(as_lists(data, key)).with_columns(pl.col(key).cast(native.collect_schema()[key]))
        found: Frame = nw.from_native(native.join(lookup, on=key, how="left", maintain_order="left"))
        return found
