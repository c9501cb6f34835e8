"""Random tables of all kinds for ``soak.py``: every type, gaps, constants, identifiers, names that mean mischief."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from hebnb import AODE, HNB, KDB, TAN, EvidenceClassifier, NaiveBayes
from hebnb.smoothing.smoothers import SMOOTHERS

WORDS = [
    *("red", "Red", "RED ", " red", "green", "blue", "naïve", "nai\u0308ve", "Straße", "ΑΣΣ", "İ", "東京", "😀"),
    *("", " ", "NULL", "NaN", "None", "nan", "true", "0", "007", "1.10", "1e5", "2024-01-02", "#N/A", "# no comment"),
    *("'; DROP TABLE rows; --", '"quoted", and \\ backslash', "two\nlines", "cr\r\nlf", "\tTab", "\x1b[2J", "\\N"),
    *("<script>alert(1)</script>", "=1+1", "-2+3", "@SUM(A1)", "\u202eright to left", "[bold red]markup[/]"),
    *("<unseen>", "<missing>", "(missing)", "%s {x} $1 ?", "x" * 3_000, "line\u2028separator", "👩‍👩‍👧"),
]  # fmt: skip
NAMES = [
    *("a", "A", "b", "B", "colour", "Größe", "größe", "two words", "with.dot", "with,comma", "it's", 'a "quote"'),
    *("select", "rows", "value", "key", "score", "hebnb_key", "__hebnb_key", "row", "class", "feature", "0", "1"),
    *("<b>bold</b>", "two\nlines", "\u202eleft", "=1+1", "#", "😀", "proba", "x" * 200, "$1", "{x}", "%s", "--"),
    *("NULL", "`tick`"),
]  # fmt: skip
START = dt.datetime(1969, 12, 31, 23, 59, 30)
EXTREMES = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 0.1, 0.2, 0.1 + 0.2, 1.7e308, -1.7e308, 2.0**53, 2.0**53 + 2, 1 / 3]

Pool = tuple[pa.DataType, Sequence[Any]]


def _spans(rng: np.random.Generator, many: int) -> list[dt.timedelta]:
    """Durations before and after nothing; some in whole days, others to the microsecond."""
    if rng.random() < 0.5:
        return [dt.timedelta(days=n - many // 3) for n in range(many)]
    return [dt.timedelta(microseconds=int(n)) for n in rng.integers(-(10**13), 10**13, many)]


def _moments(rng: np.random.Generator, many: int) -> list[dt.datetime]:
    return [START + span for span in _spans(rng, many)]


def _thousandths(rng: np.random.Generator, many: int) -> list[Decimal]:
    return [Decimal(int(n)) / 1000 for n in rng.integers(-40_000, 40_000, many)]


def _hours(many: int) -> list[dt.time]:
    return [(START + dt.timedelta(minutes=11 * n)).time() for n in range(many)]


def _written_days(many: int) -> list[str]:
    """Days of which some could be months."""
    return [f"{5 * n % 28 + 1:02}/{n % 12 + 1:02}/2024" for n in range(many)]


# Values that a column of each type may have: of a random generator and about how many there should be.
POOLS: dict[str, Callable[[np.random.Generator, int], Pool]] = {
    "text": lambda rng, many: (pa.string(), rng.permutation(np.array(WORDS, dtype=object))[:many].tolist()),
    "numbers with marks": lambda rng, many: (pa.string(), ["#N/A", *map(str, range(many))]),
    "written dates": lambda rng, many: (pa.string(), _written_days(many)),
    "written numbers": lambda rng, many: (pa.string(), [f"{n // 10}.{n % 10}0" for n in range(many)]),
    "universal identifiers": lambda rng, many: (pa.string(), [str(UUID(int=2**90 * n)) for n in range(many)]),
    "large text": lambda rng, many: (pa.large_string(), [f"v{n}" for n in range(many)]),
    "categories": lambda rng, many: (pa.dictionary(pa.int32(), pa.string()), [f"c{n}" for n in range(many)]),
    "integers": lambda rng, many: (pa.int64(), (np.arange(many) - many // 2).tolist()),
    "small integers": lambda rng, many: (pa.int8(), (np.arange(min(many, 200)) - 100).tolist()),
    "large integers": lambda rng, many: (pa.int64(), [2**62 + n for n in range(many)]),
    "unsigned integers": lambda rng, many: (pa.uint64(), [2**63 + n for n in range(many)]),
    "floats": lambda rng, many: (pa.float64(), rng.normal(0, 10.0 ** rng.integers(-3, 6), many).tolist()),
    "extreme floats": lambda rng, many: (pa.float64(), rng.permutation(EXTREMES).tolist()),
    "single floats": lambda rng, many: (pa.float32(), rng.normal(size=many).astype(np.float32).tolist()),
    "decimals": lambda rng, many: (pa.decimal128(9, 3), _thousandths(rng, many)),
    "whole decimals": lambda rng, many: (pa.decimal128(12, 0), [Decimal(n - many // 2) for n in range(many)]),
    "wide integers": lambda rng, many: (pa.decimal128(38, 0), [Decimal(2**80 + n) for n in range(many)]),
    "booleans": lambda rng, many: (pa.bool_(), [True, False]),
    "dates": lambda rng, many: (pa.date32(), [START.date() + dt.timedelta(days=7 * n) for n in range(many)]),
    "moments": lambda rng, many: (pa.timestamp("us"), _moments(rng, many)),
    "instants": lambda rng, many: (pa.timestamp("us", "UTC"), [m.replace(tzinfo=dt.UTC) for m in _moments(rng, many)]),
    "times of day": lambda rng, many: (pa.time64("us"), _hours(many)),
    "durations": lambda rng, many: (pa.duration("us"), _spans(rng, many)),
    "identifiers": lambda rng, many: (pa.string(), [f"id-{n:06d}" for n in range(10_000)]),
}  # fmt: skip
LABELS: list[Pool] = [
    (pa.string(), ["no", "yes", "perhaps", "never"]),
    (pa.int64(), [0, 1, 2, 3]),
    (pa.bool_(), [False, True]),
    (pa.string(), ["'; DROP TABLE rows; --", "<b>", "two\nlines", "😀"]),
]


@dataclass
class Case:
    """A table to learn from, new rows, and a model; all of it follows from the seed."""

    seed: int
    kinds: list[str]
    X: pa.Table
    y: pa.Array
    weight: pa.Array | None
    new: pa.Table
    make: Callable[..., Any]

    def __str__(self) -> str:
        made = ", ".join(f"{name[:20]!r}: {kind}" for name, kind in zip(self.X.column_names, self.kinds, strict=True))
        weighted = "weighted " if self.weight is not None else ""
        return f"{self.make()} of {len(self.y)} {weighted}rows, {len(self.y.unique())} classes; {made}"


def _taken(kind: pa.DataType, values: Sequence[Any], codes: np.ndarray, gaps: np.ndarray) -> pa.Array:
    return pa.array([None if gap else values[code] for code, gap in zip(codes, gaps, strict=True)], type=kind)


def _column(rng: np.random.Generator, name: str, y: np.ndarray, n_new: int) -> tuple[pa.Array, pa.Array]:
    """A column that depends on the class, and its new rows, with values that were never seen."""
    rows = len(y)
    kind, values = POOLS[name](rng, int(rng.choice([1, 2, 4, 12, 40, 300])))
    seen = max(1, len(values) * 3 // 4)
    codes = np.where(rng.random(rows) < 0.5, y * 7 % seen, rng.integers(seen, size=rows))
    if name == "identifiers":
        codes = rng.permutation(seen)[:rows]
    share = rng.choice([0, 0, 0.15, 0.6, 1], p=[0.3, 0.3, 0.25, 0.1, 0.05])
    learned = _taken(kind, values, codes, rng.random(rows) < share)
    codes = np.where(rng.random(n_new) < 0.7, rng.choice(codes, n_new), rng.integers(len(values), size=n_new))
    return learned, _taken(kind, values, codes, rng.random(n_new) < max(share, 0.1))


def _model(rng: np.random.Generator) -> Callable[..., Any]:
    """Any structure with any of its parameters."""
    structure = [NaiveBayes, AODE, TAN, KDB, HNB, EvidenceClassifier][rng.integers(6)]
    missing = str(rng.choice(["category", "ignore"]))
    if structure is EvidenceClassifier:
        return partial(structure, missing=missing, max_crosses=int(rng.choice([0, 4, 200])))
    weighting = [None, "loo", "sqrt-mi"][rng.integers(2 if structure is AODE else 3)]
    smoothing = str(rng.choice(list(SMOOTHERS)))
    n_bins, more = int(rng.choice([2, 5, 10])), {"k": int(rng.integers(1, 4))} if structure is KDB else {}
    return partial(structure, **more, smoothing=smoothing, weighting=weighting, missing=missing, n_bins=n_bins)


def case_of(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng(seed)
    rows, n_new = int(rng.choice([1, 2, 5, 30, 80, 200], p=[0.05, 0.05, 0.1, 0.3, 0.3, 0.2])), 25
    kind, labels = LABELS[rng.choice(len(LABELS), p=[0.55, 0.15, 0.15, 0.15])]
    classes = rng.integers(rng.integers(1, len(labels) + 1), size=rows)
    kinds = [str(name) for name in rng.choice(list(POOLS), int(rng.integers(1, 7)))]
    names = rng.choice(np.array(NAMES, dtype=object), len(kinds), replace=False)
    columns = {name: _column(rng, own, classes, n_new) for name, own in zip(names, kinds, strict=True)}
    weight = pa.array(rng.integers(1, 5, rows) / 2) if rng.random() < 0.2 else None
    return Case(
        seed=seed,
        kinds=kinds,
        X=pa.table({name: learned for name, (learned, _) in columns.items()}),
        y=pa.array([labels[code] for code in classes], type=kind),
        weight=weight,
        new=pa.table({name: new for name, (_, new) in columns.items()}),
        make=_model(rng),
    )
