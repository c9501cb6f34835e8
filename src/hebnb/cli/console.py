"""What commands say, and how they end: 0 all is well, 1 the input is no good, 2 wrong arguments, 130 interrupted.

A program that is told to stop by another signal ends with 128 and the number of that: 143 if it is terminated.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hebnb.errors import HebnbError, ParameterError, arguments_as_flags
from hebnb.foundation.printable import visible, without_nan
from hebnb.foundation.signals import told_to_stop

F = TypeVar("F", bound=Callable[..., Any])

# What flags are called where it is not the name of the argument.
_FLAGS = {"features": "--feature", "sample_weight": "--weight"}
# The longest that a category or a name is shown.
LONGEST = 40

_debugging = False


def set_debugging(wanted: bool) -> None:
    """Show tracebacks from now on, or not."""
    global _debugging  # noqa: PLW0603
    _debugging = wanted


def out() -> Console:
    """Where results go: as wide as the terminal, or as they are in a file or a pipe."""
    fixed = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Console(highlight=False, width=fixed)


def err() -> Console:
    """Where everything else goes, so that results can be piped."""
    return Console(stderr=True, highlight=False)


def say(message: str) -> None:
    """Tell what happened; not a result. Whatever names and files are called, it is one line of plain text."""
    err().print(Text(visible(message)), soft_wrap=True)


def say_all(messages: Iterable[str]) -> None:
    """Tell several things, a line each."""
    for message in messages:
        say(message)


def command(app: typer.Typer, name: str, **settings: Any) -> Callable[[F], F]:
    """Add a function to the commands, with an ending that people can read whatever happens in it."""

    def add(function: F) -> F:
        @functools.wraps(function)
        def guarded(*arguments: Any, **options: Any) -> None:
            with ended_well():
                function(*arguments, **options)

        app.command(name, **settings)(guarded)
        return function

    return add


@contextmanager
def ended_well() -> Iterator[None]:
    """Turn what goes wrong into a message and an exit code, and warnings into messages."""
    try:
        with arguments_as_flags(_FLAGS), warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: say(f"Note: {visible(str(message), 1_000)}")
            yield
    except KeyboardInterrupt:
        _end("Interrupted; nothing was left behind.", 130)
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except HebnbError as error:
        _end(str(error), 2 if isinstance(error, ParameterError) else 1)
    except ModuleNotFoundError as error:
        _end(f"The package {error.name!r} is not installed.\nHint: pip install {error.name}", 1)
    except OSError as error:
        _end(f"Something could not be read or written: {error.strerror or error}.", 1)
    except MemoryError:
        _end("There is not enough memory for this.", 1)
    except (typer.Exit, SystemExit):
        raise
    except Exception as error:
        if told_to_stop():  # what was cut short complains in many ways
            _end("Interrupted; nothing was left behind.", 130)
        _end(f"{type(error).__name__}: {error}\nHint: This should not happen; --debug shows where it did.", 1)


def _end(message: str, code: int) -> NoReturn:
    if _debugging:
        import traceback

        err().print(escape(visible_lines(traceback.format_exc())), soft_wrap=True)
    first, _, hint = message.partition("\nHint: ")
    err().print(f"[bold red]Error:[/] {escape(visible_lines(first, 1_000))}", soft_wrap=True)
    if hint:
        err().print(f"[bold]Hint:[/] {escape(visible_lines(hint, 1_000))}", soft_wrap=True)
    raise SystemExit(code) from None


def visible_lines(text: str, most: int | None = None) -> str:
    """Several lines, each fit to be shown."""
    return "\n".join(visible(line, most) for line in text.split("\n"))


def shown(value: Any, longest: int = LONGEST) -> Text:
    """A name or a category in a table; a gap in grey."""
    return Text("missing", style="dim") if value is None else Text(visible(str(value), longest))


def number(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """A number with so many digits after the point, or with so many altogether where it is large."""
    if value != value:  # noqa: PLR0124
        return "–"
    if abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"


def lines_up(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Text | str]]) -> Table:
    """A table with headings, each aligned ``left`` or ``right``."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for heading, side in columns:
        table.add_column(Text(visible(heading, LONGEST)), justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def print_json(content: Any) -> None:
    """One JSON document on standard output; every character that is not plain is escaped."""
    sys.stdout.write(json.dumps(without_nan(content), indent=2, default=str, allow_nan=False) + "\n")


@contextmanager
def progress() -> Iterator[Progress]:
    """Bars on a terminal, and nothing elsewhere: what runs now, how far it is, how long it took and will take."""
    console = err()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bars if console.is_terminal else nullcontext():  # before rich 15, bars that are not shown end with a line
        yield bars


def size_of(path: str | Path) -> str:
    """How large a file is, for people."""
    size = float(Path(path).stat().st_size)
    for unit in ("bytes", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"
