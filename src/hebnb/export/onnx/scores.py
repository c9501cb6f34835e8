"""The scores of classes as nodes of an ONNX graph: what ``_joint_log_scores`` of the two models computes."""

from __future__ import annotations

from functools import reduce

import numpy as np

from hebnb import errors
from hebnb.counts.pairs import Layout
from hebnb.errors import InputError
from hebnb.export.onnx.graph import Graph
from hebnb.foundation.arrays import FloatArray, IntArray
from hebnb.scores.pair_tables import ChildScores, DenseChildScores, SparseChildScores
from hebnb.scores.tables import ScoreTable, scores_by_code
from hebnb.structures.aode import AODE
from hebnb.structures.naive_bayes import NaiveBayes

# Most numbers in the tables of a graph: half a gigabyte, a quarter of what an ONNX file can hold.
MOST_CELLS = 1 << 26


def check_size(model: NaiveBayes | AODE) -> None:
    """Refuse a model whose tables would be too large, before any is made."""
    sizes = model.counts_.sizes.astype(int) + 1
    n_classes = model.counts_.classes.size
    cells = n_classes * int(sizes.sum())
    remedy = "Fit with max_categories"
    if isinstance(model, AODE):
        blocks = sum(sizes[i] * (1 + sizes[_children(model, place)].sum()) for place, i in enumerate(model.parents_))
        cells += n_classes * int(blocks)
        remedy += " or a lower max_parent_categories"
    if cells > MOST_CELLS:
        widest = int(np.argmax(sizes))
        name = model.counts_.vocabulary.names[widest]
        raise InputError(
            f"The tables of this model would take {cells:,} numbers in an ONNX graph; the limit is {MOST_CELLS:,}.",
            f"{remedy}. {errors.column(name)} has the most categories, {sizes[widest] - 1:,}.",
        )


def naive_bayes_scores(graph: Graph, model: NaiveBayes, codes: list[str]) -> str:
    """log prior plus what every feature adds, of shape (rows, C)."""
    prior = graph.constant(model.class_log_prior_ + model.class_offsets_)
    return graph.apply("Sum", prior, *_looked_up(graph, model._scores, model, codes))


def aode_scores(graph: Graph, model: AODE, codes: list[str]) -> str:
    """The estimates of the parents put together, of shape (rows, C)."""
    marginals = _looked_up(graph, model._marginals, model, codes)
    naive_bayes = graph.apply("Sum", graph.constant(model.class_log_prior_), *marginals)
    estimates = _estimates(graph, model, codes, marginals)
    in_effect = [_in_effect(graph, model, i, codes[i]) for i in model.parents_.tolist()]
    if model._weighted_marginals is None:
        return _mean(graph, estimates, in_effect, naive_bayes) if estimates else naive_bayes
    parts = [
        graph.apply("Where", here, estimate, naive_bayes) for here, estimate in zip(in_effect, estimates, strict=True)
    ]
    weights = np.concatenate([model.parent_weights_, model.feature_weights_])
    powers = [graph.apply("Mul", graph.constant(w), part) for w, part in zip(weights, parts + marginals, strict=True)]
    prior = model.class_offsets_ if estimates else model.class_offsets_ + model.class_log_prior_
    return graph.apply("Sum", graph.constant(prior), *powers)


def _looked_up(graph: Graph, tables: tuple[ScoreTable, ...], model: NaiveBayes | AODE, codes: list[str]) -> list[str]:
    """What every feature adds to the score of every class."""
    n_classes = model.counts_.classes.size
    return [
        graph.apply("Gather", graph.constant(scores_by_code(table, feature.size, n_classes)), code)
        for table, feature, code in zip(tables, model.counts_.vocabulary.features, codes, strict=True)
    ]


def _children(model: AODE, place: int) -> list[int]:
    """The features conditioned on a parent."""
    others = {int(model.parents_[place]), *model._unconditioned[place]}
    return [j for j in range(len(model.counts_.sizes)) if j not in others]


