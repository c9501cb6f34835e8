"""Models, a table with a column of every kind, and names that mean mischief, for tests of all parts."""

import numpy as np
import pandas as pd

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes

HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE rows; --",
    '"quoted", and \\ backslash',
    "two\nlines",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202eright to left",
    '=HYPERLINK("http://x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tTab",
    "[bold red]markup[/]",
    "x" * 10_000,
]

MODELS = [
    NaiveBayes(),
    NaiveBayes("laplace", weighting="sqrt-mi"),
    NaiveBayes(weighting="loo"),
    NaiveBayes(class_prior=[0.2, 0.3, 0.5]),
    NaiveBayes(missing="ignore"),
    AODE(),
    AODE("laplace", over_cap="skip", max_parent_categories=3),
    AODE(weighting="loo"),
    AODE(weighting="loo", max_parent_categories=3, min_parent_count=4),
    AODE(min_parent_count=6),
    AODE(min_parent_count=1000),
    AODE(max_parent_categories=0, over_cap="skip", weighting="loo"),
    TAN(),
    TAN("laplace", weighting="sqrt-mi"),
    TAN(weighting="loo", missing="ignore"),
    KDB(),
    KDB(3, "heb-u"),
    KDB(weighting="loo"),
    HNB(),
    HNB("laplace", weighting="loo", missing="ignore"),
    EvidenceClassifier(),
    EvidenceClassifier(missing="ignore", max_crosses=4, max_order=2),
    EvidenceClassifier(max_crosses=0, max_categories=4),
]


def table(n_rows=60, seed=0):
    """Text, integers, cut numbers and gaps, with three classes."""
    random = np.random.default_rng(seed)
    y = random.choice(["x", "y", "z"], n_rows)
    X = pd.DataFrame(
        {
            "text": np.where(random.random(n_rows) < 0.1, None, random.choice(list("abcdefg"), n_rows)),
            "number": random.integers(0, 4, n_rows),
            "cut": np.where(random.random(n_rows) < 0.1, np.nan, random.normal(size=n_rows)),
            "flag": y == "x",
        }
    )
    return X, y


def strange_rows(X):
    """Rows with values that were never seen, and gaps where there were none."""
    rows = X.head(6).astype(object)
    rows.iloc[1, 0] = "never seen"
    rows.iloc[2, 1] = 99
    rows.iloc[3, :] = [None, None, np.nan, None]
    rows.iloc[4, 2] = 1e9
    return rows
