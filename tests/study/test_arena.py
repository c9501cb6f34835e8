"""The arena: what contenders are given, what is measured, and a run that survives what happens to long runs."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("scikit_posthocs")
pytest.importorskip("rich")

import pandas as pd
from rich.console import Console
from sklearn.metrics import log_loss

from hebnb.datasets import load_flights
from hebnb.errors import InputError
from hebnb.study.__main__ import main
from hebnb.study.arena.children import Conditions
from hebnb.study.arena.comparing import outcomes_of
from hebnb.study.arena.contenders import CONTENDERS, HERO, LATE, LEFT_OUT, Contender, Numbered
from hebnb.study.arena.folds import Rows, as_table, rows_of
from hebnb.study.arena.measuring import COSTS, QUALITIES, all_classes, inner_loss, measure
from hebnb.study.arena.resources import Meter
from hebnb.study.arena.running import Run, expected_seconds, in_turn, size
from hebnb.study.arena.store import Lines, stands
from hebnb.study.arena.tuning import Search, candidates, search
from hebnb.study.arena.views import as_categoricals, as_codes, gaps_named, with_gaps
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS, FLIGHTS
from hebnb.study.sources import Bundled, Raw

SETTINGS = Settings(folds=5)


def make_rows(n=150, seed=0, name="car"):
    """Two columns of categories, one with gaps and one with many values, a number with gaps, and a rare class."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[2], rng.integers(0, 2, n - 1)])
    X = pd.DataFrame(
        {
            "colour": np.where(rng.random(n) < 0.1, None, np.where(y == 1, "red", rng.choice(["green", "blue"], n))),
            "name": [f"n{k}" for k in rng.integers(0, 40, n)],
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(y, 1.0)),
        }
    )
    return Rows(name, f"made:{seed}", X, y)


def make_fold(seed=0):
    return next(make_rows(seed=seed).folds(SETTINGS))


class TestFolds:
    def test_every_row_is_tested_once(self):
        rows = make_rows()
        folds = list(rows.folds(SETTINGS))
        assert sorted(np.concatenate([fold.test.index for fold in folds])) == list(range(len(rows.y)))
        for fold in folds:
            assert not set(fold.train.index) & set(fold.test.index)
            assert (rows.y[fold.test.index] == fold.test_labels).all()
            assert fold.n_classes == 3
            assert fold.categorical == ["colour", "name"]

    def test_inner_folds_are_of_the_training_rows(self):
        fold = make_fold()
        for own in fold.inner(3):
            assert set(own.train.index) | set(own.test.index) == set(fold.train.index)
            assert own.n_classes == fold.n_classes

    def test_codes_are_text_and_gaps_are_gaps(self):
        table = as_table([np.array([2, -1, 0]), np.array([1.0, np.nan, 3.0])])
        assert table["x0"].isna().tolist() == [False, True, False]
        assert table["x0"].dropna().tolist() == ["v2", "v0"]
        assert table["x1"].dtype == float

    @pytest.mark.parametrize("most_rows", [20_000, 500])
    def test_flights_are_as_people_have_them(self, most_rows):
        settings = Settings(most_rows, 5)
        rows = rows_of(FLIGHTS, Bundled().load(FLIGHTS), settings)
        X, y = load_flights(backend="pandas")
        assert len(rows.X) == len(rows.y) == min(most_rows, len(X))
        pd.testing.assert_frame_equal(rows.X, X.loc[rows.X.index])
        classes = np.unique(y)
        assert (classes[rows.y] == y.loc[rows.X.index]).all()

    def test_numbers_are_not_cut_and_gaps_not_filled(self):
        made = make_rows()
        raw = Raw(made.X, pd.Series(made.y), frozenset(), "x")
        rows = rows_of(DATASETS["car"], raw, SETTINGS)
        np.testing.assert_array_equal(rows.X["x2"], made.X["size"])
        assert (rows.X["x0"].isna() == made.X["colour"].isna()).all()


