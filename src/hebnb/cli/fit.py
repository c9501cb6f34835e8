"""``hebnb fit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hebnb.cli import options
from hebnb.cli.console import LONGEST, number, print_json, say, say_all, size_of
from hebnb.foundation.printable import visible

if TYPE_CHECKING:
    from hebnb.estimators.alerts import Alert
    from hebnb.estimators.classifier import CategoricalClassifier
    from hebnb.methods import Method
    from hebnb.tabular.labelled import Labelled


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
        say_all(opened.decisions.told([*rows.features, target]))
        with options.busy(f"learning from {rows.n_rows:,} rows"), told_before():
            with with_parts(rows, made_of) as learned_from:
                learned_from.fit(model)
            alerts = describe_file(
                rows.table, target, features=rows.features, **options.reading(categorical, numeric, None)
            ).alerts
    if made_of is not None:
        helped = made_of.parts_
        alerts = tuple(alert for alert in alerts if alert.kind not in _HELPED or alert.column not in helped)
    save(together(made_of, model), output, overwrite=overwrite)
    made = learned_from.features[len(rows.features) :] if parts else None
    outcome = _Outcome(output, chosen, target, rows, made, model, alerts)
    if json:
        print_json(outcome.document())
        return
    outcome.tell()
    tell(alerts, table, target)
    say(f"{output} ({size_of(output)})")


# Alerts of columns that are no longer due where parts are made of them.
_HELPED = ("dates", "free text")
# Classes and columns that are named.
_MOST_NAMED = 10


@dataclass(frozen=True)
class _Outcome:
    """What was learned from which rows; ``parts`` are columns made of others, None if none were wanted."""

    output: str
    method: Method
    target: str
    rows: Labelled
    parts: list[str] | None
    model: CategoricalClassifier
    alerts: Sequence[Alert]

    @property
    def classes(self) -> dict[str, float]:
        """How many rows there are of every class."""
        labels = [str(label) for label in self.model.classes_.tolist()]
        return dict(zip(labels, self.model.class_count_.tolist(), strict=True))

    @property
    def loss(self) -> float | None:
        """What new rows will see, if the model knows."""
        return getattr(self.model, "loo_log_loss_", None)

    @property
    def as_numbers(self) -> list[str]:
        """Integers that were taken for numbers."""
        return [str(name) for name in getattr(self.model, "integers_as_numbers_", ())]

    def document(self) -> dict[str, Any]:
        """For machines."""
        return {
            "model": self.output,
            "method": self.method.name,
            "target": self.target,
            "rows": self.rows.n_rows,
            "rows_without_label": self.rows.unlabelled,
            "features": self.rows.features,
            "parts": self.parts or [],
            "classes": self.classes,
            "integers_as_numbers": self.as_numbers,
            "leave_one_out_log_loss": self.loss,
            "alerts": [vars(alert) for alert in self.alerts],
        }

    def tell(self) -> None:
        """For people."""
        shown = [f"{visible(label, LONGEST)}: {count:,.0f} rows" for label, count in self.classes.items()]
        columns = f"{len(self.rows.features)} columns" + (f" and {len(self.parts)} parts of them" if self.parts else "")
        say(
            f"Learned {visible(self.target, LONGEST)} from {columns} of {self.rows.n_rows:,} rows with "
            f"{self.method.name} ({self.method.summary}): {_listed(shown, ' classes')}."
        )
        if self.parts == []:
            say("No column is a date or free text that has parts.")
        if self.rows.unlabelled:
            say(f"{self.rows.unlabelled:,} rows without a label were left out.")
        for name, dropped in self.model.dropped_.items():
            say(f"Column {visible(str(name), LONGEST)!r}: {dropped['categories']:,.0f} rare categories were left out.")
        # Parts are no columns of the file, so no option can name them.
        as_numbers = [name for name in self.as_numbers if name not in (self.parts or ())]
        if as_numbers:
            named = _listed([visible(name, LONGEST) for name in as_numbers])
            say(
                f"Integers taken for numbers, which tell more so: {named}. --categorical COL takes a column for names, "
                "--numeric COL for numbers."
            )
        if self.loss is not None:
            say(f"Leave-one-out log-loss {number(self.loss, 4)}: about what new rows will see.")


def _listed(shown: list[str], what: str = "") -> str:
    more = len(shown) - _MOST_NAMED
    return ", ".join(shown[:_MOST_NAMED]) + (f" and {more} more{what}" if more > 0 else "")
