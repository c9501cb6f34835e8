"""What is on the page, and what is not: no value that few rows have, and no row, unless they are asked for."""

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import hebnb
from hebnb.cli.app import app
from hebnb.cli.report import report as command
from hebnb.page.comparison import Comparison

# Each stands in fewer than five rows.
SECRETS = ["Ada Lovelace", "Grace Hopper", "Emmy Noether"]
RARE_CLASS = "a class of its own"


@pytest.fixture(scope="module")
def table():
    """People with names, some of them rare, a number that tells more with the names' first letters, and a date."""
    random = np.random.default_rng(0)
    n = 400
    name = random.choice(["Kimberley", "Leonardo", "Maximilian", "Samantha"], n).astype(object)
    other = random.choice(["left", "right"], n).astype(object)
    y = np.where(
        ((name == "Kimberley") | (name == "Maximilian")) ^ (other == "left") ^ (random.random(n) < 0.1), "in", "out"
    )
    y = y.astype(object)
    for k, secret in enumerate(SECRETS):
        name[4 * k : 4 * k + 4 - k] = secret
    y[100:104] = RARE_CLASS
    born = [f"19{40 + k % 50}-0{1 + k % 9}-11" for k in range(n)]
    born[0] = "1815-12-10"
    return pd.DataFrame({"name": name, "side": other, "size": random.normal(size=n), "born": born, "y": y})


def held(page):
    """Everything that a page holds as text: as it stands, with JSON undone, and with what it packs unpacked."""
    data = json.loads(re.search(r'id="model">(.*?)</script>', page, re.DOTALL)[1])
    found = [page, json.dumps(data, ensure_ascii=False)]

    def walk(part):
        for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
            if isinstance(value, dict) and "bytes" in value:
                found.append(zlib.decompress(b64decode(value["bytes"])).decode("latin-1"))
            walk(value)

    walk(data)
    return "\n".join(found)


def written(table, folder, *more):
    """The page that the command writes."""
    table.to_csv(folder / "people.csv", index=False)
    path = folder / f"page{len(list(folder.iterdir()))}.html"
    words = ["report", str(folder / "people.csv"), "-t", "y", "-o", str(path), "--folds", "2", *more]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("best", ["Evidence", "AODE+loo", "KDB+loo", "NB+loo"])
def test_rare_values_are_nowhere_on_the_page(best, table, tmp_path, monkeypatch):
    """Whatever model the explorer has: in no table, no drawing, no alert, and not in what is packed."""
    monkeypatch.setattr(Comparison, "best", property(lambda self: self.result(best)))
    page = held(written(table, tmp_path))
    assert "Kimberley" in page
    for secret in (*SECRETS, *(name.split(" ")[1] for name in SECRETS), RARE_CLASS, "1815-12-10"):
        assert secret not in page
    assert "(rare class 1)" in page


def test_fewer_rows_can_be_asked_for(table, tmp_path):
    page = held(written(table, tmp_path, "--min-count", "4"))
    assert SECRETS[0] in page
    assert SECRETS[1] not in page
    assert RARE_CLASS in page
    assert all(secret in held(written(table, tmp_path, "--min-count", "1")) for secret in SECRETS)
    assert "Kimberley" not in held(written(table, tmp_path, "--min-count", "300"))


def test_rows_are_on_the_page_only_if_asked_for(table, tmp_path):
    without, with_rows = written(table, tmp_path), written(table, tmp_path, "--include-rows")
    models = [json.loads(re.search(r'id="model">(.*?)</script>', page, re.DOTALL)[1]) for page in (without, with_rows)]
    assert "examples" not in models[0]
    assert "examples" in models[1]
    assert len(models[1]["exampleLabels"]) == 200
    assert "no row of the table" in without
    assert "some rows of the table" in with_rows
    # Rare values stay away from the rows too: there is no choice that they could be.
    assert SECRETS[0] not in held(with_rows)


