"""The calibrators that benchmarks/calibration.py compares, where the right answer is known."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

pd = pytest.importorskip("pandas")
pytest.importorskip("scikit_posthocs")
sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import calibration

# What a model should have said, as a function of what it said.
DISTORTED = {
    "beta": lambda p: expit(0.5 * np.log(p) - 0.8 * np.log1p(-p) + 0.3),
    "quadratic": lambda p: expit(0.6 * logit(p) + 0.1 * logit(p) ** 2),
}
ALL = calibration.CALIBRATORS | calibration.ON_LEFT_OUT


def both(p):
    return np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize("name", DISTORTED)
def test_a_calibrator_finds_the_distortion_of_its_family(name):
    random = np.random.default_rng(0)
    said, new = random.uniform(0.02, 0.98, 40_000), np.linspace(0.1, 0.9, 9)
    y = (random.random(len(said)) < DISTORTED[name](said)).astype(int)
    assert_allclose(ALL[name](both(said), y, both(new))[:, 1], DISTORTED[name](new), atol=0.02)


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("temperature", "Venn–Abers")])
@pytest.mark.parametrize("classes", [2, 3])
def test_calibrated_probabilities_are_probabilities(name, classes):
    random = np.random.default_rng(1)
    said = random.dirichlet(np.ones(classes), 400)
    y = np.array([random.choice(classes, p=row) for row in said])
    said[0], said[1] = np.eye(classes)[:2]  # some are certain
    proba = ALL[name](said, y, said[:50])
    assert proba.shape == (50, classes)
    assert (proba >= 0).all()
    assert_allclose(proba.sum(axis=1), 1)
    if name != "isotonic":
        assert np.isfinite(np.log(proba)).all()


def test_tables_count_who_is_better():
    """Two datasets and two folds; every calibrator makes a model better by a tenth, and temperature worse."""
    pairs = [(name, title) for name in calibration.BASES for title in (calibration.RAW, *calibration.CALIBRATORS)]
    pairs += [(name, title) for name in calibration.OURS for title in (calibration.RAW, *calibration.ON_LEFT_OUT)]
    factor = {calibration.RAW: 1.0, "temperature": 1.1}
    found = pd.DataFrame(
        {"dataset": dataset, "model": name, "calibrator": title, "fold": fold}
        | dict.fromkeys(calibration.MEASURES, loss * factor.get(title, 0.9))
        for name, title in pairs
        for dataset, loss in (("a", 0.5), ("b", 0.2))
        for fold in range(2)
    )
    found = pd.concat([found, found[:1].assign(dataset="unfinished")])
    results = calibration.results_of(found)
    assert results.facts["datasets"] == 2
    lines = {(row[0], row[1]): row[2:] for row in results.tables["left-out"].rows}
    assert lines["evidence", "beta"][:2] == [2, 0]
    assert lines["evidence", "temperature"][:2] == [0, 2]
    assert lines["evidence", "beta"][6] == pytest.approx(-0.1)
    means = {(row[0], row[1]): row[3] for row in results.tables["calibrators"].rows}
    assert means["HEB-M", calibration.RAW] == pytest.approx(0.35)
    assert means["HEB-M", "beta"] == pytest.approx(0.315)
