"""The classifiers, by name. Each file says which cells are counted and what is learned from them."""

from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.structures.aode import AODE
from hebnb.structures.evidence import EvidenceClassifier
from hebnb.structures.hnb import HNB
from hebnb.structures.kdb import KDB
from hebnb.structures.naive_bayes import NaiveBayes
from hebnb.structures.tan import TAN

CLASSIFIERS: dict[str, type[CategoricalClassifier]] = {
    "NaiveBayes": NaiveBayes,
    "AODE": AODE,
    "TAN": TAN,
    "KDB": KDB,
    "HNB": HNB,
    "EvidenceClassifier": EvidenceClassifier,
}

__all__ = ["AODE", "CLASSIFIERS", "HNB", "KDB", "TAN", "EvidenceClassifier", "NaiveBayes"]
