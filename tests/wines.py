"""Wines whose names hold the variety, which tells their colour."""

import numpy as np

# The share of red ones.
VARIETIES = {
    "merlot": 0.95, "pinot noir": 0.9, "cabernet sauvignon": 0.95, "syrah": 0.95, "malbec": 0.95,
    "chardonnay": 0.05, "riesling": 0.03, "sauvignon blanc": 0.03, "pinot gris": 0.05, "viognier": 0.05,
}  # fmt: skip
PLACES = ["", "napa valley", "sonoma coast", "mendoza", "maipo", "barossa", "alsace"]


def wines(rows, seed=0):
    """Columns of names and prices, and colours."""
    random = np.random.default_rng(seed)
    names, colours = [], []
    for _ in range(rows):
        variety = list(VARIETIES)[random.integers(len(VARIETIES))]
        words = [f"Chateau {random.integers(1000)}", variety, PLACES[random.integers(len(PLACES))]]
        names.append(" ".join(word for word in words if word).title())
        colours.append("red" if random.random() < VARIETIES[variety] else "white")
    return {"name": names, "price": random.lognormal(3, 0.5, rows).round(1).tolist()}, colours
