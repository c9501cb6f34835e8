"""EvidenceClassifier beside what people would use instead: ``HEBNB_DATA=FOLDER python benchmarks/evidence.py``.

Five folds of the paper's datasets and of the flights, every method at its defaults and on the same rows. Results go to
``--store`` as they come, so that a run that was stopped goes on where it was; a method that raises, dies or exceeds
``--limit`` seconds on a fold is kept with the reason. ``--report`` only shows what the store has. ``--speed`` measures
times instead, the sides taking turns; ``--nested`` holds ``loo_log_loss_`` against ten whole fits.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

import hebnb
from hebnb.datasets import load_flights
from hebnb.errors import InputError
from hebnb.metrics import brier_score_macro, expected_calibration_error
from hebnb.study.protocol import Prepared, Settings, prepare
from hebnb.study.registry import DATASETS, Dataset
from hebnb.study.sources import Bundled, Folder
from measure import medians

Row: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[str, tuple[str, pd.DataFrame]]  # name, title, table

FOLDS = 5
SETTINGS = Settings(folds=FOLDS)
# Where evidence is held against CatBoost, what is run first, and where times are measured.
AIMED = ("amazon-employee", "click-prediction", "adult", "bank-marketing", "nomao")
FIRST = ("adult", "bank-marketing", "amazon-employee", "click-prediction", "flights", "nomao")
SPEED = ("adult", "bank-marketing", "amazon-employee", "click-prediction")
MEASURES = ("log-loss", "ECE", "accuracy", "Brier", "loo log-loss")
SECONDS = ("fit s", "fit CPU s", "predict s")
OPENMP = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


# The data


@dataclass(frozen=True)
class Fold:
    """Training and test rows as tables: text with gaps for categories, floats with NaN for numbers."""

    train: pd.DataFrame
    train_labels: np.ndarray
    test: pd.DataFrame
    test_labels: np.ndarray

    @property
    def categorical(self) -> list[str]:
        """Columns of categories."""
        return [name for name in self.train.columns if self.train[name].dtype.kind not in "fi"]


def load(dataset: Dataset) -> Prepared:
    source = Folder(Path(os.environ["HEBNB_DATA"])) if dataset.openml_id else Bundled()
    return prepare(dataset, source.load(dataset), SETTINGS)


def as_table(columns: Sequence[np.ndarray]) -> pd.DataFrame:
    """Codes become text, so that nobody can take them for numbers."""
    return pd.DataFrame({f"x{n}": _as_text(c) if c.dtype.kind == "i" else c for n, c in enumerate(columns)})


def _as_text(codes: np.ndarray) -> np.ndarray:
    names = np.array([*(f"v{code}" for code in range(codes.max() + 1)), None], dtype=object)
    return names[codes]  # −1, a gap, is the last


def fold_of(prepared: Prepared, fold: int) -> Fold:
    # The paper does not say what the columns of the flights are, so they are as people have them: text and integers.
    is_flights = prepared.name == "flights"
    X = load_flights(backend="pandas")[0] if is_flights else as_table(prepared.columns)
    y = prepared.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some classes have fewer rows than there are folds
        train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=42).split(y, y))[fold]
    return Fold(X.iloc[train], y[train], X.iloc[test], y[test])


# The methods


@dataclass(frozen=True)
class Method:
    """A classifier, the table that it is given, and the package it comes from."""

    make: Callable[[Fold, int], Any]
    view: Callable[[Fold], tuple[pd.DataFrame, pd.DataFrame]]
    package: str

    @property
    def version(self) -> str | None:
        """Of the package; None where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def with_gaps(fold: Fold) -> tuple[pd.DataFrame, pd.DataFrame]:
    return fold.train, fold.test


