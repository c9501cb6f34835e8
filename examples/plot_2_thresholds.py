"""
Calibration, costs and thresholds
=================================

A probability is for deciding. If a missed case costs five times as much as a false alarm, one should act wherever the
probability is above one in six; but that is true only of probabilities that mean what they say.
"""

# %%
# Two models of the same flights: textbook naive Bayes, and ``EvidenceClassifier``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from hebnb import EvidenceClassifier, NaiveBayes, plots
from hebnb.datasets import load_flights
from hebnb.metrics import reliability_curve

X, y = load_flights(backend="pandas")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "textbook": NaiveBayes("laplace").fit(X_train, y_train),
    "evidence": EvidenceClassifier(max_order=2).fit(X_train, y_train),
}
late = {name: model.predict_proba(X_test)[:, 0] for name, model in models.items()}  # classes are late, ontime
is_late = (y_test == "late").to_numpy()

# %%
# Are the probabilities honest?

curves = {name: reliability_curve(y_test, model.predict_proba(X_test), label="late") for name, model in models.items()}
figure, axis = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
plots.reliability(curves, ax=axis)
plt.show()

# %%
# A warning that was not needed costs 1, a late flight without a warning costs 5. Acting at a threshold t on the
# probability p, the expected costs are least where t = 1 / (1 + 5): there both mistakes weigh the same. Does the curve
# of what it really costs have its minimum there?

FALSE_ALARM, MISS = 1.0, 5.0
thresholds = np.linspace(0.02, 0.98, 97)


def costs(probability, is_late, threshold):
    """Mean costs of a flight if everything at or above the threshold gets a warning."""
    warned = probability >= threshold
    return np.mean(FALSE_ALARM * (warned & ~is_late) + MISS * (~warned & is_late))


figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name, probability in late.items():
    curve = [costs(probability, is_late, t) for t in thresholds]
    (line,) = axis.plot(thresholds, curve, label=name)
    axis.plot(thresholds[np.argmin(curve)], min(curve), "o", color=line.get_color())
axis.axvline(FALSE_ALARM / (FALSE_ALARM + MISS), color="grey", linestyle=":", label="1 / (1 + 5)")
axis.set_xlabel("threshold")
axis.set_ylabel("mean costs of a flight")
axis.legend()
plt.show()

# %%
# The honest model has its minimum where theory says, and so there is no threshold to search. What does deciding by
# theory cost with each?

theory = FALSE_ALARM / (FALSE_ALARM + MISS)
for name, probability in late.items():
    best = min(costs(probability, is_late, t) for t in thresholds)
    print(f"{name}: {costs(probability, is_late, theory):.3f} by theory, {best:.3f} with hindsight")

# %%
# If a threshold has to be searched all the same, because of a rule that is no expected cost, there is no need to hold
# rows back. ``loo_predict_proba`` gives the probability of every training row as if it had not been seen.

left_out = models["evidence"].loo_predict_proba(X_train, y_train)[:, 0]
seen = models["evidence"].predict_proba(X_train)[:, 0]
train_is_late = (y_train == "late").to_numpy()
for name, probability in {"as seen": seen, "left out": left_out}.items():
    print(f"training rows {name}: {costs(probability, train_is_late, theory):.3f}")
print(f"new rows: {costs(late['evidence'], is_late, theory):.3f}")
