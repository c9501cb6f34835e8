"""Ibis."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals as nw

from hebnb.engines.backends.base import Backend, Frame, as_lists


class Ibis(Backend):
    """Tables of Ibis, which by default are DuckDB's."""

    nan_is_text: ClassVar[bool] = True

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """That share of the rows."""
        return native.sample(share, seed=seed)

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With a table in memory."""
        import ibis
        import pyarrow as pa

        lookup: Frame = nw.from_native(ibis.memtable(pa.table(as_lists(data, key))))
        return frame.join(lookup, on=key, how="left")
