"""``hebnb predict``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import progress, say, size_of
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.pipeline import Pipeline

    from hebnb.estimators.classifier import CategoricalClassifier
    from hebnb.tabular.source import Kind
    from hebnb.tabular.table import Beside


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
    hive: options.Hive = False,
    overwrite: options.Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines, for machines.")] = False,
    debug: options.Debug = False,
) -> None:
    """Add a prediction, and the probability of every class, to the rows of a table.

    Rows are read, scored and written some at a time: the table may be larger than memory. Columns are passed on as
    they stand in the file. Only text in CSV that a spreadsheet would take for a formula gets an apostrophe before it.

    For example:

      hebnb predict model.skops new.csv -o scored.parquet

      hebnb predict model.skops new.csv --keep id | head

      cat new.csv | hebnb predict model.skops - --json
    """
    from hebnb.cli.matching import opened_for, require_columns
    from hebnb.errors import ParameterError
    from hebnb.foundation.files import refuse_existing, refuse_input, written_whole
    from hebnb.persistence.model_files import load
    from hebnb.tabular.output import kind_of_output
    from hebnb.tabular.source import STANDARD

    if json and output != STANDARD:
        raise ParameterError("--json is for what is printed.", "Name a .jsonl file with -o, and leave --json out.")
    kind = "jsonl" if json else kind_of_output(output)
    place: Any = nullcontext()
    if output != STANDARD:
        refuse_existing(Path(output), overwrite=overwrite)
        place = written_whole(output, overwrite=overwrite)
    loaded = load(model)
    typed = kind in ("parquet", "jsonl")
    source = opened_for(loaded, table, all_read=typed, kind=options.kind(format), gap=missing_value, hive=hive)
    with source as found:
        refuse_input(Path(output), [Path(model).stat(), *found.inputs])
        names = require_columns(found, loaded)
        found.require(keep or (), "--keep")
        opened = found.beside(list(dict.fromkeys(found.columns if keep is None else keep)), names, typed=typed)
        score = scorer(loaded, opened.kept)
        with place as path:
            done = _write_all(opened, score, path, kind)
    if output != STANDARD:
        say(f"{done:,} rows in {output} ({size_of(output)})")


def _write_all(rows: Beside, score: Callable[[pa.Table, pa.Table], pa.Table], path: Path | None, kind: Kind) -> int:
    """Score all rows and write them; how many there were, or an error if any is lacking in the end."""
    from hebnb.errors import InputError
    from hebnb.tabular.output import table_writer

    total, done = rows.n_rows(), 0
    with table_writer(path, kind) as write, progress() as bars:
        bar = bars.add_task("rows", total=total)
        for kept, read in rows.batches():
            scored = score(kept, read)
            write(scored)
            done += scored.num_rows
            bars.advance(bar, scored.num_rows)
        if not done:
            write(score(*rows.none()))
    if done != total:
        raise InputError(
            f"{visible(rows.table.source)} has {total:,} rows, of which {done:,} were predicted.",
            "It may have changed meanwhile; try again.",
        )
    return done


def scorer(model: CategoricalClassifier | Pipeline, names_kept: list[str]) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """A function that adds predictions to the columns of some rows that are kept, from those that the model reads."""
    import numpy as np
    import pyarrow as pa
    from scipy.special import softmax

    from hebnb.cli.matching import features
    from hebnb.engines.scoring import prediction_names
    from hebnb.parts.pipeline import apart
    from hebnb.scores.lookups import best_classes

    classifier = apart(model)[1]
    names = [name for what in ("prediction", "proba") for name in prediction_names([*names_kept], model.classes_, what)]
    labels = model.classes_ if model.classes_.dtype.kind in "biuf" else model.classes_.tolist()

    def score(kept: pa.Table, rows: pa.Table) -> pa.Table:
        scores = np.empty((0, len(labels)))
        if rows.num_rows:
            scores = classifier.predict_joint_log_proba(features(rows, model))
        proba = softmax(scores, axis=1)
        best = pa.array(labels).take(pa.array(best_classes(scores)))
        made = [best, *(pa.array(column) for column in proba.T)]
        return pa.table([*kept.columns, *made], names=[*kept.column_names, *names])

    return score
