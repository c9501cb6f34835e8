"""DuckDB."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals as nw

from hebnb.engines.backends.base import Backend, Frame, as_lists


def is_nan(expression: str) -> str:
    """Whether a number is NaN, in DuckDB's SQL: as text, for the reason that ``Backend.nan_is_text`` gives."""
    return f"CAST({expression} AS VARCHAR) IN ('nan', '-nan')"


class DuckDB(Backend):
    """Relations of DuckDB."""

    nan_is_text: ClassVar[bool] = True

    def sample(self, native: Any, limit: int, share: float, seed: int) -> Any:
        """A reservoir."""
        query = f"SELECT * FROM hebnb__rows USING SAMPLE reservoir({limit} ROWS) REPEATABLE ({seed})"
        return native.query("hebnb__rows", query)

    def joined(self, frame: Frame, data: dict[str, Any], key: str) -> Frame:
        """With an Arrow table, which the query finds by its name."""
        import pyarrow as pa

        hebnb__lookup = pa.table(as_lists(data, key))  # noqa: F841
        parts = ", ".join(f'hebnb__lookup."{name}"' for name in data if name != key)
        match = f'hebnb__rows."{key}" = hebnb__lookup."{key}"'
        query = f"SELECT hebnb__rows.*, {parts} FROM hebnb__rows LEFT JOIN hebnb__lookup ON {match}"
        found: Frame = nw.from_native(frame.to_native().query("hebnb__rows", query))
        return found
