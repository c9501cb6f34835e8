"""Models as files. A file holds numbers, text and nothing that runs.

The container is a skops file of a ``document``, from which the model is built anew by this version's own code. So a
file survives changes of what models look like inside, and no class is ever looked up by a name that the file gives.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from hebnb.errors import HebnbError, InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.foundation.files import written_whole
from hebnb.foundation.memory import honest_bytes
from hebnb.persistence import container, document
from hebnb.persistence.allowance import Allowance
from hebnb.persistence.document import CountedPart

__all__ = ["load", "save"]


def save(model: CategoricalClassifier | Pipeline, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a fitted model to a skops file.

    The file appears whole or not at all. A smoother of your own cannot be saved, nor can categories other than text,
    numbers, times and tuples of them. Rows that ``partial_fit`` keeps for leave-one-out weights are left behind: in the
    loaded model these weights stay as they are. A ``RandomState`` is saved as None.

    Parameters
    ----------
    model : classifier, or pipeline of ``ColumnParts`` and a classifier
    path : str or path
        By custom it ends in ``.skops``.
    overwrite : bool
        Whether a file that is there may be replaced; an ``InputError`` if not.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from hebnb import NaiveBayes, load, save
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save(NaiveBayes().fit([["a"], ["b"]], ["x", "y"]), path)
    >>> load(path).predict([["b"]])
    array(['y'], dtype=object)
    """
    model = copy(model)  # as it is now, whatever another thread does to it

    def pay(allowance: Allowance) -> None:
        document.pay(model, allowance)

    data = _packed(document.of_model(model), pay)
    with written_whole(path, overwrite=overwrite) as partial:
        partial.write_bytes(data)


def load(path: str | os.PathLike[str], *, memory_limit: float | None = None) -> Any:
    """Read a model that ``save`` wrote. Nothing in the file is executed, whatever it holds.

    Parameters
    ----------
    path : str or path
    memory_limit : float, optional
        Bytes that loading may take, about. By default it is what a file of its size may honestly ask for (96 MB, and
        256 bytes for every byte of the file), and no more than half of the memory that is free.

    Returns
    -------
    classifier, or pipeline of ``ColumnParts`` and a classifier, if that is what was saved

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from hebnb import NaiveBayes, load, save
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save(NaiveBayes("laplace").fit([["a"], ["b"]], ["x", "y"]), path)
    >>> load(path)
    NaiveBayes(smoothing='laplace')
    """
    return _read(Path(path), memory_limit, document.to_model, "model")


def save_counts(part: CountedPart, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write counts to a file, whole or not at all."""

    def pay(allowance: Allowance) -> None:
        document.pay_for_counts(part, allowance)

    data = _packed(document.of_counts(part), pay)
    with written_whole(path, overwrite=overwrite) as partial:
        partial.write_bytes(data)


def load_counts(path: str | os.PathLike[str], *, memory_limit: float | None = None) -> CountedPart:
    """Read counts that ``save_counts`` wrote. Nothing in the file is executed, whatever it holds."""
    part: CountedPart = _read(Path(path), memory_limit, document.to_counts, "counts")
    return part


def load_either(path: str | os.PathLike[str]) -> tuple[Any, CountedPart | None]:
    """A classifier, or counts, whichever a file holds."""
    found = _read(Path(path), None, document.to_either, "counts")
    return (None, found) if isinstance(found, CountedPart) else (found, None)


def _read(path: Path, memory_limit: float | None, build: Callable[[Any, Allowance], Any], what: str) -> Any:
    """What a file holds, or an error of ours."""
    made_by = {"model": "fit", "counts": "count"}[what]
    try:
        data = path.read_bytes()
        allowance = Allowance(path, len(data), memory_limit)
        return build(container.read(data, allowance), allowance)
    except HebnbError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"There is no file {str(path)!r}.") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{str(path)!r} is not a {what} file, or it is damaged ({error}).",
            f"Files made by hebnb {made_by} can be loaded.",
        ) from error
    except Exception as error:  # whatever else a file can be made to cause
        whole = "a whole model of hebnb" if what == "model" else "a whole file of counts"
        raise InputError(
            f"{str(path)!r} is not {whole} ({type(error).__name__}: {str(error)[:200]}).",
            "It may have been altered; make it again.",
        ) from error


def _packed(content: dict[str, Any], pay: Callable[[Allowance], None]) -> bytes:
    """The file, compressed unless it would then be too small for what it holds to be loaded."""
    import skops.io

    data: bytes = skops.io.dumps(content, compression=zipfile.ZIP_DEFLATED)
    allowance = Allowance(Path(), len(data), math.inf)
    container.pay(data, allowance)
    pay(allowance)
    if allowance.taken > honest_bytes(len(data)):
        data = skops.io.dumps(content)
    return data
