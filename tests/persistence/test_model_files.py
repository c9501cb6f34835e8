"""Saved models: what comes back is what was saved, and a bad file is a clear error that runs nothing."""

import datetime as dt
import io
import json
import pickle
import zipfile
from decimal import Decimal
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

import hebnb
from conftest import examples
from hebnb import AODE, HEB, Additive, InputError, NaiveBayes, Smoother, load, save
from hebnb.datasets import load_flights
from hebnb.foundation.json_values import from_json, to_json
from models import MODELS, strange_rows, table

HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE rows; --",
    '"',
    "\\",
    "\n",
    "\u202egnp",
    "=cmd()",
    "x" * 10_000,
    "",
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def check_equal(loaded, model, rows):
    assert repr(loaded) == repr(model)
    assert_array_equal(loaded.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows))
    assert_array_equal(loaded.classes_, model.classes_)
    for name in vars(model):
        assert hasattr(loaded, name), name


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("how", ["skops", "pickle", "joblib"])
def test_round_trips(model, how, path):
    X, y = table()
    model.fit(X, y)
    if how == "skops":
        save(model, path)
        loaded = load(path)
    elif how == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, path)
        loaded = joblib.load(path)
    check_equal(loaded, model, strange_rows(X))


@pytest.mark.parametrize("model", [NaiveBayes(weighting="loo"), AODE(weighting="loo")], ids=repr)
def test_flights_come_back_to_the_last_bit(model, path):
    X, y = load_flights(backend="pandas")
    model.fit(X, y)
    save(model, path)
    loaded = load(path)
    check_equal(loaded, model, X.head(2000))
    assert_array_equal(loaded.loo_predict_proba(X, y), model.loo_predict_proba(X, y))
    pd.testing.assert_frame_equal(loaded.explain(X.head(3)), model.explain(X.head(3)))


def test_a_loaded_model_learns_on(path):
    X, y = table()
    model = NaiveBayes().partial_fit(X[:30], y[:30], classes=["x", "y", "z"])
    save(model, path)
    loaded = load(path).partial_fit(X[30:], y[30:])
    check_equal(loaded, model.partial_fit(X[30:], y[30:]), X)
    with pytest.raises(InputError, match="not in classes"):
        loaded.partial_fit(X[:1], ["new"])


def test_all_kinds_of_categories(path):
    zone = dt.timezone(dt.timedelta(hours=2))
    columns = {
        "text": HOSTILE,
        "integers": [2**70, -1, 0, 1, 2, 3, 4, 5, 6],
        "dates": [dt.date(2024, 1, day) for day in range(1, 10)],
        "zones": [dt.datetime(2024, 1, 1, hour, tzinfo=zone) for hour in range(9)],
        "times": [dt.time(hour) for hour in range(9)],
        "tuples": [("a", n) for n in range(9)],
        "decimals": [Decimal(n) / 7 for n in range(9)],
        "spans": [dt.timedelta(days=n, microseconds=n) for n in range(9)],
        "mixed": [None, True, "True", 2, 2.5, "2", ("t",), dt.date(2000, 1, 1), b"".decode()],
    }
    X = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})
    y = np.array(["a", "b", "c"] * 3)
    model = NaiveBayes(categorical_features="all").fit(X, y)
    save(model, path)
    check_equal(load(path), model, X)


@examples(100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.dates()
        | st.datetimes() | st.times() | st.timedeltas() | st.decimals(allow_nan=False),
        lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)  # fmt: skip
def test_values_survive_json(value):
    back = from_json(json.loads(json.dumps(to_json(value))))
    assert back == value
    assert type(back) is type(value)


def test_parameters_come_back(path):
    X, y = table()
    model = NaiveBayes(
        smoothing=HEB(solver="minka", bounds=(0.1, 5.0)),
        class_prior=np.array([0.2, 0.3, 0.5]),
        categorical_features=["number"],
        bin_edges={"cut": [-0.5, 0.5]},
        random_state=np.random.RandomState(1),
    ).fit(X, y)
    save(model, path)
    loaded = load(path)
    assert loaded.smoothing.bounds == (0.1, 5.0)
    assert loaded.bin_edges == {"cut": [-0.5, 0.5]}
    assert loaded.random_state is None
    assert_array_equal(loaded.class_prior, [0.2, 0.3, 0.5])
    assert_array_equal(loaded.fit(X, y).predict_proba(X), model.predict_proba(X))


def test_a_model_of_an_array_has_no_names(path):
    X, y = table()
    model = NaiveBayes().fit(X.to_numpy(dtype=object), y)
    save(model, path)
    assert not hasattr(load(path), "feature_names_in_")
    check_equal(load(path), model, X.to_numpy(dtype=object))


def saved(path):
    X, y = table()
    save(NaiveBayes(weighting="loo").fit(X, y), path)
    return path


