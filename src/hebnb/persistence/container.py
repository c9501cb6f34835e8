"""The container of a model file: looked at before anything is read, so that reading takes no more than is allowed."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numpy.lib import format as npy

from hebnb.errors import InputError
from hebnb.persistence.allowance import Allowance

# What the container may hold; skops knows more kinds, and none of them is needed.
_KINDS = {
    ("DictNode", "builtins", "dict"),
    ("ListNode", "builtins", "list"),
    ("TypeNode", "builtins", "str"),
    ("JsonNode", "builtins", "str"),
    ("NdArrayNode", "numpy", "ndarray"),
}
_SCHEMA = "schema.json"
# Bytes of JSON looked at in one go.
_CHUNK = 1 << 20
# What a byte of JSON takes: Python may need four for it, and reads the header, which is JSON in JSON, twice. Besides it
# may begin a value, which takes more than it is long: ``{},`` begins two, and is an object of 64 bytes.
_OF_TEXT, _OF_VALUE = 10.0, 50.0
_BEGINS_VALUE = (b"{", b"[", b",", b":")
# An array is read from bytes, and copied where its numbers are checked.
_OF_ARRAY = 3.0


def looks_like_one(path: Path) -> bool:
    """Whether a file, if there is one, is a container of this kind, or is called so and damaged."""
    is_called_so = path.suffix.lower() == ".skops"
    if not path.is_file():
        return is_called_so
    try:
        with zipfile.ZipFile(path) as file:
            return _SCHEMA in file.namelist()
    except zipfile.BadZipFile:
        return is_called_so


def read(data: bytes, allowance: Allowance) -> Any:
    """What a skops file holds: a dictionary of text and arrays."""
    import skops.io

    pay(data, allowance)
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        damaged = file.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {damaged!r}")
    return skops.io.loads(data)


def pay(data: bytes, allowance: Allowance) -> None:
    """Find out what reading takes, and that there is nothing but text and arrays."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        if _SCHEMA not in file.namelist():
            raise InputError(f"{str(allowance.path)!r} is not a model file.", "Files made by hebnb fit can be loaded.")
        _pay_for_json(file, allowance)
        for node in _nodes(json.loads(file.read(_SCHEMA))):
            _check(node, allowance)
            if node["__loader__"] == "NdArrayNode":
                _pay_for_array(file, node["file"], allowance)


def _pay_for_json(file: zipfile.ZipFile, allowance: Allowance) -> None:
    """Walk through the schema, which holds the header, without keeping it."""
    with file.open(_SCHEMA) as stream:
        while chunk := stream.read(_CHUNK):
            values = sum(map(chunk.count, _BEGINS_VALUE))
            allowance.take(_OF_TEXT * len(chunk) + _OF_VALUE * values)


def _pay_for_array(file: zipfile.ZipFile, name: str, allowance: Allowance) -> None:
    """An array that is as large as its shape says, counted as often as it is asked for."""
    size = file.getinfo(name).file_size
    allowance.take(_OF_ARRAY * size)
    with file.open(name) as stream:
        version = npy.read_magic(stream)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.hasobject or dtype.kind not in "biufU" or math.prod(shape) * dtype.itemsize != size - stream.tell():
            raise ValueError(f"{name} is not the array that it says it is")


def _check(node: dict[str, Any], allowance: Allowance) -> None:
    kind = node["__loader__"], node.get("__module__"), node.get("__class__")
    if kind not in _KINDS or (kind[0] == "NdArrayNode" and node.get("type") != "numpy"):
        raise InputError(
            f"{str(allowance.path)!r} holds {node.get('__module__')}.{node.get('__class__')}, "
            "which no model of hebnb does.",
            "Files made by hebnb fit or hebnb.save can be loaded; other skops files with skops.",
        )


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every node of a container's schema."""
    waiting = [schema]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
