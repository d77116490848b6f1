"""`threading.enumerate` and `threading.active_count`: which threads there are.

To look around is an operation that touches the lives of all threads that have been started by then,
and the list itself, which every start changes: so it matters which starts and ends come first.  A
program that never looks does without the list, and its starts are independent; whether it looks is
learned by the first run in which it does (`sharing.Learned`).
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections.abc import Sequence
from typing import Any

from mazurka.runtime.core.operations import Object, Step
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.tasks import Life
from mazurka.runtime.sharing.locations import learned
from mazurka.stateless.runs import Lookup, Role, Touch

real_enumerate = threading.enumerate
real_active_count = threading.active_count


class LookAround(Step):
    __slots__ = ("run",)
    kind = "enumerate"
    writes = False
    role = Role.LOOK

    def __init__(self, run: Scheduler, everybody: Object) -> None:
        super().__init__(everybody)
        self.run = run

    def at(self, lookup: Lookup) -> Sequence[Touch]:
        lookup(self.shared)
        started = [life for life in lives(self.run) if lookup(life) != "new"]
        return ((self.shared, False), *((life, False) for life in started))


def lives(run: Scheduler) -> list[Life]:
    """Those of the threads that the run has started; the test's own is always there."""
    return [task.life for task in run.tasks[1:] if task is not None]


def enumerate_threads() -> list[threading.Thread]:
    run = session.current
    if run.ident != get_ident():
        return real_enumerate()
    assert run.program is not None
    if run.everybody is None:
        run.program.lists = True
        learned.news.append("the list of threads")
    run.point(LookAround(run, run.everybody or Object("threads", 0)))
    there = [life.thread for life in lives(run) if life.state == "alive" and life.thread]
    return [threading.main_thread(), *there]


def active_count() -> int:
    run = session.current
    return real_active_count() if run.ident != get_ident() else len(enumerate_threads())


def replacements() -> list[tuple[Any, Any]]:
    return [(real_enumerate, enumerate_threads), (real_active_count, active_count)]


def install(patches: Patches) -> None:
    for name, replacement in (
        ("enumerate", enumerate_threads),
        ("active_count", active_count),
    ):
        patches.attribute(threading, name, replacement)
