"""The figures of the paper. They draw what was computed elsewhere, in shades that survive a grey printer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hebnb.study.methods import BEYOND, SMOOTHERS
from hebnb.study.published import METRICS
from hebnb.study.registry import HIGH_CARDINALITY
from hebnb.study.statistics import LOSSES, mean_ranks, means
from hebnb.study.tables import solved

# Colours of increasing lightness, each with a marker and a line of its own.
_STYLES = [
    ("#000000", "o", "-"),
    ("#7a1f5c", "s", "--"),
    ("#b0413e", "^", "-."),
    ("#2f7f86", "D", ":"),
    ("#c98a1b", "v", "-"),
    ("#8fb3d9", "P", "--"),
    ("#9a9a9a", "X", "-."),
]


def all_figures(
    results: Any, l1: list[dict[str, Any]], concentrations: list[dict[str, Any]], folder: Path
) -> dict[str, str]:
    """Draw every figure that the results allow; stems and captions."""
    import matplotlib as mpl

    mpl.use("Agg")
    drawings: dict[str, tuple[str, Callable[[], Any]]] = {
        "synthetic": ("ℓ1 error of the smoothers against K/N, with √(K/N) for reference.", lambda: synthetic(l1)),
        "critical-differences": (
            "Mean ranks of the seven smoothers (50 Minka steps). A bar joins those that do not differ significantly "
            "(Nemenyi, 0.05).",
            lambda: critical_differences(_tables(results, [solved(method, "Minka") for method in SMOOTHERS], METRICS)),
        ),
        "critical-differences-beyond": (
            "Mean ranks with leave-one-out weights beside the paper's methods (exact).",
            lambda: critical_differences(
                _tables(results, ["HEB-M", "HEB-M+GR", "HEB-AODE", *BEYOND], ("accuracy", "log-loss", "Brier", "ECE"))
            ),
        ),
        "reliability": (
            "Reliability: accuracy against confidence. Marks show where at least 1 % of the rows are.",
            lambda: reliability(results, ["Laplace", "HEB-M (Minka)", "HEB-M+GR (Minka)", "NB+loo"]),
        ),
        "concentrations": (
            "Learned concentrations of (class, feature) pairs: (a) how large, (b) against √N, (c) against K, "
            "(d) the share ρ = m/(N + m) against 1/√N.",
            lambda: concentration_panels(concentrations),
        ),
    }
    return written(drawings, folder)


def written(drawings: Mapping[str, tuple[str, Callable[[], Any]]], folder: Path) -> dict[str, str]:
    """Draw figures into a folder, each with its caption by the stem of its files; the captions of those there are."""
    drawn = {}
    for stem, (caption, draw) in drawings.items():
        figure = draw()
        if figure is None:
            continue
        for ending in ("svg", "png"):
            figure.savefig(folder / f"{stem}.{ending}", dpi=150)
        drawn[stem] = caption
    return drawn


def synthetic(records: list[dict[str, Any]]) -> Any:
    """Error against K/N, a panel for each truth."""
    if not records:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    shapes = sorted({r["alpha"] for r in records}, reverse=True)
    methods = list(dict.fromkeys(r["method"] for r in records))
    for axis, shape in zip(figure.subplots(1, len(shapes), sharey=True), shapes, strict=True):
        for method, (colour, marker, line) in zip(methods, _STYLES, strict=False):
            points: dict[float, list[float]] = {}
            for r in records:
                if r["alpha"] == shape and r["method"] == method:
                    points.setdefault(r["K"] / r["N"], []).append(r["l1"])
            ratios = sorted(points)
            errors = [np.mean(points[ratio]) for ratio in ratios]
            axis.loglog(ratios, errors, marker + line, color=colour, label=method, markersize=5, linewidth=1.2)
        ends = np.array([ratios[0], ratios[-1]])
        axis.loglog(ends, np.sqrt(ends), color="0.6", linewidth=1, label="√(K/N)")
        axis.set_title(f"truth from Dirichlet({shape:g})")
        axis.set_xlabel("K/N")
        axis.grid(alpha=0.25)
    figure.axes[0].set_ylabel("ℓ1 error")
    figure.axes[0].legend(frameon=False, fontsize=9)
    return figure


def _tables(results: Any, methods: list[str], metrics: tuple[str, ...]) -> dict[str, Any]:
    return {metric: means(results, metric, methods) for metric in metrics}


def critical_differences(tables: dict[str, Any]) -> Any:
    """A diagram for each of four metrics, of tables with datasets as rows and methods as columns; None if small."""
    import scikit_posthocs
    from matplotlib.figure import Figure

    if any(len(table) < 3 or table.shape[1] < 3 for table in tables.values()):
        return None
    most = max(table.shape[1] for table in tables.values())
    figure = Figure(figsize=(11, 1.0 + 0.62 * most), layout="constrained")
    for axis, (metric, table) in zip(figure.subplots(2, 2).ravel(), tables.items(), strict=True):
        values = table if metric in LOSSES else -table
        names = [method.removesuffix(" (Minka)") for method in table.columns]
        ranks = dict(zip(names, mean_ranks(values.to_numpy(), lower_is_better=True), strict=True))
        p_values = scikit_posthocs.posthoc_nemenyi_friedman(values.to_numpy())
        p_values.index = p_values.columns = names
        scikit_posthocs.critical_difference_diagram(
            ranks, p_values, ax=axis, label_fmt_left="{label} ({rank:.2f})", label_fmt_right="({rank:.2f}) {label}",
            color_palette=["black"] * len(names), text_h_margin=0.01,
            label_props={"fontsize": 9}, crossbar_props={"linewidth": 3, "color": "0.35"},
        )  # fmt: skip
        axis.set_title(metric, pad=14)
    return figure


def reliability(results: Any, methods: list[str]) -> Any:
    """Accuracy against confidence, a panel for each dataset with many categories, folds pooled."""
    from matplotlib.figure import Figure

    names = [name for name in HIGH_CARDINALITY if name in set(results["dataset"])] or sorted(set(results["dataset"]))[
        :3
    ]
    if not names:
        return None
    figure = Figure(figsize=(3.6 * len(names), 3.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
    for axis, name in zip(axes, names, strict=True):
        axis.plot([0.4, 1], [0.4, 1], color="0.7", linewidth=1)
        for method, (colour, marker, line) in zip(methods, _STYLES, strict=False):
            here = results[(results["dataset"] == name) & (results["method"] == method) & (results["bins"] == 10)]
            if here.empty:
                continue
            confidence, accuracy, count = pooled_reliability(here["reliability"])
            shown = count >= 0.01 * count.sum()
            label = method.removesuffix(" (Minka)")
            axis.plot(
                confidence[shown],
                accuracy[shown],
                marker + line,
                color=colour,
                label=label,
                markersize=5,
                linewidth=1.2,
            )
        axis.set_title(name)
        axis.set_xlabel("confidence")
        axis.set_xlim(0.45, 1.02)
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("accuracy")
    axes[0].legend(frameon=False, fontsize=9)
    return figure


def pooled_reliability(curves: Any) -> tuple[Any, Any, Any]:
    """Mean confidence, accuracy and rows of every bin over all folds."""
    sums: dict[float, Any] = {}
    for curve in curves:
        parts = zip(curve["lower"], curve["confidence"], curve["accuracy"], curve["count"], strict=True)
        for lower, confidence, accuracy, count in parts:
            sums[lower] = sums.get(lower, 0) + np.array([confidence * count, accuracy * count, count])
    total = np.array([sums[lower] for lower in sorted(sums)])
    return total[:, 0] / total[:, 2], total[:, 1] / total[:, 2], total[:, 2]


def concentration_panels(records: list[dict[str, Any]]) -> Any:
    """Four panels."""
    if not records:
        return None
    from matplotlib.figure import Figure

    names = sorted({r["dataset"] for r in records})
    figure = Figure(figsize=(11, 7), layout="constrained")
    (histogram, by_rows), (by_size, share) = figure.subplots(2, 2)
    m = np.array([r["m"] for r in records])
    histogram.hist(np.log10(m), bins=30, color="0.45", edgecolor="white")
    histogram.set(title="(a)", xlabel="log10 m", ylabel="(class, feature) pairs")
    for name, (colour, marker, _) in zip(names, _STYLES, strict=False):
        part = [r for r in records if r["dataset"] == name]
        n, k, own, rho = (np.array([r[key] for r in part], dtype=float) for key in ("N", "K", "m", "rho"))
        style = {"color": colour, "marker": marker, "s": 18, "alpha": 0.7, "linewidths": 0}
        by_rows.scatter(np.sqrt(n), own, label=name, **style)
        by_size.scatter(k, own, **style)
        share.scatter(1 / np.sqrt(n), rho, **style)
    left, right = by_rows.get_xlim()
    roots = np.linspace(left, right, 50)[1:]
    largest = max(r["K"] for r in records)
    by_rows.plot(roots, roots * np.log(largest), color="0.6", linewidth=1, label="√N · log K, largest K")
    by_rows.set(title="(b)", xlabel="√N", ylabel="m", yscale="log")
    by_size.set(title="(c)", xlabel="K", ylabel="m", xscale="log", yscale="log")
    share.set(title="(d)", xlabel="1/√N", ylabel="ρ", yscale="log")
    for axis in (by_rows, by_size, share):
        axis.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=len(names) + 1, frameon=False, fontsize=9)
    return figure
