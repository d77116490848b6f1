"""Algorithms 1 and 2 of paper 001 as they stand there, recursive: a reference, used by tests alone.

M. Musuvathi and S. Qadeer, *Partial-Order Reduction for Context-Bounded State Exploration*,
MSR-TR-2007-12.  `algorithm1` and `algorithm2` do the same fast; tests compare counts and sets of
states.  Nothing of them is used here, and nothing is clever: a state is the set of its actions, and
to look at it the program is run from its start.

| paper | here |
|---|---|
| state: a set of actions ⟨o, t, n, v, m⟩ | `State`: actions t, n and a set of (v, o, m) |
| E(s), next(s, t) | `Plain.enabled`, `Plain.next` |
| F(s), s − t | `Plain.frontier`, `Plain.without` |
| CB(s, t) | `Plain.context_bound` |
| H, csb | the set that is returned, `csb` |

For programs in which no thread gives way, and the operation that begins a thread touches an object
that the thread's first operation touches; models are such programs (`ir_runs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from mazurka.stateless.preemptions import live
from mazurka.stateless.runs import Abandon, Decider, ObjectName, Operation, Runnable

Names: TypeAlias = tuple[tuple[ObjectName, bool], ...]


class PlainAction(NamedTuple):
    """The n-th action of a thread."""

    thread: int
    number: int
    touches: frozenset[tuple[ObjectName, bool, int]]
    """Objects, whether they are written, and the number of the write that this is, or that is
    read."""

    def is_before(self, later: PlainAction) -> bool:
        """Whether the other one is the next of the thread, or comes after it for an object."""
        if self.thread == later.thread:
            return self.number < later.number
        return any(
            name == other and (written or also) and (m < n or (m == n and not also))
            for name, written, m in self.touches
            for other, also, n in later.touches
        )


State: TypeAlias = frozenset[PlainAction]
INITIAL: State = frozenset()


class Plain:
    """A program by its states."""

    def __init__(self, program: Runnable) -> None:
        self.program = program
        self.schedules: dict[State, tuple[int, ...]] = {INITIAL: ()}
        self.look = cache(self._look)
        self.context_bound = cache(self._context_bound)

    def _look(self, s: State) -> dict[int, Names]:
        """Drive the program to a state: who can go on there, and what each would touch."""
        looking = _Looking(self.schedules[s])
        self.program.run(looking)
        return looking.seen

    def enabled(self, s: State) -> list[int]:
        return list(self.look(s))

    def next(self, s: State, t: int) -> State:
        writes = [name for action in s for name, written, _ in action.touches if written]
        touches = self.look(s)[t]
        action = PlainAction(
            t,
            1 + sum(action.thread == t for action in s),
            frozenset((name, written, writes.count(name) + written) for name, written in touches),
        )
        following = s | {action}
        self.schedules.setdefault(following, (*self.schedules[s], t))
        return following

    def frontier(self, s: State) -> list[PlainAction]:
        """The last actions of those threads after whose last action nothing comes."""
        return [a for a in s if not any(a is not other and a.is_before(other) for other in s)]

    def without(self, s: State, action: PlainAction) -> State:
        schedule = self.schedules[s]
        last = len(schedule) - 1 - schedule[::-1].index(action.thread)
        self.schedules.setdefault(s - {action}, schedule[:last] + schedule[last + 1 :])
        return s - {action}

    def _context_bound(self, s: State, t: int) -> int:
        if s == INITIAL:
            return 0
        return min(
            self.context_bound(self.without(s, last), last.thread)
            + (0 if last.thread == t or last.thread not in self.enabled(s) else 1)
            for last in self.frontier(s)
        )


class _Looking(Decider):
    """Follows a schedule and looks around at its end."""

    def __init__(self, schedule: Sequence[int]) -> None:
        self.left_over = list(schedule)
        self.seen: dict[int, Names] = {}

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self.left_over:
            return self.left_over.pop(0)
        for thread in enabled:
            operation = pending[thread]
            assert operation is not None
            touches = operation.at(live) or ()
            written = {shared.name: False for shared, _ in touches}
            for shared, writes in touches:
                written[shared.name] |= writes
            self.seen[thread] = tuple(written.items())
        raise Abandon


def plain_algorithm_1(program: Runnable, csb: int) -> set[State]:
    """All states with CB(s) ≤ csb."""
    plain = Plain(program)
    h: set[State] = set()  # L1

    def search(s: State) -> None:  # L3
        h.add(s)  # L4
        for t in plain.enabled(s):  # L5
            if not (plain.next(s, t) in h or plain.context_bound(s, t) > csb):  # L6
                search(plain.next(s, t))  # L7

    search(INITIAL)  # L2
    return h


def plain_algorithm_2(program: Runnable, csb: int) -> tuple[set[State], list[State]]:
    """The same, and the terminal states in the order in which they were visited."""
    plain = Plain(program)
    h: set[State] = set()  # L1
    terminal: list[State] = []

    def search(s: State) -> None:  # L3
        if not plain.enabled(s):  # L4
            terminal.append(s)
            mark(s)  # L5
        else:
            for t in plain.enabled(s):  # L8
                if not (plain.next(s, t) in h or plain.context_bound(s, t) > csb):  # L9
                    search(plain.next(s, t))  # L10

    def mark(s: State) -> None:  # L15
        h.add(s)  # L16
        for last in plain.frontier(s):  # L17
            x = plain.without(s, last)
            if plain.context_bound(x, last.thread) <= csb and is_done(x):  # L17, L18
                mark(x)  # L19

    def is_done(x: State) -> bool:  # L18
        return all(
            plain.next(x, t) in h or plain.context_bound(x, t) > csb for t in plain.enabled(x)
        )

    search(INITIAL)  # L2
    return h, terminal
