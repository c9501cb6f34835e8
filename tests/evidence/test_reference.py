"""The whole model against a slow reference: one row at a time, counts in dictionaries, straight from the formulas."""

from bisect import bisect_left
from collections import defaultdict
from functools import cache, partial
from math import exp, floor, inf, log, log2

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hebnb import EvidenceClassifier
from hebnb.columns.kinds import BinTree
from hebnb.evidence.choice import Choice, ColumnStrengths, Cross
from hebnb.evidence.counts import EvidenceCounts
from hebnb.evidence.leaving import NoRow
from hebnb.evidence.paths import given, of_cross
from hebnb.evidence.sampled import depth_of

pd = pytest.importorskip("pandas")

GAP, UNSEEN = "the gap", "never seen"


def is_gap(value):
    return bool(pd.isna(value))


class Reference:
    """A model by its choice, and by the training rows that count for it."""

    def __init__(self, model, X, y, weights=None):
        counts = model.counts_
        self.choice, self.classes = counts.choice, counts.classes.values.tolist()
        self.ignores = counts.vocabulary.missing == "ignore"
        self.kinds = counts.vocabulary.features
        weights = [1.0] * len(y) if weights is None else weights
        self.rows, self.labels = X.astype(object).to_numpy().tolist(), list(y)
        self.weights = list(map(float, weights))
        self.columns = [*((f,) for f in range(len(self.kinds))), *(cross.columns for cross in self.choice.crosses)]
        self.nodes = cache(self._nodes)

    def _nodes(self, f, value):
        """From coarse to fine; None where the column says nothing."""
        kind, gap = self.kinds[f], is_gap(value)
        ordered = isinstance(kind, BinTree)
        known = kind.missing if gap else ordered or value in kind.values.tolist()
        if not known and self.ignores:
            return None
        depth = max(kind.depths.tolist(), default=1) if ordered else 1
        if not known or gap:
            return [GAP if known else UNSEEN] * depth
        if not ordered:
            return [value]
        edges = list(zip(kind.edges.tolist(), kind.depths.tolist(), strict=True))
        return [bisect_left([edge for edge, drawn in edges if drawn <= level], value) for level in range(1, depth + 1)]

    def cell(self, t, level, row):
        """The nodes of a row in a table, None where one of its columns says nothing."""
        cell = []
        for f in self.columns[t]:
            nodes = self.nodes(f, row[f])
            if nodes is None:
                return None
            cell.append(nodes[min(level, len(nodes) - 1)])
        return tuple(cell)

    def depth(self, t):
        if t < len(self.kinds):
            return len(self.choice.columns[t].levels)
        return len(self.choice.crosses[t - len(self.kinds)].strengths)

    def score(self, row, without=None):
        return _Counted(self, without).score(row)

    def proba(self, row, without=None):
        return normalised(self.score(row, without))


