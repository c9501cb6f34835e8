"""DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from hebnb.engines.backends.base import (
    Backend,
    Frame,
    Scorer,
    Times,
    arrow_tables,
    as_lists,
    batch_rows,
    prediction_type,
    streamed_in_threads,
    with_predictions,
)
from hebnb.errors import HebnbError

# Tables that a query is joined with at a time.
_JOINED = 16
# Before version 2, DuckDB takes a relation that is queried for the one queried before, if it has that one's name.
_NUMBERS = count()


def is_nan(expression: str) -> str:
    """Whether a number is NaN, in DuckDB's SQL: as text, for the reason that ``Backend.nan_is_text`` gives."""
    return f"CAST({expression} AS VARCHAR) IN ('nan', '-nan')"


def quoted(name: str) -> str:
    """A name in DuckDB's SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def batches_of(relation: Any, rows: int) -> Iterable[Any]:
    """The rows of a relation as Arrow tables, one after the other."""
    return arrow_tables(relation.to_arrow_reader(rows))


def _microseconds(times: Times) -> str:
    name = quoted(times.name)
    if not times.has_nanoseconds:
        return f"epoch_us({name})"
    whole = f"epoch_ns({name})"
    return f"({whole} - ({whole} % 1000 + 1000) % 1000) // 1000"


def _selected(native: Any, columns: str, more: str = "", hebnb__lookup: Any = None) -> Any:
    """Columns of a relation, which is called ``hebnb__rows``; the query finds an Arrow table by its name."""
    name = f"hebnb__rows_{next(_NUMBERS)}"
    return native.query(name, f"SELECT {columns} FROM {name} AS hebnb__rows {more}")


def out_of_memory(error: Exception) -> HebnbError | None:
    """What DuckDB's users may set if its memory is short, if it is."""
    if type(error).__name__ != "OutOfMemoryException":
        return None
    return HebnbError(
        f"DuckDB is out of memory ({str(error).splitlines()[0]}).",
        "SET memory_limit higher, SET threads lower, or SET temp_directory to where there is room to spill; "
        "max_categories keeps the most frequent values of columns that have very many.",
    )


class ScoredRows:
    """Rows with predictions, as an Arrow stream that begins anew whenever it is asked for.

    Parameters
    ----------
    tables : function
        Begins to hand out the rows, as Arrow tables.
    schema : Arrow schema
        Of these.
    kept : list of str
        The columns that are kept.
    scorer : Scorer
    """

    def __init__(self, tables: Callable[[], Iterable[Any]], schema: Any, kept: list[str], scorer: Scorer) -> None:
        import pyarrow as pa

        self._tables, self._kept, self._scorer = tables, kept, scorer
        made = [pa.field(name, prediction_type(scorer)) for name in scorer.names]
        self.schema = pa.schema([*(schema.field(name) for name in kept), *made])

    @classmethod
    def of(cls, relation: Any, kept: list[str], scorer: Scorer) -> ScoredRows:
        """Those of a relation."""
        schema = relation.limit(0).to_arrow_table().schema
        return cls(lambda: batches_of(relation, batch_rows(len(schema))), schema, kept, scorer)

    def __arrow_c_schema__(self) -> Any:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_batches(self.schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Any]:
        for scored in streamed_in_threads(
            lambda table: with_predictions(table, self._kept, self._scorer), self._tables()
        ):
            yield from scored.cast(self.schema).to_batches()


