"""What can go wrong, as one small tree.

HebnbError
├── InputError      the data cannot be used as given (also a ValueError)
└── ParameterError  an argument of an estimator or function is not usable (also a ValueError)

A message says where, what, and on a line of its own the remedy.
"""

from __future__ import annotations

from difflib import get_close_matches

__all__ = ["HebnbError", "InputError", "ParameterError"]


class HebnbError(Exception):
    """Base of every error this package raises on purpose.

    Parameters
    ----------
    message : str
        Where and what.
    hint : str, optional
        The remedy, printed on a line of its own.

    Examples
    --------
    >>> print(HebnbError("Column 'zip': 37 values are missing.", hint='Use missing="category".'))
    Column 'zip': 37 values are missing.
    Hint: Use missing="category".
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nHint: {hint}")


class InputError(HebnbError, ValueError):
    """The data cannot be used as given.

    Examples
    --------
    >>> issubclass(InputError, ValueError)
    True
    """


class ParameterError(HebnbError, ValueError):
    """An argument is not usable.

    Examples
    --------
    >>> issubclass(ParameterError, ValueError)
    True
    """


def column(name: str | int) -> str:
    """How every message names a column."""
    return f"Column {name!r}"


def unknown_name(argument: str, given: object, known: list[str]) -> ParameterError:
    """The error for a name that is not on a short list: it shows the list, and the nearest name."""
    near = nearest(str(given), known)
    hint = f"Did you mean {near!r}?" if near else None
    return ParameterError(f"{argument}={given!r} is not known. Known: {_shown(known)}.", hint)


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


def _shown(names: list[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
