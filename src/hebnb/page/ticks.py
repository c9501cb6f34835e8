"""Numbers and times at an axis, as round as there is room for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hebnb.foundation.arrays import FloatArray

# Numbers written at an axis.
MOST_TICKS = 4
# Units of time, the roundest first.
_UNITS = ("Y", "M", "D", "h", "m", "s")


def roundest(low: float, high: float) -> float:
    """The number from low to high that takes the fewest digits, and of these the one that is a multiple of most.

    Examples
    --------
    >>> roundest(17.3, 23.9), roundest(0.213, 0.268), roundest(-3.0, 9.0), roundest(2.5, 2.5)
    (20.0, 0.25, 0.0, 2.5)
    """
    if low <= 0 <= high:
        return 0.0
    if not high > low:
        return low
    power = math.ceil(math.log10(max(abs(low), abs(high)))) + 1
    while 10.0**power > (high - low) * 1e-3:
        for factor in (5, 2.5, 2, 1):
            step = factor * 10.0**power
            multiple = math.ceil(low / step) * step
            if multiple <= high:
                return multiple
        power -= 1
    return low


def round_ticks(edges: FloatArray, *, of_times: bool = False, most: int = MOST_TICKS) -> list[tuple[float, str]]:
    """Round numbers that lie about evenly among bins of equal width, and after how many bins each stands.

    Examples
    --------
    >>> round_ticks(np.array([18.2, 31.0, 44.9, 65.3]), most=2)
    [(2.0, '31'), (3.0, '44.9')]
    >>> round_ticks(np.geomspace(1, 10_000, 99))[:3]
    [(25.4..., '10'), (42.6..., '50'), (59.7..., '250')]
    """
    if not len(edges):
        return []
    after = np.arange(1.0, len(edges) + 1)
    wished = np.linspace(0, len(edges) + 1, most + 2)[1:-1]
    room = 0.3 * (len(edges) + 1) / (most + 1)
    found: dict[float, str] = {}
    for place in wished:
        if room < 1:  # bins are few: their own edges are written
            number = float(edges[min(max(round(place) - 1, 0), len(edges) - 1)])
            text = _time(number, number)[1] if of_times else _number(number)
        else:
            low, high = np.interp([place - room, place + room], after, edges).tolist()
            number, text = _time(low, high) if of_times else (roundest(low, high), "")
        found.setdefault(number, text or _number(number))
    return [(float(np.interp(number, edges, after)), text) for number, text in found.items()]


def whole_ticks(values: Sequence[int], most: int = MOST_TICKS) -> list[tuple[float, str]]:
    """Round numbers among increasing whole numbers, each of which is as wide as any other, and where they stand.

    Of few numbers these are all, each in its middle; where there are gaps, a round number may stand between two values.

    Examples
    --------
    >>> whole_ticks([1, 2, 4])
    [(0.5, '1'), (1.5, '2'), (2.5, '4')]
    >>> [text for _, text in whole_ticks(range(1, 32))]
    ['5', '10', '15', '20', '25', '30']
    >>> [text for _, text in whole_ticks([n * n for n in range(100)])]
    ['500', '2000', '4000', '6000']
    """
    if len(values) <= 3 * most:
        return [(place + 0.5, _number(value)) for place, value in enumerate(values)]
    if values[-1] - values[0] < 2 * len(values):
        numbers = axis_ticks(values[0], values[-1], 2 * most)
        return [(float(np.interp(n, values, np.arange(len(values)) + 0.5)), _number(n)) for n in numbers]
    return [(place - 0.5, text) for place, text in round_ticks(np.array(values, dtype=float), most=most)]


def axis_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Multiples of a round step from low to high, at most so many.

    Examples
    --------
    >>> axis_ticks(0.13, 0.42)
    [0.2, 0.3, 0.4]
    """
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            return [round(n * step, 12) for n in range(first, last + 1)]
    return [low, high]


def duration(seconds: float) -> str:
    """A time as one says it.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.0042, 0.83, 5.41, 72, 3725)]
    ['4 ms', '0.83 s', '5.4 s', '1 min 12 s', '1 h 2 min']
    """
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.5:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _number(number: float) -> str:
    """A number as bins are named, except that long ones have commas."""
    return (f"{number:,.10g}" if abs(number) >= 10_000 else f"{number:.10g}").replace("-", "−")


def _time(low: float, high: float) -> tuple[float, str]:
    """The roundest time from low to high, in microseconds since 1970."""
    latest = np.array(high).astype("M8[us]")
    for unit in _UNITS:
        time = latest.astype(f"M8[{unit}]")
        if time.astype("M8[us]").astype(float) >= low:
            return float(time.astype("M8[us]").astype(float)), str(time).replace("T", " ")
    return low, str(np.array(low).astype("M8[s]")).replace("T", " ")
