"""``hebnb predict``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import LONGEST, progress, say, say_all, size_of
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.pipeline import Pipeline

    from hebnb.counts.unseen import Unseen
    from hebnb.estimators.classifier import CategoricalClassifier
    from hebnb.foundation.arrays import FloatArray
    from hebnb.tabular.output import OutputKind
    from hebnb.tabular.table import Beside


@options.reads_table
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
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if a column has mostly values that the model never saw.")
    ] = False,
    overwrite: options.Overwrite = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines, for machines.")] = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Add a prediction, and the probability of every class, to the rows of a table.

    Rows are read, scored and written some at a time: the table may be larger than memory. Columns are passed on as
    they stand in the file. Only text in CSV that a spreadsheet would take for a formula gets an apostrophe before it.

    For example:

      hebnb predict model.skops new.csv -o scored.parquet

      hebnb predict model.skops new.csv --keep id | head

      cat new.csv | hebnb predict model.skops - --json
    """
    from hebnb.cli.matching import as_written, opened_for, require_columns
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
    with opened_for(loaded, table, all_read=typed, **how) as found:
        refuse_input(Path(output), [Path(model).stat(), *found.inputs])
        names = require_columns(found, loaded)
        found.require(keep or (), "--keep")
        say_all(found.decisions.told(names, as_written(loaded).formats))
        opened = found.beside(list(dict.fromkeys(found.columns if keep is None else keep)), names, typed=typed)
        score = Scorer(loaded, opened.kept)
        with place as path:
            done = _write_all(opened, score, path, kind)
            score.tell_unseen(strict)
    skipped = found.decisions.skipped.lines
    if output != STANDARD:
        say(f"{done:,} rows in {output} ({size_of(output)})")
    if skipped:
        say(f"{done + skipped:,} rows read: {done:,} predicted, {skipped:,} left out.")


def _write_all(rows: Beside, score: Scorer, path: Path | None, kind: OutputKind) -> int:
    """Score all rows and write them; how many there were, or an error if any is lacking in the end."""
    from hebnb.errors import InputError
    from hebnb.tabular.output import table_writer

    total, done = rows.n_rows(), 0
    with table_writer(path, kind) as write, progress() as bars:
        bar = bars.add_task(f"predicting rows of {visible(rows.table.source, LONGEST)}", total=total)
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


class Scorer:
    """Adds predictions to the columns of some rows that are kept, from those that the model reads.

    It knows how many values of all rows so far the model never saw.
    """

    def __init__(self, model: CategoricalClassifier | Pipeline, names_kept: list[str]) -> None:
        from hebnb.engines.scoring import prediction_names
        from hebnb.parts.pipeline import apart

        whats = ("prediction", "proba")
        self._model, self._classifier = model, apart(model)[1]
        self._names = [name for what in whats for name in prediction_names([*names_kept], model.classes_, what)]
        self._labels = model.classes_ if model.classes_.dtype.kind in "biuf" else model.classes_.tolist()
        self._unseen: Unseen | None = None
        self._before = 0

    def __call__(self, kept: pa.Table, rows: pa.Table) -> pa.Table:
        """The rows with their predictions."""
        import numpy as np
        import pyarrow as pa
        from scipy.special import softmax

        from hebnb.scores.lookups import best_classes

        scores = self._scores(rows) if rows.num_rows else np.empty((0, len(self._labels)))
        proba = softmax(scores, axis=1)
        best = pa.array(self._labels).take(pa.array(best_classes(scores)))
        made = [best, *(pa.array(column) for column in proba.T)]
        return pa.table([*kept.columns, *made], names=[*kept.column_names, *self._names])

    def _scores(self, rows: pa.Table) -> FloatArray:
        from hebnb.cli.matching import features
        from hebnb.estimators.rows import encoded_and_unseen

        tables = self._classifier.score_tables_
        given = features(rows, self._model, self._before)
        self._before += rows.num_rows
        codes, unseen = encoded_and_unseen(self._classifier, given, tables)
        self._unseen = unseen if self._unseen is None else self._unseen + unseen
        scores: FloatArray = tables.joint_log_scores(codes)
        return scores

    def tell_unseen(self, strict: bool) -> None:
        """Say which columns have values that the model mostly never saw; refuse them if that is wanted."""
        from hebnb import errors

        complaint = self._unseen and self._unseen.complaint(self._classifier.counts_)
        if complaint and strict:
            raise errors.InputError(complaint, "Correct the table, or leave --strict out.")
        if complaint:
            errors.warn(complaint, errors.UnseenWarning)
