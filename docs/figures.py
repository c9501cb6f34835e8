"""``python docs/figures.py`` writes the figures of README.md and the pages anew, from files that commands wrote.

A table stands between ``<!-- figures: arena/log-loss -->`` and ``<!-- end -->``, and a number in a sentence between
``<!-- = arena/wins -->`` and ``<!-- / -->``; behind the name there may be a format, as in ``loo/off:.1%``. The first
part of a name is a file of ``benchmarks/results``, which a benchmark writes if it is run with ``--record``, the second
a table or a fact in it. Facts of ``quickstart`` are what the transcript in docs/quickstart.md prints: sizes of files,
and the log-loss of every method. Nobody edits what stands between the marks: change the results, and run this.
``--check`` only compares.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
TABLE = re.compile(r"(?<=<!-- figures: )(?P<name>[\w./+-]+)(?P<mark> -->\n)(?P<shown>.*?)(?=<!-- end -->)", re.DOTALL)
FACT = re.compile(
    r"(?<=<!-- = )(?P<name>[\w./+-]+)(?::(?P<format>[^ ]+))?(?P<mark> -->)(?P<shown>[^<>]*)(?=<!-- / -->)"
)
MARK = re.compile(r"<!-- (?:figures:|=) ")
_UNIT = re.compile(r"(?P<format>[^ ]*?[a-z%]?)(?P<unit> \S+)?")


def pages() -> list[Path]:
    """The files that may have figures."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]


def results(name: str) -> dict[str, Any]:
    """What a benchmark wrote, or what the quick start prints."""
    if name == "quickstart":
        return {"tables": {}, "facts": facts_of_the_quick_start()}
    path = RESULTS / f"{name}.json"
    if not path.exists():
        raise SystemExit(f"There is no {path.relative_to(ROOT)}.")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def facts_of_the_quick_start() -> dict[str, str | float]:
    """Sizes of files by their names and log-losses by methods, as the transcript has them."""
    text = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    sizes = re.findall(r"([\w-]+\.(?:html|skops|parquet|sql)) \(([\d.]+ [kM]B)\)", text)
    losses = re.findall(r"^[ →] ([\w+-]+) +(\d\.\d{4}) ", text, re.MULTILINE)
    return {**dict(sizes), **{f"log-loss/{method}": float(loss) for method, loss in losses}}


def shown(value: Any, pattern: str = "") -> str:
    """A value under a format such as ``.2f``, ``.1%`` or ``.1f s``; text is text, and None a dash."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    read = _UNIT.fullmatch(pattern)
    assert read is not None, pattern
    text = format(value, read["format"])
    return (text.replace("%", " %") + (read["unit"] or "")).replace("-", "−")


def as_markdown(table: dict[str, Any]) -> str:
    """A table of a file of results."""
    heads, formats = zip(*table["columns"], strict=True)
    lines = [list(map(shown, row, formats)) for row in table["rows"]]
    if table["bold"]:
        lines = [_with_least_in_bold(line) for line in lines]
    if table["grouped"]:
        firsts = [None, *(line[0] for line in lines)]
        lines = [["" if line[0] == first else line[0], *line[1:]] for line, first in zip(lines, firsts, strict=False)]
    labels = 1 + sum(head == "" for head in heads[1:2])
    rule = "|".join(["", *["---"] * labels, *["---:"] * (len(heads) - labels), ""])
    rows = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([f"| {' | '.join(heads)} |", rule, *rows, ""])


def _with_least_in_bold(line: list[str]) -> list[str]:
    numbers = {text: float(text.rstrip("†")) for text in line[1:] if re.fullmatch(r"\d*\.?\d+†?", text)}
    least = min(numbers.values(), default=None)
    best = {text for text, number in numbers.items() if number == least and not text.endswith("†")}
    return [line[0], *(f"**{text}**" if text in best else text for text in line[1:])]


def _found(name: str, kind: str) -> Any:
    file, _, own = name.partition("/")
    found = results(file)[kind]
    if own not in found:
        near = ", ".join(difflib.get_close_matches(own, found, n=5, cutoff=0.0))
        raise SystemExit(f"benchmarks/results/{file}.json has no {own!r} among its {kind}. The nearest are {near}.")
    return found[own]


def rendered(text: str) -> str:
    """A page with the figures of today."""

    def table(match: re.Match[str]) -> str:
        return f"{match['name']}{match['mark']}{as_markdown(_found(match['name'], 'tables'))}"

    def fact(match: re.Match[str]) -> str:
        pattern = match["format"] or ""
        name = match["name"] + (f":{pattern}" if pattern else "")
        return f"{name}{match['mark']}{shown(_found(match['name'], 'facts'), pattern)}"

    return FACT.sub(fact, TABLE.sub(table, text))


def main() -> int:
    """Write the pages that differ, or name them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a figure is not that of its file")
    check = parser.parse_args().check
    differing = [path for path in pages() if rendered(path.read_text("utf-8")) != path.read_text("utf-8")]
    for path in differing:
        print(f"{path.relative_to(ROOT)}: {'has other figures than its files' if check else 'written'}")
        if not check:
            path.write_text(rendered(path.read_text("utf-8")), encoding="utf-8")
    return int(check and bool(differing))


if __name__ == "__main__":
    sys.exit(main())
