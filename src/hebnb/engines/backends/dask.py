"""Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import narwhals as nw

from hebnb.counts.cell_sums import CellSums, Sums
from hebnb.engines.backends.base import Backend, Eager, Frame, Scorer, Tally


class Dask(Backend):
    """Dataframes of Dask."""

    most_joined: ClassVar[int] = 0

    def collect(self, queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
        """All at once, which shares a scan."""
        from dask.base import compute

        run: Any = compute
        return self.together(lambda: list(run(*(query.to_native() for query in queries))), notes)

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """That share of every partition."""
        return native.sample(frac=share, random_state=seed)

    def tallied(self, frame: Frame, tally: Tally, note: str) -> list[CellSums] | None:
        """Every worker counts its own partitions."""
        from dask.base import compute
        from dask.delayed import delayed

        run: Any = compute

        def count(part: Any) -> list[CellSums]:
            return tally(nw.from_native(part, eager_only=True)) if len(part) else []

        try:
            parts = run(*(delayed(count)(part) for part in frame.to_native().to_delayed()))
        except Exception as error:
            error.add_note(f"hebnb was {note}.")
            raise
        sums = Sums()
        for part in parts:
            if part:
                sums.add(part)
        return sums.total()

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """Every worker has the model and predicts its own partitions."""

        def with_predictions(part: Any) -> Any:
            return part[kept].assign(**scorer(nw.from_native(part, eager_only=True)))

        return native.map_partitions(with_predictions, meta=native._meta[kept].assign(**scorer.empty))
