"""``describe``: a table as its reader should know it before anything is learned."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb.columns.column import Levels, is_fractional
from hebnb.columns.reading import Reading, ReadingParameters
from hebnb.columns.table import Table, read, target_levels
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.errors import InputError, TableWarning
from hebnb.estimators.alerts import Alert
from hebnb.estimators.rows import no_rows
from hebnb.overview.alerts import Look, of_look
from hebnb.overview.layout import as_text
from hebnb.overview.seen import Seen
from hebnb.overview.telling import Told
from hebnb.overview.why import taken_for, why


@dataclass(frozen=True, eq=False)
class TableDescription:
    """What a table is like; printing it shows all of it.

    Parameters
    ----------
    n_rows : int
        The rows that were looked at.
    classes : dict of label to int
        How many rows each class has; empty without a target.
    columns : dict of str to list
        A table with a line for every column, as any dataframe library takes it: its name (``column``), what its values
        are (``holds``), what it is ``taken_for`` and ``why``, how many ``distinct`` values it has, the share of
        ``gaps``, ``examples``, and its ``gain``: how much more likely the class of a left-out row is with the column
        than without any, in nats a row; None without a target.
    alerts : tuple of Alert
        What is odd, each with a ``column`` or None, a ``kind``, a ``sentence`` and a ``remedy``.
    n_drawn_from : int
        The rows of the table, if those looked at were drawn from more.
    """

    n_rows: int
    classes: dict[Any, int]
    columns: dict[str, list[Any]]
    alerts: tuple[Alert, ...]
    n_drawn_from: int

    def __repr__(self) -> str:
        return as_text(self)


def describe(
    X: Any,
    y: Any = None,
    *,
    categorical_features: Any = "auto",
    numeric_features: Any = None,
) -> TableDescription:
    """Tell what every column of a table is taken for and why, what it tells about the class, and what is odd.

    Columns are read as ``EvidenceClassifier`` reads them; other classifiers take whole numbers for categories, and cut
    floats into ten bins. What columns tell is learned from at most 50,000 rows.

    Parameters
    ----------
    X : table or array of shape (S, F)
    y : array or series of shape (S,), optional
        The classes. Rows without one are left out.
    categorical_features : {"auto", "all"} or list of names or positions, default="auto"
        Which columns are categories, as for the classifiers.
    numeric_features : list of names or positions, optional
        Columns of integers that are numbers.

    Returns
    -------
    TableDescription
        Its ``columns`` are a table, its ``alerts`` what is odd; printing it shows both.

    Examples
    --------
    >>> import pandas as pd
    >>> from hebnb import describe
    >>> X = pd.DataFrame({"colour": ["red", "blue", "red"] * 20, "number": [f"no {n}" for n in range(60)]})
    >>> X["size"] = [1.5, 2.5, None, 3.5] * 15
    >>> description = describe(X, ["late", "early"] * 30)
    >>> description
    60 rows, 3 columns; early 30 (50.0%), late 30 (50.0%)
    <BLANKLINE>
    column  distinct   gaps     gain  taken for, and why      examples
    colour         2   0.0%  +0.0000  text: categories        red (67%), blue (33%)
    number        60   0.0%  +0.0000  text: categories        no 0, no 1, no 10 …
    size           3  25.0%  +0.7006  floats: a tree of bins  1.5 … 3.5
    <BLANKLINE>
    1 alert:
    - Column 'number' has 60 values in 60 rows: an id, it seems. Leave it out: new rows will have other
      values.
    >>> [(alert.column, alert.kind) for alert in description.alerts]
    [('number', 'id')]
    """
    table = read(X)
    labels = None if y is None else target_levels(y, table.n_rows)
    return described(table, labels, ReadingParameters(categorical_features, numeric_features, trees=True))


def described(
    table: Table,
    labels: Levels | None,
    parameters: ReadingParameters,
    *,
    n_drawn_from: int | None = None,
    repeated: Sequence[str] = (),
) -> TableDescription:
    """The description of a table that may be a sample, drawn at random from so many rows."""
    if not table.n_rows:
        raise no_rows()
    unlabelled = 0 if labels is None else int((labels.codes < 0).sum())
    if unlabelled == table.n_rows:
        raise InputError("Every label is missing.", "Pass labels, or none at all.")
    if labels is not None and unlabelled:
        kept = labels.codes >= 0
        table, labels = table.rows(kept), Levels(labels.codes[kept], labels.values)
    reading = parameters.of(table.names)
    rows = _encoded(table, labels, reading)
    is_told = labels is not None and not any(map(is_fractional, rows.classes.values.tolist()))
    told = Told.by(rows, reading.kept) if is_told else Told.nothing(rows.vocabulary)
    columns = tuple(table.map(Seen.of, told.vocabulary.features))
    look = Look(
        columns,
        told,
        None if labels is None else rows,
        unlabelled,
        frozenset(own.name for own in table.columns if reading.cuts(own) and not own.is_continuous),
        n_drawn_from is None,
        repeated,
    )
    count = np.bincount(rows.labels, minlength=rows.classes.size).tolist()
    classes = {} if labels is None else dict(zip(rows.classes.values.tolist(), count, strict=True))
    return TableDescription(
        table.n_rows, classes, _lines(columns, told, reading, is_told), of_look(look), n_drawn_from or table.n_rows
    )


def _encoded(table: Table, labels: Levels | None, reading: Reading) -> EncodedRows:
    """The rows as codes, of one class if there is no target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # of columns without values, for which there is an alert
        vocabulary = Vocabulary.learn(table, reading)
    if labels is None:
        labels = Levels(np.zeros(table.n_rows, dtype=np.intp), np.array([""], dtype=object))
    return EncodedRows.of(vocabulary, vocabulary.encode(table), labels)


def _lines(columns: Sequence[Seen], told: Told, reading: Reading, is_told: bool) -> dict[str, list[Any]]:
    """What is known of every column, as the columns of a table."""
    gains = [None if np.isnan(gain) else float(gain) for gain in told.gains]
    return {
        "column": [seen.name for seen in columns],
        "holds": [seen.holds for seen in columns],
        "taken_for": [taken_for(seen) for seen in columns],
        "why": [why(seen, reading, told.readings.get(f), is_told) for f, seen in enumerate(columns)],
        "distinct": [seen.n_values for seen in columns],
        "gaps": [seen.n_gaps / len(seen.codes) for seen in columns],
        "gain": gains,
        "examples": [seen.examples for seen in columns],
    }