class TestViews:
    @pytest.mark.parametrize("view", [with_gaps, gaps_named, as_categoricals, as_codes])
    def test_rows_stay_and_the_fold_is_not_changed(self, view):
        fold, same = make_fold(), make_fold()
        train, test = view(fold)
        assert train.shape == fold.train.shape
        assert test.shape == fold.test.shape
        pd.testing.assert_frame_equal(fold.train, same.train)
        pd.testing.assert_frame_equal(fold.test, same.test)

    def test_test_rows_bring_no_category(self):
        fold = make_fold()
        train, test = as_categoricals(fold)
        for name in fold.categorical:
            assert set(train[name].cat.categories) == set(fold.train[name].dropna())
            assert train[name].dtype == test[name].dtype
            known = fold.test[name].isin(set(fold.train[name].dropna()))
            assert (test[name].isna() == ~known).all()

    def test_too_many_categories_are_numbers(self):
        train, test = as_categoricals(make_fold(), most=10)
        assert isinstance(train["colour"].dtype, pd.CategoricalDtype)
        assert train["name"].dtype == test["name"].dtype == float

    def test_codes_have_one_more_for_gaps_and_what_is_unseen(self):
        fold = make_fold()
        train, test = as_codes(fold)
        assert np.isfinite(train).all()
        assert np.isfinite(test).all()
        known = sorted(set(fold.train["name"]))
        expected = [known.index(name) if name in known else len(known) for name in fold.test["name"]]
        assert test[:, 1].tolist() == expected

    def test_gaps_have_a_name(self):
        train, test = gaps_named(make_fold())
        assert "missing" in set(train["colour"])
        assert not train[["colour", "name"]].isna().any().any()
        assert not test[["colour", "name"]].isna().any().any()


# Khiops is in no extra, since it holds scikit-learn back; it is tested where somebody has it.
HERE = {name: own for name, own in CONTENDERS.items() if name != "Khiops" or own.version}
# EBM needs minutes wherever it is.
QUICK = [name for name in HERE if name != "EBM"]


def of_the_arena(name):
    """A contender, if it is installed."""
    contender = CONTENDERS[name]
    if contender.version is None:
        pytest.skip(f'{contender.package} is not installed: pip install ".[arena]"')
    return contender


class TestContenders:
    def test_everybody_who_was_invited_is_there(self):
        ours = {"evidence", "HEB-M", "HEB-M+GR", "HEB-AODE", "NB+loo", "AODE+loo", "TAN+loo", "KDB+loo"}
        assert {name for name, contender in CONTENDERS.items() if contender.is_ours} == ours
        theirs = {"CatBoost", "LightGBM", "XGBoost", "HistGB", "forest", "logistic", "EBM"}
        assert set(CONTENDERS) == ours | theirs | {"AnDE", "wAnDE", "ALR", "Khiops"}
        assert {"TabPFN", "TabICL"} == set(LEFT_OUT)
        assert {name for name, contender in CONTENDERS.items() if contender.space} == theirs

    @pytest.mark.parametrize("name", QUICK)
    def test_a_contender_takes_gaps_unseen_values_and_a_class_that_is_missing(self, name):
        contender = of_the_arena(name)
        rows = make_rows()
        lacking = next(fold for fold in rows.folds(SETTINGS) if 2 in fold.test_labels)
        assert 2 not in lacking.train_labels
        with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
            patch.setenv("OMP_WAIT_POLICY", "PASSIVE")
            row = quietly(measure, contender, lacking, 1)
        assert all(np.isfinite(row[quality]) for quality in QUALITIES)
        assert all(row[cost] is None or row[cost] >= 0 for cost in COSTS)
        assert json.loads(json.dumps(row)) == row

    def test_classes_are_numbered_for_those_who_count(self):
        class Model:
            def fit(self, X, y):
                self.seen = y.tolist()

            def predict_proba(self, X):
                return np.tile([0.25, 0.75], (len(X), 1))

        model = Numbered(Model()).fit(np.zeros((3, 1)), np.array([4, 1, 4]))
        assert model.model.seen == [1, 0, 1]
        assert model.classes_.tolist() == [1, 4]
        assert all_classes(model.predict_proba([[0]]), model.classes_, 5).tolist() == [[0, 0.25, 0, 0, 0.75]]

    @pytest.mark.parametrize("name", [name for name, contender in HERE.items() if contender.space])
    def test_spaces_name_parameters_that_exist(self, name):
        contender = of_the_arena(name)
        drawn = candidates(contender.space)
        next(drawn)
        for _ in range(5):
            model = contender.make(make_fold(), 1).set_params(**next(drawn))
            model = model.model if isinstance(model, Numbered) else model
            assert set(contender.space) <= set(model.get_params())


