"""An interrupt that comes while what was found is confirmed.

A violation counts once it has been replayed, which takes a moment if it is long.  Whoever presses
Ctrl-C in that moment is told of it all the same; the second Ctrl-C ends the command without it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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

    taken = (signal.SIGINT, signal.SIGTERM)
    usual = [one for one in taken if signal.getsignal(one) is signal.default_int_handler]
    try:
        for one in usual:
            signal.signal(one, wait)
        yield
    finally:
        for one in usual:
            signal.signal(one, signal.default_int_handler)
