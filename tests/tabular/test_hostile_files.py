"""docs/hostile-files.md says what the program says."""

import os
from pathlib import Path

import pytest
from hostile_files import CASES, INTRODUCTION, section

PAGE = Path(__file__).parents[2] / "docs" / "hostile-files.md"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif("HEBNB_WRITE" in os.environ, reason="the page is written")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_page_says_what_the_program_says(case):
    Path(case.name).write_bytes(case.content)
    assert section(case) + "\n" in PAGE.read_text(encoding="utf-8")


@pytest.mark.skipif("HEBNB_WRITE" not in os.environ, reason="HEBNB_WRITE=1 writes the page")
def test_write_the_page():
    parts = [INTRODUCTION]
    for case in CASES:
        Path(case.name).write_bytes(case.content)
        parts.append(section(case))
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def test_the_page_has_nothing_else():
    headings = [
        line.removeprefix("## ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    ]
    assert headings == [case.title for case in CASES]
