"""Text is text: only true and false become booleans, and a model learned from either takes the other."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from commands import predicted, run, write_csv
from hebnb import NaiveBayes, load, save
from hebnb.tabular.files import open_table


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def probabilities(path):
    return [float(row["proba_p"]) for row in predicted("model.skops", path)]


@pytest.mark.parametrize(("true", "false"), [("yes", "no"), ("T", "F"), ("Yes", "NO"), ("t", "f")])
def test_words_stay_words(true, false):
    frame = pd.DataFrame({"f": [true, false, true, true] * 10, "y": ["p", "q", "p", "q"] * 10})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    with open_table("t.csv") as table:
        assert table.collect()["f"].to_pylist() == frame["f"].tolist()
    run("fit", "t.csv", "-t", "y", "-m", "heb-m")
    expected = probabilities("t.csv")
    assert len(set(expected)) == 2
    assert_allclose(probabilities("t.parquet"), expected)
    assert_allclose(load("model.skops").predict_proba(frame[["f"]])[:, 0], expected)
    write_csv("new.csv", {"f": [true, "maybe"]})
    assert_allclose(probabilities("new.csv")[0], expected[0])


@pytest.mark.parametrize(("true", "false"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("yes", "no")])
def test_a_model_of_either_form_takes_the_other(true, false):
    truths = [True, False, True, True] * 10
    y = ["p", "q", "p", "q"] * 10
    words = [true if one else false for one in truths]
    write_csv("words.csv", {"f": words})
    pd.DataFrame({"f": words}).to_parquet("words.parquet")
    pd.DataFrame({"f": truths}).to_parquet("truths.parquet")
    for learned in (truths, words):
        save(NaiveBayes().fit(pd.DataFrame({"f": learned}), y), "model.skops")
        expected = NaiveBayes().fit(pd.DataFrame({"f": words}), y).predict_proba(pd.DataFrame({"f": words}))[:, 0]
        for path in ("words.csv", "words.parquet", "truths.parquet"):
            assert_allclose(probabilities(path), expected, err_msg=f"{learned[:2]} {path}")


def test_true_and_false_are_booleans():
    write_csv("t.csv", {"f": ["True", "false", "", "TRUE"], "g": ["1", "0", "1", "0"]})
    with open_table("t.csv") as table:
        assert table.collect().to_pydict() == {"f": [True, False, None, True], "g": [1, 0, 1, 0]}


def test_types_that_break_far_down_become_the_next_wider():
    rows = 150_000
    columns = {
        "whole": [str(n) for n in range(rows)],
        "half": ["1"] * (rows - 1) + ["1.5"],
        "truth": ["true"] * (rows - 1) + ["maybe"],
        "code": ["12"] * (rows - 1) + ["1_2"],
        "day": ["2024-01-01"] * (rows - 1) + ["2024-01-01 10:00:00"],
        "word": ["7"] * (rows - 1) + ["x7"],
    }
    write_csv("t.csv", columns)
    with open_table("t.csv") as table:
        types = dict(zip(table.columns, map(str, table.relation.types), strict=True))
        last = table.slice(rows - 1, 1).to_pylist()[0]
    assert types == {"whole": "BIGINT", "half": "DOUBLE", "truth": "VARCHAR", "code": "VARCHAR", "day": "TIMESTAMP",
                     "word": "VARCHAR"}  # fmt: skip
    assert (last["half"], last["truth"], last["code"], last["word"]) == (1.5, "maybe", "1_2", "x7")
    assert last["day"].hour == 10
