"""Integers that may be names or numbers: both readings are tried, and the one stays that tells more about the class."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

import numpy as np

from hebnb.columns.column import Name
from hebnb.columns.kinds import BinTree, Kind
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.sample import Sample
from hebnb.counts.single import Counts, compact, dense
from hebnb.evidence.sampled import SampledRows
from hebnb.evidence.search import column_gains
from hebnb.foundation.arrays import FloatArray, IntArray

# With fewer values than this, integers are names: a tree over them would have little to share.
FEWEST_VALUES = 12
# By how many standard errors numbers have to tell more than names, which crosses tell apart without limit.
_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class Readings:
    """A column of integers read both ways.

    Parameters
    ----------
    tree : BinTree
        The integers as numbers.
    names, numbers : float
        How much more likely left-out rows become if they are names, and if they are numbers, in nats.
    are_numbers : bool
        Whether the difference is more than chance would make.
    """

    tree: BinTree
    names: float
    numbers: float
    are_numbers: bool


def as_numbers(sample: Sample, names: Container[Name]) -> dict[int, BinTree]:
    """The trees of integer columns that tell more about left-out rows than their values by themselves.

    Those of ``names`` are categories, whatever they tell.
    """
    return {f: own.tree for f, own in both_readings(sample, names).items() if own.are_numbers}


def both_readings(sample: Sample, names: Container[Name]) -> dict[int, Readings]:
    """Integer columns that may be names or numbers, read both ways; those of ``names`` are categories."""
    rows, found = SampledRows.of(sample), {}
    for f, (name, kind) in enumerate(zip(sample.vocabulary.names, rows.features, strict=True)):
        if name in names or not _may_be_numbers(kind, sample.codes[f]):
            continue
        tree = _tree(kind, sample.codes[f], sample.weights)
        codes = list(rows.codes)
        codes[f] = _places(kind, tree)[codes[f]]
        features = (*rows.features[:f], tree, *rows.features[f + 1 :])
        as_names = column_gains(rows, f)
        as_tree = column_gains(replace(rows, features=features, codes=tuple(codes)), f)
        more = as_tree - as_names
        are_numbers = bool(rows.weights @ more > _ERRORS * np.sqrt(rows.weights @ more**2))
        found[f] = Readings(tree, float(rows.weights @ as_names), float(rows.weights @ as_tree), are_numbers)
    return found


def _may_be_numbers(kind: Kind, codes: IntArray) -> bool:
    return kind.are_integers and kind.missing_code >= FEWEST_VALUES and not bool((codes == kind.size).any())


def _tree(kind: Kind, codes: IntArray, weights: FloatArray) -> BinTree:
    rows = np.bincount(codes, weights, kind.size)[: kind.missing_code].astype(float)
    occurs = np.flatnonzero(rows)
    tree = BinTree.grown(kind.labels[occurs].astype(float), rows[occurs], kind.missing)
    return replace(tree, of_integers=True)


def _places(kind: Kind, tree: BinTree) -> IntArray:
    """The leaf of every code, of gaps and of what is silent."""
    leaves = np.searchsorted(tree.edges, kind.labels[: kind.missing_code].astype(float))
    return np.concatenate([leaves, np.arange(tree.missing_code, tree.size + 1)])


def reread(vocabulary: Vocabulary, trees: dict[int, BinTree]) -> Vocabulary:
    """The vocabulary with trees instead of categories."""
    features = tuple(trees.get(f, kind) for f, kind in enumerate(vocabulary.features))
    return replace(vocabulary, features=features)


def rows_reread(rows: EncodedRows, trees: dict[int, BinTree]) -> EncodedRows:
    """Rows with the codes of trees."""
    codes = list(rows.codes)
    for f, tree in trees.items():
        codes[f] = _places(rows.vocabulary.features[f], tree)[codes[f]]
    return replace(rows, vocabulary=reread(rows.vocabulary, trees), codes=codes)


def sample_reread(sample: Sample, trees: dict[int, BinTree]) -> Sample:
    """A sample with the codes of trees."""
    codes = list(sample.codes)
    for f, tree in trees.items():
        codes[f] = _places(sample.vocabulary.features[f], tree)[codes[f]]
    return replace(sample, vocabulary=reread(sample.vocabulary, trees), codes=tuple(codes))


def counts_reread(counts: Counts, trees: dict[int, BinTree]) -> Counts:
    """Counts of the leaves of trees."""
    tables = list(counts.tables)
    for f, tree in trees.items():
        own = np.zeros((tree.size + 1, counts.classes.size))
        np.add.at(own, _places(counts.vocabulary.features[f], tree)[:-1], dense(counts.tables[f]))
        tables[f] = compact(own[:-1])
    return Counts(counts.classes, counts.class_count, reread(counts.vocabulary, trees), tuple(tables))
