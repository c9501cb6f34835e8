"""The report: its numbers against independent ones, and its page in a real browser."""

import datetime as dt
import re
import zlib
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from typer.testing import CliRunner

from hebnb import AODE, EvidenceClassifier, InputError, NaiveBayes, ParameterError, load
from hebnb.cli.app import app
from hebnb.datasets import load_flights
from hebnb.estimators.alerts import Alert
from hebnb.estimators.rows import encoded
from hebnb.evidence.single import class_rates
from hebnb.explain.contributions import against_others, contributions
from hebnb.explain.summary import feature_summaries, nomogram_points, telling_categories
from hebnb.methods import METHODS
from hebnb.metrics import expected_calibration_error, reliability_curve
from hebnb.page import choices as choices_module
from hebnb.page import explorer as explorer_module
from hebnb.page import rendering
from hebnb.page.baselines import BASELINES
from hebnb.page.build import made
from hebnb.page.cards import MOST_BARS
from hebnb.page.choices import Choices
from hebnb.page.comparison import compare
from hebnb.page.contents import contents, verdict
from hebnb.page.crosses import ShownCells, cross_summaries, heat_map
from hebnb.page.explorer import Examples, explorer_data, fits_page
from hebnb.page.provenance import Provenance
from hebnb.page.rendering import render
from hebnb.tabular.files import open_table
from hebnb.tabular.labelled import Labelled
from models import HOSTILE, table
from pages import ORIGIN, crossed, page_of, probabilities, pushes


class NoBars:
    """Progress that nobody sees."""

    def add_task(self, *_, **__):
        return 0

    advance = update = lambda *_, **__: None


@pytest.fixture(scope="module")
def comparison():
    X, y = table(300)
    return compare(pa.Table.from_pandas(X), y.astype(object), {}, folds=3)


# Numbers


def test_the_comparison_against_scikit_learn(comparison):
    X, y = table(300)
    split = StratifiedKFold(3, shuffle=True, random_state=0)
    for name, model in {
        "Laplace": NaiveBayes("laplace"),
        "NB+loo": NaiveBayes(weighting="loo"),
        "HEB-U+loo": NaiveBayes("heb-u", weighting="loo"),
        "HEB-AODE": AODE(),
        "Evidence": EvidenceClassifier(),
    }.items():
        proba = cross_val_predict(model, X, y, cv=split, method="predict_proba")
        result = comparison.result(name)
        assert_allclose(result.proba, proba, atol=1e-12)
        assert_allclose(result.measures["log-loss"], log_loss(y, proba))
        assert_allclose(result.measures["AUC"], roc_auc_score(y, proba, multi_class="ovr"))
        assert_allclose(result.measures["accuracy"], np.mean(model.fit(X, y).classes_[proba.argmax(axis=1)] == y))
    assert comparison.best.measures["log-loss"] == min(r.measures["log-loss"] for r in comparison.results)


def test_methods_that_read_columns_in_another_way_are_compared_too():
    """Floats and integers are trees of bins to Evidence, which decides so when it has seen a fold."""
    X, y = crossed(400)
    found = compare(pa.Table.from_pandas(X), y, {"n_bins": 3, "numeric_features": ["count"]}, folds=2)
    split = StratifiedKFold(2, shuffle=True, random_state=0)
    for name, model in {
        "Evidence": EvidenceClassifier(numeric_features=["count"]),
        "NB+loo": NaiveBayes(n_bins=3, numeric_features=["count"], weighting="loo"),
    }.items():
        proba = cross_val_predict(model, X, y, cv=split, method="predict_proba")
        assert_allclose(found.result(name).proba, proba, atol=1e-12)
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    proba = cross_val_predict(EvidenceClassifier(), X, y, cv=split, method="predict_proba")
    assert_allclose(found.result("Evidence").proba, proba, atol=1e-12)


def test_a_method_takes_the_parameters_that_it_has():
    assert METHODS["Evidence"].model(n_bins=5, missing="ignore").get_params()["missing"] == "ignore"
    assert METHODS["NB+loo"].model(n_bins=5).n_bins == 5
    with pytest.raises(TypeError, match="bins"):  # what no method has is a mistake
        METHODS["Evidence"].model(bins=5)


def test_a_table_that_cannot_be_read_is_no_methods_fault():
    X, y = crossed(40)
    with pytest.raises(ParameterError, match="also to be cut"):
        compare(pa.Table.from_pandas(X), y, {"categorical_features": ["p"], "numeric_features": ["p"]}, folds=2)


def test_classes_with_a_single_row():
    X, y = table(60)
    y = y.astype(object)
    y[0] = "only once"
    found = compare(pa.Table.from_pandas(X), y, {"n_bins": 3}, folds=4)
    assert found.best.proba.shape == (59, 4)  # a row that no model could get right is left out, and told
    assert found.unknown == 1
    assert max(result.measures["log-loss"] for result in found.results) < 5
    assert not found.refused
    with pytest.raises(InputError, match="No class has two rows"):
        compare(pa.Table.from_pandas(X.head(3)), np.array(["a", "b", "c"], dtype=object), {}, folds=2)


def test_labels_may_be_anything_that_sorts():
    """Booleans, integers, dates and decimals: scikit-learn's measures refuse some of them."""
    X, y = table(60)
    rows = pa.Table.from_pandas(X)
    expected = compare(rows, y.astype(object), {}, folds=2).best.measures
    days = {label: dt.date(2024, 1, n + 1) for n, label in enumerate("xyz")}
    for labels in (np.array(["xyz".index(label) for label in y]), np.array([days[label] for label in y], dtype=object)):
        assert_allclose(list(compare(rows, labels, {}, folds=2).best.measures.values()), list(expected.values()))
    assert compare(rows, y == "x", {}, folds=2).classes.tolist() == [False, True]


