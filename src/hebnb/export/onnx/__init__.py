"""Fitted models as ONNX graphs."""

from hebnb.export.onnx.model import onnx_inputs, to_onnx

__all__ = ["onnx_inputs", "to_onnx"]
