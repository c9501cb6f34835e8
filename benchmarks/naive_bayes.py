"""Speed of NaiveBayes beside scikit-learn's CategoricalNB: ``python benchmarks/naive_bayes.py``.

200,000 rows and ten columns of 10 to 50,000 categories, drawn Zipf-like, whose frequencies differ between two classes.
Every line is a ratio of two medians taken in this run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from hebnb import HEB, NaiveBayes
from hebnb.smoothing.smoothers import concentrations
from measure import HEADER, Comparison, medians
from record import Results, comparisons, record

ROWS = 200_000
SIZES = np.geomspace(10, 50_000, 10).astype(int)


def zipf_codes(rng: np.random.Generator, y: np.ndarray, size: int, spread: float = 0.5) -> np.ndarray:
    """Categories with frequency near 1/rank, tilted by a random factor in every class, in shuffled order."""
    codes = np.empty(len(y), dtype=np.int64)
    names = rng.permutation(size)
    for c in np.unique(y):
        here = y == c
        weights = np.exp(spread * rng.normal(size=size)) / np.arange(1, size + 1)
        codes[here] = names[rng.choice(size, size=here.sum(), p=weights / weights.sum())]
    return codes


def make_data(rows: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Integer codes and labels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.3).astype(np.int64)
    return np.stack([zipf_codes(rng, y, size) for size in SIZES], axis=1), y


def as_text(X: np.ndarray) -> dict[str, np.ndarray]:
    """The same categories as strings."""
    return {f"f{f}": np.array([f"f{f}_{code}" for code in column], dtype=object) for f, column in enumerate(X.T)}


def on_integers(repeat: int) -> list[Comparison]:
    X, y = make_data()
    heb, laplace, theirs = NaiveBayes(), NaiveBayes("laplace"), CategoricalNB()
    fit, other = medians([lambda: heb.fit(X, y), lambda: theirs.fit(X, y)], repeat)
    learned, plain = medians([lambda: heb.fit(X, y), lambda: laplace.fit(X, y)], repeat)
    proba, other_proba = medians([lambda: heb.predict_proba(X), lambda: theirs.predict_proba(X)], repeat)
    return [
        Comparison("integer codes: HEB-M `fit` / `CategoricalNB.fit`", fit, other, 0.5),
        Comparison("integer codes: `predict_proba` / `CategoricalNB`'s", proba, other_proba, 0.6),
        Comparison("integer codes: HEB-M `fit` / our own Laplace `fit`", learned, plain, 1.2),
    ]


def on_text(repeat: int) -> list[Comparison]:
    import pandas as pd
    import polars as pl

    X, y = make_data()
    text = as_text(X)
    comparisons = []
    for name, frame in {
        "pandas strings": pd.DataFrame(text).astype("str"),
        "pandas columns of Python objects": pd.DataFrame(text, dtype=object),
        "Polars strings": pl.DataFrame({column: values.tolist() for column, values in text.items()}),
    }.items():

        def ours(frame: object = frame) -> object:
            return NaiveBayes().fit(frame, y)

        def theirs(frame: object = frame) -> object:
            return CategoricalNB().fit(OrdinalEncoder().fit_transform(frame), y)

        what = f"{name}: HEB-M `fit` / `OrdinalEncoder` + `CategoricalNB`"
        comparisons.append(Comparison(what, *medians([ours, theirs], max(3, repeat // 3)), 0.15))
    return comparisons


def of_concentration(repeat: int) -> list[Comparison]:
    """The concentration step alone, when a column has twice as many categories."""
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.3).astype(np.int64)
    counts = [NaiveBayes().fit(zipf_codes(rng, y, size)[:, None], y).counts_ for size in (25_000, 50_000)]
    once, twice = medians([lambda: concentrations(counts[0], HEB()), lambda: concentrations(counts[1], HEB())], repeat)
    return [Comparison("concentration step: 50,000 categories / 25,000", twice, once, 2.0)]


def of_import(repeat: int) -> list[Comparison]:
    def importing(statement: str) -> object:
        return subprocess.run([sys.executable, "-c", statement], check=True)

    # Starting a process depends on the disk; the fastest of many starts depends on it least.
    what = ("from hebnb import NaiveBayes", "import sklearn.naive_bayes")
    ours, theirs = medians([lambda: importing(what[0]), lambda: importing(what[1])], repeat, min)
    return [Comparison("`{}` / `{}`, the fastest".format(*what), ours, theirs, 1.15)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="measurements of every side (default: 15)")
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    options = parser.parse_args()
    print(HEADER)
    found = []
    for part in (on_integers, on_text, of_concentration, of_import):
        for comparison in part(options.repeat):
            print(comparison, flush=True)
            found.append(comparison)
    if options.record:
        record("naive_bayes", Results({"speed": comparisons(found, "naive_bayes")}))


if __name__ == "__main__":
    main()
