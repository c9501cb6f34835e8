"""The scores of classes as nodes of an ONNX graph: score tables, and how they are put together."""

from __future__ import annotations

from functools import reduce

import numpy as np

from hebnb import errors
from hebnb.errors import InputError
from hebnb.export.onnx.graph import ML, Graph
from hebnb.foundation.arrays import FloatArray
from hebnb.scores.estimates import Estimates
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import ScoreTable

# Most numbers in the tables of a graph: half a gigabyte, a quarter of what an ONNX file can hold.
MOST_CELLS = 1 << 26


def check_size(model: ScoreTables) -> None:
    """Refuse a model whose tables would be too large, before any is made."""
    sizes = model.counts.vocabulary.sizes + 1
    cells = float(sum(_n_lines(table) for table in model.tables))
    remedy = "Fit with max_categories"
    if model.estimates is not None:
        estimates = model.estimates
        for place, i in enumerate(model.parents.tolist()):
            cells += float(sizes[i] * (1.0 + sizes[estimates.children(place)].sum()))
        remedy += " or a lower max_parent_categories"
    cells *= model.n_classes
    if cells > MOST_CELLS:
        widest = int(np.argmax(sizes))
        name = model.counts.vocabulary.names[widest]
        raise InputError(
            f"The tables of this model would take {cells:,.0f} numbers in an ONNX graph; the limit is {MOST_CELLS:,}.",
            f"{remedy}. {errors.column(name)} has the most categories, {sizes[widest] - 1:,}.",
        )


def scores(graph: Graph, model: ScoreTables, codes: list[str]) -> str:
    """The score of every class, of shape (rows, C), as ``Combination`` puts it together."""
    tables = _looked_up(graph, model, codes)
    if model.estimates is None or not len(model.parents):
        return graph.apply("Sum", graph.constant(model.start), *_weighted(graph, model, tables))
    plain_sum = graph.apply("Sum", graph.constant(model.log_prior), *tables)
    estimates = _estimates(graph, model.estimates, codes, tables)
    in_effect = [_in_effect(graph, model.estimates, i, codes[i]) for i in model.parents.tolist()]
    if model.combination.estimate_weights is None:
        return _mean(graph, estimates, in_effect, plain_sum)
    parts = [graph.apply("Where", here, own, plain_sum) for here, own in zip(in_effect, estimates, strict=True)]
    weights = model.combination.estimate_weights
    powers = [graph.apply("Mul", graph.constant(w), part) for w, part in zip(weights, parts, strict=True)]
    return graph.apply("Sum", graph.constant(model.start), *powers, *_weighted(graph, model, tables))


def _weighted(graph: Graph, model: ScoreTables, tables: list[str]) -> list[str]:
    weights = model.combination.table_weights
    if (weights == 1).all():
        return tables
    return [graph.apply("Mul", graph.constant(w), table) for w, table in zip(weights, tables, strict=True)]


def _looked_up(graph: Graph, model: ScoreTables, codes: list[str]) -> list[str]:
    """What every table adds to the score of every class."""
    seen: dict[tuple[int, bytes], str] = {}  # tables that see a column in the same way share that
    found = []
    for table in model.tables:
        line = ""
        for f, view in zip(table.columns, table.views, strict=True):
            key = f, view.tobytes()
            if key not in seen:
                as_it_is = np.array_equal(view, np.arange(len(view)))
                seen[key] = codes[f] if as_it_is else graph.apply("Gather", graph.constant(view), codes[f])
            if line:
                line = graph.apply("Mul", line, graph.constant(int(view.max()) + 1))
            line = graph.apply("Add", line, seen[key]) if line else seen[key]
        found.append(_at_line(graph, table, line))
    return found


def _at_line(graph: Graph, table: ScoreTable, line: str) -> str:
    """The numbers of the cells that rows are in."""
    keys, numbers = table.lines()
    if len(keys) == _n_combinations(table):
        return graph.apply("Gather", graph.constant(numbers), line)
    places = {"keys_int64s": keys.tolist(), "values_int64s": list(range(len(keys))), "default_int64": len(keys)}
    place = graph.apply("LabelEncoder", line, domain=ML, **places)
    return graph.apply("Gather", graph.constant(np.vstack([numbers, np.zeros(numbers.shape[1])])), place)


