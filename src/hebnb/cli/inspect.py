"""``hebnb inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from hebnb.cli import options
from hebnb.cli.console import lines_up, number, out, print_json, say_all, shown
from hebnb.errors import ParameterError
from hebnb.foundation.printable import visible


@options.reads_table
def inspect(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE|MODEL",
            help="A table, as for fit (a file, a quoted glob, - or @flights), or a model made by hebnb fit.",
        ),
    ],
    target: options.Target = None,
    features: options.Features = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    numeric: options.Numeric = None,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Show what a table is like before anything is learned, or what a model learned.

    Of a table: what every column is taken for and why, what it tells about the target by itself, and what is odd.
    Of a model: its classes, and for every feature how strong the prior came out. Opening a model never runs
    anything that is in its file.

    For example:

      hebnb inspect sales.csv --target bought

      hebnb inspect model.skops

      hebnb inspect model.skops --json
    """
    from hebnb.persistence.container import looks_like_one

    opening = {"text": categorical or (), **how}
    chosen = {"features": features or (), "drop": drop or (), **options.reading(categorical, numeric, None)}
    if not looks_like_one(Path(source)):
        _inspect_table(source, target, opening, chosen, json)
        return
    of_tables = {
        "--target": target, "--feature": features, "--drop": drop, "--categorical": categorical,
        "--numeric": numeric, **options.as_flags(how),
    }  # fmt: skip
    given = next((name for name, value in of_tables.items() if value), None)
    if given is not None:
        raise ParameterError(f"{visible(source)!r} is a model, and {given} is for tables.", f"Leave {given} out.")
    _inspect_model(source, json)


def _inspect_table(
    source: str, target: str | None, opening: dict[str, Any], chosen: dict[str, Any], json: bool
) -> None:
    from hebnb.overview.files import describe_file
    from hebnb.overview.layout import as_text
    from hebnb.tabular.files import open_table

    with open_table(source, **opening) as opened:
        opened.require(opening["text"], "--categorical")
        opened.require(chosen["numeric_features"] or (), "--numeric")
        say_all(opened.decisions.told(opened.columns))
        with options.busy(f"looking at {opened.n_rows():,} rows"):
            description = describe_file(opened, target, **chosen)
    if json:
        lines = zip(*description.columns.values(), strict=True)
        print_json(
            {
                "rows": description.n_rows,
                "drawn_from": description.n_drawn_from,
                "classes": {str(label): count for label, count in description.classes.items()},
                "columns": [dict(zip(description.columns, line, strict=True)) for line in lines],
                "alerts": [vars(alert) for alert in description.alerts],
            }
        )
        return
    console = out()
    console.print(Text(as_text(description, console.width)), soft_wrap=True)


def _inspect_model(source: str, json: bool) -> None:
    from hebnb.explain.summary import feature_summaries
    from hebnb.parts.pipeline import apart
    from hebnb.persistence.model_files import load

    whole = load(source)
    loaded = apart(whole)[1]
    classes = dict(zip([str(label) for label in loaded.classes_.tolist()], loaded.class_count_.tolist(), strict=True))
    features = feature_summaries(loaded.score_tables_)
    loss = getattr(loaded, "loo_log_loss_", None)
    if json:
        print_json(
            {
                "model": repr(whole),
                "rows": float(loaded.class_count_.sum()),
                "classes": classes,
                "leave_one_out_log_loss": loss,
                "features": [vars(feature) for feature in features],
                "crosses": _crosses(loaded),
            }
        )
        return
    console = out()
    console.print(Text(visible(" ".join(repr(whole).split()))), soft_wrap=True)
    rows = loaded.class_count_.sum()
    console.print(Text(f"learned from {rows:,.0f} rows" + (f"; leave-one-out log-loss {loss:.4f}" if loss else "")))
    console.print()
    console.print(
        lines_up(
            [("class", "left"), ("rows", "right"), ("share", "right")],
            [[shown(label), f"{count:,.0f}", f"{count / rows:.1%}"] for label, count in classes.items()],
        )
    )
    console.print()
    numbers = ("categories", "missing", "gain", "prior rows", "shrinkage", "weight")
    headings = [("feature", "left"), ("kind", "left"), *((name, "right") for name in numbers)]
    console.print(lines_up(headings, [_line(feature) for feature in features]))
    crosses = _crosses(loaded)
    if crosses:
        console.print(Text(f"\n{len(crosses):,} crosses of columns; those that gain most, in nats a row:\n"))
        best = sorted(crosses, key=lambda cross: -cross["gain"])[:_MOST_CROSSES]
        cells: list[list[Text | str]] = [
            [shown(own["columns"]), f"{own['gain']:.4f}", number(own["weight"], 2, sign=True)] for own in best
        ]
        console.print(lines_up([("cross", "left"), ("gain", "right"), ("weight", "right")], cells))


def _crosses(model: Any) -> list[dict[str, Any]]:
    """Columns that tell more together, where a model has such."""
    names = getattr(model, "crosses_", [])
    return [
        {"columns": " × ".join(map(str, own)), "gain": model.gains_[own], "weight": model.weights_[own]}
        for own in names
    ]


# From this strength on a prior leaves its cells nothing to say.
_SILENT = 1e9
_MOST_CROSSES = 10


def _line(feature: Any) -> list[Any]:
    return [
        shown(feature.name),
        feature.kind,
        f"{feature.categories:,}",
        f"{feature.missing:.1%}",
        f"{feature.gain:.4f}",
        _range(feature.concentration, lambda m: number(m, 1) if m < _SILENT else "–"),
        _range(feature.shrinkage, lambda share: f"{share:.0%}"),
        "–" if feature.weight is None else number(feature.weight, 2, sign=True),
    ]


def _range(values: list[float], text: Any) -> str:
    """The least and the greatest over the classes."""
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} … {high}"
