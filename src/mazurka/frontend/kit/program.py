"""The program while it is being built: its threads' automata, and what they have in common.

Code is added to an automaton at `current`.  Where that is None, control cannot get here (after a
`return`, say), and whatever would be added is dropped.  A `Label` is a location that several jumps
may lead to.  It also collects which variables have a value on *every* path to it, so that a front
end can refuse to read a variable that may have none.

The first cells are the null cell and the program counters, one a thread; so the number of threads
must be known before anything else is placed.  A front end that finds it out only on the way builds
the program again until the number it began with is the number it found (`settle_threads`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TypedDict, Unpack

from mazurka.deadline import check_time
from mazurka.errors import FrontendError, MazurkaError
from mazurka.frontend.kit.shapes import Blueprint, CellDraft, Reference, Storage
from mazurka.ir.expressions import Const, Expr
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Declaration,
    Edge,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Role,
    Span,
    Thread,
)


class EdgeParts(TypedDict, total=False):
    """What an edge may have besides its kind, its place and its operations; see `Edge`."""

    guard: Expr | None
    choices: int
    atomic: bool
    subject: Expr | None


@dataclass(eq=False, slots=True)
class Label:
    """A location that jumps can name before its code is there."""

    location: int
    home: Automaton | None = None
    """The automaton that made it; None for the end, which all have in common."""
    bound: frozenset[str] | None = None
    """The variables bound on every path that leads here; None while there is no path."""
    dropped: bool = False
    """It was placed where no path led to it: the code there has been dropped."""


@dataclass(slots=True)
class Automaton:
    """Locations and edges, and where the next edge begins.

    A loop is `place(again)`, the test, `branch(test, ..., body, end)`, `place(body)`, the body,
    `jump(again)`, `place(end)`.  `ThreadBuilder.loop_depth` matters only to threads created in
    loops.
    """

    locations: list[Location] = field(default_factory=lambda: [Location()] * FIRST_LOCATION)
    edges: list[Edge] = field(default_factory=list)
    current: int | None = None
    """The location where code is added; None where control cannot get to."""
    bound: frozenset[str] = frozenset()
    """The variables that surely have a value at `current`."""
    atomic_depth: int = 0
    """How many atomic sections surround the code."""
    begun: bool = False
    thread: int | None = None
    """The number of the thread that the code was built for."""
    unplaced: set[int] = field(default_factory=set)
    """The locations of labels at which no code has been added yet."""

    def new_location(self, span: Span | None = None) -> int:
        mode = Mode.ATOMIC if self.atomic_depth else Mode.VISIBLE
        self.locations.append(Location(mode, span))
        return len(self.locations) - 1

    def new_label(self, span: Span | None = None) -> Label:
        """Make a location for code that is added later, with `place`."""
        label = Label(self.new_location(span), self)
        self.unplaced.add(label.location)
        return label

    def begin(self, span: Span | None) -> None:
        """Make the entry, where the first edge begins; call it once, before anything else."""
        first = len(self.locations) == FIRST_LOCATION
        FrontendError.unless(first, span, "begin() comes before labels and steps, and once")
        self.current = self.new_location(span)
        self.begun = True

    def add_edge(
        self,
        kind: Kind,
        span: Span,
        target: Label,
        *,
        operations: Sequence[Operation] = (),
        text: str = "",
        **parts: Unpack[EdgeParts],
    ) -> None:
        """Add an edge from `current` to the label; more edges may leave from there."""
        ours = target.home is None or target.home is self
        FrontendError.unless(ours, span, "a jump to a label of another thread's code")
        if self.current is None:
            return
        wrong = "a jump to a label whose code has been dropped, since nothing led there before"
        FrontendError.unless(not target.dropped, span, wrong)
        if self.atomic_depth:
            parts["atomic"] = True
            kind = Kind.ATOMIC if kind is Kind.ACCESS else kind
        done = tuple(operations)
        edge = Edge(self.current, target.location, kind, span, operations=done, text=text, **parts)
        check_time("reading the model")
        self.edges.append(edge)
        target.bound = self.bound if target.bound is None else target.bound & self.bound

    def jump(self, target: Label, span: Span) -> None:
        """Let control go on at the label, and nowhere else."""
        self.add_edge(Kind.LOCAL, span, target)
        self.current = None

    def place(self, label: Label, span: Span) -> None:
        """Add the code that follows at the label; control that arrives here joins it."""
        fresh = label.home is self and label.location in self.unplaced
        FrontendError.unless(fresh, span, "a label is placed once, in the code it was made for")
        self.unplaced.discard(label.location)
        if self.current is not None:
            self.jump(label, span)
        if label.bound is None:
            self.current, label.dropped = None, True
        else:
            self.current, self.bound = label.location, label.bound

    def finish(self, title: str) -> tuple[tuple[Location, ...], tuple[Edge, ...]]:
        """Return the locations and edges, without empty jumps and what nothing leads to.

        The entry is the first location of the program's own, `FIRST_LOCATION`.
        """
        forward = self._forwarding()
        numbers = {place: place for place in range(FIRST_LOCATION)}
        entry = _follow(forward, FIRST_LOCATION)
        if entry == FINISHED:  # nothing to do at all; the entry must still be its own location
            del forward[FIRST_LOCATION]
            entry = FIRST_LOCATION
        leaving: dict[int, list[Edge]] = {}
        for edge in self.edges:
            leaving.setdefault(edge.source, []).append(edge)
        order, kept = [entry], []
        numbers[entry] = FIRST_LOCATION
        for place in order:
            if place in self.unplaced:
                jump = next(e for e in self.edges if _follow(forward, e.target) == place)
                wrong = f"thread {title} jumps to a label that was never placed"
                raise FrontendError.at(jump.span, f"{wrong}: call place() for it")
            for edge in leaving.get(place, ()):
                target = _follow(forward, edge.target)
                if target not in numbers:
                    numbers[target] = FIRST_LOCATION + len(order)
                    order.append(target)
                kept.append(replace(edge, source=numbers[place], target=numbers[target]))
        locations = [Location()] * FIRST_LOCATION + [self.locations[place] for place in order]
        return tuple(locations), tuple(kept)

    def _forwarding(self) -> dict[int, int]:
        """Map locations that only jump on to where they lead."""
        count: dict[int, int] = {}
        for edge in self.edges:
            count[edge.source] = count.get(edge.source, 0) + 1
        forward: dict[int, int] = {}
        for edge in self.edges:
            empty = edge.kind is Kind.LOCAL and edge.guard is None and not edge.operations
            if not empty or edge.choices > 1 or count[edge.source] > 1:
                continue
            enters_atomic = (
                self.locations[edge.source].mode is Mode.VISIBLE
                and self.locations[edge.target].mode is Mode.ATOMIC
            )
            if not enters_atomic and _follow(forward, edge.target) != edge.source:
                forward[edge.source] = edge.target
        return forward


def _follow(forward: dict[int, int], place: int) -> int:
    path = []
    while place in forward:
        path.append(place)
        place = forward[place]
    for passed in path:
        forward[passed] = place
    return place


ROUNDS = 12
"""How often a program is built before its number of threads must have settled."""

NEW, STARTED, DONE, JOINED = 0, 1, 2, 3
"""A thread's status, kept where some thread is joined or asked whether it is alive; `JOINED` only
where a thread must not be joined twice."""


@dataclass(eq=False, slots=True)
class ThreadPlan:
    """A thread of the program, before its automaton is built."""

    number: int
    name: str
    span: Span
    active: bool = True
    """False for a thread that another one creates."""
    named: bool = field(default=False, kw_only=True)
    """Whether others may wait for the end of a thread that nobody creates."""

    @property
    def joinable(self) -> bool:
        return self.named or not self.active


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
    shared: set[str] = field(default_factory=set)
    """The names of what is shared."""
    declared: dict[int, Declaration] = field(default_factory=dict)
    """What the source declares about how threads share cells, by address."""

    def reserve(self, *, observers: int = 0, joined: bool = False) -> None:
        """Place the null cell, the program counters and, where threads are joined, their status."""
        FrontendError.unless(
            not self.storage.cells, Span(self.file, 0), "reserve() comes first, and once"
        )
        self.storage.add(CellDraft("null"))
        for number in range(self.threads + observers):
            cell = CellDraft(f"counter {number}", owner=number, role=Role.COUNTER)
            self.storage.add(cell)
        if joined:
            self.status = len(self.storage.cells)
            for number in range(self.threads):
                self.storage.add(CellDraft(f"status {number}", high=JOINED, role=Role.SYNC))

    def share(self, name: str, blueprint: Blueprint, span: Span | None) -> Reference:
        """Place an object that all threads can reach; its first values are constants."""
        unless, reserved = FrontendError.unless, bool(self.storage.cells)
        unless(reserved, span, "call reserve() of the draft before anything is shared")
        unless(blueprint.is_static, span, f"the first value of `{name}` is no constant")
        for threads in blueprint.shape.thread_counts():
            wrong = f"`{name}` was made for {threads} threads, the draft for {self.threads}"
            unless(threads == self.threads, span, wrong)
        unless(name not in self.shared, span, f"`{name}` is shared twice: keep its first Reference")
        address = self.storage.place(name, blueprint, None, span)
        self.shared.add(name)
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
        wrong = f"the draft was made for {self.threads} threads, {len(plans)} were built"
        FrontendError.unless(len(plans) == self.threads, Span(self.file, 0), wrong)
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
        entry = automaton.locations[FIRST_LOCATION:] or [Location(span=Span(self.file, 0))]
        unless, span, numbers = FrontendError.unless, entry[0].span, (None, number)
        wrong = f"thread {title} was never begun: call begin() before the first step"
        unless(automaton.begun, span, wrong)
        wrong = f"thread {title} does not end: call finish() of kit/threads.py"
        unless(automaton.current is None, span, wrong)
        wrong = f"thread {title} has number {number}, and was built as number {automaton.thread}"
        advice = f"{wrong}: give ThreadBuilder the number of its ThreadPlan"
        unless(observer or automaton.thread in numbers, span, advice)
        locations, edges = automaton.finish(title)
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
