"""The paper's list of future work, as tables: other structures, trees of categories, numbers as trees of bins."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from hebnb.columns.column import Name
from hebnb.errors import HebnbError
from hebnb.foundation.arrays import IntArray
from hebnb.structures import EvidenceClassifier
from hebnb.study.methods import AGAINST_HNB, AGAINST_KDB, AGAINST_TAN
from hebnb.study.protocol import Settings, encoded, filled, is_nominal, parted, prepare, sampled, scores
from hebnb.study.published import Numbers
from hebnb.study.registry import FLIGHTS, Dataset
from hebnb.study.runner import BINS, Run
from hebnb.study.sources import Raw, Source
from hebnb.study.statistics import LOSSES, means, paired
from hebnb.study.store import Cell, Store
from hebnb.study.tables import Table

MEASURES = ("log-loss", "Brier", "ECE", "accuracy")
PAIRS = (*AGAINST_TAN, *AGAINST_KDB, *AGAINST_HNB)
FLAT, TREE, ALONE = "flat", "tree", ", alone"
CUT, NUMBERS = "10 bins", "trees of bins"

_REGIONS = {
    "North America": ("United-States", "Canada", "Outlying-US(Guam-USVI-etc)"),
    "Middle America": ("Mexico", "Puerto-Rico", "El-Salvador", "Cuba", "Jamaica", "Dominican-Republic", "Guatemala",
                       "Haiti", "Nicaragua", "Trinadad&Tobago", "Honduras"),
    "South America": ("Columbia", "Peru", "Ecuador"),
    "Western Europe": ("Germany", "England", "Italy", "Portugal", "Greece", "France", "Ireland", "Scotland",
                       "Holand-Netherlands"),
    "Eastern Europe": ("Poland", "Yugoslavia", "Hungary"),
    "East Asia": ("China", "Japan", "Taiwan", "Hong", "South"),
    "South-East Asia": ("Philippines", "Vietnam", "Thailand", "Cambodia", "Laos"),
    "South and West Asia": ("India", "Iran"),
}  # fmt: skip


def _under(fine: str, coarse: str) -> Callable[[Any], dict[str, list[str]]]:
    """Values of a column, each below the value of another that most of its rows have."""

    def hierarchy(X: Any) -> dict[str, list[str]]:
        above = X.groupby(fine)[coarse].agg(lambda values: values.value_counts().index[0])
        return {"value": [str(value) for value in above.index], "parent": [f"{coarse} {value}" for value in above]}

    return hierarchy


# Columns with a hierarchy that is known before any label is: by the data themselves, by geography, by beginnings.
TREES: dict[str, dict[str, Callable[[Any], Any]]] = {
    "click-prediction": {"ad_id": _under("ad_id", "advertiser_id")},
    "amazon-employee": {
        "ROLE_TITLE": _under("ROLE_TITLE", "ROLE_FAMILY"),
        "ROLE_ROLLUP_2": _under("ROLE_ROLLUP_2", "ROLE_ROLLUP_1"),
    },
    "adult": {
        "native-country": lambda _: {country: region for region, own in _REGIONS.items() for country in own},
    },
    "flights": {"flight": lambda _: [2, 3], "tailnum": lambda _: [2, 3, 4]},
}


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison.

    Parameters
    ----------
    dataset, fingerprint : str
        Which, and which copy of it.
    method : str
    model : EvidenceClassifier
    table : function
        The table that the model reads, by the rows that it learns from.
    labels : array of shape (S,)
    """

    dataset: str
    fingerprint: str
    method: str
    model: EvidenceClassifier
    table: Callable[[IntArray], Any]
    labels: IntArray

    def cell(self, settings: Settings, fold: int) -> Cell:
        """Where its result is kept."""
        definition = f"{self.model} on {self.fingerprint}"
        return Cell(self.dataset, self.method, BINS, fold, str(settings), definition)

    def measure(self, settings: Settings, fold: int) -> dict[str, Any]:
        """What it does on a fold."""
        train, test = parted(self.labels, settings, fold)
        X = self.table(train)
        model = self.model.fit(X.iloc[train], self.labels[train])
        proba = np.zeros((len(test), int(self.labels.max()) + 1))
        proba[:, model.classes_] = model.predict_proba(X.iloc[test])
        return scores(self.labels[test], proba)


