"""The values that threads keep for themselves in `threading.local`, and how to lose them.

A carrier lives for many runs, and each run must find it as a new thread.  Up to Python 3.12 the
interpreter keeps the values in a dictionary of the thread, which is emptied.  From 3.13 on each
`threading.local` object keeps them, by a key that stands for the thread: those that existed before
the exploration lose the entry of this thread.  Objects of subclasses then prepare themselves again.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

_IN_THREAD_STATE = sys.version_info < (3, 13)


class ThreadLocals:
    """What is known of the `threading.local` objects of a program."""

    def __init__(self) -> None:
        self._kept: list[dict[Any, Any]] = []
        """What each object keeps for every thread."""
        if not _IN_THREAD_STATE:
            kinds = (threading.local, *_kinds(threading.local))
            for value in gc.get_referrers(*kinds):
                if any(type(value) is kind for kind in kinds):
                    self._kept += _kept_by(value)

    def here(self) -> Callable[[], None]:
        """Return a function that forgets what this thread, which calls it, stores from now on."""
        if _IN_THREAD_STATE:
            return _forget_in(_thread_state())
        key, kept = _key_of_this_thread(), self._kept

        def forget() -> None:
            for values in kept:
                values.pop(key, None)

        return forget


def _kept_by(value: threading.local) -> list[dict[Any, Any]]:
    """Return the dictionaries inside an object; to read its attributes would run its code."""
    return [inside for inside in gc.get_referents(value) if type(inside) is dict]


def _key_of_this_thread() -> Any:
    """Return the key by which objects find the values of this thread: the only one in a new one."""
    probe = threading.local()
    probe.used = True
    ((key,),) = _kept_by(probe)
    return key


def _kinds(base: type) -> Iterator[type]:
    """Yield the classes that are derived from one; each object refers to its own."""
    derived: list[type] = type.__subclasses__(base)
    for kind in derived:
        yield kind
        yield from _kinds(kind)


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
