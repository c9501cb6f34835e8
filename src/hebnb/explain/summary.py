"""What a fitted model knows about its features and categories, as numbers to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.counts.single import dense
from hebnb.counts.unseen import seen_once
from hebnb.errors import ParameterError
from hebnb.evidence.single import class_rates, gains
from hebnb.explain.contributions import against_others
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.scores.build import levels
from hebnb.scores.score_tables import ScoreTables


@dataclass(frozen=True)
class FeatureSummary:
    """A feature, as a model sees it.

    Parameters
    ----------
    name : str or int
    kind : str
        What its values are.
    categories : int
        K, a gap's included.
    missing : float
        Share of the rows with a gap.
    unseen : float
        Share of the rows whose value no other row has: without the row, it would be unseen.
    gain : float
        How much more likely the class of a left-out row is with the feature than without any, in nats a row: zero or
        below for noise and for ids.
    concentration, shrinkage : list of C floats
        Strength of the prior in rows, and its share in the estimates, for every class.
    weight : float or None
        Exponent of the feature's factor, where it has one.
    parent_weight : float or None
        Exponent of the estimate that has the feature as its parent, where there is one.
    """

    name: Name
    kind: str
    categories: int
    missing: float
    unseen: float
    gain: float
    concentration: list[float]
    shrinkage: list[float]
    weight: float | None
    parent_weight: float | None


def feature_summaries(model: ScoreTables) -> list[FeatureSummary]:
    """A line for every feature.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["red"], ["red"], ["blue"], [None]] * 9, [0, 0, 1, 1] * 9)
    >>> (colour,) = feature_summaries(model.score_tables_)
    >>> colour.kind, colour.categories, colour.missing, round(colour.gain, 1)
    ('text', 3, 0.25, 0.7)
    """
    counts, combination = model.counts, model.combination
    m = levels(model.tables)[0]
    shares = np.stack([table.mean_shrinkage for table in model.tables], axis=1)
    weights = None if model.is_mean else combination.table_weights
    parents: dict[int, float] = {}
    if combination.estimate_weights is not None:
        parents = dict(zip(model.parents.tolist(), combination.estimate_weights.tolist(), strict=True))
    rows, gain = counts.class_count.sum(), gains(counts)
    summaries = []
    for f, (name, feature) in enumerate(zip(counts.vocabulary.names, counts.vocabulary.features, strict=True)):
        marginal = counts.marginal[f]
        gaps = marginal[-1] if feature.missing else rows - marginal.sum()
        summaries.append(
            FeatureSummary(
                name,
                feature.description,
                feature.size,
                float(gaps / rows),
                float(seen_once(counts, f) / rows),
                float(gain[f]),
                m[:, f].tolist(),
                shares[:, f].tolist(),
                None if weights is None else float(weights[f]),
                parents.get(f),
            )
        )
    return summaries


@dataclass(frozen=True)
class Telling:
    """Categories of a feature that say most about the class.

    Parameters
    ----------
    labels : list of str or None
        The categories; None is a gap.
    count : array of shape (categories, C)
        Training rows of each class.
    rate : array of shape (categories, C)
        The share of each class among the rows with the category, shrunk the more the fewer these are.
    information : array of shape (categories,)
        Bits that the category adds to what the feature tells about the class.
    """

    labels: list[str | None]
    count: FloatArray
    rate: FloatArray
    information: FloatArray


def telling_categories(model: ScoreTables, f: int, most: int = 8, least: float = 0) -> Telling:
    """The categories of a feature that tell most, of those that enough rows have, the most telling first.

    The share of a class among the rows of a category is shrunk towards that of categories as frequent, so a category
    with few rows is near the average, whatever the model. A category tells the divergence of these shares from the
    classes' own, times the share of rows that have it.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["red"], ["red"], ["blue"], ["green"]] * 9, [0, 0, 1, 0] * 9)
    >>> telling_categories(model.score_tables_, 0, most=1).labels
    ['blue']
    """
    counts = model.counts
    table, marginal = dense(counts.tables[f]), counts.marginal[f]
    prior = np.exp(model.log_prior)
    rate = class_rates(counts, f)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(rate > 0, rate * np.log2(rate / prior), 0.0).sum(axis=1)
    information = marginal / max(marginal.sum(), 1.0) * divergence
    enough = np.flatnonzero(marginal >= least)
    best = enough[np.argsort(-information[enough], kind="stable")[:most]]
    labels = counts.vocabulary.features[f].texts
    return Telling([labels[v] for v in best], table[best], rate[best], information[best])


def nomogram_points(model: ScoreTables, label: Any = None) -> dict[str, Array]:
    """What every category adds to the log-odds of a class, as the columns of a table.

    Parameters
    ----------
    model : ScoreTables
    label : object, optional
        The class; by default the most probable one before any value is known.

    Returns
    -------
    dict of arrays
        ``feature``, ``value`` as text, ``log_odds`` and ``count`` of training rows, a line for every category.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes("laplace").fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"])
    >>> nomogram_points(model.score_tables_, "yes")["log_odds"].round(2)
    array([ 0.98, -0.81])
    """
    if not model.adds_up_by_feature:
        raise ParameterError(
            "A nomogram needs features that add up by themselves, and those of this model depend on each other.",
            "Use NaiveBayes; model.explain shows rows of any model.",
        )
    c = class_position(model, label)
    counts = model.counts
    features, weights = counts.vocabulary.features, model.combination.table_weights
    odds = []
    for table, weight in zip(model.tables, weights.tolist(), strict=True):
        odds.append(against_others(weight * table.lines()[1][:-1])[:, c])
    return {
        "feature": np.repeat(
            np.array([str(name) for name in counts.vocabulary.names], dtype=object), counts.vocabulary.sizes
        ),
        "value": np.array([text for feature in features for text in feature.texts], dtype=object),
        "log_odds": np.concatenate(odds),
        "count": np.concatenate(counts.marginal),
    }


def class_position(model: ScoreTables, label: Any) -> int:
    """Where a class stands among the others; the most probable one, as long as no value is known, if none is named."""
    labels: list[Any] = model.counts.classes.values.tolist()
    if label is None:
        return int(np.argmax(model.log_prior))
    if label not in labels:
        raise errors.unknown_name("label", label, [str(known) for known in labels])
    return labels.index(label)
