"""``hebnb export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hebnb.cli import options
from hebnb.cli.console import say, size_of, visible_lines


def export(
    model: options.ModelFile,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="A .sql or .onnx file, or - to print SQL.")
    ] = "-",
    dialect: Annotated[
        str, typer.Option("--dialect", "-d", metavar="NAME", help="duckdb, postgres, bigquery, snowflake or spark.")
    ] = "duckdb",
    table: Annotated[str, typer.Option("--table", metavar="NAME", help="The table that the query scores.")] = "rows",
    create: Annotated[
        bool, typer.Option("--create", help="Put the model into tables of its own, instead of into the query.")
    ] = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Write a model as a SQL query or an ONNX graph, which need no hebnb to run.

    For example:

      hebnb export model.skops -o model.sql --dialect postgres --table public.flights

      hebnb export model.skops --table flights | duckdb warehouse.db

      hebnb export model.skops -o model.onnx
    """
    from hebnb.errors import ParameterError
    from hebnb.export import to_onnx, to_sql
    from hebnb.foundation.files import refuse_existing, refuse_input, written_whole
    from hebnb.persistence.model_files import load

    suffix = Path(output).suffix.lower()
    if output != "-" and suffix not in (".sql", ".onnx"):
        raise ParameterError(f"--output {output!r} ends in neither .sql nor .onnx.", "The ending says what to write.")
    if output != "-":
        refuse_existing(Path(output), overwrite=overwrite)
    loaded = load(model)
    refuse_input(Path(output), [Path(model).stat()])
    if suffix == ".onnx":
        content = to_onnx(loaded).SerializeToString()
    else:
        query = to_sql(loaded, dialect, table=table, create=create) + "\n"
        # On a screen it is for reading; what would act on the screen is written out.
        content = (visible_lines(query) if output == "-" and sys.stdout.isatty() else query).encode()
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    with written_whole(output, overwrite=overwrite) as path:
        path.write_bytes(content)
    say(f"{output} ({size_of(output)})")
