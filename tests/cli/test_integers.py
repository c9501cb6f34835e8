"""Which integers were taken for numbers is said, and can be overruled either way."""

import json

import numpy as np
import pytest

from commands import run, write_csv
from hebnb import load


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """Minutes, in which neighbours are alike, and shops, in which they are not."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(3)
    minute, shop = random.integers(1440, size=3_000), random.integers(60, size=3_000)
    late = np.where(minute > 900, 0.8, 0.2) + np.where(random.permutation(60)[shop] < 30, 0.15, -0.15)
    y = np.where(random.random(3_000) < late, "late", "early")
    columns = {"minute": minute.astype(str).tolist(), "shop": shop.astype(str).tolist(), "y": y.tolist()}
    write_csv("t.csv", columns)


def kinds():
    features = json.loads(run("inspect", "model.skops", "--json").stdout)["features"]
    return {feature["name"]: feature["kind"] for feature in features}


def test_what_was_taken_for_numbers_is_said():
    said = run("fit", "t.csv", "-t", "y").stderr
    assert "Integers taken for numbers, which tell more so: minute." in said
    assert "--categorical COL" in said
    assert "--numeric COL" in said
    assert load("model.skops").integers_as_numbers_ == ["minute"]
    assert kinds() == {"minute": "integers, cut", "shop": "integers"}
    assert "integers, cut" in run("inspect", "model.skops").stdout
    found = json.loads(run("fit", "t.csv", "-t", "y", "--overwrite", "--json").stdout)
    assert found["integers_as_numbers"] == ["minute"]


def test_it_can_be_overruled_either_way():
    said = run("fit", "t.csv", "-t", "y", "--categorical", "minute", "--numeric", "shop").stderr
    assert "taken for numbers" not in said
    model = load("model.skops")
    assert model.integers_as_numbers_ == []
    assert kinds() == {"minute": "text", "shop": "numbers, cut"}
    assert list(model.bin_edges_) == ["shop"]
    run("predict", "model.skops", "t.csv", "-o", "out.csv", "--strict")


def test_other_methods_take_integers_for_categories():
    said = run("fit", "t.csv", "-t", "y", "-m", "NB+loo").stderr
    assert "taken for numbers" not in said
    assert kinds() == {"minute": "integers", "shop": "integers"}
