"""Running what is missing: contenders in processes, with limits, progress, and the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hebnb.errors import HebnbError
from hebnb.study.arena.children import Child, Conditions, Task
from hebnb.study.arena.contenders import LATE, Contender
from hebnb.study.arena.folds import Rows, rows_of
from hebnb.study.arena.measuring import Row
from hebnb.study.arena.store import Lines, Place, is_hopeless, stands, that_count, untried
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS, Dataset
from hebnb.study.sources import Source


@dataclass
class Run:
    """What is to be done, and what became of it.

    Parameters
    ----------
    datasets : list of (Dataset, Source)
    contenders : dict of str to Contender
    settings : Settings
    conditions : Conditions
    store : Lines
    jobs : int
        Number of processes at a time.
    hours : float
        When these are over, nothing is begun any more and what is being done is given up.
    retry : bool
        Whether what failed is tried again.
    left_out : dict of str to str
        Datasets that could not be had, and why; filled as the run goes.
    """

    datasets: Sequence[tuple[Dataset, Source]]
    contenders: Mapping[str, Contender]
    settings: Settings
    conditions: Conditions
    store: Lines
    jobs: int = 1
    hours: float = math.inf
    retry: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    _known: dict[Place, Row] = field(default_factory=dict, init=False)

    def __call__(self, console: Console) -> None:
        """Do what is missing."""
        told = _Told(self, console)
        end = time.monotonic() + 3600 * self.hours
        tasks = self._tasks(told)
        running: list[Child] = []
        with told:
            try:
                while time.monotonic() < end:
                    while len(running) < self.jobs and (task := next(tasks, None)) is not None:
                        free = set(range(self.jobs)) - {child.place for child in running}
                        running.append(Child(task, self.conditions, min(free)))
                    if not running:
                        break
                    patience = min([child.patience for child in running] + [end - time.monotonic()])
                    wait([child.results for child in running], max(0.0, patience))
                    running = [child for child in running if self._heard(child, told)]
            finally:
                for child in running:
                    child.end()

    def _heard(self, child: Child, told: _Told) -> bool:
        """Keep what a child has to say; whether it has more."""
        for fold, row in child.heard():
            self._keep(child.task.rows, child.task.name, fold, row, told)
        if child.done:
            child.end()
        return not child.done

    def _keep(self, rows: Rows, name: str, fold: int, row: Row, told: _Told) -> None:
        whole = {"dataset": rows.name, "method": name, "fold": fold} | self._about(rows, name) | row
        self._known[rows.name, name, fold] = whole
        self.store.add(whole)
        told.done(whole)

    def _about(self, rows: Rows, name: str) -> Row:
        """What a result is a result of."""
        return {
            "rows": len(rows.y),
            "threads": self.conditions.threads,
            "version": self.contenders[name].version,
            "fingerprint": rows.fingerprint,
            "settings": str(self.settings),
            "budget": self.conditions.budget,
        }

    def _tasks(self, told: _Told) -> Iterator[Task]:
        """What is missing, in turn. Datasets are loaded as their turn comes."""
        loaded: dict[str, Rows | None] = {}
        self._known = {place: row for place, row in self.store.rows().items() if not (self.retry and row.get("error"))}
        for turn in in_turn(self.datasets, self.contenders, self.settings.folds, self.conditions.budget is not None):
            dataset, name, contender = turn.dataset, turn.name, self.contenders[turn.name]
            if dataset.name not in loaded:
                loaded[dataset.name] = self._load(dataset, turn.source, told)
            rows = loaded[dataset.name]
            if rows is None:
                told.skip(dataset.name, name)
                continue
            known = self._standing(rows, name)
            missing = [fold for fold in turn.folds if fold not in known]
            told.found(dataset.name, name, len(turn.folds) - len(missing))
            in_vain = self._in_vain(name, known)
            if in_vain:
                for fold in missing:
                    self._keep(rows, name, fold, in_vain, told)
            elif missing:
                yield Task(name, contender, rows, tuple(missing), self.settings)

    def _standing(self, rows: Rows, name: str) -> dict[int, Row]:
        """Folds whose results stand."""
        about = self._about(rows, name)
        places = [(rows.name, name, fold) for fold in range(self.settings.folds)]
        standing = [row for row in map(self._known.get, places) if row is not None and stands(row, about)]
        return {row["fold"]: row for row in that_count(standing)}

    def _in_vain(self, name: str, known: Mapping[int, Row]) -> Row:
        """What is kept of further folds if there is no point in trying them; empty if there is."""
        contender = self.contenders[name]
        if contender.version is None:
            return {"error": f"not installed: pip install {contender.package}", "took s": 0.0}
        return next((untried(row) for row in known.values() if is_hopeless(row)), {})

    def _load(self, dataset: Dataset, source: Source, told: _Told) -> Rows | None:
        try:
            return rows_of(dataset, source.load(dataset), self.settings)
        except HebnbError as error:
            self.left_out[dataset.name] = str(error).partition("\n")[0]
            told.say(f"left out: {self.left_out[dataset.name]}")
            return None


@dataclass(frozen=True)
class Turn:
    """Folds of a dataset that a contender has its turn for."""

    dataset: Dataset
    source: Source
    name: str
    folds: range


def in_turn(
    datasets: Sequence[tuple[Dataset, Source]], contenders: Mapping[str, Contender], folds: int, everybody_late: bool
) -> list[Turn]:
    """Quick contenders first and small datasets first; those who are late do one fold of each before the next.

    Examples
    --------
    >>> from hebnb.study.arena.contenders import CONTENDERS
    >>> pairs = [(DATASETS[name], None) for name in ("adult", "vote")]
    >>> for turn in in_turn(pairs, {name: CONTENDERS[name] for name in ("CatBoost", "HEB-M")}, 2, False):
    ...     print(turn.name, turn.dataset.name, *turn.folds)
    HEB-M vote 0 1
    HEB-M adult 0 1
    CatBoost vote 0
    CatBoost adult 0
    CatBoost vote 1
    CatBoost adult 1
    """
    turns = []
    for dataset, source in sorted(datasets, key=lambda pair: size(pair[0])):
        for name, contender in contenders.items():
            late = everybody_late or contender.turn >= LATE
            parts = [range(fold, fold + 1) for fold in range(folds)] if late else [range(folds)]
            turns += [Turn(dataset, source, name, part) for part in parts]
    return sorted(turns, key=lambda turn: (0 if everybody_late else contenders[turn.name].turn, turn.folds.start))


def size(dataset: Dataset) -> int:
    """Numbers in the table that is used, times classes: boosted trees take about as long for each class as for two."""
    return min(dataset.rows, Settings().most_rows) * dataset.features * dataset.classes


def expected_seconds(left: Mapping[tuple[str, str], int], took: Mapping[tuple[str, str], float]) -> float | None:
    """How long the folds that are left should take, if each takes as long as the one most like it did.

    Parameters
    ----------
    left : dict of (dataset, contender) to int
        Folds that are left.
    took : dict of (dataset, contender) to float
        Seconds of a fold that was done. The one most like another is the same contender's on the dataset nearest in
        size; of a contender that has done none, the mean of all.

    Returns
    -------
    float or None
        None while nothing is known.

    Examples
    --------
    >>> expected_seconds({("car", "EBM"): 2, ("adult", "forest"): 1}, {("car", "EBM"): 10.0, ("vote", "HEB-M"): 2.0})
    26.0
    """
    if not took:
        return None
    mean = sum(took.values()) / len(took)
    total = 0.0
    for (dataset, name), folds in left.items():
        alike = [other for other, own in took if own == name]
        nearest = min(alike, key=lambda other: _distance(other, dataset), default=None)
        total += folds * (mean if nearest is None else took[nearest, name])
    return total


def _distance(one: str, other: str) -> float:
    return abs(math.log(size(DATASETS[one]) / size(DATASETS[other])))


class _Told:
    """What is shown while a run goes: a bar on a terminal, a line a fold elsewhere."""

    def __init__(self, run: Run, console: Console) -> None:
        self._run = run
        self._console = console
        self._left = {
            (dataset.name, name): run.settings.folds for dataset, _ in run.datasets for name in run.contenders
        }
        self._total = sum(self._left.values())
        self._took: dict[tuple[str, str], float] = {}
        self._in_vain: set[tuple[str, str]] = set()
        for (dataset, name, _), row in run.store.rows().items():
            self._remember((dataset, name), row)
        bar = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
        self._progress = Progress(TextColumn("{task.description:<34}"), *bar, console=console)
        self._bar = self._progress.add_task("starting", total=self._total, left="")

    def __enter__(self) -> _Told:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def found(self, dataset: str, name: str, folds: int) -> None:
        """So many folds were there already."""
        self._left[dataset, name] -= folds
        self._show(f"{dataset}, {name}")

    def skip(self, dataset: str, name: str) -> None:
        self._left[dataset, name] = 0
        self._show(f"{dataset}, {name}")

    def done(self, row: Row) -> None:
        """A fold has come."""
        place = row["dataset"], row["method"]
        self._left[place] -= 1
        self._remember(place, row)
        self._show(f"{row['dataset']}, {row['method']}")
        if not self._console.is_terminal:
            said = row.get("error") or f"log-loss {row['log-loss']:.4f}, fit {row['fit s']:.2f} s"
            where = f"{row['dataset']}, {row['method']}, fold {row['fold']}"
            count = f"{self._total - sum(self._left.values()):,} of {self._total:,}"
            self.say(f"{time.strftime('%H:%M:%S')}  {where}: {said} ({count} folds, {self._time_left()})")

    def _remember(self, place: tuple[str, str], row: Row) -> None:
        if row.get("took s"):
            self._took[place] = row["took s"]
        if is_hopeless(row) and not self._run.retry:
            self._in_vain.add(place)

    def _time_left(self) -> str:
        left = {place: folds for place, folds in self._left.items() if place not in self._in_vain}
        seconds = expected_seconds(left, self._took)
        return "" if seconds is None else f"about {duration(seconds / self._run.jobs)} left"

    def _show(self, what: str) -> None:
        done = self._total - sum(self._left.values())
        self._progress.update(self._bar, description=what, completed=done, left=self._time_left())


def duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> duration(45), duration(150), duration(7_300)
    ('45 s', '2 min', '2 h 2 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
