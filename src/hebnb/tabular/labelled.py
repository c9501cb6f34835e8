"""A table in files and the column to be predicted, checked before anything long begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hebnb import errors
from hebnb.columns.choice import chosen_features
from hebnb.counts.single import Counts
from hebnb.engines.backends.duckdb import is_nan
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.state import AsWritten
from hebnb.foundation.printable import visible
from hebnb.tabular.readings import NUMBERS, Reading
from hebnb.tabular.sql import quoted
from hebnb.tabular.table import TableFile, reading

# More labels than this are taken for a mistake.
MOST_CLASSES = 1_000
# Tables of up to this many cells are learned from in memory, larger ones by DuckDB.
IN_MEMORY = 50_000_000

Model = TypeVar("Model", bound=CategoricalClassifier)


@dataclass(frozen=True)
class Labelled:
    """Rows with labels.

    Parameters
    ----------
    table : TableFile
        Without the rows that have no label.
    target : str
    features : list of str
    weight : str, optional
        Column that says how often every row counts.
    n_rows : int
        Number of rows with a label.
    n_classes : int
        Number of different labels.
    unlabelled : int
        Number of rows left out because they have none.
    beside : str, optional
        Column that says which rows belong together, or when they were: collected, and not learned from.
    """

    table: TableFile
    target: str
    features: list[str]
    weight: str | None
    n_rows: int
    n_classes: int
    unlabelled: int
    beside: str | None = None

    @classmethod
    def of(
        cls,
        table: TableFile,
        target: str,
        *,
        features: Sequence[str] = (),
        drop: Sequence[str] = (),
        weight: str | None = None,
        beside: str | None = None,
        is_part: bool = False,
    ) -> Labelled:
        """Choose the columns and look at the labels; a column beside the others is a feature only if named as one.

        A part of a table may have rows of one class only.
        """
        if beside is not None and beside not in features:
            drop = [*drop, beside]
        chosen = chosen_features(list(dict.fromkeys(features)) or None, table.columns, target, weight, drop)
        has_label = f"{quoted(target)} IS NOT NULL"
        if str(table.relation.types[table.columns.index(target)]) in ("DOUBLE", "FLOAT"):
            has_label += f" AND NOT {is_nan(quoted(target))}"
        n_rows = table.n_rows()
        labelled, labels = table.where(has_label).values(f"count(*), count(DISTINCT {quoted(target)})")
        if not n_rows:
            raise InputError(f"{visible(table.source)} has no rows.")
        _refuse_labels(visible(target), labels, labelled, is_part)
        if labelled < n_rows:
            table = table.where(has_label)
        readings = table.decisions.readings
        for name, other in readings.unsure.items():
            if name in chosen:
                _tell_unsure(name, readings.of[name], other)
        table = table.as_in_print([*chosen, target])
        return cls(table, target, chosen, weight, labelled, labels, n_rows - labelled, beside)

    @property
    def repeated(self) -> list[str]:
        """Names of features that several columns have in the files."""
        return [name for name in self.table.written.repeated if name in self.features]

    def sample(self, rows: int, seed: int) -> Labelled:
        """A random sample of the rows."""
        return replace(self, table=self.table.sample(rows, seed), n_rows=rows)

    def collect(self) -> tuple[Any, Any, Any, Any]:
        """Features, labels, weights and the column beside them, in memory."""
        extra = [name for name in (self.weight, self.beside) if name is not None]
        rows = self.table.select(list(dict.fromkeys([*self.features, self.target, *extra]))).collect()
        weights, beside = (None if name is None else rows[name] for name in (self.weight, self.beside))
        return rows.select(self.features), rows[self.target], weights, beside

    def fit(self, model: Model) -> Model:
        """Learn from all rows, in memory or, where they are too many, by DuckDB; and how values are written."""
        self._learn(model)
        model._learned = replace(model._learned, written=self.as_written)
        return model

    def count(self, model: CategoricalClassifier) -> Counts:
        """Count all rows, in memory or, where they are too many, by DuckDB."""
        if self._fit_in_memory:
            X, y, weights, _ = self.collect()
            return model.count(X, y, sample_weight=weights)
        with reading(self.table.source):
            return model.count(self.table.relation, self.target, self.weight, features=self.features)

    @property
    def as_written(self) -> AsWritten:
        """How values of features are written."""
        formats = {name: form for name, form in self.table.formats.items() if name in self.features}
        return AsWritten(formats, tuple(self.table.gaps))

    @property
    def _fit_in_memory(self) -> bool:
        return self.n_rows * (len(self.features) + 1) <= IN_MEMORY

    def _learn(self, model: Model) -> None:
        if self._fit_in_memory:
            X, y, weights, _ = self.collect()
            model.fit(X, y, sample_weight=weights)
            return
        with reading(self.table.source):
            model.fit(self.table.relation, self.target, self.weight, features=self.features)


def _refuse_labels(target: str, labels: int, labelled: int, is_part: bool) -> None:
    if not labelled:
        raise InputError(f"{errors.column(target)} is the target, and all its values are missing.")
    if labels == 1 and not is_part:
        raise InputError(
            f"{errors.column(target)} is the target and has one value only; there is nothing to tell apart.",
            "Name another column as the target.",
        )
    if labels > MOST_CLASSES:
        raise InputError(
            f"{errors.column(target)} is the target and has {labels:,} different values in {labelled:,} rows; classes "
            f"are at most {MOST_CLASSES:,}.",
            "Name another column as the target, or cut this one into classes first.",
        )


def _tell_unsure(name: str, taken: Reading, other: Reading) -> None:
    if taken.type in NUMBERS:
        errors.warn(
            f"{errors.column(visible(name))}: its values are taken for {taken.described()}, but could as well be "
            f"{other.described()}. If so, say {errors.argument('decimal')} '{other.decimal}'."
        )
        return
    errors.warn(
        f"{errors.column(visible(name))}: its {taken.described()} are taken for that, but could as well be "
        f"{other.described()}. Write them as 2024-12-31 if that is what they are."
    )


def require_target(target: str | None, table: TableFile) -> str:
    """The target, or a complaint that shows what could be it."""
    if target is None:
        shown = ", ".join(visible(name, 40) for name in table.columns[:50])
        raise ParameterError(
            f"Which column of {visible(table.source)} is to be predicted?",
            f"Say so with {errors.argument('target')}. Columns: {shown}.",
        )
    return target
