"""
A tree of categories
====================

ZIP codes, URLs, product groups and diagnoses are categories that belong to larger groups, and these to still larger
ones. If a ZIP code was never seen, one may still know its town. This example gives such a tree to
``EvidenceClassifier`` and measures what it is worth.
"""

# %%
# We make up a table of orders, some of which come back. Every region has its own rate of returns. The rate of a town is
# near that of its region, and the rate of a ZIP code is near that of its town. There are two thousand ZIP codes, and
# most of them have only a few orders.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from hebnb import EvidenceClassifier

rng = np.random.default_rng(0)


def made_codes():
    """All ZIP codes with the log-odds that an order comes back."""
    lines = []
    for region in range(9):
        of_region = rng.normal(-1, 0.8)
        for town in rng.choice(100, 15, replace=False):
            of_town = of_region + rng.normal(0, 0.6)
            places = rng.choice(100, 15, replace=False)
            lines += [(f"{region + 1}{town:02d}{place:02d}", of_town + rng.normal(0, 0.3)) for place in places]
    return pd.DataFrame(lines, columns=["zip", "odds"])


codes = made_codes()
popularity = rng.pareto(1.2, len(codes)) + 0.1


def made_orders(rows):
    """Orders with their ZIP code, a way of paying, and whether they come back."""
    place = rng.choice(len(codes), rows, p=popularity / popularity.sum())
    pays = rng.choice(["card", "invoice", "transfer"], rows, p=[0.5, 0.3, 0.2])
    odds = codes["odds"].to_numpy()[place] + np.where(pays == "invoice", 0.7, 0.0)
    orders = pd.DataFrame({"zip": codes["zip"].to_numpy()[place], "payment": pays})
    return orders, np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "back", "kept")


X_train, y_train = made_orders(6_000)
X_test, y_test = made_orders(20_000)

# %%
# ``hierarchies={"zip": [1, 3]}`` says that the first digit is the region and the first three digits are the town. For
# paths one gives a separator, ``{"url": "/"}``, and for everything else a dict of values and the groups they belong to.

flat = EvidenceClassifier().fit(X_train, y_train)
tree = EvidenceClassifier(hierarchies={"zip": [1, 3]}).fit(X_train, y_train)
for name, model in {"categories": flat, "a tree": tree}.items():
    print(f"{name}: log-loss {log_loss(y_test, model.predict_proba(X_test)):.4f}")

# %%
# The tree helps where a ZIP code has few training rows, or none at all:

rows_of_zip = X_test["zip"].map(X_train["zip"].value_counts()).fillna(0)
groups = pd.cut(rows_of_zip, [-1, 0, 2, 5, 20, np.inf], labels=["none", "1 – 2", "3 – 5", "6 – 20", "more"])
losses = {
    name: -np.log(model.predict_proba(X_test)[np.arange(len(y_test)), (y_test == "kept").astype(int)])
    for name, model in {"categories": flat, "a tree": tree}.items()
}
by_rows = (
    pd.DataFrame(losses).groupby(groups.to_numpy(), observed=True, sort=False).mean().reindex(groups.cat.categories)
)
axis = by_rows.plot.bar(rot=0, figsize=(6.4, 3.4), ylabel="log-loss", xlabel="training rows with the ZIP code")
axis.set_ylim(by_rows.min().min() - 0.02)
axis.figure.set_layout_engine("constrained")
plt.show()

# %%
# The model learned how many rows the prior is worth at each level. Regions have many orders and differ, so their prior
# is weak. ZIP codes of one town hardly differ, so their prior is strong:

print(dict(zip(("region", "town", "ZIP code"), tree.strengths_["zip"].round(1).tolist(), strict=False)))

# %%
# A ZIP code that was never seen is judged by its town. If the town was never seen either, it is judged by the region,
# and if the region was never seen, by all orders.

seen = X_train["zip"].iloc[0]
strangers = pd.DataFrame({"zip": [seen, f"{seen[:3]}xx", f"{seen[0]}??00", "0????"], "payment": "card"})
strangers["probability of coming back"] = tree.predict_proba(strangers)[:, 0].round(3)
print(strangers.to_string(index=False))
