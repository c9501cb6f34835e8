"""Descriptions of tables in files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hebnb.columns.choice import chosen_features
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, target_levels
from hebnb.overview.description import TableDescription, described
from hebnb.tabular.labelled import IN_MEMORY
from hebnb.tabular.table import TableFile
from hebnb.weighting.leave_one_out import MOST_ROWS


def describe_file(
    table: TableFile,
    target: str | None = None,
    *,
    features: Sequence[str] = (),
    drop: Collection[str] = (),
    categorical_features: Any = "auto",
    numeric_features: Any = None,
) -> TableDescription:
    """A table in files, or 50,000 of its rows if they are too many for memory.

    Examples
    --------
    >>> from hebnb.tabular.files import open_table
    >>> with open_table("@flights") as flights:
    ...     describe_file(flights, "arrival").columns["column"][:3]
    ['month', 'day', 'sched_dep_time']
    """
    if target is not None:
        chosen = chosen_features(list(dict.fromkeys(features)) or None, table.columns, target, drop=drop)
    else:
        table.require([*features, *drop], "column")
        chosen = [name for name in features or table.columns if name not in drop]
    names = [*chosen, *([target] if target is not None else [])]
    n_rows = table.n_rows()
    is_whole = n_rows * len(names) <= IN_MEMORY
    some = table if is_whole else table.sample(MOST_ROWS, 0)
    rows = some.as_in_print(names).select(names).collect()
    return described(
        read(rows.select(chosen)),
        None if target is None else target_levels(rows[target], name=target),
        ReadingParameters(categorical_features, numeric_features, trees=True),
        n_drawn_from=None if is_whole else n_rows,
        repeated=[name for name in table.written.repeated if name in chosen],
    )
