"""The datasets of the paper: what they are, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Group: TypeAlias = Literal["low", "medium", "mixed", "high", "demo"]


@dataclass(frozen=True)
class Dataset:
    """A dataset by its name.

    Parameters
    ----------
    name : str
    openml_id : int
        Which of OpenML's datasets it is; 0 for one that comes with the package.
    group : str
        Where the paper puts it, by cardinality.
    rows, features, classes : int
        What a faithful copy has.
    nominal : tuple of str or "all"
        Columns that hold numbers but are categories, besides those whose name says so.
    """

    name: str
    openml_id: int
    group: Group
    rows: int
    features: int
    classes: int
    nominal: tuple[str, ...] | Literal["all"] = ()


_CMC = (
    "Wifes_education", "Husbands_education", "Wifes_religion", "Wifes_now_working?", "Husbands_occupation",
    "Standard-of-living_index", "Media_exposure",
)  # fmt: skip
_CLICK = (
    "impression", "url_hash", "ad_id", "advertiser_id", "query_id", "keyword_id", "title_id", "description_id",
    "user_id",
)  # fmt: skip
_NOMAO = tuple(f"V{n}" for start in range(7, 88, 8) for n in (start, start + 1)) + tuple(
    f"V{n}" for n in range(92, 117, 4)
)

PAPER = (
    Dataset("mushroom", 24, "low", 8124, 22, 2),
    Dataset("nursery", 26, "low", 12960, 8, 5),
    Dataset("kr-vs-kp", 3, "low", 3196, 36, 2),
    Dataset("splice", 46, "low", 3190, 60, 3),
    Dataset("car", 21, "low", 1728, 6, 4),
    Dataset("tic-tac-toe", 50, "low", 958, 9, 2),
    Dataset("monks-problems-2", 334, "low", 601, 6, 2, "all"),
    Dataset("vote", 56, "low", 435, 16, 2),
    Dataset("soybean", 42, "low", 683, 35, 19),
    Dataset("audiology", 7, "low", 226, 69, 24),
    Dataset("hayes-roth", 329, "low", 160, 4, 3, "all"),
    Dataset("primary-tumor", 171, "low", 339, 17, 21),
    Dataset("cmc", 23, "low", 1473, 9, 3, _CMC),
    Dataset("optdigits", 28, "medium", 5620, 64, 10),
    Dataset("pendigits", 32, "medium", 10992, 16, 10),
    Dataset("segment", 36, "medium", 2310, 19, 7),
    Dataset("letter", 6, "medium", 20000, 16, 26),
    Dataset("phoneme", 1489, "medium", 5404, 5, 2),
    Dataset("page-blocks", 30, "medium", 5473, 10, 5),
    Dataset("sick", 38, "medium", 3772, 29, 2),
    Dataset("connect-4", 40668, "medium", 67557, 42, 3),
    Dataset("wine-quality-white", 40498, "medium", 4898, 11, 7),
    Dataset("bank-marketing", 1461, "medium", 45211, 16, 2),
    Dataset("electricity", 151, "medium", 45312, 8, 2, ("day",)),
    Dataset("kropt", 184, "medium", 28056, 6, 18, "all"),
    Dataset("magic", 1120, "medium", 19020, 10, 2),
    Dataset("adult", 1590, "mixed", 48842, 14, 2),
    Dataset("credit-g", 31, "mixed", 1000, 20, 2),
    Dataset("nomao", 1486, "high", 34465, 118, 2, _NOMAO),
    Dataset("amazon-employee", 4135, "high", 32769, 9, 2, "all"),
    Dataset("click-prediction", 1220, "high", 39948, 11, 2, _CLICK),
)
FLIGHTS = Dataset("flights", 0, "demo", 20000, 10, 2)
DATASETS = {dataset.name: dataset for dataset in (*PAPER, FLIGHTS)}

# Subsets that the paper uses for single tables and figures.
HIGH_CARDINALITY = ("amazon-employee", "click-prediction", "nomao")
REPRESENTATIVE = ("adult", "bank-marketing", "nomao", "click-prediction", "optdigits", "pendigits", "connect-4")
# The paper names neither its five datasets nor why; these have the 348 (class, feature) pairs it counts.
DIAGNOSED = ("adult", "amazon-employee", "click-prediction", "mushroom", "nomao")
