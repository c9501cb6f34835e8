"""What the arena says of its results: tests, ranks, words, tables and figures."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pandas")
pytest.importorskip("scikit_posthocs")

from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from hebnb.study.arena.comparing import (
    Comparison,
    Judged,
    outcomes_of,
    standing,
    word,
    worst_pairs,
)
from hebnb.study.arena.contenders import CONTENDERS, HERO, titles
from hebnb.study.arena.figures import all_figures, cost, costs
from hebnb.study.arena.measuring import COSTS, QUALITIES
from hebnb.study.arena.page import Page, standings
from hebnb.study.arena.sheets import Sheet, shown
from hebnb.study.arena.tables import all_sheets, by_dataset, tuned_sheet, worst_sheet
from hebnb.study.statistics import Paired, holm, leaning, mean_ranks

WORDS = ("ahead of", "level with", "behind", "not compared")


def make_rows(losses, errors=None, folds=2):
    """Folds of contenders: for every one its losses on the first, second … dataset."""
    rows = []
    for method, column in losses.items():
        for n, loss in enumerate(column):
            for fold in range(folds):
                row = {"dataset": f"d{n}", "method": method, "fold": fold, "rows": 2_000}
                error = (errors or {}).get((method, n))
                if error is not None:
                    row["error"] = error if fold == 0 else f"not tried: fold 0 {error}"
                elif loss is not None:
                    row |= dict.fromkeys((*QUALITIES, *COSTS), 0.5) | {"log-loss": loss + 0.1 * (fold - 0.5)}
                else:
                    continue
                rows.append(row)
    return rows


def make_comparison(losses, errors=None):
    n = max(map(len, losses.values()))
    return Comparison(outcomes_of(make_rows(losses, errors), [f"d{k}" for k in range(n)], list(losses)), 2)


class TestOutcomes:
    def test_means_of_all_folds_or_the_reason(self):
        errors = {
            ("forest", 0): "more than 600 s",
            ("forest", 1): "ValueError: no",
            ("forest", 2): "died with exit code -9",
            ("forest", 3): "out of memory: more than 8 GB",
            ("forest", 4): "not installed: pip install forest",
            ("forest", 6): "Exception: Out of memory in CreateForest",
        }
        losses = {HERO: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], "forest": [0.1] * 5 + [None, 0.1]}
        comparison = make_comparison(losses, errors)
        assert comparison.states["forest"].tolist() == [
            "too slow", "raised", "died", "out of memory", "not installed", "not reached", "out of memory",
        ]  # fmt: skip
        np.testing.assert_allclose(comparison.values("log-loss")[HERO], losses[HERO])
        assert comparison.values("log-loss")["forest"].isna().all()

    def test_some_folds_are_a_result_and_no_failure(self):
        rows = [row for row in make_rows({HERO: [0.5]}, folds=3) if row["fold"] < 2]
        (outcome,) = outcomes_of(rows, ["d0"], [HERO])
        assert outcome["state"] == ""
        assert outcome["folds"] == 2
        assert outcome["log-loss"] == pytest.approx([0.45, 0.55])

    def test_who_fails_on_one_fold_has_failed(self):
        rows = make_rows({HERO: [0.5]}, folds=3)
        rows[2] = {"dataset": "d0", "method": HERO, "fold": 2, "rows": 2_000, "error": "more than 600 s"}
        (outcome,) = outcomes_of(rows, ["d0"], [HERO])
        assert (outcome["state"], outcome["folds"]) == ("too slow", 0)
        assert "log-loss" not in outcome

    def test_a_fold_counts_if_those_before_it_are_there(self):
        rows = [row for row in make_rows({HERO: [0.5, 0.5]}, folds=4) if (row["dataset"], row["fold"]) != ("d0", 1)]
        rows = [row for row in rows if (row["dataset"], row["fold"]) != ("d1", 0)]
        first, second = outcomes_of(reversed(rows), ["d0", "d1"], [HERO])
        assert first["log-loss"] == pytest.approx([0.45])
        assert (second["state"], second["folds"]) == ("not reached", 0)

    @pytest.mark.parametrize("what", ["version", "fingerprint", "budget"])
    def test_folds_of_another_program_do_not_count(self, what):
        rows = [row | {what: 1.0 if row["fold"] < 2 else 2.0} for row in make_rows({HERO: [0.5]}, folds=4)]
        (outcome,) = outcomes_of(rows, ["d0"], [HERO])
        assert outcome["folds"] == len(outcome["log-loss"]) == 2

    def test_who_lacks_a_measure_on_a_fold_has_not_failed(self):
        rows = make_rows({HERO: [0.5, 0.5], "forest": [0.4, 0.4]})
        rows = [row | {"AUC": None if (row["dataset"], row["fold"]) == ("d0", 1) else 0.7} for row in rows]
        comparison = Comparison(outcomes_of(rows, ["d0", "d1"], [HERO, "forest"]), 2)
        assert comparison.values("AUC").loc["d0"].isna().all()
        assert comparison.block("AUC").to_dict("index") == {"d1": {HERO: 0.7, "forest": 0.7}}

    def test_nor_is_it_held_against_who_has_more_folds(self):
        rows = [row | {"AUC": None if row["fold"] else 0.7} for row in make_rows({HERO: [0.5], "forest": [0.4]})]
        rows = [row for row in rows if (row["method"], row["fold"]) != ("forest", 1)]
        block = Comparison(outcomes_of(rows, ["d0"], [HERO, "forest"]), 2).block("AUC")
        assert block.to_dict("index") == {"d0": {HERO: 0.7, "forest": 0.7}}

    def test_who_failed_is_last_and_who_was_not_reached_is_not_ranked(self):
        losses = {HERO: [0.3, 0.3], "forest": [0.1, None], "LightGBM": [0.2, 0.2], "EBM": [0.1, None]}
        comparison = make_comparison(losses, {("forest", 1): "more than 600 s"})
        assert comparison.tested == [HERO, "forest", "LightGBM"]
        assert comparison.ranks("log-loss") == {HERO: 2.5, "forest": 2.0, "LightGBM": 1.5}
        assert comparison.ranks("accuracy")["forest"] == pytest.approx((2 + 3) / 2)  # a tie of three, then last

    def test_ranks_of_datasets_on_which_nobody_failed_stand_beside(self):
        losses = {HERO: [0.3] * 3, "forest": [0.1] * 3, "LightGBM": [0.2] * 3}
        comparison = make_comparison(losses, {("forest", 1): "more than 600 s"})
        assert comparison.unfailing == ["d0", "d2"]
        sheet = {sheet.name: sheet for sheet in all_sheets(comparison)}["ranks"]
        last = {row[0]: (row[1], *row[-2:]) for row in sheet.cells()}
        assert last["random forest"] == ("1.67", "1", "1.00")
        assert last["LightGBM"] == ("1.67", "0", "2.00")
        assert "the 2 datasets on which nobody failed" in sheet.note

    def test_a_dataset_that_few_have_reached_does_not_count_yet(self):
        losses = {HERO: [0.1, 0.1, 0.9], "forest": [0.2, 0.2, None], "LightGBM": [0.3, 0.3, None]}
        comparison = make_comparison(losses)
        assert comparison.reached == ["d0", "d1"]
        assert comparison.tested == list(losses)
        assert comparison.ranks("log-loss") == {HERO: 1.0, "forest": 2.0, "LightGBM": 3.0}

    def test_nobody_is_tested_before_anything_is_done(self):
        comparison = make_comparison({HERO: [None, None], "forest": [None, None]})
        assert comparison.tested == comparison.reached == []
        assert {sheet.name for sheet in all_sheets(comparison)} >= {"contenders", "log-loss"}

    def test_ranks_without_failures_are_the_plain_ones(self):
        rng = np.random.default_rng(0)
        names = [HERO, "forest", "LightGBM", "HistGB"]
        losses = {name: rng.random(12).round(3).tolist() for name in names}
        expected = mean_ranks(np.array(list(losses.values())).T, lower_is_better=True)
        np.testing.assert_allclose(list(make_comparison(losses).ranks("log-loss").values()), expected)


class TestSharedFolds:
    """The first fold is always 0.1 lower than the second, so that it matters which of them are compared."""

    def made(self, n=8):
        rows = make_rows({HERO: [0.5] * n, "forest": [0.46] * n, "EBM": [0.48] * n})
        return [row for row in rows if row["method"] != "EBM" or row["fold"] == 0]

    def comparison(self, rows, n=8):
        return Comparison(outcomes_of(rows, [f"d{k}" for k in range(n)], [HERO, "forest", "EBM"]), 2)

    def test_everybody_has_the_mean_of_the_own_folds(self):
        values = self.comparison(self.made()).values("log-loss")
        assert values.iloc[0].tolist() == pytest.approx([0.5, 0.46, 0.43])

    def test_two_are_compared_on_the_folds_that_both_have(self):
        comparison = self.comparison(self.made())
        assert comparison.shared("log-loss", [HERO, "EBM"]).iloc[0].tolist() == pytest.approx([0.45, 0.43])
        assert comparison.shared("log-loss", [HERO, "forest"]).iloc[0].tolist() == pytest.approx([0.5, 0.46])
        # alone, the mean of EBM's one fold is lower than that of forest's two; beside each other it is the other way
        assert comparison.against("EBM", "log-loss")["forest"].outcome.losses == 8
        assert comparison.ranks("log-loss") == {HERO: 3.0, "forest": 1.0, "EBM": 2.0}
        assert {one.peer for one in worst_pairs(comparison, HERO, ["forest", "EBM"])} == {"forest"}

    def test_who_failed_takes_no_fold_from_the_others(self):
        rows = [row for row in self.made() if (row["method"], row["dataset"]) != ("EBM", "d0")]
        rows.append({"dataset": "d0", "method": "EBM", "fold": 0, "rows": 2_000, "error": "more than 600 s"})
        shared = self.comparison(rows).shared("log-loss", [HERO, "forest", "EBM"])
        assert shared.loc["d0"].tolist() == pytest.approx([0.5, 0.46, np.nan], nan_ok=True)
        assert shared.loc["d1"].tolist() == pytest.approx([0.45, 0.41, 0.43])

    def test_costs_are_relative_to_the_lowest_on_the_same_folds(self):
        records = {record["contender"]: record for record in costs(self.comparison(self.made()))}
        assert [records[name]["relative"] for name in (HERO, "forest", "EBM")] == pytest.approx([45 / 41, 1, 43 / 41])

    def test_who_has_fewer_folds_is_marked_where_people_read_and_counted(self):
        comparison = self.comparison(self.made())
        sheets = {sheet.name: sheet for sheet in all_sheets(comparison)}
        assert sheets["log-loss"].cells()[0] == ["d0", "2,000", "0.5000", "0.4600", "0.4300†"]
        assert "†" in sheets["log-loss"].note
        assert "†" not in sheets["log-loss"].csv()
        assert sheets["contenders"].cells()[2][:3] == ["EBM", "0", "8"]
        assert sheets["folds"].cells()[0] == ["d0", "1"]

    def test_the_worst_are_marked_too(self):
        rows = [
            row for row in make_rows({HERO: [0.5] * 2, "EBM": [0.3] * 2}) if row["dataset"] == "d0" or not row["fold"]
        ]
        sheet = worst_sheet(Comparison(outcomes_of(rows, ["d0", "d1"], [HERO, "EBM"]), 2))
        assert [row[2:4] for row in sheet.cells()] == [["0.4500†", "0.2500†"], ["0.5000", "0.3000"]]

    def test_who_is_certain_and_right_is_not_better_without_bound(self):
        (worst,) = worst_pairs(make_comparison({HERO: [0.5], "EBM": [1e-9]}), HERO, ["EBM"])
        assert worst.ratio == pytest.approx(500)

    def test_one_fold_of_everybody_is_not_all(self):
        rows = [row for row in make_rows({HERO: [0.5] * 7, "forest": [0.4] * 7}) if row["fold"] == 0]
        sheets = {sheet.name: sheet for sheet in all_sheets(Comparison(outcomes_of(rows, ["d0"], [HERO, "forest"]), 2))}
        assert [row[1:3] for row in sheets["contenders"].cells()] == [["0", "1"], ["0", "1"]]
        assert "fewer than 2 on 1 datasets and at least 1" in sheets["ranks"].note

    def test_memory_is_that_of_a_process_which_has_done_nothing_yet(self):
        rows = [row | {"MB": 100.0 if row["fold"] == 0 else 1.0} for row in make_rows({HERO: [0.5]})]
        sheets = {sheet.name: sheet for sheet in all_sheets(Comparison(outcomes_of(rows, ["d0"], [HERO]), 2))}
        assert sheets["costs"].cells()[0][-1] == "100"

    def test_nobody_is_marked_where_all_have_the_same(self):
        sheets = {sheet.name: sheet for sheet in all_sheets(make_comparison({HERO: [0.5], "forest": [0.4]}))}
        assert not sheets["log-loss"].marked
        assert not sheets["log-loss"].note
        assert "folds" not in sheets


class TestWords:
    def test_by_ratios_small_losses_weigh_as_much_as_large_ones(self):
        """Ours is twice as good where losses are small, and a little worse where they are large."""
        ours = np.array([0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 2.0, 2.1, 2.2])
        theirs = ours * [2.01, 2.02, 2.03, 2.04, 2.05, 2.06, 2.07, 2.08, 2.09, 0.81, 0.82, 0.83]
        comparison = make_comparison({HERO: ours.tolist(), "forest": theirs.tolist()})
        plain, by_ratio = (comparison.against(HERO, "log-loss", by_ratio=r)["forest"] for r in (False, True))
        assert plain.outcome.p == pytest.approx(wilcoxon(theirs - ours).pvalue)
        assert by_ratio.outcome.p == pytest.approx(wilcoxon(np.log(theirs / ours)).pvalue)
        assert (plain.word, by_ratio.word) == ("level with", "ahead of")
        assert "ahead of random forest" in standings(comparison)["log-loss by ratios"]

    @given(st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=1, max_size=12))
    def test_holm_is_that_of_statsmodels(self, p_values):
        p_values = np.array(p_values)
        known = ~np.isnan(p_values)
        found = holm(p_values)
        assert np.isnan(found[~known]).all()
        if known.any():
            np.testing.assert_allclose(found[known], multipletests(p_values[known], method="holm")[1], atol=1e-12)

    @given(st.integers(0, 10_000))
    def test_the_leaning_is_that_of_wilcoxons_signed_ranks(self, seed):
        rng = np.random.default_rng(seed)
        ours, theirs = rng.random(15), rng.random(15)
        gain = theirs - ours
        ranks = np.argsort(np.argsort(np.abs(gain))) + 1  # no ties among random numbers
        assert leaning(ours, theirs, True) == ranks[gain > 0].sum() - ranks[gain < 0].sum()
        assert leaning(theirs, ours, True) == -leaning(ours, theirs, True) == leaning(ours, theirs, False)
        assert wilcoxon(gain).statistic == min(ranks[gain > 0].sum(), ranks[gain < 0].sum())

    @given(st.floats(0, 1), st.floats(-100, 100), st.booleans())
    def test_only_a_test_makes_a_difference(self, p, leans, enough):
        said = word(p, leans, enough)
        assert said in WORDS
        assert (said in ("ahead of", "behind")) == (enough and p < 0.05)
        assert word(np.nan, leans, True) == "level with"

    @given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    def test_first_is_who_is_ahead_of_everybody(self, words):
        names = {f"b{n}": f"B{n}" for n in range(len(words))} | {"a": "A"}
        judged = {f"b{n}": Judged(9, Paired(1, 1, 0.5), 0.5, said) for n, said in enumerate(words)}
        text = standing("a", judged, names)
        assert ("first" in text) == all(said == "ahead of" for said in words)
        for said in WORDS[:3]:
            assert (said in text) == (said in words)
        assert all(f"B{n}" in text for n in range(len(words)))  # nobody is dropped

    def test_a_clear_difference_and_none(self):
        rng = np.random.default_rng(1)
        ours = rng.random(30)
        noise = rng.normal(size=30) * 0.01
        losses = {HERO: ours, "forest": ours + 0.2, "LightGBM": ours - 0.1, "HistGB": ours + noise}
        judged = make_comparison({name: column.tolist() for name, column in losses.items()}).against(HERO, "log-loss")
        assert [judged[name].word for name in ("forest", "LightGBM", "HistGB")] == ["ahead of", "behind", "level with"]
        assert judged["forest"].outcome.wins == judged["LightGBM"].outcome.losses == judged["HistGB"].datasets == 30

    def test_both_sides_say_the_same(self):
        rng = np.random.default_rng(2)
        losses = {HERO: rng.random(20).tolist(), "forest": (rng.random(20) + 0.3).tolist()}
        comparison = make_comparison(losses)
        ours, theirs = comparison.against(HERO, "log-loss")["forest"], comparison.against("forest", "log-loss")[HERO]
        assert {ours.word, theirs.word} in ({"ahead of", "behind"}, {"level with"})
        assert ours.adjusted == theirs.adjusted

    def test_more_is_better_where_it_is(self):
        rows = make_rows({HERO: [0.5] * 8, "forest": [0.5] * 8})
        for row in rows:
            row["accuracy"] = 0.9 if row["method"] == HERO else 0.8
        comparison = Comparison(outcomes_of(rows, [f"d{n}" for n in range(8)], [HERO, "forest"]), 2)
        assert comparison.against(HERO, "accuracy")["forest"].word == "ahead of"
        assert comparison.ranks("accuracy") == {HERO: 1.0, "forest": 2.0}

    def test_few_datasets_are_not_compared(self):
        judged = make_comparison({HERO: [0.1] * 5, "forest": [0.9] * 5}).against(HERO, "log-loss")
        assert judged["forest"].word == "not compared"


class TestWorst:
    def test_the_worst_peer_of_a_dataset_in_order(self):
        losses = {
            HERO: [0.2, 0.5, 0.004, 0.3, 0.1],
            "forest": [0.1, 0.4, 0.001, 0.4, None],
            "LightGBM": [0.15, 0.1, 0.002, 0.5, None],
            "NB+loo": [0.01, 0.01, 0.001, 0.01, 0.01],
        }
        found = worst_pairs(make_comparison(losses), HERO, ["forest", "LightGBM"])
        assert [(one.dataset, one.peer) for one in found] == [("d1", "LightGBM"), ("d0", "forest")]
        assert found[0].ratio == pytest.approx(5)
        assert worst_pairs(make_comparison(losses), HERO, ["forest", "LightGBM"], n=1) == found[:1]
        sheet = worst_sheet(make_comparison(losses))
        assert [row[0] for row in sheet.rows] == ["d1", "d0"]  # NB+loo is ours


class TestSheets:
    def test_whoever_failed_is_in_every_table(self):
        losses = {HERO: [0.3] * 7, "forest": [0.1] * 6 + [None], "EBM": [None] * 7}
        comparison = make_comparison(losses, {("forest", 6): "more than 600 s"})
        sheets = {sheet.name: sheet for sheet in all_sheets(comparison)}
        for measure in QUALITIES:
            last = sheets[measure.replace(" ", "-")].cells()[-1]
            assert last[3:] == ["too slow", "not reached"]
        for name in ("contenders", "ranks", "against", "costs"):
            assert any("EBM" in cell for row in sheets[name].cells() for cell in row), name
        assert [row[:3] for row in sheets["failures"].cells()] == [["d6", "random forest", "too slow"]]

    def test_csv_has_every_digit_and_markdown_is_rounded(self):
        sheet = Sheet("s", "S", [("a, b", ""), ("x", ".2f")], [["d|0", 1 / 3], ["d1", "too slow"], ["d2", None]])
        read = list(csv.reader(io.StringIO(sheet.csv())))
        assert read[0] == ["a, b", "x"]
        assert float(read[1][1]) == 1 / 3
        assert sheet.markdown().splitlines()[2] == r"| d\|0 | 0.33 |"
        assert shown(np.nan, ".2f") == shown(None, "") == "–"
        assert sheet.text().splitlines()[1] == "d|0       0.33"

    def test_tuned_beside_plain(self):
        plain = make_comparison({"forest": [0.5, 0.4], HERO: [0.6, 0.6]})
        rows = make_rows({"forest": [0.3, None]})
        tuned = Comparison(
            outcomes_of([row | {"tried": 7, "budget": 12.0} for row in rows], ["d0", "d1"], ["forest"]), 2
        )
        sheet = tuned_sheet(plain, tuned)
        assert sheet.cells() == [["d0", "random forest", "2", "0.5000", "0.3000", "0.6000", "7", "12"]]
        rows = [row for row in rows if row["fold"] == 0]
        tuned = Comparison(outcomes_of([row | {"tried": 7, "budget": 12.0} for row in rows], ["d0"], ["forest"]), 2)
        assert tuned_sheet(plain, tuned).cells() == [
            ["d0", "random forest", "1", "0.4500", "0.2500", "0.5500", "7", "12"]
        ]

    @pytest.mark.parametrize(
        ("errors", "tuned_errors", "expected"),
        [
            ({("forest", 0): "more than 600 s"}, {}, ["2", "too slow", "0.3000"]),
            ({}, {("forest", 0): "more than 600 s"}, ["2", "0.5000", "too slow"]),
        ],
    )
    def test_tuned_where_one_of_them_failed(self, errors, tuned_errors, expected):
        sheet = tuned_sheet(
            make_comparison({"forest": [0.5]}, errors), make_comparison({"forest": [0.3]}, tuned_errors)
        )
        assert sheet.cells()[0][2:5] == expected

    def test_tuned_without_defaults(self):
        sheet = tuned_sheet(Comparison([], 2), make_comparison({"forest": [0.3]}))
        assert sheet.cells()[0][2:5] == ["2", "not reached", "0.3000"]

    def test_a_table_has_a_column_for_everybody(self):
        losses = {name: [0.5] for name in CONTENDERS}
        assert len(by_dataset(make_comparison(losses), "log-loss").columns) == len(CONTENDERS) + 2


class TestFigures:
    def everybody(self, n=8):
        rng = np.random.default_rng(0)
        rows = make_rows({name: (0.2 + rng.random(n)).tolist() for name in CONTENDERS})
        seconds = {name: 10 ** rng.uniform(-2, 2) for name in CONTENDERS}
        rows = [row | {"fit CPU s": seconds[row["method"]], "Brier": rng.random(), "ECE": rng.random()} for row in rows]
        return Comparison(outcomes_of(rows, [f"d{k}" for k in range(n)], list(CONTENDERS)), 2)

    def test_costs_are_medians_relative_to_the_lowest(self):
        rows = make_rows({HERO: [0.2, 0.4, 0.6], "forest": [0.1, 0.8, 0.6]})
        records = costs(Comparison(outcomes_of(rows, ["d0", "d1", "d2"], [HERO, "forest"]), 2))
        assert [record["relative"] for record in records] == pytest.approx([1.0, 1.0])  # of 2, 1, 1 and of 1, 2, 1
        assert [record["share"] for record in records] == [1, 1]

    def test_who_has_few_datasets_is_named_and_not_drawn(self):
        rows = make_rows({HERO: [0.5] * 5, "forest": [0.5] * 5, "LightGBM": [0.5] * 2 + [None] * 3})
        figure = cost(
            costs(Comparison(outcomes_of(rows, [f"d{n}" for n in range(5)], [HERO, "forest", "LightGBM"]), 2))
        )
        assert {text.get_text() for text in figure.axes[0].texts} == {"EvidenceClassifier", "random forest"}
        assert "LightGBM" in figure.get_supxlabel()

    def test_names_of_everybody_are_there_and_none_covers_another(self):
        figure = cost(costs(self.everybody()))
        figure.draw_without_rendering()
        texts = figure.axes[0].texts
        assert {text.get_text() for text in texts} == set(titles().values())
        boxes = [text.get_window_extent() for text in texts]
        assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])

    def test_files_and_page(self, tmp_path):
        comparison = self.everybody()
        for folder in ("figures", "tables"):
            (tmp_path / folder).mkdir()
        figures = all_figures(comparison, tmp_path / "figures")
        assert set(figures) == {"cost", "critical-differences"}
        page = Page(comparison, "settings", "conditions", {"vote": "vote: lost."}, all_sheets(comparison), figures)
        text = page.write(tmp_path).read_text()
        assert "vote: lost." in text
        assert "TabPFN" in text
        for sentence in standings(comparison).values():
            assert sentence in text
