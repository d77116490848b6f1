"""How threads influence each other in a trace: messages, wake-ups, locks held, queues' contents.

A chart of a trace shows them as arrows and bars.  They are found by replaying the schedule on the
interpreter once more, since a trace tells each step by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from mazurka.ir.interpreter import Interpreter, Outcome, State, Step
from mazurka.ir.program import Kind, Program, Role
from mazurka.report.operations import TakenEdge, find_object, find_told_edges, find_woken
from mazurka.report.places import MOST_TRIED, Shown, shown_value
from mazurka.report.trace import replay_steps
from mazurka.search import Move

SLOT = re.compile(r"(?P<queue>.+)\.item\[(?P<place>\d+)\]")
"""How the cells are named that hold a queue's items; an item may have several cells."""

MESSAGE, UNBLOCKS, WAKES, STARTS = "message", "unblocks", "wakes", "starts"


@dataclass(frozen=True)
class Arrow:
    """A step of one thread that has an effect on a step of another; steps count from 1."""

    source: int
    target: int
    kind: str
    """`message` from a put to its get, `wakes` from a notification to who is woken, `starts` from
    the start of a thread to its first step, `unblocks` where the other thread had to wait."""
    label: str = ""


@dataclass(frozen=True)
class Hold:
    """A thread that holds a lock after the step `start`, up to `end` or the end of the trace."""

    thread: int
    lock: str
    start: int
    end: int | None


@dataclass
class Exchanges:
    """All that happens between the threads of one trace."""

    arrows: list[Arrow] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    contents: dict[str, dict[int, tuple[Shown, ...]]] = field(default_factory=dict)
    """For each queue its items after the steps that have changed it, the oldest first."""


def find_exchanges(program: Program, moves: Iterable[Move]) -> Exchanges:
    """Replay a schedule and note what passes between the threads."""
    watcher = _Watcher(program)
    for number, (_, before, step) in enumerate(replay_steps(program, moves, whole=False), 1):
        watcher.note(number, step, before)
    watcher.close_holds()
    return watcher.found


@dataclass(frozen=True)
class _Slots:
    """Where a queue keeps its items."""

    count: int
    places: tuple[tuple[int, ...], ...]
    """The addresses of each item's cells."""

    def read(self, program: Program, state: State) -> tuple[Shown, ...]:
        items: list[Shown] = []
        count = state[self.count]
        if count > len(self.places):  # a channel whose item has been taken
            return ()
        for cells in self.places[:count]:
            shown = [shown_value(program, cell, state[cell]) for cell in cells]
            items.append(shown[0] if len(shown) == 1 else f"({', '.join(map(str, shown))})")
        return tuple(items)


def find_queues(program: Program) -> dict[str, _Slots]:
    """Find the queues of a program by the names of their cells."""
    places: dict[str, dict[int, list[int]]] = {}
    for address, cell in enumerate(program.cells):
        match = SLOT.match(cell.name)
        if match is not None and cell.role is not Role.COUNTER:
            slots = places.setdefault(match["queue"], {})
            slots.setdefault(int(match["place"]), []).append(address)
    counts = {cell.name: address for address, cell in enumerate(program.cells)}
    return {
        name: _Slots(counts[name], tuple(tuple(slots[place]) for place in sorted(slots)))
        for name, slots in places.items()
        if name in counts
    }


class _Watcher:
    """Follows a replay."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.interpreter = Interpreter(program)
        self.queues = find_queues(program)
        self.found = Exchanges()
        self.moved: set[int] = set()
        self.waiting: set[int] = set()
        """Threads that have moved and wait now."""
        self.unblocked: dict[int, int] = {}
        """For a thread that had to wait and need not any more, the step that let it go on."""
        self.started: dict[int, int] = {}
        self.woken: dict[int, int] = {}
        self.puts: dict[str, list[int]] = {}
        """The steps that have put in the items which each queue holds now."""
        self.makers: dict[int, int] = {}
        """The threads of the steps that put something in."""
        self.held: dict[tuple[int, str], int] = {}
        self.first_steps = {thread.counter: n for n, thread in enumerate(program.threads)}

    def note(self, number: int, step: Step, before: State) -> None:
        thread = step.thread
        for taken in find_told_edges(self.program, step, before):
            self._note_message(number, taken)
        causes_of = ((self.started, STARTS), (self.woken, WAKES), (self.unblocked, UNBLOCKS))
        for causes, kind in causes_of:
            source = causes.pop(thread, None)
            if source is not None and not self._is_drawn(source, number):
                self.found.arrows.append(Arrow(source, number, kind))
        self._note_contents(number, step.state, before)
        self._note_writes(number, step)
        self.moved.add(thread)
        self._note_waiting(number, step)

    def _is_drawn(self, source: int, target: int) -> bool:
        return any((one.source, one.target) == (source, target) for one in self.found.arrows)

    def _note_message(self, number: int, taken: TakenEdge) -> None:
        if taken.edge.kind is Kind.NOTIFY:
            self.woken.update(dict.fromkeys(find_woken(taken), number))
        name = find_object(taken)
        if name not in self.queues:
            return
        before = self.queues[name].read(self.program, taken.cells)
        puts = self.puts.setdefault(name, [])
        if taken.edge.kind is Kind.PUT:
            puts.append(number)
            self.makers[number] = taken.step.thread
        elif taken.edge.kind is Kind.GET and puts:
            after = list(taken.cells)
            for access in taken.accesses:
                if access.write:
                    after[access.address] = access.value
            rest = self.queues[name].read(self.program, tuple(after))
            newest = rest != before[1:] and rest == before[:-1]
            source = puts.pop(-1 if newest else 0)
            item = str(before[-1 if newest else 0]) if before else ""
            if self.makers[source] != taken.step.thread:
                self.found.arrows.append(Arrow(source, number, MESSAGE, item))

    def _note_contents(self, number: int, state: State, before: State) -> None:
        for name, slots in self.queues.items():
            now = slots.read(self.program, state)
            if now != slots.read(self.program, before):
                self.found.contents.setdefault(name, {})[number] = now

    def _note_writes(self, number: int, step: Step) -> None:
        for access in step.accesses:
            if not access.write:
                continue
            cell = self.program.cells[access.address]
            if cell.role is Role.OWNER:
                self._note_owner(number, cell.name, access.value - 1)
            started = self.first_steps.get(access.address)
            if started is not None and started != step.thread:
                self.started[started] = number

    def _note_owner(self, number: int, lock: str, owner: int) -> None:
        for thread, name in [key for key in self.held if key[1] == lock]:
            if thread != owner:
                start = self.held.pop((thread, name))
                self.found.holds.append(Hold(thread, name, start, number))
        if owner >= 0:
            self.held.setdefault((owner, lock), number)

    def close_holds(self) -> None:
        for (thread, lock), start in self.held.items():
            self.found.holds.append(Hold(thread, lock, start, None))

    def _note_waiting(self, number: int, step: Step) -> None:
        """Find out who waits now.  Without a write nothing has changed for the others.

        A thread waits if it does so whatever it chooses: a `select` may find one of its queues
        empty, and another one not."""
        wrote = any(access.write for access in step.accesses)
        for thread in self.moved if wrote else (step.thread,):
            tried = [
                step
                for _, step in islice(self.interpreter.steps_of(step.state, thread), MOST_TRIED)
            ]
            outcomes = {step.outcome for step in tried}
            if Outcome.WAITS in outcomes and not any(step.happened for step in tried):
                self.waiting.add(thread)
                self.unblocked.pop(thread, None)
            elif thread in self.waiting:
                self.waiting.discard(thread)
                self.unblocked[thread] = number
