"""The transformer: a table with parts of its columns as further columns."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from hebnb import errors
from hebnb.columns.column import Name
from hebnb.columns.reading import listed_columns
from hebnb.columns.table import Table, as_array, read, read_labels, with_columns
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.rows import check_columns, names_that_are_text, no_rows, taking_any_column
from hebnb.evidence.search import some_rows
from hebnb.foundation.arrays import Array, IntArray
from hebnb.parts.dates import DateParts
from hebnb.parts.texts import TextParts, is_free_text

Parts: TypeAlias = DateParts | TextParts

# Rows that decide which columns have which parts, and which words tell something.
MOST_ROWS = 50_000
# Most words of a column that may be asked for.
MOST_WORDS = 1_000


@dataclass(frozen=True)
class LearnedParts:
    """What was learned of a table: the names of its columns, and the parts of some of them."""

    names: tuple[Name, ...]
    of_columns: tuple[Parts, ...]


class ColumnParts(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add parts of dates and of free text to a table, as columns of their own that a classifier can learn from.

    Of a column of dates or times these are the year, the month, the day of the month, the weekday and the hour, as far
    as they vary. Times with a zone are taken as the clocks there show them. Of a column of free text they are the first
    word, the last word, the number of words, and which of its key words a text has. Words are runs of letters, digits
    and underscores, whatever their case. The columns themselves, and all others, stay as they are. New columns are
    called ``"departure: weekday"``, ``"wine: last word"``, ``"wine: key word"``.

    Key words are those that tell something about the class. A word has to tell more than the luckiest of as many
    useless ones would, so that of random words none is taken in nearly all tables; without ``y`` the most frequent are.
    Words that hardly ever are in one text share a column, whose categories they are: a wine's variety is one
    column. There are further columns, ``"wine: key word 2"`` and so on, for words that go together with these. What is
    learned comes from at most 50,000 rows, drawn at random but always the same.

    Parameters
    ----------
    dates : "auto" or list, default="auto"
        Columns of dates, by name, position or mask. By default all whose type, or whose objects, are dates or times.
        Text has to be named: it is read as ISO 8601 writes dates (``2024-12-31T23:59``), and then given back as times.
    text : "auto" or list, default="auto"
        Columns of free text. By default those of text with at least 50 different values, of which more than half have
        several words with blanks between them.
    max_words : int, default=50
        At most so many key words of a column; up to 1,000.

    Attributes
    ----------
    parts_ : dict of str to list of str
        The columns that were made, by the name of the column they are made of.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> from hebnb import ColumnParts
    >>> X = pd.DataFrame({"day": pd.to_datetime(["2024-02-24", "2024-02-29"]), "wine": ["Merlot, old", "Riesling"]})
    >>> ColumnParts(text=["wine"]).fit_transform(X).T
                                          0                    1
    day                 2024-02-24 00:00:00  2024-02-29 00:00:00
    wine                        Merlot, old             Riesling
    day: day                             24                   29
    day: weekday                   Saturday             Thursday
    wine: first word                 merlot             riesling
    wine: last word                     old             riesling
    wine: number of words                 2                    1
    """

    _learned: LearnedParts

    def __init__(self, *, dates: Any = "auto", text: Any = "auto", max_words: int = 50) -> None:
        self.dates = dates
        self.text = text
        self.max_words = max_words

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out which columns have which parts, and which words tell something about the labels.

        Parameters
        ----------
        X : table or array of shape (S, F)
        y : array or series of shape (S,), optional

        Returns
        -------
        self

        Examples
        --------
        >>> from hebnb import ColumnParts
        >>> ColumnParts(text=[0], max_words=1).fit([["old wine"], ["red wine"]] * 9, ["no", "yes"] * 9).parts_
        {'x0': ['x0: first word', 'x0: key word']}
        """
        self._check_parameters()
        table = read(X)
        if not table.n_rows:
            raise no_rows()
        labels = None if y is None else read_labels(y, table.n_rows).codes
        some = np.zeros(table.n_rows, dtype=bool)
        some[some_rows(table.n_rows, MOST_ROWS)] = True
        if not some.all():
            table, labels = table.rows(some), None if labels is None else labels[some]
        learned = LearnedParts(table.names, tuple(self._of_columns(table, labels)))
        _refuse_clashes(learned, isinstance(as_array(X), np.ndarray))
        self._learned = learned
        return self

    def transform(self, X: Any) -> Any:
        """The table with the parts as further columns, at its end.

        Parameters
        ----------
        X : table or array of shape (S, F)

        Returns
        -------
        table of the library that holds X, or an array of objects

        Examples
        --------
        >>> from hebnb import ColumnParts
        >>> ColumnParts(text=[0]).fit([["an old wine"], ["new wine"]]).transform([["wine, rather sour"], [None]])
        array([['wine, rather sour', 'wine', 3],
               [None, None, None]], dtype=object)
        """
        check_is_fitted(self)
        frozen = copy(self)
        learned = frozen._learned
        table = read(X)
        check_columns(frozen, as_array(X), table, learned.names)
        if not table.n_rows:
            raise no_rows()
        library = _get_output_config("transform", self)["dense"]  # what set_output asks for
        return with_columns(X, _text_names(table.names), _made(learned, table), library)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that ``transform`` gives.

        Examples
        --------
        >>> from hebnb import ColumnParts
        >>> ColumnParts(text=[0]).fit([["old wine"], ["new wine"]]).get_feature_names_out()
        array(['x0', 'x0: first word'], dtype=object)
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([*names, *_titles(self._learned)], dtype=object)

    @property
    def parts_(self) -> dict[str, list[str]]:
        """The columns that are made, by the name of the column they are made of."""
        learned = self._attribute("parts_")
        names = _text_names(learned.names)
        return {names[own.at]: [f"{names[own.at]}: {title}" for title in own.titles] for own in learned.of_columns}

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._attribute("n_features_in_").names)

    @property
    def feature_names_in_(self) -> Array:
        """The names of the columns, if they have any."""
        return names_that_are_text(self._attribute("feature_names_in_").names)

    def _of_columns(self, table: Table, labels: IntArray | None) -> list[Parts]:
        """What is learned of every column that has parts."""
        are_dates = self._chosen("dates", self.dates, table, lambda column: column.holds_times)
        are_text = self._chosen("text", self.text, table, is_free_text)
        both = sorted(str(name) for name in are_dates & are_text)
        if both:
            raise ParameterError(f"Columns {', '.join(both)} are in dates and in text.", "Choose one of them.")
        found: list[Parts] = []
        for at, column in enumerate(table.columns):
            if column.name in are_dates:
                found.append(DateParts.learned(at, column))
            elif column.name in are_text:
                found.append(TextParts.learned(at, column, labels, self.max_words))
        return found

    def _chosen(self, argument: str, listed: Any, table: Table, is_one: Any) -> set[Name]:
        """The columns that are named, or that are of a kind."""
        if not isinstance(listed, str):
            return listed_columns(argument, listed, table.names)
        return {column.name for column in table.columns if is_one(column)}

    def _check_parameters(self) -> None:
        for argument, given in (("dates", self.dates), ("text", self.text)):
            if isinstance(given, str) and given != "auto":
                raise errors.unknown_name(argument, given, ["auto"])
        is_number = isinstance(self.max_words, int | np.integer) and not isinstance(self.max_words, bool)
        if not is_number or not 0 <= self.max_words <= MOST_WORDS:
            raise ParameterError(f"max_words={self.max_words!r} must be an integer from 0 to {MOST_WORDS:,}.")

    def _attribute(self, name: str) -> LearnedParts:
        learned: LearnedParts | None = getattr(self, "_learned", None)
        if learned is None:
            raise AttributeError(f"{name} is learned by fit, which has not been called.")
        return learned

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = taking_any_column(super().__sklearn_tags__())
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _refuse_clashes(learned: LearnedParts, is_array: bool) -> None:
    """Names of new columns have to be new, and beside names that are text."""
    twice = sorted({str(name) for name in learned.names} & set(_titles(learned)))
    if twice:
        raise InputError(
            f"{errors.column(twice[0])} is in the table, and a part of another column would have that name too.",
            "Rename it, or leave the column that has the part out of dates or text.",
        )
    if learned.of_columns and not is_array and not _are_text(learned.names):
        raise InputError(
            "The names of the columns are not text, and those of parts are.",
            "Make all of them strings, for example X.columns = X.columns.astype(str).",
        )


def _are_text(names: tuple[Name, ...]) -> bool:
    return all(isinstance(name, str) for name in names)


def _text_names(names: tuple[Name, ...]) -> list[str]:
    """Names as scikit-learn has them: x0, x1, … where they are no text."""
    return [str(name) if _are_text(names) else f"x{n}" for n, name in enumerate(names)]


def _titles(learned: LearnedParts) -> list[str]:
    """The names of the new columns."""
    names = _text_names(learned.names)
    return [f"{names[own.at]}: {title}" for own in learned.of_columns for title in own.titles]


def _made(learned: LearnedParts, table: Table) -> dict[str, Any]:
    """The new columns by name, as masked arrays, and what stands instead of columns that cannot stay as they are."""
    names, made = _text_names(table.names), {}
    for own in learned.of_columns:
        instead = own.instead(table.columns[own.at])
        if instead is not None:
            made[names[own.at]] = instead
    parts = [part for own in learned.of_columns for part in own.columns(table.columns[own.at])]
    return made | dict(zip(_titles(learned), parts, strict=True))
