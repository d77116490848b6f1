"""Interrupts that have to wait.

While what was found is confirmed: a violation counts once it has been replayed, which takes a
moment if it is long.  Whoever presses Ctrl-C in that moment is told of it all the same; the second
Ctrl-C ends the command without it.

While something is begun that has to be ended, too: a process that has been started and not yet
noted would be left behind.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def first_interrupt_waits() -> Iterator[None]:
    """Pass over the first interrupt of what happens inside; the second one is heard.

    Only the main thread is interrupted, by signals that nobody else has taken."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts = 0

    def wait(number: int, frame: object) -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            raise KeyboardInterrupt

    usual = [one for one in _taken() if signal.getsignal(one) is signal.default_int_handler]
    try:
        for one in usual:
            signal.signal(one, wait)
        yield
    finally:
        for one in usual:
            signal.signal(one, signal.default_int_handler)


@contextmanager
def interrupts_come_later() -> Iterator[None]:
    """Let signals that would raise an exception inside be heard at the end.

    Only for what takes a moment."""
    came: list[int] = []
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for one in _taken("SIGALRM", "SIGXCPU"):
                usual = signal.getsignal(one)
                if callable(usual):
                    stack.callback(signal.signal, one, usual)
                    signal.signal(one, lambda number, frame: came.append(number))
        yield
    for number in came:
        signal.raise_signal(number)


def _taken(*more: str) -> list[int]:
    """Return the signals that interrupt a command, and others; the system may lack some."""
    found = (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP", *more))
    return [one for one in found if one is not None]