def gaps_named(fold: Fold) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A gap of a category is a category like any other."""
    named = dict.fromkeys(fold.categorical, "missing")
    kinds = dict.fromkeys(fold.categorical, object)
    return fold.train.fillna(named).astype(kinds), fold.test.fillna(named).astype(kinds)


def as_categoricals(fold: Fold, most: float = np.inf) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pandas categoricals with the categories of the training rows; numbers where these are more than ``most``."""
    train, test = fold.train.copy(), fold.test.copy()
    for name in fold.categorical:
        kind = pd.CategoricalDtype(np.sort(train[name].dropna().unique()))
        for table in (train, test):
            column = table[name].where(table[name].isin(kind.categories)).astype(kind)
            codes = column.cat.codes.astype(float)
            table[name] = column if len(kind.categories) <= most else codes.where(codes >= 0)
    return train, test


# HistGradientBoosting takes at most 255 categories a column. Columns with more are ordinal-encoded and given to it as
# numbers.
at_most_255 = partial(as_categoricals, most=255)


def evidence(fold: Fold, threads: int) -> Any:
    return hebnb.EvidenceClassifier()


def naive_bayes(fold: Fold, threads: int) -> Any:
    return hebnb.NaiveBayes(weighting="loo")


def aode(fold: Fold, threads: int) -> Any:
    return hebnb.AODE(weighting="loo")


def logistic_regression(fold: Fold, threads: int) -> Any:
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
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    columns = make_column_transformer((codes, fold.categorical), remainder=SimpleImputer(strategy="median"))
    return make_pipeline(columns, RandomForestClassifier(n_jobs=threads, random_state=0))


