"""Results of the arena for the pages: ``python benchmarks/arena_figures.py ARENA``, the folder that it wrote.

It keeps every fold of ``results.jsonl``, and of ``tuned.jsonl`` if there is one, in ``benchmarks/results``; makes the
arena's tables of them, that of README.md, and the sentences that its tests allow; and writes all that to
``benchmarks/results/arena.json``, which ``python docs/figures.py`` shows. It draws the figures of docs/benchmarks.md
too. Without a folder it makes everything anew of the folds that are kept. With these a run can also go on where the one
that is shown has stopped::

    mkdir arena && gunzip -c benchmarks/results/arena.jsonl.gz > arena/results.jsonl
    python -m hebnb.study --arena --data FOLDER
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hebnb.study.arena.command import FOLDS, RESULTS, TUNED
from hebnb.study.arena.comparing import NOT_REACHED, Comparison, Outcome, outcomes_of
from hebnb.study.arena.contenders import CONTENDERS, HERO, LATE, titles
from hebnb.study.arena.figures import all_figures
from hebnb.study.arena.measuring import Row
from hebnb.study.arena.page import standings
from hebnb.study.arena.running import size
from hebnb.study.arena.sheets import MARK, Sheet, shown
from hebnb.study.arena.store import Lines
from hebnb.study.arena.tables import all_sheets, estimate_sheet, tuned_sheet
from hebnb.study.protocol import Settings
from hebnb.study.registry import DATASETS
from record import FOLDER, Results, Table, Value, record

DOCS = FOLDER.parent.parent / "docs"
IN_ORDER = [dataset.name for dataset in sorted(DATASETS.values(), key=size)]
IN_README = (HERO, "CatBoost", "LightGBM", "EBM", "logistic")
TABLES_IN_README = ("amazon-employee", "click-prediction", "adult", "bank-marketing", "flights", "nomao")
TIMED = "adult"  # the table whose fits README.md tells the seconds of
# What the log-loss of EvidenceClassifier was to be at most, over CatBoost's; set before it was written.
AIMS = {"amazon-employee": 1.02, "click-prediction": 1.0, "adult": 1.0, "bank-marketing": 1.01, "nomao": 1.1}


# The store of the arena, and where its folds are kept.
KEPT = {RESULTS: FOLDER / "arena.jsonl.gz", TUNED: FOLDER / "arena-tuned.jsonl.gz"}


def keep(store: Path, target: Path) -> None:
    """The folds of a store that are of the arena's usual settings, with seven digits."""
    settings = str(Settings(folds=FOLDS))
    rows = [row for row in Lines(store).rows().values() if row.get("settings") == settings]
    rows.sort(key=lambda row: (row["dataset"], row["method"], row["fold"]))
    lines = [json.dumps({name: _rounded(value) for name, value in row.items()}, ensure_ascii=False) for row in rows]
    target.unlink(missing_ok=True)
    if lines:
        target.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


def _rounded(value: Any) -> Any:
    return float(f"{value:.7g}") if isinstance(value, float) else value


def folds_in(kept: Path) -> list[Row]:
    """The folds that are kept in a file; none if there is no file."""
    return [json.loads(line) for line in gzip.decompress(kept.read_bytes()).splitlines()] if kept.exists() else []


def outcomes(folds: Sequence[Row]) -> list[Outcome]:
    """What became of everybody on every dataset."""
    return outcomes_of(folds, IN_ORDER, list(CONTENDERS))


def draw(comparison: Comparison) -> None:
    """The figures of docs/benchmarks.md."""
    with TemporaryDirectory() as folder:
        all_figures(comparison, Path(folder))
        for stem, target in (("cost", "arena-cost"), ("critical-differences", "arena-ranks")):
            drawn = Path(folder) / f"{stem}.png"
            if drawn.exists():
                copyfile(drawn, DOCS / f"{target}.png")


def table_of(sheet: Sheet) -> Table:
    """As files of results have tables; they have no marks but in text."""
    rows, texts = [list(row) for row in sheet.rows], sheet.cells()
    for n, m in sheet.marked:
        rows[n][m] = texts[n][m]
    return Table(list(sheet.columns), rows)


def readme_table(comparison: Comparison) -> Table:
    """Log-loss on six tables with many categories; how often it is lower than ours; calibration; seconds of a fit."""
    labels = [
        *TABLES_IN_README,
        "tables where it is lower than ours",
        "mean calibration error of these",
        "what chance alone would show",
        f"CPU seconds to fit {TIMED}",
    ]
    columns = [_readme_column(comparison, name) for name in IN_README]
    heads = [f"**{titles()[name]}**" if name == HERO else titles()[name] for name in IN_README]
    rows = [[label, *cells] for label, *cells in zip(labels, *columns, strict=True)]
    return Table([("log-loss", ""), *((head, "") for head in heads)], rows, bold=True)


def _readme_column(comparison: Comparison, name: str) -> list[str]:
    beside = comparison.shared("log-loss", [HERO, name] if name != HERO else [HERO]).dropna()
    won = f"{(beside[name] < beside[HERO]).sum()} of {len(beside)}"
    own = {measure: comparison.values(measure)[name] for measure in ("ECE", "ECE by chance")}
    error, by_chance = (column.loc[list(TABLES_IN_README)].mean(skipna=False) for column in own.values())
    seconds = comparison.values("fit CPU s").loc[TIMED, name]
    return [
        *(_loss_or_word(comparison, name, dataset) for dataset in TABLES_IN_README),
        "–" if name == HERO else won,
        _marked(shown(error, ".3f"), comparison.partial.loc[list(TABLES_IN_README), name].any()),
        f"({shown(by_chance, '.3f')})",
        _marked(shown(seconds, ".1f" if seconds < 10 else ".0f"), comparison.partial.loc[TIMED, name]),
    ]


