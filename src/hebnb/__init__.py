"""Classify categorical data with honest probabilities.

>>> from hebnb import NaiveBayes
>>> model = NaiveBayes().fit([["red"], ["blue"]] * 10, ["no", "yes"] * 10)
>>> model.predict([["red"]])
array(['no'], dtype=object)
"""

from hebnb.aode import AODE
from hebnb.errors import HebnbError, InputError, ParameterError
from hebnb.naive_bayes import NaiveBayes
from hebnb.smoothing import HEB, Additive, MEstimate, Smoother

__version__ = "0.1.0"

__all__ = [
    "AODE",
    "HEB",
    "Additive",
    "HebnbError",
    "InputError",
    "MEstimate",
    "NaiveBayes",
    "ParameterError",
    "Smoother",
    "__version__",
]
