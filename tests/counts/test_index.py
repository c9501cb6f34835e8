"""Places of keys: a dictionary for arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from conftest import examples
from hebnb.counts.index import KeyIndex

# Where there is a line for every possible key, and where keys are hashed; the last of the first kind and what follows.
DENSE, HASHED = [1, 2, 1000, 1 << 16], [(1 << 16) + 1, 10**9, 1 << 62]


def places(keys, asked):
    """The same by a dictionary."""
    place = {key: n for n, key in enumerate(keys)}
    return [place.get(key, -1) for key in asked]


def colliding(n, slot):
    """Keys that all want the same slot of a table for n keys."""
    shift = 64 - int(2 * n).bit_length()
    candidates = np.arange(1, 2_000_000) * 7
    wanted = slot % (1 << (64 - shift))
    found = candidates[KeyIndex._hashed(candidates, shift) == wanted][:n]
    assert len(found) == n
    return found


@given(space=st.sampled_from([*DENSE, *HASHED]), data=st.data())
@examples(150)
def test_places_are_those_of_a_dictionary(space, data):
    some = st.integers(0, space - 1)
    keys = data.draw(st.lists(some, unique=True, max_size=40))
    asked = data.draw(st.lists(st.sampled_from(keys) | some if keys else some, max_size=60))
    found = KeyIndex(np.array(keys, dtype=np.intp), space).places(np.array(asked, dtype=np.intp))
    assert found.tolist() == places(keys, asked)


@pytest.mark.parametrize("slot", [0, 77, -1])
@pytest.mark.parametrize("n", [2, 3, 50, 200])
def test_keys_that_want_the_same_slot(n, slot):
    keys = colliding(n + 20, slot)
    there, absent = keys[:n], keys[n:]
    index = KeyIndex(there, 1 << 40)
    assert_array_equal(index.places(there), np.arange(n))
    assert_array_equal(index.places(absent), -1)
    assert_array_equal(index.places(np.repeat(there[::-1], 2)), np.repeat(np.arange(n)[::-1], 2))


@pytest.mark.parametrize("power", [8, 20, 32, 48, 54])
def test_multiples_of_a_power_of_two(power):
    keys = np.random.default_rng(0).permutation(256) << power
    index = KeyIndex(keys[:200], 256 << power)
    assert_array_equal(index.places(keys), [*range(200), *[-1] * 56])
    assert_array_equal(index.places(keys[1:] - 1), places(keys[:200].tolist(), (keys[1:] - 1).tolist()))


@pytest.mark.parametrize("space", [*DENSE, *HASHED])
def test_no_key_and_one_key(space):
    asked = np.array([[0, space - 1], [0, 0]])
    assert_array_equal(KeyIndex(np.empty(0, dtype=np.intp), space).places(asked), np.full((2, 2), -1))
    for key in {0, space - 1}:
        assert_array_equal(KeyIndex(np.array([key]), space).places(asked), np.where(asked == key, 0, -1))


@pytest.mark.parametrize("space", [500, 10**9])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 3), (4, 1, 5)])
def test_questions_of_any_shape(space, shape):
    keys = np.array([5, 2, 499])
    asked = np.random.default_rng(0).choice([*keys, 0, 7], shape)
    found = KeyIndex(keys, space).places(asked)
    assert found.shape == shape
    assert found.ravel().tolist() == places(keys.tolist(), asked.ravel().tolist())


def test_many_keys():
    rng = np.random.default_rng(0)
    keys = rng.permutation(np.unique(rng.integers(1 << 45, size=100_000)))
    asked = np.concatenate([keys, rng.integers(1 << 45, size=1000)])
    assert_array_equal(KeyIndex(keys, 1 << 45).places(asked), places(keys.tolist(), asked.tolist()))
    packed = KeyIndex(np.arange(100_000)[::-1] * 7, 700_000)  # a table, although keys are large
    assert_array_equal(packed.places(np.array([0, 7, 699_993, 8])), [99_999, 99_998, 0, -1])
