"""What a transformer learned, in a document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hebnb.foundation.json_values import from_json, to_json
from hebnb.parts.column_parts import MOST_WORDS, ColumnParts, LearnedParts, Parts
from hebnb.parts.dates import DATE_PARTS, DateParts
from hebnb.parts.texts import TEXT_PARTS, TextParts

# How parts of a kind are built anew, and which there are.
_KINDS: dict[str, tuple[Callable[[Mapping[str, Any]], Parts], Collection[str]]] = {
    "dates": (DateParts.restored, DATE_PARTS),
    "text": (TextParts.restored, TEXT_PARTS),
}


def described_parts(parts: ColumnParts) -> dict[str, Any]:
    """A fitted transformer as JSON."""
    check_is_fitted(parts)
    learned = parts._learned
    return {
        "parameters": {key: to_json(value) for key, value in parts.get_params().items()},
        "names": to_json(list(learned.names)),
        "columns": [own.document() for own in learned.of_columns],
    }


def restored_parts(described: Mapping[str, Any], names_out: tuple[Any, ...]) -> ColumnParts:
    """The transformer that gives a classifier columns of these names; a ValueError says what is wrong with it."""
    parts = ColumnParts(**{key: from_json(value) for key, value in described["parameters"].items()})
    names = tuple(from_json(described["names"]))
    columns = tuple(_restored(own, len(names)) for own in described["columns"])
    places = [own.at for own in columns]
    if len(set(names)) != len(names) or not names or len(set(places)) != len(places):
        raise ValueError("columns occur twice")
    parts._learned = LearnedParts(names, columns)
    made = tuple(parts.get_feature_names_out().tolist())
    expected = made if isinstance(names_out[0], str) else tuple(range(len(made)))
    if names_out != expected or {isinstance(name, str) for name in names} != {isinstance(names_out[0], str)}:
        raise ValueError("the columns are not those that the model learned from")
    return parts


def _restored(described: Mapping[str, Any], n_columns: int) -> Parts:
    restored, known = _KINDS[described["kind"]]
    at, parts, words = (
        described["at"],
        described["parts"],
        [word for column in described.get("words", []) for word in column],
    )
    if type(at) is not int or not 0 <= at < n_columns:
        raise ValueError("parts of no column")
    if not set(parts) <= set(known) or len(set(parts)) != len(parts):
        raise ValueError("no such parts")
    are_words = all(isinstance(word, str) for word in words) and all(described.get("words", []))
    if not are_words or not len(set(words)) == len(words) <= MOST_WORDS:
        raise ValueError("no such words")
    return restored(described)
