"""The transformer: the same in every library, in any order of rows, batch by batch; and what it is worth."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline

from conftest import BACKENDS, make_table
from hebnb import ColumnParts, EvidenceClassifier, InputError, NaiveBayes, ParameterError
from hebnb.columns.table import read
from hebnb.parts import column_parts
from hebnb.parts.texts import LEAST_VALUES, words_of
from wines import VARIETIES, wines

WORDS = ["old", "new", "red", "Weiß", "ÉTÉ", "2001", "d'or", "été"]


def mixed(rows=300, seed=0):
    """Columns of text, times, days, categories and numbers, with gaps, and labels that one word tells."""
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, random.integers(0, 7))) for _ in range(rows)]
    mistaken = random.random(rows) < 0.1
    labels = ["yes" if ("red" in text.split()) != other else "no" for text, other in zip(texts, mistaken, strict=True)]
    times = [dt.datetime(2021, 1, 1) + dt.timedelta(minutes=int(n)) for n in random.integers(0, 10**6, rows)]
    columns = {
        "text": texts,
        "sent": times,
        "day": [time.date() for time in times],
        "kind": random.choice(["a", "b", None], rows).tolist(),
        "size": random.normal(size=rows).tolist(),
    }
    for name, gap in (("text", 3), ("sent", 4), ("day", 5)):
        columns[name][gap] = None
    return columns, labels


def as_lists(X):
    """The columns of any table as lists of plain values, gaps as None."""
    columns = []
    for column in read(X).columns:
        codes, values = column.levels
        columns.append([None if code < 0 else values.tolist()[code] for code in codes])
    return columns


def test_parts_by_hand():
    columns, labels = mixed()
    X = pl.DataFrame(columns)
    parts = ColumnParts().fit(X, labels)
    made = parts.transform(X)
    assert made[:, :5].equals(X)
    assert parts.parts_["text"][:3] == ["text: first word", "text: last word", "text: number of words"]
    assert parts.parts_["text"][3] == "text: key word"
    assert parts.parts_["sent"] == ["sent: year", "sent: month", "sent: day", "sent: weekday", "sent: hour"]
    assert parts.parts_["day"] == ["day: year", "day: month", "day: day", "day: weekday"]
    for text, row in zip(columns["text"], made.iter_rows(named=True), strict=True):
        words = None if text is None else text.lower().replace("weiß", "weiss").replace("'", " ").split()
        first, last = (words[0], words[-1]) if words else (None, None)
        assert (row["text: first word"], row["text: last word"]) == (first, last)
        assert row["text: number of words"] == (None if words is None else len(words))
        assert row["text: key word"] == (None if words is None else "red" if "red" in words else "(none)")
    assert parts.get_feature_names_out().tolist() == made.columns


def test_every_library_gives_the_same():
    columns, labels = mixed()
    made, learned = {}, {}
    for backend in BACKENDS:
        X = make_table(backend, columns)
        parts = ColumnParts().fit(X, labels)
        made[backend], learned[backend] = as_lists(parts.transform(X)), parts._learned.of_columns
        assert type(parts.transform(X)) is type(X)
    for backend in BACKENDS[1:]:
        assert learned[backend] == learned[BACKENDS[0]]
        assert made[backend] == made[BACKENDS[0]]


def test_the_order_of_rows_does_not_matter(table):
    columns, labels = mixed()
    order = np.random.default_rng(1).permutation(len(labels))
    shuffled = {name: [values[n] for n in order] for name, values in columns.items()}
    one = ColumnParts().fit(table(columns), labels)
    other = ColumnParts().fit(table(shuffled), [labels[n] for n in order])
    assert one._learned == other._learned
    straight = as_lists(one.transform(table(columns)))
    assert as_lists(other.transform(table(shuffled))) == [[own[n] for n in order] for own in straight]


def test_batch_by_batch_is_all_at_once():
    columns, labels = mixed()
    X = pa.table(columns)
    parts = ColumnParts().fit(X, labels)
    whole = parts.transform(X)
    batches = [parts.transform(X.slice(start, 70)) for start in range(0, len(labels), 70)]
    assert pa.concat_tables(batches).equals(whole)
    gaps = pa.table([pa.nulls(2, kind) for kind in X.schema.types], names=X.column_names)
    assert parts.transform(gaps).schema == whole.schema
    assert all(own.null_count == 2 for own in parts.transform(gaps).columns)


def test_columns_of_pandas_have_its_types_and_index():
    columns, labels = mixed()
    X = pd.DataFrame(columns, index=np.arange(300) * 2)
    made = ColumnParts().fit_transform(X, labels)
    assert made.index.equals(X.index)
    pd.testing.assert_frame_equal(made[list(X)], X)
    assert [str(made[name].dtype) for name in ("sent: year", "text: number of words")] == ["Int64", "Int64"]
    assert made.loc[6, "text: number of words"] is pd.NA


def test_words():
    assert words_of("  Straße, CAFÉ—cafe\u0301 3.5\t日本語 ") == ["strasse", "café", "café", "3", "5", "日本語"]
    assert words_of("") == words_of(" … ") == []


@pytest.mark.parametrize(
    ("is_text", "value"),
    [
        (True, "wine number {}"),
        (False, "wine-number-{}"),
        (False, "{}"),
        (False, "2024-01-01 10:{:02}"),
        (False, "wine {}"),
    ],
)
def test_what_is_free_text(table, is_text, value):
    many = table({"x": [value.format(n) for n in range(LEAST_VALUES)]})
    few = table({"x": [value.format(n) for n in range(LEAST_VALUES - 1)] * 2})
    assert bool(ColumnParts().fit(many).parts_) == is_text
    assert ColumnParts().fit(few).parts_ == {}


def test_most_values_have_several_words(table):
    half = LEAST_VALUES // 2
    texts = [f"word{n}" for n in range(half)] + [f"two words{n}" for n in range(half)]
    assert ColumnParts().fit(table({"x": texts})).parts_ == {}
    assert ColumnParts().fit(table({"x": [*texts, "two more"]})).parts_


def test_named_columns_and_no_others(table):
    columns, labels = mixed()
    X = table(columns)
    names = list(columns) if hasattr(X, "columns") else [f"x{n}" for n in range(5)]
    parts = ColumnParts(dates=[2], text=[3]).fit(X, labels)
    assert list(parts.parts_) == [names[2], names[3]]
    assert ColumnParts(dates=[], text=[]).fit(X, labels).parts_ == {}
    assert as_lists(ColumnParts(dates=[], text=[]).fit(X, labels).transform(X)) == as_lists(X)


def test_numbers_that_are_named_as_text_are_what_they_are_in_print():
    parts = ColumnParts(text=[0], max_words=0).fit([[12], [345]])
    assert parts.transform([[7]]).tolist() == [[7, "7", "7"]]


def test_a_name_is_worth_something():
    """New wines' colours: with words of names the loss is near the least there is."""
    columns, colours = wines(2000)
    X, y = pd.DataFrame(columns), np.array(colours)
    plain, parts = EvidenceClassifier(max_order=2), make_pipeline(ColumnParts(), EvidenceClassifier(max_order=2))
    losses = [log_loss(y[1000:], model.fit(X[:1000], y[:1000]).predict_proba(X[1000:])) for model in (plain, parts)]
    share = np.array(list(VARIETIES.values()))
    least = -np.mean(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert losses[0] > 0.6
    assert losses[1] < least + 0.06 < 0.3
    (varieties,) = parts[0]._learned.of_columns[0].words
    assert {"merlot", "riesling"} <= set(varieties) <= set(" ".join(VARIETIES).split())


def test_an_hour_is_worth_something():
    """Mornings tell the class, which the order of times hides among many days."""
    random = np.random.default_rng(0)
    hours = random.integers(0, 24, 1500)
    days = random.integers(0, 1000, 1500)
    times = np.datetime64("2020-01-01") + days.astype("m8[D]") + hours.astype("m8[h]")
    y = np.where((hours < 12) ^ (random.random(1500) < 0.1), "am", "pm")
    X = pd.DataFrame({"sent": times})
    losses = [
        log_loss(y, cross_val_predict(model, X, y, method="predict_proba", cv=3))
        for model in (NaiveBayes(), make_pipeline(ColumnParts(), NaiveBayes()))
    ]
    assert losses[0] > 0.6
    assert losses[1] < 0.45


def test_words_that_are_chosen_make_new_rows_no_worse_than_labels_of_chance():
    """With random labels, the choice of words costs next to nothing."""
    columns, _ = wines(600)
    y = np.random.default_rng(3).choice(["a", "b"], 600)
    X = pd.DataFrame({"name": columns["name"]})
    model = make_pipeline(ColumnParts(), NaiveBayes(weighting="loo"))
    assert log_loss(y, cross_val_predict(model, X, y, method="predict_proba", cv=3)) < np.log(2) + 0.02


def test_more_rows_than_are_looked_at(monkeypatch):
    monkeypatch.setattr(column_parts, "MOST_ROWS", 250)
    columns, labels = mixed()
    X = pl.DataFrame(columns)
    parts = ColumnParts().fit(X, labels)
    assert "text: key word" in parts.parts_["text"]
    assert len(parts.transform(X)) == 300
    assert parts._learned == ColumnParts().fit(X, labels)._learned


def test_tools_of_scikit_learn():
    columns, labels = mixed()
    X = pd.DataFrame(columns)
    parts = ColumnParts(max_words=1).fit(X, labels)
    again = pickle.loads(pickle.dumps(parts))
    pd.testing.assert_frame_equal(again.transform(X), parts.transform(X))
    assert clone(parts).get_params() == parts.get_params() == {"dates": "auto", "max_words": 1, "text": "auto"}
    assert "ColumnParts" in parts._repr_html_()
    assert parts.n_features_in_ == 5
    assert parts.feature_names_in_.tolist() == list(columns)
    search = GridSearchCV(
        make_pipeline(ColumnParts(), NaiveBayes()), {"columnparts__max_words": [0, 1]}, scoring="neg_log_loss", cv=3
    )
    assert search.fit(X, labels).best_params_ == {"columnparts__max_words": 1}
    with pytest.raises(NotFittedError):
        ColumnParts().transform(X)
    with pytest.raises(NotFittedError):
        ColumnParts().get_feature_names_out()
    assert not hasattr(ColumnParts(), "n_features_in_")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(backend, library, kind):
    columns, labels = mixed()
    X = make_table(backend, columns)
    parts = ColumnParts().set_output(transform=library).fit(X, labels)
    made = parts.transform(X)
    assert isinstance(made, kind)
    assert list(made.columns) == parts.get_feature_names_out().tolist()
    same = ColumnParts().fit_transform(X, labels)
    for n, (one, other) in enumerate(zip(as_lists(made), as_lists(same), strict=True)):
        assert n == 2 or one == other  # pandas has no days, only times
    with config_context(transform_output=library):
        assert isinstance(ColumnParts().fit(X, labels).transform(X), kind)


def test_columns_out_of_place(table):
    columns, labels = mixed()
    parts = ColumnParts().fit(table(columns), labels)
    fewer = {name: values for name, values in columns.items() if name != "size"}
    with pytest.raises(InputError):
        parts.transform(table(fewer))


def test_columns_in_another_order():
    columns, labels = mixed()
    parts = ColumnParts().fit(pd.DataFrame(columns), labels)
    with pytest.raises(InputError, match="Column 'size' stands where 'text' stood"):
        parts.transform(pd.DataFrame(columns)[list(columns)[::-1]])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dates": "all"}, "dates='all' is not known"),
        ({"text": "no"}, "text='no' is not known"),
        ({"text": ["txt"]}, r"(?s)column in text='txt' is not known.*Did you mean 'text'"),
        ({"text": ["text"], "dates": ["text"]}, "Columns text are in dates and in text"),
        ({"max_words": -1}, "max_words=-1 must be"),
        ({"max_words": 1.5}, "max_words=1.5 must be"),
        ({"max_words": 1001}, "max_words=1001 must be an integer from 0 to 1,000"),
        ({"max_words": True}, "max_words=True must be"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    columns, labels = mixed()
    with pytest.raises(ParameterError, match=message):
        ColumnParts(**parameters).fit(pd.DataFrame(columns), labels)


def test_names_that_are_taken():
    columns, labels = mixed()
    with pytest.raises(InputError, match="(?s)Column 'day: month' is in the table.*Rename it"):
        ColumnParts().fit(pd.DataFrame(columns | {"day: month": columns["size"]}), labels)


def test_names_that_are_numbers():
    columns, labels = mixed()
    X = pd.DataFrame(columns)
    X.columns = range(5)
    with pytest.raises(InputError, match=r"(?s)names of the columns are not text.*astype\(str\)"):
        ColumnParts().fit(X, labels)
    pd.testing.assert_frame_equal(ColumnParts().fit_transform(X[[3, 4]], labels), X[[3, 4]])


def test_a_fit_that_fails_changes_nothing():
    columns, labels = mixed()
    X = pd.DataFrame(columns)
    parts = ColumnParts().fit(X, labels)
    before = parts._learned
    with pytest.raises(InputError, match="X has 300 rows but y has 299"):
        parts.fit(X, labels[:-1])
    with pytest.raises(InputError, match="X has 0 rows"):
        parts.fit(X[:0])
    with pytest.raises(InputError, match="lazy"):
        parts.fit(pl.LazyFrame(columns), labels)
    assert parts._learned is before
