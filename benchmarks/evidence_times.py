"""Times and nested estimates that evidence.py prints, for the pages: ``python benchmarks/evidence_times.py FILE …``.

Each file is what ``python benchmarks/evidence.py --speed`` or ``--nested`` printed. What there is goes to
``benchmarks/results/evidence_speed.json`` and ``evidence_nested.json``; ``python docs/figures.py`` then shows it.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path

from record import Results, Table, Value, record

TIMED = re.compile(r"^(?P<what>.+): (?P<verb>fit|predict) +(?P<one>[\d.]+) +(?P<other>[\d.]+) +(?P<ratio>[\d.]+)$")
NESTED = re.compile(r"^(?P<name>[\w-]+)(?P<numbers>(?: +-?\d+\.\d{4}){5})$")
GROWTH = {"twice-the-rows": "32,000 rows / 16,000", "twice-the-columns": "24 columns / 12"}


def speed(text: str) -> Results:
    """Seconds of a fit beside LightGBM and CatBoost, and how they grow with rows and columns."""
    fits: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    predictions: dict[str, float] = {}
    facts: dict[str, Value] = {}
    for match in filter(None, map(TIMED.match, text.splitlines())):
        one, other = float(match["one"]), float(match["other"])
        compared = re.fullmatch(r"([\w-]+): evidence / (\w+)", match["what"])
        for name, start in GROWTH.items():
            if match["what"].startswith(start) and match["verb"] == "fit":
                facts[name] = one / other
        if compared and match["verb"] == "fit":
            fits[compared[1]][compared[2]] = one / 1e3, other / 1e3
        elif compared and compared[2] == "LightGBM":
            predictions[compared[1]] = one / other
    lines: list[list[Value]] = [
        [name, *_beside(own.get("LightGBM")), *_beside(own.get("CatBoost")), predictions.get(name)]
        for name, own in fits.items()
        if own.keys() & {"LightGBM", "CatBoost"}
    ]
    heads = [("fit", ""), ("Evidence, s", ".2f"), ("LightGBM, s", ".2f"), ("ratio", ".1f")]
    heads += [("Evidence, s", ".2f"), ("CatBoost, s", ".1f"), ("ratio", ".2f"), ("predict beside LightGBM's", ".2f")]
    return Results({"fit": Table(heads, lines)} if lines else {}, facts)


def _beside(times: tuple[float, float] | None) -> list[Value]:
    return [None, None, None] if times is None else [*times, times[0] / times[1]]


def nested(text: str) -> Results:
    """The estimate of ``loo_log_loss_``, and that of ten whole fits, beside what new rows saw."""
    lines: list[list[Value]] = []
    for match in filter(None, map(NESTED.match, text.splitlines())):
        loss, _, _, by_leaving_out, by_fitting = map(float, match["numbers"].split())
        lines.append([match["name"], loss, by_leaving_out, by_fitting])
    heads = {"": "", "log-loss": ".4f", "loo, off": "+.0%", "ten whole fits, off": "+.0%"}
    return Results({"estimate": Table(heads, lines)} if lines else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="what evidence.py printed")
    text = "\n".join(path.read_text(encoding="utf-8") for path in parser.parse_args().files)
    for name, results in (("evidence_speed", speed(text)), ("evidence_nested", nested(text))):
        if results.tables:
            print(record(name, results))


if __name__ == "__main__":
    main()
