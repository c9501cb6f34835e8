"""Drawings show the numbers that other modules compute, and nothing that a name says is obeyed."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from hebnb import AODE, EvidenceClassifier, NaiveBayes, plots
from hebnb.explain.contributions import against_others
from hebnb.explain.evidence_tables import column_evidence, cross_evidence
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


@pytest.fixture(scope="module")
def crossed():
    """A model with a cross of numbers and integers, a column of many categories, and one of times."""
    random = np.random.default_rng(0)
    X, y = table(600)
    X["many"] = [f"v{min(n, 40)}" for n in random.geometric(0.05, 600)]
    X["when"] = pd.Timestamp("2024-02-01") + pd.to_timedelta(random.integers(0, 9_000, 600), unit="h")
    together = (X["number"] % 2 == 0) ^ (X["cut"].fillna(3) > 0)
    y = np.where(random.random(600) < 0.7, np.where(together, "x", "y"), y)
    return EvidenceClassifier().fit(X, y), X, y


@pytest.mark.parametrize("make", [EvidenceClassifier, NaiveBayes])
def test_column_of_numbers_is_a_curve_of_steps(crossed, make):
    _, X, y = crossed
    model = make().fit(X, y)
    for name in ("cut", "when"):
        axes = plots.column(model, name, label="y")
        numbers = column_evidence(model.score_tables_, name, "y")
        known = numbers["value"] != None  # noqa: E711
        (steps,) = [patch for patch in axes.patches if type(patch).__name__ == "StepPatch"]
        assert_allclose(steps.get_data().values, numbers["log_odds"][known])
        (behind,) = [other for other in axes.figure.axes if other is not axes]
        (counts,) = [patch for patch in behind.patches if type(patch).__name__ == "StepPatch"]
        assert_allclose(counts.get_data().values, numbers["count"][known])
        if name == "cut":
            assert_allclose(steps.get_data().edges[1:-1], model.bin_edges_["cut"])
        gaps = [line.get_ydata()[0] for line in axes.lines if line.get_marker() == "D"]
        assert_allclose(gaps, numbers["log_odds"][~known & (numbers["count"] > 0)])
        assert len(gaps) == (name == "cut")


def test_what_is_prior_is_paler(crossed):
    model, _, _ = crossed
    numbers = column_evidence(model.score_tables_, "many")
    axes = plots.column(model, "many", most=99)
    alpha = [bar.get_facecolor()[3] for bar in axes.patches]
    said = numbers["count"] > 0
    order = np.argsort(-numbers["count"][said], kind="stable")
    assert_allclose(np.diff(alpha), -0.6 * np.diff(numbers["shrinkage"][said][order]), atol=1e-12)


def test_column_of_categories_draws_the_most_frequent(crossed):
    model, X, _ = crossed
    axes = plots.column(model, "many", label="x", most=7)
    numbers = column_evidence(model.score_tables_, "many", "x")
    known = dict(zip(numbers["value"], numbers["log_odds"], strict=True))
    counts = X["many"].value_counts()
    *names, rest = [label.get_text() for label in axes.get_yticklabels()]
    assert counts[names].tolist() == counts.head(7).tolist()
    assert rest == f"and {len(counts) - 7} others"
    assert_allclose([bar.get_width() for bar in axes.patches], [known[name] for name in names])
    (behind,) = [other for other in axes.figure.axes if other is not axes]
    assert_allclose([bar.get_width() for bar in behind.patches], counts[names])


def test_cross_is_a_heat_map_of_what_it_adds(crossed):
    model, _, _ = crossed
    for names in (("number", "cut"), ("cut", "number")):
        axes = plots.cross(model, *names, label="y")
        numbers = cross_evidence(model.score_tables_, names, "y")
        drawn = np.asarray(axes.collections[0].get_array())
        said = {place for place, count in zip(numbers["first_place"], numbers["count"], strict=True) if count}
        across = {place: n for n, place in enumerate(sorted(said))}
        said = {place for place, count in zip(numbers["second_place"], numbers["count"], strict=True) if count}
        up = {place: n for n, place in enumerate(sorted(said))}
        assert drawn.shape == (len(up), len(across))
        for first, second, odds in zip(
            numbers["first_place"], numbers["second_place"], numbers["log_odds"], strict=True
        ):
            if first in across and second in up:
                assert_allclose(drawn[up[second], across[first]], odds)
        assert (axes.get_xlabel(), axes.get_ylabel()) == names


def test_cross_of_many_categories_draws_those_with_most_rows(crossed):
    _, X, y = crossed
    X = X[["many", "flag"]].assign(flag=(X["many"].str[1:].astype(int) % 2 == 0) ^ (y == "x"))
    model = EvidenceClassifier().fit(X, y)
    assert ("many", "flag") in model.crosses_
    axes = plots.cross(model, "many", "flag", most=5)
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert sorted(X["many"].value_counts()[names], reverse=True) == X["many"].value_counts().head(5).tolist()
    assert axes.get_xlabel() == f"many, and {X['many'].nunique() - 5} others"


def test_importance_draws_gains(crossed):
    model, X, y = crossed
    axes = plots.importance(model, most=4)
    gains = {" × ".join(n) if isinstance(n, tuple) else n: gain for n, gain in model.gains_.items()}
    *names, rest = [label.get_text() for label in axes.get_yticklabels()]
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in axes.patches}
    assert_allclose([widths[n] for n in range(4)], sorted(gains.values(), reverse=True)[:4])
    assert_allclose([widths[n] for n in range(4)], [gains[name] for name in names])
    assert rest == f"and {len(gains) - 4} others"
    others = plots.importance(NaiveBayes().fit(X, y))
    assert others.get_xlabel() == axes.get_xlabel()
    assert len(others.patches) == X.shape[1]


def test_columns_that_say_little():
    """A single value, a single number, gaps alone."""
    X = pd.DataFrame({"one": ["a"] * 20, "number": [1.5] * 20, "rest": np.arange(20.0)})
    model = EvidenceClassifier().fit(X, ["x", "y"] * 10)
    for name in X:
        assert plots.column(model, name).get_xlabel()
    X["gaps"] = np.nan
    with pytest.warns(UserWarning, match="every value is missing"):
        model.fit(X, ["x", "y"] * 10)
    plots.column(model, "gaps")


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
    first, second, third = Figure().subplots(1, 3)
    assert plots.column(model, "text", ax=first) is first
    assert plots.column(model, "cut", ax=second) is second
    assert plots.importance(model, ax=third) is third


def test_complaints(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="row=999"):
        plots.evidence(model, X, row=999)
    with pytest.raises(ValueError, match="label='w' is not known"):
        plots.evidence(model, X, label="w")
    with pytest.raises(ValueError, match="nomogram"):
        plots.nomogram(AODE().fit(X, y))


def test_complaints_about_columns_and_crosses(crossed):
    model, X, y = crossed
    with pytest.raises(ValueError, match="column='nmber' is not known(.|\n)*'number'"):
        plots.column(model, "nmber")
    with pytest.raises(ValueError, match="depends on other columns"):
        plots.column(AODE().fit(X, y), "cut")
    with pytest.raises(ValueError, match="cross='flag × flag' is not known. Known: .*'number × cut'"):
        plots.cross(model, "flag", "flag")
    with pytest.raises(ValueError, match="no crosses of columns"):
        plots.cross(NaiveBayes().fit(X, y), "number", "cut")
    for names in (("number",), ("number", "cut", "flag")):
        with pytest.raises(ValueError, match=f"two columns, not {len(names)}"):
            plots.cross(model, *names)
    with pytest.raises(ValueError, match="label='w' is not known"):
        plots.cross(model, "number", "cut", label="w")


def test_hostile_names_are_drawn_as_they_are(tmp_path):
    names = [*HOSTILE, r"$\frac{1}{0}$", "$unclosed"]
    X = np.array(names * 3, dtype=object).reshape(-1, 1)
    y = np.array([names[n % 3] for n in range(len(X))], dtype=object)
    model = NaiveBayes().fit(X, y)
    for draw in (
        lambda: plots.nomogram(model, most=99),
        lambda: plots.concentration(model),
        lambda: plots.evidence(model, X, row=13),
        lambda: plots.column(model, 0),
        lambda: plots.importance(model),
    ):
        draw().figure.savefig(tmp_path / "plot.png")
    random = np.random.default_rng(0)
    pair = pd.DataFrame({name: random.permutation(np.array(names * 20, dtype=object)) for name in names[:2]})
    same = pair[names[0]].isin(names[::2]) ^ pair[names[1]].isin(names[::2])
    model = EvidenceClassifier().fit(pair, np.where(same, *names[2:4]))
    plots.cross(model, *names[:2]).figure.savefig(tmp_path / "plot.png")
    plots.importance(model).figure.savefig(tmp_path / "plot.png")
