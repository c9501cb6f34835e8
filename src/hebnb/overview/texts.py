"""What text seems to be: dates, or prose."""

from __future__ import annotations

import datetime as dt

import numpy as np

from hebnb.overview.seen import Seen
from hebnb.tabular.dates import formats_like

# Values that are looked at, and the share of them that have to be dates.
_MOST, _SHARE = 1_000, 0.95
_WITH_MONTHS = ("%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%y", "%d%b%Y")


def are_dates(seen: Seen) -> bool:
    """Whether nearly all values of a column of text can be read as dates."""
    some = _some(seen)
    if not any(map(is_date, some[:10])):  # so much for most columns
        return False
    return sum(map(is_date, some)) >= _SHARE * len(some)


def is_date(text: str) -> bool:
    """Whether text can be read as a date.

    Examples
    --------
    >>> [is_date(text) for text in ("2024-12-31T10:00:00Z", "31.12.2024", "3 Jan 2024", "12/31/24 9:30 PM")]
    [True, True, True, True]
    >>> [is_date(text) for text in ("2024", "1.2.3", "99/99/2024", "555-1234", "soon")]
    [False, False, False, False, False]
    """
    text = text.strip()
    if text[4:5] in ("-", "/") and text[:4].isdigit() and len(text) >= len("2024-1-1"):
        try:
            dt.datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            return True
    forms = [*formats_like(text), *(_WITH_MONTHS if any(map(str.isalpha, text)) else ())]
    return any(_is_written(text, form) for form in forms)


def _is_written(text: str, form: str) -> bool:
    try:
        dt.datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def words_of(seen: Seen) -> float:
    """How many words the values of a column of text have on average."""
    return float(np.mean([len(text.split()) for text in _some(seen)])) if len(seen.values) else 0.0


def _some(seen: Seen) -> list[str]:
    """Values from everywhere in the column."""
    step = max(len(seen.values) // _MOST, 1)
    return [str(value) for value in seen.values[::step][:_MOST].tolist()]
