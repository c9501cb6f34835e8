"""``python -m hebnb.demo``: what learned smoothing does to the flights' probabilities."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from hebnb.aode import AODE
from hebnb.arrays import FloatArray
from hebnb.datasets import load_flights
from hebnb.metrics import brier_score_macro, expected_calibration_error
from hebnb.naive_bayes import NaiveBayes

FLIGHTS = ("month", "day", "departure", "arrival", "carrier", "flight", "tail number", "origin", "destination", "miles")

METHODS: dict[str, NaiveBayes | AODE] = {
    "Laplace": NaiveBayes("laplace"),
    "HEB-M (learned)": NaiveBayes(),
    "HEB-M, weighted": NaiveBayes(weighting="sqrt-mi"),
    "HEB-M, loo": NaiveBayes(weighting="loo"),
    "AODE, loo": AODE(weighting="loo"),
}


def compare(X: Any, y: Any, folds: int = 10) -> dict[str, tuple[float, float, float, float, float]]:
    """Cross-validated accuracy, log-loss, Brier score, calibration error, and seconds, of every method."""
    results = {}
    for name, model in METHODS.items():
        began = time.perf_counter()
        split = StratifiedKFold(folds, shuffle=True, random_state=42)
        proba: FloatArray = cross_val_predict(model, X, y, cv=split, method="predict_proba")
        seconds = time.perf_counter() - began
        labels = np.unique(y)
        results[name] = (
            accuracy_score(y, labels[proba.argmax(axis=1)]),
            log_loss(y, proba, labels=labels),
            brier_score_macro(y, proba),
            expected_calibration_error(y, proba),
            seconds,
        )
    return results


def learned(model: NaiveBayes, names: tuple[str, ...]) -> list[str]:
    """A line for every feature: its categories, and for every class how strong the prior came out."""
    classes = model.classes_.tolist()
    lines = [f"{'':<16}{'categories':>10}" + "".join(f"{f'prior rows, {label}':>20}" for label in classes)]
    for f, name in enumerate(names):
        strengths = "".join(
            f"{m:>11,.0f} ({share:5.1%})"
            for m, share in zip(model.concentration_[:, f], model.shrinkage_[:, f], strict=True)
        )
        lines.append(f"{name:<16}{len(model.categories_[f]):>10,}{strengths}")
    return lines


def main() -> None:
    """Compare the methods on the bundled flights and show what was learned."""
    X, y = load_flights(backend="numpy")
    print(f"{len(X):,} flights from New York City, {np.mean(y == 'late'):.0%} of them more than 15 minutes late;")
    print("ten columns known before departure, ten-fold cross-validation. But for accuracy, lower is better;")
    print("ECE, the calibration error, is how far confidence is from accuracy on average;")
    print("loo: weights learned on the leave-one-out likelihood.\n")
    print(f"{'':<18}{'accuracy':>10}{'log-loss':>10}{'Brier':>10}{'ECE':>10}{'seconds':>10}")
    for name, (accuracy, loss, brier, ece, seconds) in compare(X, y).items():
        print(f"{name:<18}{accuracy:>10.3f}{loss:>10.4f}{brier:>10.4f}{ece:>10.4f}{seconds:>10.2f}")
    print("\nWhat HEB-M learned from all rows: the strength of the prior, in rows, and its share in the estimates,")
    print("strength / (rows of the class + strength). 10,000 is the upper bound: pooled as far as allowed.\n")
    print("\n".join(learned(NaiveBayes().fit(X, y), FLIGHTS)))


if __name__ == "__main__":
    main()
