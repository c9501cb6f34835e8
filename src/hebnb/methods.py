"""The methods people choose from, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hebnb import errors
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.structures import AODE, KDB, TAN, NaiveBayes


@dataclass(frozen=True)
class Method:
    """A classifier with its parameters.

    Parameters
    ----------
    name : str
        As in the literature, where it has a name there.
    kind : type
    parameters : dict
    summary : str
        What it is, in a few words.
    """

    name: str
    kind: type[CategoricalClassifier]
    parameters: dict[str, Any]
    summary: str

    def model(self, **more: Any) -> CategoricalClassifier:
        """A classifier to be fitted."""
        return self.kind(**self.parameters, **more)


METHODS = {
    method.name: method
    for method in (
        Method("Laplace", NaiveBayes, {"smoothing": "laplace"}, "naive Bayes, one added to every count"),
        Method("HEB-M", NaiveBayes, {}, "naive Bayes, smoothing learned"),
        Method("HEB-M+GR", NaiveBayes, {"weighting": "sqrt-mi"}, "the same, features weighted by information"),
        Method("HEB-AODE", AODE, {}, "one dependence more, smoothing learned"),
        Method("NB+loo", NaiveBayes, {"weighting": "loo"}, "HEB-M, weights learned on left-out rows"),
        Method("AODE+loo", AODE, {"weighting": "loo"}, "HEB-AODE, weights learned on left-out rows"),
        Method("TAN+loo", TAN, {"weighting": "loo"}, "one parent a column; weights learned on left-out rows"),
        Method("KDB+loo", KDB, {"weighting": "loo"}, "two parents a column; weights learned on left-out rows"),
    )
}


def method(name: str) -> Method:
    """The method of that name, in upper or lower case.

    Examples
    --------
    >>> method("nb+loo").model(n_bins=5)
    NaiveBayes(n_bins=5, weighting='loo')
    """
    found = {known.casefold(): known for known in METHODS}.get(name.casefold())
    if found is None:
        raise errors.unknown_name(errors.argument("method"), name, list(METHODS))
    return METHODS[found]
