"""The examples of the gallery run from top to bottom, say something, and draw."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


def test_there_are_eight_in_order():
    assert [path.name.split("_")[1] for path in EXAMPLES] == list("12345678")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example(path, capsys, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    drawn = []

    def show():
        """What pyplot would show: figures with something in them."""
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert figures
        assert all(axis.has_data() for figure in figures for axis in figure.axes)
        drawn.extend(figures)
        plt.close("all")

    monkeypatch.setattr(plt, "show", show)
    try:
        runpy.run_path(str(path))
    finally:
        plt.close("all")
    assert drawn
    said = capsys.readouterr().out
    assert len(said.splitlines()) >= 3
    # What an example finds equal on the spot has to be.
    assert not re.search(r"same[\w ]*: False", said)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_begins_with_a_title_and_is_told_in_pieces(path):
    text = path.read_text(encoding="utf-8")
    title, rule = text.splitlines()[1:3]
    assert re.fullmatch("=+", rule)
    assert len(rule) == len(title)
    assert text.count("\n# %%\n") >= 4