class _Counted:
    """The counts, without one of the rows."""

    def __init__(self, reference, without):
        self.reference, self.choice = reference, reference.choice
        weights = list(reference.weights)
        if without is not None:
            weights[without] -= min(weights[without], 1.0)  # one of those that the row stands for
        n_classes = len(reference.classes)
        self.of_class = [0.0] * n_classes
        self.counts = defaultdict(lambda: defaultdict(lambda: [0.0] * n_classes))
        for row, label, weight in zip(reference.rows, reference.labels, weights, strict=True):
            c = reference.classes.index(label)
            self.of_class[c] += weight
            for t in range(len(reference.columns)):
                for level in range(reference.depth(t)):
                    cell = reference.cell(t, level, row)
                    if cell is not None:
                        self.counts[t, level][cell][c] += weight
        self.n_rows = sum(self.of_class)
        self.prior = [(n + 1) / (self.n_rows + n_classes) for n in self.of_class]

    def score(self, row):
        score = [log(p) + b for p, b in zip(self.prior, self.choice.offsets, strict=True)]
        for t, weight in enumerate(self.choice.weights):
            said = self.evidence(t, row)[-1]
            score = [s + weight * e for s, e in zip(score, said, strict=True)]
        return score

    def evidence(self, t, row):
        """What a table says of a row at every level, for every class."""
        nothing = [[0.0] * len(self.prior)] * self.reference.depth(t)
        if self.reference.cell(t, 0, row) is None:
            return nothing
        return self.of_column(t, row) if t < len(self.reference.kinds) else self.of_cross(t, row)

    def count(self, t, level, row):
        return self.counts[t, level].get(self.reference.cell(t, level, row), [0.0] * len(self.prior))

    def of_column(self, f, row):
        strengths, prior, whole = self.choice.columns[f], self.prior, self.n_rows
        if strengths.buckets is not None:
            prior = self.of_frequency(f, row, strengths.buckets)
        said = []
        for level, strength in enumerate(strengths.levels):
            n = self.count(f, level, row)
            prior, whole = shrunk(n, prior, strength, whole), sum(n)
            said.append([log(p) - log(of_class) for p, of_class in zip(prior, self.prior, strict=True)])
        return said

    def of_frequency(self, f, row, strength):
        """The classes of the other categories that are as frequent, in powers of two."""

        def bucket(n):
            return floor(log2(sum(n))) if sum(n) > 1 else 0

        own = self.reference.cell(f, 0, row)
        others = [0.0] * len(self.prior)
        for cell, n in self.counts[f, 0].items():
            if cell != own and bucket(n) == bucket(self.count(f, 0, row)):
                others = [a + b for a, b in zip(others, n, strict=True)]
        return shrunk(others, self.prior, strength, inf)

    def of_cross(self, t, row):
        cross = self.choice.crosses[t - len(self.reference.kinds)]
        parts = [self.evidence(part, row) for part in cross.parts]
        said, whole = [], self.n_rows
        for level, strength in enumerate(cross.strengths):
            logs = [log(p) for p in self.prior]
            for part, weight in zip(parts, cross.part_weights, strict=True):
                of_part = part[min(level, len(part) - 1)]
                logs = [a + weight * b for a, b in zip(logs, of_part, strict=True)]
            of_parts = normalised(logs)
            above = said[-1] if said else [0.0] * len(logs)
            prior = normalised([log(p) + e for p, e in zip(of_parts, above, strict=True)])
            n = self.count(t, level, row)
            p, whole = shrunk(n, prior, strength, whole), sum(n)
            said.append([log(a) - log(b) for a, b in zip(p, of_parts, strict=True)])
        return said


def shrunk(n, prior, strength, whole):
    """A cell that has all rows of the one above adds nothing."""
    if abs(sum(n) - whole) < 1e-6:
        return prior
    return [(own + strength * p) / (sum(n) + strength) for own, p in zip(n, prior, strict=True)]


def normalised(logs):
    most = max(logs)
    odds = [exp(score - most) for score in logs]
    return [own / sum(odds) for own in odds]


