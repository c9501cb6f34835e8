"""What the page says: numbers from the comparison and from the best model, nothing drawn yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import entropy

from hebnb.estimators.alerts import Alert
from hebnb.explain.summary import FeatureSummary, feature_summaries
from hebnb.foundation.printable import visible
from hebnb.page.cards import Card, card
from hebnb.page.choices import LEAST, Choices, choices_of, class_names
from hebnb.page.comparison import BY_CHANCE, MEASURES, Comparison
from hebnb.page.crosses import CrossSummary, cross_summaries, heat_map
from hebnb.page.explorer import Examples, explorer_data
from hebnb.page.privacy import without_values
from hebnb.page.provenance import Provenance
from hebnb.page.trust import Trust, trust
from hebnb.scores.build import value_tables
from hebnb.scores.score_tables import ScoreTables
from hebnb.smoothing.posterior import class_log_prior
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
    least : float
        Rows that a category must have to be named.
    has_rows : bool
        Whether there are rows of the table on the page.
    classes : list of (label, share)
    shown : list of int
        The classes that tables and drawings tell apart, the most frequent first.
    comparison : Comparison, optional
        How methods did; None if there were no rows to try them on.
    verdict : str
    trust : Trust, optional
    cards : list of Card
        By the gain of left-out rows.
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
    merges_bins : bool
        Whether the explorer offers bins together that few rows have.
    provenance : Provenance
    """

    source: str
    target: str
    n_rows: int
    compared_rows: int
    notes: list[str]
    alerts: Sequence[Alert]
    least: float
    has_rows: bool
    classes: list[tuple[str, float]]
    shown: list[int]
    comparison: Comparison | None
    verdict: str
    trust: Trust | None
    cards: list[Card]
    shared_strength: bool
    crosses: list[CrossSummary]
    n_crosses: int
    maps: dict[int, int]
    explorer: dict[str, Any]
    explorer_model: str
    merges_bins: bool
    provenance: Provenance


def contents(
    target: str,
    comparison: Comparison | None,
    model: ScoreTables,
    provenance: Provenance,
    *,
    explored: tuple[str, ScoreTables],
    examples: Examples | None = None,
    notes: Sequence[str] = (),
    alerts: Sequence[Alert] = (),
    least: float = LEAST,
) -> Contents:
    """Put the page's numbers together.

    Parameters
    ----------
    target : str
    comparison : Comparison, optional
    model : ScoreTables
        The best method, fitted on all rows.
    provenance : Provenance
    explored : (str, ScoreTables)
        The name and the model that the explorer has.
    examples : Examples, optional
        Some rows, for the explorer; none are on the page without.
    notes : list of str
    alerts : list of Alert
    least : float, default=5
        Rows that a category must have to be named.
    """
    alerts = without_values(alerts) if least > 1 else alerts
    count, labels = model.counts.class_count, model.counts.classes.values.tolist()
    names = class_names(labels, count, least)
    shares = [(name, float(n / count.sum())) for name, n in zip(names, count.tolist(), strict=True)]
    own = feature_summaries(model)
    learned = own if model.rule.learns else feature_summaries(with_learned_smoothing(model))
    order = sorted(range(len(own)), key=lambda f: -np.nan_to_num(own[f].gain, nan=-np.inf))[:MOST_FEATURES]
    choices, shown_choices = Choices.of(model, least), Choices.of(explored[1], least)
    cards = [card(model, f, _with_weights(learned[f], own[f]), choices, alerts) for f in order]
    explorer = explorer_data(explored[1], shown_choices, names, examples)
    crosses, drawn = cross_summaries(model, least), explored[1] is model
    found = {cross.number: heat_map(model, cross.number, choices) for cross in crosses if drawn}
    maps = {number: drawing for number, drawing in found.items() if drawing is not None}
    compared = [] if comparison is None else _compared_names(comparison, labels, names)
    trusted = None if comparison is None else trust(comparison, compared, MOST_CLASSES)
    at = {str(label): c for c, label in enumerate(labels)}
    explorer |= {
        "maps": list(maps.values()),
        "cards": [own.drawing for own in cards],
        "thresholds": {} if trusted is None else {at[str(own.label)]: own.thresholds for own in trusted.classes},
        "before": np.exp(class_log_prior(count)).tolist(),
    }
    return Contents(
        source=visible(provenance.source, 200),
        target=visible(target, 60),
        n_rows=round(float(count.sum())),
        compared_rows=0 if comparison is None else len(comparison.codes),
        notes=[*notes, *_left_out(len(shares), len(own)), *_explorer_notes(explored[1])],
        alerts=alerts,
        least=least,
        has_rows=examples is not None,
        classes=shares,
        shown=np.argsort(-model.log_prior, kind="stable")[:MOST_CLASSES].tolist(),
        comparison=comparison,
        verdict="" if comparison is None else verdict(comparison, compared),
        trust=trusted,
        cards=cards,
        shared_strength=all(table.root is None for table in model.tables),
        crosses=crosses,
        n_crosses=len(model.tables) - len(own),
        maps={number: place for place, number in enumerate(maps)},
        explorer=explorer,
        explorer_model=explored[0],
        merges_bins=not all(own.is_plain for own in shown_choices.of_features),
        provenance=provenance,
    )


