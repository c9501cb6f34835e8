"""AODE in SQL: rows as lines of (row, value), joined with themselves to pairs, and added up again.

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
from hebnb.foundation.arrays import BoolArray, FloatArray, IntArray
from hebnb.scores.pair_tables import Directed, SparseChildScores, sparse_scores
from hebnb.scores.tables import ScoreTable, scores_by_code
from hebnb.structures.aode import AODE

# Most pairs of values, and pairs of a value and a child, in a query.
_MOST_PAIRS = 200_000
_SWITCHES = ("conditioned", "unconditioned")
_PARENT = "{a}.{same}, {a}.{position}, {given}.{weight}"


def add_aode_scores(query: Query, model: AODE, columns: list[Keys]) -> list[str]:
    """Steps to the score of every class; the columns that they leave beside those of the table."""
    made = _add_combinations(query, columns, model)
    classes = range(model.counts_.classes.size)
    _add_values(query, model)
    steps = ["pooled", "alone"] if _add_estimates(query, model) else ["alone"]
    put_together = _mean if model._weighted_marginals is None else _product
    scores = ",\n".join(
        query.write("{sum} AS {score_c}", c, sum=put_together(query, model, c, "pooled" in steps)) for c in classes
    )
    joins = "".join(
        query.write("\nLEFT JOIN {step} ON {step}.{same} = {coded}.{same}", step=query.own(s)) for s in steps
    )
    query.add_step("scores", "SELECT {coded}.*,\n{made}\nFROM {coded}{joins}", made=scores, joins=joins)
    return [*made, *(f"score_{c}" for c in classes)]


def _add_combinations(query: Query, columns: list[Keys], model: AODE) -> list[str]:
    """The table with the position of every value, and the combinations that occur, one value a line."""
    names = [f"position_{f}" for f in range(len(columns))]
    positions, joins = zip(
        *(
            _position(query, f, keys, start)
            for f, (keys, start) in enumerate(zip(columns, model.counts_.layout.starts.tolist(), strict=False))
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


def _position(query: Query, f: int, keys: Keys, start: int) -> tuple[str, str]:
    """The position of a row's value as an expression, NULL where it is unknown; the join that it needs."""
    mine = query.own(f"key_{f}")
    if keys.is_code:
        return f"{mine} + {start}", ""
    found, join = "NULL", ""
    if keys.keys:
        rows = ([key, start + code] for code, key in zip(keys.codes, keys.keys, strict=True))
        query.add_table(f"f{f}", {"key": keys.kind, "position": "integer"}, rows)
        found, join = query.write("{f}.{position}", f=query.own(f"f{f}")), query.join_key(f)
    if keys.gap is not None:
        found = f"CASE WHEN {mine} IS NULL THEN {start + keys.gap} ELSE {found} END"
    return found, join


def _add_values(query: Query, model: AODE) -> None:
    """What every known value of a combination adds by itself, and the sums of that: naive Bayes."""
    layout, n_classes = model.counts_.layout, model.counts_.classes.size
    tables = {"alone": model._marginals}
    if model._weighted_marginals is not None:
        tables["factor"] = model._weighted_marginals
    numbers = [f"{part}_{c}" for part in tables for c in range(n_classes)]
    parts = np.hstack([_by_position(scores, layout.sizes.tolist(), n_classes) for scores in tables.values()])
    mean = np.concatenate(model.prior_mean_)
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


def _by_position(tables: tuple[ScoreTable, ...], sizes: list[int], n_classes: int) -> FloatArray:
    """What the value at every position adds to every class, of shape (W, C)."""
    parts = [scores_by_code(table, size, n_classes)[:-1] for table, size in zip(tables, sizes, strict=True)]
    return np.concatenate(parts)