def quietly(function, *arguments):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


class TestMeasuring:
    def test_the_loss_is_that_of_the_models_own_probabilities(self):
        fold = next(fold for fold in make_rows().folds(SETTINGS) if 2 not in fold.test_labels)
        row = measure(CONTENDERS["HEB-M"], fold, 1)
        model = CONTENDERS["HEB-M"].make(fold, 1).fit(fold.train, fold.train_labels)
        expected = log_loss(fold.test_labels, model.predict_proba(fold.test), labels=[0, 1, 2])
        assert row["log-loss"] == pytest.approx(expected, rel=1e-12)
        assert inner_loss(CONTENDERS["HEB-M"], fold, 1, {}) == pytest.approx(expected, rel=1e-12)

    def test_a_meter_sees_work_and_memory(self):
        meter = Meter()
        began = time.process_time()
        while time.process_time() - began < 0.05:
            pass
        held = np.ones(12_000_000)  # 96 MB
        used = meter.read()
        assert used.seconds >= 0.05
        assert used.megabytes is None or used.megabytes > 80
        assert held.sum() == 12_000_000

    def test_a_meter_sees_what_helpers_do(self):
        meter = Meter()
        busy = "import time\nwhile time.process_time() < 0.3: pass"
        subprocess.run([sys.executable, "-c", busy], check=True)
        assert meter.read().seconds >= 0.25


class TestTuning:
    CONTENDER = Contender("toy", "hebnb", None, with_gaps, space={"depth": [1, 2, 3], "rate": (0.1, 10.0)})

    def clock(self, step):
        """Every look at it takes a step."""
        now = iter(np.arange(0, 1e6, step))
        return lambda: float(next(now))

    def test_the_best_is_kept_and_the_defaults_are_tried(self):
        seen = []

        def loss(contender, fold, threads, parameters):
            seen.append(parameters)
            return abs(parameters.get("depth", 9) - 2) + abs(np.log(parameters.get("rate", 1.0)))

        found = search(self.CONTENDER, make_fold(), 1, 100.0, loss=loss, clock=self.clock(1.0))
        assert seen[0] == {}
        assert found.tried == len(seen) / 3  # inner folds
        tried = [seen[n] for n in range(0, len(seen), 3)]
        assert found.best == min(tried, key=lambda one: loss(None, None, 1, one))

    def test_the_time_is_kept(self):
        found = search(self.CONTENDER, make_fold(), 1, 10.0, loss=lambda *_: 1.0, clock=self.clock(1.0))
        assert found.seconds <= 10 + 2  # and two looks at the clock
        assert found.tried > 1
        assert search(self.CONTENDER, make_fold(), 1, 0.0, loss=lambda *_: 1.0, clock=self.clock(1.0)).tried == 1

    def test_parameters_that_are_refused_are_not_the_best(self):
        def loss(contender, fold, threads, parameters):
            if parameters:
                raise ValueError(parameters)
            return 1.0

        found = search(self.CONTENDER, make_fold(), 1, 10.0, loss=loss, clock=self.clock(1.0))
        assert found.best == {}
        assert found.tried > 1

    def test_nothing_to_tune(self):
        assert search(CONTENDERS[HERO], make_fold(), 1, 10.0, loss=None) == Search()

    def test_draws_repeat(self):
        first, second = candidates(self.CONTENDER.space), candidates(self.CONTENDER.space)
        drawn = [next(first) for _ in range(20)]
        assert drawn == [next(second) for _ in range(20)]
        assert len({one["rate"] for one in drawn[1:]}) == 19

    def test_a_tuned_contender_is_measured(self):
        row = quietly(measure, CONTENDERS["logistic"], make_fold(), 1, 0.5)
        assert row["tried"] >= 1
        assert row["search s"] > 0
        assert set(row["parameters"]) <= {"logisticregression__C"}
        assert np.isfinite(row["log-loss"])


