"""Who is compared: our methods and other people's, each at its defaults. Adding one is one function and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import numpy as np

from hebnb.methods import METHODS
from hebnb.study.arena.folds import Fold
from hebnb.study.arena.views import View, as_categoricals, as_codes, gaps_named, with_gaps
from hebnb.version import __version__

Make: TypeAlias = Callable[[Fold, int], Any]
# Values to draw from: a list of them, or the ends of a range that is even on a logarithmic scale.
Space: TypeAlias = Mapping[str, list[Any] | tuple[float, float]]


# Contenders of this turn do the first fold of every dataset before the second of any: when the time is over, there is
# no dataset on which they cannot be compared.
LATE = 2


@dataclass(frozen=True)
class Contender:
    """A classifier, the tables that it is given, and the package it comes from.

    Parameters
    ----------
    title : str
        As people know it.
    package : str
    make : callable
        Of a fold and a number of threads: the classifier, to be fitted.
    view : callable
        Of a fold: training and test rows in the form that it takes.
    turn : int
        Those that take longer have their turn later, and from `LATE` on a fold at a time.
    space : dict
        Where to look if it is tuned; empty where there is nothing to tune.
    """

    title: str
    package: str
    make: Make
    view: View
    turn: int = 0
    space: Space = field(default_factory=dict)

    @property
    def is_ours(self) -> bool:
        """Whether it comes with this package."""
        return self.package == "hebnb"

    @property
    def version(self) -> str | None:
        """Of the package; None where it is not installed."""
        if self.is_ours:
            return __version__
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def ours(name: str, _: Fold, __: int) -> Any:
    """One of our methods."""
    return METHODS[name].model()


def logistic_regression(fold: Fold, _: int) -> Any:
    """Of scikit-learn, on one-hot categories and standardised numbers."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), fold.categorical),
        remainder=make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def random_forest(fold: Fold, threads: int) -> Any:
    """Of scikit-learn, on ordinal codes."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    columns = make_column_transformer((codes, fold.categorical), remainder=SimpleImputer(strategy="median"))
    return make_pipeline(columns, RandomForestClassifier(n_jobs=threads, random_state=0))


def hist_gradient_boosting(_: Fold, __: int) -> Any:
    """Of scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def lightgbm(_: Fold, threads: int) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, random_state=0, verbose=-1)


def xgboost(_: Fold, threads: int) -> Any:
    """XGBoost, which takes classes by their numbers and wants all of them."""
    from xgboost import XGBClassifier

    return Numbered(XGBClassifier(n_jobs=threads, enable_categorical=True, random_state=0))


def catboost(fold: Fold, threads: int) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        cat_features=fold.categorical, thread_count=threads, random_seed=0, allow_writing_files=False, verbose=0
    )


def ebm(fold: Fold, threads: int) -> Any:
    """InterpretML's explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if name in fold.categorical else "continuous" for name in fold.train.columns]
    return ExplainableBoostingClassifier(feature_types=kinds, n_jobs=threads)


def khiops(_: Fold, __: int) -> Any:
    """Khiops: naive Bayes on optimal bins and groups, variables selected."""
    from khiops.sklearn import KhiopsClassifier

    return KhiopsClassifier()


def scikit_bayes(name: str, fold: Fold, _: int) -> Any:
    """One of scikit-bayes' averaged estimators."""
    import skbn

    places = [fold.train.columns.get_loc(column) for column in fold.categorical]
    return getattr(skbn, name)(categorical_features=places)


class Numbered:
    """A classifier whose classes have to be 0 … C−1, for labels that lack one of these numbers."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def set_params(self, **parameters: Any) -> Numbered:
        """Those of the classifier."""
        self.model.set_params(**parameters)
        return self

    def fit(self, X: Any, y: Any) -> Numbered:
        """Number the classes, and fit."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.model.fit(X, numbers)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Of the classes that were seen, in order."""
        return self.model.predict_proba(X)


