"""KDB against Sahami's algorithm and slow references, and its laws."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from test_tan import (
    ODD_TABLES,
    ROWS,
    SMOOTHINGS,
    Slow,
    about_class,
    cell_by_cell,
    check_explained,
    codes_table,
    left_out,
    new_rows,
    slow_information,
    sparse_pairs,
    split,
    text_table,
)

from conftest import examples
from hebnb import KDB, TAN, Additive, InputError, NaiveBayes, ParameterError, load, save


def sahami(X, y, k, weights=None, missing="category"):
    """The parents of every column: the algorithm of the paper, a column at a time."""
    telling, shared = about_class(X, y, weights, missing), slow_information(X, y, weights, missing)
    left, used, parents = set(range(X.shape[1])), [], {}
    while left:
        best = max(left, key=lambda f: telling[f])
        own = []
        while len(own) < min(k, len(used)):
            own.append(max(set(used) - set(own), key=lambda g: shared[best, g]))
        parents[best] = tuple(own)
        used.append(best)
        left.remove(best)
    return [parents[f] for f in range(X.shape[1])]


def family_cells(X, y, child, parents, missing="category"):
    """How often every (value, values of the parents, class) occurs among rows whose child is known."""
    rows = [(*(row[f] for f in (child, *parents)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    return Counter(row for row in rows if missing == "category" or row[0] is not None)


def counted_cells(model, child):
    """The same from a model's counts; what is silent is None."""
    (cells,) = (cells for cells in model.counts_.cells if cells.child == child)
    labels = [[*model.categories_[f].tolist(), None] for f in (cells.child, *cells.parents)]
    found = Counter()
    for codes, counts in zip(cells.codes.tolist(), cells.count.tolist(), strict=True):
        values = [own[code] for own, code in zip(labels, codes, strict=True)]
        for label, count in zip(model.classes_.tolist(), counts, strict=True):
            assert (*values, label) not in found
            if count:
                found[*values, label] = count
    return found


class TestParents:
    @pytest.mark.parametrize("k", [0, 1, 2, 3])
    @pytest.mark.parametrize("seed", range(4))
    def test_are_those_of_the_paper(self, k, seed):
        X, y = codes_table(seed)
        parents = KDB(k).fit(X, y).parents_
        assert parents == sahami(X, y, k)
        assert sorted(map(len, parents)) == sorted(min(k, place) for place in range(5))

    @pytest.mark.parametrize("k", [1, 2, 3])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    def test_with_gaps_and_weights(self, k, missing):
        X, y = text_table(1, gaps=0.2)
        weights = np.random.default_rng(1).integers(0, 24, len(y)) / 8
        expected = sahami(X, y, k, weights, missing)
        assert KDB(k, missing=missing).fit(X, y, weights).parents_ == expected
        with sparse_pairs():
            assert KDB(k, missing=missing).fit(X, y, weights).parents_ == expected

    def test_more_than_there_are(self):
        X, y = text_table()
        most, more = KDB(4).fit(X, y), KDB(99).fit(X, y)
        assert most.parents_ == more.parents_
        assert sorted(map(len, most.parents_)) == [0, 1, 2, 3, 4]
        assert_array_equal(most.predict_proba(X), more.predict_proba(X))

    @pytest.mark.parametrize("smoothing", [*SMOOTHINGS, "lidstone", "kt", "m-estimate"])
    def test_without_any_it_is_naive_bayes(self, smoothing):
        X, y = text_table()
        new = new_rows(X)
        naive, model = NaiveBayes(smoothing).fit(X, y), KDB(0, smoothing).fit(X, y)
        assert_allclose(model.predict_joint_log_proba(new), naive.predict_joint_log_proba(new), rtol=1e-12)
        assert_allclose(model.loo_predict_proba(X, y), naive.loo_predict_proba(X, y), rtol=1e-12)
        assert_array_equal(*model.concentration_, naive.concentration_)

    @given(rows=ROWS, smoothing=st.sampled_from(SMOOTHINGS))
    @examples(30)
    def test_of_two_columns_it_is_a_tree(self, rows, smoothing):
        X, y = split(rows)
        X = X[:, 1:]
        tree, model = TAN(smoothing).fit(X, y), KDB(1, smoothing).fit(X, y)
        assert tree.parents_ == model.parents_
        assert_allclose(model.predict_joint_log_proba(X), tree.predict_joint_log_proba(X), rtol=1e-12)

    @pytest.mark.parametrize("table", ["constant", "factorial"])
    def test_an_independent_column_has_none(self, table):
        if table == "factorial":  # every combination of values and class once
            rows = np.array(list(product(range(3), range(5), range(7), range(2))))
            assert KDB().fit(rows[:, :3], rows[:, 3]).parents_ == [(), (), ()]
            return
        for seed in range(20):
            X, y = codes_table(seed)
            parents = KDB().fit(np.column_stack([X, np.zeros(len(y), dtype=int)]), y).parents_
            assert parents[-1] == ()
            assert not any(5 in own for own in parents)

    @pytest.mark.parametrize("k", [-1, 1.5, True, "2", None])
    def test_a_number_that_is_none(self, k):
        with pytest.raises(ParameterError, match="must be an integer that is not negative"):
            KDB(k).fit([["a"], ["b"]], [0, 1])

    def test_numbers_of_numpy(self):
        X, y = text_table()
        assert KDB(np.int64(1)).fit(X, y).parents_ == KDB(1).fit(X, y).parents_


