"""What leave-one-out weights bring, and what they cost: ``python benchmarks/leave_one_out.py --data FOLDER``.

Ten-fold cross-validation on every dataset of the folder: log-loss, Brier score and calibration error of five methods,
their mean ranks with Nemenyi's critical difference, the estimate ``loo_log_loss_`` beside the measured loss, and the
precision that the evidence chose beside the best fixed one. Tables go to ``--output`` as CSV. Other people's programs
are in the arena: ``python -m hebnb.study --arena``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata, studentized_range
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from aode import columns_as_in_the_paper
from hebnb import AODE, NaiveBayes
from hebnb.columns.table import read
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.metrics import brier_score_macro, calibration_error_by_chance, expected_calibration_error
from hebnb.scores.combination import Combination
from hebnb.weighting.leave_one_out import left_out_likelihood, parts_of, prior_of
from hebnb.weighting.log_linear import climb, learn
from measure import HEADER, Comparison, medians
from record import Results, Table, Value, record

OURS = {
    "HEB-M": (NaiveBayes, {}),
    "HEB-M+GR": (NaiveBayes, {"weighting": "sqrt-mi"}),
    "HEB-AODE": (AODE, {}),
    "NB+loo": (NaiveBayes, {"weighting": "loo"}),
    "AODE+loo": (AODE, {"weighting": "loo"}),
}
MEASURES = ("log-loss", "Brier", "ECE")
FIXED = np.geomspace(1e-2, 1e2, 9)


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, list[str]]]:
    frame = pd.read_csv(folder / f"{name}.csv.gz").dropna(axis="columns", how="all")
    if len(frame) > 20_000:
        frame, _ = train_test_split(frame, train_size=20_000, stratify=frame["class"], random_state=42)
    X = frame.drop(columns="class")
    return X, frame["class"].to_numpy(), columns_as_in_the_paper(folder, name, X)


def folds(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some classes have fewer rows than there are folds
        return list(StratifiedKFold(10, shuffle=True, random_state=42).split(y, y))


def measures(y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    known = np.isin(y, classes)  # a class may be absent from a training fold
    y, proba = y[known], proba[known]
    return {
        "log-loss": log_loss(y, proba, labels=classes),
        "Brier": brier_score_macro(y, proba, classes=classes),
        "ECE": expected_calibration_error(y, proba, classes=classes),
        "by chance": calibration_error_by_chance(proba),
    }


def timed(model, train, test) -> tuple[np.ndarray, float, float]:
    began = time.perf_counter()
    model.fit(*train)
    fitted = time.perf_counter()
    proba = model.predict_proba(test)
    return proba, fitted - began, time.perf_counter() - fitted


def our_fold(folder: Path, name: str, fold: int) -> list[dict]:
    X, y, kinds = load(folder, name)
    train, test = folds(y)[fold]
    rows = []
    for method, (make, arguments) in OURS.items():
        model = make(**arguments, **kinds)
        proba, fit, predict = timed(model, (X.iloc[train], y[train]), X.iloc[test])
        estimate = getattr(model, "loo_log_loss_", np.nan)
        rows.append(
            {"dataset": name, "rows": len(y), "method": method, "fold": fold}
            | measures(y[test], proba, model.classes_)
            | {"estimate": estimate, "fit s": fit, "predict s": predict}
        )
    return rows


def precision_fold(folder: Path, name: str, fold: int) -> list[dict]:
    """Log-loss of naive Bayes under the precision of greatest evidence, and under fixed ones."""
    X, y, kinds = load(folder, name)
    train, test = folds(y)[fold]
    model = NaiveBayes(weighting="loo", **kinds).fit(X.iloc[train], y[train])
    codes = model.counts_.vocabulary.encode(read(X.iloc[train]))
    labels = model.counts_.classes.codes_of(y[train])
    encoded = EncodedRows(model.counts_.vocabulary, model.counts_.classes, codes, labels)
    sample = Sample.of(encoded, np.random.RandomState(0))
    tables = model.score_tables_
    prior = prior_of(tables)
    likelihood = left_out_likelihood(parts_of(tables), sample, prior)
    row = {"dataset": name, "fold": fold, "chosen": learn(likelihood, prior).precision}
    row["evidence"] = measures(y[test], model.predict_proba(X.iloc[test]), model.classes_)["log-loss"]
    test_codes = model.counts_.vocabulary.encode(read(X.iloc[test]))
    for precision in FIXED:
        at = climb(likelihood, prior, float(precision), prior.centre).at
        weights, offsets = np.split(at, [len(codes)])
        scores = tables.combined(Combination(offsets, weights)).joint_log_scores(test_codes)
        proba = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        row[f"{precision:.3g}"] = measures(y[test], proba, model.classes_)["log-loss"]
    return [row]


def show_ranks(results: pd.DataFrame) -> Results:
    methods, n = list(OURS), results["dataset"].nunique()
    difference = studentized_range.ppf(0.95, len(methods), np.inf) / np.sqrt(2)
    difference *= np.sqrt(len(methods) * (len(methods) + 1) / (6 * n))
    print(f"\nMean ranks over {n} datasets; Nemenyi's critical difference at 0.05 is {difference:.2f}.")
    print(f"{'':<12}" + "".join(f"{method:>12}" for method in methods))
    lines: list[list[Value]] = []
    for measure in MEASURES:
        means = results.groupby(["dataset", "method"])[measure].mean().unstack()[methods]
        ranks = rankdata(means.to_numpy().round(6), axis=1).mean(axis=0)
        print(f"{measure:<12}" + "".join(f"{rank:>12.2f}" for rank in ranks))
        print(f"{'  mean':<12}" + "".join(f"{mean:>12.4f}" for mean in means.mean()))
        lines.append([f"{measure}, rank", *(f"{rank:.2f}" for rank in ranks)])
        lines.append([f"{measure}, mean", *(f"{mean:.4f}" for mean in means.mean())])
    by_chance = results.groupby(["dataset", "method"])["by chance"].mean().unstack()[methods].mean()
    print(f"{'  by chance':<12}" + "".join(f"{mean:>12.4f}" for mean in by_chance))
    lines.append(["ECE by chance, mean", *(f"{mean:.4f}" for mean in by_chance)])
    table = Table({"": "", **{method.replace("+loo", " + loo"): "" for method in methods}}, lines, bold=True)
    return Results({"ranks": table}, {"critical-difference": float(difference)})


def show_datasets(results: pd.DataFrame) -> Results:
    means = results.groupby(["dataset", "method"])[["log-loss", "estimate", "fit s"]].mean().unstack()
    sizes = results.groupby("dataset")["rows"].first()
    print("\nLog-loss; the estimate loo_log_loss_ over the measured loss; seconds to fit over those without weights.")
    heads = [*OURS, "NB est.", "AODE est.", "NB fit", "AODE fit"]
    print(f"{'':<20}{'rows':>7}" + "".join(f"{head:>10}" for head in heads))
    for name in means.index:
        loss, estimate, fit = (means.loc[name, part] for part in ("log-loss", "estimate", "fit s"))
        numbers = [f"{loss[method]:>10.4f}" for method in OURS]
        numbers += [f"{estimate[m] / max(loss[m], 1e-9):>10.3f}" for m in ("NB+loo", "AODE+loo")]
        numbers += [f"{fit[m] / fit[p]:>10.1f}" for m, p in (("NB+loo", "HEB-M"), ("AODE+loo", "HEB-AODE"))]
        print(f"{name:<20}{sizes[name]:>7,}" + "".join(numbers))
    facts: dict[str, Value] = {}
    for method in ("NB+loo", "AODE+loo"):
        loss = means["log-loss"]
        worse = (loss[method] / loss["HEB-M"] - 1)[sizes > 500]
        off = (means["estimate"][method] / loss[method] - 1)[(sizes > 1_000) & (loss[method] > 0.01)]
        print(
            f"{method}: at worst {worse.max():+.1%} against HEB-M over 500 rows ({worse.idxmax()}); the estimate is "
            f"off by {off.abs().median():.1%} in the median, {off.abs().max():.1%} at worst ({off.abs().idxmax()}), "
            f"over 1,000 rows; within 2 % on {(off.abs() <= 0.02).sum()} of {len(off)}"
        )
        facts |= {
            f"{method}-worst": float(worse.max()),
            f"{method}-worst-on": str(worse.idxmax()),
            f"{method}-near": int((off.abs() <= 0.02).sum()),
            f"{method}-datasets": len(off),
            f"{method}-off": float(off.abs().median()),
            f"{method}-off-worst": float(off.abs().max()),
            f"{method}-off-worst-on": str(off.abs().idxmax()),
        }
    return Results({}, facts)


def show_precisions(results: pd.DataFrame) -> Results:
    means = results.groupby("dataset").mean().drop(columns="fold")
    fixed = means.drop(columns=["chosen", "evidence"])
    excess = means["evidence"] / fixed.min(axis=1) - 1
    excess = excess[fixed.min(axis=1) > 0.01]
    print("\nLog-loss of NB+loo under the precision that the evidence chose, against the best of nine fixed ones")
    print(f"on each dataset: {excess.mean():+.1%} on average, {excess.max():+.1%} at worst ({excess.idxmax()}).")
    best = fixed.mean().idxmin()
    single = (fixed[best] / fixed.min(axis=1) - 1)[excess.index]
    print(f"The best single fixed precision, {best}: {single.mean():+.1%} on average, {single.max():+.1%} at worst.")
    facts = {
        "chosen-above-best": float(excess.mean()),
        "chosen-above-best-worst": float(excess.max()),
        "chosen-above-best-worst-on": str(excess.idxmax()),
        "fixed-above-best": float(single.mean()),
        "fixed-above-best-worst": float(single.max()),
    }
    return Results({}, facts)


def cost(repeat: int) -> Comparison:
    from naive_bayes import make_data

    X, y = make_data()
    weighted, plain = NaiveBayes(weighting="loo"), NaiveBayes()
    sides = medians([lambda: weighted.fit(X, y), lambda: plain.fit(X, y)], repeat)
    return Comparison("200,000 rows: fit with leave-one-out weights / without", *sides, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the paper's datasets")
    parser.add_argument("--output", type=Path, default=Path("leave-one-out"), help="folder for the tables")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    names = [path.name.removesuffix(".csv.gz") for path in sorted(options.data.glob("*.csv.gz"))]

    def run(function: Callable[[Path, str, int], list[dict]], file: str) -> pd.DataFrame:
        parts = Parallel(options.jobs)(delayed(function)(options.data, *task) for task in product(names, range(10)))
        table = pd.DataFrame([row for part in parts for row in part])
        table.to_csv(options.output / file, index=False)
        return table

    print(HEADER)
    costs = cost(15)
    print(costs, flush=True)
    facts = {"cost-weighted": 1e3 * costs.ours, "cost-plain": 1e3 * costs.theirs, "cost": costs.ours / costs.theirs}
    ours = run(our_fold, "ours.csv")
    precisions = run(precision_fold, "precisions.csv")
    found = [Results({}, facts), show_datasets(ours), show_ranks(ours), show_precisions(precisions)]
    if options.record:
        for results in found:
            record("leave_one_out", results)


if __name__ == "__main__":
    main()
