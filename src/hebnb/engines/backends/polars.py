"""Polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import narwhals as nw

from hebnb.engines.backends.base import Backend, Eager, Frame, Scorer, as_lists


class Polars(Backend):
    """Lazy frames of Polars."""

    oldest: ClassVar[tuple[str, str]] = ("polars", "1.30")

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

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """As a step of the query that Polars runs when it gets there."""
        import polars as pl

        def with_predictions(rows: Any) -> Any:
            made = scorer(nw.from_native(rows, eager_only=True)).items()
            return rows.select(kept).with_columns(pl.Series(name, own.tolist(), like) for name, own in made)

        like = pl.Series(scorer.example.tolist()).dtype
        schema = native.collect_schema()
        made_schema = {name: schema[name] for name in kept} | dict.fromkeys(scorer.names, like)
        return native.map_batches(with_predictions, schema=made_schema, streamable=True)
