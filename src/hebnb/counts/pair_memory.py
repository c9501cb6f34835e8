"""What counting pairs takes, before any memory is taken."""

from __future__ import annotations

import numpy as np

from hebnb.columns.vocabulary import Vocabulary
from hebnb.counts.pairs import Caps, Layout, dense_fits
from hebnb.errors import InputError
from hebnb.foundation.arrays import THREADS
from hebnb.foundation.memory import free_memory

# Cells that concentrations are solved for at a time, by each thread.
CHUNK = 1 << 18


def estimated_bytes(layout: Layout, n_classes: int, n_rows: int, caps: Caps) -> float:
    """What fitting takes at its peak, about, from numbers known before anything is made.

    Pair cells, totals of (class, category, child), the positions of the rows, and what the solver works on at a time;
    the factors were measured.
    """
    counted = caps.counted(layout.sizes, n_classes)
    totals = 8.0 * n_classes * layout.width * len(layout.sizes)
    rows = 8.0 * n_rows * len(layout.sizes)
    possible = n_classes * np.outer(layout.sizes, layout.sizes.astype(float))[counted]
    if dense_fits(layout, n_classes, n_rows, counted):
        square = 8.0 * n_classes * layout.width**2
        solving = 100 * min(float(possible.sum()), THREADS * CHUNK)
        return square + max(4 * square, solving) + 3 * totals + 4 * rows  # scores are made when all is solved
    cells = float(np.minimum(n_rows, possible).sum())
    return 120 * cells + 5 * totals + 4 * rows


def family_bytes(vocabulary: Vocabulary, n_classes: int, n_rows: int, n_parents: int) -> float:
    """What tables of features and their parents take, which have a number for every class in every cell that occurs."""
    sizes = vocabulary.sizes.astype(float)
    of_parents = float(np.prod(np.sort(sizes)[::-1][:n_parents]))
    return 4 * 8.0 * n_classes * float(np.minimum(n_rows, sizes * of_parents).sum())


def check_memory(
    vocabulary: Vocabulary, n_classes: int, n_rows: int, caps: Caps, *, limit: float | None, besides: float, who: str
) -> None:
    """Complain of a table whose pairs would take more than the limit, by default half of what is free."""
    layout = Layout(vocabulary.sizes)
    needed = estimated_bytes(layout, n_classes, n_rows, caps) + besides
    limit = limit if limit is not None else free_memory() / 2
    if needed <= limit:
        return
    widest = int(np.argmax(layout.sizes))
    if 4 * layout.sizes[widest] > layout.width:
        remedy = f"leave out column {vocabulary.names[widest]!r} ({layout.sizes[widest]:,} categories)"
    else:
        remedy = f"use fewer of the {len(layout.sizes):,} columns"
    lower = "Lower max_parent_categories or max_joint_cells, " if caps != Caps(None, None) else "Set max_categories, "
    raise InputError(
        f"{who} needs about {needed / 1e6:,.0f} MB for its tables and memory_limit is {limit / 1e6:,.0f} MB.",
        f"{lower}{remedy}, or raise memory_limit.",
    )
