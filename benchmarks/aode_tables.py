"""AODE beside HEB-AODE as the paper compares them: ``python benchmarks/aode_tables.py FOLDER``.

FOLDER holds the paper's datasets. Ten stratified folds with seed 42, at most 20,000 rows, empty columns dropped and
missing values imputed by mode or median, as the paper describes; then its log-loss table and paired Wilcoxon tests with
ties dropped. Published values are typed in from the paper.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from aode import columns_as_in_the_paper
from hebnb import AODE, HEB
from hebnb.metrics import brier_score_macro
from record import Results, Table, Value, record

METHODS = {
    "AODE": AODE("laplace", over_cap="skip"),
    "HEB-AODE": AODE(),
    "HEB-AODE, 50 Minka steps": AODE(HEB(solver="minka")),
}
# Log-loss of AODE and HEB-AODE, and wins of HEB-AODE against AODE over 31 datasets.
PUBLISHED_LOSS = {"amazon-employee": (0.4532, 0.4093), "click-prediction": (0.6794, 0.5293), "nomao": (0.4661, 0.4716)}
PUBLISHED_WINS = {"accuracy": (18, 12), "macro F1": (23, 7), "log-loss": (23, 8), "Brier": (23, 8)}


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, list[str]]]:
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    if len(frame) > 20_000:
        frame, _ = train_test_split(frame, train_size=20_000, stratify=frame["class"], random_state=42)
    X, y = frame.drop(columns="class").dropna(axis="columns", how="all"), frame["class"].to_numpy()
    kinds = columns_as_in_the_paper(folder, name, X)
    for column in X.columns[X.isna().any()]:
        numeric = column in kinds["numeric_features"]
        X[column] = X[column].fillna(X[column].median() if numeric else X[column].mode()[0])
    return X, y, kinds


def scores(folder: Path, name: str) -> dict[str, np.ndarray]:
    """Means over the folds of accuracy, macro F1, −log-loss, −Brier, and seconds to fit and to predict."""
    warnings.simplefilter("ignore")
    X, y, kinds = load(folder, name)
    folds: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    for train, test in StratifiedKFold(10, shuffle=True, random_state=42).split(X, y):
        for method, model in METHODS.items():
            began = time.perf_counter()
            model.set_params(**kinds).fit(X.iloc[train], y[train])
            fitted = time.perf_counter()
            proba = model.predict_proba(X.iloc[test])
            done = time.perf_counter()
            labels = model.classes_
            known = np.isin(y[test], labels)
            truth, guess = y[test][known], labels[proba[known].argmax(axis=1)]
            folds[method].append(
                [
                    float(np.mean(truth == guess)),
                    float(f1_score(truth, guess, average="macro", zero_division=0)),
                    -float(log_loss(truth, proba[known], labels=labels)),
                    -brier_score_macro(truth, proba[known], classes=labels),
                    fitted - began,
                    done - fitted,
                ]
            )
    return {method: np.mean(rows, axis=0) for method, rows in folds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the paper's datasets")
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    options = parser.parse_args()
    folder = options.folder
    names = sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
    results = dict(zip(names, Parallel(n_jobs=-1)(delayed(scores)(folder, name) for name in names), strict=True))
    print(f"{'log-loss':<18}" + "".join(f"{method:>26}" for method in METHODS) + f"{'paper':>20}")
    for name, (aode, heb) in PUBLISHED_LOSS.items():
        losses = "".join(f"{-results[name][method][2]:>26.4f}" for method in METHODS)
        print(f"{name:<18}{losses}{f'{aode} → {heb}':>20}")
        seconds = "".join(f"{'{:.2f} + {:.2f}'.format(*results[name][method][4:]):>26}" for method in METHODS)
        print(f"{'  s: fit + predict':<18}{seconds}")
    wins: dict[str, list[Value]] = {label: [label] for label in PUBLISHED_WINS}
    for method in list(METHODS)[1:]:
        print(f"\n{method} against AODE, {len(names)} datasets: wins, losses, Wilcoxon p; the paper's wins, losses")
        for metric, (label, published) in enumerate(PUBLISHED_WINS.items()):
            gain = np.array([results[name][method][metric] - results[name]["AODE"][metric] for name in names])
            p = wilcoxon(gain[gain != 0]).pvalue
            print(
                f"  {label:<10}{(gain > 0).sum():>4}{(gain < 0).sum():>4}{p:>10.4f}{published[0]:>8}{published[1]:>4}"
            )
            wins[label] += [f"{(gain > 0).sum()}/{(gain < 0).sum()}", float(p)]
    if options.record:
        losses = {name: [-float(results[name][method][2]) for method in METHODS] for name in PUBLISHED_LOSS}
        record("aode_tables", Results({"log-loss": loss_table(losses), "wins": wins_table(wins)}))


def loss_table(losses: dict[str, list[float]]) -> Table:
    heads = {"log-loss": "", "AODE": ".4f", "HEB-AODE, exact": ".4f", "HEB-AODE, 50 Minka steps": ".4f", "paper": ""}
    return Table(heads, [[name, *own, "{} → {}".format(*PUBLISHED_LOSS[name])] for name, own in losses.items()])


def wins_table(wins: dict[str, list[Value]]) -> Table:
    heads = [("", ""), ("exact", ""), ("p", ".2g"), ("50 Minka steps", ""), ("p", ".2g"), ("paper", "")]
    return Table(heads, [[*own, "{}/{}".format(*PUBLISHED_WINS[label])] for label, own in wins.items()])


if __name__ == "__main__":
    main()
