"""The study: its statistics, its datasets, and a run that survives what happens to long runs."""

import gzip
import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import dirichlet_multinomial, wilcoxon

pytest.importorskip("pandas")
pytest.importorskip("scikit_posthocs")
pytest.importorskip("rich")

import pandas as pd
from sklearn.datasets import _openml
from sklearn.impute import SimpleImputer

from hebnb import KDB, TAN, NaiveBayes
from hebnb.errors import InputError
from hebnb.smoothing.smoothers import smoother
from hebnb.study import diagnostics, methods, published, registry
from hebnb.study.__main__ import main
from hebnb.study.protocol import Prepared, Settings, prepare, scores, split
from hebnb.study.registry import DATASETS, Dataset
from hebnb.study.sources import Folder, OpenML
from hebnb.study.statistics import critical_difference, friedman_p, mean_ranks, paired
from hebnb.study.store import Cell, Store
from hebnb.study.synthetic import estimate, l1_errors, reductions
from hebnb.study.tables import Table, all_tables, beyond, diagnostics_table, wilcoxon_table

DATA = Path(os.environ["HEBNB_DATA"]) if "HEBNB_DATA" in os.environ else None

# Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006), table 6: AUC of C4.5 with and
# without two parameters tuned, on 14 datasets. Rounding ties two of them on "voting"; the article ranks them 2 and 3.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


class TestStatistics:
    def test_mean_ranks_of_a_published_example(self):
        assert_allclose(mean_ranks(DEMSAR, lower_is_better=False), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
        assert_allclose(mean_ranks(-DEMSAR, lower_is_better=True), [3.143, 2.000, 2.893, 1.964], atol=5e-4)

    def test_friedman_of_a_published_example(self):
        """The article has χ² = 9.28 without SciPy's correction for ties."""
        ranks = mean_ranks(DEMSAR, lower_is_better=False)
        chi_squared = 12 * 14 / (4 * 5) * (np.sum(ranks**2) - 4 * 5**2 / 4)
        assert chi_squared == pytest.approx(9.28, abs=0.01)
        # Ties: three rows with a pair, one with all four equal.
        corrected = chi_squared / (1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * (4**3 - 4)))
        from scipy.stats import chi2

        assert friedman_p(DEMSAR) == pytest.approx(chi2.sf(corrected, 3), rel=1e-9)

    def test_critical_differences_of_published_examples(self):
        assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)  # Demšar, section 3.2.2
        assert critical_difference(7, 31) == pytest.approx(published.CRITICAL_DIFFERENCE, abs=0.005)

    def test_wilcoxon_drops_ties(self):
        ours, theirs = DEMSAR[:, 1], DEMSAR[:, 0]
        outcome = paired(ours, theirs, lower_is_better=False)
        assert (outcome.wins, outcome.losses) == (10, 2)  # lung cancer and mushroom are ties
        gain = (ours - theirs)[ours != theirs]
        assert outcome.p == wilcoxon(gain).pvalue
        # By hand: ranks of the losses (0.005 and 0.008) are 1.5 and 4, of the wins the rest.
        order = np.abs(gain).round(6)
        ranks = pd.Series(order).rank().to_numpy()
        assert ranks[gain < 0].sum() == wilcoxon(gain.round(6)).statistic

    def test_nothing_to_compare(self):
        assert np.isnan(friedman_p(np.ones((5, 3))))
        assert np.isnan(paired(np.ones(3), np.ones(3), lower_is_better=True).p)


class TestRegistry:
    def test_the_papers_groups(self):
        groups = [dataset.group for dataset in registry.PAPER]
        assert [groups.count(group) for group in ("low", "medium", "mixed", "high")] == [13, 13, 2, 3]
        ids = [dataset.openml_id for dataset in registry.PAPER]
        assert len(set(ids)) == 31

    def test_the_diagnosed_pairs_are_as_many_as_in_the_paper(self):
        pairs = [DATASETS[name].features * DATASETS[name].classes for name in registry.DIAGNOSED]
        assert sum(pairs) == published.PAIRS

    def test_the_folder_agrees(self):
        if DATA is None:
            pytest.skip("the datasets are not at hand; HEBNB_DATA names their folder")
        manifest = pd.read_csv(DATA / "MANIFEST.csv")
        listed = json.loads((DATA / "categorical.json").read_text())
        for row in manifest.itertuples():
            dataset = DATASETS[row.file.removesuffix(".csv.gz")]
            assert (dataset.rows, dataset.features, dataset.classes) == (row.rows, row.features, row.classes)
            expected = listed.get(dataset.name, [])
            assert set(dataset.nominal) == set(expected)

    def test_published_numbers_have_methods(self):
        for table in (published.RANKS, published.ORTHOGONALITY, published.SWEEP):
            assert {row for row, _ in table} - {"Friedman p"} <= set(methods.METHODS)
        assert set(published.FIT_SECONDS) <= set(methods.METHODS)


