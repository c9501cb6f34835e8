"""How much each part of a score counts: the weightings, by the names that users give them."""

from hebnb.weighting.base import Unweighted, Weighting
from hebnb.weighting.leave_one_out import LeaveOneOut
from hebnb.weighting.mutual_information import SqrtMutualInformation

WEIGHTINGS: dict[str | None, Weighting] = {
    None: Unweighted(),
    "sqrt-mi": SqrtMutualInformation(),
    "loo": LeaveOneOut(),
}

__all__ = ["WEIGHTINGS", "Weighting"]
