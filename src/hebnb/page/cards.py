"""Columns as the page shows them: how their values are distributed, and the share of every class among their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.kinds import Kind
from hebnb.estimators.alerts import Alert
from hebnb.evidence.single import class_rates
from hebnb.explain.contributions import against_others
from hebnb.explain.summary import FeatureSummary, Telling, telling_categories
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.page.choices import Choices, FeatureChoices, short
from hebnb.page.explorer import packed
from hebnb.scores.score_tables import ScoreTables

# Categories that a card draws, those with most rows; of values that have an order, all.
MOST_BARS = 16
# Shares are held to a hundredth of a percent.
_FINEST = 10_000
# Cells of a column, categories times classes, beyond which what it adds is not summed up.
_MOST_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class Card:
    """A column.

    Parameters
    ----------
    feature : FeatureSummary
    taken_for : str
        What its values are in the model, and how many there are.
    push : float, optional
        By how much it moves the log-odds of a row beside the others, on average over training rows and classes; None
        where that depends on other columns.
    telling : Telling
    alerts : list of str
        What is odd about it.
    drawing : dict
        What its drawing needs.
    """

    feature: FeatureSummary
    taken_for: str
    push: float | None
    telling: Telling
    alerts: list[str]
    drawing: dict[str, Any]


def card(model: ScoreTables, f: int, summary: FeatureSummary, choices: Choices, alerts: Sequence[Alert] = ()) -> Card:
    """That of a feature."""
    told = [alert.sentence for alert in alerts if alert.column is not None and alert.column == summary.name]
    telling = telling_categories(model, f, least=choices.least)
    kind = model.counts.vocabulary.features[f]
    drawing = _drawing(model, f, choices.of_features[f], choices.least)
    return Card(summary, _taken_for(kind), _push(model, f), telling, told, drawing)


def _taken_for(kind: Kind) -> str:
    """What the values of a feature are, and how many there are, gaps aside."""
    n = kind.missing_code
    if not n:
        return "nothing but gaps"
    if kind.cut_at is not None:
        return f"{kind.description.removesuffix(', cut')} in {n:,} {'bin' if n == 1 else 'bins'}"
    return f"{kind.description}, {n:,} {'value' if n == 1 else 'values'}"


def _push(model: ScoreTables, f: int) -> float | None:
    table, counts = model.tables[f], model.counts
    size = counts.vocabulary.features[f].size
    if len(model.parents) or table.columns != (f,) or size * model.n_classes > _MOST_CELLS:
        return None
    weighted = float(model.combination.table_weights[f]) * table.lines()[1][:size]
    odds = np.abs(against_others(weighted)).mean(axis=1)
    return float(counts.marginal[f] @ odds / counts.class_count.sum())


def _drawing(model: ScoreTables, f: int, own: FeatureChoices, least: float) -> dict[str, Any]:
    """Values in their order, with rows and the shrunken share of every class; all others together."""
    counts = model.counts
    rows, rate = counts.marginal[f], class_rates(counts, f)
    drawn = own.codes if own.is_ordered else np.sort(own.codes[np.argsort(-rows[own.codes], kind="stable")[:MOST_BARS]])
    places = own.place[drawn]
    held, shares = _together(own, rows, rate)
    values = {
        "name": short(str(counts.vocabulary.names[f])),
        "ordered": own.is_ordered,
        "labels": [own.labels[place] for place in places.tolist()],
        "ticks": own.ticks,
        "rows": packed(held[places]),
        "rate": packed(np.rint(_FINEST * shares[places])),
    }
    rest = np.setdiff1d(np.flatnonzero(rows > 0), _members(own, places))
    if len(rest) and rows[rest].sum() >= max(least, 1):
        mean = rows[rest] @ rate[rest] / rows[rest].sum()
        values["others"] = {
            "values": len(rest),
            "rows": float(rows[rest].sum()),
            "rate": np.rint(_FINEST * mean).tolist(),
        }
    return values


def _together(own: FeatureChoices, rows: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows of every choice, and the shares of the classes, a mean over its values."""
    of = own.place[: len(rows)]
    member = np.flatnonzero(of >= 0)
    shares = np.zeros((len(own.codes), rate.shape[1]))
    weight = np.where(own.rows[of[member]] > 0, rows[member], 1.0)  # a bin that no row is in has a share too
    np.add.at(shares, of[member], weight[:, np.newaxis] * rate[member])
    total = np.bincount(of[member], weight, len(own.codes))
    return own.rows, shares / np.maximum(total, 1e-300)[:, np.newaxis]


def _members(own: FeatureChoices, places: IntArray) -> IntArray:
    """The codes that some choices stand for."""
    return np.flatnonzero(np.isin(own.place[:-1], places))
