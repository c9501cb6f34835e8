"""Results of the arena for the pages: ``python benchmarks/arena_figures.py ARENA``, the folder that it wrote.

It takes means over the folds of ``results.jsonl``, makes the arena's tables of them, and the sentences that its tests
allow, and writes ``benchmarks/results/arena.json``; ``python docs/figures.py`` then shows them. It draws the figures of
docs/benchmarks.md too. Without a folder it makes everything anew of the means that the file has.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

from hebnb.study.arena.command import FOLDS, RESULTS
from hebnb.study.arena.comparing import Comparison, Outcome, outcomes_of
from hebnb.study.arena.contenders import CONTENDERS, HERO, titles
from hebnb.study.arena.figures import all_figures
from hebnb.study.arena.page import standings
from hebnb.study.arena.running import size
from hebnb.study.arena.sheets import Sheet
from hebnb.study.arena.store import Lines
from hebnb.study.arena.tables import all_sheets
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS
from record import FOLDER, Results, Table, Value, record

DOCS = FOLDER.parent.parent / "docs"
IN_ORDER = [dataset.name for dataset in sorted(DATASETS.values(), key=size)]


def outcomes_in(folder: Path) -> list[Outcome]:
    """What the arena left there, of its usual settings."""
    settings = str(Settings(folds=FOLDS))
    rows = [row for row in Lines(folder / RESULTS).rows().values() if row.get("settings") == settings]
    return outcomes_of(rows, FOLDS, IN_ORDER, list(CONTENDERS))


def draw(outcomes: Sequence[Outcome]) -> None:
    """The figures of docs/benchmarks.md."""
    with TemporaryDirectory() as folder:
        all_figures(Comparison(outcomes), Path(folder))
        for stem, target in (("cost", "arena-cost"), ("critical-differences", "arena-ranks")):
            drawn = Path(folder) / f"{stem}.png"
            if drawn.exists():
                copyfile(drawn, DOCS / f"{target}.png")


def table_of(sheet: Sheet) -> Table:
    """As files of results have tables."""
    return Table(list(sheet.columns), [list(row) for row in sheet.rows])


def facts_of(comparison: Comparison) -> dict[str, Value]:
    """Sentences and numbers for the text."""
    facts: dict[str, Value] = {
        f"standing/{measure.replace(' ', '-')}": said for measure, said in standings(comparison).items()
    }
    facts |= {f"{sheet.name}/note": sheet.note for sheet in all_sheets(comparison) if sheet.note}
    facts["datasets"] = len(comparison.datasets)
    facts["contenders"] = len(comparison.contenders)
    for name, column in comparison.values("log-loss").items():
        facts |= {f"log-loss/{dataset}/{name}": loss for dataset, loss in column.dropna().items()}
    judged = comparison.against(HERO, "log-loss")
    for name, one in judged.items():
        facts |= {f"beside/{name}": one.datasets, f"won-against/{name}": one.outcome.wins}
    facts["compared"] = len([one for one in judged.values() if one.word != "not compared"])
    facts["incomplete"] = ", ".join(titles()[name] for name in comparison.contenders if name not in comparison.tested)
    return facts


def results_of(outcomes: Sequence[Outcome]) -> Results:
    """Everything that the pages show of an arena."""
    comparison = Comparison(outcomes)
    return Results({sheet.name: table_of(sheet) for sheet in all_sheets(comparison)}, facts_of(comparison))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arena", type=Path, nargs="?", help="what python -m hebnb.study --arena wrote")
    folder = parser.parse_args().arena
    more: dict[str, Any] = {}
    path = FOLDER / "arena.json"
    if folder is None:
        before = json.loads(path.read_text(encoding="utf-8"))
        more = {name: before[name] for name in ("command", "note", "versions", "outcomes") if name in before}
    else:
        found = {name: contender.version for name, contender in CONTENDERS.items() if contender.version}
        more = {"contenders": found, "outcomes": outcomes_in(folder)}
    path.unlink(missing_ok=True)  # tables that there are no more would stay
    draw(more["outcomes"])
    print(record("arena", results_of(more["outcomes"]), more))


if __name__ == "__main__":
    main()
