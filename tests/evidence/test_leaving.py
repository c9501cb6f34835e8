"""What is left without a row, or without a fold, is what counting the other rows gives; alike rows are each row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import examples
from hebnb.evidence.leaving import AlikeRows, EachRow, Folds, NoRow, bucket, by_bucket, grouped
from hebnb.scores.left_out import Rows
from hebnb.smoothing.posterior import class_log_prior

WEIGHTS = st.sampled_from([0.25, 1.0, 1.0, 2.0, 3.5])


def counted(cell, labels, weights, n_cells, n_classes):
    """The weight of every class in every cell, and a last cell that no row is in."""
    count = np.zeros((n_classes, n_cells + 1))
    for v, c, weight in zip(cell, labels, weights, strict=True):
        count[c, v] += weight
    return count


@st.composite
def tables(draw, weights=WEIGHTS):
    """Cells, labels, weights and folds of rows."""
    n_rows = draw(st.integers(2, 24))
    n_cells, n_classes = draw(st.integers(1, 8)), draw(st.integers(1, 3))

    def column(values):
        return np.array(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))

    cell, labels = column(st.integers(0, n_cells - 1)), column(st.integers(0, n_classes - 1))
    return cell, labels, column(weights).astype(float), column(st.integers(0, 2)), (n_cells, n_classes)


def by_row(leaving, cell, count):
    """What is left for every row: its cell's counts, the other cells as frequent, the prior, and all rows."""
    units = leaving.units(cell, count)
    others = leaving.others(units, cell, count)
    assert_array_equal(cell[units.first], units.cell)
    assert_array_equal(units.cell[units.of_row], cell)
    assert_allclose(units.total, units.left.sum(axis=0))
    every = np.arange(len(cell))
    return units.left[:, units.of_row], others[:, units.of_row], leaving.log_prior(every), leaving.n_rows(every)


def others_as_frequent(count, cell, n):
    """The counts of the other cells whose total is between the same powers of two as that of n."""

    def power(total):
        return int(np.floor(np.log2(total))) if total >= 1 else 0

    places = [v for v in range(count.shape[1]) if v != cell and power(count[:, v].sum()) == power(n.sum())]
    return count[:, places].sum(axis=1)


@examples(30)
@given(tables())
def test_every_row_is_left_out_of_all_that_was_counted(case):
    cell, labels, weights, _, (n_cells, n_classes) = case
    count = counted(cell, labels, weights, n_cells, n_classes)
    class_count = np.bincount(labels, weights, n_classes)
    rows = Rows.weighing([cell], labels, weights)
    left, others, log_prior, n_rows = by_row(EachRow(rows, class_count), cell, count)
    for row in range(len(cell)):
        fewer = weights.copy()
        fewer[row] -= min(weights[row], 1.0)
        rest = counted(cell, labels, fewer, n_cells, n_classes)
        assert_allclose(left[:, row], rest[:, cell[row]], atol=1e-12)
        assert_allclose(others[:, row], others_as_frequent(rest, cell[row], rest[:, cell[row]]), atol=1e-9)
        assert_allclose(log_prior[:, row], class_log_prior(np.bincount(labels, fewer, n_classes)))
        assert n_rows[row] == pytest.approx(fewer.sum())


@examples(30)
@given(tables(weights=st.just(1.0)))
def test_alike_rows_are_each_row(case):
    cell, labels, weights, _, (n_cells, n_classes) = case
    count = counted(cell, labels, weights, n_cells, n_classes)
    each = EachRow(Rows.weighing([cell], labels, None), np.bincount(labels, minlength=n_classes).astype(float))
    alike = AlikeRows(labels, np.bincount(labels, minlength=n_classes).astype(float))
    for ours, theirs in zip(by_row(alike, cell, count), by_row(each, cell, count), strict=True):
        assert_allclose(ours, theirs, atol=1e-12)
    assert len(alike.units(cell, count).first) == len({*zip(cell.tolist(), labels.tolist(), strict=True)})


@examples(30)
@given(tables(weights=st.just(1.0)), st.integers(0, 2**30))
def test_rows_that_were_not_counted_are_left_out_of_nothing(case, seed):
    """Where gaps are ignored."""
    cell, labels, weights, _, (n_cells, n_classes) = case
    in_count = np.random.default_rng(seed).random(n_cells) < 0.6
    count = counted(cell, labels, weights, n_cells, n_classes) * np.append(in_count, False)
    each = EachRow(Rows.weighing([cell], labels, None), np.bincount(labels, minlength=n_classes).astype(float))
    for leaving in (each, AlikeRows(labels, np.bincount(labels, minlength=n_classes).astype(float))):
        left, others, _, _ = by_row(leaving, cell, count)
        assert (left >= 0).all()
        assert (others >= 0).all()
        assert_array_equal(left[:, ~in_count[cell]], 0)


