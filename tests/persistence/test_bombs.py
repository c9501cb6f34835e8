"""Files that are small and would take much memory are refused before they take it; large honest ones are not."""

import io
import json
import math
import subprocess
import sys
import textwrap
import zipfile

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, InputError, NaiveBayes, load, save
from hebnb.foundation.memory import honest_bytes
from hebnb.persistence import document
from hebnb.persistence.allowance import Allowance

# What loading may take beyond the library itself.
MOST_BYTES = 200e6


@pytest.fixture
def path(tmp_path):
    return tmp_path / "bomb.skops"


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)


def members_of(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def empty_objects(path):
    """A schema of 130 million objects with nothing in them: 390 MB of JSON, 9 GB of Python."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("schema.json", "w") as stream:
        stream.write(b'{"content": [{}')
        for _ in range(1300):
            stream.write(b",{}" * 100_000)
        stream.write(b"]}")


def objects_in_the_header(path):
    """The same in the header, which is JSON in the schema's JSON."""
    save(NaiveBayes().fit([["a"], ["b"]], [0, 1]), path)
    members = members_of(path)
    schema = json.loads(members["schema.json"])
    schema["content"]["header"]["content"] = json.dumps('{"format": [' + "{}," * 10_000_000 + "0]}")
    zipped(path, members | {"schema.json": json.dumps(schema)})


def declared_pairs(path):
    """An AODE of 60 columns with 60,000 categories each, which share one array and were counted once."""
    n_features, n_categories = 60, 60_000
    save(AODE(max_parent_categories=None, max_joint_cells=None).fit([["a", "b"], ["b", "a"]], [0, 1]), path)
    content = skops.io.load(path)
    header, arrays = json.loads(content["header"]), content["arrays"]
    codes = np.arange(n_categories)
    header["vocabulary"].update(
        names=list(range(n_features)), features=[{"kind": "categories", "missing": False}] * n_features
    )
    header["tables"] = [[f] for f in range(n_features)]
    empty = {"data": np.empty(0), "indices": np.empty(0, np.int32), "indptr": np.zeros(n_categories + 1, np.int32)}
    nothing = np.empty(0, dtype=np.int64)
    arrays.pop("pairs.square")
    for f in range(n_features):
        arrays.pop(f"table{f}", None)
        arrays |= {f"feature{f}": codes, **{f"table{f}.{part}": array for part, array in empty.items()}}
    arrays |= {"pairs.first": nothing, "pairs.second": nothing, "pairs.class_": nothing, "pairs.count": np.empty(0)}
    arrays |= {"weights": np.ones(n_features), "concentration0": np.ones((2, n_features))}
    arrays["parents"] = np.arange(n_features)
    used = np.where(np.eye(n_features, dtype=bool), np.nan, 1.0)
    arrays["pair_concentration"] = np.stack([used, used])
    skops.io.dump({"header": json.dumps(header), "arrays": arrays}, path, compression=zipfile.ZIP_DEFLATED)


def long_zeros(path):
    """An array of 1 GB that nobody needs."""
    save(NaiveBayes().fit([["a"], ["b"]], [0, 1]), path)
    members = members_of(path)
    name = next(name for name in members if name.endswith(".npy"))
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (125_000_000,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for other, content in members.items():
            if other != name:
                file.writestr(other, content)
        with file.open(name, "w", force_zip64=True) as stream:
            stream.write(head.getvalue())
            for _ in range(1000):
                stream.write(bytes(1_000_000))


def nested_paths(path):
    """A tree of paths whose categories have a hundred thousand ancestors each."""
    X = [["a/b"], ["a/c"], ["b/c"]] * 4
    save(EvidenceClassifier(hierarchies={0: "/"}).fit(X, [0, 1, 0] * 4), path)
    content = skops.io.load(path)
    header = json.loads(content["header"])
    header["vocabulary"]["features"][0]["values"][0] = "a/" * 100_000 + "b"
    content["header"] = json.dumps(header)
    skops.io.dump(content, path, compression=zipfile.ZIP_DEFLATED)


BOMBS = [empty_objects, objects_in_the_header, declared_pairs, long_zeros, nested_paths]

# The most memory that a process has had, above what the library takes with a small model; and what went wrong.
LOADING = """
    import resource, sys
    import hebnb

    def most():
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak * (1 if sys.platform == "darwin" else 1024)

    hebnb.load(sys.argv[1])
    floor = most()
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    try:
        hebnb.load(sys.argv[2])
        print("loaded")
    except hebnb.InputError as error:
        print(str(error).replace("\\n", " "))
    print(most() - floor)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured by resource")
@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_are_refused_before_they_take_memory(bomb, path, tmp_path):
    bomb(path)
    assert path.stat().st_size < 1.1e6
    small = tmp_path / "small.skops"
    save(AODE().fit([["a", "b"], ["b", "a"]], [0, 1]), small)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LOADING), str(small), str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said, taken = done.stdout.splitlines()
    assert "MB of memory or more" in said
    assert float(taken) < MOST_BYTES, taken


def test_what_is_declared_is_known_before_it_is_made(path):
    """60 columns of 60,000 categories: sums of 17 GB."""
    declared_pairs(path)
    with pytest.raises(InputError, match=r"would take 17,\d{3} MB"):
        load(path, memory_limit=8e9)


def columns(n_rows, n_columns, n_categories, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(0, n_categories, (n_rows, n_columns)).astype(str), random.integers(0, n_classes, n_rows)


def long_names(n_categories):
    """Categories that compress well: the same address but for its end."""
    names = [["https://example.org/" + "path/" * 50 + str(n)] for n in range(n_categories)]
    return np.array(names, dtype=object), np.arange(n_categories) % 2


HONEST = {
    "many categories": (NaiveBayes(), columns(150_000, 1, 10_000_000)),
    "long categories": (NaiveBayes(), long_names(50_000)),
    "many classes": (NaiveBayes(), columns(20_000, 3, 2_000, n_classes=4_000)),
    "many pairs": (AODE(max_parent_categories=None), columns(400, 60, 10_000)),
    "empty squares": (AODE(max_parent_categories=None), columns(50_000, 2, 350)),
    "many parents": (TAN(), columns(150, 150, 150)),
    "means of pairs": (HNB(), columns(150, 40, 60)),
    "families": (KDB(2), columns(60, 300, 40)),
    "capped pairs": (AODE(), columns(250, 200, 10_000)),
    "crosses": (EvidenceClassifier(), columns(1_000, 12, 6)),
}


@pytest.mark.parametrize("what", HONEST)
@pytest.mark.filterwarnings("ignore")
def test_large_honest_models_are_not_called_bombs(what, path):
    model, (X, y) = HONEST[what]
    save(model.fit(X, y), path)
    assert_array_equal(load(path).predict_proba(X[:100]), model.predict_proba(X[:100]))


@pytest.mark.filterwarnings("ignore:In every column:hebnb.TableWarning")
def test_what_compresses_too_well_is_not_compressed(path):
    """So that no file of hebnb's own looks like a bomb."""
    X, y = long_names(50_000)
    model = NaiveBayes().fit(X, y)
    save(model, path)
    small = skops.io.dumps(document.of_model(model), compression=zipfile.ZIP_DEFLATED)
    allowance = Allowance(path, len(small), math.inf)
    document.pay(model, allowance)
    with zipfile.ZipFile(path) as file:
        text = file.getinfo("schema.json")
    assert (text.compress_type == zipfile.ZIP_STORED) == (10 * text.file_size > honest_bytes(len(small)))
    assert text.compress_type == zipfile.ZIP_STORED


@pytest.mark.filterwarnings("ignore:In every column:hebnb.TableWarning")
def test_whoever_trusts_a_file_may_allow_it_more(path):
    model = NaiveBayes().fit([["a"], ["b"]], [0, 1])
    save(model, path)
    with pytest.raises(InputError, match=r"(?s)would take .* memory_limit"):
        load(path, memory_limit=1000)
    X, y = long_names(50_000)
    model.fit(X, y)
    skops.io.dump(document.of_model(model), path, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="MB of memory or more"):
        load(path)
    assert_array_equal(load(path, memory_limit=4e9).predict(X[:9]), model.predict(X[:9]))


def test_a_size_that_is_not_true_is_damage(path):
    """A member that says in the directory that it is larger than it is."""
    zipped(path, {"schema.json": "{}"})
    whole = bytearray(path.read_bytes())
    at = whole.index(b"PK\x01\x02") + 24  # the size in the central directory
    whole[at : at + 4] = b"\xf0\xff\xff\xff"
    path.write_bytes(bytes(whole))
    with pytest.raises(InputError, match="bomb.skops"):
        load(path)


@pytest.mark.parametrize("shape", ["(8,)", "(1,)", "(-2,)", "(99999999999,)"])
def test_an_array_is_as_large_as_it_says(shape, path):
    save(NaiveBayes().fit([["a"], ["b"]], [0, 1]), path)
    members = members_of(path)
    for name, content in members.items():
        if name.endswith(".npy") and b"(2,)" in content:
            members[name] = content.replace(b"(2,), }", f"{shape}, }}".encode())
    zipped(path, members)
    with pytest.raises(InputError, match="bomb.skops"):
        load(path)
