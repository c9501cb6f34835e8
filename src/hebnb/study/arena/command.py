"""``python -m hebnb.study --arena``, from its options to the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rich.console import Console

from hebnb.errors import ParameterError
from hebnb.study.arena.children import Conditions
from hebnb.study.arena.contenders import CONTENDERS
from hebnb.study.arena.running import Run
from hebnb.study.arena.store import Lines
from hebnb.study.protocol import Settings
from hebnb.study.registry import Dataset
from hebnb.study.sources import Source

FOLDS = 5
# What --quick runs if nothing is named: small tables of every sort, and whoever is quick on them.
QUICK_DATASETS = ("hayes-roth", "vote", "tic-tac-toe", "cmc", "credit-g", "flights")
QUICK_LIMIT = 20.0
QUICK_ROWS = 1_000


def planned(options: argparse.Namespace, datasets: Sequence[tuple[Dataset, Source]], contenders: Sequence[str]) -> Run:
    """What is to be run, from the options."""
    for name in ("threads", "limit", "memory", "hours", "budget"):
        if getattr(options, name) <= 0:
            raise ParameterError(f"--{name} {getattr(options, name):g} must be more than 0.")
    settings = Settings(QUICK_ROWS, 2) if options.quick else Settings(folds=FOLDS)
    limit = min(options.limit, QUICK_LIMIT) if options.quick else options.limit
    budget = options.budget / settings.folds if options.tuned else None
    conditions = Conditions(options.threads, limit, options.memory, budget)
    store = Lines(options.output / ("tuned.jsonl" if options.tuned else "results.jsonl"))
    store.check()
    if options.force:
        store.path.unlink(missing_ok=True)
    chosen = {name: CONTENDERS[name] for name in contenders}
    if options.tuned:
        chosen = {name: contender for name, contender in chosen.items() if contender.space}
    return Run(datasets, chosen, settings, conditions, store, options.jobs, options.hours, options.retry)


def run(options: argparse.Namespace, datasets: Sequence[tuple[Dataset, Source]], contenders: Sequence[str]) -> int:
    """Run the arena and write it up; the exit code."""
    console = Console(stderr=True)
    options.output.mkdir(parents=True, exist_ok=True)
    whole = planned(options, datasets, contenders)
    console.print(
        f"{len(whole.datasets)} datasets, {len(whole.contenders)} contenders, {whole.settings}.", highlight=False
    )
    whole(console)
    return 0
