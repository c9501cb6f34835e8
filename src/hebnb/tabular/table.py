"""A table whose rows are in files, as a query that has not run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hebnb import errors
from hebnb.errors import InputError
from hebnb.foundation.printable import visible
from hebnb.tabular.decisions import Decisions
from hebnb.tabular.gaps import with_gaps
from hebnb.tabular.readings import TEXT, Reading
from hebnb.tabular.sql import quoted

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

# Rows read, scored and written at a time.
BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class TableFile:
    """A table whose rows are in files, as a query that has not run.

    Parameters
    ----------
    source : str
        What the user called it.
    relation : DuckDB relation
        The rows, with values of the types that the columns are read as.
    written : Written
        All rows as they stand in the files.
    counted : int, optional
        The number of rows, where it is known already.
    formats : dict of str to str
        How dates and numbers are written, of the columns that are text in the files.
    decisions : Decisions
        What was decided about columns of text.
    inputs : list of stat results
        The files, by what they are and not by their names.
    zones : dict of str to Arrow type
        Columns of times whose time zone DuckDB does not keep, and their types.
    """

    source: str
    relation: duckdb.DuckDBPyRelation
    written: Written
    counted: int | None = None
    formats: Mapping[str, str] = field(default_factory=dict)
    decisions: Decisions = field(default_factory=Decisions)
    inputs: Sequence[os.stat_result] = ()
    zones: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gaps(self) -> list[str]:
        """What the user said means a gap."""
        return [gap for gap in self.written.gaps if gap]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.relation.columns)

    def require(self, names: Iterable[str], option: str) -> None:
        """Complain of a name that is no column's, and offer the nearest."""
        for name in names:
            if name not in self.columns:
                raise errors.unknown_name(option, name, self.columns)

    def where(self, condition: str) -> TableFile:
        """The rows that meet a condition."""
        return replace(self, relation=self.relation.filter(condition), counted=None)

    def select(self, names: Sequence[str]) -> TableFile:
        """Some of the columns."""
        return replace(self, relation=self.relation.project(", ".join(map(quoted, names))))

    def beside(self, kept: Sequence[str], read: Sequence[str], *, typed: bool) -> Beside:
        """Some columns as they stand in the files, and beside them some as they are read.

        Where what they are written to has types, columns that lose nothing by it are kept as they are read.
        """
        raw = self.written
        as_read = raw.losing_nothing(kept) if typed else []
        columns = [f"{raw.value(name) if name in as_read else quoted(name)} AS kept{n}" for n, name in enumerate(kept)]
        columns += [f"{raw.value(name)} AS read{n}" for n, name in enumerate(read)]
        table = replace(self, relation=raw.relation.project(", ".join(columns)))
        return Beside(table, list(kept), list(read), self.zones)

    def as_in_print(self, names: Iterable[str]) -> TableFile:
        """The table with these columns such that values which are equal in print are equal, whatever file they are in.

        Decimals and single floats become the doubles that their digits mean, and times lose their nanoseconds. A
        decimal type without a fraction holds integers, which stay what they are.
        """
        chosen, digits = set(names), "CAST(CAST({} AS VARCHAR) AS DOUBLE)"
        casts = {
            "DECIMAL": digits,
            "FLOAT": digits,
            "TIMESTAMP_NS": "CAST({} AS TIMESTAMP)",
            "TIME_NS": "CAST({} AS TIME)",
        }
        made = []
        for name, kind in zip(self.columns, map(str, self.relation.types), strict=True):
            is_whole = kind.startswith("DECIMAL") and kind.endswith(",0)")
            cast = casts.get(kind.partition("(")[0]) if name in chosen and not is_whole else None
            made.append(f"{cast.format(quoted(name))} AS {quoted(name)}" if cast else quoted(name))
        return replace(self, relation=self.relation.project(", ".join(made)))

    def slice(self, start: int, rows: int) -> pa.Table:
        """Some rows, by number from 0."""
        with reading(self.source):
            return self.in_their_zones(self.relation.limit(rows, start).to_arrow_table())

    def sample(self, rows: int, seed: int) -> TableFile:
        """A random sample of that many rows."""
        query = f"SELECT * FROM hebnb_rows USING SAMPLE reservoir({int(rows)} ROWS) REPEATABLE ({int(seed)})"
        relation: Any = self.relation.query("hebnb_rows", query)
        return replace(self, relation=relation, counted=None)

    def n_rows(self) -> int:
        """The number of rows; reads the files once, if it is not known."""
        if self.counted is not None:
            return self.counted
        (rows,) = self.values("count(*)")
        return int(rows)

    def values(self, expressions: str) -> tuple[Any, ...]:
        """What aggregations give."""
        with reading(self.source):
            (found,) = self.relation.aggregate(expressions).fetchall()
        return tuple(found)

    def collect(self) -> pa.Table:
        """All rows, in memory."""
        with reading(self.source):
            return self.in_their_zones(self.relation.to_arrow_table())

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.Table]:
        """All rows, some at a time, in their order."""
        import pyarrow as pa

        with reading(self.source):
            for batch in self.relation.to_arrow_reader(rows):
                if batch.num_rows:
                    yield self.in_their_zones(pa.Table.from_batches([batch]))

    def in_their_zones(self, rows: pa.Table) -> pa.Table:
        """Rows whose times have the zones of the files, or UTC, and not the zone that this machine is in."""
        import pyarrow as pa

        for n, (name, kind) in enumerate(zip(rows.schema.names, rows.schema.types, strict=True)):
            if pa.types.is_timestamp(kind) and kind.tz:
                zone = self.zones[name].tz if name in self.zones else "UTC"
                rows = rows.set_column(n, name, rows[n].cast(pa.timestamp(kind.unit, zone)))
        return rows


