"""What can go wrong, as one small tree.

HebnbError
├── InputError      the data cannot be used as given (also a ValueError)
└── ParameterError  an argument of an estimator or function is not usable (also a ValueError)

TableWarning        what was learned from a table is likely wrong or useless (a UserWarning)
UnseenWarning       most values of a column were never seen at fit (a UserWarning)

A message says where, what, and on a line of its own the remedy.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from pathlib import Path

__all__ = ["HebnbError", "InputError", "ParameterError", "TableWarning", "UnseenWarning"]


class HebnbError(Exception):
    """Base class of all errors that hebnb raises on purpose; ``except HebnbError`` catches them all.

    Parameters
    ----------
    message : str
        Where something is wrong, and what.
    hint : str, optional
        What to do about it, which is printed on a line of its own.

    Examples
    --------
    >>> from hebnb import HebnbError
    >>> print(HebnbError("Column 'zip': 37 values are missing.", hint='Use missing="category".'))
    Column 'zip': 37 values are missing.
    Hint: Use missing="category".
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nHint: {hint}")


class InputError(HebnbError, ValueError):
    """A table, a label, a file or counts cannot be used as they are. It is a ``ValueError`` too.

    Examples
    --------
    >>> from hebnb import InputError, NaiveBayes
    >>> try:
    ...     NaiveBayes(missing="error").fit([["red"], [None], [None]], ["no", "yes", "no"])
    ... except InputError as error:
    ...     print(error)
    Column 0: 2 values are missing.
    Hint: missing="category" gives them a category of their own, missing="ignore" leaves them out.
    """


class ParameterError(HebnbError, ValueError):
    """An argument of a classifier or a function is not one that it takes. It is a ``ValueError`` too.

    Examples
    --------
    >>> from hebnb import NaiveBayes, ParameterError
    >>> try:
    ...     NaiveBayes(weighting="lo").fit([["red"], ["blue"]], ["no", "yes"])
    ... except ParameterError as error:
    ...     print(error)
    weighting='lo' is not known. Known: 'sqrt-mi', 'loo'.
    Hint: Did you mean 'loo'?
    """


class TableWarning(UserWarning):
    """Warns that what a classifier learned from a table is likely wrong or useless.

    It comes from ``fit``, as when a column gives the class away. ``hebnb.describe`` says more about the table.

    Examples
    --------
    If you know about it, silence it:

    >>> import warnings
    >>> from hebnb import TableWarning
    >>> warnings.filterwarnings("ignore", category=TableWarning)
    """


class UnseenWarning(UserWarning):
    """Warns that most values of a column are not among those that the model learned from.

    It comes from ``predict`` and its like. Mostly the column is another one than at ``fit``, or its values are written
    in another way. The message names the columns, the share of the rows, and the reason where it can be told.

    Examples
    --------
    >>> import warnings
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["red"], ["blue"]] * 50, [0, 1] * 50)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = model.predict([["Red"], ["Blue"]] * 50)
    >>> print(caught[0].message)
    Column 0: 100% of 100 rows have values that were never seen at fit, and tell next to nothing. They match in \
another letter case.
    """


_PACKAGE = str(Path(__file__).parent)
# The most names that are offered for one that is not known.
_MOST_MEANT = 3
# What arguments are called where messages are read; nothing, where that is Python.
_flags: ContextVar[Mapping[str, str] | None] = ContextVar("_flags", default=None)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the code that called this package, however deep in it we are."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def argument(name: str) -> str:
    """How a message names an argument: as it is called in Python, or as a flag where the command line runs.

    Examples
    --------
    >>> with arguments_as_flags({"sample_weight": "--weight"}):
    ...     argument("max_rows"), argument("sample_weight")
    ('--max-rows', '--weight')
    """
    flags = _flags.get()
    return name if flags is None else flags.get(name, f"--{name.replace('_', '-')}")


@contextmanager
def arguments_as_flags(flags: Mapping[str, str]) -> Iterator[None]:
    """Messages that arise in here are for somebody at a command line, where some arguments have other names."""
    token = _flags.set(flags)
    try:
        yield
    finally:
        _flags.reset(token)


def column(name: str | int) -> str:
    """How every message names a column."""
    return f"Column {name!r}"


def unknown_name(argument: str, given: object, known: list[str]) -> ParameterError:
    """The error for a name that is not on a short list: it shows the list, and the names that may have been meant.

    Examples
    --------
    >>> print(unknown_name("method", "aode", ["HEB-AODE", "AODE+loo", "HEB-M"]))
    method='aode' is not known. Known: 'HEB-AODE', 'AODE+loo', 'HEB-M'.
    Hint: Did you mean 'HEB-AODE' or 'AODE+loo'?
    """
    text = str(given)
    holding = [one for one in known if len(text) > 1 and text.casefold() in one.casefold()]
    near = nearest(text, known)
    meant = holding if 1 < len(holding) <= _MOST_MEANT else [near] if near else holding[:1]
    hint = f"Did you mean {' or '.join(map(repr, meant))}?" if meant else None
    return ParameterError(f"{argument}={given!r} is not known. Known: {shown_names(known)}.", hint)


def nearest(name: str, known: list[str]) -> str | None:
    """The name that may have been meant, if any is near.

    Examples
    --------
    >>> nearest("Arival", ["departure", "arrival"])
    'arrival'
    """
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), folded, n=1)
    return folded[near[0]] if near else None


def shown_names(names: list[str], most: int = 20) -> str:
    """Names in a message, and how many more there are.

    Examples
    --------
    >>> shown_names(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