class TestScores:
    @pytest.mark.parametrize("k", [1, 2, 3])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_follow_the_definition(self, smoothing, missing, k):
        X, y = text_table()
        new = new_rows(X)
        model = KDB(k, smoothing, missing=missing).fit(X, y)
        slow = Slow.of(model, X, y)
        assert {(k, depth) for depth in range(-1, k + 1)} <= set(slow.depths(new))
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
        model = KDB(2, smoothing).partial_fit(X, y, classes=classes, sample_weight=weights)
        new = new_rows(X)
        slow = Slow.of(model, X, y, weights, classes=classes)
        assert_allclose(model.predict_joint_log_proba(new), slow.joint(new), atol=1e-10)

    @pytest.mark.parametrize("k", [1, 2, 3])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_chances_of_all_rows_sum_to_one(self, smoothing, k):
        """Of every combination of values, those never seen included: the model is a distribution."""
        X, y = codes_table(rows=60, sizes=(3, 4, 2, 5))
        grid = np.array(list(product(*(sorted(set(column.tolist())) for column in X.T))))
        model = KDB(k, smoothing).fit(X, y)
        joint = np.exp(model.predict_joint_log_proba(grid))
        assert len(grid) == 3 * 4 * 2 * 5
        assert_allclose(joint.sum(axis=0), np.exp(model.class_log_prior_), rtol=1e-12)

    @pytest.mark.parametrize("weighting", ["sqrt-mi", "loo"])
    def test_weights_are_exponents(self, weighting):
        X, y = text_table(3)
        new = new_rows(X)
        model = KDB(weighting=weighting).fit(X, y)
        slow = Slow.of(model, X, y)
        parts = np.array([slow.parts(row) for row in new.tolist()])
        expected = slow.log_prior() + model.class_offsets_ + np.tensordot(parts, model.feature_weights_, (1, 0))
        assert_allclose(model.predict_joint_log_proba(new), expected, atol=1e-9)
        if weighting == "sqrt-mi":
            assert_allclose(model.feature_weights_, np.sqrt(about_class(X, y)), atol=1e-9)
        else:
            assert not np.allclose(model.feature_weights_, 1)

    @pytest.mark.filterwarnings("ignore:In every column:hebnb.TableWarning")
    def test_many_parents_of_many_categories(self):
        """256⁸ combinations of the codes of eight parents."""
        rng = np.random.default_rng(0)
        X, y = np.stack([rng.permutation(255) for _ in range(9)], axis=1), np.arange(255) % 2
        model = KDB(8, "laplace").fit(X, y)
        assert max(map(len, model.parents_)) == 8
        assert_allclose(model.predict_joint_log_proba(X[:5]), Slow.of(model, X, y).joint(X[:5]), atol=1e-10)


class TestConcentrations:
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", ["heb-m", "heb-u"])
    def test_one_for_every_level_has_the_greatest_likelihood(self, smoothing, missing):
        X, y = text_table(rows=300)
        weights = np.random.default_rng(1).uniform(0.2, 3, len(y))
        model = KDB(3, smoothing, missing=missing).fit(X, y, weights)
        assert len(model.concentration_) == 4
        naive = NaiveBayes(smoothing, missing=missing).fit(X, y, weights)
        assert_allclose(model.concentration_[0], naive.concentration_, rtol=1e-12)
        slow = Slow.of(model, X, y, weights)
        for level, m in enumerate(model.concentration_[1:], start=1):
            here = np.array([len(own) >= level for own in model.parents_])
            assert np.isnan(m[:, ~here]).all()
            assert_array_equal(m[:, here], m[0, here][0])
            assert 0.02 < m[0, here][0] < 5e3
            assert_allclose(m[0, here][0], slow.best_concentration(level), rtol=1e-4)

    @pytest.mark.parametrize("alpha", [1.0, 0.1])
    def test_additive_smoothing_adds_to_every_category(self, alpha):
        X, y = text_table()
        model = KDB(3, Additive(alpha)).fit(X, y)
        for level, m in enumerate(model.concentration_):
            for f, own in enumerate(model.parents_):
                expected = alpha * len(set(X[:, f])) if len(own) >= level else np.nan
                assert_allclose(m[:, f], expected, rtol=1e-12)


