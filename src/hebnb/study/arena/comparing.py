"""Who is ahead of whom, by tests and in words that only tests may choose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hebnb.study.arena.measuring import COSTS, FURTHER, QUALITIES, Row
from hebnb.study.arena.store import stands, that_count, was_tried
from hebnb.study.statistics import LOSSES, Paired, critical_difference, friedman_p, holm, leaning, mean_ranks, paired

Outcome: TypeAlias = dict[str, Any]

ALPHA = 0.05
# Wilcoxon's test of fewer datasets can never reject.
LEAST_DATASETS = 6
# Log-losses below count as this much in ratios: whoever has one is certain and right, and the digits are no matter.
LEAST_LOSS = 1e-3
NOT_INSTALLED = "not installed"
NOT_REACHED = "not reached"
# Words for what has a reason in the store. A program that failed so is last where it failed.
TOO_SLOW, DIED, OUT_OF_MEMORY, RAISED = "too slow", "died", "out of memory", "raised"


def outcomes_of(rows: Iterable[Row], datasets: Sequence[str], contenders: Sequence[str]) -> list[Outcome]:
    """What became of every contender on every dataset: its folds, or the state in which it is without any.

    Whoever failed on a fold has failed on the dataset. A fold counts if all before it are there and are of the same
    program, so that of two contenders one has the folds of the other, and perhaps more.

    Parameters
    ----------
    rows : iterable of dict
        As the store has them.
    datasets, contenders : list of str

    Returns
    -------
    list of dict
        With ``dataset``, ``method``, ``state`` (empty where there are folds), ``reason``, ``folds`` (how many there
        are), of every measure its values on these, and ``took s``, of every fold that was begun.
    """
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["dataset"], row["method"]].append(row)
    return [_outcome(dataset, name, groups[dataset, name]) for dataset in datasets for name in contenders]


def _outcome(dataset: str, name: str, rows: Sequence[Row]) -> Outcome:
    rows = that_count(sorted(rows, key=lambda row: int(row["fold"])))
    done = [row for n, row in enumerate(rows) if row["fold"] == n and stands(row, rows[0])]
    found: Outcome = {"dataset": dataset, "method": name, "rows": rows[0].get("rows") if rows else None}
    if rows and rows[0].get("budget"):
        found["budget"] = rows[0]["budget"]
    found["took s"] = {row["fold"]: row.get("took s") or 0.0 for row in rows}
    reason = next((row["error"] for row in rows if row.get("error") and was_tried(row)), None)
    if reason is not None:
        return found | {"state": _failure(reason), "reason": reason, "folds": 0}
    found |= {"state": "" if done else NOT_REACHED, "folds": len(done)}
    for measure in (*QUALITIES, *COSTS, *FURTHER):
        numbers = [row.get(measure) for row in done]
        if any(number is not None for number in numbers):
            found[measure] = [np.nan if number is None else number for number in numbers]
    return found


def _failure(reason: str) -> str:
    if reason.startswith(NOT_INSTALLED):
        return NOT_INSTALLED
    if reason.startswith("more than"):
        return TOO_SLOW
    if OUT_OF_MEMORY in reason.lower():  # programs that are not Python's have errors of their own for it
        return OUT_OF_MEMORY
    return DIED if reason.startswith("died") else RAISED


@dataclass(frozen=True)
class Judged:
    """One contender beside another: on how many datasets, with what outcome, and the word that the test allows."""

    datasets: int
    outcome: Paired
    adjusted: float
    word: str


@dataclass(frozen=True)
class Comparison:
    """All outcomes of an arena, by measure.

    Parameters
    ----------
    outcomes : list of dict
        Of every dataset and contender.
    wanted : int
        How many folds everybody was to do.
    """

    outcomes: Sequence[Outcome]
    wanted: int

    @cached_property
    def datasets(self) -> list[str]:
        """In the order of the outcomes."""
        return list(dict.fromkeys(outcome["dataset"] for outcome in self.outcomes))

    @cached_property
    def contenders(self) -> list[str]:
        """In the order of the outcomes."""
        return list(dict.fromkeys(outcome["method"] for outcome in self.outcomes))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Rows of every dataset that somebody has reached."""
        return {outcome["dataset"]: outcome["rows"] for outcome in self.outcomes if outcome["rows"]}

    def values(self, measure: str) -> Any:
        """A table of a measure: datasets as rows, contenders as columns; means over the folds that a contender has."""
        return self._means(measure, self.folds)

    def shared(self, measure: str, names: Sequence[str]) -> Any:
        """The same of some contenders, as means over the folds that all of them have; who has none is left aside."""
        return self._means(measure, self.folds[list(names)].clip(upper=self.shared_folds(names), axis="index"))

    def shared_folds(self, names: Sequence[str]) -> Any:
        """A column of how many folds all of some contenders have of a dataset, but for those who have none."""
        folds = self.folds[list(names)]
        return folds.where(folds > 0).min(axis="columns").fillna(0).astype(int)

    def first(self, measure: str) -> Any:
        """A table of a measure on the first fold."""
        return self._means(measure, self.folds.clip(upper=1))

    def _means(self, measure: str, folds: Any) -> Any:
        """Of the first folds, so many of each."""
        cells = self._table(measure)
        rows = [[mean_of(cells.loc[d, name], int(folds.loc[d, name])) for name in folds] for d in self.datasets]
        return pd.DataFrame(rows, self.datasets, folds.columns, dtype=float)

    @cached_property
    def folds(self) -> Any:
        """A table of how many folds a contender has of a dataset; 0 where it failed."""
        return self._table("folds").astype(int)

    @cached_property
    def took(self) -> Any:
        """A table of the seconds that the folds took by the clock, failed ones too."""
        return self._table("took s").map(lambda seconds: sum(seconds.values())).astype(float)

    @cached_property
    def partial(self) -> Any:
        """A table of whether a contender has some folds of a dataset, and not all."""
        return (self.folds > 0) & (self.folds < self.wanted)

    @cached_property
    def states(self) -> Any:
        """A table of the states."""
        return self._table("state")

    @cached_property
    def ended(self) -> Any:
        """A table of whether a contender has an outcome on a dataset, be it of one fold, of all, or a failure."""
        return self.states.isin(["", TOO_SLOW, DIED, OUT_OF_MEMORY, RAISED])

    @cached_property
    def reached(self) -> list[str]:
        """Datasets on which at least half of the contenders have an outcome: a run may still be on its way."""
        return [dataset for dataset, share in self.ended.mean(axis="columns").items() if share >= 0.5]

    @cached_property
    def tested(self) -> list[str]:
        """Contenders that have an outcome on all of these. Others are not installed, or were not reached."""
        return [name for name in self.contenders if self.reached and self.ended.loc[self.reached, name].all()]

    def block(self, measure: str) -> Any:
        """The values of those that are tested, on the folds that they share; who failed is worse than anybody else."""
        values = self.shared(measure, self.tested).loc[self.reached].round(6)
        failed = self.folds.loc[self.reached, self.tested] == 0
        return values.mask(failed, np.inf if measure in LOSSES else -np.inf).dropna()

    @cached_property
    def unfailing(self) -> list[str]:
        """Datasets among these on which nobody failed who is tested."""
        folds = self.folds.loc[self.reached, self.tested]
        return list(folds.index[(folds > 0).all(axis="columns")])

    def ranks(self, measure: str, datasets: Sequence[str] | None = None) -> dict[str, float]:
        """Mean rank of every contender that is tested; on some datasets only, if there are any given."""
        block = self.block(measure)
        if datasets is not None:
            block = block[block.index.isin(datasets)]
        if block.empty:
            return {}
        return dict(zip(block.columns, mean_ranks(block.to_numpy(), measure in LOSSES).tolist(), strict=True))

    def friedman(self, measure: str) -> float:
        """p of Friedman's test."""
        return friedman_p(self.block(measure).to_numpy())

    @property
    def tried(self) -> bool:
        """Whether anything was run at all."""
        return any(outcome["state"] != NOT_REACHED for outcome in self.outcomes)

    @property
    def critical(self) -> float:
        """Nemenyi's critical difference of the ranks."""
        return critical_difference(len(self.tested), len(self.reached))

    def against(self, hero: str, measure: str, *, by_ratio: bool = False) -> dict[str, Judged]:
        """A contender against every other, on the folds that both have: Wilcoxon's test, corrected by Holm's way.

        The test compares how large differences are. Those of log-losses are largest where the losses are; by their
        ratios every dataset has the same weight.
        """
        lower = measure in LOSSES
        others = [name for name in self.contenders if name != hero]
        pairs = [self.shared(measure, [hero, other]).dropna().to_numpy().T for other in others]
        if by_ratio:
            pairs = [np.log(pair.clip(min=LEAST_LOSS)) for pair in pairs]
        outcomes = [paired(ours, theirs, lower) for ours, theirs in pairs]
        enough = [pair.shape[1] >= LEAST_DATASETS for pair in pairs]
        adjusted = holm(np.where(enough, [outcome.p for outcome in outcomes], np.nan))
        words = [
            word(p, leaning(ours, theirs, lower), there)
            for p, (ours, theirs), there in zip(adjusted, pairs, enough, strict=True)
        ]
        return {
            other: Judged(pair.shape[1], outcome, float(p), said)
            for other, pair, outcome, p, said in zip(others, pairs, outcomes, adjusted, words, strict=True)
        }

    def _table(self, measure: str) -> Any:
        cells = {(o["dataset"], o["method"]): o.get(measure) for o in self.outcomes}
        rows = [[cells.get((dataset, name)) for name in self.contenders] for dataset in self.datasets]
        return pd.DataFrame(rows, self.datasets, self.contenders, dtype=object)


