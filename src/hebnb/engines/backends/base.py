"""What engines do each in their own way. A backend is one file, and a line in ``BACKENDS``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import narwhals as nw
import numpy as np

from hebnb.errors import HebnbError
from hebnb.foundation.arrays import Array, FloatArray

Frame: TypeAlias = nw.LazyFrame[Any]
Eager: TypeAlias = nw.DataFrame[Any]


class Backend:
    """An engine that narwhals speaks to; what it does not do well is done here."""

    # Whether NaN shows in print only. DuckDB takes the least and greatest number that a Parquet file declares for the
    # whole truth, and finds no NaN beside them.
    nan_is_text: ClassVar[bool] = False

    def collect(self, queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
        """Run aggregations one after the other; an error says which it was."""
        results = []
        for query, note in zip(queries, notes, strict=True):
            try:
                results.append(query.collect())
            except ModuleNotFoundError as error:
                raise HebnbError(f"{error.name} is needed for {note}.", f"pip install {error.name}") from error
            except Exception as error:
                error.add_note(f"hebnb was {note}.")
                raise
        return results

    def together(self, run: Callable[[], list[Any]], notes: Sequence[str]) -> list[Eager]:
        """Run aggregations that share a scan."""
        try:
            return [nw.from_native(frame) for frame in run()]
        except Exception as error:
            error.add_note(f"hebnb was {notes[0]}{' and others' if len(notes) > 1 else ''}.")
            raise

    def quantiles(self, frame: Frame, names: list[str], shares: FloatArray) -> dict[str, FloatArray]:
        """The quantiles of some columns."""
        expressions = [
            nw.col(name).quantile(float(share), interpolation="linear").alias(f"__hebnb_quantile{n}_{k}")
            for n, name in enumerate(names)
            for k, share in enumerate(shares)
        ]
        (found,) = self.collect([frame.select(*expressions)], ["finding quantiles"])
        row = np.array(found.row(0), dtype=float).reshape(len(names), len(shares))
        return dict(zip(names, row, strict=True))

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """About ``limit`` rows at random, which is that share of them."""
        raise NotImplementedError

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """A left join with a small table on one column; rows keep their order where they have one."""
        raise NotImplementedError

    def joined_with_all(self, frame: Frame, lookups: Sequence[tuple[str, dict[str, Any]]]) -> Frame:
        """Left joins with many small tables, each on a column of whole numbers of its own."""
        for key, data in lookups:
            frame = self.joined(frame, data, key)
        return frame

    def predictions(self, frame: Any, columns: list[str], names: list[str], kind: Array, predict: Any) -> Any | None:
        """The table with predictions by ``predict``, if the engine can run it where rows are; None if it cannot.

        ``kind`` is an empty array of the predictions' type.
        """
        return None


def as_lists(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Objects as a list, whose type is that of its values; arrays of numbers have one."""
    return data | {key: data[key].tolist()} if data[key].dtype.kind == "O" else data
