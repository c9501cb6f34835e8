"""From rows with labels to the page."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
from sklearn.pipeline import Pipeline

from hebnb import errors
from hebnb.columns.column import Column
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.table import read, taken, target_levels
from hebnb.errors import InputError
from hebnb.estimators.alerts import Alert
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.rows import encoded
from hebnb.foundation.arrays import Array, IntArray
from hebnb.methods import METHODS
from hebnb.overview.description import described
from hebnb.page.baselines import BASELINES
from hebnb.page.choices import LEAST
from hebnb.page.comparison import compare
from hebnb.page.contents import EXAMPLES, Contents, contents, left_out
from hebnb.page.explorer import Examples, fits_page
from hebnb.page.provenance import Provenance
from hebnb.page.rendering import render
from hebnb.parts import ColumnParts
from hebnb.parts.pipeline import together
from hebnb.tabular.labelled import Labelled
from hebnb.tabular.parts import with_parts

# Probabilities of a method that are held while methods are compared: rows × classes.
MOST_PROBABILITIES = 20_000_000


@dataclass(frozen=True)
class Page:
    """The page, what it says, and what is odd about the table, with the values that the page does not name."""

    contents: Contents
    html: str
    alerts: Sequence[Alert]


class LabelledRows(Protocol):
    """Rows with labels, in files or in memory."""

    @property
    def target(self) -> str:
        """The name of the column that is predicted."""

    @property
    def n_rows(self) -> int:
        """How many rows have a label."""

    @property
    def n_classes(self) -> int:
        """How many labels there are."""

    @property
    def unlabelled(self) -> int:
        """How many rows were left out because they have none."""

    @property
    def beside(self) -> str | None:
        """The column that says which rows belong together, or when they were."""

    @property
    def repeated(self) -> list[str]:
        """Names that several columns have."""

    def sample(self, rows: int, seed: int) -> LabelledRows:
        """A random sample of the rows."""

    def collect(self) -> tuple[Any, Any, Any, Any]:
        """Features, labels, weights and the column beside them, in memory."""

    def fit(self, model: CategoricalClassifier) -> CategoricalClassifier:
        """Learn from all rows."""


def made(
    rows: LabelledRows,
    provenance: Provenance,
    parameters: dict[str, Any],
    *,
    folds: int,
    max_rows: int,
    seed: int,
    bars: Any,
    in_time: bool = False,
    parts: ColumnParts | None = None,
    least: float = LEAST,
    include_rows: bool = False,
) -> tuple[Page, CategoricalClassifier | Pipeline]:
    """Compare the methods, fit the best on all rows, and make the page.

    Parameters
    ----------
    rows : LabelledRows
    provenance : Provenance
        Where the rows come from; what columns are taken for is added.
    parameters : dict
        How columns are read.
    folds, max_rows, seed : int
        Of the cross-validation.
    bars : rich.progress.Progress
    in_time : bool, default=False
        Whether the column beside the features tells when rows were; else it tells which belong together.
    parts : ColumnParts, optional
        What makes further columns of those that there are, of rows in files; it learns anew in every fold.
    least : float, default=5
        Rows that a category must have to be on the page.
    include_rows : bool, default=False
        Whether some rows are on the page, as examples.
    """
    notes = []
    if rows.unlabelled:
        notes.append(f"{left_out(rows.unlabelled, 'without a label')}.")
    compared = rows
    max_rows = max(10, min(max_rows, MOST_PROBABILITIES // rows.n_classes))
    if rows.n_rows > max_rows:
        notes.append(f"Methods were compared on {max_rows:,} rows drawn at random; the best learned from all.")
        compared = rows.sample(max_rows, seed)
    X, labels, _, beside = compared.collect()
    y = label_array(labels)
    apart = None if beside is None else _places(beside, rows.beside)
    groups, times = (None, apart) if in_time else (apart, None)
    table = described(
        read(X),
        target_levels(labels),
        ReadingParameters(
            parameters.get("categorical_features", "auto"), parameters.get("numeric_features"), trees=True
        ),
        n_drawn_from=None if rows is compared else rows.n_rows,
        repeated=rows.repeated,
    )
    # Where rows are parted by time or group, it does not matter whether they are sorted.
    alerts = [alert for alert in table.alerts if apart is None or alert.kind != "sorted"]
    trials, done = folds * (len(BASELINES) + len(METHODS)), count()
    task = bars.add_task("comparing", total=trials)
    comparison = compare(
        X, y, parameters, folds=folds, random_state=seed, groups=groups, times=times, parts=parts,
        begin=lambda method: bars.update(task, completed=next(done), description=f"comparing: {method}"),
    )  # fmt: skip
    bars.update(task, completed=trials, description="comparing")
    if comparison.unknown:
        notes.append(f"{left_out(comparison.unknown)} of the comparison, because no other fold has the class.")
    task = bars.add_task(f"learning from all rows: {comparison.best.method.name}", total=2)
    with nullcontext(rows) if parts is None else with_parts(cast("Labelled", rows), parts) as learned_from:
        best = learned_from.fit(METHODS[comparison.best.method.name].model(**parameters))
        bars.update(task, completed=1, description="making the page")
        explored = comparison.best.method.name, best
        if not fits_page(best.score_tables_):
            explored = "NB+loo", learned_from.fit(METHODS["NB+loo"].model(**parameters))
            notes.append(
                f"The tables of {comparison.best.method.name} are too large for a page; the explorer has NB+loo."
            )
    shown = explored[1].score_tables_
    examples = None
    if include_rows:
        drawn = np.random.default_rng(seed).permutation(len(y))[:EXAMPLES]
        some = taken(X, drawn)
        codes = encoded(explored[1], some if parts is None else parts.transform(some))
        examples = Examples(codes, shown.counts.classes.codes_of(y[drawn]))
    columns = dict(zip(table.columns["column"], table.columns["why"], strict=True))
    page = contents(
        rows.target,
        comparison,
        best.score_tables_,
        replace(provenance, columns=columns),
        explored=(explored[0], shown),
        examples=examples,
        notes=notes,
        alerts=alerts,
        least=least,
    )
    bars.advance(task)
    return Page(page, render(page), alerts), together(parts, best)


def _places(beside: Any, name: str | None) -> IntArray:
    """Values of an array or an Arrow column as numbers in their order."""
    column = Column(str(name), nw.from_native(beside, series_only=True, pass_through=True))
    if (column.levels.codes < 0).any():
        raise InputError(
            f"{errors.column(str(name))}: some values are missing, so it is not known to which part their rows belong.",
            "Leave these rows out, or name another column.",
        )
    return column.levels.codes


def label_array(labels: Any) -> Array:
    """Labels of an array or an Arrow column as an array of plain values of one type."""
    values = labels.tolist() if isinstance(labels, np.ndarray) else labels.to_pylist()
    array = np.array(values)
    return array if array.dtype.kind in "biuf" else np.array(values, dtype=object)