def test_the_error_by_chance_is_what_drawn_labels_show(comparison):
    """Beside every method's calibration error stands the mean error of labels drawn from its own probabilities."""
    random = np.random.default_rng(0)
    for result in comparison.results:
        proba, classes = result.proba, np.arange(len(comparison.classes))
        drawn = [
            expected_calibration_error((random.random((len(proba), 1)) > proba.cumsum(axis=1)[:, :-1]).sum(axis=1),
                                       proba, classes=classes)
            for _ in range(400)
        ]  # fmt: skip
        assert abs(np.mean(drawn) - result.measures["ECE by chance"]) < 5 * np.std(drawn) / np.sqrt(400)


def test_columns_that_tell_nothing(open_page):
    """Pure noise, and a class so rare that no measure of it is left: the page says so, and draws no nonsense."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.choice(list("abcdefgh"), 150)})
    y = random.choice(["a", "b"], 150).astype(object)
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    assert "next to nothing" in verdict(found, ["a", "b"])
    y[:] = "a"
    y[0] = "b"
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    assert np.isnan(found.best.measures["AUC"])
    page = open_page(page_of(NaiveBayes().fit(X, y), X, y, found))
    assert "nan" not in page.inner_html("#methods")
    with pytest.raises(InputError, match="one class"):
        compare(pa.Table.from_pandas(X), np.full(150, "a", dtype=object), {}, folds=2)


def test_the_verdict_is_a_sentence(comparison):
    said = verdict(comparison, ["x", "y", "z"])
    assert re.match(
        r"The probabilities .* percentage points.* rows in 100; always saying “.” would be right for \d+", said
    )


def test_a_curve_of_one_class():
    y, proba = ["a", "b", "b", "a"], [[0.9, 0.1], [0.8, 0.2], [0.15, 0.85], [0.12, 0.88]]
    curve = reliability_curve(y, proba, label="b")
    assert_allclose(curve["confidence"], [0.1, 0.2, 0.865])
    assert_allclose(curve["accuracy"], [0, 1, 0.5])
    with pytest.raises(ValueError, match="not among the classes"):
        reliability_curve(y, proba, label="c")


def test_summaries_count_gaps_and_singletons():
    X = pd.DataFrame({"x": ["a", "a", "b", None, "c"], "n": [1.0, 2, 3, 4, 5]})
    first, second = feature_summaries(NaiveBayes(n_bins=2).fit(X, [0, 1, 0, 1, 0]).score_tables_)
    assert (first.kind, first.categories, first.missing, first.unseen) == ("text", 4, 0.2, 0.6)
    assert (second.kind, second.unseen) == ("numbers, cut", 0)


def test_telling_categories_are_ranked_and_shrunk():
    random = np.random.default_rng(0)
    x = np.where(random.random(500) < 0.3, "tell", "rest").astype(object)
    x[:3] = "rare"
    y = np.where(x == "tell", random.random(500) < 0.9, random.random(500) < 0.3)
    y[:3] = True
    telling = telling_categories(NaiveBayes().fit(x.reshape(-1, 1), y).score_tables_, 0)
    assert telling.labels[0] == "tell"
    rare = telling.labels.index("rare")
    raw = telling.count[rare, 1] / telling.count[rare].sum()
    assert raw == 1.0
    assert y.mean() < telling.rate[rare, 1] < raw  # between the average and what three rows say
    assert_allclose(telling.rate.sum(axis=1), 1)


def test_nomogram_points_are_log_odds():
    X, y = table()
    model = NaiveBayes(weighting="loo").fit(X, y == "x")
    points = nomogram_points(model.score_tables_, True)
    where = (points["feature"] == "number") & (points["value"] == "2")
    logs = model.feature_log_prob_[1][:, list(model.categories_[1]).index(2)]
    assert_allclose(points["log_odds"][where], model.feature_weights_[1] * (logs[1] - logs[0]))
    with pytest.raises(ValueError, match="depend on each other"):
        nomogram_points(AODE().fit(X, y).score_tables_)


def test_the_report_of_a_large_table_samples_for_comparison(tmp_path):
    X, y = load_flights(backend="pandas")
    X.assign(arrival=y).head(4000).to_csv(tmp_path / "t.csv", index=False)
    with open_table(str(tmp_path / "t.csv")) as opened:
        page, model = made(
            Labelled.of(opened, "arrival"), ORIGIN, {}, folds=2, max_rows=1000, seed=3, bars=NoBars()
        )  # fmt: skip
    assert page.contents.compared_rows == 1000
    assert page.contents.n_rows == 4000
    assert model.class_count_.sum() == 4000
    assert any("drawn at random" in note for note in page.contents.notes)


# The command


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """hebnb report on part of the flights: what it prints, and its page."""
    folder = tmp_path_factory.mktemp("report")
    X, y = load_flights(backend="pandas")
    X.assign(arrival=y).head(2500).to_csv(folder / "flights.csv", index=False)
    arguments = [
        "report", folder / "flights.csv", "-t", "arrival", "-o", folder / "page.html", "--model", folder / "best.skops",
    ]  # fmt: skip
    result = CliRunner().invoke(app, [*map(str, arguments), "--folds", "2", "--min-count", "1", "--include-rows"])
    assert result.exit_code == 0, result.stderr
    return result.stdout, folder


def test_what_the_command_prints(report):
    printed, folder = report
    lines = printed.splitlines()
    names = ["Laplace", "HEB-M", "HEB-M+GR", "HEB-AODE", "NB+loo", "HEB-U+loo", "AODE+loo"]
    found = [line for line in lines if line[2:].split(" ")[0] in names]
    assert [line[2:].split(" ")[0] for line in found] == names
    assert len({len(line) for line in found}) == 1
    assert sum(line.startswith("→") for line in found) == 1
    assert "page.html" in printed
    assert load(folder / "best.skops").class_count_.sum() == 2500


def test_two_outputs_need_two_files(report, tmp_path):
    _, folder = report
    both = str(tmp_path / "both.html")
    arguments = ["report", str(folder / "flights.csv"), "-t", "arrival", "-o", both, "--model", both]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "are both" in result.stderr
    place = str(tmp_path / "page.html")
    arguments = ["report", str(folder / "flights.csv"), "-t", "arrival", "-o", place, "--model", "/proc/x.skops"]
    result = CliRunner().invoke(app, [*arguments, "--folds", "2"])
    assert result.exit_code == 1
    assert not list(tmp_path.iterdir())
    assert CliRunner().invoke(app, ["report", "--seed", "-1"]).exit_code == 2


def test_the_default_name_is_free(tmp_path, monkeypatch, report):
    monkeypatch.chdir(tmp_path)
    _, folder = report
    for expected in ("hebnb-report.html", "hebnb-report-2.html"):
        arguments = [
            "report",
            str(folder / "flights.csv"),
            "-t",
            "arrival",
            "--folds",
            "2",
            "--json",
            "--max-rows",
            "500",
        ]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.stderr
        assert Path(expected).exists()
    assert '"best":' in result.stdout


def test_the_page_needs_nothing_else(report):
    page = (report[1] / "page.html").read_text()
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:)""", page)
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page


