"""The baton of a thread: it waits there until another thread hands over to it.

A baton is a raw lock where there is a global lock.  On a free-threaded build, a thread that waits
for a raw lock first yields the processor 40 times, in vain as a rule: one thread runs at a time.  A
`SimpleQueue` blocks earlier (`benchmarks/batons.py`).  An event descriptor is faster still, but the
test would see it, and its child processes would share it.
"""

from __future__ import annotations

import sysconfig
from _queue import SimpleQueue
from _thread import LockType, allocate_lock
from functools import partial
from typing import Final, Protocol

SPINS: Final = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Whether raw locks spin."""


class Baton(Protocol):
    """What a thread waits for."""

    def acquire(self) -> object:
        """Wait until another thread releases the baton."""

    def release(self) -> object:
        """Let one thread continue that waits now or later."""


class QueueBaton:
    """A baton that does not spin."""

    __slots__ = ("acquire", "release")

    def __init__(self) -> None:
        queue: SimpleQueue[None] = SimpleQueue()
        self.acquire = queue.get
        self.release = partial(queue.put, None)


def make_lock_baton() -> LockType:
    """Make a raw lock that is held."""
    lock = allocate_lock()
    lock.acquire()
    return lock


def make_baton() -> Baton:
    """Make a baton for a thread, of the kind that is fast on this interpreter."""
    return QueueBaton() if SPINS else make_lock_baton()
