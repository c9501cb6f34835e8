"""The ℓ1 error of the smoothers where the truth is known (section 5.2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hebnb.foundation.arrays import FloatArray
from hebnb.smoothing.posterior import posterior_mean
from hebnb.smoothing.smoothers import Smoother, smoother
from hebnb.smoothing.strength import CountLikelihood, Terms

SIZES = (10, 50, 100, 500)
ROWS = (50, 200, 1000, 5000)
SHAPES = (1.0, 0.3)
# With a single distribution there is no pooled one to shrink to; the marginal smoothers use the uniform mean.
SMOOTHERS = {
    "Laplace": "laplace",
    "Lidstone": "lidstone",
    "KT": "kt",
    "m-estimate": "m-estimate",
    "TE": "te",
    "HEB": "heb-u",
}


def l1_errors(trials: int = 50, seed: int = 42) -> list[dict[str, Any]]:
    """Mean ℓ1 error of every smoother for every (α, K, N), over so many draws, as records."""
    random = np.random.default_rng(seed)
    records = []
    for shape in SHAPES:
        for size in SIZES:
            for rows in ROWS:
                truth = random.dirichlet(np.full(size, shape), size=trials)
                counts = random.multinomial(rows, truth / truth.sum(axis=1, keepdims=True)).astype(float)
                for name, rule in SMOOTHERS.items():
                    error = np.abs(estimate(counts, smoother(rule)) - truth).sum(axis=1)
                    records.append({"alpha": shape, "K": size, "N": rows, "method": name, "l1": float(error.mean())})
    return records


def estimate(counts: FloatArray, rule: Smoother) -> FloatArray:
    """Smoothed probabilities of many distributions at once, of shape (distributions, K), towards equal ones."""
    n, size = counts.shape
    rows = counts.sum(axis=1)

    def evidence() -> CountLikelihood:
        at, value = np.nonzero(counts)
        ones = np.ones(n)
        return CountLikelihood(
            Terms(at, np.full(len(at), 1 / size), counts[at, value], np.ones(len(at)), n),
            Terms(np.arange(n), ones, rows, ones, n),
        )

    m = rule.concentration(np.full(n, float(size)), rows, evidence)
    return posterior_mean(counts, rows[:, np.newaxis], 1 / size, m[:, np.newaxis])


def reductions(records: list[dict[str, Any]], shape: float = 0.3) -> dict[float, float]:
    """By how many percent HEB's error is below Laplace's, by K/N, averaged over the (K, N) that have it."""
    found: dict[float, list[float]] = {}
    errors = {(r["K"], r["N"], r["method"]): r["l1"] for r in records if r["alpha"] == shape}
    for size, rows, method in errors:
        if method == "HEB":
            reduction = 100 * (1 - errors[size, rows, "HEB"] / errors[size, rows, "Laplace"])
            found.setdefault(size / rows, []).append(reduction)
    return {ratio: float(np.mean(values)) for ratio, values in sorted(found.items())}
