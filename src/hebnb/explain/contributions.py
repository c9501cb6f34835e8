"""Why a row got its score: what every feature added, and how much of that is data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hebnb.columns.column import Name
from hebnb.foundation.arrays import Array, FloatArray, IntArray, blocks
from hebnb.scores.estimates import Estimates
from hebnb.scores.lookups import separate
from hebnb.scores.score_tables import ScoreTables

PRIOR, AVERAGING = "(prior)", "(averaging)"


@dataclass(frozen=True)
class Contributions:
    """Scores of encoded rows, taken apart; all parts of a row and class add up to its score.

    Parameters
    ----------
    prior : array of shape (S, C)
        What is known before any feature.
    of_features : array of shape (S, F, C)
        What each feature adds.
    shrinkage : array of shape (S, F, C)
        The share of the prior in the probabilities behind that, between 0 and 1.
    averaging : array of shape (S, C), optional
        What a mean of estimates has that a weighted sum of their logs lacks.
    """

    prior: FloatArray
    of_features: FloatArray
    shrinkage: FloatArray
    averaging: FloatArray | None = None

    @classmethod
    def of_all(cls, blocks: Iterable[Contributions]) -> Contributions:
        """That of the rows of all blocks."""
        several = list(blocks)
        averaging = [part.averaging for part in several if part.averaging is not None]
        return cls(
            np.concatenate([part.prior for part in several]),
            np.concatenate([part.of_features for part in several]),
            np.concatenate([part.shrinkage for part in several]),
            np.concatenate(averaging) if averaging else None,
        )

    @property
    def scores(self) -> FloatArray:
        """The sums, of shape (S, C)."""
        total: FloatArray = self.prior + self.of_features.sum(axis=1)
        return total if self.averaging is None else total + self.averaging


@dataclass(frozen=True)
class Explanation:
    """What scores of rows are made of, with the names of what it is about.

    Parameters
    ----------
    parts : Contributions
    classes : array of shape (C,)
    names : tuple of names
        Of the features, and of crosses of features.
    values : array of shape (S, F)
        The rows' values as text, None for a gap.
    count : array of shape (S, F, C)
        Weight of the training rows of each class that have the value.
    """

    parts: Contributions
    classes: Array
    names: tuple[Name, ...]
    values: Array
    count: FloatArray

    def table(self) -> dict[str, Array]:
        """A line for every row, class and feature, and for what is not a feature's, column by column."""
        parts = self.parts
        n_rows, _, n_classes = parts.of_features.shape
        extra = [parts.prior] if parts.averaging is None else [parts.prior, parts.averaging]
        names = [PRIOR, AVERAGING][: len(extra)] + [str(name) for name in self.names]
        no_number, no_text = np.full((n_rows, len(extra), n_classes), np.nan), np.full((n_rows, len(extra)), None)
        lines = n_rows, n_classes, len(names)

        def column(part: Array) -> Array:
            """Of shape (S, lines, C), in the order row, class, line."""
            return np.moveaxis(part, 1, 2).reshape(-1)

        return {
            "row": np.repeat(np.arange(n_rows), n_classes * len(names)),
            "class": np.broadcast_to(self.classes[np.newaxis, :, np.newaxis], lines).reshape(-1),
            "feature": np.broadcast_to(np.array(names, dtype=object), lines).reshape(-1),
            "value": np.repeat(np.concatenate([no_text, self.values], axis=1), n_classes, axis=0).reshape(-1),
            "contribution": column(np.concatenate([np.stack(extra, axis=1), parts.of_features], axis=1)),
            "count": column(np.concatenate([no_number, self.count], axis=1)),
            "shrinkage": column(np.concatenate([no_number, parts.shrinkage], axis=1)),
        }


@dataclass(frozen=True)
class Push:
    """What one thing adds to the log-odds of a class, for one row.

    Parameters
    ----------
    feature : str
        Or what else it is.
    value : str or None
        Of the row; None for a gap, and for what has none.
    log_odds : float
    count : float or None
        Training rows of the class with that value.
    shrinkage : float or None
        The share of the prior in it.
    """

    feature: str
    value: str | None
    log_odds: float
    count: float | None = None
    shrinkage: float | None = None