class DuckDB(Backend):
    """Relations of DuckDB."""

    oldest: ClassVar[tuple[str, str]] = ("duckdb", "1.5")
    nan_is_text: ClassVar[bool] = True

    def failure(self, error: Exception) -> HebnbError | None:
        """Memory that is short."""
        return out_of_memory(error)

    def readable(self, native: Any) -> Any:
        """Before version 2, DuckDB takes what precedes a dot for a table, and a quotation mark for an end."""
        is_strange = [bool({".", '"'} & set(name)) for name in native.columns]
        names = zip(native.columns, is_strange, strict=True)
        return self.named(native, [f"__hebnb_column{n}" if own else name for n, (name, own) in enumerate(names)])

    def named(self, native: Any, names: Sequence[str]) -> Any:
        """By SQL, where names can be quoted."""
        if list(names) == native.columns:
            return native
        renamed = zip(native.columns, names, strict=True)
        return native.project(", ".join(f"{quoted(own)} AS {quoted(name)}" for own, name in renamed))

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """A reservoir."""
        return _selected(native, "*", f"USING SAMPLE reservoir({limit} ROWS) REPEATABLE ({seed})")

    def batches(self, native: Any, rows: int) -> Iterable[Any]:
        """As DuckDB streams them to Arrow."""
        return batches_of(native, rows)

    def type_name(self, native: Any, name: str) -> str:
        """As SQL has it."""
        return str(native.types[native.columns.index(name)])

    def with_microseconds(self, frame: Frame, times: Sequence[Times]) -> Frame:
        """By DuckDB's own function, which rounds nanoseconds to the nearest."""
        made = ", ".join(f"{_microseconds(own)} AS {quoted(own.made)}" for own in times)
        found: Frame = nw.from_native(_selected(frame.to_native(), f"*, {made}"))
        return found

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With an Arrow table, which the query finds by its name."""
        import pyarrow as pa

        lookup = pa.table(as_lists(data, key))
        parts = ", ".join(f'hebnb__lookup."{name}"' for name in data if name != key)
        match = f'hebnb__rows."{key}" = hebnb__lookup."{key}"'
        native = _selected(frame.to_native(), f"hebnb__rows.*, {parts}", f"LEFT JOIN hebnb__lookup ON {match}", lookup)
        found: Frame = nw.from_native(native)
        return found

    def joined_with_all(self, frame: Frame, lookups: Sequence[tuple[str, dict[str, Any]]]) -> Frame:
        """Some at a time, all in one Arrow table: DuckDB looks at the whole query anew whenever something is added."""
        import pyarrow as pa

        native = frame.to_native()
        for start in range(0, len(lookups), _JOINED):
            group = lookups[start : start + _JOINED]
            n_parts = len(group[0][1]) - 1
            columns: list[list[Any]] = [[] for _ in range(n_parts + 2)]
            select, joins = [], []
            for number, (key, data) in enumerate(group):
                names = [name for name in data if name != key]
                whole = np.full(len(data[key]), number), data[key], *(data[name] for name in names)
                for column, own in zip(columns, whole, strict=True):
                    column.append(own)
                select += [f'l{number}.part{c} AS "{name}"' for c, name in enumerate(names)]
                rows = f"(SELECT * FROM hebnb__lookup WHERE number = {number})"
                joins.append(f'LEFT JOIN {rows} AS l{number} ON hebnb__rows."{key}" = l{number}.key')
            titles = ["number", "key", *(f"part{c}" for c in range(n_parts))]
            arrays = [np.concatenate(column) for column in columns]
            lookup = pa.table(dict(zip(titles, arrays, strict=True)))
            native = _selected(native, f"hebnb__rows.*, {', '.join(select)}", " ".join(joins), lookup)
        found: Frame = nw.from_native(native)
        return found

    def scored(self, native: Any, kept: list[str], scorer: Scorer) -> Any | None:
        """As a stream of Arrow batches, under a connection of its own: one that is read from cannot run queries.

        Types are those that columns had before they went through Arrow.
        """
        import duckdb

        hebnb__scored = ScoredRows.of(native, kept, scorer)  # noqa: F841
        made = duckdb.connect().sql("SELECT * FROM hebnb__scored")
        before = dict(zip(native.columns, map(str, native.types), strict=True))
        now = dict(zip(made.columns, map(str, made.types), strict=True))
        shown = [
            quoted(name)
            if before.get(name, now[name]) == now[name]
            else f"CAST({quoted(name)} AS {before[name]}) AS {quoted(name)}"
            for name in now
        ]
        return made.project(", ".join(shown))
