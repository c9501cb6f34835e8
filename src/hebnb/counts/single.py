"""Sufficient statistics: how often every category occurred with every class. Frozen values that add."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, cast

import numpy as np
from scipy.sparse import csr_array

from hebnb.columns.kinds import Categories, MissingPolicy
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.counts.lines import Lines
from hebnb.errors import InputError, ParameterError
from hebnb.foundation.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

# Categories in rows and classes in columns (v × c), so that what a row of data looks up lies together.
CountTable: TypeAlias = "FloatArray | csr_array[np.float64]"

# A table with at most this many cells, or this many per non-zero one, is held dense.
_SMALL_TABLE = 1 << 16
_DENSE_CELLS_PER_NONZERO = 4
# The largest share of a count that is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of classes, and of categories with classes for every feature.

    ``a + b`` is what counting the rows of both at once gives, whatever categories and classes each has seen: it is
    the whole of a second batch, a second file or a second machine. ``a - b`` is what is left without rows that were
    counted: a category or class whose last row is gone is gone too. ``a * 0.99`` lets all rows count that much less.

    Parameters
    ----------
    classes : Categories
        Class labels in sorted order.
    class_count : array of shape (C,)
        Weight of the rows of each class.
    vocabulary : Vocabulary
        What the codes of each feature mean.
    tables : one (K, C) table a feature
        Dense, or a CSR array where most cells are zero.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> morning = NaiveBayes().fit([["red"], ["blue"]], ["no", "yes"]).counts_
    >>> evening = NaiveBayes().fit([["red"], ["green"]], ["no", "no"]).counts_
    >>> both = morning + evening
    >>> both.vocabulary.features[0].labels
    array(['blue', 'green', 'red'], dtype=object)
    >>> both.tables[0]
    array([[0., 1.],
           [1., 0.],
           [2., 0.]])
    >>> (both - evening).tables[0]
    array([[0., 1.],
           [1., 0.]])
    >>> (both * 0.5).class_count
    array([1.5, 0.5])
    """

    classes: Categories
    class_count: FloatArray
    vocabulary: Vocabulary
    tables: tuple[CountTable, ...]
    # How tables call what is counted.
    sort: ClassVar[str] = "single"

    @classmethod
    def of(cls, rows: EncodedRows) -> Counts:
        """Count rows."""
        n_classes = rows.classes.size
        tables = tuple(
            tabulate(column, rows.labels, (feature.size, n_classes), rows.weights)
            for column, feature in zip(rows.codes, rows.vocabulary.features, strict=True)
        )
        class_count = np.bincount(rows.labels, rows.weights, n_classes).astype(float)
        return Counts(rows.classes, class_count, rows.vocabulary, tables)

    @cached_property
    def marginal(self) -> tuple[FloatArray, ...]:
        """For every feature, the count of each category over all classes."""
        return tuple(np.asarray(table @ np.ones(table.shape[1])) for table in self.tables)

    @cached_property
    def totals(self) -> FloatArray:
        """The weight of the rows of each class that have a known value of each feature, of shape (C, F)."""
        return np.stack([np.asarray(table.T @ np.ones(table.shape[0])) for table in self.tables], axis=1)

    @property
    def sizes(self) -> FloatArray:
        """K, the number of categories of every feature."""
        return self.vocabulary.sizes.astype(float)

    def to_arrow(self) -> pa.Table:
        """The counts as an Arrow table, with a line for every cell and class that occurs.

        Its columns are ``feature`` and ``value``, then ``feature_2``, ``value_2`` and so on where cells are of several
        columns, ``class`` and ``count``. Types, edges of bins, trees and what a model chose are in the metadata of the
        schema.

        Returns
        -------
        pyarrow.Table

        Examples
        --------
        >>> from hebnb import NaiveBayes
        >>> table = NaiveBayes().count([["red"], ["blue"], ["red"]], ["no", "yes", "no"]).to_arrow()
        >>> table.to_pylist()[-1]
        {'feature': '0', 'value': 'red', 'class': 'no', 'count': 2.0}
        """
        from hebnb.counts.arrow import table_of

        return table_of(self)

    @staticmethod
    def from_arrow(
        table: Any,
        *,
        types: Mapping[str, str] | None = None,
        bin_edges: Mapping[str, Sequence[float]] | None = None,
        missing: MissingPolicy = "category",
    ) -> Counts:
        """The counts in an Arrow table, made by ``to_arrow`` or by a query of your own.

        Nothing in the table is executed, and everything is checked. A table that ``to_arrow`` made needs no further
        argument.

        Parameters
        ----------
        table : pyarrow.Table, or what PyArrow makes one of
            A line counts the rows of a ``class`` whose column ``feature`` has a ``value``; null is a gap. Lines of two
            columns have ``feature_2`` and ``value_2`` too. Lines without a feature count all rows of a class; they may
            be left out unless gaps are. Lines that are alike are added up.
        types : dict of column to {"text", "integer", "number", "truth"}, optional
            What the values of a column are; by default text.
        bin_edges : dict of column to list of numbers, optional
            Columns that are cut: the value is how many of these edges are below the number.
        missing : {"category", "ignore", "error"}, default="category"
            What a gap is, as for the classifiers.

        Returns
        -------
        Counts

        Examples
        --------
        >>> import pyarrow as pa
        >>> from hebnb import Counts, NaiveBayes
        >>> lines = {"feature": ["colour"] * 2, "value": ["red", "blue"], "class": ["no", "yes"], "count": [2, 1]}
        >>> NaiveBayes().fit_counts(Counts.from_arrow(pa.table(lines))).class_count_
        array([2., 1.])
        """
        from hebnb.counts.arrow_reading import counts_of_table

        return counts_of_table(table, types, bin_edges, missing)

    def further_lines(self) -> Iterator[Lines]:
        """What was counted besides classes and single columns."""
        return iter(())

    def described(self) -> dict[str, Any]:
        """What JSON has to say of that."""
        return {}

    @classmethod
    def of_lines(cls, single: Counts, further: Mapping[tuple[int, ...], Lines], described: Mapping[str, Any]) -> Counts:
        """The counts of these lines besides those of single columns; a ValueError says what is wrong with them."""
        if further:
            raise ValueError("cells of several columns")
        return single

    def with_classes(self, classes: Categories) -> Counts:
        """The same counts with room for classes that have not occurred."""
        return self._widen(self.vocabulary, self.classes | classes)

    def __add__(self, other: Counts) -> Counts:
        if self.vocabulary.names != other.vocabulary.names:
            raise InputError(
                "Counts of different columns cannot be added.", "Count the same columns in the same order."
            )
        vocabulary, classes = self.vocabulary | other.vocabulary, self.classes | other.classes
        ours, theirs = self._widen(vocabulary, classes), other._widen(vocabulary, classes)
        return Counts(
            classes,
            ours.class_count + theirs.class_count,
            vocabulary,
            tuple(_add(a, b) for a, b in zip(ours.tables, theirs.tables, strict=True)),
        )

    def __sub__(self, other: Counts) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        # The sum has the same cells, and tells how much of a difference may be rounding.
        rest, both = self + other._times(-1.0), self + other
        return cast("Self", rest._settled(both)._left(self))

    def __mul__(self, times: float) -> Self:
        if isinstance(times, bool) or not isinstance(times, Real) or not 0 < float(times) < np.inf:
            raise ParameterError(f"Counts cannot be multiplied by {times!r}.", "Use a positive number, such as 0.99.")
        return cast("Self", self._times(float(times))._left(self))

    __rmul__ = __mul__

    def _times(self, times: float) -> Counts:
        """All counts, so many times."""
        tables = tuple(times * table for table in self.tables)
        return replace(self, class_count=times * self.class_count, tables=tables)

    def _settled(self, both: Counts) -> Counts:
        """A difference without the dust of rounding; a complaint if more was taken back than there was.

        ``both`` are the counts from which some were taken, and those that were taken, together.
        """
        class_count = rest_of(self.class_count, both.class_count, lambda at: f"class {self._label(at)}")
        tables = tuple(
            self._settled_table(f, own, total)
            for f, (own, total) in enumerate(zip(self.tables, both.tables, strict=True))
        )
        return replace(self, class_count=class_count, tables=tables)

    def _settled_table(self, f: int, table: CountTable, both: CountTable) -> CountTable:
        value, class_, count = nonzero_cells(table)
        cells = both if isinstance(both, csr_array) else np.asarray(both)
        total = np.asarray(cells[value, class_]).ravel()
        rest = rest_of(count, total, lambda at: f"{self._named([f], [value[at]])} in class {self._label(class_[at])}")
        return compact(csr_array((rest, (value, class_)), shape=table.shape))

    def _named(self, columns: Sequence[int], codes: Sequence[int]) -> str:
        """Values of some columns, in a message."""
        vocabulary = self.vocabulary
        texts = [[*vocabulary.features[f].texts, None][code] for f, code in zip(columns, codes, strict=True)]
        shown = ["a gap" if text is None else repr(text) for text in texts]
        named = [f"{text} in column {vocabulary.names[f]!r}" for f, text in zip(columns, shown, strict=True)]
        return " with ".join(named)

    def _label(self, class_: int) -> str:
        return repr(self.classes.values.tolist()[class_])

    def _left(self, before: Counts) -> Counts:
        """The counts without the categories and classes whose last row is gone; ``before`` is when they had some."""
        had = np.zeros(self.classes.size)
        had[before.classes.codes_in(self.classes)] = before.class_count
        kept = np.flatnonzero((self.class_count > 0) | (had == 0))
        if not self.class_count.any():
            raise InputError("No row would be left of the counts.", "Take back fewer rows.")
        classes = Categories(self.classes.values[kept], missing=False)
        vocabulary = self.vocabulary.with_rows(self.marginal)
        same = vocabulary.sizes.tolist() == self.vocabulary.sizes.tolist() and len(kept) == self.classes.size
        return self if same else self._narrow(vocabulary, classes)

    def _narrow(self, vocabulary: Vocabulary, classes: Categories) -> Counts:
        """The same counts without categories and classes that have none."""
        columns = classes.codes_in(self.classes)
        tables = tuple(
            compact(table[new.codes_in(old)][:, columns])
            for table, old, new in zip(self.tables, self.vocabulary.features, vocabulary.features, strict=True)
        )
        return Counts(classes, self.class_count[columns], vocabulary, tables)

    def _widen(self, vocabulary: Vocabulary, classes: Categories) -> Counts:
        columns = self.classes.codes_in(classes)
        class_count = np.zeros(classes.size)
        class_count[columns] = self.class_count
        tables = tuple(
            _place(table, old.codes_in(new), columns, (new.size, classes.size))
            for table, old, new in zip(self.tables, self.vocabulary.features, vocabulary.features, strict=True)
        )
        return Counts(classes, class_count, vocabulary, tables)