# The page in a browser


MODELS = [
    NaiveBayes(),
    NaiveBayes("laplace", weighting="sqrt-mi"),
    NaiveBayes(weighting="loo"),
    NaiveBayes(class_prior=[0.0, 0.4, 0.6]),
    AODE(),
    AODE("laplace", over_cap="skip", max_parent_categories=3),
    AODE(weighting="loo"),
    AODE(weighting="loo", max_parent_categories=3, min_parent_count=4),
    AODE(min_parent_count=6),
    AODE(min_parent_count=1000),
]


# The prior is in every estimate of these, and another one has to be too.
EXCHANGED = [AODE(), AODE(weighting="loo", min_parent_count=4)]
CASES = [*((model, None) for model in MODELS), *((model, [0.7, 0.1, 0.2]) for model in EXCHANGED)]


@pytest.mark.parametrize(("model", "prior"), CASES, ids=repr)
def test_the_explorer_computes_what_python_computes(model, prior, open_page, comparison):
    """All kinds of models; rows with gaps and without values; probabilities to 1e-6, and pushes too."""
    X, y = table(120)
    model.fit(X, y)
    model = model if prior is None else model.with_prior(prior)
    page = open_page(page_of(model, X, y, comparison))
    sizes = [feature.size for feature in model.counts_.vocabulary.features]
    random = np.random.default_rng(0)
    for trial in range(25):
        codes = [int(random.integers(-1 if trial else 0, size)) for size in sizes]
        chosen = int(random.integers(3))
        link = ".".join("" if code < 0 else str(code) for code in codes)
        page.evaluate(f"location.hash = '#explorer={chosen}:{link}'")
        page.wait_for_function(f"document.getElementById('class').value === '{chosen}'")
        page.wait_for_timeout(20)
        row = [np.array([size if code < 0 else code]) for code, size in zip(codes, sizes, strict=True)]
        parts = contributions(model.score_tables_, row)
        scores = model.score_tables_.joint_log_scores(row)
        expected = np.exp(scores - scores.max())
        assert_allclose(probabilities(page), (expected / expected.sum())[0], rtol=0, atol=1e-9)
        if np.isfinite(scores).all():
            shown = pushes(page)
            assert_allclose(shown[1 : len(sizes) + 1], against_others(parts.of_features[0])[:, chosen], atol=1e-9)
            assert_allclose(shown[0], against_others(parts.prior[0])[chosen], atol=1e-9)
            assert_allclose(shown[-1], against_others(scores[0])[chosen], atol=1e-9)
            assert_allclose(shown[:-1].sum(), shown[-1], atol=1e-9)


EVIDENCE = [
    EvidenceClassifier(),
    EvidenceClassifier(missing="ignore"),
    EvidenceClassifier(max_crosses=0),
    EvidenceClassifier(max_order=2),
    EvidenceClassifier(numeric_features=["count"]),
]


@pytest.mark.parametrize("classes", [("no", "yes"), ("no", "yes", "sure")], ids=len)
@pytest.mark.parametrize("model", EVIDENCE, ids=repr)
def test_the_explorer_computes_evidence(model, classes, open_page, comparison):
    """Columns, trees of bins, crosses; values never seen; all that is shown of a row to 1e-9."""
    X, y = crossed(classes=classes)
    tables = model.fit(X, y).score_tables_
    page = open_page(page_of(model, X, y, comparison))
    sizes = [feature.size for feature in model.counts_.vocabulary.features]
    random = np.random.default_rng(0)
    for trial in range(15):
        codes = [int(random.integers(-1 if trial else 0, size)) for size in sizes]
        chosen = int(random.integers(len(classes)))
        link = ".".join("" if code < 0 else str(code) for code in codes)
        page.evaluate(f"location.hash = '#explorer={chosen}:{link}'")
        page.wait_for_function(f"document.getElementById('class').value === '{chosen}'")
        page.wait_for_timeout(20)
        row = [np.array([size if code < 0 else code]) for code, size in zip(codes, sizes, strict=True)]
        parts = contributions(tables, row)
        scores = tables.joint_log_scores(row)
        expected = np.exp(scores - scores.max())
        assert_allclose(probabilities(page), (expected / expected.sum())[0], rtol=0, atol=1e-9)
        shown, of_tables = pushes(page), against_others(parts.of_features[0])[:, chosen]
        assert_allclose(shown[0], against_others(parts.prior[0])[chosen], atol=1e-9)
        assert_allclose(shown[1 : len(sizes) + 1], of_tables[: len(sizes)], atol=1e-9)
        assert_allclose(shown[-1], against_others(scores[0])[chosen], atol=1e-9)
        assert_allclose(shown[:-1].sum(), shown[-1], atol=1e-9)
        crosses = page.eval_on_selector_all(
            "#pushes [data-table]", "all => all.map(o => [Number(o.dataset.table), Number(o.dataset.value)])"
        )
        assert len(crosses) == min(8, len(model.crosses_))
        assert_allclose([push for _, push in crosses], [of_tables[number] for number, _ in crosses], atol=1e-9)
        strongest = np.sort(np.abs(of_tables[len(sizes) :]))[::-1][: len(crosses)]
        assert_allclose(np.abs([push for _, push in crosses]), strongest, atol=1e-9)


