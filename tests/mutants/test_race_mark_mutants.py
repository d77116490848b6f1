"""Deliberately broken marks: a race is lost, or one is told that there is not.

Most mutants have a model of their own; one about steps that front ends do not make has a random
program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import ZERO, Conditional
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.passes.race_marks import threads as threads_module
from mazurka.ir.passes.race_marks.marks import Marks
from mazurka.ir.passes.race_marks.steps import StaticStep
from mazurka.ir.passes.race_marks.threads import MarkedThread
from mazurka.ir.program import FINISHED, Kind, Mode, Program, Role
from mazurka.stateful.reference.full import explore
from tests.mutants.persistent_models import PRELUDE
from tests.soundness.marked_races import disagreement, program_of
from tests.unit.ir.programs import Builder, equals, put

WAITS_FOR_A_WRITE = """
def first():
    global x
    with atomic():
        x = 1
def second():
    await_(x == 1)
threads = [first(), second()]
"""
"""No race: the only write comes before the wait is over."""

READS_BESIDE_ATOMIC = """
def first():
    global x
    with atomic():
        x = 1
def second():
    seen = x
threads = [first(), second()]
"""

WRITES_BESIDE_PLAIN = """
def first():
    global x
    x = 1
def second():
    global x
    x = 0
threads = [first(), second()]
"""

ATOMIC_BESIDE_PLAIN = """
def first():
    global x
    x = 1
def second():
    global y
    with atomic():
        y = x
threads = [first(), second()]
"""

HANDED_ON = """
def first():
    global x
    x = 1
def second():
    await_(x == 1)
threads = [first(), second()]
"""
"""No race: the wait is over only when the write is."""

WAITS_INSIDE = """
def first():
    global x
    x = 1
def second():
    with atomic():
        seen = x
        assume(seen == 1)
threads = [first(), second()]
"""
"""No race: the section cannot be passed before the write."""


def model(text: str) -> Callable[[], Program]:
    return lambda: prepare(elaborate(PRELUDE + text, "model.py"))


def started_elsewhere() -> Program:
    """No race: a worker stands before its write, and is sent to its end before the other writes."""
    builder = Builder()
    worker, creator = builder.thread(active=False), builder.thread()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)
    here, there = worker.at(), worker.at()
    worker.edge(here, FINISHED, put(x, 1), kind=Kind.ACCESS)
    worker.edge(there, FINISHED, put(y, 1), kind=Kind.ACCESS)
    places = [creator.at() for _ in range(3)]
    for place, start in zip(places, (here, there), strict=False):
        started = put(worker.counter, start)
        creator.edge(place, place + 1, started, kind=Kind.CREATE, atomic=True)
    creator.edge(places[2], FINISHED, put(x, 1), kind=Kind.ACCESS)
    return builder.program()


def writes_lock_and_data() -> Program:
    """A race of a step that writes a lock, and then data, with one that reads both."""
    builder = Builder()
    writer, reader = builder.thread(), builder.thread()
    lock = builder.shared("lock", 0, 1, role=Role.SYNC)
    x = builder.shared("x", 0, 1)
    here, inside = writer.at(), writer.at(Mode.ATOMIC)
    writer.edge(here, inside, put(lock, 1), kind=Kind.ATOMIC, atomic=True)
    writer.edge(inside, FINISHED, put(x, 1), kind=Kind.ATOMIC, atomic=True)
    guard = Conditional(equals(lock, 0), equals(x, 0), ZERO)
    reader.edge(reader.at(), FINISHED, guard=guard, kind=Kind.ACCESS)
    return builder.program()


def random(sort: str, seed: int) -> Callable[[], Program]:
    def make() -> Program:
        program = program_of(sort, seed)
        assert program is not None
        return program

    return make


original_declare = MarkedThread.declare
original_add = MarkedThread.add_declaring
original_mark = MarkedThread.mark


def declare_early(self: MarkedThread, step: StaticStep, end: int) -> None:
    """A step is declared although its guard does not hold."""
    count = len(self.edges)
    original_declare(self, step, end)
    for position in range(count, len(self.edges)):
        edge = self.edges[position]
        if edge.source == self.behind[step.location]:
            self.edges[position] = replace(edge, guard=threads_module.chosen(self.probe))


def declare_late(self: MarkedThread, edge: Any, *rest: Any) -> None:
    """A step is declared when it has been taken."""
    original_add(self, edge, *rest)
    last = self.edges[-1]
    self.edges[-1] = replace(last, operations=(*last.operations, *edge.operations))


def writes_alone(self: MarkedThread, touch: Any, choices: int) -> Iterator[Any]:
    return original_mark(self, touch, choices) if touch.write else iter(())


def reads_alone(self: MarkedThread, touch: Any, choices: int) -> Iterator[Any]:
    return iter(()) if touch.write else original_mark(self, touch, choices)


def only_writes_declared(self: Marks, number: int, step: StaticStep) -> bool:
    return step.is_plain and bool(step.touched(self.footprints)[1] & self.cells)


original_check = MarkedThread.check


def plain_alone(self: MarkedThread, position: int, edge: Any) -> Any:
    """Atomic operations do not look for marks."""
    return edge if edge.indivisible else original_check(self, position, edge)


# name, object, attribute, replacement, the program
MUTANTS: list[tuple[str, Any, str, Any, Callable[[], Program]]] = [
    ("the mark is set early", MarkedThread, "declare", declare_early, model(WAITS_FOR_A_WRITE)),
    ("the mark is set late", MarkedThread, "add_declaring", declare_late, model(HANDED_ON)),
    ("reads leave no marks", MarkedThread, "mark", writes_alone, model(READS_BESIDE_ATOMIC)),
    ("writes leave no marks", MarkedThread, "mark", reads_alone, model(WRITES_BESIDE_PLAIN)),
    ("reads beside atomic writes are not declared", Marks, "is_declared", only_writes_declared,
     model(READS_BESIDE_ATOMIC)),
    ("atomic operations look for no marks", MarkedThread, "check", plain_alone,
     model(ATOMIC_BESIDE_PLAIN)),
    ("marks count before a section is through", MarkedThread, "may_wait_behind",
     lambda *_: False, model(WAITS_INSIDE)),
    ("marks are never void", Marks, "voiding", lambda *_: iter(()), random("rough", 1282)),
    ("a step makes marks void that it has yet to meet", MarkedThread, "postpone",
     lambda self, thread: self.marks.void[thread], writes_lock_and_data),
    ("marks outlive a restart", Marks, "find_exposed", lambda *_: set(),
     started_elsewhere),
]  # fmt: skip

mutants = pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "make"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)


@mutants
def test_mutant_is_told(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    attribute: str,
    replacement: Any,
    make: Callable[[], Program],
) -> None:
    program = make()
    whole = explore(program)
    assert disagreement(program, whole) is None
    monkeypatch.setattr(owner, attribute, replacement)
    assert disagreement(program, whole) is not None
