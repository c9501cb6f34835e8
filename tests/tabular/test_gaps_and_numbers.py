"""Gaps and numbers as people and their programs write them."""

import itertools
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import predicted, run, write_csv
from conftest import examples
from hebnb import load
from hebnb.errors import InputError
from hebnb.tabular.files import open_table
from hebnb.tabular.gaps import GAP_WORDS
from hebnb.tabular.numbers import Notation

WORDS = ["NA", "N/A", "n/a", "NaN", "nan", "<NA>", "None", "NaT", "#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?",
         "#NUM!", "#NULL!", ".", r"\N", "?", "NULL", "null", "-", "--", " ", "", " NA "]  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(rows, separator=";", name="t.csv"):
    Path(name).write_text("\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")


def read(name="t.csv", **how):
    """Values by column, types, and what is said."""
    with open_table(name, **how) as table:
        types = dict(zip(table.columns, map(str, table.relation.types), strict=True))
        return table.collect().to_pydict(), types, table.decisions.told(table.columns)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_for_a_gap_is_one_but_in_text(word):
    write(
        [
            ["i", "f", "b", "d", "t"],
            ["1", "2.5", "true", "2024-01-02", "x"],
            [word] * 5,
            ["3", "4", "False", "2024-03-01", "y"],
        ]
    )
    found, types, said = read()
    assert types == {"i": "BIGINT", "f": "DOUBLE", "b": "BOOLEAN", "d": "DATE", "t": "VARCHAR"}
    assert [found[name][1] for name in "ifbd"] == [None] * 4
    assert found["i"] == [1, None, 3]
    assert found["t"][1] == (word or None)
    if word:
        shown = word.strip() if any(map(str.isalnum, word)) else f"'{word}'" if word.strip() else "spaces"
        assert f"Columns 'i', 'f', 'b' and 'd': 4 gaps written as {shown}." in said


def test_words_in_text_are_told():
    write([["t", "y"], ["NA", "p"], ["x", "q"], ["NA", "p"], ["", "q"]])
    assert read()[2] == ["Column 't': 'NA' in 2 rows is a category, because this is text; na NA makes it a gap."]
    assert read(gaps=["NA"])[0]["t"] == [None, "x", None, None]
    said = run("fit", "t.csv", "-t", "y", "-m", "heb-m").stderr
    assert "--na NA makes it a gap" in said


def test_what_the_user_says_is_a_gap_everywhere():
    write([["i", "t"], ["1", "x"], ["-99", "-99"], ["none of them", "none of them"], ["4", "y"]])
    found, types, _ = read(gaps=["-99", "none of them"])
    assert found == {"i": [1, None, None, 4], "t": ["x", None, None, "y"]}
    assert types["i"] == "BIGINT"


def test_a_model_remembers_what_means_a_gap():
    write_csv("t.csv", {"x": ["1.5", "NA", "2.5", "7.5"] * 10, "t": ["a", "k.A.", "b", "a"] * 10, "y": ["p", "q"] * 20})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m", "--na", "k.A.", "--na", "other")
    assert load("model.skops")._learned.written.gaps == ("k.A.", "other")
    write_csv("gaps.csv", {"x": ["", ""], "t": ["", ""]})
    write_csv("new.csv", {"x": ["NA", "#N/A"], "t": ["k.A.", "other"]})
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": pa.array([None, None], pa.float64()), "t": ["k.A.", "other"]}), "new.parquet")
    expected = [row["proba_p"] for row in predicted("model.skops", "gaps.csv")]
    for path in ("new.csv", "new.parquet"):
        assert [row["proba_p"] for row in predicted("model.skops", path)] == expected
    assert predicted("model.skops", "new.csv")[0]["x"] == "NA"  # and is passed on as it stands


# How a number is written in each notation, independently of how it is read.
def as_written(number, decimal, mark):
    whole, _, fraction = f"{number:,}".partition(".")
    return whole.replace(",", mark) + (decimal + fraction if fraction else "")


