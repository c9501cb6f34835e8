"""The page: one HTML file that needs nothing else, neither a network nor a server."""

from __future__ import annotations

import base64
import hashlib
import math
from importlib import resources
from typing import Any

import numpy as np

from hebnb.foundation.arrays import FloatArray
from hebnb.foundation.printable import visible
from hebnb.overview.alerts import together
from hebnb.page.comparison import MEASURES
from hebnb.page.contents import MOST_CLASSES, Contents, measure_rows
from hebnb.version import __version__

# Alerts that are seen at once; the others can be unfolded.
_MOST_ALERTS = 4
# Colours of classes in drawings; more classes share the last.
_HUES = 6


def render(contents: Contents) -> str:
    """The page as HTML."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters |= {
        "digits": _digits, "percent": _percent, "count": _count, "short": _short, "signed": _signed,
    }  # fmt: skip
    script = _file("drawings.js") + _file("explorer.js")
    shown = _shown_classes(contents)
    heat = _heat(contents, shown)
    return environment.get_template("page.html").render(
        page=contents,
        alerts=together(contents.alerts),
        most_alerts=_MOST_ALERTS,
        best=contents.comparison.best,
        measured=measure_rows(contents.comparison),
        greatest={
            name: float(np.nanmax([*(result.measures[name] for result in contents.comparison.results), 0.0]))
            for name in MEASURES
        },
        floor=contents.comparison.calibration_floor,
        reliability=[_curve_points(curve) for curve in contents.curves.values()],
        reliability_names=list(contents.curves),
        class_reliability=[(label, _curve_points(curve)) for label, curve in contents.class_curves],
        low=_lowest(list(contents.curves.values())),
        shown=shown,
        others=sum(share for c, (_, share) in enumerate(contents.classes) if c not in shown),
        heat=heat,
        scatter=_scatter(heat),
        style=Markup(_file("page.css")),
        script=Markup(script),
        # The only script that may run is the one that came with the package, whatever else gets onto the page.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
    )


def _file(name: str) -> str:
    return (resources.files("hebnb.page") / name).read_text(encoding="utf-8")


def _digits(value: float | None, digits: int = 3) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.{digits}f}"


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{abs(value):.3f}"


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _short(text: Any, most: int = 60) -> str:
    """A name or a category; what is not seen is written out."""
    return visible(str(text), most)


def _curve_points(curve: dict[str, FloatArray]) -> list[dict[str, float]]:
    """Points of a reliability curve with the share of rows that they stand for."""
    share = curve["weight"] / curve["weight"].sum()
    parts = zip(curve["confidence"], curve["accuracy"], share, curve["count"], strict=True)
    return [{"x": float(x), "y": float(y), "radius": 2.5 + 9 * math.sqrt(s), "count": float(n)} for x, y, s, n in parts]


def _lowest(curves: list[dict[str, FloatArray]]) -> float:
    """Where the axes of a reliability diagram begin."""
    least = min(float(curve[part].min()) for curve in curves for part in ("confidence", "accuracy"))
    return 0.5 if least >= 0.5 else math.floor(10 * least) / 10


def _shown_classes(contents: Contents) -> list[int]:
    """The most frequent classes, in their order."""
    shares = np.array([share for _, share in contents.classes])
    shown: list[int] = np.sort(np.argsort(-shares, kind="stable")[:MOST_CLASSES]).tolist()
    return shown


def _heat(contents: Contents, shown: list[int]) -> dict[str, Any]:
    """Concentration and shrinkage of some classes, features by number of categories."""
    features = sorted(contents.features, key=lambda feature: -feature.categories)
    return {
        "classes": [contents.classes[c][0] for c in shown],
        "features": [
            {
                "name": feature.name,
                "categories": feature.categories,
                "cells": [(feature.concentration[c], feature.shrinkage[c]) for c in shown],
            }
            for feature in features
        ],
    }


def _scatter(heat: dict[str, Any]) -> dict[str, Any]:
    """Concentration against number of categories, both in powers of ten, placed in the unit square."""
    points = [
        (feature, c, math.log10(max(feature["categories"], 1)), math.log10(max(m, 1e-9)))
        for feature in heat["features"]
        for c, (m, _) in enumerate(feature["cells"])
    ]
    right = max(1, math.ceil(max(x for *_, x, _ in points)))
    bottom, top = math.floor(min(y for *_, y in points)), math.ceil(max(y for *_, y in points))
    top = max(top, bottom + 1)
    return {
        "x_ticks": [(power / right, f"{10**power:,}") for power in range(right + 1)],
        "y_ticks": [((power - bottom) / (top - bottom), f"{10.0**power:,.10g}") for power in range(bottom, top + 1)],
        "points": [
            {
                "x": x / right,
                "y": (y - bottom) / (top - bottom),
                "hue": min(c, _HUES - 1),
                "title": f"{visible(str(feature['name']), 60)}, {heat['classes'][c]}: {10**y:,.3g} rows",
            }
            for feature, c, x, y in points
        ],
        "legend": [(c, label) for c, label in enumerate(heat["classes"][:_HUES])],
    }