class TestMethods:
    def test_the_names_that_tables_and_plans_use_are_methods(self):
        pairs = (*methods.AGAINST_AODE, *methods.AGAINST_TAN, *methods.AGAINST_KDB)
        named = {*methods.BEYOND, *methods.SLOW, *methods.BINNED, *(method for pair in pairs for method in pair)}
        assert named <= set(methods.METHODS)

    @pytest.mark.parametrize(("plain", "learned", "kind"), [("TAN", "HEB-TAN", TAN), ("KDB", "HEB-KDB", KDB)])
    def test_a_pair_differs_in_its_smoothing_alone(self, plain, learned, kind):
        theirs, ours = methods.METHODS[plain](), methods.METHODS[learned]()
        assert type(theirs) is type(ours) is kind
        assert theirs.get_params() == ours.get_params() | {"smoothing": "laplace"}


def make_frame(rows=200, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.choice(["p", "q"], size=rows)
    return pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.where(label == "p", "a", rng.choice(["b", "c"], rows))),
            "some_id": rng.integers(1000, 1020, size=rows),
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(label == "p", 1.0)),
            "few": rng.integers(0, 4, size=rows).astype(float),
            "empty": np.nan,
            "class": label,
        }
    )


def write_folder(folder, names=("car", "vote"), rows=200):
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(names):
        make_frame(rows, seed).to_csv(folder / f"{name}.csv.gz", index=False)
    return folder


class TestProtocol:
    def prepared(self, frame, most_rows=20_000):
        from hebnb.study.sources import Raw

        raw = Raw(frame.iloc[:, :-1], frame.iloc[:, -1], frozenset(), "x")
        return prepare(Dataset("car", 21, "low", 0, 0, 0), raw, Settings(most_rows, 5))

    def test_columns(self):
        prepared = self.prepared(make_frame())
        assert [column.dtype.kind for column in prepared.columns] == ["i", "i", "f", "f"]  # "empty" is dropped
        assert (prepared.columns[0] == -1).any()

    def test_a_large_dataset_is_subsampled_by_class(self):
        frame = make_frame(1_000)
        prepared = self.prepared(frame, most_rows=300)
        assert len(prepared.labels) == 300
        assert np.mean(prepared.labels) == pytest.approx(np.mean(frame["class"] == "q"), abs=0.01)

    def test_gaps_are_filled_from_the_training_rows(self):
        prepared = self.prepared(make_frame())
        fold = split(prepared, Settings(folds=5), 0)
        assert len(fold.train) == 160
        assert (fold.train >= 0).all()
        text = prepared.columns[0].astype(float)
        text[text < 0] = np.nan
        from sklearn.model_selection import StratifiedKFold

        train, test = next(StratifiedKFold(5, shuffle=True, random_state=42).split(text, prepared.labels))
        imputer = SimpleImputer(strategy="most_frequent").fit(text[train, np.newaxis])
        assert_array_equal(fold.test[:, 0], imputer.transform(text[test, np.newaxis])[:, 0])
        size = prepared.columns[2]
        filled = np.where(np.isnan(size), np.nanmedian(size[train]), size)
        assert_array_equal(np.argsort(np.bincount(fold.train[:, 2])).size, 10)
        # Cut as NaiveBayes cuts.
        model = NaiveBayes(n_bins=10).fit(filled[train, np.newaxis], prepared.labels[train])
        expected = np.searchsorted(model.bin_edges_[0], filled[test])
        assert_array_equal(fold.test[:, 2], expected)

    def test_few_numbers_stay_themselves(self):
        fold = split(self.prepared(make_frame()), Settings(folds=5), 0)
        assert set(fold.train[:, 3].tolist()) == {0, 1, 2, 3}

    def test_measures_of_certainty(self):
        labels = np.array([0, 1, 2, 1])
        result = scores(labels, np.eye(3)[labels])
        assert result["accuracy"] == result["macro F1"] == result["AUC"] == 1
        assert result["Brier"] == result["ECE"] == 0
        assert result["log-loss"] == pytest.approx(0, abs=1e-12)

    def test_a_class_that_the_training_rows_lack(self):
        from hebnb.study.protocol import measure

        columns = [np.arange(12) % 3]
        prepared = Prepared("x", "y", columns, np.array([0] * 6 + [1] * 5 + [2]))
        for fold in range(5):
            for method in ("Laplace", "HEB-M", "AODE", "TAN", "HEB-TAN", "KDB", "HEB-KDB", *methods.BEYOND):
                result = measure(method, split(prepared, Settings(folds=5), fold))
                assert np.isfinite(result["log-loss"])


