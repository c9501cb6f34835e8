"""Classify categorical data with honest probabilities.

>>> from hebnb import NaiveBayes
>>> model = NaiveBayes().fit([["red"], ["blue"]] * 10, ["no", "yes"] * 10)
>>> model.predict([["red"]])
array(['no'], dtype=object)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hebnb.version import __version__

if TYPE_CHECKING:
    from hebnb.counts.single import Counts
    from hebnb.errors import HebnbError, InputError, ParameterError, TableWarning, UnseenWarning
    from hebnb.estimators.batches import fit_batches
    from hebnb.overview.description import describe
    from hebnb.page.report import report
    from hebnb.parts import ColumnParts
    from hebnb.persistence import load, save
    from hebnb.smoothing.smoothers import HEB, Additive, MEstimate, Smoother
    from hebnb.structures import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes

__all__ = [
    "AODE",
    "HEB",
    "HNB",
    "KDB",
    "TAN",
    "Additive",
    "ColumnParts",
    "Counts",
    "EvidenceClassifier",
    "HebnbError",
    "InputError",
    "MEstimate",
    "NaiveBayes",
    "ParameterError",
    "Smoother",
    "TableWarning",
    "UnseenWarning",
    "__version__",
    "describe",
    "fit_batches",
    "load",
    "report",
    "save",
]

# Where names come from. They are fetched when they are first used, so that whatever needs few of them starts fast.
_HOMES = {
    # Where all sorts of counts are known, which Counts.from_arrow asks for by name.
    "hebnb.evidence.counts": ("Counts",),
    "hebnb.errors": ("HebnbError", "InputError", "ParameterError", "TableWarning", "UnseenWarning"),
    "hebnb.estimators.batches": ("fit_batches",),
    "hebnb.overview.description": ("describe",),
    "hebnb.page.report": ("report",),
    "hebnb.parts": ("ColumnParts",),
    "hebnb.persistence": ("load", "save"),
    "hebnb.smoothing.smoothers": ("HEB", "Additive", "MEstimate", "Smoother"),
    "hebnb.structures": ("AODE", "HNB", "KDB", "TAN", "EvidenceClassifier", "NaiveBayes"),
}
_MODULES = ("datasets", "errors", "export", "metrics", "plots", "theory")
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
