"""What is odd about a table: a rule for every kind of alert, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.stats import entropy

from hebnb.columns.column import Name, is_fractional
from hebnb.counts.encoded import EncodedRows
from hebnb.estimators.alerts import FEWEST_UNIQUE, UNIQUE, Alert, leaks, named, no_classes, only_ids
from hebnb.foundation.printable import visible
from hebnb.overview.order import are_sorted
from hebnb.overview.repeats import repeats
from hebnb.overview.seen import Seen
from hebnb.overview.telling import Told
from hebnb.overview.texts import are_dates, words_of

# From this share of gaps on, what the other rows tell rests on few of them.
MOST_GAPS = 0.95
# Text with so many words a value, of which half the rows have one that no other row has, is read by nobody here.
FEWEST_WORDS = 4.0
# Classes of fewer rows than this learn no smoothing of their own.
FEWEST_OF_CLASS = 10
# Whole numbers as a target are classes up to this many; beyond it they may be a number.
MOST_WHOLE_CLASSES = 50
# Whole numbers are worth a word if they tell so much more as numbers than as names, and order at all if it tells such
# a share of what there is to know about the class.
MORE_AS_NUMBERS, WORTH_A_WORD = 1.1, 0.01
# Alerts of a kind that are told one by one, and columns that are named together.
_MOST_APART, _MOST_NAMED = 3, 8


@dataclass(frozen=True, eq=False)
class Look:
    """What rules look at.

    Parameters
    ----------
    columns : tuple of Seen
    told : Told
        What the columns tell about the class.
    rows : EncodedRows, optional
        The rows with their classes, if there is a target.
    unlabelled : int
        Rows without a label, which are not looked at.
    numeric : set of names
        Columns that the user says are numbers.
    whole : bool
        Whether these are all rows of the table, in their order, rather than some.
    repeated : list of str
        Names that several columns had.
    """

    columns: tuple[Seen, ...]
    told: Told
    rows: EncodedRows | None = None
    unlabelled: int = 0
    numeric: frozenset[Name] = frozenset()
    whole: bool = True
    repeated: Sequence[str] = ()

    @property
    def n_rows(self) -> int:
        """How many rows are looked at."""
        return len(self.columns[0].codes)

    def is_telling(self, f: int) -> bool:
        """Whether a column tells something worth a word."""
        counts = self.told.counts
        return counts is not None and bool(self.told.gains[f] >= WORTH_A_WORD * entropy(counts.class_count))

    def repeats_no_value(self, seen: Seen) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.whole and self.n_rows >= FEWEST_UNIQUE and seen.n_alone >= UNIQUE * self.n_rows


def of_look(look: Look) -> tuple[Alert, ...]:
    """All that is odd."""
    return tuple(alert for rule in RULES for alert in rule(look))


def _from_counts(look: Look) -> Iterable[Alert]:
    """What a fit warns of, too."""
    if look.told.counts is None:
        return []
    ids = only_ids(look.told.counts) if all(map(look.repeats_no_value, look.columns)) else []
    return [*leaks(look.told.counts), *_no_classes(look), *ids]


def _target(look: Look) -> Iterator[Alert]:
    """Targets that are no classes, or a single one."""
    if look.rows is None:
        return
    classes = look.rows.classes.values
    remedy = "Cut it into classes first, such as below and above a limit; hebnb does no regression."
    if any(map(is_fractional, classes.tolist())):
        yield Alert(None, "number as target", "The target holds numbers that are not whole.", remedy)
    elif classes.dtype.kind in "iu" and len(classes) > MOST_WHOLE_CLASSES and not _no_classes(look):
        found = f"The target holds {len(classes):,} different whole numbers: is it a number rather than a class?"
        yield Alert(None, "number as target", found, remedy)
    elif len(classes) == 1:
        label = visible(str(classes[0]), 40)
        found = f"The target is {label!r} in every row; there is nothing to tell apart."
        yield Alert(None, "one class", found, "Name another target, or add rows of other classes.")


def _no_classes(look: Look) -> list[Alert]:
    """Labels that are ids or numbers, by all rows and not by a sample, in which classes have fewer."""
    if look.rows is None or look.told.counts is None:
        return []
    count = np.bincount(look.rows.labels, minlength=look.rows.classes.size).astype(float)
    return no_classes(replace(look.told.counts, classes=look.rows.classes, class_count=count))


def _unlabelled(look: Look) -> Iterator[Alert]:
    if look.unlabelled:
        found = f"{look.unlabelled:,} rows have no label; they were left out here."
        yield Alert(None, "no label", found, "Leave them out of fit, or give them a label of their own.")


def _rare_classes(look: Look) -> Iterator[Alert]:
    """Classes of which little can be learned."""
    if look.rows is None or look.told.counts is None or _no_classes(look):
        return
    classes = look.rows.classes.values
    rows = np.bincount(look.rows.labels, minlength=len(classes))
    rare = np.flatnonzero(rows < FEWEST_OF_CLASS)
    if len(rare) and len(classes) > 1:
        shown = [f"{visible(str(classes[c]), 40)} ({rows[c]})" for c in rare[:_MOST_NAMED].tolist()]
        what = "1 class has" if len(rare) == 1 else f"{len(rare)} classes have"
        found = f"{what} fewer than {FEWEST_OF_CLASS} rows: {_listed(shown, len(rare))}."
        yield Alert(None, "rare class", found, "Join them with others, or expect little of them.")


def _sorted(look: Look) -> Iterator[Alert]:
    if look.rows is not None and look.whole and look.told.counts is not None and are_sorted(look.rows.labels):
        yield Alert(
            None,
            "sorted",
            "Neighbouring rows are alike: the table seems to be sorted, by time or place perhaps. Folds at random then "
            "flatter every method.",
            "Part the rows by a column that tells when they were or whose they are: hebnb report has --time and "
            "--group.",
        )


def _repeated_names(look: Look) -> Iterator[Alert]:
    for name in look.repeated:
        found = f"{named(name)}: several columns have this name; all but the first were renamed."
        yield Alert(name, "repeated name", found, "Give every column a name of its own.")


def _ids(look: Look) -> Iterator[Alert]:
    for f, seen in enumerate(look.columns):
        numbers = seen.is_cut and seen.holds != "whole numbers"
        if (
            numbers
            or seen.name in look.numeric
            or not look.repeats_no_value(seen)
            or _is_prose(seen)
            or _is_dated(seen)
        ):
            continue
        found = f"{named(seen.name)} has {seen.n_values:,} values in {look.n_rows:,} rows: an id, it seems."
        if seen.is_cut and look.is_telling(f):
            found += " Its order tells the class, as in a table that was put together from parts."
        yield Alert(seen.name, "id", found, "Leave it out: new rows will have other values.")


def _constants(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if seen.n_values == 1 and not seen.n_gaps and look.n_rows > 1:
            found = f"{named(seen.name)} has the same value in every row: {seen.shown(0)}."
            yield Alert(seen.name, "constant", found, "Leave it out: what never differs tells nothing.")


def _gaps(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if seen.n_gaps >= MOST_GAPS * look.n_rows:
            some = f"{seen.n_gaps:,} of {look.n_rows:,} values are missing"
            found = f"{named(seen.name)}: {some if seen.n_values else 'every value is missing'}."
            yield Alert(seen.name, "gaps", found, "Leave it out, or find out what became of them.")


def _repeats(look: Look) -> Iterator[Alert]:
    for f, other in repeats(look.columns).items():
        names = named(look.columns[f].name), named(look.columns[other].name).replace("Column", "column", 1)
        yield Alert(
            look.columns[f].name,
            "duplicate",
            f"{names[0]} says the same as {names[1]}: their values go together one to one.",
            "Leave one of them out: methods without learned weights count it twice.",
        )


def _dates_in_text(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if _is_dated(seen):
            found = (
                f"{named(seen.name)} is text that looks like dates, such as {seen.values[0]!r}: every day is a name."
            )
            yield Alert(seen.name, "dates in text", found, "Convert it to dates, which have an order.")


def _prose(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if _is_prose(seen):
            found = f"{named(seen.name)} is free text of {words_of(seen):.0f} words a value, most of which occur once."
            remedy = "Make columns of the words that matter, with ColumnParts or --parts, or leave it out."
            yield Alert(seen.name, "free text", found, remedy)


def _mixed(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if seen.holds == "mixed types":
            types = sorted({type(value).__name__ for value in seen.values.tolist()})
            found = f"{named(seen.name)} holds values of several types: {', '.join(types)}. '1' and 1 are not equal."
            yield Alert(seen.name, "mixed types", found, "Convert it to one type.")


def _whole_numbers(look: Look) -> Iterator[Alert]:
    for f, readings in look.told.readings.items():
        seen = look.columns[f]
        is_more = readings.are_numbers and readings.numbers >= MORE_AS_NUMBERS * readings.names
        if is_more and look.is_telling(f) and not look.repeats_no_value(seen):
            rows = look.told.counts.class_count.sum() if look.told.counts is not None else 1.0
            yield Alert(
                seen.name,
                "whole numbers",
                f"{named(seen.name)} holds whole numbers that tell more as numbers than as names: "
                f"{readings.numbers / rows:.4f} nats a row instead of {readings.names / rows:.4f}.",
                "EvidenceClassifier takes them for numbers by itself; other classifiers need to be told with "
                "numeric_features, or --numeric. If they are ids, categorical_features or --categorical says so.",
            )


def _dates(look: Look) -> Iterator[Alert]:
    for seen in look.columns:
        if seen.holds in ("dates", "times"):
            found = (
                f"{named(seen.name)} holds {seen.holds}, {seen.examples}: rows to come may be later than all of these."
            )
            remedy = (
                "Try methods on later rows, and make columns of what comes again, such as the month or the weekday, "
                "with ColumnParts or --parts."
            )
            yield Alert(seen.name, "dates", found, remedy)


def _is_dated(seen: Seen) -> bool:
    return seen.holds == "text" and are_dates(seen)


def _is_prose(seen: Seen) -> bool:
    rows = len(seen.codes) - seen.n_gaps
    return (
        seen.holds == "text" and rows >= FEWEST_UNIQUE and 2 * seen.n_alone >= rows and words_of(seen) >= FEWEST_WORDS
    )


RULES: list[Callable[[Look], Iterable[Alert]]] = [
    _from_counts,
    _target,
    _sorted,
    _unlabelled,
    _rare_classes,
    _repeated_names,
    _ids,
    _repeats,
    _constants,
    _gaps,
    _dates_in_text,
    _prose,
    _mixed,
    _whole_numbers,
    _dates,
]


class Paragraph(NamedTuple):
    """An alert, or several of a kind, as it is read, and how many it stands for."""

    kind: str
    text: str
    number: int = 1


def together(alerts: Sequence[Alert]) -> list[Paragraph]:
    """Alerts as paragraphs: of a kind that many columns have, one is told and the other columns are named.

    Examples
    --------
    >>> alerts = [Alert(name, "constant", f"Column {name!r} is 0 in every row.", "Leave it out.") for name in "abcdef"]
    >>> together(alerts)[0].text
    "Column 'a' is 0 in every row. Leave it out. So it is with b, c, d, e, f."
    """
    found: list[Paragraph] = []
    for kind, group in groupby(alerts, key=lambda alert: alert.kind):
        own = list(group)
        if len(own) <= _MOST_APART:
            found += (Paragraph(kind, str(alert)) for alert in own)
            continue
        others = [visible(str(alert.column), 40) for alert in own[1 : _MOST_NAMED + 1]]
        found.append(Paragraph(kind, f"{own[0]} So it is with {_listed(others, len(own) - 1)}.", len(own)))
    return found


def _listed(names: Sequence[str], number: int) -> str:
    """Some names, and how many more there are."""
    more = f" and {number - len(names):,} more" if number > len(names) else ""
    return ", ".join(names) + more
