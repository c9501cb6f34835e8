"""The tables of the paper, with its number beside ours in every place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hebnb.study import published
from hebnb.study.methods import AGAINST_AODE, AGAINST_HNB, AGAINST_KDB, AGAINST_TAN, BEYOND, FACTORIAL, SMOOTHERS, SWEEP
from hebnb.study.published import METRICS, Numbers
from hebnb.study.registry import HIGH_CARDINALITY, REPRESENTATIVE
from hebnb.study.runner import BINS, OTHER_BINS
from hebnb.study.statistics import LOSSES, critical_difference, friedman_p, mean_ranks, means, paired

_IN_LATEX = {
    "%": r"\%",
    "±": r"$\pm$",
    "ρ√N": r"$\rho\sqrt{N}$",
    "√N·log K": r"$\sqrt{N}\log K$",
    "α": r"$\alpha$",
    "–": "--",
}
# Columns of whole numbers.
COUNTED = ("wins", "losses", "datasets", "significant", "pairs")


@dataclass(frozen=True)
class Table:
    """Numbers by row and column, ours and published.

    Parameters
    ----------
    name : str
        Stem of the files.
    title : str
    ours, paper : dict of (row, column) to number
    note : str
    digits : int
        Decimals shown.
    """

    name: str
    title: str
    ours: Numbers
    paper: Numbers = field(default_factory=dict)
    note: str = ""
    digits: int = 2

    @property
    def rows(self) -> list[str]:
        """In the order in which they were filled."""
        return list(dict.fromkeys(row for row, _ in self.ours))

    @property
    def columns(self) -> list[str]:
        """In the order in which they were filled."""
        return list(dict.fromkeys(column for _, column in self.ours))

    def markdown(self) -> str:
        """As text: ours, and the paper's in brackets."""
        grid = [[self._shown(row, column) for column in self.columns] for row in self.rows]
        lines = [["", *self.columns], ["---", *["---:"] * len(self.columns)]]
        lines += [[row, *cells] for row, cells in zip(self.rows, grid, strict=True)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def latex(self) -> str:
        """For a paper."""
        head = " & ".join(["", *map(_escaped, self.columns)])
        body = [
            " & ".join([_escaped(row), *(_escaped(self._shown(row, column)) for column in self.columns)])
            for row in self.rows
        ]
        lines = [rf"\begin{{tabular}}{{l{'r' * len(self.columns)}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        return "\n".join([*lines, *(rf"{line} \\" for line in body), r"\bottomrule", r"\end{tabular}", ""])

    def csv(self) -> str:
        """One line a number."""
        lines = ["row,column,ours,paper"]
        for (row, column), number in self.ours.items():
            theirs = self.paper.get((row, column))
            lines.append(f'"{row}","{column}",{float(number)!r},{"" if theirs is None else theirs}')
        return "\n".join(lines) + "\n"

    def write(self, folder: Path) -> None:
        """All three."""
        for ending, text in (("md", self.markdown() + "\n"), ("tex", self.latex()), ("csv", self.csv())):
            (folder / f"{self.name}.{ending}").write_text(text, encoding="utf-8")

    def _shown(self, row: str, column: str) -> str:
        if (row, column) not in self.ours:
            return ""
        ours = self._number(self.ours[row, column], row, column)
        theirs = self.paper.get((row, column))
        return ours if theirs is None else f"{ours} ({self._number(theirs, row, column)})"

    def _number(self, number: float, row: str, column: str) -> str:
        if np.isnan(number):
            return "–"
        if "p" in (column, row.rpartition(" ")[2]):
            return f"{number:.1e}" if number < 0.001 else f"{number:.3f}"
        if "%" in row + column:
            return f"{number:.1f}"
        return f"{number:.0f}" if column in COUNTED else f"{number:.{self.digits}f}"


def all_tables(results: Any, l1: dict[float, float], diagnosed: Numbers) -> list[Table]:
    """Every table that the results allow."""
    tables = [
        *ranks(results),
        significant_wins(results),
        wilcoxon_table(results, "wilcoxon-minka", AGAINST_AODE, "Minka"),
        wilcoxon_table(results, "wilcoxon-exact", AGAINST_AODE),
        wilcoxon_table(results, "wilcoxon-tan", AGAINST_TAN),
        wilcoxon_table(results, "wilcoxon-kdb", AGAINST_KDB),
        wilcoxon_table(results, "wilcoxon-hnb", AGAINST_HNB),
        high_cardinality(results),
        calibration(results),
        *factorial(results),
        *sweep(results),
        oracle_gaps(results),
        discretisation(results),
        costs(results),
        l1_table(l1),
        diagnostics_table(diagnosed),
        beyond(results),
        per_dataset(results),
    ]
    return [table for table in tables if table.ours]


def solved(method: str, solver: str) -> str:
    """The name under which a method ran with a solver: learned concentrations have two."""
    return f"{method} (Minka)" if solver == "Minka" and method.startswith("HEB") else method


def _ranks_of(results: Any, methods: tuple[str, ...], solver: str, with_p: bool = False) -> tuple[Numbers, int]:
    numbers: Numbers = {}
    n_datasets = 0
    for metric in METRICS:
        table = means(results, metric, [solved(method, solver) for method in methods])
        if table.empty:
            return {}, 0
        n_datasets = len(table)
        mean = mean_ranks(table.to_numpy(), metric in LOSSES)
        numbers |= {(method, metric): float(rank) for method, rank in zip(methods, mean, strict=True)}
        if with_p:
            numbers["Friedman p", metric] = friedman_p(table.to_numpy())
    order = [*methods, "Friedman p"]
    return dict(sorted(numbers.items(), key=lambda item: order.index(item[0][0]))), n_datasets


def ranks(results: Any) -> list[Table]:
    """Mean ranks of the seven smoothers."""
    tables = []
    for solver in ("Minka", "exact"):
        numbers, n = _ranks_of(results, SMOOTHERS, solver, with_p=True)
        note = (
            f"Nemenyi's critical difference is {critical_difference(7, n):.2f} (paper, 31 datasets: 1.62)." if n else ""
        )
        title = f"Mean ranks of the smoothers over {n} datasets, {_solver(solver)}"
        tables.append(Table(f"ranks-{solver.lower()}", title, numbers, published.RANKS, note))
    return tables


def significant_wins(results: Any) -> Table:
    """How many of the six others HEB-M beats by more than the critical difference."""
    numbers: Numbers = {}
    for solver in ("Minka", "exact"):
        found, n = _ranks_of(results, SMOOTHERS, solver)
        for metric in METRICS if n else ():
            apart = [found[other, metric] - found["HEB-M", metric] for other in SMOOTHERS[1:]]
            wins = float(np.sum(np.array(apart) > critical_difference(7, n)))
            numbers[f"{metric}, {_solver(solver)}", "significant"] = wins
    paper = {
        (f"{metric}, {_solver('Minka')}", "significant"): float(w) for metric, w in published.SIGNIFICANT_WINS.items()
    }
    return Table(
        "significant-wins", "Smoothers, of six, that HEB-M beats significantly (Nemenyi, 0.05)", numbers, paper
    )


def wilcoxon_table(results: Any, name: str, pairs: Sequence[tuple[str, str]], solver: str = "exact") -> Table:
    """Methods with learned smoothing against others with Laplace's: the first of each pair against the second."""
    numbers: Numbers = {}
    for ours, theirs in pairs:
        for metric in METRICS:
            table = means(results, metric, [solved(ours, solver), theirs])
            if table.empty:
                continue
            learned, plain = table.to_numpy().T
            outcome = paired(learned, plain, metric in LOSSES)
            row = f"{ours} against {theirs}, {metric}"
            numbers |= {(row, "wins"): outcome.wins, (row, "losses"): outcome.losses, (row, "p"): outcome.p}
    rivals = ", ".join(dict.fromkeys(theirs for _, theirs in pairs))
    title = f"Paired Wilcoxon tests against {rivals}, ties dropped, {_solver(solver)}"
    return Table(name, title, numbers, published.WILCOXON)


def high_cardinality(results: Any) -> Table:
    """Log-loss of AODE with and without learned smoothing where categories are many."""
    methods = ["AODE", "HEB-AODE (Minka)", "HEB-AODE"]
    table = means(results, "log-loss", methods)
    numbers: Numbers = {}
    for name in HIGH_CARDINALITY:
        if name in table.index:
            plain, minka, exact = table.loc[name]
            numbers |= {
                (name, "AODE"): plain,
                (name, "HEB-AODE"): minka,
                (name, "change, %"): 100 * (minka / plain - 1),
                (name, "HEB-AODE, exact"): exact,
            }
    return Table(
        "log-loss-high-cardinality", "Log-loss where categories are many", numbers, published.HIGH_CARDINALITY, digits=4
    )


def calibration(results: Any) -> Table:
    """Top-1 calibration error, its standard deviation over folds, and its change."""
    numbers: Numbers = {}
    paper: Numbers = {}
    chosen = results[results["bins"] == BINS]
    for name in HIGH_CARDINALITY:
        of_method = chosen[chosen["dataset"] == name].groupby("method")
        mean, deviation, by_chance = of_method["ECE"].mean(), of_method["ECE"].std(), of_method["ECE by chance"].mean()
        for method in ("Laplace", "HEB-M", "HEB-M+GR"):
            run = solved(method, "Minka")
            if run not in mean.index:
                continue
            theirs = published.ECE[method, name]
            numbers |= {(method, name): mean[run], (method, f"{name} ±"): deviation[run]}
            numbers[method, f"{name}, by chance"] = by_chance[run]
            paper |= {(method, name): theirs[0], (method, f"{name} ±"): theirs[1]}
        if {"Laplace", "HEB-M+GR (Minka)"} <= set(mean.index):
            numbers["change, %", name] = 100 * (mean["HEB-M+GR (Minka)"] / mean["Laplace"] - 1)
            paper["change, %", name] = published.ECE_CHANGE[name]
    return Table(
        "calibration", "Top-1 calibration error, mean and standard deviation over folds", numbers, paper, digits=4
    )


def factorial(results: Any) -> list[Table]:
    """Smoothing by weighting."""
    tables = []
    for solver in ("Minka", "exact"):
        numbers, n = _ranks_of(results, FACTORIAL, solver)
        title = f"Smoothing by weighting: mean ranks of four over {n} datasets, {_solver(solver)}"
        tables.append(Table(f"factorial-{solver.lower()}", title, numbers, published.ORTHOGONALITY))
    return tables


def sweep(results: Any) -> list[Table]:
    """HEB-M among six values of Lidstone's α."""
    names = {"Lidstone": "Lidstone 0.1", "KT": "Lidstone 0.5", "Laplace": "Lidstone 1"}
    tables = []
    for solver in ("Minka", "exact"):
        numbers, n = _ranks_of(results, SWEEP, solver)
        ours = {(names.get(row, row), column): number for (row, column), number in numbers.items()}
        paper = {(names.get(row, row), column): number for (row, column), number in published.SWEEP.items()}
        title = f"A sweep of Lidstone's α: mean ranks over {n} datasets, {_solver(solver)}"
        tables.append(Table(f"sweep-{solver.lower()}", title, ours, paper))
    return tables


def oracle_gaps(results: Any) -> Table:
    """On how many datasets HEB-M's accuracy is near that of the α chosen with hindsight."""
    numbers: Numbers = {}
    paper: Numbers = {}
    for solver in ("Minka", "exact"):
        ours = solved("HEB-M", solver)
        table = means(results, "accuracy", [*SWEEP[:-1], ours])
        if table.empty:
            continue
        gap = 100 * (table.drop(columns=ours).max(axis=1) - table[ours])
        for points, theirs in published.ORACLE_GAPS.items():
            row = f"within {points} points, {_solver(solver)}"
            numbers[row, "datasets"] = float((gap <= points + 1e-9).sum())
            if solver == "Minka":
                paper[row, "datasets"] = float(theirs)
    return Table(
        "oracle-gaps", "Accuracy of HEB-M against the best α of each dataset, chosen with hindsight", numbers, paper
    )


def discretisation(results: Any) -> Table:
    """Mean accuracy with 5, 10 and 20 bins."""
    numbers: Numbers = {}
    methods = ["Laplace", "CAWNB", "AODE", "HEB-M (Minka)"]
    found = results[results["dataset"].isin(REPRESENTATIVE)]
    for bins in sorted((BINS, *OTHER_BINS)):
        table = means(found, "accuracy", methods, bins)
        for method in methods if len(table) else ():
            numbers[f"{bins} bins", method.removesuffix(" (Minka)")] = float(table[method].mean())
    return Table(
        "discretisation", "Mean accuracy over the representative subset", numbers, published.DISCRETISATION, digits=3
    )


def costs(results: Any) -> Table:
    """Mean seconds to fit and predict a fold, and memory."""
    chosen = results[results["bins"] == BINS]
    by_method = chosen.groupby("method", sort=False)[["fit s", "predict s", "peak MB"]].mean()
    numbers: Numbers = {}
    for method in by_method.index:
        numbers |= {(method, column): float(by_method.loc[method, column]) for column in by_method.columns}
    paper = {(solved(method, "Minka"), "fit s"): seconds for method, seconds in published.FIT_SECONDS.items()}
    note = "The paper timed another machine. Data are codes already; peak memory is that of fitting the first fold."
    return Table("costs", "Mean seconds a fold, and peak memory", numbers, paper, note, digits=3)


def l1_table(reductions: dict[float, float]) -> Table:
    """The percentages that the text quotes."""
    numbers: Numbers = {}
    paper: Numbers = {}
    for ratio, reduction in reductions.items():
        row = f"K/N = {ratio:g}"
        numbers[row, "reduction, %"] = reduction
        if ratio in published.L1_REDUCTION:
            paper[row, "reduction, %"] = float(np.mean(published.L1_REDUCTION[ratio]))
    note = "Where the paper gives a range, its middle is shown."
    return Table(
        "l1-reduction", "ℓ1 error of HEB below Laplace's, sparse truth (α = 0.3)", numbers, paper, note, digits=1
    )


def diagnostics_table(numbers: Numbers) -> Table:
    """How strongly the learned concentrations shrink, and whether they grow with K."""
    paper = {(name, "mean ρ√N"): number for name, number in published.RHO_ROOT_N.items()}
    paper |= {("all", "pairs"): published.PAIRS, ("all", "at the upper bound, %"): published.CLAMPED}
    return Table("concentrations", "Learned concentrations m of (class, feature) pairs", numbers, paper)


def beyond(results: Any) -> Table:
    """Leave-one-out weights beside what they are to improve on."""
    methods = ["HEB-M", "HEB-M+GR", "HEB-AODE", *BEYOND]
    numbers: Numbers = {}
    for metric in ("log-loss", "Brier", "ECE", "accuracy"):
        table = means(results, metric, methods)
        if table.empty:
            return Table("beyond", "", {})
        for method, rank in zip(methods, mean_ranks(table.to_numpy(), metric in LOSSES), strict=True):
            numbers[method, f"{metric} rank"] = float(rank)
            numbers[method, metric] = float(table[method].mean())
            if metric == "ECE":
                numbers[method, "by chance"] = float(means(results, "ECE by chance", methods)[method].mean())
    note = f"Nemenyi's critical difference is {critical_difference(len(methods), len(table)):.2f}."
    return Table(
        "beyond", f"Leave-one-out weights: mean ranks and means over {len(table)} datasets", numbers, {}, note, digits=3
    )


def per_dataset(results: Any) -> Table:
    """Log-loss of every method on every dataset."""
    chosen = results[results["bins"] == BINS]
    table = chosen.pivot_table(index="dataset", columns="method", values="log-loss", aggfunc="mean", sort=False)
    numbers = {
        (str(name), str(method)): float(table.loc[name, method])
        for name in table.index
        for method in table.columns
        if not np.isnan(table.loc[name, method])
    }
    return Table("log-loss", "Log-loss by dataset", numbers, digits=4)


def _solver(solver: str) -> str:
    return "50 Minka steps" if solver == "Minka" else "exact"


def _escaped(text: str) -> str:
    for plain, escaped in _IN_LATEX.items():
        text = text.replace(plain, escaped)
    return text
