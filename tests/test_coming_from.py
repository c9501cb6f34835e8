"""The programs on docs/coming-from.md that can be run here do run."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
THEIRS_NOT_INSTALLED = ("catboost", "optbinning")
RUNNABLE = [block for block in BLOCKS if not any(f"from {name}" in block for name in THEIRS_NOT_INSTALLED)]


def test_every_section_has_both_sides():
    sections = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(sections) == 4
    for section in sections:
        sides = re.search(r'<div class="sides">(.*?)</div>', section, re.DOTALL)[1]
        assert len(re.findall(r"```(?:python|sh)\n", sides)) == 2
    assert len(RUNNABLE) == 5


@pytest.mark.parametrize("block", RUNNABLE, ids=lambda block: block.splitlines()[0])
def test_a_program(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "shop": rng.choice([f"s{n}" for n in range(20)], 300),
            "colour": rng.choice(["red", "blue"], 300),
            "price": rng.gamma(2, 10, 300),
        }
    )
    labels = pd.Series(np.where(rng.random(300) < 0.3 + 0.4 * (table["colour"] == "red"), "good", "bad"))
    exec(compile(block, PAGE.name, "exec"), {"X_train": table[:250], "y_train": labels[:250], "X_new": table[250:]})


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_all_programs_are_python(block):
    compile(block, PAGE.name, "exec")
