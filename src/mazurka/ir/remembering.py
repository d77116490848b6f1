"""An interpreter that works out a step once for all states that look the same to it.

A step depends on the thread, its location, the choice and the values that it reads, on nothing
else: addresses, guards and values to store are made of these.  Two steps that have read the same so
far therefore read from the same address next.  So the steps from a location form a tree: a node
names the address that is read next, its branches are the values found there, its leaves are the
steps with the cells they change.

There is one exception.  To notice that an atomic section never ends, the interpreter compares all
cells with those at an earlier state of the section.  Steps that come to a second state inside
atomic sections, where it begins to compare, are not remembered.

Searches use this interpreter.  Violations are replayed on the plain one, and it is the plain one
that the native code is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mazurka.ir.interpreter import Interpreter, State, Step, StepRun
from mazurka.ir.program import Program

KEY = "_remembering"
MOST_STEPS = 100_000
"""Steps remembered at the same time, of about a kilobyte each; then all are forgotten."""


@dataclass(slots=True)
class _Node:
    """What is known of a step by what it has read so far: where it reads next, or all of it."""

    address: int = 0
    found: dict[int, _Node] = field(default_factory=dict)
    """The nodes that the values found at the address lead to."""
    step: Step | None = None
    changes: tuple[tuple[int, int], ...] = ()
    """The values that the step gives to cells, whatever the rest of the state is."""


class RememberingInterpreter(Interpreter):
    """Takes the same steps as its base class, most of them from memory."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.roots: dict[tuple[int, int], _Node] = {}
        """By thread and choice; the location is what is read first."""
        self.count = 0

    def step(self, state: State, thread: int, choice: int = 0) -> Step:
        node = self.roots.get((thread, choice))
        while node is not None:
            if node.step is not None:
                return repeat_step(node.step, node.changes, state)
            node = node.found.get(state[node.address])
        run = StepRun(self.program, state, thread, choice)
        step = self.finish(run, state)
        if run.watch.passed < 2:
            self.remember(state, choice, step)
        return step

    def remember(self, state: State, choice: int, step: Step) -> None:
        if self.count == MOST_STEPS:
            self.roots.clear()
            self.count = 0
        self.count += 1
        thread = self.program.threads[step.thread]
        node = self.roots.setdefault((step.thread, choice), _Node())
        for address in (thread.counter, *list_reads(step)):
            node.address = address
            node = node.found.setdefault(state[address], _Node())
        if step.happened:
            resets = thread.locations[step.state[thread.counter]].resets
            written = (access.address for access in step.accesses if access.write)
            changed = {thread.counter, *resets, *written}
            node.changes = tuple((address, step.state[address]) for address in changed)
        node.step = step  # the last: searches in other threads use the same nodes


def list_reads(step: Step) -> Iterator[int]:
    """List the addresses that a step reads before it has written to them, in order, each once."""
    passed: set[int] = set()
    for address, _, write, _ in step.accesses:
        if address not in passed and not write:
            yield address
        passed.add(address)


def repeat_step(step: Step, changes: tuple[tuple[int, int], ...], state: State) -> Step:
    """Take the step from another state that looks the same to it."""
    cells = list(state)
    for address, value in changes:
        cells[address] = value
    thread, outcome, _, edges, accesses, reads, writes, fault = step
    return Step(thread, outcome, tuple(cells), edges, accesses, reads, writes, fault)


def share_interpreter(program: Program) -> RememberingInterpreter:
    """Return the interpreter that all searches of a program share."""
    kept: RememberingInterpreter | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = RememberingInterpreter(program)
    return kept
