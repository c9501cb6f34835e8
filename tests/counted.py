"""Counts of every sort, as whatever counts them would have them, by names."""

from functools import partial

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from hebnb import AODE, KDB, TAN, EvidenceClassifier, NaiveBayes
from hebnb.columns.table import read
from hebnb.counts.families import FamilyCounts
from hebnb.counts.pairs import PairCounts
from hebnb.counts.single import dense
from hebnb.evidence.counts import EvidenceCounts, nodes_of

EDGES = {"bin_edges": {"size": [0.0, 1.0]}}
MAKES = {
    "naive Bayes": partial(NaiveBayes, **EDGES),
    "gaps ignored": partial(NaiveBayes, missing="ignore", **EDGES),
    "AODE": partial(AODE, **EDGES),
    "TAN": partial(TAN, missing="ignore", **EDGES),
    "KDB": partial(KDB, **EDGES),
    "KDB, gaps ignored": partial(KDB, missing="ignore", **EDGES),
    "evidence": partial(EvidenceClassifier, hierarchies={"path": "/"}),
    "evidence, gaps ignored": partial(EvidenceClassifier, missing="ignore", hierarchies={"path": "/"}),
}


def table(seed, rows=80):
    """Text with gaps, numbers to be cut, mixed values, paths in a tree; two columns that only tell together."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(3, size=(2, rows))
    mixed = np.array([1, 10, 9, "a", "b", None], dtype=object)
    X = pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.array(list("abc"), dtype=object)[first]),
            "other": np.array(list("xyz"), dtype=object)[second],
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows)),
            "mixed": mixed[rng.integers(len(mixed), size=rows)],
            "path": rng.choice(["a/b", "a/c", "a/c/d", "e", "f/g/h"], rows).astype(object),
        }
    )
    labels = np.where(rng.random(rows) < 0.8, (first + second) % 3, rng.integers(3, size=rows))
    return X, np.array(["no", "perhaps", "yes"], dtype=object)[labels]


def counted(model, X, y, known=None, weights=None):
    """Counts with the bins, parents and crosses of others."""
    learning = model._learning()
    rows, _ = learning.encoded(read(X), y, weights, known and known.vocabulary)
    return learning.structure.count(rows, known)


def cells(counts):
    """The weight of everything that occurs, by names: (columns, values, class)."""
    features, classes = counts.vocabulary.features, counts.classes.values.tolist()
    found = dict(zip(classes, counts.class_count.tolist(), strict=True))

    def add(columns, texts, line):
        for label, weight in zip(classes, line, strict=True):
            if weight:
                found[columns, texts, label] = weight

    for f, own in enumerate(counts.tables):
        for text, line in zip(features[f].texts, dense(own).tolist(), strict=True):
            add((f,), (text,), line)
    texts = [[*kind.texts, "(silent)"] for kind in features]
    if isinstance(counts, PairCounts):
        pairs = counts.pairs.cells()
        line = [(f, text) for f, kind in enumerate(features) for text in kind.texts]
        for one, two, c, weight in zip(pairs.first, pairs.second, pairs.class_, pairs.count, strict=True):
            (f, first), (g, second) = line[one], line[two]
            found[(f, g), (first, second), classes[c]] = weight
    if isinstance(counts, FamilyCounts):
        for family in counts.cells:
            columns = family.child, *family.parents
            for codes, own in zip(family.codes, family.count.tolist(), strict=True):
                add(columns, tuple(texts[f][code] for f, code in zip(columns, codes, strict=True)), own)
    if isinstance(counts, EvidenceCounts):
        for cross, own in zip(counts.choice.crosses, counts.cells, strict=True):
            names = [_names_of_nodes(features[f], cross.depth, texts[f]) for f in cross.columns]
            for codes, line in zip(own.codes, own.count.tolist(), strict=True):
                add(cross.columns, tuple(name[node] for name, node in zip(names, codes, strict=True)), line)
    return found


def _names_of_nodes(kind, depth, texts):
    """A node is called like its categories but those that only stand for others, which come and go."""
    nodes = nodes_of(kind, depth)
    return [
        tuple(t for t, own in zip(texts, nodes, strict=True) if own == node and "others" not in str(t))
        for node in range(nodes.max() + 1)
    ]


def assert_same(found, expected):
    ours, theirs = cells(found), cells(expected)
    assert ours.keys() == theirs.keys()
    assert_allclose([ours[key] for key in theirs], list(theirs.values()), rtol=1e-9)
    for own, other in zip(found.vocabulary.features, expected.vocabulary.features, strict=True):
        assert own.texts == other.texts
        assert own.labels.dtype == other.labels.dtype
    assert_array_equal(found.classes.values, expected.classes.values)
