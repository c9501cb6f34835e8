"""Numbers in README.md and the pages are those of files that commands write."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "benchmarks")]

import arena_figures
import evidence
import figures
import record
import study_figures
import where_we_lose
from measure import Comparison

RESULTS = sorted(figures.RESULTS.glob("*.json"))
# Pages on which every measured number has to come from a file; what doctests and transcripts compute is tested as such.
STRICT = [page for page in figures.pages() if page.name != "CONTRIBUTING.md"] + [ROOT / "SECURITY.md"]
# Numbers of these pages that look measured, and are rules of the program or examples of what one may pass.
RULES = {
    "api.md": {"0.5", "0.1"},
    "guide.md": {
        *("2.5", "0.12", "0.99", "5 %", "95 %", "10 %", "1 %"),  # values, decay, when an alert comes
        *("200 times", "5.5", "0.9999", "0.5", "95 times", "19 times"),  # how intervals and samples are made
        "96 MB",
    },
    "SECURITY.md": {"96 MB"},
}
# What was measured when a choice was made, by versions that are gone; the section says so.
NOTEBOOK = re.compile(r"(?ms)^## Why it is as it is\n\n(?=Numbers in this section are a notebook).*?(?=^## )")
# On docs/replication.md every number is somebody's result, but for those of the protocol.
PROTOCOL = {"31", "20,000", "42"}
MEASURED = re.compile(r"(?<![\w.])\d[\d,]*\.\d+|\d+ (?:%|s\b|ms|[GMk]B|times)")


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_are_those_of_their_files(page):
    text = page.read_text(encoding="utf-8")
    assert figures.rendered(text) == text, "python docs/figures.py writes them anew"


def test_there_are_figures_in_the_pages():
    marks = {page.name: len(figures.MARK.findall(page.read_text(encoding="utf-8"))) for page in STRICT}
    assert marks["README.md"] >= 1
    assert marks["benchmarks.md"] >= 30


def test_a_figure_that_is_changed_by_hand_is_noticed():
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    fact, table = figures.FACT.search(page), figures.TABLE.search(page)
    for match in (fact, table):
        wrong = match["shown"].replace(next(d for d in match["shown"] if d.isdigit()), "x", 1)
        altered = page[: match.start("shown")] + wrong + page[match.end("shown") :]
        assert altered != page
        assert figures.rendered(altered) == page


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_marks_are_complete_and_begin_no_line(page):
    """A line that begins with a comment is HTML to Markdown, and its text would not be read."""
    text = page.read_text(encoding="utf-8")
    known = len(figures.TABLE.findall(text)) + len(figures.FACT.findall(text))
    assert len(figures.MARK.findall(text)) == known
    assert not re.search(r"^ *<!-- = ", text, re.MULTILINE)


def outside_of_figures(page):
    """The text of a page without figures, code and comments."""
    text = figures.FACT.sub("", figures.TABLE.sub("", page.read_text(encoding="utf-8")))
    return re.sub(r"```.*?```|`[^`]*`|<!--.*?-->|Python 3\.\d+( to 3\.\d+)?", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", STRICT, ids=lambda page: page.name)
def test_no_measured_number_stands_outside_of_figures(page):
    text = NOTEBOOK.sub("", outside_of_figures(page))
    assert set(MEASURED.findall(text)) - RULES.get(page.name, set()) == set()


def test_rules_that_look_measured_are_still_in_their_pages():
    for page in STRICT:
        assert RULES.get(page.name, set()) <= set(MEASURED.findall(outside_of_figures(page)))


def test_the_replication_has_no_number_of_its_own_but_those_of_the_protocol():
    text = outside_of_figures(ROOT / "docs" / "replication.md")
    assert set(re.findall(r"(?<!\w)\d[\d,.]*(?<![,.])", text)) <= PROTOCOL


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_name_the_command_that_writes_them_and_are_written_as_it_writes(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    program, script = shlex.split(document["command"])[:2]
    assert program == "python"
    assert (ROOT / script).exists()
    assert document["versions"]["python"]
    assert record.as_text(document) == path.read_text(encoding="utf-8")
    for table in document["tables"].values():
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


def compared(kept):
    return arena_figures.Comparison(arena_figures.outcomes(arena_figures.folds_in(kept)), arena_figures.FOLDS)


def test_tables_and_words_of_the_arena_are_those_of_its_folds():
    document = json.loads((figures.RESULTS / "arena.json").read_text(encoding="utf-8"))
    found = arena_figures.results_of(*map(compared, arena_figures.KEPT.values()))
    tables = {name: table.document() for name, table in found.tables.items()}
    assert json.loads(json.dumps(tables)) == document["tables"]
    assert dict(found.facts) == document["facts"]


def test_the_table_of_the_readme_says_who_is_where():
    """Five folds; CatBoost is too slow on one table, EBM has a fold of one."""
    measures = {"ECE": 0.02, "ECE by chance": 0.015, "fit CPU s": 12.0, "rows": 2_000}
    losses = dict.fromkeys([(name, "evidence") for name in arena_figures.TABLES_IN_README], 0.5)
    losses |= {("adult", "evidence"): 0.2, ("adult", "CatBoost"): 0.1}
    folds = [
        {"dataset": dataset, "method": method, "fold": fold, "log-loss": loss + 0.01 * (fold - 2)} | measures
        for (dataset, method), loss in losses.items()
        for fold in range(5)
    ]
    folds += [{"dataset": "flights", "method": "CatBoost", "fold": n, "error": "more than 600 s"} for n in range(5)]
    # EBM's one fold is as low as our mean of five, and higher than ours of that fold
    folds.append({"dataset": "nomao", "method": "EBM", "fold": 0, "log-loss": 0.5} | measures)
    table = arena_figures.readme_table(arena_figures.Comparison(arena_figures.outcomes(folds), 5))
    lines = figures.as_markdown(table.document()).splitlines()
    assert lines[0] == "| log-loss | **EvidenceClassifier** | CatBoost | LightGBM | EBM | logistic regression |"
    assert "| adult | 0.200 | **0.100** | – | – | – |" in lines
    assert "| flights | **0.500** | too slow | – | – | – |" in lines
    assert "| nomao | **0.500** | – | – | 0.500† | – |" in lines
    assert lines[-4:] == [
        "| tables where it is lower than ours | – | 1 of 1 | 0 of 0 | 0 of 1 | 0 of 0 |",
        "| mean calibration error of these | **0.020** | – | – | – | – |",
        "| what chance alone would show | (0.015) | (–) | (–) | (–) | (–) |",
        "| CPU seconds to fit adult | **12** | **12** | – | – | – |",
    ]


def test_everybody_and_every_dataset_of_the_arena_is_in_its_file():
    document = json.loads((figures.RESULTS / "arena.json").read_text(encoding="utf-8"))
    table = document["tables"]["log-loss"]
    assert [row[0] for row in table["rows"]] == arena_figures.IN_ORDER
    assert len(table["columns"]) == len(arena_figures.CONTENDERS) + 2


def test_every_dataset_on_which_we_lose_has_its_reason_and_numbers():
    """Ten paragraphs, in the order of the table, each with numbers that were measured."""
    worst = json.loads((figures.RESULTS / "arena.json").read_text(encoding="utf-8"))["tables"]["worst"]["rows"]
    text = (ROOT / "docs" / "where-we-lose.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## ([\w-]+)\n\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL))
    assert list(sections) == [row[0] for row in worst]
    assert len(sections) == 10
    for name, paragraph in sections.items():
        assert f"<!-- = losses/{name}/" in paragraph


def test_every_probe_was_measured():
    document = json.loads((figures.RESULTS / "losses.json").read_text(encoding="utf-8"))
    assert set(document["facts"]) == {probe.name for probe in where_we_lose.PROBES}


def test_what_the_arena_left_becomes_outcomes(tmp_path):
    settings = str(arena_figures.Settings(folds=arena_figures.FOLDS))
    rows = [
        {"dataset": "car", "method": "HEB-M", "fold": fold, "rows": 1_728, "settings": settings, "log-loss": 0.1 * fold}
        for fold in range(5)
    ]
    rows += [
        rows[0] | {"method": "EBM", "error": "more than 600 s"},
        rows[0] | {"method": "forest", "settings": "other"},
    ]
    rows.insert(0, rows[0] | {"log-loss": 9.0})  # of several lines for one fold the last counts
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arena_figures.keep(tmp_path / "results.jsonl", tmp_path / "kept.jsonl.gz")
    folds = arena_figures.folds_in(tmp_path / "kept.jsonl.gz")
    assert len(folds) == 6
    found = {(o["dataset"], o["method"]): o for o in arena_figures.outcomes(folds)}
    assert found["car", "HEB-M"]["log-loss"] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
    assert found["car", "EBM"]["state"] == "too slow"
    assert found["car", "forest"]["state"] == found["vote", "HEB-M"]["state"] == "not reached"


def test_how_often_tuning_beats_ours_counts_whoever_has_both():
    """Forest is lower once it is tuned, LightGBM before and after; EBM failed when it was tuned."""
    folds = [
        {"dataset": "car", "method": name, "fold": 0, "log-loss": loss, "rows": 2_000}
        for name, loss in {"evidence": 0.3, "forest": 0.4, "LightGBM": 0.2, "logistic": 0.5, "EBM": 0.1}.items()
    ]
    after = [row | {"log-loss": row["log-loss"] - 0.15} for row in folds[1:4]]
    after.append({"dataset": "car", "method": "EBM", "fold": 0, "error": "more than 600 s"})
    plain, tuned = (arena_figures.Comparison(arena_figures.outcomes(rows), 5) for rows in (folds, after))
    facts = arena_figures.results_of(plain, tuned).facts
    assert [facts[f"tuned/{what}"] for what in ("compared", "lower-at-defaults", "lower")] == [3, 1, 2]


def test_a_record_keeps_what_a_run_did_not_look_for(tmp_path):
    one = record.Table({"": "", "ours": ".2f s"}, [["a", 1.234], ["b", None]])
    record.record("toy", record.Results({"one": one}, {"first": 1}), folder=tmp_path)
    path = record.record("toy", record.Results({}, {"second": 2}), folder=tmp_path)
    document = json.loads(path.read_text())
    assert document["facts"] == {"first": 1, "second": 2}
    assert figures.as_markdown(document["tables"]["one"]) == "|  | ours |\n|---|---:|\n| a | 1.23 s |\n| b | – |\n"


def test_a_command_is_kept_as_anybody_would_type_it(tmp_path, monkeypatch):
    script = ROOT / "benchmarks" / "aode.py"
    monkeypatch.setattr(sys, "argv", [str(script), "--data", str(tmp_path), "--plot", str(tmp_path / "x.png"), "-v"])
    document = json.loads(record.record("toy", record.Results(), folder=tmp_path).read_text())
    assert document["command"] == "python benchmarks/aode.py --data FOLDER --plot x.png -v"


def test_what_a_command_wrote_has_no_note_of_who_typed_it_before(tmp_path):
    stale = {"command": "", "note": "by hand", "versions": {}, "tables": {}, "facts": {"first": 1}}
    (tmp_path / "toy.json").write_text(json.dumps(stale))
    document = json.loads(record.record("toy", record.Results({}, {"second": 2}), folder=tmp_path).read_text())
    assert "note" not in document
    assert document["facts"] == {"first": 1, "second": 2}


def test_the_spread_of_ratios_grows_with_every_record(tmp_path):
    for ours in (1.0, 3.0, 2.0):
        table = record.comparisons([Comparison("both", ours, 2.0, 1.0)], "toy", tmp_path)
        record.record("toy", record.Results({"speed": table}), folder=tmp_path)
    assert table.rows[0][3:5] == [1.0, "0.50 – 1.50"]


@pytest.mark.parametrize(
    ("value", "pattern", "text"),
    [
        (0.0312, ".1%", "3.1 %"),
        (-0.5, "+.1f", "−0.5"),
        (1234.5, ",.0f", "1,234"),
        (2.04, ".1f GB", "2.0 GB"),
        (None, ".2f", "–"),
        ("as it is", ".2f", "as it is"),
    ],
)
def test_numbers_as_they_are_shown(value, pattern, text):
    assert figures.shown(value, pattern) == text


def test_the_script_finds_nothing_to_do():
    done = subprocess.run([sys.executable, ROOT / "docs" / "figures.py", "--check"], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def write_study(folder):
    """Ranks with the paper's, a table without, and the cells behind both."""
    from hebnb.study.tables import Table

    (folder / "tables").mkdir()
    ranks = {("HEB-M, exact", "macro F1"): 2.5, ("Laplace", "macro F1"): 1.5, ("Friedman p", "macro F1"): 0.01}
    paper = {("HEB-M, exact", "macro F1"): 2.25, ("Laplace", "macro F1"): 2.5, ("Friedman p", "macro F1"): 0.5}
    Table("ranks-toy", "", ranks, paper).write(folder / "tables")
    Table("toy", "", {("a", "wins"): 3.0, ("a", "p"): float("nan")}).write(folder / "tables")
    Table("log-loss", "", {("car", "TAN"): 0.25}).write(folder / "tables")
    cells = ["dataset,fit s,predict s", "car,30,60", "vote,15,15", "flights,30,30"]
    (folder / "results.csv").write_text("\n".join(cells) + "\n")


