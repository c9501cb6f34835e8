"""Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hebnb.engines.backends.base import Backend, Eager, Frame
from hebnb.foundation.arrays import Array


class Dask(Backend):
    """Dataframes of Dask."""

    def collect(self, queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
        """All at once, which shares a scan."""
        from dask.base import compute

        run: Any = compute
        return self.together(lambda: list(run(*(query.to_native() for query in queries))), notes)

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """That share of every partition."""
        return native.sample(frac=share, random_state=seed)

    def predictions(self, frame: Any, columns: list[str], names: list[str], kind: Array, predict: Any) -> Any | None:
        """Every worker has the model and predicts its own partitions."""
        empty = dict.fromkeys(names, kind)

        def with_predictions(part: Any) -> Any:
            if not len(part):
                return part.assign(**empty)
            found = predict(part[columns]).reshape(len(part), -1)
            return part.assign(**{name: found[:, c] for c, name in enumerate(names)})

        return frame.map_partitions(with_predictions, meta=frame._meta.assign(**empty))
