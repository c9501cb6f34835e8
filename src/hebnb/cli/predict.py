"""``hebnb predict``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import err, progress, say, size_of

if TYPE_CHECKING:
    import pyarrow as pa

    from hebnb.estimators.classifier import CategoricalClassifier


def predict(
    model: options.ModelFile,
    table: options.TableSource,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .csv, .tsv, .parquet or .jsonl file, or - to print CSV."
        ),
    ] = "-",
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="Column of the table to keep; may be repeated. By default all."),
    ] = None,
    missing_value: options.Gap = None,
    format: options.Format = None,  # noqa: A002
    overwrite: options.Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines, for machines.")] = False,
    debug: options.Debug = False,
) -> None:
    """Add a prediction, and the probability of every class, to the rows of a table.

    Rows are read, scored and written some at a time: the table may be larger than memory. Text in CSV that a
    spreadsheet would take for a formula gets an apostrophe before it.

    For example:

      hebnb predict model.skops new.csv -o scored.parquet

      hebnb predict model.skops new.csv --keep id | head

      cat new.csv | hebnb predict model.skops - --json
    """
    from hebnb.cli.matching import require_columns, text_columns
    from hebnb.errors import ParameterError
    from hebnb.foundation.files import refuse_existing, written_whole
    from hebnb.persistence.model_files import load
    from hebnb.tabular.files import STANDARD, open_table
    from hebnb.tabular.output import kind_of_output, table_writer

    if json and output != STANDARD:
        raise ParameterError("--json is for what is printed.", "Name a .jsonl file with -o, and leave --json out.")
    kind = "jsonl" if json else kind_of_output(output)
    place: Any = nullcontext()
    if output != STANDARD:
        refuse_existing(Path(output), overwrite=overwrite)
        place = written_whole(output)
    loaded = load(model)
    source = open_table(table, kind=options.kind(format), text=text_columns(loaded), gap=missing_value)
    with source as found, place as path:
        names = require_columns(found, loaded)
        found.require(keep or (), "--keep")
        kept = list(dict.fromkeys(found.columns if keep is None else keep))
        opened = found.select(list(dict.fromkeys([*kept, *names])))
        score = scorer(loaded, kept)
        total = opened.n_rows() if err().is_terminal else None
        done = 0
        with table_writer(path, kind) as write, progress() as bars:
            bar = bars.add_task("rows", total=total)
            for rows in opened.batches():
                write(score(rows))
                done += rows.num_rows
                bars.advance(bar, rows.num_rows)
            if not done:
                write(score(opened.slice(0, 0)))
    if output != STANDARD:
        say(f"{done:,} rows in {output} ({size_of(output)})")


def scorer(model: CategoricalClassifier, kept: list[str]) -> Callable[[pa.Table], pa.Table]:
    """A function that adds predictions to the kept columns of some rows."""
    import numpy as np
    import pyarrow as pa
    from scipy.special import softmax

    from hebnb.cli.matching import features
    from hebnb.engines.scoring import prediction_names
    from hebnb.scores.lookups import best_classes

    names = prediction_names([*kept], model.classes_, "prediction") + prediction_names([*kept], model.classes_, "proba")
    labels = model.classes_ if model.classes_.dtype.kind in "biuf" else model.classes_.tolist()

    def score(rows: pa.Table) -> pa.Table:
        scores = model.predict_joint_log_proba(features(rows, model)) if rows.num_rows else np.empty((0, len(labels)))
        proba = softmax(scores, axis=1)
        best = pa.array(labels).take(pa.array(best_classes(scores)))
        made = [best, *(pa.array(column) for column in proba.T)]
        return pa.table([*(rows[name] for name in kept), *made], names=[*kept, *names])

    return score