class TestStore:
    ROW = {"dataset": "car", "method": "x", "fold": 0, "version": "1", "fingerprint": "f", "settings": "s"}

    def test_what_is_done_again_is_forgotten_and_nothing_else(self, tmp_path):
        store = Lines(tmp_path / "results.jsonl")
        for dataset in ("car", "vote"):
            for method in ("ours", "theirs"):
                store.add({"dataset": dataset, "method": method, "fold": 0, "log-loss": 1.0})
        store.forget(["car"], ["ours", "nobody"])
        assert sorted(store.rows()) == [("car", "theirs", 0), ("vote", "ours", 0), ("vote", "theirs", 0)]

    def test_the_last_line_of_a_place_counts(self, tmp_path):
        store = Lines(tmp_path / "r.jsonl")
        assert store.rows() == {}
        store.add(self.ROW | {"log-loss": 1.0})
        store.add(self.ROW | {"log-loss": 2.0})
        store.add(self.ROW | {"fold": 1})
        assert {place: row.get("log-loss") for place, row in store.rows().items()} == {
            ("car", "x", 0): 2.0,
            ("car", "x", 1): None,
        }

    @pytest.mark.parametrize("kept", range(1, 40, 6))
    def test_half_a_line_is_no_result_and_hurts_no_other(self, tmp_path, kept):
        store = Lines(tmp_path / "r.jsonl")
        store.add(self.ROW)
        whole = store.path.read_bytes()
        store.path.write_bytes(whole + whole[:kept])
        assert list(store.rows()) == [("car", "x", 0)]
        store.add(self.ROW | {"fold": 1})
        assert list(store.rows()) == [("car", "x", 0), ("car", "x", 1)]

    @pytest.mark.parametrize("changed", ["version", "fingerprint", "settings", "budget"])
    def test_a_result_of_something_else_does_not_stand(self, changed):
        assert stands(self.ROW, self.ROW)
        assert stands(self.ROW, self.ROW | {"budget": None})
        assert not stands(self.ROW, self.ROW | {changed: "other"})
        assert not stands(None, self.ROW)

    def test_a_file_of_something_else(self, tmp_path):
        (tmp_path / "r.jsonl").write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match="holds no results"):
            Lines(tmp_path / "r.jsonl").check()


# What contenders may do to a run. They stand here by name, so that other processes find them.


