"""TAN against Weka, against slow references, and its laws. The references serve test_kdb.py too."""

import math
import shutil
import subprocess
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, softmax
from sklearn.metrics import mutual_info_score

from conftest import examples
from hebnb import AODE, TAN, Additive, InputError, NaiveBayes, load, save
from hebnb.counts.dependence import conditional_mutual_information
from hebnb.counts.pairs import DensePairs, SparsePairs

WEKA = Path("/usr/share/java/weka.jar")
SMOOTHINGS = ["heb-m", "heb-u", "laplace", "te"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "blue", None]),
        st.integers(0, 3),
        st.sampled_from(["s", "m"]),
        st.sampled_from(["no", "yes", "maybe"]),
    ),
    min_size=2,
    max_size=40,
)
ODD_TABLES = {
    "one column": ([["a"], ["b"], ["a"], ["a"]], ["x", "y", "x", "y"]),
    "one row": ([["a", 1, "s"]], ["x"]),
    "one class": ([["a", 1, "s"], ["b", 2, "s"], ["a", 1, "t"]] * 5, ["x"] * 15),
    "constant columns": ([["a", 1, "s"]] * 6, ["x", "y"] * 3),
    "nothing but gaps": ([[None, None, None]] * 4, ["x", "y"] * 2),
    "a column of gaps": ([["a", None, "s"], ["b", None, "t"], ["b", None, "s"]] * 5, ["x", "y", "y"] * 5),
    "nothing occurs twice": ([[f"id{n}", n, -n] for n in range(30)], ["x", "y"] * 15),
    "classes of one row": ([["a", 1], ["b", 1], ["c", 2], ["a", 2]], ["x", "y", "z", "w"]),
    "separable": ([["a", 1], ["b", 2]] * 30, ["x", "y"] * 30),
}


def split(rows):
    X = np.empty((len(rows), 3), dtype=object)
    X[:] = [row[:3] for row in rows]
    return X, np.array([row[3] for row in rows], dtype=object)


