"""The commands of ``hebnb``. Each imports what it alone needs when it runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hebnb.cli.console import command
from hebnb.cli.explain import explain
from hebnb.cli.export import export
from hebnb.cli.fit import fit
from hebnb.cli.inspect import inspect
from hebnb.cli.predict import predict
from hebnb.cli.report import report
from hebnb.version import __version__

app = typer.Typer(
    name="hebnb",
    help="Classify categorical data with honest probabilities.\n\n"
    "Exit codes: 0 all is well, 1 the input is no good, 2 wrong arguments, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
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


def main() -> None:
    """Run the command line."""
    app()
