"""The smoothers: each is a choice of a prior mean θ and a concentration m for every class and feature."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import ClassVar, Literal, TypeAlias, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator

from hebnb import errors
from hebnb.counts.single import Counts, nonzero_cells
from hebnb.errors import ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.smoothing.priors import PRIOR_MEANS, PriorMean
from hebnb.smoothing.strength import CountLikelihood, Terms, fixed_point, maximize, merge_cells

# What the counts say about concentrations, made where it is asked for.
Evidence: TypeAlias = Callable[[], CountLikelihood]

__all__ = ["HEB", "Additive", "MEstimate", "Smoother"]


class Smoother(BaseEstimator):  # type: ignore[misc]
    """Base class of smoothers, for one of your own.

    A smoother says how the probabilities of a column's values, given a class, are made from counts:
    ``(count + m · prior mean) / (rows of the class + m)``. A subclass names the prior mean in its attribute
    ``prior_mean``: ``"marginal"``, the frequencies of all classes together, or ``"uniform"``, equal probabilities. Its
    method ``concentration`` returns m, the strength of the prior in rows.

    Examples
    --------
    A smoother whose prior always counts as much as three rows:

    >>> import numpy as np
    >>> from hebnb import NaiveBayes, Smoother
    >>> class Pinned(Smoother):
    ...     prior_mean = "marginal"
    ...     def concentration(self, sizes, largest, evidence):
    ...         return np.full_like(sizes, 3.0)
    >>> NaiveBayes(smoothing=Pinned()).fit([["a"], ["b"]], [0, 1]).concentration_
    array([[3.],
           [3.]])
    """

    prior_mean: str
    # Whether concentrations are learned from the counts.
    learns: ClassVar[bool] = False

    @abstractmethod
    def concentration(self, sizes: FloatArray, largest: FloatArray, evidence: Evidence) -> FloatArray:
        """The concentration m of many distributions at once, such as one for every class and column.

        Parameters
        ----------
        sizes : array
            The number of categories of each distribution.
        largest : array of the same shape
            How many rows there are behind it: of the largest class, say, if several share one concentration.
        evidence : function without arguments
            Returns the counts behind the concentrations, for smoothers that learn from them; its answers are in the
            order of the flattened arrays.

        Returns
        -------
        array of the same shape
            The strengths, in rows.
        """

    @property
    def prior(self) -> PriorMean:
        """The rule that ``prior_mean`` names."""
        if self.prior_mean not in PRIOR_MEANS:
            raise errors.unknown_name("prior_mean", self.prior_mean, list(PRIOR_MEANS))
        return PRIOR_MEANS[self.prior_mean]


class Additive(Smoother):
    """Add a constant to every count: Laplace (1), Krichevsky–Trofimov (0.5), Lidstone (0.1).

    Parameters
    ----------
    alpha : float, default=1.0
        The pseudo-count of every category; the concentration is ``alpha`` times the number of categories.

    Examples
    --------
    >>> from hebnb import Additive
    >>> Additive(0.1)
    Additive(alpha=0.1)
    """

    prior_mean: str = "uniform"

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def concentration(self, sizes: FloatArray, largest: FloatArray, evidence: Evidence) -> FloatArray:
        """``alpha · K``."""
        _require_positive("alpha", self.alpha)
        return self.alpha * sizes


class MEstimate(Smoother):
    """Shrink every class towards the pooled frequencies with a fixed strength: Cestnik's m-estimate.

    Parameters
    ----------
    m : float, default=2.0
        The concentration. 10 gives what target encoding does by default.

    Examples
    --------
    >>> from hebnb import MEstimate
    >>> MEstimate(m=10)
    MEstimate(m=10)
    """

    prior_mean: str = "marginal"

    def __init__(self, m: float = 2.0) -> None:
        self.m = m

    def concentration(self, sizes: FloatArray, largest: FloatArray, evidence: Evidence) -> FloatArray:
        """The constant ``m``."""
        _require_positive("m", self.m)
        return np.full(sizes.shape, float(self.m))


class HEB(Smoother):
    """Hierarchical empirical Bayes: a concentration for every class and feature, learned by Type-II likelihood.

    Parameters
    ----------
    prior_mean : {"marginal", "uniform"}, default="marginal"
        Shrink towards the frequencies of all classes together (HEB-M) or towards equal probabilities (HEB-U).
    solver : {"exact", "minka"}, default="exact"
        Find the maximum of the evidence, or run the fixed-point iteration of the paper.
    max_iter : int, default=50
        Most iterations of the solver. The exact one seldom needs more than ten.
    low_count : float, default=10
        A class with less than this weight of rows learns nothing; its concentration is the number of categories.
    bounds : (float, float), default=(1e-2, 1e4)
        Smallest and largest concentration.

    Examples
    --------
    >>> from hebnb import HEB, NaiveBayes
    >>> NaiveBayes(smoothing=HEB(solver="minka"))
    NaiveBayes(smoothing=HEB(solver='minka'))
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        prior_mean: Literal["marginal", "uniform"] = "marginal",
        solver: Literal["exact", "minka"] = "exact",
        max_iter: int = 50,
        low_count: float = 10,
        bounds: tuple[float, float] = (1e-2, 1e4),
    ) -> None:
        self.prior_mean = prior_mean
        self.solver = solver
        self.max_iter = max_iter
        self.low_count = low_count
        self.bounds = bounds

    def concentration(self, sizes: FloatArray, largest: FloatArray, evidence: Evidence) -> FloatArray:
        """The maximum of the evidence, or K where no document is large enough to learn from."""
        solve = self._solver()
        return np.where(largest < self.low_count, sizes, solve(evidence(), sizes.ravel()).reshape(sizes.shape))

    def _solver(self) -> Callable[[CountLikelihood, FloatArray], FloatArray]:
        try:
            low, high = (float(bound) for bound in self.bounds)
        except (TypeError, ValueError):
            low = high = np.nan
        if not 0 < low <= high < np.inf:
            raise ParameterError(f"bounds={self.bounds!r} must be two positive numbers in ascending order.")
        if not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ParameterError(f"max_iter={self.max_iter!r} must be an integer of at least 1.")
        if not (self.low_count == 0 or _is_positive(self.low_count)):
            raise ParameterError(f"low_count={self.low_count!r} must be a number that is not negative.")
        if self.solver not in _SOLVERS:
            raise errors.unknown_name("solver", self.solver, list(_SOLVERS))
        solve = _SOLVERS[self.solver]
        return lambda evidence, sizes: solve(evidence, (low, high), self.max_iter, sizes)


