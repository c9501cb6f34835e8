#!/usr/bin/env python3
"""Build the sdist and the wheel, look into them, and run tests on the installed wheel instead of the tree.

    .ci/wheel.py                                   # all tests, in a virtual environment with the extra "test"
    .ci/wheel.py --beside .venv tests/test_theory.py   # some tests, with the packages that .venv has
    .ci/wheel.py --output dist --build-only        # what is to be published

The tests are those of the sdist, unpacked without its sources, so that there is nothing but the wheel to import. Needs
pip and a package index.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("hebnb/py.typed", "hebnb/data/flights.csv.gz", "hebnb/page/page.html", "hebnb/__init__.py")
IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "tests/conftest.py", "docs/conf.py", ".ci/run")


def environment(folder):
    """The Python of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return str(Path(folder, "bin", "python"))


def build(output, scratch):
    """The sdist, and the wheel that is made from it."""
    python = environment(Path(scratch, "build"))
    subprocess.run([python, "-m", "pip", "install", "-q", "build"], check=True)
    subprocess.run([python, "-m", "build", "--outdir", str(output), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    (sdist,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


def complaints(sdist, wheel):
    """What is wrong with what was built."""
    names = zipfile.ZipFile(wheel).namelist()
    information = next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
    for name in names:
        if name.split("/")[0] not in ("hebnb", information):
            yield f"the wheel has {name}, which would be installed beside the package"
        if "/tests/" in name or name.endswith((".pyc", ".ipynb")):
            yield f"the wheel has {name}, which nobody needs"
    for name in (*NEEDED, f"{information}/licenses/LICENSE"):
        if name not in names:
            yield f"the wheel lacks {name}"
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    for name in IN_SDIST:
        if name not in packed:
            yield f"the sdist lacks {name}"


def packages_of(beside, python):
    """Let an environment see the packages of another; its own come first, and nothing else of the other does."""
    (folder,) = Path(beside).resolve().glob("lib/python*/site-packages")
    (own,) = Path(python).parent.parent.glob("lib/python*/site-packages")
    Path(own, "beside.pth").write_text(f"{folder}\n")


def installed(wheel, scratch, beside):
    """The Python of an environment with the wheel in it."""
    python = environment(Path(scratch, "test"))
    if beside:
        packages_of(beside, python)
        what = ["--no-deps", "--ignore-installed", str(wheel)]
    else:
        what = [f"{wheel}[test]"]
    subprocess.run([python, "-m", "pip", "install", "-q", *what], check=True)
    return python


def tested(python, sdist, scratch, tests):
    """Whether tests pass on what is installed."""
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch, filter="data")
    tree = Path(scratch, sdist.name.removesuffix(".tar.gz"))
    shutil.rmtree(tree / "src")
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
    asked = [python, "-c", "import hebnb; print(hebnb.__file__)"]
    place = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=tree, env=settings).stdout.strip()
    print(f"testing {place}", flush=True)
    if not Path(place).is_relative_to(Path(python).parent.parent):
        raise SystemExit("That is not the wheel.")
    command = [python, "-m", "pytest", *(tests or ["tests", "README.md", "docs"])]
    return subprocess.run(command, check=False, cwd=tree, env=settings | {"PATH": path}).returncode == 0


def main():
    """Build, look, and test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", help="what pytest is to run; all tests by default")
    parser.add_argument("--output", type=Path, help="folder for what is built; by default it is thrown away")
    parser.add_argument("--build-only", action="store_true", help="run no tests")
    parser.add_argument("--beside", help="a virtual environment that has what the tests need")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        output = arguments.output or Path(scratch, "dist")
        output.mkdir(parents=True, exist_ok=True)
        if any(output.iterdir()):
            raise SystemExit(f"{output} is not empty.")
        sdist, wheel = build(output, scratch)
        for path in (sdist, wheel):
            print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")
        found = list(complaints(sdist, wheel))
        print("\n".join(found))
        if found or arguments.build_only:
            return int(bool(found))
        return int(not tested(installed(wheel, scratch, arguments.beside), sdist, scratch, arguments.tests))


if __name__ == "__main__":
    sys.exit(main())
