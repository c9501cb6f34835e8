"""Where the rows of a dataset come from: a folder of CSV files, OpenML, or the package itself."""

from __future__ import annotations

import csv
import hashlib
import json
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError

from hebnb.errors import InputError
from hebnb.study.registry import Dataset

# Seconds without an answer after which OpenML counts as silent.
_PATIENCE = 30.0


@dataclass(frozen=True)
class Raw:
    """The rows of a dataset as they came: a pandas table, its target, and what identifies the copy."""

    X: Any
    y: Any
    nominal: frozenset[str]
    fingerprint: str


class Source(Protocol):
    """Something that has datasets."""

    def load(self, dataset: Dataset) -> Raw:
        """The dataset; an ``InputError`` says why it cannot be had."""


@dataclass(frozen=True)
class Folder:
    """CSV files named after the datasets, target last, as ``NAME.csv`` or ``NAME.csv.gz``.

    ``MANIFEST.csv``, if there, has the files' sha256; ``categorical.json`` the columns that are categories although
    they look like numbers.
    """

    path: Path

    def load(self, dataset: Dataset) -> Raw:
        """Read and check a file."""
        import pandas as pd

        file = next(
            (f for f in (self.path / f"{dataset.name}.csv.gz", self.path / f"{dataset.name}.csv") if f.exists()), None
        )
        if file is None:
            raise InputError(f"{dataset.name}: no {dataset.name}.csv.gz or .csv in {self.path}.")
        try:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            expected = self._manifest().get(file.name, digest)
            if digest != expected:
                raise InputError(
                    f"{file.name}: its sha256 is {digest[:12]}…, MANIFEST.csv says {expected[:12]}….",
                    "Fetch the file again.",
                )
            frame = pd.read_csv(file)
        except (OSError, EOFError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise InputError(f"{file.name}: cannot be read ({error}).", "Fetch the file again.") from error
        if frame.shape[1] < 2 or not len(frame):
            raise InputError(f"{file.name}: has {len(frame)} rows and {frame.shape[1]} columns.", "Fetch it again.")
        return Raw(frame.iloc[:, :-1], frame.iloc[:, -1], self._listed(dataset), f"sha256:{digest}")

    def _manifest(self) -> dict[str, str]:
        file = self.path / "MANIFEST.csv"
        if not file.exists():
            return {}
        with file.open(newline="") as lines:
            return {row["file"]: row["sha256"] for row in csv.DictReader(lines) if row.get("sha256")}

    def _listed(self, dataset: Dataset) -> frozenset[str]:
        file = self.path / "categorical.json"
        listed = json.loads(file.read_text()).get(dataset.name, ()) if file.exists() else ()
        return frozenset([listed] if isinstance(listed, str) else listed)


@dataclass
class OpenML:
    """OpenML by its pinned numbers, through scikit-learn, which caches files and checks their MD5."""

    cache: Path | None = None
    n_retries: int = 2
    patience: float = _PATIENCE
    _silent: str = field(default="", init=False)

    def load(self, dataset: Dataset) -> Raw:
        """Ask once; when the network is down, do not ask for the next dataset."""
        from sklearn.datasets import fetch_openml

        if self._silent:
            raise InputError(f"{dataset.name}: OpenML cannot be reached ({self._silent}).")
        try:
            with _timeout(self.patience), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of retries, and of versions that are no longer the newest
                bunch = fetch_openml(
                    data_id=dataset.openml_id,
                    data_home=None if self.cache is None else str(self.cache),
                    as_frame=True,
                    parser="auto",
                    n_retries=self.n_retries,
                )
        except HTTPError as error:
            raise InputError(f"{dataset.name}: OpenML answered {error.code} {error.reason}.") from error
        except (URLError, TimeoutError, ConnectionError) as error:
            self._silent = str(getattr(error, "reason", error))
            raise InputError(f"{dataset.name}: OpenML cannot be reached ({self._silent}).") from error
        except Exception as error:  # whatever a damaged answer makes the parser raise
            raise InputError(f"{dataset.name}: OpenML's copy cannot be used ({error}).") from error
        X, y = bunch.data, bunch.target
        found = len(X), X.shape[1], y.nunique()
        if found != (dataset.rows, dataset.features, dataset.classes):
            raise InputError(
                f"{dataset.name}: OpenML's copy has {found[0]} rows, {found[1]} features and {found[2]} classes, not "
                f"{dataset.rows}, {dataset.features} and {dataset.classes}."
            )
        return Raw(X, y, frozenset(), f"openml:{dataset.openml_id}:{bunch.details.get('md5_checksum')}")


class Bundled:
    """The flights."""

    def load(self, dataset: Dataset) -> Raw:
        """From the package."""
        from hebnb.datasets import load_flights

        X, y = load_flights(backend="pandas")
        return Raw(X, y, frozenset(X.columns), "bundled")


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """scikit-learn opens its connections without one."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
