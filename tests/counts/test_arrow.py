"""Counts as Arrow tables: there and back, made by SQL, and what is wrong with tables that are no counts."""

import json
import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from counted import MAKES, assert_same, cells, counted, table
from hebnb import AODE, KDB, TAN, Counts, EvidenceClassifier, HebnbError, InputError, NaiveBayes, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore:Column .* every value is missing")


def there_and_back(counts):
    """Through a file, as people send tables around."""
    sink = pa.BufferOutputStream()
    given = counts.to_arrow()
    with pa.ipc.new_file(sink, given.schema) as file:
        file.write_table(given)
    return Counts.from_arrow(pa.ipc.open_file(sink.getvalue()).read_all())


@pytest.mark.parametrize("name", MAKES)
@given(seed=st.integers(0, 1000), weighted=st.booleans())
@examples(6)
def test_there_and_back(name, seed, weighted):
    X, y = table(seed)
    weights = np.random.default_rng(seed).choice([0.1, 2.5], len(y)) if weighted else None
    counts = counted(MAKES[name](), X, y, None, weights)
    found = there_and_back(counts)
    assert type(found) is type(counts)
    assert_same(found, counts)
    assert cells(found) == pytest.approx(cells(counts))
    one, other = (MAKES[name]().fit_counts(own) for own in (counts, found))
    assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)
    assert_same(found + counts, counts + counts)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 2**70],
        [1.5, 2.25, None],
        [True, False, None],
        ["1", 1, date(2024, 2, 29)],
        [date(2024, 2, 29), None, date(2023, 1, 1)],
        [("a", 1), ("a", 2), None],
        [None, None, None],
        ["", "null", "nan", "\n", "é"],
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [NaiveBayes, AODE, KDB])
def test_values_of_every_type(values, make):
    X = np.empty((len(values) * 4, 2), dtype=object)
    X[:, 0], X[:, 1] = values * 4, ["p", "q"] * (len(values) * 2)
    y = [n % 3 for n in range(len(X))]
    counts = make().fit(X, y).counts_
    found = there_and_back(counts)
    assert_same(found, counts)
    assert [type(v) for v in found.vocabulary.features[0].labels] == [
        type(v) for v in counts.vocabulary.features[0].labels
    ]
    assert found.vocabulary.names == (0, 1)


@pytest.mark.parametrize(
    "labels", [[0, 1], ["a", "b"], [True, False], [1.0, 2.0], [date(2024, 1, 1), date(2024, 1, 2)]]
)
def test_classes_of_every_type(labels):
    counts = NaiveBayes().fit([["a"], ["b"]] * 4, np.array(labels * 4)).counts_
    found = there_and_back(counts)
    assert found.classes.values.dtype == counts.classes.values.dtype
    assert found.classes.values.tolist() == counts.classes.values.tolist()


def test_columns_whose_names_are_numbers():
    X = pd.DataFrame({7: ["a", "b"] * 3, 3: ["p", "q"] * 3})
    assert there_and_back(AODE().fit(X, [0, 1] * 3).counts_).vocabulary.names == (7, 3)


def test_classes_without_rows_have_room():
    counts = NaiveBayes().partial_fit([["a"]], ["x"], classes=["x", "y"]).counts_
    assert there_and_back(counts).classes.values.tolist() == ["x", "y"]


@pytest.mark.parametrize("make", [NaiveBayes, AODE, EvidenceClassifier])
def test_counts_of_limited_categories(make):
    X, y = table(2)
    model = make(max_categories=2).fit(X, y)
    found = make().fit_counts(there_and_back(model.counts_))
    assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_limited_categories_in_a_tree():
    X, y = table(3)
    model = EvidenceClassifier(max_categories=2, hierarchies={"path": "/"}).fit(X, y)
    found = EvidenceClassifier().fit_counts(there_and_back(model.counts_))
    assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_gaps_that_cannot_be_told_from_what_was_left_out():
    """A parent with a gap and one with a category that was left out are two cells."""
    values = ["a", "a", "a", "b", "b", "c", None] * 9
    other = {"a": "p", "b": "q", "c": "p", None: "q"}
    X = np.array([values, [other[value] for value in values]], dtype=object).T
    y = [(value == "a") ^ (n % 4 == 0) for n, value in enumerate(values)]
    counts = KDB(1, max_categories=2).fit(X, y).counts_
    assert any(counts.parents)
    with pytest.raises(InputError, match="has gaps and categories that were left out"):
        counts.to_arrow()


