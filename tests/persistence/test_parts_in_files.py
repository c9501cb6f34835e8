"""A pipeline of parts and a classifier as a file: what comes back is what was saved, and nothing else is accepted."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from conftest import BACKENDS, make_table
from hebnb import AODE, ColumnParts, EvidenceClassifier, InputError, NaiveBayes, load, save
from hebnb.export import onnx_inputs, to_onnx, to_sql
from hebnb.parts.column_parts import MOST_WORDS
from wines import wines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def rows():
    columns, colours = wines(150)
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=31 * n) for n in range(150)]
    return columns | {"sold": times}, colours


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("classifier", [NaiveBayes(), AODE(weighting="loo"), EvidenceClassifier(max_order=2)], ids=repr)
def test_round_trips(backend, classifier, path):
    columns, colours = rows()
    X = make_table(backend, columns)
    model = make_pipeline(ColumnParts(text=[0], dates=[2], max_words=5), classifier).fit(X, colours)
    save(model, path)
    loaded = load(path)
    assert repr(loaded) == repr(model)
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded[0]._learned == model[0]._learned
    assert_array_equal(loaded[0].get_feature_names_out(), model[0].get_feature_names_out())


def test_names_of_parts_are_in_explanations(path):
    columns, colours = rows()
    X = pd.DataFrame(columns)
    save(make_pipeline(ColumnParts(), NaiveBayes()).fit(X, colours), path)
    loaded = load(path)
    lines = loaded[-1].explain(loaded[:-1].transform(X[:1]))
    assert {"name: last word", "sold: weekday"} <= set(lines["feature"])


def test_models_without_parts_are_written_as_before(path):
    """So that an older version still reads them, and one that would leave the parts out refuses those with parts."""
    columns, colours = rows()
    X = pd.DataFrame(columns)
    formats = []
    for model in (NaiveBayes(), make_pipeline(ColumnParts(), NaiveBayes())):
        save(model.fit(X, colours), path)
        formats.append(json.loads(skops.io.load(path)["header"])["format"])
    assert formats == [2, 3]


def change(path, **parts):
    """Put other things into the parts of a file."""
    content = skops.io.load(path)
    header = json.loads(content["header"])
    for own in header["parts"]["columns"]:
        own.update({key: value for key, value in parts.items() if key in own})
    header["parts"].update({key: value for key, value in parts.items() if key in header["parts"]})
    skops.io.dump(content | {"header": json.dumps(header)}, path)


@pytest.mark.parametrize(
    ("altered", "message"),
    [
        ({"at": 3}, "parts of no column"),
        ({"at": -1}, "parts of no column"),
        ({"at": True}, "parts of no column"),
        ({"at": 0.0}, "parts of no column"),
        ({"at": 0}, "columns occur twice"),
        ({"parts": ["century"]}, "no such parts"),
        ({"parts": ["year", "year"]}, "no such parts"),
        ({"words": [["a"], ["a"]]}, "no such words"),
        ({"words": [[["a"]]]}, "no such words"),
        ({"words": [[]]}, "no such words"),
        ({"words": [[f"w{n}" for n in range(MOST_WORDS + 1)]]}, "no such words"),
        ({"words": [["a"], ["b"]]}, "not those that the model learned from"),
        ({"names": ["name", "price", "name"]}, "columns occur twice"),
        ({"names": ["name", "price", "bought"]}, "not those that the model learned from"),
        ({"names": [0, 1, 2]}, "not those that the model learned from"),
        ({"columns": []}, "not those that the model learned from"),
        ({"parameters": {"cost": 1}}, "unexpected keyword"),
        ({"kind": "sounds"}, "sounds"),
    ],
)
def test_parts_that_do_not_fit_are_refused(altered, message, path):
    columns, colours = rows()
    save(make_pipeline(ColumnParts(max_words=2), NaiveBayes()).fit(pd.DataFrame(columns), colours), path)
    change(path, **altered)
    with pytest.raises(InputError, match=f"is not a whole model of hebnb .*{message}"):
        load(path)


def test_pipelines_of_other_steps_are_refused(path):
    columns, colours = rows()
    X = pd.DataFrame(columns)
    for model in (
        make_pipeline(FunctionTransformer(), NaiveBayes()),
        make_pipeline(ColumnParts(), FunctionTransformer(), NaiveBayes()),
        Pipeline([("model", NaiveBayes())]),
    ):
        with pytest.raises(InputError, match=r"(?s)A pipeline of .* is none that hebnb knows.*make_pipeline"):
            save(model.fit(X, colours), path)
    with pytest.raises(NotFittedError):
        save(make_pipeline(ColumnParts(), NaiveBayes()), path)
    with pytest.raises(NotFittedError):
        save(make_pipeline(ColumnParts(), NaiveBayes().fit(X, colours)), path)
    assert not path.exists()


def test_queries_and_graphs_say_that_they_have_no_parts():
    columns, colours = rows()
    X = pd.DataFrame(columns)
    model = make_pipeline(ColumnParts(), NaiveBayes()).fit(X, colours)
    for export in (to_sql, to_onnx, lambda model: onnx_inputs(model, X)):
        with pytest.raises(InputError, match=r"(?s)does not make: 'name: last word'.* more\..*model\[-1\]"):
            export(model)
    assert "name: last word" in to_sql(model[-1])


def test_times_of_text_are_times_in_the_loaded_model_too(path):
    X = pd.DataFrame({"day": [f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}" for n in range(120)]})
    y = np.array(["cold" if (n % 12 < 6) != (n % 10 == 0) else "warm" for n in range(120)])
    model = make_pipeline(ColumnParts(dates=["day"]), NaiveBayes()).fit(X, y)
    save(model, path)
    assert load(path).score(X, y) == model.score(X, y) >= 0.9
