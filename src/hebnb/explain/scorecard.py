"""Scorecards: a model of two classes as points that add up, with a given number of points to double the odds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hebnb.errors import ParameterError
from hebnb.explain.evidence_tables import Lines
from hebnb.explain.summary import class_position
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.scores.score_tables import ScoreTables

BASE = "(base)"


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points for the values of columns and of crosses of columns, which add up to the score of a row.

    The score is ``offset + factor · log-odds`` of the good class. With ``digits`` every number of points is rounded by
    itself, so that the score remains the sum of what the table shows.

    Parameters
    ----------
    scores : ScoreTables
        Of a model with two classes whose score is one sum of tables.
    encode : function of rows
        How rows become codes.
    good : int
        The class whose odds rise with the score, by its place.
    factor : float
        Points a unit of log-odds.
    offset : float
        Points at even odds.
    digits : int, optional
        After the decimal point of all points.
    """

    scores: ScoreTables = field(repr=False)
    encode: Callable[[Any], Sequence[IntArray]] = field(repr=False)
    good: int
    factor: float
    offset: float
    digits: int | None = None

    @classmethod
    def of(
        cls,
        scores: ScoreTables,
        encode: Callable[[Any], Sequence[IntArray]],
        *,
        points_to_double: float = 20,
        base: float = 600,
        base_odds: float = 50,
        label: Any = None,
        digits: int | None = None,
    ) -> Scorecard:
        """The scorecard with ``base`` points at odds of ``base_odds`` for the label; by default for the last class.

        Examples
        --------
        >>> from functools import partial
        >>> from hebnb import NaiveBayes
        >>> from hebnb.estimators.rows import encoded
        >>> model = NaiveBayes("laplace").fit([["own"], ["own"], ["rent"]], ["good", "good", "bad"])
        >>> card = Scorecard.of(model.score_tables_, partial(encoded, model), label="good")
        >>> round(card.factor, 4), round(card.offset, 3)
        (28.8539, 487.123)
        >>> card.score([["own"], ["rent"]]).round(1)
        array([522.2, 470.5])
        """
        if scores.n_classes != 2:
            raise ParameterError(
                f"A scorecard is about two classes, and this model knows {scores.n_classes}.",
                "Fit it to whether a row is of one class.",
            )
        if len(scores.parents):
            raise ParameterError(
                "A scorecard needs a score that is a sum of tables, and this model combines several.",
                "Use EvidenceClassifier or NaiveBayes.",
            )
        if not np.isfinite(scores.start).all():
            raise ParameterError("A class without a chance is infinitely many points away.", "Change class_prior.")
        for name, number, is_fit in (
            ("points_to_double", points_to_double, np.isfinite(points_to_double) and points_to_double > 0),
            ("base_odds", base_odds, np.isfinite(base_odds) and base_odds > 0),
            ("base", base, np.isfinite(base)),
        ):
            if not is_fit:
                raise ParameterError(f"{name}={number!r} must be a {'' if name == 'base' else 'positive '}number.")
        if digits is not None and (not isinstance(digits, int | np.integer) or isinstance(digits, bool)):
            raise ParameterError(f"digits={digits!r} must be an integer, or None for all of them.")
        factor = float(points_to_double / np.log(2))
        offset = float(base - factor * np.log(base_odds))
        good = scores.n_classes - 1 if label is None else class_position(scores, label)
        return cls(scores, encode, good, factor, offset, digits)

    @property
    def label(self) -> Any:
        """The class whose odds rise with the score."""
        return self.scores.counts.classes.values.tolist()[self.good]

    @property
    def base_points(self) -> float:
        """What every row has, whatever its values are."""
        return float(self._rounded(self.offset + self.factor * self._odds(self.scores.start)))

    def points(self, t: int, numbers: FloatArray) -> FloatArray:
        """Points for what a table, by its number, adds to the scores of the classes, of shape (…, 2)."""
        weight = float(self.scores.combination.table_weights[t])
        return self._rounded(self.factor * weight * self._odds(numbers))

    def score(self, X: Any) -> FloatArray:
        """The points of rows.

        Parameters
        ----------
        X : table or array of shape (S, F)

        Returns
        -------
        array of shape (S,)
        """
        codes = self.encode(X)
        total = np.full(len(codes[0]), self.base_points)
        for t, table in enumerate(self.scores.tables):
            total += self.points(t, table.scores(codes))
        return self._rounded(total)

    def table(self) -> dict[str, Array]:
        """All points, as the columns of a table.

        Returns
        -------
        dict of arrays
            ``feature``, the name of a column or those of a cross, and at first ``(base)``, which every row has;
            ``value`` or bin as text, None for a gap; training ``rows``; ``points``. A cell of a cross that has no line
            has no points.
        """
        feature, value, rows, points = [BASE], [np.array([None], dtype=object)], [np.array([np.nan])], []
        points.append(np.array([self.base_points]))
        for t, title in enumerate(self.scores.titles):
            lines = Lines.of(self.scores, t)
            feature += [title] * len(lines.nodes)
            value.append(lines.joined_texts)
            rows.append(lines.count)
            points.append(self.points(t, lines.numbers))
        return {
            "feature": np.array(feature, dtype=object),
            "value": np.concatenate(value),
            "rows": np.concatenate(rows),
            "points": np.concatenate(points),
        }

    def _odds(self, numbers: FloatArray) -> FloatArray:
        odds: FloatArray = numbers[..., self.good] - numbers[..., 1 - self.good]
        return odds

    def _rounded(self, points: FloatArray) -> FloatArray:
        # Adding zero makes 0 of −0, which nobody wants to read.
        return points if self.digits is None else np.round(points, self.digits) + 0.0