def _loss_or_word(comparison: Comparison, name: str, dataset: str) -> str:
    """The log-loss, or the word for why there is none."""
    state = comparison.states.loc[dataset, name]
    if state:
        return "–" if state == NOT_REACHED else str(state)
    return _marked(f"{comparison.values('log-loss').loc[dataset, name]:.3f}", comparison.partial.loc[dataset, name])


def _marked(text: str, has_few_folds: bool) -> str:
    """A number with a mark if it is that of fewer folds than others have."""
    return text + MARK if has_few_folds and text != shown(None, "") else text


def aims_table(comparison: Comparison) -> Table:
    """Evidence beside CatBoost where an aim was set."""
    losses = comparison.shared("log-loss", [HERO, "CatBoost"])
    lines: list[list[Value]] = []
    for name, aim in AIMS.items():
        ours, theirs = losses.loc[name, [HERO, "CatBoost"]].tolist()
        lines.append([name, ours, theirs, ours / theirs, aim])
    heads = {"": "", titles()[HERO]: ".4f", "CatBoost": ".4f", "ratio": ".4f", "aim": ".2f"}
    return Table(heads, lines)


def facts_of(comparison: Comparison) -> dict[str, Value]:
    """Sentences and numbers for the text."""
    facts: dict[str, Value] = {
        f"standing/{measure.replace(' ', '-')}": said for measure, said in standings(comparison).items()
    }
    facts |= {f"{sheet.name}/note": sheet.note for sheet in all_sheets(comparison) if sheet.note}
    facts |= {f"hours-on-two-cores/{what}": seconds / 2 / 3600 for what, seconds in _seconds(comparison).items()}
    facts["datasets"] = len(comparison.datasets)
    facts["contenders"] = len(comparison.contenders)
    for name, column in comparison.values("log-loss").mask(comparison.partial).items():
        facts |= {f"log-loss/{dataset}/{name}": loss for dataset, loss in column.dropna().items()}
    judged = comparison.against(HERO, "log-loss")
    for name, one in judged.items():
        facts |= {f"beside/{name}": one.datasets, f"won-against/{name}": one.outcome.wins}
    by_ratio = comparison.against(HERO, "log-loss", by_ratio=True)
    for kind, found in {"p": judged, "p-by-ratio": by_ratio}.items():
        facts |= {f"{kind}/{name}": float(f"{one.adjusted:.3g}") for name, one in found.items() if one.adjusted >= 0}
    facts["compared"] = len([one for one in judged.values() if one.word != "not compared"])
    off = [np.inf if row[3] is None else abs(float(row[3])) for row in estimate_sheet(comparison).rows]
    facts |= {"estimates": len(off), "estimates-within-3-percent": sum(own <= 0.03 for own in off)}
    facts["incomplete"] = ", ".join(titles()[name] for name in comparison.contenders if name not in comparison.tested)
    return facts


def _seconds(comparison: Comparison) -> dict[str, float]:
    """How long all folds took by the clock, and those until everybody has had a turn on every dataset."""
    took = {(o["method"], o["dataset"], fold): s for o in comparison.outcomes for fold, s in o["took s"].items()}
    first = [s for (name, _, fold), s in took.items() if CONTENDERS[name].turn < LATE or fold == 0]
    return {"all": float(sum(took.values())), "first-round": float(sum(first))}


def results_of(plain: Comparison, tuned: Comparison) -> Results:
    """Everything that the pages show of an arena."""
    sheets, facts = all_sheets(plain), facts_of(plain)
    if tuned.tried:
        sheets.append(tuned_sheet(plain, tuned))
        facts |= tuned_facts(sheets[-1])
    tables = {sheet.name: table_of(sheet) for sheet in sheets}
    tables |= {"readme": readme_table(plain), "aims": aims_table(plain)}
    return Results(tables, facts)


def tuned_facts(sheet: Sheet) -> dict[str, Value]:
    """How often somebody has a lower log-loss than ours, at the defaults and tuned."""
    losses = [row[3:6] for row in sheet.rows if all(isinstance(value, float) for value in row[3:6])]
    default, tuned, ours = np.array(losses, dtype=float).reshape(-1, 3).T
    lower = {"tuned/lower-at-defaults": default < ours, "tuned/lower": tuned < ours}
    return {"tuned/compared": len(losses)} | {name: int(those.sum()) for name, those in lower.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arena", type=Path, nargs="?", help="what python -m hebnb.study --arena wrote")
    folder = parser.parse_args().arena
    path = FOLDER / "arena.json"
    more = {}
    if folder is None:
        before = json.loads(path.read_text(encoding="utf-8"))
        more = {name: before[name] for name in ("command", "versions")}
    else:
        for store, kept in KEPT.items():
            keep(folder / store, kept)
    folds = folds_in(KEPT[RESULTS])
    more["contenders"] = {row["method"]: row["version"] for row in folds}
    plain = Comparison(outcomes(folds), FOLDS)
    path.unlink(missing_ok=True)  # tables that there are no more would stay
    draw(plain)
    tuned = Comparison(outcomes(folds_in(KEPT[TUNED])), FOLDS)
    print(record("arena", results_of(plain, tuned), more))


if __name__ == "__main__":
    main()
