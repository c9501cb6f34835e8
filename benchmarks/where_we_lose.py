"""Why EvidenceClassifier loses where it loses: ``HEBNB_DATA=FOLDER python benchmarks/where_we_lose.py --record``.

A probe changes one thing, of ours or of the peer that wins, and measures the log-loss of five folds again: if a peer
that may ask only three questions a tree is as bad as we are, the questions were the reason. ``docs/where-we-lose.md``
shows the numbers.
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from evidence import SETTINGS, load
from hebnb import EvidenceClassifier
from hebnb.study.arena.children import OPENMP
from hebnb.study.arena.contenders import CONTENDERS, Contender
from hebnb.study.arena.folds import Fold
from hebnb.study.arena.measuring import inner_loss
from hebnb.study.arena.views import gaps_named, with_gaps
from hebnb.study.registry import DATASETS
from record import Results, record


def all_pairs(fold: Fold, threads: int) -> Any:
    """Logistic regression on one-hot columns and all their pairs: crosses whose weights are found all at once."""
    pairs = PolynomialFeatures(2, interaction_only=True, include_bias=False)
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), pairs, LogisticRegression(max_iter=1000))


class Surer(ClassifierMixin, BaseEstimator):
    """EvidenceClassifier with all log-odds multiplied by a number: what is lost by caution alone."""

    def __init__(self, times: float = 1.0) -> None:
        self.times = times

    def fit(self, X: Any, y: Any) -> Surer:
        """Fit the classifier that is made surer."""
        self.model_ = EvidenceClassifier().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Its probabilities, nearer to 0 and 1."""
        return softmax(self.times * self.model_.predict_log_proba(X), axis=1)


PROBED = CONTENDERS | {
    "pairs": Contender("all pairs", "scikit-learn", all_pairs, gaps_named),
    "surer": Contender("surer evidence", "hebnb", lambda fold, threads: Surer(), with_gaps),
}


@dataclass(frozen=True)
class Probe:
    """A contender with something changed, on a dataset."""

    dataset: str
    contender: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of its fact: dataset, contender and what was changed."""
        changed = "-".join(f"{name}-{value}" for name, value in self.parameters.items())
        return f"{self.dataset}/{self.contender}" + (f"/{changed.replace('_', '-')}" if changed else "")

    def log_loss(self, threads: int) -> float:
        """Mean over the folds."""
        folds = load(self.dataset).folds(SETTINGS)
        return float(np.mean([inner_loss(PROBED[self.contender], fold, threads, self.parameters) for fold in folds]))


def probes(dataset: str, contender: str, parameter: str, *values: Any) -> list[Probe]:
    return [Probe(dataset, contender, {parameter: value}) for value in values]


PROBES = [
    *probes("monks-problems-2", "evidence", "max_order", 2, 6),
    *(Probe(name, "pairs") for name in ("monks-problems-2", "car", "kr-vs-kp", "nursery")),
    *probes("monks-problems-2", "pairs", "logisticregression__C", 100.0),
    *probes("monks-problems-2", "EBM", "interactions", 0),
    *probes("tic-tac-toe", "evidence", "max_order", 2),
    *probes("tic-tac-toe", "surer", "times", 2.0),
    *probes("car", "evidence", "max_order", 6),
    *probes("car", "HistGB", "max_depth", 3, 4),
    *probes("vote", "evidence", "max_crosses", 0),
    *probes("audiology", "evidence", "max_crosses", 0),
    *probes("sick", "LightGBM", "max_depth", 2, 3),
    *probes("sick", "LightGBM", "max_bin", 15, 63),
    *probes("kr-vs-kp", "evidence", "max_order", 4),
    *probes("kr-vs-kp", "HistGB", "max_depth", 3, 4),
    *probes("kr-vs-kp", "EBM", "interactions", 0),
    *probes("nursery", "evidence", "max_order", 4),
    *probes("nursery", "XGBoost", "max_depth", 3, 4),
    *probes("phoneme", "LightGBM", "max_depth", 3, 4),
    *probes("phoneme", "LightGBM", "max_bin", 15),
    *probes("electricity", "XGBoost", "max_depth", 3),
    *probes("electricity", "XGBoost", "max_bin", 15, 63),
    *probes("connect-4", "LightGBM", "max_depth", 3, 4),
    *probes("pendigits", "XGBoost", "max_depth", 3),
    *probes("pendigits", "XGBoost", "max_bin", 15),
    *probes("kropt", "XGBoost", "max_depth", 3, 4),
    *probes("kropt", "evidence", "max_order", 6),
    *probes("optdigits", "LightGBM", "max_depth", 3),
    *probes("optdigits", "LightGBM", "max_bin", 15),
    *probes("letter", "LightGBM", "max_depth", 3, 4),
    *probes("pendigits", "evidence", "max_crosses", 600),
    *probes("optdigits", "evidence", "max_crosses", 600),
    *probes("optdigits", "evidence", "max_order", 2),
]


def run(datasets: list[str], contenders: list[str], threads: int, is_recorded: bool) -> None:
    """Measure, and keep every number as it comes."""
    warnings.simplefilter("ignore")
    for probe in PROBES:
        if probe.dataset in datasets and probe.contender in contenders:
            loss = probe.log_loss(threads)
            print(f"{probe.name:<50}{loss:>10.4f}", flush=True)
            if is_recorded:
                record("losses", Results({}, {probe.name: loss}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", action="append", choices=list(DATASETS), help="only this; may be repeated")
    parser.add_argument("--contender", action="append", help="only this; may be repeated")
    parser.add_argument("--threads", type=int, default=2, help="threads of every contender (default: 2)")
    parser.add_argument("--record", action="store_true", help="write benchmarks/results/losses.json")
    options = parser.parse_args()
    if "HEBNB_DATA" not in os.environ:
        parser.error("HEBNB_DATA must name the folder of the paper's datasets.")
    # Threads are counted when libraries are loaded, so by a process that starts afterwards.
    os.environ.update(dict.fromkeys(OPENMP, str(options.threads)))
    datasets = options.dataset or list(DATASETS)
    contenders = options.contender or sorted({probe.contender for probe in PROBES})
    what = partial(run, datasets, contenders, options.threads, options.record)
    process = get_context("spawn").Process(target=what)
    process.start()
    process.join()
    raise SystemExit(process.exitcode)


if __name__ == "__main__":
    main()