# Small spaces in the manner of the tuning guides of the projects and of published comparisons of them.
_RATE = (0.01, 0.3)
_TREES = [100, 200, 400, 800]
_SPACES: dict[str, Space] = {
    "logistic": {"logisticregression__C": (1e-3, 1e2)},
    "forest": {
        "randomforestclassifier__n_estimators": [100, 300, 500],
        "randomforestclassifier__max_features": ["sqrt", 0.3, 0.5, 1.0],
        "randomforestclassifier__min_samples_leaf": [1, 2, 5, 10, 20],
    },
    "HistGB": {
        "learning_rate": _RATE,
        "max_iter": _TREES,
        "max_leaf_nodes": [7, 15, 31, 63],
        "min_samples_leaf": [5, 20, 50],
        "l2_regularization": (1e-3, 10.0),
    },
    "LightGBM": {
        "learning_rate": _RATE,
        "n_estimators": _TREES,
        "num_leaves": [7, 15, 31, 63],
        "min_child_samples": [5, 20, 50],
        "reg_lambda": (1e-3, 10.0),
        "colsample_bytree": [0.5, 0.75, 1.0],
    },
    "XGBoost": {
        "learning_rate": _RATE,
        "n_estimators": _TREES,
        "max_depth": [3, 4, 6, 8],
        "min_child_weight": (0.5, 20.0),
        "reg_lambda": (1e-2, 10.0),
        "subsample": [0.6, 0.8, 1.0],
        "colsample_bytree": [0.5, 0.75, 1.0],
    },
    "CatBoost": {"learning_rate": _RATE, "depth": [4, 6, 8], "l2_leaf_reg": (1.0, 30.0), "iterations": [300, 1000]},
    "EBM": {
        "learning_rate": (0.005, 0.05),
        "interactions": [0, 10, 50],
        "max_leaves": [2, 3, 5],
        "min_samples_leaf": [2, 4, 10, 20],
    },
}

CONTENDERS: dict[str, Contender] = {
    "evidence": Contender("EvidenceClassifier", "hebnb", partial(ours, "Evidence"), with_gaps),
    **{
        name: Contender(name, "hebnb", partial(ours, name), with_gaps)
        for name in ("HEB-M", "HEB-M+GR", "HEB-AODE", "NB+loo", "AODE+loo", "TAN+loo", "KDB+loo")
    },
    "logistic": Contender(
        "logistic regression", "scikit-learn", logistic_regression, gaps_named, space=_SPACES["logistic"]
    ),
    "forest": Contender("random forest", "scikit-learn", random_forest, with_gaps, space=_SPACES["forest"]),
    # HistGradientBoosting takes at most 255 categories a column; columns with more are numbers to it.
    "HistGB": Contender(
        "HistGB",
        "scikit-learn",
        hist_gradient_boosting,
        partial(as_categoricals, most=255),
        space=_SPACES["HistGB"],
    ),
    "LightGBM": Contender("LightGBM", "lightgbm", lightgbm, as_categoricals, space=_SPACES["LightGBM"]),
    "XGBoost": Contender("XGBoost", "xgboost", xgboost, as_categoricals, space=_SPACES["XGBoost"]),
    "Khiops": Contender("Khiops", "khiops", khiops, with_gaps, turn=1),
    "AnDE": Contender("scikit-bayes AnDE", "scikit-bayes", partial(scikit_bayes, "AnDE"), as_codes, turn=1),
    "wAnDE": Contender(
        "scikit-bayes weighted AnDE", "scikit-bayes", partial(scikit_bayes, "WeightedAnDE"), as_codes, turn=1
    ),
    "ALR": Contender("scikit-bayes ALR", "scikit-bayes", partial(scikit_bayes, "ALR"), as_codes, turn=1),
    "EBM": Contender("EBM", "interpret-core", ebm, with_gaps, turn=LATE, space=_SPACES["EBM"]),
    "CatBoost": Contender("CatBoost", "catboost", catboost, gaps_named, turn=LATE, space=_SPACES["CatBoost"]),
}
HERO = "evidence"
# Who cannot be run, whatever is installed, and why.
LEFT_OUT = {
    "TabPFN": "its package comes without weights; they are downloaded when it is first used",
    "TabICL": "its package comes without weights; they are downloaded when it is first used",
}


def titles() -> dict[str, str]:
    """Names as the store has them, and as people know them."""
    return {name: contender.title for name, contender in CONTENDERS.items()}
