"""The study's front page: every table and figure in one Markdown file."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy
import sklearn

from hebnb.study.tables import Table
from hebnb.version import __version__


@dataclass(frozen=True)
class Page:
    """What the page says.

    Parameters
    ----------
    settings : str
    datasets : list of str
        Datasets of the paper with results.
    left_out : dict of str to str
        Datasets without, and why.
    failures : list of (dataset, method, bins, fold, error)
    tables : list of Table
    figures : dict of str to str
        Stems and captions.
    """

    settings: str
    datasets: list[str]
    left_out: dict[str, str]
    failures: list[tuple[str, str, int, int, str]]
    tables: list[Table]
    figures: dict[str, str]

    def write(self, folder: Path) -> Path:
        """Write ``index.md``."""
        target = folder / "index.md"
        target.write_text("\n".join(self._lines()) + "\n", encoding="utf-8")
        return target

    def _lines(self) -> list[str]:
        lines = [
            "# The study of HEB-NB, replicated",
            "",
            f"{len(self.datasets)} of the paper's 31 datasets; {self.settings}. Numbers in brackets are the paper's.",
            f"hebnb {__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
            f"SciPy {scipy.__version__}, Python {platform.python_version()}.",
            "",
        ]
        if self.left_out:
            lines += ["## Left out", "", *(f"- {reason}" for reason in self.left_out.values()), ""]
        if self.failures:
            lines += ["## Failed", "", "| dataset | method | bins | fold | error |", "|---|---|---:|---:|---|"]
            for dataset, method, bins, fold, error in self.failures:
                last = error.strip().rpartition("\n")[2].replace("|", "\\|")
                lines.append(f"| {dataset} | {method} | {bins} | {fold} | {last} |")
            lines.append("")
        for table in self.tables:
            lines += [f"## {table.title}", "", table.markdown(), ""]
            lines += [table.note, ""] if table.note else []
            lines += [f"[CSV](tables/{table.name}.csv) · [LaTeX](tables/{table.name}.tex)", ""]
        for stem, caption in self.figures.items():
            lines += [f"![{caption}](figures/{stem}.png)", "", f"{caption} [SVG](figures/{stem}.svg)", ""]
        return lines
