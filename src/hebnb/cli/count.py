"""``hebnb count``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import LONGEST, print_json, say, say_all, size_of
from hebnb.foundation.printable import visible
from hebnb.methods import OF_COUNTS

if TYPE_CHECKING:
    from hebnb.counts.single import Counts
    from hebnb.estimators.classifier import CategoricalClassifier
    from hebnb.persistence.document import CountedPart
    from hebnb.tabular.labelled import Labelled


@options.reads_table
def count(
    table: options.TableSource,
    target: options.Target = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the counts go, by custom a .counts file.")
    ] = "part.counts",
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="FILE",
            help="Counts or a model whose columns, bins, parents and crosses this part is counted with.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", metavar="NAME", help=f"One of {', '.join(OF_COUNTS)}; HEB-M if not given."),
    ] = None,
    features: options.Features = None,
    drop: options.Drop = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="How often each row counts.")] = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    bins: options.Bins = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Count a part of a table, for hebnb merge to make a model of all parts.

    Parts may be counted anywhere, and only counts travel. Numbers have to be cut at the same places in all parts, and
    the same columns have to be parents or crossed: --like takes all of that from the counts of the first part, or from
    a model that was learned from some of the rows.

    For example:

      hebnb count 2024-01.parquet --target clicked -o 01.counts

      hebnb count 2024-02.parquet --like 01.counts -o 02.counts

      hebnb count 2024-02.parquet --target clicked --like model.skops -o 02.counts

      hebnb merge *.counts -o model.skops
    """
    from hebnb.errors import ParameterError
    from hebnb.foundation.files import refuse_existing

    refuse_existing(Path(output), overwrite=overwrite)
    if like is None:
        chosen = {"method": method, "features": features, "drop": drop, "categorical": categorical}
        part, rows = _first(table, target, weight, chosen | {"numeric": numeric, "bins": bins}, how, output)
    else:
        decided = {"--method": method, "--feature": features, "--drop": drop, "--categorical": categorical,
                   "--numeric": numeric, "--bins": bins}  # fmt: skip
        given = [flag for flag, value in decided.items() if value]
        if given:
            raise ParameterError(f"{given[0]} is decided by --like.", f"Leave out {' and '.join(given)}.")
        part, rows = _another(table, target, weight, like, how, output)
    _tell(part, rows, output, overwrite=overwrite, is_first=like is None, json=json)


def _first(
    source: str, target: str | None, weight: str | None, chosen: dict[str, Any], how: dict[str, Any], output: str
) -> tuple[CountedPart, Labelled]:
    """Count a part that decides how columns are read."""
    from hebnb.cli.alerts import told_before
    from hebnb.errors import ParameterError
    from hebnb.foundation.files import refuse_input
    from hebnb.methods import method_of_counts
    from hebnb.persistence.document import CountedPart
    from hebnb.tabular.files import open_table
    from hebnb.tabular.labelled import Labelled, require_target

    method, categorical, numeric = chosen["method"] or "HEB-M", chosen["categorical"], chosen["numeric"]
    kind = method_of_counts(method)
    if chosen["bins"] is not None and "n_bins" not in kind.kind().get_params():
        raise ParameterError(f"{kind.name} has no number of bins: it learns where to cut.", "Leave --bins out.")
    model = kind.model(**options.reading(categorical, numeric, chosen["bins"]))
    with open_table(source, text=categorical or (), **how) as opened:
        refuse_input(Path(output), opened.inputs)
        target = require_target(target, opened)
        opened.require(categorical or (), "--categorical")
        opened.require(numeric or (), "--numeric")
        rows = Labelled.of(
            opened, target, features=chosen["features"] or (), drop=chosen["drop"] or (), weight=weight, is_part=True
        )
        say_all(opened.decisions.told([*rows.features, target]))
        with options.busy(f"counting {rows.n_rows:,} rows"), told_before():
            return CountedPart(model, rows.count(model), target, rows.as_written), rows