def test_the_strongest_of_many_crosses_have_lines_of_their_own(open_page, comparison):
    """More crosses than lines: the others are summed, and nothing moves when a row brings others to the front."""
    X, y = load_flights(backend="pandas")
    y = y.to_numpy(dtype=object)
    model = EvidenceClassifier().fit(X, y)
    assert len(model.crosses_) > 8
    page = open_page(page_of(model, X, y, comparison), viewport={"width": 360, "height": 740})
    places = "[...document.querySelectorAll('.push')].map(e => [e.offsetTop, e.offsetHeight].join())"
    before, named = page.evaluate(places), set()
    for _ in range(6):
        page.click("#random")
        assert page.evaluate(places) == before
        shown = pushes(page)
        assert len(shown) == 1 + 10 + 8 + 1 + 1
        assert_allclose(shown[:-1].sum(), shown[-1], atol=1e-9)
        named.add(tuple(page.locator(".push.cross .label").all_text_contents()))
    assert len(named) > 1
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_value_never_seen_says_what_it_says(open_page, comparison):
    """Rare names are all late: so is a name that was never seen, and the page calls it that."""
    random = np.random.default_rng(0)
    common = random.choice(["a", "b"], 300).astype(object)
    X = pd.DataFrame({"name": np.concatenate([common, [f"once {n}" for n in range(150)]])})
    y = np.where(np.arange(450) < 300, "ontime", "late").astype(object)
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, comparison))
    page.click("#reset")
    expected = model.predict_proba(pd.DataFrame({"name": ["never"]}))[0]
    assert expected[0] > 0.8
    assert_allclose(probabilities(page), expected, atol=1e-9)
    assert page.locator("#value-0").get_attribute("placeholder") == "never seen"
    assert "ever seen" in page.text_content("#status")
    page.locator("#value-0").fill("zzz")
    assert page.locator("#list-0 .more").text_content() == "never seen"


def test_typed_numbers_find_their_bins(open_page, comparison):
    X, y = crossed()
    for model in (EvidenceClassifier().fit(X, y), NaiveBayes().fit(X, y)):
        page = open_page(page_of(model, X, y, comparison))
        tree = model.counts_.vocabulary.features[2]
        for value in (-99, -0.5, float(tree.cut_at[1]), 0.123, 1e9):
            page.locator("#value-2").fill(repr(value))
            page.keyboard.press("Enter")
            assert page.locator("#value-2").input_value() == tree.texts[np.searchsorted(tree.cut_at, value)]


