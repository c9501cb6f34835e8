"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from hebnb import errors
from hebnb.cli.console import err, set_debugging
from hebnb.methods import METHODS
from hebnb.tabular.source import KINDS, Kind

_SOURCE = (
    "A CSV, TSV, Parquet or JSON lines file, a quoted glob of them, - for standard input, "
    "or @flights, which come along."
)

TableSource = Annotated[str, typer.Argument(metavar="TABLE", help=_SOURCE)]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A file made by hebnb fit.")]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COL", help="Column to predict.")]
Features = Annotated[
    list[str] | None, typer.Option("--feature", metavar="COL", help="Column to learn from; may be repeated.")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COL", help="Column to leave out; may be repeated.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", metavar="COL", help="Column that is categories whatever it looks like, 007 too."),
]
Numeric = Annotated[
    list[str] | None, typer.Option("--numeric", metavar="COL", help="Column of integers to cut into bins.")
]
Bins = Annotated[
    int | None,
    typer.Option(
        "--bins", min=2, help="Quantile bins of a numeric column, where the method has them; 10 if not given."
    ),
]
Parts = Annotated[
    bool,
    typer.Option(
        "--parts", help="Learn from parts of dates (month, weekday, hour …) and from words of free text as well."
    ),
]
Gap = Annotated[str | None, typer.Option("--missing-value", metavar="TEXT", help="Text that means a gap, such as NA.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="csv, tsv, parquet or jsonl, where the ending does not tell."),
]
Hive = Annotated[
    bool, typer.Option("--hive", help="Take folders named key=value, which the files are in, for columns.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.", callback=set_debugging)]

METHOD_HELP = "One of " + ", ".join(METHODS) + "."


def reading(categorical: list[str] | None, numeric: list[str] | None, bins: int | None) -> dict[str, Any]:
    """The parameters of a model that say how columns are read."""
    given: dict[str, Any] = {"categorical_features": categorical or "auto", "numeric_features": numeric or None}
    return given if bins is None else given | {"n_bins": bins}


def kind(given: str | None) -> Kind | None:
    """The format of a table that the user named."""
    if given is None:
        return None
    for known in KINDS:
        if known == given.lower().lstrip("."):
            return known
    raise errors.unknown_name("--format", given, list(KINDS))


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Something that moves while there is nothing to count."""
    console = err()
    with console.status(doing) if console.is_terminal else nullcontext():
        yield
