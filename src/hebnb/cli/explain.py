"""``hebnb explain``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from hebnb.cli import options
from hebnb.cli.console import lines_up, number, out, print_json, say_all, shown
from hebnb.foundation.printable import visible

_WIDEST_BAR = 8
# Most lines that are shown, the strongest first; the others are added up. And the longest that names are.
_MOST_LINES, _LONGEST_NAME = 20, 20
# The least width that has room for bars.
_WIDE = 100


@options.reads_table
def explain(
    model: options.ModelFile,
    table: options.TableSource,
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="Number of the row, counted from 0.")] = 0,
    class_: Annotated[
        str | None, typer.Option("--class", metavar="LABEL", help="Class to argue for; by default the most probable.")
    ] = None,
    json: options.Json = False,
    debug: options.Debug = False,
    *,
    how: dict[str, Any],
) -> None:
    """Show why a row gets its prediction: what every feature adds to the log-odds of a class.

    With more than two classes the odds are against the geometric mean of the others. Shrinkage is the share of the
    prior in the probabilities behind a push: near 0 it is the data that speaks, near 1 the prior.

    For example:

      hebnb explain model.skops flights.csv --row 17

      hebnb explain model.skops flights.csv --row 17 --class late --json
    """
    from scipy.special import softmax

    from hebnb import errors
    from hebnb.cli.matching import as_written, features, opened_for, require_columns
    from hebnb.errors import InputError
    from hebnb.estimators.rows import explained
    from hebnb.explain.contributions import pushes
    from hebnb.parts.pipeline import apart
    from hebnb.persistence.model_files import load

    loaded = load(model)
    labels = [str(label) for label in loaded.classes_.tolist()]
    if class_ is not None and class_ not in labels:
        raise errors.unknown_name("--class", class_, labels)
    with opened_for(loaded, table, **how) as opened:
        names = require_columns(opened, loaded)
        say_all(opened.decisions.told(names, as_written(loaded).formats))
        rows = opened.slice(row, 1)
        if not rows.num_rows:
            raise InputError(f"There is no row {row}: {visible(opened.source)} has {opened.n_rows():,}, from 0.")
    explanation = explained(apart(loaded)[1], features(rows, loaded, row))
    proba = softmax(explanation.parts.scores, axis=1)[0]
    c = labels.index(class_) if class_ is not None else int(proba.argmax())
    lines = pushes(explanation, 0, c)
    total = sum(line.log_odds for line in lines)
    if json:
        print_json(
            {
                "row": row,
                "class": labels[c],
                "log_odds": total,
                "probabilities": dict(zip(labels, proba.tolist(), strict=True)),
                "evidence": [vars(line) for line in lines],
            }
        )
        return
    console = out()
    console.print(Text(f"Row {row}: {_probabilities(labels, proba)}"))
    console.print(Text(f"Log-odds of {visible(labels[c], 40)}, and what makes them:\n"))
    widest = max(abs(line.log_odds) for line in lines) or 1.0
    strongest, others = lines[:_MOST_LINES], lines[_MOST_LINES:]
    cells: list[list[Text | str]] = [
        [
            shown(line.feature, _LONGEST_NAME),
            "" if line.count is None else shown(line.value, _LONGEST_NAME),
            number(line.log_odds, sign=True),
            _bar(line.log_odds / widest),
            "" if line.count is None else f"{line.count:,.0f}",
            "" if line.shrinkage is None else f"{line.shrinkage:.0%}",
        ]
        for line in strongest
    ]
    if others:
        rest = sum(line.log_odds for line in others)
        cells.append([f"{len(others)} others", "", number(rest, sign=True), _bar(rest / widest), "", ""])
    cells.append([Text("sum", style="bold"), "", number(total, sign=True), "", "", ""])
    columns = [("feature", "left"), ("value", "left"), ("log-odds", "right"), ("", "left"),
               (f"rows of {labels[c]}", "right"), ("shrinkage", "right")]  # fmt: skip
    if console.width < _WIDE:  # numbers come before bars
        columns, cells = columns[:3] + columns[4:], [own[:3] + own[4:] for own in cells]
    console.print(lines_up(columns, cells))


def _bar(share: float) -> Text:
    """A bar to the left or right of a middle line."""
    if not abs(share) <= 1:
        return Text("")
    length = round(abs(share) * _WIDEST_BAR)
    left, right = ("█" * length, "") if share < 0 else ("", "█" * length)
    return Text.assemble((left.rjust(_WIDEST_BAR), "red"), "│", (right.ljust(_WIDEST_BAR), "green"))


def _probabilities(labels: list[str], proba: Any) -> str:
    order = proba.argsort()[::-1][:5].tolist()
    return ", ".join(f"{visible(labels[c], 40)} {proba[c]:.1%}" for c in order)
