"""What engines do each in their own way. A backend is one file, and a line in ``BACKENDS``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import narwhals as nw

from hebnb.errors import HebnbError
from hebnb.foundation.arrays import Array

Frame: TypeAlias = nw.LazyFrame[Any]
Eager: TypeAlias = nw.DataFrame[Any]


class Times(NamedTuple):
    """A column of times, its type, and the column that its microseconds go to."""

    name: str
    dtype: Any
    made: str

    @property
    def has_nanoseconds(self) -> bool:
        """Whether the times are finer than microseconds."""
        return getattr(self.dtype, "time_unit", "us") == "ns"


class Backend:
    """An engine that narwhals speaks to; what it does not do well is done here."""

    # Whether NaN shows in print only. DuckDB takes the least and greatest number that a Parquet file declares for the
    # whole truth, and finds no NaN beside them.
    nan_is_text: ClassVar[bool] = False
    # Types that narwhals knows and the engine cannot hand out.
    unreadable: ClassVar[tuple[Any, ...]] = ()

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

    def readable(self, native: Any) -> Any:
        """The table under names that expressions can refer to."""
        return native

    def named(self, native: Any, names: Sequence[str]) -> Any:
        """A table with the names that it is to have, which may have been changed by ``readable``."""
        return native

    def type_name(self, native: Any, name: str) -> str:
        """What the engine calls the type of a column."""
        return str(nw.from_native(native).collect_schema()[name])

    def with_microseconds(self, frame: Frame, times: Sequence[Times]) -> Frame:
        """The table with columns of whole microseconds, rounded down: since 1970, of a duration, of a day."""
        return frame.with_columns(*(_microseconds(own).alias(own.made) for own in times))

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


def _microseconds(times: Times) -> nw.Expr:
    column = nw.col(times.name)
    if times.dtype == nw.Time:
        return column.cast(nw.Int64) // 1000  # nanoseconds, to those who have such a type
    if isinstance(times.dtype, nw.Duration):
        return column.dt.total_nanoseconds() // 1000 if times.has_nanoseconds else column.dt.total_microseconds()
    if times.dtype == nw.Date:
        column = column.cast(nw.Datetime("us"))
    return column.dt.timestamp("us")
