"""DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from hebnb.engines.backends.base import Backend, Frame, Times, arrow_tables, as_lists

# Tables that a query is joined with at a time.
_JOINED = 16


def is_nan(expression: str) -> str:
    """Whether a number is NaN, in DuckDB's SQL: as text, for the reason that ``Backend.nan_is_text`` gives."""
    return f"CAST({expression} AS VARCHAR) IN ('nan', '-nan')"


def quoted(name: str) -> str:
    """A name in DuckDB's SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def batches_of(relation: Any, rows: int) -> Iterable[Any]:
    """The rows of a relation as Arrow tables, one after the other."""
    stream = "to_arrow_reader" if hasattr(relation, "to_arrow_reader") else "fetch_record_batch"
    return arrow_tables(getattr(relation, stream)(rows))


def _microseconds(times: Times) -> str:
    name = quoted(times.name)
    if not times.has_nanoseconds:
        return f"epoch_us({name})"
    whole = f"epoch_ns({name})"
    return f"({whole} - ({whole} % 1000 + 1000) % 1000) // 1000"


class DuckDB(Backend):
    """Relations of DuckDB."""

    nan_is_text: ClassVar[bool] = True

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """A reservoir."""
        query = f"SELECT * FROM hebnb__rows USING SAMPLE reservoir({limit} ROWS) REPEATABLE ({seed})"
        return native.query("hebnb__rows", query)

    def batches(self, native: Any, rows: int) -> Iterable[Any]:
        """As DuckDB streams them to Arrow."""
        return batches_of(native, rows)

    def type_name(self, native: Any, name: str) -> str:
        """As SQL has it."""
        return str(native.types[native.columns.index(name)])

    def with_microseconds(self, frame: Frame, times: Sequence[Times]) -> Frame:
        """By DuckDB's own function, which rounds nanoseconds to the nearest."""
        made = ", ".join(f"{_microseconds(own)} AS {quoted(own.made)}" for own in times)
        found: Frame = nw.from_native(frame.to_native().query("hebnb__rows", f"SELECT *, {made} FROM hebnb__rows"))
        return found

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With an Arrow table, which the query finds by its name."""
        import pyarrow as pa

        hebnb__lookup = pa.table(as_lists(data, key))  # noqa: F841
        parts = ", ".join(f'hebnb__lookup."{name}"' for name in data if name != key)
        match = f'hebnb__rows."{key}" = hebnb__lookup."{key}"'
        query = f"SELECT hebnb__rows.*, {parts} FROM hebnb__rows LEFT JOIN hebnb__lookup ON {match}"
        found: Frame = nw.from_native(frame.to_native().query("hebnb__rows", query))
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
            hebnb__lookup = pa.table(dict(zip(titles, arrays, strict=True)))  # noqa: F841
            query = f"SELECT hebnb__rows.*, {', '.join(select)} FROM hebnb__rows {' '.join(joins)}"
            native = native.query("hebnb__rows", query)
        found: Frame = nw.from_native(native)
        return found
