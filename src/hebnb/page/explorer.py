"""A model's tables in a form that the page computes with.

Of most models these are counts, prior means and concentrations, not probabilities: counts are small integers, which
deflate to a fraction of what log probabilities would take; the page smooths them with the one formula there is. Tables
in which nothing stands in for a cell, those of evidence, are held as what their cells add, times their weights. Array
names and their meaning are those of ``explorer.js``.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.counts.single import dense
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.page.choices import Choices, short
from hebnb.scores.build import levels
from hebnb.scores.estimates import Estimates
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import FamilyTable

# Cells of several columns that a page may hold, and numbers of cells; a model with more is not put into it.
MOST_CELLS = 2_000_000
MOST_NUMBERS = 1_000_000
# How far a sum of rounded numbers may be from what the library computes.
_EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows that the explorer can be filled with.

    Parameters
    ----------
    codes : list of F arrays
    labels : array
        Codes of the rows' classes.
    """

    codes: list[IntArray]
    labels: IntArray


def fits_page(model: ScoreTables) -> bool:
    """Whether a model's tables are small enough for the page."""
    pairs = 0 if model.estimates is None else len(model.estimates.counts.pairs.cells().count)
    families = sum(len(family.cells.codes) for table in model.tables for family in table.families)
    rootless = [table for table in model.tables if table.root is None]
    crossed = sum(table.n_cells for table in rootless if len(table.columns) > 1)
    largest = max((math.prod(map(len, table.views)) for table in rootless), default=0)
    return (
        pairs + families + crossed <= MOST_CELLS
        and crossed * (model.n_classes - 1) <= MOST_NUMBERS
        and largest < 1 << 53  # a cell is one number, and JavaScript's are doubles
    )


def explorer_data(
    model: ScoreTables, choices: Choices, class_names: Sequence[str], examples: Examples | None = None
) -> dict[str, Any]:
    """What the page needs to predict, and some rows to begin with.

    Parameters
    ----------
    model : ScoreTables
    choices : Choices
        The values that can be chosen.
    class_names : list of C str
        What the classes are called.
    examples : Examples, optional
        Rows that the page may show.
    """
    counts = model.counts
    features = counts.vocabulary.features
    singles = [dense(table[own.codes]) for table, own in zip(counts.tables, choices.of_features, strict=True)]
    places = [own.place for own in choices.of_features]
    data: dict[str, Any] = {
        "classes": list(class_names),
        "features": [
            {
                "name": short(str(name)),
                "size": feature.size,
                "labels": own.labels,
                "edges": own.edges,
                "ofTimes": own.of_times,
                "ordered": own.is_ordered,
                "rows": None if own.is_plain else packed(own.rows),
                "withheld": own.n_withheld,
            }
            for name, feature, own in zip(counts.vocabulary.names, features, choices.of_features, strict=True)
        ],
        "least": choices.least,
        "logPrior": _floats(model.log_prior),
        "offsets": _floats(model.combination.offsets),
        "rows": float(counts.class_count.sum()),
        "count": packed(np.concatenate(singles)),
    }
    if examples is not None:
        at = [place[codes] for place, codes in zip(places, examples.codes, strict=True)]
        data |= {"examples": packed(np.stack(at, axis=1) + 1), "exampleLabels": examples.labels.tolist()}
    roots = [table.root for table in model.tables if table.root is not None]
    if not roots:
        return data | {"kind": "cells"} | _cells(model, choices)
    means = [root.mean[own.codes] for root, own in zip(roots, choices.of_features, strict=True)]
    data |= {
        "kind": "sum" if model.estimates is None else "mean" if model.is_mean else "pool",
        "weights": _floats(model.combination.table_weights),
        "mean": packed(np.concatenate(means)),
        "total": packed(counts.totals.T),
        "m": packed(levels(model.tables)[0].T),
        "families": [[_family(family, places) for family in table.families] for table in model.tables],
    }
    if model.estimates is None:
        return data
    return data | _pairs(model.estimates, choices, model.combination.estimate_weights)


def _cells(model: ScoreTables, choices: Choices) -> dict[str, Any]:
    """What the cells of all tables add, weighted, one table after the other; cells that add nothing are left out.

    A number added to all classes changes no probability and no log-odds, so that of the first class is taken off.
    Numbers are whole multiples of a step so small that a sum over all tables is exact enough.
    """
    step = 2.0 ** math.floor(math.log2(_EXACT / len(model.tables)))
    views: dict[tuple[int, bytes], int] = {}
    tables, keys, numbers = [], [], []
    for table, weight in zip(model.tables, model.combination.table_weights.tolist(), strict=True):
        cells, adds = table.lines()
        adds = np.rint((weight * adds[:, 1:] - weight * adds[:, :1]) / step)
        nodes = np.unravel_index(cells, [int(view.max()) + 1 for view in table.views])
        key, used = np.zeros(len(cells), dtype=np.int64), []
        says = (adds != 0).any(axis=1)
        for f, view, own in zip(table.columns, table.views, nodes, strict=True):
            offered, at = np.unique(view[np.append(choices.of_features[f].codes, -1)], return_inverse=True)
            place = np.searchsorted(offered, own)
            says &= offered[np.minimum(place, len(offered) - 1)] == own
            key = key * len(offered) + place
            used.append(views.setdefault((f, at.astype("<u4").tobytes()), len(views)))
        order = np.flatnonzero(says)
        order = order[np.argsort(key[order], kind="stable")]
        tables.append({"columns": list(table.columns), "views": used, "cells": len(order)})
        keys.append(np.diff(key[order], prepend=0))
        numbers.append(adds[order])
    return {
        "tables": tables,
        "views": [packed(np.frombuffer(view, "<u4")) for _, view in views],
        "cellStep": packed(np.concatenate(keys)),
        "cellAdds": packed_steps(np.concatenate(numbers), step),
    }


