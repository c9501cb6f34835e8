"""Drawings show the numbers that other modules compute, and nothing that a name says is obeyed."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose

from hebnb import AODE, NaiveBayes, plots
from hebnb.explain.contributions import against_others
from hebnb.explain.summary import nomogram_points
from hebnb.metrics import reliability_curve
from models import HOSTILE, table

mpl.use("Agg")


@pytest.fixture(scope="module")
def fitted():
    X, y = table(200)
    return NaiveBayes(weighting="loo").fit(X, y), X, y


@pytest.mark.parametrize("structure", [NaiveBayes(), AODE(), AODE(weighting="loo")], ids=repr)
def test_evidence_bars_are_log_odds(structure, fitted):
    _, X, y = fitted
    model = structure.fit(X, y)
    axes = plots.evidence(model, X, row=3, label="y")
    widths = [bar.get_width() for bar in axes.patches]
    assert_allclose(sum(widths), against_others(model.predict_joint_log_proba(X))[3, 1])
    assert f"{sum(widths):+.2f}" in axes.get_xlabel()


def test_nomogram_marks_stand_at_the_log_odds(fitted):
    model, _, _ = fitted
    axes = plots.nomogram(model, label="x", most=4)
    points = nomogram_points(model.score_tables_, "x")
    marks = [line for line in axes.lines if line.get_marker() == "|"]
    assert_allclose(np.concatenate([mark.get_xdata() for mark in marks]), points["log_odds"])
    assert len(axes.texts) <= 4 * 4
    assert [label.get_text() for label in axes.get_yticklabels()] == list(model.feature_names_in_)


def test_reliability_draws_the_curve(fitted):
    model, X, y = fitted
    curve = reliability_curve(y, model.predict_proba(X))
    axes = plots.reliability({"a": curve, "b": curve})
    assert_allclose(axes.collections[0].get_offsets(), np.stack([curve["confidence"], curve["accuracy"]], axis=1))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_concentration_draws_what_was_learned(fitted):
    model, _, _ = fitted
    axes = plots.concentration(model)
    for c, marks in enumerate(axes.collections):
        assert_allclose(marks.get_offsets()[:, 1], model.concentration_[c])


def test_axes_that_are_given_are_used(fitted):
    from matplotlib.figure import Figure

    model, X, _ = fitted
    first, second = Figure().subplots(1, 2)
    assert plots.concentration(model, ax=first) is first
    assert plots.evidence(model, X, ax=second) is second


def test_complaints(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="row=999"):
        plots.evidence(model, X, row=999)
    with pytest.raises(ValueError, match="label='w' is not known"):
        plots.evidence(model, X, label="w")
    with pytest.raises(ValueError, match="nomogram"):
        plots.nomogram(AODE().fit(X, y))


def test_hostile_names_are_drawn_as_they_are(tmp_path):
    names = [*HOSTILE, r"$\frac{1}{0}$", "$unclosed"]
    X = np.array(names * 3, dtype=object).reshape(-1, 1)
    y = np.array([names[n % 3] for n in range(len(X))], dtype=object)
    model = NaiveBayes().fit(X, y)
    for draw in (
        lambda: plots.nomogram(model, most=99),
        lambda: plots.concentration(model),
        lambda: plots.evidence(model, X, row=13),
    ):
        draw().figure.savefig(tmp_path / "plot.png")