def rest_of(rest: FloatArray, both: FloatArray, named: Callable[[int], str]) -> FloatArray:
    """What is left of counts, without the dust of rounding; a complaint, by name, where more was taken than there was.

    Examples
    --------
    >>> rest_of(np.array([0.1 + 0.2 - 0.3, 2.0]), np.array([0.6, 2.0]), str)
    array([0., 2.])
    """
    dust = np.abs(rest) <= _ROUNDING * both
    lacking = np.flatnonzero((rest < 0) & ~dust)
    if len(lacking):
        at = int(lacking[0])
        taken, had = (both[at] - rest[at]) / 2, (both[at] + rest[at]) / 2
        raise InputError(
            f"Rows that were not counted cannot be taken back: {named(at)} was counted {had:,.6g} times, and "
            f"{taken:,.6g} would be taken.",
            "Take back rows as they were counted, with the same values, labels and weights.",
        )
    return np.where(dust, 0.0, rest)


def tabulate(codes: IntArray, classes: IntArray, shape: tuple[int, int], weights: FloatArray | None) -> CountTable:
    """The weight of every (category, class); silent codes, K, count nowhere."""
    n_values, n_classes = shape
    if _dense_fits((n_values + 1, n_classes), len(codes)):
        cell = codes * n_classes
        cell += classes
        table = np.bincount(cell, weights, (n_values + 1) * n_classes).reshape(-1, n_classes)
        return compact(table[:n_values].astype(float))
    weights = np.ones(len(codes)) if weights is None else weights
    return compact(csr_array((weights, (codes, classes)), shape=(n_values + 1, n_classes))[:n_values])


