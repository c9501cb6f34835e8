"""
Rows that come later: ``partial_fit``, counts and drift
=======================================================

Tables grow, and what was true in January may not be true in July. Counts add, so a model of all months so far, of the
last three, or of everything but one bad week is a sum. This example goes through the months of a year as one would
have seen them.
"""

# %%
# The flights of a year, month by month. ``month`` itself is left out: next month is a value nobody has seen.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from hebnb import NaiveBayes
from hebnb.datasets import load_flights

X, y = load_flights(backend="pandas")
months = [(X[X["month"] == m].drop(columns="month"), y[X["month"] == m]) for m in range(1, 13)]

# %%
# ``partial_fit`` adds a batch, and the result is that of one fit on everything. Categories and classes may turn up
# late.

growing = NaiveBayes()
for rows, labels in months:
    growing.partial_fit(rows, labels)
at_once = NaiveBayes().fit(pd.concat([rows for rows, _ in months]), pd.concat([labels for _, labels in months]))
print("the same:", np.allclose(growing.predict_proba(months[0][0]), at_once.predict_proba(months[0][0])))

# %%
# The counts of each month, made once and wherever its rows are. They add to the counts of a quarter, or a year, and a
# model is made of counts in milliseconds.

counter = NaiveBayes()
counts = [counter.count(rows, labels) for rows, labels in months]


def model_of(parts):
    """The model of some months."""
    return NaiveBayes().fit_counts(sum(parts[1:], start=parts[0]))


# %%
# Each month is predicted by models of the months before it: of all of them, of the last three, of the last one.

windows = {"all before": 12, "the last three": 3, "the last one": 1}
lines = []
for m in range(1, 12):
    rows, labels = months[m]
    losses = {
        name: log_loss(labels, model_of(counts[max(0, m - length) : m]).predict_proba(rows))
        for name, length in windows.items()
    }
    lines.append({"month": m + 1, "late": (labels == "late").mean(), **losses})
seen = pd.DataFrame(lines).set_index("month")
print(seen.round(3).to_string())
print(seen[list(windows)].mean().round(3).to_string())

# %%
# A short window follows what changes and forgets what is rare; a long one does the opposite. Where the share of late
# flights jumps, in summer and in December, all of them suffer.

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6.4, 4.6), layout="constrained", height_ratios=[2, 1])
seen[list(windows)].plot(ax=above, marker="o", ylabel="log-loss")
seen["late"].plot.bar(ax=below, color="lightgrey", ylabel="share late", rot=0)
above.set_xticks(range(len(seen)))
for line in above.get_lines():
    line.set_xdata(range(len(seen)))
above.set_xlim(-0.5, len(seen) - 0.5)
plt.show()

# %%
# ``decay`` is a window without an edge: every batch lets what came before count a little less.

fading = NaiveBayes()
for rows, labels in months[:11]:
    fading.partial_fit(rows, labels, decay=0.7)
rows, labels = months[11]
print("December, all months fading:", round(log_loss(labels, fading.predict_proba(rows)), 3))

# %%
# What moved? ``drift`` compares every column of new rows with those that were counted: the share of values never seen,
# and the distance of the distributions beside what chance alone would show at these sizes.

before = model_of(counts[:11])
print(before.drift(rows))

# %%
# The share of late flights is what changed most, and it can be found without labels: ``estimate_prior`` looks for the
# shares under which December's rows are most likely, and ``with_prior`` exchanges them, exactly.

shares = before.estimate_prior(rows)
print(f"late: {shares[0]:.1%} by the estimate, {(labels == 'late').mean():.1%} in truth")
adapted = before.with_prior(shares)
print("December:", *(round(log_loss(labels, model.predict_proba(rows)), 3) for model in (before, adapted)))

# %%
# A customer asks to be forgotten: ``forget`` takes rows back, and the model is that of the others.

without = NaiveBayes().fit_counts(sum(counts[1:], start=counts[0])).forget(*months[11])
print("the same:", np.allclose(without.predict_proba(rows), before.predict_proba(rows)))