@dataclass(frozen=True)
class Written:
    """The rows of a table as they stand in its files, and how they are read.

    Parameters
    ----------
    relation : DuckDB relation
    readings : dict of str to Reading
        Of the columns that are text in the files.
    gaps : list of str
        What stands for a missing value.
    repeated : list of str
        Names that several columns have in the files; all but the first have another here.
    """

    relation: duckdb.DuckDBPyRelation
    readings: Mapping[str, Reading]
    gaps: Sequence[str]
    repeated: Sequence[str] = ()

    def value(self, name: str) -> str:
        """What a column is read as, in SQL."""
        return self.readings[name].value(with_gaps(name, self.gaps)) if name in self.readings else quoted(name)

    def read(self) -> duckdb.DuckDBPyRelation:
        """The rows, with all columns as they are read."""
        return self.relation.project(
            ", ".join(f"{self.value(name)} AS {quoted(name)}" for name in self.relation.columns)
        )

    def losing_nothing(self, names: Iterable[str]) -> list[str]:
        """Columns of text whose values, as they are read, would be written as they stand."""
        candidates = [name for name in names if self.readings.get(name, TEXT) != TEXT]
        if not candidates:
            return []
        (keep,) = self.relation.aggregate(", ".join(map(self._loses_nothing, candidates))).fetchall()
        return [name for name, keeps in zip(candidates, keep, strict=True) if keeps is not False]

    def _loses_nothing(self, name: str) -> str:
        """Whether no value of a column loses anything, in SQL; 2.0 stands for 2, and not 1.1 for 1.10."""
        text, back = f"lower({with_gaps(name, self.gaps)})", f"lower(CAST({self.value(name)} AS VARCHAR))"
        if self.readings[name].type == "TIMESTAMP":
            text = f"replace({text}, 't', ' ')"
        return f"bool_and({back} IN ({text}, {text} || '.0', {text} || ':00'))"


@dataclass(frozen=True)
class Beside:
    """Columns as they stand in files, to be passed on, beside columns as a model reads them."""

    table: TableFile
    kept: list[str]
    read: list[str]
    zones: Mapping[str, Any]

    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows()

    def none(self) -> tuple[pa.Table, pa.Table]:
        """The columns, without rows."""
        return self._apart(self.table.slice(0, 0))

    def batches(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """All rows, some at a time and in their order: what is passed on, and what is read."""
        for rows in self.table.batches():
            yield self._apart(rows)

    def _apart(self, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
        ends = len(self.kept)
        kept = rows.select(range(ends)).rename_columns(self.kept)
        for n, name in enumerate(self.kept):
            if name in self.zones:
                kept = kept.set_column(n, name, kept[n].cast(self.zones[name]))
        read = rows.select(range(ends, rows.num_columns)).rename_columns(self.read)
        return kept, replace(self.table, zones=self.zones).in_their_zones(read)


@contextmanager
def reading(source: str) -> Iterator[None]:
    """What DuckDB complains of, in one line and with the table's name."""
    import duckdb

    try:
        yield
    except OSError as error:
        raise InputError(f"{visible(source)} cannot be read: {error.strerror or error}.") from error
    except (duckdb.Error, RuntimeError, UnicodeDecodeError) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        if not isinstance(error, duckdb.Error | UnicodeDecodeError):
            raise
        hint = "Convert it to UTF-8, for example with iconv -f latin1 -t utf-8."
        raise InputError(
            f"{visible(source)} cannot be read. {_reason(str(error))}",
            hint if "unicode" in str(error).lower() else None,
        ) from error


def is_interrupt(error: Exception) -> bool:
    """Whether this is Ctrl-C, as DuckDB tells it."""
    import duckdb

    return isinstance(error, duckdb.InterruptException) or str(error) == "Query interrupted"


def _reason(said: str) -> str:
    """What DuckDB says in many lines, in two: where, and what."""
    lines = [line.strip() for line in said.strip().split("\n")]
    where, *others = [line for line in lines if line and not line.startswith("Original Line")]
    what = next((line for line in others if not line.startswith(("Possible", "*"))), "")
    return visible(f"{where}. {what}".removesuffix(". "), 300)
