"""
Rows that come later: ``partial_fit``, counts and drift
=======================================================

Tables grow, and what was true in January may not be true in July. Because counts can be added and subtracted, it is
easy to make a model of all months so far, of the last three months, or of everything but one bad week. This example
goes through the months of a year in their order, as if every month was new.
"""

# %%
# We divide the flights of a year by their month. The column ``month`` itself is left out, because the next month is
# always a value that no model has seen.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from hebnb import NaiveBayes
from hebnb.datasets import load_flights

X, y = load_flights(backend="pandas")
months = [(X[X["month"] == m].drop(columns="month"), y[X["month"] == m]) for m in range(1, 13)]

# %%
# ``partial_fit`` adds a batch of rows to a model. The result is the same as from one ``fit`` on all rows, and new
# categories and classes may turn up at any time.

growing = NaiveBayes()
for rows, labels in months:
    growing.partial_fit(rows, labels)
at_once = NaiveBayes().fit(pd.concat([rows for rows, _ in months]), pd.concat([labels for _, labels in months]))
print("the same:", np.allclose(growing.predict_proba(months[0][0]), at_once.predict_proba(months[0][0])))

# %%
# We count the rows of each month once, which could happen wherever these rows are. The counts of some months can be
# added to those of a quarter or a year, and making a model of counts is fast.

counter = NaiveBayes()
counts = [counter.count(rows, labels) for rows, labels in months]


def model_of(parts):
    """The model of some months."""
    return NaiveBayes().fit_counts(sum(parts[1:], start=parts[0]))


# %%
# Now each month is predicted by three models of the months before it: one of all these months, one of the last three,
# and one of the last month alone.

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
# A model of few months follows changes quickly, but it has few rows of rare categories. A model of many months is the
# other way round. All of them get worse where the share of late flights jumps, in summer and in December.

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6.4, 4.6), layout="constrained", height_ratios=[2, 1])
seen[list(windows)].plot(ax=above, marker="o", ylabel="log-loss")
seen["late"].plot.bar(ax=below, color="lightgrey", ylabel="share late", rot=0)
above.set_xticks(range(len(seen)))
for line in above.get_lines():
    line.set_xdata(range(len(seen)))
above.set_xlim(-0.5, len(seen) - 0.5)
plt.show()

# %%
# With ``decay`` one need not choose a number of months. Whenever a batch is added, all earlier rows count a little less
# than before.

fading = NaiveBayes()
for rows, labels in months[:11]:
    fading.partial_fit(rows, labels, decay=0.7)
rows, labels = months[11]
print("December, all months fading:", round(log_loss(labels, fading.predict_proba(rows)), 3))

# %%
# What changed in December? ``drift`` compares every column of new rows with the rows that were counted. It shows the
# share of values that were never seen, and how far the distributions are apart, beside the distance that chance alone
# would hardly ever exceed (``noise``).

before = model_of(counts[:11])
print(before.drift(rows))

# %%
# Timetables and flight numbers changed, and so did the share of late flights. That share can be estimated without
# labels: ``estimate_prior`` looks for the shares of the classes under which the rows of December are most likely, and
# ``with_prior`` makes a model that expects these shares.

shares = before.estimate_prior(rows)
print(f"late: {shares[0]:.1%} by the estimate, {(labels == 'late').mean():.1%} in truth")
adapted = before.with_prior(shares)
print("December:", *(round(log_loss(labels, model.predict_proba(rows)), 3) for model in (before, adapted)))

# %%
# Sometimes rows have to be taken back, for example because a customer asks to be forgotten. ``forget`` subtracts their
# counts, and the model is the one that the other rows alone would have given.

without = NaiveBayes().fit_counts(sum(counts[1:], start=counts[0])).forget(*months[11])
print("the same:", np.allclose(without.predict_proba(rows), before.predict_proba(rows)))