def codes_table(seed=0, rows=300, sizes=(3, 4, 2, 5, 3), classes=3):
    """Numbers in which every column depends on the class and on one before it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    columns = [np.where(rng.random(rows) < 0.4, y % sizes[0], rng.integers(sizes[0], size=rows))]
    for f, k in enumerate(sizes[1:], start=1):
        follows = rng.random(rows) < 0.5
        columns.append(np.where(follows, (columns[rng.integers(f)] + y) % k, rng.integers(k, size=rows)))
    return np.stack(columns, axis=1), y


def text_table(seed=0, rows=90, sizes=(7, 4, 3, 5, 3), classes=3, gaps=0.1):
    """The same as text, with values that only one row has, and gaps."""
    rng = np.random.default_rng(seed)
    codes, y = codes_table(seed, rows, sizes, classes)
    X = np.array([[f"v{code}" for code in row] for row in codes.tolist()], dtype=object)
    X[rng.random(X.shape) < gaps] = None
    for f in range(X.shape[1]):
        X[rng.integers(rows), f] = "rare"
    return X, np.array(["no", "yes", "maybe"], dtype=object)[y]


def new_rows(X, seed=0, number=40):
    """Known values in combinations of which some are new, values that were never seen, and gaps."""
    rng = np.random.default_rng(seed)
    mixed = np.stack([rng.choice(column, number) for column in X.T], axis=1)
    strange = mixed[: X.shape[1]].copy()
    np.fill_diagonal(strange, "never seen")
    gaps = mixed[: X.shape[1]].copy()
    np.fill_diagonal(gaps, None)
    last = np.array([["never seen"] * X.shape[1], [None] * X.shape[1]], dtype=object)
    return np.concatenate([X[:10], mixed, strange, gaps, last])


def cell_by_cell():
    """Tables of families without a line for every combination of codes."""
    return patch.multiple("hebnb.scores.tables", _SMALL_BLOCK=0, _SPARSEST_BLOCK=0)


def sparse_pairs():
    return patch("hebnb.counts.pairs.dense_fits", lambda *_: False)


class Slow:
    """The definition, one row and one feature at a time, on plain values; a None among them is a gap.

    ``parents`` and ``m``, the concentrations of every number of parents, of shape (C, F), are given.
    """

    def __init__(self, X, y, parents, m, *, backs_off, missing="category", weights=None, classes=None):
        weights = [1.0] * len(y) if weights is None else np.asarray(weights, dtype=float).tolist()
        rows = zip(np.asarray(X, dtype=object).tolist(), np.asarray(y).tolist(), weights, strict=True)
        self.rows = [row for row in rows if row[2] > 0]
        self.classes = sorted({label for _, label, _ in self.rows}) if classes is None else list(classes)
        self.parents, self.m, self.backs_off, self.missing = parents, m, backs_off, missing

    @classmethod
    def of(cls, model, X, y, weights=None, **other):
        settings = {"backs_off": model.score_tables_.rule.prior_mean == "marginal", "missing": model.missing}
        return cls(X, y, model.parents_, model.concentration_, weights=weights, **{**settings, **other})

    def known(self, value):
        return self.missing == "category" or value is not None

    def by_class(self, rows):
        weight = dict.fromkeys(self.classes, 0.0)
        for _, label, w in rows:
            weight[label] += w
        return list(weight.values())

    def log_prior(self):
        weight = self.by_class(self.rows)
        return np.array([math.log((w + 1) / (sum(weight) + len(weight))) for w in weight])

    def chance(self, f, row, most=99):
        """P(value | class, parents) for every class, the share of the prior in it, and given how many parents.

        The parents are the first ones whose values some row has together, and no more than ``most``; for a value that
        says nothing they are −1.
        """
        there = [r for r in self.rows if self.known(r[0][f])]
        same = [r for r in there if r[0][f] == row[f]]
        if not (self.known(row[f]) and same):
            return [1.0] * len(self.classes), [1.0] * len(self.classes), -1
        equal = 1 / len({values[f] for values, _, _ in there})
        theta = sum(self.by_class(same)) / sum(self.by_class(there)) if self.backs_off else equal
        prior, level = [theta] * len(self.classes), 0
        while True:
            m = [self.m[level][c][f] for c in range(len(self.classes))]
            counts = list(zip(self.by_class(same), self.by_class(there), prior, m, strict=True))
            p = [(n + strength * mean) / (total + strength) for n, total, mean, strength in counts]
            share = [strength / (total + strength) for _, total, _, strength in counts]
            if level == min(len(self.parents[f]), most):
                return p, share, level
            parent = self.parents[f][level]
            there, same = (
                [r for r in rows if self.known(row[parent]) and r[0][parent] == row[parent]] for rows in (there, same)
            )
            if not there:
                return p, share, level
            prior, level = p if self.backs_off else [equal] * len(p), level + 1

    def parts(self, row):
        """What every feature adds to the score of every class, of shape (F, C)."""
        return np.log([self.chance(f, row)[0] for f in range(len(self.parents))])

    def joint(self, rows):
        return np.array([self.log_prior() + self.parts(row).sum(axis=0) for row in rows.tolist()])

    def depths(self, rows):
        """How often a feature with so many parents was looked up given so many."""
        features = range(len(self.parents))
        return Counter((len(self.parents[f]), self.chance(f, row)[2]) for row in rows.tolist() for f in features)

    def best_concentration(self, level):
        """Of greatest likelihood for the families with at least so many parents, given those of fewer."""
        counts, totals, means = [], [], []
        for f, own in enumerate(self.parents):
            if len(own) < level:
                continue
            documents = {}
            for values, label, w in self.rows:
                if all(self.known(values[g]) for g in (f, *own[:level])):
                    document = documents.setdefault((label, *(values[parent] for parent in own[:level])), {})
                    n, _ = document.get(values[f], (0.0, None))
                    document[values[f]] = n + w, values
            for (label, *_), document in documents.items():
                totals.append(sum(n for n, _ in document.values()))
                for n, values in document.values():
                    p, _, depth = self.chance(f, values, most=level - 1)
                    assert depth == level - 1
                    equal = 1 / len({r[0][f] for r in self.rows if self.known(r[0][f])})
                    counts.append(n)
                    means.append(p[self.classes.index(label)] if self.backs_off else equal)
        counts, totals, means = np.array(counts), np.array(totals), np.array(means)
        assert totals.max() >= 10  # otherwise nothing is learned

        def loss(log_m):
            m = np.exp(log_m)
            rising = gammaln(counts + m * means) - gammaln(m * means)
            return -rising.sum() - np.sum(gammaln(m) - gammaln(totals + m))

        found = minimize_scalar(loss, bounds=np.log((1e-2, 1e4)), method="bounded", options={"xatol": 1e-10})
        return np.exp(found.x)


def slow_information(X, y, weights=None, missing="category"):
    """I(X_i; X_j | Y) in bits by scikit-learn, class by class, from the rows in which both are known.

    Weights are whole eighths: scikit-learn takes whole numbers, and the information in eight times a table is the same.
    """
    w = np.ones(len(y)) if weights is None else weights
    information = np.zeros((X.shape[1], X.shape[1]))
    for i, j in combinations(range(X.shape[1]), 2):
        both = np.array([missing == "category" or (a is not None and b is not None) for a, b in X[:, [i, j]]])
        for label in set(y[both].tolist()):
            here = both & (y == label)
            values = [{value: n for n, value in enumerate(set(X[here, f].tolist()))} for f in (i, j)]
            table = np.zeros([len(own) for own in values])
            for a, b, weight in zip(X[here, i], X[here, j], w[here], strict=True):
                table[values[0][a], values[1][b]] += weight
            assert_array_equal(8 * table % 1, 0)
            nats = mutual_info_score(None, None, contingency=(8 * table).astype(int))
            information[i, j] += table.sum() / w[both].sum() * nats / np.log(2)
    return information + information.T


def about_class(X, y, weights=None, missing="category"):
    """I(X; Y) in bits of every column: as if every row had the same class, and the class were a column."""
    with_class = np.column_stack([X, y]).astype(object)
    return slow_information(with_class, np.zeros(len(y)), weights, missing)[-1, :-1]


def edges(parents):
    return {frozenset((f, parent)) for f, own in enumerate(parents) for parent in own}


def spanning_trees(n):
    """Every tree of n nodes: every choice of parents for all nodes but the first that leads nobody in circles."""
    for choice in product(range(n), repeat=n - 1):
        above = dict(enumerate(choice, start=1))
        if all(_leads_to_root(f, above, n) for f in above):
            yield {frozenset(edge) for edge in above.items()}


def _leads_to_root(f, above, n):
    for _ in range(n):
        f = above.get(f, f)
    return f == 0


def tree_table(seed, tree, sizes, classes, rows=600):
    """Columns that each follow one other and the class; ``tree`` has the one that each follows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    columns = []
    for f, (follows, k) in enumerate(zip(tree, sizes, strict=True)):
        like = y if follows is None else columns[follows] + y
        columns.append(np.where(rng.random(rows) < 0.4 + 0.05 * f, like % k, rng.integers(k, size=rows)))
    return np.stack(columns, axis=1), y


