"""What counts say against the table they were made of, cheap enough to be asked at every fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import entropy

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.counts.single import Counts, CountTable, nonzero_cells
from hebnb.errors import TableWarning
from hebnb.foundation.arrays import FloatArray
from hebnb.foundation.printable import visible
from hebnb.smoothing.posterior import class_log_prior, posterior_mean

# A column gives the class away if by itself it leaves at most this share of what there is to know about left-out rows.
# The most telling column of 31 public tables, the odour of mushrooms, leaves 9 %.
GIVEN_AWAY = 0.05
# And if so many rows say so: without a single error, fewer do not rule out one error in a hundred (the rule of three).
FEWEST_ROWS = 300
# A column is an id if so large a share of the rows have a value that no other row has, of at least so many rows: by
# chance, twenty draws from 200 categories are unique about as often as not.
UNIQUE, FEWEST_UNIQUE = 0.95, 20
# Classes are ids or numbers if there are at least so many, and more than half of them have one row; floats, if there
# are so many.
MANY_CLASSES = 20
# The longest that a name is shown.
_LONGEST = 60


@dataclass(frozen=True)
class Alert:
    """Something about a table that its reader should know.

    Parameters
    ----------
    column : str or int, optional
        The column; None where it is the target or the table.
    kind : str
        What it is, in a word or two.
    sentence : str
        What was found.
    remedy : str
        What to do about it.
    """

    column: Name | None
    kind: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}"


def named(name: Name) -> str:
    """A column as alerts name it, whatever it is called."""
    return errors.column(visible(name, _LONGEST) if isinstance(name, str) else name)


def warn_of_table(counts: Counts) -> None:
    """Warn of a table from which nothing right or useful can have been learned."""
    for alert in of_counts(counts):
        errors.warn(str(alert), TableWarning)


def of_counts(counts: Counts) -> list[Alert]:
    """What counts tell: columns that give the class away, classes that are none, nothing but ids.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> counts = NaiveBayes().count([[n] for n in range(40)], ["no", "yes"] * 20)
    >>> [alert.kind for alert in of_counts(counts)]
    ['nothing but ids']
    """
    return [alert for rule in RULES for alert in rule(counts)]


def leaks(counts: Counts) -> list[Alert]:
    """Columns that give the class away, where there are others to learn from."""
    if counts.class_count.sum() < FEWEST_ROWS or len(counts.tables) < 2:
        return []
    known = entropy(counts.class_count)
    names = [name for f, name in enumerate(counts.vocabulary.names) if _gives_away(counts, f, known)]
    return [
        Alert(
            name,
            "leak",
            f"{named(name)} gives the class away: by itself it predicts left-out rows almost perfectly.",
            "Leave it out if it is not known when predictions are made, or if it is the class under another name.",
        )
        for name in names
    ]


def _gives_away(counts: Counts, f: int, known: float) -> bool:
    table, n_rows = counts.tables[f], counts.class_count.sum()
    # A row that is not of the most frequent class of its value costs log 2 at least, so most columns are out at once.
    wrong = 1 - _best(table) / n_rows
    return bool(wrong * np.log(2) <= GIVEN_AWAY * known and loss_alone(counts, f) <= GIVEN_AWAY * known)


def _best(table: CountTable) -> float:
    """The rows that are of the most frequent class of their value."""
    most = table.max(axis=1) if isinstance(table, csr_array) else reduce(np.maximum, table.T)
    return float(most.sum())


def loss_alone(counts: Counts, f: int) -> float:
    """The log-loss of left-out rows under a column alone, at the level of its tree where that is least.

    The classes of a value are shrunk towards those of all rows, by one row: a value that no other row has leaves
    nothing but their shares.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> X = [["a", n] for n in range(20)] + [["b", n] for n in range(20, 40)]
    >>> counts = NaiveBayes().count(X, ["no"] * 20 + ["yes"] * 20)
    >>> round(loss_alone(counts, 0), 3), round(loss_alone(counts, 1), 3)
    (0.025, 0.693)
    """
    n_classes, log_prior = len(counts.class_count), class_log_prior(counts.class_count)
    value, class_, count = nonzero_cells(counts.tables[f])
    silent: FloatArray = counts.class_count - np.bincount(class_, count, n_classes)
    said = []
    for nodes in counts.vocabulary.features[f].levels:
        cells, place = np.unique(nodes[value] * n_classes + class_, return_inverse=True)
        own, node, label = np.bincount(place, count), cells // n_classes, cells % n_classes
        left, total = np.maximum(own - 1, 0), np.maximum(np.bincount(node, own)[node] - 1, 0)
        said.append(own @ np.log(posterior_mean(left, total, np.exp(log_prior)[label], 1.0)))
    return -float(max(said) + silent @ log_prior) / float(counts.class_count.sum())


def no_classes(counts: Counts) -> list[Alert]:
    """Labels that are ids or numbers; with weights above one, ids are not found out."""
    n_classes, alone = counts.classes.size, int(np.count_nonzero(counts.class_count <= 1))
    remedy = "Name another target; if it is a number, cut it into classes first: hebnb does no regression."
    if n_classes >= MANY_CLASSES and alone > n_classes / 2:
        found = f"The target has {n_classes:,} classes, {alone:,} of them with one row: is it an id or a number?"
        return [Alert(None, "no classes", found, remedy)]
    if n_classes >= MANY_CLASSES and counts.classes.values.dtype.kind == "f":
        found = f"The target has {n_classes:,} different values, which are floats: is it a number?"
        return [Alert(None, "number as target", found, remedy)]
    return []


def only_ids(counts: Counts) -> list[Alert]:
    """Columns of which none can tell anything about new rows; with weights above one, they are not found out."""
    n_rows = counts.class_count.sum()
    kinds = counts.vocabulary.features
    if n_rows < FEWEST_UNIQUE or any(kind.cut_at is not None or len(kind.levels) > 1 for kind in kinds):
        return []
    least = UNIQUE * n_rows
    sizes = zip(kinds, counts.marginal, strict=True)
    if not all(kind.size >= least and np.count_nonzero(own <= 1) >= least for kind, own in sizes):
        return []
    return [
        Alert(
            None,
            "nothing but ids",
            "In every column nearly every row has a value of its own: nothing can be learned about new rows.",
            "Pass columns whose values repeat, or list numbers in numeric_features.",
        )
    ]


RULES: list[Callable[[Counts], list[Alert]]] = [leaks, no_classes, only_ids]
