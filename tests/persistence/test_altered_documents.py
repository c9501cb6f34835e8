"""A document that somebody changed is refused, or it is a model like any other."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

from counted import MAKES
from counted import table as counted_table
from hebnb import ColumnParts, EvidenceClassifier, HebnbError, NaiveBayes, load
from hebnb.estimators.state import AsWritten
from hebnb.persistence import container, document, model_files
from hebnb.persistence.allowance import Allowance
from models import MODELS, strange_rows, table
from wines import wines

NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1e308, -1e308, 1e-320, 2**53, 3, 10**400]
OTHERS = ["", "x", None, True, [], {}, [1], {"tuple": [1]}, {"decimal": "NaN"}, {"dict": []}]
ALTERATIONS = 60


def with_hierarchy():
    X, y = table()
    X = X.assign(place=[f"{n % 4}/{n % 12}" for n in range(len(X))])
    return EvidenceClassifier(hierarchies={"place": "/"}).fit(X, y), X


def with_parts():
    columns, colours = wines(120)
    X = pd.DataFrame(columns).assign(sold=pd.date_range("2024-01-01", periods=120, freq="31h"))
    return make_pipeline(ColumnParts(max_words=3), NaiveBayes()).fit(X, colours), X


def places(item, path=()):
    """Where a JSON value has others in it."""
    inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def alter_header(header, random):
    """Put something else in one place, or nothing, or the same twice."""
    *above, last = random.choice(np.array([*places(header), None], dtype=object)[:-1])
    holder = header
    for key in above:
        holder = holder[key]
    way = random.integers(5)
    if way == 0:
        del holder[last]
    elif way == 1 and isinstance(holder, list):
        holder.insert(last, copy.deepcopy(holder[last]))
    elif way == 2 and isinstance(holder[last], int | float):
        holder[last] = holder[last] * [-1, 2, 1000, 0.5][random.integers(4)]
    else:
        some = [*NUMBERS, *OTHERS]
        holder[last] = some[random.integers(len(some))]


def alter_arrays(arrays, random):
    """Change numbers, shapes or types of an array, or leave it out."""
    name = sorted(arrays)[random.integers(len(arrays))]
    array = arrays[name].copy()
    way = random.integers(8)
    if way == 0:
        del arrays[name]
        return
    if way == 1:
        array = array[..., np.newaxis] if random.integers(2) else array.ravel()[: array.size // 2]
    elif way == 2:
        array = np.concatenate([array.ravel(), array.ravel()])
    elif way == 3:
        array = array.astype([str, np.complex128, np.int8, np.uint64, bool][random.integers(5)])
    elif way == 4:
        array = array[::-1] if array.ndim else -array
    elif way == 5 and array.size and array.dtype.kind in "if":
        array = array * array.dtype.type([-1, 0, 2, 100][random.integers(4)])
    elif array.size:
        numbers = NUMBERS[:-1] if array.dtype.kind in "fc" else [0, 1, 2**31 - 1, -1 if array.dtype.kind == "i" else 0]
        array = array.copy()
        array.ravel()[random.integers(array.size)] = numbers[random.integers(len(numbers))]
    arrays[name] = array


def altered(content, seed):
    random = np.random.default_rng(seed)
    header, arrays = json.loads(content["header"]), dict(content["arrays"])
    for _ in range(random.integers(1, 3)):
        if random.integers(2):
            alter_header(header, random)
        else:
            alter_arrays(arrays, random)
    return {"header": json.dumps(header), "arrays": arrays}


def answered(content, rows, monkeypatch, tmp_path):
    """The probabilities of a file with this content."""
    path = tmp_path / "altered.skops"
    path.write_bytes(b"")
    monkeypatch.setattr(container, "read", lambda data, allowance: content)
    monkeypatch.setattr(model_files, "Allowance", lambda path, size, limit: Allowance(Path(path), 1 << 16, limit))
    return load(path).predict_proba(rows)


@pytest.mark.parametrize("number", range(len(MODELS) + 1), ids=[*map(repr, MODELS), "hierarchy"])
@pytest.mark.filterwarnings("ignore")
def test_altered_documents_are_refused_or_are_models(number, monkeypatch, tmp_path):
    if number < len(MODELS):
        X, y = table()
        model = MODELS[number].fit(X, y)
        rows = strange_rows(X)
    else:
        model, X = with_hierarchy()
        rows = X.head(8)
    content = document.of_model(model)
    refused = 0
    for seed in range(ALTERATIONS):
        try:
            proba = answered(altered(content, [number, seed]), rows, monkeypatch, tmp_path)
        except HebnbError:
            refused += 1
            continue
        assert np.isfinite(proba).all(), (number, seed)
        assert_allclose(proba.sum(axis=1), 1, err_msg=str((number, seed)))
    assert refused > ALTERATIONS / 5


@pytest.mark.filterwarnings("ignore")
def test_altered_parts_are_refused_or_are_parts(monkeypatch, tmp_path):
    model, X = with_parts()
    content = document.of_model(model)
    assert_array_equal(answered(content, X, monkeypatch, tmp_path), model.predict_proba(X))
    refused = 0
    for seed in range(4 * ALTERATIONS):
        header = json.loads(content["header"])
        alter_header(header["parts"], np.random.default_rng([99, seed]))
        try:
            proba = answered(content | {"header": json.dumps(header)}, X, monkeypatch, tmp_path)
        except HebnbError:
            refused += 1
            continue
        assert_allclose(proba.sum(axis=1), 1, err_msg=str(seed))
    assert refused > 2 * ALTERATIONS


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.filterwarnings("ignore")
def test_altered_counts_are_refused_or_can_be_learned_from(name, monkeypatch, tmp_path):
    X, y = counted_table(1)
    counts = MAKES[name]().fit(X, y).counts_
    content = document.of_counts(document.CountedPart(MAKES[name](), counts, "y", AsWritten()))
    refused = 0
    path = tmp_path / "altered.counts"
    path.write_bytes(b"")
    monkeypatch.setattr(model_files, "Allowance", lambda path, size, limit: Allowance(Path(path), 1 << 16, limit))
    for seed in range(ALTERATIONS):
        changed = altered(content, [7, seed])
        monkeypatch.setattr(container, "read", lambda data, allowance, changed=changed: changed)
        try:
            part = model_files.load_counts(path)
            both = part.counts + part.counts
            part.model._learning()
        except HebnbError:
            refused += 1
            continue
        for own, kind in zip(both.tables, both.vocabulary.features, strict=True):
            assert own.shape == (kind.size, both.classes.size)
        scores = part.model.fit_counts(both).score_tables_  # merge asks whether these answer
        assert document.answers(scores) in (True, False)
    assert refused > ALTERATIONS / 5
