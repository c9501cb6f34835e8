"""The tables of future work: what is compared differs as they say, is kept, and is counted right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pd = pytest.importorskip("pandas")
pytest.importorskip("scikit_posthocs")
pytest.importorskip("rich")

from hebnb.study import future
from hebnb.study.__main__ import main
from hebnb.study.protocol import Settings, parted
from hebnb.study.registry import FLIGHTS, Dataset
from hebnb.study.sources import Bundled, Raw

SETTINGS = Settings(400, 3)


def raw_table(rows=300, numbers=True):
    random = np.random.default_rng(0)
    size = random.normal(size=rows)
    X = pd.DataFrame({"name": random.choice(list("abc"), rows)} | ({"size": size} if numbers else {}))
    return Raw(X, pd.Series(np.where(size > 0, "large", "small")), frozenset(), "made")


def toy(rows=300):
    return Dataset("toy", 0, "low", rows, 2, 2)


def test_numbers_are_ten_categories_or_themselves():
    raw = raw_table()
    cut, tree = future.of_numbers(toy(), raw, SETTINGS)
    train, test = parted(cut.labels, SETTINGS, 0)
    assert_array_equal(tree.table(train)["x1"], raw.X["size"])
    codes = cut.table(train)["x1"].to_numpy()
    assert np.bincount(codes[train]).tolist() == [20] * 10
    assert (np.diff(codes[np.argsort(raw.X["size"])]) >= 0).all()
    assert_array_equal(cut.table(train)["x0"], tree.table(train)["x0"])
    for side in (cut, tree):
        model = side.model.fit(side.table(train).iloc[train], side.labels[train])
        is_cut = "x1" in model.bin_edges_
        assert is_cut == (side is tree)
        measures = side.measure(SETTINGS, 0)
        assert measures["log-loss"] < 0.2
        assert measures["ECE by chance"] > 0
    assert len(test) == 100


def test_without_numbers_nothing_is_compared():
    assert list(future.of_numbers(toy(), raw_table(numbers=False), SETTINGS)) == []


def test_sides_of_a_hierarchy_differ_in_it_alone():
    raw = Bundled().load(FLIGHTS)
    sides = {side.method: side for side in future.with_trees(FLIGHTS, raw, SETTINGS)}
    assert set(sides) == {"flat", "tree", "flat, alone", "tree, alone"}
    for ending in ("", ", alone"):
        flat, tree = (sides[side + ending] for side in ("flat", "tree"))
        assert flat.model.get_params() | {"hierarchies": tree.model.hierarchies} == tree.model.get_params()
        assert flat.model.hierarchies is None
        assert flat.table(np.arange(3)).equals(tree.table(np.arange(3)))
    assert list(sides["flat, alone"].table(np.arange(3)).columns) == list(future.TREES["flights"])


def test_a_value_is_below_that_which_most_of_its_rows_have():
    X = pd.DataFrame({"ad": [1, 1, 1, 2], "shop": [7, 7, 8, 9]})
    assert future._under("ad", "shop")(X) == {"value": ["1", "2"], "parent": ["shop 7", "shop 9"]}


def test_every_country_has_one_region():
    (regions,) = (hierarchy(None) for hierarchy in future.TREES["adult"].values())
    assert len(regions) == sum(map(len, future._REGIONS.values())) == 41


def results(losses):
    """Results of two methods on datasets, one fold each; all measures are the same."""
    return pd.DataFrame(
        {"dataset": f"d{n}", "method": method, "bins": 10, "fold": 0, "ECE by chance": 0.01}
        | dict.fromkeys(future.MEASURES, loss)
        for method, own in losses.items()
        for n, loss in enumerate(own)
    )


def test_pairs_are_counted_and_averaged():
    found = results({future.NUMBERS: [0.1, 0.2, 0.6], future.CUT: [0.2, 0.4, 0.5]})
    table = future.paired_table(found, "t", "", [(future.NUMBERS, future.CUT)])
    row = f"{future.NUMBERS} against {future.CUT}, log-loss"
    assert [table.ours[row, column] for column in ("wins", "losses")] == [2, 1]
    assert_allclose([table.ours[row, column] for column in ("mean", "other's mean")], [0.3, 1.1 / 3])
    assert table.ours[row, "median change, %"] == pytest.approx(-50)
    accuracy = f"{future.NUMBERS} against {future.CUT}, accuracy"
    assert [table.ours[accuracy, column] for column in ("wins", "losses")] == [1, 2]  # more is better
    assert table.ours[f"{future.NUMBERS} against {future.CUT}, ECE", "by chance"] == pytest.approx(0.01)
    lines = future.by_dataset(found, "t", "").ours
    assert lines["d2", "change, %"] == pytest.approx(20)


def test_folds_of_hierarchies_are_counted():
    found = pd.concat([results({"flat": [0.5], "tree": [0.4]}), results({"flat": [0.5], "tree": [0.6]}).assign(fold=1)])
    ours = future.trees_table(found).ours
    assert (ours["d0", "wins"], ours["d0", "losses"]) == (1, 1)
    assert ours["d0", "change, %"] == pytest.approx(0)


def test_from_the_command_line_to_tables_and_a_second_run_does_nothing(tmp_path, capsys, monkeypatch):
    arguments = ["--future-work", "--quick", "--datasets", "flights", "--output", str(tmp_path), "--jobs", "1"]
    assert main(arguments) == 0
    table = (tmp_path / "tables" / "future-trees.md").read_text()
    assert "| flights |" in table
    assert "| flights, alone |" in table
    assert "Hierarchies of categories" in capsys.readouterr().err

    def fail(*_):
        raise AssertionError("it was measured before")

    monkeypatch.setattr(future.Side, "measure", fail)
    assert main(arguments) == 0
    assert (tmp_path / "tables" / "future-trees.md").read_text() == table
    assert main([*arguments, "--force"]) == 1
    assert "it was measured before" in capsys.readouterr().err
