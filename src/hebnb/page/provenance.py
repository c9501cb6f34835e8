"""Where a page comes from: the rows, the command, the versions, and what every column was taken for."""

from __future__ import annotations

import datetime as dt
import platform
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, NamedTuple

from hebnb.version import __version__

# Packages whose version may change a number on the page.
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of Python, of hebnb, and of what it computes with.

    Examples
    --------
    >>> sorted(versions())
    ['Python', 'hebnb', 'numpy', 'scikit-learn', 'scipy']
    """
    found = {"hebnb": __version__, "Python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _PACKAGES}


class Files(NamedTuple):
    """How many files a table is in, how large they are in bytes, and when the last of them was changed."""

    number: int
    size: int
    changed: str


@dataclass(frozen=True)
class Provenance:
    """Where a page comes from.

    Parameters
    ----------
    source : str
        The table.
    rows : int
        Labelled rows that were learned from.
    command : str
        What makes the page again.
    seed : int, optional
        Of folds and samples.
    files : Files, optional
        What the table was read from.
    columns : dict of str to str
        What every column was taken for, and why.
    made : str
        When, in coordinated universal time.
    versions : dict of str to str
    """

    source: str
    rows: int
    command: str
    seed: int | None = None
    files: Files | None = None
    columns: dict[Any, str] = field(default_factory=dict)
    made: str = field(default_factory=lambda: f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC")
    versions: dict[str, str] = field(default_factory=versions)