def table(seed, rows, n_classes):
    """Text and floats with gaps, integers that are names, and integers that may be numbers; some of it is crossed."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=rows)
    first = rng.integers(4, size=rows)
    second = np.where(rng.random(rows) < 0.8, (first + y) % 4, rng.integers(4, size=rows))
    rare = np.where(rng.random(rows) < 0.5, y, 7 + rng.integers(2 * rows, size=rows)).astype(str).astype(object)
    spike = np.where(rng.random(rows) < 0.4, 0.0, rng.normal(y, 2, size=rows).round(1))
    X = pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.array(list("abcd"), dtype=object)[first]),
            "code": second,
            "rare": rare,
            "size": np.where(rng.random(rows) < 0.15, np.nan, spike),
            "one": "always",
        }
    )
    return X, np.array(["x", "y", "z"], dtype=object)[y]


def strangers(X):
    """Some rows, some of them with values that never occurred."""
    new = X.head(12).copy()
    new.loc[0, ["text", "code"]] = ["never", 99]
    new.loc[1, "rare"] = "none"
    new.loc[2, "size"] = 1e9
    new.loc[3, "size"] = -1e9
    new.loc[4, ["text", "size"]] = [None, np.nan]
    new.loc[5, "one"] = None
    new.loc[6, ["text", "code", "rare", "one"]] = ["never", 99, "none", "now and then"]
    new.loc[7, "size"] = 0.05
    return new


def weights_of(seed, rows, kind):
    rng = np.random.default_rng(seed)
    if kind == "whole":
        return rng.integers(1, 4, size=rows).astype(float)
    return rng.choice([0.25, 0.5, 1.0, 2.0, 3.5], size=rows) if kind == "any" else None


def any_choice(kinds, n_classes, n_rows, rng):
    """Strengths, crosses of two and three columns, and weights that no rows have chosen."""

    def strengths(n):
        return tuple((10 ** rng.uniform(-1.5, 2.5, size=n)).tolist())

    columns = [
        ColumnStrengths(strengths(len(kind.levels)), None if kind.is_ordered else float(10 ** rng.uniform(-1, 2)))
        for kind in kinds
    ]
    crosses = []
    for own in [(0, 1), (1, 3), (0, 2), (2, 3), (0, 1, 3), (1, 2, 3), (0, 1, 2, 3)]:
        parts = [*own, *(len(kinds) + t for t, cross in enumerate(crosses) if set(cross.columns) < set(own))]
        weights = tuple(rng.normal(0.7, 0.5, size=len(parts)).tolist())
        crosses.append(Cross(own, strengths(depth_of(kinds, own)), tuple(parts), weights, 1.0))
    weights = rng.normal(0.5, 0.5, size=len(columns) + len(crosses))
    offsets = rng.normal(size=n_classes)
    return Choice(tuple(columns), tuple(crosses), weights, offsets, 0.5, np.zeros(len(columns)), float(n_rows))


def check(model, X, y, weights=None, every=1):
    reference = Reference(model, X, y, weights)
    new = strangers(X)
    expected = [reference.score(row) for row in new.astype(object).to_numpy().tolist()]
    assert_allclose(model.predict_joint_log_proba(new), expected, rtol=0, atol=1e-10)
    some = range(0, len(y), every)
    expected = [reference.proba(reference.rows[row], without=row) for row in some]
    found = model.loo_predict_proba(X, y, weights)
    assert_allclose(found[some], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["none", "whole", "any"])
def test_any_choice_scores_as_the_formulas_say(missing, n_classes, kind):
    seed = n_classes + 10 * len(kind)
    X, y = table(seed, 45, n_classes)
    weights = weights_of(seed, 45, kind)
    make = partial(EvidenceClassifier, missing=missing)
    rows = make().encode(X, y, weights)
    choice = any_choice(rows.vocabulary.features, n_classes, 45, np.random.default_rng(seed))
    check(make().fit_counts(EvidenceCounts.of_rows(rows, choice)), X, y, weights, every=3)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.parametrize(("n_classes", "kind"), [(2, "none"), (3, "none"), (2, "any")])
def test_what_is_learned_scores_as_the_formulas_say(missing, n_classes, kind):
    X, y = table(5 + n_classes, 160, n_classes)
    weights = weights_of(1, 160, kind)
    model = EvidenceClassifier(missing=missing).fit(X, y, weights)
    assert ("text", "code") in model.crosses_
    assert [*model.bin_edges_] == ["size"]
    check(model, X, y, weights, every=16)


def test_integers_that_are_numbers():
    rng = np.random.default_rng(0)
    X, y = table(3, 120, 2)
    X["one"] = (400 * (y == "x") + rng.normal(2000, 200, size=len(y))).astype(int)
    model = EvidenceClassifier().fit(X, y)
    assert "one" in model.bin_edges_
    X["one"] = X["one"].astype(object)
    reference = Reference(model, X, y)
    found = model.loo_predict_proba(X.astype({"one": int}), y)
    for row in range(0, len(y), 15):
        assert_allclose(found[row], reference.proba(reference.rows[row], without=row), atol=1e-10)


def test_categories_that_are_too_many_are_one_that_was_never_seen():
    X, y = table(9, 100, 3)
    model = EvidenceClassifier(max_categories=3).fit(X, y)
    assert model.dropped_
    check(model, X, y, every=10)


def test_further_batches_score_as_the_formulas_say():
    """The choice stays that of the first batch; categories, gaps and a class are new in the second."""
    X, y = table(21, 160, 3)
    first = (np.arange(160) < 100) & (y != "z") & (X["text"] != "d") & X["size"].notna()
    model = EvidenceClassifier().fit(X[first], y[first])
    choice = model.counts_.choice
    assert model.crosses_
    model.partial_fit(X[~first], y[~first])
    assert model.counts_.choice.crosses == choice.crosses
    together = pd.concat([X[first], X[~first]], ignore_index=True)
    check(model, together, np.concatenate([y[first], y[~first]]), every=16)


def test_a_cross_with_more_cells_than_a_table_holds():
    """Combinations of 70 × 70 categories are not all kept; those without rows, and triples of them, score as well."""
    rng = np.random.default_rng(4)
    n = 300
    a, b, c = rng.integers(70, size=(3, n))
    X = pd.DataFrame({"a": a.astype(str), "b": b.astype(str), "c": (c % 3).astype(str)})
    y = np.array(["x", "y"])[(a + b + c) % 2]
    rows = EvidenceClassifier().encode(X, y)
    kinds = rows.vocabulary.features
    columns = tuple(ColumnStrengths((2.0,), 5.0) for _ in kinds)
    crosses = (
        Cross((0, 1), (1.5,), (0, 1), (0.8, 0.7), 1.0),
        Cross((0, 1, 2), (0.7,), (0, 1, 2, 3), (0.8, 0.7, 0.9, 1.2), 1.0),
    )
    choice = Choice(columns, crosses, np.array([0.5, 0.6, 0.7, 1.1, 0.9]), np.zeros(2), 0.5, np.zeros(3), float(n))
    model = EvidenceClassifier().fit_counts(EvidenceCounts.of_rows(rows, choice))
    assert not model.score_tables_.tables[3].is_full
    reference = Reference(model, X, y)
    new = pd.DataFrame({"a": X["a"].to_numpy()[:40], "b": X["b"].to_numpy()[1:41], "c": X["c"].to_numpy()[:40]})
    for rows_ in (new, X.head(10)):
        expected = [reference.score(row) for row in rows_.to_numpy().tolist()]
        assert_allclose(model.predict_joint_log_proba(rows_), expected, rtol=0, atol=1e-10)


def test_a_cross_that_outgrows_its_table_still_goes_from_coarse_to_fine():
    """With so many new categories not all combinations are kept; one without rows says what the level above says."""
    rng = np.random.default_rng(0)

    def batch(rows, n_categories):
        text, size = rng.integers(n_categories, size=rows), rng.normal(size=rows)
        y = np.where((text % 2 == 0) ^ (size > 0), "x", "y")
        return pd.DataFrame({"text": text.astype(str), "size": size}), y

    X, y = batch(300, 6)
    more, of_more = batch(300, 300)
    model = EvidenceClassifier().fit(X, y)
    assert model.crosses_ == [("text", "size")]
    assert len(model.strengths_["text", "size"]) > 1
    model.partial_fit(more, of_more)
    reference = _Counted(Reference(model, pd.concat([X, more]), [*y, *of_more]), None)
    new, _ = batch(30, 300)
    expected = [reference.score(row) for row in new.astype(object).to_numpy().tolist()]
    assert_allclose(model.predict_joint_log_proba(new), expected, rtol=0, atol=1e-10)


def test_what_parts_rule_out_is_no_nan():
    """Parts that are surer than a probability can be in floating point."""
    rows = np.repeat(np.arange(4), 5)
    leaving = NoRow(np.array([10.0, 10.0]))
    count = np.array([[5.0, 0, 5, 0, 0], [0.0, 5, 0, 5, 0]])
    said = np.array([[0.0, 0, -5000, 3000], [-5000.0, 4000, 0, 0]])
    path = of_cross(
        leaving, [(rows, count), (rows, count)], given((0.01, 0.01)), lambda number, units: said[:, rows[units]], None
    )
    for level in path:
        assert np.isfinite(level.evidence).all()
        assert (level.probability > 0).all()
