"""The paper's tables on its high-cardinality datasets, recomputed where these are at hand.

The published numbers are typed in from the paper: top-1 ECE, mean ± standard deviation over ten folds, and the log-loss
of AODE and HEB-AODE.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from hebnb import AODE, HEB, NaiveBayes
from hebnb.columns.kinds.bins import quantile_edges
from hebnb.metrics import expected_calibration_error

pd = pytest.importorskip("pandas")

DATA = Path(os.environ["HEBNB_DATA"]) if "HEBNB_DATA" in os.environ else None

N_BINS = 10
METHODS = {
    "Laplace": NaiveBayes("laplace"),
    "HEB-M": NaiveBayes("heb-m"),
    "HEB-M+GR": NaiveBayes("heb-m", weighting="sqrt-mi"),
}
PUBLISHED = {
    ("amazon-employee", "Laplace"): (0.0597, 0.0063),
    ("amazon-employee", "HEB-M"): (0.0406, 0.0052),
    ("amazon-employee", "HEB-M+GR"): (0.0194, 0.0045),
    ("click-prediction", "Laplace"): (0.1078, 0.0031),
    ("click-prediction", "HEB-M"): (0.0683, 0.0037),
    ("click-prediction", "HEB-M+GR"): (0.0323, 0.0034),
    ("nomao", "Laplace"): (0.1194, 0.0074),
    ("nomao", "HEB-M"): (0.1193, 0.0074),
    ("nomao", "HEB-M+GR"): (0.0707, 0.0056),
}


def load(name):
    """A dataset as the paper used it: at most 20,000 rows, numbers to be cut unless listed as categories."""
    if DATA is None:
        pytest.skip(f"{name} is not at hand; HEBNB_DATA names the folder that has it")
    frame = pd.read_csv(DATA / f"{name}.csv.gz")
    if len(frame) > 20_000:
        frame, _ = train_test_split(frame, train_size=20_000, stratify=frame["class"], random_state=42)
    X, y = frame.drop(columns="class"), frame["class"].to_numpy()
    listed = json.loads((DATA / "categorical.json").read_text()).get(name, [])
    categorical = list(X.columns) if listed == "all" else [*listed, *X.select_dtypes(["object", "string"]).columns]
    return (
        X,
        y,
        {
            "categorical_features": categorical,
            "numeric_features": [column for column in X.columns if column not in categorical],
        },
    )


def edges(X, kinds):
    """The paper's cuts of training rows: plain quantiles, where a frequent value has no bin to itself."""
    numbers = {name: np.sort(X[name].dropna().to_numpy(dtype=float)) for name in kinds["numeric_features"]}
    many = {name: own for name, own in numbers.items() if len(np.unique(own)) > N_BINS}
    return {name: quantile_edges(own, np.ones(len(own)), N_BINS) for name, own in many.items()}


@pytest.mark.parametrize("name", ["amazon-employee", "click-prediction", "nomao"])
def test_calibration_table(name):
    X, y, kinds = load(name)
    errors = {method: [] for method in METHODS}
    for train, test in StratifiedKFold(10, shuffle=True, random_state=42).split(X, y):
        cuts = edges(X.iloc[train], kinds)
        for method, model in METHODS.items():
            model.set_params(**kinds, bin_edges=cuts).fit(X.iloc[train], y[train])
            proba = model.predict_proba(X.iloc[test])
            errors[method].append(expected_calibration_error(y[test], proba, classes=model.classes_))
    for method, folds in errors.items():
        mean, std = PUBLISHED[name, method]
        assert abs(np.mean(folds) - mean) <= 2 * std, (method, np.mean(folds), mean, std)


PUBLISHED_AODE = {"amazon-employee": (0.4532, 0.4093), "click-prediction": (0.6794, 0.5293), "nomao": (0.4661, 0.4716)}


@pytest.mark.parametrize("name", PUBLISHED_AODE)
def test_aode_table(name):
    """Within a twentieth of the published log-loss: the paper leaves readings open, and its data differ a little."""
    X, y, kinds = load(name)
    models = [AODE("laplace", over_cap="skip", **kinds), AODE(HEB(solver="minka"), **kinds)]
    losses = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=42).split(X, y):
        cuts = edges(X.iloc[train], kinds)
        fitted = [model.set_params(bin_edges=cuts).fit(X.iloc[train], y[train]) for model in models]
        probas = [model.predict_proba(X.iloc[test]) for model in fitted]
        losses.append([log_loss(y[test], proba) for proba in probas])
    ours, published = np.mean(losses, axis=0), np.array(PUBLISHED_AODE[name])
    np.testing.assert_allclose(ours, published, rtol=0.05)
    if name != "nomao":  # where there is little to gain; the paper sees +1.2 %
        assert ours[1] < 0.95 * ours[0]
