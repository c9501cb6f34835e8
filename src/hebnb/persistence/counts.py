"""Counts in a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hebnb.columns.kinds import Categories, Kind, MissingPolicy
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.families import FamilyCells, FamilyCounts
from hebnb.counts.pairs import Caps, DensePairs, PairCounts, Pairs, SparsePairs
from hebnb.counts.single import Counts, CountTable
from hebnb.evidence.choice import Choice
from hebnb.evidence.counts import CrossCells, EvidenceCounts, nodes_of
from hebnb.foundation.arrays import Array, FloatArray, IntArray


def with_counts(counts: Counts, arrays: dict[str, Array]) -> dict[str, Any]:
    """Put counts among the arrays; what JSON has to say of them."""
    arrays["class_count"] = counts.class_count
    for n, table in enumerate(counts.tables):
        if isinstance(table, csr_array):
            arrays |= {f"table{n}.{part}": getattr(table, part) for part in ("data", "indices", "indptr")}
        else:
            arrays[f"table{n}"] = table
    if isinstance(counts, PairCounts):
        caps = counts.caps
        parts = {"square"} if isinstance(counts.pairs, DensePairs) else {"first", "second", "class_", "count"}
        arrays |= {f"pairs.{part}": getattr(counts.pairs, part) for part in parts}
        return {"n_rows": counts.n_rows, "caps": [caps.max_parent_categories, caps.max_joint_cells]}
    if isinstance(counts, EvidenceCounts):
        for n, own in enumerate(counts.cells):
            arrays |= {f"cross{n}.codes": own.codes, f"cross{n}.count": own.count}
        return {"choice": counts.choice.document()}
    if isinstance(counts, FamilyCounts):
        for cells in counts.cells:
            arrays |= {f"family{cells.child}.codes": cells.codes, f"family{cells.child}.count": cells.count}
        return {"parents": [list(own) for own in counts.parents]}
    return {}


def counts_of(
    described: Mapping[str, Any],
    arrays: Mapping[str, Array],
    vocabulary: tuple[tuple[Any, ...], tuple[Kind, ...], MissingPolicy],
    classes: Categories,
) -> Counts:
    """The counts among the arrays; a ValueError says what is wrong with them."""
    features = vocabulary[1]
    class_count = _counted(arrays["class_count"], (classes.size,))
    if not class_count.sum() > 0:
        raise ValueError("no rows were counted")
    tables = tuple(_table(f"table{n}", (f.size, classes.size), arrays) for n, f in enumerate(features))
    single = Counts(classes, class_count, Vocabulary(*vocabulary), tables)
    parts = single.classes, single.class_count, single.vocabulary, single.tables
    if "caps" in described:
        width = int(single.vocabulary.sizes.sum())
        return PairCounts(
            *parts, _pairs(arrays, width, classes.size), int(described["n_rows"]), Caps(*described["caps"])
        )
    if "choice" in described:
        return _evidence(described["choice"], arrays, single)
    if "parents" in described:
        parents = tuple(tuple(map(int, own)) for own in described["parents"])
        if len(parents) != len(features):
            raise ValueError("families and features do not match")
        cells = [_family(f, own, arrays, single) for f, own in enumerate(parents) if own]
        return FamilyCounts.of_families(single, parents, cells)
    return single


def _table(name: str, shape: tuple[int, int], arrays: Mapping[str, Array]) -> CountTable:
    if name in arrays:
        return _counted(arrays[name], shape)
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    table = csr_array(parts, shape=shape, dtype=float)
    table.check_format(full_check=True)
    _counted(table.data, table.data.shape)
    return table


def _pairs(arrays: Mapping[str, Array], width: int, n_classes: int) -> Pairs:
    if "pairs.square" in arrays:
        return DensePairs(_counted(arrays["pairs.square"], (n_classes, width, width)))
    count = _counted(arrays["pairs.count"], arrays["pairs.count"].shape)
    limits = {"first": width, "second": width, "class_": n_classes}
    at = {part: _codes(arrays[f"pairs.{part}"], count.shape, np.array(limit)) for part, limit in limits.items()}
    return SparsePairs(**at, count=count)


def _family(child: int, parents: tuple[int, ...], arrays: Mapping[str, Array], single: Counts) -> FamilyCells:
    sizes = single.vocabulary.sizes
    if not all(0 <= parent < len(sizes) and parent != child for parent in parents) or len(set(parents)) != len(parents):
        raise ValueError("no such parent")
    count = arrays[f"family{child}.count"]
    count = _counted(count, (len(count), single.classes.size))
    limits = np.array([sizes[child], *(sizes[list(parents)] + 1)])  # a parent may be silent
    codes = _codes(arrays[f"family{child}.codes"], (len(count), len(limits)), limits)
    if len(np.unique(codes, axis=0)) != len(codes):
        raise ValueError("cells occur twice")
    order = np.lexsort([codes[:, 0], *(codes[:, n] for n in range(codes.shape[1] - 1, 0, -1))])
    return FamilyCells(child, parents, codes[order], count[order])


def _evidence(described: dict[str, Any], arrays: Mapping[str, Array], single: Counts) -> EvidenceCounts:
    choice = Choice.restored(described, single.classes.size)
    features = single.vocabulary.features
    if [len(own.levels) for own in choice.columns] != [len(kind.levels) for kind in features]:
        raise ValueError("strengths and levels do not match")
    cells = []
    for n, cross in enumerate(choice.crosses):
        count = arrays[f"cross{n}.count"]
        count = _counted(count, (len(count), single.classes.size))
        limits = np.array([int(nodes_of(features[f], cross.depth).max()) + 1 for f in cross.columns])
        codes = _codes(arrays[f"cross{n}.codes"], (len(count), len(limits)), limits)
        if len(np.unique(codes, axis=0)) != len(codes):
            raise ValueError("cells occur twice")
        cells.append(CrossCells(codes, count))
    return EvidenceCounts.with_cells(single, choice, cells)


def _codes(array: Array, shape: tuple[int, ...], limits: IntArray) -> IntArray:
    fits = array.shape == shape and array.dtype.kind == "i"
    if not fits or not bool(np.all((array >= 0) & (array < limits))):
        raise ValueError("counts of no category")
    return array.astype(np.intp)


def _counted(array: Array, shape: tuple[int, ...]) -> FloatArray:
    """Counts: finite, not negative, of this shape."""
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise ValueError(f"an array has shape {array.shape}, not {shape}")
    counts: FloatArray = array.astype(float)
    if not bool(np.all(np.isfinite(counts) & (counts >= 0))):
        raise ValueError("some counts are no counts")
    return counts
