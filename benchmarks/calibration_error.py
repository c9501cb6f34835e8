"""Intervals and estimates of the calibration error, where the truth is known.

``python benchmarks/calibration_error.py`` draws probabilities in three ways, and lets them be wrong in nine, each a
function of what they say; so the calibration error that endless rows would show is known. For 50 to 10,000 rows it
counts how often every interval holds it, and how far off every estimate is. ``--record`` writes both tables for
docs/architecture.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.stats import norm

from hebnb.metrics.bins import Bins
from record import Results, Table, Value, record

SIZES = (50, 200, 1_000, 10_000)
DRAWN: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "evenly": lambda random, n: random.uniform(0.5, 0.999, n),
    "mostly sure": lambda random, n: 1 - 1e-4 - 0.4995 * random.beta(0.3, 1.5, n),
    "of many classes": lambda random, n: random.uniform(0.15, 0.95, n),
}
MISTAKES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "perfect": lambda p: p,
    "too sure": lambda p: 1 / (1 + (1 / p - 1) ** 0.7),
    "not sure enough": lambda p: 1 / (1 + (1 / p - 1) ** 1.5),
    "a bin is off": lambda p: np.where(p > 0.9, p - 0.1, p),
    "the sure are off": lambda p: np.where(p > 0.8, p - 0.03, p),
    "up and down": lambda p: np.clip(p + np.where((10 * p).astype(int) % 2, 0.05, -0.05), 0, 1),
    "1 point": lambda p: p - 0.01,
    "5 points": lambda p: p - 0.05,
    "20 points": lambda p: np.clip(p - 0.2, 0, 1),
}
OURS = "from less chance to debiased"
Z = float(norm.ppf(0.975))


def binned(said: np.ndarray, right: np.ndarray) -> Bins:
    """Bins of rows that are right, or not."""
    proba = np.stack([said, 1 - said], axis=1)
    return Bins.of(proba, np.where(right, 0, 1), np.ones(len(said)), 10, 0)


def bootstrapped(bins: Bins, random: np.random.Generator, draws: int = 300) -> np.ndarray:
    """Errors of rows that are drawn again: sizes of bins, and accuracies in them."""
    count = random.multinomial(int(bins.count.sum()), bins.share, draws)
    right = random.binomial(count, bins.accuracy) / np.maximum(count, 1)
    errors: np.ndarray = (count / bins.count.sum() * np.abs(right - bins.confidence)).sum(axis=1)
    return errors


def intervals(bins: Bins, random: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Those that were tried, at 95 %."""
    error, half = bins.error, Z * bins.standard_error
    low, high = np.quantile(bootstrapped(bins, random), [0.025, 0.975])
    explained = error <= np.quantile(bins.errors_by_chance(0), 0.975)
    return {
        "bootstrap, percentiles": (low, high),
        "bootstrap, reflected": (2 * error - high, 2 * error - low),
        "the error ± z": (error - half, error + half),
        "debiased ± z": (bins.debiased - half, bins.debiased + half),
        "the same, from 0 where chance explains it": (0 if explained else bins.debiased - half, bins.debiased + half),
        OURS: (error - bins.by_chance - half, bins.debiased + half),
    }


def estimates(bins: Bins) -> dict[str, float]:
    """Those that were tried."""
    gap, n = bins.accuracy - bins.confidence, bins.count
    unbiased = bins.share @ (gap**2 - bins.accuracy * (1 - bins.accuracy) / np.maximum(n - 1, 1))
    return {
        "the error": bins.error,
        "less what chance shows": max(bins.error - bins.by_chance, 0.0),
        "root of the debiased square": float(np.sqrt(max(unbiased, 0.0))),
        "debiased": bins.debiased,
    }


def simulate(trials: int) -> Results:
    """Both tables."""
    random = np.random.default_rng(0)
    held: dict[str, list[float]] = {}
    width: dict[str, list[float]] = {}
    off: dict[str, list[tuple[float, float]]] = {}
    for draw, mistake in product(DRAWN.values(), MISTAKES.values()):
        many = draw(random, 1_000_000)
        truth = np.abs(np.bincount((10 * many).astype(int), mistake(many) - many)).sum() / len(many)
        for n_rows in SIZES:
            found: dict[str, list[tuple[float, float]]] = {}
            guesses: dict[str, list[float]] = {}
            for _ in range(trials):
                said = draw(random, n_rows)
                bins = binned(said, random.random(n_rows) < mistake(said))
                for name, ends in intervals(bins, random).items():
                    low, high = np.clip(ends, 0, 1).tolist()
                    found.setdefault(name, []).append((low <= truth <= high, high - low))
                for name, estimate in estimates(bins).items():
                    guesses.setdefault(name, []).append(estimate - truth)
            for name, pairs in found.items():
                often, wide = np.mean(pairs, axis=0).tolist()
                held.setdefault(name, []).append(often)
                width.setdefault(name, []).append(wide)
            for name, misses in guesses.items():
                off.setdefault(name, []).append((float(np.mean(misses)), float(np.sqrt(np.mean(np.square(misses))))))
    rows: list[list[Value]] = [
        [name, min(own), float(np.mean(np.array(own) < 0.93)), float(np.mean(own)), float(np.mean(width[name]))]
        for name, own in held.items()
    ]
    heads = {"interval": "", "least": ".1%", "below 93 %": ".0%", "mean": ".1%", "mean width": ".3f"}
    other: list[list[Value]] = [
        [name, *(float(np.mean([abs(pair[0]) for pair in own[k :: len(SIZES)]])) for k in (1, 3)),
         *(float(np.mean([pair[1] for pair in own[k :: len(SIZES)]])) for k in (1, 3))]
        for name, own in off.items()
    ]  # fmt: skip
    columns = [("estimate", ""), ("bias, 200 rows", ".4f"), ("10,000 rows", ".4f"),
               ("root of mean square, 200 rows", ".4f"), ("10,000 rows", ".4f")]  # fmt: skip
    facts = {"settings": len(held[OURS]), "least-held": min(held[OURS]), "trials": trials}
    return Results({"intervals": Table(heads, rows), "estimates": Table(columns, other)}, facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300, help="tables of every sort and size")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/calibration_error.json")
    options = parser.parse_args()
    results = simulate(options.trials)
    for table in results.tables.values():
        print("\t".join(head for head, _ in table.document()["columns"]))
        for row in table.rows:
            print("\t".join(value if isinstance(value, str) else f"{value:.4f}" for value in row))
    if options.record:
        print(record("calibration_error", results))


if __name__ == "__main__":
    main()