@given(
    st.lists(st.decimals(-(10**7), 10**7, places=2).map(float), min_size=1, max_size=12),
    st.sampled_from(
        [(",", "."), (",", ""), (",", " "), (",", "\u00a0"), (".", ","), (".", "'"), (".", "\u202f"), (",", "’")]
    ),
    st.sampled_from(["", "%", "€", "$"]),
)
@examples(60)
def test_numbers_are_what_was_written(tmp_path_factory, numbers, marks, sign):
    numbers = [*numbers, 0.25]  # what shows which mark is the decimal one
    path = tmp_path_factory.mktemp("n") / "t.csv"
    texts = [f"{as_written(number, *marks)}{' ' if sign else ''}{sign}" for number in numbers]
    write([["n", "k"], *([text, "k"] for text in texts)], name=path)
    found = read(str(path))[0]["n"]
    assert found == [float(f"{number!r}e-2") if sign == "%" else number for number in numbers]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3,14", "2,7"], [3.14, 2.7]),
        (["1,234", "1,234,567"], [1234, 1234567]),
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1.234", "0.5"], [1.234, 0.5]),
        (["1'234.5", "3"], [1234.5, 3]),
        (["$1,234.00", "-$5", "$ 2"], [1234, -5, 2]),
        (["€ 12,50", "1.000,00 €"], [12.5, 1000]),
        (["−5", "1 000"], [-5, 1000]),
        (["12 %", "3,5%"], [0.12, 0.035]),
        (["030 123 456", "555 123 456"], None),
        (["1,2,3", "1,2"], None),
        (["1.2.2024x", "5"], None),
        (["$5", "€5"], None),
        (["12 %", "12"], None),
    ],
)  # fmt: skip
def test_notations(texts, expected):
    write([["n", "k"], *([text, "k"] for text in texts)], "|")
    assert read()[0]["n"] == (texts if expected is None else expected)


def test_what_a_column_leaves_open_others_decide():
    unclear = ["1,234", "2,345"]
    write([["n", "k"], *([text, "k"] for text in unclear)], "|")
    with open_table("t.csv") as table:
        assert table.collect()["n"].to_pylist() == [1234, 2345]
        assert table.decisions.readings.unsure["n"].decimal == ","
    write([["n", "k"], *([text, "k"] for text in unclear)])  # semicolons are for decimal commas
    assert read()[0]["n"] == [1.234, 2.345]
    for decimal, others, expected in [(",", ["0,5", "7"], [1.234, 2.345]), (".", ["0.5", "7"], [1234, 2345])]:
        for separator in "|;":
            write([["n", "k"], *zip(unclear, others, strict=True)], separator)
            assert read()[0]["n"] == expected
            write([["n", "k"], *([text, "k"] for text in unclear)], separator)
            assert read(decimal=decimal)[0]["n"] == expected
    points = ["1.234", "2.345"]
    write([["n", "k"], *([text, "k"] for text in points)])
    assert read()[0]["n"] == [1.234, 2.345]
    write([["n", "k"], *zip(points, ["0,5", "7"], strict=True)])
    assert read()[0]["n"] == [1234, 2345]


def test_an_assumption_is_told_and_a_model_is_not_made_to_assume():
    rows = [["n", "y"], *([f"{n},{n}00", "pq"[n % 2]] for n in range(1, 9))]
    write(rows, "|")
    said = " ".join(run("fit", "t.csv", "-t", "y", "-m", "heb-m").stderr.split())
    assert "Note: Column 'n': its values are taken for whole numbers with marks between thousands" in said
    assert "say --decimal ','" in said
    assert load("model.skops")._learned.written.formats == {"n": "1,234.5"}
    write([["n", "k"], ["5,500", "k"]], "|", "new.csv")
    assert len(predicted("model.skops", "new.csv", "--keep", "n")) == 1
    write([["n", "y"], *([str(1100 * n), "pq"[n % 2]] for n in range(1, 9))], "|")
    run("fit", "t.csv", "-t", "y", "-m", "heb-m", "--overwrite")
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "Column 'n' does not fit the model: it could be" in said
    assert "--decimal" in said
    assert len(predicted("model.skops", "new.csv", "--decimal", ".")) == 1


def test_a_later_file_is_read_as_the_first_was():
    """1.234 alone is the number 1234 where the model learned so."""
    numbers = [1000 * n + 0.5 for n in range(40)]
    write([["n", "y"], *([as_written(n, ",", "."), "early" if n < 20_000 else "late"] for n in numbers)])
    said = run("fit", "t.csv", "-t", "y", "-m", "heb-m").stderr
    assert "Column 'n': numbers with a decimal comma." in said
    write([["n", "k"], ["39.000", "k"], ["1.000", "k"]], ";", "new.csv")
    found = predicted("model.skops", "new.csv")
    assert [row["prediction"] for row in found] == ["late", "early"]
    assert "decimal" not in run("predict", "model.skops", "new.csv").stderr
    write([["n", "k"], ["39000.25", "k"]], ";", "new.csv")
    said = run("predict", "model.skops", "new.csv", code=1).stderr
    assert "row 1 has '39000.25', and the model learned numbers with a decimal comma" in said
    assert predicted("model.skops", "new.csv", "--decimal", ".")[0]["prediction"] == "late"


