"""What the page says: numbers from the comparison and from the best model, nothing drawn yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import entropy

from hebnb.estimators.alerts import Alert
from hebnb.explain.summary import FeatureSummary, Telling, feature_summaries, telling_categories
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible
from hebnb.metrics import reliability_curve
from hebnb.page.comparison import MEASURES, Comparison, Result
from hebnb.page.crosses import CrossSummary, cross_summaries, heat_map
from hebnb.page.explorer import choices_of, explorer_data
from hebnb.scores.build import value_tables
from hebnb.scores.score_tables import ScoreTables
from hebnb.smoothing.smoothers import HEB

# More than these are left out of tables and small drawings; the page says so.
MOST_FEATURES = 60
MOST_CLASSES = 12
# Rows that the explorer can be filled with.
EXAMPLES = 200


@dataclass(frozen=True)
class Contents:
    """Everything on the page.

    Parameters
    ----------
    source, target : str
        The table, and its column that is predicted.
    n_rows, compared_rows : int
        Rows learned from, and rows of the cross-validation.
    notes : list of str
        What a reader has to know about how the numbers came about.
    alerts : list of Alert
        What is odd about the table.
    classes : list of (label, share)
    comparison : Comparison
    verdict : str
    curves : dict of str to dict
        Reliability before and after.
    class_curves : list of (label, dict)
        Calibration per class, where there are more than two.
    features : list of FeatureSummary
        By the gain of left-out rows.
    telling : list of Telling
        In the order of ``features``.
    curves_of : list of (int or None)
        Which column of the explorer to draw as a curve, in the order of ``features``.
    shared_strength : bool
        Whether all classes share the strengths of the prior, which differ by level: no single number tells them.
    crosses : list of CrossSummary
        Those that say most.
    n_crosses : int
        How many the model has.
    maps : dict of int to int
        Which heat map of the explorer shows the table of that number.
    explorer : dict
    explorer_model : str
        Which model the explorer has.
    """

    source: str
    target: str
    n_rows: int
    compared_rows: int
    notes: list[str]
    alerts: Sequence[Alert]
    classes: list[tuple[str, float]]
    comparison: Comparison
    verdict: str
    curves: dict[str, dict[str, FloatArray]]
    class_curves: list[tuple[str, dict[str, FloatArray]]]
    features: list[FeatureSummary]
    telling: list[Telling]
    curves_of: list[int | None]
    shared_strength: bool
    crosses: list[CrossSummary]
    n_crosses: int
    maps: dict[int, int]
    explorer: dict[str, Any]
    explorer_model: str


def contents(
    source: str,
    target: str,
    comparison: Comparison,
    model: ScoreTables,
    *,
    explored: tuple[str, ScoreTables],
    examples: tuple[list[IntArray], IntArray],
    notes: list[str],
    alerts: Sequence[Alert] = (),
) -> Contents:
    """Put the page's numbers together.

    Parameters
    ----------
    source, target : str
    comparison : Comparison
    model : ScoreTables
        The best method, fitted on all rows.
    explored : (str, ScoreTables)
        The name and the model that the explorer has.
    examples : (codes, labels)
        Some rows, for the explorer.
    notes : list of str
    alerts : list of Alert
    """
    best = comparison.best
    count, labels = model.counts.class_count, model.counts.classes.values
    shares = [(visible(str(label), 60), float(n / count.sum())) for label, n in zip(labels, count, strict=True)]
    before = comparison.result("Laplace")
    curves = {result.method.name: _curve(comparison, result) for result in (before, best) if result is not None}
    own = feature_summaries(model)
    learned = own if model.rule.learns else feature_summaries(with_learned_smoothing(model))
    order = sorted(range(len(own)), key=lambda f: -np.nan_to_num(own[f].gain, nan=-np.inf))[:MOST_FEATURES]
    if len(shares) > MOST_CLASSES:
        notes = [
            *notes,
            f"Tables show the {MOST_CLASSES} most frequent classes, of {len(shares):,}; the explorer has all.",
        ]
    if len(own) > MOST_FEATURES:
        notes = [
            *notes,
            f"Tables show the {MOST_FEATURES} columns that tell most, of {len(own):,}; the explorer has all.",
        ]
    merged = [_with_weights(learned[f], own[f]) for f in order]
    explorer, crosses, drawn = explorer_data(explored[1], *examples), cross_summaries(model), explored[1] is model
    found = {cross.number: heat_map(model, cross.number) for cross in crosses if drawn}
    maps = {number: drawing for number, drawing in found.items() if drawing is not None}
    explorer["maps"] = list(maps.values())
    ticks = [feature["ticks"] for feature in explorer["features"]]
    rootless = all(table.root is None for table in model.tables)
    return Contents(
        source=visible(source, 200),
        target=visible(target, 60),
        n_rows=round(float(count.sum())),
        compared_rows=len(comparison.labels),
        notes=notes,
        alerts=alerts,
        classes=shares,
        comparison=comparison,
        verdict=verdict(comparison),
        curves=curves,
        class_curves=_class_curves(comparison),
        features=merged,
        telling=[telling_categories(model, f) for f in order],
        curves_of=[f if drawn and ticks[f] is not None else None for f in order],
        shared_strength=rootless,
        crosses=crosses,
        n_crosses=len(model.tables) - len(own),
        maps={number: place for place, number in enumerate(maps)},
        explorer=explorer,
        explorer_model=explored[0],
    )


def with_learned_smoothing(model: ScoreTables) -> ScoreTables:
    """The model with the concentrations that its single features would have, had they been learned."""
    rule = HEB()
    return replace(model, rule=rule, tables=value_tables(model.counts, rule), estimates=None)


def verdict(comparison: Comparison) -> str:
    """What it comes to, in a sentence or two without jargon."""
    best = comparison.best
    labels, counts = np.unique(comparison.labels, return_counts=True)
    if best.measures["log-loss"] > 0.99 * entropy(counts):
        return "These columns tell next to nothing about the class: its frequencies alone predict new rows as well."
    error, right = best.measures["ECE"], best.measures["accuracy"]
    if error <= 0.02:
        opening = "The probabilities can be taken at their word"
    elif error <= 2 * comparison.calibration_floor:
        opening = "As far as so few rows can tell, the probabilities can be taken at their word"
    elif error <= 0.05:
        opening = "The probabilities are a little off"
    else:
        opening = "The probabilities should not be taken at their word"
    sentence = f"{opening}: on average they miss by {100 * error:.1f} percentage points"
    before = comparison.result("Laplace")
    if before is not None and before is not best:
        sentence += f", where textbook naive Bayes misses by {100 * before.measures['ECE']:.1f}"
    if comparison.ahead is not None:
        ahead = comparison.ahead
        sentence += (
            f". {ahead.method.name}, {ahead.method.summary}, has a lower log-loss on these rows: "
            f"{ahead.measures['log-loss']:.4f} instead of {best.measures['log-loss']:.4f}"
        )
    sentence += f". The best guess is right for {100 * right:.0f} rows in 100"
    label = visible(str(labels[counts.argmax()]), 40)
    gain = right - comparison.majority
    common = f"always saying “{label}” would be right for {100 * comparison.majority:.0f}"
    if gain >= 0.005:
        return f"{sentence}; {common}."
    return f"{sentence}; {common}, so it is worth using for its probabilities, not for its guesses."


def measure_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """The comparison as lines of a table, with a mark where a method is best."""
    best = {
        name: (min if lower else max)(result.measures[name] for result in comparison.results)
        for name, lower in MEASURES.items()
    }
    return [
        {
            "name": result.method.name,
            "summary": result.method.summary,
            "chosen": result is comparison.best,
            "seconds": result.seconds,
            "measures": {name: (value, value == best[name]) for name, value in result.measures.items()},
        }
        for result in comparison.results
    ]


def _curve(comparison: Comparison, result: Result, label: Any = None) -> dict[str, FloatArray]:
    return reliability_curve(comparison.labels, result.proba, classes=comparison.classes, label=label)


def _class_curves(comparison: Comparison) -> list[tuple[str, dict[str, FloatArray]]]:
    """Of the most frequent classes, where there are more than two."""
    if len(comparison.classes) <= 2:
        return []
    occurring, counts = np.unique(comparison.labels, return_counts=True)
    labels: Array = occurring[np.argsort(-counts, kind="stable")[:MOST_CLASSES]]
    return [(visible(str(label), 40), _curve(comparison, comparison.best, label)) for label in labels.tolist()]


def _with_weights(learned: FeatureSummary, own: FeatureSummary) -> FeatureSummary:
    return FeatureSummary(**(vars(learned) | {"weight": own.weight, "parent_weight": own.parent_weight}))


def explorer_notes(model: ScoreTables) -> list[str]:
    """What the explorer leaves out."""
    sizes = [feature.size for feature in model.counts.vocabulary.features]
    most = choices_of(model)
    if max(sizes) <= most:
        return []
    return [f"The explorer offers the {most:,} most frequent categories of a column."]