class TestSynthetic:
    def test_estimates_are_those_of_the_formula(self):
        counts = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
        assert_allclose(estimate(counts, smoother("laplace")), [[4 / 7, 2 / 7, 1 / 7], [1 / 5, 1 / 5, 3 / 5]])

    def test_the_learned_concentration_maximises_the_likelihood(self):
        counts = np.random.default_rng(0).multinomial(200, [0.5, 0.3, 0.1, 0.05, 0.05]).astype(float)
        found = estimate(counts[np.newaxis], smoother("heb-u"))[0]
        grid = np.geomspace(0.01, 1e4, 4001)
        best = grid[np.argmax([dirichlet_multinomial.logpmf(counts, np.full(5, m / 5), 200) for m in grid])]
        assert_allclose(found, (counts + best / 5) / (200 + best), rtol=1e-3)

    def test_where_the_truth_is_sparse_learning_pays(self):
        found = reductions(l1_errors(trials=20))
        assert found[0.5] > found[0.05] > 0


class TestFolder:
    def test_missing(self, tmp_path):
        with pytest.raises(InputError, match=r"no car\.csv"):
            Folder(tmp_path).load(DATASETS["car"])

    @pytest.mark.parametrize(
        "content", [b"", b"\x1f\x8bbroken", gzip.compress(b"a,b\n1,2\n")[:-4]], ids=["empty", "broken", "cut off"]
    )
    def test_damaged(self, tmp_path, content):
        (tmp_path / "car.csv.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"car\.csv\.gz: cannot be read"):
            Folder(tmp_path).load(DATASETS["car"])

    def test_wrong_checksum(self, tmp_path):
        write_folder(tmp_path, ["car"])
        (tmp_path / "MANIFEST.csv").write_text("file,sha256\ncar.csv.gz,0123456789abcdef\n")
        with pytest.raises(InputError, match=r"MANIFEST\.csv says 0123456789ab"):
            Folder(tmp_path).load(DATASETS["car"])


ARFF = "@relation tiny\n@attribute colour {red,green}\n@attribute size real\n@attribute class {p,q}\n@data\n" + "".join(
    f"{['red', 'green'][n % 2]},{n}.5,{['p', 'q'][n % 3 == 0]}\n" for n in range(30)
)
TINY = Dataset("tiny", 7, "low", 30, 2, 2)


class Server:
    """Speaks as much of OpenML as scikit-learn asks for; ``trouble`` says what goes wrong."""

    def __init__(self):
        self.trouble = ""
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        if self.trouble == "412":
            return self.send(request, b'{"error": {"code": "111"}}', 412)
        if self.trouble == "silence":
            time.sleep(2)
        if "/data/features/" in request.path:
            body = {"data_features": {"feature": [self.feature(n) for n in range(3)]}}
        elif "/data/qualities/" in request.path:
            body = {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "30"}]}}
        elif "/data/v1/download/" in request.path:
            text = ARFF.encode()
            if self.trouble == "truncated":
                request.send_response(200)
                request.send_header("Content-Length", str(len(text)))
                request.end_headers()
                request.wfile.write(text[: len(text) // 2])
                return None
            return self.send(request, text.replace(b"red", b"rid") if self.trouble == "altered" else text)
        else:
            body = {
                "data_set_description": {
                    "id": "7", "name": "tiny", "version": "1", "status": "active", "format": "ARFF",
                    "description": "", "file_id": "7", "url": f"{self.url}/data/v1/download/7/tiny.arff",
                    "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
                }
            }  # fmt: skip
        return self.send(request, json.dumps(body).encode())

    @staticmethod
    def feature(n):
        name = ("colour", "size", "class")[n]
        kind = ("nominal", "numeric", "nominal")[n]
        values = {"nominal_value": ["red", "green"] if n == 0 else ["p", "q"]} if kind == "nominal" else {}
        return {
            "index": str(n), "name": name, "data_type": kind, "is_target": str(n == 2).lower(), "is_ignore": "false",
            "is_row_identifier": "false", "number_of_missing_values": "0",
        } | values  # fmt: skip

    @staticmethod
    def send(request, body, code=200):
        request.send_response(code)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def openml(monkeypatch):
    server, ask = Server(), _openml.urlopen

    def ask_the_server(request):
        request.full_url = re.sub(r"https?://[^/]+", server.url, request.full_url)
        return ask(request)

    monkeypatch.setattr(_openml, "urlopen", ask_the_server)
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
class TestOpenML:
    def test_a_dataset_is_fetched_once(self, openml, tmp_path):
        source = OpenML(tmp_path)
        raw = source.load(TINY)
        assert raw.X.shape == (30, 2)
        assert raw.fingerprint.startswith("openml:7:")
        prepared = prepare(TINY, raw, Settings())
        assert [column.dtype.kind for column in prepared.columns] == ["i", "f"]
        n = len(openml.asked)
        source.load(TINY)
        assert len(openml.asked) == n

    @pytest.mark.parametrize(
        ("trouble", "message"),
        [
            ("412", "not found"),
            ("truncated", "cannot be used|cannot be reached"),
            ("altered", "md5|checksum"),
            ("silence", "cannot be reached"),
        ],
    )
    def test_trouble(self, openml, tmp_path, trouble, message):
        openml.trouble = trouble
        with pytest.raises(InputError, match=f"(?i)tiny: .*({message})"):
            OpenML(tmp_path, n_retries=1, patience=0.3).load(TINY)
        openml.trouble = ""  # nothing damaged was kept
        assert len(OpenML(tmp_path, n_retries=1).load(TINY).X) == 30

    def test_another_dataset_than_expected(self, openml, tmp_path):
        with pytest.raises(InputError, match="30 rows, 2 features and 2 classes, not 31"):
            OpenML(tmp_path).load(Dataset("tiny", 7, "low", 31, 2, 2))

    def test_without_a_network_it_is_asked_once(self, tmp_path, monkeypatch):
        asked = []

        def nobody_answers(request):
            asked.append(request.full_url)
            raise URLError("connection refused")

        monkeypatch.setattr(_openml, "urlopen", nobody_answers)
        source = OpenML(tmp_path, n_retries=1)
        with pytest.raises(InputError, match="cannot be reached"):
            source.load(TINY)
        first = len(asked)
        with pytest.raises(InputError, match="cannot be reached"):
            source.load(TINY)
        assert len(asked) == first > 0  # it did not ask, and wait, again


class TestStore:
    CELL = Cell("car", "Laplace", 10, 0, "few", "Laplace() on sha256:1")

    def test_only_what_is_missing(self, tmp_path):
        store = Store(tmp_path / "results.sqlite")
        store.create()
        other = Cell("car", "Laplace", 10, 1, "few", "Laplace() on sha256:1")
        failed = Cell("car", "Laplace", 10, 2, "few", "Laplace() on sha256:1")
        store.put(self.CELL, {"log-loss": 0.1})
        store.put(failed, None, "ValueError: no")
        assert store.missing([self.CELL, other, failed]) == [other, failed]
        changed = Cell("car", "Laplace", 10, 0, "few", "Laplace() on sha256:2")
        assert store.missing([changed]) == [changed]
        assert store.results("few") == [{"dataset": "car", "method": "Laplace", "bins": 10, "fold": 0, "log-loss": 0.1}]
        assert store.failures("few") == [("car", "Laplace", 10, 2, "ValueError: no")]
        assert store.results("many") == []
        store.forget("few")
        assert store.missing([self.CELL]) == [self.CELL]

    def test_a_file_of_something_else(self, tmp_path):
        (tmp_path / "results.sqlite").write_text("not a database, but long enough to look like one" * 40)
        with pytest.raises(InputError, match="cannot be used for results"):
            Store(tmp_path / "results.sqlite").create()


class TestTables:
    TABLE = Table(
        "t", "T", {("HEB-M", "wins"): 3.0, ("HEB-M", "p"): 1e-5, ("x", "wins"): np.nan}, {("HEB-M", "wins"): 2.0}
    )

    def test_formats(self, tmp_path):
        assert self.TABLE.markdown().splitlines()[2:] == ["| HEB-M | 3 (2) | 1.0e-05 |", "| x | – |  |"]
        self.TABLE.write(tmp_path)
        assert pd.read_csv(tmp_path / "t.csv")["paper"].tolist()[0] == 2
        assert r"HEB-M & 3 (2) & 1.0e-05 \\" in (tmp_path / "t.tex").read_text()

    def test_a_pair_is_compared_dataset_by_dataset(self):
        losses = {"HEB-TAN": [0.1, 0.2, 0.5, 0.5], "TAN": [0.4, 0.4, 0.4, 0.5]}
        results = make_results({method: [{"log-loss": loss} for loss in column] for method, column in losses.items()})
        table = wilcoxon_table(results, "wilcoxon-tan", methods.AGAINST_TAN)
        assert table.name == "wilcoxon-tan"
        assert "against TAN" in table.title
        assert table.rows == [f"HEB-TAN against TAN, {metric}" for metric in published.METRICS]
        row = "HEB-TAN against TAN, log-loss"
        assert (table.ours[row, "wins"], table.ours[row, "losses"]) == (2, 1)  # the fourth dataset is a tie
        assert table.ours[row, "p"] == wilcoxon([0.3, 0.2, -0.1]).pvalue
        assert np.isnan(table.ours["HEB-TAN against TAN, Brier", "p"])  # all of them are ties
        assert not {row for row, _ in table.paper} & set(table.rows)  # the paper has no such numbers

    def test_more_accuracy_wins_as_less_loss_does(self):
        column = {"HEB-KDB": [{"accuracy": 0.9, "Brier": 0.1}] * 2, "KDB": [{"accuracy": 0.8, "Brier": 0.2}] * 2}
        table = wilcoxon_table(make_results(column), "wilcoxon-kdb", methods.AGAINST_KDB)
        for metric in ("accuracy", "Brier"):
            assert table.ours[f"HEB-KDB against KDB, {metric}", "wins"] == 2

    def test_a_solver_chooses_the_run_and_not_the_row(self):
        column = {"HEB-M": [{"Brier": 0.3}], "HEB-M (Minka)": [{"Brier": 0.1}], "AODE": [{"Brier": 0.2}]}
        results = make_results(column)
        row = "HEB-M against AODE, Brier"
        assert wilcoxon_table(results, "t", methods.AGAINST_AODE, "Minka").ours[row, "wins"] == 1
        assert wilcoxon_table(results, "t", methods.AGAINST_AODE).ours[row, "wins"] == 0
        assert (row, "p") in wilcoxon_table(results, "t", methods.AGAINST_AODE).paper

    def test_ranks_and_means_of_what_is_ours(self):
        compared = ("HEB-M", "HEB-M+GR", "HEB-AODE", *methods.BEYOND)
        column = {method: [{"log-loss": 0.7 - 0.1 * n}] * 3 for n, method in enumerate(compared)}
        table = beyond(make_results(column))
        assert set(table.rows) == {"HEB-M", "HEB-M+GR", "HEB-AODE", "NB+loo", "AODE+loo", "TAN+loo", "KDB+loo"}
        for metric in ("log-loss", "Brier", "ECE", "accuracy"):
            assert {metric, f"{metric} rank"} <= set(table.columns)
        assert [table.ours[method, "log-loss rank"] for method in compared] == [7, 6, 5, 4, 3, 2, 1]
        assert table.ours["KDB+loo", "log-loss"] == pytest.approx(0.1)
        assert table.ours["KDB+loo", "Brier rank"] == 4  # all seven are tied
        assert f"{critical_difference(7, 3):.2f}" in table.note

    def test_concentrations_by_dataset_and_over_all(self):
        """Two pairs below the envelope, of which one is at the bound, and one above it."""
        sizes = [("a", 2, 1.0, False), ("a", 10, 9.0, True), ("b", 2, 100.0, False)]
        records = [
            {"dataset": name, "m": m, "rho": m / (m + 100), "N": 100.0, "K": size, "clamped": clamped}
            for name, size, m, clamped in sizes
        ]
        table = diagnostics_table(diagnostics.summary(records))
        assert table.rows == ["a", "b", "all"]
        assert [table.ours[name, "pairs"] for name in table.rows] == [2, 1, 3]
        assert table.ours["a", "mean ρ√N"] == pytest.approx(10 * (1 / 101 + 9 / 109) / 2)
        assert table.ours["all", "at the upper bound, %"] == pytest.approx(100 / 3)
        assert [table.ours[name, "above √N·log K, %"] for name in table.rows] == [0, 100, pytest.approx(100 / 3)]
        assert table.ours["a", "rank correlation of m and K"] == pytest.approx(1)
        assert np.isnan(table.ours["b", "rank correlation of m and K"])  # a single pair
        assert "| all | 3 (348) |" in table.markdown()

    def test_a_table_without_its_methods_is_left_out(self):
        results = make_results({method: [{}] * 2 for method in ("TAN", "HEB-TAN", "NB+loo", "TAN+loo")})
        names = {table.name for table in all_tables(results, {}, {})}
        assert "wilcoxon-tan" in names
        assert not names & {"wilcoxon-kdb", "wilcoxon-exact", "beyond"}


def make_results(columns):
    """Results of one fold: for every method what was measured on the first, second … dataset, or else 0.5."""
    measured = dict.fromkeys((*published.METRICS, "ECE", "ECE by chance", "fit s", "predict s", "peak MB"), 0.5)
    return pd.DataFrame(
        [
            {"dataset": f"d{n}", "method": method, "bins": 10, "fold": 0} | measured | given
            for method, datasets in columns.items()
            for n, given in enumerate(datasets)
        ]
    )


def study(*arguments):
    return [sys.executable, "-m", "hebnb.study", *map(str, arguments)]


def stored(output):
    """What was stored, without the times and memory."""
    with sqlite3.connect(output / "results.sqlite") as connection:
        rows = connection.execute("SELECT dataset, method, bins, fold, result, error FROM cells ORDER BY 1, 2, 3, 4")
        found = []
        for *place, result, error in rows:
            values = {k: v for k, v in json.loads(result).items() if not k.endswith((" s", "MB"))}
            found.append((*place, values, error))
    connection.close()
    return found


FEW = ("Laplace", "HEB-M", "HEB-M (Minka)", "AODE", "NB+loo")


class TestRuns:
    def test_a_killed_run_goes_on_as_if_nothing_had_happened(self, tmp_path):
        data = write_folder(tmp_path / "data", ["car", "vote", "splice"], rows=600)
        arguments = ("--data", data, "--datasets", "car", "vote", "splice", "--methods", *FEW, "--jobs", 2, "--output")
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        subprocess.run(study(*arguments, whole), check=True, capture_output=True)
        process = subprocess.Popen(
            study(*arguments, killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            deadline = time.monotonic() + 120
            done = 0
            while done < 20 and time.monotonic() < deadline and process.poll() is None:
                time.sleep(0.05)
                if (killed / "results.sqlite").exists():
                    with sqlite3.connect(killed / "results.sqlite") as connection:
                        exists = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                        done = connection.execute("SELECT count(*) FROM cells").fetchone()[0] if exists else 0
                    connection.close()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        survived = stored(killed)
        assert 20 <= len(survived) < 150
        subprocess.run(study(*arguments, killed), check=True, capture_output=True)
        assert stored(killed) == stored(whole)
        assert len(stored(whole)) == 150
        for table in (whole / "tables").glob("ranks*.csv"):
            assert table.read_text() == (killed / "tables" / table.name).read_text()

    def test_one_run_from_start_to_end(self, tmp_path, capsys):
        data = write_folder(tmp_path / "data")
        output = tmp_path / "out"
        options = ["--data", str(data), "--output", str(output), "--quick", "--jobs", "1", "--datasets", "car", "vote"]
        assert main(options) == 0
        printed = capsys.readouterr()
        assert printed.out.strip() == str(output / "index.md")
        page = (output / "index.md").read_text()
        assert "2 of the paper's 31 datasets" in page
        assert "(2.26)" in page  # a number of the paper's
        for link in re.findall(r"\]\(([^)]+)\)", page):
            assert (output / link).exists(), link
        for pair in ("HEB-AODE against AODE", "HEB-TAN against TAN", "HEB-KDB against KDB"):
            assert f"| {pair}, log-loss |" in page
        assert {method for _, method, *_ in stored(output)} == set(methods.METHODS) - set(methods.SLOW)
        before = (output / "results.sqlite").stat().st_mtime_ns
        assert main(options) == 0
        assert (output / "results.sqlite").stat().st_mtime_ns == before  # nothing was missing
        capsys.readouterr()

    def test_a_failing_method_is_recorded_and_the_rest_goes_on(self, tmp_path, capsys, monkeypatch):
        data = write_folder(tmp_path / "data", ["car"])

        def broken():
            return NaiveBayes(smoothing="broken")

        monkeypatch.setitem(methods.METHODS, "KT", broken)
        options = ["--data", str(data), "--output", str(tmp_path / "out"), "--quick", "--jobs", "1"]
        assert main([*options, "--datasets", "car", "--methods", "KT", "Laplace"]) == 1
        assert "failed: car, KT, fold 0" in capsys.readouterr().err
        page = (tmp_path / "out" / "index.md").read_text()
        assert "smoothing='broken' is not known" in page
        monkeypatch.undo()
        assert main([*options, "--datasets", "car", "--methods", "KT", "Laplace"]) == 0
        capsys.readouterr()

    def test_missing_datasets_are_named(self, tmp_path, capsys):
        data = write_folder(tmp_path / "data", ["car"])
        (data / "vote.csv.gz").write_bytes(b"broken")
        options = ["--data", str(data), "--output", str(tmp_path / "out"), "--quick", "--jobs", "1"]
        assert main([*options, "--datasets", "car", "vote", "splice", "--methods", "Laplace"]) == 1
        shown = " ".join(capsys.readouterr().err.split())
        assert "2 datasets were left out: vote, splice" in shown
        page = (tmp_path / "out" / "index.md").read_text()
        assert "vote.csv.gz: cannot be read" in page
        assert "no splice.csv" in page

    def test_without_data_and_network_the_flights_are_left(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(_openml, "_DATA_INFO", "http://127.0.0.1:9/{}")
        options = ["--output", str(tmp_path), "--quick", "--jobs", "1", "--methods", "Laplace", "HEB-M", "HEB-M+GR"]
        assert main([*options, "--cache", str(tmp_path / "cache")]) == 0
        assert "31 datasets were left out" in " ".join(capsys.readouterr().err.split())
        page = (tmp_path / "index.md").read_text()
        assert "0 of the paper's 31 datasets" in page
        assert "OpenML cannot be reached" in page
        assert "K/N" in page

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--datasets", "aduld"], "Did you mean 'adult'"),
            (["--methods", "heb-m"], "Did you mean 'HEB-M'"),
            (["--data", "nowhere"], "nowhere is not a folder"),
            (["--jobs", "0"], "at least 1"),
        ],
    )
    def test_wrong_arguments(self, tmp_path, capsys, arguments, message):
        assert main([*arguments, "--output", str(tmp_path / "out")]) == 2
        assert message in capsys.readouterr().err

    def test_an_output_that_cannot_be_written(self, tmp_path, capsys):
        (tmp_path / "file").write_text("")
        assert main(["--output", str(tmp_path / "file" / "out")]) == 2
        assert "error:" in capsys.readouterr().err

    def test_lists(self, capsys):
        assert main(["--list"]) == 0
        shown = capsys.readouterr().out
        assert "amazon-employee" in shown
        assert "HEB-AODE (Minka)" in shown