class Model:
    """Says the shares of the classes."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = counts / len(y)
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))


class Sleeps(Model):
    def fit(self, X, y):
        time.sleep(600)


class Raises(Model):
    def fit(self, X, y):
        raise ValueError("no | such\nluck")


class Dies(Model):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class TellsItsCore(Model):
    def fit(self, X, y):
        time.sleep(0.3)  # so that the other runs meanwhile
        (core,) = os.sched_getaffinity(0)
        self.loo_log_loss_ = core  # the one number of its own that a contender may say
        return super().fit(X, y)


class Hogs(Model):
    def fit(self, X, y):
        self.much = [np.ones(10_000_000) for _ in range(1_000)]


def honest(fold, threads):
    return Model()


def sleeps(fold, threads):
    return Sleeps()


def raises(fold, threads):
    return Raises()


def dies(fold, threads):
    return Dies()


def tells_its_core(fold, threads):
    return TellsItsCore()


def hogs(fold, threads):
    return Hogs()


def contender(make, package="hebnb", turn=0):
    return Contender(make.__name__, package, make, with_gaps, turn)


class Made:
    """A source of made-up rows."""

    def load(self, dataset):
        made = make_rows(60, name=dataset.name)
        return Raw(made.X, pd.Series(made.y), frozenset(), f"made:{dataset.name}")


def make_run(tmp_path, contenders, datasets=("car",), **more):
    conditions = more.pop("conditions", Conditions(threads=1, limit=60, memory=2))
    settings = Settings(folds=2)
    chosen = [(DATASETS[name], Made()) for name in datasets]
    return Run(chosen, contenders, settings, conditions, Lines(tmp_path / "results.jsonl"), **more)


def outcomes(run):
    return {place: row.get("error", "") for place, row in run.store.rows().items()}


def turns_of(contenders, everybody_late=False):
    pairs = [(DATASETS[name], None) for name in ("adult", "vote")]
    turns = in_turn(pairs, contenders, 2, everybody_late)
    return [(turn.dataset.name, turn.name, list(turn.folds)) for turn in turns]


class TestRunning:
    def test_whoever_fails_is_recorded_and_the_others_go_on(self, tmp_path):
        contenders = {make.__name__: contender(make) for make in (raises, dies, hogs, honest)}
        contenders["absent"] = contender(honest, package="no-such-package-at-all")
        run = make_run(tmp_path, contenders)
        run(Console(quiet=True))
        found = outcomes(run)
        assert len(found) == 10
        assert found["car", "honest", 0] == found["car", "honest", 1] == ""
        for fold in (0, 1):
            assert found["car", "raises", fold] == "ValueError: no | such\nluck"
            assert found["car", "hogs", fold] == "out of memory: more than 2 GB"
            assert found["car", "absent", fold] == "not installed: pip install no-such-package-at-all"
        assert found["car", "dies", 0] == "died with exit code -9"
        assert found["car", "dies", 1] == "not tried: fold 0 died with exit code -9"

    def test_who_takes_too_long_is_stopped_and_its_other_folds_are_not_tried(self, tmp_path):
        run = make_run(tmp_path, {"sleeps": contender(sleeps)}, conditions=Conditions(1, limit=1.5))
        run(Console(quiet=True))
        assert outcomes(run) == {
            ("car", "sleeps", 0): "more than 1.5 s",
            ("car", "sleeps", 1): "not tried: fold 0 more than 1.5 s",
        }

    def test_only_what_is_missing_is_run(self, tmp_path):
        run = make_run(tmp_path, {"honest": contender(honest), "raises": contender(raises)})
        run(Console(quiet=True))
        before = run.store.path.read_bytes()
        make_run(tmp_path, run.contenders)(Console(quiet=True))
        assert run.store.path.read_bytes() == before
        make_run(tmp_path, run.contenders, retry=True)(Console(quiet=True))
        added = run.store.path.read_bytes()[len(before) :].splitlines()
        assert [json.loads(line)["method"] for line in added] == ["raises", "raises"]

    def test_a_dataset_that_cannot_be_had(self, tmp_path):
        class Nowhere:
            def load(self, dataset):
                raise InputError("vote: lost.", "Look for it.")

        run = make_run(tmp_path, {"honest": contender(honest)})
        run.datasets = [*run.datasets, (DATASETS["vote"], Nowhere())]
        run(Console(quiet=True))
        assert run.left_out == {"vote": "vote: lost."}
        assert len(outcomes(run)) == 2

    def test_when_the_hours_are_over_nothing_is_begun(self, tmp_path):
        run = make_run(tmp_path, {"honest": contender(honest)}, hours=0.0)
        run(Console(quiet=True))
        assert outcomes(run) == {}

    def test_when_the_hours_are_over_what_is_being_done_is_given_up(self, tmp_path):
        run = make_run(tmp_path, {"sleeps": contender(sleeps)}, hours=1 / 3600)
        run(Console(quiet=True))
        assert outcomes(run) == {}

    def test_several_at_a_time(self, tmp_path):
        contenders = {make.__name__: contender(make) for make in (honest, raises)}
        run = make_run(tmp_path, contenders, ("car", "vote", "cmc"), jobs=3)
        run(Console(quiet=True))
        assert Counter(name for _, name, _ in outcomes(run)) == {"honest": 6, "raises": 6}

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not tell cores")
    def test_two_at_a_time_do_not_share_a_core(self, tmp_path):
        cores = sorted(os.sched_getaffinity(0))
        run = make_run(tmp_path, {name: contender(tells_its_core) for name in ("one", "other")}, jobs=2)
        run(Console(quiet=True))
        told = {place: row["loo log-loss"] for place, row in run.store.rows().items()}
        assert told["car", "one", 0] == told["car", "one", 1] == cores[0]
        assert told["car", "other", 0] == told["car", "other", 1] == cores[1 % len(cores)]

    def test_small_and_quick_ones_first(self):
        contenders = {"slow": contender(honest, turn=1), "quick": contender(honest)}
        assert turns_of(contenders) == [
            ("vote", "quick", [0, 1]),
            ("adult", "quick", [0, 1]),
            ("vote", "slow", [0, 1]),
            ("adult", "slow", [0, 1]),
        ]

    @pytest.mark.parametrize(("turn", "everybody_late"), [(LATE, False), (0, True)])
    def test_who_is_late_does_a_fold_of_every_dataset_before_the_next(self, turn, everybody_late):
        contenders = {"one": contender(honest, turn=turn), "other": contender(honest, turn=LATE)}
        assert turns_of(contenders, everybody_late) == [
            (dataset, name, [fold]) for fold in (0, 1) for dataset in ("vote", "adult") for name in ("one", "other")
        ]

    def test_every_fold_has_one_turn(self):
        turns = in_turn([(dataset, None) for dataset in DATASETS.values()], CONTENDERS, 5, False)
        folds = Counter((turn.dataset.name, turn.name, fold) for turn in turns for fold in turn.folds)
        assert folds == Counter(itertools.product(DATASETS, CONTENDERS, range(5)))

    def test_what_is_hopeless_is_not_tried_in_a_later_round(self, tmp_path):
        run = make_run(tmp_path, {"sleeps": contender(sleeps, turn=LATE)}, conditions=Conditions(limit=1))
        run(Console(quiet=True))
        assert outcomes(run) == {
            ("car", "sleeps", 0): "more than 1 s",
            ("car", "sleeps", 1): "not tried: fold 0 more than 1 s",
        }

    def test_nor_in_a_run_that_goes_on(self, tmp_path):
        run = make_run(tmp_path, {"sleeps": contender(sleeps, turn=LATE)}, conditions=Conditions(limit=1))
        run(Console(quiet=True))
        lines = run.store.path.read_text().splitlines(keepends=True)
        run.store.path.write_text(lines[0])
        again = make_run(tmp_path, {"sleeps": contender(honest, turn=LATE)})
        again(Console(quiet=True))
        assert outcomes(again)["car", "sleeps", 1] == "not tried: fold 0 more than 1 s"
        retried = make_run(tmp_path, {"sleeps": contender(honest, turn=LATE)}, retry=True)
        retried(Console(quiet=True))
        assert set(outcomes(retried).values()) == {""}

    def test_a_retry_that_was_stopped_goes_on(self, tmp_path):
        """The first fold was tried again, and the second is still not tried because of how the first once ended."""
        run = make_run(tmp_path, {"sleeps": contender(sleeps, turn=LATE)}, conditions=Conditions(limit=1))
        run(Console(quiet=True))
        (tmp_path / "retried").mkdir()
        retried = make_run(tmp_path / "retried", {"sleeps": contender(honest, turn=LATE)})
        retried(Console(quiet=True))
        run.store.add(retried.store.rows()["car", "sleeps", 0])
        assert [outcome["folds"] for outcome in outcomes_of(run.store.rows().values(), ["car"], ["sleeps"])] == [1]
        make_run(tmp_path, {"sleeps": contender(honest, turn=LATE)})(Console(quiet=True))
        assert set(outcomes(run).values()) == {""}

    def test_progress_is_told_where_there_is_no_terminal(self, tmp_path):
        with (tmp_path / "log").open("w") as file:
            make_run(tmp_path, {"honest": contender(honest)})(Console(file=file, force_terminal=False))
        lines = (tmp_path / "log").read_text().splitlines()
        assert "car, honest, fold 0: log-loss" in lines[0]
        assert "(1 of 2 folds, about" in lines[0]
        assert "(2 of 2 folds, about 0 s left)" in lines[1]

    def test_no_time_is_left_for_what_will_not_be_tried(self, tmp_path):
        with (tmp_path / "log").open("w") as file:
            run = make_run(tmp_path, {"sleeps": contender(sleeps, turn=LATE)}, conditions=Conditions(limit=1))
            run(Console(file=file, force_terminal=False))
        assert "(1 of 2 folds, about 0 s left)" in (tmp_path / "log").read_text().splitlines()[0]


class TestTimeLeft:
    def test_nothing_is_known_at_first(self):
        assert expected_seconds({("car", "x"): 5}, {}) is None

    def test_a_fold_takes_as_long_as_the_one_before(self):
        assert expected_seconds({("car", "x"): 4}, {("car", "x"): 3.0, ("adult", "x"): 100.0}) == 12

    def test_the_dataset_nearest_in_size_stands_in(self):
        sizes = sorted(DATASETS.values(), key=size)
        small, second, large = sizes[0].name, sizes[1].name, sizes[-1].name
        took = {(small, "x"): 1.0, (large, "x"): 50.0}
        assert expected_seconds({(second, "x"): 1}, took) == 1.0

    def test_nothing_left_takes_no_time(self):
        assert expected_seconds({("car", "x"): 0}, {("car", "x"): 3.0}) == 0


def arena(*arguments):
    return [sys.executable, "-m", "hebnb.study", "--arena", *map(str, arguments)]


def write_folder(folder, names, rows=200):
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(names):
        made = make_rows(rows, seed)
        made.X.assign(target=made.y).iloc[1:].to_csv(folder / f"{name}.csv", index=False)
    return folder


def stored(output):
    """What was stored, without times and memory; and how many lines there are for a place."""
    lines = [json.loads(line) for line in (output / "results.jsonl").read_text().splitlines()]
    found = {
        (row["dataset"], row["method"], row["fold"]): {
            key: value for key, value in row.items() if not key.endswith((" s", "MB"))
        }
        for row in lines
    }
    return found, Counter((row["dataset"], row["method"], row["fold"]) for row in lines)


def wait_for(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def lines_of(path):
    return path.read_text().count("\n") if path.exists() else 0


METHODS = ("evidence", "HEB-M", "NB+loo", "AODE+loo", "logistic", "forest")


class TestRuns:
    def test_a_killed_run_goes_on_as_if_nothing_had_happened(self, tmp_path):
        data = write_folder(tmp_path / "data", ["car", "vote", "cmc"])
        arguments = ("--data", data, "--datasets", "car", "vote", "cmc", "--methods", *METHODS, "--output")
        whole, killed = tmp_path / "whole", tmp_path / "killed"
        subprocess.run(arena(*arguments, whole), check=True, capture_output=True)
        process = subprocess.Popen(
            arena(*arguments, killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            assert wait_for(lambda: lines_of(killed / "results.jsonl") >= 20 or process.poll() is not None)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.5)  # its processes notice, and end
        survived = lines_of(killed / "results.jsonl")
        assert 20 <= survived < 90
        subprocess.run(arena(*arguments, killed), check=True, capture_output=True)
        found, counts = stored(killed)
        assert found == stored(whole)[0]
        assert set(counts.values()) == {1}  # nothing was done twice
        assert len(counts) == 90
        for name in ("ranks", "log-loss", "against"):
            assert (killed / "tables" / f"{name}.csv").read_text() == (whole / "tables" / f"{name}.csv").read_text()

    def test_processes_do_not_outlive_a_run_that_was_killed(self, tmp_path):
        script = (
            "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
            "if __name__ == '__main__':\n"
            "    import test_arena as t\n"
            "    from rich.console import Console\n"
            "    t.make_run(Path(sys.argv[2]), {'s': t.contender(t.tells_and_sleeps)})(Console(quiet=True))\n"
        )
        (tmp_path / "script.py").write_text(script)
        command = [sys.executable, tmp_path / "script.py", Path(__file__).parent, tmp_path]
        process = subprocess.Popen(command, env=os.environ | {"HEBNB_TOLD": str(tmp_path / "pid")})
        try:
            assert wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("."))
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        child = int((tmp_path / "pid").read_text().rstrip("."))
        assert wait_for(lambda: not is_alive(child), 30)

    def test_a_terminated_run_ends_its_processes_and_says_so(self, tmp_path):
        data = write_folder(tmp_path / "data", ["car", "vote"], rows=600)
        command = arena("--data", data, "--datasets", "car", "vote", "--methods", *METHODS, "--output", tmp_path / "o")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert wait_for(lambda: lines_of(tmp_path / "o" / "results.jsonl") >= 3)
        process.terminate()
        _, said = process.communicate(timeout=60)
        assert process.returncode in (130, 143)
        assert "Traceback" not in said

    def test_one_run_from_start_to_end(self, tmp_path, capsys):
        data = write_folder(tmp_path / "data", ["car", "vote", "cmc"], rows=120)
        output = tmp_path / "out"
        options = ["--arena", "--quick", "--data", str(data), "--output", str(output)]
        options += ["--datasets", "car", "vote", "cmc", "--methods", "evidence", "HEB-M", "NB+loo", "logistic"]
        assert main(options) == 0
        assert capsys.readouterr().out.strip() == str(output / "arena.md")
        page = (output / "arena.md").read_text()
        assert "3 datasets, 4 contenders" in page
        for link in re.findall(r"\]\(([^)]+)\)", page):
            assert (output / link).exists(), link
        assert "Not compared, for want of datasets" in page  # three are too few for a test
        assert "first:" not in page
        before = (output / "results.jsonl").read_bytes()
        assert main([*options, "--report"]) == 0
        assert main([*options]) == 0
        assert (output / "results.jsonl").read_bytes() == before
        assert main([*options, "--tuned", "--budget", "1"]) == 0
        assert "Log-loss with tuning" in (output / "arena.md").read_text()
        tuned = [json.loads(line) for line in (output / "tuned.jsonl").read_text().splitlines()]
        assert {row["method"] for row in tuned} == {"logistic"}
        assert {row["budget"] for row in tuned} == {0.5}
        capsys.readouterr()

    def test_lists_and_wrong_arguments(self, tmp_path, capsys):
        assert main(["--arena", "--list"]) == 0
        assert "CatBoost" in capsys.readouterr().out
        for arguments, message in (
            (["--methods", "catboost"], "Did you mean 'CatBoost'"),
            (["--datasets", "aduld"], "Did you mean 'adult'"),
            (["--limit", "0"], "--limit 0 must be more than 0"),
            (["--jobs", "0"], "at least 1"),
        ):
            assert main(["--arena", "--output", str(tmp_path), *arguments]) == 2
            assert message in capsys.readouterr().err


class TellsAndSleeps(Model):
    def fit(self, X, y):
        Path(os.environ["HEBNB_TOLD"]).write_text(f"{os.getpid()}.")
        time.sleep(600)


def tells_and_sleeps(fold, threads):
    return TellsAndSleeps()


def is_alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return not Path("/proc").exists()
    return state != "Z"