def with_trees(dataset: Dataset, raw: Raw, settings: Settings) -> Iterator[Side]:
    """Columns with their hierarchies and without them, beside all other columns and alone."""
    X, labels = sampled(raw, settings)
    own = TREES[dataset.name]
    trees: dict[Name, Any] = {name: hierarchy(X) for name, hierarchy in own.items()}
    for columns, ending in ((list(X.columns), ""), (list(own), ALONE)):
        nominal = [name for name in columns if is_nominal(dataset, raw, name)]
        for method, hierarchies in ((FLAT, None), (TREE, trees)):
            model = EvidenceClassifier(max_crosses=0, categorical_features=nominal, hierarchies=hierarchies)
            yield Side(dataset.name, raw.fingerprint, method + ending, model, _always(X[columns]), labels)


def _always(X: Any) -> Callable[[IntArray], Any]:
    """The same table, whichever rows are learned from."""
    return lambda _: X


def of_numbers(dataset: Dataset, raw: Raw, settings: Settings) -> Iterator[Side]:
    """Numbers cut into ten bins, which are categories, and as trees of bins; none if there are no numbers."""
    import pandas as pd

    prepared = prepare(dataset, raw, settings)
    names = [f"x{n}" for n in range(len(prepared.columns))]
    nominal = [name for name, column in zip(names, prepared.columns, strict=True) if column.dtype.kind == "i"]
    if len(nominal) == len(names):
        return
    made = ((CUT, names, lambda column, train: encoded(column, train, BINS)), (NUMBERS, nominal, filled))
    for method, categorical, read in made:
        model = EvidenceClassifier(max_crosses=0, categorical_features=categorical)

        def table(train: IntArray, read: Callable[[Any, IntArray], Any] = read) -> Any:
            return pd.DataFrame({name: read(own, train) for name, own in zip(names, prepared.columns, strict=True)})

        yield Side(dataset.name, raw.fingerprint, method, model, table, prepared.labels)


def study(run: Run, output: Path, console: Console) -> int:
    """Run what is missing and write the tables; the exit code."""
    settings = run.settings
    of_paper = [(dataset, source) for dataset, source in run.datasets if dataset.name != FLIGHTS.name]
    methods = list(dict.fromkeys(method for pair in PAIRS for method in pair))
    Run(of_paper, methods, settings, run.store, run.jobs)(console)
    _compare(_sides(run.datasets, settings), settings, run.store, console)
    (output / "tables").mkdir(exist_ok=True)
    tables = all_tables(run.store.results(str(settings)))
    for table in tables:
        table.write(output / "tables")
        console.print(f"\n{table.title}\n{table.markdown()}", highlight=False, soft_wrap=True)
    failures = run.store.failures(str(settings))
    for name, method, _, fold, error in failures:
        console.print(f"failed: {name}, {method}, fold {fold}: {error.strip().rpartition(chr(10))[2]}", highlight=False)
    return 1 if failures else 0


def _sides(datasets: Iterable[tuple[Dataset, Source]], settings: Settings) -> Iterator[Side]:
    """All sides of all comparisons, as datasets can be had."""
    for dataset, source in datasets:
        try:
            raw = source.load(dataset)
        except HebnbError:
            continue  # the first run has said so
        if dataset.name in TREES:
            yield from with_trees(dataset, raw, settings)
        if dataset.name != FLIGHTS.name:
            yield from of_numbers(dataset, raw, settings)


