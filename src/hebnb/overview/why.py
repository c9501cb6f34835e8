"""What a column is taken for, and why, in words."""

from __future__ import annotations

from hebnb.columns.reading import Reading
from hebnb.evidence.integers import FEWEST_VALUES, Readings
from hebnb.overview.seen import Seen


def taken_for(seen: Seen) -> str:
    """What a classifier makes of the values."""
    if not seen.n_values:
        return "nothing"
    return "a tree of bins" if seen.is_cut else "categories"


def why(seen: Seen, reading: Reading, readings: Readings | None, has_target: bool) -> str:
    """What a column holds, what it is taken for, and what else it might have been."""
    if not seen.n_values:
        return "nothing but gaps: says nothing"
    is_cut_by_user = reading.cuts(seen.column) and not seen.column.is_continuous
    if is_cut_by_user or (seen.name in reading.kept and reading.parameters.categorical_features != "all"):
        return f"{seen.holds}, said to be {'numbers' if is_cut_by_user else 'categories'}: {taken_for(seen)}"
    if seen.holds == "whole numbers" and seen.name not in reading.kept:
        return _of_whole_numbers(seen, readings, has_target)
    return f"{seen.holds}: {taken_for(seen)}"


def _of_whole_numbers(seen: Seen, readings: Readings | None, has_target: bool) -> str:
    if seen.n_values < FEWEST_VALUES:
        return f"whole numbers, fewer than {FEWEST_VALUES}: categories"
    if readings is None:
        return "whole numbers: categories" + ("" if has_target else ", or numbers if these tell more")
    if readings.are_numbers:
        return "whole numbers: a tree of bins; as names they tell less"
    more = "less" if readings.numbers <= readings.names else "hardly more"
    return f"whole numbers: categories; as numbers they tell {more}"