class TestMadeWithSQL:
    """What a query counts is what we count."""

    X = pd.DataFrame(
        {
            "colour": ["red", None, "blue", "red", "green", "red"] * 3,
            "size": [4, 17, 4, 4, 17, 99] * 3,
            "age": [17.0, 18.0, 40.0, 66.0, None, 65.0] * 3,
        }
    )
    y = pd.Series(["no", "yes", "no", "yes", "yes"] * 3 + ["no"] * 3, name="y")
    SINGLES = """
        SELECT feature, value, y AS class, count(*) AS count FROM (
            SELECT y, colour, size::VARCHAR AS size, ((age > 18)::INT + (age > 65)::INT)::VARCHAR AS age FROM shop
        ) UNPIVOT INCLUDE NULLS (value FOR feature IN (colour, size, age)) GROUP BY ALL
    """

    def query(self, sql):
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect() as connection:
            connection.register("shop", self.X.assign(y=self.y))
            return connection.sql(sql).to_arrow_table()

    def test_single_columns(self):
        counts = Counts.from_arrow(self.query(self.SINGLES), types={"size": "integer"}, bin_edges={"age": [18, 65]})
        model = NaiveBayes(bin_edges={"age": [18, 65]}).fit(self.X[list(counts.vocabulary.names)], self.y)
        assert_same(counts, model.counts_)
        rows = self.X[list(counts.vocabulary.names)]
        assert_array_equal(NaiveBayes().fit_counts(counts).predict_proba(rows), model.predict_proba(rows))

    def test_pairs(self):
        pairs = """
            SELECT '{0}' AS feature, {0}::VARCHAR AS value, '{1}' AS feature_2, {1}::VARCHAR AS value_2, y AS class,
                count(*) AS count FROM shop GROUP BY ALL
        """
        singles = "SELECT '{0}', {0}::VARCHAR, NULL, NULL, y, count(*) FROM shop GROUP BY ALL"
        sql = " UNION ALL ".join([pairs.format("colour", "size"), *map(singles.format, ("colour", "size"))])
        counts = Counts.from_arrow(self.query(sql), types={"size": "integer"})
        for make in (AODE, TAN):
            caps = {"max_parent_categories": None, "max_joint_cells": None} if make is AODE else {}
            model = make(**caps).fit(self.X[["colour", "size"]], self.y)
            assert_same(counts, model.counts_)
            proba = make(**caps).fit_counts(counts).predict_proba(self.X[["colour", "size"]])
            assert_allclose(proba, model.predict_proba(self.X[["colour", "size"]]), atol=1e-14)

    def test_gaps_that_are_left_out(self):
        of_classes = "SELECT NULL, NULL, y, count(*) FROM shop GROUP BY ALL"
        sql = f"SELECT * FROM ({self.SINGLES}) WHERE value IS NOT NULL UNION ALL {of_classes}"
        counts = Counts.from_arrow(
            self.query(sql), types={"size": "integer"}, bin_edges={"age": [18, 65]}, missing="ignore"
        )
        names = list(counts.vocabulary.names)
        assert_same(
            counts, NaiveBayes(bin_edges={"age": [18, 65]}, missing="ignore").fit(self.X[names], self.y).counts_
        )

    def test_other_libraries(self):
        polars = pytest.importorskip("polars")
        given = self.query(self.SINGLES)
        how = {"types": {"size": "integer"}, "bin_edges": {"age": [18, 65]}}
        expected = Counts.from_arrow(given, **how)
        assert_same(Counts.from_arrow(polars.from_arrow(given), **how), expected)
        assert_same(Counts.from_arrow(given.to_pandas(), **how), expected)

    def test_lines_that_are_alike_are_added_up(self):
        given = self.query(self.SINGLES)
        how = {"types": {"size": "integer"}, "bin_edges": {"age": [18, 65]}}
        twice = Counts.from_arrow(pa.concat_tables([given, given]), **how)
        assert_same(twice, Counts.from_arrow(given, **how) * 2)


