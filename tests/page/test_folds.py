"""Which rows are learned from, and which are tried."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run
from hebnb.errors import InputError
from hebnb.page.folds import parts

labelled = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=12, max_size=80)


@pytest.mark.hypothesis
@given(labelled, st.integers(2, 6))
def test_a_group_is_never_on_both_sides(rows, folds):
    codes, groups = np.array(rows).T
    if len(set(groups.tolist())) < 2:
        with pytest.raises(InputError, match="one group"):
            parts(codes, folds, 0, groups=groups)
        return
    found = parts(codes, folds, 0, groups=groups)
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(len(codes)))


@pytest.mark.hypothesis
@given(labelled, st.integers(2, 6))
def test_no_row_is_tried_by_what_later_rows_taught(rows, folds):
    codes, times = np.array(rows).T
    if len(set(times.tolist())) < 2:
        with pytest.raises(InputError, match="one time"):
            parts(codes, folds, 0, times=times)
        return
    found = parts(codes, folds, 0, times=times)
    for train, test in found:
        assert times[train].max() < times[test].min()
    tried = np.concatenate([test for _, test in found])
    assert len(set(tried.tolist())) == len(tried)
    assert set(times[np.setdiff1d(np.arange(len(codes)), tried)]) <= set(times[found[0][0]])


@pytest.fixture
def drifting(tmp_path):
    """The class of a customer is the customer's own; that of a day changes with the days."""
    random = np.random.default_rng(1)
    customer, day = random.integers(0, 60, 900), np.arange(900) // 30
    y = np.where((customer % 2 == 0) ^ (day > 14), "yes", "no")
    names, noise = [f"c{n}" for n in customer], random.integers(0, 9, 900)
    table = pd.DataFrame({"customer": names, "noise": noise, "y": y, "day": day})
    table.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.mark.parametrize("how", ["--time", "--group"])
def test_report_by_time_and_by_group(drifting, how):
    column = {"--time": "day", "--group": "customer"}[how]
    done = run("report", drifting, "--target", "y", how, column, "--json", "-o", drifting.parent / "r.html")
    told = json.loads(done.stdout)
    assert told["methods"]["NB+loo"]["log-loss"] > 0.65  # nothing of the past, and nothing of others, helps
    assert told["methods"]["class shares"]["log-loss"] > 0.65
    said = {"--time": "has seen earlier rows only", "--group": "nor any row of its group"}[how]
    assert said in (drifting.parent / "r.html").read_text(encoding="utf-8")


def test_report_refuses_unclear_parts(drifting):
    both = run("report", drifting, "--target", "y", "--time", "day", "--group", "customer", code=2)
    assert "two ways" in both.stderr
    assert "customer" in run("report", drifting, "--target", "y", "--group", "custmer", code=2).stderr


def test_text_that_is_not_in_order_is_no_time(drifting):
    table = pd.read_csv(drifting)
    days = pd.Timestamp("2023-01-20") + pd.to_timedelta(table["day"], "D")

    def report(written, name, **how):
        path = drifting.parent / name
        getattr(table.assign(day=written), "to_parquet" if name.endswith("parquet") else "to_csv")(path, index=False)
        return run("report", path, "-t", "y", "--time", "day", "--folds", "2", "-o", drifting.parent / "r.html", **how)

    refused = report(days.dt.strftime("%d. %m. %Y"), "a.csv", code=1).stderr
    assert "Column 'day' is text, whose order is not that of time: '20. 01. 2023' is no date" in refused
    assert "2024-12-31" in refused
    soon = days.dt.strftime("%Y-%m-%d").where(table.index != 7, "soon")
    assert "dates written as year-month-day, but 'soon' is none" in report(soon, "b.csv", code=1).stderr
    gap = days.dt.strftime("%d.%m.%Y").where(table.index != 7, "later")
    refused = report(gap, "e.csv", code=1).stderr
    assert "most of its values are dates written as day.month.year, but 'later' is none" in refused
    mixed = days.dt.strftime("%Y-%m-%d").where(table.index != 7, "2023-01-20T10:00")
    assert "not written the same way" in report(mixed, "c.parquet", code=1).stderr
    assert not (drifting.parent / "r.html").exists()
    done = report(days.dt.strftime("%Y-%m-%d"), "d.parquet")  # text, and in order
    assert "900 rows, tried on 2 stretches of day, each later than all rows learned from" in done.stdout


def test_the_headline_says_how_rows_were_parted(drifting):
    done = run("report", drifting, "-t", "y", "--group", "customer", "--folds", "2", "-o", drifting.parent / "r.html")
    assert "900 rows, 2-fold cross-validation by customer\n" in done.stdout
