"""How the dialects of SQL write names, values, tables of constants, and a query that is made in steps.

Text in a query comes from strangers. Names and strings are written by ``Dialect.name`` and ``Dialect.string`` alone,
whose tables of escapes leave nothing that could end the quotation.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from hebnb.columns.hierarchies import Beginning
from hebnb.engines.backends.duckdb import is_nan

# Rows of constants a statement or a VALUES has at most; Snowflake takes 16,384.
_INSERTED, _LISTED = 1_000, 10_000
# exp of less than this is an error in PostgreSQL, and nothing beside 1 anywhere.
LEAST_POWER = -700.0


def _escapes(*pairs: tuple[str, str]) -> dict[int, str]:
    return {ord(character): escape for character, escape in pairs}


# Where a backslash means something: BigQuery has no line breaks in strings, and control characters are safer in print.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)}
_BACKSLASHED = _CONTROLS | _escapes(("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))
_DOUBLED = _escapes(('"', '""'))


@dataclass(frozen=True)
class Dialect:
    """What tells one dialect from the others.

    Parameters
    ----------
    types : mapping of kind to type name
        A kind that is not here cannot be written in the dialect.
    string_escapes, name_escapes
        What stands for characters in strings and in names.
    quote : str
        The character around names.
    string_mark : str
        What precedes a string with a backslash in it.
    number : str
        How a float is written among constants; the column is then cast.
    carry, spread : str
        How all columns of the table travel through the steps, and how they come out at the end.
    null_if_nan : str
        An expression with NULL instead of NaN, and otherwise of the type it was (NULLIF makes floats of integers).
    step, barrier : str
        What stands between the name of a step and its query; of one that is to be planned apart from what follows.
    storage : str
        What follows the columns of a new table.
    array_of_structs : bool
        Whether a table of constants is that, rather than VALUES.
    nul : bool
        Whether text can hold the character NUL.
    part : str
        The part of a text with a number, from one, between separators.
    """

    types: Mapping[str, str]
    string_escapes: Mapping[int, str]
    name_escapes: Mapping[int, str]
    quote: str = '"'
    string_mark: str = ""
    number: str = "{}"
    carry: str = "{rows}.*"
    spread: str = "* EXCLUDE ({made})"
    null_if_nan: str = "CASE WHEN {value} = CAST('NaN' AS {double}) THEN NULL ELSE {value} END"
    step: str = "AS"
    barrier: str = "AS"
    storage: str = ""
    array_of_structs: bool = False
    nul: bool = True
    part: str = "SPLIT_PART({text}, {separator}, {number})"

    def name(self, name: str) -> str:
        """A name, quoted."""
        return f"{self.quote}{name.translate(self.name_escapes)}{self.quote}"

    def string(self, text: str) -> str:
        """A string literal."""
        mark = self.string_mark if "\\" in text else ""
        return f"{mark}'{text.translate(self.string_escapes)}'"

    def can_hold(self, text: str) -> bool:
        """Whether a row of a database can have this text; lone surrogates are not Unicode."""
        return (self.nul or "\0" not in text) and not any("\ud800" <= character <= "\udfff" for character in text)

    def constant(self, kind: str, value: Any) -> str:
        """A value as it stands in a table of constants whose columns have types."""
        if kind == "text":
            return self.string(str(value))
        if kind == "integer":
            return str(int(value))
        if kind == "boolean":
            return "TRUE" if value else "FALSE"
        if kind == "double":  # an exponent makes a float of it, and repr has the digits that tell it from any other
            text = repr(float(value))
            return self.number.format(text if "e" in text else f"{text}e0")
        return f"CAST('{_iso_text(value)}' AS {self.types[kind]})"

    def double(self, value: float) -> str:
        """A float anywhere in a query."""
        return self.cast(self.constant("double", value), "double")

    def cast(self, expression: str, kind: str) -> str:
        """An expression as a value of that kind."""
        return f"CAST({expression} AS {self.types[kind]})"

    def without_nan(self, expression: str) -> str:
        """An expression of numbers with NULL instead of NaN."""
        return self.null_if_nan.format(value=expression, double=self.types["double"])

    def beginning(self, text: str, way: Beginning) -> str:
        """The first characters or parts of a text; NULL where it has no such parts."""
        if way.separator is None:
            return f"SUBSTR({text}, 1, {way.number})"
        separator = self.string(way.separator)
        parts = [self.part.format(text=text, separator=separator, number=number) for number in range(1, way.number + 1)]
        gone = f"LENGTH({text}) - LENGTH(REPLACE({text}, {separator}, ''))"
        first = f" || {separator} || ".join(parts)
        return f"CASE WHEN {gone} >= {way.number * len(way.separator)} THEN {first} END"


def _iso_text(value: Any) -> str:
    """A time or a decimal as ISO text, in UTC if it has a zone."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            return f"{value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(sep=' ', timespec='microseconds')}+00:00"
        return value.isoformat(sep=" ", timespec="microseconds")
    return f"{Decimal(value):f}" if isinstance(value, int | Decimal) else str(value.isoformat())