def _add_estimates(query: Query, model: AODE) -> bool:
    """The estimates of the parents in effect, put together; whether there are any.

    A pair that never met has a part of the parent's value and child feature, ``given``, and a part of the child's
    value; ``excess`` is what those that met have on top. So no table grows with values × values.
    """
    used = ~np.isnan(model.concentration_[0])
    scores = sparse_scores(Directed.of(model.counts_, used), np.concatenate(model.prior_mean_), model.concentration_)
    met = _met(model, scores)
    acting = model._may_be_parent[:-1] & np.isin(model.counts_.layout.feature, model.parents_)
    pairs = len(met) + int(acting.sum()) * len(used)
    if pairs > _MOST_PAIRS:
        raise InputError(
            f"AODE has {pairs:,} pairs of values, and SQL is made for up to {_MOST_PAIRS:,}.",
            "Lower max_parent_categories, export to ONNX, or use NaiveBayes.",
        )
    given, excess = list(_given(model, scores, used, acting)), list(_excess(model, scores, met))
    if not given:
        return False
    classes = range(model.counts_.classes.size)
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
    (_pool_mean if model._weighted_marginals is None else _pool_product)(query, classes)
    return True


def _given(model: AODE, scores: SparseChildScores, used: BoolArray, acting: BoolArray) -> Iterator[list[Any]]:
    """For values that act as parents, and every child: the part of the child's score that its value has no share in.

    With 1 or 0 for whether the prior mean of that value belongs to it, and whether its naive Bayes factor does. Its
    own child a value is with log P(class, value).
    """
    layout, weights = model.counts_.layout, dict(zip(model.parents_.tolist(), _parent_weights(model), strict=True))
    nothing = np.zeros(model.counts_.classes.size)
    for p in np.flatnonzero(acting).tolist():
        i = int(layout.feature[p])
        for j, conditioned in enumerate(used[i].tolist()):
            apart = model._log_joint[:, p] if i == j else nothing
            part = scores.of_parent_value[:, p, j] if conditioned else apart
            yield [p, j, weights[i], conditioned, not conditioned and i != j, *part.tolist()]


def _parent_weights(model: AODE) -> list[float]:
    pooled = model._weighted_marginals is not None
    weights: list[float] = (model.parent_weights_ if pooled else np.ones(len(model.parents_))).tolist()
    return weights


def _met(model: AODE, scores: SparseChildScores) -> IntArray:
    """The keys of pairs of values that met in some class, the first of which may be a parent."""
    keys = np.unique(np.concatenate([cells.keys for cells in scores.excess]))
    met: IntArray = keys[model._may_be_parent[keys // model.counts_.layout.width]]
    return met


def _excess(model: AODE, scores: SparseChildScores, keys: IntArray) -> Iterator[list[Any]]:
    """Pairs of values that met, and what that adds."""
    width = model.counts_.layout.width
    for key, *parts in zip(keys.tolist(), *(cells.at(keys).tolist() for cells in scores.excess), strict=True):
        yield [*divmod(key, width), *parts]


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


def _mean(query: Query, model: AODE, c: int, has_estimates: bool) -> str:
    """The score of a class: of the parents, or where none is in effect of naive Bayes."""
    alone = _naive_bayes(query, model, c)
    return query.write("COALESCE({pooled}.{pooled_c}, {alone})", c, alone=alone) if has_estimates else alone


def _product(query: Query, model: AODE, c: int, has_estimates: bool) -> str:
    """The score of a class: the weighted sum, in which naive Bayes stands in for parents that are not in effect."""
    offset = model.class_offsets_[c] + (0.0 if len(model.parents_) else model.class_log_prior_[c])
    score, weight = "{offset} + COALESCE({alone}.{factor_c}, 0)", "{weight}"
    if has_estimates:
        score += " + COALESCE({pooled}.{pooled_c}, 0)"
        weight += " - COALESCE({pooled}.{in_effect}, 0)"
    return query.write(
        f"{score} + ({weight}) * ({{naive_bayes}})",
        c,
        offset=query.dialect.double(offset),
        weight=query.dialect.double(float(model.parent_weights_.sum())),
        naive_bayes=_naive_bayes(query, model, c),
    )


def _naive_bayes(query: Query, model: AODE, c: int) -> str:
    prior = query.dialect.double(model.class_log_prior_[c])
    return query.write("{prior} + COALESCE({alone}.{alone_c}, 0)", c, prior=prior)
