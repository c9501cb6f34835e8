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
from hebnb.explain.summary import as_labels, marginal_concentration
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.printable import visible
from hebnb.scores.pair_tables import Directed
from hebnb.structures.aode import AODE
from hebnb.structures.naive_bayes import NaiveBayes

# Categories of a feature that can be chosen, the most frequent; and counts that a page may hold.
MOST_CHOICES = 20_000
MOST_COUNTS = 5_000_000
# Pairs of categories that a page may hold; a model with more is not put into it.
MOST_PAIRS = 2_000_000
# The longest that a category is written out.
_LONGEST = 120


@dataclass(frozen=True)
class _Choices:
    """The categories of all features that can be chosen, in one line."""

    kept: list[IntArray]  # codes of every feature, in order
    starts: IntArray

    @classmethod
    def of(cls, model: NaiveBayes | AODE) -> _Choices:
        most = choices_of(model)
        kept = [np.sort(np.argsort(-pooled, kind="stable")[:most]).astype(np.intp) for pooled in model.counts_.pooled]
        return cls(kept, np.concatenate([[0], np.cumsum([len(codes) for codes in kept])]))

    def place(self, f: int, size: int) -> IntArray:
        """Where each code of a feature stands among its choices, −1 if nowhere."""
        places = np.full(size + 1, -1)
        places[self.kept[f]] = np.arange(len(self.kept[f]))
        return places


def choices_of(model: NaiveBayes | AODE) -> int:
    """How many categories of a feature a page with this model offers."""
    numbers = model.counts_.classes.size * len(model.counts_.tables)
    if isinstance(model, AODE):  # for which a parent's value has a total for every child
        numbers *= len(model.counts_.tables)
    return max(1, min(MOST_CHOICES, MOST_COUNTS // numbers))


def pairs_of(model: NaiveBayes | AODE) -> int:
    """How many pairs of categories a page with this model would hold."""
    return len(model.counts_.pairs.cells().count) if isinstance(model, AODE) else 0


def explorer_data(model: NaiveBayes | AODE, rows: list[IntArray], labels: IntArray) -> dict[str, Any]:
    """What the page needs to predict, and some rows to begin with.

    Parameters
    ----------
    model : NaiveBayes or AODE
    rows : list of F arrays
        Codes of some rows.
    labels : array
        The classes of these rows.
    """
    counts, choices = model.counts_, _Choices.of(model)
    features = counts.vocabulary.features
    m = marginal_concentration(model)
    singles = [dense(table[kept]) for table, kept in zip(counts.tables, choices.kept, strict=True)]
    means = [mean[kept] for mean, kept in zip(model.prior_mean_, choices.kept, strict=True)]
    places = [choices.place(f, feature.size) for f, feature in enumerate(features)]
    data: dict[str, Any] = {
        "classes": [_short(label) for label in map(str, model.classes_.tolist())],
        "features": [
            {
                "name": _short(str(name)),
                "size": feature.size,
                "labels": [_short(label) for label in np.array(as_labels(feature), dtype=object)[kept].tolist()],
            }
            for name, feature, kept in zip(counts.vocabulary.names, features, choices.kept, strict=True)
        ],
        "logPrior": _floats(model.class_log_prior_),
        "rows": float(counts.class_count.sum()),
        "count": _packed(np.concatenate(singles)),
        "mean": _packed(np.concatenate(means)),
        "total": _packed(counts.totals.T),
        "m": _packed(m.T),
        "examples": _packed(np.stack([place[codes] for place, codes in zip(places, rows, strict=True)], axis=1) + 1),
        "exampleLabels": labels.tolist(),
    }
    return data | (_one_dependence(model, choices) if isinstance(model, AODE) else _naive_bayes(model))


def _naive_bayes(model: NaiveBayes) -> dict[str, Any]:
    return {
        "kind": "naive Bayes",
        "offsets": _floats(model.class_offsets_),
        "weights": _floats(model.feature_weights_),
    }


def _one_dependence(model: AODE, choices: _Choices) -> dict[str, Any]:
    """The pairs that occur, once each, and the totals of the parents' values."""
    counts, layout = model.counts_, model.counts_.layout
    used = ~np.isnan(model.concentration_[0])
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
    total = Directed.of(counts, used).total[:, of_parents]
    pooled = getattr(model, "parent_weights_", None)
    return {
        "kind": "mean" if pooled is None else "pool",
        "offsets": _floats(getattr(model, "class_offsets_", np.zeros(counts.classes.size))),
        "weights": _floats(getattr(model, "feature_weights_", np.zeros(len(layout.sizes)))),
        "parents": model.parents_.tolist(),
        "parentWeights": None if pooled is None else _floats(pooled),
        "used": used.tolist(),
        "mayBeParent": _packed(model._may_be_parent[kept].astype(float)),
        "pairStep": _packed(np.diff(keys, prepend=0).astype(float)),
        "pairCount": _packed(count),
        "pairTotal": _packed(np.moveaxis(total, 0, 2)),
        "pairM": _packed(np.nan_to_num(np.moveaxis(model.concentration_, 0, 2))),
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