def parents_by_weka(X, y, path):
    """The names of the parents of every column in the network that Weka finds, without the class."""
    columns = [*(f"f{f}" for f in range(X.shape[1])), "class"]
    table = np.column_stack([X, y])
    with path.open("w") as file:
        file.write("@relation table\n")
        for name, values in zip(columns, table.T, strict=True):
            file.write(f"@attribute {name} {{{','.join(f'v{value}' for value in sorted(set(values.tolist())))}}}\n")
        file.write("@data\n")
        file.writelines(",".join(f"v{value}" for value in row) + "\n" for row in table.tolist())
    search = ["-D", "-Q", "weka.classifiers.bayes.net.search.local.TAN", "--", "-S", "ENTROPY"]
    command = ["java", "-cp", str(WEKA), "weka.classifiers.bayes.BayesNet", "-t", str(path), "-no-cv", *search]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    _, _, network = printed.partition("nodes followed by parents)\n")
    found = dict(line.split(":") for line in network.splitlines()[: len(columns)])
    found = {node.partition("(")[0]: set(own.split()) - {"class"} for node, own in found.items()}
    assert set(found) == set(columns)
    return [tuple(int(parent[1:]) for parent in found[name]) for name in columns[:-1]]


class TestTree:
    @pytest.mark.skipif(
        shutil.which("java") is None or not WEKA.exists(), reason=f"Weka is not installed: java or {WEKA} is not there"
    )
    @pytest.mark.parametrize(
        ("tree", "sizes", "classes"),
        [
            ((None, 0, 0), (3, 4, 2), 2),
            ((None, 0, 0, 1, 3), (4, 3, 5, 3, 4), 3),
            ((None, 0, 1, 2, 1, 0), (3, 4, 3, 5, 4, 3), 2),
        ],
    )
    def test_is_the_one_that_weka_finds(self, tree, sizes, classes, tmp_path):
        X, y = tree_table(0, tree, sizes, classes)
        upper = slow_information(X, y)[np.triu_indices(len(tree), 1)]
        assert np.diff(np.sort(upper)).min() > 1e-6
        theirs = edges(parents_by_weka(X, y, tmp_path / "table.arff"))
        assert edges(TAN().fit(X, y).parents_) == theirs
        assert theirs == edges([() if follows is None else (follows,) for follows in tree])

    @pytest.mark.parametrize("seed", range(8))
    def test_no_other_is_heavier(self, seed):
        X, y = codes_table(seed)
        weight = slow_information(X, y)
        parents = TAN().fit(X, y).parents_
        trees = list(spanning_trees(5))
        assert len(trees) == 5**3  # Cayley
        heaviest = max(trees, key=lambda tree: sum(weight[tuple(edge)] for edge in tree))
        assert edges(parents) == heaviest
        assert parents.index(()) == np.argmax(about_class(X, y))
        assert sorted(map(len, parents)) == [0, 1, 1, 1, 1]

    @pytest.mark.parametrize("held", ["dense", "sparse"])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    def test_information_is_that_of_scikit_learn(self, held, weighted, missing):
        X, y = text_table(gaps=0.2)
        weights = np.random.default_rng(1).integers(1, 24, len(y)) / 8 if weighted else None
        model = TAN(missing=missing)
        with patch("hebnb.counts.pairs.dense_fits", lambda *_: held == "dense"):
            counts = model.count(X, y, weights)
            a, b = (model.count(X[half], y[half], w) for half, w in halves(weights, len(y)))
            both = a + b
        assert isinstance(both.pairs, DensePairs if held == "dense" else SparsePairs)
        expected = slow_information(X, y, weights, missing)
        assert expected.max() > 0.1
        assert_allclose(conditional_mutual_information(counts), expected, atol=1e-10)
        assert_allclose(conditional_mutual_information(both), expected, atol=1e-10)

    def test_a_column_of_gaps_tells_nothing(self):
        X, y = text_table()
        X[:, 1] = None
        X[:, 3] = "constant"
        model = TAN(missing="ignore")
        with pytest.warns(UserWarning, match="every value is missing"):
            model.fit(X, y)
        assert_allclose(conditional_mutual_information(model.counts_)[[1, 3]], 0, atol=1e-12)
        assert model.parents_[1] == ()
        assert not any(1 in own for own in model.parents_)

    @pytest.mark.parametrize("table", ["constant", "factorial"])
    def test_an_independent_column_has_no_parent(self, table):
        if table == "factorial":  # every combination of values and class once
            rows = np.array(list(product(range(3), range(5), range(7), range(2))))
            assert TAN().fit(rows[:, :3], rows[:, 3]).parents_ == [(), (), ()]
            return
        for seed in range(20):
            X, y = codes_table(seed)
            parents = TAN().fit(np.column_stack([X, np.zeros(len(y), dtype=int)]), y).parents_
            assert parents[-1] == ()
            assert not any(5 in own for own in parents)

    def test_of_equals_the_first_is_the_parent_whatever_the_names(self):
        for seed in range(100):
            rng = np.random.default_rng(seed)
            y, a = rng.integers(2, size=100), rng.integers(4, size=100)
            follows = np.where(rng.random(100) < 0.6, a, rng.integers(4, size=100))
            trees = [
                TAN().fit(np.stack([follows, a, names[a]], axis=1), y).parents_
                for names in (np.arange(4), rng.permutation(4))
            ]
            assert trees[0] == trees[1]


