"""A column whose values were mostly never seen is named, and no other."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import run, write_csv
from conftest import examples
from hebnb import AODE, HNB, KDB, TAN, ColumnParts, EvidenceClassifier, NaiveBayes, save
from hebnb.counts.unseen import PARTS_OF_DATES, Unseen, expected_unseen
from hebnb.errors import UnseenWarning
from hebnb.estimators.rows import encoded_and_unseen
from hebnb.export import onnx_inputs
from hebnb.parts.dates import DATE_PARTS
from hebnb.tabular.files import open_table
from hebnb.tabular.table import TableFile

MODELS = [NaiveBayes(), NaiveBayes(weighting="loo"), AODE(), TAN(), KDB(), HNB(), EvidenceClassifier()]


def rows(n_rows=300, seed=0):
    random = np.random.default_rng(seed)
    zips = random.integers(10_000, 10_030, n_rows)
    y = np.where((zips % 2 == 0) ^ (random.random(n_rows) < 0.2), "p", "q")
    frame = pd.DataFrame(
        {
            "zip": zips,
            "state": random.choice(["Ohio", "Utah", "Iowa"], n_rows),
            "size": random.normal(size=n_rows),
            "id": [f"{seed}-{n}" for n in range(n_rows)],
        }
    )
    return frame, y


def told(model, X, ask="predict"):
    """What is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(model, ask)(X)
    found = [str(own.message) for own in caught if issubclass(own.category, UnseenWarning)]
    assert len(found) <= 1
    assert all(own.filename == __file__ for own in caught)
    return found[0] if found else ""


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "explain"])
def test_a_column_held_otherwise_is_named_once(model, ask):
    X, y = rows()
    fitted = type(model)(**model.get_params()).fit(X, y)
    new, _ = rows(seed=1)
    assert not told(fitted, new, ask)  # although no id was seen before
    found = told(fitted, new.assign(state=new["state"].str.upper()), ask)
    assert "Column 'state': 100% of 300 rows" in found
    assert "They match in another letter case." in found
    assert "id" not in found


@pytest.mark.parametrize(
    ("learned", "given", "reason"),
    [
        (lambda zips: zips, lambda zips: zips.astype(str), "They match when they are converted to numbers."),
        (lambda zips: zips.astype(str), lambda zips: zips, "They match when they are converted to text."),
        (lambda zips: zips.astype(str), lambda zips: zips.astype(float), "They match when they are converted to text."),
        (lambda zips: "0" + zips.astype(str), lambda zips: zips, "They match as numbers."),
        (lambda zips: "a" + zips.astype(str), lambda zips: "A" + zips.astype(str), "in another letter case."),
        (lambda zips: zips.astype(str), lambda zips: zips.astype(str) + " ", "without the spaces around them."),
        (lambda zips: zips, lambda zips: zips * 1000, ""),
    ],
)
def test_the_reason_is_told_where_it_can_be(learned, given, reason):
    X, y = rows()
    zips = X["zip"]
    found = told(NaiveBayes().fit(pd.DataFrame({"zip": learned(zips)}), y), pd.DataFrame({"zip": given(zips)}))
    assert found.startswith("Column 'zip': 100% of 300 rows")
    assert found.endswith(reason or "tell next to nothing.")


def test_numbers_that_are_cut_gaps_and_few_rows_are_not_named():
    X, y = rows()
    model = NaiveBayes(numeric_features=["zip"]).fit(X, y)
    assert not told(model, X.assign(zip=X["zip"] * 1000))
    model = NaiveBayes().fit(X, y)
    assert not told(model, X.assign(zip=pd.array([None] * len(X), dtype="Int64")))
    foreign = X.assign(zip=X["zip"] + 100_000)
    assert not told(model, foreign[:9])
    assert told(model, foreign[:10])
    mixed = X.assign(zip=np.where(np.arange(len(X)) < len(X) / 2, X["zip"], foreign["zip"]))
    assert not told(model, mixed)
    assert "51% of 300 rows" in told(model, X.assign(zip=np.where(np.arange(300) < 147, X["zip"], foreign["zip"])))
    half_gaps = pd.array([None if n % 3 else value for n, value in enumerate(foreign["zip"])], dtype="Int64")
    assert "100% of 100 rows" in told(model, X.assign(zip=half_gaps))


@pytest.mark.parametrize("distinct", [50, 300, 3_000, 10**9])
def test_rows_like_those_of_fit_are_never_named(distinct):
    """However many values there are: what is unseen then is what Good and Turing expect."""
    random = np.random.default_rng(distinct)
    for _ in range(40):
        learned, new = (random.zipf(1.2, 300) % distinct for _ in range(2))
        model = NaiveBayes().fit(learned[:, np.newaxis], np.arange(300) % 2)
        assert not told(model, new[:, np.newaxis])


def test_dropped_categories_are_expected_to_be_unseen():
    X, y = rows()
    model = NaiveBayes(max_categories=5).fit(X[["zip"]], y)
    assert expected_unseen(model.counts_, 0) > 0.6
    assert not told(model, X[["zip"]])


def test_parts_of_dates_may_be_new():
    assert tuple(DATE_PARTS) == PARTS_OF_DATES
    X, y = rows()
    X = X[["state"]].assign(when=pd.date_range("2022-01-01", periods=len(X), freq="2D"))
    later = X.assign(when=X["when"] + pd.DateOffset(years=5))
    parts = ColumnParts().fit(X, y)
    model, new = NaiveBayes().fit(parts.transform(X), y), parts.transform(later)
    assert "when: year" in new.columns
    assert not told(model, new)
    assert told(model, new.assign(state=X["state"].str.upper())).startswith("Column 'state'")
    assert "Column 'built: year'" in told(
        NaiveBayes().fit(pd.DataFrame({"built: year": X["when"].dt.year}), y),
        pd.DataFrame({"built: year": later["when"].dt.year}),
    )


