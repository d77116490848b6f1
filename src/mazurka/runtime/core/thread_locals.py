"""The values that threads keep for themselves in `threading.local`, and how to lose them.

A carrier lives for many runs, and each run must find it as a new thread.  Up to Python 3.12 the
interpreter keeps the values in a dictionary of the thread, which is emptied.  From 3.13 on each
`threading.local` object keeps them, until an object goes that belongs to the thread: its weak
references have callbacks that take the values out.  They are called here, as at the end of a
thread.  Objects of subclasses then prepare themselves again.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import getweakrefs

_IN_THREAD_STATE = sys.version_info < (3, 13)


def forget_locals() -> Callable[[], None]:
    """Return a function that forgets what this thread, which calls it, stores from now on."""
    return _forget_in(_thread_state()) if _IN_THREAD_STATE else _forget_with(_end_of_this_thread())


def _end_of_this_thread() -> Any:
    """Return the object that goes when this thread ends."""
    probe = threading.local()
    probe.used = True
    (watched,) = (inside for inside in gc.get_referents(probe) if type(inside) is set)
    return next(iter(watched))()


def _forget_with(end: Any) -> Callable[[], None]:
    before = {id(one): one for one in getweakrefs(end)}  # as long as they are, nobody has their id

    def forget() -> None:
        for one in getweakrefs(end):
            if id(one) not in before and one.__callback__ is not None:
                one.__callback__(one)

    return forget


def _thread_state() -> dict[Any, Any]:
    """Return the dictionary in which CPython keeps the values of this thread."""
    get = ctypes.pythonapi.PyThreadState_GetDict
    get.restype = ctypes.py_object
    found: dict[Any, Any] = get()
    # The call lends its result, and ctypes takes it for a gift.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(found))
    return found


def _forget_in(values: dict[Any, Any]) -> Callable[[], None]:
    before = set(values)

    def forget() -> None:
        if len(values) > len(before):
            for key in set(values) - before:
                del values[key]

    return forget
