"""A few cases of the soak, so that it runs when somebody wants an hour of it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
soak = pytest.importorskip("soak", reason="the soak needs all libraries of tables, and onnxruntime")
from soak_tables import case_of


@pytest.mark.parametrize("seed", range(12))
def test_a_few_cases(seed):
    tally = soak.Tally()
    soak.soak(seed, tally, [name for name in soak.CHECKS if name != "a page is made"])
    assert not tally.broken
    assert tally.held["probabilities are probabilities"] == tally.held["nonsense is refused"] == 1


def test_a_case_follows_from_its_seed():
    first, again = case_of(7), case_of(7)
    assert str(first) == str(again)
    assert first.X.equals(again.X)
    assert first.new.equals(again.new)


def test_a_broken_law_is_reported_with_its_seed(monkeypatch, capsys):
    def broken(learned):
        raise ZeroDivisionError("not an error of hebnb")

    monkeypatch.setitem(soak.CHECKS, "broken", (broken, 1))
    monkeypatch.setattr(sys, "argv", ["soak.py", "--seed", "3", "--cases", "2", "--check", "broken"])
    assert soak.main() == 1
    told = capsys.readouterr().out
    assert "ZeroDivisionError: not an error of hebnb" in told
    assert "--seed 3 --cases 1 --check 'broken'" in told
    assert "1 cases from seed 3" in told
