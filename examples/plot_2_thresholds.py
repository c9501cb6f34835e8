"""
Calibration, costs and thresholds
=================================

Probabilities help to decide. If a missed case costs five times as much as a false alarm, one should act wherever the
probability is above one in six. But this is right only if probabilities are honest, that is, if of the cases with
probability one in six every sixth one comes true.
"""

# %%
# We learn two models of the same flights: textbook naive Bayes, and ``EvidenceClassifier``.

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
# Are their probabilities honest? If they are, the curve is the diagonal.

curves = {name: reliability_curve(y_test, model.predict_proba(X_test), label="late") for name, model in models.items()}
figure, axis = plt.subplots(figsize=(4.8, 4.2), layout="constrained")
plots.reliability(curves, ax=axis)
plt.show()

# %%
# Suppose that a needless warning costs 1, and a late flight without a warning costs 5. If a flight is late with
# probability p, a warning costs 1 - p on average, and no warning costs 5 p. So warning is cheaper wherever p is above
# 1 / (1 + 5). We compute what every threshold would have cost on the test rows, and mark the cheapest.

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
# The honest model is cheapest near the threshold that theory gives, so one need not search for a threshold. The
# textbook model is not. How much does each cost at that threshold, and how much at the one that would have been best?

theory = FALSE_ALARM / (FALSE_ALARM + MISS)
for name, probability in late.items():
    best = min(costs(probability, is_late, t) for t in thresholds)
    print(f"{name}: {costs(probability, is_late, theory):.3f} by theory, {best:.3f} with hindsight")

# %%
# Sometimes a threshold has to be searched all the same, for example because only so many warnings can be given a day.
# One need not hold rows back for that. ``loo_predict_proba`` predicts every training row as if it had not been seen, so
# these probabilities show what to expect of new rows. Those of ``predict_proba`` for training rows look too good.

left_out = models["evidence"].loo_predict_proba(X_train, y_train)[:, 0]
seen = models["evidence"].predict_proba(X_train)[:, 0]
train_is_late = (y_train == "late").to_numpy()
for name, probability in {"as seen": seen, "left out": left_out}.items():
    print(f"training rows {name}: {costs(probability, train_is_late, theory):.3f}")
print(f"new rows: {costs(late['evidence'], is_late, theory):.3f}")
