"""What a program that got out of control leaves behind, and who would wait for it.

A thread that is stuck in a call stays until the process ends; nobody waits for that, since it is
none of those that the interpreter joins.  But libraries wait for their threads and processes when
the interpreter ends, by functions that they have registered: `multiprocessing` for its pools and
queues, `concurrent.futures` for its executors.  Under control these have been started by a test
whose threads will never answer.  So what was registered since the exploration began is forgotten,
and the processes that `multiprocessing` started for the test are ended.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

_KEPT = "SemLock._cleanup"
"""Gives a name back to the system, and waits for nobody."""

out_of_control: list[str] = []
"""Why threads were left to themselves in this process: the interpreter may not come to its end."""


class Registrations:
    """What libraries have registered for the end of the interpreter since this object was made."""

    def __init__(self) -> None:
        self._finalizers = set(_find_finalizers())
        self._children = set(_find_children())
        self._executors = set(_find_executors())

    def forget(self, why: str) -> None:
        """Let nobody wait for what has been registered since."""
        out_of_control.append(why)
        registry = _find_finalizers()
        for key in set(registry) - self._finalizers:
            if getattr(registry[key]._callback, "__qualname__", "") != _KEPT:
                registry.pop(key, None)
        executors = _find_executors()
        for thread in set(executors) - self._executors:
            executors.pop(thread, None)
        for process in set(_find_children()) - self._children:
            with suppress(OSError, ValueError, AttributeError):
                process.kill()


def _find_finalizers() -> Any:
    return _look_up("multiprocessing.util", "_finalizer_registry")


def _find_children() -> Any:
    return _look_up("multiprocessing.process", "_children")


def _find_executors() -> Any:
    return _look_up("concurrent.futures.process", "_threads_wakeups")


def _look_up(module: str, name: str) -> Any:
    """What a library keeps, if it is loaded and keeps such a thing."""
    return getattr(sys.modules.get(module), name, {})