class TestLeaveOneOut:
    @pytest.mark.parametrize("weights", [None, "fractions"])
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    def test_equals_the_definition_without_the_row(self, smoothing, missing, weights):
        X, y = text_table(rows=50)
        w = np.random.default_rng(0).uniform(0.2, 2.5, len(y)) if weights else None
        model = KDB(2, smoothing, missing=missing).fit(X, y, w)
        assert all((X[:, f] == "rare").sum() == 1 for f in range(X.shape[1]))  # unseen without its row
        assert_allclose(model.loo_predict_proba(X, y, w), left_out(model, X, y, w), atol=1e-10)

    @pytest.mark.parametrize("k", [1, 3])
    def test_with_learned_weights(self, k):
        X, y = text_table(4, rows=50)
        model = KDB(k, weighting="loo").fit(X, y)
        assert not np.allclose(model.feature_weights_, 1)
        assert_allclose(model.loo_predict_proba(X, y), left_out(model, X, y, None), atol=1e-10)


class TestBatches:
    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_keep_the_parents_of_the_first(self, k, missing):
        X, y = text_table(5)
        new = new_rows(X)
        first = KDB(k, missing=missing).fit(X[:20], y[:20])
        model = KDB(k, missing=missing)
        for part in (slice(20), slice(20, 60), slice(60, None)):
            model.partial_fit(X[part], y[part])
        assert model.parents_ == first.parents_ != KDB(k, missing=missing).fit(X, y).parents_
        for f, own in enumerate(model.parents_):
            if own:
                assert counted_cells(model, f) == family_cells(X, y, f, own, missing)
        slow = Slow.of(model, X, y)
        assert_allclose(model.predict_joint_log_proba(new), slow.joint(new), atol=1e-10)
        m = model.concentration_[1]
        assert_allclose(m[np.isfinite(m)], slow.best_concentration(1), rtol=1e-4)

    def test_are_the_whole_where_it_has_the_same_parents(self):
        X, y = codes_table(6, rows=2000)
        whole, batches = KDB().fit(X, y), KDB()
        for part in (slice(1000), slice(1000, 1300), slice(1300, None)):
            batches.partial_fit(X[part], y[part])
        assert batches.parents_ == whole.parents_
        assert_allclose(batches.concentration_, whole.concentration_, rtol=1e-12)
        assert_allclose(batches.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-12)

    def test_new_categories_classes_and_gaps(self):
        """Codes of later batches mean other things, silent parents included."""
        X, y = text_table(7, gaps=0)
        X[40:][np.random.default_rng(0).random((50, 5)) < 0.2] = None
        X[40:, 0] = ["a" + str(value) for value in X[40:, 0]]  # before all others
        y[:40] = np.where(y[:40] == "maybe", "no", y[:40])
        for missing in ("category", "ignore"):
            model = KDB(2, "laplace", missing=missing).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
            assert model.classes_.tolist() == ["maybe", "no", "yes"]
            for f, own in enumerate(model.parents_):
                if own:
                    assert counted_cells(model, f) == family_cells(X, y, f, own, missing)
            new = new_rows(X)
            assert_allclose(model.predict_joint_log_proba(new), Slow.of(model, X, y).joint(new), atol=1e-10)

    def test_counts_of_other_parents_do_not_add(self):
        X, y = text_table(5)
        model = KDB()
        one, other = model.count(X[:20], y[:20]), model.count(X[20:], y[20:])
        assert one.parents != other.parents
        with pytest.raises(InputError, match=r"(?s)different families.*other parents.*partial_fit"):
            one + other

    def test_counts_of_the_same_parents_add(self):
        X, y = codes_table(9, rows=2000)
        X[1999, 1] = -7  # a category that only one of them has
        one, other = (KDB().count(X[part], y[part]) for part in (slice(900), slice(900, None)))
        assert one.parents == other.parents
        added, whole = KDB().fit_counts(one + other), KDB().fit(X, y)
        assert added.parents_ == whole.parents_
        assert_allclose(added.concentration_, whole.concentration_, rtol=1e-12)
        assert_allclose(added.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-12)

    def test_other_counts_are_refused(self):
        X, y = text_table()
        with pytest.raises(InputError, match="KDB learns from FamilyCounts, not from PairCounts"):
            KDB().fit_counts(TAN().count(X, y))


