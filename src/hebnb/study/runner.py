"""Running what is missing: in processes, with progress, keeping every result as it comes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from hebnb.errors import HebnbError
from hebnb.study.methods import BINNED, METHODS
from hebnb.study.protocol import Prepared, Settings, measure, prepare, split
from hebnb.study.registry import REPRESENTATIVE, Dataset
from hebnb.study.sources import Source
from hebnb.study.store import Cell, Store

BINS = 10
OTHER_BINS = (5, 20)


@dataclass
class Run:
    """What is to be done, and what became of it.

    Parameters
    ----------
    datasets : list of (Dataset, Source)
    methods : list of str
    settings : Settings
    store : Store
    jobs : int
        Number of processes.
    left_out : dict of str to str
        Datasets that could not be had, and why; filled as the run goes.
    """

    datasets: Sequence[tuple[Dataset, Source]]
    methods: list[str]
    settings: Settings
    store: Store
    jobs: int = 1
    left_out: dict[str, str] = field(default_factory=dict)

    def __call__(self, console: Console) -> None:
        """Do what is missing."""
        columns = (
            TextColumn("{task.description:<20}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        total = sum(self._cells_of(dataset) for dataset, _ in self.datasets)
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("starting", total=total)
            pool = Parallel(self.jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
            for name, done in pool(self._work(lambda n: progress.advance(task, n), console)):
                progress.update(task, description=name, advance=done)

    def _cells_of(self, dataset: Dataset) -> int:
        return self.settings.folds * sum(len(methods) for _, methods in self._plan(dataset))

    def _plan(self, dataset: Dataset) -> Iterator[tuple[int, list[str]]]:
        """Numbers of bins and the methods run with them."""
        yield BINS, self.methods
        if dataset.name in REPRESENTATIVE:
            for bins in OTHER_BINS:
                yield bins, [method for method in self.methods if method in BINNED]

    def _work(self, advance: Callable[[int], None], console: Console) -> Iterator[Any]:
        """Folds with something missing, as tasks; datasets are loaded as their turn comes."""
        for dataset, source in self.datasets:
            try:
                prepared = prepare(dataset, source.load(dataset), self.settings)
            except HebnbError as error:
                self.left_out[dataset.name] = str(error).partition("\n")[0]
                console.print(f"left out: {self.left_out[dataset.name]}", highlight=False, style="yellow")
                advance(self._cells_of(dataset))
                continue
            wanted = list(self._wanted(prepared, dataset))
            missing = self.store.missing(wanted)
            advance(len(wanted) - len(missing))
            for (bins, fold), cells in groupby(missing, key=lambda cell: (cell.bins, cell.fold)):
                yield delayed(run_fold)(prepared, self.settings, (bins, fold), list(cells), self.store)

    def _wanted(self, prepared: Prepared, dataset: Dataset) -> Iterator[Cell]:
        for bins, methods in self._plan(dataset):
            for fold in range(self.settings.folds):
                for method in methods:
                    definition = f"{METHODS[method]()} on {prepared.fingerprint}"
                    yield Cell(dataset.name, method, bins, fold, str(self.settings), definition)


def run_fold(
    prepared: Prepared, settings: Settings, place: tuple[int, int], cells: Iterable[Cell], store: Store
) -> tuple[str, int]:
    """Measure methods on a fold and keep what comes out, errors included; the dataset and how many there were."""
    bins, number = place
    done = 0
    fold = None
    for done, cell in enumerate(cells, start=1):  # noqa: B007 (the count is returned)
        try:
            fold = fold or split(prepared, settings, number, bins)
            store.put(cell, measure(cell.method, fold, with_memory=number == 0))
        except Exception:  # a failing cell must not stop the others, whatever it raised
            store.put(cell, None, traceback.format_exc())
    return prepared.name, done
