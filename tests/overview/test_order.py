"""Whether the order of rows tells their class."""

import numpy as np

from hebnb.overview.order import are_sorted


def test_sorted_rows_are_noticed_and_shuffled_ones_are_not():
    random = np.random.default_rng(0)
    shuffled = [are_sorted(random.integers(0, 3, 500)) for _ in range(200)]
    assert not any(shuffled)
    assert are_sorted(np.sort(random.integers(0, 3, 500)))
    drifting = random.random(5000) < np.repeat(np.linspace(0.1, 0.9, 10), 500)
    assert are_sorted(drifting.astype(int))