@examples(30)
@given(tables())
def test_a_fold_is_left_out_of_all_that_was_counted(case):
    cell, labels, weights, fold, (n_cells, n_classes) = case
    count = counted(cell, labels, weights, n_cells, n_classes)
    leaving = Folds.of(fold, labels, weights, 3, np.bincount(labels, weights, n_classes))
    left, others, log_prior, n_rows = by_row(leaving, cell, count)
    for row in range(len(cell)):
        kept = fold != fold[row]
        rest = counted(cell[kept], labels[kept], weights[kept], n_cells, n_classes)
        assert_allclose(left[:, row], rest[:, cell[row]], atol=1e-9)
        assert_allclose(others[:, row], others_as_frequent(rest, cell[row], rest[:, cell[row]]), atol=1e-9)
        assert_allclose(log_prior[:, row], class_log_prior(rest.sum(axis=1)), atol=1e-9)
        assert n_rows[row] == pytest.approx(weights[kept].sum(), abs=1e-9)


@examples(30)
@given(tables())
def test_some_folds_are_left_out_of_the_rows_of_all(case):
    """Rows of other folds are in the counts and not among the rows."""
    cell, labels, weights, fold, (n_cells, n_classes) = case
    here = np.flatnonzero(fold < 2)
    if not len(here):
        return
    count = counted(cell, labels, weights, n_cells, n_classes)
    class_count = np.bincount(labels, weights, n_classes)
    whole = by_row(Folds.of(fold, labels, weights, 3, class_count), cell, count)
    some = by_row(Folds.of(fold[here], labels[here], weights[here], 2, class_count), cell[here], count)
    for ours, theirs in zip(some, whole, strict=True):
        assert_allclose(ours, theirs[..., here], atol=1e-9)


@examples(30)
@given(tables())
def test_new_rows_leave_everything(case):
    cell, labels, weights, _, (n_cells, n_classes) = case
    count = counted(cell, labels, weights, n_cells, n_classes)
    class_count = np.bincount(labels, weights, n_classes)
    asked = np.append(cell, -1)  # a cell that no row was counted in
    left, others, log_prior, n_rows = by_row(NoRow(class_count), asked, count)
    assert_array_equal(left, count[:, asked])
    assert_array_equal(log_prior, np.repeat(class_log_prior(class_count)[:, np.newaxis], len(asked), axis=1))
    assert_array_equal(n_rows, class_count.sum())
    for row, own in enumerate(asked.tolist()):
        place = own % count.shape[1]
        assert_allclose(others[:, row], others_as_frequent(count, place, count[:, place]), atol=1e-9)


@given(st.floats(0, 1e15))
def test_a_bucket_is_a_power_of_two(rows):
    (found,) = bucket(np.array([rows]))
    assert found >= 0
    rounding = 1 + 1e-6
    assert rows < 2.0 ** (found + 1) * rounding
    assert 2.0**found <= rows * rounding or found == 0


def test_powers_of_two_begin_a_bucket():
    powers = 2.0 ** np.arange(60)
    assert_array_equal(bucket(powers), np.arange(60))
    assert_array_equal(bucket(powers[1:16] - 0.5), np.arange(15))


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 300)), max_size=30))
def test_buckets_hold_all_rows(cells):
    count = np.array(cells, dtype=float).reshape(-1, 2).T
    found = by_bucket(count)
    assert_array_equal(found.sum(axis=1), count.sum(axis=1))
    for place in range(14):
        own = bucket(count.sum(axis=0)) == place
        assert_array_equal(found[:, place], count[:, own].sum(axis=1))


SOME_KEYS = st.lists(st.integers(0, 200), min_size=1, max_size=60).map(sorted) | st.lists(
    st.integers(0, 200) | st.integers(0, 2**59), min_size=1, max_size=60
)


@given(SOME_KEYS, st.sampled_from([1, 10_000, 2**58]))
def test_groups_are_those_of_unique(keys, room):
    """Whether it counts, sorts, or finds them sorted, and however many bits they have."""
    key = np.array(keys)
    of_row, first, distinct = grouped(key, max(keys) + room)
    assert_array_equal(distinct, np.unique(key))
    assert_array_equal(distinct[of_row], key)
    assert_array_equal(key[first], distinct)
