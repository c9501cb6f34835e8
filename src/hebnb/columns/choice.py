"""Which columns of a table are learned from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hebnb import errors
from hebnb.errors import InputError, ParameterError


def chosen_features(
    features: Any, columns: Sequence[str], target: str, weight: str | None = None, drop: Collection[str] = ()
) -> list[str]:
    """The columns to learn from: those named, or all that are for nothing else.

    Examples
    --------
    >>> chosen_features(None, ["id", "colour", "bought"], "bought", drop=["id"])
    ['colour']
    """
    known = list(columns)
    for argument, names in (("target", [target]), ("sample_weight", [weight] if weight else []), ("drop", drop)):
        for name in names:
            if name not in known:
                raise errors.unknown_name(errors.argument(argument), name, known)
    if target == weight:
        raise ParameterError(f"{errors.column(target)} cannot be the target and the weight.")
    if features is None:
        chosen = [name for name in known if name not in (target, weight, *drop)]
    elif isinstance(features, str):
        raise ParameterError(f"features={features!r} must be a list of column names.")
    else:
        chosen = [name for name in features if name not in drop]
    for name in chosen:
        if name not in known:
            raise errors.unknown_name(errors.argument("features"), name, known)
        if name in (target, weight):
            use = "target" if name == target else "weight"
            raise InputError(f"{errors.column(name)} is the {use} and cannot be a feature.")
        if chosen.count(name) > 1:
            raise InputError(f"{errors.column(name)} is named twice in {errors.argument('features')}.")
    if not chosen:
        raise InputError(
            f"There is no column to learn from besides the target {target!r}.", "Keep at least one feature."
        )
    return chosen
