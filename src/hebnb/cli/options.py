"""Options that several commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from hebnb import errors
from hebnb.cli.console import err, set_debugging
from hebnb.methods import METHODS
from hebnb.tabular.source import KINDS, Kind

_SOURCE = (
    "A CSV, TSV, Parquet, JSON lines, Excel or Arrow file, a quoted glob of them, one in a .zip, - for standard input, "
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
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error arose.", callback=set_debugging)]


def _methods_like(incomplete: str) -> list[tuple[str, str]]:
    """The methods whose names begin so, and what they are, for the shell to complete."""
    return [(name, method.summary) for name, method in METHODS.items() if name.startswith(incomplete)]


Method = Annotated[
    str,
    typer.Option(
        "--method", "-m", metavar="NAME", help="One of " + ", ".join(METHODS) + ".", autocompletion=_methods_like
    ),
]


def reading(categorical: list[str] | None, numeric: list[str] | None, bins: int | None) -> dict[str, Any]:
    """The parameters of a model that say how columns are read."""
    given: dict[str, Any] = {"categorical_features": categorical or "auto", "numeric_features": numeric or None}
    return given if bins is None else given | {"n_bins": bins}


def reads_table(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a table is read; it takes them as ``how``, for `open_table`."""
    own = inspect.signature(function, eval_str=True)
    kept = [parameter for name, parameter in own.parameters.items() if name != "how"]

    @functools.wraps(function)
    def command(**given: Any) -> None:
        how = {name: given.pop(name) for name in _READING}
        gaps, delimiter, kind = how.pop("na") or [], how["delimiter"], _kind(how.pop("format"))
        how |= {"kind": kind, "gaps": tuple(gaps), "delimiter": _ESCAPES.get(delimiter, delimiter)}
        function(**given, how=how)

    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _READING.items()
    ]
    parameters = [own.replace(kind=inspect.Parameter.KEYWORD_ONLY) for own in kept]
    command.__signature__ = own.replace(parameters=[*parameters, *options])  # type: ignore[attr-defined]
    command.__annotations__ = {own.name: own.annotation for own in [*parameters, *options]}
    return command


# How a delimiter is typed that a keyboard lacks.
_ESCAPES = {r"\t": "\t", "tab": "\t"}
# The options that say how a table is read: their types, and what they are if not given.
_READING: dict[str, tuple[Any, Any]] = {
    "na": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--na", "--missing-value", metavar="TEXT", help="Text that means a gap in any column; may be repeated."
            ),
        ],
        None,
    ),
    "format": (
        Annotated[
            str | None,
            typer.Option("--format", metavar="FORMAT", help=f"{', '.join(KINDS)}, where the ending does not tell."),
        ],
        None,
    ),
    "delimiter": (
        Annotated[
            str | None, typer.Option("--delimiter", metavar="CHAR", help="What separates fields, such as ; or \\t.")
        ],
        None,
    ),
    "decimal": (
        Annotated[
            str | None, typer.Option("--decimal", metavar="CHAR", help="What stands before a fraction: a point or ,")
        ],
        None,
    ),
    "encoding": (
        Annotated[
            str | None,
            typer.Option("--encoding", metavar="NAME", help="Of a file of text that is not UTF-8, such as cp1252."),
        ],
        None,
    ),
    "sheet": (
        Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of an Excel workbook.")],
        None,
    ),
    "skip_bad_rows": (
        Annotated[
            bool, typer.Option("--skip-bad-rows", help="Leave out lines with more or fewer fields than the header.")
        ],
        False,
    ),
    "hive": (
        Annotated[
            bool, typer.Option("--hive", help="Take folders named key=value, which the files are in, for columns.")
        ],
        False,
    ),
}


def as_flags(how: dict[str, Any]) -> dict[str, Any]:
    """What `reads_table` gives a command, by the flags that the user gave."""
    flags = {"gaps": "--na", "kind": "--format"}
    return {flags.get(name, f"--{name.replace('_', '-')}"): value for name, value in how.items()}


def _kind(given: str | None) -> Kind | None:
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
