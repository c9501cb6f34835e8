"""How honest probabilities are: calibration error and what chance makes of it, Brier score, reliability curve."""

from hebnb.metrics.brier import brier_score_macro
from hebnb.metrics.calibration import (
    calibration_error_by_chance,
    debiased_calibration_error,
    expected_calibration_error,
    reliability_curve,
)

__all__ = [
    "brier_score_macro",
    "calibration_error_by_chance",
    "debiased_calibration_error",
    "expected_calibration_error",
    "reliability_curve",
]