def _types(**kinds: str) -> Mapping[str, str]:
    usual = {
        "text": "VARCHAR",
        "integer": "BIGINT",
        "decimal": "DECIMAL(38, 9)",
        "double": "DOUBLE",
        "boolean": "BOOLEAN",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
        "instant": "TIMESTAMPTZ",
    }
    return {kind: name for kind, name in (usual | kinds).items() if name}


DIALECTS = {
    "duckdb": Dialect(
        _types(),
        string_escapes=_escapes(("'", "''"), ("\0", "' || chr(0) || '")),  # where NUL is, older versions end a query
        name_escapes=_DOUBLED,
        null_if_nan=f"CASE WHEN {is_nan('{value}')} THEN NULL ELSE {{value}} END",
        barrier="AS MATERIALIZED",
    ),
    "postgres": Dialect(
        _types(text="TEXT", double="DOUBLE PRECISION"),
        string_escapes=_escapes(("'", "''"), ("\\", "\\\\")),
        name_escapes=_DOUBLED,
        string_mark="E",  # without it a backslash depends on a setting of the server
        carry="{rows} AS {row}",
        spread="({row}).*",
        barrier="AS MATERIALIZED",
        step="AS MATERIALIZED",  # else expressions are copied into one another, step after step
        nul=False,
    ),
    "bigquery": Dialect(
        _types(
            text="STRING",
            integer="INT64",
            decimal="NUMERIC",
            double="FLOAT64",
            boolean="BOOL",
            timestamp="DATETIME",
            instant="TIMESTAMP",
        ),
        quote="`",
        string_escapes=_BACKSLASHED,
        name_escapes=_BACKSLASHED | _escapes(("`", "\\`")),
        spread="* EXCEPT ({made})",
        null_if_nan="IF(IS_NAN({value}), NULL, {value})",  # here NaN is not equal to itself
        array_of_structs=True,
        part="SPLIT({text}, {separator})[SAFE_ORDINAL({number})]",
    ),
    "snowflake": Dialect(
        _types(timestamp="TIMESTAMP_NTZ", instant="TIMESTAMP_TZ"),
        string_escapes=_BACKSLASHED,
        name_escapes=_DOUBLED,
        number="'{}'",  # unquoted numbers would share one decimal type
    ),
    "spark": Dialect(
        _types(text="STRING", time="", instant="TIMESTAMP"),
        quote="`",
        name_escapes=_escapes(("`", "``")),
        # ${…} is replaced before the query is parsed, even in strings.
        string_escapes=_BACKSLASHED | _escapes(("$", "\\u0024")),
        spread="* EXCEPT ({made})",
        storage=" USING PARQUET",
    ),
}


@dataclass(frozen=True)
class Constants:
    """A table of constants: its name, the names and kinds of its columns, and its rows as SQL."""

    name: str
    columns: Mapping[str, str]
    rows: Sequence[str]


