"""Weights for tables with very many components: those that say least share one.

Learning D weights takes a time that grows with D³. Beyond a number of components, those whose scores vary least between
rows have one weight together, a group at a time: what they say apart is what the prior keeps small anyway. They are
chosen without a look at the labels, so the likelihood of left-out rows stays honest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.weighting.log_linear import Likelihood, Pool, Prior

# Components with a weight of their own.
MOST_FREE = 512


@dataclass(frozen=True, eq=False)
class Ties:
    """Which components share a weight.

    Parameters
    ----------
    of_component : array of shape (D,)
        The weight of every component, numbered group by group.
    span : array of shape (weights,)
        The square root of how many components a weight stands for. What is learned is the weight times this, so that a
        step is as long for one weight as for all that it stands for.
    sizes : tuple of int
        Number of weights of every group.
    """

    of_component: IntArray
    span: FloatArray
    sizes: tuple[int, ...]

    @classmethod
    def between(cls, likelihood: Likelihood, prior: Prior) -> Ties:
        """At most so many components by themselves: those whose scores vary most."""
        by_rank = np.argsort([-float(np.var(own)) for own in likelihood.scores], kind="stable")
        free = np.zeros(len(by_rank), dtype=bool)
        free[by_rank[:MOST_FREE]] = True
        of_component, sizes, n = np.empty(len(free), dtype=np.intp), [], 0
        for own in np.split(np.arange(len(free)), np.cumsum(prior.sizes)[:-1]):
            alone = own[free[own]]
            of_component[own] = n + len(alone)  # the last weight of the group, of all that are tied
            of_component[alone] = n + np.arange(len(alone))
            sizes.append(len(alone) + bool(len(alone) < len(own)))
            n += sizes[-1]
        return cls(of_component, np.sqrt(np.bincount(of_component)), tuple(sizes))

    def likelihood(self, apart: Likelihood) -> Likelihood:
        """The likelihood as a function of the weights."""
        scores = np.zeros((len(self.span), *apart.scores.shape[1:]))
        for place, own in zip(self.of_component.tolist(), apart.scores, strict=True):
            scores[place] += own
        scores /= self.span[:, np.newaxis, np.newaxis]
        return replace(apart, scores=scores)

    def prior(self, apart: Prior) -> Prior:
        """What is expected of the weights."""
        spans = tuple(np.split(self.span, np.cumsum(self.sizes)[:-1]))
        return replace(apart, sizes=self.sizes, spans=spans)

    def start(self, apart: Pool | None) -> Pool | None:
        """The weights to begin with: of those that are tied, the mean."""
        if apart is None:
            return None
        return replace(apart, weights=np.bincount(self.of_component, apart.weights) / self.span)

    def pool(self, tied: Pool) -> Pool:
        """A weight for every component."""
        return replace(tied, weights=(tied.weights / self.span)[self.of_component])
