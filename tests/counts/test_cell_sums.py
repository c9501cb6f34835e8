"""Sums of cells are what counting all rows at once gives, however rows come."""

from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hebnb.counts.cell_sums import CellSums, Sums


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("parts", [1, 2, 7, 40])
def test_batches_add_up_to_the_whole(parts, weighted, dense):
    random = np.random.default_rng(parts)
    key, weights = random.integers(0, 90, 700), random.integers(0, 3, 700).astype(float) if weighted else None
    sums = Sums()
    with patch("hebnb.counts.cell_sums._MOST_DENSE", 100 if dense else 10):
        for rows in np.array_split(np.arange(700), parts):
            sums.add([CellSums.of(key[rows], None if weights is None else weights[rows], 100)])
        (total,) = sums.total()
    keys, count = total.occurring()
    expected = np.bincount(key, weights, 100)
    assert (total.keys is None) is dense
    assert np.all(np.diff(keys) > 0)
    found = np.zeros(100)
    found[keys] = count
    assert_allclose(found, expected)


def test_what_is_held_stays_in_proportion_to_what_occurs():
    """A thousand batches of the same ten cells are not a thousand times ten."""
    sums = Sums()
    for _ in range(1_000):
        sums.add([CellSums.of(np.arange(10) * 10**9, None, 1e12)])
        assert sum(len(part.count) for part in sums._parts[0]) <= 30
    keys, count = sums.total()[0].occurring()
    assert_array_equal(keys, np.arange(10) * 10**9)
    assert_array_equal(count, np.full(10, 1_000.0))


def test_no_batch_has_no_sums():
    assert Sums().total() == []
