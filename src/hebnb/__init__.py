"""Classify categorical data with honest probabilities.

>>> from hebnb import NaiveBayes
>>> model = NaiveBayes().fit([["red"], ["blue"]] * 10, ["no", "yes"] * 10)
>>> model.predict([["red"]])
array(['no'], dtype=object)
"""

from hebnb.counts.single import Counts
from hebnb.errors import HebnbError, InputError, ParameterError
from hebnb.estimators.batches import fit_batches
from hebnb.persistence import load, save
from hebnb.smoothing.smoothers import HEB, Additive, MEstimate, Smoother
from hebnb.structures import AODE, KDB, TAN, EvidenceClassifier, NaiveBayes
from hebnb.version import __version__

__all__ = [
    "AODE",
    "HEB",
    "KDB",
    "TAN",
    "Additive",
    "Counts",
    "EvidenceClassifier",
    "HebnbError",
    "InputError",
    "MEstimate",
    "NaiveBayes",
    "ParameterError",
    "Smoother",
    "__version__",
    "fit_batches",
    "load",
    "save",
]
