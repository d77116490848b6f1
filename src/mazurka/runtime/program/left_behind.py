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


class Outside:
    """What others have registered when it is made, and what is there later."""

    def __init__(self) -> None:
        self._finalizers = set(_finalizers())
        self._children = set(_children())
        self._executors = set(_executors())

    def forget(self, why: str) -> None:
        """Let nobody wait for what has been registered since."""
        out_of_control.append(why)
        registry = _finalizers()
        for key in set(registry) - self._finalizers:
            if getattr(registry[key]._callback, "__qualname__", "") != _KEPT:
                registry.pop(key, None)
        executors = _executors()
        for thread in set(executors) - self._executors:
            executors.pop(thread, None)
        for process in set(_children()) - self._children:
            with suppress(OSError, ValueError, AttributeError):
                process.kill()


def _finalizers() -> Any:
    return _of("multiprocessing.util", "_finalizer_registry")


def _children() -> Any:
    return _of("multiprocessing.process", "_children")


def _executors() -> Any:
    return _of("concurrent.futures.process", "_threads_wakeups")


def _of(module: str, name: str) -> Any:
    """What a library keeps, if it is loaded and keeps such a thing."""
    return getattr(sys.modules.get(module), name, {})
