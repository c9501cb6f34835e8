"""What docs/replication.md says in words is true of the numbers that the study wrote."""

import json
import re
from pathlib import Path

import pytest

from hebnb.study.methods import BEYOND, SMOOTHERS
from hebnb.study.published import ECE, METRICS
from hebnb.study.registry import HIGH_CARDINALITY

ROOT = Path(__file__).parent.parent
FACTS = {
    name: json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))["facts"]
    for name in ("study", "future_work")
}
STUDY, FUTURE = FACTS["study"], FACTS["future_work"]
ALPHAS = ("Lidstone-0.001", "Lidstone-0.01", "Lidstone-0.1", "Lidstone-0.5", "Lidstone-1", "Lidstone-2")
MEASURES = ("log-loss", "Brier", "ECE", "accuracy")


def text():
    """The page in one line, without marks."""
    page = (ROOT / "docs" / "replication.md").read_text(encoding="utf-8")
    return " ".join(re.sub(r"<!--.*?-->", "", page).split())


def best(table, rows, column):
    """The row of least rank; of several, any."""
    return min(rows, key=lambda row: STUDY[f"{table}/{row}/{column}"])


def outcome(table, ours, theirs, metric, facts=STUDY):
    """Wins, losses and p of a method against another."""
    own = f"{table}/{ours}-against-{theirs}-{metric.replace(' ', '-')}"
    return tuple(facts[f"{own}/{name}"] for name in ("wins", "losses", "p"))


def wins(*place):
    won, lost, p = outcome(*place)
    return won > lost and p < 0.05


def level(*place):
    return outcome(*place)[2] > 0.05


def apart(one, other, measure):
    """By how much the rank of one is better, in critical differences."""
    ranks = [STUDY[f"beyond/{method}/{measure}-rank"] for method in (other, one)]
    return (ranks[0] - ranks[1]) / STUDY["critical-difference"]


def test_the_study_had_all_datasets():
    assert STUDY["datasets"] == 31


def test_the_main_comparison():
    assert "HEB-M is best on log-loss and Brier." in text()
    assert best("ranks-minka", SMOOTHERS, "log-loss") == best("ranks-minka", SMOOTHERS, "Brier") == "HEB-M"
    assert "near the paper's, in all four metrics" in text()
    assert STUDY["ranks-minka/differences/largest"] < STUDY["critical-difference"] / 2


def test_against_aode():
    assert "HEB-M loses to AODE in all four metrics." in text()
    for metric in METRICS:
        won, lost, p = outcome("wilcoxon-minka", "HEB-M", "AODE", metric)
        assert won < lost
        assert p < 0.05
    assert "HEB-AODE beats AODE significantly on macro F1, log-loss and Brier, not on accuracy" in text()
    assert all(wins("wilcoxon-minka", "HEB-AODE", "AODE", metric) for metric in METRICS[1:])
    assert level("wilcoxon-minka", "HEB-AODE", "AODE", "accuracy")


def test_calibration():
    assert "within two standard deviations of the paper's on all three datasets" in text()
    for dataset in HIGH_CARDINALITY:
        for method in ("Laplace", "HEB-M", "HEB-M+GR"):
            own = f"calibration/{method}/{dataset}"
            assert abs(STUDY[own] - STUDY[f"{own}/paper"]) <= 2 * ECE[method, dataset][1]
        assert STUDY[f"calibration/HEB-M+GR/{dataset}"] < STUDY[f"calibration/HEB-M/{dataset}"]


def test_the_sweep_and_the_bins():
    assert "the smallest α is best for accuracy and macro F1, and the largest for log-loss" in text()
    for column, alpha in (("accuracy", ALPHAS[0]), ("macro-F1", ALPHAS[0]), ("log-loss", ALPHAS[-1])):
        for whose in ("", "/paper"):
            least = min(STUDY[f"sweep-minka/{row}/{column}{whose}"] for row in ALPHAS)
            assert STUDY[f"sweep-minka/{alpha}/{column}{whose}"] == least
    assert "the methods have the same order" in text()
    for bins in ("5-bins", "10-bins", "20-bins"):
        methods = ("Laplace", "CAWNB", "AODE", "HEB-M")
        ours, theirs = (
            [STUDY[f"discretisation/{bins}/{method}{whose}"] for method in methods] for whose in ("", "/paper")
        )
        pairs = [(i, j) for i in range(4) for j in range(4) if theirs[i] > theirs[j]]
        assert all(ours[i] > ours[j] for i, j in pairs)


