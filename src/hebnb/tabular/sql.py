"""Names and strings in DuckDB's SQL."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A column's name in DuckDB's SQL.

    Examples
    --------
    >>> print(quoted('5" pipe'))
    "5"" pipe"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string in DuckDB's SQL.

    Examples
    --------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"
