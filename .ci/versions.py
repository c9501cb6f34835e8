#!/usr/bin/env python3
"""Tests with the lowest versions that pyproject.toml allows, and with the newest there are, on every Python at hand.

    .ci/versions.py                                    # both, all tests, with the Python that runs this
    .ci/versions.py lowest tests/columns tests/scores  # one of them, some tests
    .ci/versions.py --every newest                     # with every Python that the project names and that is here
    .ci/versions.py --python python3.12 newest

Each set of versions gets a virtual environment of its own. "lowest" holds every requirement to its lower bound; what
these bring along is whatever pip chooses. The oldest Python of the project has to work with the lowest. A newer one,
for which the package index has no wheels of versions so old, is tried with the newest only. A Python is here if a
program of its name is, or if uv knows where it is or can fetch it. Of those that are not, ``--every`` only asks the
package index whether all that hebnb needs has wheels for them. The table at the end says which versions were used, and
whether the tests passed; the exit code is 1 if they did not. Needs pip and a package index.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = ("lowest", "newest")
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<bound>[\w.]+)")


def bounds(extras):
    """The lower bound of every requirement of the project and of some extras, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    wanted, found, waiting = set(), {}, [project["dependencies"], *(optional[extra] for extra in extras)]
    while waiting:
        for line in waiting.pop():
            ours = re.fullmatch(rf"{project['name']}\[([\w,-]+)\]", line)
            if ours:
                new = set(ours[1].split(",")) - wanted
                wanted |= new
                waiting += [optional[extra] for extra in new]
                continue
            read = _REQUIREMENT.fullmatch(line)
            if read is None or found.setdefault(read["name"].lower(), read["bound"]) != read["bound"]:
                raise SystemExit(f"pyproject.toml: {line!r} has no lower bound, or not the same everywhere.")
    return dict(sorted(found.items()))


def pythons():
    """The versions of Python that the project names in its classifiers."""
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    return [found[1] for line in classifiers if (found := re.search(r"Python :: (3\.\d+)$", line))]


def program(version):
    """A Python of this version: from the path, from pyenv or from uv; None if it cannot be had."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    places = [shutil.which(name), *sorted(map(str, pyenv.glob(f"{version}.*/bin/{name}")))]
    uv = shutil.which("uv")
    if uv and not any(map(_runs, places)):
        subprocess.run([uv, "python", "install", version], check=False, capture_output=True)
        places.append(
            subprocess.run([uv, "python", "find", version], check=False, capture_output=True, text=True).stdout
        )
    return next((place.strip() for place in places if _runs(place)), None)


def _runs(place):
    """A shim of pyenv is there even if its Python is not chosen."""
    return (
        bool(place) and subprocess.run([place.strip(), "--version"], check=False, capture_output=True).returncode == 0
    )


def wheels_for(version):
    """Whether the index has wheels for a Python that is not here, of everything that the library needs."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as scratch:
        options = ["--dry-run", "--quiet", "--only-binary=:all:", "--python-version", version, "--target", scratch]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", *options, *wanted], check=False, capture_output=True, text=True
        )
    if done.returncode:
        print(done.stderr[-1000:])
    return "not here; not all wheels exist" if done.returncode else "not here; wheels exist"


def is_too_new_for(python, pins):
    """Whether a Python, if it is not our oldest, came out after these versions: there are no wheels of them for it."""
    asked = [python, "-c", "import sys; print('{}.{}'.format(*sys.version_info))"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    if version == pythons()[0]:
        return False
    options = ["--dry-run", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run(
        [python, "-m", "pip", "install", *options, *pins], check=False, capture_output=True, text=True
    )
    return done.returncode != 0


def installed(python):
    """The version of every package of an environment."""
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    return {re.sub(r"[-_.]+", "-", line["name"]).lower(): line["version"] for line in json.loads(listed.stdout)}


def tried(interpreter, versions, lowest, arguments):
    """What happened with a set of versions, and which versions they were."""
    print(f"\n=== {versions}, {interpreter}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([interpreter, "-m", "venv", scratch], check=True)
        python = str(Path(scratch, "bin", "python"))
        constraints = Path(scratch, "constraints.txt")
        pins = [f"{name}=={bound}" for name, bound in lowest.items()] if versions == "lowest" else []
        constraints.write_text("\n".join(pins))
        if pins and is_too_new_for(python, pins):
            return "no wheels so old", {}
        project = f"{ROOT}[{','.join(arguments.extra)}]"
        install = [python, "-m", "pip", "install", "--upgrade", "-c", str(constraints), project]
        done = subprocess.run(install, check=False, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout[-3000:], done.stderr[-3000:], sep="\n")
            return "cannot be installed", {}
        used = installed(python)
        # The installed package is tested, not the sources beside the tests.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        how = ["-n", "logical", "--dist", "worksteal", "-rs"]
        # Old packages use what newer ones, which they were not made for, will remove one day.
        quiet = ["-W", "ignore::DeprecationWarning", "-W", "ignore::FutureWarning"] if versions == "lowest" else []
        steps = {
            "cannot be imported": [python, "-c", "import hebnb, hebnb.cli.app, hebnb.export, hebnb.plots"],
            "failed": [python, "-m", "pytest", *how, *quiet, *(arguments.tests or ["tests"])],
        }
        for outcome, step in steps.items():
            if subprocess.run(step, check=False, cwd=ROOT, env=environment).returncode:
                return outcome, used
    return "passed", used


def show(lowest, outcomes):
    """Print which versions were used, and how it went."""
    lines = [("package", "lower bound", *outcomes)]
    for name, bound in lowest.items():
        lines.append((name, bound, *(used.get(name.replace("_", "-"), "-") for _, used in outcomes.values())))
    lines.append(("tests", "", *(outcome for outcome, _ in outcomes.values())))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print()
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main():
    """Try the sets of versions that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="?", choices=[*SETS, "both"], default="both")
    parser.add_argument("tests", nargs="*", help="what pytest is to run; all tests by default")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the environments")
    parser.add_argument("--every", action="store_true", help="every Python that the project names and that is here")
    parser.add_argument("--extra", action="append", help="an extra to install; test by default")
    arguments = parser.parse_args()
    arguments.extra = arguments.extra or ["test"]
    lowest = bounds(arguments.extra)
    sets = SETS if arguments.which == "both" else (arguments.which,)
    there = {version: program(version) for version in pythons()} if arguments.every else {"": arguments.python}
    outcomes = {}
    for version, interpreter in there.items():
        if interpreter is None:
            outcomes[version] = wheels_for(version), {}
            continue
        for versions in sets:
            outcomes[f"{version} {versions}".strip()] = tried(interpreter, versions, lowest, arguments)
    show(lowest, outcomes)
    return int(
        any(not outcome.endswith(("passed", "wheels exist", "no wheels so old")) for outcome, _ in outcomes.values())
    )


if __name__ == "__main__":
    sys.exit(main())
