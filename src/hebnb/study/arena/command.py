"""``python -m hebnb.study --arena``, from its options to the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from hebnb.errors import ParameterError
from hebnb.foundation.printable import visible
from hebnb.study.arena.children import Conditions
from hebnb.study.arena.comparing import Comparison, outcomes_of
from hebnb.study.arena.contenders import CONTENDERS
from hebnb.study.arena.figures import all_figures
from hebnb.study.arena.page import Page
from hebnb.study.arena.running import Run, size
from hebnb.study.arena.store import Lines
from hebnb.study.arena.tables import all_sheets, tuned_sheet
from hebnb.study.protocol import Settings
from hebnb.study.registry import Dataset
from hebnb.study.sources import Source

FOLDS = 5
RESULTS, TUNED = "results.jsonl", "tuned.jsonl"
# What --quick runs if nothing is named: small tables of every sort, and whoever is quick on them.
QUICK_DATASETS = ("hayes-roth", "vote", "tic-tac-toe", "cmc", "credit-g", "flights")
QUICK_LIMIT = 20.0
QUICK_ROWS = 1_000
SLOW = ("EBM",)


def planned(options: argparse.Namespace, datasets: Sequence[tuple[Dataset, Source]], contenders: Sequence[str]) -> Run:
    """What is to be run, from the options."""
    for name in ("threads", "limit", "memory", "hours", "budget"):
        if getattr(options, name) <= 0:
            raise ParameterError(f"--{name} {getattr(options, name):g} must be more than 0.")
    settings = Settings(QUICK_ROWS, 2) if options.quick else Settings(folds=FOLDS)
    limit = min(options.limit, QUICK_LIMIT) if options.quick else options.limit
    budget = options.budget / settings.folds if options.tuned else None
    conditions = Conditions(options.threads, limit, options.memory, budget)
    store = Lines(options.output / (TUNED if options.tuned else RESULTS))
    store.check()
    left_out = SLOW if options.quick and not options.methods else ()
    chosen = {name: CONTENDERS[name] for name in contenders if name not in left_out}
    if options.tuned:
        chosen = {name: contender for name, contender in chosen.items() if contender.space}
    if options.force:
        store.forget([dataset.name for dataset, _ in datasets], chosen)
    return Run(datasets, chosen, settings, conditions, store, options.jobs, options.hours, options.retry)


def run(options: argparse.Namespace, datasets: Sequence[tuple[Dataset, Source]], contenders: Sequence[str]) -> int:
    """Run the arena and write it up; the exit code."""
    console = Console(stderr=True)
    options.output.mkdir(parents=True, exist_ok=True)
    whole = planned(options, datasets, contenders)
    console.print(
        f"{len(whole.datasets)} datasets, {len(whole.contenders)} contenders, {whole.settings}.", highlight=False
    )
    if not options.report:
        whole(console)
    page = write(whole, options.output)
    if whole.left_out:
        console.print(f"{len(whole.left_out)} datasets were left out: {', '.join(whole.left_out)}.", highlight=False)
    print(visible(str(page)))
    return 1 if options.datasets and whole.left_out else 0


def write(whole: Run, output: Path) -> Path:
    """Tables, figures and the page, from what is in the store."""
    here = [dataset.name for dataset in sorted((pair[0] for pair in whole.datasets), key=size)]
    here = [name for name in here if name not in whole.left_out]
    plain, tuned = (_compared(output / name, whole, here) for name in (RESULTS, TUNED))
    for folder in ("tables", "figures"):
        (output / folder).mkdir(exist_ok=True)
    sheets = all_sheets(plain)
    if tuned.tried:
        sheets.append(tuned_sheet(plain, tuned))
    for sheet in sheets:
        sheet.write(output / "tables")
    figures = all_figures(plain, output / "figures")
    conditions = f"{whole.conditions.threads} threads and {whole.conditions.limit:g} seconds a fold at most"
    return Page(plain, str(whole.settings), conditions, whole.left_out, sheets, figures).write(output)


def _compared(path: Path, whole: Run, datasets: Sequence[str]) -> Comparison:
    """What a store has of the settings of a run."""
    rows = [row for row in Lines(path).rows().values() if row.get("settings") == str(whole.settings)]
    return Comparison(outcomes_of(rows, datasets, list(whole.contenders)), whole.settings.folds)
