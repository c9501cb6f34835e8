"""A bounded sample of encoded training rows, for what cannot be learned from counts alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.encoded import EncodedRows
from hebnb.foundation.arrays import FloatArray, IntArray

# The largest share of a weight that is rounding, and the least that counts.
_ROUNDING, _FADED = 1e-9, 1e-3


@dataclass(frozen=True, eq=False)
class Sample:
    """Encoded rows with their classes, and how many rows they stand for. Samples of batches add.

    Every row carries a random key. Thinning keeps the rows of lowest key in each class, so a sample of all batches is
    drawn like one of all rows at once.

    Parameters
    ----------
    vocabulary : Vocabulary
        What the codes mean.
    classes : Categories
        What the labels mean.
    codes : tuple of F arrays of shape (S,)
    labels : array of shape (S,)
    weights : array of shape (S,)
        How often every row counts.
    keys : array of shape (S,)
        Random numbers between 0 and 1.
    seen : array of shape (C,)
        Number of rows of each class that the sample was drawn from.
    fade : array of shape (S,)
        What is left of every row's weight since it came.
    """

    vocabulary: Vocabulary
    classes: Categories
    codes: tuple[IntArray, ...]
    labels: IntArray
    weights: FloatArray
    keys: FloatArray
    seen: IntArray
    fade: FloatArray

    @classmethod
    def of(cls, rows: EncodedRows, random: np.random.RandomState) -> Sample:
        """All rows of a batch."""
        return cls(
            rows.vocabulary,
            rows.classes,
            tuple(rows.codes),
            rows.labels,
            np.ones(len(rows)) if rows.weights is None else rows.weights,
            random.random_sample(len(rows)),
            np.bincount(rows.labels, minlength=rows.classes.size),
            np.ones(len(rows)),
        )

    def __len__(self) -> int:
        return len(self.labels)

    def thinned(self, limit: int) -> Sample:
        """At most ``limit`` rows: one of every class, as far as they reach, and the rest in proportion."""
        if len(self) <= limit:
            return self
        quota = np.zeros_like(self.seen)
        quota[np.argsort(-self.seen, kind="stable")[:limit]] = 1
        quota += (limit - quota.sum()) * self.seen // self.seen.sum()
        order = np.lexsort((self.keys, self.labels))
        held = np.bincount(self.labels, minlength=self.classes.size)
        rank = np.arange(len(self)) - np.repeat(np.cumsum(held) - held, held)
        kept = np.sort(order[rank < np.repeat(quota, held)])
        return self._rows(kept)

    @property
    def representative_weights(self) -> FloatArray:
        """The weights of the rows, corrected where a class is more or less sampled than the others."""
        held = np.bincount(self.labels, minlength=self.classes.size)
        share = (self.seen / self.seen.sum()) / np.maximum(held / len(self), 1 / len(self))
        return self.weights * share[self.labels] if len(self) < self.seen.sum() else self.weights

    def __add__(self, other: Sample) -> Sample:
        vocabulary, classes = self.vocabulary | other.vocabulary, self.classes | other.classes
        ours, theirs = self._recoded(vocabulary, classes), other._recoded(vocabulary, classes)
        return Sample(
            vocabulary,
            classes,
            tuple(np.concatenate(pair) for pair in zip(ours.codes, theirs.codes, strict=True)),
            np.concatenate([ours.labels, theirs.labels]),
            np.concatenate([ours.weights, theirs.weights]),
            np.concatenate([ours.keys, theirs.keys]),
            ours.seen + theirs.seen,
            np.concatenate([ours.fade, theirs.fade]),
        )

    def faded(self, decay: float) -> Sample:
        """The same rows, which count less. Those that hardly count any more make room for others."""
        held = np.bincount(self.labels, minlength=self.classes.size)
        fade = decay * self.fade
        left = replace(self, weights=decay * self.weights, fade=fade)._rows(np.flatnonzero(fade >= _FADED))
        share = np.bincount(left.labels, minlength=self.classes.size) / np.maximum(held, 1)
        return replace(left, seen=np.rint(self.seen * share).astype(self.seen.dtype))

    def without(self, rows: EncodedRows) -> Sample:
        """The sample without these rows, which have its vocabulary, as far as they are in it.

        Rows with the same codes and class are the same, and of these the ones that count as much go first. Where the
        sample is of some rows only, one that is alike goes for a row that may not have been drawn.
        """
        lines = [
            np.concatenate(pair) for pair in zip((*self.codes, self.labels), (*rows.codes, rows.labels), strict=True)
        ]
        asked = np.ones(len(rows)) if rows.weights is None else rows.weights
        _, counts_as = np.unique(np.concatenate([self.weights, asked]), return_inverse=True)
        left = self.weights
        for alike in ([*lines, counts_as], lines):
            _, group = np.unique(np.stack(alike, axis=1), axis=0, return_inverse=True)
            own, of_asked = np.split(group.reshape(-1), [len(self)])
            size = int(group.max()) + 1
            taken = np.bincount(own, self.weights - left, size)
            left = _left(left, own, np.bincount(of_asked, asked, size).astype(float) - taken)
        left = np.where(left <= _ROUNDING * self.weights, 0.0, left)
        seen = np.maximum(self.seen - np.bincount(rows.labels, minlength=self.classes.size), 0)
        return replace(self, weights=left, seen=seen)._rows(np.flatnonzero(left))

    def detached(self) -> Sample:
        """The same rows in memory of their own."""
        return replace(self, codes=tuple(column.copy() for column in self.codes), weights=self.weights.copy())

    def with_classes(self, classes: Categories) -> Sample:
        """The same rows with room for classes that have not occurred."""
        return self._recoded(self.vocabulary, self.classes | classes)

    def narrowed(self, vocabulary: Vocabulary, classes: Categories) -> Sample:
        """The same rows under a vocabulary without categories and classes that no row has."""
        codes = []
        for column, old, new in zip(self.codes, self.vocabulary.features, vocabulary.features, strict=True):
            place = np.full(old.size + 1, new.size)
            place[new.codes_in(old)] = np.arange(new.size)
            codes.append(place[column])
        kept = classes.codes_in(self.classes)
        label = np.zeros(self.classes.size, dtype=np.intp)
        label[kept] = np.arange(classes.size)
        return replace(
            self,
            vocabulary=vocabulary,
            classes=classes,
            codes=tuple(codes),
            labels=label[self.labels],
            seen=self.seen[kept],
        )

    def _recoded(self, vocabulary: Vocabulary, classes: Categories) -> Sample:
        codes = tuple(
            np.append(old.codes_in(new), new.size)[column]
            for column, old, new in zip(self.codes, self.vocabulary.features, vocabulary.features, strict=True)
        )
        places = self.classes.codes_in(classes)
        seen = np.zeros(classes.size, dtype=self.seen.dtype)
        seen[places] = self.seen
        return replace(self, vocabulary=vocabulary, classes=classes, codes=codes, labels=places[self.labels], seen=seen)

    def _rows(self, kept: IntArray) -> Sample:
        return replace(
            self,
            codes=tuple(column[kept] for column in self.codes),
            labels=self.labels[kept],
            weights=self.weights[kept],
            keys=self.keys[kept],
            fade=self.fade[kept],
        )


def _left(weights: FloatArray, group: IntArray, due: FloatArray) -> FloatArray:
    """What is left of rows' weights when so much of every group is taken, from the first of its rows on."""
    order = np.argsort(group, kind="stable")
    own, weight = group[order], weights[order]
    before = np.cumsum(weight) - weight
    first = np.flatnonzero(np.diff(own, prepend=-1))
    before -= np.repeat(before[first], np.diff(first, append=len(own)))
    left = np.empty(len(weights))
    left[order] = weight - np.clip(due[own] - before, 0, weight)
    return left
