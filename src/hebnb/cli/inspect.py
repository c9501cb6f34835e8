"""``hebnb inspect``."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from hebnb.cli import options
from hebnb.cli.console import lines_up, number, out, print_json, shown
from hebnb.foundation.printable import visible


def inspect(model: options.ModelFile, json: options.Json = False, debug: options.Debug = False) -> None:
    """Show what a model learned: its classes, and for every feature how strong the prior came out.

    Opening a model never runs anything that is in its file.

    For example:

      hebnb inspect model.skops

      hebnb inspect model.skops --json
    """
    from hebnb.explain.summary import feature_summaries
    from hebnb.persistence.model_files import load

    loaded = load(model)
    classes = dict(zip([str(label) for label in loaded.classes_.tolist()], loaded.class_count_.tolist(), strict=True))
    features = feature_summaries(loaded.score_tables_)
    loss = getattr(loaded, "loo_log_loss_", None)
    if json:
        print_json(
            {
                "model": repr(loaded),
                "rows": float(loaded.class_count_.sum()),
                "classes": classes,
                "leave_one_out_log_loss": loss,
                "features": [vars(feature) for feature in features],
                "crosses": _crosses(loaded),
            }
        )
        return
    console = out()
    console.print(Text(" ".join(visible(repr(loaded)).split())), soft_wrap=True)
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
