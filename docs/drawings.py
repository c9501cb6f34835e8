"""``python docs/drawings.py`` draws the figures of docs/how-it-works.md, on the flights that come with hebnb."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import gammaln

from hebnb import EvidenceClassifier, NaiveBayes, plots
from hebnb.datasets import load_flights

FOLDER = Path(__file__).parent / "how-it-works"
BLUE, ORANGE, GREY = "#2f6db3", "#c8651b", "#8a8a8a"


def shrinkage() -> Any:
    """What is said of a category in which half the rows are late, by its number of rows."""
    rows = np.arange(0, 61)
    figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for m, colour in ((0, GREY), (5, BLUE), (30, ORANGE)):
        with np.errstate(invalid="ignore"):
            ax.plot(
                rows, (rows / 2 + m * 0.2) / (rows + m), color=colour, label=f"m = {m}" + " (no smoothing)" * (m == 0)
            )
    ax.axhline(0.2, color="lightgrey", zorder=0)
    ax.text(60, 0.205, "share of all rows", ha="right", color=GREY)
    ax.set_xlabel("rows of the category, half of them late")
    ax.set_ylabel("estimate of the share late")
    ax.legend()
    return figure


def log_evidence(counts_v: np.ndarray, shares_v: np.ndarray, m: float) -> float:
    """Log probability of the counts of a class, if its shares are drawn around given ones with strength m."""
    gained = gammaln(counts_v + m * shares_v) - gammaln(m * shares_v)
    return float(gained.sum() + gammaln(m) - gammaln(counts_v.sum() + m))


def concentrations() -> Any:
    """How likely the counts of columns are under priors of different strength, and the strength that is learned."""
    X, y = load_flights(backend="pandas")
    model = NaiveBayes().fit(X, y)
    strengths = np.geomspace(10, 100_000, 160)
    figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for name, colour in (("month", BLUE), ("carrier", GREY), ("dest", ORANGE)):
        f = list(X.columns).index(name)
        counts_cv = np.asarray(model.category_count_[f])
        shares_v = counts_cv.sum(axis=0) / counts_cv.sum()
        found = np.array([log_evidence(counts_cv[0], shares_v, m) for m in strengths])
        learned = float(model.concentration_[0, f])
        ax.plot(strengths, found - found.max(), color=colour, label=name)
        ax.plot(learned, log_evidence(counts_cv[0], shares_v, learned) - found.max(), "o", color=colour)
    ax.set_xscale("log")
    ax.set_ylim(-12, 1)
    ax.set_xlabel("m, the strength of the prior in rows")
    ax.set_ylabel("log-likelihood of late flights,\nless its maximum")
    ax.legend()
    return figure


def of_flights(draw: Callable[[EvidenceClassifier, Any], Any]) -> Callable[[], Any]:
    """A drawing of what EvidenceClassifier learns of the flights."""

    def drawing() -> Any:
        X, y = load_flights(backend="pandas")
        return draw(EvidenceClassifier(max_order=2, max_crosses=12).fit(X, y), X).figure

    return drawing


DRAWINGS: dict[str, Callable[[], Any]] = {
    "shrinkage": shrinkage,
    "concentrations": concentrations,
    "tree-of-bins": of_flights(lambda model, X: plots.column(model, "sched_dep_time", label="late")),
    "cross": of_flights(lambda model, X: plots.cross(model, "month", "day", label="late", most=31)),
    "sum": of_flights(lambda model, X: plots.evidence(model, X, row=17)),
}


def main() -> None:
    """Draw all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, drawing in DRAWINGS.items():
        figure = drawing()
        figure.savefig(FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