def test_concentrations():
    assert "exactly as many (class, feature) pairs" in text()
    assert STUDY["concentrations/all/pairs"] == STUDY["concentrations/all/pairs/paper"]
    assert "The claim that m does not grow with K" in text()
    assert STUDY["concentrations/all/rank-correlation-of-m-and-K"] > 0.25
    assert "most pairs of amazon-employee and click-prediction are above it" in text()
    assert all(STUDY[f"concentrations/{name}/above-N-log-K"] > 50 for name in ("amazon-employee", "click-prediction"))


def test_the_exact_maximum():
    assert "which is no difference" in text()
    assert level("wilcoxon-exact", "HEB-AODE", "AODE", "Brier")
    assert wins("wilcoxon-exact", "HEB-AODE", "AODE", "log-loss")
    assert "HEB-M's rank in accuracy improves" in text()
    assert STUDY["ranks-exact/HEB-M/accuracy"] < STUDY["ranks-minka/HEB-M/accuracy"]
    assert "in the sweep it then is best on all metrics but F1" in text()
    rows = (*ALPHAS, "HEB-M")
    assert {column: best("sweep-exact", rows, column) for column in ("accuracy", "log-loss", "Brier")} == {
        "accuracy": "HEB-M",
        "log-loss": "HEB-M",
        "Brier": "HEB-M",
    }
    assert best("sweep-exact", rows, "macro-F1") != "HEB-M"


def test_the_synthetic_study():
    assert "It is largest where there are up to five times as many rows as categories" in text()
    reduced = {
        float(name.split("/")[1].removeprefix("K-N-")): value
        for name, value in STUDY.items()
        if re.fullmatch(r"l1-reduction/K-N-[\d.]+/reduction", name)
    }
    assert set(sorted(reduced, key=reduced.__getitem__)[-4:]) == {0.2, 0.25, 0.5, 1.0}
    assert reduced[10.0] < reduced[0.5] / 2


def test_beyond_the_paper():
    everybody = ("HEB-M", "HEB-M+GR", "HEB-AODE", *BEYOND)
    assert "AODE + loo is best in all four measures." in text()
    assert "KDB + loo comes second and does not differ significantly from it in any" in text()
    assert "TAN + loo is third, and significantly behind AODE + loo on log-loss and Brier." in text()
    for measure in MEASURES:
        order = sorted(everybody, key=lambda method: STUDY[f"beyond/{method}/{measure}-rank"])
        assert order[:3] == ["AODE+loo", "KDB+loo", "TAN+loo"]
        assert apart("AODE+loo", "KDB+loo", measure) < 1
    assert apart("AODE+loo", "TAN+loo", "log-loss") > 1
    assert apart("AODE+loo", "TAN+loo", "Brier") > 1
    assert "NB + loo is level with HEB-AODE and better calibrated." in text()
    assert abs(apart("NB+loo", "HEB-AODE", "log-loss")) < 0.5
    assert STUDY["beyond/NB+loo/ECE"] < STUDY["beyond/HEB-AODE/ECE"]


@pytest.mark.parametrize("structure", ["TAN", "KDB", "HNB"])
def test_learned_smoothing_does_not_win_log_loss_in_other_structures(structure):
    assert "Learned smoothing does not win log-loss with any of the three" in text()
    won, lost, _ = outcome("future-structures", f"HEB-{structure}", structure, "log-loss", FUTURE)
    assert won < lost
    means = [
        FUTURE[f"future-structures/HEB-{structure}-against-{structure}-log-loss/{name}"]
        for name in ("mean", "other-s-mean")
    ]
    assert "Mean log-losses fall all the same" in text()
    assert means[0] < means[1]


def test_what_learned_smoothing_wins_in_other_structures():
    assert "What it wins with TAN and KDB is macro F1" in text()
    assert wins("wilcoxon-tan", "HEB-TAN", "TAN", "macro F1")
    assert wins("wilcoxon-kdb", "HEB-KDB", "KDB", "macro F1")