def _family(family: FamilyTable, places: list[IntArray]) -> dict[str, Any]:
    """The cells of a family whose values can all be chosen."""
    columns = family.columns
    cells = np.stack([places[f][family.cells.codes[:, n]] for n, f in enumerate(columns)], axis=1)
    contexts = np.stack([places[f][family.contexts.codes[:, n]] for n, f in enumerate(columns[1:])], axis=1)
    offered, known = np.flatnonzero((cells >= 0).all(axis=1)), np.flatnonzero((contexts >= 0).all(axis=1))
    return {
        "parents": list(columns[1:]),
        "backsOff": family.backs_off,
        "m": _floats(family.m),
        "cells": packed(cells[offered]),
        "count": packed(family.cells.count[offered]),
        "contexts": packed(contexts[known]),
        "total": packed(family.contexts.total[:-1][known]),
    }


def _pairs(estimates: Estimates, choices: Choices, weights: FloatArray | None) -> dict[str, Any]:
    """The pairs that occur, once each, and the totals of the parents' values."""
    counts, layout, used = estimates.counts, estimates.layout, estimates.used
    place = np.concatenate(
        [start + own.place[:-1] for start, own in zip(choices.starts, choices.of_features, strict=False)]
    )
    kept = np.concatenate([start + own.codes for start, own in zip(layout.starts, choices.of_features, strict=False)])
    offered = np.zeros(layout.width, dtype=bool)
    offered[kept] = True
    cells = counts.pairs.cells()
    both = np.flatnonzero(offered[cells.first] & offered[cells.second])
    width = int(choices.starts[-1])
    key = place[cells.first[both]] * width + place[cells.second[both]]
    keys, at = np.unique(key, return_inverse=True)
    count = np.zeros((len(keys), counts.classes.size))
    np.add.at(count, (at, cells.class_[both]), cells.count[both])
    parents = np.flatnonzero(used.any(axis=1))
    of_parents = kept[np.isin(layout.feature[kept], parents)]
    total = estimates.directed.total[:, of_parents]
    return {
        "parents": estimates.parents.tolist(),
        "priorChange": _floats(np.broadcast_to(estimates.prior_change, counts.classes.size)),
        "parentWeights": None if weights is None else _floats(weights),
        "used": used.tolist(),
        "mayBeParent": packed(estimates.may_be_parent[kept].astype(float)),
        "pairStep": packed(np.diff(keys, prepend=0).astype(float)),
        "pairCount": packed(count),
        "pairTotal": packed(np.moveaxis(total, 0, 2)),
        "pairM": packed(np.nan_to_num(np.moveaxis(estimates.concentration, 0, 2))),
    }


def _floats(array: FloatArray) -> list[float]:
    """Numbers for JSON, which has no infinity."""
    finite: list[float] = np.clip(array, -1e300, 1e300).tolist()
    return finite


def packed(array: Array) -> dict[str, Any]:
    """Numbers in the smallest type that holds them exactly, deflated, as text."""
    array = np.ascontiguousarray(array, dtype=float).ravel()
    whole = bool(np.all(array == np.round(array))) and (not len(array) or array.min() >= 0)
    largest = array.max() if len(array) else 0.0
    fits = next((kind for kind, limit in (("u1", 1 << 8), ("u2", 1 << 16), ("u4", 1 << 32)) if largest < limit), None)
    kind = fits if whole and fits else "f8"
    return {"kind": kind, "bytes": _deflated(array.astype(f"<{kind}"), int(kind[1]))}


def packed_steps(array: FloatArray, step: float) -> dict[str, Any]:
    """Whole numbers of steps, in as few bytes as hold the greatest less the least."""
    least = array.min(initial=0.0)
    above = (array.ravel() - least).astype("<u8")
    width = max(1, (int(above.max(initial=0)).bit_length() + 7) // 8)
    return {"kind": f"n{width}", "least": float(least), "step": step, "bytes": _deflated(above, width)}


def _deflated(array: Array, width: int) -> str:
    """The lower bytes of numbers, deflated: bytes of equal weight side by side take less."""
    planes = array.view(np.uint8).reshape(-1, array.itemsize)[:, :width].T.tobytes()
    return base64.b64encode(zlib.compress(planes, 9)).decode()
