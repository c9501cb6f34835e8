"""A fitted model as an ONNX graph, for programs that have an ONNX runtime and no hebnb."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from hebnb.counts.unseen import Unseen, warn_of_unseen
from hebnb.errors import InputError, ParameterError
from hebnb.estimators.classifier import CategoricalClassifier
from hebnb.estimators.rows import checked_table
from hebnb.export.onnx.columns import LABEL, PROBABILITIES, Port, input_names, port
from hebnb.export.onnx.graph import Graph, import_onnx, texts_of
from hebnb.export.onnx.scores import check_size, scores
from hebnb.foundation.arrays import Array
from hebnb.parts.pipeline import without_parts
from hebnb.scores.lookups import TIE
from hebnb.scores.score_tables import ScoreTables
from hebnb.version import __version__

if TYPE_CHECKING:
    import onnx

__all__ = ["onnx_inputs", "to_onnx"]

# What Protocol Buffers, the format of an ONNX file, can hold.
_MOST_BYTES = 2**31 - 1


def to_onnx(model: CategoricalClassifier) -> onnx.ModelProto:
    """A fitted model as an ONNX graph that gives the same probabilities.

    Every column is an input of shape ``[rows]`` under its own name: text as strings, integers and booleans as int64,
    floats and columns cut into bins as doubles (times and durations in microseconds, times since 1970), and any other
    categories as the text that ``str`` makes of them. The outputs are ``label`` and ``probabilities``, of shape
    ``[rows, C]``.

    ONNX has no gaps among strings and integers, so a gap is a token: ``""``, or ``"<missing>"`` where ``""`` is a
    category; the smallest integer, −2⁶³, that is not a category; and NaN for doubles. Where gaps were no category at
    fit they say nothing, and neither do values that were not seen. The property ``hebnb`` of the model tells all
    this as JSON, column by column.

    A column with a hierarchy is text, also where its values are whole numbers. ONNX cannot cut a text, so it is
    ``onnx_inputs`` that finds the ancestor of a value which was not seen, and feeds its token, ``"10… (others)"``; only
    the names of a dict or a table of parents are known to the graph itself.

    A column called ``label``, ``probabilities`` or nothing at all gets an underscore in front.

    Parameters
    ----------
    model : classifier
        A fitted model. Its tables may have 2²⁶ cells (half a gigabyte): classes × categories for every feature, and for
        AODE also classes × categories of a parent × categories of its children.

    Returns
    -------
    onnx.ModelProto
        With opset 15 and ai.onnx.ml 2. ``SerializeToString`` makes the bytes that a runtime loads.

    See Also
    --------
    onnx_inputs : what to feed a session for a table.

    Examples
    --------
    >>> import json
    >>> from hebnb.export import to_onnx
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["red", 1], ["red", 2], ["blue", 2], [None, 2]], ["no", "no", "yes", "yes"])
    >>> graph = to_onnx(model)
    >>> [(port.name, port.type.tensor_type.elem_type) for port in graph.graph.input]  # 8 is text, 7 is int64
    [('0', 8), ('1', 7)]
    >>> json.loads(graph.metadata_props[0].value)["features"][0]
    {'column': '0', 'input': '0', 'type': 'string', 'gap': ''}
    """
    import_onnx()
    tables = _score_tables(model)
    check_size(tables)
    ports, inputs = _ports(tables), input_names(tables.counts.vocabulary.names)
    graph = Graph([*inputs, LABEL, PROBABILITIES])
    codes = [column.codes(graph, name) for column, name in zip(ports, inputs, strict=True)]
    summed = scores(graph, tables, codes)
    graph.apply("Softmax", summed, axis=1, output=PROBABILITIES)
    labels = _labels(tables)
    greatest = graph.apply("ReduceMax", summed, axes=[1], keepdims=1)
    least = graph.apply("Sub", greatest, graph.constant(TIE))
    is_best = graph.apply("Cast", graph.apply("GreaterOrEqual", summed, least), to=graph.onnx.TensorProto.INT64)
    best = graph.apply("ArgMax", is_best, axis=1, keepdims=0)  # the first of equals
    graph.apply("Gather", graph.constant(labels), best, output=LABEL)
    kind = "string" if labels.dtype == object else labels.dtype.name
    made: onnx.ModelProto = graph.model(
        [graph.tensor_info(name, column.kind, ["rows"]) for name, column in zip(inputs, ports, strict=True)],
        [graph.tensor_info(LABEL, kind, ["rows"]), graph.tensor_info(PROBABILITIES, "double", ["rows", len(labels)])],
        producer_name="hebnb",
        producer_version=__version__,
    )
    made.metadata_props.add(key="hebnb", value=json.dumps(_description(type(model).__name__, tables, ports, inputs)))
    _check_bytes(made.ByteSize())
    return made


def onnx_inputs(model: CategoricalClassifier, X: Any) -> dict[str, Array]:
    """What to feed a session that runs the graph of a model, for the rows of a table.

    The values are read as ``model.predict_proba`` reads them, so that both mean the same by a gap, by ``1.0`` where
    integers were learned, and by a value that was not seen, which becomes a token of its own.

    Parameters
    ----------
    model : classifier
        The fitted model that the graph was made of.
    X : table or array of shape (S, F)
        A pandas, Polars or PyArrow table, or an array, with the columns of fit.

    Returns
    -------
    dict of str to array of shape (S,)

    See Also
    --------
    to_onnx : the graph.

    Examples
    --------
    >>> from hebnb.export import onnx_inputs
    >>> from hebnb import NaiveBayes
    >>> model = NaiveBayes().fit([["red", 1], ["red", 2], ["blue", 2], [None, 2]], ["no", "no", "yes", "yes"])
    >>> feeds = onnx_inputs(model, [["red", 1.0], ["green", 2], [None, 1]])
    >>> feeds["0"], feeds["1"]
    (array(['red', '<unseen>', ''], dtype=object), array([1, 2, 1]))

    With onnxruntime installed, this is how they are used::

        session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
        labels, probabilities = session.run(None, onnx_inputs(model, X))
    """
    scores = _score_tables(model)
    table = checked_table(model, X, scores)
    vocabulary = scores.counts.vocabulary
    codes = vocabulary.encode(table)
    warn_of_unseen(scores.counts, Unseen.of(vocabulary, table, codes))
    columns = zip(input_names(vocabulary.names), _ports(scores), table.columns, codes, strict=True)
    return {name: column_port.feed(column, code) for name, column_port, column, code in columns}


def _score_tables(model: Any) -> ScoreTables:
    model = without_parts(model, "a graph")
    if not isinstance(model, CategoricalClassifier):
        raise ParameterError(f"A {type(model).__name__} has no ONNX graph.", "Pass a fitted classifier of hebnb.")
    return model.score_tables_


def _ports(model: ScoreTables) -> list[Port]:
    vocabulary = model.counts.vocabulary
    return list(map(port, vocabulary.names, vocabulary.features))


def _labels(model: ScoreTables) -> Array:
    """The classes as numbers or booleans if that is what they are, and else as text."""
    classes = model.counts.classes.values
    if classes.dtype.kind in "biuf":
        return classes
    return np.array(texts_of(classes.tolist(), "Classes"), dtype=object)


def _check_bytes(size: int) -> None:
    """Refuse what cannot be written: texts count too, which the limit on cells does not see."""
    if size > _MOST_BYTES:
        raise InputError(
            f"The ONNX graph takes {size:,} bytes, and a file of it can have {_MOST_BYTES:,}.",
            "Fit with max_categories, or shorten the texts of the categories.",
        )


def _description(name: str, model: ScoreTables, ports: list[Port], inputs: list[str]) -> dict[str, Any]:
    """What a reader of the file has to know, as JSON has it."""
    features = []
    for column_name, column, input_name in zip(model.counts.vocabulary.names, ports, inputs, strict=True):
        gap = "NaN" if column.kind == "double" else column.gap
        entry = {"column": str(column_name), "input": input_name, "type": column.kind, "gap": gap}
        features.append(entry | ({"unit": column.unit} if column.unit else {}))
    return {"version": __version__, "model": name, "classes": _labels(model).tolist(), "features": features}
