"""What is built, cited and released agrees with itself, and workflows call nothing that one cannot run oneself."""

import datetime
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hebnb

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def script(name):
    """A script of .ci as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_citation_has_the_version_of_the_package_and_the_paper():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.MULTILINE)[1] == hebnb.__version__
    assert re.search(r"^license: (.+)$", text, re.MULTILINE)[1] == PROJECT["license"]
    title = re.search(r'^ +title: "(Hierarchical .+)"$', text, re.MULTILINE)[1]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert title in readme
    authors = re.findall(r"family-names: (.+)\n +given-names: (.+)", text)  # the family's name comes first, as in print
    assert len(authors) == 5
    assert all(f"{family} {given}" in readme for family, given in authors)


def test_the_citation_is_yaml_with_what_the_format_requires():
    yaml = pytest.importorskip("yaml")  # of Dask
    document = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= document.keys()


def test_the_readme_has_exactly_two_install_commands():
    blocks = re.findall(r"```.*?\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if "pip install" in line]
    assert commands == ["pip install . && hebnb report", 'pip install -e ".[test]" && pytest']


def test_python_versions_are_the_same_everywhere():
    named = script("versions").pythons()
    assert PROJECT["requires-python"] == f">={named[0]}"
    said = f"Python {named[0]} to {named[-1]}"
    for page in ("README.md", "docs/index.md"):
        assert said in (ROOT / page).read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.+)\]", (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))[1]
    assert re.findall(r'"(.+?)"', matrix) == named


def test_lower_bounds_of_extras_agree():
    assert script("versions").bounds(list(PROJECT["optional-dependencies"]))["numpy"]


def test_a_python_newer_than_the_lowest_versions_is_not_held_to_them(monkeypatch):
    """The index has no wheels of old versions for a new Python; our oldest Python has to have them."""
    versions = script("versions")
    asked = []

    def run(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, int("pip" in command), stdout=f"{running}\n")

    monkeypatch.setattr(versions.subprocess, "run", run)
    running = versions.pythons()[-1]
    assert versions.is_too_new_for("python", ["numpy==1.26"])
    assert asked[-1][-1] == "numpy==1.26"
    running = versions.pythons()[0]
    assert not versions.is_too_new_for("python", ["numpy==1.26"])
    assert "pip" not in asked[-1]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_only_our_scripts(path):
    yaml = pytest.importorskip("yaml")  # of Dask
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands or any("uses" in step for step in steps)
    for command in commands:
        if command == 'pip install ".[docs]"':
            continue
        called = ROOT / command.split()[0]
        assert called.parent == ROOT / ".ci"
        assert os.access(called, os.X_OK), command
    for step in steps:
        assert "run" in step or re.fullmatch(r"(actions|pypa)/[\w-]+@[\w./-]+", step["uses"])


def test_there_are_workflows_for_tests_docs_and_publishing_without_secrets():
    assert [path.stem for path in WORKFLOWS] == ["docs", "publish", "tests"]
    assert not any("secrets." in path.read_text(encoding="utf-8") for path in WORKFLOWS)


@pytest.fixture
def tree(tmp_path):
    """The files that a release changes."""
    (tmp_path / "src/hebnb").mkdir(parents=True)
    (tmp_path / "src/hebnb/version.py").write_text('"""The version of the package."""\n\n__version__ = "0.1.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 0.1.0\nlicense: MIT\n")
    sections = ["# Changelog", "## [Unreleased]", "- It flies.", "## [0.1.0] - 2020-01-01", "- It walks.\n"]
    (tmp_path / "CHANGELOG.md").write_text("\n\n".join(sections))
    return tmp_path


def test_a_release_is_one_command(tree):
    release = script("release")
    release.release(tree, "0.2.0", datetime.date(2021, 2, 3))
    assert (tree / "src/hebnb/version.py").read_text().endswith('__version__ = "0.2.0"\n')
    assert (tree / "CITATION.cff").read_text() == "version: 0.2.0\ndate-released: 2021-02-03\nlicense: MIT\n"
    changelog = (tree / "CHANGELOG.md").read_text()
    assert "## [Unreleased]\n\n## [0.2.0] - 2021-02-03\n\n- It flies." in changelog
    assert release.notes(changelog, "0.2.0") == "- It flies."
    with pytest.raises(SystemExit, match="says nothing of Unreleased"):  # there is nothing new to release
        release.release(tree, "0.3.0", datetime.date(2021, 2, 4))


@pytest.mark.parametrize("version", ["0.1.0", "0.0.9", "1.0", "v1.0.0"])
def test_versions_that_cannot_be_released(tree, version):
    before = (tree / "CHANGELOG.md").read_text()
    with pytest.raises(SystemExit, match="is not"):
        script("release").release(tree, version, datetime.date(2021, 2, 3))
    assert (tree / "CHANGELOG.md").read_text() == before


def test_the_release_script_prints_notes():
    command = [sys.executable, ROOT / ".ci" / "release.py", "--notes", "Unreleased"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:  # right after a release there is nothing to tell
        assert "says nothing of Unreleased" in done.stderr
    else:
        assert done.stdout.strip()


def test_what_a_wheel_may_not_have_is_noticed(tmp_path):
    """The look into what was built complains of everything that it should."""
    import tarfile
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        for name in ("hebnb/__init__.py", "tests/data/x.skops", "hebnb-1.dist-info/METADATA"):
            wheel.writestr(name, "")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz"):
        pass
    found = list(script("wheel").complaints(tmp_path / "a.tar.gz", tmp_path / "a.whl"))
    assert any("tests/data/x.skops" in line for line in found)
    assert any("lacks hebnb/py.typed" in line for line in found)
    assert any("sdist lacks pyproject.toml" in line for line in found)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("name", ["run", "docs"])
def test_shell_scripts_can_be_read(name):
    subprocess.run(["bash", "-n", ROOT / ".ci" / name], check=True)
