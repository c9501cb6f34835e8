"""A scorecard as a query that gives the rows of a table their points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.explain.scorecard import Scorecard
from hebnb.export.sql.dialect import DIALECTS, Query
from hebnb.export.sql.query import _columns, _table_name
from hebnb.export.sql.reading import add_read
from hebnb.export.sql.sums import add_sums
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.combination import Combination
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import ScoreTable


def scorecard_to_sql(card: Scorecard, dialect: str = "duckdb", *, table: str = "rows", create: bool = False) -> str:
    """A query that gives the rows of a table with their points, as ``Scorecard.score`` does.

    The result has all columns of the table and ``score``, in no particular order of the rows.

    Parameters
    ----------
    card : Scorecard
    dialect, table, create
        As for ``to_sql``.

    Returns
    -------
    str
        One query, without a semicolon; with ``create`` it follows the statements that it needs.

    Examples
    --------
    >>> from hebnb.export import scorecard_to_sql
    >>> from hebnb import EvidenceClassifier
    >>> model = EvidenceClassifier().fit([["own"], ["own"], ["rent"]] * 9, ["good", "good", "bad"] * 9)
    >>> print(scorecard_to_sql(model.scorecard(label="good", digits=0)))
    WITH "hebnb_f0" AS (...
    ('own', ...e0),
    ('rent', -...e0)
    ...
    "hebnb_score_0" AS "score"
    FROM "hebnb_scores"
    """
    if dialect not in DIALECTS:
        raise errors.unknown_name("dialect", dialect, list(DIALECTS))
    query, scores = Query(DIALECTS[dialect], "hebnb_"), _in_points(card)
    columns, made = add_read(query, _columns(scores, query, dialect), _table_name(table, query))
    made += add_sums(query, scores, columns, [0])
    select = query.write(
        "SELECT {kept},\n{score_0} AS {score}\nFROM {scores}",
        kept=query.spread(made),
        score=query.dialect.name("score"),
    )
    return query.text(select, create)


@dataclass(frozen=True, eq=False)
class _Points:
    """A score table that knows one class, to whose score it adds points."""

    table: ScoreTable
    points: FloatArray

    @property
    def columns(self) -> tuple[int, ...]:
        return self.table.columns

    @property
    def views(self) -> tuple[IntArray, ...]:
        return self.table.views

    @property
    def n_cells(self) -> int:
        return len(self.points)

    @property
    def root(self) -> None:
        """None: cells are listed, whatever stood in for those that were not."""

    def lines(self) -> tuple[IntArray, FloatArray]:
        return self.table.lines()[0], self.points[:, np.newaxis]


def _in_points(card: Scorecard) -> ScoreTables:
    """Score tables of one class, whose score is that of the card."""
    tables: Any = tuple(_Points(own, card.points(t, own.lines()[1])) for t, own in enumerate(card.scores.tables))
    return replace(
        card.scores,
        log_prior=np.array([card.base_points]),
        tables=tables,
        combination=Combination.unweighted(1, len(tables)),
    )
