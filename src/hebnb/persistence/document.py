"""A fitted model as a document: a header, which is JSON, and NumPy arrays. And the model built anew from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.pipeline import Pipeline

from hebnb.columns.hierarchies import savable
from hebnb.columns.kinds import KINDS, MISSING_POLICIES, Categories, Kind
from hebnb.columns.tree_memory import bytes_of_trees
from hebnb.counts.families import Parents
from hebnb.counts.single import Counts
from hebnb.errors import InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.state import AsWritten, Learned
from hebnb.estimators.structure import Structure
from hebnb.foundation.arrays import Array, FloatArray
from hebnb.foundation.json_values import from_json, to_json
from hebnb.parts.pipeline import apart, together, without_parts
from hebnb.persistence.allowance import Allowance
from hebnb.persistence.counts import counts_of, with_counts
from hebnb.persistence.needs import bytes_to_answer
from hebnb.persistence.old_formats import as_written_now
from hebnb.persistence.parts import described_parts, restored_parts
from hebnb.scores.build import levels
from hebnb.scores.combination import Combination
from hebnb.scores.estimates import Estimates
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import ScoreTable
from hebnb.smoothing.posterior import class_log_prior
from hebnb.smoothing.smoothers import HEB, Additive, MEstimate, Smoother
from hebnb.structures import CLASSIFIERS
from hebnb.version import __version__

# Raised when an older hebnb could not make sense of a new document. Those of every number up to this one are read.
FORMAT = 3
# What is written of a model without a transformer before it: nothing there is new since.
_FORMAT_WITHOUT_PARTS = 2

# Rows that a model has to answer before it is handed out.
_PROBES = 1 << 12

# What files of counts say that they hold; those of models say nothing.
COUNTS = "counts"

_SMOOTHERS: dict[str, type[Smoother]] = {"HEB": HEB, "Additive": Additive, "MEstimate": MEstimate}


@dataclass(frozen=True, eq=False)
class CountedPart:
    """What was counted of a part of a table, and for what.

    Parameters
    ----------
    model : classifier
        Not fitted: how columns were read, and what may be learned from the counts.
    counts : Counts
    target : str
        The column of the labels.
    written : AsWritten
        How values were written, where they were text in files.
    """

    model: CategoricalClassifier
    counts: Counts
    target: str
    written: AsWritten


def of_model(model: CategoricalClassifier | Pipeline) -> dict[str, Any]:
    """The model as a header and arrays."""
    parts, model = apart(model)
    name = type(model).__name__
    if CLASSIFIERS.get(name) is not type(model):
        raise InputError(f"{name} is not a classifier of hebnb.", "Use joblib for a file that only you will load.")
    learned = model._state()
    scores, vocabulary = learned.scores, learned.scores.counts.vocabulary
    arrays: dict[str, Array] = {}
    features = [_described(kind, f"feature{n}", arrays) for n, kind in enumerate(vocabulary.features)]
    header = {
        "format": _FORMAT_WITHOUT_PARTS if parts is None else FORMAT,
        "hebnb": __version__,
        "model": name,
        "parameters": {key: _parameter(value) for key, value in model.get_params(deep=False).items()},
        "rule": _smoother(scores.rule),
        "has_names": isinstance(vocabulary.names[0], str),
        "dropped": to_json(learned.dropped),
        "allowed": None if learned.allowed is None else _described(learned.allowed, "allowed", arrays),
        "vocabulary": {"names": to_json(list(vocabulary.names)), "missing": vocabulary.missing, "features": features},
        "classes": _described(scores.counts.classes, "classes", arrays),
        "counts": with_counts(scores.counts, arrays),
        "formats": dict(learned.written.formats),
        "gaps": list(learned.written.gaps),
        "prior_is_given": scores.prior_is_given,
        "tables": None if model._STRUCTURE.learns_counts_alone else [list(table.columns) for table in scores.tables],
        "estimates": None if scores.estimates is None else {"min_count": scores.estimates.min_count},
    }
    if parts is not None:
        header["parts"] = described_parts(parts)
    combination = scores.combination
    arrays |= {"log_prior": scores.log_prior, "offsets": combination.offsets, "weights": combination.table_weights}
    if not model._STRUCTURE.learns_counts_alone:
        arrays |= {f"concentration{level}": m for level, m in enumerate(levels(scores.tables))}
    if scores.estimates is not None:
        arrays |= {"parents": scores.estimates.parents, "pair_concentration": scores.estimates.concentration}
    if combination.estimate_weights is not None:
        arrays["parent_weights"] = combination.estimate_weights
    if combination.log_loss is not None:
        arrays["log_loss"] = np.asarray(combination.log_loss)
    return {"header": json.dumps(header), "arrays": arrays}


def of_counts(part: CountedPart) -> dict[str, Any]:
    """Counts as a header and arrays."""
    name, vocabulary = type(part.model).__name__, part.counts.vocabulary
    arrays: dict[str, Array] = {}
    features = [_described(kind, f"feature{n}", arrays) for n, kind in enumerate(vocabulary.features)]
    header = {
        "format": FORMAT,
        "hebnb": __version__,
        "holds": COUNTS,
        "target": part.target,
        "model": name,
        "parameters": {key: _parameter(value) for key, value in part.model.get_params(deep=False).items()},
        "has_names": isinstance(vocabulary.names[0], str),
        "vocabulary": {"names": to_json(list(vocabulary.names)), "missing": vocabulary.missing, "features": features},
        "classes": _described(part.counts.classes, "classes", arrays),
        "counts": with_counts(part.counts, arrays),
        "formats": dict(part.written.formats),
        "gaps": list(part.written.gaps),
    }
    return {"header": json.dumps(header), "arrays": arrays}


def to_counts(document: Any, allowance: Allowance) -> CountedPart:
    """Build the counts, checking that all their parts fit together."""
    header, arrays = json.loads(document["header"]), document["arrays"]
    _refuse_newer(header)
    if header.get("holds") != COUNTS:
        raise InputError(f"{str(allowance.path)!r} holds a model, not counts.", "hebnb count makes files of counts.")
    kind = CLASSIFIERS[header["model"]]
    model = kind(**{key: _given(value) for key, value in header["parameters"].items()})
    parts = _Parts(header, arrays, allowance)
    counts = parts.counts(kind)
    allowance.take(bytes_to_answer(counts, (), None))
    target = header["target"]
    require(isinstance(target, str), "the target has no name")
    return CountedPart(model, counts, target, parts.written())


def to_either(document: Any, allowance: Allowance) -> CategoricalClassifier | CountedPart:
    """Build a classifier, or counts, whichever there is; a model with parts is neither."""
    if json.loads(document["header"]).get("holds") == COUNTS:
        return to_counts(document, allowance)
    model = to_model(document, allowance)
    without_parts(model, "a file of counts")
    classifier: CategoricalClassifier = apart(model)[1]
    return classifier


def _refuse_newer(header: Mapping[str, Any]) -> None:
    if header["format"] > FORMAT:
        raise InputError(f"The file was saved by hebnb {header['hebnb']}, which is newer.", "Install that version.")


def pay_for_counts(part: CountedPart, allowance: Allowance) -> None:
    """Say what building counts anew will take."""
    described = [kind.document()[0] for kind in part.counts.vocabulary.features]
    allowance.take(bytes_of_trees(described) + bytes_to_answer(part.counts, (), None))


def pay(model: CategoricalClassifier | Pipeline, allowance: Allowance) -> None:
    """Say what building the model anew will take."""
    scores = apart(model)[1].score_tables_
    described = [kind.document()[0] for kind in scores.counts.vocabulary.features]
    structure = apart(model)[1]._STRUCTURE
    families = structure.families(tuple(table.columns[1:] for table in scores.tables))
    allowance.take(bytes_of_trees(described) + bytes_to_answer(scores.counts, families, scores.estimates))


def to_model(document: Any, allowance: Allowance) -> CategoricalClassifier | Pipeline:
    """Build the model, checking that all its parts fit together and that it answers."""
    header, arrays = json.loads(document["header"]), document["arrays"]
    _refuse_newer(header)
    if header.get("holds") == COUNTS:
        raise InputError(
            f"{str(allowance.path)!r} holds counts, not a model.", "hebnb merge makes a model of files of counts."
        )
    header, arrays = as_written_now(header, arrays)
    kind = CLASSIFIERS[header["model"]]
    model = kind(**{key: _given(value) for key, value in header["parameters"].items()})
    parts = _Parts(header, arrays, allowance)
    scores = parts.score_tables(kind)
    allowed, dropped = header["allowed"], from_json(header["dropped"])
    require(isinstance(dropped, dict), "what was dropped is not told")
    given = None if allowed is None else parts.categories(allowed, "allowed")
    model._learned = Learned(scores, dropped, given, written=parts.written())
    described = header.get("parts")
    names = scores.counts.vocabulary.names
    return together(None if described is None else restored_parts(described, names), model)


@dataclass(frozen=True)
class _Parts:
    """A header and arrays, read part by part."""

    header: Mapping[str, Any]
    arrays: Mapping[str, Array]
    allowance: Allowance

    def counts(self, kind: type[CategoricalClassifier]) -> Counts:
        """What was counted."""
        header = self.header
        described = header["vocabulary"]
        require(described["missing"] in MISSING_POLICIES, "no such policy for gaps")
        self.allowance.take(bytes_of_trees(described["features"]))
        features = [self.feature(f, f"feature{n}") for n, f in enumerate(described["features"])]
        names = tuple(from_json(described["names"]))
        require(len(names) == len(features) == len(set(names)) > 0, "names and features do not match")
        are_text = {isinstance(name, str) for name in names}
        require(are_text == {bool(header["has_names"])}, "some names are text")
        classes = self.categories(header["classes"], "classes")
        require(not classes.missing and None not in classes.values.tolist(), "a class has no label")
        counts = counts_of(header["counts"], self.arrays, (names, tuple(features), described["missing"]), classes)
        require(type(counts) is kind._STRUCTURE.counts_type, f"{header['model']} has no such counts")
        return counts

    def score_tables(self, kind: type[CategoricalClassifier]) -> ScoreTables:
        """The model that they describe."""
        header, rule = self.header, _restored_smoother(self.header["rule"])
        structure, counts = kind._STRUCTURE, self.counts(kind)
        classes = counts.classes
        require(
            structure.has_estimates == (header["estimates"] is not None), f"{header['model']} has no such estimates"
        )
        log_prior = self.numbers("log_prior", (classes.size,), lowest=True)
        given = bool(header["prior_is_given"])
        estimates = self._estimates(counts, rule)
        if estimates is not None and given:
            estimates = estimates.shifted(log_prior - class_log_prior(counts.class_count))
        parents = tuple(tuple(columns[1:]) for columns in header["tables"] or ())
        families = structure.families(parents)
        self.allowance.take(bytes_to_answer(counts, families, estimates))
        tables = structure.of_counts(counts) or self._tables(structure, counts, parents, rule)
        combination = self._combination((classes.size, len(tables)), estimates)
        scores = ScoreTables(counts, rule, log_prior, given, tables, estimates, combination).prepared()
        require(answers(scores), "it gives no probabilities")
        return scores

    def _tables(
        self, structure: type[Structure], counts: Counts, parents: Parents, rule: Smoother
    ) -> tuple[ScoreTable, ...]:
        """Tables of features and their parents, whose concentrations were learned."""
        shape = counts.classes.size, len(counts.tables)
        require([columns[0] for columns in self.header["tables"]] == list(range(shape[1])), "a table is missing")
        depth = np.zeros(shape[1], dtype=np.intp)
        for f, *own in structure.families(parents):
            depth[f] = max(depth[f], len(own))
        concentration = [self.positive(f"concentration{level}", shape, level > 0) for level in range(depth.max() + 1)]
        for level, m in enumerate(concentration):
            require(bool((np.isnan(m) == (depth < level)).all()), f"concentration{level} is of other tables")
        return structure.restored(counts, parents, rule, concentration)

    def _estimates(self, counts: Any, rule: Smoother) -> Estimates | None:
        described = self.header["estimates"]
        if described is None:
            return None
        n_classes, n_features = counts.classes.size, len(counts.tables)
        parents = self.arrays["parents"]
        fits = parents.ndim == 1 and parents.dtype.kind == "i"
        require(fits and bool(np.all((parents >= 0) & (parents < n_features))), "no such parent")
        m = self.positive("pair_concentration", (n_classes, n_features, n_features), True)
        used = ~np.isnan(m)
        require(bool((used == used[0]).all() and not used[0].diagonal().any()), "pair_concentration is of other pairs")
        min_count = float(described["min_count"])
        require(np.isfinite(min_count), "no such count")
        return Estimates.of(counts, rule, parents.astype(np.intp), used=used[0], min_count=min_count, concentration=m)

    def _combination(self, shape: tuple[int, int], estimates: Estimates | None) -> Combination:
        n_classes, n_features = shape
        of_estimates, loss = None, None
        if estimates is not None and "parent_weights" in self.arrays:
            of_estimates = self.numbers("parent_weights", (len(estimates.parents),))
        if "log_loss" in self.arrays:
            loss = float(self.numbers("log_loss", ()))
        weights, offsets = self.numbers("weights", (n_features,)), self.numbers("offsets", (n_classes,))
        return Combination(offsets, weights, of_estimates, loss)

    def feature(self, described: Mapping[str, Any], name: str) -> Kind:
        """A feature, by the kind that it names."""
        kind = next(kind for kind in KINDS if kind.name == described["kind"])
        return kind.restored(described, self.arrays.get(name))

    def categories(self, described: Mapping[str, Any], name: str) -> Categories:
        """Labels of classes."""
        return Categories.restored(described, self.arrays.get(name))

    def written(self) -> AsWritten:
        """How values were written, where they were text in files; files of earlier versions do not tell."""
        formats, gaps = self.header.get("formats", {}), self.header.get("gaps", [])
        is_told = isinstance(formats, dict) and isinstance(gaps, list)
        require(
            is_told and all(isinstance(text, str) for text in [*formats.values(), *gaps]),
            "how values were written is not told",
        )
        return AsWritten(dict(formats), tuple(gaps))

    def numbers(self, name: str, shape: tuple[int, ...], *, lowest: bool = False) -> FloatArray:
        """Finite numbers; a logarithm may be that of nothing."""
        require(name in self.arrays, f"{name} is missing")
        array = self.arrays[name]
        require(array.shape == shape and array.dtype.kind == "f", f"{name} has shape {array.shape}")
        require(bool(np.all(np.isfinite(array) | (lowest & np.isneginf(array)))), f"{name} is not finite")
        return array

    def positive(self, name: str, shape: tuple[int, ...], gaps: bool) -> FloatArray:
        """Positive numbers; NaN for what is not in use."""
        require(name in self.arrays, f"{name} is missing")
        array = self.arrays[name]
        require(array.shape == shape and array.dtype.kind == "f", f"{name} has shape {array.shape}")
        fine = np.isfinite(array) & (np.nan_to_num(array) > 0)
        require(bool(np.all(fine | (gaps & np.isnan(array)))), f"{name} is not positive")
        return array


def answers(scores: ScoreTables) -> bool:
    """Whether rows with every category, or with the first of them where there are many, get probabilities."""
    sizes = scores.counts.vocabulary.sizes
    rows = np.arange(min(int(sizes.max()) + 1, _PROBES))
    with np.errstate(all="ignore"):
        proba = softmax(scores.joint_log_scores([np.minimum(rows, size) for size in sizes]), axis=1)
    return bool(np.isfinite(proba).all())


def _described(kind: Kind, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """A feature as JSON, but for numbers, which join the arrays."""
    described, array = kind.document()
    if array is not None:
        arrays[name] = array
    return described


def _parameter(value: Any) -> Any:
    if isinstance(value, Smoother):
        return _smoother(value)
    return None if isinstance(value, np.random.RandomState) else to_json(savable(value))


def _smoother(rule: Smoother) -> dict[str, Any]:
    name = type(rule).__name__
    if _SMOOTHERS.get(name) is not type(rule):
        raise InputError(
            f"The smoother {name} is not one of hebnb, so it cannot be saved.",
            "Use joblib for a file that only you will load.",
        )
    return {"smoother": name, "parameters": {key: to_json(value) for key, value in rule.get_params().items()}}


def _given(value: Any) -> Any:
    return _restored_smoother(value) if isinstance(value, dict) and "smoother" in value else from_json(value)


def _restored_smoother(described: Mapping[str, Any]) -> Smoother:
    parameters = {key: from_json(value) for key, value in described["parameters"].items()}
    return _SMOOTHERS[described["smoother"]](**parameters)


def require(holds: bool, otherwise: str) -> None:
    """Complain of a document that is not whole."""
    if not holds:
        raise ValueError(otherwise)
