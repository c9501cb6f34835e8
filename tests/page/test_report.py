"""``hebnb.report`` from Python, and what a notebook shows of a classifier."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

import hebnb
from conftest import make_table
from hebnb import AODE, HNB, KDB, TAN, ColumnParts, EvidenceClassifier, InputError, NaiveBayes, ParameterError
from hebnb.foundation import documentation as documentation_module
from models import HOSTILE
from pages import crossed, probabilities


@pytest.fixture(scope="module")
def small():
    X, y = crossed(300, classes=("no", "yes"))
    return X, y


def of_measures(page):
    """What methods did, without the time that it took."""
    return {name: list(measures.values()) for name, measures in page.measures.items()}


def test_a_table_with_labels_beside_it_or_in_it(small, tmp_path):
    X, y = small
    page = hebnb.report(X, y, folds=2, name="my rows", target="said")
    again = hebnb.report(X.assign(said=y), target="said", folds=2)
    assert of_measures(page) == of_measures(again)
    assert page.verdict == again.verdict
    assert page.verdict in repr(page)
    assert len(repr(page)) < 2000  # without the page itself
    assert "my rows" in page.html
    assert hasattr(page.model, "predict_proba")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(InputError, match="exists"):
        page.save(tmp_path / "page.html", overwrite=False)


@pytest.mark.parametrize("backend", ["polars", "pyarrow", "numpy"])
def test_all_libraries_get_the_same_page(backend, small):
    X, y = small
    columns = {name: [None if value != value else value for value in X[name]] for name in ("p", "q", "count")}  # noqa: PLR0124
    expected = hebnb.report(make_table("pandas", columns), y, folds=2)
    found = hebnb.report(make_table(backend, columns), y, folds=2)
    assert found.verdict == expected.verdict
    assert_allclose([list(m.values()) for m in found.measures.values()], list(of_measures(expected).values()))


def test_the_function_and_the_command_say_the_same(small, tmp_path):
    from typer.testing import CliRunner

    from hebnb.cli.app import app

    X, y = small
    rows = X[["p", "q", "count"]].fillna("gap").assign(said=y)
    rows.to_csv(tmp_path / "t.csv", index=False)
    words = ["report", str(tmp_path / "t.csv"), "-t", "said", "-o", str(tmp_path / "t.html"), "--folds", "3"]
    assert CliRunner().invoke(app, words).exit_code == 0
    ours = hebnb.report(rows, target="said", folds=3)
    assert ours.verdict in (tmp_path / "t.html").read_text(encoding="utf-8").replace("&#39;", "'")


def test_rows_without_a_label_are_left_out(small):
    X, y = small
    gaps = y.astype(object).copy()
    gaps[:20] = None
    page = hebnb.report(X, gaps, folds=2)
    assert "20 rows without a label were left out." in page.html
    assert page.model.class_count_.sum() == len(X) - 20


@pytest.mark.parametrize("kind", [EvidenceClassifier, NaiveBayes, AODE, TAN, KDB, HNB])
def test_a_fitted_model_has_a_page(kind, small, open_page):
    """Without rows it has no trust; the explorer says what the model says."""
    X, y = small
    model = kind().fit(X, y)
    report = hebnb.report(model, min_count=1)
    assert report.model is model
    assert report.measures == {}
    page = open_page(report.html)
    assert page.locator("#trust, #methods").count() == 0
    assert page.locator("#columns .card").count() == X.shape[1]
    page.click("#random")
    text = [page.locator(f"#value-{f}").input_value() for f in range(X.shape[1])]
    kinds = model.counts_.vocabulary.features
    shown = [["missing" if label is None else label for label in kind.texts] for kind in kinds]
    row = [np.array([own.index(value)]) for own, value in zip(shown, text, strict=True)]
    scores = model.score_tables_.joint_log_scores(row)[0]
    assert_allclose(probabilities(page), np.exp(scores) / np.exp(scores).sum(), atol=1e-9)


def test_a_fitted_model_is_tried_on_new_rows(small):
    X, y = small
    model = EvidenceClassifier().fit(X[:200], y[:200])
    page = hebnb.report(model, X[200:], y[200:], include_rows=True)
    (measures,) = page.measures.values()
    assert_allclose(measures["log-loss"], log_loss(y[200:], model.predict_proba(X[200:])))
    assert "100 rows that it had not seen" in page.html
    assert "Random row" in page.html
    labels = y[200:].copy()
    labels[0] = "new"
    html = hebnb.report(model, X[200:], labels).html
    assert "99 rows that it had not seen" in html
    assert "1 row was left out, because the model does not know the class." in html
    labels[:3] = None
    html = hebnb.report(model, X[200:], labels).html
    assert "3 rows without a label were left out." in html
    assert "97 rows that it had not seen" in html


def test_a_pipeline_with_parts_of_columns_has_a_page():
    random = np.random.default_rng(0)
    days = pd.date_range("2024-01-01", periods=300, freq="D")
    y = np.where((days.day_of_week >= 5) ^ (random.random(300) < 0.05), "weekend", "week").astype(object)
    X = pd.DataFrame({"day": days, "x": random.choice(list("ab"), 300)})
    model = make_pipeline(ColumnParts(), NaiveBayes()).fit(X, y)
    page = hebnb.report(model, X, y)
    assert page.measures["NaiveBayes"]["accuracy"] > 0.85


def test_wrong_calls_say_what_is_wrong(small):
    X, y = small
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ParameterError, match="needs labels"):
        hebnb.report(X)
    with pytest.raises(ParameterError, match="not among the columns"):
        hebnb.report(X, target="nobody")
    with pytest.raises(ParameterError, match="no column names"):
        hebnb.report([["a"], ["b"]], target="y")
    with pytest.raises(ParameterError, match="rows and their labels"):
        hebnb.report(model, X)
    with pytest.raises(ParameterError, match="include_rows"):
        hebnb.report(model, include_rows=True)
    with pytest.raises(ParameterError, match="two ways"):
        hebnb.report(X, y, times=np.arange(300), groups=np.arange(300))
    with pytest.raises(InputError, match="300 rows but groups has 2"):
        hebnb.report(X, y, groups=[1, 2])
    with pytest.raises(InputError, match="class that the model knows"):
        hebnb.report(model, X, ["never"] * 300)
    with pytest.raises(InputError, match="not that of time"):
        hebnb.report(X, y, times=["soon"] * 300)


def test_times_and_groups_part_the_rows(small):
    X, y = small
    assert "stretches of time" in hebnb.report(X, y, times=np.arange(300), folds=2).html
    assert "nor any row of its group" in hebnb.report(pl.from_pandas(X), y, groups=np.arange(300) % 9, folds=2).html


def test_a_notebook_shows_the_page_in_a_frame(small, browser, tmp_path):
    """Its script runs there, its links stay there, and the notebook around it is not reached."""
    X, y = small
    html = hebnb.report(NaiveBayes().fit(X, y), X, y)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><p id=out>out</p>{html}", encoding="utf-8")
    page, complaints = browser.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    before = frame.locator("#probabilities .value").first.text_content()
    frame.locator("#reset").click()
    assert frame.locator("#probabilities .value").first.text_content() != before
    frame.locator("nav a", has_text="Provenance").click()
    assert frame.locator("#provenance").is_visible()
    frame.locator("#copy").click()
    assert page.locator("iframe").count() == 1
    assert frame.locator("h1").text_content().startswith("Predicting")
    assert complaints == []
    page.close()


# Classifiers


@pytest.mark.parametrize(
    "model", [EvidenceClassifier(), NaiveBayes(weighting="loo"), AODE(), TAN(), KDB(), HNB()], ids=repr
)
def test_classifiers_show_what_they_learned(model, small):
    X, y = small
    assert "hebnb-learned" not in model._repr_html_()  # nothing yet
    model.fit(X, y)
    html, bundle = model._repr_html_(), model._repr_mimebundle_()
    assert "sk-container" in html  # scikit-learn's diagram comes first
    assert html.index("sk-container") < html.index("hebnb-learned")
    assert bundle["text/html"].count("hebnb-learned") == 1
    assert bundle["text/plain"] == repr(model)
    learned = html[html.index("hebnb-learned") :]
    assert "300 rows of 2 classes" in learned
    told = dict(re.findall(r"left; white-space: nowrap\">([^<]+)</td>.*?nowrap\">(−?-?[\d.]+) nats", learned))
    gains = {
        str(summary.name): summary.gain for summary in hebnb.explain.summary.feature_summaries(model.score_tables_)
    }
    for name, gain in told.items():
        if name in gains:
            assert float(gain) == round(gains[name], 4)
    assert set(gains) & set(told)
    if isinstance(model, EvidenceClassifier):
        assert " × ".join(model.crosses_[0]) in learned
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_columns_that_tell_nothing_are_counted_and_not_listed():
    noise = {f"noise {n}": np.tile(np.repeat(["a", "b"], 2**n), 200 >> n) for n in range(4)}  # as often in as out
    X = pd.DataFrame(noise | {"x": ["u"] * 160 + ["v"] * 80 + ["u"] * 160})
    y = np.array(["in", "out"], dtype=object)[np.arange(400) // 200]
    X.loc[200:, "x"] = X["x"][:200].map({"u": "v", "v": "u"}).to_numpy()
    model = EvidenceClassifier().fit(X, y)
    assert max(model.gains_[name] for name in X if name != "x") < 0.00005
    html = model._learned_html()
    assert html.count("<tr>") == 1
    assert "and 4 that tell less, or nothing" in html
    html = EvidenceClassifier().fit(X[["noise 1"]], y)._learned_html()
    assert "No column tells anything about left-out rows." in html
    assert "nats" not in html


def test_a_classifier_links_to_its_documentation(monkeypatch, small):
    documentation_module.documentation.cache_clear()
    told = {"Project-URL": ["Source, https://example.org/src", "Documentation, https://example.org/docs/"]}

    class Metadata:
        def get_all(self, name):
            return told[name]

    monkeypatch.setattr(documentation_module.metadata, "metadata", lambda _: Metadata())
    assert 'href="https://example.org/docs/api.html#hebnb.AODE"' in AODE()._repr_html_()
    documentation_module.documentation.cache_clear()


def test_hostile_names_are_inert_in_a_notebook(browser):
    X = pd.DataFrame({"</table><script>alert(1)</script>": [HOSTILE[0], "b"] * 30, "<b>x</b>": ["u", "v", "w"] * 20})
    model = EvidenceClassifier().fit(X, np.array(["<img src=x onerror=alert(2)>", "y"] * 30, dtype=object))
    page, complaints = browser.new_page(), []
    page.on("dialog", lambda dialog: complaints.append("a dialog"))
    page.set_content(model._learned_html())
    assert page.locator("img, script, b").count() == 0
    assert complaints == []
    page.close()
