"""Threads that might be started twice, told from those that are not."""

from __future__ import annotations

import textwrap

import pytest
from tests.unit.ir.programs import Body, Builder, equals, load, put

from mazurka.analysis.restarts import find_restartable_threads, find_unwatched_threads
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import Binary, Const
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Check,
    Fault,
    Kind,
    Operation,
)

PRELUDE = """\
import threading
from mazurka.model import *
x: Int[0, 3] = 0
def worker():
    global x
    x = 1
def nested():
    spawn(worker)
    spawn(worker)
"""


@pytest.mark.parametrize(
    "body",
    [
        "spawn(worker)\nspawn(worker)",
        "for k in range(2):\n    spawn(worker)",
        "while x < 3:\n    spawn(worker)",
        "spawn(nested)\nspawn(nested)",
        "t = threading.Thread(target=worker)\nt.start()\nt.join()",
        "t = threading.Thread(target=worker)\nwhile True:\n    t.start()",
        "ts = [threading.Thread(target=worker) for _ in range(2)]\nfor t in ts:\n    t.start()",
    ],
)
@pytest.mark.parametrize("merge", [False, True])
def test_models_start_threads_once(body: str, merge: bool) -> None:
    text = f"{PRELUDE}def main():\n{textwrap.indent(body, '    ')}\nthreads = [main()]\n"
    program = prepare(elaborate(text, "model.py"), merge=merge)
    assert not all(thread.active for thread in program.threads)
    assert not find_restartable_threads(program)


class Creation:
    """A creator, whose edges each test writes, and a worker."""

    def __init__(self, *, active: bool = False) -> None:
        self.builder = Builder()
        self.creator = self.builder.thread()
        self.worker = self.builder.thread(active=active)
        self.worker.line(put(self.builder.shared("x", 0, 3), 1))
        self.start = put(self.worker.counter, FIRST_LOCATION)

    def edge(self, source: int, target: int, *operations: Operation) -> None:
        kind = Kind.CREATE if self.start in operations else Kind.ACCESS
        self.creator.edge(source, target, *operations, kind=kind, atomic=True)

    @property
    def restarts(self) -> bool:
        return find_restartable_threads(self.builder.program()) == {1}


def test_started_in_a_loop() -> None:
    case = Creation()
    here = case.creator.at()
    case.edge(here, here, case.start)
    assert case.restarts


def test_started_at_two_places() -> None:
    """One after the other, or one or the other."""
    for after in (True, False):
        case = Creation()
        here, there = case.creator.at(), case.creator.at()
        case.edge(here, there if after else FINISHED, case.start)
        case.creator.edge(here, there, guard=equals(case.worker.counter, IDLE))
        case.edge(there, FINISHED, case.start)
        assert case.restarts == after


def test_started_although_it_runs_from_the_beginning() -> None:
    case = Creation(active=True)
    case.edge(case.creator.at(), FINISHED, case.start)
    assert case.restarts


def test_started_by_two_threads() -> None:
    case = Creation()
    case.edge(case.creator.at(), FINISHED, case.start)
    second = case.builder.thread()
    second.edge(second.at(), FINISHED, case.start, kind=Kind.CREATE, atomic=True)
    assert case.restarts


def test_started_by_a_thread_that_is_started_again() -> None:
    case = Creation()
    case.edge(case.creator.at(), FINISHED, case.start)
    case.creator.active = False
    outer = case.builder.thread()
    here = outer.at()
    outer.edge(here, here, put(case.creator.counter, FIRST_LOCATION), kind=Kind.CREATE)
    assert find_restartable_threads(case.builder.program()) == {0, 1}


@pytest.mark.parametrize("late", [False, True])
def test_check_before_the_start(late: bool) -> None:
    case = Creation()
    fresh = Check(equals(case.worker.counter, IDLE), Fault.EXCEPTION, "started twice")
    here = case.creator.at()
    case.edge(here, here, *((case.start, fresh) if late else (fresh, case.start)))
    assert case.restarts == late


def counting(case: Creation, body: Body, *more: Operation, resets: bool = False) -> None:
    """A loop that starts the worker in its first round only."""
    rounds = body.local("rounds", 0, 2)
    here = body.at()
    there = body.at(resets=(rounds,) if resets else ())
    first = equals(rounds, 0)
    body.edge(here, there, case.start, put(rounds, 1), kind=Kind.CREATE, guard=first)
    body.edge(here, there, *more, guard=Binary("ne", load(rounds), Const(0)))
    body.edge(there, here)


def test_rounds_are_counted() -> None:
    case = Creation()
    counting(case, case.creator)
    assert not case.restarts


def test_count_that_starts_afresh() -> None:
    case = Creation()
    counting(case, case.creator, resets=True)
    assert case.restarts


def test_count_that_others_change() -> None:
    case = Creation()
    counting(case, case.creator)
    rounds = next(a for a, cell in enumerate(case.builder.cells) if cell.name == "rounds")
    case.builder.thread().line(put(rounds, 0))
    assert case.restarts


def test_who_is_only_asked_for_idle() -> None:
    case = Creation()
    here, there = case.creator.at(), case.creator.at()
    counter = case.worker.counter
    case.creator.edge(here, there, guard=equals(counter, IDLE))
    case.creator.edge(here, there, guard=Binary("ne", load(counter), Const(IDLE)))
    assert find_unwatched_threads(case.builder.program()) == {0, 1}
    case.edge(there, FINISHED, put(case.creator.local("seen", 0, 9), load(counter)))
    assert find_unwatched_threads(case.builder.program()) == {0}
