"""Tests that start threads: `pytest --mazurka` explores them, and leaves the others alone.

Which tests do is seen when they run.  So each test runs once as always; one that has started a
thread, by itself or in a fixture of function scope, and has not failed, is explored then.  What
is found is a failure of the test.  That it cannot be explored is none: nobody has asked for this
test by name.  It is told at the end of the session (`summary`).

This is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine.
"""

from __future__ import annotations

import _thread
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

SECONDS = 10.0
"""The longest time for a test that nobody has marked, unless a limit is given."""
STARTED = pytest.StashKey[bool]()
"""Whether the fixtures of a test have started threads."""


@contextmanager
def watch_starts() -> Iterator[list[bool]]:
    """Note whether threads are started: the list that is given gets an entry for each."""
    found: list[bool] = []
    start, start_low = threading.Thread.start, _thread.start_new_thread

    @functools.wraps(start)
    def noted(thread: threading.Thread) -> None:
        found.append(True)
        start(thread)

    @functools.wraps(start_low)
    def noted_low(*given: Any) -> int:
        found.append(True)
        return start_low(*given)

    threading.Thread.start = noted  # type: ignore[method-assign,assignment]
    _thread.start_new_thread = noted_low
    try:
        yield found
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
        _thread.start_new_thread = start_low


def is_candidate(item: pytest.Item) -> bool:
    """Whether a test could be explored, if it starts threads."""
    function = getattr(item, "function", None)
    if not isinstance(item, pytest.Function) or function is None:
        return False
    if getattr(function, "is_hypothesis_test", False):  # every run of it differs
        return False
    import inspect

    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    return not any(is_kind(function) for is_kind in kinds)


def run_then_explore(item: Any, run: Callable[[], None], explore: Callable[[], None]) -> None:
    """Run a test as always, and then explore it if it has started threads and not failed.

    One that skips here may fail under other schedules; if it does not, it is skipped.
    """
    __tracebackhide__ = True
    skipped: BaseException | None = None
    with watch_starts() as found:
        try:
            run()
        except SKIPS as error:
            skipped = error
    started = bool(found) or item.stash.get(STARTED, False)
    noted = getattr(item, "_excinfo", None) or ()  # where pytest keeps what test cases raise
    if started and all(isinstance(one.value, SKIPS) for one in noted):
        if noted:
            item._excinfo = None  # it would hide a failure
        explore()
        if noted:
            item._excinfo = noted
    if skipped is not None:
        raise skipped


SKIPS = (pytest.skip.Exception, pytest.xfail.Exception)
