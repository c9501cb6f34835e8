"""What is typed, stepped and slid in the explorer: it leads to the value that is meant."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from hebnb import AODE, EvidenceClassifier, NaiveBayes, plots
from hebnb.explain.contributions import against_others, contributions
from hebnb.explain.summary import class_position
from pages import crossed, page_of, probabilities, pushes


@pytest.fixture(scope="module")
def nothing_compared():
    """A comparison of no table at all."""

    class Other:
        classes = np.array(["of another table"])

    return Other()


@pytest.mark.parametrize("model", [EvidenceClassifier(), NaiveBayes(), AODE(weighting="loo")], ids=repr)
@pytest.mark.parametrize("least", [1, 5])
@pytest.mark.parametrize("leave", ["Enter", "Tab"])
def test_typed_numbers_choose_the_bin_that_they_fall_into(model, least, leave, open_page, nothing_compared):
    """However the field is left, and where bins that few rows have are offered together: one bin for every number."""
    X, y = crossed(400)
    X["number"] = 2.6 + X["number"]
    model.fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared, least=least))
    f = list(X.columns).index("number")
    kind = model.counts_.vocabulary.features[f]
    field = page.locator(f"#value-{f}")
    for value in (-99, 2.5, float(kind.cut_at[1]), np.nextafter(kind.cut_at[1], 9), 2.58551, 60, 1e9):
        page.click("#reset")
        field.focus()
        page.keyboard.type(repr(float(value)))
        page.keyboard.press(leave)
        shown = field.input_value()
        ends = [float(word) for word in shown.replace("≤ ", "-inf – ").replace("> ", "").split(" – ")]
        low, high = ends if len(ends) == 2 else (ends[0], np.inf)
        assert low - 1e-4 * abs(low) <= value <= high + 1e-4 * abs(high) or low == -np.inf
        if least == 1:
            assert shown == kind.texts[np.searchsorted(kind.cut_at, value)]
            row = [np.array([kind.size]) for kind in model.counts_.vocabulary.features]
            row[f] = np.array([np.searchsorted(kind.cut_at, value)])
            scores = model.score_tables_.joint_log_scores(row)[0]
            assert_allclose(probabilities(page), np.exp(scores) / np.exp(scores).sum(), atol=1e-9)


def test_a_typed_date_chooses_its_bin(open_page, nothing_compared):
    random = np.random.default_rng(0)
    hours = random.integers(0, 9000, 800)
    X = pd.DataFrame({"when": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, unit="h")})
    y = np.where((hours > 4000) ^ (random.random(800) < 0.2), "late", "early").astype(object)
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared), timezone_id="America/New_York")
    kind = model.counts_.vocabulary.features[0]
    for text in ("2024-03-05", "2024-03-05 13:30", "1999-01-01"):
        page.locator("#value-0").fill(text)
        page.keyboard.press("Tab")
        microseconds = np.datetime64(text).astype("M8[us]").astype(float)
        assert page.locator("#value-0").input_value() == kind.texts[np.searchsorted(kind.cut_at, microseconds)]


def test_what_was_typed_counts_when_the_field_is_left(open_page, nothing_compared):
    X, y = crossed()
    X["whole"] = X["count"] % 7
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared, least=5))
    field = page.locator("#value-0")
    for typed, shown in (("B", "b"), (" c ", "c"), ("missing", "missing"), ("", "")):
        field.fill(typed)
        page.keyboard.press("Tab")
        assert field.input_value() == shown
    before = probabilities(page)
    field.fill("zz")
    page.keyboard.press("Tab")
    assert field.input_value() == "zz"  # it stays, and is said to be nothing that the page knows
    assert "fewer than 5 rows" in page.text_content("#status")
    assert "unknown" in field.get_attribute("class")
    assert page.locator(f"#{field.get_attribute('aria-describedby')}").inner_text() == "rare or never seen"
    assert_allclose(probabilities(page), before)
    field.fill("b")
    page.keyboard.press("Escape")  # nothing of it counts
    assert field.input_value() == "zz"
    whole = page.locator("#value-4")
    whole.fill("3.0")  # the number that the category 3 is
    page.keyboard.press("Tab")
    assert whole.input_value() == "3"


def test_what_is_no_number_and_no_date_is_said_to_be_none(open_page, nothing_compared):
    """A browser takes "1" and "June 15, 2023" for dates, in its own time zone, and 0x10 for a number."""
    X, y = crossed()
    X["when"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.arange(len(X)), unit="D")
    X["size"] = 1000.0 * np.arange(len(X))
    model = EvidenceClassifier().fit(X, y)
    kinds = model.counts_.vocabulary.features
    page = open_page(page_of(model, X, y, nothing_compared))
    number, when, size = (page.locator(f"#value-{list(X.columns).index(name)}") for name in ("number", "when", "size"))
    tags = ((number, "not a number"), (when, "not a date"))
    for text in ("banana", "2,5", "0x10", "Infinity", "1", "June 15, 2023", "2023-02-31", "2023-01-01 25:00"):
        for field, tag in tags if text != "1" else tags[1:]:
            field.fill(text)
            page.keyboard.press("Tab")
            assert field.input_value() == text
            assert page.locator(f"#{field.get_attribute('aria-describedby')}").inner_text() == tag
            assert tag in page.text_content("#status")
    for field, text, same in (
        (number, "−0.5", -0.5),
        (number, "+.25", 0.25),
        (size, "12,500", 12_500),
        (size, "1.25e4", 12_500),
        (when, "2023-06-15 12:30:01.5", np.datetime64("2023-06-15T12:30:01.5").astype("M8[us]").astype(float)),
        (when, "2023-6-5", np.datetime64("2023-06-05").astype("M8[us]").astype(float)),
    ):
        field.fill(text)
        page.keyboard.press("Tab")
        kind = kinds[int(field.get_attribute("id").split("-")[1])]
        assert field.input_value() == kind.texts[np.searchsorted(kind.cut_at, same)]
        assert page.locator(f"#{field.get_attribute('aria-describedby')}").is_hidden()
        assert page.text_content("#status") == ""  # nothing is said any more of what was typed before


def test_what_is_written_the_same_way_comes_first(open_page, nothing_compared):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"name": random.choice(["A", "a", " x", "x ", "  "], 200)})
    y = np.where((X["name"] == "a") ^ (random.random(200) < 0.2), "in", "out").astype(object)
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared))
    field = page.locator("#value-0")
    for text, value in (("a", "a"), ("A", "A"), (" x", " x"), ("x ", "x "), ("x", " x"), ("“  ”", "  ")):
        field.fill(text)
        page.keyboard.press("Tab")
        assert_allclose(probabilities(page), model.predict_proba(pd.DataFrame({"name": [value]}))[0], atol=1e-9)


def test_a_list_opens_around_the_value_that_is_chosen(open_page, nothing_compared):
    """Opening it and choosing what is marked changes nothing; the tab key goes on to the next field."""
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared))
    kind = model.counts_.vocabulary.features[2]
    assert kind.size > 200
    field = page.locator("#value-2")
    for v in (0, 150, kind.size - 2):
        field.fill(kind.texts[v])
        page.keyboard.press("Enter")
        page.keyboard.press("Alt+ArrowDown")
        active = page.locator(f"#{field.get_attribute('aria-activedescendant')} span").first
        assert active.text_content() == kind.texts[v]
        assert f"{kind.size - 60} others" in page.locator("#list-2 .more").text_content()
        page.keyboard.press("Enter")
        assert field.input_value() == kind.texts[v]
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "slide-2"
    assert page.locator("#list-2").is_hidden()


def test_whole_numbers_have_a_slider_and_arrow_keys(open_page, nothing_compared):
    X, y = crossed()
    model = NaiveBayes(weighting="loo").fit(X, y)
    kind = model.counts_.vocabulary.features[3]
    assert kind.cut_at is None
    page = open_page(page_of(model, X, y, nothing_compared))
    field, slider = page.locator("#value-3"), page.locator("#slide-3")
    assert page.locator("#slide-0").count() == 0  # text has no order
    field.fill("7")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    assert field.input_value() == "8"
    assert slider.input_value() == str(kind.texts.index("8"))
    slider.focus()
    page.keyboard.press("End")
    assert field.input_value() == "39"
    odds = against_others(model.score_tables_.tables[3].lines()[1])[kind.texts.index("39")]
    weight = model.score_tables_.combination.table_weights[3]
    assert_allclose(pushes(page)[4], weight * odds[int(page.locator("#class").input_value())], atol=1e-9)


def test_the_explorer_begins_with_a_typical_row_and_says_so(open_page, nothing_compared):
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared, examples=None))
    assert page.locator("#value-0").input_value() == X["p"].mode()[0]
    kind = model.counts_.vocabulary.features[2]
    at = kind.texts.index(page.locator("#value-2").input_value())
    number = X["number"].dropna()
    assert abs((number <= kind.cut_at[at]).mean() - 0.5) < 0.02
    assert "most frequent value" in page.text_content("#status")
    page.click("#reset")
    page.locator("#value-0").fill("b")
    page.keyboard.press("Tab")
    assert page.text_content("#status") == ""


def test_what_is_nearly_sure_is_not_said_to_be_sure(open_page, nothing_compared):
    X = pd.DataFrame({"x": ["a", "b"] * 3000, "y": ["a", "b"] * 3000})
    with pytest.warns(UserWarning, match="gives the class away"):
        model = EvidenceClassifier().fit(X, ["no", "yes"] * 3000)
    page = open_page(page_of(model, X, np.array(["no", "yes"] * 3000, dtype=object), nothing_compared))
    for f in (0, 1):
        page.locator(f"#value-{f}").fill("a")
        page.keyboard.press("Tab")
    assert probabilities(page).max() > 0.9995
    assert page.locator("#probabilities .value").all_text_contents() == ["> 99.9 %", "< 0.1 %"]
    assert page.locator(".push.sum").inner_text().split("\n")[1] == "log-odds of > 99.9 %"


def test_arrow_keys_step_along_bins(open_page, nothing_compared):
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared))
    kind = model.counts_.vocabulary.features[2]
    field, n_bins = page.locator("#value-2"), kind.size - 1
    field.fill("-99")
    page.keyboard.press("Enter")
    for v in (1, 2, 3):
        page.keyboard.press("ArrowUp")
        assert field.input_value() == kind.texts[v]
    page.keyboard.press("ArrowDown")
    assert field.input_value() == kind.texts[2]
    slider = page.locator("#slide-2")
    assert slider.input_value() == "2"
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert field.input_value() == kind.texts[3]
    assert slider.get_attribute("aria-valuetext") == kind.texts[3]
    page.keyboard.press("End")
    assert field.input_value() == kind.texts[n_bins - 1]  # the gap, which comes last, is no bin
    page.evaluate("location.hash = '#explorer=0:..5.'")
    page.wait_for_function("document.getElementById('slide-2').value === '5'")


@pytest.mark.parametrize("model", [EvidenceClassifier(), NaiveBayes(weighting="loo"), AODE()], ids=repr)
def test_a_slider_stands_on_the_curve_of_what_its_column_adds(model, open_page, nothing_compared):
    X, y = crossed()
    model.fit(X, y)
    page = open_page(page_of(model, X, y, nothing_compared))
    kinds = model.counts_.vocabulary.features
    page.evaluate("location.hash = '#explorer=1:0.1.2.0'")
    page.wait_for_function("document.getElementById('class').value === '1'")
    points = page.locator(".push", has=page.locator("#slide-2")).locator("polyline").get_attribute("points").split()
    heights = np.array([15 - float(point.split(",")[1]) for point in points])
    n_bins = kinds[2].size - kinds[2].missing
    rows = [np.full(n_bins, code) for code in (0, 1, 2, 0)]
    rows[2] = np.arange(n_bins)
    odds = against_others(contributions(model.score_tables_, rows).of_features[:, 2])[:, 1]
    assert len(points) == n_bins
    assert_allclose(heights, 14 * odds / max(0.1, np.abs(odds).max()), atol=0.006)
    for v in (0, n_bins // 2, n_bins - 1):
        page.locator("#slide-2").fill(str(v))
        assert_allclose(pushes(page)[3], odds[v], atol=1e-9)


@pytest.mark.parametrize("model", [EvidenceClassifier(), NaiveBayes(weighting="loo")], ids=repr)
def test_the_class_shown_first_is_the_most_probable_one_everywhere(model, open_page, nothing_compared):
    """Page, bars, nomogram and the tables behind them agree; nobody has to say which class is meant."""
    pytest.importorskip("matplotlib")
    X, y = crossed(classes=("rare", "often", "some"))
    model.fit(X, y)
    often = model.classes_[int(np.argmax(model.class_count_))]
    assert model.classes_[class_position(model.score_tables_, None)] == often
    assert plots.column(model, "p").get_xlabel() == f"log-odds of {often}"
    if isinstance(model, NaiveBayes):
        assert plots.nomogram(model).get_xlabel() == f"log-odds of {often}"
    page = open_page(page_of(model, X, y, nothing_compared))
    assert page.locator("#columns .subject option").first.text_content() == often
    assert page.locator("#probabilities .label").first.text_content() == often
    proba, labels = model.predict_proba(X[:40]), list(model.classes_)
    likely = [labels[c] for c in proba.argmax(axis=1)]
    for row in (likely.index(label) for label in sorted(set(likely))):
        said = plots.evidence(model, X, row=row).get_xlabel()
        assert said.startswith(f"log-odds of {likely[row]}:")
    for _ in range(8):
        page.click("#random")
        shown = probabilities(page)
        assert page.locator("#class").input_value() == str(shown.argmax())
        assert_allclose(pushes(page)[-1], against_others(np.log(shown))[shown.argmax()], atol=1e-6)
    page.select_option("#class", "0")  # what was picked stays
    page.click("#random")
    assert page.locator("#class").input_value() == "0"
    assert page.locator("#columns .subject").input_value() == "0"
