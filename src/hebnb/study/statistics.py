"""Comparing methods over datasets, as Demšar (2006) advises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from hebnb.foundation.arrays import FloatArray

# Of these, less is better.
LOSSES = ("log-loss", "Brier", "ECE", "fit s", "predict s")


def mean_ranks(values: FloatArray, lower_is_better: bool) -> FloatArray:
    """Mean rank of every column, 1 for the best, ties sharing their ranks; values of shape (datasets, methods).

    Examples
    --------
    >>> mean_ranks(np.array([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]), lower_is_better=False)
    array([1.  , 2.25, 2.75])
    """
    ranks: FloatArray = rankdata(values if lower_is_better else -values, axis=1).mean(axis=0)
    return ranks


def friedman_p(values: FloatArray) -> float:
    """p of Friedman's test that all columns are alike; NaN where there are too few of them."""
    if len(values) < 2 or values.shape[1] < 3 or np.all(values == values[:, :1]):
        return np.nan
    return float(friedmanchisquare(*values.T).pvalue)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Nemenyi's: mean ranks further apart than this differ significantly.

    Examples
    --------
    >>> round(critical_difference(7, 31), 2)
    1.62
    """
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


@dataclass(frozen=True)
class Paired:
    """Wins and losses of one method against another, and the p of Wilcoxon's signed-rank test, ties dropped."""

    wins: int
    losses: int
    p: float


def paired(ours: FloatArray, theirs: FloatArray, lower_is_better: bool) -> Paired:
    """Compare two methods dataset by dataset.

    Examples
    --------
    >>> paired(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.2, 0.4]), lower_is_better=True)
    Paired(wins=2, losses=0, p=0.5)
    """
    gain = (theirs - ours) if lower_is_better else (ours - theirs)
    gain = gain[gain != 0]
    p = float(wilcoxon(gain).pvalue) if len(gain) else np.nan
    return Paired(int((gain > 0).sum()), int((gain < 0).sum()), p)


def leaning(ours: FloatArray, theirs: FloatArray, lower_is_better: bool) -> float:
    """Whom Wilcoxon's signed ranks favour: positive for ours, negative for theirs.

    Examples
    --------
    >>> leaning(np.array([0.1, 0.2, 0.9]), np.array([0.2, 0.4, 0.1]), lower_is_better=False)
    0.0
    """
    gain = (theirs - ours) if lower_is_better else (ours - theirs)
    gain = gain[gain != 0]
    return float(np.sum(np.sign(gain) * rankdata(np.abs(gain))))


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's correction for several tests: the p at which each would still be rejected beside the others; NaN stays.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]  # NaN comes last
    steps = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * steps))
    return adjusted


def means(results: Any, metric: str, methods: list[str], bins: int = 10) -> Any:
    """Mean over folds by dataset (rows) and method (columns), of the datasets that have all of them: a table."""
    chosen = results[(results["bins"] == bins) & results["method"].isin(methods)]
    if chosen.empty:
        return chosen.pivot_table(index="dataset", columns="method", values=metric).reindex(columns=methods)
    table = chosen.pivot_table(index="dataset", columns="method", values=metric, aggfunc="mean", sort=True)
    return table.reindex(columns=methods).dropna()
