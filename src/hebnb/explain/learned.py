"""What a model has learned, as a few lines of HTML for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from hebnb.explain.evidence_tables import importances
from hebnb.foundation.printable import visible
from hebnb.scores.score_tables import ScoreTables

# Columns and crosses, and classes, that are named.
_MOST_LINES, _MOST_CLASSES = 10, 6
# Nats that are not all zeros as they are written.
_LEAST = 0.00005
_BESIDE = " beside its columns"
_CELL = "padding: 1px 12px 1px 0; border: 0; text-align: {}; white-space: nowrap"
_BAR = "display: inline-block; height: 8px; border-radius: 3px; background: #2f8a94; width: {:.0f}px"


def learned_html(model: ScoreTables, gains: Mapping[Any, float] | None = None, log_loss: float | None = None) -> str:
    """Classes, and the columns and crosses that tell most, with bars of how much; those that tell nothing are counted.

    Parameters
    ----------
    model : ScoreTables
    gains : dict of name, or tuple of names, to float, optional
        As ``importances`` takes them.
    log_loss : float, optional
        That of left-out rows, where it is known.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> html = learned_html(NaiveBayes().fit([["<red>"], ["blue"]] * 9, ["no", "yes"] * 9).score_tables_)
    >>> "18 rows of 2 classes" in html, "<red>" in html
    (True, False)
    """
    count, labels = model.counts.class_count, model.counts.classes.values.tolist()
    order = np.argsort(-count, kind="stable")
    classes = [f"{_shown(labels[c])} {count[c] / count.sum():.1%}" for c in order[:_MOST_CLASSES].tolist()]
    more = f" and {len(labels) - _MOST_CLASSES:,} more" if len(labels) > _MOST_CLASSES else ""
    told = importances(model, gains)
    gain, names, parts = told["gain"], told["feature"], told["columns"]
    widest = max(float(np.nanmax(gain, initial=0.0)), 1e-12)
    lines = [
        f'<tr><td style="{_CELL.format("left")}">{_shown(names[n])}</td>'
        f'<td style="{_CELL.format("left")}"><span style="{_BAR.format(120 * gain[n] / widest)}"></span></td>'
        f'<td style="{_CELL.format("right")}">{gain[n]:.4f} nats{_BESIDE if parts[n] > 1 else ""}</td></tr>'
        for n in range(min(len(names), _MOST_LINES))
        if gain[n] >= _LEAST
    ]
    rest = len(names) - len(lines)
    loss = "" if log_loss is None else f" Leave-one-out log-loss {log_loss:.4f}."
    return (
        '<div class="hebnb-learned" style="margin: 6px 0; font-size: 13px">'
        f"<div>{count.sum():,.0f} rows of {len(labels):,} classes: {', '.join(classes)}{more}.{loss} "
        + (
            "What tells most about the class of left-out rows:"
            if lines
            else "No column tells anything about left-out rows."
        )
        + f'</div><table style="border-collapse: collapse; margin: 4px 0; font-size: inherit">{"".join(lines)}</table>'
        + (f"<div>and {rest:,} that tell less, or nothing</div>" if rest > 0 and lines else "")
        + "</div>"
    )


def _shown(text: Any) -> str:
    return escape(visible(str(text), 60))
