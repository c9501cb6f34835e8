"""Rows in the forms that programs take: what each makes of gaps, categories and numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hebnb.study.arena.folds import Fold

# Of a fold: its training rows and its test rows.
View: TypeAlias = Callable[[Fold], tuple[Any, Any]]


def with_gaps(fold: Fold) -> tuple[Any, Any]:
    """As they are."""
    return fold.train, fold.test


def gaps_named(fold: Fold) -> tuple[Any, Any]:
    """A gap of a category is a category like any other."""
    named = dict.fromkeys(fold.categorical, "missing")
    kinds = dict.fromkeys(fold.categorical, object)
    return fold.train.fillna(named).astype(kinds), fold.test.fillna(named).astype(kinds)


def as_categoricals(fold: Fold, most: float = np.inf) -> tuple[Any, Any]:
    """Pandas categoricals with the categories of the training rows; numbers where these are more than ``most``."""
    train, test = fold.train.copy(), fold.test.copy()
    for name in fold.categorical:
        kind = pd.CategoricalDtype(np.sort(train[name].dropna().unique()))
        for table in (train, test):
            column = table[name].where(table[name].isin(kind.categories)).astype(kind)
            codes = column.cat.codes.astype(float)
            table[name] = column if len(kind.categories) <= most else codes.where(codes >= 0)
    return train, test


def as_codes(fold: Fold) -> tuple[Any, Any]:
    """An array of numbers: codes of categories, one for all gaps and unseen ones, and medians for gaps of numbers."""
    train, test = fold.train.copy(), fold.test.copy()
    for name in train.columns:
        if name in fold.categorical:
            known = np.sort(train[name].dropna().unique())
            for table in (train, test):
                codes = pd.Categorical(table[name], categories=known).codes
                table[name] = np.where(codes < 0, len(known), codes)
        else:
            middle = train[name].median()
            for table in (train, test):
                table[name] = table[name].fillna(middle)
    return train.to_numpy(dtype=float), test.to_numpy(dtype=float)
