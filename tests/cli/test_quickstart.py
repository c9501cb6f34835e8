"""docs/quickstart.md is a transcript: its commands are run, and must print what it shows.

``HEBNB_WRITE_QUICKSTART=1 pytest tests/cli/test_quickstart.py`` writes the page's outputs anew.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "quickstart.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands():
    """Every command of the page with what it is said to print."""
    for block in BLOCK.findall(PAGE.read_text()):
        command, _, output = block.partition("\n")
        yield command.removeprefix("$ "), output


def run(command, folder):
    settings = {"COLUMNS": "100", "NO_COLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


def words(text):
    """The words of a transcript, numbers as numbers; without times and sizes, which machines differ in."""
    text = re.sub(r"\([\d.]+ [kM]B\)", "(size)", text)
    text = re.sub(r"^(. [\w +-]+(?: +\d\.\d{4}){6}) +[\d.]+$", r"\1", text, flags=re.MULTILINE)  # seconds
    return [_number(word) for word in re.findall(r"[+-]?\d[\d,]*\.?\d*|[^\s\d]+", text)]


def sizes(text):
    """Sizes, in bytes, of the files that we write ourselves; how large Parquet is depends on who writes it."""
    found = re.findall(r"([\w-]+\.(?:html|skops|sql)) \(([\d.]+) ([kM])B\)", text)
    return {name: float(number) * {"k": 1e3, "M": 1e6}[unit] for name, number, unit in found}


def _number(word):
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return word


def test_the_transcript(tmp_path):
    page = PAGE.read_text()
    for command, expected in commands():
        printed = run(command, tmp_path)
        if os.environ.get("HEBNB_WRITE_QUICKSTART"):
            page = page.replace(f"$ {command}\n{expected}", f"$ {command}\n{printed}", 1)
            continue
        assert sizes(printed) == pytest.approx(sizes(expected), rel=0.05), f"{command}\n{printed}"
        found = words(printed)
        wanted = words(expected)
        assert len(found) == len(wanted), f"{command}\n{printed}"
        for one, other in zip(found, wanted, strict=True):
            if isinstance(other, float):
                assert one == pytest.approx(other, rel=0.01, abs=0.002), f"{command}\n{printed}"
            else:
                assert one == other, f"{command}\n{printed}"
    if os.environ.get("HEBNB_WRITE_QUICKSTART"):
        PAGE.write_text(page)


def test_every_command_is_shown():
    shown = {command.split()[1] for command, _ in commands() if command.startswith("hebnb")}
    assert shown == {"report", "fit", "predict", "explain", "inspect", "export"}
