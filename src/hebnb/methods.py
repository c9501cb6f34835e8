"""The methods people choose from, by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hebnb import errors

if TYPE_CHECKING:
    from hebnb.estimators.classifier import CategoricalClassifier


@dataclass(frozen=True)
class Method:
    """A classifier with its parameters.

    Parameters
    ----------
    name : str
        As in the literature, where it has a name there.
    classifier : str
        The name of its class, so that methods can be listed before anything large is imported.
    parameters : dict
    summary : str
        What it is, in a few words.
    """

    name: str
    classifier: str
    parameters: dict[str, Any]
    summary: str

    @property
    def kind(self) -> type[CategoricalClassifier]:
        """The classifier's class."""
        return _classifiers()[self.classifier]

    def model(self, **more: Any) -> CategoricalClassifier:
        """A classifier to be fitted; of the parameters, those that only other classifiers have are left out."""
        return self.kind(**self.parameters, **own_parameters(self.kind, more))


def own_parameters(kind: type[CategoricalClassifier], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters without those that a classifier lacks and another has: what all are asked for at once.

    One that no classifier has stays, so that it is refused where the classifier is made.

    Examples
    --------
    >>> from hebnb import EvidenceClassifier
    >>> own_parameters(EvidenceClassifier, {"n_bins": 5, "missing": "ignore"})
    {'missing': 'ignore'}
    """
    foreign = set().union(*map(_parameters, _classifiers().values())) - _parameters(kind)
    return {name: value for name, value in parameters.items() if name not in foreign}


def _classifiers() -> Mapping[str, type[CategoricalClassifier]]:
    from hebnb.structures import CLASSIFIERS

    return CLASSIFIERS


def _parameters(kind: type[CategoricalClassifier]) -> set[str]:
    return set(inspect.signature(kind).parameters)


METHODS = {
    method.name: method
    for method in (
        Method("Laplace", "NaiveBayes", {"smoothing": "laplace"}, "naive Bayes, one added to every count"),
        Method("HEB-M", "NaiveBayes", {}, "naive Bayes, smoothing learned"),
        Method("HEB-M+GR", "NaiveBayes", {"weighting": "sqrt-mi"}, "the same, features weighted by information"),
        Method("HEB-AODE", "AODE", {}, "one dependence more, smoothing learned"),
        Method("NB+loo", "NaiveBayes", {"weighting": "loo"}, "HEB-M, weights learned on left-out rows"),
        Method(
            "HEB-U+loo",
            "NaiveBayes",
            {"smoothing": "heb-u", "weighting": "loo"},
            "NB+loo, shrunk towards equal frequencies",
        ),
        Method("AODE+loo", "AODE", {"weighting": "loo"}, "HEB-AODE, weights learned on left-out rows"),
        Method("TAN+loo", "TAN", {"weighting": "loo"}, "one parent a column; weights learned on left-out rows"),
        Method("KDB+loo", "KDB", {"weighting": "loo"}, "two parents a column; weights learned on left-out rows"),
        Method("Evidence", "EvidenceClassifier", {}, "columns and crosses, all learned on left-out rows"),
    )
}


# Those that learn from counts alone, which files of counts can be merged to.
OF_COUNTS = {
    method.name: method
    for method in (
        *(METHODS[name] for name in ("Laplace", "HEB-M", "HEB-M+GR", "HEB-AODE")),
        Method("TAN", "TAN", {}, "one parent a column, smoothing learned"),
        Method("KDB", "KDB", {}, "two parents a column, smoothing learned"),
        Method("HNB", "HNB", {}, "a mean of all parents a column, smoothing learned"),
        METHODS["Evidence"],
    )
}


def method_of_counts(name: str) -> Method:
    """The method of that name, in upper or lower case, if it needs no rows.

    Examples
    --------
    >>> method_of_counts("tan").model()
    TAN()
    """
    found = {known.casefold(): known for known in OF_COUNTS}.get(name.casefold())
    if found is None and name.casefold() in {known.casefold() for known in METHODS}:
        raise errors.ParameterError(
            f"{method(name).name} learns weights from left-out rows, and counts have none.",
            f"Methods that learn from counts: {', '.join(OF_COUNTS)}.",
        )
    if found is None:
        raise errors.unknown_name(errors.argument("method"), name, list(OF_COUNTS))
    return OF_COUNTS[found]


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