def test_weights_that_are_no_counts_hide_what_to_expect():
    X, y = rows()
    weights = np.random.default_rng(2).uniform(0.1, 3, len(X))
    model = NaiveBayes().fit(X[["zip", "id"]], y, weights)
    assert not told(model, rows(seed=1)[0][["zip", "id"]])
    assert "Column 'zip'" in told(model, X[["zip", "id"]].assign(zip=X["zip"].astype(str)))


@pytest.mark.parametrize("weight", [2, 0.5, 0.1, 7, {"p": 1, "q": 5}, {"p": 0.3, "q": 1.7}], ids=repr)
def test_equal_weights_are_no_reason_to_expect_less(weight):
    """What is said does not change, whether all rows have them or those of a class."""
    X, y = rows()
    weights = np.array([weight[own] if isinstance(weight, dict) else weight for own in y], dtype=float)
    X, new = X[["zip", "id"]], rows(seed=1)[0][["zip", "id"]]
    model = NaiveBayes().fit(X, y, weights)
    assert not told(model, new)
    foreign = told(model, new.assign(zip=new["zip"] + 100_000))
    assert "Column 'zip': 100% of 300 rows" in foreign
    assert "id" not in foreign
    assert "They match" in told(model, new.assign(zip=new["zip"].astype(str)))


def test_whole_weights_that_differ_hide_what_to_expect_of_ids():
    X, y = rows()
    model = NaiveBayes().fit(X[["zip", "id"]], y, np.random.default_rng(2).integers(1, 4, len(X)))
    assert not told(model, rows(seed=1)[0][["zip", "id"]])
    assert "Column 'zip'" in told(model, X[["zip", "id"]].assign(zip=X["zip"] + 100_000))


@given(st.lists(st.lists(st.sampled_from(["a", "b", "x", None]), min_size=1, max_size=8), min_size=1, max_size=6))
@examples(60)
def test_parts_add_up_to_the_whole(parts):
    model = NaiveBayes().fit([["a", 1], ["b", 2], ["a", 1]], [0, 1, 1])

    def tally(values):
        return encoded_and_unseen(model, [[value, 1] for value in values], model.score_tables_)[1]

    whole = tally([value for part in parts for value in part])
    added = sum((tally(part) for part in parts[1:]), start=tally(parts[0]))
    assert added.n_valued.tolist() == whole.n_valued.tolist()
    assert added.n_unseen.tolist() == whole.n_unseen.tolist()
    flat = [value for part in parts for value in part]
    assert whole.n_valued.tolist() == [sum(value is not None for value in flat), len(flat)]
    assert whole.n_unseen.tolist() == [flat.count("x"), 0]
    assert isinstance(added, Unseen)


def test_feeds_of_onnx_are_warned_of():
    X, y = rows()
    model = NaiveBayes().fit(X[["state"]], y)
    with pytest.warns(UnseenWarning, match="another letter case"):
        onnx_inputs(model, X[["state"]].assign(state=X["state"].str.lower()))


def test_many_columns_are_named_in_one_warning():
    X = pd.DataFrame({f"c{n}": ["a", "b"] * 50 for n in range(25)})
    found = told(NaiveBayes().fit(X, [0, 1] * 50), X.replace({"a": "A", "b": "B"}))
    assert found.count("Column '") == 10
    assert "15 more columns are like that." in found


def test_partitions_are_not_warned_of_one_by_one():
    dask = pytest.importorskip("dask.dataframe")
    X, y = rows()
    lazy = dask.from_pandas(X[["state"]].assign(state=X["state"].str.upper()), npartitions=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        NaiveBayes().fit(X[["state"]], y).predict_proba(lazy).compute()


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, y = rows(4_000)
        save(NaiveBayes().fit(X[["state", "zip"]], y), "model.skops")
        table = X[["state", "zip"]]
        write_csv("same.csv", table.astype(str).to_dict("list"))
        write_csv("other.csv", table.assign(state=table["state"].str.upper()).astype(str).to_dict("list"))
        # The first rows alone would be warned of, all together not.
        mixed = table.assign(state=np.where(np.arange(4_000) < 1_500, "OHIO", table["state"]))
        write_csv("mixed.csv", mixed.astype(str).to_dict("list"))

    def predicted(self, table, *more):
        return run("predict", "model.skops", table, "-o", "out.csv", "--overwrite", *more)

    def test_one_note_for_the_whole_file(self, monkeypatch):
        monkeypatch.setattr(TableFile.batches, "__defaults__", (1_000,))
        with open_table("mixed.csv") as table:
            assert [batch.num_rows for batch in table.batches()] == [1_000] * 4
        for table in ("same.csv", "mixed.csv"):
            assert "never seen" not in self.predicted(table).stderr
        said = self.predicted("other.csv").stderr
        assert said.count("Note: Column 'state': 100% of 4,000 rows have values that were never seen at fit") == 1
        assert said.count("another letter case") == 1

    def test_strict_fails_and_leaves_nothing(self, tmp_path):
        done = run("predict", "model.skops", "other.csv", "-o", "strict.csv", "--strict", code=1)
        assert "Column 'state': 100% of 4,000 rows" in done.stderr
        assert "--strict" in done.stderr
        assert not (tmp_path / "strict.csv").exists()
        run("predict", "model.skops", "same.csv", "-o", "strict.csv", "--strict")
        assert (tmp_path / "strict.csv").exists()
