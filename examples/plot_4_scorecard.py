"""
A credit scorecard
==================

Banks often want a model that is a table of points: so many for owning a home, so many less for a late payment. The
score of an applicant is their sum. An ``EvidenceClassifier`` of two classes can be written as such a table.
"""

# %%
# We make up applications for loans. Late payments, income and housing tell something about the risk, and a short time
# in the job only matters for those who rent.

import duckdb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from hebnb import EvidenceClassifier, plots
from hebnb.export import scorecard_to_sql

rng = np.random.default_rng(7)
rows = 8_000
X = pd.DataFrame(
    {
        "housing": rng.choice(["own", "rent", "family"], rows, p=[0.45, 0.4, 0.15]),
        "purpose": rng.choice(["car", "furniture", "education", "business", "repairs"], rows),
        "late payments": rng.poisson(0.6, rows).clip(0, 6),
        "years in job": rng.gamma(1.5, 4, rows).round(1),
        "income": np.exp(rng.normal(10.3, 0.5, rows)).round(-2),
    }
)
odds = 2.2 - 0.8 * X["late payments"] + 1.1 * (np.log(X["income"]) - 10.3) + (X["housing"] == "own") * 0.5
odds -= 2.5 * ((X["housing"] == "rent") & (X["years in job"] < 2))
y = pd.Series(np.where(rng.random(rows) < 1 / (1 + np.exp(-odds)), "good", "bad"), name="loan")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# %%
# A small ``max_crosses`` keeps the card readable. The model finds out which columns to cross, here those that we made
# depend on each other:

model = EvidenceClassifier(max_crosses=2, max_order=2).fit(X_train, y_train)
print("crosses:", model.crosses_)
print("log-loss that new rows will see:", round(model.loo_log_loss_, 3))

# %%
# As is usual, twenty points more double the odds, and 600 points stand for odds of 50 to 1. With ``digits=0`` the
# points are whole numbers, and the score is exactly the sum of what the table shows.

card = model.scorecard(points_to_double=20, base=600, base_odds=50, label="good", digits=0)
table = pd.DataFrame(card.table())
print(table[table["feature"].isin(["(base)", "housing", "late payments"])].to_string(index=False))

# %%
# Income adds a curve with steps:

figure, axis = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
plots.column(model, "income", label="good", ax=axis)
plt.show()

# %%
# We compute the scores of applications that the model has not seen. How well do they separate good loans from bad ones?

scores = card.score(X_test)
print("area under the curve:", round(roc_auc_score(y_test == "good", scores), 3))
figure, axis = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
bins = np.histogram_bin_edges(scores, 40)
for label, colour in {"good": "tab:blue", "bad": "tab:orange"}.items():
    axis.hist(scores[(y_test == label).to_numpy()], bins, density=True, alpha=0.6, label=label, color=colour)
axis.set_xlabel("points")
axis.set_yticks([])
axis.legend()
plt.show()

# %%
# Points stand for odds, so they promise how many loans are good. Is the promise kept? We compare it with the share of
# good loans in six groups of applications:

of_points = pd.DataFrame({"points": pd.qcut(scores, 6), "good": y_test.to_numpy() == "good", "score": scores})
seen = of_points.groupby("points", observed=True).agg(score=("score", "mean"), good=("good", "mean"))
promised = 50 * 2 ** ((seen["score"] - 600) / 20)
seen["promised"] = promised / (1 + promised)
print(seen.round(3).to_string())

# %%
# A database computes the same points with one query:

query = scorecard_to_sql(card, "duckdb", table="applications")
with duckdb.connect() as database:
    database.register("applications", X_test)
    in_sql = database.sql(query).df()
print("same sum of points:", bool(np.isclose(in_sql["score"].sum(), scores.sum())))
