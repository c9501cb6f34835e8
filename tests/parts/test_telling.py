"""Which words are chosen: those that tell something, and hardly ever one that does not."""

from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from hebnb.parts.telling import _evidence, telling_words, word_columns


def step_by_step(counts, share):
    """Rows one after the other: each class is foretold by those before it and one imaginary row."""
    seen, total = np.zeros(len(counts)), 0.0
    for c, count in enumerate(counts):
        for _ in range(int(count)):
            total += log((seen[c] + share[c]) / (seen.sum() + 1)) - log(share[c])
            seen[c] += 1
    return total


def test_evidence_is_that_of_rows_foretold_one_by_one():
    random = np.random.default_rng(0)
    for n_classes in (2, 3, 7):
        share = random.dirichlet(np.ones(n_classes))
        counts = random.integers(0, 12, (9, n_classes)).astype(float) + 1
        wanted = [step_by_step(line, share) for line in counts]
        np.testing.assert_allclose(_evidence(counts, share), wanted, atol=1e-10)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [1, 6, 40])
def test_evidence_of_a_word_that_tells_nothing_is_bounded(share, n):
    """Its exponential is one on average, so that it seldom is large: by Markov's inequality."""
    reds = np.arange(n + 1)
    found = _evidence(np.stack([reds, n - reds], axis=1).astype(float), np.array([share, 1 - share]))
    chance = np.array([comb(n, k) * share**k * (1 - share) ** (n - k) for k in reds])
    assert chance @ np.exp(found) == pytest.approx(1)
    for times in (2, 10, 100):
        assert chance[found > log(times)].sum() <= 1 / times


def random_texts(random, rows, vocabulary, length, zipf):
    weight = 1 / np.arange(1, vocabulary + 1) if zipf else np.ones(vocabulary)
    return random.choice(vocabulary, (rows, length), p=weight / weight.sum())


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.95, 0.05), (0.6, 0.3, 0.1), (0.1,) * 10])
@pytest.mark.parametrize(("vocabulary", "zipf"), [(60, False), (800, False), (800, True)])
def test_words_of_noise_are_not_chosen(shares, vocabulary, zipf):
    """1,000 rows of random words and labels, 25 times: at most once is any word chosen."""
    chosen = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        texts = random_texts(random, 1000, vocabulary, 5, zipf)
        labels = random.choice(len(shares), 1000, p=shares)
        words = [[f"w{n}" for n in text] for text in texts.tolist()]
        chosen += bool(telling_words(np.arange(1000), words, labels, 50))
    assert chosen <= 1


def test_a_word_that_tells_is_found_among_noise():
    for seed in range(10):
        random = np.random.default_rng(seed)
        texts = random_texts(random, 1000, 500, 5, zipf=True)
        labels = random.integers(0, 2, 1000)
        words = [[f"w{n}" for n in text] for text in texts.tolist()]
        for text, label, tells in zip(words, labels, random.random(1000) < 0.1, strict=True):
            if tells:
                text.append("good" if label else "bad")
        assert telling_words(np.arange(1000), words, labels, 50)[:2] in (("good", "bad"), ("bad", "good"))


def test_a_word_that_most_have_tells_by_its_absence():
    words, labels = [["a", "b"]] * 180 + [["b"]] * 20, np.repeat([0, 1], [180, 20])
    assert telling_words(np.arange(200), words, labels, 50) == ("a",)


def test_words_that_few_rows_have_are_not_tried():
    """Four rows cannot tell, however sure they look; neither can a word that all have."""
    words, labels = [["rare", "common"]] * 4 + [["common"]] * 400, np.repeat([0, 1], [4, 400])
    assert telling_words(np.arange(404), words, labels, 50) == ()
    assert telling_words(np.arange(404), words, None, 50) == ()


def test_one_word_stands_for_those_that_are_always_beside_it():
    """The first in the alphabet."""
    words, labels = [["pinot", "noir"]] * 50 + [["riesling"]] * 50 + [["wine"]] * 50, np.repeat([0, 1, 0], 50)
    assert set(telling_words(np.arange(150), words, labels, 50)) == {"noir", "riesling", "wine"}


def test_without_labels_the_most_frequent():
    texts = [["a"]] * 10 + [["b"]] * 30 + [["c"]] * 20
    assert telling_words(np.arange(60), texts, None, 2) == ("b", "c")


def test_the_most_telling_come_first_and_no_more_than_asked_for():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 3000)
    words = [[] for _ in labels]
    for word, certainty in (("weak", 0.65), ("strong", 0.99), ("middling", 0.8)):
        for text, label, draw, here in zip(words, labels, random.random(3000), random.random(3000), strict=True):
            if here < 0.5 and (draw < certainty) == label:
                text.append(word)
    every = telling_words(np.arange(3000), words, labels, 50)
    assert every == ("strong", "middling", "weak")
    assert telling_words(np.arange(3000), words, labels, 2) == every[:2]
    assert telling_words(np.arange(3000), words, labels, 0) == ()


def test_texts_that_rows_share_count_by_their_rows():
    """Few different texts with many rows each are the same as many rows with a text each."""
    texts = [["red", "wine"], ["white", "wine"], ["beer"]]
    codes, labels = np.repeat([0, 1, 2, -1], [30, 20, 25, 40]), np.random.default_rng(0).integers(0, 3, 115)
    labels[:30] = 0
    own = [texts[code] for code in codes if code >= 0]
    assert telling_words(codes, texts, labels, 9) == telling_words(np.arange(75), own, labels[codes >= 0], 9)


def test_all_counts_of_two_rows_by_hand():
    """Two rows of one class, with equal shares: (1 + ½)/2 instead of ½ for the second."""
    found = _evidence(np.array(list(product([0.0, 2.0], [0.0, 2.0])))[1:3], np.array([0.5, 0.5]))
    np.testing.assert_allclose([exp(own) for own in found], 1.5)


def test_every_word_has_a_place_among_words_that_it_is_seldom_with():
    random = np.random.default_rng(0)
    texts = [[f"w{n}" for n in text] for text in random.choice(30, (400, 3)).tolist()]
    codes = random.integers(-1, 400, 1000)
    words = [f"w{n}" for n in random.permutation(30)]
    columns = word_columns(codes, texts, words)
    assert sorted(word for column in columns for word in column) == sorted(words)
    own = [set(texts[code]) for code in codes if code >= 0]

    def share(one, other):
        rarer = min(sum(word in text for text in own) for word in (one, other))
        return sum({one, other} <= text for text in own) / rarer

    for number, column in enumerate(columns):
        assert all(share(one, other) <= 0.05 for one in column for other in column if one < other)
        for earlier in columns[:number]:
            assert any(share(column[0], other) > 0.05 for other in earlier)


def test_no_words_no_columns():
    assert word_columns(np.array([0, -1]), [["a"]], []) == ()
    assert word_columns(np.array([-1]), [], []) == ()
