"""``python -m hebnb.study``: run the paper's experiments and write them up."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hebnb import errors
from hebnb.errors import HebnbError, InputError, ParameterError
from hebnb.foundation.printable import visible
from hebnb.foundation.signals import stopping_cleanly

if TYPE_CHECKING:
    from hebnb.study.registry import Dataset
    from hebnb.study.runner import Run
    from hebnb.study.sources import Source

_NEEDED = {"pandas": "pandas", "matplotlib": "matplotlib", "scikit_posthocs": "scikit-posthocs", "rich": "rich"}

_EXAMPLES = """\
examples:
  python -m hebnb.study --quick                     what can be had in two minutes
  python -m hebnb.study --data folder               the whole study on a folder of CSV files
  python -m hebnb.study --datasets car vote         two datasets, from OpenML
  python -m hebnb.study --methods Laplace HEB-M     two methods
  python -m hebnb.study --arena --data folder       ours beside other people's programs, in three hours
  python -m hebnb.study --arena --quick             the same in a minute, on small tables

A second run does only what is missing. Exit code: 0 all done, 1 something failed or was left out that was asked for
by name, 2 wrong arguments, 130 interrupted, 143 terminated.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the study; the exit code."""
    options = _parser().parse_args(arguments)
    absent = [package for module, package in _NEEDED.items() if find_spec(module) is None]
    if absent:
        print(f'The study needs {", ".join(absent)}: pip install ".[study]"', file=sys.stderr)
        return 2
    try:
        return _study(options)
    except KeyboardInterrupt:
        print("Interrupted. What was finished is kept; run again to go on.", file=sys.stderr)
        return 130
    except (InputError, ParameterError) as error:
        print("error:", "\n".join(map(visible, str(error).split("\n"))), file=sys.stderr)
        return 2
    except OSError as error:
        print(visible(f"error: {error.filename or options.output}: {error.strerror or error}."), file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hebnb.study",
        description="Replicate the empirical study of HEB-NB: datasets, tables, figures, with the paper's numbers.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of CSV files; without it OpenML is asked")
    parser.add_argument("--output", type=Path, metavar="DIR", help="default: study, or arena")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="only these datasets")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these methods")
    parser.add_argument("--quick", action="store_true", help="fewer rows, folds and methods: under two minutes")
    parser.add_argument("--future-work", action="store_true", help="the paper's list of future work: tables only")
    parser.add_argument("--force", action="store_true", help="redo what was done before")
    parser.add_argument(
        "--jobs", type=int, help="processes (default: all cores; in the arena, as many as there are cores for)"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where OpenML's files are kept")
    parser.add_argument("--list", action="store_true", help="list datasets and methods, and stop")
    arena = parser.add_argument_group("arena", "Our methods beside other people's programs, in five folds.")
    arena.add_argument("--arena", action="store_true", help="run this instead of the paper's experiments")
    arena.add_argument("--threads", type=int, default=1, help="and cores, of every contender (default: 1)")
    arena.add_argument("--limit", type=float, default=600, help="seconds that a fold may take (default: 600)")
    arena.add_argument("--memory", type=float, default=8, help="gigabytes that a process may take (default: 8)")
    arena.add_argument("--hours", type=float, default=3, help="after which it stops; run again to go on (default: 3)")
    arena.add_argument("--tuned", action="store_true", help="tune what has something to tune, by random search")
    arena.add_argument("--budget", type=float, default=3600, help="seconds of tuning a dataset (default: 3600)")
    arena.add_argument("--retry", action="store_true", help="try again what failed")
    arena.add_argument("--report", action="store_true", help="run nothing; write up what is there")
    return parser


def _study(options: argparse.Namespace) -> int:
    from rich.console import Console

    if options.list:
        _list(options)
        return 0
    if options.arena:
        return _arena(options)
    run = _plan(options)
    console = Console(stderr=True)
    if options.future_work:
        from hebnb.study import future

        return future.study(run, options.output, console)
    console.print(f"{len(run.datasets)} datasets, {len(run.methods)} methods, {run.settings}.", highlight=False)
    run(console)
    page = _write(run, options.output, trials=10 if options.quick else 50, console=console)
    failures = run.store.failures(str(run.settings))
    for name, method, _, fold, error in failures[:5]:
        console.print(f"failed: {name}, {method}, fold {fold}: {error.strip().rpartition(chr(10))[2]}", highlight=False)
    if len(failures) > 5:
        console.print(f"… and {len(failures) - 5} more; the page lists them.")
    if run.left_out:
        console.print(f"{len(run.left_out)} datasets were left out: {', '.join(run.left_out)}.", highlight=False)
    print(visible(str(page)))
    asked_in_vain = bool(options.datasets) and bool(run.left_out)
    return 1 if failures or asked_in_vain else 0


def _list(options: argparse.Namespace) -> None:
    from hebnb.study.methods import METHODS
    from hebnb.study.registry import DATASETS

    names = list(METHODS)
    if options.arena:
        from hebnb.study.arena.contenders import CONTENDERS

        names = list(CONTENDERS)
    print("datasets:", *DATASETS, sep="\n  ")
    print("methods:", *names, sep="\n  ")


def _arena(options: argparse.Namespace) -> int:
    """The comparison with other people's programs."""
    from hebnb.study.arena import command
    from hebnb.study.arena.contenders import CONTENDERS

    options.output = options.output or Path("arena")
    datasets = _datasets(options, command.QUICK_DATASETS)
    contenders = _known("method", options.methods, CONTENDERS)
    _check_jobs(options, max(1, (os.cpu_count() or 1) // max(1, options.threads)))
    return command.run(options, datasets, contenders)


def _plan(options: argparse.Namespace) -> Run:
    """What is to be run, from the arguments."""
    from hebnb.study.methods import METHODS, SLOW
    from hebnb.study.protocol import Settings
    from hebnb.study.runner import Run
    from hebnb.study.store import Store

    options.output = options.output or Path("study")
    datasets = _datasets(options)
    run_methods = _known("method", options.methods, METHODS)
    _check_jobs(options, os.cpu_count() or 1)
    settings = Settings(1_000, 3) if options.quick else Settings(folds=5) if options.future_work else Settings()
    if options.quick and not options.methods:
        run_methods = [name for name in run_methods if name not in SLOW]
    options.output.mkdir(parents=True, exist_ok=True)
    store = Store(options.output / "results.sqlite")
    store.create()
    if options.force:
        store.forget(str(settings))
    return Run(datasets, run_methods, settings, store, options.jobs)


def _datasets(options: argparse.Namespace, quick: tuple[str, ...] = ()) -> list[tuple[Dataset, Source]]:
    """Those that were asked for, or else all, or a few if it has to be quick; and where each comes from."""
    from hebnb.study.registry import DATASETS, FLIGHTS
    from hebnb.study.sources import Bundled, Folder, OpenML

    chosen = _known("dataset", options.datasets or (list(quick) if options.quick else None), DATASETS)
    if options.data is not None and not options.data.is_dir():
        raise InputError(f"{options.data} is not a folder.", "--data names a folder of CSV files.")
    source = OpenML(options.cache) if options.data is None else Folder(options.data)
    return [(DATASETS[name], Bundled() if name == FLIGHTS.name else source) for name in chosen]


def _check_jobs(options: argparse.Namespace, otherwise: int) -> None:
    options.jobs = otherwise if options.jobs is None else options.jobs
    if options.jobs < 1:
        raise ParameterError(f"--jobs {options.jobs} must be at least 1.")


def _known(kind: str, given: list[str] | None, known: dict[str, Any]) -> list[str]:
    for name in given or ():
        if name not in known:
            raise errors.unknown_name(kind, name, list(known))
    return list(dict.fromkeys(given)) if given else list(known)


def _write(run: Run, output: Path, trials: int, console: Any) -> Path:
    """Tables, figures and the page, from what is in the store."""
    import pandas as pd

    from hebnb.study import diagnostics, synthetic
    from hebnb.study.figures import all_figures
    from hebnb.study.page import Page
    from hebnb.study.protocol import prepare
    from hebnb.study.registry import DIAGNOSED, FLIGHTS
    from hebnb.study.tables import all_tables

    names = [dataset.name for dataset, _ in run.datasets]
    wanted = ["dataset", "method", "bins", "fold", "peak MB", "ECE by chance"]
    everything = pd.DataFrame(run.store.results(str(run.settings)))
    results = everything.reindex(columns=list(dict.fromkeys([*everything.columns, *wanted])))
    results = results[results["dataset"].isin(names) & results["method"].isin(run.methods)]
    of_paper = results[results["dataset"] != FLIGHTS.name]
    with console.status("synthetic experiments and figures"):
        l1 = synthetic.l1_errors(trials)
        concentrations = []
        for dataset, source in run.datasets:
            if dataset.name in DIAGNOSED and dataset.name not in run.left_out:
                try:
                    prepared = prepare(dataset, source.load(dataset), run.settings)
                except HebnbError:
                    continue
                concentrations += diagnostics.concentrations(prepared, run.settings)
        diagnosed = diagnostics.summary(concentrations) if concentrations else {}
        compared = of_paper if len(of_paper) else results  # the flights stand in where nothing else is to be had
        tables = all_tables(compared, synthetic.reductions(l1), diagnosed)
        for folder in ("tables", "figures"):
            (output / folder).mkdir(exist_ok=True)
        for table in tables:
            table.write(output / "tables")
        figures = all_figures(compared, l1, concentrations, output / "figures")
        results.drop(columns="reliability", errors="ignore").to_csv(output / "results.csv", index=False)
    failures = run.store.failures(str(run.settings))
    datasets = sorted(set(of_paper["dataset"]))
    return Page(str(run.settings), datasets, run.left_out, failures, tables, figures).write(output)


if __name__ == "__main__":
    with stopping_cleanly():
        sys.exit(main())
