"""An ONNX graph in the making: constants, nodes, and names that never clash."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import Array

# Old enough for every runtime of the last years, and new enough for sums and softmax of doubles.
OPSET, ML_OPSET, IR_VERSION = 15, 2, 8
ML = "ai.onnx.ml"


def import_onnx() -> ModuleType:
    """The package onnx, or what to do without it."""
    try:
        import onnx
    except ImportError as error:
        raise ParameterError("ONNX export needs the package onnx.", 'pip install ".[onnx]"') from error
    return onnx


def text_of(value: Any) -> str:
    r"""A value as text that UTF-8 can hold; text is itself, whatever its class prints.

    Examples
    --------
    >>> text_of("red"), text_of(1.5), text_of("half a pair: \ud83d")
    ('red', '1.5', 'half a pair: \\ud83d')
    """
    text = str.__str__(value) if isinstance(value, str) else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def texts_of(values: Iterable[Any], where: str) -> list[str]:
    """The texts of distinct values, which must be distinct too."""
    owner: dict[str, Any] = {}
    for value in values:
        text = text_of(value)
        if text in owner:
            raise InputError(
                f"{where}: {owner[text]!r} and {value!r} are both {text!r} as text, which is how ONNX knows them.",
                "Convert them to distinct text, or to one type, before fit.",
            )
        owner[text] = value
    return list(owner)


class Graph:
    """Collects nodes and constants; every result has a name that no column has.

    Parameters
    ----------
    reserved : names
        Of inputs and outputs.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = set(reserved)

    def constant(self, values: Any) -> str:
        """The name of a constant tensor; integers are int64, as indices and axes have to be."""
        array: Array = np.asarray(values)
        array = array.astype(np.int64) if array.dtype.kind == "i" else array
        name = self._new_name("constant")
        if array.dtype.kind in "OU":
            encoded = [text.encode() for text in array.ravel().tolist()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, encoded)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.constants.append(tensor)
        return name

    def apply(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """The name of what an operator makes of these inputs."""
        name = output or self._new_name(operator)
        node = self.onnx.helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes)
        self.nodes.append(node)
        return name

    def tensor_info(self, name: str, kind: str, shape: list[str | int]) -> Any:
        """The type and shape of an input or output; the kind is the name of a NumPy type, or ``"string"``."""
        types = self.onnx.TensorProto
        element = types.STRING if kind == "string" else self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        return self.onnx.helper.make_tensor_value_info(name, element, shape)

    def model(self, inputs: list[Any], outputs: list[Any], **properties: Any) -> Any:
        """What the outputs need of the graph, as a model."""
        helper = self.onnx.helper
        needed = {output.name for output in outputs}
        nodes = []
        for node in reversed(self.nodes):  # a node comes after those it needs
            if node.output[0] in needed:
                needed.update(node.input)
                nodes.append(node)
        constants = [constant for constant in self.constants if constant.name in needed]
        graph = helper.make_graph(nodes[::-1], "hebnb", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **properties)

    def _new_name(self, stem: str) -> str:
        number = len(self.nodes) + len(self.constants)
        while (name := f"{stem}_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name
