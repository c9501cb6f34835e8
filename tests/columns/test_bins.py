"""Where numbers fall among edges."""

import numpy as np
import pytest

from hebnb.columns.kinds.bins import edges_below


@pytest.mark.parametrize("n_edges", [0, 1, 2, 3, 7, 8, 9, 255, 300])
@pytest.mark.parametrize("n_numbers", [5, 40_000])
def test_edges_below_are_found_as_by_searchsorted(n_edges, n_numbers):
    random = np.random.default_rng(n_edges)
    edges = np.unique(random.normal(size=n_edges).round(2))
    numbers = random.normal(size=n_numbers).round(2)  # many of them are edges
    np.testing.assert_array_equal(edges_below(edges, numbers), np.searchsorted(edges, numbers))
