"""What probabilities are shrunk towards."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from hebnb.foundation.arrays import FloatArray


class PriorMean(Protocol):
    """A rule for θ, the prior mean of a category.

    ``backs_off`` says whether probabilities given parents are shrunk towards those given one parent less; if not, they
    have the same prior mean as those given no parent.
    """

    backs_off: ClassVar[bool]

    def of_value(self, marginal: FloatArray, total: FloatArray | float, size: FloatArray | float) -> FloatArray:
        """θ of categories with these counts over all classes, in features with that total and that many categories."""


class Uniform:
    """Every category is as likely as the others.

    Examples
    --------
    >>> Uniform().of_value(np.array([6.0, 2.0]), 8.0, 2)
    array([0.5, 0.5])
    """

    backs_off: ClassVar[bool] = False

    def of_value(self, marginal: FloatArray, total: FloatArray | float, size: FloatArray | float) -> FloatArray:
        """1/K."""
        return np.zeros_like(marginal) + 1 / np.maximum(size, 1)


class Marginal:
    """A category is as likely as it is among the rows of all classes; given parents, as it is given one less.

    Examples
    --------
    >>> Marginal().of_value(np.array([6.0, 2.0]), 8.0, 2)
    array([0.75, 0.25])
    """

    backs_off: ClassVar[bool] = True

    def of_value(self, marginal: FloatArray, total: FloatArray | float, size: FloatArray | float) -> FloatArray:
        """The share of the rows."""
        return marginal / np.maximum(total, np.finfo(float).tiny)


PRIOR_MEANS: dict[str, PriorMean] = {"marginal": Marginal(), "uniform": Uniform()}
