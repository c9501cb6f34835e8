#!/usr/bin/env python3
"""How large what ``pip install`` brings is: ``.ci/sizes.py --record``, in an environment that has all of it.

Sums the files of every package that the project, or one of its extras, needs directly or indirectly, as their own
records list them, and writes ``benchmarks/results/sizes.json``, which CONTRIBUTING.md shows.
"""

import argparse
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from packaging.requirements import Requirement

from record import Results, Table, record

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("plots", "excel", "onnx", "spark", "study", "docs", "test")


def direct(extra=None):
    """What the project needs by itself, or one of its extras beyond that."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    for line in lines:
        ours = re.fullmatch(rf"{PROJECT['name']}\[([\w,-]+)\]", line)
        if ours:
            for other in ours[1].split(","):
                yield from direct(other)
        else:
            yield Requirement(line)


def needed(wanted):
    """Names of all packages that some requirements bring along."""
    found, waiting = {}, [(requirement, frozenset(requirement.extras)) for requirement in wanted]
    while waiting:
        requirement, extras = waiting.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if extras <= found.get(name, frozenset()) and name in found:
            continue
        found[name] = found.get(name, frozenset()) | extras
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed here.") from None
        own = [each for each in map(Requirement, lines) if applies(each, extras or {""})]
        waiting += [(each, frozenset(each.extras)) for each in own]
    return set(found)


def applies(requirement, extras):
    """Whether a requirement of a package holds here, for one of the extras of it that are wanted."""
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)


def megabytes(name):
    """The files of a package, compiled ones of Python aside."""
    files = distribution(name).files or []
    return sum(file.size or 0 for file in files if not file.name.endswith(".pyc")) / 1e6


def main():
    """Print and, if asked, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/sizes.json")
    options = parser.parse_args()
    base = needed(direct())
    rows = [["`pip install .`", len(base), sum(map(megabytes, base)), largest(base)]]
    for extra in EXTRAS:
        more = needed([*direct(), *direct(extra)]) - base
        rows.append([f'`pip install ".[{extra}]"`, besides', len(more), sum(map(megabytes, more)), largest(more)])
    for row in rows:
        print(f"{row[0]:<34}{row[1]:>4} packages {row[2]:>6.0f} MB  {row[3]}")
    if options.record:
        heads = {"": "", "packages": ".0f", "together": ".0f MB", "the largest, MB": ""}
        record("sizes", Results({"install": Table(heads, rows)}, {"test": rows[0][2] + rows[-1][2]}))


def largest(names, most=6):
    """The largest packages, with their megabytes."""
    found = sorted(((megabytes(name), name) for name in names), reverse=True)[:most]
    return ", ".join(f"{name} {size:.0f}" for size, name in found if size >= 1)


if __name__ == "__main__":
    main()
