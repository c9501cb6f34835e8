"""``hebnb fit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import number, print_json, say, size_of
from hebnb.foundation.printable import visible


@options.reads_table
def fit(
    table: options.TableSource,
    target: options.Target = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.skops",
    method: options.Method = "Evidence",
    features: options.Features = None,
    drop: options.Drop = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="How often each row counts.")] = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    bins: options.Bins = None,
    max_categories: Annotated[
        int | None, typer.Option("--max-categories", min=1, help="Keep the most frequent categories of a column only.")
    ] = None,
    parts: options.Parts = False,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Learn to predict a column of a table, and write the model to a file.

    For example:

      hebnb fit flights.csv --target arrival -o model.skops

      hebnb fit 'clicks-*.parquet' --target clicked --drop id --method AODE+loo

      zcat data.csv.gz | hebnb fit - --target y --categorical zip

      hebnb fit wines.csv --target grade --parts
    """
    from hebnb.cli.alerts import tell, told_before
    from hebnb.errors import ParameterError
    from hebnb.foundation.files import refuse_existing, refuse_input
    from hebnb.methods import method as method_of
    from hebnb.overview.files import describe_file
    from hebnb.parts import ColumnParts
    from hebnb.parts.pipeline import together
    from hebnb.persistence.model_files import save
    from hebnb.tabular.files import open_table
    from hebnb.tabular.labelled import Labelled, require_target
    from hebnb.tabular.parts import with_parts

    chosen = method_of(method)
    if bins is not None and "n_bins" not in chosen.kind().get_params():
        raise ParameterError(f"{chosen.name} has no number of bins: it learns where to cut.", "Leave --bins out.")
    model = chosen.model(**options.reading(categorical, numeric, bins), max_categories=max_categories)
    made_of = ColumnParts() if parts else None
    refuse_existing(Path(output), overwrite=overwrite)
    with open_table(table, text=categorical or (), **how) as opened:
        refuse_input(Path(output), opened.inputs)
        target = require_target(target, opened)
        opened.require(categorical or (), "--categorical")
        opened.require(numeric or (), "--numeric")
        rows = Labelled.of(opened, target, features=features or (), drop=drop or (), weight=weight)
        for line in opened.decisions.told([*rows.features, target]):
            say(line)
        with options.busy(f"learning from {rows.n_rows:,} rows"), told_before():
            with with_parts(rows, made_of) as learned_from:
                learned_from.fit(model)
            look = options.reading(categorical, numeric, None)
            alerts = describe_file(rows.table, target, features=rows.features, **look).alerts
    save(together(made_of, model), output, overwrite=overwrite)
    new = learned_from.features[len(rows.features) :]
    counts = dict(zip([str(label) for label in model.classes_.tolist()], model.class_count_.tolist(), strict=True))
    left_out_loss = getattr(model, "loo_log_loss_", None)
    as_numbers = [str(name) for name in getattr(model, "integers_as_numbers_", ())]
    if json:
        print_json(
            {
                "model": output,
                "method": chosen.name,
                "target": target,
                "rows": rows.n_rows,
                "rows_without_label": rows.unlabelled,
                "features": rows.features,
                "parts": new,
                "classes": counts,
                "integers_as_numbers": as_numbers,
                "leave_one_out_log_loss": left_out_loss,
                "alerts": [vars(alert) for alert in alerts],
            }
        )
        return
    shown = ", ".join(f"{visible(label, 40)}: {count:,.0f} rows" for label, count in list(counts.items())[:10])
    more = f" and {len(counts) - 10} more classes" if len(counts) > 10 else ""
    columns = f"{len(rows.features)} columns" + (f" and {len(new)} parts of them" if new else "")
    say(
        f"Learned {visible(target, 40)} from {columns} of {rows.n_rows:,} rows with {chosen.name} "
        f"({chosen.summary}): {shown}{more}."
    )
    if parts and not new:
        say("No column is a date or free text that has parts.")
    if rows.unlabelled:
        say(f"{rows.unlabelled:,} rows without a label were left out.")
    for name, dropped in model.dropped_.items():
        say(f"Column {visible(str(name), 40)!r}: {dropped['categories']:,.0f} rare categories were left out.")
    if as_numbers:
        named = ", ".join(visible(name, 40) for name in as_numbers[:10])
        others = f" and {len(as_numbers) - 10} more" if len(as_numbers) > 10 else ""
        say(
            f"Integers taken for numbers, which tell more so: {named}{others}. --categorical COL takes a column for "
            "names, --numeric COL for numbers."
        )
    if left_out_loss is not None:
        say(f"Leave-one-out log-loss {number(left_out_loss, 4)}: about what new rows will see.")
    tell(alerts, table, target)
    say(f"{output} ({size_of(output)})")
