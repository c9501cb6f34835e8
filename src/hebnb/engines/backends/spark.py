"""Spark."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from hebnb.engines.backends.base import Backend, Frame


class Spark(Backend):
    """Dataframes of PySpark."""

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