def _n_combinations(table: ScoreTable) -> float:
    """How many combinations of codes there are, as the table sees them."""
    return float(np.prod([int(view.max()) + 1.0 for view in table.views]))


def _n_lines(table: ScoreTable) -> float:
    """How many lines the table has in a graph."""
    return float(table.n_cells) if table.root is None else _n_combinations(table)


def _estimates(graph: Graph, estimates: Estimates, codes: list[str], tables: list[str]) -> list[str]:
    """For every parent, log P(class, its value) plus what the others add, given its value where they are its children.

    Codes are stacked as features × rows: runtimes copy whole lines much faster than they pick numbers.
    """
    lines = [graph.apply("Unsqueeze", code, graph.constant([0])) for code in codes]
    stacked = graph.apply("Concat", *lines, axis=0)
    silent = np.zeros(estimates.counts.classes.size)
    made = []
    for place, i in enumerate(estimates.parents.tolist()):
        joint = np.vstack([estimates.log_joint[:, estimates.layout.span(i)].T, silent])
        parts = [graph.apply("Gather", graph.constant(joint), codes[i])]
        parts += [tables[j] for j in estimates.unconditioned[place]]
        if estimates.children(place):
            parts.append(_of_children(graph, estimates, place, codes[i], stacked))
        made.append(graph.apply("Sum", *parts))
    return made


def _of_children(graph: Graph, estimates: Estimates, place: int, parent: str, stacked: str) -> str:
    """Σ_j log P(x_j | class, x_i) over the children, each looked up at its cell of the parent's table."""
    children = estimates.children(place)
    ends = np.cumsum(estimates.layout.sizes[children] + 1)
    starts = graph.constant(np.append(0, ends[:-1])[:, np.newaxis])
    column = graph.apply("Add", graph.apply("Gather", stacked, graph.constant(children)), starts)
    row = graph.apply("Mul", parent, graph.constant(ends[-1]))
    table = graph.constant(_child_table(estimates, place))
    found = graph.apply("Gather", table, graph.apply("Add", row, column))
    return graph.apply("ReduceSum", found, graph.constant([0]), keepdims=0)


def _in_effect(graph: Graph, estimates: Estimates, i: int, code: str) -> str:
    """Whether a row's value acts as a parent, of shape (rows, 1)."""
    may = np.append(estimates.may_be_parent[estimates.layout.span(i)], False)
    return graph.apply("Gather", graph.constant(may[:, np.newaxis]), code)


def _mean(graph: Graph, estimates: list[str], in_effect: list[str], plain_sum: str) -> str:
    """log of the sum over the estimates in effect, which the softmax cannot tell from the mean; else the plain sum."""
    nothing = graph.constant(-np.inf)
    parts = [graph.apply("Where", here, part, nothing) for here, part in zip(in_effect, estimates, strict=True)]
    some = reduce(lambda a, b: graph.apply("Or", a, b), in_effect)
    peak = graph.apply("Where", some, graph.apply("Max", *parts), graph.constant(0.0))
    total = graph.apply("Sum", *(graph.apply("Exp", graph.apply("Sub", part, peak)) for part in parts))
    return graph.apply("Where", some, graph.apply("Add", peak, graph.apply("Log", total)), plain_sum)


def _child_table(estimates: Estimates, place: int) -> FloatArray:
    """log P(child | class, parent) for all codes of a parent × all codes of its children, of shape (cells, C).

    Silent codes have cells too, of zeros, so that codes index the table as they are.
    """
    i, children, layout = int(estimates.parents[place]), estimates.children(place), estimates.layout
    column = np.concatenate([np.arange(layout.sizes[j]) for j in children])
    column += np.repeat(np.append(0, np.cumsum(layout.sizes[children] + 1)[:-1]), layout.sizes[children])
    position = np.concatenate([np.arange(layout.starts[j], layout.starts[j + 1]) for j in children])
    block = estimates.pairs.block(layout.span(i), position)
    table = np.zeros((layout.sizes[i] + 1, (layout.sizes[children] + 1).sum(), len(block)))
    table[:-1, column] = block.transpose(1, 2, 0)
    return table.reshape(-1, len(block))