def test_tables_of_a_study_become_tables_and_facts(tmp_path):
    write_study(tmp_path)
    found = study_figures.results_of(tmp_path)
    facts = dict(found.facts)
    assert (facts["ranks-toy/HEB-M-exact/macro-F1"], facts["ranks-toy/HEB-M-exact/macro-F1/paper"]) == (2.5, 2.25)
    assert facts["toy/a/wins"] == 3
    assert facts["toy/a/p"] is None
    assert "toy/a/wins/paper" not in facts
    assert set(found.tables) == {"ranks-toy", "toy"}
    assert facts["log-loss/car/TAN"] == 0.25
    shown = figures.as_markdown(found.tables["ranks-toy"].document()).splitlines()
    assert shown[2:4] == ["| HEB-M, exact | 2.50 (2.25) |", "| Laplace | 1.50 (2.50) |"]


def test_how_many_times_as_long_learning_takes_is_a_fact(tmp_path):
    """The paper timed its own solver only."""
    from hebnb.study.tables import Table

    write_study(tmp_path)
    seconds = {("AODE", "fit s"): 0.5, ("HEB-AODE", "fit s"): 1.0, ("HEB-AODE (Minka)", "fit s"): 4.0}
    paper = {("AODE", "fit s"): 0.25, ("HEB-AODE (Minka)", "fit s"): 5.0}
    Table("costs", "", seconds, paper).write(tmp_path / "tables")
    facts = study_figures.results_of(tmp_path).facts
    assert {name: value for name, value in facts.items() if "-to-" in name} == {
        "costs/HEB-AODE-to-AODE": 2,
        "costs/HEB-AODE-Minka-to-AODE": 8,
        "costs/HEB-AODE-Minka-to-AODE/paper": 20,
    }