def test_a_heat_map_shows_what_a_cross_adds(open_page, comparison):
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    tables = model.score_tables_
    cross = next(cross for cross in cross_summaries(tables) if cross.names == ["p", "q"])
    cells = ShownCells.of(tables, cross.number)
    page = open_page(page_of(model, X, y, comparison))
    place = [own.names for own in cross_summaries(tables)].index(["p", "q"])
    details = page.locator("#crosses details").nth(place)
    assert details.locator("svg").count() == 0  # drawn when it is opened
    details.locator("summary").click()
    details.locator("svg rect.for, svg rect.against").first.wait_for()
    drawn = details.locator("svg rect.for, svg rect.against")
    assert drawn.count() == np.count_nonzero(cells.rows)
    assert "p" in details.locator("svg").get_attribute("aria-label")
    # p has a gap more than q, so it goes down; the first cell is that of a and a.
    details.locator("svg").focus()
    page.keyboard.press("ArrowDown")
    for chosen, label in enumerate(model.classes_):
        page.select_option("#class", str(chosen))
        details.locator("svg").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        first = np.flatnonzero((cells.nodes == [1, 0]).all(axis=1))[0]
        odds, rows = cells.odds[first, chosen], cells.rows[first]
        share = 100 * cells.count[first, chosen] / rows
        sign = "−" if odds < 0 else "+"
        told = f"p b, q a: {sign}{abs(odds):.3f}; {rows:,.0f} rows, {share:.1f} % {label}"
        assert details.locator(".told").text_content() == told
        kind = "against" if odds < 0 else "for"
        assert details.locator("svg rect.for, svg rect.against").nth(3).get_attribute("class") == kind
    box = details.locator("svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + box["height"] - 8)
    assert details.locator("tbody tr").count() >= 4
    rows = ((X["p"] == "b") & (X["q"] == "a")).sum()
    assert rows == cells.rows[first]


def card_of(page, name):
    """The card of a column."""
    return page.locator("#columns .card").filter(has=page.locator("h3 bdi").get_by_text(name, exact=True))


def test_a_card_of_numbers_shows_shares_and_rows_in_their_order(open_page, comparison):
    """As a curve of steps: the shrunken share of every class, over the rows of every bin."""
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    counts = model.counts_
    page = open_page(page_of(model, X, y, comparison), viewport={"width": 360, "height": 740}, color_scheme="dark")
    card = card_of(page, "number")
    feature, rates, rows = counts.vocabulary.features[2], class_rates(counts, 2), counts.marginal[2]
    assert feature.missing
    assert card.locator("svg .bar").count() == feature.size
    assert len(card.locator("svg polyline").first.get_attribute("points").split()) == 2 * (feature.size - 1)
    for label in model.classes_:
        c = list(model.classes_).index(label)
        page.locator("#columns .subject").select_option(str(c))
        card.locator("svg").focus()
        for v in (0, 1, 2):
            page.keyboard.press("ArrowRight")
            held = f"{rows[v]:,.0f} row{'' if rows[v] == 1 else 's'}"
            told = f"number {feature.texts[v]}: {held}, {100 * rates[v, c]:.1f} % {label}"
            assert card.locator(".told").text_content() == told
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_card_of_categories_shows_the_most_frequent_and_all_others(open_page, comparison):
    random = np.random.default_rng(1)
    names = random.choice([f"n{v:03}" for v in range(300)], 4000, p=np.arange(300, 0, -1) / 45150)
    X = pd.DataFrame({"name": names})
    y = np.where(np.char.count(names, "7") > 0, "a", "b").astype(object)
    model = NaiveBayes(weighting="loo").fit(X, y)
    page = open_page(page_of(model, X, y, comparison, least=5))
    card, counts = card_of(page, "name"), X["name"].value_counts()
    drawn = card.locator("svg circle.after").count()
    assert drawn == MOST_BARS + 1
    rates, texts = class_rates(model.counts_, 0), model.counts_.vocabulary.features[0].texts
    card.locator("svg").focus()
    said = []
    for _ in range(drawn):
        page.keyboard.press("ArrowDown")
        said.append(card.locator(".told").text_content())
    frequent = [one.split(" ")[1].rstrip(":") for one in said[:-1]]
    assert frequent == sorted(frequent)  # in the order of the values
    assert counts[frequent].min() >= counts.drop(frequent).max()
    subject = int(np.argmax(model.class_count_))
    for name, one in zip(frequent, said, strict=False):
        share = 100 * rates[texts.index(name), subject]
        assert one == f"name {name}: {counts[name]:,} rows, {share:.1f} % {model.classes_[subject]}"
    rest = counts.drop(frequent)
    mean = 100 * sum(n * rates[texts.index(name), subject] for name, n in rest.items()) / rest.sum()
    assert said[-1] == f"name the other {len(rest):,}: {rest.sum():,} rows, {mean:.1f} % {model.classes_[subject]}"


def test_a_column_that_tells_nothing_is_drawn_at_the_share_without_it(open_page, comparison):
    """With few rows and many classes the prior is not the share of the class; noise is drawn there, not beside it."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"noise": ["wwwwww", "mmmmmm"] * 60})
    y = np.array([f"k{n}" for n in random.choice(20, 120, p=np.arange(1, 21) / 210)], dtype=object)
    model = EvidenceClassifier().fit(X, y)
    rates = class_rates(model.counts_, 0)
    page = open_page(page_of(model, X, y, comparison, least=1))
    c = int(np.argmax(model.class_count_))
    before = (model.class_count_[c] + 1) / (120 + len(model.classes_))
    assert_allclose(rates[:, c], before, atol=1e-3)
    card = card_of(page, "noise")
    assert f"without it {100 * before:.1f} %" in card.locator(".legend").inner_text()
    average, marks = card.locator("line.diagonal"), card.locator("circle.after")
    for mark in marks.all():
        assert abs(float(mark.get_attribute("cx")) - float(average.get_attribute("x1"))) < 6
    # Wide letters have room: nothing is cut off at the edge of the drawing.
    left = card.locator("svg").bounding_box()["x"]
    assert all(text.bounding_box()["x"] >= left for text in card.locator("text[text-anchor=end]").all())


def test_gaps_do_not_flatten_the_rows_of_bins(open_page, comparison):
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, comparison, least=1))
    gaps, rows = int(X["number"].isna().sum()), model.counts_.marginal[2][:-1]
    assert gaps > 3 * rows.max()
    bars = card_of(page, "number").locator("svg .bar")
    heights = np.array([float(bar.get_attribute("height")) for bar in bars.all()])
    assert_allclose(heights[:-1], 38 * rows / rows.max(), atol=0.06)
    assert heights[-1] < 38
    assert str(gaps) in card_of(page, "number").locator("svg .tick").all_text_contents()


def test_what_columns_are_in_the_model_is_said_in_words(open_page, comparison):
    X, y = crossed()
    X["nothing"] = pd.Series([None] * len(X), dtype=object)
    with pytest.warns(UserWarning, match="every value is missing"):
        model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, comparison))
    kinds = model.counts_.vocabulary.features
    assert f"numbers in {len(kinds[2].cut_at) + 1} bins, " in card_of(page, "number").locator("h3").inner_text()
    assert "text, 3 values, " in card_of(page, "p").locator("h3").inner_text()  # a gap is no value
    assert "nothing but gaps" in card_of(page, "nothing").locator("h3").inner_text()


@pytest.mark.parametrize(("number", "digits", "signed"), [(-0.00004, "0.0000", "0.000"), (-0.5, "−0.5000", "−0.500")])
def test_what_is_rounded_to_zero_has_no_sign(number, digits, signed):
    assert (rendering._digits(number, 4), rendering._signed(number)) == (digits, signed)


def test_options_are_not_torn_apart_nor_names_obeyed():
    said = rendering._with_options("<b>--x</b> try --time, or --no-header.")
    option = '<span class="option">--{}</span>'.format
    assert said == f"&lt;b&gt;--x&lt;/b&gt; try {option('time')}, or {option('no-header')}."


def test_cards_stand_in_the_order_of_what_columns_gain(open_page, comparison):
    X, y = crossed()
    X["noise"] = np.random.default_rng(5).choice(list("pqrs"), len(X))
    model = EvidenceClassifier().fit(X, y)
    odd = [Alert("count", "oddity", "Something is odd.", "Do something."), Alert(None, "table", "Elsewhere.", "")]
    page = open_page(page_of(model, X, y, comparison, alerts=odd))
    gains = {summary.name: summary.gain for summary in feature_summaries(model.score_tables_)}
    assert page.locator(".card h3 bdi").all_text_contents() == sorted(gains, key=gains.get, reverse=True)
    assert [alert.text_content() for alert in page.locator(".card .alert").all()] == ["Something is odd."]
    assert "Something is odd." in card_of(page, "count").text_content()
    # Beside the others a column moves the log-odds of its rows so much, on average.
    f = list(X.columns).index("count")
    parts = contributions(model.score_tables_, encoded(model, X))
    moved = np.abs(against_others(parts.of_features[:, f])).mean()
    assert f"± {moved:.3f} log-odds" in card_of(page, "count").text_content()


def test_smoothing_by_level_is_shown_as_shares(open_page, comparison):
    """One strength would not tell about a tree: the finest may be as strong as can be, and say nothing."""
    X, y = crossed()
    model = EvidenceClassifier().fit(X, y)
    page = open_page(page_of(model, X, y, comparison))
    shares = [summary.shrinkage for summary in feature_summaries(model.score_tables_)]
    shown = [text.strip() for text in page.locator("#smoothing .cell").all_text_contents()]
    assert sorted(shown) == sorted(f"{100 * share:.0f} %" for line in shares for share in line)
    assert page.locator("#smoothing svg").count() == 0


def test_times_at_an_axis_do_not_overlap(open_page, comparison):
    random = np.random.default_rng(0)
    hours = random.integers(0, 9000, 800)
    X = pd.DataFrame({"when": pd.Timestamp("2024-01-01") + pd.to_timedelta(hours, unit="h")})
    X.loc[:30, "when"] = pd.NaT
    y = np.where((hours > 4000) ^ (random.random(800) < 0.2), "late", "early").astype(object)
    model = EvidenceClassifier().fit(X, y)
    for width, most in ((360, 4), (1100, 4)):
        page = open_page(page_of(model, X, y, comparison), viewport={"width": width, "height": 740})
        ticks = [tick for tick in page.locator("#columns svg .tick").all() if tick.text_content()[:2] == "20"]
        assert 1 <= len(ticks) <= most
        assert all(re.fullmatch(r"2024-\d\d|2025", tick.text_content()) for tick in ticks)  # months, not microseconds
        boxes = [tick.bounding_box() for tick in (*ticks, page.locator("#columns svg .tick", has_text="missing"))]
        assert all(a["x"] + a["width"] < b["x"] for a, b in pairwise(boxes))


def test_crosses_of_three_are_listed_by_their_strongest_cells(open_page, comparison):
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.choice(list("ab"), 2000) for name in "pqr"})
    y = np.where((X == "a").sum(axis=1) % 2 == 1, "odd", "even").astype(object)
    model = EvidenceClassifier().fit(X, y)
    (cross,) = [own for own in cross_summaries(model.score_tables_) if len(own.names) == 3]
    assert heat_map(model.score_tables_, cross.number, Choices.of(model.score_tables_)) is None
    assert len(cross.strongest) == 8
    for values, rows, odds in cross.strongest:
        same = X.eq(values).all(axis=1)
        assert rows == same.sum()
        assert (odds[1] > 0) == (y[same][0] == "odd")
        assert_allclose(odds[0], -odds[1])
    page = open_page(page_of(model, X, y, comparison))
    details = page.locator("#crosses details").first
    details.locator("summary").click()
    assert details.locator("thead bdi").all_text_contents()[:3] == ["p", "q", "r"]
    assert details.locator("tbody tr").count() == 8


def test_long_sides_of_a_heat_map_keep_what_is_frequent():
    random = np.random.default_rng(0)
    name = random.choice([f"n{v:03}" for v in range(90)], 4000, p=np.arange(1, 91) / 4095)
    flag = random.choice(["x", "y"], 4000)
    y = np.where((np.char.count(name, "7") > 0) ^ (flag == "x"), "a", "b").astype(object)
    model = EvidenceClassifier().fit(pd.DataFrame({"name": name, "flag": flag}), y)
    (cross,) = cross_summaries(model.score_tables_)
    down, across = heat_map(model.score_tables_, cross.number, Choices.of(model.score_tables_))["sides"]
    counts = pd.Series(name).value_counts()
    assert len(down["labels"]) == 30
    assert set(down["labels"]) <= set(counts.index[counts >= counts.iloc[29]])
    assert down["labels"] == sorted(down["labels"])
    assert (down["of"], across["labels"]) == (len(counts), ["x", "y"])


def test_a_heat_map_has_every_day_of_a_month():
    random = np.random.default_rng(0)
    day, month = random.integers(1, 32, 8000), random.integers(1, 13, 8000)
    y = np.where((day * month) % 3 == 0, "a", "b").astype(object)
    model = EvidenceClassifier().fit(pd.DataFrame({"day": day, "month": month}), y)
    cross = cross_summaries(model.score_tables_)[0]
    down, across = heat_map(model.score_tables_, cross.number, Choices.of(model.score_tables_))["sides"]
    assert (len(down["labels"]), len(across["labels"])) == (31, 12)


def test_the_flights_in_the_explorer(open_page, report):
    """Sparse tables and thousands of categories: rows typed in by hand give predict_proba to 1e-6."""
    _, folder = report
    model = load(folder / "best.skops")
    page = open_page((folder / "page.html").read_text())
    X, _ = load_flights(backend="pandas")
    rows = X.head(2500).sample(4, random_state=0)
    for _, row in rows.iterrows():
        for f, value in enumerate(row):
            if value is None or value != value:  # noqa: PLR0124
                continue
            field = page.locator(f"#value-{f}")
            field.fill(str(value))
            kind = model.counts_.vocabulary.features[f]
            shown = str(value) if kind.cut_at is None else kind.texts[np.searchsorted(kind.cut_at, value)]
            page.locator(f"#list-{f} [role=option]").filter(
                has=page.get_by_text(shown, exact=True)
            ).first.dispatch_event("mousedown")
            assert field.input_value() == shown
        expected = model.predict_proba(pa.Table.from_pandas(row.to_frame().T.astype(X.dtypes), preserve_index=False))
        assert_allclose(probabilities(page), expected[0], rtol=0, atol=1e-6)


def test_by_keyboard_alone(open_page, report):
    page = open_page((report[1] / "page.html").read_text())
    page.locator("#reset").focus()
    page.keyboard.press("Enter")
    prior = probabilities(page)
    assert "prior" in page.text_content("#status")
    page.locator("#value-4").focus()
    page.keyboard.type("u")
    first = page.locator("#list-4 [role=option]").first.text_content()
    assert first.lower().startswith("u")
    assert page.locator("#value-4").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    active = page.locator("#value-4").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator("#value-4").input_value() == "UA"
    assert page.locator("#list-4").is_hidden()
    changed = probabilities(page)
    assert np.abs(changed - prior).max() > 1e-4
    page.keyboard.type("zzz")
    page.keyboard.press("Escape")
    assert page.locator("#value-4").input_value() == "UA"
    assert_allclose(probabilities(page), changed)
    page.locator("#value-4").fill("")
    page.keyboard.press("Enter")
    assert_allclose(probabilities(page), prior)
    assert page.locator("#class").input_value() == str(prior.argmax())  # the most probable class is shown first
    assert_allclose(pushes(page)[-1], np.log(prior.max() / prior.min()), atol=1e-9)
    page.locator("#class").focus()
    page.keyboard.press("ArrowDown")
    assert_allclose(pushes(page)[-1], np.log(prior.min() / prior.max()), atol=1e-9)


def test_random_row_reset_and_a_link_that_restores(open_page, report):
    html = (report[1] / "page.html").read_text()
    page = open_page(html, permissions=["clipboard-read", "clipboard-write"])
    before = probabilities(page)
    page.click("#random")
    assert "in truth" in page.text_content("#status")
    assert np.abs(probabilities(page) - before).max() > 0
    page.select_option("#class", "1")
    shown, evidence = probabilities(page), pushes(page)
    values = page.eval_on_selector_all("#pushes input", "all => all.map(i => i.value)")
    page.click("#copy")
    page.wait_for_function("document.getElementById('status').textContent.includes('ink')")  # Link, or this link
    link = page.evaluate("location.href") if page.locator("#link").is_hidden() else page.input_value("#link")
    assert "#explorer=1:" in link
    page.click("#reset")
    assert np.abs(probabilities(page) - shown).max() > 0
    restored = open_page(html, anchor=link[link.index("#") :])
    assert_allclose(probabilities(restored), shown)
    assert_allclose(pushes(restored), evidence)
    assert restored.eval_on_selector_all("#pushes input", "all => all.map(i => i.value)") == values


def test_links_that_do_not_fit(open_page, report):
    html = (report[1] / "page.html").read_text()
    for anchor in ("#explorer=9:1.2", "#explorer=0:99999999", "#explorer=x", "#explorer=0:<script>", "#nowhere"):
        page = open_page(html, anchor=anchor)
        assert_allclose(probabilities(page).sum(), 1)


def test_on_a_phone_and_in_the_dark(open_page, report):
    html = (report[1] / "page.html").read_text()
    phone = open_page(html, viewport={"width": 360, "height": 740}, color_scheme="dark")
    assert phone.evaluate("document.documentElement.scrollWidth") == 360
    background = "getComputedStyle(document.body).backgroundColor"
    light = open_page(html, color_scheme="light")
    assert phone.evaluate(background) != light.evaluate(background)
    phone.locator("#value-0").click()
    box = phone.locator("#list-0").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_nothing_jumps(open_page, report):
    """Whatever is chosen, everything stays where it is."""
    page = open_page((report[1] / "page.html").read_text())
    places = (
        "[...document.querySelectorAll('section, .push, .probability')].map(e => [e.offsetTop, e.offsetHeight].join())"
    )
    before = page.evaluate(places)
    page.click("#random")
    assert page.evaluate(places) == before
    page.click("#reset")
    assert page.evaluate(places) == before
    page.locator("#value-6").click()
    assert page.locator("#list-6").is_visible()
    assert page.evaluate(places) == before


def test_every_class_has_a_diagram_where_there_are_three(open_page, comparison):
    X, y = table(120)
    page = open_page(page_of(NaiveBayes().fit(X, y), X, y, comparison))
    assert page.locator("#trust .panels svg polygon.band").count() == 4
    assert page.locator("#smoothing .cell").count() == 3 * 4
    assert page.locator("#columns .card").count() == 4
    page.locator("#columns summary").first.click()
    assert page.locator("#columns details").first.locator("tbody tr").count() >= 2


def test_a_diagram_shows_how_wrong_a_model_is(comparison):
    """Over-confident far below one half: the mark is where the numbers are, not at the edge."""
    from hebnb.page.rendering import _lowest

    y = np.array([0, 1] * 50)
    proba = np.where(np.arange(100)[:, np.newaxis] % 4 < 3, [0.15, 0.85], [0.9, 0.1])
    curve = reliability_curve(y, proba)
    assert curve["accuracy"].min() < 0.5
    assert _lowest([curve]) <= curve["accuracy"].min()
    assert _lowest([curve]) > curve["accuracy"].min() - 0.1


def test_many_classes_are_the_same_everywhere(open_page):
    random = np.random.default_rng(0)
    y = random.choice([f"k{n:02}" for n in range(15)], 600, p=np.arange(1, 16) / 120).astype(object)
    X = pd.DataFrame({"a": random.integers(0, 5, 600), "b": random.integers(0, 5, 600)})
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    page = open_page(page_of(NaiveBayes().fit(X, y), X, y, found))
    expected = {f"k{n:02}" for n in range(3, 15)}  # the twelve most frequent
    assert set(page.locator("#smoothing thead bdi").all_text_contents()) == expected
    page.locator("#columns summary").first.click()
    assert set(page.locator("#columns details").first.locator("thead bdi").all_text_contents()) == expected
    assert set(page.locator("#summary .legend bdi").all_text_contents()) == expected
    assert "12 most frequent classes, of 15" in page.inner_text("#summary")
    assert page.locator("#probabilities .value").count() == 15


def test_wide_tables_say_what_is_left_out(open_page):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.integers(0, 3, (80, 70)), columns=[f"c{n}" for n in range(70)])
    y = random.choice(["a", "b"], 80).astype(object)
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    page = open_page(page_of(NaiveBayes().fit(X, y), X, y, found))
    assert page.locator("#columns .card").count() == 60
    assert "60 columns that tell most, of 70" in page.inner_text("#summary")
    assert page.locator("#pushes [role=combobox]").count() == 70


@pytest.mark.parametrize("kind", [AODE(weighting="loo"), EvidenceClassifier()], ids=["AODE", "Evidence"])
def test_hostile_names_are_inert(open_page, kind):
    """As categories, classes, column names, the target's name and the file's: shown, never obeyed."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({name: random.choice(HOSTILE, 300) for name in (HOSTILE[0], HOSTILE[2], HOSTILE[-1], "{{7*7}}")})
    labels = np.array([*HOSTILE[:3], "</script><img src=x onerror=alert(1)>"], dtype=object)
    told = (X[HOSTILE[0]].map(HOSTILE.index) < 6) ^ (X[HOSTILE[2]].map(HOSTILE.index) < 6)  # together, not apart
    y = labels[np.where(told, random.integers(0, 2, 300), random.integers(2, 4, 300))]
    found = compare(pa.Table.from_pandas(X), y, {}, folds=2)
    model = kind.fit(X, y)
    examples = Examples(encoded(model, X.head(20)), model.counts_.classes.codes_of(y[:20]))
    origin = Provenance("<script>alert(2)</script>.csv", 300, "<b>x</b>", columns={HOSTILE[0]: "<i>text</i>"})
    html = render(
        contents(
            "<img src=x onerror=alert(3)>", found, model.score_tables_, origin,
            explored=("AODE+loo", model.score_tables_), examples=examples, notes=["<b>note</b>"],
            alerts=[Alert(HOSTILE[0], "<b>odd</b>", "<b>sentence</b>", "<b>remedy</b>")],
        )
    )  # fmt: skip
    page = open_page(html)
    assert page.locator("script").count() == 2
    assert page.locator("img, b, iframe").count() == 0
    assert "<script>alert(1)</script>" in page.inner_text("#probabilities")
    assert "{{7*7}}" in page.inner_text("#columns")
    for character in ("\x1b", "\u202e", "\x07"):
        assert character not in html
    page.locator("#value-0").fill("<script")
    page.keyboard.press("Enter")
    assert page.locator("#value-0").input_value() == HOSTILE[0]
    for details in page.locator("#columns details, #crosses details").all():
        details.locator("summary").click()
    drawn = page.locator("#crosses svg")  # when a cross is opened
    if isinstance(model, EvidenceClassifier):
        drawn.first.wait_for()
    assert drawn.count() == (1 if isinstance(model, EvidenceClassifier) else 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.click("#random")
    assert page.locator("script").count() == 2
    assert page.locator("img, b, iframe").count() == 0


# What the explorer is given


def test_arrays_are_packed_exactly():
    kinds = {"u1": [[], [0, 255]], "u2": [[300]], "u4": [[70_000]], "f8": [[0.5], [-1], [2.0**40]]}
    for array, kind in [(np.array(numbers, dtype=float), kind) for kind, lists in kinds.items() for numbers in lists]:
        packed = explorer_module.packed(array)
        assert packed["kind"] == kind
        planes = np.frombuffer(zlib.decompress(b64decode(packed["bytes"])), np.uint8).reshape(int(kind[1]), -1)
        assert np.array_equal(np.ascontiguousarray(planes.T).view(f"<{kind}").ravel(), array)


def test_numbers_are_packed_to_a_step():
    for numbers in ([], [0.0], [-3.0, 255.0, 2.0**43], [-1.0, -2.0]):
        packed = explorer_module.packed_steps(np.array(numbers), 0.5)
        width = int(packed["kind"][1])
        planes = np.frombuffer(zlib.decompress(b64decode(packed["bytes"])), np.uint8).reshape(width, -1)
        found = packed["least"] + (planes.T * 256.0 ** np.arange(width)).sum(axis=1)
        assert found.tolist() == numbers


def test_what_is_too_much_for_a_page(monkeypatch):
    X, y = crossed()
    tables = EvidenceClassifier().fit(X, y).score_tables_
    crossed_cells = sum(table.n_cells for table in tables.tables[4:])
    monkeypatch.setattr(explorer_module, "MOST_NUMBERS", 2 * crossed_cells)
    assert fits_page(tables)
    monkeypatch.setattr(explorer_module, "MOST_NUMBERS", 2 * crossed_cells - 1)
    assert not fits_page(tables)


def test_rare_categories_are_not_offered_but_still_counted(open_page, comparison, monkeypatch):
    X, y = table(120)
    monkeypatch.setattr(choices_module, "MOST_CHOICES", 3)
    for model in (NaiveBayes(weighting="loo"), AODE(weighting="loo"), AODE(), EvidenceClassifier()):
        X, y = crossed() if isinstance(model, EvidenceClassifier) else table(120)
        model.fit(X, y)
        page = open_page(page_of(model, X, y, comparison))
        kept = [own.codes for own in Choices.of(model.score_tables_).of_features]
        assert [len(codes) for codes in kept] == [min(3, f.size) for f in model.counts_.vocabulary.features]
        page.evaluate("location.hash = '#explorer=0:1.2.0.1'")
        page.wait_for_timeout(50)
        row = [np.array([codes[place]]) for codes, place in zip(kept, (1, 2, 0, 1), strict=True)]
        scores = model.score_tables_.joint_log_scores(row)[0]
        assert_allclose(probabilities(page), np.exp(scores) / np.exp(scores).sum(), atol=1e-9)


def test_models_too_large_for_a_page_give_way(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.choice(list("abc"), (400, 3)), columns=list("pqr"))
    X.assign(y=X["p"] == X["q"]).to_csv(tmp_path / "t.csv", index=False)  # beyond naive Bayes
    monkeypatch.setattr(explorer_module, "MOST_CELLS", 10)
    with open_table(str(tmp_path / "t.csv")) as opened:
        page, model = made(Labelled.of(opened, "y"), ORIGIN, {}, folds=2, max_rows=9999, seed=0, bars=NoBars())
    assert not isinstance(model, NaiveBayes)
    assert page.contents.explorer["kind"] == "sum"
    assert any("too large for a page" in note for note in page.contents.notes)


def test_explorer_data_of_a_class_that_cannot_be():
    X, y = table(60)
    model = NaiveBayes(class_prior=[0.0, 0.5, 0.5]).fit(X, y)
    data = explorer_data(model.score_tables_, Choices.of(model.score_tables_), list("xyz"))
    assert data["logPrior"][0] == -1e300


def test_a_fold_that_has_one_class_to_learn_from():
    """Baselines too have nothing to tell apart then."""
    X, y = pa.table({"x": list("ababa")}), np.array(list("ppppq"), dtype=object)
    compared = compare(X, y, {}, folds=2)
    assert {result.method.name for result in compared.results} == {*BASELINES, *METHODS}
    assert all(np.isfinite(result.proba).all() for result in compared.results)
