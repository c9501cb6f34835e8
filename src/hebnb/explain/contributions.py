"""Why a row got its score: what every feature added, and how much of that is data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hebnb.columns.column import Column, Name
from hebnb.columns.table import Table
from hebnb.columns.vocabulary import Bins, Feature, Vocabulary
from hebnb.foundation.arrays import Array, FloatArray, IntArray

PRIOR, AVERAGING = "(prior)", "(averaging)"


@dataclass(frozen=True)
class Evidence:
    """Scores of encoded rows, taken apart; all parts of a row and class add up to its score.

    Parameters
    ----------
    prior : array of shape (S, C)
        What is known before any feature.
    contribution : array of shape (S, F, C)
        What each feature adds.
    shrinkage : array of shape (S, F, C)
        The share of the prior in the probabilities behind that, between 0 and 1.
    averaging : array of shape (S, C), optional
        What a mean of estimates has that a weighted sum of their logs lacks.
    """

    prior: FloatArray
    contribution: FloatArray
    shrinkage: FloatArray
    averaging: FloatArray | None = None

    @classmethod
    def of_all(cls, blocks: Iterable[Evidence]) -> Evidence:
        """That of the rows of all blocks."""
        parts = list(blocks)
        averaging = [part.averaging for part in parts if part.averaging is not None]
        return cls(
            np.concatenate([part.prior for part in parts]),
            np.concatenate([part.contribution for part in parts]),
            np.concatenate([part.shrinkage for part in parts]),
            np.concatenate(averaging) if averaging else None,
        )

    @property
    def scores(self) -> FloatArray:
        """The sums, of shape (S, C)."""
        total: FloatArray = self.prior + self.contribution.sum(axis=1)
        return total if self.averaging is None else total + self.averaging


@dataclass(frozen=True)
class Explanation:
    """The evidence of rows, with the names of what it is about.

    Parameters
    ----------
    evidence : Evidence
    classes : array of shape (C,)
    names : tuple of F names
    values : array of shape (S, F)
        The rows' values as text, None for a gap.
    count : array of shape (S, F, C)
        Weight of the training rows of each class that have the value.
    """

    evidence: Evidence
    classes: Array
    names: tuple[Name, ...]
    values: Array
    count: FloatArray

    def table(self) -> dict[str, Array]:
        """A line for every row, class and feature, and for what is not a feature's, column by column."""
        evidence = self.evidence
        n_rows, _, n_classes = evidence.contribution.shape
        extra = [evidence.prior] if evidence.averaging is None else [evidence.prior, evidence.averaging]
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
            "contribution": column(np.concatenate([np.stack(extra, axis=1), evidence.contribution], axis=1)),
            "count": column(np.concatenate([no_number, self.count], axis=1)),
            "shrinkage": column(np.concatenate([no_number, evidence.shrinkage], axis=1)),
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
    evidence = explanation.evidence
    with np.errstate(invalid="ignore"):  # a class of prior 0 is infinitely far from all others
        found = [Push(PRIOR, None, float(against_others(evidence.prior[row])[c]))]
        if evidence.averaging is not None:
            found.append(Push(AVERAGING, None, float(against_others(evidence.averaging[row])[c])))
        odds = against_others(evidence.contribution[row])[:, c]
    return found + [
        Push(
            str(explanation.names[f]),
            explanation.values[row, f],
            float(odds[f]),
            float(explanation.count[row, f, c]),
            float(evidence.shrinkage[row, f, c]),
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


def as_texts(table: Table, vocabulary: Vocabulary, codes: list[IntArray]) -> Array:
    """The values of rows as they are shown, of shape (S, F): those unseen as they came, numbers by their bin."""

    def texts(column: Column, feature: Feature, own_codes: IntArray) -> Array:
        if isinstance(feature, Bins):
            binned: Array = np.array([*feature.labels.tolist(), None], dtype=object)[own_codes]
            return binned
        at, values = column.levels
        shown = np.empty(len(values) + 1, dtype=object)
        shown[:-1] = [str(value) for value in values.tolist()]
        return shown[at]

    return np.stack(table.map(texts, vocabulary.features, codes), axis=1)
