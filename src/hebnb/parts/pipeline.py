"""A classifier behind a transformer, as scikit-learn puts them together, and apart again."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from hebnb import errors
from hebnb.errors import InputError
from hebnb.parts.column_parts import ColumnParts


def apart(model: Any) -> tuple[ColumnParts | None, Any]:
    """The transformer of a pipeline, if it is one, and the classifier.

    Examples
    --------
    >>> from hebnb import NaiveBayes
    >>> apart(make_pipeline(ColumnParts(), NaiveBayes())), apart(NaiveBayes())
    ((ColumnParts(), NaiveBayes()), (None, NaiveBayes()))
    """
    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps]
    if len(steps) != 2 or type(steps[0]) is not ColumnParts:
        raise InputError(
            f"A pipeline of {', '.join(type(step).__name__ for step in steps)} is none that hebnb knows.",
            "It knows make_pipeline(ColumnParts(), classifier), with a classifier of its own.",
        )
    return steps[0], steps[1]


def together(parts: ColumnParts | None, classifier: Any) -> Any:
    """A pipeline of both, or the classifier if there is nothing before it."""
    return classifier if parts is None else make_pipeline(parts, classifier)


def without_parts(model: Any, form: str) -> Any:
    """The classifier, if it is all there is of a model: parts have no place in some forms."""
    parts, classifier = apart(model)
    if parts is None or not any(parts.parts_.values()):
        return classifier
    made = list(parts.get_feature_names_out())[parts.n_features_in_ :]
    raise InputError(
        f"The model learned from parts of dates and texts, which {form} does not make: {errors.shown_names(made, 3)}.",
        "Learn without ColumnParts or --parts; or export model[-1] alone, for a table that has these columns.",
    )
