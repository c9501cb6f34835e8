"""Drawings with matplotlib of what other modules compute. Nothing is estimated here.

Every function draws on the axes it is given, or on new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.rows import explained
from hebnb.explain.contributions import pushes
from hebnb.explain.summary import class_position, feature_summaries, nomogram_points
from hebnb.foundation.arrays import FloatArray
from hebnb.foundation.printable import visible

__all__ = ["concentration", "evidence", "nomogram", "reliability"]

_FOR, _AGAINST, _SOFT = "#1f6f78", "#b5542c", "#626a75"
# Each with a mark of its own, so that a grey print still tells them apart.
_SERIES = [("#b5542c", "o"), ("#1f6f78", "s"), ("#8a6d1d", "^"), ("#6a4c93", "D"), ("#4a7a3a", "v"), ("#626a75", "X")]
_LONGEST = 28


def evidence(model: CategoricalClassifier, X: Any, *, row: int = 0, label: Any = None, ax: Any = None) -> Any:
    """Bars of what every feature of a row adds to the log-odds of a class.

    Parameters
    ----------
    model : classifier
    X : table or array
    row : int, default=0
        Which of its rows.
    label : object, optional
        The class; by default the last. With more than two, odds are against the geometric mean of the others.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> X, y = [["red", "s"], ["red", "m"], ["blue", "m"]], ["no", "no", "yes"]
    >>> axes = evidence(NaiveBayes().fit(X, y), X, row=2, label="yes")
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['(prior)', '0 = blue', '1 = m']
    """
    c = class_position(model.score_tables_, label)
    explanation = explained(model, X, row)
    if not len(explanation.values):
        raise ParameterError(f"row={row!r} is not among the rows.")
    lines = pushes(explanation, 0, c)
    ax = _axes(ax, (7, 0.42 * len(lines) + 1.2))
    odds = np.array([line.log_odds for line in lines])
    ax.barh(np.arange(len(lines)), odds, color=np.where(odds < 0, _AGAINST, _FOR), height=0.65)
    names = [
        _escaped(line.feature) if line.count is None else f"{_escaped(line.feature)} = {_escaped(line.value)}"
        for line in lines
    ]
    ax.set_yticks(np.arange(len(lines)), names)
    ax.invert_yaxis()
    ax.axvline(0, color=_SOFT, linewidth=0.8)
    ax.set_xlabel(f"log-odds of {_escaped(str(model.classes_[c]))}: {odds.sum():+.2f} in all")
    return _tidied(ax)


def nomogram(model: CategoricalClassifier, *, label: Any = None, most: int = 12, ax: Any = None) -> Any:
    """A line for every feature, with its categories where they stand in log-odds of a class.

    Parameters
    ----------
    model : classifier
        One whose features add up by themselves, such as ``NaiveBayes``.
    label : object, optional
        The class; by default the last.
    most : int, default=12
        Categories named on a line at most: the two ends, and where there is room those with most rows.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> axes = nomogram(NaiveBayes().fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"]), label="yes")
    >>> sorted(text.get_text() for text in axes.texts)
    ['blue', 'red']
    """
    points = nomogram_points(model.score_tables_, label)
    names = list(dict.fromkeys(points["feature"].tolist()))
    ax = _axes(ax, (9, 0.75 * len(names) + 1.2))
    room = 0.05 * float(np.ptp(points["log_odds"])) if names else 0.0
    for place, name in enumerate(names):
        here = points["feature"] == name
        odds, count, values = points["log_odds"][here], points["count"][here], points["value"][here]
        ax.plot(odds, np.full(len(odds), place), "|", color=_FOR, markersize=9)
        if len(odds):
            ax.plot([odds.min(), odds.max()], [place, place], color=_SOFT, linewidth=0.8)
        for v, above in _with_room(odds, count, most, room):
            ax.annotate(
                _escaped(values[v], 14), (odds[v], place), (0, 6 if above else -6), textcoords="offset points",
                ha="center", va="bottom" if above else "top", fontsize=7, color=_SOFT,
            )  # fmt: skip
    ax.set_yticks(np.arange(len(names)), [_escaped(name) for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.axvline(0, color=_SOFT, linewidth=0.8, linestyle=":")
    ax.set_xlabel(f"log-odds of {_escaped(str(model.classes_[class_position(model.score_tables_, label)]))}")
    return _tidied(ax)


def reliability(curves: Mapping[str, Mapping[str, FloatArray]], *, ax: Any = None) -> Any:
    """Accuracy against confidence, a line for every curve; larger marks stand for more rows.

    Parameters
    ----------
    curves : dict of name to curve
        Curves as ``hebnb.metrics.reliability_curve`` gives them.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb.metrics import reliability_curve
    >>> axes = reliability({"mine": reliability_curve([0, 0, 1], [[0.9, 0.1], [0.6, 0.4], [0.6, 0.4]])})
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('confidence', 'accuracy')
    """
    ax = _axes(ax, (4.8, 4.6))
    ax.plot([0, 1], [0, 1], color=_SOFT, linewidth=0.8, linestyle=":")
    lowest = 1.0
    for n, (name, curve) in enumerate(curves.items()):
        colour, mark = _SERIES[n % len(_SERIES)]
        share = curve["weight"] / curve["weight"].sum()
        ax.plot(curve["confidence"], curve["accuracy"], color=colour, linewidth=1.2)
        ax.scatter(
            curve["confidence"],
            curve["accuracy"],
            s=15 + 250 * share,
            color=colour,
            marker=mark,
            alpha=0.75,
            label=_escaped(name),
        )
        lowest = min(lowest, float(curve["confidence"].min()), float(curve["accuracy"].min()))
    ax.set(xlabel="confidence", ylabel="accuracy", xlim=(lowest - 0.03, 1.03), ylim=(lowest - 0.03, 1.03))
    if curves:
        ax.legend(frameon=False)
    return _tidied(ax)


def concentration(model: CategoricalClassifier, *, ax: Any = None) -> Any:
    """The learned strength of the prior against the number of categories, a mark for every class and feature.

    Parameters
    ----------
    model : classifier
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> axes = concentration(NaiveBayes().fit([["red", "s"], ["blue", "s"]] * 9, ["no", "yes"] * 9))
    >>> axes.get_xscale(), axes.get_yscale()
    ('log', 'log')
    """
    ax = _axes(ax, (6.4, 4.2))
    features = feature_summaries(model.score_tables_)
    sizes = [max(feature.categories, 1) for feature in features]
    for c, label in enumerate(model.classes_.tolist()):
        colour, mark = _SERIES[min(c, len(_SERIES) - 1)]
        name = _escaped(str(label)) if c < len(_SERIES) else None
        strengths = [feature.concentration[c] for feature in features]
        ax.scatter(sizes, strengths, color=colour, marker=mark, alpha=0.75, label=name)
    ax.set(xscale="log", yscale="log", xlabel="categories", ylabel="concentration, in rows")
    ax.legend(frameon=False)
    return _tidied(ax)


def _with_room(odds: FloatArray, count: FloatArray, most: int, room: float) -> list[tuple[int, bool]]:
    """The categories to name on a line, and whether above it: the two ends first, then those with most rows."""
    if not len(odds):
        return []
    wanted = dict.fromkeys([int(odds.argmin()), int(odds.argmax()), *np.argsort(-count, kind="stable").tolist()])
    named: list[tuple[int, bool]] = []
    for v in wanted:
        free = [side for side in (True, False) if all(abs(odds[v] - odds[o]) > room for o, at in named if at is side)]
        if free and len(named) < most:
            named.append((v, free[0]))
    return named


def _axes(given: Any, size: tuple[float, float]) -> Any:
    if given is not None:
        return given
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ParameterError("Drawing needs the package matplotlib.", "pip install 'hebnb[plots]'") from error
    return Figure(figsize=size, layout="constrained").add_subplot()


def _tidied(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.2)
    ax.set_axisbelow(True)
    return ax


def _escaped(text: str | None, most: int = _LONGEST) -> str:
    """Text as it is: matplotlib would take dollars for formulas."""
    return "missing" if text is None else visible(text, most).replace("$", r"\$")
