"""New rows as a fitted classifier sees them: checked, encoded, explained."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.table import Table, as_array, read
from hebnb.counts.drift import NewRows
from hebnb.counts.unseen import Unseen, warn_of_unseen
from hebnb.errors import InputError
from hebnb.estimators.state import Learned
from hebnb.explain.contributions import Explanation, contributions
from hebnb.foundation.arrays import Array, IntArray
from hebnb.scores.score_tables import CROSSED, ScoreTables


def checked_table(model: BaseEstimator, X: Any, scores: ScoreTables) -> Table:
    """Rows with the columns that a model learned from."""
    X = as_array(X)
    table = read(X)
    check_columns(frozen_at(model, scores), X, table, scores.counts.vocabulary.names)
    if not table.n_rows:
        raise no_rows()
    return table


def encoded(model: Any, X: Any) -> list[IntArray]:
    """The codes of rows with the columns that a fitted model learned from."""
    return encoded_and_unseen(model, X, model.score_tables_)[0]


def encoded_and_unseen(model: BaseEstimator, X: Any, scores: ScoreTables) -> tuple[list[IntArray], Unseen]:
    """The codes of rows, and how many of their values the model never saw."""
    table, vocabulary = checked_table(model, X, scores), scores.counts.vocabulary
    codes = vocabulary.encode(table)
    return codes, Unseen.of(vocabulary, table, codes)


def new_rows(model: Any, X: Any) -> NewRows:
    """What rows have in every column, and what a fitted model predicts of them."""
    scores: ScoreTables = model.score_tables_
    table = checked_table(model, X, scores)
    codes = scores.counts.vocabulary.encode(table)
    return NewRows.of(scores.counts, table, codes, softmax(scores.joint_log_scores(codes), axis=1))


def explained(model: Any, X: Any, row: int | None = None) -> Explanation:
    """What the scores of all rows, or of one, are made of."""
    scores: ScoreTables = model.score_tables_
    table = checked_table(model, X, scores)
    if row is not None:
        table = table.rows(np.arange(table.n_rows) == row)
    vocabulary = scores.counts.vocabulary
    codes = vocabulary.encode(table)
    warn_of_unseen(scores.counts, Unseen.of(vocabulary, table, codes))
    counts = [own.counted(codes) for own in scores.tables]
    values = _with_crosses(scores, vocabulary.shown(table, codes))
    labels = scores.counts.classes.values
    return Explanation(contributions(scores, codes), labels, tuple(scores.titles), values, np.stack(counts, axis=1))


def _with_crosses(scores: ScoreTables, values: Array) -> Array:
    """The values of rows, followed by those of columns that are crossed."""
    shown = np.where(values == np.array(None), "(missing)", values)
    together = [
        [CROSSED.join(row) for row in shown[:, list(table.columns)]] for table in scores.tables[values.shape[1] :]
    ]
    if not together:
        return values
    return np.concatenate([values, np.array(together, dtype=object).reshape(len(together), -1).T], axis=1)


def frozen_at(model: BaseEstimator, scores: ScoreTables) -> BaseEstimator:
    """The model as it was with these scores, whatever another thread does to it."""
    frozen = copy(model)
    frozen._learned = Learned(scores)
    return frozen


def check_columns(model: BaseEstimator, X: Any, table: Table, then: tuple[Name, ...]) -> None:
    """Compare the columns with those of fit as scikit-learn does, and name the first one out of place."""
    now = table.names
    complaint = ""
    try:
        validate_data(model, X, reset=False, skip_check_array=True)
    except ValueError as error:
        complaint = str(error)
    positions = tuple(range(len(now))), tuple(range(len(then)))
    by_position = then in positions and not all(isinstance(name, int) for name in now)
    if now not in positions and not by_position:  # names are names, integers too; scikit-learn compares only strings
        gone = [name for name in then if name not in now]
        moved = next((pair for pair in zip(now, then, strict=False) if pair[0] != pair[1]), None)
        if gone and not isinstance(gone[0], str):
            complaint += f"\n{errors.column(gone[0])} is missing."
        elif moved:
            complaint += f"{errors.column(moved[0])} stands where {moved[1]!r} stood at fit."
    if complaint:
        raise InputError(complaint.strip(), "Pass the columns of fit, in their order.")


def names_that_are_text(names: tuple[Name, ...]) -> Array:
    """What scikit-learn has as ``feature_names_in_``, which is there only if all names are text."""
    if not all(isinstance(name, str) for name in names):
        raise AttributeError("feature_names_in_ is for columns whose names are text.")
    return np.array(names, dtype=object)


def taking_any_column(tags: Any) -> Any:
    """Tags of an estimator that takes columns of all kinds, with gaps."""
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    tags.input_tags.allow_nan = True
    return tags


def no_rows() -> InputError:
    """The complaint about a table without any."""
    return InputError("X has 0 rows.", "Pass at least one.")
