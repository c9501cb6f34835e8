"""A fitted model as a query that scores the rows of a table where they are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.export.sql.dialect import DIALECTS, LEAST_POWER, Query
from hebnb.export.sql.estimates import add_scores_of_estimates
from hebnb.export.sql.keys import Keys, kind_of
from hebnb.export.sql.reading import add_read
from hebnb.export.sql.sums import add_sums
from hebnb.parts.pipeline import without_parts
from hebnb.scores.lookups import TIE
from hebnb.scores.score_tables import ScoreTables

# Most numbers in a query: about 200 MB of text.
_MOST_NUMBERS = 10_000_000
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,30}")
_PLAIN_LABEL = re.compile(r"[A-Za-z0-9_]{1,40}")
_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]+)')


def to_sql(
    model: CategoricalClassifier,
    dialect: str = "duckdb",
    *,
    table: str = "rows",
    create: bool = False,
    prefix: str = "hebnb_",
) -> str:
    r"""A query that gives the rows of a table with their predictions, as ``predict_proba`` and ``predict`` do.

    The result has all columns of the table, ``prediction``, and a column ``proba_…`` for every class, in no particular
    order of the rows. The columns are called ``proba_<label>`` if all labels are at most 40 letters, digits and
    underscores of ASCII and differ in more than case, and else ``proba_0``, ``proba_1``, … in the order of
    ``classes_``. The table should not have columns of these names already.

    Parameters
    ----------
    model : classifier
        A fitted model.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark"}, default="duckdb"
        Spark is Spark 4, or Databricks.
    table : str, default="rows"
        Name of the table, with dots between its parts and quotes around a part that contains dots itself. Names are
        written in quotation marks, also those of columns, so their case has to be right where it matters.
    create : bool, default=False
        Put the score tables into the database by CREATE TABLE and INSERT statements, with ``;`` and a line break
        between them, instead of into the query. For large models, whose text might not fit into one query, and for
        those that score often: databases take seconds to read a hundred thousand constants in a query.
    prefix : str, default="hebnb\_"
        How names of our own begin: of score tables and of intermediate columns.

    Returns
    -------
    str
        One query, without a semicolon; with ``create`` it follows the statements that it needs. For BigQuery,
        Snowflake and Spark no string contains a line break, so that statements can be told apart at ``;`` and a line
        break, unless a column's name contains them.

    Raises
    ------
    InputError
        A column's categories have no common type in SQL, or the model is too large: above ten million numbers, or
        for ``AODE`` above 200,000 pairs of values.

    Notes
    -----
    A column is named as at fit; those of an array are ``"0"``, ``"1"``, … Its type should be of the kind it was at
    fit: what a database does to compare text with numbers is its own affair. Times are compared as they are shown: a
    column with a time zone gives its values in the zone of the session, which should be UTC. Durations that were cut
    into bins are expected as numbers of microseconds.

    NULL is a gap, and so is NaN among numbers. A query cannot complain, so with ``missing="error"`` a gap says nothing.

    Examples
    --------
    >>> from hebnb.export import to_sql
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes("laplace").fit([["red"], ["red"], ["blue"]], ["no", "no", "yes"])
    >>> print(to_sql(model, table="shop.sales"))
    WITH "hebnb_f0" AS (SELECT CAST("hebnb_key" AS VARCHAR) AS "hebnb_key", ...
    ('blue', -1.3862943611198906e0, -0.40546510810816444e0),
    ('red', -0.2876820724517809e0, -1.0986122886681098e0)
    ...
    """
    if dialect not in DIALECTS:
        raise errors.unknown_name("dialect", dialect, list(DIALECTS))
    if not _PLAIN_NAME.fullmatch(prefix):
        raise ParameterError(f"prefix={prefix!r} must be a short name of ASCII letters, digits and underscores.")
    scores = without_parts(model, "a query").score_tables_
    query = Query(DIALECTS[dialect], prefix)
    columns = _columns(scores, query, dialect)
    labels = _label_constants(scores, query)
    # A class that is given no chance has no score: its logarithm would not be a number of SQL.
    possible = np.flatnonzero(np.isfinite(scores.log_prior)).tolist()
    columns, made = add_read(query, columns, _table_name(table, query))
    if len(scores.parents):
        made += add_scores_of_estimates(query, scores, columns)
    else:
        made += add_sums(query, scores, columns, possible)
    made += _add_probabilities(query, possible)
    outputs = [
        query.spread(made),
        _as(query, _prediction(query, labels, possible), "prediction"),
        *(
            _as(query, query.write("{power_c} / {total}", c) if c in possible else query.dialect.double(0.0), name)
            for c, name in enumerate(_probability_names(scores.counts.classes.values.tolist()))
        ),
    ]
    select = ",\n".join(outputs)
    return query.text(query.write("SELECT {select}\nFROM {shares}", select=select), create)


def _as(query: Query, expression: str, name: str) -> str:
    return f"{expression} AS {query.dialect.name(name)}"


def _add_probabilities(query: Query, possible: list[int]) -> list[str]:
    """Steps from scores to the shares of their powers; the columns they make.

    Each is a step so that no expression holds the others, as often as there are classes.
    """
    scores = query.each(possible, "{score_c}")
    greatest = f"GREATEST({scores})" if len(possible) > 1 else scores
    query.add_step("top", "SELECT *, {greatest} AS {best}\nFROM {scores}", greatest=greatest)
    powers = query.each(
        possible, "EXP(GREATEST({score_c} - {best}, {least})) AS {power_c}", least=query.dialect.double(LEAST_POWER)
    )
    query.add_step("powers", "SELECT *, {made}\nFROM {top}", made=powers)
    total = " + ".join(query.write("{power_c}", c) for c in possible)
    query.add_step("shares", "SELECT *, {sum} AS {total}\nFROM {powers}", sum=total)
    return ["best", *(f"power_{c}" for c in possible), "total"]


def _prediction(query: Query, labels: tuple[str, list[str]], possible: list[int]) -> str:
    """The label of the greatest score; of the first of equals."""
    kind, constants = labels
    tie = query.dialect.double(TIE)
    *others, last = possible
    cases = " ".join(
        query.write("WHEN {score_c} >= {best} - {tie} THEN {label}", c, label=constants[c], tie=tie) for c in others
    )
    return query.dialect.cast(f"CASE {cases} ELSE {constants[last]} END" if others else constants[last], kind)


def _label_constants(model: ScoreTables, query: Query) -> tuple[str, list[str]]:
    labels = model.counts.classes.values.tolist()
    kind = kind_of(labels, "Classes")
    if kind not in query.dialect.types or (kind == "text" and not all(map(query.dialect.can_hold, labels))):
        raise InputError("Classes: some labels have no match in this dialect.", "Rename them, and fit again.")
    return kind, [query.dialect.constant(kind, label) for label in labels]


def _probability_names(labels: list[Any]) -> list[str]:
    """Names of columns that are the labels' own where those are harmless."""
    texts = [str(label) for label in labels]
    if all(map(_PLAIN_LABEL.fullmatch, texts)) and len({text.lower() for text in texts}) == len(texts):
        return [f"proba_{text}" for text in texts]
    return [f"proba_{c}" for c in range(len(texts))]


def _columns(model: ScoreTables, query: Query, dialect: str) -> list[Keys]:
    """How the columns of the table are read."""
    vocabulary = model.counts.vocabulary
    names = [str(name) for name in vocabulary.names]
    numbers = model.n_classes * sum(table.n_cells for table in model.tables)
    if numbers > _MOST_NUMBERS:
        raise InputError(
            f"The score tables have {numbers:,} numbers, and SQL is made for up to {_MOST_NUMBERS:,}.",
            "Fit with max_categories, or export to ONNX.",
        )
    if dialect == "spark" and any("${" in name for name in names):
        raise InputError("Spark replaces ${…} in names of columns before it reads them.", "Rename the column.")
    return [
        Keys.of(name, feature, f"{query.own('rows')}.{query.dialect.name(str(name))}", query.dialect)
        for name, feature in zip(vocabulary.names, vocabulary.features, strict=True)
    ]


def _table_name(table: str, query: Query) -> str:
    """A name whose parts, given with or without quotation marks, are quoted."""
    parts, at = [], 0
    while match := _NAME_PART.match(table, at):
        double, back, plain = match.groups()
        parts.append(double.replace('""', '"') if double else back.replace("``", "`") if back else plain)
        at = match.end()
        if at == len(table):
            return ".".join(map(query.dialect.name, parts))
        if table[at] != ".":
            break
        at += 1
    raise ParameterError(f"table={table!r} is not the name of a table.", "Write it as schema.table.")
