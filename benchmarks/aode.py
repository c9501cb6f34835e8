"""Speed of AODE beside Weka's and scikit-bayes', and of learning beside counting: ``python benchmarks/aode.py``.

The first part needs Java with its compiler and Debian's weka package. The second takes a folder of the paper's datasets
(``--data``). The third draws cost against categories, features and rows (``--plot``).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from hebnb import AODE
from measure import HEADER, Comparison, medians
from record import Results, Value, comparisons, record

WEKA = Path("/usr/share/java/weka.jar")


def make_data(rows: int, sizes: np.ndarray, seed: int = 0, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Codes in which every feature depends on the class and on the one before it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    columns = [rng.integers(sizes[0], size=rows)]
    for k in sizes[1:]:
        follows = rng.random(rows) < 0.3
        columns.append(np.where(follows, (columns[-1] * 7 + y) % k, rng.integers(k, size=rows)))
    return np.stack(columns, axis=1), y


def write_arff(path: Path, X: np.ndarray, y: np.ndarray, sizes: np.ndarray) -> None:
    lines = ["@relation bench"]
    lines += [f"@attribute f{f} {{{','.join(map(str, range(k)))}}}" for f, k in enumerate(sizes)]
    lines += ["@attribute class {0,1}", "@data"]
    lines += [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    path.write_text("\n".join(lines) + "\n")


def against_others(repeat: int) -> list[Comparison]:
    sizes = np.linspace(10, 100, 16).astype(int)
    X, y = make_data(40_000, sizes)
    train, test, labels = X[:20_000], X[20_000:], y[:20_000]
    model = AODE("laplace")
    fit, predict = medians([lambda: model.fit(train, labels), lambda: model.predict_proba(test)], repeat)
    found = []
    if WEKA.exists():
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / "train.arff", Path(folder) / "test.arff"]
            write_arff(paths[0], train, labels, sizes)
            write_arff(paths[1], test, y[20_000:], sizes)
            command = ["java", "-cp", str(WEKA), str(Path(__file__).with_name("WekaAODE.java"))]
            out = subprocess.run(
                [*command, *map(str, paths), str(repeat)], capture_output=True, text=True, check=True
            ).stdout
        weka_fit, weka_predict = map(float, out.split()[:2])
        found += [
            Comparison("Laplace AODE `fit` / Weka's", fit, weka_fit, 1.0),
            Comparison("Laplace AODE `predict_proba` / Weka's", predict, weka_predict, 1.0),
        ]
    try:
        from skbn import AnDE
    except ImportError:
        return found
    theirs = AnDE(n_dependence=1).fit(train, labels)
    ours, slow = medians([lambda: model.predict_proba(test), lambda: theirs.predict_proba(test)], 3)
    return [*found, Comparison("Laplace AODE `predict_proba` / scikit-bayes'", ours, slow, 0.1)]


def wide() -> tuple[float, float]:
    """A thousand features of three categories: seconds, and gigabytes of this process at its peak."""
    X, y = make_data(200, np.full(1000, 3))
    (seconds,) = medians([lambda: AODE().fit(X, y)], 1)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def columns_as_in_the_paper(folder: Path, name: str, X: pd.DataFrame) -> dict[str, list[str]]:
    """Text and the columns listed for the dataset are categories; other numbers are cut."""
    listed = json.loads((folder / "categorical.json").read_text()).get(name, [])
    kept = list(X.columns) if listed == "all" else [*listed, *X.select_dtypes(["object", "string"]).columns]
    kept = [column for column in kept if column in X.columns]
    return {"categorical_features": kept, "numeric_features": [c for c in X.columns if c not in kept]}


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, list[str]]]:
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    frame = frame.sample(min(len(frame), 18_000), random_state=42).dropna(axis="columns", how="all")
    X = frame.drop(columns="class")
    return X, frame["class"].to_numpy(), columns_as_in_the_paper(folder, name, X)


def of_learning(folder: Path, repeat: int) -> dict[str, Value]:
    """What learning adds to counting, over the datasets: the mean, the least and the most."""
    ratios = {}
    for path in sorted(folder.glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        X, y, kinds = load(folder, name)
        learned, plain = AODE(**kinds), AODE("laplace", **kinds)
        sides = [lambda m=learned: m.fit(X, y), lambda m=plain: m.fit(X, y)]  # noqa: B023 (called before X changes)
        found = Comparison(f"{name}: HEB-AODE fit / Laplace AODE fit", *medians(sides, max(3, repeat // 3)), 4)
        ratios[name] = found.ours / found.theirs
        print(found, flush=True)
    least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return {
        "learning-mean": float(np.exp(np.mean(np.log(list(ratios.values()))))),
        "learning-least": ratios[least],
        "learning-least-on": least,
        "learning-most": ratios[most],
        "learning-most-on": most,
    }


def growth(target: Path, repeat: int) -> None:
    """Draw seconds of fit and predict against categories, features and rows."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    panels = {
        "categories a feature (20,000 rows, 10 features)": [(20_000, 10, k) for k in (5, 20, 80, 320, 1280, 5120)],
        "features (20,000 rows, 10 categories)": [(20_000, f, 10) for f in (5, 10, 20, 40, 80)],
        "rows (10 features, 50 categories)": [(s, 10, 50) for s in (5_000, 20_000, 80_000, 320_000)],
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
    for axis, (label, cases) in zip(axes, panels.items(), strict=True):
        lines: dict[str, list[float]] = {"HEB-AODE fit": [], "Laplace AODE fit": [], "predict_proba": []}
        varying = next(place for place, values in enumerate(zip(*cases, strict=True)) if len(set(values)) > 1)
        varied = [case[varying] for case in cases]
        for rows, features, k in cases:
            X, y = make_data(rows, np.full(features, k))
            no_caps = {"max_parent_categories": None, "max_joint_cells": None}
            heb, laplace = AODE(**no_caps), AODE("laplace", **no_caps)
            sides = [lambda: heb.fit(X, y), lambda: laplace.fit(X, y), lambda: heb.predict_proba(X)]  # noqa: B023
            for line, seconds in zip(lines.values(), medians(sides, max(1, repeat // 5)), strict=True):
                line.append(seconds)
        for (name, seconds), style in zip(lines.items(), ["o-", "s--", "^:"], strict=True):
            axis.loglog(varied, seconds, style, label=name)
        axis.set_xticks(varied, labels=[f"{size:,}" for size in varied])
        axis.minorticks_off()
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
        print(label, {name: [round(s, 3) for s in seconds] for name, seconds in lines.items()}, flush=True)
    axes[0].set_ylabel("seconds")
    axes[0].legend()
    figure.savefig(target, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="measurements of every side (default: 15)")
    parser.add_argument("--data", type=Path, help="folder of the paper's datasets")
    parser.add_argument("--plot", type=Path, help="file for the figure of cost against size")
    parser.add_argument("--record", action="store_true", help="write what README.md and docs show")
    options = parser.parse_args()
    print(HEADER)
    found = against_others(options.repeat)
    print(*found, sep="\n", flush=True)
    seconds, peak = wide()
    print(f"1,000 features of three categories, 200 rows: fit {seconds:.1f} s, peak memory {peak:.1f} GB")
    facts: dict[str, Value] = {"wide-seconds": seconds, "wide-gigabytes": peak}
    if options.data:
        facts |= of_learning(options.data, options.repeat)
        print(f"geometric mean over the datasets: {facts['learning-mean']:.2f} (aim 2)")
    if options.record:
        record("aode", Results({"speed": comparisons(found, "aode")}, facts))
    if options.plot:
        growth(options.plot, options.repeat)


if __name__ == "__main__":
    main()
