"""What documents and messages tell people to type can be typed: commands, options, tables, extras of pip."""

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from hebnb.cli.app import app
from hebnb.tabular.source import FLIGHTS

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
SOURCES = [*PAGES, *ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("src/**/*.html")]
COMMANDS = typer.main.get_command(app).commands
# What a newcomer who copies a block of commands from the top has.
GIVEN = {FLIGHTS, "-"}
# A page whose tables are shown in it; its own test makes them and runs its commands.
WITH_TABLES = ROOT / "docs" / "hostile-files.md"


def blocks(page):
    """The commands of every block that is to be typed into a shell."""
    for _, block in re.findall(r"```(sh|console)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        lines = [line.removeprefix("$ ") for line in block.splitlines()]
        yield [part for line in lines for part in re.split(r"\s*(?:&&|\|)\s*", line) if part.startswith("hebnb ")]


def parsed(words):
    """The arguments of a command, which complains of options that it does not have."""
    return COMMANDS[words[1]].make_context(words[1], words[2:]).params


def examples():
    """The commands that help shows."""
    for command in COMMANDS.values():
        for line in (command.help or "").splitlines():
            found = re.search(r"hebnb (?!COMMAND|study).*", line.strip())
            if found and line.strip().startswith(("hebnb ", "zcat ", "cat ")):
                yield re.split(r"\s*\|\s*(?!hebnb)", found[0])[0]


def test_there_is_something_to_be_typed():
    assert sum(len(block) for page in PAGES for block in blocks(page)) >= 10
    assert len(list(examples())) >= 12


@pytest.mark.parametrize("page", [page for page in PAGES if page != WITH_TABLES], ids=lambda page: page.name)
def test_blocks_of_commands_run_from_top_to_bottom(page):
    """Every option is one, and every table or model comes along or was written by a command above."""
    there = set(GIVEN)
    for line in [line for block in blocks(page) for line in block]:
        words = shlex.split(line, comments=True)
        given = parsed(words)
        for name in ("model",) if words[1] == "export" else ("table", "model"):  # to export, a table is a database's
            assert given.get(name) is None or given[name] in there, f"{line}: who wrote {given[name]}?"
        there.add(given.get("output"))


@pytest.mark.parametrize("line", list(examples()))
def test_examples_of_help_have_options_that_exist(line):
    parsed(shlex.split(line))


def test_commands_in_sentences_have_options_that_exist():
    for page in PAGES:
        for line in re.findall(r"`(hebnb [a-z][^`\n]* [^`\n]*)`", page.read_text(encoding="utf-8")):
            words = shlex.split(line)
            if words[1] in COMMANDS and "COLUMN" not in line and words[1] != "study" and not words[-1].startswith("--"):
                parsed(words)


def test_pip_is_told_of_what_it_can_install():
    """There is no index that has hebnb: extras are installed from a clone, by names that they have."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        wrong = "hebnb" + "["
        assert f"pip install '{wrong}" not in text, path
        assert f'pip install "{wrong}' not in text, path
        named |= {
            extra for own in re.findall(r'pip install (?:-e )?\\?"\.\[([\w,]+)\]', text) for extra in own.split(",")
        }
    assert {"plots", "onnx", "study", "spark", "test", "dev"} <= named <= set(extras)


def test_the_table_of_versions_has_every_lower_bound():
    bounds = runpy.run_path(str(ROOT / ".ci" / "versions.py"))["bounds"](["test"])
    table = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert dict(table) == bounds
    assert table == sorted(table)
