"""Data that comes with the package."""

from __future__ import annotations

import csv
import gzip
from importlib import resources
from importlib.util import find_spec
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.table import table_and_labels
from hebnb.errors import ParameterError

__all__ = ["load_flights"]

_BACKENDS = ("pandas", "polars", "pyarrow")
_INTEGERS = ("month", "day", "sched_dep_time", "sched_arr_time", "distance")
_TARGET = "arrival"


def load_flights(*, backend: str | None = None) -> tuple[Any, Any]:
    """20,000 flights that left New York City in 2013, and whether each arrived late.

    Drawn from nycflights13 (public domain). The ten columns are known before departure: month, day, scheduled times,
    carrier, flight number, tail number, origin, destination and distance; tail numbers run into the thousands. The
    target is ``"late"``, more than 15 minutes, or ``"ontime"``.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow", "numpy"}, optional
        Who holds the table; by default the first of them that is installed. NumPy has no column names.

    Returns
    -------
    X : table of 20,000 rows and 10 columns
    y : series of 20,000 labels

    Examples
    --------
    >>> from hebnb.datasets import load_flights
    >>> X, y = load_flights(backend="numpy")
    >>> X.shape
    (20000, 10)
    >>> X[0].tolist()
    [1, 1, 600, 856, 'B6', 'F71', 'N657JB', 'JFK', 'TPA', 1005]
    """
    known = [*_BACKENDS, "numpy"]
    if backend is None:
        backend = next(name for name in known if find_spec(name))
    if backend not in known:
        raise errors.unknown_name("backend", backend, known)
    if not find_spec(backend):
        raise ParameterError(f"backend={backend!r} is not installed.", f"pip install {backend}")
    with (
        (resources.files("hebnb") / "data" / "flights.csv.gz").open("rb") as packed,
        gzip.open(packed, "rt", newline="") as text,
    ):
        names, *rows = csv.reader(text)
    columns: dict[str, Any] = {
        name: [int(value) for value in values] if name in _INTEGERS else [value or None for value in values]
        for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    if backend == "numpy":
        labels = np.array(columns.pop(_TARGET), dtype=object)
        return np.array(list(zip(*columns.values(), strict=True)), dtype=object), labels
    return table_and_labels(columns, _TARGET, backend)
