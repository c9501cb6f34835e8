"""Parts of dates are what Python's calendar says, in every library and time zone."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import BACKENDS, examples, make_table
from hebnb import ColumnParts, InputError
from hebnb.columns.table import as_array, read
from hebnb.parts.dates import DATE_PARTS, DateParts

WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
ALL = tuple(DATE_PARTS)
TIMES = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))


def expected(value):
    """The parts of a date or time, by Python."""
    if value is None:
        return [None] * 5
    hour = value.hour if isinstance(value, dt.datetime) else 0
    return [value.year, value.month, value.day, WEEKDAYS[value.isoweekday() - 1], hour]


def parts_of(X):
    """All parts of the first column, row by row."""
    columns = DateParts(0, ALL).columns(read(X).columns[0])
    return np.stack([as_array(column) for column in columns], axis=1).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@given(st.lists(st.one_of(st.none(), TIMES), min_size=1, max_size=8))
@examples(25)
def test_parts_are_those_of_python(backend, times):
    assert parts_of(make_table(backend, {"t": times})) == [expected(time) for time in times]


@pytest.mark.parametrize("backend", BACKENDS)
@given(st.lists(st.one_of(st.none(), st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))), min_size=1, max_size=8))
@examples(25)
def test_parts_of_days(backend, days):
    assert parts_of(make_table(backend, {"d": days})) == [expected(day) for day in days]


def zoned_tables(times, zone):
    instants = [None if time is None else time.replace(tzinfo=dt.UTC) for time in times]
    aware = pl.DataFrame({"t": instants}, schema={"t": pl.Datetime("us", "UTC")})
    return {
        "pandas": pd.DataFrame({"t": pd.to_datetime(pd.Series(instants), utc=True).dt.tz_convert(zone)}),
        "polars": aware.with_columns(pl.col("t").dt.convert_time_zone(zone)),
        "pyarrow": pa.table({"t": pa.array(instants, pa.timestamp("us", zone))}),
        "pandas on Arrow": pd.DataFrame({"t": pd.Series(instants).astype(pd.ArrowDtype(pa.timestamp("us", zone)))}),
    }


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "pandas on Arrow"])
def test_times_with_a_zone_are_what_its_clocks_show(library):
    times = [dt.datetime(2023, 12, 31, 20), None, dt.datetime(2024, 6, 1, 0, 30)]
    X = zoned_tables(times, "Asia/Tokyo")[library]  # nine hours ahead, all the year
    ahead = [None if time is None else time + dt.timedelta(hours=9) for time in times]
    assert parts_of(X) == [expected(time) for time in ahead]


def test_objects_and_text_have_the_time_that_is_written():
    """The same instant in two zones, which Python says are equal."""
    east, west = dt.timezone(dt.timedelta(hours=9)), dt.timezone(dt.timedelta(hours=-8))
    instant = dt.datetime(2024, 1, 1, 3, tzinfo=dt.UTC)
    aware = [instant.astimezone(east), instant.astimezone(west)]
    wanted = [expected(time.replace(tzinfo=None)) for time in aware]
    assert aware[0] == aware[1]
    assert wanted[0] != wanted[1]
    assert parts_of(np.array([[time] for time in aware], dtype=object)) == wanted
    assert parts_of([[time.isoformat()] for time in aware]) == wanted


def test_dates_in_text_are_dates_if_they_are_named(table):
    """And then they are given back as times, which have an order."""
    texts = ["2024-02-29", "2023-12-31", None, ""]
    X = table({"day": texts, "n": [1, 2, 3, 4]})
    assert ColumnParts().fit(X).parts_ == {}
    parts = ColumnParts(dates=[0]).fit(X)
    (names,) = parts.parts_.values()
    assert [name.partition(": ")[2] for name in names] == ["year", "month", "day", "weekday"]
    column = read(parts.transform(X)).columns[0]
    days = [dt.datetime(2024, 2, 29), dt.datetime(2023, 12, 31)]
    assert column.holds_times
    assert parts_of(parts.transform(X))[:2] == [expected(day) for day in days]
    assert np.isnan(column.numbers).tolist() == [False, False, True, True]


@pytest.mark.parametrize("values", [["2024-02-29", "last Tuesday"], [1, 2], [0.5, 1.5], [True, False]])
def test_what_is_no_date(table, values):
    X = table({"day": values})
    with pytest.raises(InputError, match=r"(?s)Column ('day'|0): not all of its values are dates.*2024-12-31"):
        ColumnParts(dates=[0]).fit(X)


def test_only_parts_that_vary():
    days = [[dt.date(2024, 2, day)] for day in (5, 12, 19)]  # Mondays of one month
    assert ColumnParts().fit(days).parts_ == {"x0": ["x0: day"]}


def test_nanoseconds_and_odd_units():
    for unit in ("s", "ms", "us", "ns", "D"):
        times = np.array([["2024-02-29"], ["NaT"], ["1969-12-31"]], dtype=f"M8[{unit}]")
        assert parts_of(times) == [expected(dt.date(2024, 2, 29)), [None] * 5, expected(dt.date(1969, 12, 31))]
