"""Puts together small programs in the intermediate representation, cell by cell, edge by edge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mazurka.ir.expressions import ONE, ZERO, Binary, Const, Expr, Load
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Cell,
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

FILE = "hand.py"


def load(address: int) -> Expr:
    return Load(Const(address))


def put(address: int, value: Expr | int) -> Assign:
    return Assign(Const(address), Const(value) if isinstance(value, int) else value)


def plus(address: int, amount: int) -> Expr:
    return Binary("add", load(address), Const(amount))


def equals(address: int, value: int) -> Expr:
    return Binary("eq", load(address), Const(value))


@dataclass
class Body:
    """One thread under construction; its locations begin at FIRST_LOCATION."""

    builder: Builder
    number: int
    counter: int
    active: bool = True
    observer: bool = False
    locations: list[Location] = field(default_factory=lambda: [Location()] * FIRST_LOCATION)
    edges: list[Edge] = field(default_factory=list)

    def local(self, name: str, low: int, high: int, initial: int = 0) -> int:
        return self.builder.add(Cell(name, low, high, initial, owner=self.number))

    def at(self, mode: Mode = Mode.VISIBLE, resets: tuple[int, ...] = ()) -> int:
        """A new location."""
        self.locations.append(Location(mode, None, resets))
        return len(self.locations) - 1

    def edge(
        self,
        source: int,
        target: int,
        *operations: Operation,
        kind: Kind = Kind.ACCESS,
        guard: Expr | None = None,
        choices: int = 1,
        atomic: bool = False,
    ) -> None:
        """The line of an edge is its number within the thread, from 1."""
        span = Span(FILE, len(self.edges) + 1)
        edge = Edge(source, target, kind, span, guard, operations, choices, atomic)
        self.edges.append(edge)

    def line(self, *steps: Operation, kind: Kind = Kind.ACCESS) -> None:
        """A straight line from the entry to the end, one operation an edge."""
        here = self.at()
        for position, operation in enumerate(steps):
            after = FINISHED if position == len(steps) - 1 else self.at()
            self.edge(here, after, operation, kind=kind)
            here = after

    def acquire(self, source: int, target: int, lock: int) -> None:
        taken = put(lock, self.number + 1)
        self.edge(source, target, taken, kind=Kind.ACQUIRE, guard=equals(lock, 0))


class Builder:
    def __init__(self) -> None:
        self.cells = [Cell("null", 0, 0)]
        self.bodies: list[Body] = []

    def add(self, cell: Cell) -> int:
        self.cells.append(cell)
        return len(self.cells) - 1

    def shared(
        self, name: str, low: int, high: int, initial: int = 0, role: Role = Role.INT
    ) -> int:
        return self.add(Cell(name, low, high, initial, role=role))

    def lock(self, name: str = "lock") -> int:
        return self.shared(name, 0, 9, role=Role.OWNER)

    def thread(self, *, active: bool = True, observer: bool = False) -> Body:
        number = len(self.bodies)
        counter = self.add(Cell(f"pc{number}", 0, 0, owner=number, role=Role.COUNTER))
        body = Body(self, number, counter, active, observer)
        self.bodies.append(body)
        return body

    def program(self) -> Program:
        threads = []
        for body in self.bodies:
            start = FIRST_LOCATION if body.active else IDLE
            self.cells[body.counter] = replace(
                self.cells[body.counter], high=len(body.locations) - 1, initial=start
            )
            threads.append(
                Thread(
                    f"t{body.number}",
                    body.counter,
                    FIRST_LOCATION,
                    tuple(body.locations),
                    tuple(body.edges),
                    active=body.active,
                    observer=body.observer,
                )
            )
        return Program("hand", tuple(self.cells), tuple(threads))


def modular_counters(threads: int, modulus: int, *, wide: bool = False) -> Program:
    """Each thread counts its own shared cell round and round: `modulus ** threads` states.

    A thread has one location, so a state is the tuple of the counts; every tuple is reachable,
    and each thread can move in each, which makes `threads` transitions a state.  With `wide` each
    count lies in a cell of 60 bits, so that every thread needs a word of its own.
    """
    builder = Builder()
    for number in range(threads):
        body = builder.thread()
        high = (1 << 60) - 1 if wide else modulus - 1
        cell = builder.shared(f"c{number}", 0, high)
        here = body.at()
        body.edge(here, here, put(cell, Binary("mod", plus(cell, 1), Const(modulus))))
    return builder.program()


def lost_update() -> Program:
    """Two threads read `x` (cell 1) into a local and write it back plus one, without a lock."""
    builder = Builder()
    x = builder.shared("x", 0, 2)
    for _ in range(2):
        body = builder.thread()
        copy = body.local("copy", 0, 2)
        body.line(put(copy, load(x)), put(x, plus(copy, 1)))
    return builder.program()


def crossed_locks() -> Program:
    """Two threads that take the locks 1 and 2 in opposite orders, then give both back at once.

    A thread is before, has one, has both, or is at its end, and its locks follow from that.  Both
    hold nothing: 4 states; one holds something and the other nothing: 2 * 2 * 2; each holds its
    first, and they deadlock: 1.  So there are 13.  Moves: 2 + 1 + 1 + 0 where both hold nothing;
    a thread that holds something always moves there (4 states for each thread), and the other
    takes its first lock while that is free (1 state for each thread): 4 + 2 * (4 + 1) = 14.
    """
    builder = Builder()
    locks = builder.lock("a"), builder.lock("b")
    for first, second in (locks, locks[::-1]):
        body = builder.thread()
        start, middle, inside = body.at(), body.at(), body.at()
        body.acquire(start, middle, first)
        body.acquire(middle, inside, second)
        body.edge(inside, FINISHED, put(first, 0), put(second, 0), kind=Kind.RELEASE)
    return builder.program()


TRUE, FALSE = ONE, ZERO
