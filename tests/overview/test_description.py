"""What is said of columns: equal in all libraries, and what classifiers then do."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import BACKENDS, make_table
from hebnb import EvidenceClassifier, InputError, ParameterError, describe
from hebnb.datasets import load_flights
from hebnb.overview.layout import as_text

COLUMNS = {
    "text": ["red", "green", None, "red"] * 30,
    "whole": [n % 30 for n in range(120)],
    "float": [None if n % 5 == 0 else n / 7 for n in range(120)],
    "truth": [n % 3 == 0 for n in range(120)],
    "day": [dt.date(2024, 1, 1) + dt.timedelta(days=n % 17) for n in range(120)],
    "time": [dt.datetime(2024, 1, 1, 6) + dt.timedelta(minutes=n) for n in range(120)],
    "span": [dt.timedelta(hours=n % 9) for n in range(120)],
}
LABELS = ["no", "no", "yes", "yes", "no"] * 24


@pytest.fixture(scope="module")
def flights():
    X, y = load_flights(backend="pandas")
    return X, y, describe(X, y)


def test_what_columns_hold():
    found = describe(make_table("polars", COLUMNS), LABELS).columns
    assert found["holds"] == [
        "text", "whole numbers", "floats", "true or false", "dates", "times", "durations",
    ]  # fmt: skip
    assert found["distinct"] == [2, 30, 96, 2, 17, 120, 9]
    assert found["gaps"] == [0.25, 0, 0.2, 0, 0, 0, 0]
    assert found["examples"][4:] == [
        "2024-01-01 … 2024-01-17", "2024-01-01 06:00:00 … 2024-01-01 07:59:00", "0:00:00 … 8:00:00",
    ]  # fmt: skip
    assert found["examples"][0] == "red (50%), green (25%)"


@pytest.mark.parametrize("backend", BACKENDS)
def test_all_libraries_are_described_alike(backend):
    expected = describe(make_table("polars", COLUMNS), LABELS)
    found = describe(make_table(backend, COLUMNS), np.array(LABELS))
    names = dict(zip(found.columns["column"], COLUMNS, strict=True))  # of arrays, which have positions
    assert {**found.columns, "column": list(COLUMNS)} == expected.columns
    told = [(names.get(alert.column), alert.kind) for alert in found.alerts]
    assert told == [(alert.column, alert.kind) for alert in expected.alerts]


def test_gains_and_readings_are_those_of_the_classifier(flights):
    X, y, description = flights
    model = EvidenceClassifier(max_crosses=0).fit(X, y)
    gains = dict(zip(description.columns["column"], description.columns["gain"], strict=True))
    assert gains == pytest.approx(model.gains_, rel=1e-9)
    cut = [n for n, what in zip(X.columns, description.columns["taken_for"], strict=True) if what == "a tree of bins"]
    assert cut == list(model.bin_edges_)


def test_columns_are_a_table_to_every_library(flights):
    columns = flights[2].columns
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert frame.shape == (10, len(columns))


def test_what_the_user_says_is_told():
    X = pd.DataFrame({"zip": np.arange(300) % 50, "code": np.arange(300) / 2})
    y = ["a", "b"] * 150
    given = describe(X, y, categorical_features=["code"], numeric_features=["zip"]).columns
    assert given["why"] == [
        "whole numbers, said to be numbers: a tree of bins",
        "floats, said to be categories: categories",
    ]
    every = describe(X, y, categorical_features="all").columns
    assert every["taken_for"] == ["categories", "categories"]
    with pytest.raises(ParameterError, match="zap"):
        describe(X, y, numeric_features=["zap"])


def test_without_a_target_nothing_is_told_about_it(flights):
    X, _, _ = flights
    found = describe(X)
    assert found.columns["gain"] == [None] * 10
    assert found.classes == {}
    assert "gain" not in repr(found)
    assert found.columns["why"][0] == "whole numbers: categories, or numbers if these tell more"


def test_half_of_the_labels_may_be_missing():
    X = [["a"], ["b"], ["a"], ["b"]] * 20
    assert (
        describe(X, [None, "p", "q", None] * 20).n_rows == describe(X[1::4] + X[2::4], ["p"] * 20 + ["q"] * 20).n_rows
    )


def test_rows_without_a_label_are_left_out(flights):
    X, y, _ = flights
    some = y[:2000].astype(object).copy()
    some[::4] = None
    kept = np.arange(2000) % 4 != 0
    expected = describe(X[:2000][kept], y[:2000][kept])
    found = describe(X[:2000], some)
    assert found.n_rows == 1500
    assert found.columns == expected.columns
    assert found.classes == expected.classes


def test_gains_of_many_rows_are_those_of_a_sample():
    random = np.random.default_rng(0)
    x = random.integers(0, 5, 120_000)
    y = (x + random.integers(0, 3, 120_000)) % 5
    (gain,) = describe(pd.DataFrame({"x": x}), y).columns["gain"]
    # Three of five classes are possible and equally likely, so log 5/3 is what is to be told.
    assert gain == pytest.approx(np.log(5 / 3), abs=0.001)


def test_bad_input():
    with pytest.raises(InputError, match="2 rows but y has 1"):
        describe([["a"], ["b"]], ["x"])
    with pytest.raises(InputError, match="0 rows"):
        describe(pd.DataFrame({"x": []}))
    with pytest.raises(InputError, match="Every label is missing"):
        describe([["a"], ["b"]], [None, None])
    with pytest.raises(InputError, match="more than once: a"):
        describe(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="lazy"):
        describe(pl.LazyFrame({"x": [1]}))


def test_a_description_does_not_change(flights):
    with pytest.raises(AttributeError):
        flights[2].n_rows = 3


@pytest.mark.parametrize("width", [80, 100, 160])
def test_lines_are_as_wide_as_told_and_line_up(flights, width):
    from rich.cells import cell_len

    X = flights[0].rename(columns={"month": "月份" * 12, "day": "d" * 90})[:3000]
    text = as_text(describe(X.assign(dest=X["origin"] + "很长" * 30, free=X["dest"] * 20), flights[1][:3000]), width)
    lines = text.split("\n")
    assert max(map(cell_len, lines)) <= width
    head = next(n for n, line in enumerate(lines) if line.startswith("column"))
    at = cell_len(lines[head][: lines[head].index("gain") + len("gain")])
    ends = [line for line in lines[head + 1 : head + 30] if line[:1] not in ("", " ", "-") and "%" in line]
    for line in ends[:11]:
        before = next(n for n in range(len(line) + 1) if cell_len(line[:n]) == at)
        assert line[before - 7 : before].strip()[:1] in "+-"  # a gain ends where its heading does
