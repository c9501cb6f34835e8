"""Learning from batches that come one after the other, in constant memory."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from hebnb import errors
from hebnb.columns.batches import tables_of
from hebnb.columns.choice import chosen_features
from hebnb.errors import InputError
from hebnb.estimators.classifier import CategoricalClassifier

Model = TypeVar("Model", bound=CategoricalClassifier)


def fit_batches(
    model: Model,
    batches: Any,
    target: str,
    *,
    features: list[str] | None = None,
    sample_weight: str | None = None,
    classes: Any = None,
    batch_size: int = 131_072,
    progress: bool = False,
    decay: float = 1.0,
) -> Model:
    """Learn from a PyArrow dataset, or from tables or record batches one after the other.

    Parameters
    ----------
    model : classifier
        Learns by ``partial_fit``; what it has learned before stays.
    batches : PyArrow dataset or scanner, or iterable of tables
        Every table has the same columns.
    target : str
        Column of the labels.
    features : list of str, optional
        Columns to learn from; by default all others.
    sample_weight : str, optional
        Column that says how often a row counts.
    classes : array, optional
        All labels that may occur, if any other is to be an error.
    batch_size : int, default=131072
        Rows of a PyArrow dataset read at a time.
    progress : bool, default=False
        Show a progress bar, if the package rich is there.
    decay : float, default=1.0
        How much the rows of all earlier batches count whenever another comes, as for ``partial_fit``.

    Returns
    -------
    model

    Examples
    --------
    >>> import pandas as pd
    >>> from hebnb import NaiveBayes, fit_batches
    >>> tables = (pd.DataFrame({"x": [x], "y": [y]}) for x, y in [("a", 0), ("b", 1), ("a", 0)])
    >>> fit_batches(NaiveBayes(), tables, "y").class_count_
    array([2., 1.])
    """
    total = batches.count_rows() if hasattr(batches, "count_rows") else None
    bar: Any = nullcontext()
    if progress and find_spec("rich") is not None:
        from rich.progress import Progress

        bar = Progress()
    with bar as shown:
        task = shown.add_task("rows", total=total) if shown is not None else None
        some = False
        chosen: list[str] = []
        for table in tables_of(batches, batch_size):
            if not len(table):
                continue
            chosen = chosen or chosen_features(features, table.columns, target, sample_weight)
            for name in (*chosen, target, *([sample_weight] if sample_weight else [])):
                if name not in table.columns:
                    raise errors.unknown_name("column", name, table.columns)
            weights = table[sample_weight].to_numpy() if sample_weight else None
            if weights is not None and not np.any(weights):
                continue
            some = True
            model.partial_fit(
                table.select(chosen).to_native(),
                table[target].to_native(),
                classes=classes,
                sample_weight=weights,
                decay=decay,
            )
            if shown is not None:
                shown.advance(task, len(table))
    if not some:
        raise InputError("There was no batch with rows.", "Pass at least one.")
    return model
