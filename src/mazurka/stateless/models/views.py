"""What a thread can do, remembered by what it sees.

A step depends on the thread's own cells and on the shared cells that it reads, on nothing else.  So
the answer for one state is the answer for every state in which those cells are the same, and it is
worked out once: a search over schedules passes the same few **views** a thousand times.  A view
also keeps what each step would change, so that the interpreter is not asked again to take it.

What is kept are views of single threads, no states of the program; if there are too many of them,
all are forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from operator import itemgetter

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import DEAD_ENDS, Program
from mazurka.stateless.reduction.actions import Action, Move, SharedObject
from mazurka.stateless.runs import Failed, move_of

MOST_VIEWS = 200_000
"""Views kept at the same time; a view takes about a kilobyte."""

Describe = Callable[[State, int, list[tuple[Move, Step]]], tuple[Action, ...]]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step does to the state, whatever the rest of the state is."""

    changes: tuple[tuple[int, int], ...]
    """Addresses and the values written there, own cells that stay as they are left out."""
    writes: frozenset[SharedObject]
    failure: Failed | None
    place: str
    """File and line where the step begins."""

    def apply_to(self, state: State) -> State:
        cells = list(state)
        for address, value in self.changes:
            cells[address] = value
        return tuple(cells)


@dataclass(frozen=True, slots=True)
class View:
    """What a thread can do where it sees certain values."""

    actions: tuple[Action, ...]
    effects: dict[Move, Effect]
    outcomes: frozenset[Outcome]
    reads: frozenset[SharedObject]
    """The objects whose change may make it another view."""


@dataclass(slots=True)
class _Sight:
    """The views of a thread with given own cells that come from reading the same cells."""

    addresses: tuple[int, ...]
    look: Callable[[State], Hashable]
    views: dict[Hashable, View] = field(default_factory=dict)


class Views:
    """The views of all threads of a program, worked out as they are met."""

    def __init__(self, program: Program, interpreter: Interpreter, describe: Describe) -> None:
        self.program = program
        self.interpreter = interpreter
        self.describe = describe
        self.own = list_own_cells(program)
        self.look = [_getter(addresses) for addresses in self.own]
        self.sights: list[dict[Hashable, list[_Sight]]] = [{} for _ in program.threads]
        self.count = 0

    def of(self, state: State, thread: int) -> View:
        own = self.look[thread](state)
        for sight in self.sights[thread].get(own, ()):
            view = sight.views.get(sight.look(state))
            if view is not None:
                return view
        return self.add(state, thread, own)

    def add(self, state: State, thread: int, own: Hashable) -> View:
        steps = [
            (move_of(thread, choice), self.interpreter.step(state, thread, choice))
            for choice in range(self.interpreter.choices(state, thread))
        ]
        view = self.work_out(state, thread, steps)
        if self.count >= MOST_VIEWS:
            self.sights = [{} for _ in self.program.threads]
            self.count = 0
        self.count += 1
        sights = self.sights[thread].setdefault(own, [])
        addresses = self.read_from_others(thread, steps)
        sight = next((known for known in sights if known.addresses == addresses), None)
        if sight is None:
            sight = _Sight(addresses, _getter(addresses))
            sights.append(sight)
        sight.views[sight.look(state)] = view
        return view

    def read_from_others(self, thread: int, steps: list[tuple[Move, Step]]) -> tuple[int, ...]:
        """Every shared cell that some choice looks at, also to find out that it does not exist."""
        cells = self.program.cells
        read = {access.address for _, step in steps for access in step.accesses if not access.write}
        return tuple(sorted(address for address in read if cells[address].owner != thread))

    def work_out(self, state: State, thread: int, steps: list[tuple[Move, Step]]) -> View:
        valid = [(move, step) for move, step in steps if step.outcome is not Outcome.INVALID]
        actions = self.describe(state, thread, valid)
        writes = {action.move: action.writes for action in actions if action.enabled}
        effects = {
            move: self.effect(state, step, writes[move]) for move, step in valid if step.happened
        }
        reads: frozenset[SharedObject] = frozenset().union(*(action.reads for action in actions))
        return View(actions, effects, frozenset(step.outcome for _, step in valid), reads)

    def effect(self, state: State, step: Step, writes: frozenset[SharedObject]) -> Effect:
        """A write counts even if it changes nothing here: elsewhere the cell may hold something
        else.  The thread's own cells are the same wherever the view is."""
        own = self.own[step.thread]
        written = {access.address for access in step.accesses if access.write}
        written |= {address for address in own if step.state[address] != state[address]}
        changes = tuple((address, step.state[address]) for address in sorted(written))
        place = str(self.program.edges[step.edges[0]].span)
        return Effect(changes, writes, describe_failure(step), place)


def list_own_cells(program: Program) -> list[tuple[int, ...]]:
    """The cells of each thread."""
    return [
        tuple(address for address, cell in enumerate(program.cells) if cell.owner == number)
        for number in range(len(program.threads))
    ]


def _getter(addresses: tuple[int, ...]) -> Callable[[State], Hashable]:
    if not addresses:
        return lambda state: None
    return itemgetter(*addresses)


def describe_failure(step: Step) -> Failed | None:
    """What went wrong in a step."""
    report = step.fault
    if report is None:
        return None
    return Failed(
        kind=str(report.fault),
        message=report.message,
        thread=step.thread,
        file=report.span.file,
        line=report.span.line,
        unfinished=report.fault in DEAD_ENDS,
    )