def test_small_bins_are_offered_together(table, open_page):
    """Every bin that is offered has at least so many rows, together they have all, and numbers lead to theirs."""
    page = hebnb.report(table.drop(columns="y"), table["y"], folds=2)
    data = json.loads(re.search(r'id="model">(.*?)</script>', page.html, re.DOTALL)[1])
    size = next(feature for feature in data["features"] if feature["name"] == "size")
    shown = open_page(page.html)
    shown.click("#reset")  # so that the list begins with the first
    shown.locator("#value-2").click()
    rows = shown.locator("#list-2 [role=option] span:last-child").all_text_contents()
    offered = [int(count) for count in rows[1:]]  # the first is no value at all
    assert min(offered) >= 5
    edges = np.array(size["edges"])
    counts = np.bincount(np.searchsorted(edges, table["size"]), minlength=len(edges) + 1)
    assert counts.tolist()[: len(offered)] == offered[: len(counts)]
    assert counts.min() >= 5


def test_the_page_without_rows_offers_values_that_occur(table, open_page):
    page = open_page(hebnb.report(table[["name", "side"]], table["y"], folds=2).html)
    assert page.locator("#random").text_content() == "Random values"
    known = {"Kimberley", "Leonardo", "Maximilian", "Samantha"}
    seen = set()
    for _ in range(12):
        page.click("#random")
        seen.add(page.locator("#value-0").input_value())
        assert "each column by itself" in page.text_content("#status")
    assert seen <= known
    assert len(seen) > 1


def test_provenance_says_where_a_page_comes_from(table, tmp_path):
    page = written(table, tmp_path, "--seed", "7", "--numeric", "size")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index('id="provenance"') :]))
    assert "people.csv" in text
    assert str(tmp_path) not in page
    assert "400 with a label" in text
    assert re.search(
        r"hebnb report people\.csv --target y --output page\d+\.html .*--numeric size --folds 2 .*--seed 7", text
    )
    assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", text)
    assert f"hebnb {hebnb.__version__}" in text
    assert "scikit-learn" in text
    assert "text: categories" in text
    assert "floats, said to be numbers: a tree of bins" in text or "floats: a tree of bins" in text


def test_help_guide_and_page_agree_on_what_the_page_holds(table, tmp_path):
    """Told in three places, with the same words for what is on the page and how to change it."""
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    part = re.sub(r"\s+", " ", guide[guide.index("## The report page") : guide.index("## Tables in files")])
    told = re.sub(r"\s+", " ", command.__doc__)
    page = re.sub(r"\s+", " ", written(table, tmp_path))
    for words in ("names of columns", "how many rows have them, alone and together", "the ends of bins"):
        assert words in told
        assert words in part
        assert words in page
    for option in ("--min-count", "--include-rows"):
        assert option in told
        assert option in part
    assert "at least five rows" in told
    assert "at least five rows" in part
    assert "at least 5 rows" in page


@pytest.mark.parametrize("model", [hebnb.EvidenceClassifier(), hebnb.AODE(weighting="loo"), hebnb.KDB()], ids=repr)
def test_columns_of_which_nothing_may_be_named(model, open_page):
    """Ids, and whole numbers that are all different: cards and explorer go on without a single value of them."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"person {k}" for k in range(200)], "code": 7 * np.arange(200), "x": ["u", "v"] * 100})
    y = np.where((X["x"] == "u") ^ (random.random(200) < 0.2), "in", "out").astype(object)
    html = hebnb.report(model.fit(X, y)).html
    assert not re.search(r"person \d", held(html))
    page = open_page(html)
    page.click("#random")
    page.locator("#value-0").fill("person 3")
    page.keyboard.press("Tab")
    assert "fewer than 5 rows" in page.text_content("#status")
    row = X[:1].assign(id="person of no rows", code=-1, x=page.locator("#value-2").input_value())
    if "code" not in getattr(model, "integers_as_numbers_", ()):
        found = page.eval_on_selector_all("#probabilities .value", "all => all.map(o => Number(o.dataset.value))")
        np.testing.assert_allclose(sorted(found), sorted(model.predict_proba(row)[0]), atol=1e-9)
