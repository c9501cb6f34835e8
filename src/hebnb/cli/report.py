"""``hebnb report``."""

from __future__ import annotations

import datetime as dt
import os
import shlex
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from hebnb.cli import options
from hebnb.cli.console import LONGEST, lines_up, number, out, print_json, progress, say_all, size_of
from hebnb.errors import ParameterError
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    from hebnb.page.provenance import Files
    from hebnb.tabular.labelled import Labelled

_DEFAULT = "hebnb-report"
# Parameters that are places of files: where these are is nobody's business who reads the page.
_PATHS = ("table", "output", "model_file")


@options.reads_table
def report(
    context: typer.Context,
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]", help="A file, a quoted glob or -, as for fit; by default flights that come along."
        ),
    ] = None,
    target: options.Target = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help=f"Where the page goes; by default {_DEFAULT}.html."),
    ] = None,
    model_file: Annotated[
        str | None, typer.Option("--model", metavar="FILE", help="Where the best model goes, for predict and export.")
    ] = None,
    features: options.Features = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    bins: options.Bins = None,
    parts: options.Parts = False,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of parts of the cross-validation.")] = 5,
    max_rows: Annotated[
        int, typer.Option("--max-rows", min=10, help="Compare on a random sample of at most so many rows.")
    ] = 100_000,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="COL", help="Try methods on later rows than they learned from; not a feature."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", metavar="COL", help="Keep rows with one value here in one fold; not a feature."),
    ] = None,
    min_count: Annotated[
        int,
        typer.Option("--min-count", min=1, help="Name only categories that so many rows have; 1 names all of them."),
    ] = 5,
    include_rows: Annotated[
        bool, typer.Option("--include-rows", help="Put 200 rows of the table on the page, as examples.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Seed of folds and samples.")] = 0,
    overwrite: options.Overwrite = False,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Compare methods on a table, learn with the best, and write a page that shows what was learned.

    The page is one HTML file. It needs no network; open it, mail it, keep it. It holds names of columns, classes and
    categories that at least five rows have, how many rows have them, alone and together, and the ends of bins; no rows
    of the table. --min-count and --include-rows change that.

    For example:

      hebnb report

      hebnb report adult.csv --target income --drop fnlwgt

      hebnb report 'clicks-*.parquet' --target clicked -o clicks.html --model clicks.skops

      hebnb report sales.csv --target returned --time day
    """
    from hebnb.cli.alerts import tell, told_before
    from hebnb.foundation.files import refuse_existing, refuse_input, written_whole
    from hebnb.page.build import made
    from hebnb.page.provenance import Provenance
    from hebnb.parts import ColumnParts
    from hebnb.persistence.model_files import save
    from hebnb.tabular.files import open_table
    from hebnb.tabular.labelled import Labelled, require_target
    from hebnb.tabular.source import FLIGHTS, STANDARD

    path = Path(output) if output is not None else _free_name()
    if model_file is not None and path.resolve() == Path(model_file).resolve():
        raise ParameterError(f"--output and --model are both {model_file!r}.", "Name two files.")
    if time is not None and group is not None:
        raise ParameterError("--time and --group are two ways to part rows.", "Name one of them.")
    places = [path, *([Path(model_file)] if model_file else [])]
    for place in places:
        refuse_existing(place, overwrite=overwrite)
    source = table or FLIGHTS
    if source == FLIGHTS:
        target = target or "arrival"
    with open_table(source, text=categorical or (), **how) as opened:
        for place in places:
            refuse_input(place, opened.inputs)
        opened.require(categorical or (), "--categorical")
        opened.require(numeric or (), "--numeric")
        opened.require([time] if time else [], "--time")
        opened.require([group] if group else [], "--group")
        rows = Labelled.of(
            opened, require_target(target, opened), features=features or (), drop=drop or (), beside=time or group
        )
        if time is not None:
            _require_order(rows, time)
        say_all(opened.decisions.told([*rows.features, rows.target]))
        name = {FLIGHTS: "flights", STANDARD: "the table"}.get(source, Path(source).name)
        with progress() as bars, told_before():
            page, model = made(
                rows, Provenance(name, rows.n_rows, _command(context), seed, _files(opened.inputs)),
                options.reading(categorical, numeric, bins),
                folds=folds, max_rows=max_rows, seed=seed, bars=bars, in_time=time is not None,
                parts=ColumnParts() if parts else None, least=min_count, include_rows=include_rows,
            )  # fmt: skip
    comparison = page.contents.comparison
    assert comparison is not None  # there were rows to try methods on
    path = path if output is not None else _free_name()  # the first free name may be taken by now
    with written_whole(path, overwrite=overwrite) as partial:
        partial.write_text(page.html, encoding="utf-8")
        if model_file is not None:
            save(model, model_file, overwrite=overwrite)
    if json:
        print_json(_summary(page, path, model_file))
    else:
        _print(page, path, model_file, _parted(comparison.folds, time, group))
        tell(page.alerts, source, rows.target)
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def _command(context: typer.Context) -> str:
    """The command with what was said of it, and not what goes without saying; of files the names alone."""
    words = ["hebnb", "report"]
    for parameter in context.command.params:
        source, given = context.get_parameter_source(parameter.name), context.params.get(parameter.name)
        if source is None or source.name != "COMMANDLINE" or given is None:
            continue
        option = [] if parameter.param_type_name == "argument" else [max(parameter.opts, key=len)]
        values = given if isinstance(given, list | tuple) else [given]
        if parameter.name in _PATHS:
            values = [Path(value).name for value in values]
        words += [word for value in values for word in (option if value is True else [*option, str(value)])]
    return shlex.join(words)


def _files(inputs: Sequence[os.stat_result]) -> Files | None:
    """How many there are, how large, and when the last of them was changed; None if the table came along."""
    from hebnb.page.provenance import Files

    if not inputs:
        return None
    changed = dt.date.fromtimestamp(max(stat.st_mtime for stat in inputs))
    return Files(len(inputs), sum(stat.st_size for stat in inputs), str(changed))


def _require_order(rows: Labelled, time: str) -> None:
    """Refuse a column whose values are text that is not in the order of time."""
    from hebnb.page.folds import require_times

    column = rows.table.select([time])
    if str(column.relation.types[0]) == "VARCHAR":
        require_times(time, [text for text in column.collect()[time].unique().to_pylist() if text is not None])


def _parted(folds: int, time: str | None, group: str | None) -> str:
    """How rows to try were parted from rows to learn from."""
    if time is not None:
        stretches = "stretch" if folds == 1 else "stretches"
        return f"tried on {folds} {stretches} of {visible(time, LONGEST)}, each later than all rows learned from"
    return f"{folds}-fold cross-validation" + (f" by {visible(group, LONGEST)}" if group is not None else "")


def _free_name() -> Path:
    """The default name, or the first with a number that is not taken."""
    names = (Path(f"{_DEFAULT}{'' if n == 1 else f'-{n}'}.html") for n in count(1))
    return next(name for name in names if not name.exists())


def _summary(page: Any, path: Path, model_file: str | None) -> dict[str, Any]:
    comparison = page.contents.comparison
    return {
        "report": str(path),
        "model": model_file,
        "verdict": page.contents.verdict,
        "best": comparison.best.method.name,
        "rows": page.contents.n_rows,
        "compared_rows": page.contents.compared_rows,
        "folds": comparison.folds,
        "methods": {result.method.name: result.measures | {"seconds": result.seconds} for result in comparison.results},
        "refused": comparison.refused,
        "notes": page.contents.notes,
        "alerts": [vars(alert) for alert in page.alerts],
    }


def _print(page: Any, path: Path, model_file: str | None, parted: str) -> None:
    contents = page.contents
    console = out()
    what = f"{contents.target} from {len(page.contents.explorer['features'])} columns of {contents.n_rows:,} rows"
    console.print(Text(f"{contents.source}: {what}, {parted}\n"))
    measures = list(contents.comparison.best.measures)
    lines: list[list[Text | str]] = [
        [
            Text(("→ " if result is contents.comparison.best else "  ") + result.method.name),
            *(number(result.measures[name], 4) for name in measures),
            number(result.seconds, 2),
        ]
        for result in contents.comparison.results
    ]
    headings = [
        ("  method", "left"),
        *((name.removeprefix("ECE "), "right") for name in measures),
        ("seconds", "right"),
    ]
    console.print(lines_up(headings, lines))
    console.print()
    for name, reason in contents.comparison.refused.items():
        console.print(Text(f"{name} was left out: {visible(reason, 300)}"), soft_wrap=True)
    for note in contents.notes:
        console.print(Text(note), soft_wrap=True)
    console.print(Text(contents.verdict))
    console.print()
    if model_file:
        console.print(Text(f"Model:  {visible(model_file)} ({size_of(model_file)})"), soft_wrap=True)
    console.print(Text(f"Report: {visible(str(path))} ({size_of(path)})"), soft_wrap=True)
