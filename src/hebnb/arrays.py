"""Array types, and the letters of their axes.

s rows · c classes · f features · v values (categories) · i parent · j child. Capitals are their numbers: S, C, F, K.
A name ends in its axes where the shape is not obvious from the context.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
