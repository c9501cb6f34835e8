"""What columns, and crosses of columns, add to the log-odds of a class, as the numbers behind figures and scorecards.

Whatever is asked here is answered from score tables, so it holds for every model whose score is one sum of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.kinds import Kind
from hebnb.errors import ParameterError
from hebnb.evidence import single
from hebnb.explain.contributions import against_others
from hebnb.explain.summary import class_position
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.scores.score_tables import CROSSED, ScoreTables
from hebnb.scores.tables import codes_at

UNSEEN, MISSING = "(unseen)", "(missing)"
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, eq=False)
class Lines:
    """The cells of a score table that a row can be in, a line each.

    Parameters
    ----------
    kinds : tuple of Kind
        The columns as the table tells their values apart.
    nodes : array of shape (cells, columns)
        The codes of the cell in these kinds, the silent one included.
    numbers : array of shape (cells, C)
        What the cell adds to the score of every class, without the weight of the table.
    count : array of shape (cells,)
        Training rows.
    shrinkage : array of shape (cells, C)
        The share of the prior in the probabilities behind the numbers.
    """

    kinds: tuple[Kind, ...]
    nodes: IntArray
    numbers: FloatArray
    count: FloatArray
    shrinkage: FloatArray

    @classmethod
    def of(cls, model: ScoreTables, t: int) -> Lines:
        """Those of a table, by its number."""
        table, features = model.tables[t], model.counts.vocabulary.features
        keys, numbers = table.lines()
        nodes = np.stack(np.unravel_index(keys, [int(view.max()) + 1 for view in table.views]), axis=1)
        kinds = tuple(_seen_as(features[f], view) for f, view in zip(table.columns, table.views, strict=True))
        reached = np.all([_can_occur(kind)[own] for kind, own in zip(kinds, nodes.T, strict=True)], axis=0)
        nodes = nodes[reached]
        codes = codes_at(table, nodes, len(features))
        count = table.counted(codes).sum(axis=1)
        return cls(kinds, nodes, numbers[reached], count, table.shrinkage(codes))

    def texts(self, place: int) -> Array:
        """The values of one of the columns as text; None for a gap."""
        kind = self.kinds[place]
        # Every number is in some bin, so what is silent among bins is a gap that the training rows did not have.
        known = np.array([*kind.texts, UNSEEN if kind.cut_at is None else None], dtype=object)
        return known[self.nodes[:, place]]

    @property
    def joined_texts(self) -> Array:
        """The values of all columns as one text; None for the gap of a single column."""
        if len(self.kinds) == 1:
            return self.texts(0)
        columns = [np.where(own == None, MISSING, own) for own in map(self.texts, range(len(self.kinds)))]  # noqa: E711
        joined = np.empty(len(self.nodes), dtype=object)
        joined[:] = [CROSSED.join(values) for values in zip(*columns, strict=True)]
        return joined


def column_evidence(model: ScoreTables, name: Name, label: Any = None) -> dict[str, Array]:
    """What the values of a column add to the log-odds of a class, as the columns of a table.

    Parameters
    ----------
    model : ScoreTables
        Of a model in which the column adds a number of its own, such as ``EvidenceClassifier`` and ``NaiveBayes``.
    name : str or int
        The column.
    label : object, optional
        The class; by default the most probable one before any value is known. With more than two, odds are against
        the geometric mean of the others.

    Returns
    -------
    dict of arrays
        A line for every value, numbers in their order: ``value`` as text, None for a gap; ``low`` and ``high``, the
        ends of a bin, which belongs to its high end, infinite or NaT where it is open and NaN where there is no bin;
        ``log_odds``; ``count`` of training rows; ``shrinkage``, the share of the prior.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes("laplace").fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"])
    >>> numbers = column_evidence(model.score_tables_, 0, "yes")
    >>> numbers["value"].tolist(), numbers["log_odds"].round(2).tolist()
    (['blue', 'red', '(unseen)'], [0.98, -0.81, 0.0])
    """
    f, c = column_position(model, name), class_position(model, label)
    if len(model.parents) or model.tables[f].columns != (f,):
        raise ParameterError(
            f"{errors.column(name)}: what it adds depends on other columns in this model.",
            "Use EvidenceClassifier or NaiveBayes; model.explain shows rows of any model.",
        )
    lines = Lines.of(model, f)
    (kind,), (nodes,) = lines.kinds, lines.nodes.T
    low, high = kind.computed_by(_Ends(kind.size))
    return {"value": lines.texts(0), "low": low[nodes], "high": high[nodes], **_said(model, f, c, lines)}


def cross_evidence(model: ScoreTables, names: Sequence[Name], label: Any = None) -> dict[str, Array]:
    """What a cross of columns adds to the log-odds of a class beyond its columns, as the columns of a table.

    Parameters
    ----------
    model : ScoreTables
    names : sequence of str or int
        The columns, in any order.
    label : object, optional
        The class; by default the most probable one before any value is known.

    Returns
    -------
    dict of arrays
        A line for every cell: the values ``first``, ``second`` and so on as text, None for a gap, in the order of
        the names; ``first_place``, ``second_place`` and so on, where these stand among the values of the column;
        ``log_odds``, ``count`` of training rows and ``shrinkage``. Cells without a line add nothing.

    Examples
    --------
    >>> from hebnb import EvidenceClassifier
    >>> X = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 20
    >>> model = EvidenceClassifier().fit(X, [p == q for p, q in X])
    >>> numbers = cross_evidence(model.score_tables_, (1, 0), label=True)
    >>> same = numbers["first"] == numbers["second"]
    >>> bool(numbers["log_odds"][same].max() > 1), numbers["count"][same].tolist()[:2]
    (True, [20.0, 20.0])
    """
    c, asked = class_position(model, label), [column_position(model, name) for name in names]
    n_columns = len(model.counts.vocabulary.names)
    crosses = {frozenset(table.columns): t for t, table in enumerate(model.tables[n_columns:], n_columns)}
    t = crosses.get(frozenset(asked)) if len(set(asked)) == len(asked) else None
    if t is None:
        raise _no_such_cross(names, model.titles[n_columns:])
    lines, order = Lines.of(model, t), [model.tables[t].columns.index(f) for f in asked]
    values = {ordinal: lines.texts(place) for ordinal, place in zip(_ORDINALS, order, strict=False)}
    places = {f"{ordinal}_place": lines.nodes[:, place] for ordinal, place in zip(_ORDINALS, order, strict=False)}
    return {**values, **places, **_said(model, t, c, lines)}


def importances(model: ScoreTables, gains: Mapping[Any, float] | None = None) -> dict[str, Array]:
    """How much columns and crosses tell about the class, in nats a row, the most telling first.

    Parameters
    ----------
    model : ScoreTables
    gains : dict of name, or tuple of names, to float, optional
        What was learned of left-out rows, as ``EvidenceClassifier.gains_``; without it, what single columns tell.

    Returns
    -------
    dict of arrays
        ``feature``, the name of a column or those of a cross; ``columns``, how many these are; ``gain``.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["a", "u"], ["b", "u"]] * 8, [0, 1] * 8)
    >>> importances(model.score_tables_)["gain"].round(1)
    array([0.8, 0. ])
    """
    if gains is None:
        gains = dict(zip(model.counts.vocabulary.names, single.gains(model.counts).tolist(), strict=True))
    crossed = [names if isinstance(names, tuple) else (names,) for names in gains]
    gain = np.array(list(gains.values()), dtype=float)
    best = np.argsort(-gain, kind="stable")  # NaN is last
    titles = np.array([CROSSED.join(map(str, names)) for names in crossed], dtype=object)
    return {
        "feature": titles[best],
        "columns": np.array(list(map(len, crossed)), dtype=np.intp)[best],
        "gain": gain[best],
    }


def column_position(model: ScoreTables, name: Name) -> int:
    """Where a column stands among the others."""
    names = model.counts.vocabulary.names
    if name not in names:
        raise errors.unknown_name("column", name, [str(known) for known in names])
    return names.index(name)


def _said(model: ScoreTables, t: int, c: int, lines: Lines) -> dict[str, Array]:
    """What is said of the cells of any table, whatever it is about."""
    weight = float(model.combination.table_weights[t])
    return {
        "log_odds": against_others(weight * lines.numbers)[:, c],
        "count": lines.count,
        "shrinkage": lines.shrinkage[:, c],
    }


def _seen_as(kind: Kind, view: IntArray) -> Kind:
    """The kind whose codes are the nodes of a view: one of the levels of its tree."""
    return next(kind.coarser(level) for level, nodes in enumerate(kind.levels) if np.array_equal(nodes, view))


def _can_occur(kind: Kind) -> Array:
    """Whether a row can have a code, the silent one included: not where every number has a bin, and a gap too."""
    return np.append(np.ones(kind.size, dtype=bool), kind.cut_at is None or not kind.missing)


@dataclass(frozen=True)
class _Ends:
    """Makes the low and high end of every code of a kind, the silent one included."""

    size: int

    def lookup(self, values: Array, gap: int | None) -> tuple[Array, Array]:
        """Categories have none."""
        none = np.full(self.size + 1, np.nan)
        return none, none

    def staircase(self, edges: FloatArray, of_times: bool, gap: int | None) -> tuple[Array, Array]:
        """The edges, and nothing for a gap."""
        no_bin = np.full(self.size - len(edges), np.nan)
        low, high = np.concatenate([[-np.inf], edges, no_bin]), np.concatenate([edges, [np.inf], no_bin])
        return (_as_times(low), _as_times(high)) if of_times else (low, high)


def _as_times(microseconds: FloatArray) -> Array:
    times = np.full(len(microseconds), np.datetime64("NaT", "us"))
    known = np.isfinite(microseconds)
    times[known] = microseconds[known].astype("M8[us]")
    return times


def _no_such_cross(names: Sequence[Name], known: list[str]) -> ParameterError:
    if not known:
        return ParameterError("This model has no crosses of columns.", "Use EvidenceClassifier, with max_crosses > 0.")
    return errors.unknown_name("cross", CROSSED.join(map(str, names)), known)
