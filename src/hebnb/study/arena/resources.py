"""What a process and those it starts have used: seconds of the processor, and megabytes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Used:
    """Seconds of the processor and megabytes at their peak; None for the megabytes where the system does not tell."""

    seconds: float
    megabytes: float | None


class Meter:
    """Reads what was used since it was made, by this process and by those of its session.

    Programs that start helpers of their own would seem to need nothing otherwise. Threads are in. On systems without
    ``/proc`` helpers count when they have ended, and memory is not told.
    """

    def __init__(self) -> None:
        _forget_peak()
        self._seconds = self._seconds_so_far()
        self._resident = _status(os.getpid(), "VmRSS")

    def read(self) -> Used:
        """What was used so far."""
        now = self._seconds_so_far()
        own = sum(max(0.0, seconds - self._seconds.get(pid, 0.0)) for pid, seconds in now.items())
        peak = _status(os.getpid(), "VmHWM")
        if peak is None or self._resident is None:
            return Used(own, None)
        helpers = sum(_status(pid, "VmHWM") or 0.0 for pid in _session() if pid != os.getpid())
        return Used(own, max(0.0, peak - self._resident) + helpers + _largest_that_ended())

    @staticmethod
    def _seconds_so_far() -> dict[int, float]:
        """By process; 0 stands for all that have ended."""
        times = os.times()
        found = {os.getpid(): time.process_time(), 0: times.children_user + times.children_system}
        return found | {pid: _processor_seconds(pid) for pid in _session() if pid != os.getpid()}


def limit_memory(gigabytes: float) -> None:
    """Let allocations beyond this fail in this process and each one it starts, before the machine runs out."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(gigabytes * 1e9), int(gigabytes * 1e9)))
    except (ImportError, ValueError, OSError):  # not every system has limits
        return


def _forget_peak() -> None:
    """Linux remembers the peak of a process until it is told to forget."""
    try:
        (_PROC / "self" / "clear_refs").write_text("5")
    except OSError:
        return


def _status(pid: int, name: str) -> float | None:
    """A line of a process' status, in megabytes."""
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith(f"{name}:")), None)


def _session() -> list[int]:
    """Processes of the session of this one."""
    try:
        own = os.getsid(0)
        return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit() and _is_of(int(path.name), own)]
    except (OSError, AttributeError):
        return []


def _is_of(pid: int, session: int) -> bool:
    try:
        return os.getsid(pid) == session
    except OSError:  # it has ended meanwhile
        return False


def _processor_seconds(pid: int) -> float:
    try:
        # Behind the name, which may hold anything, the 12th and 13th fields are user and system time.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def _largest_that_ended() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
