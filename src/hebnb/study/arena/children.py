"""A contender at work in a process of its own, which can be stopped with everything that it starts."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from typing import Any

from hebnb.study.arena.contenders import Contender
from hebnb.study.arena.folds import Rows
from hebnb.study.arena.measuring import Row, measure
from hebnb.study.arena.resources import limit_memory
from hebnb.study.arena.store import is_hopeless, untried
from hebnb.study.protocol import Settings

OPENMP = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# What most contenders import, so that a process begins with it.
_PRELOADED = ["pandas", "sklearn.pipeline", "sklearn.ensemble", "hebnb.structures", "hebnb.study.arena.measuring"]


@dataclass(frozen=True)
class Conditions:
    """The same for everybody.

    Parameters
    ----------
    threads : int
        At most, of a contender.
    limit : float
        Seconds that a fold may take.
    memory : float
        Gigabytes that a process may take.
    budget : float or None
        Seconds of tuning a fold; None for defaults.
    """

    threads: int = 1
    limit: float = 600.0
    memory: float = 8.0
    budget: float | None = None

    @property
    def seconds(self) -> float:
        """That a fold may take altogether."""
        return self.limit + (self.budget or 0.0)


@dataclass(frozen=True)
class Task:
    """Folds of a dataset that a contender is to do."""

    name: str
    contender: Contender
    rows: Rows
    folds: tuple[int, ...]
    settings: Settings


class Child:
    """A task that is being done, at one of the places that a run has. Whoever starts one ends it."""

    def __init__(self, task: Task, conditions: Conditions, place: int = 0) -> None:
        self.task = task
        self.conditions = conditions
        self.place = place
        self._left = list(task.folds)
        self._untried: Row = {}
        context = _context(conditions.threads)
        self.results, sender = context.Pipe(duplex=False)
        lifeline, self._lifeline = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(sender, lifeline, task, conditions, place))
        self._process.start()
        self._began = time.monotonic()
        sender.close()
        lifeline.close()

    @property
    def patience(self) -> float:
        """Seconds until the fold that is being done has taken too long."""
        return max(0.0, self._began + self.conditions.seconds - time.monotonic())

    @property
    def done(self) -> bool:
        """Whether every fold has a result."""
        return not self._left

    def heard(self) -> Iterator[tuple[int, Row]]:
        """Folds and what became of them, if something did: a result, an end, or too long a silence."""
        if self.results.poll():
            yield self._finish(self._received())
        elif self.patience == 0:
            yield self._finish({"error": f"more than {self.conditions.limit:g} s"})
        if self._untried:
            while self._left:
                yield self._left.pop(0), self._untried

    def end(self) -> None:
        """Let a process that has sent everything end; kill any other, with its own."""
        if self.done and not self._untried:
            self._process.join(5)
        if self._process.is_alive():
            try:
                os.killpg(self._process.pid or 0, signal.SIGKILL)
            except ProcessLookupError:  # it has not even made its group
                self._process.kill()
            self._process.join()
        self._lifeline.close()
        self.results.close()

    def _received(self) -> Row:
        try:
            row: Row = self.results.recv()
        except EOFError:
            self._process.join(5)
            return {"error": f"died with exit code {self._process.exitcode}"}
        return row

    def _finish(self, row: Row) -> tuple[int, Row]:
        now = time.monotonic()
        fold = self._left.pop(0)
        if is_hopeless(row):
            self._untried = untried(row | {"fold": fold})
        took, self._began = now - self._began, now
        return fold, row | {"took s": took}


def _context(threads: int) -> Any:
    """Where processes come from: one that has imported what all need, with the number of threads set."""
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with _environment(dict.fromkeys(OPENMP, str(threads))):
        forkserver.ensure_running()
    return context


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(results: Connection, lifeline: Connection, task: Task, conditions: Conditions, place: int) -> None:
    """Do the folds, and send what came of each."""
    os.setsid()
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    warnings.simplefilter("ignore")
    limit_memory(conditions.memory)
    pin(conditions.threads, place)
    folds = list(task.rows.folds(task.settings))
    for number in task.folds:
        try:
            row = measure(task.contender, folds[number], conditions.threads, conditions.budget)
        except MemoryError:
            row = {"error": f"out of memory: more than {conditions.memory:g} GB"}
        except Exception as error:  # whatever a peer raises is a result
            row = {"error": f"{type(error).__name__}: {error}"[:300]}
        results.send(row)


def _end_with(lifeline: Connection) -> None:
    """A run that was killed cannot end its processes, so they notice that it is gone."""
    try:
        lifeline.recv()
    except EOFError:
        os.killpg(0, signal.SIGKILL)


def pin(threads: int, place: int = 0) -> None:
    """Keep this process, and all that it starts, to the cores of its place: as many as it may have threads.

    Not every program has a setting for threads, and two that run side by side shall not share a core.
    """
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[(place * threads + n) % len(cores)] for n in range(threads)})
