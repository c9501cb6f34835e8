"""Random tables through every model and every way in and out: ``python benchmarks/soak.py --minutes 60``.

Every case has a seed and follows from it; ``--seed N --cases 1`` repeats the one that failed. What is refused has to
be refused by an error of hebnb, which is counted; everything else has to keep the laws that the documentation states.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hebnb import HebnbError
from soak_laws import CHECKS, Learned
from soak_tables import case_of


@dataclass
class Tally:
    """How often every law held, was not asked because something was refused, and was broken."""

    held: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    broken: dict[str, list[int]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> str:
        """All laws together."""
        broken = sum(map(len, self.broken.values()))
        return f"laws held {self.held.total():,} times, not asked {self.refused.total():,}, broken {broken:,}"

    def __str__(self) -> str:
        lines = [f"{'law':<42}{'held':>8}{'refused':>9}{'broken':>8}  seeds"]
        for name in CHECKS:
            seeds = self.broken.get(name, [])
            shown = " ".join(map(str, seeds[:8]))
            lines.append(f"{name:<42}{self.held[name]:>8}{self.refused[name]:>9}{len(seeds):>8}  {shown}".rstrip())
        return "\n".join(lines)


def soak(seed: int, tally: Tally, checks: list[str], keep_going: bool = True) -> None:
    """Check the laws on the case of a seed."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = Learned(case_of(seed), Path(folder))
        for name in checks:
            law, every = CHECKS[name]
            if seed % every:
                continue
            try:
                law(learned)
            except HebnbError as error:
                tally.refused[name] += 1
                tally.reasons[f"{name}: {str(error).strip().splitlines()[0][:110]}"] += 1
            except Exception:
                tally.broken.setdefault(name, []).append(seed)
                last = "\n".join(traceback.format_exc().strip().splitlines()[-14:])
                again = f"Again: --seed {seed} --cases 1 --check {name!r}"
                print(f"\nBROKEN: {name}\n{last}\n{learned.case}\n{again}", flush=True)
                if not keep_going:
                    return
            else:
                tally.held[name] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="begin no case after so many")
    parser.add_argument("--cases", type=int, default=10**9, help="at most so many cases")
    parser.add_argument("--seed", type=int, default=None, help="of the first case; by default another every time")
    parser.add_argument("--check", action="append", choices=list(CHECKS), help="only this law; may be repeated")
    parser.add_argument("--keep-going", action="store_true", help="do not stop where a law is broken")
    parser.add_argument("--reasons", action="store_true", help="say why things were refused")
    given = parser.parse_args()
    first = int(time.time()) * 1000 if given.seed is None else given.seed
    tally, began, told = Tally(), time.monotonic(), time.monotonic()
    done = 0
    while done < given.cases and time.monotonic() < began + 60 * given.minutes:
        soak(first + done, tally, given.check or list(CHECKS), given.keep_going)
        done += 1
        if tally.broken and not given.keep_going:
            break
        if time.monotonic() > told + 30:
            told = time.monotonic()
            print(f"{(told - began) / 60:.1f} min: {done:,} cases, {tally.counts}", flush=True)
    print(f"\n{done:,} cases from seed {first} in {(time.monotonic() - began) / 60:.1f} minutes\n{tally}")
    if given.reasons:
        print(*(f"{count:>6}  {reason}" for reason, count in tally.reasons.most_common(40)), sep="\n")
    return int(bool(tally.broken))


if __name__ == "__main__":
    sys.exit(main())