LINES = {
    "feature": ["a", "a", "b", "b"],
    "value": ["p", "q", "p", "q"],
    "class": ["x", "y", "x", "y"],
    "count": [1, 2, 1, 2],
}


class TestWhatIsNoTableOfCounts:
    @pytest.mark.parametrize("lacking", LINES)
    def test_a_column_that_is_not_there(self, lacking):
        with pytest.raises(InputError, match=f"needs a column '{lacking}'"):
            Counts.from_arrow(pa.table({name: own for name, own in LINES.items() if name != lacking}))

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"count": [1, 2, 1, -2]}, "Column 'count': line 3 is no number of rows"),
            ({"count": [1, 2, 1, None]}, "Column 'count': line 3 is no number of rows"),
            ({"count": [1, 2, 1, np.inf]}, "Column 'count': line 3 is no number of rows"),
            ({"count": ["1", "2", "1", "2"]}, "Column 'count' holds string"),
            ({"count": [0, 0, 0, 0]}, "counts no row"),
            ({"class": ["x", "y", "x", None]}, "Column 'class': line 3 has no label"),
            ({"class": [0.5, 1.5, 0.5, 1.5]}, "Column 'class' holds double"),
            ({"value": [1, 2, 1, 2]}, "Column 'value' holds int64, and has to hold text"),
            ({"feature": [1, 2, 1, 2]}, "Column 'feature' holds int64, and has to hold text"),
            ({"count": [1, 2, 1, 3]}, "Column 'b' counts 3 rows of class 'y', and there are 2"),
            ({"feature": [None] * 4, "value": [None] * 4}, "counts no column"),
            ({name: [] for name in LINES}, "has no lines"),
            ({"feature_2": [None] * 4}, "needs a column 'value_2'"),
            (
                {"feature": [None, "a", "b", "b"], "feature_2": ["a"] * 4, "value_2": ["p"] * 4},
                "Line 0 names a further column before the first",
            ),
            ({"feature_2": ["c"] * 4, "value_2": ["q"] * 4}, "Column 'a' has no lines by itself"),
        ],
    )
    def test_lines(self, change, complaint):
        with pytest.raises(InputError, match=complaint):
            Counts.from_arrow(pa.table(LINES | change))

    def test_pairs_that_are_not_all_there(self):
        lines = {name: [*own, *own[:1]] for name, own in LINES.items()}
        lines |= {"feature_2": [None] * 4 + ["b"], "value_2": [None] * 4 + ["p"]}
        with pytest.raises(InputError, match="Columns 'a' and 'b' together count 0 rows of class 'y', and there are 2"):
            Counts.from_arrow(pa.table(lines))

    def test_pairs_of_values_that_no_column_has(self):
        lines = {name: [*own, *own[:1]] for name, own in LINES.items()}
        lines |= {"feature_2": [None] * 4 + ["b"], "value_2": [None] * 4 + ["r"]}
        with pytest.raises(InputError, match="Column 'b': 'r' is not one of its values"):
            Counts.from_arrow(pa.table(lines))

    @pytest.mark.parametrize("given", [None, 3, "counts", [1, 2], object()])
    def test_what_is_no_table(self, given):
        with pytest.raises(HebnbError):
            Counts.from_arrow(given)

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ({"types": {"c": "integer"}}, "column='c' is not known"),
            ({"types": {"a": "int"}}, r"types\['a'\]='int' is not known"),
            ({"bin_edges": {"c": [1]}}, "column='c' is not known"),
            ({"bin_edges": {"a": [2, 1]}}, "increasing"),
            ({"types": {"a": "text"}, "bin_edges": {"a": [1]}}, "types and bin_edges both have 'a'"),
            ({"missing": "never"}, "missing='never' is not known"),
        ],
    )
    def test_arguments(self, arguments, complaint):
        with pytest.raises(ParameterError, match=complaint):
            Counts.from_arrow(pa.table(LINES), **arguments)

    def test_values_of_another_type(self):
        with pytest.raises(InputError, match="Column 'a': 'p' is no integer"):
            Counts.from_arrow(pa.table(LINES), types={"a": "integer"})
        with pytest.raises(InputError, match="Column 'a': 'p' is not one of its values"):
            Counts.from_arrow(pa.table(LINES), bin_edges={"a": [1]})
        with pytest.raises(InputError, match="count the rows of every class"):
            Counts.from_arrow(pa.table(LINES), missing="ignore")

    def test_few_lines_that_would_fill_the_memory(self):
        n_classes, n_features = 30_000, 3_000
        lines = {
            "feature": ["f0"] * n_classes + [f"f{i}" for i in range(1, n_features)],
            "value": ["v"] * (n_classes + n_features - 1),
            "class": np.append(np.arange(n_classes), np.zeros(n_features - 1, dtype=int)),
            "count": np.ones(n_classes + n_features - 1),
        }
        with pytest.raises(InputError, match="would take .* MB of memory"):
            Counts.from_arrow(pa.table(lines))


