"""Drawings with matplotlib of what other modules compute. Nothing is estimated here.

Every function draws on the axes it is given, or on new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.column import Name
from hebnb.errors import ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.rows import explained
from hebnb.explain.contributions import pushes
from hebnb.explain.evidence_tables import column_evidence, column_position, cross_evidence, importances
from hebnb.explain.summary import class_position, feature_summaries, nomogram_points
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible

__all__ = ["column", "concentration", "cross", "evidence", "importance", "nomogram", "reliability"]

_FOR, _AGAINST, _SOFT = "#1f6f78", "#b5542c", "#626a75"
# Each with a mark of its own, so that a grey print still tells them apart.
_SERIES = [("#b5542c", "o"), ("#1f6f78", "s"), ("#8a6d1d", "^"), ("#6a4c93", "D"), ("#4a7a3a", "v"), ("#626a75", "X")]
_LONGEST = 28
# Of the height of a figure, what counts of rows take, and how faint they are.
_ROWS_SHARE, _FAINT = 0.25, 0.22


def evidence(model: CategoricalClassifier, X: Any, *, row: int = 0, label: Any = None, ax: Any = None) -> Any:
    """Bars of what every feature of a row adds to the log-odds of a class.

    Parameters
    ----------
    model : classifier
    X : table or array
    row : int, default=0
        Which of its rows.
    label : object, optional
        The class; by default the most probable one of the row. With more than two, odds are against the geometric mean
        of the others.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb import NaiveBayes, plots
    >>> X, y = [["red", "s"], ["red", "m"], ["blue", "m"]], ["no", "no", "yes"]
    >>> axes = plots.evidence(NaiveBayes().fit(X, y), X, row=2, label="yes")
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['(prior)', '0 = blue', '1 = m']
    """
    explanation = explained(model, X, row)
    if not len(explanation.values):
        raise ParameterError(f"row={row!r} is not among the rows.")
    c = class_position(model.score_tables_, label) if label is not None else int(explanation.parts.scores[0].argmax())
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
        The class; by default the most probable one before any value is known.
    most : int, default=12
        Categories named on a line at most: the two ends, and where there is room those with most rows.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from hebnb import NaiveBayes, plots
    >>> axes = plots.nomogram(NaiveBayes().fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"]), label="yes")
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


def column(model: CategoricalClassifier, name: Name, *, label: Any = None, most: int = 20, ax: Any = None) -> Any:
    """What the values of a column add to the log-odds of a class, over a faint count of the rows that have them.

    Numbers and times are a curve of steps, with a diamond for a gap; categories are bars, the most frequent first. The
    paler a fill is, the more of it is prior. What crosses with other columns add comes on top.

    Parameters
    ----------
    model : classifier
        One in which the column adds a number of its own, such as ``EvidenceClassifier`` and ``NaiveBayes``.
    name : str or int
        The column.
    label : object, optional
        The class; by default the most probable one before any value is known. With more than two, odds are against
        the geometric mean of the others.
    most : int, default=20
        Categories drawn at most.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    See Also
    --------
    hebnb.explain.evidence_tables.column_evidence : the numbers

    Examples
    --------
    >>> from hebnb import EvidenceClassifier, plots
    >>> model = EvidenceClassifier().fit([["red"], ["red"], ["blue"]] * 9, ["no", "no", "yes"] * 9)
    >>> axes = plots.column(model, 0)
    >>> [text.get_text() for text in axes.get_yticklabels()], axes.get_xlabel()
    (['red', 'blue'], 'log-odds of no')
    """
    scores = model.score_tables_
    numbers = column_evidence(scores, name, label)
    title = f"log-odds of {_escaped(str(model.classes_[class_position(scores, label)]))}"
    if scores.counts.vocabulary.features[column_position(scores, name)].cut_at is None:
        return _bars_of_categories(numbers, _escaped(str(name)), title, most, ax)
    return _steps_of_numbers(numbers, _escaped(str(name)), title, ax)


def cross(model: CategoricalClassifier, *names: Name, label: Any = None, most: int = 20, ax: Any = None) -> Any:
    """What a cross of two columns adds to the log-odds of a class beyond the columns themselves, as a heat map.

    A dot marks a cell that no training row has; what it adds comes from wider bins around it.

    Parameters
    ----------
    model : classifier
        One with crosses, such as ``EvidenceClassifier``.
    *names : str or int
        The two columns, in any order; the first goes from left to right.
    label : object, optional
        The class; by default the most probable one before any value is known. With more than two, odds are against
        the geometric mean of the others.
    most : int, default=20
        Categories of a column drawn at most, those with most rows.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    See Also
    --------
    hebnb.explain.evidence_tables.cross_evidence : the numbers, of any number of columns

    Examples
    --------
    >>> from hebnb import EvidenceClassifier, plots
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 20
    >>> axes = plots.cross(EvidenceClassifier().fit(X, [0, 1, 1, 0] * 20), 0, 1)
    >>> [text.get_text() for text in axes.get_xticklabels()], [text.get_text() for text in axes.get_yticklabels()]
    (['a', 'b'], ['u', 'v'])
    """
    if len(names) != 2:
        raise ParameterError(
            f"A heat map has two columns, not {len(names)}.",
            "hebnb.explain.evidence_tables.cross_evidence has the numbers of any cross.",
        )
    scores = model.score_tables_
    numbers = cross_evidence(scores, names, label)
    kinds = [scores.counts.vocabulary.features[column_position(scores, name)] for name in names]
    axes = [
        _shown_places(numbers, which, most if kind.cut_at is None else None)
        for which, kind in zip(("first", "second"), kinds, strict=True)
    ]
    shape = len(axes[1].places), len(axes[0].places)
    odds, count = np.zeros(shape), np.zeros(shape)
    across, up = axes[0].of(numbers["first_place"]), axes[1].of(numbers["second_place"])
    drawn = (across >= 0) & (up >= 0)
    odds[up[drawn], across[drawn]] = numbers["log_odds"][drawn]
    count[up[drawn], across[drawn]] = numbers["count"][drawn]
    ax = _axes(ax, (min(0.42 * shape[1] + 3, 10), min(0.32 * shape[0] + 1.8, 8)))
    strongest = max(float(np.abs(odds).max(initial=0)), 1e-9)
    mesh = ax.pcolormesh(odds, cmap=_two_sided(), vmin=-strongest, vmax=strongest)
    empty_up, empty_across = np.nonzero(count == 0)
    ax.plot(empty_across + 0.5, empty_up + 0.5, ".", color=_SOFT, markersize=2)
    for axis, own, name in ((ax.xaxis, axes[0], names[0]), (ax.yaxis, axes[1], names[1])):
        step = -(-len(own.places) // most)
        axis.set_ticks(np.arange(0, len(own.places), step) + 0.5, [_escaped(text, 22) for text in own.texts[::step]])
        axis.set_label_text(_escaped(str(name)) + (f", and {own.others} others" if own.others else ""))
    ax.tick_params(axis="x", rotation=90 if shape[1] > 4 else 0)
    title = f"added log-odds of {_escaped(str(model.classes_[class_position(scores, label)]))}"
    ax.figure.colorbar(mesh, ax=ax, label=title).outline.set_visible(False)
    ax.spines[:].set_visible(False)
    return ax


def importance(model: CategoricalClassifier, *, most: int = 20, ax: Any = None) -> Any:
    """Bars of how much columns, and crosses of columns, tell about the class, the most telling first.

    That is how much more likely the classes of left-out rows are with a column than with none, and with a cross than
    with its parts: zero or below for noise and for ids.

    Parameters
    ----------
    model : classifier
    most : int, default=20
        Bars drawn at most.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    See Also
    --------
    hebnb.explain.evidence_tables.importances : the numbers

    Examples
    --------
    >>> from hebnb import EvidenceClassifier, plots
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 20
    >>> axes = plots.importance(EvidenceClassifier().fit(X, [0, 1, 1, 0] * 20), most=1)
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['0 × 1', 'and 2 others']
    """
    scores = model.score_tables_
    gains: Mapping[Any, float] | None = getattr(model, "gains_", None)
    numbers = importances(scores, gains)
    gain, columns = numbers["gain"][:most], numbers["columns"][:most]
    names = _with_others([_escaped(name, 2 * _LONGEST) for name in numbers["feature"][:most]], len(numbers["gain"]))
    ax = _axes(ax, (7, 0.32 * len(names) + 1.2))
    for crossed, colour, what in ((False, _FOR, "column"), (True, _SERIES[2][0], "cross, beside its parts")):
        own = np.flatnonzero((columns > 1) == crossed)
        if len(own):
            ax.barh(own, gain[own], color=colour, height=0.65, label=what)
    _named_from_above(ax, names)
    ax.axvline(0, color=_SOFT, linewidth=0.8)
    ax.set_xlabel("gain in log-likelihood of left-out rows, nats a row")
    if (columns > 1).any():
        ax.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
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
    >>> from hebnb import plots
    >>> from hebnb.metrics import reliability_curve
    >>> axes = plots.reliability({"mine": reliability_curve([0, 0, 1], [[0.9, 0.1], [0.6, 0.4], [0.6, 0.4]])})
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
    >>> from hebnb import NaiveBayes, plots
    >>> axes = plots.concentration(NaiveBayes().fit([["red", "s"], ["blue", "s"]] * 9, ["no", "yes"] * 9))
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


def _bars_of_categories(numbers: dict[str, Array], name: str, title: str, most: int, ax: Any) -> Any:
    """Bars from left to right for the most frequent categories, over faint bars of their rows."""
    said = numbers["count"] > 0
    frequent = np.flatnonzero(said)[np.argsort(-numbers["count"][said], kind="stable")][:most]
    names = _with_others([_escaped(numbers["value"][v]) for v in frequent], int(said.sum()))
    ax = _axes(ax, (7, 0.32 * len(names) + 1.4))
    places, odds, count = np.arange(len(frequent)), numbers["log_odds"][frequent], numbers["count"][frequent]
    rows = _behind(ax, ax.twiny())
    rows.barh(places, count, color=_SOFT, alpha=_FAINT, height=0.9, linewidth=0)
    rows.set_xlabel("rows", color=_SOFT)
    ax.barh(places, odds, color=_filled(odds, numbers["shrinkage"][frequent]), edgecolor=_sided(odds), height=0.5)
    _named_from_above(ax, names)
    ax.axvline(0, color=_SOFT, linewidth=0.8)
    ax.set(xlabel=title, ylabel=name)
    return _tidied(ax)


def _steps_of_numbers(numbers: dict[str, Array], name: str, title: str, ax: Any) -> Any:
    """Steps in the order of the bins, whose open ends go a little further, and a diamond for a gap."""
    from matplotlib import dates

    of_times = numbers["low"].dtype.kind == "M"
    is_gap = numbers["value"] == None  # noqa: E711  # element by element
    inner = numbers["low"][~is_gap][1:]
    as_numbers: Any = dates.date2num
    inner = as_numbers(inner) if of_times else inner
    first, last = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
    beyond = 0.05 * (last - first) or max(0.05 * abs(first), 1.0)
    ends = np.concatenate([[first - beyond], inner, [last + beyond]])
    ax = _axes(ax, (7, 4.2))
    rows = _behind(ax, ax.twinx())
    odds, count, shrinkage = (numbers[what] for what in ("log_odds", "count", "shrinkage"))
    known = ~is_gap
    ax.bar(
        ends[:-1], odds[known], np.diff(ends), align="edge", color=_filled(odds[known], shrinkage[known]), linewidth=0
    )
    ax.stairs(odds[known], ends, baseline=None, color=_SOFT, linewidth=1.2)
    rows.stairs(count[known], ends, fill=True, color=_SOFT, alpha=_FAINT)
    for gap in np.flatnonzero(is_gap & (count > 0)):  # whose rows may be many times those of a bin
        place, text = ends[-1] + 1.5 * beyond, f"missing\n{count[gap]:,.0f} rows"
        ax.plot(place, odds[gap], "D", color=_sided(odds[[gap]])[0], markersize=6)
        ax.annotate(text, (place, odds[gap]), (0, 7), textcoords="offset points", ha="center", fontsize=7, color=_SOFT)
    if of_times:
        ax.xaxis_date()
    ax.axhline(0, color=_SOFT, linewidth=0.8)
    ax.set(xlabel=name, ylabel=title)
    rows.set_ylabel("rows in a bin", color=_SOFT, loc="bottom")
    highest = max(count[known].max(initial=0), 1)
    rows.set_ylim(0, highest / _ROWS_SHARE)
    rows.set_yticks([0, highest])
    return _tidied(ax)


def _behind(ax: Any, twin: Any) -> Any:
    """Axes of counts of rows, behind those of evidence."""
    ax.set_zorder(twin.get_zorder() + 1)
    ax.patch.set_visible(False)
    twin.spines[:].set_visible(False)
    twin.tick_params(colors=_SOFT, labelsize=7, length=0)
    return twin


def _sided(odds: FloatArray) -> Array:
    return np.where(odds < 0, _AGAINST, _FOR)


def _filled(odds: FloatArray, shrinkage: FloatArray) -> FloatArray:
    """Colours that are the paler, the more is prior."""
    from matplotlib.colors import to_rgba_array

    colours: FloatArray = to_rgba_array(_sided(odds).tolist())
    colours[:, 3] = 0.1 + 0.6 * (1 - shrinkage)
    return colours


def _two_sided() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("against and for", [_AGAINST, "#f7f5f0", _FOR])


def _with_others(names: list[str], n_all: int) -> list[str]:
    return [*names, f"and {n_all - len(names)} others"] if n_all > len(names) else names


def _named_from_above(ax: Any, names: list[str]) -> None:
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


@dataclass(frozen=True, eq=False)
class _Shown:
    """The values of a column that have a place on an axis: their places among all, their texts, how many have none."""

    places: IntArray
    texts: list[str | None]
    others: int

    def of(self, places: IntArray) -> IntArray:
        """Where values stand on the axis, −1 for one that does not."""
        known = np.full(max(int(places.max(initial=0)), int(self.places.max(initial=0))) + 1, -1)
        known[self.places] = np.arange(len(self.places))
        return known[places]


def _shown_places(numbers: dict[str, Array], which: str, most: int | None) -> _Shown:
    """The values that some row has: all of them, or those with most rows."""
    places, first = np.unique(numbers[f"{which}_place"], return_index=True)
    rows = np.bincount(numbers[f"{which}_place"], numbers["count"])[places]
    n_said = int(np.count_nonzero(rows))
    kept = np.sort(np.argsort(-rows, kind="stable")[: n_said if most is None else min(n_said, most)])
    return _Shown(places[kept], numbers[which][first[kept]].tolist(), n_said - len(kept))


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
        raise ParameterError("Drawing needs the package matplotlib.", 'pip install ".[plots]"') from error
    return Figure(figsize=size, layout="constrained").add_subplot()


def _tidied(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.2)
    ax.set_axisbelow(True)
    return ax


def _escaped(text: str | None, most: int = _LONGEST) -> str:
    """Text as it is: matplotlib would take dollars for formulas."""
    return "missing" if text is None else visible(text, most).replace("$", r"\$")
