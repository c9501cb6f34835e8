"""Which words of a text tell something about the class, beyond what chance would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csc_array

from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.smoothing.strength import CountLikelihood, Terms

# A word is tried if at least so many rows have it, and as many do not.
_LEAST_ROWS = 5
# Most words that are tried, the most frequent, and most counts of words and classes.
_MOST_TRIED, _MOST_COUNTS = 10_000, 10_000_000
# Words share a column if at most this share of the rows with the rarer has the other too.
_MOST_TOGETHER = 0.05
# How far the classes of rows with a word may be from those of all rows: a Dirichlet prior worth one row.
_STRENGTH = 1.0


def telling_words(
    codes: IntArray, texts: Sequence[Sequence[str]], labels: IntArray | None, most: int
) -> tuple[str, ...]:
    """Words whose presence tells something about the class, the most telling first; without labels, the most frequent.

    The classes of the rows that have a word may be draws from the shares of all rows, or from shares of their own. How
    much more likely the latter makes them, whatever these shares are, is the word's evidence. Under the former it
    exceeds log x with a probability of at most 1/x (by Markov's inequality, however uneven the classes are). A word is
    tried by the rows that have it and by those that do not, so of M words one has to exceed log 2M. Of words that
    the same texts have, the first in the alphabet stands for all.

    Parameters
    ----------
    codes : array of shape (S,)
        Which text each row has; −1 for none.
    texts : list of lists of str
        The words of every different text.
    labels : array of shape (S,), optional
        The classes of the rows, as numbers.
    most : int
        At most so many words.

    Examples
    --------
    >>> texts = [["red", "wine"], ["white", "wine"], ["wine"]]
    >>> rows = np.repeat([0, 1, 2], 20)
    >>> telling_words(rows, texts, np.repeat([0, 1, 1], 20), 50)
    ('red', 'white')
    >>> telling_words(rows, texts, None, 1)
    ('red',)
    """
    here = codes >= 0
    words, has = _incidence(texts)
    rows = np.bincount(codes[here], minlength=len(texts))
    n_rows = has.T @ rows
    tried = np.flatnonzero((n_rows >= _LEAST_ROWS) & (here.sum() - n_rows >= _LEAST_ROWS))
    tried = tried[~_repeats(has[:, tried])]
    if not len(tried) or not most:
        return ()
    tried = tried[np.argsort(-n_rows[tried], kind="stable")]
    if labels is None:
        return tuple(words[w] for w in tried[:most])
    classes, label = np.unique(labels[here], return_inverse=True)
    tried = tried[: min(_MOST_TRIED, max(1, _MOST_COUNTS // len(classes)))]
    ones = np.ones(len(label))
    of_text = coo_array((ones, (codes[here], label)), shape=(len(texts), len(classes))).tocsr()
    count = (has[:, tried].T @ of_text).toarray()
    class_count = np.bincount(label).astype(float)
    share = class_count / class_count.sum()
    found = np.maximum(_evidence(count, share), _evidence(class_count - count, share))
    best = np.lexsort([tried, -found])
    return tuple(words[tried[n]] for n in best[:most] if found[n] > np.log(2 * len(tried)))


def word_columns(codes: IntArray, texts: Sequence[Sequence[str]], words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Words in as few columns as hold them: those that hardly ever are in one text share a column.

    So varieties of wine become one column with a category each, as somebody would have written them down, rather than a
    column each of yes and no, which depend on one another. Every word goes to the first column that has room.

    Parameters
    ----------
    codes, texts
        As for ``telling_words``.
    words : list of str
        The most important first.

    Examples
    --------
    >>> texts = [["old", "merlot"], ["old", "riesling"], ["riesling"]]
    >>> word_columns(np.array([0, 1, 2]), texts, ["riesling", "old", "merlot"])
    (('riesling', 'merlot'), ('old',))
    """
    rows = np.bincount(codes[codes >= 0], minlength=len(texts))
    has = np.array([[word in own for word in words] for own in map(set, texts)], dtype=float)
    has = has.reshape(len(texts), len(words))
    both = (has.T * rows) @ has
    fits = both <= _MOST_TOGETHER * np.minimum.outer(both.diagonal(), both.diagonal())
    columns: list[list[int]] = []
    for w in range(len(words)):
        home = next((column for column in columns if fits[w, column].all()), None)
        if home is None:
            columns.append([w])
        else:
            home.append(w)
    return tuple(tuple(words[w] for w in column) for column in columns)


def _incidence(texts: Sequence[Sequence[str]]) -> tuple[list[str], csc_array]:
    """All words in their order, and which texts have them, of shape (texts, words)."""
    own = [sorted(set(words)) for words in texts]
    words = sorted(set().union(*own))
    number = {word: n for n, word in enumerate(words)}
    columns = np.array([number[word] for text in own for word in text], dtype=np.intp)
    rows = np.repeat(np.arange(len(own)), list(map(len, own)))
    return words, csc_array((np.ones(len(rows)), (rows, columns)), shape=(len(own), len(words)))


def _repeats(has: csc_array) -> BoolArray:
    """Words that are in the same texts as one before them."""
    seen: set[bytes] = set()
    repeats = np.zeros(has.shape[1], dtype=bool)
    has.sort_indices()
    for w, (start, end) in enumerate(zip(has.indptr[:-1], has.indptr[1:], strict=True)):
        texts = has.indices[start:end].tobytes()
        repeats[w] = texts in seen
        seen.add(texts)
    return repeats


def _evidence(count: FloatArray, share: FloatArray) -> FloatArray:
    """How much more likely counts of classes, a line a word, are if their shares are their own."""
    n_words = len(count)
    word, label = np.nonzero(count)
    cells = Terms(word, share[label], count[word, label], np.ones(len(word)), n_words)
    total = count.sum(axis=1)
    totals = Terms(np.arange(n_words), np.ones(n_words), total, np.ones(n_words), n_words)
    own = CountLikelihood(cells, totals).log_likelihood(np.full(n_words, _STRENGTH))
    return own - count @ np.log(share)
