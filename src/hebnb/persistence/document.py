"""A fitted model as a document: a header, which is JSON, and NumPy arrays. And the model built anew from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from hebnb.columns.column import in_order
from hebnb.columns.vocabulary import MISSING_POLICIES, Bins, Categories, Feature, Vocabulary
from hebnb.counts.pairs import Caps, DensePairs, PairCounts, Pairs, SparsePairs
from hebnb.counts.single import Counts, CountTable
from hebnb.errors import InputError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.learner import OF_WEIGHTING
from hebnb.foundation.arrays import Array
from hebnb.foundation.json_values import plain, restored
from hebnb.methods import Classifier
from hebnb.smoothing.smoothers import HEB, Additive, MEstimate, Smoother
from hebnb.structures.aode import AODE
from hebnb.structures.naive_bayes import NaiveBayes
from hebnb.version import __version__

# Raised when an older hebnb could not make sense of a new document. Those of every number up to this one are read.
FORMAT = 1

_MODELS: dict[str, type[Classifier]] = {"NaiveBayes": NaiveBayes, "AODE": AODE}
_SMOOTHERS: dict[str, type[Smoother]] = {"HEB": HEB, "Additive": Additive, "MEstimate": MEstimate}


def of_model(model: CategoricalClassifier[Any]) -> dict[str, Any]:
    """The model as a header and arrays."""
    check_is_fitted(model)
    name = type(model).__name__
    if _MODELS.get(name) is not type(model):
        raise InputError(f"{name} is not a classifier of hebnb.", "Use joblib for a file that only you will load.")
    arrays: dict[str, Array] = {}
    counts = model.counts_
    header = {
        "format": FORMAT,
        "hebnb": __version__,
        "model": name,
        "parameters": {key: _parameter(value) for key, value in model.get_params(deep=False).items()},
        "rule": _smoother(model._rule),
        "has_names": hasattr(model, "feature_names_in_"),
        "dropped": plain(model.dropped_),
        "allowed": None if model._allowed is None else _feature(model._allowed, "allowed", arrays),
        "vocabulary": {
            "names": plain(list(counts.vocabulary.names)),
            "missing": counts.vocabulary.missing,
            "features": [_feature(f, f"feature{n}", arrays) for n, f in enumerate(counts.vocabulary.features)],
        },
        "classes": _feature(counts.classes, "classes", arrays),
    }
    arrays["class_count"] = counts.class_count
    for n, table in enumerate(counts.tables):
        arrays |= _named(f"table{n}", table)
    if isinstance(counts, PairCounts):
        caps = counts.caps
        header["pairs"] = {"n_rows": counts.n_rows, "caps": [caps.max_parent_categories, caps.max_joint_cells]}
        arrays |= {f"pairs.{part}": array for part, array in vars(counts.pairs).items()}
    for key in model._LEARNED:
        value = getattr(model, key, None)
        if value is not None:
            arrays[f"learned.{key}"] = np.asarray(value)
    return {"header": json.dumps(header), "arrays": arrays}


def _parameter(value: Any) -> Any:
    if isinstance(value, Smoother):
        return _smoother(value)
    return None if isinstance(value, np.random.RandomState) else plain(value)


def _smoother(rule: Smoother) -> dict[str, Any]:
    name = type(rule).__name__
    if _SMOOTHERS.get(name) is not type(rule):
        raise InputError(
            f"The smoother {name} is not one of hebnb, so it cannot be saved.",
            "Use joblib for a file that only you will load.",
        )
    return {"smoother": name, "parameters": {key: plain(value) for key, value in rule.get_params().items()}}


def _feature(feature: Feature, name: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """A feature as JSON, but for numbers, which join the arrays."""
    if isinstance(feature, Bins):
        arrays[name] = feature.edges
        return {"kind": "bins", "missing": feature.missing, "of_times": feature.of_times}
    described = {"kind": "categories", "missing": feature.missing}
    if feature.values.dtype.kind == "O":
        return described | {"values": plain(feature.values.tolist())}
    arrays[name] = feature.values
    return described


def _named(name: str, table: CountTable) -> dict[str, Array]:
    if isinstance(table, csr_array):
        return {f"{name}.{part}": getattr(table, part) for part in ("data", "indices", "indptr")}
    return {name: table}


def to_model(document: Any) -> Classifier:
    """Build the model, checking that all its parts fit together."""
    header, arrays = json.loads(document["header"]), document["arrays"]
    if header["format"] > FORMAT:
        raise InputError(f"The model was saved by hebnb {header['hebnb']}, which is newer.", "Install that version.")
    model = _MODELS[header["model"]](**{key: _given(value) for key, value in header["parameters"].items()})
    rule = _restored_smoother(header["rule"])
    counts = _counts(header, arrays)
    expected = PairCounts if isinstance(model, AODE) else Counts
    _require(type(counts) is expected, f"{header['model']} has no such counts")
    learned: dict[str, Any] = {key: arrays[f"learned.{key}"] for key in model._LEARNED if f"learned.{key}" in arrays}
    _check_learned(model, counts, learned)
    learned = {key: value.item() if value.ndim == 0 else value for key, value in learned.items()}
    learned.setdefault("_given_log_prior", None)
    for key, value in (learned | model._derived(counts, rule, learned)).items():  # type: ignore[arg-type]
        setattr(model, key, value)
    names = counts.vocabulary.names
    model.counts_ = counts
    model.n_features_in_ = len(names)
    if header["has_names"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.dropped_ = restored(header["dropped"])
    _require(isinstance(model.dropped_, dict), "what was dropped is not told")
    allowed = header["allowed"]
    model._allowed = None if allowed is None else _categories(allowed, "allowed", arrays)
    model._kept = None
    return model


def _given(value: Any) -> Any:
    return _restored_smoother(value) if isinstance(value, dict) and "smoother" in value else restored(value)


def _restored_smoother(described: Mapping[str, Any]) -> Smoother:
    parameters = {key: restored(value) for key, value in described["parameters"].items()}
    return _SMOOTHERS[described["smoother"]](**parameters)


def _counts(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Counts:
    described = header["vocabulary"]
    names = tuple(restored(described["names"]))
    _require(described["missing"] in MISSING_POLICIES, "no such policy for gaps")
    features = [_restored_feature(f, f"feature{n}", arrays) for n, f in enumerate(described["features"])]
    _require(len(names) == len(features) == len(set(names)) > 0, "names and features do not match")
    classes = _categories(header["classes"], "classes", arrays)
    _require(not classes.missing and None not in classes.values.tolist(), "a class has no label")
    class_count = _numbers(arrays["class_count"], (classes.size,))
    _require(bool(class_count.sum() > 0), "no rows were counted")
    tables = tuple(_table(f"table{n}", (f.size, classes.size), arrays) for n, f in enumerate(features))
    single = classes, class_count, Vocabulary(names, tuple(features), described["missing"]), tables
    if "pairs" not in header:
        return Counts(*single)
    width = sum(feature.size for feature in features)
    n_rows = header["pairs"]["n_rows"]
    return PairCounts(*single, _pairs(arrays, width, classes.size), int(n_rows), Caps(*header["pairs"]["caps"]))


def _restored_feature(described: Mapping[str, Any], name: str, arrays: Mapping[str, Array]) -> Feature:
    if described["kind"] == "categories":
        return _categories(described, name, arrays)
    edges = arrays[name].astype(float)
    _require(edges.ndim == 1 and bool(np.all(np.diff(edges) > 0)), "edges are not increasing")
    return Bins(edges, bool(described["missing"]), bool(described["of_times"]))


def _categories(described: Mapping[str, Any], name: str, arrays: Mapping[str, Array]) -> Categories:
    if "values" in described:
        given = restored(described["values"])
        values = np.empty(len(given), dtype=object)
        values[:] = given
        _require(len(set(given)) == len(given), "categories occur twice")
    else:
        values = arrays[name]
        _require(values.ndim == 1 and values.dtype.kind in "biuf", "categories are no list")
    ordered = in_order(values.tolist())
    _require(np.array_equal(ordered, values), "categories are not in order")
    return Categories(values, bool(described["missing"]))


def _table(name: str, shape: tuple[int, int], arrays: Mapping[str, Array]) -> CountTable:
    if name in arrays:
        return _numbers(arrays[name], shape)
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    table = csr_array(parts, shape=shape, dtype=float)
    table.check_format(full_check=True)
    _numbers(table.data, table.data.shape)
    return table


def _pairs(arrays: Mapping[str, Array], width: int, n_classes: int) -> Pairs:
    if "pairs.square" in arrays:
        return DensePairs(_numbers(arrays["pairs.square"], (n_classes, width, width)))
    count = _numbers(arrays["pairs.count"], arrays["pairs.count"].shape)
    limits = {"first": width, "second": width, "class_": n_classes}
    at = {part: arrays[f"pairs.{part}"] for part in limits}
    for part, limit in limits.items():
        fits = at[part].shape == count.shape and at[part].dtype.kind == "i" and count.ndim == 1
        _require(fits and bool(np.all((at[part] >= 0) & (at[part] < limit))), "pairs of no category")
    return SparsePairs(**{part: array.astype(np.intp) for part, array in at.items()}, count=count)


def _check_learned(model: Classifier, counts: Counts, learned: Mapping[str, Array]) -> None:
    """Every attribute that was learned has the shape that the counts call for."""
    n_classes, n_features = counts.classes.size, len(counts.tables)
    n_parents = len(learned["parents_"]) if "parents_" in learned else 0
    shapes: dict[str, tuple[int, ...]] = {
        "class_log_prior_": (n_classes,),
        "concentration_": (n_classes, n_features, n_features) if isinstance(model, AODE) else (n_classes, n_features),
        "_given_log_prior": (n_classes,),
        "parents_": (n_parents,),
        "_marginal_concentration": (n_classes, n_features),
        "_min_parent_count": (),
        "parent_weights_": (n_parents,),
        "feature_weights_": (n_features,),
        "class_offsets_": (n_classes,),
        "loo_log_loss_": (),
    }
    optional = {"_given_log_prior", "parent_weights_", "loo_log_loss_"}
    if isinstance(model, AODE):
        optional = set() if "loo_log_loss_" in learned else set(OF_WEIGHTING)
    missing = set(model._LEARNED) - set(learned) - optional
    _require(not missing, f"{', '.join(sorted(missing))} is missing")
    for key, array in learned.items():
        _require(array.shape == shapes[key], f"{key} has shape {array.shape}")
        _require(array.dtype.kind == ("i" if key == "parents_" else "f"), f"{key} has no numbers")
        finite = np.isfinite(array)
        if key in ("class_log_prior_", "_given_log_prior"):
            finite |= np.isneginf(array)  # of a class that is given no chance
        if key == "concentration_" and isinstance(model, AODE):
            finite |= np.isnan(array)  # where a child depends on the class alone
        _require(bool(finite.all()), f"{key} is not finite")
    for key in ("concentration_", "_marginal_concentration"):
        if key in learned:
            _require(not bool(np.any(learned[key] <= 0)), f"{key} is not positive")
    if n_parents:
        parents = learned["parents_"]
        _require(parents.dtype.kind == "i" and bool(np.all((parents >= 0) & (parents < n_features))), "no such parent")


def _numbers(array: Array, shape: tuple[int, ...]) -> Array:
    """Counts: finite, not negative, of this shape."""
    _require(array.shape == shape and array.dtype.kind in "iuf", f"an array has shape {array.shape}, not {shape}")
    array = array.astype(float)
    _require(bool(np.all(np.isfinite(array) & (array >= 0))), "some counts are no counts")
    return array


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
