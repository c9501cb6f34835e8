"""The page: one HTML file that needs nothing else, neither a network nor a server."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from hebnb.foundation.arrays import FloatArray
from hebnb.foundation.printable import visible
from hebnb.overview.alerts import together
from hebnb.page.choices import short
from hebnb.page.comparison import MEASURES, Comparison
from hebnb.page.contents import Contents, measure_rows
from hebnb.page.ticks import axis_ticks, duration
from hebnb.page.trust import Trust

# Alerts that are seen at once; the others can be unfolded.
_MOST_ALERTS = 4
# In this order; the later ones use what the earlier ones define.
_SCRIPTS = ("drawings.js", "trust.js", "explorer.js")


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
        "duration": duration, "bytes": _bytes, "plural": _plural, "with_options": _with_options,
    }  # fmt: skip
    script = "".join(map(_file, _SCRIPTS))
    heat = _heat(contents)
    html: str = environment.get_template("page.html").render(
        page=contents,
        alerts=together(contents.alerts),
        most_alerts=_MOST_ALERTS,
        others=sum(share for c, (_, share) in enumerate(contents.classes) if c not in contents.shown),
        heat=heat,
        scatter=_scatter(heat),
        style=Markup(_file("page.css")),
        script=Markup(script),
        # The only script that may run is the one that came with the package, whatever else gets onto the page.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        **_compared(contents.comparison),
        **_trusted(contents),
    )
    return html.lstrip()  # macros leave lines before the document


def _compared(comparison: Comparison | None) -> dict[str, Any]:
    """What is said of the methods."""
    if comparison is None:
        return {"best": None}
    return {
        "best": comparison.best,
        "measured": measure_rows(comparison),
        "greatest": {
            name: float(np.nanmax([*(result.measures[name] for result in comparison.results), 0.0]))
            for name in MEASURES
        },
    }


def _trusted(contents: Contents) -> dict[str, Any]:
    """Diagrams of reliability."""
    trust = contents.trust
    if trust is None:
        return {"reliability": []}
    low = _lowest(list(trust.curves.values()))
    return {
        "reliability": list(trust.curves),
        "diagram_of": Diagram.of([*trust.curves.values()], low),
        "class_diagrams": [(own.name, Diagram.of([own.curve], 0.0)) for own in trust.classes] if _many(trust) else [],
    }


def _many(trust: Trust) -> bool:
    """Whether classes need diagrams of their own; of two, each is the other upside down."""
    return len(trust.classes) > 2


@dataclass(frozen=True)
class Diagram:
    """A reliability diagram in the unit square.

    Parameters
    ----------
    ticks : list of (float, str)
    series : list of list of dict
        Points of every curve, the chosen one last.
    band : list of (x, low, high)
        Where a perfect model's curve would be, for the last curve.
    """

    ticks: list[tuple[float, str]]
    series: list[list[dict[str, float]]]
    band: list[tuple[float, float, float]]

    @classmethod
    def of(cls, curves: Sequence[Mapping[str, FloatArray]], low: float) -> Diagram:
        """One whose axes begin at ``low``."""

        def placed(number: float) -> float:
            return min(max((number - low) / (1 - low), 0.0), 1.0)

        band = zip(*(curves[-1][part] for part in ("confidence", "low", "high")), strict=True)
        return cls(
            [(placed(tick), f"{100 * tick:.0f} %") for tick in axis_ticks(low, 1.0, 6)],
            [_curve_points(curve, placed) for curve in curves],
            [(placed(x), placed(least), placed(most)) for x, least, most in band],
        )


def _file(name: str) -> str:
    return (resources.files("hebnb.page") / name).read_text(encoding="utf-8")


def _digits(value: float | None, digits: int = 3) -> str:
    if value is None or math.isnan(value):
        return "–"
    text = f"{abs(value):,.0f}" if abs(value) >= 1_000 else f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and text.strip("0.") else text


def _signed(value: float) -> str:
    text = f"{abs(value):.3f}"
    return f"{'−' if value < 0 else '+'}{text}" if text.strip("0.") else text


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB"


def _plural(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _short(text: Any, most: int = 60) -> str:
    """A name or a category; what is not seen is written out."""
    return short(str(text), most)


def _with_options(sentence: str) -> str:
    """A sentence as HTML in which options of the command, such as --time, are not torn apart at the end of a line."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"(?<!\S)--[a-z][a-z-]*", r'<span class="option">\g<0></span>', str(escape(sentence))))


def _curve_points(curve: Mapping[str, FloatArray], placed: Callable[[float], float]) -> list[dict[str, float]]:
    """Points of a reliability curve with the share of rows that they stand for."""
    share = curve["weight"] / curve["weight"].sum()
    parts = zip(curve["confidence"], curve["accuracy"], share, curve["count"], curve["low"], curve["high"], strict=True)
    return [
        {
            "x": placed(float(said)), "y": placed(float(was)), "said": float(said), "was": float(was),
            "low": float(low), "high": float(high), "radius": 2.5 + 9 * math.sqrt(s), "count": float(n),
        }
        for said, was, s, n, low, high in parts
    ]  # fmt: skip


def _lowest(curves: Sequence[Mapping[str, FloatArray]]) -> float:
    """Where the axes of a reliability diagram begin."""
    least = min(float(curve[part].min()) for curve in curves for part in ("confidence", "accuracy"))
    return 0.5 if least >= 0.5 else math.floor(10 * least) / 10


def _heat(contents: Contents) -> dict[str, Any]:
    """Concentration and shrinkage of some classes, features by number of categories."""
    features = sorted((card.feature for card in contents.cards), key=lambda feature: -feature.categories)
    return {
        "classes": [contents.classes[c][0] for c in contents.shown],
        "features": [
            {
                "name": feature.name,
                "categories": feature.categories,
                "cells": [(feature.concentration[c], feature.shrinkage[c]) for c in contents.shown],
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
                "hue": c,
                "title": f"{visible(str(feature['name']), 60)}, {heat['classes'][c]}: {10**y:,.3g} rows",
            }
            for feature, c, x, y in points
        ],
        "legend": [(c, label) for c, label in enumerate(heat["classes"])],
    }