def pushes(explanation: Explanation, row: int, c: int) -> list[Push]:
    """What makes the log-odds of class c: the prior, and the features, the strongest first."""
    parts = explanation.parts
    with np.errstate(invalid="ignore"):  # a class of prior 0 is infinitely far from all others
        found = [Push(PRIOR, None, float(against_others(parts.prior[row])[c]))]
        if parts.averaging is not None:
            found.append(Push(AVERAGING, None, float(against_others(parts.averaging[row])[c])))
        odds = against_others(parts.of_features[row])[:, c]
    return found + [
        Push(
            str(explanation.names[f]),
            explanation.values[row, f],
            float(odds[f]),
            float(explanation.count[row, f, c]),
            float(parts.shrinkage[row, f, c]),
        )
        for f in np.argsort(-np.abs(odds), kind="stable").tolist()
    ]


def against_others(scores: FloatArray) -> FloatArray:
    """Log-odds of each class against the geometric mean of the others; classes are the last axis.

    Of two classes these are the log-odds. They are linear in the scores, so what features add to scores they add here.

    Examples
    --------
    >>> against_others(np.log([[0.8, 0.2]])).round(3)
    array([[ 1.386, -1.386]])
    """
    n_classes = scores.shape[-1]
    if n_classes == 1:
        return np.zeros_like(scores)
    others: FloatArray = (scores.sum(axis=-1, keepdims=True) - scores) / (n_classes - 1)
    return np.subtract(scores, others)


def contributions(model: ScoreTables, codes: Sequence[IntArray]) -> Contributions:
    """The scores of encoded rows, taken apart."""
    if model.estimates is None:
        return _of_sum(model, codes)
    total = model.estimates.directed.total
    numbers = len(codes) * len(codes) * model.n_classes
    return Contributions.of_all(
        _of_estimates(model, model.estimates, [own[rows] for own in codes], total)
        for rows in blocks(len(codes[0]), numbers)
    )


def _of_sum(model: ScoreTables, codes: Sequence[IntArray]) -> Contributions:
    of_features = separate(model.weighted_lookups, codes, model.n_classes)
    shrinkage = np.stack([table.shrinkage(codes) for table in model.tables], axis=1)
    return Contributions(np.tile(model.start, (len(of_features), 1)), of_features, shrinkage)


def _of_estimates(model: ScoreTables, estimates: Estimates, codes: list[IntArray], total: FloatArray) -> Contributions:
    """The estimates taken apart, and put together again with the shares that they have in the score."""
    positions = estimates.layout.positions(codes)
    in_effect = estimates.may_be_parent[positions[estimates.parents]]
    alone = separate(model.lookups, codes, model.n_classes)
    alone_shrinkage = np.stack([table.shrinkage(codes) for table in model.tables], axis=1)
    shape = len(estimates.parents), *alone.shape
    parts, shrinkages = np.empty(shape), np.empty(shape)
    for place, effective in enumerate(in_effect[..., np.newaxis, np.newaxis]):
        own = estimates.parts(place, positions, alone, model.log_prior)
        parts[place] = np.where(effective, own, alone)
        own = estimates.shrinkage(place, positions, total, alone_shrinkage)
        shrinkages[place] = np.where(effective, own, alone_shrinkage)
    shares, of_tables, rest = model.combination.shares(model.log_prior + parts.sum(axis=2), in_effect)
    of_features, shrinkage = of_tables * alone, np.abs(of_tables) * alone_shrinkage
    mass = np.zeros(alone.shape) + np.abs(of_tables)
    for share, part, own in zip(shares[:, :, np.newaxis], parts, shrinkages, strict=True):
        of_features = of_features + share * part
        shrinkage = shrinkage + np.abs(share) * own
        mass += np.abs(share)
    shrinkage = np.where(mass > 0, shrinkage / np.where(mass > 0, mass, 1.0), 1.0)
    prior = model.combination.weight_of_prior() * model.log_prior + model.combination.offsets
    return Contributions(np.tile(prior, (len(alone), 1)), of_features, shrinkage, rest)
