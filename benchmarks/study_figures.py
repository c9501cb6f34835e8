"""Results of the study for docs/replication.md: ``python benchmarks/study_figures.py STUDY``, the folder it wrote.

Every table of the study becomes a table in ``benchmarks/results/study.json``, the paper's numbers in brackets, and
every number of it a fact, called by the table, the row and the column:
``wilcoxon-tan/HEB-TAN-against-TAN-accuracy/wins``. Behind ``/paper`` is the paper's number, if there is one. Further
facts say how far a table is from the paper's, how many minutes went into fitting and predicting, and which mean ranks
differ.
"""

from __future__ import annotations

import argparse
import csv
import math
import re
from pathlib import Path

from hebnb.study.methods import SMOOTHERS
from hebnb.study.registry import FLIGHTS
from hebnb.study.statistics import critical_difference
from record import FOLDER, Results, Table, Value, record

FACTS_ONLY = ("log-loss",)  # every method on every dataset: too long for a page
BESIDE_THE_PAPER = ("ranks-", "factorial-", "sweep-", "discretisation")  # tables that the paper has in full


def slug(text: str) -> str:
    """A text as a part of a name."""
    return re.sub(r"[^\w.+]+", "-", text.replace("±", "deviation")).strip("-")


def table_of(path: Path) -> Table:
    """A table as the study wrote it in Markdown."""
    head, _, *body = ([cell.strip() for cell in line.split("|")[1:-1]] for line in path.read_text("utf-8").splitlines())
    return Table([(name, "") for name in head], [list(line) for line in body])


def lines_of(path: Path) -> list[dict[str, str]]:
    """The numbers of a table that the study wrote as CSV, a line each."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def facts_of(path: Path) -> dict[str, Value]:
    """The numbers of a table, ours and the paper's; what cannot be told has none."""
    facts: dict[str, Value] = {}
    for line in lines_of(path):
        name, ours = f"{path.stem}/{slug(line['row'])}/{slug(line['column'])}", float(line["ours"])
        assert name not in facts, f"{path.name} has two numbers called {name}"
        facts[name] = None if math.isnan(ours) else ours
        if line["paper"]:
            facts[f"{name}/paper"] = float(line["paper"])
    return facts


def differences(path: Path) -> dict[str, Value]:
    """How far the numbers of a table are from the paper's: the largest distance, where it is, and both extremes."""
    apart = {
        f"{line['row']}, {line['column']}": float(line["ours"]) - float(line["paper"])
        for line in lines_of(path)
        if line["paper"] and not line["row"].endswith(" p")
    }
    if not apart:
        return {}
    at = max(apart, key=lambda place: abs(apart[place]))
    found: dict[str, Value] = {"numbers": len(apart), "largest": abs(apart[at]), "largest-at": at}
    found |= {"least": min(apart.values()), "greatest": max(apart.values())}
    return {f"{path.stem}/differences/{name}": number for name, number in found.items()}


def times_aode(path: Path) -> dict[str, Value]:
    """How many times as long as AODE it takes to fit HEB-AODE, exactly and with the paper's solver."""
    lines = {line["row"]: line for line in lines_of(path) if line["column"] == "fit s"}
    facts: dict[str, Value] = {}
    for method in ("HEB-AODE", "HEB-AODE (Minka)"):
        for whose, ending in (("ours", ""), ("paper", "/paper")):
            longer, shorter = (lines[name][whose] if name in lines else "" for name in (method, "AODE"))
            if longer and shorter:
                facts[f"{path.stem}/{slug(method)}-to-AODE{ending}"] = float(longer) / float(shorter)
    return facts


def facts_of_cells(cells: Path) -> dict[str, Value]:
    """Datasets, minutes of fitting and predicting, and how far apart seven mean ranks must be to differ (Nemenyi)."""
    lines = lines_of(cells)
    datasets = {line["dataset"] for line in lines} - {FLIGHTS.name}
    seconds = sum(float(line["fit s"]) + float(line["predict s"]) for line in lines)
    return {
        "datasets": len(datasets),
        "minutes": seconds / 60,
        "critical-difference": critical_difference(len(SMOOTHERS), len(datasets)),
    }


def results_of(study: Path) -> Results:
    """All tables of a study and their numbers."""
    paths = sorted((study / "tables").glob("*.csv"))
    facts: dict[str, Value] = {}
    for path in paths:
        facts |= facts_of(path)
        if path.stem.startswith(BESIDE_THE_PAPER):
            facts |= differences(path)
        if path.stem == "costs":
            facts |= times_aode(path)
    cells = study / "results.csv"
    if cells.exists():  # future work writes tables only
        facts |= facts_of_cells(cells)
    shown = [path.with_suffix(".md") for path in paths if path.stem not in FACTS_ONLY]
    return Results({path.stem: table_of(path) for path in shown}, facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="what python -m hebnb.study wrote")
    parser.add_argument("--name", default="study", help="of the file of results; default: study")
    options = parser.parse_args()
    (FOLDER / f"{options.name}.json").unlink(missing_ok=True)  # tables and facts that there are no more would stay
    print(record(options.name, results_of(options.study), folder=FOLDER))


if __name__ == "__main__":
    main()
