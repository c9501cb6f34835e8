"""What fit warns of: little, and only what makes a model wrong or useless."""

import warnings

import numpy as np
import pandas as pd
import pytest

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes, TableWarning
from hebnb.estimators.alerts import loss_alone

CLASSIFIERS = [NaiveBayes, AODE, TAN, KDB, HNB, EvidenceClassifier]
ROWS = 400
random = np.random.default_rng(0)
COIN = random.permutation(np.repeat(["no", "yes"], ROWS // 2))
COLOUR = random.choice(["red", "green", "blue"], ROWS)
IDS = [f"x{n}" for n in range(ROWS)]


def warned(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(issubclass(warning.category, TableWarning) for warning in caught)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_warns_once_of_a_column_that_gives_the_class_away(classifier):
    X = pd.DataFrame({"colour": COLOUR, "ended": np.where(COIN == "no", "n", "y")})
    (message,) = warned(classifier(), X, COIN)
    assert message.startswith("Column 'ended' gives the class away")
    assert warned(classifier(), X[["colour"]], COIN) == []
    assert warned(classifier(), X[["ended"]], COIN) == []  # there is nothing else to learn from


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_warns_of_targets_that_are_no_classes(classifier):
    X, y = pd.DataFrame({"colour": COLOUR[:60]}), np.arange(60)
    (message,) = warned(classifier(), X, y)
    assert "60 classes, 60 of them with one row" in message


def test_a_target_of_many_floats_is_a_number():
    X, y = pd.DataFrame({"colour": COLOUR}), np.arange(ROWS) % 20
    (message,) = warned(NaiveBayes(), X, y.astype(float))
    assert "floats" in message
    assert warned(NaiveBayes(), X, y) == []


def test_ids_are_warned_of_only_if_there_is_nothing_else():
    (message,) = warned(NaiveBayes(), pd.DataFrame({"id": IDS}), COIN)
    assert "nothing can be learned" in message
    assert warned(NaiveBayes(), pd.DataFrame({"id": IDS, "colour": COLOUR}), COIN) == []
    assert warned(EvidenceClassifier(hierarchies={"id": [1, 2]}), pd.DataFrame({"id": IDS}), COIN) == []


def test_lazy_tables_are_warned_of_too():
    import polars as pl

    table = pl.LazyFrame({"colour": COLOUR, "ended": COIN, "y": COIN})
    with pytest.warns(TableWarning, match="'ended' gives"):
        NaiveBayes().fit(table, "y")


@pytest.mark.filterwarnings("error::hebnb.TableWarning")
def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    model = NaiveBayes().fit([["a"], ["b"]], [0, 1])
    with pytest.raises(TableWarning):
        model.fit(pd.DataFrame({"id": IDS}), COIN)
    assert model.classes_.tolist() == [0, 1]


def test_the_warning_is_about_the_line_that_called_fit():
    with pytest.warns(TableWarning) as caught:
        NaiveBayes().fit(pd.DataFrame({"id": IDS}), COIN)
    assert caught[0].filename == __file__


def reference_loss(x, y):
    """One row after the other: the shares of the classes among the others with its value, and one row of all."""
    labels = sorted(set(y))
    shares = {c: (list(y).count(c) + 1) / (len(y) + len(labels)) for c in labels}
    total = 0.0
    for s, value in enumerate(x):
        others = [label for t, label in enumerate(y) if t != s and x[t] == value]
        total -= np.log((others.count(y[s]) + shares[y[s]]) / (len(others) + 1))
    return total / len(x)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_loss_of_left_out_rows_against_one_row_after_the_other(n_classes):
    x = random.integers(0, 30, 200)
    y = (x + random.integers(0, 2, 200)) % n_classes
    counts = NaiveBayes().count(x[:, np.newaxis], y)
    assert loss_alone(counts, 0) == pytest.approx(reference_loss(x, y), rel=1e-12)


def test_the_loss_under_a_tree_is_that_of_its_best_level():
    x = random.random(300)
    y = (x > 0.5) ^ (random.random(300) < 0.1)
    counts = EvidenceClassifier().count(x[:, np.newaxis], y)
    kind = counts.vocabulary.features[0]
    leaf = np.searchsorted(kind.edges, x)
    expected = min(reference_loss(nodes[leaf], y) for nodes in kind.levels)
    assert loss_alone(counts, 0) == pytest.approx(expected, rel=1e-12)
