"""A model's tables in a form that the page computes with: counts, prior means and concentrations, not probabilities.

Counts are small integers, which deflate to a fraction of what log probabilities would take; the page smooths them with
the one formula there is. Array names and their meaning are those of ``explorer.js``.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.counts.single import dense
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible
from hebnb.scores.build import levels
from hebnb.scores.estimates import Estimates
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import FamilyTable

# Categories of a feature that can be chosen, the most frequent; and counts that a page may hold.
MOST_CHOICES = 20_000
MOST_COUNTS = 5_000_000
# Cells of several columns that a page may hold; a model with more is not put into it.
MOST_CELLS = 2_000_000
# The longest that a category is written out.
_LONGEST = 120


@dataclass(frozen=True)
class _Choices:
    """The categories of all features that can be chosen, in one line."""

    kept: list[IntArray]  # codes of every feature, in order
    starts: IntArray

    @classmethod
    def of(cls, model: ScoreTables) -> _Choices:
        most = choices_of(model)
        kept = [np.sort(np.argsort(-count, kind="stable")[:most]).astype(np.intp) for count in model.counts.marginal]
        return cls(kept, np.concatenate([[0], np.cumsum([len(codes) for codes in kept])]))

    def place(self, f: int, size: int) -> IntArray:
        """Where each code of a feature stands among its choices, −1 if nowhere."""
        places = np.full(size + 1, -1)
        places[self.kept[f]] = np.arange(len(self.kept[f]))
        return places


def choices_of(model: ScoreTables) -> int:
    """How many categories of a feature a page with this model offers."""
    numbers = model.n_classes * len(model.tables)
    if len(model.parents):  # whose values have a total for every child
        numbers *= len(model.tables)
    return max(1, min(MOST_CHOICES, MOST_COUNTS // numbers))


def cells_of(model: ScoreTables) -> int:
    """How many cells of several columns a page with this model would hold."""
    pairs = 0 if model.estimates is None else len(model.estimates.counts.pairs.cells().count)
    return pairs + sum(len(family.cells.codes) for table in model.tables for family in table.families)


def explorer_data(model: ScoreTables, rows: list[IntArray], labels: IntArray) -> dict[str, Any]:
    """What the page needs to predict, and some rows to begin with.

    Parameters
    ----------
    model : ScoreTables
    rows : list of F arrays
        Codes of some rows.
    labels : array
        The classes of these rows.
    """
    counts, choices = model.counts, _Choices.of(model)
    features = counts.vocabulary.features
    singles = [dense(table[kept]) for table, kept in zip(counts.tables, choices.kept, strict=True)]
    means = [table.root.mean[kept] for table, kept in zip(model.tables, choices.kept, strict=True)]
    places = [choices.place(f, feature.size) for f, feature in enumerate(features)]
    combination = model.combination
    data: dict[str, Any] = {
        "kind": "sum" if model.estimates is None else "mean" if model.is_mean else "pool",
        "classes": [_short(label) for label in map(str, counts.classes.values.tolist())],
        "features": [
            {
                "name": _short(str(name)),
                "size": feature.size,
                "labels": [_short(label) for label in np.array(feature.texts, dtype=object)[kept].tolist()],
            }
            for name, feature, kept in zip(counts.vocabulary.names, features, choices.kept, strict=True)
        ],
        "logPrior": _floats(model.log_prior),
        "offsets": _floats(combination.offsets),
        "weights": _floats(combination.table_weights),
        "rows": float(counts.class_count.sum()),
        "count": _packed(np.concatenate(singles)),
        "mean": _packed(np.concatenate(means)),
        "total": _packed(counts.totals.T),
        "m": _packed(levels(model.tables)[0].T),
        "families": [[_family(family, places) for family in table.families] for table in model.tables],
        "examples": _packed(np.stack([place[codes] for place, codes in zip(places, rows, strict=True)], axis=1) + 1),
        "exampleLabels": labels.tolist(),
    }
    return data if model.estimates is None else data | _pairs(model.estimates, choices, combination.estimate_weights)


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
        "cells": _packed(cells[offered]),
        "count": _packed(family.cells.count[offered]),
        "contexts": _packed(contexts[known]),
        "total": _packed(family.contexts.total[:-1][known]),
    }


def _pairs(estimates: Estimates, choices: _Choices, weights: FloatArray | None) -> dict[str, Any]:
    """The pairs that occur, once each, and the totals of the parents' values."""
    counts, layout, used = estimates.counts, estimates.layout, estimates.used
    place = np.concatenate(
        [
            start + choices.place(f, int(size))[:-1]
            for f, (start, size) in enumerate(zip(choices.starts, layout.sizes, strict=False))
        ]
    )
    kept = np.concatenate([start + codes for start, codes in zip(layout.starts, choices.kept, strict=False)])
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
        "parentWeights": None if weights is None else _floats(weights),
        "used": used.tolist(),
        "mayBeParent": _packed(estimates.may_be_parent[kept].astype(float)),
        "pairStep": _packed(np.diff(keys, prepend=0).astype(float)),
        "pairCount": _packed(count),
        "pairTotal": _packed(np.moveaxis(total, 0, 2)),
        "pairM": _packed(np.nan_to_num(np.moveaxis(estimates.concentration, 0, 2))),
    }


def _short(label: str | None) -> str | None:
    return None if label is None else visible(label, _LONGEST)


def _floats(array: FloatArray) -> list[float]:
    """Numbers for JSON, which has no infinity."""
    finite: list[float] = np.clip(array, -1e300, 1e300).tolist()
    return finite


def _packed(array: Array) -> dict[str, str]:
    """Numbers in the smallest type that holds them exactly, deflated, as text."""
    array = np.ascontiguousarray(array, dtype=float).ravel()
    whole = bool(np.all(array == np.round(array))) and (not len(array) or array.min() >= 0)
    largest = array.max() if len(array) else 0.0
    fits = next((kind for kind, limit in (("u1", 1 << 8), ("u2", 1 << 16), ("u4", 1 << 32)) if largest < limit), None)
    kind = fits if whole and fits else "f8"
    # Bytes of equal weight side by side deflate better.
    planes = array.astype(f"<{kind}").view(np.uint8).reshape(-1, int(kind[1])).T.tobytes()
    return {"kind": kind, "bytes": base64.b64encode(zlib.compress(planes, 9)).decode()}
