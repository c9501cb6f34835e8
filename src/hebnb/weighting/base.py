"""What a weighting is: a rule for how much every table and estimate of a model counts."""

from __future__ import annotations

from typing import ClassVar, Protocol

from hebnb.counts.sample import Sample
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables


class Weighting(Protocol):
    """A rule for the weights of a model's parts.

    ``needs_rows`` says whether it learns from rows, of which it then gets a sample; ``weighs_estimates`` whether it
    knows what to do with the estimates of several parents.
    """

    needs_rows: ClassVar[bool]
    weighs_estimates: ClassVar[bool]

    def combination(self, model: ScoreTables, sample: Sample | None, start: Combination | None) -> Combination:
        """The weights of the model's parts.

        ``start`` are those that earlier batches led to; where there are no rows to learn from, they stay.
        """


class Unweighted:
    """Every table counts once, and estimates are averaged."""

    needs_rows: ClassVar[bool] = False
    weighs_estimates: ClassVar[bool] = True

    def combination(self, model: ScoreTables, sample: Sample | None, start: Combination | None) -> Combination:
        """Ones."""
        return Combination.unweighted(model.n_classes, len(model.tables))
