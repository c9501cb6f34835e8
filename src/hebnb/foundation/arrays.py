"""Array types, the letters of their axes, and how many pieces of an array are worked on at once.

s rows · c classes · f features · v values (categories) · i parent · j child. Capitals are their numbers: S, C, F, K.
A name ends in its axes where the shape is not obvious from the context.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
Piece = TypeVar("Piece")
Made = TypeVar("Made")

# NumPy works outside the interpreter lock, so threads help where arrays are worked on piece by piece.
THREADS = min(os.cpu_count() or 1, 8)

# Numbers computed at a time; more where rows are so wide that a block would have few of them, since a block costs
# something for every column.
_BLOCK_NUMBERS = 1 << 19
_WIDE_BLOCK_NUMBERS = 1 << 21
# Products of matrices with fewer rows than this are over before a second thread of BLAS has woken up. On a machine that
# is busy with other things, threads that wait for each other can even take ten times as long as one.
_FEW_ROWS = 64


def in_threads(function: Callable[[Piece], Made], pieces: Iterable[Piece]) -> list[Made]:
    """What a function makes of every piece, several at a time.

    Examples
    --------
    >>> in_threads(np.sum, [np.arange(3), np.arange(5)])
    [np.int64(3), np.int64(10)]
    """
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(function, pieces))


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


def blas_threads_for(rows: int) -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread if matrices have few rows, and as many as it likes if not."""
    return one_blas_thread() if rows < _FEW_ROWS else nullcontext()


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def blocks(n_rows: int, numbers_a_row: int) -> list[slice]:
    """Runs of rows that are worked on together, so that what they need stays small."""
    numbers = max(numbers_a_row, 1)
    size = max(64, min(256, _WIDE_BLOCK_NUMBERS // numbers), _BLOCK_NUMBERS // numbers)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
