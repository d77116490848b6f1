"""Runs sources plain and rewritten, with and without control."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.unit.runtime.runtime_deciders import QUICK, Follow

from mazurka.runtime.core.moment import now
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.exploring.observed_program import OrderKeeper
from mazurka.runtime.program.program import RealProgram
from mazurka.runtime.python.attributes import forget_classes
from mazurka.runtime.python.events import events_of
from mazurka.runtime.rewrite.source.statements import compile_observed
from mazurka.runtime.sharing.locations import learned, order
from mazurka.runtime.sharing.names import names


def run_plain(source: str, name: str = "snippet") -> ModuleType:
    module = ModuleType(name)
    exec(compile(source, "snippet.py", "exec", dont_inherit=True), module.__dict__)
    return module


def run_rewritten(source: str, name: str = "snippet", file: str = "snippet.py") -> ModuleType:
    module = ModuleType(name)
    module.__dict__[MARK] = events_of(module)
    exec(compile_observed(source, file), module.__dict__)
    return module


def under_control(action: Callable[[], Any]) -> Any:
    """Do something under control while another thread waits, so that accesses are watched."""
    results: list[Any] = []

    def body() -> None:
        running, done = threading.Event(), threading.Event()

        def wait() -> None:
            running.set()
            done.wait()

        other = threading.Thread(target=wait)
        other.start()
        running.wait()
        assert not now.alone
        try:
            results.append(action())
        finally:
            done.set()
            other.join()

    order.begin(0)
    now.clear()
    names.clear()
    learned.clear()
    forget_classes()
    ended = RealProgram(body, QUICK).run(OrderKeeper(Follow(), goes_on=False))
    names.clear()
    assert not ended.failures, ended.failures
    return results[0]
