"""Models as files. A file holds numbers, text and nothing that runs.

The container is a skops file of a ``document``, from which the model is built anew by this version's own code. So a
file survives changes of what models look like inside, and no class is ever looked up by a name that the file gives.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hebnb.errors import HebnbError, InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.files import written_whole
from hebnb.foundation.memory import free_memory
from hebnb.persistence import document

__all__ = ["load", "save"]

# What the container may hold; skops knows more kinds, and none of them is needed.
_KINDS = {
    ("DictNode", "builtins", "dict"),
    ("ListNode", "builtins", "list"),
    ("TypeNode", "builtins", "str"),
    ("JsonNode", "builtins", "str"),
    ("NdArrayNode", "numpy", "ndarray"),
}


def save(model: CategoricalClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a skops file.

    The file appears whole or not at all. A smoother of your own cannot be saved, nor can categories other than text,
    numbers, times and tuples of them. Rows that ``partial_fit`` keeps for leave-one-out weights are left behind: in the
    loaded model these weights stay as they are. A ``RandomState`` is saved as None.

    Parameters
    ----------
    model : classifier
    path : str or path
        By custom it ends in ``.skops``. A file that is there is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from hebnb import NaiveBayes
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save(NaiveBayes().fit([["a"], ["b"]], ["x", "y"]), path)
    >>> load(path).predict([["b"]])
    array(['y'], dtype=object)
    """
    import skops.io

    content = document.of_model(model)
    with written_whole(path) as partial:
        skops.io.dump(content, partial, compression=zipfile.ZIP_DEFLATED)


def load(path: str | os.PathLike[str]) -> CategoricalClassifier:
    """Read a model that ``save`` wrote. Nothing in the file is executed, whatever it holds.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    classifier

    Examples
    --------
    >>> import tempfile
    >>> from hebnb import NaiveBayes
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save(NaiveBayes("laplace").fit([["a"], ["b"]], ["x", "y"]), path)
    >>> load(path)
    NaiveBayes(smoothing='laplace')
    """
    import skops.io

    path = Path(path)
    try:
        data = path.read_bytes()
        _refuse_foreign(path, data)
        return document.to_model(skops.io.loads(data))
    except HebnbError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"There is no file {str(path)!r}.") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{str(path)!r} is not a model file, or it is damaged ({error}).", "Files made by hebnb fit can be loaded."
        ) from error
    except Exception as error:  # whatever else a file can be made to cause
        raise InputError(
            f"{str(path)!r} is not a whole model of hebnb ({type(error).__name__}: {str(error)[:200]}).",
            "It may have been altered; make it again.",
        ) from error


def _refuse_foreign(path: Path, data: bytes) -> None:
    """Look at the container before anything is built from it."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        size = sum(member.file_size for member in file.infolist())
        if size > free_memory() / 2:
            raise InputError(
                f"{str(path)!r} would take {size / 1e6:,.0f} MB of memory, more than half of what is free."
            )
        damaged = file.testzip()
        if damaged is not None:
            raise zipfile.BadZipFile(f"wrong checksum of {damaged!r}")
        if "schema.json" not in file.namelist():
            raise InputError(f"{str(path)!r} is not a model file.", "Files made by hebnb fit can be loaded.")
        schema = json.loads(file.read("schema.json"))
    for node in _nodes(schema):
        kind = node["__loader__"], node.get("__module__"), node.get("__class__")
        if kind not in _KINDS or (kind[0] == "NdArrayNode" and node.get("type") != "numpy"):
            raise InputError(
                f"{str(path)!r} holds {node.get('__module__')}.{node.get('__class__')}, which no model of hebnb does.",
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
