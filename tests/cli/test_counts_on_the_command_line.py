"""``hebnb count``, ``merge`` and ``drift``: a fit over many files with nothing but files."""

import json
from functools import partial, partialmethod
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from commands import run
from hebnb import AODE, HNB, KDB, TAN, ColumnParts, EvidenceClassifier, NaiveBayes, load, save
from hebnb.cli.app import app
from hebnb.tabular.table import TableFile

MAKES = {
    "HEB-M": NaiveBayes,
    "Laplace": partial(NaiveBayes, "laplace"),
    "HEB-M+GR": partial(NaiveBayes, weighting="sqrt-mi"),
    "HEB-AODE": AODE,
    "TAN": TAN,
    "HNB": HNB,
    "KDB": KDB,
    "Evidence": EvidenceClassifier,
}


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table(rows=240, seed=0):
    """Text with gaps, integers, numbers and times to be cut; two columns that tell together."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(3, size=(2, rows))
    return pd.DataFrame(
        {
            "text": np.where(rng.random(rows) < 0.1, None, np.array(list("abc"), dtype=object)[first]),
            "code": second,
            "size": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(first).round(3)),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=rows), "D"),
            "sold": np.where(rng.random(rows) < 0.2, first > 1, (first + second) % 2 == 0),
        }
    ).assign(sold=lambda X: np.where(X["sold"], "yes", "no"))


def split(X, n=3, form="parquet"):
    """Files of parts of a table."""
    names = []
    for part, rows in enumerate(np.array_split(np.arange(len(X)), n)):
        names.append(f"part{part}.{form}")
        own = X.iloc[rows]
        own.to_csv(names[-1], index=False) if form == "csv" else own.to_parquet(names[-1], index=False)
    return names


def features(X):
    return X.drop(columns="sold")


def assert_same(found, expected, X):
    assert_array_equal(found.classes_, expected.classes_)
    assert_allclose(found.predict_proba(features(X)), expected.predict_proba(features(X)), atol=1e-12)


class TestMerge:
    @pytest.mark.parametrize("form", ["parquet", "csv"])
    @pytest.mark.parametrize("name", MAKES)
    def test_parts_are_the_whole(self, name, form):
        """With the bins, parents and crosses of a model, here of one that learned from all rows."""
        X = table()
        whole = MAKES[name]().fit(features(X), X["sold"])
        save(whole, "whole.skops")
        for part in split(X, form=form):
            run("count", part, "--target", "sold", "--like", "whole.skops", "-o", f"{part}.counts")
        run("merge", *(f"part{n}.{form}.counts" for n in range(3)))
        found = load("model.skops")
        assert repr(found) == repr(whole)
        assert_same(found, whole, X)
        for own, other in zip(found.categories_, whole.categories_, strict=True):
            assert own.tolist() == other.tolist()

    @pytest.mark.parametrize("name", ["HEB-M", "HEB-AODE", "TAN"])
    def test_the_first_part_decides_where_numbers_are_cut(self, name):
        X = table()
        first, *others = split(X)
        said = run("count", first, "-t", "sold", "-m", name, "-o", "first.counts").stderr
        assert "count others with --like first.counts" in said
        for part in others:
            run("count", part, "--like", "first.counts", "-o", f"{part}.counts")
        run("merge", "first.counts", "part1.parquet.counts", "part2.parquet.counts")
        edges = MAKES[name]().fit(features(X[:80]), X["sold"][:80]).bin_edges_
        assert_same(load("model.skops"), MAKES[name](bin_edges=edges).fit(features(X), X["sold"]), X)

    @pytest.mark.parametrize("name", ["KDB", "Evidence"])
    def test_the_first_part_decides_what_is_crossed(self, name):
        X = table()
        first, *others = split(X)
        run("count", first, "-t", "sold", "-m", name, "-o", "first.counts")
        for part in others:
            run("count", part, "--like", "first.counts", "-o", f"{part}.counts")
        run("merge", "first.counts", "part1.parquet.counts", "part2.parquet.counts")
        expected = MAKES[name]()
        for rows in (slice(0, 80), slice(80, 160), slice(160, 240)):
            expected.partial_fit(features(X)[rows], X["sold"][rows])
        assert_same(load("model.skops"), expected, X)

    def test_categories_need_no_example(self):
        X = table()[["text", "code", "sold"]]
        for part in split(X):
            run("count", part, "-t", "sold", "-o", f"{part}.counts")
        run("merge", *(f"part{n}.parquet.counts" for n in range(3)), "--method", "laplace")
        assert_same(load("model.skops"), NaiveBayes("laplace").fit(features(X), X["sold"]), X)

    def test_the_order_of_files_does_not_matter(self):
        X = table()[["text", "code", "sold"]]
        for part in split(X):
            run("count", part, "-t", "sold", "-o", f"{part}.counts")
        names = [f"part{n}.parquet.counts" for n in range(3)]
        run("merge", *names, "-o", "one.skops")
        run("merge", *names[::-1], "-o", "other.skops")
        assert_same(load("one.skops"), load("other.skops"), X)

    def test_rows_come_some_at_a_time(self, monkeypatch):
        X = table()
        whole = EvidenceClassifier().fit(features(X), X["sold"])
        save(whole, "whole.skops")
        X.to_parquet("all.parquet", index=False)
        monkeypatch.setattr(TableFile, "batches", partialmethod(TableFile.batches, 7))
        run("count", "all.parquet", "--target", "sold", "--like", "whole.skops", "-o", "all.counts")
        run("merge", "all.counts")
        assert_same(load("model.skops"), whole, X)

    def test_a_part_may_have_one_class_and_columns_without_values(self):
        X = table()
        first, _ = split(X, 2)
        run("count", first, "-t", "sold", "-o", "first.counts")
        X[X["sold"] == "yes"].head(9).assign(text=None, size=np.nan).to_csv("odd.csv", index=False)
        run("count", "odd.csv", "--like", "first.counts", "-o", "odd.counts")
        run("merge", "first.counts", "odd.counts")
        assert load("model.skops").class_count_.sum() == 129

    def test_weights(self):
        X = table()[["text", "code", "sold"]].assign(w=np.arange(240) % 3)
        for part in split(X):
            run("count", part, "-t", "sold", "--weight", "w", "-o", f"{part}.counts")
        run("merge", *(f"part{n}.parquet.counts" for n in range(3)))
        expected = NaiveBayes().fit(X[["text", "code"]], X["sold"], X["w"])
        assert_same(load("model.skops"), expected, X.drop(columns="w"))

    def test_gaps_and_formats_travel(self):
        rows = [f"{n % 28 + 1:02}.03.2024,{'?' if n % 5 == 0 else n % 3},{'yes' if n % 2 else 'no'}" for n in range(60)]
        Path("a.csv").write_text("\n".join(["day,code,sold", *rows[:30]]))
        Path("b.csv").write_text("\n".join(["day,code,sold", *rows[30:]]))
        run("count", "a.csv", "-t", "sold", "--na", "?", "-o", "a.counts")
        run("count", "b.csv", "--like", "a.counts", "-o", "b.counts")
        run("merge", "a.counts", "b.counts")
        written = load("model.skops")._learned.written
        assert written.gaps == ("?",)
        assert "day" in written.formats
        assert "proba_yes" in run("predict", "model.skops", "b.csv").stdout

    def test_for_machines(self):
        X = table()[["text", "code", "sold"]]
        split(X, 2)
        counted = json.loads(run("count", "part0.parquet", "-t", "sold", "-o", "a.counts", "--json").stdout)
        assert counted["rows"] == 120
        assert counted["features"] == ["text", "code"]
        run("count", "part1.parquet", "-t", "sold", "-o", "b.counts")
        merged = json.loads(run("merge", "a.counts", "b.counts", "--json").stdout)
        assert merged["rows"] == 240
        assert merged["parts"] == 2


class TestBadInput:
    @pytest.fixture(autouse=True)
    def counts(self, in_a_folder):
        X = table()
        split(X, 2)
        run("count", "part0.parquet", "-t", "sold", "-o", "a.counts")
        run("count", "part1.parquet", "--like", "a.counts", "-o", "b.counts")
        self.X = X

    def refused(self, *arguments, code=1):
        """What is said; nothing is written."""
        before = {path.name: path.read_bytes() for path in Path().iterdir()}
        said = " ".join(run(*arguments, code=code).stderr.split())
        assert {path.name: path.read_bytes() for path in Path().iterdir()} == before
        return said

    def test_other_bins(self):
        run("count", "part1.parquet", "-t", "sold", "-o", "c.counts")
        said = self.refused("merge", "a.counts", "c.counts")
        assert "'c.counts' cannot be added. Column 'size'" in said
        assert "the parts are cut at different edges" in said

    def test_other_columns(self):
        run("count", "part1.parquet", "-t", "sold", "--drop", "day", "-o", "c.counts")
        assert "'c.counts' cannot be added. Counts of different columns" in self.refused(
            "merge", "a.counts", "c.counts"
        )

    def test_another_target(self):
        run("count", "part1.parquet", "-t", "text", "-o", "c.counts")
        assert "'c.counts' counts 'text', and the files before it count 'sold'" in self.refused(
            "merge", "a.counts", "c.counts"
        )

    def test_another_method(self):
        run("count", "part1.parquet", "-t", "sold", "-m", "HEB-AODE", "-o", "c.counts")
        said = self.refused("merge", "a.counts", "c.counts")
        assert "'c.counts' was counted for AODE(), and the files before it for NaiveBayes()" in said
        assert "AODE learns from PairCounts, not from Counts" in self.refused("merge", "a.counts", "-m", "HEB-AODE")

    def test_a_column_that_changed_its_type(self):
        X = self.X[["text", "code", "sold"]]
        X[:120].to_parquet("c.parquet", index=False)
        X[120:].assign(code="k" + X["code"].astype(str)).to_parquet("d.parquet", index=False)
        for name in "cd":
            run("count", f"{name}.parquet", "-t", "sold", "-o", f"{name}.counts")
        said = self.refused("merge", "c.counts", "d.counts")
        assert "Column 'code' changed its type between files: 'd.counts' has text, those before it integers" in said
        said = self.refused("count", "d.parquet", "--like", "c.counts", "-o", "e.counts")
        assert "Column 'code' does not fit the model" in said

    def test_labels_that_changed_their_type(self):
        self.X.assign(sold=self.X["sold"] == "yes").to_parquet("c.parquet", index=False)
        said = self.refused("count", "c.parquet", "--like", "a.counts", "-o", "c.counts")
        assert "Column 'sold' is the target, and holds yes or no where --like has text" in said

    def test_a_table_that_lacks_columns(self):
        self.X.drop(columns="size").to_parquet("c.parquet", index=False)
        said = self.refused("count", "c.parquet", "--like", "a.counts", "-o", "c.counts")
        assert "lacks column 'size'" in said

    def test_a_table_without_the_target(self):
        self.X.drop(columns="sold").to_parquet("c.parquet", index=False)
        assert "sold" in self.refused("count", "c.parquet", "--like", "a.counts", "-o", "c.counts", code=2)
        said = self.refused("count", "part1.parquet", "--like", "a.counts", "-t", "text", "-o", "c.counts", code=2)
        assert "a.counts counts 'sold', not 'text'" in said

    def test_files_that_are_something_else(self):
        run("merge", "a.counts")
        assert "'model.skops' holds a model, not counts" in self.refused("merge", "model.skops", "-o", "x.skops")
        assert "'a.counts' holds counts, not a model" in self.refused("predict", "a.counts", "part0.parquet")
        assert "holds counts, not a model" in self.refused("inspect", "a.counts")
        assert "There is no file 'no.counts'" in self.refused("merge", "no.counts", "-o", "x.skops")
        assert "is not a counts file" in self.refused("merge", "part0.parquet", "-o", "x.skops")
        assert "is not a counts file" in self.refused("count", "part1.parquet", "--like", "part0.parquet", "-t", "sold")

    def test_the_same_file_twice(self):
        assert "named twice" in self.refused("merge", "a.counts", "b.counts", "./a.counts")

    @pytest.mark.parametrize("place", [0.1, 0.5, 0.95])
    def test_truncated_and_altered_files(self, place):
        """A file may hold bytes that mean nothing, such as when its parts were written."""
        data = bytearray(Path("a.counts").read_bytes())
        at = int(place * len(data))
        Path("cut.counts").write_bytes(data[:at])
        assert "cut.counts" in self.refused("merge", "b.counts", "cut.counts")
        run("merge", "b.counts", "a.counts", "-o", "right.skops")
        data[at] ^= 0xFF
        Path("bad.counts").write_bytes(data)
        result = CliRunner().invoke(app, ["merge", "b.counts", "bad.counts"])
        if result.exit_code:
            assert "bad.counts" in result.stderr
            assert not Path("model.skops").exists()
        else:
            assert_same(load("model.skops"), load("right.skops"), self.X)

    def test_arguments_that_like_decides(self):
        said = self.refused("count", "part1.parquet", "--like", "a.counts", "--bins", 5, "-o", "c.counts", code=2)
        assert "--bins is decided by --like" in said

    def test_methods_that_need_rows(self):
        said = self.refused("count", "part1.parquet", "-t", "sold", "-m", "NB+loo", "-o", "c.counts", code=2)
        assert "NB+loo learns weights from left-out rows, and counts have none" in said
        assert "is not known" in self.refused("merge", "a.counts", "-m", "trees", code=2)
        save(NaiveBayes(weighting="loo").fit(features(self.X), self.X["sold"]), "loo.skops")
        run("count", "part1.parquet", "-t", "sold", "--like", "loo.skops", "-o", "c.counts")
        assert "learns from rows, and counts have none" in self.refused("merge", "c.counts", code=2)

    def test_models_that_cannot_be_counted_for(self):
        save(NaiveBayes(max_categories=2).fit(features(self.X), self.X["sold"]), "limited.skops")
        said = self.refused("count", "part1.parquet", "-t", "sold", "--like", "limited.skops", "-o", "c.counts")
        assert "learned with --max-categories" in said
        save(make_pipeline(ColumnParts(), NaiveBayes()).fit(features(self.X), self.X["sold"]), "parts.skops")
        said = self.refused("count", "part1.parquet", "-t", "sold", "--like", "parts.skops", "-o", "c.counts")
        assert "which a file of counts does not make" in said

    def test_outputs(self):
        assert "exists" in self.refused("merge", "a.counts", "-o", "b.counts")
        assert "also what is read" in self.refused("merge", "a.counts", "-o", "a.counts", "--overwrite")
        said = self.refused("count", "part1.parquet", "--like", "a.counts", "-o", "a.counts", "--overwrite")
        assert "also what is read" in said


class TestDrift:
    @pytest.fixture(autouse=True)
    def model(self, in_a_folder):
        X = table(400)
        X.to_csv("learned.csv", index=False)
        run("fit", "learned.csv", "-t", "sold", "-m", "HEB-M")
        self.new = table(300, 1)
        self.new.to_csv("new.csv", index=False)
        self.new.assign(text="never", code=2).to_csv("changed.csv", index=False)

    def test_it_is_what_the_model_says(self):
        shown = run("drift", "model.skops", "new.csv").stdout
        assert shown.strip() == repr(load("model.skops").drift(features(self.new)))

    def test_rows_come_some_at_a_time(self, monkeypatch):
        whole = run("drift", "model.skops", "changed.csv").stdout
        monkeypatch.setattr(TableFile, "batches", partialmethod(TableFile.batches, 7))
        assert run("drift", "model.skops", "changed.csv").stdout == whole

    def test_for_machines(self):
        found = json.loads(run("drift", "model.skops", "changed.csv", "--json").stdout)
        assert found["rows"] == 300
        by_name = {line["column"]: line for line in found["columns"]}
        assert by_name["text"]["unseen"] == 1
        assert by_name["text"]["drifted"]
        assert not by_name["size"]["drifted"]
        assert [line["class"] for line in found["classes"]] == ["no", "yes"]

    def test_strictly(self):
        run("drift", "model.skops", "new.csv", "--strict")
        assert (
            "Columns that drifted: 'text', 'code'"
            in run("drift", "model.skops", "changed.csv", "--strict", code=1).stderr
        )

    def test_a_table_that_lacks_columns(self):
        self.new.drop(columns="size").to_csv("lacking.csv", index=False)
        assert "lacks column 'size'" in run("drift", "model.skops", "lacking.csv", code=1).stderr
        self.new[:0].to_csv("empty.csv", index=False)
        assert "has no rows" in run("drift", "model.skops", "empty.csv", code=1).stderr
