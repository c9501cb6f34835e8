"""How large the learned concentrations are (section 5.5.3 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.smoothing.smoothers import HEB
from hebnb.structures.naive_bayes import NaiveBayes
from hebnb.study.protocol import Prepared, Settings, fit, split


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


def summary(records: list[dict[str, Any]]) -> dict[str, float]:
    """Mean ρ√N_c by dataset and over all, and the percentage at the upper bound."""
    scaled = np.array([r["rho"] * np.sqrt(r["N"]) for r in records])
    names = np.array([r["dataset"] for r in records])
    numbers = {name: float(scaled[names == name].mean()) for name in sorted(set(names.tolist()))}
    numbers["all"] = float(scaled.mean())
    numbers["clamped, %"] = 100 * float(np.mean([r["clamped"] for r in records]))
    return numbers
