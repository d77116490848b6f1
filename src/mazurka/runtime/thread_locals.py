"""The values that threads keep for themselves in `threading.local`, and how to lose them.

A carrier lives for many runs, and each run must find it as a new thread.  Up to Python 3.12 the
interpreter keeps the values in a dictionary of the thread, which is emptied.  From 3.13 on it does
not say where they are: plain `threading.local` objects that existed before the exploration are
emptied one by one, and if there are objects of subclasses, which prepare themselves for each new
thread, carriers are replaced after every run.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from mazurka.runtime.insides import module_of

_IN_THREAD_STATE = sys.version_info < (3, 13)


class ThreadLocals:
    """What is known of the `threading.local` objects of a program."""

    def __init__(self, is_foreign: Callable[[str], bool]) -> None:
        self.fresh = False
        """Whether every run needs new carriers."""
        self._plain: list[Any] = []
        if not _IN_THREAD_STATE:
            kinds = [kind for kind in _kinds(threading.local) if not is_foreign(module_of(kind))]
            for value in gc.get_referrers(threading.local, *kinds):
                if type(value) is threading.local:
                    self._plain.append(value)
                elif any(type(value) is kind for kind in kinds):
                    self.fresh = True

    def here(self) -> Callable[[], None]:
        """A function that forgets what this thread, which calls it, has stored from now on."""
        return _forget_in(_thread_state()) if _IN_THREAD_STATE else self._forget_plain

    def _forget_plain(self) -> None:
        for value in self._plain:
            vars(value).clear()


def _kinds(base: type) -> Iterator[type]:
    """The classes that are derived from one; each object refers to its own."""
    derived: list[type] = type.__subclasses__(base)
    for kind in derived:
        yield kind
        yield from _kinds(kind)


def _thread_state() -> dict[Any, Any]:
    """The dictionary in which CPython keeps the values of this thread."""
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