def hist_gradient_boosting(fold: Fold, threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def lightgbm(fold: Fold, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, random_state=0, verbose=-1)


def ebm(fold: Fold, threads: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if name in fold.categorical else "continuous" for name in fold.train.columns]
    return ExplainableBoostingClassifier(feature_types=kinds, n_jobs=threads)


def catboost(fold: Fold, threads: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        cat_features=fold.categorical, thread_count=threads, random_seed=0, allow_writing_files=False, verbose=0
    )


OURS = ("evidence", "NB+loo", "AODE+loo")
METHODS = {
    "evidence": Method(evidence, with_gaps, "hebnb"),
    "NB+loo": Method(naive_bayes, with_gaps, "hebnb"),
    "AODE+loo": Method(aode, with_gaps, "hebnb"),
    "logistic": Method(logistic_regression, gaps_named, "scikit-learn"),
    "forest": Method(random_forest, with_gaps, "scikit-learn"),
    "HistGB": Method(hist_gradient_boosting, at_most_255, "scikit-learn"),
    "LightGBM": Method(lightgbm, as_categoricals, "lightgbm"),
    "EBM": Method(ebm, with_gaps, "interpret-core"),
    "CatBoost": Method(catboost, gaps_named, "catboost"),
}


def available(methods: Sequence[str]) -> list[str]:
    """Those that can be run here; the others are named."""
    there = []
    for name in methods:
        if METHODS[name].version is None:
            print(f"{name} is left out: {METHODS[name].package} is not installed.")
        elif name == "evidence" and not hasattr(hebnb, "EvidenceClassifier"):
            print("evidence is left out: this hebnb has no EvidenceClassifier.")
        else:
            there.append(name)
    return there


# What is measured on a fold


def measure(method: str, fold: Fold, n_classes: int, threads: int) -> Row:
    """Measures of a method. Its times are without the view; those of its own encoders are in."""
    train, test = METHODS[method].view(fold)
    model = METHODS[method].make(fold, threads)
    began, began_cpu = time.perf_counter(), time.process_time()
    model.fit(train, fold.train_labels)
    fitted, fitted_cpu = time.perf_counter(), time.process_time()
    proba = model.predict_proba(test)
    predicted = time.perf_counter()
    return scores(fold.test_labels, all_classes(proba, model.classes_, n_classes)) | {
        "fit s": fitted - began,
        "fit CPU s": fitted_cpu - began_cpu,
        "predict s": predicted - fitted,
        "loo log-loss": float(model.loo_log_loss_) if hasattr(model, "loo_log_loss_") else None,
    }


def all_classes(proba: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities with a column for every class; zero for those that the training rows lack."""
    whole = np.zeros((len(proba), n_classes))
    whole[:, np.asarray(classes, dtype=int)] = proba
    return whole / whole.sum(axis=1, keepdims=True)  # those of 32 bits do not quite add up to one


def scores(labels: np.ndarray, proba: np.ndarray) -> Row:
    classes = np.arange(proba.shape[1])
    truth = np.clip(proba[np.arange(len(labels)), labels], 1e-15, 1)
    return {
        "log-loss": float(-np.log(truth).mean()),
        "ECE": expected_calibration_error(labels, proba, classes=classes),
        "accuracy": float((proba.argmax(axis=1) == labels).mean()),
        "Brier": brier_score_macro(labels, proba, classes=classes),
    }


# Running, each method on each dataset in a process of its own


def pin(threads: int) -> None:
    """Keep this process to as many cores: hebnb has no setting for threads, it asks the machine."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def work(results: Connection, prepared: Prepared, method: str, folds: Sequence[int], threads: int) -> None:
    """Do the folds, and send what came of each."""
    os.setsid()  # so that it can be killed with all processes it starts
    warnings.simplefilter("ignore")
    if method in OURS:
        pin(threads)
    for fold in folds:
        try:
            results.send(measure(method, fold_of(prepared, fold), prepared.n_classes, threads))
        except Exception as error:  # whatever a peer raises is a result
            results.send({"error": f"{type(error).__name__}: {error}"[:300]})


def run(prepared: Prepared, method: str, folds: Sequence[int], threads: int, limit: float) -> Iterator[Row]:
    """What came of every fold. After one that died or took too long the others are not tried."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, prepared, method, folds, threads))
    process.start()
    sender.close()
    failure = None
    try:
        for fold in folds:
            row = {"error": f"not tried: fold {failure}"} if failure else receive(receiver, process, limit)
            if row.get("error", "").startswith(("more than", "died")):
                failure = f"{fold} {row['error']}"
            yield row
    finally:
        end(process)


def receive(receiver: Connection, process: Any, limit: float) -> Row:
    if not receiver.poll(limit):
        return {"error": f"more than {limit:g} s"}
    try:
        row: Row = receiver.recv()
    except EOFError:
        process.join(5)
        return {"error": f"died with exit code {process.exitcode}"}
    return row


def end(process: Any) -> None:
    """Let a process that has sent everything end; kill any other, with its own."""
    process.join(5)
    if process.is_alive():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has not even made its group
            process.kill()
        process.join()


@dataclass(frozen=True)
class Store:
    """A file of JSON lines, one a dataset, method and fold; the last one counts."""

    path: Path

    def rows(self) -> dict[tuple[str, str, int], Row]:
        """All results by dataset, method and fold."""
        if not self.path.exists():
            return {}
        rows = map(json.loads, self.path.read_text().splitlines())
        return {(row["dataset"], row["method"], row["fold"]): row for row in rows}

    def add(self, row: Row) -> None:
        """Append, in one piece: other runs may write to the same file."""
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")


def size(dataset: Dataset) -> int:
    return min(dataset.rows, SETTINGS.most_rows) * dataset.features


def in_order() -> list[str]:
    """The first ones, then all others from small to large."""
    others = sorted((d for d in DATASETS.values() if d.name not in FIRST), key=size)
    return [*FIRST, *(dataset.name for dataset in others)]


def run_all(options: argparse.Namespace, store: Store) -> None:
    methods = available(options.method or list(METHODS))
    for name in options.dataset or in_order():
        done = {} if options.force else store.rows()
        missing = {m: [f for f in range(FOLDS) if (name, m, f) not in done] for m in methods}
        if not any(missing.values()):
            continue
        try:
            prepared = load(DATASETS[name])
        except InputError as error:
            print(f"{name} is left out: {error}")
            continue
        for method in methods:
            run_method(prepared, method, missing[method], options, store)


def run_method(prepared: Prepared, method: str, folds: list[int], options: argparse.Namespace, store: Store) -> None:
    if not folds:
        return
    about = {"rows": len(prepared.labels), "threads": options.threads, "version": METHODS[method].version}
    for fold, row in zip(folds, run(prepared, method, folds, options.threads, options.limit), strict=True):
        store.add({"dataset": prepared.name, "method": method, "fold": fold} | about | row)
        said = row.get("error") or f"log-loss {row['log-loss']:.4f}, fit {row['fit s']:.2f} s"
        print(f"{time.strftime('%H:%M:%S')}  {prepared.name}, fold {fold}, {method}: {said}", flush=True)


# The report


def report(store: Store, out: Path | None) -> None:
    rows = list(store.rows().values())
    if not rows:
        print("No results yet.")
        return
    results = pd.DataFrame(rows)
    for column in (*MEASURES, *SECONDS):
        results[column] = pd.to_numeric(results.get(column, np.nan))  # all may have failed
    results["error"] = results.get("error")
    tables = make_tables(results)
    for title, table in tables.values():
        print(f"\n{title}\n{as_text(table)}")
    if out is not None:
        write(tables, results, out)


def make_tables(results: pd.DataFrame) -> Tables:
    means = complete_means(results)
    over = "over the datasets on which they have all folds, and over those on which all methods have them (*)"
    tables = {"log-loss": ("Log-loss, mean of five folds", log_loss_table(results, means))}
    if len(means):
        tables["methods"] = f"Methods, {over}", summary_table(results, means)
        tables["aims"] = "Log-loss of evidence over that of CatBoost", aims_table(means)
    for method in OURS:
        table = estimate_table(means, method)
        if len(table):
            title = f"loo_log_loss_ of {method} beside its log-loss, over 1,000 rows{shares(table)}"
            tables[f"estimate-{method}"] = title, table
    failures = failure_table(results)
    if len(failures):
        tables["failures"] = "What failed", failures
    return tables


def complete_means(results: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds, for datasets and methods that have all of them."""
    groups = results[results["error"].isna()].groupby(["dataset", "method"])
    means = groups.mean(numeric_only=True)
    return means[groups.size() == FOLDS]


def ordered(table: pd.DataFrame) -> pd.DataFrame:
    """Datasets and methods in the order of a run."""
    rows = [name for name in in_order() if name in table.index]
    return table.loc[rows, [name for name in METHODS if name in table.columns]]


def log_loss_table(results: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    """Numbers where all folds are there; the kind of failure or how many folds there are where not."""
    states = results.groupby(["dataset", "method"])["error"].apply(_state).unstack()
    table = ordered(states).astype(object)
    for (dataset, method), loss in means["log-loss"].items():
        table.loc[dataset, method] = loss
    table.insert(0, "rows", results.groupby("dataset")["rows"].first().astype(int).astype(object))
    return table


def _state(errors: pd.Series) -> str:
    failed = errors.dropna()
    if not len(failed):
        return f"{len(errors)} folds"
    known = {"more than": "too slow", "died": "died"}
    return next((word for start, word in known.items() if failed.str.startswith(start).any()), "raised")


def summary_table(results: pd.DataFrame, means: pd.DataFrame) -> pd.DataFrame:
    losses = ordered(means["log-loss"].unstack())
    common = losses.dropna().index
    timed = results[results["error"].isna()].groupby("method")
    table = pd.DataFrame(index=losses.columns)
    table["datasets"] = losses.notna().sum().astype(object)
    table["rank"] = ranks(losses).mean()
    for measure_ in ("ECE", "accuracy", "Brier"):
        table[measure_] = means[measure_].unstack().mean()
    table["datasets*"] = len(common)
    table["datasets*"] = table["datasets*"].astype(object)
    table["rank*"] = ranks(losses.loc[common]).mean()
    for measure_ in ("log-loss", "ECE"):
        table[f"{measure_}*"] = means[measure_].unstack().loc[common].mean()
    for seconds in SECONDS:
        table[f"median {seconds}"] = timed[seconds].median()
    table["threads"] = timed["threads"].agg(lambda threads: " or ".join(map(str, sorted(threads.unique()))))
    return table


def ranks(losses: pd.DataFrame) -> pd.DataFrame:
    """Ranks by log-loss among the methods that a dataset has."""
    numbers = rankdata(losses.to_numpy().round(6), axis=1, nan_policy="omit") if losses.size else losses.to_numpy()
    return pd.DataFrame(numbers, losses.index, losses.columns)


def aims_table(means: pd.DataFrame) -> pd.DataFrame:
    losses = means["log-loss"].unstack().reindex(index=[*AIMED, "flights"], columns=["evidence", "CatBoost"])
    return losses.assign(ratio=losses["evidence"] / losses["CatBoost"])


def estimate_table(means: pd.DataFrame, method: str) -> pd.DataFrame:
    """The estimate beside what it estimates."""
    of = means[(means["rows"] > 1_000) & means["loo log-loss"].notna()]
    of = of[of.index.get_level_values("method") == method].droplevel("method")
    of = of.loc[[name for name in in_order() if name in of.index]]
    return of[["loo log-loss", "log-loss"]].assign(off=of["loo log-loss"] / of["log-loss"] - 1)


def shares(table: pd.DataFrame) -> str:
    """How many estimates are within 3 %; a loss near zero is off by a lot for nothing."""
    near, large = table["off"].abs() <= 0.03, table["log-loss"] > 0.01
    return (
        f": within 3 % on {near.sum()} of {len(near)} ({near.mean():.0%}), and on {(near & large).sum()} of the "
        f"{large.sum()} with a log-loss over 0.01"
    )


def failure_table(results: pd.DataFrame) -> pd.DataFrame:
    failed = results[results["error"].notna()]
    groups = failed.sort_values("fold").groupby(["dataset", "method"])
    return groups.agg(folds=("fold", "size"), reason=("error", "first")).astype(object).reset_index(level="method")


def shown(value: Any) -> str:
    if isinstance(value, float):
        return "–" if np.isnan(value) else f"{value:.4f}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value).split("\n")[0]


def cells(table: pd.DataFrame) -> list[list[str]]:
    """Everything as text, with heads."""
    body = [[str(name), *map(shown, row)] for name, row in zip(table.index, table.to_numpy(object), strict=True)]
    return [["", *map(str, table.columns)], *body]


def as_text(table: pd.DataFrame) -> str:
    texts = cells(table)
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(_aligned(row, widths) for row in texts)


def _aligned(row: list[str], widths: list[int]) -> str:
    numbers = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers]).rstrip()


def as_markdown(table: pd.DataFrame) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in cells(table))
    return "\n".join([head, "|".join(["", "---", *["---:"] * len(table.columns), ""]), *body])


