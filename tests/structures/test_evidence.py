"""What evidence is for: noise that costs nothing, crosses that are found, numbers and names, batches, odd tables."""

from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from hebnb import EvidenceClassifier, InputError, ParameterError
from hebnb.columns.table import read
from hebnb.structures import evidence

pd = pytest.importorskip("pandas")


def loss(model, X, y):
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


def loss_of_prior(model, y):
    return log_loss(y, np.tile(np.exp(model.class_log_prior_), (len(y), 1)), labels=model.classes_)


def noise(seed, rows):
    """Eight columns of every kind that say nothing."""
    rng = np.random.default_rng(seed)
    columns = {
        "few": rng.choice(list("abcd"), size=rows),
        "many": rng.integers(50, size=rows).astype(str),
        "unique": rng.integers(10 * rows, size=rows).astype(str),
        "code": rng.integers(5, size=rows),
        "number": rng.integers(300, size=rows),
        "size": rng.normal(size=rows),
        "spike": np.where(rng.random(rows) < 0.9, 0.0, rng.exponential(size=rows)),
        "gaps": np.where(rng.random(rows) < 0.5, np.nan, rng.normal(size=rows)),
    }
    return pd.DataFrame(columns), (rng.random(rows) < 0.3).astype(int)


def mixed(seed, rows, noise=0.15):
    """Classes by a cross of three columns, and by a column of its own; one column says nothing."""
    rng = np.random.default_rng(seed)
    a, b, many = rng.integers(3, size=rows), rng.integers(4, size=rows), rng.integers(40, size=rows)
    size = rng.normal(size=rows)
    y = ((a + b) % 2 == (size > 0)) | (many > 33)
    X = pd.DataFrame({"a": a, "b": b, "size": size, "many": many, "other": rng.normal(size=rows)})
    return X.astype({"a": str, "b": str, "many": str}), np.where(rng.random(rows) < noise, ~y, y).astype(int)


@pytest.fixture(scope="module")
def learned():
    X, y = mixed(0, 700)
    return EvidenceClassifier().fit(X, y), X, y


@pytest.mark.parametrize("seed", range(5))
def test_noise_costs_next_to_nothing(seed):
    model = EvidenceClassifier().fit(*noise(seed, 2000))
    X, y = noise(seed + 1000, 4000)
    assert loss(model, X, y) <= 1.01 * loss_of_prior(model, y)
    assert len(model.crosses_) <= 1


@pytest.mark.parametrize("order", [2, 3])
def test_a_parity_is_found(order):
    rng = np.random.default_rng(order)
    bits = rng.integers(2, size=(600, 5))
    names = list("abcde")
    X, y = pd.DataFrame(bits, columns=names).astype(str), bits[:, :order].sum(axis=1) % 2
    train, test = slice(0, 400), slice(400, 600)
    model = EvidenceClassifier().fit(X[train], y[train])
    assert tuple(names[:order]) in model.crosses_
    assert all(set(names[:order]) <= set(cross) for cross in model.crosses_)
    assert loss(model, X[test], y[test]) < 0.05
    alone = EvidenceClassifier(max_order=order - 1).fit(X[train], y[train])
    assert loss(alone, X[test], y[test]) > 0.65


def test_a_parity_of_four_needs_crosses_of_four():
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(800, 5))
    X, y = bits.astype(str), bits[:, :4].sum(axis=1) % 2
    train, test = slice(0, 600), slice(600, 800)
    assert EvidenceClassifier(max_order=3).fit(X[train], y[train]).score(X[test], y[test]) < 0.65
    model = EvidenceClassifier(max_order=4).fit(X[train], y[train])
    assert (0, 1, 2, 3) in model.crosses_
    assert model.score(X[test], y[test]) > 0.95


def test_numbers_are_crossed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    model = EvidenceClassifier().fit(X[:1000], y[:1000])
    assert model.crosses_[0] == (0, 1)
    assert model.score(X[1000:], y[1000:]) > 0.95


