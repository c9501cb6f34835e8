"""What a classifier has learned, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hebnb.columns.kinds import Categories
from hebnb.columns.vocabulary import Dropped
from hebnb.counts.sample import Sample
from hebnb.scores.score_tables import ScoreTables


@dataclass(frozen=True)
class AsWritten:
    """How values were written, where they were text in files.

    Parameters
    ----------
    formats : dict of str to str
        How the dates, or numbers, of some columns were written.
    gaps : tuple of str
        What the user said means a gap.
    """

    formats: Mapping[str, str] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Learned:
    """All that a classifier has learned. It is replaced as a whole, so that nobody ever sees half of it.

    Parameters
    ----------
    scores : ScoreTables
    dropped : dict
        What a limit on categories left out.
    allowed : Categories, optional
        All labels that may occur in further batches.
    kept : Kept, optional
        What is kept of the rows for further batches.
    written : AsWritten
        How values were written, where they were text in files.
    """

    scores: ScoreTables
    dropped: Dropped = field(default_factory=dict)
    allowed: Categories | None = None
    kept: Kept | None = None
    written: AsWritten = AsWritten()


@dataclass(frozen=True)
class Kept:
    """What is kept of the rows of earlier batches, and the source of the next batch's random keys."""

    sample: Sample
    random: np.random.RandomState
