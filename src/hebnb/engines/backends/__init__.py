"""The engines, by the names that narwhals gives them."""

from __future__ import annotations

import re
from importlib import import_module

from hebnb.engines.backends.base import Backend, Eager, Frame, Times
from hebnb.engines.backends.dask import Dask
from hebnb.engines.backends.duckdb import DuckDB
from hebnb.engines.backends.ibis import Ibis
from hebnb.engines.backends.polars import Polars
from hebnb.engines.backends.spark import Spark
from hebnb.errors import InputError

BACKENDS: dict[str, Backend] = {
    "DUCKDB": DuckDB(),
    "POLARS": Polars(),
    "PYSPARK": Spark(),
    "PYSPARK_CONNECT": Spark(),
    "DASK": Dask(),
    "IBIS": Ibis(),
}

__all__ = ["BACKENDS", "Backend", "Eager", "Frame", "Times", "backend_of"]


def backend_of(frame: Frame) -> Backend:
    """The engine that holds a lazy table."""
    name = frame.implementation.name
    if name not in BACKENDS:
        known = ", ".join(dict.fromkeys(type(backend).__name__ for backend in BACKENDS.values()))
        raise InputError(
            f"The table is on the engine {name.lower()}, which hebnb does not know. Known: {known}.",
            "Hand it over as a table of one of these, or collect it first.",
        )
    backend = BACKENDS[name]
    _refuse_old(backend)
    return backend


def _refuse_old(backend: Backend) -> None:
    """Complain of an engine that is older than hebnb asks for."""
    module, oldest = backend.oldest
    version = import_module(module).__version__
    if _numbers(version) < _numbers(oldest):
        raise InputError(
            f"The table is on {type(backend).__name__} {version}; hebnb needs {oldest} or newer.",
            f"Upgrade {module}, or collect the table first.",
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])