def _another(
    source: str, target: str | None, weight: str | None, like: str, how: dict[str, Any], output: str
) -> tuple[CountedPart, Labelled]:
    """Count a part as another was counted, or as a model counts."""
    from hebnb.cli.alerts import told_before
    from hebnb.cli.matching import as_written, opened_for, require_columns
    from hebnb.errors import ParameterError
    from hebnb.estimators.state import AsWritten
    from hebnb.foundation.files import refuse_input
    from hebnb.persistence.document import CountedPart
    from hebnb.tabular.labelled import Labelled, require_target

    model, own_target = _model_like(like)
    if target is not None and own_target is not None and target != own_target:
        raise ParameterError(
            f"{visible(like)} counts {visible(own_target)!r}, not {visible(target)!r}.", "Leave --target out."
        )
    with opened_for(model, source, all_read=True, **how) as opened:
        refuse_input(Path(output), [Path(like).stat(), *opened.inputs])
        names = require_columns(opened, model)
        target = require_target(target or own_target, opened)
        rows = Labelled.of(opened, target, features=names, weight=weight, is_part=True)
        say_all(opened.decisions.told([*names, target], as_written(model).formats))
        with options.busy(f"counting {rows.n_rows:,} rows"), told_before():
            counts = _counted_like(model, rows)
        now, before = rows.as_written, as_written(model)
        written = AsWritten({**now.formats, **before.formats}, tuple(dict.fromkeys([*before.gaps, *now.gaps])))
    return CountedPart(type(model)(**model.get_params(deep=False)), counts, target, written), rows


def _model_like(path: str) -> tuple[CategoricalClassifier, str | None]:
    """A fitted model that counts as a file says, and the target if the file knows it."""
    from dataclasses import replace

    from hebnb.errors import InputError
    from hebnb.persistence.model_files import load_either

    found, part = load_either(path)
    if part is not None:
        model = part.model.fit_counts(part.counts)
        model._learned = replace(model._learned, written=part.written)
        return model, part.target
    if found.dropped_ or found.max_categories is not None:
        raise InputError(
            f"{visible(path)} learned with --max-categories, which is for one fit: a category dropped from one part "
            "may be frequent in the next.",
            "Learn without it.",
        )
    return found, None


def _counted_like(model: CategoricalClassifier, rows: Labelled) -> Counts:
    """Count all rows, some at a time, under the vocabulary of a model and for what it has chosen."""
    from hebnb.cli.matching import features
    from hebnb.columns.table import read

    known, learning = model.counts_, model._learning()
    extra = [name for name in (rows.target, rows.weight) if name is not None]
    total, before = None, 0
    for batch in rows.table.select(list(dict.fromkeys([*rows.features, *extra]))).batches():
        if not batch.num_rows:
            continue
        table = read(features(batch, model, before))
        weights = None if rows.weight is None else batch[rows.weight]
        encoded, _ = learning.encoded(table, batch[rows.target], weights, known.vocabulary)
        _refuse_other_labels(known, encoded.classes, rows.target)
        own = learning.structure.count(encoded, known)
        total = own if total is None else total + own
        before += batch.num_rows
    assert total is not None
    return total


def _refuse_other_labels(known: Counts, classes: Any, target: str) -> None:
    from hebnb import errors
    from hebnb.errors import InputError

    if known.classes.description != classes.description:
        raise InputError(
            f"{errors.column(visible(target))} is the target, and holds {classes.description} where --like has "
            f"{known.classes.description}.",
            "Correct the column.",
        )


def _tell(part: CountedPart, rows: Labelled, output: str, *, overwrite: bool, is_first: bool, json: bool) -> None:
    """Write the counts, and say what they are of."""
    from hebnb.persistence.model_files import save_counts

    save_counts(part, output, overwrite=overwrite)
    counts = part.counts
    labels = [str(label) for label in counts.classes.values.tolist()]
    if json:
        print_json(
            {
                "counts": output,
                "target": part.target,
                "rows": rows.n_rows,
                "rows_without_label": rows.unlabelled,
                "features": rows.features,
                "classes": dict(zip(labels, counts.class_count.tolist(), strict=True)),
            }
        )
        return
    say(
        f"Counted {rows.n_rows:,} rows by {visible(part.target, LONGEST)}: {len(rows.features):,} columns, "
        f"{len(labels):,} classes."
    )
    if rows.unlabelled:
        say(f"{rows.unlabelled:,} rows without a label were left out.")
    if is_first and (counts.vocabulary.edges or counts.described()):
        say(f"This part has decided where numbers are cut and what is crossed: count others with --like {output}.")
    say(f"{output} ({size_of(output)})")
