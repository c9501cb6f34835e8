"""Array types, the letters of their axes, and how many pieces of an array are worked on at once.

s rows · c classes · f features · v values (categories) · i parent · j child. Capitals are their numbers: S, C, F, K.
A name ends in its axes where the shape is not obvious from the context.
"""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]

# NumPy works outside the interpreter lock, so threads help where arrays are worked on piece by piece.
THREADS = min(os.cpu_count() or 1, 8)
