"""Values that are held in another way mean the same: integers as floats beside gaps, true and false as words."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb import AODE, EvidenceClassifier, NaiveBayes, load, save
from hebnb.columns.alike import as_learned, joined, truth_of, words_for_truths
from hebnb.columns.column import Column
from hebnb.columns.kinds import Categories
from hebnb.columns.table import read

MODELS = [NaiveBayes(), AODE(), EvidenceClassifier(max_crosses=0)]


def codes(n_rows=600, distinct=40):
    """Integers that are names, with a class that goes by the name, and the rows that have a gap."""
    random = np.random.default_rng(7)
    numbers = random.integers(distinct, size=n_rows)
    y = np.where((numbers * 7919 % 13 < 6) ^ (random.random(n_rows) < 0.1), "p", "q")
    return numbers, y, np.arange(n_rows) % 50 == 3


def held(numbers, gaps):
    """The same integers and gaps as every library may hold them."""
    floats = np.where(gaps, np.nan, numbers)
    optional = [None if gap else int(number) for number, gap in zip(numbers, gaps, strict=True)]
    as_floats = [None if own is None else float(own) for own in optional]
    objects = np.empty((len(optional), 1), dtype=object)
    objects[:, 0] = as_floats
    return {
        "pandas integers": pd.DataFrame({"x": pd.array(optional, dtype="Int64")}),
        "pandas": pd.DataFrame({"x": floats}),
        "pandas nullable floats": pd.DataFrame({"x": pd.array(as_floats, dtype="Float64")}),
        "pandas on arrow": pd.DataFrame({"x": pd.array(as_floats, dtype=pd.ArrowDtype(pa.float64()))}),
        "pandas objects": pd.DataFrame({"x": pd.Series(as_floats, dtype=object)}),
        "polars nulls": pl.DataFrame({"x": as_floats}),
        "polars nans": pl.DataFrame({"x": floats}),
        "polars single floats": pl.DataFrame({"x": floats.astype(np.float32)}),
        "arrow": pa.table({"x": pa.array(as_floats, pa.float64())}),
    }, {"numpy": floats[:, np.newaxis], "numpy objects": objects}


class TestIntegersWithGaps:
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
    def test_they_are_the_integers_they_were(self, model):
        numbers, y, gaps = codes()
        named, by_position = held(numbers, gaps)
        expected = model.fit(named["pandas integers"], y)
        categories, probabilities = expected.categories_[0], expected.predict_proba(named["pandas integers"])
        assert len(categories) == len(np.unique(numbers[~gaps])) + 1
        for name, X in (named | by_position).items():
            there = type(model)(**model.get_params()).fit(X, y)
            assert there.categories_[0].tolist() == categories.tolist(), name
            assert [type(own) for own in there.categories_[0].tolist()] == [type(own) for own in categories.tolist()]
            assert_allclose(there.predict_proba(X), probabilities, atol=1e-12, err_msg=name)

    @pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
    def test_a_model_of_either_form_takes_the_other(self, model, tmp_path):
        numbers, y, gaps = codes()
        whole, gappy = pd.DataFrame({"x": numbers}), pd.DataFrame({"x": np.where(gaps, np.nan, numbers)})
        of_whole = type(model)(**model.get_params()).fit(whole, y)
        of_gappy = type(model)(**model.get_params()).fit(gappy, y)
        save(of_gappy, tmp_path / "model.skops")
        asked = pd.DataFrame({"x": numbers.astype(float)})
        assert_array_equal(of_whole.predict_proba(gappy)[~gaps], of_whole.predict_proba(whole)[~gaps])
        for fitted in (of_gappy, load(tmp_path / "model.skops")):
            assert_array_equal(fitted.predict_proba(whole)[~gaps], fitted.predict_proba(gappy)[~gaps])
            assert_array_equal(fitted.predict_proba(asked), fitted.predict_proba(whole))

    def test_what_is_measured_stays_measured(self):
        whole = np.arange(200.0) // 2
        gappy = np.where(np.arange(200) % 20 == 0, np.nan, whole)
        half = gappy.copy()
        half[7] = 2.5
        huge = gappy * 2.0**50
        y = np.arange(200) % 2
        for numbers in (whole, half, huge):
            assert len(NaiveBayes().fit(pd.DataFrame({"x": numbers}), y).bin_edges_["x"]) == 9
        assert not NaiveBayes().fit(pd.DataFrame({"x": gappy}), y).bin_edges_
        cut = NaiveBayes(numeric_features=["x"]).fit(pd.DataFrame({"x": gappy}), y)
        assert len(cut.bin_edges_["x"]) == 9

    def test_decimals_with_places_for_a_fraction_are_measured(self):
        values = [None if n % 9 == 0 else Decimal(f"{n}.00") for n in range(60)]
        for column in (Column("x", np.array(values, dtype=object)), read(pa.table({"x": values})).columns[0]):
            assert column.is_continuous

    def test_times_with_gaps_are_times(self):
        values = [None if n % 9 == 0 else dt.datetime(2024, 1, 1) + dt.timedelta(hours=n) for n in range(60)]
        assert read(pd.DataFrame({"x": values})).columns[0].is_continuous

    def test_a_column_of_gaps_alone_says_nothing(self):
        X = pd.DataFrame({"x": np.full(20, np.nan)})
        with pytest.warns(UserWarning, match="every value is missing"):
            NaiveBayes().fit(X, np.arange(20) % 2)

    def test_floats_that_were_learned_as_categories_are_found_beside_gaps(self):
        """As in files of earlier versions, in which integers with gaps were floats."""
        learned = Categories(np.array([1.0, 2.0, 4.5]), missing=True)
        for values in ([2.0, np.nan, 1.0], [2.0, np.nan, 4.5]):
            codes = learned.encode(Column("x", np.array(values)))
            assert codes.tolist() == [1, 3, 0 if values[2] == 1 else 2]

    def test_labels_are_as_they_are_held(self):
        model = NaiveBayes().fit([["a"], ["b"], ["a"]], np.array([1.0, 0.0, np.nan]), sample_weight=[1, 1, 0])
        assert model.classes_.dtype == float

    def test_the_first_batch_decides(self):
        numbers, y, gaps = codes()
        gappy, whole = np.where(gaps, np.nan, numbers), numbers.astype(float)
        for first, second in ((gappy, whole), (numbers, gappy), (numbers, whole)):
            model = NaiveBayes().partial_fit(pd.DataFrame({"x": first}), y)
            model.partial_fit(pd.DataFrame({"x": second}), y)
            together = pd.array([*first, *second], dtype="Int64")
            expected = NaiveBayes().fit(pd.DataFrame({"x": together}), np.append(y, y))
            assert model.categories_[0].tolist() == expected.categories_[0].tolist()
            assert_allclose(model.predict_proba(pd.DataFrame({"x": numbers})),
                            expected.predict_proba(pd.DataFrame({"x": numbers})), atol=1e-12)  # fmt: skip
        later = NaiveBayes().partial_fit(pd.DataFrame({"x": gappy}), y).partial_fit(pd.DataFrame({"x": whole + 40}), y)
        assert later.categories_[0].tolist() == [*range(80), None]  # and no warning that they are no measured numbers
        model = NaiveBayes().partial_fit(pd.DataFrame({"x": whole}), y).partial_fit(pd.DataFrame({"x": gappy}), y)
        assert len(model.bin_edges_["x"]) == 9

    def test_a_number_that_is_not_whole_is_another_value(self):
        numbers, y, gaps = codes()
        model = NaiveBayes().fit(pd.DataFrame({"x": np.where(gaps, np.nan, numbers)}), y)
        fresh = pd.DataFrame({"x": [2.5, 2.0, 77.0]})
        prior = np.exp(model.class_log_prior_)
        assert_allclose(model.predict_proba(fresh)[[0, 2]], [prior, prior])
        assert_array_equal(model.predict_proba(fresh)[1], model.predict_proba(pd.DataFrame({"x": [2]}))[0])
        model = NaiveBayes().partial_fit(pd.DataFrame({"x": np.where(gaps, np.nan, numbers)}), y)
        with pytest.warns(UserWarning, match="are categories"):
            model.partial_fit(fresh, ["p", "q", "p"])
        assert {2, 2.5, 77} <= set(model.categories_[0].tolist())


TRUE_OR_FALSE = np.array([True, False, True, True] * 10)
CLASSES = np.array(["p", "q", "p", "q"] * 10)


def worded(true, false, truths=TRUE_OR_FALSE):
    return [true if truth else false for truth in truths]


class TestTruths:
    @pytest.mark.parametrize(
        ("true", "false"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("Yes", "no")]
    )
    @pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
    def test_a_model_of_either_form_takes_the_other(self, model, true, false, table):
        words, truths = table({"f": worded(true, false)}), table({"f": TRUE_OR_FALSE.tolist()})
        gaps = table({"f": [None, *TRUE_OR_FALSE.tolist()]})
        of_words, of_truths = (type(model)(**model.get_params()).fit(own, CLASSES) for own in (words, truths))
        expected = of_words.predict_proba(words)
        assert np.ptp(expected) > 0.1
        for fitted in (of_words, of_truths):
            for own in (words, truths):
                assert_allclose(fitted.predict_proba(own), expected, atol=1e-12)
            assert_allclose(fitted.predict_proba(gaps)[1:], expected, atol=1e-12)

    def test_text_stays_text(self):
        model = NaiveBayes().fit(pd.DataFrame({"f": worded("true", "false")}), CLASSES)
        assert model.categories_[0].tolist() == ["false", "true"]
        women = NaiveBayes().fit(pd.DataFrame({"sex": worded("f", "m")}), CLASSES)
        assert_allclose(women.predict_proba(pd.DataFrame({"sex": [True, False]})), np.exp([women.class_log_prior_] * 2))

    @pytest.mark.parametrize("first", ["words", "truths"])
    def test_batches_of_both_forms_are_one_column(self, first):
        parts = {
            "words": pd.DataFrame({"f": worded("Yes", "No")}),
            "truths": pd.DataFrame({"f": TRUE_OR_FALSE}),
        }
        order = sorted(parts, key=lambda name: name != first)
        expected = NaiveBayes().fit(pd.concat([parts["words"]] * 2), np.append(CLASSES, CLASSES))
        model = NaiveBayes()
        for name in order:
            model.partial_fit(parts[name], CLASSES)
        assert_array_equal(model.category_count_[0], expected.category_count_[0])
        added = NaiveBayes().count(parts[order[0]], CLASSES) + NaiveBayes().count(parts[order[1]], CLASSES)
        assert added.vocabulary.features[0].values.tolist() == ["No", "Yes"]
        for asked in parts.values():
            assert_allclose(model.predict_proba(asked), expected.predict_proba(parts["words"]))

    @given(st.lists(st.sampled_from(["true", "True", "false", "yes", "NO", "t", "F", "m", "maybe", ""]), unique=True))
    @examples(60)
    def test_words_for_truths_are_learned_words_of_one_pair(self, texts):
        words = words_for_truths(texts)
        assert truth_of(words[True]) is True
        assert truth_of(words[False]) is False
        pair = {words[True].lower(), words[False].lower()}
        assert pair in ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})
        assert pair == {"true", "false"} or set(words.values()) <= set(texts)

    def test_one_of_true_and_false_is_enough(self):
        X = pd.DataFrame({"f": worded("True", "unknown")})
        model = NaiveBayes().fit(X, CLASSES)
        assert_allclose(model.predict_proba(pd.DataFrame({"f": [True]})), model.predict_proba(X)[:1])


VALUES = st.one_of(
    st.lists(st.integers(-5, 5), unique=True).map(lambda own: np.array(sorted(own), dtype=np.int64)),
    st.lists(st.sampled_from([-2.0, 0.5, 1.0, 4.0]), unique=True).map(lambda own: np.array(sorted(own), dtype=float)),
    st.lists(st.booleans(), unique=True).map(lambda own: np.array(sorted(own), dtype=bool)),
    st.lists(st.sampled_from(["false", "maybe", "True"]), unique=True, min_size=1).map(
        lambda own: np.array(sorted(own), dtype=object)
    ),
)


@given(VALUES, VALUES)
@examples(200)
def test_joined_values_do_not_depend_on_the_order_and_contain_both(ours, theirs):
    both, other = joined(ours, theirs), joined(theirs, ours)
    assert both.tolist() == other.tolist()
    assert [type(value) for value in both.tolist()] == [type(value) for value in other.tolist()]
    assert len(set(both.tolist())) == len(both)
    for part in (ours, theirs):
        assert (Categories(both, missing=False).codes_of(part) < len(both)).all()


def test_values_of_other_types_are_left_alone():
    for values in (np.array([1, 2]), np.array([0.5]), np.array(["a"], dtype=object)):
        for learned in (np.array([3]), np.array(["a", "true"], dtype=object), np.array([1.5])):
            assert as_learned(values, learned) is values
