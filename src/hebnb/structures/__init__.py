"""The classifiers, by name. Each file says which cells are counted and what is learned from them."""

from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.structures.aode import AODE
from hebnb.structures.naive_bayes import NaiveBayes

CLASSIFIERS: dict[str, type[CategoricalClassifier]] = {
    "NaiveBayes": NaiveBayes,
    "AODE": AODE,
}

__all__ = ["AODE", "CLASSIFIERS", "NaiveBayes"]
