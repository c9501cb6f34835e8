"""docs/hostile-files.md says what the program says."""

import os
from pathlib import Path

import pytest
from hostile_files import CASES, INTRODUCTION, section

PAGE = Path(__file__).parents[2] / "docs" / "hostile-files.md"
WRITES = "HEBNB_WRITE" in os.environ


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def page():
    """The page as it is; written anew, without its sections, if that is wanted."""
    if WRITES:
        PAGE.write_text(INTRODUCTION + "\n", encoding="utf-8")
    return PAGE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_page_says_what_the_program_says(case, page):
    Path(case.name).write_bytes(case.content)
    said = section(case) + "\n"
    if WRITES:
        page.write_text(page.read_text(encoding="utf-8") + "\n" + said, encoding="utf-8")
    assert said in page.read_text(encoding="utf-8")


def test_the_page_has_nothing_else():
    headings = [
        line.removeprefix("## ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    ]
    assert headings == [case.title for case in CASES]
