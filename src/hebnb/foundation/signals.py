"""Being told to stop, from the keyboard or by another program."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has all

_received: int | None = None


def told_to_stop() -> bool:
    """Whether such a signal has arrived."""
    return _received is not None


@contextmanager
def stopping_cleanly() -> Iterator[None]:
    """A program, or a part of it, that is stopped by signals without a traceback, and ends with 128 and their number.

    Every signal becomes a ``KeyboardInterrupt``, so that whatever cleans up after Ctrl-C cleans up after all of them.
    Whatever else arises on the way out, say from an import that was cut short, is not told.
    """
    global _received  # noqa: PLW0603
    _received = None
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    # Who ignores a signal, as nohup does, goes on ignoring it.
    before: dict[Any, Any] = {
        number: signal.signal(number, _interrupt) for number in numbers if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    except BaseException as error:
        if _received is None and not isinstance(error, KeyboardInterrupt):
            raise
        raise SystemExit(128 + (_received or signal.SIGINT)) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, _: FrameType | None) -> None:
    global _received  # noqa: PLW0603
    _received = number
    raise KeyboardInterrupt