def halves(weights, n):
    for half in (slice(None, n // 3), slice(n // 3, None)):
        yield half, None if weights is None else weights[half]


class TestScores:
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_follow_the_definition(self, smoothing, missing):
        X, y = text_table()
        new = new_rows(X)
        model = TAN(smoothing, missing=missing).fit(X, y)
        slow = Slow.of(model, X, y)
        assert {(1, 1), (1, 0), (1, -1)} <= set(slow.depths(new))
        expected = slow.joint(new)
        assert_allclose(model.predict_joint_log_proba(new), expected, atol=1e-10)
        with cell_by_cell():
            model.fit(X, y)
        assert_allclose(model.predict_joint_log_proba(new), expected, atol=1e-10)

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_follow_the_definition_with_weights_and_an_empty_class(self, smoothing):
        X, y = text_table(1)
        weights = np.random.default_rng(1).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
        classes = ["absent", "maybe", "no", "yes"]
        model = TAN(smoothing).partial_fit(X, y, classes=classes, sample_weight=weights)
        new = new_rows(X)
        slow = Slow.of(model, X, y, weights, classes=classes)
        assert_allclose(model.predict_joint_log_proba(new), slow.joint(new), atol=1e-10)

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_chances_of_all_rows_sum_to_one(self, smoothing):
        """Of every combination of values, those never seen included: the model is a distribution."""
        X, y = codes_table(rows=60, sizes=(3, 4, 2, 5))
        grid = np.array(list(product(*(sorted(set(column.tolist())) for column in X.T))))
        model = TAN(smoothing).fit(X, y)
        joint = np.exp(model.predict_joint_log_proba(grid))
        assert len(grid) == 3 * 4 * 2 * 5
        assert_allclose(joint.sum(axis=0), np.exp(model.class_log_prior_), rtol=1e-12)

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_sparse_and_dense_pairs_agree(self, smoothing):
        X, y = text_table()
        new = new_rows(X)
        dense = TAN(smoothing).fit(X, y)
        with sparse_pairs():
            sparse = TAN(smoothing).fit(X, y)
        assert isinstance(sparse.counts_.pairs, SparsePairs)
        assert {np.sign(own[0] - f) for f, own in enumerate(dense.parents_) if own} == {-1, 1}  # before and after
        assert sparse.parents_ == dense.parents_
        assert_allclose(sparse.concentration_, dense.concentration_, rtol=1e-10)
        assert_allclose(sparse.predict_joint_log_proba(new), dense.predict_joint_log_proba(new), atol=1e-10)

    @pytest.mark.parametrize("weighting", ["sqrt-mi", "loo"])
    def test_weights_are_exponents(self, weighting):
        X, y = text_table(3)
        new = new_rows(X)
        model = TAN(weighting=weighting).fit(X, y)
        slow = Slow.of(model, X, y)
        parts = np.array([slow.parts(row) for row in new.tolist()])
        expected = slow.log_prior() + model.class_offsets_ + np.tensordot(parts, model.feature_weights_, (1, 0))
        assert_allclose(model.predict_joint_log_proba(new), expected, atol=1e-9)
        if weighting == "sqrt-mi":
            assert_allclose(model.feature_weights_, np.sqrt(about_class(X, y)), atol=1e-9)
        else:
            assert not np.allclose(model.feature_weights_, 1)


class TestConcentrations:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", ["heb-m", "heb-u"])
    def test_one_for_all_families_has_the_greatest_likelihood(self, smoothing, missing, weighted):
        X, y = text_table(rows=200)
        weights = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
        model = TAN(smoothing, missing=missing).fit(X, y, weights)
        alone, given_parent = model.concentration_
        naive = NaiveBayes(smoothing, missing=missing).fit(X, y, weights)
        assert_allclose(alone, naive.concentration_, rtol=1e-12)
        root = model.parents_.index(())
        assert np.isnan(given_parent[:, root]).all()
        learned = np.delete(given_parent, root, axis=1)
        assert_array_equal(learned, learned[0, 0])
        assert 0.02 < learned[0, 0] < 5e3
        assert_allclose(learned[0, 0], Slow.of(model, X, y, weights).best_concentration(1), rtol=1e-4)

    def test_too_few_rows_to_learn_from(self):
        """No nine rows tell of a concentration; it is the number of categories."""
        rng = np.random.default_rng(0)
        X = np.concatenate([rng.permuted(np.tile([[0], [1], [2]], (1, 3)), axis=0) for _ in range(3)])
        y = np.arange(9) % 2
        model = TAN().fit(X, y)
        assert [len(categories) for categories in model.categories_] == [3, 3, 3]
        for level, m in enumerate(model.concentration_):
            assert_array_equal(m[:, [len(own) >= level for own in model.parents_]], 3)

    @pytest.mark.parametrize("alpha", [1.0, 0.1])
    def test_additive_smoothing_adds_to_every_category(self, alpha):
        X, y = text_table()
        model = TAN(Additive(alpha)).fit(X, y)
        for level, m in enumerate(model.concentration_):
            for f, own in enumerate(model.parents_):
                expected = alpha * len(set(X[:, f])) if len(own) >= level else np.nan
                assert_allclose(m[:, f], expected, rtol=1e-12)


def left_out(model, X, y, weights):
    """The probabilities of every row by the definition, without one of the row."""
    w = np.ones(len(y)) if weights is None else weights
    proba = []
    for row in range(len(y)):
        rest = w - np.where(np.arange(len(y)) == row, np.minimum(w, 1), 0)
        slow = Slow.of(model, X, y, rest, classes=model.classes_.tolist())
        parts = slow.parts(X[row].tolist())
        proba.append(softmax(slow.log_prior() + model.class_offsets_ + model.feature_weights_ @ parts))
    return proba


class TestLeaveOneOut:
    @pytest.mark.parametrize("weights", [None, "fractions"])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_equals_the_definition_without_the_row(self, smoothing, missing, weights):
        X, y = text_table(rows=50)
        w = np.random.default_rng(0).uniform(0.2, 2.5, len(y)) if weights else None
        model = TAN(smoothing, missing=missing).fit(X, y, w)
        assert all((X[:, f] == "rare").sum() == 1 for f in range(X.shape[1]))  # unseen without its row
        assert_allclose(model.loo_predict_proba(X, y, w), left_out(model, X, y, w), atol=1e-10)

    def test_with_learned_weights(self):
        X, y = text_table(4, rows=50)
        model = TAN(weighting="loo").fit(X, y)
        assert not np.allclose(model.feature_weights_, 1)
        assert_allclose(model.loo_predict_proba(X, y), left_out(model, X, y, None), atol=1e-10)

    def test_sparse_pairs(self):
        X, y = text_table(2, rows=50)
        with sparse_pairs():
            model = TAN("laplace").fit(X, y)
        assert any(own and own[0] > f for f, own in enumerate(model.parents_))
        assert_allclose(model.loo_predict_proba(X, y), left_out(model, X, y, None), atol=1e-10)


def check_explained(model, X, y, new):
    """Contributions are those of the definition and sum to the score; so are the shares of the prior."""
    told = model.explain(new)
    n_classes, n_features = len(model.classes_), X.shape[1]
    lines = len(new), n_classes, n_features + 1
    contribution = told["contribution"].reshape(lines)
    assert_allclose(contribution.sum(axis=2), model.predict_joint_log_proba(new), atol=1e-10)
    slow = Slow.of(model, X, y)
    parts = np.array([slow.parts(row) for row in new.tolist()])
    assert_allclose(contribution[:, :, 1:], parts.transpose(0, 2, 1), atol=1e-10)
    shares = [[slow.chance(f, row)[1] for f in range(n_features)] for row in new.tolist()]
    assert_allclose(told["shrinkage"].reshape(lines)[:, :, 1:], np.array(shares).transpose(0, 2, 1), atol=1e-10)


class TestLaws:
    pytestmark = pytest.mark.filterwarnings("ignore::hebnb.TableWarning")

    @given(rows=ROWS, data=st.data(), smoothing=st.sampled_from(SMOOTHINGS))
    @examples(40)
    def test_the_order_of_rows_does_not_matter(self, rows, data, smoothing):
        X, y = split(rows)
        shuffled, labels = split(data.draw(st.permutations(rows)))
        new = np.concatenate([X, [["?", 9, "m"], [None, None, None]]])
        model, other = TAN(smoothing).fit(X, y), TAN(smoothing).fit(shuffled, labels)
        assert model.parents_ == other.parents_
        assert_array_equal(model.predict_joint_log_proba(new), other.predict_joint_log_proba(new))
        assert_allclose(model.predict_proba(new).sum(axis=1), 1, rtol=1e-12)

    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    @pytest.mark.parametrize("seed", range(3))
    def test_the_names_of_categories_do_not_matter(self, seed, smoothing):
        X, y = text_table(seed)
        names = {value: str(n) for n, value in enumerate(np.random.default_rng(seed).permutation(list(set(X.flat))))}
        names[None] = None
        renamed = np.vectorize(names.get, otypes=[object])(X)
        model, other = TAN(smoothing).fit(X, y), TAN(smoothing).fit(renamed, y)
        assert model.parents_ == other.parents_
        assert_allclose(model.predict_joint_log_proba(X), other.predict_joint_log_proba(renamed), atol=1e-9)

    @given(rows=ROWS, data=st.data())
    @examples(40)
    def test_counts_of_shards_add_up(self, rows, data):
        cuts = sorted(data.draw(st.lists(st.integers(1, len(rows) - 1), min_size=1, max_size=2)))
        X, y = split(rows)
        parts = [part for part in np.split(np.arange(len(rows)), cuts) if len(part)]
        whole, batches, counts = TAN().fit(X, y), TAN(), []
        for part in parts:
            batches.partial_fit(X[part], y[part])
            counts.append(TAN().count(X[part], y[part]))
        added = TAN().fit_counts(sum(counts[1:], start=counts[0]))
        for model in (batches, added):
            assert model.parents_ == whole.parents_
            assert_allclose(model.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), atol=1e-12)

    def test_three_batches(self):
        X, y = text_table(5)
        new = new_rows(X)
        whole, batches = TAN().fit(X, y), TAN()
        for part in np.array_split(np.arange(len(y)), 3):
            batches.partial_fit(X[part], y[part])
        assert batches.parents_ == whole.parents_
        assert_allclose(batches.concentration_, whole.concentration_, rtol=1e-12)
        assert_allclose(batches.predict_joint_log_proba(new), whole.predict_joint_log_proba(new), rtol=1e-12)

    @given(rows=ROWS, data=st.data())
    @examples(40)
    def test_a_weight_is_a_number_of_rows(self, rows, data):
        X, y = split(rows)
        weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
        weights[0] = 1
        weighted = TAN().fit(X, y, sample_weight=weights)
        repeated = TAN().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.parents_ == repeated.parents_
        assert_allclose(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-10)

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", ["heb-m", "laplace"])
    def test_explanations_sum_to_the_score(self, smoothing, missing):
        X, y = text_table(6)
        check_explained(TAN(smoothing, missing=missing).fit(X, y), X, y, new_rows(X, number=10))

    @pytest.mark.parametrize("model", [TAN(), TAN("laplace", missing="ignore"), TAN(weighting="loo")], ids=repr)
    def test_a_saved_model_comes_back(self, model, tmp_path):
        X, y = text_table(7)
        new = new_rows(X)
        save(model.fit(X, y), tmp_path / "model.skops")
        loaded = load(tmp_path / "model.skops")
        assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))
        assert_array_equal(loaded.loo_predict_proba(X, y), model.loo_predict_proba(X, y))
        assert loaded.parents_ == model.parents_

    def test_dropped_categories_are_gaps(self):
        X, y = text_table(8, gaps=0)
        limited = TAN(max_categories=3).fit(X, y)
        kept = [set(categories) for categories in limited.categories_]
        cut = np.array([[v if v in own else None for v, own in zip(row, kept, strict=True)] for row in X])
        ignoring = TAN(missing="ignore").fit(cut, y)
        assert (cut == None).any()  # noqa: E711
        assert limited.parents_ == ignoring.parents_
        assert_allclose(limited.predict_joint_log_proba(X), ignoring.predict_joint_log_proba(cut), atol=1e-10)

    def test_bins_are_categories(self):
        X, y = codes_table(9)
        cut = TAN(numeric_features=[0, 1, 2, 3, 4], bin_edges={f: [0.5, 1.5, 2.5, 3.5, 9] for f in range(5)})
        numbers, names = X.astype(float), np.array(list("abcdefghij"), dtype=object)[X]
        model, text = cut.fit(numbers, y), TAN().fit(names, y)
        assert model.parents_ == text.parents_
        assert_allclose(model.predict_joint_log_proba(numbers), text.predict_joint_log_proba(names), atol=1e-7)
        empty, unseen = numbers[:5] + 20 * np.eye(5), names[:5].copy()
        np.fill_diagonal(unseen, "never seen")
        assert_allclose(model.predict_joint_log_proba(empty), text.predict_joint_log_proba(unseen), atol=1e-7)


