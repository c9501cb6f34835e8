"""The kinds of features. A column belongs to the first kind in the table that claims it."""

from hebnb.columns.kinds.base import MISSING_POLICIES, Coder, Kind, MissingPolicy
from hebnb.columns.kinds.bin_tree import BinTree
from hebnb.columns.kinds.bins import Bins
from hebnb.columns.kinds.categories import Categories
from hebnb.columns.kinds.category_tree import CategoryTree

KINDS: list[type[Kind]] = [CategoryTree, BinTree, Bins, Categories]

__all__ = [
    "KINDS",
    "MISSING_POLICIES",
    "BinTree",
    "Bins",
    "Categories",
    "CategoryTree",
    "Coder",
    "Kind",
    "MissingPolicy",
]
