"""
The paper's tables
==================

``NaiveBayes`` and ``AODE`` come from a paper, whose tables can be made again. ``hebnb study`` makes all of them, and
this example three small parts, with the same code. It uses datasets of the paper if the environment variable
``HEBNB_DATA`` names a folder that has them. Otherwise it uses the flights that come with hebnb, and then only the
order of the methods can be compared.
"""

# %%
# We look which data there are.

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import rankdata

from hebnb.study import published
from hebnb.study.protocol import Settings, measure, prepare, split
from hebnb.study.registry import DATASETS
from hebnb.study.sources import Bundled, Folder

at_hand = os.environ.get("HEBNB_DATA")
few = ["car", "tic-tac-toe", "vote", "monks-problems-2", "cmc", "credit-g", "hayes-roth", "phoneme"]
names = few if at_hand else ["flights"]
settings = Settings(folds=3)  # the paper has ten; three are quicker
print("datasets:", ", ".join(names))


def prepared(name):
    """A dataset as the paper has it: at most 20,000 rows, numbers cut at quantiles."""
    source = Folder(Path(at_hand)) if at_hand else Bundled()
    return prepare(DATASETS[name], source.load(DATASETS[name]), settings)


# %%
# The paper's main comparison is among seven smoothers of naive Bayes. We compute their log-losses by cross-validation,
# and their mean ranks over the datasets. The best has rank 1.

smoothers = ["HEB-M", "HEB-U", "Lidstone", "m-estimate", "KT", "Laplace", "TE"]
tables = {name: prepared(name) for name in names}


def means(name, methods):
    """Mean measures of methods over the folds of a dataset."""
    folds = [split(tables[name], settings, fold) for fold in range(settings.folds)]
    return {
        method: pd.DataFrame([measure(method, fold) for fold in folds]).mean(numeric_only=True) for method in methods
    }


found = {name: means(name, smoothers) for name in names}
losses = pd.DataFrame({name: {m: own["log-loss"] for m, own in by.items()} for name, by in found.items()})
ranks = pd.Series(rankdata(losses.round(6), axis=0).mean(axis=1), index=smoothers)
theirs = pd.Series({m: published.RANKS[m, "log-loss"] for m in smoothers})
print(pd.DataFrame({"mean rank here": ranks, "in the paper, 31 datasets": theirs}).round(2).to_string())

# %%
# With few datasets and folds the ranks are rough. Beside those of the paper they look like this:

figure, axis = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
places = np.arange(len(smoothers))
axis.barh(places - 0.2, ranks, 0.4, label="here")
axis.barh(places + 0.2, theirs, 0.4, label="in the paper")
axis.set_yticks(places, smoothers)
axis.invert_yaxis()
axis.set_xlabel("mean rank of log-loss")
axis.legend()
plt.show()

# %%
# The paper's second result is about calibration on a table with many categories. Naive Bayes is too sure there, and the
# paper's weights (HEB-M+GR) make it less so.

name = "click-prediction" if at_hand else "flights"
tables[name] = prepared(name)
calibration = means(name, ["Laplace", "HEB-M", "HEB-M+GR"])
for method, own in calibration.items():
    paper = published.ECE.get((method, name))
    beside = f", in the paper {paper[0]:.3f} ± {paper[1]:.3f}" if paper else ""
    print(f"{name}, {method}: calibration error {own['ECE']:.3f}, {own['ECE by chance']:.3f} by chance{beside}")

# %%
# The third result is about AODE, without learned smoothing (AODE) and with it (HEB-AODE):

for method, own in means(name, ["AODE", "HEB-AODE"]).items():
    paper = published.HIGH_CARDINALITY.get((name, method))
    print(f"{name}, {method}: log-loss {own['log-loss']:.3f}" + (f", in the paper {paper:.3f}" if paper else ""))
