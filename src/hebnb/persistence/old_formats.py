"""Documents of older formats, written as they would be now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hebnb.foundation.arrays import Array

# What format 1 called the arrays that were learned.
_FORMAT_1 = {
    "class_log_prior_": "log_prior",
    "feature_weights_": "weights",
    "class_offsets_": "offsets",
    "parent_weights_": "parent_weights",
    "loo_log_loss_": "log_loss",
    "parents_": "parents",
    "_marginal_concentration": "concentration0",
}


def as_written_now(
    header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> tuple[Mapping[str, Any], Mapping[str, Array]]:
    """The document as this version writes it."""
    return _from_format_1(header, arrays) if header["format"] == 1 else (header, arrays)


def _from_format_1(
    header: Mapping[str, Any], arrays: Mapping[str, Array]
) -> tuple[Mapping[str, Any], Mapping[str, Array]]:
    """Naive Bayes and AODE, whose tables are those of single features."""
    prefix = "learned."
    learned = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    now = {name: array for name, array in arrays.items() if not name.startswith(prefix)}
    now |= {_FORMAT_1[name]: array for name, array in learned.items() if name in _FORMAT_1}
    has_estimates = "parents_" in learned
    now["pair_concentration" if has_estimates else "concentration0"] = learned["concentration_"]
    n_features = len(header["vocabulary"]["features"])
    now.setdefault("weights", np.ones(n_features))
    now.setdefault("offsets", np.zeros(len(now["log_prior"])))
    return header | {  # type: ignore[operator]
        "counts": header.get("pairs", {}),
        "prior_is_given": "_given_log_prior" in learned,
        "tables": [[f] for f in range(n_features)],
        "estimates": {"min_count": float(learned["_min_parent_count"])} if has_estimates else None,
    }, now