def word(p: float, leans: float, enough: bool) -> str:
    """The word that a test allows for one contender beside another.

    Examples
    --------
    >>> word(0.001, 20.0, True), word(0.001, -20.0, True), word(0.3, 20.0, True), word(0.001, 20.0, False)
    ('ahead of', 'behind', 'level with', 'not compared')
    """
    if not enough:
        return "not compared"
    if not p < ALPHA:  # NaN, where all are ties, is level too
        return "level with"
    return "ahead of" if leans > 0 else "behind"


def standing(hero: str, judged: Mapping[str, Judged], titles: Mapping[str, str]) -> str:
    """How a contender stands, as a sentence. It is first only if the test says that it is ahead of everybody.

    Examples
    --------
    >>> ahead = Judged(31, Paired(30, 1, 1e-6), 1e-5, "ahead of")
    >>> level = Judged(31, Paired(16, 15, 0.9), 0.9, "level with")
    >>> standing("a", {"b": ahead, "c": ahead}, {"a": "A", "b": "B", "c": "C"})
    'A is first: ahead of B and C.'
    >>> standing("a", {"b": level, "c": ahead}, {"a": "A", "b": "B", "c": "C"})
    'A is level with B; ahead of C.'
    """
    groups: dict[str, list[str]] = {"behind": [], "level with": [], "ahead of": [], "not compared": []}
    for other, one in judged.items():
        groups[one.word].append(titles[other])
    uncompared = groups.pop("not compared")
    said = [f"{start} {_listed(names)}" for start, names in groups.items() if names]
    is_first = bool(groups["ahead of"]) and len(groups["ahead of"]) == len(judged)
    text = f"{titles[hero]} is {'first: ' if is_first else ''}{'; '.join(said)}." if said else ""
    if uncompared:
        text += f" Not compared, for want of datasets that both have: {_listed(uncompared)}."
    return text.strip()


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