@pytest.mark.parametrize("name", ["naive Bayes", "AODE", "KDB", "evidence"])
@given(data=st.data())
@examples(60)
def test_altered_metadata_are_refused_or_harmless(name, data):
    """Some value in the JSON is another, or is gone."""
    X, y = table(1, 60)
    given_table = TABLES.setdefault(name, MAKES[name]().fit(X, y).counts_.to_arrow())
    described = json.loads(given_table.schema.metadata[b"hebnb"])
    at, key = described, None
    for _ in range(data.draw(st.integers(1, 5))):
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key]:
            break
        parent, at = at, at[key]
    else:
        at = parent
    strange = st.sampled_from([None, -1, 10**9, 1.5, "", "bins", [], {}, [[]], True, float("nan")])
    if data.draw(st.booleans()) and isinstance(at, dict):
        del at[key]
    else:
        at[key] = data.draw(strange)
    altered = given_table.replace_schema_metadata({b"hebnb": json.dumps(described)})
    try:
        counts = Counts.from_arrow(altered)
    except HebnbError:
        return
    for own, kind in zip(counts.tables, counts.vocabulary.features, strict=True):
        assert own.shape == (kind.size, counts.classes.size)


TABLES = {}


@pytest.mark.parametrize(
    "metadata", [b"", b"{", b"[]", b"null", b"\xff", b'{"counts": 99}', b'{"counts": 1}', b'{"counts": "x"}']
)
def test_metadata_that_are_none(metadata):
    with pytest.raises(InputError):
        Counts.from_arrow(pa.table(LINES).replace_schema_metadata({b"hebnb": metadata}))


@pytest.mark.parametrize("make", [NaiveBayes, AODE, KDB, EvidenceClassifier])
def test_nothing_else_has_to_be_imported(make, tmp_path):
    """Whatever sort of counts a table holds, the class that is exported knows it."""
    X, y = table(6)
    pq.write_table(make().fit(X, y).counts_.to_arrow(), tmp_path / "counts.parquet")
    code = "import sys, pyarrow.parquet as pq, hebnb; print(type(hebnb.Counts.from_arrow(pq.read_table(sys.argv[1]))))"
    command = [sys.executable, "-c", code, tmp_path / "counts.parquet"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f".{make._STRUCTURE.counts_type.__name__}'" in found.stdout
