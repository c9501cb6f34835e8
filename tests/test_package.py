"""What the package promises by name: its exports, its data, its documentation."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import hebnb
from conftest import BACKENDS
from hebnb.datasets import load_flights

ROOT = Path(__file__).parents[1]
PUBLIC_MODULES = ["hebnb", "hebnb.metrics", "hebnb.theory", "hebnb.datasets", "hebnb.plots", "hebnb.export"]


def public_objects():
    for name in PUBLIC_MODULES:
        module = importlib.import_module(name)
        for export in module.__all__:
            if not export.startswith("__"):
                yield f"{name}.{export}", getattr(module, export)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_all_is_what_is_there(name):
    module = importlib.import_module(name)
    exports = [export for export in module.__all__ if not export.startswith("__")]
    assert exports == sorted(exports, key=lambda export: (not export.isupper(), not export[0].isupper(), export))
    assert all(hasattr(module, export) for export in exports)
    if name not in ("hebnb", "hebnb.export"):
        own = re.compile(rf"{re.escape(name)}(\..*)?")
        functions = {n: value for n, value in vars(module).items() if inspect.isfunction(value)}
        here = {n for n, value in functions.items() if own.fullmatch(value.__module__)}
        assert {n for n in here if not n.startswith("_")} == set(exports)


@pytest.mark.parametrize(("name", "thing"), list(public_objects()))
def test_every_public_name_is_documented_with_an_example(name, thing):
    assert ">>>" in inspect.getdoc(thing), name
    if inspect.isclass(thing):
        for method, function in vars(thing).items():
            if not method.startswith("_") and inspect.isfunction(function) and thing.__name__ == "NaiveBayes":
                assert ">>>" in inspect.getdoc(function), f"{name}.{method}"


def documented():
    """Public names, and the public methods of those that are classes, with their documentation."""
    for name, thing in public_objects():
        yield name, inspect.getdoc(thing)
        for method in dir(thing) if inspect.isclass(thing) else ():
            function = getattr(thing, method)
            if not method.startswith("_") and callable(function) and ">>>" in (inspect.getdoc(function) or ""):
                yield f"{name}.{method}", inspect.getdoc(function)


@pytest.mark.parametrize(("name", "text"), [pytest.param(*pair, id=pair[0]) for pair in documented()])
def test_an_example_runs_where_it_is_pasted(name, text):
    """It imports what it uses: whoever copies it from a page has no other names."""
    if name.startswith("hebnb.plots"):
        pytest.importorskip("matplotlib.pyplot").switch_backend("Agg")
    elif "onnx" in name:
        pytest.importorskip("onnx")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    said = []
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert doctest.DocTestRunner(optionflags=flags).run(example, out=said.append).failed == 0, "".join(said)


def test_the_site_has_a_page_for_every_public_name():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = set()
    for module, names in re.findall(r"currentmodule:: ([\w.]+)\n.*?\n\n((?:   [\w.]+\n)+)", page, re.DOTALL):
        listed |= {f"{module}.{name}" for name in names.split()}
    returned = {
        name for name in listed if name.startswith(("hebnb.explain", "hebnb.counts", "hebnb.overview", "hebnb.page"))
    }
    assert listed - returned == {name for name, _ in public_objects()}


def test_the_api_page_lists_every_public_name():
    page = (ROOT / "docs" / "api.md").read_text()
    for name, _ in public_objects():
        assert re.search(rf"`(hebnb\.)?{re.escape(name.removeprefix('hebnb.'))}\b", page), name


def test_the_changelog_speaks_of_this_version():
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert sections[0] in ("Unreleased", hebnb.__version__)
    assert len(sections) == len(set(sections))


def test_importing_hebnb_needs_no_heavy_library():
    """With all of them made impossible to import, it works."""
    import subprocess
    import sys

    code = """
import sys
heavy = {"pandas", "polars", "pyarrow", "matplotlib", "duckdb", "skops", "typer", "rich", "jinja2", "onnx", "sqlglot"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in heavy:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import hebnb
print(hebnb.NaiveBayes().fit([["a"], ["b"]], [0, 1]).predict([["a"]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[0]\n", done.stderr


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_large(option):
    import subprocess
    import sys

    code = f"""
import sys
from hebnb.cli import main
sys.argv = ["hebnb", "{option}"]
try:
    main()
finally:
    large = {{"numpy", "scipy", "sklearn", "pandas", "pyarrow", "duckdb", "narwhals", "skops", "jinja2"}}
    print(sorted(large & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == "[]\n"


def test_names_that_are_fetched_when_they_are_used():
    import subprocess
    import sys

    assert {*hebnb._HOME, "__version__"} == set(hebnb.__all__)
    code = """
import hebnb
assert {*hebnb.__all__, "metrics", "export"} <= set(dir(hebnb))
assert hebnb.NaiveBayes.__module__ == "hebnb.structures.naive_bayes"
assert hebnb.NaiveBayes is hebnb.structures.NaiveBayes
assert hebnb.metrics.__name__ == "hebnb.metrics"
from hebnb import *
assert HEB is hebnb.HEB
print(hasattr(hebnb, "bogus"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_flights_in_every_library(backend):
    X, y = load_flights(backend=backend)
    assert tuple(X.shape) == (20_000, 10)
    model = hebnb.NaiveBayes().fit(X, y)
    assert model.classes_.tolist() == ["late", "ontime"]
    assert [len(c) for c in model.categories_] == [12, 31, 939, 1111, 16, 2681, 3280, 3, 100, 202]


def test_flights_from_an_unknown_library():
    with pytest.raises(ValueError, match="(?s)backend='panda' is not known.*Did you mean 'pandas'"):
        load_flights(backend="panda")
