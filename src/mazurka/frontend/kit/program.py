"""The program while it is being built: what its threads have in common, and how it is assembled.

The first cells are the null cell and the program counters, one a thread; so the number of threads
must be known before anything else is placed.  A front end that finds it out only on the way builds
the program again until the number it began with is the number it found (`settle_threads`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from mazurka.errors import MazurkaError
from mazurka.frontend.kit.automaton import Automaton
from mazurka.frontend.kit.shapes import Blueprint, Reference
from mazurka.frontend.kit.storage import Storage
from mazurka.ir.expressions import Const
from mazurka.ir.program import FIRST_LOCATION, IDLE, Declaration, Program, Role, Span, Thread

ROUNDS = 12
"""How often a program is built before its number of threads must have settled."""

NEW, STARTED, DONE = 0, 1, 2
"""A thread's status, kept where some thread is joined or asked whether it is alive."""


@dataclass(eq=False, slots=True)
class ThreadPlan:
    """A thread of the program, before its automaton is built."""

    number: int
    name: str
    span: Span
    active: bool = True
    """False for a thread that another one creates."""


@dataclass(eq=False, slots=True)
class ProgramDraft:
    """Everything about a program that its threads share while they are built."""

    file: str
    source: str
    threads: int
    """How many threads the program is built for.  Observers come behind them and are not
    counted."""
    max_threads: int = 8
    """How many threads one place in the code may create where it runs often."""
    max_depth: int = 8
    """How deep calls of one function may be nested, and how often a lock may be taken over."""
    storage: Storage = field(default_factory=Storage)
    status: int = 0
    """The address of the first thread's status cell; 0 where nobody joins."""
    edges: int = 0
    declared: dict[int, Declaration] = field(default_factory=dict)
    """What the source declares about how threads share cells, by address."""

    def reserve(self, *, observers: int = 0, joined: bool = False) -> None:
        """Place the null cell, the program counters and, where threads are joined, their status."""
        self.storage.add("null")
        for number in range(self.threads + observers):
            self.storage.add(f"counter {number}", owner=number, role=Role.COUNTER)
        if joined:
            self.status = len(self.storage.cells)
            for number in range(self.threads):
                self.storage.add(f"status {number}", high=DONE, role=Role.SYNC)

    def share(self, name: str, blueprint: Blueprint, span: Span | None) -> Reference:
        """Place an object that all threads can reach."""
        address = self.storage.place(name, blueprint, None, span)
        return Reference(blueprint.shape, Const(address), True, name)

    def assemble(
        self,
        plans: Iterable[ThreadPlan],
        automata: Sequence[Automaton],
        *,
        observers: Iterable[Automaton] = (),
        constants: Mapping[str, int] | None = None,
    ) -> Program:
        """Finish the program: one automaton a plan, in the same order, and the observers'."""
        plans, threads = list(plans), []
        titles = _unique([plan.name for plan in plans])
        for plan, automaton, title in zip(plans, automata, titles, strict=True):
            threads.append(self._thread(plan.number, title, automaton, active=plan.active))
            if self.status:
                self.storage.cells[self.status + plan.number].name = f"{title} status"
        for position, automaton in enumerate(observers, start=1):
            title = f"invariant {position}"
            threads.append(self._thread(len(threads), title, automaton, observer=True))
        return Program(
            PurePath(self.file).stem,
            tuple(draft.finish() for draft in self.storage.cells),
            tuple(threads),
            dict(constants or {}),
            {self.file: self.source},
            dict(self.declared),
        )

    def _thread(
        self,
        number: int,
        title: str,
        automaton: Automaton,
        *,
        active: bool = True,
        observer: bool = False,
    ) -> Thread:
        locations, edges = automaton.finish()
        draft = self.storage.cells[number + 1]
        draft.name, draft.high = f"{title} at", len(locations) - 1
        draft.initial = FIRST_LOCATION if active else IDLE
        return Thread(title, number + 1, FIRST_LOCATION, locations, edges, active, observer)


def _unique(names: list[str]) -> list[str]:
    """Make each name occur once: `worker`, `worker#2`."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result


@dataclass(frozen=True, slots=True)
class Expected:
    """What a program is built for, which only building it can confirm."""

    threads: int = 1
    escaping: frozenset[int] = frozenset()
    """Threads whose local objects other threads can reach."""


def settle_threads(
    build: Callable[[Expected], tuple[Expected, Callable[[], Program]]], file: str
) -> Program:
    """Build the program until it is as it was expected to be.

    `build` returns what it found, and how to assemble the program; that is called only in the last
    round, when both agree.
    """
    expected = Expected()
    for _ in range(ROUNDS):
        found, assemble = build(expected)
        if found == expected:
            return assemble()
        expected = found
    raise MazurkaError("the number of threads does not settle; create them in one place", file=file)
