"""The front page of the arena: every table and figure, and what the tests say of them, in one Markdown file."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hebnb.study.arena.comparing import Comparison, standing
from hebnb.study.arena.contenders import CONTENDERS, HERO, LEFT_OUT, titles
from hebnb.study.arena.measuring import QUALITIES
from hebnb.study.arena.sheets import Sheet

# Too wide to be read beside the text; the log-loss is shown.
_AS_FILES = tuple(measure.replace(" ", "-") for measure in (*QUALITIES, "ECE by chance") if measure != "log-loss")


@dataclass(frozen=True)
class Page:
    """What the page says.

    Parameters
    ----------
    comparison : Comparison
    settings : str
    conditions : str
    left_out : dict of str to str
        Datasets that could not be had, and why.
    sheets : list of Sheet
    figures : dict of str to str
        Stems and captions.
    """

    comparison: Comparison
    settings: str
    conditions: str
    left_out: Mapping[str, str]
    sheets: Sequence[Sheet]
    figures: Mapping[str, str]

    def write(self, folder: Path) -> Path:
        """Write ``arena.md``."""
        target = folder / "arena.md"
        target.write_text("\n".join(self._lines()) + "\n", encoding="utf-8")
        return target

    def _lines(self) -> list[str]:
        lines = [
            "# The arena",
            "",
            f"{len(self.comparison.datasets)} datasets, {len(self.comparison.contenders)} contenders, each at its "
            f"defaults and on the same raw rows: {self.settings}; {self.conditions}.",
            "",
            *self._versions(),
            "",
            "## In words",
            "",
            "First, ahead, level and behind are what Wilcoxon's signed-rank test over datasets says at a level of "
            "0.05, corrected by Holm's way for everybody that a contender is compared with.",
            "",
            *(f"- {measure}: {sentence}" for measure, sentence in standings(self.comparison).items()),
            "",
        ]
        if self.left_out:
            lines += ["## Left out", "", *(f"- {reason}" for reason in self.left_out.values()), ""]
        lines += ["## Not run", "", *(f"- {name}: {why}." for name, why in LEFT_OUT.items()), ""]
        for stem, caption in self.figures.items():
            lines += [f"![{caption}](figures/{stem}.png)", "", f"{caption} [SVG](figures/{stem}.svg)", ""]
        for sheet in self.sheets:
            lines += [f"## {sheet.title}", ""]
            if sheet.name not in _AS_FILES:
                lines += [sheet.markdown(), "", *([sheet.note, ""] if sheet.note else [])]
            lines += [f"[CSV](tables/{sheet.name}.csv)", ""]
        return lines

    def _versions(self) -> list[str]:
        packages = dict.fromkeys(CONTENDERS[name].package for name in self.comparison.contenders)
        version_of = {contender.package: contender.version for contender in CONTENDERS.values()}
        there = [f"{package} {version_of[package]}" for package in packages if version_of[package]]
        return [f"Python {platform.python_version()}; {', '.join(there)}."]


def standings(comparison: Comparison) -> dict[str, str]:
    """A sentence a measure: how EvidenceClassifier stands."""
    if HERO not in comparison.contenders or len(comparison.contenders) < 2:
        return {}
    judged = {measure: comparison.against(HERO, measure) for measure in QUALITIES}
    judged["log-loss by ratios"] = comparison.against(HERO, "log-loss", by_ratio=True)
    return {measure: standing(HERO, one, titles()) for measure, one in judged.items()}