@dataclass(frozen=True)
class Worst:
    """A dataset on which somebody has a lower loss on so many folds, and by how much."""

    dataset: str
    peer: str
    folds: int
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / max(self.theirs, LEAST_LOSS)


def worst_pairs(
    comparison: Comparison, hero: str, peers: Sequence[str], n: int = 10, least: float = 0.005
) -> list[Worst]:
    """Where a contender loses most, by the ratio of log-losses on the folds that both have; of every dataset one peer.

    A difference below ``least`` nats is none: a ratio of two numbers near zero says nothing.
    """
    pairs = [pair for peer in peers for pair in _beside(comparison, hero, peer)]
    losing = sorted((one for one in pairs if one.ours - one.theirs >= least), key=lambda one: one.ratio)
    of_dataset = {one.dataset: one for one in losing}  # the last of a dataset is the worst
    return sorted(of_dataset.values(), key=lambda one: one.ratio, reverse=True)[:n]


def _beside(comparison: Comparison, hero: str, peer: str) -> Iterator[Worst]:
    """Two contenders on every dataset that both have."""
    folds = comparison.shared_folds([hero, peer])
    for dataset, losses in comparison.shared("log-loss", [hero, peer]).dropna().iterrows():
        yield Worst(str(dataset), peer, int(folds[dataset]), float(losses[hero]), float(losses[peer]))


def mean_of(numbers: Sequence[float] | None, folds: int) -> float:
    """Of the first folds, with seven digits; NaN where there are none."""
    return float(f"{np.mean(numbers[:folds]):.7g}") if numbers and folds else np.nan
