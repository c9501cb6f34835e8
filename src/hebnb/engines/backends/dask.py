"""Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import narwhals as nw

from hebnb import errors
from hebnb.counts.cell_sums import CellSums, Sums
from hebnb.engines.backends.base import Backend, Eager, Frame, Scorer, Tally
from hebnb.errors import HebnbError, InputError


class Dask(Backend):
    """Dataframes of Dask."""

    oldest: ClassVar[tuple[str, str]] = ("dask", "2025.5.1")
    most_joined: ClassVar[int] = 0

    def readable(self, native: Any) -> Any:
        """The same table, whose partitions are looked at: nobody else does, and files may differ in their types."""
        declared = native._meta
        return native.map_partitions(lambda part: _as_declared(part, declared), meta=declared)

    def failure(self, error: Exception) -> HebnbError | None:
        """A worker that was lost again and again."""
        if type(error).__name__ != "KilledWorker":
            return None
        lost: Any = error
        return HebnbError(
            f"Dask lost worker {lost.last_worker.address}, and gives up a task that has failed "
            f"{lost.allowed_failures + 1} times. Nothing was learned.",
            "Its log tells why; if it was short of memory, make partitions smaller or memory_limit higher.",
        )

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

        with self.doing(note):
            parts = run(*(delayed(count)(part) for part in frame.to_native().to_delayed()))
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


# What pandas finds in a column of objects.
_OF_OBJECTS = {"boolean": "truth", "integer": "number", "floating": "number", "mixed-integer-float": "number"}


def _as_declared(part: Any, declared: Any) -> Any:
    """A partition, if its columns hold what the table says; pandas would mix numbers and text without a word."""
    from pandas.api.types import CategoricalDtype, infer_dtype

    for name, dtype in declared.dtypes.items():
        column = part[name]
        if isinstance(dtype, CategoricalDtype) or _family(column.dtype) == _family(dtype) or column.isna().all():
            continue  # a table need not know its categories, or their type
        if column.dtype != object or _OF_OBJECTS.get(infer_dtype(column)) != _family(dtype):
            raise InputError(
                f"{errors.column(name)} changes its type: the table says {dtype}, and a partition has {column.dtype}.",
                "Write its files anew with one type, or convert the column as it is read.",
            )
    return part


def _family(dtype: Any) -> str:
    """What values of a type are, whatever holds them; numbers with gaps may be floats in one file only."""
    from pandas.api import types

    if isinstance(dtype, types.CategoricalDtype):
        return _family(dtype.categories.dtype)
    if types.is_bool_dtype(dtype):
        return "truth"
    if types.is_numeric_dtype(dtype):
        return "number"
    if types.is_datetime64_any_dtype(dtype):
        return "time"
    return "duration" if types.is_timedelta64_dtype(dtype) else "text"
