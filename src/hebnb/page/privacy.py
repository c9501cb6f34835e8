"""What a page says of a table without naming values that few rows have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hebnb.estimators.alerts import Alert, named

# Alerts that show values of the table, and what is said in their place.
_WITHOUT_VALUES = {
    "rare class": "Some classes have few rows.",
    "one class": "The target has one value only; there is nothing to tell apart.",
    "constant": "{column} has the same value in every row.",
    "dates in text": "{column} is text that looks like dates: every day is a name.",
    "dates": "{column} holds dates or times: rows to come may be later than all of these.",
}


def without_values(alerts: Sequence[Alert]) -> list[Alert]:
    """Alerts that name columns, but no value of them and no class.

    Examples
    --------
    >>> without_values([Alert(None, "rare class", "1 class has fewer than 10 rows: Ada (1).", "Join it with others.")])
    [Alert(column=None, kind='rare class', sentence='Some classes have few rows.', remedy='Join it with others.')]
    """
    return [
        replace(alert, sentence=_WITHOUT_VALUES[alert.kind].format(column=named(alert.column or "")))
        if alert.kind in _WITHOUT_VALUES
        else alert
        for alert in alerts
    ]
