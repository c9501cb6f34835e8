"""``hebnb.report``: the page from Python, shown in a notebook or written to a file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from hebnb.columns.table import taken
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.rows import encoded
from hebnb.foundation.files import written_whole
from hebnb.foundation.printable import visible
from hebnb.methods import Method
from hebnb.page.build import made
from hebnb.page.choices import LEAST
from hebnb.page.comparison import Comparison, Result, measures_of
from hebnb.page.contents import EXAMPLES, contents, left_out
from hebnb.page.explorer import Examples, fits_page
from hebnb.page.folds import require_times
from hebnb.page.in_memory import InMemory, without_target
from hebnb.page.provenance import Provenance
from hebnb.page.rendering import render
from hebnb.parts.pipeline import apart

# How high the page is in a notebook, in pixels.
_HEIGHT = 720


@dataclass(frozen=True, eq=False)
class Report:
    """A page, as ``hebnb.report`` makes it. A notebook shows it; ``save`` writes it to a file.

    Parameters
    ----------
    html : str
        The page: one file that needs nothing else.
    model : classifier
        The model it is about: the best one, or the one that was given.
    verdict : str
        What it comes to; empty if there were no rows to try the model on.
    measures : dict of str to dict
        What every method that was tried did on rows that it had not seen.
    """

    html: str = field(repr=False)
    model: Any
    verdict: str
    measures: dict[str, dict[str, float]] = field(repr=False)

    def save(self, path: str | PathLike[str], overwrite: bool = True) -> None:
        """Write the page to a file, whole or not at all."""
        with written_whole(path, overwrite=overwrite) as partial:
            partial.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which neither the notebook's styles nor its scripts reach."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="hebnb report" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 1px solid #8884; border-radius: 6px"></iframe>'
        )


def report(
    model_or_table: Any,
    *rows: Any,
    target: str | None = None,
    name: str = "the table",
    categorical_features: Any = "auto",
    numeric_features: Any = None,
    n_bins: int = 10,
    folds: int = 5,
    max_rows: int = 100_000,
    times: Any = None,
    groups: Any = None,
    min_count: int = LEAST,
    include_rows: bool = False,
    seed: int = 0,
) -> Report:
    """Make the page that ``hebnb report`` writes, of a table or of a fitted model.

    ``report(X, y)`` compares methods on a table by cross-validation, fits the best on all rows, and shows what was
    learned and how far to trust it. ``report(table, target="…")`` finds the labels in the table. ``report(model)``
    shows what a fitted model has learned, and ``report(model, X, y)`` also how far to trust it, on rows that it has
    not seen.

    Parameters
    ----------
    model_or_table : fitted classifier, table or array
    *rows : table or array, and labels
        The labels of a table; or new rows for a model, and their labels.
    target : str, optional
        The column of the table that holds the labels; with labels, what the page calls them.
    name : str, default="the table"
        What the page calls the table.
    categorical_features, numeric_features, n_bins
        How columns are read, as for the classifiers.
    folds, max_rows, seed : int
        Of the cross-validation, which is of at most so many rows.
    times, groups : array of shape (S,), optional
        When rows were, or which belong together: no row is tried by what later rows taught, or its own group.
    min_count : int, default=5
        Rows that a category must have to be named on the page.
    include_rows : bool, default=False
        Whether 200 rows are on the page, as examples.

    Returns
    -------
    Report
        A notebook shows it. It has the ``html``, the ``model``, a ``verdict`` and ``measures``, and ``save(path)``.

    Examples
    --------
    >>> from hebnb import NaiveBayes, report
    >>> X, y = [["red"], ["blue"]] * 50, ["no", "yes"] * 50
    >>> report(X, y, folds=2).verdict[:44]
    'The probabilities can be taken at their word'
    >>> page = report(NaiveBayes().fit(X, y))
    >>> page.model, page.html[:15]
    (NaiveBayes(), '<!DOCTYPE html>')
    """
    _, classifier = apart(model_or_table)
    if hasattr(type(classifier), "score_tables_"):
        return _of_model(
            model_or_table, _rows_of_model(rows), Provenance(visible(name, 200), 0, "", seed),
            target=target or "class", max_rows=max_rows, least=min_count, include_rows=include_rows, seed=seed,
        )  # fmt: skip
    if times is not None and groups is not None:
        raise ParameterError("times and groups are two ways to part rows.", "Pass one of them.")
    X, y = _labelled(model_or_table, rows, target)
    beside, parted = ("times", times) if times is not None else ("groups", groups)
    if times is not None and np.asarray(times).dtype.kind in "OUT":
        require_times("times", [str(text) for text in np.unique(np.asarray(times, dtype=str))])
    labelled = InMemory.of(X, y, target or "class", parted, None if parted is None else beside)
    page, model = made(
        labelled,
        Provenance(visible(name, 200), labelled.n_rows, "hebnb.report(X, y)", seed),
        {"categorical_features": categorical_features, "numeric_features": numeric_features, "n_bins": n_bins},
        folds=folds, max_rows=max_rows, seed=seed, bars=_NoBars(), in_time=times is not None, least=min_count,
        include_rows=include_rows,
    )  # fmt: skip
    comparison = page.contents.comparison
    return Report(page.html, model, page.contents.verdict, _measured(comparison))


def _of_model(
    model: Any,
    new: tuple[Any, Any] | None,
    provenance: Provenance,
    *,
    target: str,
    max_rows: int,
    least: int,
    include_rows: bool,
    seed: int,
) -> Report:
    """The page of a fitted model, and of rows that it has not seen if there are any."""
    parts, classifier = apart(model)
    scores = classifier.score_tables_
    if not fits_page(scores):
        raise ParameterError(
            f"The tables of this {type(classifier).__name__} are too large for a page.",
            "Learn with max_categories or fewer crosses, or pass the table: report(X, y) finds a model that fits.",
        )
    if include_rows and new is None:
        raise ParameterError("include_rows=True needs rows.", "Pass them, with their labels, behind the model.")
    comparison, examples, notes = None, None, list[str]()
    method = Method(type(classifier).__name__, type(classifier).__name__, {}, "the model that was given")
    if new is not None:
        some = InMemory.of(*new, target)
        if some.unlabelled:
            notes.append(f"{left_out(some.unlabelled, 'without a label')}.")
        if some.n_rows > max_rows:
            notes.append(f"The model was tried on {max_rows:,} rows drawn at random.")
            some = some.sample(max_rows, seed)
        comparison = _tried(model, classifier, some, method)
        if comparison.unknown:
            notes.append(f"{left_out(comparison.unknown)}, because the model does not know the class.")
        if include_rows:
            drawn = np.random.default_rng(seed).permutation(some.n_rows)[:EXAMPLES]
            drawn = drawn[np.isin(some.labels[drawn], classifier.classes_)]
            taken_rows = taken(some.X, drawn)
            codes = encoded(classifier, taken_rows if parts is None else parts.transform(taken_rows))
            examples = Examples(codes, scores.counts.classes.codes_of(some.labels[drawn]))
    rows = round(float(scores.counts.class_count.sum()))
    command = "hebnb.report(model)" if new is None else "hebnb.report(model, X, y)"
    page = contents(
        target,
        comparison,
        scores,
        replace(provenance, rows=rows, command=command, seed=seed if new is not None else None),
        explored=(method.name, scores),
        examples=examples,
        notes=notes,
        least=least,
    )
    return Report(render(page), model, page.verdict, _measured(comparison))


def _tried(model: Any, classifier: CategoricalClassifier, rows: InMemory, method: Method) -> Comparison:
    """How a fitted model does on rows with labels that it knows."""
    labels = {label: c for c, label in enumerate(classifier.classes_.tolist())}
    codes = np.array([labels.get(label, -1) for label in rows.labels.tolist()], dtype=np.intp)
    known = np.flatnonzero(codes >= 0)
    if not len(known):
        raise InputError("No row is of a class that the model knows.", f"It knows {', '.join(map(repr, labels))}.")
    began = time.perf_counter()
    proba = model.predict_proba(taken(rows.X, known))
    result = Result(method, proba, measures_of(codes[known], proba), time.perf_counter() - began)
    unknown = int((codes < 0).sum())
    return Comparison(
        codes[known], classifier.classes_, np.zeros(len(known), dtype=np.intp), [result], {}, 1, unknown, "chance"
    )


def _measured(comparison: Comparison | None) -> dict[str, dict[str, float]]:
    return {} if comparison is None else {result.method.name: result.measures for result in comparison.results}


def _rows_of_model(rows: tuple[Any, ...]) -> tuple[Any, Any] | None:
    if len(rows) not in (0, 2):
        raise ParameterError("A model is followed by rows and their labels, or by nothing.", "report(model, X, y)")
    return (rows[0], rows[1]) if rows else None


def _labelled(table: Any, rows: tuple[Any, ...], target: str | None) -> tuple[Any, Any]:
    """The columns to learn from, and the labels."""
    if len(rows) == 1:
        return table, rows[0]
    if rows or target is None:
        raise ParameterError("A table needs labels.", 'report(X, y), or report(table, target="column").')
    return without_target(table, target)


class _NoBars:
    """Progress that nobody watches."""

    def add_task(self, *_: Any, **__: Any) -> int:
        """A task of no number."""
        return 0

    def update(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    advance = update