@dataclass
class Query:
    """A query made in steps, each of which may use those before it."""

    dialect: Dialect
    prefix: str
    tables: list[Constants] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)

    def own(self, name: str) -> str:
        """A name of ours, which the prefix keeps apart from those of the user."""
        return self.dialect.name(f"{self.prefix}{name}")

    def write(self, template: str, c: int | None = None, /, **given: str) -> str:
        """A template with names of ours for those in braces, but for the expressions that are given.

        ``_c`` at the end of a name stands for the number of a class.
        """
        return template.format_map(_Own(self, c, given))

    def each(self, classes: Iterable[int], template: str, **given: str) -> str:
        """The template for every class, with commas between."""
        return ",\n".join(self.write(template, c, **given) for c in classes)

    def join_key(self, f: int) -> str:
        """A join with the table ``f{f}`` of constants on the key of that feature."""
        return self.write("\nLEFT JOIN {f} ON {f}.{key} = {mine}", f=self.own(f"f{f}"), mine=self.own(f"key_{f}"))

    def carried(self) -> str:
        """The columns of the table, as they begin their way."""
        return self.dialect.carry.format(rows=self.own("rows"), row=self.own("row"))

    def spread(self, made: Iterable[str]) -> str:
        """The columns of the table, without those made on the way."""
        return self.dialect.spread.format(row=self.own("row"), made=", ".join(map(self.own, made)))

    def add_table(self, name: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> str:
        """Add a table of constants, from names and kinds of columns and rows of values; its name in the query."""
        kinds, write = list(columns.values()), self.dialect.constant
        written = [f"({', '.join(map(write, kinds, row))})" for row in rows]
        self.tables.append(Constants(self.own(name), {self.own(c): kind for c, kind in columns.items()}, written))
        return self.own(name)

    def add_step(self, name: str, template: str, *, apart: bool = False, **given: str) -> None:
        """Add a step, written from a template; one that is planned apart keeps a long query from taking long."""
        how = self.dialect.barrier if apart else self.dialect.step
        self.steps.append(f"{self.own(name)} {how} (\n{self.write(template, **given)}\n)")

    def text(self, select: str, create: bool) -> str:
        """The whole: tables of constants as part of one query, or created by statements before it."""
        made = [statement for table in self.tables for statement in self._created(table)] if create else []
        inline = [] if create else [f"{table.name} AS ({self._listed(table)})" for table in self.tables]
        named = ",\n".join([*inline, *self.steps])
        return ";\n".join([*made, f"WITH {named}\n{select}"])

    def _created(self, table: Constants) -> list[str]:
        types = ", ".join(f"{column} {self.dialect.types[kind]}" for column, kind in table.columns.items())
        into = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES\n"
        return [
            f"CREATE TABLE {table.name} ({types}){self.dialect.storage}",
            *(into + ",\n".join(rows) for rows in _batches(table.rows, _INSERTED)),
        ]

    def _listed(self, table: Constants) -> str:
        types = self.dialect.types
        if not table.rows:  # no dialect has an empty list of values
            gaps = ", ".join(f"{self.dialect.cast('NULL', kind)} AS {name}" for name, kind in table.columns.items())
            return f"SELECT * FROM (SELECT {gaps}) AS {self.own('listed')} WHERE 1 = 0"
        if self.dialect.array_of_structs:
            fields = ", ".join(f"{column} {types[kind]}" for column, kind in table.columns.items())
            start, end = f"SELECT * FROM UNNEST(ARRAY<STRUCT<{fields}>>[\n", "\n])"
        else:
            cast = ", ".join(f"{self.dialect.cast(column, kind)} AS {column}" for column, kind in table.columns.items())
            alias = f"{self.own('listed')} ({', '.join(table.columns)})"
            start, end = f"SELECT {cast} FROM (VALUES\n", f"\n) AS {alias}"
        return "\nUNION ALL ".join(start + ",\n".join(rows) + end for rows in _batches(table.rows, _LISTED))


class _Own(dict[str, str]):
    """What braces in a template stand for."""

    def __init__(self, query: Query, c: int | None, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.query, self.c = query, c

    def __missing__(self, name: str) -> str:
        return self.query.own(name if self.c is None or not name.endswith("_c") else f"{name[:-1]}{self.c}")


def _batches(rows: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (rows[start : start + most] for start in range(0, len(rows), most))