def write(tables: Tables, results: pd.DataFrame, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    results.to_csv(out / "folds.csv", index=False)
    for name, (_, table) in tables.items():
        table.to_csv(out / f"{name}.csv")
    parts = [f"## {title}\n\n{as_markdown(table)}\n" for title, table in tables.values()]
    (out / "report.md").write_text("\n".join(parts))


# Speed


def sides(method: str, fold: Fold, threads: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """To fit, and to predict with what was fitted."""
    train, test = METHODS[method].view(fold)
    model = METHODS[method].make(fold, threads)
    return lambda: model.fit(train, fold.train_labels), lambda: model.predict_proba(test)


def compare(what: str, one: tuple[str, Fold], other: tuple[str, Fold], threads: int, repeat: int) -> None:
    """Fit times of two methods that take turns, then those of their predictions."""
    pairs = zip(sides(*one, threads), sides(*other, threads), strict=True)
    for verb, pair in zip(("fit", "predict"), pairs, strict=True):
        ours, theirs = medians(pair, repeat)
        print(f"{f'{what}: {verb}':<58}{1e3 * ours:>10.1f}{1e3 * theirs:>10.1f}{ours / theirs:>8.2f}", flush=True)


def synthetic(rows: int, columns: int) -> Fold:
    """As many columns of thirty categories as of numbers, all leaning towards the label; a fifth is for predicting."""
    from aode import make_data

    half, tested = columns // 2, rows // 4
    codes, y = make_data(rows + tested, np.full(half, 30))
    numbers = np.random.default_rng(1).normal(size=(len(y), half)) + 0.2 * y[:, None]
    X = as_table([*codes.T, *numbers.T])
    return Fold(X.iloc[:rows], y[:rows], X.iloc[rows:], y[rows:])


def speed(threads: int, repeat: int) -> None:
    """Times of evidence beside others, and how they grow."""
    pin(threads)
    warnings.simplefilter("ignore")
    others = available(["evidence", "LightGBM", "CatBoost"])
    if "evidence" not in others:
        return
    print(f"16,000 rows to fit, 4,000 to predict, {threads} threads, medians of {repeat}; beside CatBoost of fewer")
    print(f"{'':<58}{'one, ms':>10}{'other, ms':>10}{'ratio':>8}")
    for name in SPEED:
        fold = fold_of(load(DATASETS[name]), 0)
        for other in others[1:]:
            times = max(1, repeat // 3) if other == "CatBoost" else repeat
            compare(f"{name}: evidence / {other}", ("evidence", fold), (other, fold), threads, times)
    fold = fold_of(load(DATASETS["nomao"]), 0)
    compare("nomao: evidence / AODE+loo", ("evidence", fold), ("AODE+loo", fold), threads, repeat)
    once, *twice = (("evidence", synthetic(*shape)) for shape in ((16_000, 12), (32_000, 12), (16_000, 24)))
    for what, more in zip(("32,000 rows / 16,000, 12 columns", "24 columns / 12, 16,000 rows"), twice, strict=True):
        compare(what, more, once, threads, repeat)


def nested(names: Sequence[str], threads: int) -> None:
    """How near an estimate can come: ``loo_log_loss_``, and ten fits within the training rows, beside new rows."""
    warnings.simplefilter("ignore")
    rows = []
    for name in names:
        prepared = load(DATASETS[name])
        for number in range(FOLDS):
            fold = fold_of(prepared, number)
            found = measure("evidence", fold, prepared.n_classes, threads)
            within = [measure("evidence", own, prepared.n_classes, threads) for own in inner_folds(fold)]
            ten = float(np.mean([row["log-loss"] for row in within]))
            rows.append({"": name, "log-loss": found["log-loss"], "loo": found["loo log-loss"], "ten fits": ten})
    table = pd.DataFrame(rows).groupby("", sort=False).mean()
    table["loo off"], table["ten fits off"] = (table[own] / table["log-loss"] - 1 for own in ("loo", "ten fits"))
    print(as_text(table))


def inner_folds(fold: Fold) -> Iterator[Fold]:
    """Ten folds of the training rows."""
    X, y = fold.train, fold.train_labels
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(y, y):
        yield Fold(X.iloc[train], y[train], X.iloc[test], y[test])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", action="append", choices=list(METHODS), help="only this; may be repeated")
    parser.add_argument("--dataset", action="append", choices=list(DATASETS), help="only this; may be repeated")
    parser.add_argument("--store", type=Path, default=Path("evidence-results.jsonl"), help="file of results")
    parser.add_argument("--threads", type=int, default=2, help="threads of every method (default: 2)")
    parser.add_argument("--limit", type=float, default=600, help="seconds a fold may take (default: 600)")
    parser.add_argument("--force", action="store_true", help="run again what the store has, failures too")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--out", type=Path, help="folder for the tables as CSV and Markdown")
    parser.add_argument("--speed", action="store_true", help="measure times instead")
    parser.add_argument("--nested", action="store_true", help="hold loo_log_loss_ against whole fits instead")
    parser.add_argument("--repeat", type=int, default=9, help="measurements of every side of --speed (default: 9)")
    options = parser.parse_args()
    if not options.report and "HEBNB_DATA" not in os.environ:
        parser.error("HEBNB_DATA must name the folder of the paper's datasets.")
    os.environ.update(dict.fromkeys(OPENMP, str(options.threads)))  # of the processes that are started
    if options.speed or options.nested:
        what = partial(speed, options.threads, options.repeat)
        if options.nested:
            what = partial(nested, options.dataset or in_order(), options.threads)
        process = get_context("spawn").Process(target=what)
        process.start()
        process.join()
        raise SystemExit(process.exitcode)
    store = Store(options.store)
    if not options.report:
        run_all(options, store)
    report(store, options.out)


if __name__ == "__main__":
    main()