def test_crosses_are_limited_in_number_and_order():
    X, y = mixed(1, 700)
    assert max(map(len, EvidenceClassifier().fit(X, y).crosses_)) == 3
    assert EvidenceClassifier(max_crosses=0).fit(X, y).crosses_ == []
    assert EvidenceClassifier(max_order=1).fit(X, y).crosses_ == []
    assert all(len(cross) == 2 for cross in EvidenceClassifier(max_order=2).fit(X, y).crosses_)
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(600, 6))
    several = (bits[:, ::2] ^ bits[:, 1::2]) @ [1, 2, 4]  # a class for every combination of three parities
    assert len(EvidenceClassifier(max_order=2).fit(bits.astype(str), several).crosses_) >= 3
    assert len(EvidenceClassifier(max_order=2, max_crosses=2).fit(bits.astype(str), several).crosses_) == 2


def test_one_cross_may_be_had():
    X = np.array([["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]] * 20)
    y = X[:, 0] == X[:, 1]
    assert EvidenceClassifier(max_crosses=1, max_order=2).fit(X, y).crosses_ == [(0, 1)]
    assert EvidenceClassifier(max_crosses=1).fit(X, y).crosses_ == [(0, 1)]


@pytest.mark.parametrize("seed", range(4))
def test_a_value_that_most_rows_have(seed):
    """As capital gains are: nine of ten are 0, and the others tell by how much."""
    rng = np.random.default_rng(seed)
    none = rng.random(3000) < 0.9
    gain = np.where(none, 0.0, rng.exponential(5000, size=3000))
    rate = np.where(none, 0.2, np.where(gain > 5000, 0.9, 0.4))
    y = (rng.random(3000) < rate).astype(int)
    model = EvidenceClassifier().fit(pd.DataFrame({"gain": gain}), y)
    found = model.predict_proba(pd.DataFrame({"gain": gain}))[:, 1]
    for group in (none, ~none & (gain <= 5000), gain > 5000):
        assert abs(found[group].mean() - rate[group].mean()) < 0.12
    assert np.abs(found - rate)[none].max() < 0.04
    beyond = model.predict_proba(pd.DataFrame({"gain": [1e9, -1e9]}))[:, 1]
    assert beyond[0] > 0.7
    assert beyond[1] == pytest.approx(found[none][0])


def test_integers_are_numbers_where_neighbours_are_alike():
    rng = np.random.default_rng(0)
    minute, shop, few = rng.integers(1440, size=3000), rng.integers(60, size=3000), rng.integers(8, size=3000)
    score = 2 * np.sin(2 * np.pi * minute / 1440) + rng.normal(0, 1.5, size=60)[shop] + (few - 4) / 4
    X = pd.DataFrame({"minute": minute, "shop": shop, "few": few})
    y = (rng.random(3000) < expit(score)).astype(int)
    model = EvidenceClassifier().fit(X, y)
    assert [*model.bin_edges_] == model.integers_as_numbers_ == ["minute"]
    assert_array_equal(model.categories_[1], np.arange(60))
    kept = EvidenceClassifier(categorical_features=["minute"]).fit(X, y)
    assert not kept.bin_edges_
    assert kept.integers_as_numbers_ == []
    assert model.loo_log_loss_ < kept.loo_log_loss_
    assert [*EvidenceClassifier(categorical_features="all").fit(X, y).bin_edges_] == []
    told = EvidenceClassifier(numeric_features=["minute", "shop"]).fit(X, y)
    assert [*told.bin_edges_] == ["minute", "shop"]
    assert told.integers_as_numbers_ == []


def test_a_minute_that_never_occurred_is_like_those_around_it():
    rng = np.random.default_rng(0)
    minute = rng.integers(720, size=2000) * 2
    y = (minute > 700).astype(int)
    model = EvidenceClassifier().fit(pd.DataFrame({"minute": minute}), y)
    assert_array_equal(model.predict(pd.DataFrame({"minute": [101, 333, 901, 1301]})), [0, 0, 1, 1])


def test_what_was_learned_has_a_name_for_everything(learned):
    model, X, _ = learned
    assert ("a", "b", "size") in model.crosses_
    keys = [*X.columns, *model.crosses_]
    for found in (model.strengths_, model.weights_, model.gains_):
        assert [*found] == keys
    depths = [len(kind.levels) for kind in model.counts_.vocabulary.features]
    assert [len(model.strengths_[name]) for name in X.columns] == depths
    assert all((own > 0).all() for own in model.strengths_.values())
    assert all(model.gains_[cross] > 0 for cross in model.crosses_)
    assert model.gains_["many"] == max(model.gains_[name] for name in X.columns)
    assert_allclose([*model.weights_.values()], model.score_tables_.combination.table_weights)
    # By order, and then by what they gain.
    places = [(len(cross), -model.gains_[cross]) for cross in model.crosses_]
    assert places == sorted(places)


def test_the_gain_of_a_column_is_that_of_left_out_rows():
    X, y = mixed(2, 400)
    model = EvidenceClassifier(max_crosses=0).fit(X[["many"]], y)
    one_by_one, prior = [], []
    for row in range(len(y)):
        rest = np.arange(len(y)) != row
        n = np.bincount(y[rest], minlength=2)
        prior.append(np.log((n[y[row]] + 1) / (n.sum() + 2)))
    loo = model.loo_predict_proba(X[["many"]], y)
    # With its weight and the offsets taken off, what is left of the score is what the column says.
    odds = np.log(loo[:, 1] / loo[:, 0]) - np.diff(model.class_offsets_)
    n = np.bincount(y)
    for row in range(len(y)):
        left = n - (np.arange(2) == y[row])
        base = np.log((left[1] + 1) / (left[0] + 1))
        said = base + (odds[row] - base) / model.weights_["many"]
        one_by_one.append(-np.logaddexp(0, -said if y[row] else said))
    assert model.gains_["many"] == pytest.approx(np.mean(one_by_one) - np.mean(prior), rel=1e-6)


@pytest.mark.parametrize(("rows", "within"), [(300, 0.08), (1000, 0.03)])
def test_the_loss_of_new_rows_is_foretold(rows, within):
    """Close to that of cross-validation, where strengths and crosses are learned anew too, on average over tables."""
    foretold, seen = [], []
    for seed in range(3):
        X, y = mixed(seed, rows)
        foretold.append(EvidenceClassifier().fit(X, y).loo_log_loss_)
        seen.append(log_loss(y, cross_val_predict(EvidenceClassifier(), X, y, cv=10, method="predict_proba")))
    assert np.mean(foretold) == pytest.approx(np.mean(seen), rel=within)


def test_left_out_rows_are_seen_worse_than_those_that_were_learned_from(learned):
    model, X, y = learned
    left_out = log_loss(y, model.loo_predict_proba(X, y))
    assert loss(model, X, y) < left_out < 1.1 * model.loo_log_loss_


def test_batches_add_up_and_the_choice_stays(learned):
    _, X, y = learned
    whole = EvidenceClassifier().fit(X[:500], y[:500])
    choice = whole.counts_.choice
    model = clone(whole).partial_fit(X[:500], y[:500])
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    model.partial_fit(X[500:600], y[500:600]).partial_fit(X[600:], y[600:])
    assert model.counts_.choice == choice
    assert_array_equal(model.class_count_, np.bincount(y))
    codes = model.counts_.vocabulary.encode(read(X))
    for own, count in zip(codes, model.category_count_, strict=True):
        for c in (0, 1):
            assert_array_equal(count[c], np.bincount(own[y == c], minlength=count.shape[1]))
    for cross, cells in zip(choice.crosses, model.counts_.cells, strict=True):
        assert cells.count.sum() == len(y)
        assert len(np.unique(cells.codes, axis=0)) == len(cells.codes)
        assert cells.codes.shape[1] == len(cross.columns)
    assert (model.predict_proba(X) != whole.predict_proba(X)).any()


def test_a_batch_may_lack_classes():
    """As a batch of one row always does."""
    X, y = [["a"], ["b"], ["a"], ["b"]] * 5, [0, 1, 0, 1] * 5
    model = EvidenceClassifier().fit(X, y)
    before = model.predict_proba([["a"]])[0, 1]
    model.partial_fit([["a"]] * 3, [1] * 3)
    assert_array_equal(model.class_count_, [10, 13])
    assert model.predict_proba([["a"]])[0, 1] > before
    allowed = EvidenceClassifier().partial_fit(X, y, classes=[0, 1, 2]).partial_fit([["c"]], [2])
    assert_array_equal(allowed.class_count_, [10, 10, 1])


def test_a_batch_may_bring_categories_and_classes(learned):
    _, X, y = learned
    labels = np.array(["no", "yes"], dtype=object)[y]
    model = EvidenceClassifier().fit(X, labels)
    crosses, weights = model.crosses_, model.weights_
    new = X.head(60).assign(a="new", many="other")
    model.partial_fit(new, ["maybe"] * 60)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert (model.crosses_, model.weights_) == (crosses, weights)
    assert "new" in model.categories_[0]
    assert (model.predict(new) == "maybe").all()
    assert model.score(X, labels) > 0.75
    assert_array_equal(model.class_offsets_[0], 0)


def test_counts_of_different_choices_do_not_add(learned):
    model, X, y = learned
    other = EvidenceClassifier().fit(X.head(300), y[:300])
    with pytest.raises(InputError, match="different crosses|read in two different ways"):
        _ = model.counts_ + other.counts_


def test_of_many_rows_a_sample_decides_and_all_are_counted():
    X, y = mixed(3, 1500)
    with patch.object(evidence, "MOST_ROWS", 500):
        model = EvidenceClassifier().fit(X, y)
        again = EvidenceClassifier().fit(X, y)
        another = EvidenceClassifier(random_state=1).fit(X, y)
    choice = model.counts_.choice
    assert choice.n_rows <= 500
    assert ("a", "b", "size") in model.crosses_
    assert_array_equal(model.class_count_, np.bincount(y))
    assert all(own.sum() == len(y) for own in model.category_count_)
    assert all(cells.count.sum() == len(y) for cells in model.counts_.cells)
    assert again.counts_.choice == choice
    assert another.counts_.choice != choice
    fresh, labels = mixed(4, 2000)
    with_all = EvidenceClassifier().fit(X, y)
    assert loss(model, fresh, labels) < 1.1 * loss(with_all, fresh, labels)
    # What the sample has decided is close to what new rows see, although tables know more rows than it did.
    assert model.loo_log_loss_ == pytest.approx(loss(model, fresh, labels), rel=0.2)


def test_a_sample_reads_integers_for_all_rows():
    rng = np.random.default_rng(0)
    minute = rng.integers(1440, size=2000)
    y = (rng.random(2000) < expit(2 * np.sin(2 * np.pi * minute / 1440))).astype(int)
    X = pd.DataFrame({"minute": minute, "shop": rng.integers(9, size=2000)})
    with patch.object(evidence, "MOST_ROWS", 700):
        model = EvidenceClassifier().fit(X, y)
    assert [*model.bin_edges_] == ["minute"]
    assert model.category_count_[0].sum() == 2000
    assert model.score(X, y) > 0.7


def test_one_row():
    model = EvidenceClassifier().fit(pd.DataFrame({"text": ["a"], "size": [1.5]}), ["x"])
    new = pd.DataFrame({"text": ["a", "b"], "size": [1.5, np.nan]})
    assert_array_equal(model.predict_proba(new), [[1.0], [1.0]])


def test_one_class():
    X, y = mixed(5, 50)
    model = EvidenceClassifier().fit(X, np.zeros(50))
    assert_array_equal(model.predict_proba(X), np.ones((50, 1)))
    assert_array_equal(model.loo_predict_proba(X, np.zeros(50)), np.ones((50, 1)))
    assert model.loo_log_loss_ == 0
    assert model.crosses_ == []
    model.partial_fit(X, y + 1)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_two_rows_of_two_classes():
    model = EvidenceClassifier().fit([["a", 1.0], ["b", 2.0]], [0, 1])
    assert np.isfinite(model.predict_proba([["a", 1.0], ["c", 9.0]])).all()
    assert np.isfinite(model.loo_log_loss_)


@pytest.mark.parametrize("missing", ["category", "ignore"])
@pytest.mark.filterwarnings("ignore:Column .* every value is missing")
def test_columns_that_say_nothing_change_nothing(missing):
    """Constant ones, and those that are all gaps."""
    X, y = mixed(6, 500)
    X.loc[::7, "a"] = None
    more = X.assign(one="always", number=3.5, gaps=np.nan, nothing=None)
    model = EvidenceClassifier(missing=missing, max_order=2).fit(more, y)
    new = more.head(50)
    assert not {"one", "number", "gaps", "nothing"} & {name for cross in model.crosses_ for name in cross}
    said = model.explain(new)
    silent = said[said["feature"].isin(["one", "number", "gaps", "nothing"])]
    assert len(silent) == 50 * 2 * 4
    assert_allclose(silent["contribution"], 0, rtol=0, atol=1e-15)  # logarithms of shares whose quotient is 1
    without = EvidenceClassifier(missing=missing, max_order=2).fit(X, y)
    assert model.crosses_ == without.crosses_
    assert_allclose(model.predict_proba(new), without.predict_proba(X.head(50)), atol=0.05)


@pytest.mark.filterwarnings("ignore:In every column:hebnb.TableWarning")
@pytest.mark.parametrize("as_type", [str, int, float])
def test_a_column_that_is_another_for_every_row(as_type):
    X = pd.DataFrame({"key": np.random.default_rng(0).permutation(400).astype(as_type)})
    y = (np.arange(400) % 3 == 0).astype(int)
    model = EvidenceClassifier().fit(X, y)
    expected = np.tile(np.exp(model.class_log_prior_), (400, 1))
    assert_allclose(model.predict_proba(X), expected, atol=0.1)
    assert_allclose(model.loo_predict_proba(X, y), expected, atol=0.1)
    assert_allclose(
        model.predict_proba(pd.DataFrame({"key": np.array([777]).astype(as_type)})), expected[:1], atol=0.05
    )


def test_a_category_never_seen_says_what_rare_ones_say():
    """Those with one row are mostly of class 1, and those with many mostly of class 0."""
    rng = np.random.default_rng(0)
    rare, often = rng.random(400) < 0.8, rng.random(1200) < 0.2
    X = [*([f"rare {n}"] for n in range(400)), *([f"often {n % 20}"] for n in range(1200))]
    model = EvidenceClassifier().fit(X, np.concatenate([rare, often]).astype(int))
    assert model.predict_proba([["new"]])[0, 1] == pytest.approx(rare.mean(), abs=0.05)
    assert model.predict_proba([["often 3"]])[0, 1] < 0.35
    ignoring = EvidenceClassifier(missing="ignore").fit(X, np.concatenate([rare, often]).astype(int))
    start = ignoring.class_log_prior_ + ignoring.class_offsets_
    assert_allclose(ignoring.predict_joint_log_proba([["new"]])[0], start, atol=1e-12)


@pytest.mark.parametrize("bad", [{"max_crosses": number} for number in (-1, 2.5, True, "3", None)])
def test_the_number_of_crosses_is_checked(bad):
    with pytest.raises(ParameterError, match="max_crosses=.* must be an integer of at least 0"):
        EvidenceClassifier(**bad).fit([["a"], ["b"]], [0, 1])


BAD = {
    "max_order": ({"max_order": 0}, "max_order=0 must be an integer of at least 1"),
    "missing": ({"missing": "drop"}, "missing='drop' is not known"),
    "categorical_features": ({"categorical_features": ["no such"]}, "categorical_features='no such' is not known"),
    "numeric_features": ({"numeric_features": "text"}, "numeric_features='text' must be a list"),
    "both": ({"numeric_features": ["b"], "categorical_features": ["b"]}, "Columns b are in categorical_features"),
    "max_categories": ({"max_categories": 0}, "max_categories=0 must be a positive integer"),
    "random_state": ({"random_state": "now"}, "random_state='now' cannot seed"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named(case):
    parameters, message = BAD[case]
    X = pd.DataFrame({"text": ["x", "y"], "b": [1, 2]})
    model = EvidenceClassifier(**parameters)  # nothing is checked before fit
    with pytest.raises(ParameterError, match=message):
        model.fit(X, [0, 1])
    assert not hasattr(model, "classes_")


def test_parameters_are_kept_and_copied():
    model = EvidenceClassifier(max_crosses=7, max_order=2, missing="ignore", random_state=3)
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["max_crosses"] == 7
    assert set(model.set_params(max_order=4).get_params()) == {
        "max_crosses",
        "max_order",
        "categorical_features",
        "numeric_features",
        "hierarchies",
        "missing",
        "max_categories",
        "random_state",
    }
    assert "max_order=4" in repr(model)


def test_nothing_is_known_before_fit():
    for name in ("crosses_", "strengths_", "weights_", "gains_", "loo_log_loss_", "classes_"):
        with pytest.raises(AttributeError, match=name):
            getattr(EvidenceClassifier(), name)


def test_rows_of_weight_zero_are_absent(learned):
    _, X, y = learned
    kept = np.random.default_rng(0).random(len(y)) < 0.6
    strange = X.assign(a=np.where(kept, X["a"], "only here"), size=np.where(kept, X["size"], 1e9))
    weighted = EvidenceClassifier().fit(strange, np.where(kept, y, 7), sample_weight=kept.astype(float))
    without = EvidenceClassifier().fit(X[kept], y[kept])
    assert weighted.crosses_ == without.crosses_
    assert_array_equal(weighted.classes_, [0, 1])
    assert_allclose(weighted.predict_proba(X), without.predict_proba(X), atol=1e-9)
    assert weighted.loo_log_loss_ == pytest.approx(without.loo_log_loss_, rel=1e-9)


def test_the_order_of_rows_does_not_matter_to_sums_of_weights():
    """Weights that add up to 2, but for rounding: which categories are as frequent must not hang on that."""
    rows = [
        *((f"once {n}", int(n % 10 == 0)) for n in range(40)),
        *((f"thrice {n // 3}", int(n % 10 > 0)) for n in range(120)),
    ]
    X, y = [[text] for text, _ in rows] + [["a"]] * 5, [label for _, label in rows] + [0] * 5
    weights = [0.7, 0.1, 0.3, 0.2, 0.7], [0.7, 0.1, 0.2, 0.3, 0.7]
    one, other = (np.cumsum(each)[-1] for each in weights)  # one by one; sum corrects itself since Python 3.12
    assert one < other == 2
    one, other = (EvidenceClassifier().fit(X, y, [1.0] * 160 + own).predict_proba([["a"]]) for own in weights)
    assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_rows_does_not_choose_among_equals(seed):
    """A column under other names gains the same in every cross, but for rounding: the first of equals is chosen."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(4, size=(2, 120))
    y = np.where(rng.random(120) < 0.8, (a + b) % 4, rng.integers(4, size=120))
    X = np.column_stack([a, b, (3 * a + 1) % 5])
    for order in (np.arange(120), np.arange(120)[::-1], *(rng.permutation(120) for _ in range(4))):
        assert EvidenceClassifier(max_crosses=1).fit(X[order], y[order]).crosses_ == [(0, 1)]


def test_an_explanation_sums_to_the_score(learned):
    model, X, _ = learned
    new = X.head(30).assign(a=["never", *X["a"][1:30]])
    table = model.explain(new)
    sums = table.groupby(["row", "class"])["contribution"].sum().unstack().to_numpy()
    assert_allclose(sums, model.predict_joint_log_proba(new), atol=1e-10)
    assert {" × ".join(cross) for cross in model.crosses_} <= set(table["feature"])


def test_the_names_of_categories_do_not_matter(learned):
    model, X, y = learned

    def renamed(X):
        names = {text: f"{997 * n % 41:02}" for n, text in enumerate(sorted(learned[1]["many"].unique()))}
        return X.assign(a=X["a"].map({"0": "z", "1": "y", "2": "x"}), many=X["many"].map(names), size=np.exp(X["size"]))

    other = EvidenceClassifier().fit(renamed(X), y)
    assert other.crosses_ == model.crosses_
    assert_allclose(other.predict_proba(renamed(X)), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_columns_does_not_matter(learned, seed):
    model, X, y = learned
    order = np.random.default_rng(seed).permutation(X.columns).tolist()
    other = EvidenceClassifier().fit(X[order], y)
    assert set(map(frozenset, other.crosses_)) == set(map(frozenset, model.crosses_))
    assert_allclose(other.predict_proba(X[order]), model.predict_proba(X), atol=1e-9)
    weights = {frozenset([key] if isinstance(key, str) else key): own for key, own in other.weights_.items()}
    for key, own in model.weights_.items():
        assert weights[frozenset([key] if isinstance(key, str) else key)] == pytest.approx(own, abs=1e-7)
