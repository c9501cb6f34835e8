"""The figures of the arena. They draw what was computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hebnb.study.arena.comparing import LEAST_LOSS, Comparison
from hebnb.study.arena.contenders import CONTENDERS, HERO, titles
from hebnb.study.figures import critical_differences, written

# The share of datasets below which a median would be that of other datasets than everybody else's.
_ENOUGH = 0.75
_SHOWN = ("log-loss", "Brier", "ECE", "accuracy")


def all_figures(comparison: Comparison, folder: Path) -> dict[str, str]:
    """Draw every figure that the outcomes allow; stems and captions."""
    import matplotlib as mpl

    mpl.use("Agg")
    drawings: dict[str, tuple[str, Callable[[], Any]]] = {
        "cost": (
            "Log-loss over the lowest of the dataset, against seconds of the processor to fit; medians over the "
            "datasets that a contender has, of each the folds that all have. Ours are diamonds; who lacks a dataset is "
            "hollow, and who lacks more than a quarter of them is only named.",
            lambda: cost(costs(comparison)),
        ),
        "critical-differences": (
            "Mean ranks. A bar joins those that do not differ significantly (Nemenyi, 0.05).",
            lambda: critical_differences({m: comparison.block(m).rename(columns=titles()) for m in _SHOWN}),
        ),
    }
    return written(drawings, folder)


def costs(comparison: Comparison) -> list[dict[str, Any]]:
    """Of every contender: median seconds, and the median of its log-loss over the lowest of the dataset.

    The seconds are the processor's, of all threads and helpers: they depend less on what else the machine does.
    """
    losses = comparison.shared("log-loss", comparison.contenders).loc[comparison.reached]
    losses = losses.clip(lower=LEAST_LOSS)
    relative = losses.div(losses.min(axis="columns"), axis="index")
    times = comparison.shared("fit CPU s", comparison.contenders).loc[comparison.reached]
    return [
        {
            "contender": name,
            "seconds": float(times[name].median()),
            "relative": float(relative[name].median()),
            "share": float(relative[name].notna().mean()),
        }
        for name in comparison.contenders
    ]


def cost(records: list[dict[str, Any]]) -> Any:
    """A point for every contender that has enough datasets, with its name beside it."""
    few = [titles()[record["contender"]] for record in records if not record["share"] >= _ENOUGH]
    records = [record for record in records if record["share"] >= _ENOUGH]
    if len(records) < 2:
        return None
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    figure = Figure(figsize=(9.5, 6), layout="constrained")
    axis = figure.subplots()
    for record in records:
        colour = _colour(record["contender"])
        axis.scatter(
            record["seconds"],
            record["relative"],
            marker="D" if CONTENDERS[record["contender"]].is_ours else "o",
            s=64,
            facecolors=colour if record["share"] == 1 else "none",
            edgecolors=colour,
            linewidths=1.5,
        )
    axis.set(xscale="log", yscale="log")
    axis.set(xlabel="CPU seconds to fit (median)", ylabel="log-loss over the lowest of the dataset (median)")
    ticks = [t for t in (1, 1.1, 1.2, 1.5, 2, 3, 5, 10) if t <= 1.15 * max(r["relative"] for r in records)]
    axis.yaxis.set_major_locator(FixedLocator(ticks))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.margins(x=0.16, y=0.08)
    axis.grid(alpha=0.25)
    if few:
        figure.supxlabel(f"Too few datasets for a point: {', '.join(few)}.", fontsize=9, color="0.35")
    _name(figure, axis, records)
    return figure


def _colour(name: str) -> str:
    return "#7a1f5c" if name == HERO else "#b0413e" if CONTENDERS[name].is_ours else "#2f7f86"


def _name(figure: Any, axis: Any, records: list[dict[str, Any]]) -> None:
    """Names beside their points, moved to where they cover neither each other nor another point."""
    figure.draw_without_rendering()
    points = [axis.transData.transform((record["seconds"], record["relative"])) for record in records]
    taken: list[Any] = []
    for n in sorted(range(len(records)), key=lambda n: float(points[n][1])):
        others = [point for m, point in enumerate(points) if m != n]
        for place in (*_PLACES, *_AFAR):
            text = _beside(axis, records[n], *place)
            box = text.get_window_extent().padded(_RADIUS)
            is_free = not any(map(box.overlaps, taken)) and not any(box.contains(*point) for point in others)
            if is_free and axis.bbox.x0 < box.x0 and box.x1 < axis.bbox.x1:
                if place in _AFAR:
                    _tie(axis, records[n], place[0])
                break
            text.remove()
        else:
            box = _beside(axis, records[n], *_PLACES[0]).get_window_extent()
        taken.append(box)


def _beside(axis: Any, record: dict[str, Any], offset: tuple[float, float], across: str, along: str) -> Any:
    return axis.annotate(
        titles()[record["contender"]],
        (record["seconds"], record["relative"]),
        xytext=offset,
        textcoords="offset points",
        ha=across,
        va=along,
        color=_colour(record["contender"]),
        fontsize=9,
        fontweight="bold" if record["contender"] == HERO else "normal",
    )


def _tie(axis: Any, record: dict[str, Any], offset: tuple[float, float]) -> None:
    """A thin line from a point to its name, where that stands so far off that another point could claim it."""
    line = {"arrowstyle": "-", "color": _colour(record["contender"]), "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0}
    point = (record["seconds"], record["relative"])
    axis.annotate("", point, xytext=offset, textcoords="offset points", arrowprops=line)


_RADIUS = 7  # of a point, in pixels
# Where a name may stand, near and else further off: so far from its point, and which of its edges is there.
_PLACES: tuple[tuple[tuple[float, float], str, str], ...] = (
    ((8, 0), "left", "center"),
    ((-8, 0), "right", "center"),
    ((0, 9), "center", "bottom"),
    ((0, -9), "center", "top"),
    ((8, 10), "left", "bottom"),
    ((8, -10), "left", "top"),
    ((-8, 10), "right", "bottom"),
    ((-8, -10), "right", "top"),
)
_AFAR: tuple[tuple[tuple[float, float], str, str], ...] = (
    ((20, 22), "left", "bottom"),
    ((20, -22), "left", "top"),
    ((-20, 22), "right", "bottom"),
    ((-20, -22), "right", "top"),
)
