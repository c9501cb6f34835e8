"""``hebnb drift``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from hebnb.cli import options
from hebnb.cli.console import out, print_json, say_all
from hebnb.foundation.printable import visible


@options.reads_table
def drift(
    model: options.ModelFile,
    table: options.TableSource,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if a column drifted.")] = False,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Show how far the rows of a table are from those that a model learned from, column by column.

    The distance is the share of rows that would have to have another value for the columns to be alike; rows of the
    same distribution hardly ever exceed the noise in tables of these sizes. Rows need no labels.

    For example:

      hebnb drift model.skops new.csv

      hebnb drift model.skops new.csv --strict --json
    """
    from hebnb import errors
    from hebnb.cli.matching import as_written, features, opened_for, require_columns
    from hebnb.counts import drift as compared
    from hebnb.errors import InputError
    from hebnb.estimators.rows import new_rows
    from hebnb.parts.pipeline import apart
    from hebnb.persistence.model_files import load

    loaded = load(model)
    classifier = apart(loaded)[1]
    with opened_for(loaded, table, **how) as opened:
        names = require_columns(opened, loaded)
        say_all(opened.decisions.told(names, as_written(loaded).formats))
        rows, before = None, 0
        for batch in opened.select(names).batches():
            if batch.num_rows:
                own = new_rows(classifier, features(batch, loaded, before))
                rows = own if rows is None else rows + own
                before += batch.num_rows
    if rows is None:
        raise InputError(f"{visible(table)} has no rows.")
    found = compared.drift(classifier.counts_, rows, classifier.dropped_)
    if json:
        print_json({"rows": found.n_rows, "columns": _lines(found.columns), "classes": _lines(found.classes)})
    else:
        console = out()
        console.print(Text(repr(found)), soft_wrap=True)
    if strict and found.drifted:
        shown = errors.shown_names([visible(str(name)) for name in found.drifted], 10)
        raise InputError(f"Columns that drifted: {shown}.", "Look at the table, or leave --strict out.")


def _lines(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
