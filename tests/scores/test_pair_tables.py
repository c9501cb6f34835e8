"""Tables of pairs: dense, sparse and slow say the same of all rows, silent values included."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.pairs import Caps, PairCounts
from hebnb.counts.single import Counts
from hebnb.scores.directed import Directed
from hebnb.scores.pair_numbers import Cells, PairNumbers
from hebnb.scores.pair_tables import DensePairTables, SparsePairTables, pair_tables
from hebnb.smoothing.smoothers import prior_means, smoother

NO_CAPS = Caps(None, None)


def random_rows(seed, sizes, rows=30, classes=3):
    """Codes of which some are silent and some never occur."""
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(classes, size=rows - classes), np.arange(classes))
    codes = [np.minimum(rng.integers(k + 1, size=rows), rng.integers(k + 1, size=rows)) for k in sizes]
    codes = [np.where(rng.random(rows) < 0.2, k, own) for k, own in zip(sizes, codes, strict=True)]
    features = tuple(Categories(np.arange(k), False) for k in sizes)
    vocabulary = Vocabulary(tuple("abcdef"[: len(sizes)]), features, "ignore")
    weights = rng.choice([0.5, 1.0, 2.0], rows)
    return EncodedRows(vocabulary, Categories(np.arange(classes), False), codes, labels, weights)


def made(rows, rule, used, m, sparse):
    with patch("hebnb.counts.pairs.dense_fits", lambda *_: not sparse):
        counts = PairCounts.of_rows(Counts.of(rows), rows, NO_CAPS)
    directed = Directed.of(counts, used)
    return pair_tables(directed, prior_means(counts, rule), np.where(used, m, np.nan)), counts


def slowly(rows, counts, rule, used, m, asked, i):
    """log P(x_j | y, x_i) of rows, of shape (C, F, rows); NaN where the parent is silent."""
    means, sizes = prior_means(counts, rule), counts.vocabulary.sizes
    found = np.zeros((counts.classes.size, len(sizes), len(asked[0])))
    for row in range(len(asked[0])):
        parent = asked[i][row]
        if parent == sizes[i]:
            found[:, :, row] = np.nan
            continue
        for j in np.flatnonzero(used[i]):
            value = asked[j][row]
            if value == sizes[j] or means[j][value] == 0:
                continue
            for c in range(counts.classes.size):
                here = (rows.labels == c) & (rows.codes[i] == parent) & (rows.codes[j] < sizes[j])
                n = rows.weights[here & (rows.codes[j] == value)].sum()
                share = (n + m[c, i, j] * means[j][value]) / (rows.weights[here].sum() + m[c, i, j])
                found[c, j, row] = math.log(share)
    return found


@given(
    st.integers(0, 10_000),
    st.lists(st.integers(0, 4), min_size=2, max_size=4),
    st.sampled_from(["heb-m", "laplace"]),
    st.sampled_from([0.3, 1.0]),
)
@examples(60)
def test_dense_and_sparse_tables_say_what_the_formula_says(seed, sizes, name, share):
    rows, rule = random_rows(seed, sizes), smoother(name)
    rng = np.random.default_rng(seed)
    used = (rng.random((len(sizes), len(sizes))) <= share) & ~np.eye(len(sizes), dtype=bool)
    m = rng.uniform(0.01, 20, (3, len(sizes), len(sizes)))
    asked = [np.append(rng.integers(k + 1, size=15), k) for k in sizes]  # the last row is silent throughout
    for sparse, kind in ((False, DensePairTables), (True, SparsePairTables)):
        tables, counts = made(rows, rule, used, m, sparse)
        assert isinstance(tables, kind)
        positions = counts.layout.positions(asked)
        for i in range(len(sizes)):
            expected = slowly(rows, counts, rule, used, m, asked, i)
            known = asked[i] < sizes[i]
            children = tables.of_children(i, positions)
            assert_allclose(children[:, :, known], expected[:, :, known], atol=1e-11)
            together = tables.of_parent(i, positions)
            assert_allclose(together[:, known], expected[:, :, known].sum(axis=1), atol=1e-11)
            assert_blocks_are_what_rows_look_up(tables, counts, used, i)


def assert_blocks_are_what_rows_look_up(tables, counts, used, i):
    layout = counts.layout
    for j in np.flatnonzero(used[i]):
        span = layout.span(i)
        block = tables.block(span, np.arange(layout.width)[layout.span(j)])
        assert block.shape == (counts.classes.size, layout.sizes[i], layout.sizes[j])
        for u in range(layout.sizes[i]):
            codes = [np.full(layout.sizes[j], k) for k in layout.sizes]
            codes[i], codes[j] = np.full(layout.sizes[j], u), np.arange(layout.sizes[j])
            looked_up = tables.of_children(i, layout.positions(codes))[:, j]
            assert_allclose(block[:, u], looked_up, atol=1e-11)


@pytest.mark.parametrize("name", ["heb-m", "heb-u", "kt", "te"])
def test_concentrations_are_the_same_from_dense_and_sparse_counts(name):
    rows, rule = random_rows(3, (3, 4, 2, 5), rows=200), smoother(name)
    used = ~np.eye(4, dtype=bool)
    learned = []
    for sparse in (False, True):
        _, counts = made(rows, rule, used, np.ones((3, 4, 4)), sparse)
        for chunk in (1 << 18, 1):  # all parents at once, and one after the other
            with patch("hebnb.scores.directed.CHUNK", chunk):
                learned.append(Directed.of(counts, used).concentrations(rule))
    for other in learned[1:]:
        assert_allclose(other, learned[0], rtol=1e-9)
    assert_array_equal(np.isnan(learned[0]), np.broadcast_to(~used, (3, 4, 4)))


CELLS = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 8)), st.floats(-5, 5), max_size=40
)


@given(CELLS, st.sampled_from([9, 20]))
@examples(80)
def test_numbers_of_pairs_are_those_of_a_dictionary(cells, n_classes):
    """Keys (parent, child, class); silence is the position after the last, 7."""
    lines = np.array(list(cells), dtype=np.intp).reshape(-1, 3)
    given_cells = Cells(lines[:, 2], lines[:, 0], lines[:, 1], np.zeros(len(lines)))
    numbers = PairNumbers.of(given_cells, np.array(list(cells.values()), dtype=float), 7, n_classes)
    distinct = len({key[:2] for key in cells})
    assert numbers.classes_apart == (distinct * n_classes > 4 * len(cells))
    parent, child = np.repeat(np.arange(7), 8), np.tile(np.arange(8), 7)
    asked = np.stack([child, child[::-1]])
    by_class = np.stack(list(numbers.by_class(parent, asked)))
    for c in range(n_classes):
        for way in range(2):
            expected = [cells.get((p, v, c), 0.0) for p, v in zip(parent, asked[way], strict=True)]
            assert_array_equal(by_class[c, way], expected)
    assert_allclose(numbers.summed(parent, asked), by_class.sum(axis=1), atol=1e-12)
    for span in (slice(0, 7), slice(2, 5), slice(3, 3)):
        some = numbers.cells(span)
        keys = zip(some.parent.tolist(), some.child.tolist(), some.class_.tolist(), strict=True)
        found = {key: n for key, n in zip(keys, some.count.tolist(), strict=True) if n}
        assert found == {key: n for key, n in cells.items() if span.start <= key[0] < span.stop and n}
    parents, children, values = numbers.by_pair()
    assert len(parents) == distinct
    for p, v, line in zip(parents.tolist(), children.tolist(), values.tolist(), strict=True):
        assert line == [cells.get((p, v, c), 0.0) for c in range(n_classes)]
