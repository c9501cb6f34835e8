#!/usr/bin/env python3
"""Make a release of what is in the tree, by one command.

    .ci/release.py 0.2.0           # version.py, CITATION.cff and CHANGELOG.md say so; then commit and tag
    .ci/release.py --notes 0.2.0   # print the notes of a release: its section of CHANGELOG.md

It changes three files and nothing else. Publishing is what the workflow does when a release of the tag appears.
"""

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+")


def numbers(version):
    """A version as numbers, which compare."""
    return tuple(map(int, version.split(".")))


def replaced(text, pattern, new, what):
    """A text with the one place that matches changed."""
    changed, places = re.subn(pattern, lambda _: new, text, flags=re.MULTILINE)
    if places != 1:
        raise SystemExit(f"{what}: {places} places match, and there should be one.")
    return changed


def notes(changelog, version):
    """What the changelog says of a version."""
    found = re.search(rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise SystemExit(f"CHANGELOG.md says nothing of {version}.")
    return found[1].strip()


def release(root, version, day):
    """Write a version into all places that have one."""
    if not VERSION.fullmatch(version):
        raise SystemExit(f"{version!r} is not a version such as 1.2.3.")
    files = {name: root / name for name in ("src/hebnb/version.py", "CITATION.cff", "CHANGELOG.md")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    changelog = texts["CHANGELOG.md"]
    released = [own for own in re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE) if own != "Unreleased"]
    if released and numbers(version) <= max(map(numbers, released)):
        raise SystemExit(f"{version} is not above {max(released, key=numbers)}, which was released.")
    notes(changelog, "Unreleased")
    texts["src/hebnb/version.py"] = replaced(
        texts["src/hebnb/version.py"], r'^__version__ = ".+"$', f'__version__ = "{version}"', "version.py"
    )
    citation = re.sub(r"^date-released: .*\n", "", texts["CITATION.cff"], flags=re.MULTILINE)
    line = f"version: {version}\ndate-released: {day.isoformat()}"
    texts["CITATION.cff"] = replaced(citation, r"^version: .+$", line, "CITATION.cff")
    heads = f"## [Unreleased]\n\n## [{version}] - {day.isoformat()}"
    texts["CHANGELOG.md"] = replaced(changelog, r"^## \[Unreleased\]$", heads, "CHANGELOG.md")
    for name, path in files.items():
        path.write_text(texts[name], encoding="utf-8")


def main():
    """Release, or print notes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--notes", action="store_true", help="only print what the changelog says of the version")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.notes:
        release(arguments.root, arguments.version, datetime.date.today())
        print(f"git commit -am 'Release {arguments.version}' && git tag v{arguments.version}\n")
    print(notes((arguments.root / "CHANGELOG.md").read_text(encoding="utf-8"), arguments.version))


if __name__ == "__main__":
    sys.exit(main())
