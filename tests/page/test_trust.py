"""How far to trust a model: bands, intervals, thresholds and costs against slow ones of their own."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score, roc_curve

import hebnb
from hebnb import EvidenceClassifier, NaiveBayes
from hebnb.metrics import reliability_curve
from hebnb.page.comparison import compare, measures_of
from hebnb.page.trust import interval, trust
from models import table
from pages import page_of


@pytest.fixture(scope="module")
def three():
    """A table of three classes, a model of it, and how methods do on it."""
    X, y = table(400)
    y = y.astype(object)
    return NaiveBayes(weighting="loo").fit(X, y), X, y, compare(pa.Table.from_pandas(X), y, {}, folds=4)


def tell(page, selector):
    return int(page.locator(selector).text_content().replace(",", ""))


@pytest.mark.parametrize("n_rows", [40, 3000])
def test_a_perfect_model_stays_within_the_band(n_rows):
    """Labels drawn from the probabilities themselves leave it once in twenty times, or less often."""
    random = np.random.default_rng(0)
    proba = random.beta(2, 1, n_rows)
    both = np.column_stack([1 - proba, proba])
    outside, looked_at = 0, 0
    for _ in range(300):
        y = (random.random(n_rows) < proba).astype(int)
        curve = reliability_curve(y, both, classes=[0, 1])
        outside += int(((curve["accuracy"] < curve["low"]) | (curve["accuracy"] > curve["high"])).sum())
        looked_at += len(curve["count"])
    assert outside / looked_at < 0.06
    if n_rows == 3000:
        assert outside / looked_at > 0.01  # so wide that nothing ever leaves it, a band would say nothing


def test_a_model_that_is_too_sure_leaves_the_band():
    y = np.array([0, 1] * 200)
    proba = np.tile([0.9, 0.1], (400, 1))
    curve = reliability_curve(y, proba)
    assert curve["accuracy"][0] < curve["low"][0]


def test_intervals_are_those_of_the_folds(three):
    *_, found = three
    best = found.best
    assert sorted(set(found.fold.tolist())) == [0, 1, 2, 3]
    for name in ("log-loss", "AUC"):
        values = []
        for n in range(4):
            own = found.fold == n
            truth, proba = found.codes[own], best.proba[own]
            values.append(
                log_loss(truth, proba, labels=[0, 1, 2])
                if name == "log-loss"
                else roc_auc_score(truth, proba, multi_class="ovr")
            )
        low, high = t.interval(0.95, 3, loc=np.mean(values), scale=np.std(values, ddof=1) / 2)
        assert_allclose(interval(found, best, name), (high - low) / 2)
    assert interval(found, best, "ECE") > 0
    assert measures_of(found.codes, best.proba) == best.measures


def test_classes_are_told_apart_as_scikit_learn_does(three):
    *_, found = three
    own = trust(found, list("xyz"), 12)
    expected = confusion_matrix(found.codes, found.best.proba.argmax(axis=1))
    order = ["xyz".index(one.name) for one in own.classes]
    assert_allclose(own.guessed[:, :3], expected[np.ix_(order, order)])
    assert own.guessed[:, 3].sum() == 0
    for one in own.classes:
        c = "xyz".index(one.name)
        assert_allclose(one.auc, roc_auc_score(found.codes == c, found.best.proba[:, c]))
        assert_allclose(one.precision, expected[c, c] / expected[:, c].sum())
        assert_allclose(one.recall, expected[c, c] / expected[c].sum())
    fewer = trust(found, list("xyz"), 2)
    assert fewer.guessed.sum() == sum(one.rows for one in fewer.classes)


def test_the_threshold_moves_the_confusion_matrix(open_page, three):
    """By keyboard, on a phone: what the page counts is what a comparison with the probabilities counts."""
    model, X, y, found = three
    page = open_page(page_of(model, X, y, found), viewport={"width": 360, "height": 740}, color_scheme="dark")
    for c in (0, 2):
        page.locator("#trust .subject").select_option(str(c))
        proba, is_class = found.best.proba[:, c], found.codes == c
        slider = page.locator("#threshold")
        for threshold in (0, 12.5, 33, 50, 99.5, 100):
            slider.fill(str(threshold))
            called = proba >= threshold / 100
            assert tell(page, "#found") == (called & is_class).sum()
            assert tell(page, "#false") == (called & ~is_class).sum()
            assert tell(page, "#missed") == (~called & is_class).sum()
            assert tell(page, "#rejected") == (~called & ~is_class).sum()
        slider.fill("50")
        slider.focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#threshold-told").text_content() == "50.5 %"
        called, name = proba >= 0.505, "xyz"[c]
        said = page.text_content("#threshold-says")
        if called.any():
            precision = 100 * is_class[called].mean()
            assert f"Of the rows called {name}, {precision:.1f} % are {name} (precision)." in said
        assert f"Of the rows that are {name}, {100 * called[is_class].mean():.1f} % are called so (recall)." in said
        assert tell(page, "#found") == ((proba >= 0.505) & is_class).sum()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_costs_lead_to_the_cheapest_threshold(open_page, three):
    model, X, y, found = three
    page = open_page(page_of(model, X, y, found))
    c = int(page.locator("#trust .subject").input_value())
    assert c == np.argmax(model.class_count_)
    proba, is_class = found.best.proba[:, c], found.codes == c
    for false, missed in ((1, 1), (5, 1), (0.5, 20), (0, 1)):
        page.locator("#cost-false").fill(str(false))
        page.locator("#cost-missed").fill(str(missed))
        page.click("#cheapest")
        prices = [
            false * ((proba >= step / 200) & ~is_class).sum() + missed * ((proba < step / 200) & is_class).sum()
            for step in range(201)
        ]
        chosen = float(page.locator("#threshold").input_value()) / 100
        assert_allclose(chosen, np.argmin(prices) / 200)
        cost = float(f"{1000 * min(prices) / len(proba):.4g}")
        assert f"Mistakes cost {cost:,.10g} per 1,000 rows" in page.text_content("#threshold-says")
    for text in ("a lot", "-1", "", "0x10", "1e999"):
        page.locator("#cost-false").fill(text)
        assert "type numbers that are not negative" in page.text_content("#threshold-says")
        assert page.locator("#cost-false").get_attribute("aria-invalid") == "true"
    page.locator("#cost-false").fill("1,000")
    assert page.locator("#cost-false").get_attribute("aria-invalid") == "false"


def test_measures_are_explained_where_no_methods_are_compared(open_page, three):
    model, X, y, found = three
    page = open_page(page_of(model, X, y, found))
    assert page.locator("#methods .note", has_text="AUC is how well rows are put in order").count() == 1
    assert page.locator("#trust .note", has_text="AUC is how well rows are put in order").count() == 0
    table = page.locator("#methods .scroll")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")  # what methods are is read without scrolling
    page = open_page(hebnb.report(model, X, y).html)
    assert page.locator("#trust .note", has_text="AUC is how well rows are put in order").count() == 1


def test_the_curves_are_those_of_scikit_learn(open_page, three):
    model, X, y, found = three
    page = open_page(page_of(model, X, y, found))
    c = int(page.locator("#trust .subject").input_value())
    proba, is_class = found.best.proba[:, c], found.codes == c
    false, right, _ = roc_curve(is_class, proba, drop_intermediate=False)

    def drawn(figure):
        points = page.locator(f"{figure} polyline").get_attribute("points").split()
        at = np.array([[float(number) for number in point.split(",")] for point in points])
        return (at[:, 0] - 50) / 240, (248 - at[:, 1]) / 240

    across, up = drawn("#roc")
    for a, b in zip(across, up, strict=True):  # every point is one of the curve
        assert np.abs(np.stack([false - a, right - b])).sum(axis=0).min() < 1e-3
    area = (-np.diff(across) * (up[1:] + up[:-1]) / 2).sum()
    assert_allclose(area, roc_auc_score(is_class, proba), atol=0.01)
    across, up = drawn("#gain")
    ranked = np.sort(proba)[::-1]
    for a, b in list(zip(across, up, strict=True))[::20]:
        taken = round(a * len(proba))
        if taken:
            assert_allclose(b, is_class[proba >= ranked[taken - 1]].mean() * taken / is_class.sum(), atol=2e-3)


def test_many_classes_have_colours_and_a_legend_each(open_page):
    random = np.random.default_rng(0)
    y = random.choice([f"k{n:02}" for n in range(15)], 900).astype(object)
    X = pd.DataFrame({"a": [int(label[1:]) // 2 for label in y], "b": random.integers(0, 5, 900)})
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    for scheme in ("light", "dark"):
        page = open_page(page_of(NaiveBayes().fit(X, y), X, y, found), color_scheme=scheme)
        colours = page.eval_on_selector_all(
            "#summary .legend i", "all => all.map(i => getComputedStyle(i).backgroundColor)"
        )
        assert len(colours) == len(set(colours)) == 13  # twelve classes, and all others together
        assert page.locator("#trust tbody").last.locator("tr").count() == 12
    assert page.locator("#trust .over-panel").count() == 13  # one of the best guess, too


def test_every_measure_has_an_interval_and_words_are_plain(open_page, three):
    model, X, y, found = three
    page = open_page(page_of(model, X, y, found))
    said = page.locator("#trust .measures").inner_text()
    for name, value in found.best.measures.items():
        assert name in said
        assert f"{value:.4f}" in said
    assert said.count("±") == 5
    assert "before" not in page.locator("#trust .legend").first.inner_text()
    assert "textbook naive Bayes" in page.locator("#trust .legend").first.inner_text()
    times = page.locator("#methods tbody tr td:nth-last-child(2)").all_text_contents()
    assert all(text.endswith((" ms", " s")) for text in times)


def test_ticks_are_round_numbers_and_captions_fit_a_phone(open_page, three):
    model, X, y, found = three
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, found), viewport={"width": 360, "height": 740})
    for tick in page.locator("#columns .card svg .tick, #trust svg .tick").all_text_contents():
        number = tick.removesuffix(" %").replace(",", "").replace("−", "-")
        if tick.endswith(" %"):
            assert len(number.strip("-0").replace(".", "")) <= 3
    for details in page.locator("details").all():
        details.locator("summary").first.click()
    for caption in page.locator("figcaption, .caption, .legend, .note").all():
        box = caption.bounding_box()
        assert box is None or box["x"] + box["width"] <= 360
        assert caption.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_texts_at_an_axis_do_not_touch_on_a_phone(open_page, three):
    _, X, y, found = three
    random = np.random.default_rng(99)
    X = X.assign(month=random.integers(1, 13, len(X)), name=random.choice(["one", "another name", "none"], len(X)))
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, found), viewport={"width": 360, "height": 740})
    for drawing in page.locator("#columns .card svg").all():
        boxes = [tick.bounding_box() for tick in drawing.locator(".tick[text-anchor=middle]").all()]
        assert boxes
        boxes.sort(key=lambda box: (round(box["y"]), box["x"]))
        lines = [(one, other) for one, other in pairwise(boxes) if round(one["y"]) == round(other["y"])]
        assert all(one["x"] + one["width"] <= other["x"] for one, other in lines)
