"""
Columns with thousands of categories
====================================

A column of tail numbers or ZIP codes has thousands of values, and most of them have only a handful of rows. A
classifier that believes the shares it counts in such a handful is too sure. This example shows what that does to
probabilities, and how learned smoothing prevents it.
"""

# %%
# We use the flights that come with hebnb. Two of the ten columns, ``flight`` and ``tailnum``, have about three thousand
# values each.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from hebnb import EvidenceClassifier, NaiveBayes, plots
from hebnb.datasets import load_flights
from hebnb.metrics import calibration_error_by_chance, expected_calibration_error, reliability_curve

X, y = load_flights(backend="pandas")
print(X.nunique().sort_values(ascending=False).head())
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# Which share of the test rows has a tail number that no training row has, or one or two, or up to five?

rows_of_tail = X_test["tailnum"].map(X_train["tailnum"].value_counts()).fillna(0)
print(pd.cut(rows_of_tail, [-1, 0, 2, 5, 10, np.inf]).value_counts(normalize=True, sort=False).round(2))

# %%
# We compare four classifiers. scikit-learn's ``CategoricalNB`` needs codes instead of text, and it raises an error if a
# category turns up after ``fit``, so we have to replace those. The other three take the table as it is.

encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
codes = encoder.fit(X_train)


class KnownCategories(CategoricalNB):
    """``CategoricalNB`` that takes a category never seen for the first one."""

    def predict_proba(self, X):
        """Probabilities of the classes."""
        return super().predict_proba(np.maximum(X, 0))


models = {
    "CategoricalNB": make_pipeline(encoder, KnownCategories(min_categories=[len(c) for c in codes.categories_])),
    "NaiveBayes": NaiveBayes(),
    "NaiveBayes, weighted": NaiveBayes(weighting="loo"),
    "EvidenceClassifier": EvidenceClassifier(max_order=2),
}
lines, curves = [], {}
for name, model in models.items():
    proba = model.fit(X_train, y_train).predict_proba(X_test)
    error, by_chance = expected_calibration_error(y_test, proba), calibration_error_by_chance(proba)
    loss = log_loss(y_test, proba)
    lines.append({"": name, "log-loss": loss, "calibration error": error, "by chance": by_chance})
    curves[name] = reliability_curve(y_test, proba, label="late")
print(pd.DataFrame(lines).round(3).to_string(index=False))

# %%
# If a classifier is honest, its curve is the diagonal: of the flights that it predicts to be late with probability 0.6,
# 60 in 100 are late. ``CategoricalNB`` is far from the diagonal. ``NaiveBayes`` with learned smoothing has a much
# smaller calibration error, but where it is sure it is still too sure, because several columns say the same thing and
# all of them are believed. Learned weights mend that, and ``EvidenceClassifier`` also learns which columns belong
# together.

figure, axis = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
plots.reliability(curves, ax=axis)
plt.show()

# %%
# What did the model make of rare tail numbers? The strength of the prior is a number of rows. The rows of a tail number
# outweigh the prior only if there are more of them than that, and hardly any tail number has so many.

best = models["EvidenceClassifier"]
strengths = {name: best.strengths_[name][-1] for name in ("carrier", "dest", "flight", "tailnum")}
print({name: round(float(rows)) for name, rows in strengths.items()})

# %%
# So ``tailnum`` contributes next to nothing, and is not even among the bars. What tells most is the date, which is the
# cross of month and day:

figure, axis = plt.subplots(figsize=(6.4, 5), layout="constrained")
plots.importance(best, most=12, ax=axis)
plt.show()
