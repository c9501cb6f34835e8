"""``hebnb merge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import LONGEST, print_json, progress, say, size_of
from hebnb.foundation.printable import visible
from hebnb.methods import OF_COUNTS

if TYPE_CHECKING:
    from hebnb.columns.kinds import Kind
    from hebnb.estimators.classifier import CategoricalClassifier
    from hebnb.persistence.document import CountedPart

# How columns are read, which another method does as well.
_READING = ("categorical_features", "numeric_features", "n_bins", "bin_edges", "missing", "hierarchies")


def merge(
    parts: Annotated[list[str], typer.Argument(metavar="COUNTS...", help="Files made by hebnb count.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.skops",
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help=f"One of {', '.join(OF_COUNTS)}; by default what the parts were counted for.",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Add up the counts of all parts of a table, learn from them, and write the model to a file.

    The model is that of one fit on all rows, with the bins, parents and crosses that the parts were counted with.

    For example:

      hebnb merge *.counts -o model.skops

      hebnb merge 01.counts 02.counts --method Laplace -o model.skops
    """
    from dataclasses import replace

    from hebnb.errors import InputError
    from hebnb.foundation.files import refuse_existing, refuse_input
    from hebnb.methods import method_of_counts
    from hebnb.persistence.document import answers
    from hebnb.persistence.model_files import save

    chosen = None if method is None else method_of_counts(method)
    refuse_existing(Path(output), overwrite=overwrite)
    refuse_input(Path(output), [Path(part).stat() for part in parts if Path(part).exists()])
    total = _added(parts)
    model = total.model
    if chosen is not None:
        read = {name: value for name, value in model.get_params(deep=False).items() if name in _READING}
        model = chosen.model(**read)
    model.fit_counts(total.counts)
    if not answers(model.score_tables_):
        raise InputError("These counts give no probabilities.", "Some file may have been altered; count it again.")
    model._learned = replace(model._learned, written=total.written)
    save(model, output, overwrite=overwrite)
    _tell(parts, total, model, output, json)


def _added(paths: list[str]) -> CountedPart:
    """The counts of all files, one after the other."""
    from hebnb.errors import InputError
    from hebnb.persistence.model_files import load_counts

    seen: dict[str, str] = {}
    for path in paths:
        resolved = str(Path(path).resolve())
        if resolved in seen:
            raise InputError(f"{visible(path)!r} is named twice, and its rows would count twice.", "Name it once.")
        seen[resolved] = path
    with progress() as bars:
        bar = bars.add_task("adding counts", total=len(paths))
        total = load_counts(paths[0])
        bars.advance(bar)
        for path in paths[1:]:
            total = _with(total, load_counts(path), path)
            bars.advance(bar)
    return total


def _with(total: CountedPart, part: CountedPart, path: str) -> CountedPart:
    """The counts with those of one more file, unless it is of something else."""
    from dataclasses import replace

    from hebnb.errors import HebnbError, InputError
    from hebnb.estimators.state import AsWritten

    named = repr(visible(path))
    if part.target != total.target:
        raise InputError(
            f"{named} counts {visible(part.target)!r}, and the files before it count {visible(total.target)!r}.",
            "Merge counts of one target.",
        )
    if repr(part.model) != repr(total.model):
        raise InputError(
            f"{named} was counted for {part.model!r}, and the files before it for {total.model!r}.",
            "Count all parts alike: --like does.",
        )
    _refuse_other_types(total, part, named)
    try:
        counts = total.counts + part.counts
    except HebnbError as error:
        raise InputError(f"{named} cannot be added. {str(error).splitlines()[0]}", "Count it with --like.") from error
    formats = {
        name: form for name, form in total.written.formats.items() if part.written.formats.get(name, form) == form
    }
    more = {name: form for name, form in part.written.formats.items() if name not in total.written.formats}
    gaps = tuple(dict.fromkeys([*total.written.gaps, *part.written.gaps]))
    return replace(total, counts=counts, written=AsWritten(formats | more, gaps))


def _refuse_other_types(total: CountedPart, part: CountedPart, named: str) -> None:
    """Complain of columns, or labels, whose values are of other types than before."""
    from hebnb import errors
    from hebnb.errors import InputError

    if part.counts.vocabulary.names != total.counts.vocabulary.names:
        return  # which addition complains of
    pairs: list[tuple[str, Kind, Kind]] = [
        (str(name), one, other)
        for name, one, other in zip(
            total.counts.vocabulary.names,
            total.counts.vocabulary.features,
            part.counts.vocabulary.features,
            strict=True,
        )
    ]
    for name, one, other in [*pairs, (total.target, total.counts.classes, part.counts.classes)]:
        if one.description != other.description and not one.is_empty and not other.is_empty:
            raise InputError(
                f"{errors.column(visible(name))} changed its type between files: {named} has {other.description}, "
                f"those before it {one.description}.",
                "Correct the file, and count it with --like.",
            )


def _tell(parts: list[str], total: CountedPart, model: CategoricalClassifier, output: str, json: bool) -> None:
    classes = dict(zip(map(str, model.classes_.tolist()), model.class_count_.tolist(), strict=True))
    if json:
        content: dict[str, Any] = {
            "model": output,
            "parts": len(parts),
            "target": total.target,
            "rows": sum(classes.values()),
            "classes": classes,
        }
        print_json(content)
        return
    say(
        f"Learned {visible(total.target, LONGEST)} from {sum(classes.values()):,.0f} rows in {len(parts):,} "
        f"file{'s' if len(parts) > 1 else ''}: {len(classes):,} classes, {model.n_features_in_:,} columns."
    )
    say(f"{output} ({size_of(output)})")
