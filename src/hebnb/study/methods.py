"""The methods that are compared, by name. Adding one is one line."""

from __future__ import annotations

from collections.abc import Callable

from hebnb import methods
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.smoothing.smoothers import HEB, Additive
from hebnb.structures import AODE, HNB, KDB, TAN, NaiveBayes

# The solver of the paper: at most 50 steps of Minka's fixed point.
_MINKA = HEB(solver="minka", max_iter=50)
_MINKA_UNIFORM = HEB("uniform", solver="minka", max_iter=50)

METHODS: dict[str, Callable[[], CategoricalClassifier]] = {
    **{name: method.model for name, method in methods.METHODS.items()},
    "Lidstone": lambda: NaiveBayes("lidstone"),
    "KT": lambda: NaiveBayes("kt"),
    "m-estimate": lambda: NaiveBayes("m-estimate"),
    "TE": lambda: NaiveBayes("te"),
    "HEB-U": lambda: NaiveBayes("heb-u"),
    "HEB-U (Minka)": lambda: NaiveBayes(_MINKA_UNIFORM),
    "HEB-M (Minka)": lambda: NaiveBayes(_MINKA),
    "CAWNB": lambda: NaiveBayes("laplace", weighting="sqrt-mi"),
    "HEB-M+GR (Minka)": lambda: NaiveBayes(_MINKA, weighting="sqrt-mi"),
    "Lidstone 0.001": lambda: NaiveBayes(Additive(0.001)),
    "Lidstone 0.01": lambda: NaiveBayes(Additive(0.01)),
    "Lidstone 2": lambda: NaiveBayes(Additive(2.0)),
    "AODE": lambda: AODE("laplace", over_cap="skip"),
    "HEB-AODE (Minka)": lambda: AODE(_MINKA, over_cap="marginal"),
    "TAN": lambda: TAN("laplace"),
    "HEB-TAN": TAN,
    "KDB": lambda: KDB(smoothing="laplace"),
    "HEB-KDB": KDB,
    "HNB": lambda: HNB("laplace"),
    "HEB-HNB": HNB,
}

# The seven of the main comparison, the factorial design, the sweep of α, and the study of discretisation.
SMOOTHERS = ("HEB-M", "HEB-U", "Lidstone", "m-estimate", "KT", "Laplace", "TE")
FACTORIAL = ("Laplace", "CAWNB", "HEB-M", "HEB-M+GR")
SWEEP = ("Lidstone 0.001", "Lidstone 0.01", "Lidstone", "KT", "Laplace", "Lidstone 2", "HEB-M")
BINNED = ("Laplace", "CAWNB", "AODE", "HEB-M", "HEB-M (Minka)")
# Learned smoothing against plain: the pairs that the paper tests.
AGAINST_AODE = (("HEB-M", "AODE"), ("HEB-AODE", "AODE"))
# What is ours and not the paper's: leave-one-out weights, and smoothing that backs off.
BEYOND = ("NB+loo", "AODE+loo", "TAN+loo", "KDB+loo")
AGAINST_TAN = (("HEB-TAN", "TAN"),)
AGAINST_KDB = (("HEB-KDB", "KDB"),)
AGAINST_HNB = (("HEB-HNB", "HNB"),)
# What --quick leaves out.
SLOW = ("HEB-AODE (Minka)", "AODE+loo", "TAN+loo", "KDB+loo", "HNB", "HEB-HNB")
