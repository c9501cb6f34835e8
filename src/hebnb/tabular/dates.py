"""Dates as they are written in text."""

from __future__ import annotations

import re

# The format of dates that begin with the year in four digits, in whatever detail; every other is one of strptime.
ISO = "ISO"

_WRITTEN = re.compile(
    r"\s*(\d{1,4})([-/. ])\d{1,2}\2(\d{1,4})(?:(?P<between>[ T])(?P<hour>\d{1,2}:\d\d)(?P<second>:\d\d)?"
    r"(?P<fraction>\.\d+)?(?P<half> ?[AaPp][Mm])?)?\s*"
)


def described(form: str) -> str:
    """A format of dates in words.

    Examples
    --------
    >>> described("%d/%m/%Y"), described(ISO)
    ('dates written as day/month/year', 'dates written as year-month-day')
    """
    words = {"%d": "day", "%m": "month", "%y": "year", "%Y": "year"}
    day = "year-month-day" if form == ISO else re.split(r"[ T]%[HI]", form)[0]
    for code, word in words.items():
        day = day.replace(code, word)
    return f"dates written as {day}"


def formats_like(written: str) -> list[str]:
    """The formats that a date may be written in, the likeliest first, by its shape alone.

    Examples
    --------
    >>> formats_like("03/04/2024")
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> formats_like("3.4.24 9:30 PM")
    ['%d.%m.%y %I:%M %p', '%m.%d.%y %I:%M %p', '%y.%m.%d %I:%M %p']
    >>> formats_like("yesterday")
    []
    """
    shape = _WRITTEN.fullmatch(written)
    if shape is None:
        return []
    first, separator, last = shape.group(1, 2, 3)
    if len(first) > 2:
        orders = [("%Y", "%m", "%d")]
    elif len(last) > 2:
        orders = [("%d", "%m", "%Y"), ("%m", "%d", "%Y")]
    else:
        orders = [("%d", "%m", "%y"), ("%m", "%d", "%y"), ("%y", "%m", "%d")]
        if separator == "-":
            orders = orders[-1:] + orders[:-1]
    return [separator.join(order) + _time_like(shape) for order in orders]


def _time_like(shape: re.Match[str]) -> str:
    if shape["hour"] is None:
        return ""
    half = shape["half"]
    parts = [
        shape["between"],
        "%I:%M" if half else "%H:%M",
        ":%S" if shape["second"] else "",
        ".%f" if shape["fraction"] else "",
        "" if not half else " %p" if half.startswith(" ") else "%p",
    ]
    return "".join(parts)
