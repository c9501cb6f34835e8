"""Estimates in SQL: rows as lines of (row, value), joined with themselves to pairs, and added up again.

Rows with the same values of all features have the same scores, so what is taken apart are the distinct combinations.
A combination is known by its positions written one after the other, which, unlike a number given to a row, is the
same however often an engine computes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hebnb.errors import InputError
from hebnb.export.sql.dialect import LEAST_POWER, Query
from hebnb.export.sql.keys import Keys
from hebnb.export.sql.sums import place_of_value
from hebnb.foundation.arrays import BoolArray
from hebnb.scores.estimates import Estimates
from hebnb.scores.pair_tables import SparsePairTables, sparse_scores
from hebnb.scores.score_tables import ScoreTables
from hebnb.scores.tables import every_combination
from hebnb.smoothing.smoothers import prior_means

# Most pairs of values, and pairs of a value and a child, in a query.
_MOST_PAIRS = 200_000
_SWITCHES = ("conditioned", "unconditioned")
_PARENT = "{a}.{same}, {a}.{position}, {given}.{weight}"


def add_scores_of_estimates(query: Query, model: ScoreTables, columns: list[Keys]) -> list[str]:
    """Steps to the score of every class; the columns that they leave beside those of the table."""
    made = _add_combinations(query, columns, model)
    classes = range(model.n_classes)
    _add_values(query, model)
    steps = ["pooled", "alone"] if _add_estimates(query, model) else ["alone"]
    put_together = _mean if model.is_mean else _product
    scores = ",\n".join(
        query.write("{sum} AS {score_c}", c, sum=put_together(query, model, c, "pooled" in steps)) for c in classes
    )
    joins = "".join(
        query.write("\nLEFT JOIN {step} ON {step}.{same} = {coded}.{same}", step=query.own(s)) for s in steps
    )
    query.add_step("scores", "SELECT {coded}.*,\n{made}\nFROM {coded}{joins}", made=scores, joins=joins)
    return [*made, *(f"score_{c}" for c in classes)]


def _add_combinations(query: Query, columns: list[Keys], model: ScoreTables) -> list[str]:
    """The table with the position of every value, and the combinations that occur, one value a line."""
    names = [f"position_{f}" for f in range(len(columns))]
    positions, joins = zip(
        *(
            place_of_value(query, f, keys, start)
            for f, (keys, start) in enumerate(zip(columns, _estimates(model).layout.starts.tolist(), strict=False))
        ),
        strict=True,
    )
    made = ",\n".join(
        f"{query.dialect.cast(p, 'integer')} AS {query.own(n)}" for p, n in zip(positions, names, strict=True)
    )
    query.add_step("placed", "SELECT {read}.*,\n{made}\nFROM {read}{joins}", made=made, joins="".join(joins))
    texts = [query.dialect.cast(f"COALESCE({query.own(name)}, -1)", "text") for name in names]
    query.add_step("coded", "SELECT *, {text} AS {same}\nFROM {placed}", text=" || ',' || ".join(texts))
    query.add_step("distinct", "SELECT DISTINCT {same}, {names}\nFROM {coded}", names=", ".join(map(query.own, names)))
    query.add_table("features", {"feature": "integer"}, ([f] for f in range(len(columns))))
    cases = " ".join(f"WHEN {f} THEN {query.own(name)}" for f, name in enumerate(names))
    query.add_step(
        "lines",
        "SELECT {same}, CASE {feature} {cases} END AS {position}\nFROM {distinct} CROSS JOIN {features}",
        cases=cases,
    )
    return [*names, "same"]


def _add_values(query: Query, model: ScoreTables) -> None:
    """What every known value of a combination adds by itself, and the sums of that: naive Bayes."""
    layout, n_classes = _estimates(model).layout, model.n_classes
    weights = {"alone": np.ones(len(model.tables))}
    if not model.is_mean:
        weights["factor"] = model.combination.table_weights
    numbers = [f"{part}_{c}" for part in weights for c in range(n_classes)]
    alone = [every_combination(table, layout.sizes)[:-1] for table in model.tables]
    parts = np.hstack([np.concatenate([w * own for w, own in zip(ws, alone, strict=True)]) for ws in weights.values()])
    mean = np.concatenate(prior_means(model.counts, model.rule))
    query.add_table(
        "values",
        {"position": "integer", "feature": "integer", "log_mean": "double"} | dict.fromkeys(numbers, "double"),
        ([p, layout.feature[p], np.log(mean[p]), *parts[p].tolist()] for p in np.flatnonzero(mean).tolist()),
    )
    query.add_step(
        "known",
        "SELECT {lines}.{same}, {values}.*\nFROM {lines} JOIN {values} ON {values}.{position} = {lines}.{position}",
    )
    sums = ", ".join(query.write("SUM({number}) AS {number}", number=query.own(number)) for number in numbers)
    query.add_step("alone", "SELECT {same}, {sums}\nFROM {known}\nGROUP BY {same}", sums=sums)


def _add_estimates(query: Query, model: ScoreTables) -> bool:
    """The estimates of the parents in effect, put together; whether there are any.

    A pair that never met has a part of the parent's value and child feature, ``given``, and a part of the child's
    value; ``excess`` is what those that met have on top. So no table grows with values × values.
    """
    estimates = _estimates(model)
    used, mean = estimates.used, np.concatenate(prior_means(model.counts, model.rule))
    scores = sparse_scores(estimates.directed, mean, estimates.concentration)
    excess = list(_excess(estimates, scores))
    acting = estimates.may_be_parent[:-1] & np.isin(estimates.layout.feature, estimates.parents)
    pairs = len(excess) + int(acting.sum()) * len(used)
    if pairs > _MOST_PAIRS:
        raise InputError(
            f"The model has {pairs:,} pairs of values, and SQL is made for up to {_MOST_PAIRS:,}.",
            "Lower max_parent_categories, export to ONNX, or use NaiveBayes.",
        )
    given = list(_given(model, scores, used, acting))
    if not given:
        return False
    classes = range(model.n_classes)
    numbers = {f"score_{c}": "double" for c in classes}
    pair = {"parent": "integer", "child": "integer"}
    query.add_table("given", pair | dict.fromkeys(("weight", *_SWITCHES), "double") | numbers, given)
    part = "{given}.{score_c} + {given}.{conditioned} * {b}.{log_mean} + {given}.{unconditioned} * {b}.{alone_c}"
    source = (
        "{known} AS {a}\nJOIN {given} ON {given}.{parent} = {a}.{position}\n"
        "JOIN {known} AS {b} ON {b}.{same} = {a}.{same} AND {b}.{feature} = {given}.{child}"
    )
    if excess:
        query.add_table("excess", pair | numbers, excess)
        part += " + COALESCE({excess}.{score_c}, 0)"
        source += "\nLEFT JOIN {excess} ON {excess}.{parent} = {a}.{position} AND {excess}.{child} = {b}.{position}"
    query.add_step(
        "estimates",
        f"SELECT {_PARENT},\n{{sums}}\nFROM {source}\nGROUP BY {_PARENT}",
        sums=query.each(classes, f"SUM({part}) AS {{estimate_c}}"),
    )
    (_pool_mean if model.is_mean else _pool_product)(query, classes)
    return True


def _given(model: ScoreTables, scores: SparsePairTables, used: BoolArray, acting: BoolArray) -> Iterator[list[Any]]:
    """For values that act as parents, and every child: the part of the child's score that its value has no share in.

    With 1 or 0 for whether the prior mean of that value belongs to it, and whether its naive Bayes factor does. Its
    own child a value is with log P(class, value).
    """
    estimates, weights = _estimates(model), dict(zip(model.parents.tolist(), _parent_weights(model), strict=True))
    nothing = np.zeros(model.n_classes)
    for p in np.flatnonzero(acting).tolist():
        i = int(estimates.layout.feature[p])
        for j, conditioned in enumerate(used[i].tolist()):
            apart = estimates.log_joint[:, p] if i == j else nothing
            part = scores.of_parent_value[:, p, j] if conditioned else apart
            yield [p, j, weights[i], conditioned, not conditioned and i != j, *part.tolist()]


def _parent_weights(model: ScoreTables) -> list[float]:
    weights = model.combination.estimate_weights
    return np.ones(len(model.parents)).tolist() if weights is None else weights.tolist()


def _excess(estimates: Estimates, scores: SparsePairTables) -> Iterator[list[Any]]:
    """Pairs of values that met in some class, the first of which may be a parent, and what that adds."""
    parents, children, numbers = scores.excess.by_pair()
    kept = np.flatnonzero(estimates.may_be_parent[parents])
    for parent, child, own in zip(parents[kept].tolist(), children[kept].tolist(), numbers[kept].tolist(), strict=True):
        yield [parent, child, *own]


def _estimates(model: ScoreTables) -> Estimates:
    assert model.estimates is not None
    return model.estimates


def _pool_mean(query: Query, classes: range) -> None:
    """log of the sum over the parents in effect, which probabilities cannot tell from the mean."""
    tops = query.each(classes, "MAX({estimate_c}) OVER (PARTITION BY {same}) AS {top_c}")
    query.add_step("peaks", "SELECT *, {tops}\nFROM {estimates}", tops=tops)
    sums = query.each(
        classes,
        "MAX({top_c}) + LN(SUM(EXP(GREATEST({estimate_c} - {top_c}, {least})))) AS {pooled_c}",
        least=query.dialect.double(LEAST_POWER),
    )
    query.add_step("pooled", "SELECT {same}, {sums}\nFROM {peaks}\nGROUP BY {same}", sums=sums)


def _pool_product(query: Query, classes: range) -> None:
    """The weighted sum over the parents in effect, and the sum of their weights."""
    sums = query.each(classes, "SUM({weight} * {estimate_c}) AS {pooled_c}")
    query.add_step(
        "pooled", "SELECT {same}, SUM({weight}) AS {in_effect}, {sums}\nFROM {estimates}\nGROUP BY {same}", sums=sums
    )


def _mean(query: Query, model: ScoreTables, c: int, has_estimates: bool) -> str:
    """The score of a class: of the parents, or where none is in effect of naive Bayes."""
    alone = _naive_bayes(query, model, c)
    return query.write("COALESCE({pooled}.{pooled_c}, {alone})", c, alone=alone) if has_estimates else alone


def _product(query: Query, model: ScoreTables, c: int, has_estimates: bool) -> str:
    """The score of a class: the weighted sum, in which naive Bayes stands in for parents that are not in effect."""
    offset = float(model.start[c])
    score, weight = "{offset} + COALESCE({alone}.{factor_c}, 0)", "{weight}"
    if has_estimates:
        score += " + COALESCE({pooled}.{pooled_c}, 0)"
        weight += " - COALESCE({pooled}.{in_effect}, 0)"
    return query.write(
        f"{score} + ({weight}) * ({{naive_bayes}})",
        c,
        offset=query.dialect.double(offset),
        weight=query.dialect.double(model.combination.weight_of_prior()),
        naive_bayes=_naive_bayes(query, model, c),
    )


def _naive_bayes(query: Query, model: ScoreTables, c: int) -> str:
    prior = query.dialect.double(model.log_prior[c])
    return query.write("{prior} + COALESCE({alone}.{alone_c}, 0)", c, prior=prior)
