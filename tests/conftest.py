"""Tables of every kind, from the same columns."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported: scikit-learn then runs its array checks too

import numpy as np
import pytest

BACKENDS = ["pandas", "polars", "pyarrow", "numpy"]


def make_table(backend, columns):
    """The columns, a dict of lists, as a table of that library; NumPy gets an object array."""
    if backend == "numpy":
        array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
        for f, values in enumerate(columns.values()):
            array[:, f] = values
        return array
    library = pytest.importorskip(backend)
    return library.table(columns) if backend == "pyarrow" else library.DataFrame(columns)


@pytest.fixture(params=BACKENDS)
def table(request):
    """A function from columns to a table; the test runs once for each library."""
    return lambda columns: make_table(request.param, columns)
