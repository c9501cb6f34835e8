"""Where the package says that its documentation is."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def documentation(name: str) -> str:
    """The address of a public name's documentation; empty if the package names none.

    Examples
    --------
    >>> documentation("NaiveBayes").endswith(("#hebnb.NaiveBayes", ""))
    True
    """
    try:
        urls = metadata.metadata("hebnb").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    known = dict(url.split(", ", 1) for url in urls if ", " in url)
    site = known.get("Documentation", "")
    return f"{site.rstrip('/')}/api.html#hebnb.{name}" if site.startswith("https://") else ""
