"""Fitted models in the forms that other programs run."""

from hebnb.export.onnx import onnx_inputs, to_onnx
from hebnb.export.sql import to_sql

__all__ = ["onnx_inputs", "to_onnx", "to_sql"]