def _compare(sides: Iterable[Side], settings: Settings, store: Store, console: Console) -> None:
    for side in track(sides, "trees", console=console):
        for fold in range(settings.folds):
            cell = side.cell(settings, fold)
            if not store.missing([cell]):
                continue
            try:
                store.put(cell, side.measure(settings, fold))
            except Exception:  # a failing cell must not stop the others, whatever it raised
                store.put(cell, None, traceback.format_exc())


def all_tables(results: Sequence[dict[str, Any]]) -> list[Table]:
    """Every table that the results allow."""
    import pandas as pd

    found = pd.DataFrame(results)
    if found.empty:
        return []
    structures = "Learned smoothing against Laplace's in three structures: paired Wilcoxon tests and means"
    numbers = "Numbers as trees of bins against ten bins: paired Wilcoxon tests and means"
    tables = [
        paired_table(found, "future-structures", structures, PAIRS),
        paired_table(found, "future-numbers", numbers, [(NUMBERS, CUT)]),
        by_dataset(found, "future-numbers-by-dataset", "Log-loss of numbers as trees of bins and in ten bins"),
        trees_table(found),
    ]
    return [table for table in tables if table.ours]


def paired_table(results: Any, name: str, title: str, pairs: Sequence[tuple[str, str]]) -> Table:
    """The first of each pair against the second, over the datasets that have both."""
    numbers: Numbers = {}
    for ours, theirs in pairs:
        for measure in MEASURES:
            table = means(results, measure, [ours, theirs])
            if table.empty:
                continue
            first, second = table.to_numpy().T
            outcome = paired(first, second, measure in LOSSES)
            row = f"{ours} against {theirs}, {measure}"
            numbers |= {(row, "wins"): outcome.wins, (row, "losses"): outcome.losses, (row, "p"): outcome.p}
            numbers |= {(row, "mean"): table[ours].mean(), (row, "other's mean"): table[theirs].mean()}
            numbers[row, "median change, %"] = 100 * float(np.median(first / second - 1))
            if measure == "ECE":
                numbers[row, "by chance"] = means(results, "ECE by chance", [ours])[ours].mean()
    return Table(name, title, numbers, {}, digits=3)


def by_dataset(results: Any, name: str, title: str) -> Table:
    """Log-loss of numbers, both ways."""
    numbers: Numbers = {}
    table = means(results, "log-loss", [CUT, NUMBERS])
    for dataset, (cut, tree) in zip(table.index, table.to_numpy(), strict=True):
        numbers |= {(dataset, CUT): cut, (dataset, NUMBERS): tree, (dataset, "change, %"): 100 * (tree / cut - 1)}
    return Table(name, title, numbers, {}, digits=4)


def trees_table(results: Any) -> Table:
    """Hierarchies of categories, beside all other columns and alone: log-loss, and folds in which it is lower."""
    numbers: Numbers = {}
    for ending in ("", ALONE):
        for dataset, own in results.groupby("dataset"):
            folds = own[own["method"].isin([FLAT + ending, TREE + ending])]
            table = folds.pivot_table(index="fold", columns="method", values=["log-loss", "ECE", "ECE by chance"])
            if table.empty:
                continue
            flat, tree = (table["log-loss"][side + ending] for side in (FLAT, TREE))
            row = f"{dataset}{ending}"
            numbers |= {(row, FLAT): flat.mean(), (row, TREE): tree.mean()}
            numbers |= {(row, "change, %"): 100 * (tree.mean() / flat.mean() - 1)}
            numbers |= {(row, "wins"): float((tree < flat).sum()), (row, "losses"): float((tree > flat).sum())}
            for column, side, measure in (
                ("ECE, flat", FLAT, "ECE"), ("ECE, tree", TREE, "ECE"), ("by chance", TREE, "ECE by chance"),
            ):  # fmt: skip
                numbers[row, column] = table[measure][side + ending].mean()
    title = "Hierarchies of categories against flat ones: log-loss, the folds that are won, and calibration error"
    return Table("future-trees", title, numbers, {}, digits=4)
