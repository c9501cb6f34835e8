"""Results of the study for docs/replication.md: ``python benchmarks/study_figures.py STUDY``, the folder it wrote.

Every table of the study becomes a table in ``benchmarks/results/study.json``, the paper's numbers in brackets, and
every number of it a fact, called by the table, the row and the column:
``wilcoxon-tan/HEB-TAN-against-TAN-accuracy/wins``.
"""

from __future__ import annotations

import argparse
import csv
import re
from pathlib import Path

from record import Results, Table, Value, record

LEFT_OUT = ("per-dataset",)  # too long for a page


def slug(text: str) -> str:
    """A text as a part of a name."""
    return re.sub(r"[^\w.+]+", "-", text).strip("-")


def table_of(path: Path) -> Table:
    """A table as the study wrote it in Markdown."""
    head, _, *body = ([cell.strip() for cell in line.split("|")[1:-1]] for line in path.read_text("utf-8").splitlines())
    return Table([(name, "") for name in head], [list(line) for line in body])


def facts_of(path: Path) -> dict[str, Value]:
    """The numbers of a table that the study wrote as CSV."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {
            f"{path.stem}/{slug(line['row'])}/{slug(line['column'])}": float(line["ours"])
            for line in csv.DictReader(lines)
        }


def results_of(study: Path) -> Results:
    """All tables of a study and their numbers."""
    stems = [path.stem for path in sorted((study / "tables").glob("*.md")) if path.stem not in LEFT_OUT]
    facts: dict[str, Value] = {}
    for stem in stems:
        facts |= facts_of(study / "tables" / f"{stem}.csv")
    return Results({stem: table_of(study / "tables" / f"{stem}.md") for stem in stems}, facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="what python -m hebnb.study wrote")
    parser.add_argument("--name", default="study", help="of the file of results; default: study")
    options = parser.parse_args()
    print(record(options.name, results_of(options.study)))


if __name__ == "__main__":
    main()
