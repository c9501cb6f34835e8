"""What a fitted model knows about its features and categories, as numbers to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.vocabulary import Bins, Categories, Feature
from hebnb.counts.single import dense
from hebnb.errors import ParameterError
from hebnb.explain.contributions import against_others
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.scores.tables import posterior_mean, scores_by_code
from hebnb.structures.aode import AODE
from hebnb.structures.naive_bayes import NaiveBayes
from hebnb.weighting.leave_one_out import mutual_information


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
    information : float
        Mutual information with the class, in bits.
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
    information: float
    concentration: list[float]
    shrinkage: list[float]
    weight: float | None
    parent_weight: float | None


def feature_summaries(model: NaiveBayes | AODE) -> list[FeatureSummary]:
    """A line for every feature.

    Examples
    --------
    >>> (colour,) = feature_summaries(NaiveBayes().fit([["red"], ["red"], ["blue"], [None]] * 9, [0, 0, 1, 1] * 9))
    >>> colour.kind, colour.categories, colour.missing, round(colour.information, 2)
    ('text', 3, 0.25, 1.0)
    """
    counts = model.counts_
    m = marginal_concentration(model)
    shares = posterior_mean(0.0, counts.totals, 1.0, m)
    weights = getattr(model, "feature_weights_", None)
    parents: dict[int, float] = {}
    if isinstance(model, AODE) and weights is not None:
        parents = dict(zip(model.parents_.tolist(), model.parent_weights_.tolist(), strict=True))
    rows, information = counts.class_count.sum(), mutual_information(counts)
    summaries = []
    for f, (name, feature) in enumerate(zip(counts.vocabulary.names, counts.vocabulary.features, strict=True)):
        pooled = counts.pooled[f]
        gaps = pooled[-1] if feature.missing else rows - pooled.sum()
        alone = 0 if isinstance(feature, Bins) else np.count_nonzero(pooled == 1)
        summaries.append(
            FeatureSummary(
                name,
                kind_of(feature),
                feature.size,
                float(gaps / rows),
                float(alone / rows),
                float(information[f]),
                m[:, f].tolist(),
                shares[:, f].tolist(),
                None if weights is None else float(weights[f]),
                parents.get(f),
            )
        )
    return summaries


def marginal_concentration(model: NaiveBayes | AODE) -> FloatArray:
    """The concentration of every class and feature, of shape (C, F)."""
    found: FloatArray = model._marginal_concentration if isinstance(model, AODE) else model.concentration_
    return found


def kind_of(feature: Feature) -> str:
    """What the values of a feature are, in a word or two."""
    if isinstance(feature, Bins):
        return "times, cut" if feature.of_times else "numbers, cut"
    kind = feature.values.dtype.kind
    if kind != "O":
        return {"b": "yes or no", "f": "numbers"}.get(kind, "integers")
    kinds = {type(value).__name__ for value in feature.values.tolist()}
    return (
        {"str": "text", "date": "dates", "datetime": "times"}.get(kinds.pop(), "values") if len(kinds) == 1 else "mixed"
    )


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
        The smoothed share of each class among the rows with the category.
    information : array of shape (categories,)
        Bits that the category adds to what the feature tells about the class.
    """

    labels: list[str | None]
    count: FloatArray
    rate: FloatArray
    information: FloatArray


def telling_categories(model: NaiveBayes | AODE, f: int, most: int = 8) -> Telling:
    """The categories of a feature that tell most, the most telling first.

    The share of a class among rows with a category is its prior times the smoothed probability of the category, so a
    category with few rows is near the average. A category tells the divergence of these shares from the classes' own,
    times the share of rows that have it.

    Examples
    --------
    >>> model = NaiveBayes().fit([["red"], ["red"], ["blue"], ["green"]] * 9, [0, 0, 1, 0] * 9)
    >>> telling_categories(model, 0, most=1).labels
    ['blue']
    """
    counts = model.counts_
    table, pooled = dense(counts.tables[f]), counts.pooled[f]
    prior = np.exp(model.class_log_prior_)
    likelihood = posterior_mean(
        table, counts.totals[:, f], model.prior_mean_[f][:, np.newaxis], marginal_concentration(model)[:, f]
    )
    joint = prior * likelihood
    rate = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(rate > 0, rate * np.log2(rate / prior), 0.0).sum(axis=1)
    information = pooled / max(pooled.sum(), 1.0) * divergence
    best = np.argsort(-information, kind="stable")[:most]
    labels = as_labels(counts.vocabulary.features[f])
    return Telling([labels[v] for v in best], table[best], rate[best], information[best])


def as_labels(feature: Feature) -> list[str | None]:
    """The categories as text, by code; None for a gap."""
    if isinstance(feature, Categories):  # whose label for a gap may be NaN
        return [*map(str, feature.values.tolist()), *([None] if feature.missing else [])]
    return [None if label is None else str(label) for label in feature.labels.tolist()]


def nomogram_points(model: NaiveBayes, label: Any = None) -> dict[str, Array]:
    """What every category adds to the log-odds of a class, as the columns of a table.

    Parameters
    ----------
    model : NaiveBayes
    label : object, optional
        The class; by default the last.

    Returns
    -------
    dict of arrays
        ``feature``, ``value`` as text, ``log_odds`` and ``count`` of training rows, a line for every category.

    Examples
    --------
    >>> model = NaiveBayes("laplace").fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"])
    >>> nomogram_points(model, "yes")["log_odds"].round(2)
    array([ 0.98, -0.81])
    """
    if not isinstance(model, NaiveBayes):
        raise ParameterError(
            f"A nomogram needs features that add up by themselves, and those of {type(model).__name__} do not.",
            "Use NaiveBayes; model.explain shows rows of either.",
        )
    c = class_position(model, label)
    counts, n_classes = model.counts_, model.counts_.classes.size
    features = counts.vocabulary.features
    odds = []
    for feature, table in zip(features, model._scores, strict=True):
        odds.append(against_others(scores_by_code(table, feature.size, n_classes)[:-1])[:, c])
    return {
        "feature": np.repeat(
            np.array([str(name) for name in counts.vocabulary.names], dtype=object), counts.sizes.astype(int)
        ),
        "value": np.array([label for feature in features for label in as_labels(feature)], dtype=object),
        "log_odds": np.concatenate(odds),
        "count": np.concatenate(counts.pooled),
    }


def class_position(model: NaiveBayes | AODE, label: Any) -> int:
    """Where a class stands among the others; the last if none is named."""
    labels: list[Any] = model.classes_.tolist()
    if label is None:
        return len(labels) - 1
    if label not in labels:
        raise errors.unknown_name("label", label, [str(known) for known in labels])
    return labels.index(label)
