"""Every alert on a table that has it, and on one that barely has not."""

import numpy as np
import pandas as pd
import pytest

from hebnb import describe
from hebnb.overview.alerts import Alert, together

ROWS = 400
random = np.random.default_rng(0)
COIN = random.permutation(np.repeat(["no", "yes"], ROWS // 2))  # in no order, and as long as the tables
COLOUR = random.choice(["red", "green", "blue"], ROWS)
WORDS = [f"w{n}" for n in range(500)]


def alerts(columns, y=COIN, **more):
    """The kinds of alerts, by column."""
    return {(alert.column, alert.kind) for alert in describe(pd.DataFrame(columns), y, **more).alerts}


def flipped(labels, number):
    """Labels of which the first so many are the other one."""
    other = np.where(labels == "no", "yes", "no")
    return np.where(np.arange(len(labels)) < number, other, labels)


def unique(number, rows=ROWS):
    """A column of text in which so many rows have a value of their own and the others share one."""
    return [f"x{n}" if n < number else "other" for n in range(rows)]


def prose(number, words=6):
    return [" ".join(random.choice(WORDS, words)) if n < number else "as above" for n in range(ROWS)]


def gaps(number):
    return [None if n < number else "abc"[n % 3] for n in range(ROWS)]


def days(number):
    """Dates as text in all rows but so many."""
    texts = pd.date_range("2020-01-01", periods=ROWS).strftime("%d.%m.%Y").tolist()
    return [f"day {n}" for n in range(number)] + texts[number:]


def noisy_steps(steps):
    """Whole numbers whose order tells about the class, or does not, and labels."""
    number = random.integers(0, 60, 1000)
    high = number >= 30 if steps == "two" else number % 2 == 0
    return number, np.where(high ^ (random.random(1000) < 0.2), "yes", "no")


NUMBER, BY_ORDER = noisy_steps("two")
PARITY, BY_NAME = noisy_steps("many")

# A kind of alert, its column, columns that have it, columns that barely have not.
OF_COLUMNS = [
    ("id", "x", {"x": unique(380)}, {"x": unique(379)}),
    ("id", "x", {"x": range(1000, 1000 + ROWS)}, {"x": np.arange(ROWS) + 0.5}),
    ("constant", "x", {"x": ["a"] * ROWS}, {"x": ["a"] * (ROWS - 1) + [None]}),
    ("constant", "x", {"x": [1.5] * ROWS}, {"x": [1.5] * (ROWS - 1) + [2.5]}),
    ("gaps", "x", {"x": gaps(380)}, {"x": gaps(379)}),
    ("gaps", "x", {"x": [None] * ROWS}, {"x": gaps(0)}),
    (
        "duplicate",
        "x",
        {"c": COLOUR, "x": [w[0] for w in COLOUR]},
        {"c": COLOUR, "x": ["r", *(w[0] for w in COLOUR[1:-1]), "g"]},
    ),
    ("leak", "x", {"x": flipped(COIN, 1)}, {"x": flipped(COIN, 12)}),
    ("leak", "x", {"x": np.where(COIN == "no", 1.0, 2.0) + np.arange(ROWS) / 1e4}, {"x": random.random(ROWS)}),
    ("free text", "x", {"x": prose(200)}, {"x": prose(199)}),
    ("free text", "x", {"x": prose(ROWS, words=4)}, {"x": prose(ROWS, words=3)}),
    ("dates in text", "x", {"x": days(20)}, {"x": days(21)}),
    ("dates", "x", {"x": pd.date_range("2020-01-01", periods=ROWS)}, {"x": pd.to_timedelta(np.arange(ROWS), "h")}),
    ("mixed types", "x", {"x": ["a", 1] * 200}, {"x": ["a", "1"] * 200}),
]


@pytest.mark.parametrize(("kind", "column", "has", "barely_not"), OF_COLUMNS)
def test_columns(kind, column, has, barely_not):
    others = {"colour": COLOUR}
    assert (column, kind) in alerts(others | has)
    assert (column, kind) not in alerts(others | barely_not)


@pytest.mark.parametrize(
    ("kind", "values"), [("free text", prose(ROWS)), ("dates", pd.date_range("2020-01-01", periods=ROWS))]
)
def test_what_has_parts_is_helped_by_them(kind, values):
    table = pd.DataFrame({"colour": COLOUR, "x": values})
    (remedy,) = [alert.remedy for alert in describe(table, COIN).alerts if alert.kind == kind]
    assert "ColumnParts" in remedy
    assert "--parts" in remedy


# A kind of alert, labels that have it, labels that barely have not.
OF_TARGETS = [
    ("no classes", [f"c{n}" for n in range(200)] + ["c0"] * 200, [f"c{n % 199}" for n in range(398)] + ["x", "z"]),
    ("number as target", np.arange(ROWS) % 20 * 1.0, np.arange(ROWS) % 19 * 1.0),
    ("number as target", [0.5, 1.5] * 200, [1.0, 2.0] * 200),
    ("number as target", np.arange(ROWS) % 51, np.arange(ROWS) % 50),
    ("one class", ["a"] * ROWS, ["a", "b"] * 200),
    ("no label", [None, *COIN[1:]], COIN),
    ("rare class", ["a"] * 9 + ["b"] * 391, ["a"] * 10 + ["b"] * 390),
    ("sorted", np.sort(COIN), COIN),
]


@pytest.mark.parametrize(("kind", "has", "barely_not"), OF_TARGETS)
def test_targets(kind, has, barely_not):
    assert (None, kind) in alerts({"colour": COLOUR}, has)
    assert (None, kind) not in alerts({"colour": COLOUR}, barely_not)


def test_whole_numbers_that_tell_more_in_their_order():
    assert ("x", "whole numbers") in alerts({"x": NUMBER}, BY_ORDER)
    assert ("x", "whole numbers") not in alerts({"x": PARITY}, BY_NAME)
    assert ("x", "whole numbers") not in alerts({"x": NUMBER}, BY_ORDER, categorical_features=["x"])


def test_a_table_of_nothing_but_ids():
    assert (None, "nothing but ids") in alerts({"x": unique(ROWS), "z": unique(380)})
    assert (None, "nothing but ids") not in alerts({"x": unique(ROWS), "colour": COLOUR})


def test_fewer_than_twenty_rows_have_no_ids():
    few = COIN[:20]
    assert ("x", "id") in alerts({"x": unique(20, 20)}, few)
    assert ("x", "id") not in alerts({"x": unique(19, 19)}, few[:19])


def test_fewer_than_three_hundred_rows_have_no_leaks():
    assert ("x", "leak") in alerts({"x": COIN[:300], "c": COLOUR[:300]}, COIN[:300])
    assert ("x", "leak") not in alerts({"x": COIN[:299], "c": COLOUR[:299]}, COIN[:299])


def test_numbers_are_no_ids_if_the_user_says_so():
    assert ("x", "id") not in alerts({"x": range(ROWS)}, numeric_features=["x"])


def test_a_clean_table_has_none():
    columns = {"colour": COLOUR, "size": random.normal(size=ROWS).round(2), "n": random.integers(0, 9, ROWS)}
    assert alerts(columns) == set()
    assert alerts(columns, None) == set()


def test_classes_with_one_row_are_told_once():
    found = describe(pd.DataFrame({"c": COLOUR}), np.arange(ROWS)).alerts
    assert [alert.kind for alert in found] == ["no classes"]


def test_classes_are_counted_in_all_rows_and_not_in_a_sample():
    y = [f"c{n // 2}" for n in range(60_000)]
    X = pd.DataFrame({"c": np.resize(COLOUR, 60_000)})
    assert (None, "no classes") not in alerts(X, y)
    assert (None, "no classes") in alerts(X, [*y[:20_000], *(f"d{n}" for n in range(40_000))])


def test_names_that_would_act_on_a_terminal_are_written_out():
    (alert,) = (a for a in describe(pd.DataFrame({"a\x1b[2J": ["x"] * ROWS, "c": COLOUR}), COIN).alerts)
    assert "\x1b" not in str(alert)
    assert alert.column == "a\x1b[2J"


def test_alerts_of_one_kind_are_told_together_if_they_are_many():
    def of(kind, names):
        return [Alert(name, kind, f"{name} is odd.", "Mend it.") for name in names]

    apart = together([*of("p", "ab"), *of("q", "c")])
    assert [paragraph.text for paragraph in apart] == [f"{name} is odd. Mend it." for name in "abc"]
    (one,) = together(of("p", [f"c{n}" for n in range(20)]))
    assert one.number == 20
    assert one.text.startswith("c0 is odd. Mend it. So it is with c1, c2")
    assert one.text.endswith("and 11 more.")
