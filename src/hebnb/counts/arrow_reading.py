"""Counts from an Arrow table that anybody may have made: everything is checked before it is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebnb import errors
from hebnb.columns.column import in_order
from hebnb.columns.kinds import KINDS, MISSING_POLICIES, Bins, Categories, Kind, MissingPolicy
from hebnb.columns.reading import ReadingParameters
from hebnb.columns.tree_memory import bytes_of_trees
from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.arrow_lines import HINT, TYPES, CountLines, Texts
from hebnb.counts.families import FamilyCounts
from hebnb.counts.lines import Lines
from hebnb.counts.pairs import PairCounts
from hebnb.counts.single import Counts, tabulate
from hebnb.errors import HebnbError, InputError, ParameterError
from hebnb.foundation.arrays import Array, FloatArray, IntArray
from hebnb.foundation.json_values import from_json
from hebnb.foundation.memory import free_memory, honest_bytes

# How far sums of weights may be off.
_ROUNDING = 1e-6
# Bytes that a cell of a small table takes, with what is made of it.
_OF_CELL = 24.0


def counts_of_table(
    given: Any,
    types: Mapping[str, str] | None = None,
    bin_edges: Mapping[str, Sequence[float]] | None = None,
    missing: MissingPolicy = "category",
) -> Counts:
    """The counts in a table, wherever it comes from; an error says what is wrong with it."""
    lines = CountLines.read(given)
    try:
        described = lines.described()
        return _Reader(lines, described or _undescribed(lines, types, bin_edges, missing), described is None).counts()
    except HebnbError:
        raise
    except Exception as error:  # whatever else metadata can be made to cause
        raise InputError(
            f"The lines of this table of counts and what is said of them do not fit together "
            f"({type(error).__name__}: {str(error)[:200]}).",
            "They may have been altered; make the table again.",
        ) from error


def _undescribed(
    lines: CountLines,
    types: Mapping[str, str] | None,
    bin_edges: Mapping[str, Sequence[float]] | None,
    missing: MissingPolicy,
) -> dict[str, Any]:
    """What metadata would say of a table that somebody made."""
    names = list(dict.fromkeys(name for group in lines.groups for name in group))
    if not names:
        raise InputError("The table counts no column.", HINT)
    apart = next((name for name in names if (name,) not in lines.groups), None)
    if apart is not None:
        raise InputError(f"{errors.column(apart)} has no lines by itself.", "Count every column by itself too.")
    for given in (types or {}), (bin_edges or {}):
        for name in given:
            if name not in names:
                raise errors.unknown_name("column", name, names)
    for name, kind in (types or {}).items():
        if kind not in TYPES:
            raise errors.unknown_name(f"types[{name!r}]", kind, list(TYPES))
    edges = ReadingParameters(bin_edges=bin_edges, missing=missing).of(tuple(names)).given_edges
    if both := sorted(edges.keys() & (types or {}).keys()):
        raise ParameterError(
            f"types and bin_edges both have {both[0]!r}.", "Values of a cut column are numbers of bins."
        )
    features: list[dict[str, Any]] = []
    for name in names:
        if name in edges:
            cut = {"kind": Bins.name, "missing": False, "of_times": False, "edges": edges[name].tolist()}
            features.append(cut | {"name": name})
        else:
            features.append({"kind": Categories.name, "type": (types or {}).get(name, "text"), "name": name})
    sort = "pairs" if any(len(group) > 1 for group in lines.groups) else "single"
    return {"sort": sort, "missing": missing, "features": features}


@dataclass(frozen=True, eq=False)
class _Reader:
    """Makes counts of lines and of what is said about them; hand-made lines have to add up."""

    lines: CountLines
    described: Mapping[str, Any]
    by_hand: bool

    def counts(self) -> Counts:
        described = self.described
        kinds: set[type[Counts]] = {Counts, PairCounts, FamilyCounts, *Counts.__subclasses__()}
        sorts = {kind.sort: kind for kind in kinds}
        if described["sort"] not in sorts:
            raise InputError(f"The table holds counts of a sort {described['sort']!r} that is not known.", HINT)
        if described["missing"] not in MISSING_POLICIES:
            raise errors.unknown_name("missing", described["missing"], list(MISSING_POLICIES))
        names = tuple(from_json(own["name"]) for own in described["features"])
        texts = [str(name) for name in names]
        if len(set(texts)) != len(texts) or not texts:
            raise ValueError("columns occur twice")
        if {type(name) for name in names} not in ({str}, {int}):
            raise ValueError("some columns have no name")
        known = set(texts)
        unknown = next((name for group in self.lines.groups for name in group if name not in known), None)
        if unknown is not None:
            raise InputError(
                f"{errors.column(unknown)} is counted, and nothing is said of it.", "Count all parts alike."
            )
        self._pay_for_trees()
        classes, class_ = self._classes()
        features, codes = [], []
        for own, text in zip(described["features"], texts, strict=True):
            feature, coded = self._feature(own, text)
            features.append(feature)
            codes.append(coded)
        self._pay(features, codes, classes.size)
        tables = tuple(
            tabulate(own.codes, class_[own.lines], (kind.size, classes.size), self.lines.count[own.lines])
            for kind, own in zip(features, codes, strict=True)
        )
        vocabulary = Vocabulary(names, tuple(features), described["missing"])
        single = Counts(classes, self._class_count(tables, class_, classes), vocabulary, tables)
        self._check_totals(single)
        places = {name: f for f, name in enumerate(texts)}
        further = {}
        for group, lines in self.lines.groups.items():
            if len(group) > 1:
                columns = tuple(places[name] for name in group)
                further[columns] = self._cells(columns, lines, class_[lines], codes)
        return sorts[described["sort"]].of_lines(single, further, described)

    def _classes(self) -> tuple[Categories, IntArray]:
        """The classes in order, and that of every line."""
        said = self.described.get("classes")
        labels = self.lines.labels
        if said is None:
            values = in_order(labels)
        else:
            values = in_order(from_json(said["values"]))
            if len(set(values.tolist())) != len(values):
                raise ValueError("classes occur twice")
            if said["type"] == "json":
                labels = [TYPES["json"](label) for label in labels]
        classes = Categories(values, missing=False)
        held = np.empty(len(labels), dtype=object)
        held[:] = labels
        codes = classes.codes_of(held)
        unknown = np.flatnonzero(codes == classes.size)
        if len(unknown):
            raise InputError(f"Column 'class': {labels[int(unknown[0])]!r} is not one of the classes.", HINT)
        return classes, codes[self.lines.class_]

    def _feature(self, described: Mapping[str, Any], name: str) -> tuple[Kind, _Coded]:
        lines = self.lines.groups.get((name,), np.empty(0, dtype=np.intp))
        values = self.lines.values[0][lines]
        if described["kind"] == Categories.name:
            return _categories(lines, values, described, name, self.described["missing"])
        kind = next(kind for kind in KINDS if kind.name == described["kind"])
        edges = np.array(described["edges"], dtype=float) if "edges" in described else None
        whole = kind.restored({**described, "missing": True, "empty": False}, edges)
        known = {text: code for code, text in enumerate(whole.computed_by(Texts()))}
        codes = _looked_up(values, known, whole.missing_code, name)
        own = np.bincount(codes, self.lines.count[lines], whole.size).astype(float)
        kind_of_rows = whole.with_rows(own) if whole.cut_at is not None else _tree(whole, own)
        place = np.full(whole.size + 1, kind_of_rows.size)
        place[kind_of_rows.codes_in(whole)] = np.arange(kind_of_rows.size)
        known = {text: int(place[code]) for text, code in known.items()}
        return kind_of_rows, _Coded(name, lines, place[codes], known, kind_of_rows)

    def _cells(self, columns: tuple[int, ...], lines: IntArray, class_: IntArray, codes: Sequence[_Coded]) -> Lines:
        values = [self.lines.values[place][lines] for place in range(len(columns))]
        if self.described["sort"] == "evidence":  # numbers of nodes
            numbers = [np.array([int(text) for text in own.tolist()], dtype=np.intp) for own in values]
            return Lines(columns, np.stack(numbers, axis=1), class_, self.lines.count[lines], by_number=True)
        own = [
            _looked_up(texts, codes[f].known, codes[f].gap, codes[f].name)
            for f, texts in zip(columns, values, strict=True)
        ]
        return Lines(columns, np.stack(own, axis=1), class_, self.lines.count[lines])

    def _class_count(self, tables: Sequence[Any], class_: IntArray, classes: Categories) -> FloatArray:
        """What lines without a column say, or the sum of what those of the first say."""
        lines = self.lines.groups.get(())
        if lines is not None:
            return np.bincount(class_[lines], self.lines.count[lines], classes.size).astype(float)
        if self.described["missing"] == "ignore":
            raise InputError(
                "Where gaps are left out, lines have to count the rows of every class.",
                "Add lines in which feature and value are null.",
            )
        return np.asarray(tables[0].T @ np.ones(tables[0].shape[0])).astype(float)

    def _check_totals(self, single: Counts) -> None:
        """Complain of columns that have other rows than the classes have."""
        if not single.class_count.sum() > 0:
            raise InputError("The table counts no row.", HINT)
        room = _ROUNDING * (1 + single.class_count)[:, np.newaxis]
        more = single.totals > single.class_count[:, np.newaxis] + room
        if self.by_hand and self.described["missing"] != "ignore":
            more |= single.totals < single.class_count[:, np.newaxis] - room
        if more.any():
            c, f = (int(at) for at in np.argwhere(more)[0])
            raise InputError(
                f"{errors.column(single.vocabulary.names[f])} counts {single.totals[c, f]:,.6g} rows of class "
                f"{single.classes.values.tolist()[c]!r}, and there are {single.class_count[c]:,.6g}.",
                "Count the same rows for every column; a gap is a line whose value is null.",
            )

    def _pay_for_trees(self) -> None:
        trees = [own for own in self.described["features"] if "hierarchy" in own]
        if trees:
            _refuse_beyond(self.lines.table, bytes_of_trees(trees))

    def _pay(self, features: Sequence[Kind], codes: Sequence[_Coded], n_classes: int) -> None:
        """Complain before a table of few lines and many classes fills the memory; what is mostly nothing is sparse."""
        sizes = [float(kind.size) for kind in features]
        tables = [min(n_classes * size, _held(own.lines, 1 << 16)) for size, own in zip(sizes, codes, strict=True)]
        cells = n_classes * len(features) + sum(tables)
        if self.described["sort"] == "pairs":
            cells += min(n_classes * sum(sizes) ** 2, _held(self.lines.count, 1 << 20))
        _refuse_beyond(self.lines.table, _OF_CELL * cells)


def _held(lines: Array, small: int) -> float:
    """How many cells a table of these lines has at most, if it is held like any other."""
    return float(max(small, 4 * len(lines)))


def _refuse_beyond(table: Any, needed: float) -> None:
    limit = min(honest_bytes(table.nbytes), free_memory() / 2)
    if needed > limit:
        raise InputError(
            f"These counts would take {needed / 1e6:,.0f} MB of memory or more, and a table of "
            f"{table.nbytes / 1e6:,.1f} MB is allowed {limit / 1e6:,.0f} MB.",
            "Leave out columns, or classes that hardly ever occur.",
        )


@dataclass(frozen=True, eq=False)
class _Coded:
    """The codes of the lines of one column, and what other lines need to find theirs."""

    name: str
    lines: IntArray
    codes: IntArray
    known: Mapping[str, int]
    kind: Kind

    @property
    def gap(self) -> int:
        return self.kind.missing_code


def _categories(
    lines: IntArray, values: Array, described: Mapping[str, Any], name: str, missing: MissingPolicy
) -> tuple[Kind, _Coded]:
    read = TYPES[described["type"]]
    texts = list(dict.fromkeys(text for text in values.tolist() if text is not None))
    found = {}
    for text in texts:
        try:
            found[text] = read(text)
            hash(found[text])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{errors.column(name)}: {text[:60]!r} is no {described['type']}.", "Correct it, or say another type."
            ) from error
    gaps = np.array([text is None for text in values.tolist()], dtype=bool)
    if gaps.any() and missing != "category":
        raise InputError(f"{errors.column(name)}: gaps are counted, and missing={missing!r}.", "Leave these lines out.")
    kind = Categories(in_order(list(dict.fromkeys(found.values()))), bool(gaps.any()))
    code = {value: at for at, value in enumerate(kind.values.tolist())}
    known = {text: code[value] for text, value in found.items()}
    return kind, _Coded(name, lines, _looked_up(values, known, kind.missing_code, name), known, kind)


def _looked_up(values: Array, known: Mapping[str, int], gap: int, name: str) -> IntArray:
    """The codes of texts, that of a gap for None."""
    texts = values.tolist()
    try:
        return np.fromiter((gap if text is None else known[text] for text in texts), np.intp, len(texts))
    except KeyError as error:
        raise InputError(
            f"{errors.column(name)}: {str(error.args[0])[:60]!r} is not one of its values.",
            "Lines of a column by itself have to have all its values; those of a cut column are numbers of bins.",
        ) from error


def _tree(whole: Kind, rows: FloatArray) -> Kind:
    """A tree as it was described, with a gap only if there is one."""
    rows = np.where(np.arange(whole.size) < whole.missing_code, np.maximum(rows, 1.0), rows)
    return whole.with_rows(rows)