class TestLaws:
    pytestmark = pytest.mark.filterwarnings("ignore::hebnb.TableWarning")

    @given(rows=ROWS, data=st.data(), smoothing=st.sampled_from(SMOOTHINGS))
    @examples(40)
    def test_the_order_of_rows_does_not_matter(self, rows, data, smoothing):
        X, y = split(rows)
        shuffled, labels = split(data.draw(st.permutations(rows)))
        new = np.concatenate([X, [["?", 9, "m"], [None, None, None]]])
        model, other = KDB(2, smoothing).fit(X, y), KDB(2, smoothing).fit(shuffled, labels)
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
        model, other = KDB(2, smoothing).fit(X, y), KDB(2, smoothing).fit(renamed, y)
        assert model.parents_ == other.parents_
        assert_allclose(model.predict_joint_log_proba(X), other.predict_joint_log_proba(renamed), atol=1e-9)

    @given(rows=ROWS, data=st.data())
    @examples(40)
    def test_a_weight_is_a_number_of_rows(self, rows, data):
        X, y = split(rows)
        weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
        weights[0] = 1
        weighted = KDB().fit(X, y, sample_weight=weights)
        repeated = KDB().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.parents_ == repeated.parents_
        assert_allclose(weighted.predict_joint_log_proba(X), repeated.predict_joint_log_proba(X), rtol=1e-10)

    @given(rows=ROWS, smoothing=st.sampled_from(SMOOTHINGS), missing=st.sampled_from(["category", "ignore"]))
    @examples(40)
    def test_small_tables_follow_the_definition(self, rows, smoothing, missing):
        X, y = split(rows)
        model = KDB(2, smoothing, missing=missing).fit(X, y)
        new = new_rows(X, number=10)
        assert_allclose(model.predict_joint_log_proba(new), Slow.of(model, X, y).joint(new), atol=1e-10)

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", ["heb-m", "laplace"])
    def test_explanations_sum_to_the_score(self, smoothing, missing):
        X, y = text_table(6)
        check_explained(KDB(2, smoothing, missing=missing).fit(X, y), X, y, new_rows(X, number=10))

    @pytest.mark.parametrize(
        "model", [KDB(), KDB(3, "laplace", missing="ignore"), KDB(0), KDB(weighting="loo")], ids=repr
    )
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
        limited = KDB(max_categories=3).fit(X, y)
        kept = [set(categories) for categories in limited.categories_]
        cut = np.array([[v if v in own else None for v, own in zip(row, kept, strict=True)] for row in X])
        ignoring = KDB(missing="ignore").fit(cut, y)
        assert (cut == None).any()  # noqa: E711
        assert limited.parents_ == ignoring.parents_
        assert_allclose(limited.predict_joint_log_proba(X), ignoring.predict_joint_log_proba(cut), atol=1e-10)


class TestOddTables:
    pytestmark = pytest.mark.filterwarnings("ignore::hebnb.TableWarning")

    @pytest.mark.parametrize("missing", ["category", "ignore"])
    @pytest.mark.parametrize("smoothing", SMOOTHINGS)
    @pytest.mark.parametrize("table", ODD_TABLES)
    def test_sensible_probabilities(self, table, smoothing, missing):
        X, y = (np.array(part, dtype=object) for part in ODD_TABLES[table])
        model = KDB(2, smoothing, missing=missing).fit(X, y)
        new = new_rows(X, number=10)
        assert_allclose(model.predict_joint_log_proba(new), Slow.of(model, X, y).joint(new), atol=1e-10)
        assert_allclose(model.predict_proba(new).sum(axis=1), 1, rtol=1e-12)
        assert_allclose(model.loo_predict_proba(X, y), left_out(model, X, y, None), atol=1e-10)

    @pytest.mark.parametrize("table", ODD_TABLES)
    def test_learned_weights(self, table):
        X, y = (np.array(part, dtype=object) for part in ODD_TABLES[table])
        model = KDB(weighting="loo").fit(X, y)
        for proba in (model.predict_proba(new_rows(X)), model.loo_predict_proba(X, y)):
            assert np.isfinite(proba).all()
            assert_allclose(proba.sum(axis=1), 1)

    def test_rows_of_no_weight_are_not_there(self):
        X, y = text_table()
        weights = np.random.default_rng(0).integers(0, 2, len(y))
        weighted, fewer = KDB().fit(X, y, sample_weight=weights), KDB().fit(X[weights > 0], y[weights > 0])
        assert weighted.parents_ == fewer.parents_
        assert_array_equal(weighted.predict_proba(X), fewer.predict_proba(X))

    def test_memory_is_estimated_before_it_is_taken(self):
        X, y = codes_table(sizes=(40, 50, 60), rows=3000)
        with pytest.raises(InputError, match=r"(?s)KDB needs about .* MB.*raise memory_limit"):
            KDB(memory_limit=1000).fit(X, y)
