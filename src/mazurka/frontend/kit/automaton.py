"""One thread's control-flow automaton while it is being built.

Code is added at `current`.  Where that is None, control cannot get here (after a `return`, say),
and whatever would be added is dropped.  A `Label` is a location that several jumps may lead to.  It
also collects which variables have a value on *every* path to it, so that a front end can refuse to
read a variable that may have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mazurka.ir.expressions import Expr
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Edge,
    Kind,
    Location,
    Mode,
    Operation,
    Span,
)


@dataclass(eq=False, slots=True)
class Label:
    """A location that jumps can name before its code is there."""

    location: int
    bound: frozenset[str] | None = None
    """The variables bound on every path that leads here; None while there is no path."""


@dataclass(slots=True)
class Automaton:
    """Locations and edges, and where the next edge begins."""

    locations: list[Location] = field(default_factory=lambda: [Location()] * FIRST_LOCATION)
    edges: list[Edge] = field(default_factory=list)
    current: int | None = None
    """The location where code is added; None where control cannot get to."""
    bound: frozenset[str] = frozenset()
    """The variables that surely have a value at `current`."""
    atomic_depth: int = 0
    """How many atomic sections surround the code."""

    def new_location(self, span: Span | None = None) -> int:
        mode = Mode.ATOMIC if self.atomic_depth else Mode.VISIBLE
        self.locations.append(Location(mode, span))
        return len(self.locations) - 1

    def new_label(self, span: Span | None = None) -> Label:
        """Make a location for code that is added later, with `place`."""
        return Label(self.new_location(span))

    def begin(self, span: Span | None) -> None:
        """Make the entry, where the first edge begins."""
        self.current = self.new_location(span)

    def add_edge(
        self,
        kind: Kind,
        span: Span,
        target: Label,
        *,
        guard: Expr | None = None,
        operations: Sequence[Operation] = (),
        choices: int = 1,
        atomic: bool = False,
        subject: Expr | None = None,
        text: str = "",
    ) -> None:
        """Add an edge from `current` to the label; more edges may leave from there."""
        if self.current is None:
            return
        if self.atomic_depth:
            atomic = True
            kind = Kind.ATOMIC if kind is Kind.ACCESS else kind
        self.edges.append(
            Edge(
                self.current,
                target.location,
                kind,
                span,
                guard,
                tuple(operations),
                choices,
                atomic,
                subject,
                text,
            )
        )
        self._reach(target)

    def _reach(self, target: Label) -> None:
        target.bound = self.bound if target.bound is None else target.bound & self.bound

    def jump(self, target: Label, span: Span) -> None:
        """Let control go on at the label, and nowhere else."""
        self.add_edge(Kind.LOCAL, span, target)
        self.current = None

    def place(self, label: Label, span: Span) -> None:
        """Add the code that follows at the label; control that arrives here joins it."""
        if self.current is not None:
            self.jump(label, span)
        if label.bound is None:
            self.current = None
        else:
            self.current, self.bound = label.location, label.bound

    def finish(self) -> tuple[tuple[Location, ...], tuple[Edge, ...]]:
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
