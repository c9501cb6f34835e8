"""What engines do each in their own way. A backend is one file, and a line in ``BACKENDS``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

import narwhals as nw

from hebnb.counts.cell_sums import CellSums, Sums
from hebnb.errors import HebnbError
from hebnb.foundation.arrays import THREADS, Array

Frame: TypeAlias = nw.LazyFrame[Any]
Eager: TypeAlias = nw.DataFrame[Any]

T = TypeVar("T")

# Most rows of a batch, and most values of one.
_BATCH_ROWS, _BATCH_VALUES = 1 << 17, 1 << 22


class Times(NamedTuple):
    """A column of times, its type, and the column that its microseconds go to."""

    name: str
    dtype: Any
    made: str

    @property
    def has_nanoseconds(self) -> bool:
        """Whether the times are finer than microseconds."""
        return getattr(self.dtype, "time_unit", "us") == "ns"


class Tally(Protocol):
    """Something that counts the cells of some tables in a batch of rows, where the batch is."""

    def __call__(self, batch: Eager) -> list[CellSums]:
        """The cells of every table."""

    def __len__(self) -> int:
        """How many tables there are."""


class Scorer(Protocol):
    """Something that predicts batches of rows where they are."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that predictions go to."""

    @property
    def example(self) -> Array:
        """Some predictions, which tell their type."""

    @property
    def empty(self) -> dict[str, Array]:
        """Predictions of no row."""

    def __call__(self, batch: Eager) -> dict[str, Array]:
        """The predictions of a batch by the columns that they go to."""


class Backend:
    """An engine that narwhals speaks to; what it does not do well is done here."""

    # The module of the engine, and the oldest version of it that hebnb asks for.
    oldest: ClassVar[tuple[str, str]]
    # Whether NaN shows in print only. DuckDB takes the least and greatest number that a Parquet file declares for the
    # whole truth, and finds no NaN beside them.
    nan_is_text: ClassVar[bool] = False
    # Types that narwhals knows and the engine cannot hand out.
    unreadable: ClassVar[tuple[Any, ...]] = ()
    # Most tables that rows are joined with; models that have more predict batches of rows.
    most_joined: ClassVar[int] = 32

    @contextmanager
    def doing(self, note: str) -> Iterator[None]:
        """Run something on the engine; an error says what it was, and what is to be done where that is known."""
        try:
            yield
        except ModuleNotFoundError as error:
            raise HebnbError(f"{error.name} is needed for {note}.", f"pip install {error.name}") from error
        except Exception as error:
            failure = self.failure(error)
            if failure is not None:
                raise type(failure)(f"While hebnb was {note}: {failure}") from error
            error.add_note(f"hebnb was {note}.")
            raise

    def failure(self, error: Exception) -> HebnbError | None:
        """What an error of the engine means, if it is one that its users need to be told of in other words."""
        return None

    def collect(self, queries: Sequence[Frame], notes: Sequence[str]) -> list[Eager]:
        """Run aggregations one after the other; an error says which it was."""
        results = []
        for query, note in zip(queries, notes, strict=True):
            with self.doing(note):
                results.append(query.collect())
        return results

    def together(self, run: Callable[[], list[Any]], notes: Sequence[str]) -> list[Eager]:
        """Run aggregations that share a scan."""
        with self.doing(f"{notes[0]}{' and others' if len(notes) > 1 else ''}" if notes else "asking nothing"):
            return [nw.from_native(frame) for frame in run()]

    def batches(self, native: Any, rows: int) -> Iterable[Any] | None:
        """The rows as tables in memory of about so many rows each; None if they had better stay where they are."""
        return None

    def valued(self, frame: Frame, tally: Callable[[Eager], dict[str, Any]], note: str) -> dict[str, Any] | None:
        """The sums of lines with a number, a value, a key and a count; None if values are better counted by queries."""
        return None

    def tallied(self, frame: Frame, tally: Tally, note: str) -> list[CellSums] | None:
        """The sums of what is counted of every batch of rows; None if the engine had better count by queries.

        Several batches are counted at a time, and few are held.
        """
        sums = Sums()
        with self.doing(note):
            batches = self.batches(frame.to_native(), batch_rows(len(frame.collect_schema())))
            if batches is None:
                return None
            for found in streamed_in_threads(lambda batch: tally(nw.from_native(batch, eager_only=True)), batches):
                sums.add(found)
        return sums.total()

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

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """Some columns of a table with predictions of its rows, batch by batch; None if rows had better stay."""
        return None


def streamed_in_threads(function: Callable[[Any], T], batches: Iterable[Any]) -> Iterator[T]:
    """What a function makes of batches, in their order; several are worked on at a time, and few are held."""
    running: deque[Future[T]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for batch in batches:
            running.append(pool.submit(function, batch))
            if len(running) > THREADS:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def batch_rows(n_columns: int) -> int:
    """How many rows a batch has, so that it takes little memory however many columns there are."""
    return max(1024, min(_BATCH_ROWS, _BATCH_VALUES // max(n_columns, 1)))


def arrow_tables(batches: Iterable[Any]) -> Iterable[Any]:
    """Arrow's record batches as tables."""
    import pyarrow as pa

    return (pa.Table.from_batches([batch]) for batch in batches)


def with_predictions(table: Any, kept: list[str], scorer: Scorer) -> Any:
    """Some columns of an Arrow table, and predictions of its rows."""
    import pyarrow as pa

    scored, like = table.select(kept), prediction_type(scorer)
    for name, made in scorer(nw.from_native(table, eager_only=True)).items():
        scored = scored.append_column(name, pa.array(made.tolist() if made.dtype == object else made, like))
    return scored


def prediction_type(scorer: Scorer) -> Any:
    """What Arrow calls the type of predictions."""
    import pyarrow as pa

    return pa.array(scorer.example.tolist()).type


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
