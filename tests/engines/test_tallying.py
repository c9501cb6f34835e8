"""Batches of rows are counted as rows are in memory, whatever their types and however they are divided."""

import datetime as dt
from collections import Counter

import narwhals as nw
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hebnb import KDB, EvidenceClassifier, NaiveBayes
from hebnb.columns.kinds import Categories
from hebnb.engines import counting
from hebnb.engines.backends.base import Backend, batch_rows, streamed_in_threads
from hebnb.engines.lazy_table import LazyTable
from hebnb.engines.tallying import Codes, ValueTally

pl = pytest.importorskip("polars")

VALUES = {
    "text": ["a", 'ä"{', "", None],
    "integers": [-(2**62), 3, 2**62 + 1, None],
    "booleans": [True, False, None, None],
    "floats": [0.1, -0.0, 1e300, None],
    "dates": [dt.date(2024, 2, 29), dt.date(1969, 1, 1), None, None],
    "times": [dt.datetime(2024, 2, 29, 1, 2, 3, 4), None, None, None],
    "spans": [dt.timedelta(days=-1, microseconds=5), None, None, None],
}


@pytest.mark.parametrize("weighted", [False, True])
def test_values_come_back_as_they_were(weighted):
    random = np.random.default_rng(0)
    at = {name: random.integers(4, size=90) for name in VALUES}
    frame = pl.DataFrame({name: [VALUES[name][n] for n in at[name]] for name in VALUES})
    labels, weights = random.choice(["p", "q"], 90), random.integers(1, 4, 90).astype(float)
    table = LazyTable.read(frame.with_columns(y=labels, w=weights).lazy(), "y", "w" if weighted else None, list(VALUES))
    classes = Categories(np.array(["p", "q"], dtype=object), missing=False)
    tally = ValueTally(Codes(table.columns, (), classes, "y"))
    rows = table.frame.select(*tally.codes.expressions(weighted)).collect()
    parts = [tally(nw.from_native(rows.to_native()[start : start + 20])) for start in range(0, 90, 20)]
    lines = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    for name, (column, class_, count) in zip(VALUES, tally.columns(lines), strict=True):
        found = Counter()
        for value, own, number in zip(column.data.tolist(), class_, count, strict=True):
            found[value, "pq"[own]] += number
        expected = Counter()
        for value, label, weight in zip(frame[name].to_list(), labels, weights, strict=True):
            expected[value, label] += weight if weighted else 1
        assert found == expected, name


@pytest.mark.parametrize("make", [KDB, EvidenceClassifier])
def test_a_pass_and_queries_count_alike(make, monkeypatch):
    """Engines elsewhere count by queries, and so are cells counted that have no number."""
    random = np.random.default_rng(1)
    columns = {f"c{n}": random.integers(0, 3 + n, 800) for n in range(4)} | {"x": random.normal(size=800)}
    frame = pl.DataFrame(columns | {"y": (columns["c0"] + columns["c1"]) % 2 == (columns["x"] > 0)})
    by_pass = make().count(frame.lazy(), "y")
    monkeypatch.setattr(counting, "MOST_CELLS", 0.0)
    unnumbered = make().count(frame.lazy(), "y")
    monkeypatch.setattr("hebnb.engines.backends.polars.Polars.batches", Backend.batches)
    by_query = make().count(frame.lazy(), "y")
    assert by_pass.cells
    for other in (unnumbered, by_query):
        for mine, theirs in zip(by_pass.cells, other.cells, strict=True):
            assert_array_equal(mine.codes, theirs.codes)
            assert_array_equal(mine.count, theirs.count)
        for mine, theirs in zip(by_pass.tables, other.tables, strict=True):
            assert_array_equal(mine, theirs)


def test_a_batch_is_small_however_many_columns_there_are():
    assert batch_rows(20) == 1 << 17
    assert batch_rows(1_000) * 1_000 <= 1 << 22
    assert batch_rows(10**6) == 1024


def test_results_keep_their_order_and_errors_arrive():
    assert list(streamed_in_threads(lambda n: n * n, range(50))) == [n * n for n in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(streamed_in_threads(lambda n: 1 // (n - 7), range(50)))


def test_an_error_in_a_pass_says_what_hebnb_was_doing():
    broken = pl.LazyFrame({"x": ["1.5", "one"], "y": [0, 1]}).with_columns(pl.col("x").cast(pl.Float64))
    with pytest.raises(pl.exceptions.PolarsError) as caught:
        NaiveBayes(bin_edges={"x": [0.0]}).fit(broken, "y")
    assert any("hebnb was" in note for note in caught.value.__notes__)