def with_header(path, change):
    """The file with something else in its header."""
    content = skops.io.load(path)
    header = json.loads(content["header"])
    change(header, content["arrays"])
    content["header"] = json.dumps(header)
    skops.io.dump(content, path)


def test_a_file_of_an_older_minor_version_loads():
    """Written by 0.1.0 and kept: whatever models become, this one is read."""
    model = load(Path(__file__).parents[1] / "data" / "naive-bayes-0.1.0.skops")
    # Laplace on [["a"], ["a"], ["b"]] with labels x, x, y: P(x) = 3/5, P(a | x) = 3/4, P(a | y) = 1/3.
    assert_array_equal(model.classes_, ["x", "y"])
    odds = (3 / 5 * 3 / 4) / (2 / 5 * 1 / 3)
    assert model.predict_proba([["a"]])[0, 0] == pytest.approx(odds / (1 + odds), abs=1e-12)


@pytest.mark.parametrize(("name", "model"), [("aode", AODE("laplace")), ("aode-loo", AODE(weighting="loo"))])
def test_files_of_version_0_1_hold_what_was_learned(name, model, path):
    """They were written by 0.1.0 from these rows, so they say what a model of these rows says."""
    loaded = load(Path(__file__).parents[1] / "data" / f"{name}-0.1.0.skops")
    X = np.array([["red", "s"], ["red", "m"], ["blue", "m"], ["blue", "l"], ["green", None]] * 8, dtype=object)
    model.fit(X, ["no", "no", "yes", "yes", "no"] * 8)
    rows = np.array([["red", "s"], ["blue", "m"], ["unseen", "l"], ["green", None]], dtype=object)
    # Weights are where Newton's method has ended, and versions that add up in another order end a rounding apart.
    atol = 1e-9 if name == "aode-loo" else 1e-12
    assert_allclose(loaded.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows), rtol=0, atol=atol)
    assert_array_equal(loaded.parents_, model.parents_)
    assert hasattr(loaded, "loo_log_loss_") == (name == "aode-loo")
    save(loaded, path)  # in the format of today
    assert_allclose(load(path).predict_proba(rows), loaded.predict_proba(rows), rtol=0, atol=1e-12)


def test_a_file_of_a_newer_format_says_so(path):
    with_header(saved(path), lambda header, _: header.update(format=99, hebnb="9.9"))
    with pytest.raises(InputError, match=r"hebnb 9\.9, which is newer"):
        load(path)


def test_truncated_at_any_length(path):
    whole = saved(path).read_bytes()
    for length in [0, 1, 10, *range(100, len(whole), max(len(whole) // 40, 1)), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match="not a model file|not a whole model"):
            load(path)


def test_altered_bytes_never_give_another_model(path):
    X, y = table()
    model = NaiveBayes(weighting="loo").fit(X, y)
    save(model, path)
    whole = path.read_bytes()
    expected = model.predict_proba(X)
    random = np.random.default_rng(0)
    refused = 0
    for at in random.integers(0, len(whole), 150):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << random.integers(8))]) + whole[at + 1 :])
        try:
            assert_array_equal(load(path).predict_proba(X), expected)  # a date or a flag of the container
        except InputError:
            refused += 1
    assert refused > 75


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('code ran')",)


def test_foreign_files(path, tmp_path):
    contents = {
        "text": b"target,feature\n1,2\n",
        "a pickle": pickle.dumps(Bomb()),
        "an empty zip": b"PK\x05\x06" + b"\0" * 18,
        "another skops file": skops.io.dumps(LogisticRegression()),
        "a dictionary": skops.io.dumps({"a": 1}),
        "functions": skops.io.dumps({"header": np.sum, "arrays": {}}),
    }
    for what, content in contents.items():
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            load(path)
        assert str(path) in str(caught.value), what
    with pytest.raises(InputError, match="no file"):
        load(tmp_path / "absent.skops")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)