class TestOddTables:
    pytestmark = pytest.mark.filterwarnings("ignore::hebnb.TableWarning")

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    @pytest.mark.parametrize("table", ODD_TABLES)
    def test_sensible_probabilities(self, table, smoothing, missing):
        X, y = (np.array(part, dtype=object) for part in ODD_TABLES[table])
        model = TAN(smoothing, missing=missing).fit(X, y)
        new = new_rows(X, number=10)
        assert_allclose(model.predict_joint_log_proba(new), Slow.of(model, X, y).joint(new), atol=1e-10)
        assert_allclose(model.predict_proba(new).sum(axis=1), 1, rtol=1e-12)
        assert_allclose(model.loo_predict_proba(X, y), left_out(model, X, y, None), atol=1e-10)

    @pytest.mark.parametrize("table", ODD_TABLES)
    def test_learned_weights(self, table):
        X, y = (np.array(part, dtype=object) for part in ODD_TABLES[table])
        model = TAN(weighting="loo").fit(X, y)
        for proba in (model.predict_proba(new_rows(X)), model.loo_predict_proba(X, y)):
            assert np.isfinite(proba).all()
            assert_allclose(proba.sum(axis=1), 1)

    def test_one_column_is_naive_bayes(self):
        X, y = text_table()
        model, naive = TAN().fit(X[:, :1], y), NaiveBayes().fit(X[:, :1], y)
        assert model.parents_ == [()]
        assert_array_equal(model.predict_proba(X[:, :1]), naive.predict_proba(X[:, :1]))

    def test_rows_of_no_weight_are_not_there(self):
        X, y = text_table()
        weights = np.random.default_rng(0).integers(0, 2, len(y))
        weighted, fewer = TAN().fit(X, y, sample_weight=weights), TAN().fit(X[weights > 0], y[weights > 0])
        assert weighted.parents_ == fewer.parents_
        assert_array_equal(weighted.predict_proba(X), fewer.predict_proba(X))
        proba = weighted.loo_predict_proba(X, y, sample_weight=weights)
        assert_allclose(proba[weights == 0], weighted.predict_proba(X)[weights == 0], atol=1e-12)

    def test_memory_is_estimated_before_it_is_taken(self):
        X, y = codes_table(sizes=(40, 50, 60), rows=3000)
        with pytest.raises(InputError, match=r"(?s)TAN needs about .* MB.*raise memory_limit"):
            TAN(memory_limit=1000).fit(X, y)

    def test_other_counts_are_refused(self):
        X, y = text_table()
        with pytest.raises(InputError, match="TAN learns from PairCounts, not from Counts"):
            TAN().fit_counts(NaiveBayes().count(X, y))

    def test_counts_that_lack_pairs_are_refused(self):
        X, y = codes_table()
        with sparse_pairs():
            counts = AODE(max_joint_cells=0).count(X, y)
        with pytest.raises(InputError):
            TAN().fit_counts(counts)
