"""The engines, by the names that narwhals gives them."""

from __future__ import annotations

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
    return BACKENDS[name]