def test_a_schema_that_names_code_is_refused_before_anything_is_built(path):
    """A container that asks for os.system by every loader that skops has."""
    with zipfile.ZipFile(saved(path)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    for loader in ("FunctionNode", "TypeNode", "ObjectNode", "OperatorFuncNode", "MethodNode", "PartialNode"):
        schema = json.loads(members["schema.json"])
        schema["content"]["header"] = {"__class__": "system", "__module__": "os", "__loader__": loader, "content": {}}
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(name, json.dumps(schema) if name == "schema.json" else content)
        with pytest.raises(InputError, match=r"holds os\.system"):
            load(path)


def test_arrays_of_objects_are_refused(path):
    content = skops.io.load(saved(path))
    content["arrays"]["class_count"] = np.array(["a", None], dtype=object)
    skops.io.dump(content, path)
    with pytest.raises(InputError):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(model="LogisticRegression"),
        lambda header, arrays: header.update(model="AODE"),
        lambda header, arrays: header.pop("classes"),
        lambda header, arrays: header.update(rule={"smoother": "os.system", "parameters": {}}),
        lambda header, arrays: header["rule"]["parameters"].update(nonsense=1),
        lambda header, arrays: header["parameters"].update(smoothing={"exec": "1"}),
        lambda header, arrays: header["vocabulary"]["names"].append("one more"),
        lambda header, arrays: header["vocabulary"]["names"].__setitem__(0, "number"),
        lambda header, arrays: header["vocabulary"]["features"][0]["values"].reverse(),
        lambda header, arrays: header["vocabulary"]["features"][0]["values"].append("zzz"),
        lambda header, arrays: header["vocabulary"].update(missing="explode"),
        lambda header, arrays: arrays.update(class_count=np.array([1.0, -1.0, 2.0])),
        lambda header, arrays: arrays.update(class_count=np.array([1.0, np.nan, 2.0])),
        lambda header, arrays: arrays.update(table0=np.zeros((2, 2))),
        lambda header, arrays: arrays.pop("table1"),
        lambda header, arrays: arrays.update({"concentration0": np.zeros((3, 4))}),
        lambda header, arrays: arrays.update({"weights": np.ones(9)}),
        lambda header, arrays: arrays.pop("log_prior"),
        lambda header, arrays: header.update(format="1"),
        lambda header, arrays: header.update(dropped=5),
        lambda header, arrays: header["classes"]["values"].__setitem__(0, None),
        lambda header, arrays: arrays.update(class_count=np.zeros(3)),
        lambda header, arrays: arrays.update({"log_loss": np.array("x")}),
        lambda header, arrays: arrays.update({"log_prior": np.zeros(3) + 1j}),
        lambda header, arrays: arrays.update({"weights": np.full(4, np.nan)}),
        lambda header, arrays: arrays.update({"concentration0": np.full((3, 4), np.nan)}),
        lambda header, arrays: arrays.update({"offsets": np.full(3, np.inf)}),
        lambda header, arrays: header["tables"].pop(),
        lambda header, arrays: header["tables"][0].append(1),
        lambda header, arrays: header.update(estimates={"min_count": 1.0}),
        lambda header, arrays: header.clear(),
    ],
)  # fmt: skip
def test_documents_that_do_not_hold_together(change, path):
    with_header(saved(path), change)
    with pytest.raises(InputError, match=r"model\.skops"):
        load(path)


@pytest.mark.parametrize("part", ["first", "second", "class_"])
def test_pairs_out_of_range(part, path):
    X, y = load_flights(backend="pandas")
    save(AODE(max_joint_cells=None).fit(X[:2000], y[:2000]), path)
    content = skops.io.load(path)
    content["arrays"][f"pairs.{part}"] = content["arrays"][f"pairs.{part}"] + 10_000_000
    skops.io.dump(content, path)
    with pytest.raises(InputError, match="counts of no category"):
        load(path)


def test_sparse_tables_out_of_range(path):
    random = np.random.default_rng(0)
    X = random.integers(0, 40_000, (50_000, 1))
    y = random.integers(0, 500, 50_000)
    model = NaiveBayes().fit(X, y)
    save(model, path)
    check_equal(load(path), model, X[:100])
    content = skops.io.load(path)
    content["arrays"]["table0.indices"] = content["arrays"]["table0.indices"] + 1_000_000
    skops.io.dump(content, path)
    with pytest.raises(InputError, match=r"model\.skops"):
        load(path)


class OwnSmoother(Additive):
    pass


class OwnValue:
    pass


def test_what_cannot_be_saved(path):
    X, y = table()
    assert issubclass(OwnSmoother, Smoother)
    with pytest.raises(InputError, match="(?s)OwnSmoother.*joblib"):
        save(NaiveBayes(OwnSmoother()).fit(X, y), path)
    with pytest.raises(InputError, match="LogisticRegression is not a classifier of hebnb"):
        save(LogisticRegression().fit([[0], [1]], [0, 1]), path)
    one, other = OwnValue(), OwnValue()
    strange = NaiveBayes().fit(np.array([[one], [other]], dtype=object), [0, 1])
    with pytest.raises(InputError, match="OwnValue cannot be saved"):
        save(strange, path)
    assert not path.exists()
    with pytest.raises(hebnb.InputError, match="no folder"):
        save(NaiveBayes().fit(X, y), path.parent / "absent" / "model.skops")


def test_a_failed_save_leaves_the_old_file(path, monkeypatch):
    X, y = table()
    before = saved(path).read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        save(NaiveBayes().fit(X, y), path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model.skops"]


def test_saving_is_for_fitted_models(path):
    with pytest.raises(ValueError, match="not fitted"):
        save(NaiveBayes(), path)


def test_the_container_holds_plain_values_only(path):
    data = saved(path).read_bytes()
    assert skops.io.get_untrusted_types(data=data) == []
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert {Path(name).suffix for name in file.namelist()} == {".npy", ".json"}
