"""What is odd about a table, told while something else is done with it."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hebnb.cli.console import say
from hebnb.errors import TableWarning
from hebnb.estimators.alerts import Alert
from hebnb.overview.alerts import together

# Alerts that are told where they are not asked for.
_MOST = 4


def tell(alerts: Sequence[Alert], source: str, target: str) -> None:
    """Tell the first alerts, and how to see the others."""
    paragraphs = together(alerts)
    for paragraph in paragraphs[:_MOST]:
        say(f"Note: {paragraph.text}")
    more = sum(paragraph.number for paragraph in paragraphs[_MOST:])
    if more:
        say(f"Note: And {more} more: hebnb inspect {shlex.quote(source)} --target {shlex.quote(target)}")


@contextmanager
def told_before() -> Iterator[None]:
    """A context in which classifiers do not warn of what alerts tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        yield
