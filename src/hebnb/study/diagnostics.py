"""How large the learned concentrations are (section 5.5.3 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from hebnb.smoothing.smoothers import HEB
from hebnb.structures.naive_bayes import NaiveBayes
from hebnb.study.protocol import Prepared, Settings, fit, split
from hebnb.study.published import Numbers


def concentrations(prepared: Prepared, settings: Settings) -> list[dict[str, Any]]:
    """m̂, ρ = m̂/(N_c + m̂), N_c and K of every (class, feature) on the first training fold, as records."""
    fold = split(prepared, settings, 0)
    rule = HEB(solver="minka", max_iter=50)
    model = NaiveBayes(rule)
    fit(model, fold)
    records = []
    for c, rows in enumerate(model.class_count_):
        for f, categories in enumerate(model.categories_):
            m = float(model.concentration_[c, f])
            records.append(
                {
                    "dataset": prepared.name,
                    "class": c,
                    "feature": f,
                    "m": m,
                    "rho": m / (rows + m),
                    "N": float(rows),
                    "K": len(categories),
                    "clamped": m >= rule.bounds[1],
                }
            )
    return records


def summary(records: list[dict[str, Any]]) -> Numbers:
    """By dataset and over all: how many pairs there are, how strongly they are shrunk, and how m̂ goes with K.

    The paper has √N_c · log K as an envelope of m̂; the share of the pairs above it is a column.
    """
    whole = {name: np.array([record[name] for record in records]) for name in records[0]}
    numbers: Numbers = {}
    for name in (*sorted(set(whole["dataset"].tolist())), "all"):
        chosen = np.ones(len(records), dtype=bool) if name == "all" else whole["dataset"] == name
        m, rho, rows, size, clamped = (whole[part][chosen] for part in ("m", "rho", "N", "K", "clamped"))
        above = m > np.sqrt(rows) * np.log(size)
        alike = len(set(size.tolist())) == 1 or len(set(m.tolist())) == 1
        numbers |= {
            (name, "pairs"): len(m),
            (name, "mean ρ√N"): float(np.mean(rho * np.sqrt(rows))),
            (name, "at the upper bound, %"): 100 * float(np.mean(clamped)),
            (name, "above √N·log K, %"): 100 * float(np.mean(above)),
            (name, "rank correlation of m and K"): np.nan if alike else float(spearmanr(m, size).statistic),
        }
    return numbers