def test_how_far_a_study_is_from_the_paper_is_a_fact(tmp_path):
    """Ranks are compared, the p of a test is not."""
    write_study(tmp_path)
    facts = study_figures.results_of(tmp_path).facts
    own = {name.rpartition("/")[2]: value for name, value in facts.items() if "/differences/" in name}
    assert own == {"numbers": 2, "largest": 1, "largest-at": "Laplace, macro F1", "least": -1, "greatest": 0.25}


def test_minutes_and_datasets_of_a_study_are_facts(tmp_path):
    """The flights are not the paper's, and took their time."""
    write_study(tmp_path)
    facts = study_figures.results_of(tmp_path).facts
    assert (facts["datasets"], facts["minutes"]) == (2, 3)
    assert facts["critical-difference"] == pytest.approx(1.62 * (31 / 2) ** 0.5, abs=0.02)  # the paper's, of 31


def test_a_study_that_is_written_anew_keeps_no_note_and_nothing_of_before(tmp_path, monkeypatch):
    stale = {"command": "", "note": "by hand", "versions": {}, "tables": {}, "facts": {"of-before": 1}}
    (tmp_path / "study.json").write_text(json.dumps(stale))
    (tmp_path / "study").mkdir()
    write_study(tmp_path / "study")
    monkeypatch.setattr(study_figures, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["study_figures.py", str(tmp_path / "study")])
    study_figures.main()
    document = json.loads((tmp_path / "study.json").read_text())
    assert "note" not in document
    assert "of-before" not in document["facts"]
    assert document["facts"]["toy/a/wins"] == 3


def test_a_line_of_times_has_both_sides_and_their_ratios():
    found = {"LightGBM": [(1.5, 0.15), (0.08, 0.1)], "CatBoost": [(1.6, 16.0), (0.1, 0.1)]}
    line = evidence.line_of("adult", found)
    assert line == ["adult", 1.5, 0.15, pytest.approx(10), 1.6, 16.0, pytest.approx(0.1), pytest.approx(0.8)]