@pytest.mark.parametrize("word", ["abc", "1_000", "12 apples", "2024-01-01"])
@pytest.mark.parametrize("learned", [["1", "2", "3", "4"], ["1.5", "2.5", "3.5", "4.25"]])
def test_a_value_that_is_no_number_is_named(word, learned):
    write_csv("t.csv", {"x": learned * 10, "y": ["p", "q"] * 20})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    write_csv("new.csv", {"x": ["1", "NA", word, "2"]})
    for command in ("predict", "explain"):
        said = run(command, "model.skops", "new.csv", code=1).stderr
        assert f"Column 'x' does not fit the model: row 3 has {word!r}, and the model learned numbers." in said
        assert "--na" in said


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_value_that_is_neither_true_nor_false_is_named(ending):
    import pandas as pd

    write_csv("t.csv", {"x": ["true", "false"] * 20, "y": ["p", "q"] * 20})
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    frame = pd.DataFrame({"x": ["true", "maybe", "false"]})
    writers = {"csv": frame.to_csv, "parquet": frame.to_parquet, "jsonl": frame.to_json}
    arguments = {"jsonl": {"orient": "records", "lines": True}}.get(ending, {"index": False})
    writers[ending](f"new.{ending}", **arguments)
    assert "row 2 has 'maybe'" in run("predict", "model.skops", f"new.{ending}", code=1).stderr
    assert "row 2 has 'maybe'" in run("explain", "model.skops", f"new.{ending}", "--row", "1", code=1).stderr


def test_nearly_numbers_are_told():
    write_csv("t.csv", {"k": [str(n) for n in range(50)] + ["Total"], "v": [str(3 * n) for n in range(51)]})
    _, types, said = read()
    assert types == {"k": "VARCHAR", "v": "BIGINT"}
    assert said == [
        "Column 'k': text and not numbers, because of 1 value, 'Total' in row 51. If that is a gap, say na Total."
    ]
    assert read(gaps=["Total"])[1]["k"] == "BIGINT"


def test_no_word_for_a_gap_is_a_number_or_truth():
    """In no notation: what is written for a gap must not be counted as a value."""
    import duckdb

    words = ", ".join("('" + word.replace("'", "''") + "')" for word in GAP_WORDS)
    table = duckdb.sql(f"SELECT * FROM (VALUES {words}) t(x)")
    for decimal, sign in itertools.product(".,", ["", "%", "€"]):
        assert table.filter(Notation(decimal, sign).fits("x")).fetchall() == []


def test_far_down_in_a_file():
    rows = 120_000
    columns = {"a": ["1"] * (rows - 1) + ["NA"], "b": ["1"] * (rows - 1) + ["1,5"], "c": ["x"] * rows}
    write([list(columns), *map(list, zip(*columns.values(), strict=True))])
    with open_table("t.csv") as table:
        assert dict(zip(table.columns, map(str, table.relation.types), strict=True)) == {
            "a": "BIGINT", "b": "DOUBLE", "c": "VARCHAR"}  # fmt: skip
        assert table.slice(rows - 1, 1).to_pylist() == [{"a": None, "b": 1.5, "c": "x"}]
        said = table.decisions.told(table.columns)
    assert said == ["Column 'a': 1 gap written as NA.", "Column 'b': numbers with a decimal comma."]


COMMA = {"x": "1.234,5"}


@pytest.mark.parametrize(
    ("cells", "known", "decimal", "expected"),
    [
        (["1,50", "-", "1.234", "12"], COMMA, None, [1.5, None, 1234, 12]),
        (["1.50", "2.25"], COMMA, None, [1.5, 2.25]),
        ([1.234, 12], COMMA, None, [1.234, 12]),
        ([1.234, "12"], COMMA, None, [1.234, 12]),
        (["1,50 €", "2,00 €"], {"x": "1.234,5 €"}, None, [1.5, 2]),
        (["1,50", "2,25"], {"x": None}, ",", [1.5, 2.25]),
        (["1.234", "2.500"], COMMA, ".", [1.234, 2.5]),
        ([1.234, 2.5], {"x": None}, ",", [1.234, 2.5]),
    ],
)
def test_numbers_in_the_text_of_a_workbook_are_read_as_a_model_learned_them(cells, known, decimal, expected):
    """Cells that are numbers have a value, and no notation changes it."""
    pd.DataFrame({"x": pd.Series(cells, dtype=object)}).to_excel("t.xlsx", index=False)
    assert read("t.xlsx", numbers=known, decimal=decimal)[0]["x"] == expected


def test_text_with_one_number_among_it_has_no_notation_but_the_usual():
    pd.DataFrame({"x": ["1,50", 1.234]}).to_excel("t.xlsx", index=False)
    with pytest.raises(InputError, match="'1,50'"):
        read("t.xlsx", numbers=COMMA)