def prior_means(counts: Counts, rule: Smoother) -> list[FloatArray]:
    """The prior mean of every feature."""
    return [rule.prior.of_value(marginal, marginal.sum(), len(marginal)) for marginal in counts.marginal]


def concentrations(counts: Counts, rule: Smoother) -> FloatArray:
    """The concentration of every class and feature, of shape (C, F)."""
    sizes = np.broadcast_to(np.maximum(counts.sizes, 1)[:, np.newaxis], counts.totals.T.shape)
    return rule.concentration(sizes, counts.totals.T, lambda: _count_likelihood(counts, rule)).T


def _count_likelihood(counts: Counts, rule: Smoother) -> CountLikelihood:
    """The cells and totals of every (feature, class), numbered feature by feature."""
    n_classes = counts.classes.size
    terms: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = []
    for f, (table, marginal) in enumerate(zip(counts.tables, counts.marginal, strict=True)):
        value, class_, count = nonzero_cells(table)
        class_, merged, count, multiplicity = merge_cells(class_, marginal[value], count)
        mean = rule.prior.of_value(merged, marginal.sum(), len(marginal))
        terms.append((f * n_classes + class_, mean, count, multiplicity))
    cell, mean, count, multiplicity = (np.concatenate(part) for part in zip(*terms, strict=True))
    total = counts.totals.T.ravel()
    some = np.flatnonzero(total)
    ones = np.ones(len(some))
    return CountLikelihood(
        cells=Terms(cell, mean, count, multiplicity, total.size),
        totals=Terms(some, ones, total[some], ones, total.size),
    )


_Solver: TypeAlias = Callable[[CountLikelihood, tuple[float, float], int, FloatArray], FloatArray]
_SOLVERS: dict[str, _Solver] = {
    "exact": maximize,
    "minka": lambda evidence, bounds, max_iter, _: fixed_point(evidence, bounds, max_iter),
}
SMOOTHERS: dict[str, Callable[[], Smoother]] = {
    "heb-m": HEB,
    "heb-u": lambda: HEB(prior_mean="uniform"),
    "laplace": Additive,
    "lidstone": lambda: Additive(alpha=0.1),
    "kt": lambda: Additive(alpha=0.5),
    "m-estimate": MEstimate,
    "te": lambda: MEstimate(m=10.0),
}


def smoother(smoothing: str | Smoother) -> Smoother:
    """The smoother of that name, or the one given.

    Examples
    --------
    >>> smoother("kt")
    Additive(alpha=0.5)
    """
    if isinstance(smoothing, Smoother):
        return smoothing
    if isinstance(smoothing, str) and smoothing in SMOOTHERS:
        return SMOOTHERS[smoothing]()
    if isinstance(smoothing, type) and issubclass(smoothing, Smoother):
        raise ParameterError(f"smoothing={smoothing.__name__} is a class.", f"Pass an object: {smoothing.__name__}().")
    raise errors.unknown_name("smoothing", smoothing, list(SMOOTHERS))


def _require_positive(name: str, value: object) -> None:
    if not _is_positive(value):
        raise ParameterError(f"{name}={value!r} must be a positive number.")


def _is_positive(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and 0 < float(value) < np.inf
