"""The commands of ``hebnb``. Each imports what it alone needs when it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hebnb.cli.console import command, visible_lines
from hebnb.cli.count import count
from hebnb.cli.drift import drift
from hebnb.cli.explain import explain
from hebnb.cli.export import export
from hebnb.cli.fit import fit
from hebnb.cli.inspect import inspect
from hebnb.cli.merge import merge
from hebnb.cli.predict import predict
from hebnb.cli.report import report
from hebnb.version import __version__

# Wrong arguments, as click has it, which typer brings along or not.
_UsageError: Any = typer.BadParameter.__base__


class _Commands(TyperGroup):
    """Commands whose complaints of arguments show whatever was given, and do not let it act on the terminal."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments of the program itself."""
        with _visible_complaints():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """A command, its arguments included."""
        with _visible_complaints():
            return super().invoke(ctx)


@contextmanager
def _visible_complaints() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        error.message = visible_lines(error.message)
        raise


app = typer.Typer(
    name="hebnb",
    cls=_Commands,
    help="Classify categorical data with honest probabilities.\n\n"
    "Exit codes: 0 all is well, 1 the input is no good, 2 wrong arguments, 130 interrupted, "
    "143 terminated.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _name, _function in (
    ("report", report),
    ("fit", fit),
    ("predict", predict),
    ("explain", explain),
    ("inspect", inspect),
    ("export", export),
    ("count", count),
    ("merge", merge),
    ("drift", drift),
):
    command(app, _name)(_function)


@command(
    app,
    "study",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def study(context: typer.Context) -> None:
    """Run the paper's empirical study and write it up; hebnb study --help has its options.

    For example:

      hebnb study --quick
    """
    from hebnb.study.__main__ import main as run

    sys.exit(run(context.args))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"hebnb {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the program itself."""