def _estimates(graph: Graph, model: AODE, codes: list[str], marginals: list[str]) -> list[str]:
    """For every parent, log P(class, its value) plus what the others add, given its value where they are its children.

    Codes are stacked as features × rows: runtimes copy whole lines much faster than they pick numbers.
    """
    lines = [graph.apply("Unsqueeze", code, graph.constant([0])) for code in codes]
    stacked = graph.apply("Concat", *lines, axis=0)
    silent = np.zeros(model.counts_.classes.size)
    estimates = []
    for place, i in enumerate(model.parents_.tolist()):
        joint = np.vstack([model._log_joint[:, model.counts_.layout.span(i)].T, silent])
        parts = [graph.apply("Gather", graph.constant(joint), codes[i])]
        parts += [marginals[j] for j in model._unconditioned[place]]
        if _children(model, place):
            parts.append(_of_children(graph, model, place, codes[i], stacked))
        estimates.append(graph.apply("Sum", *parts))
    return estimates


def _of_children(graph: Graph, model: AODE, place: int, parent: str, stacked: str) -> str:
    """Σ_j log P(x_j | class, x_i) over the children, each looked up at its cell of the parent's table."""
    i, children, layout = int(model.parents_[place]), _children(model, place), model.counts_.layout
    ends = np.cumsum(layout.sizes[children] + 1)
    starts = graph.constant(np.append(0, ends[:-1])[:, np.newaxis])
    column = graph.apply("Add", graph.apply("Gather", stacked, graph.constant(children)), starts)
    row = graph.apply("Mul", parent, graph.constant(ends[-1]))
    table = graph.constant(_child_table(model._children, layout, i, children))
    found = graph.apply("Gather", table, graph.apply("Add", row, column))
    return graph.apply("ReduceSum", found, graph.constant([0]), keepdims=0)


def _in_effect(graph: Graph, model: AODE, i: int, code: str) -> str:
    """Whether a row's value acts as a parent, of shape (rows, 1)."""
    may = np.append(model._may_be_parent[model.counts_.layout.span(i)], False)
    return graph.apply("Gather", graph.constant(may[:, np.newaxis]), code)


def _mean(graph: Graph, estimates: list[str], in_effect: list[str], naive_bayes: str) -> str:
    """log of the sum over the parents in effect, which the softmax cannot tell from the mean; else naive Bayes."""
    nothing = graph.constant(-np.inf)
    parts = [graph.apply("Where", here, part, nothing) for here, part in zip(in_effect, estimates, strict=True)]
    some = reduce(lambda a, b: graph.apply("Or", a, b), in_effect)
    peak = graph.apply("Where", some, graph.apply("Max", *parts), graph.constant(0.0))
    total = graph.apply("Sum", *(graph.apply("Exp", graph.apply("Sub", part, peak)) for part in parts))
    return graph.apply("Where", some, graph.apply("Add", peak, graph.apply("Log", total)), naive_bayes)


def _child_table(scores: ChildScores, layout: Layout, i: int, children: list[int]) -> FloatArray:
    """log P(child | class, parent) for all codes of a parent × all codes of its children, of shape (cells, C).

    Silent codes have cells too, of zeros, so that codes index the table as they are.
    """
    column = np.concatenate([np.arange(layout.sizes[j]) for j in children])
    column += np.repeat(np.append(0, np.cumsum(layout.sizes[children] + 1)[:-1]), layout.sizes[children])
    position = np.concatenate([np.arange(layout.starts[j], layout.starts[j + 1]) for j in children])
    block = _child_block(scores, layout, i, position)
    table = np.zeros((layout.sizes[i] + 1, (layout.sizes[children] + 1).sum(), len(block)))
    table[:-1, column] = block.transpose(1, 2, 0)
    return table.reshape(-1, len(block))


def _child_block(scores: ChildScores, layout: Layout, i: int, position: IntArray) -> FloatArray:
    """log P(child | class, parent) for the values of a parent and these positions, of shape (C, K, positions)."""
    span, width = layout.span(i), layout.width
    if isinstance(scores, DenseChildScores):
        return scores.table[:, span][:, :, position]
    assert isinstance(scores, SparseChildScores)
    block = scores.of_parent_value[:, span][:, :, layout.feature[position]] + scores.of_value[position]
    place = np.zeros(width, dtype=np.intp)
    place[position] = np.arange(len(position))
    for c, excess in enumerate(scores.excess):
        first, last = np.searchsorted(excess.keys, [span.start * width, span.stop * width]).tolist()
        parent, child = np.divmod(excess.keys[first:last], width)  # all of them children of this parent
        block[c, parent - span.start, place[child]] += excess.values[first:last]
    block[:, :, ~scores.says_something[position]] = 0
    return block