def with_learned_smoothing(model: ScoreTables) -> ScoreTables:
    """The model with the concentrations that its single features would have, had they been learned."""
    rule = HEB()
    return replace(model, rule=rule, tables=value_tables(model.counts, rule), estimates=None)


def verdict(comparison: Comparison, names: Sequence[str]) -> str:
    """What it comes to, in a sentence or two without jargon.

    Parameters
    ----------
    comparison : Comparison
    names : list of C str
        What the classes are called.
    """
    best = comparison.best
    counts = np.bincount(comparison.codes, minlength=len(names))
    if best.measures["log-loss"] > 0.99 * entropy(counts):
        return "These columns tell next to nothing about the class: its frequencies alone predict new rows as well."
    error, right = best.measures["ECE"], best.measures["accuracy"]
    if error <= 0.02:
        opening = "The probabilities can be taken at their word"
    elif error <= 2 * best.measures[BY_CHANCE]:
        opening = "As far as so few rows can tell, the probabilities can be taken at their word"
    elif error <= 0.05:
        opening = "The probabilities are a little off"
    else:
        opening = "The probabilities should not be taken at their word"
    chance = 100 * best.measures[BY_CHANCE]
    sentence = (
        f"{opening}: on average they miss by {100 * error:.1f} percentage points, where chance alone shows {chance:.1f}"
    )
    before = comparison.result("Laplace")
    if before is not None and before is not best:
        sentence += f" and textbook naive Bayes misses by {100 * before.measures['ECE']:.1f}"
    if comparison.ahead is not None:
        ahead = comparison.ahead
        sentence += (
            f". “{ahead.method.name}” ({ahead.method.summary}) has a lower log-loss on these rows: "
            f"{ahead.measures['log-loss']:.4f} instead of {best.measures['log-loss']:.4f}"
        )
    sentence += f". The best guess is right for {100 * right:.0f} rows in 100"
    label = visible(names[int(counts.argmax())], 40)
    gain = right - comparison.majority
    common = f"always saying “{label}” would be right for {100 * comparison.majority:.0f}"
    if gain >= 0.005:
        return f"{sentence}; {common}."
    return f"{sentence}; {common}, so it is worth using for its probabilities, not for its guesses."


def left_out(rows: int, which: str = "") -> str:
    """That rows were left out.

    Examples
    --------
    >>> left_out(1), left_out(2000, "without a label")
    ('1 row was left out', '2,000 rows without a label were left out')
    """
    named = f"{rows:,} {'row' if rows == 1 else 'rows'}{f' {which}' if which else ''}"
    return f"{named} {'was' if rows == 1 else 'were'} left out"


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
            "measures": {name: (value, value == best.get(name)) for name, value in result.measures.items()},
        }
        for result in comparison.results
    ]


def _compared_names(comparison: Comparison, labels: list[Any], names: list[str]) -> list[str]:
    """What the classes of the comparison are called: those of a sample may be fewer."""
    called = dict(zip(map(str, labels), names, strict=True))
    return [called.get(str(label), "(another class)") for label in comparison.classes.tolist()]


def _with_weights(learned: FeatureSummary, own: FeatureSummary) -> FeatureSummary:
    return FeatureSummary(**(vars(learned) | {"weight": own.weight, "parent_weight": own.parent_weight}))


def _left_out(n_classes: int, n_features: int) -> list[str]:
    """What tables leave out."""
    notes = []
    if n_classes > MOST_CLASSES:
        notes.append(f"Tables show the {MOST_CLASSES} most frequent classes, of {n_classes:,}; the explorer has all.")
    if n_features > MOST_FEATURES:
        notes.append(
            f"The page shows the {MOST_FEATURES} columns that tell most, of {n_features:,}; the explorer has all."
        )
    return notes


def _explorer_notes(model: ScoreTables) -> list[str]:
    """What the explorer leaves out."""
    most = choices_of(model)
    if max(feature.size for feature in model.counts.vocabulary.features) <= most:
        return []
    return [f"The explorer offers the {most:,} most frequent categories of a column."]
