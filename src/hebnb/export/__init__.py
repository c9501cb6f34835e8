"""Fitted models in the forms that other programs run."""

from hebnb.export.onnx import onnx_inputs, to_onnx
from hebnb.export.sql import to_sql
from hebnb.export.sql.scorecard import scorecard_to_sql

__all__ = ["onnx_inputs", "scorecard_to_sql", "to_onnx", "to_sql"]