def compact(table: CountTable) -> CountTable:
    """Dense or sparse, whichever the table's own numbers call for."""
    if isinstance(table, csr_array):
        return table.toarray() if _dense_fits(table.shape, table.nnz) else table
    return table if _dense_fits(table.shape, int(np.count_nonzero(table))) else csr_array(table)


def nonzero_cells(table: CountTable) -> tuple[IntArray, IntArray, FloatArray]:
    """Category, class and count of every cell that is not zero."""
    if isinstance(table, csr_array):
        cells = table.tocoo()
        return cells.row.astype(np.intp), cells.col.astype(np.intp), cells.data
    flat = table.ravel()
    at = np.flatnonzero(flat != 0)  # of booleans: several times faster
    value = at // table.shape[1]
    return value, at - value * table.shape[1], flat[at]


def dense(table: CountTable) -> FloatArray:
    """The table as an ordinary array."""
    return table.toarray() if isinstance(table, csr_array) else table


def counts_at(table: CountTable, codes: IntArray) -> FloatArray:
    """The counts of the classes with these codes, of shape (codes, C); zero for the silent one."""
    known = np.flatnonzero(codes < table.shape[0])
    found = np.zeros((len(codes), table.shape[1]))
    found[known] = dense(table[codes[known]])
    return found


def _dense_fits(shape: tuple[int, int], nonzero: int) -> bool:
    return shape[0] * shape[1] <= max(_SMALL_TABLE, _DENSE_CELLS_PER_NONZERO * nonzero)


def _add(a: CountTable, b: CountTable) -> CountTable:
    if isinstance(a, csr_array) and isinstance(b, csr_array):
        return compact(a + b)
    return compact(dense(a) + dense(b))


def _place(table: CountTable, rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> CountTable:
    """The table's cells at other rows and columns of a larger one."""
    if isinstance(table, csr_array) or not _dense_fits(shape, int(np.count_nonzero(table))):
        value, class_, count = nonzero_cells(table)
        return csr_array((count, (rows[value], columns[class_])), shape=shape)
    placed = np.zeros(shape)
    placed[np.ix_(rows, columns)] = table
    return placed
