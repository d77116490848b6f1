"""The intermediate representation: cells, edges, threads, programs.

A **cell** is one scalar storage location; its address is its position in
`Program.cells`.  Arrays, records, locks, condition variables, queues and program
counters are all ranges of consecutive cells.  A **thread** is a control-flow automaton:
locations connected by edges.  An **edge** has a guard and a sequence of operations.  A
thread moves in **steps**; one step is one edge, followed by the edges of the transient
locations after it (`Mode.ATOMIC`, `Mode.MERGED`).  `docs/semantics.md` is the definition.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from mazurka.ir.expressions import Expr, negate

FINISHED = 0
"""The location of a thread that has run to its end."""
WRONG = 1
"""The location of a thread after a fault; it takes no more steps."""
IDLE = 2
"""The location of a thread that has not been created yet."""
FIRST_LOCATION = 3
"""The first location that belongs to the program; those before are reserved."""


class Role(enum.StrEnum):
    """What a cell represents: it decides how its value is shown, and whether it can race."""

    INT = "int"
    BOOL = "bool"
    POINTER = "pointer"
    """Holds an address; `Cell.points` are the addresses it may hold."""
    HANDLE = "handle"
    """Holds a thread's number plus one, 0 for none."""
    COUNTER = "counter"
    """A program counter."""
    OWNER = "owner"
    """A lock: 0 if it is free, else the number of the thread that holds it plus one."""
    SYNC = "sync"
    """Another part of a synchronization object: a count, a flag, a position in a queue."""


SETTLING = "read for the first time"
"""The text of an edge that gives memory of C any value, since it is read before it was written: for
people it is a read."""
FAR = 1 << 40
"""A pointer that a program makes of a number n holds FAR + n, which no cell has for its address."""
NEAR = 1 << 36
"""Numbers from -NEAR to NEAR can become pointers."""

RACING_ROLES = frozenset({Role.INT, Role.BOOL, Role.POINTER, Role.HANDLE})


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the source; lines and columns count from 1, column 0 is unknown."""

    file: str
    line: int
    column: int = 0
    end_column: int = field(default=0, compare=False)
    """The column after its end; 0 if it is unknown or in another line."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def split_lines(text: str) -> list[str]:
    """Split a source text into lines as spans count them; a form feed, for example, ends none."""
    return re.split(r"\r\n|\r|\n", text)


TEMPORARY = "temporary"
"""The name that front ends give to the cells in which they keep intermediate values; others that
they make up have a space in their names."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scalar storage location.

    A value stored outside `low..high` is a `range` violation.  `points`, if given, are all
    values that the cell can ever hold, as an analysis has proven; packing uses them.  A cell
    whose range the front end leaves to inference has `inferred` set; its `low` and `high`
    have no meaning until `mazurka.ir.passes.ranges` has filled them in.
    """

    name: str
    low: int
    high: int
    initial: int = 0
    owner: int | None = None
    """The thread to which a local cell belongs; None if the cell is shared."""
    role: Role = Role.INT
    points: tuple[int, ...] | None = None
    span: Span | None = None
    inferred: bool = False
    unsigned: bool = False
    """Whether its 64 bits are a number without a sign, for people: it holds the signed number with
    the same bits."""

    @property
    def is_temporary(self) -> bool:
        """Whether a front end keeps intermediate values in it."""
        return self.name == TEMPORARY and self.owner is not None

    @property
    def can_race(self) -> bool:
        return self.role in RACING_ROLES


class Kind(enum.StrEnum):
    """What an edge does, for analyses and for messages."""

    LOCAL = "local"
    CHOOSE = "choose"
    ACCESS = "access"
    ATOMIC = "atomic"
    """A read-modify-write operation, or an edge of an `atomic` section."""
    ASSERT = "assert"
    ASSUME = "assume"
    UNTIL = "until"
    """Waits until a condition over data holds (`await_`); reads all of it in one step."""
    YIELD = "yield"
    ACQUIRE = "acquire"
    TRY_ACQUIRE = "try-acquire"
    RELEASE = "release"
    INSPECT = "inspect"
    """Reads a synchronization object without changing it (`lock.locked()`)."""
    WAIT = "wait"
    """Enters a condition variable's queue and releases its lock."""
    WAKE = "wake"
    """Leaves a condition variable after a notification and takes its lock again."""
    NOTIFY = "notify"
    DOWN = "down"
    UP = "up"
    SET = "set"
    CLEAR = "clear"
    AWAIT = "await"
    """Waits for an event to be set."""
    ARRIVE = "arrive"
    LEAVE = "leave"
    PUT = "put"
    GET = "get"
    HAND_OVER = "hand-over"
    """Goes on after the item that was put into a rendezvous channel has been taken."""
    CREATE = "create"
    JOIN = "join"
    EXIT = "exit"
    END = "end"
    """Ends the process.  Its guard never holds: a thread that comes here stays, and what others
    could still do is what they may do before the process ends."""


STOPPING = frozenset({Kind.ASSUME, Kind.END})
"""Edges whose failing guards stop a thread, instead of making it wait."""


PLAIN_KINDS = frozenset(
    {Kind.LOCAL, Kind.CHOOSE, Kind.ACCESS, Kind.ASSERT, Kind.ASSUME, Kind.UNTIL, Kind.END}
)
"""Edges that do ordinary reads and writes; all others synchronize."""


class Fault(enum.StrEnum):
    """The ways in which a step can go wrong; `BOUND` makes a verdict inconclusive instead."""

    ASSERT = "assert"
    RANGE = "range"
    INDEX = "index"
    LOCK = "lock"
    MEMORY = "memory"
    EXCEPTION = "exception"
    RACE = "race"
    """Raised only by programs with marks (`mazurka.ir.passes.race_marks`)."""
    LIVELOCK = "livelock"
    BOUND = "bound"


DEAD_ENDS = frozenset({Fault.LIVELOCK, Fault.BOUND})
"""Faults without a successor: the step never ended, and no search goes on from there."""

FAULTS = tuple(Fault)
"""All faults; the native code numbers them from 1: `FAULTS[code - 1]`."""


@dataclass(frozen=True, slots=True)
class Assign:
    """Store `value` in the cell at `address` (evaluated first); later operations see it."""

    address: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Check:
    """Raise `fault` if `condition` is 0."""

    condition: Expr
    fault: Fault
    message: str


Operation: TypeAlias = Assign | Check


class Relaxed(enum.IntFlag):
    """What an atomic operation of a source does without ordering other accesses."""

    READ = 1
    """Its read is weaker than acquire."""
    WRITE = 2
    """Its write is weaker than release."""
    FAILURE = 4
    """It compares, and where it fails its read is weaker than acquire."""


ORDERED = Relaxed(0)


@dataclass(frozen=True, slots=True)
class Edge:
    """A guarded transition between two locations of a thread.

    The guards of a location's edges exclude each other; a guard of None always holds.
    More than one choice is allowed on local edges only.
    """

    source: int
    target: int
    kind: Kind
    span: Span
    guard: Expr | None = None
    operations: tuple[Operation, ...] = ()
    choices: int = 1
    atomic: bool = False
    """The accesses of this edge are atomic: two atomic accesses never race."""
    subject: Expr | None = None
    """The address of the synchronization object's first cell, for kinds that have one."""
    text: str = ""
    """What it does, as shown to users: `acquire forks[1]`."""
    relaxed: Relaxed = ORDERED
    """How the operation that it belongs to is too weak to order others in the source."""

    @property
    def indivisible(self) -> bool:
        """Whether the edge counts as one atomic operation when races are looked for."""
        return self.atomic or self.kind not in PLAIN_KINDS

    @property
    def stores(self) -> list[Assign]:
        """The operations that write to a cell, in order."""
        return [each for each in self.operations if isinstance(each, Assign)]

    @property
    def expressions(self) -> Iterator[Expr]:
        """Iterate over the expressions that the edge evaluates, in order."""
        if self.guard is not None:
            yield self.guard
        for operation in self.operations:
            if isinstance(operation, Assign):
                yield operation.address
                yield operation.value
            else:
                yield operation.condition


class Mode(enum.StrEnum):
    """Whether a thread can be interrupted at a location."""

    VISIBLE = "visible"
    ATOMIC = "atomic"
    """Inside an atomic section: the step goes on, or is discarded as a whole."""
    MERGED = "merged"
    """The step that comes here goes on with local edges; it ends here only if none is enabled."""


@dataclass(frozen=True, slots=True)
class Location:
    mode: Mode = Mode.VISIBLE
    span: Span | None = None
    resets: tuple[int, ...] = ()
    """Local cells that are dead here: a thread that comes to rest sets them to their initial
    values, so that states which differ only in dead values are one state."""


@dataclass(frozen=True)
class Thread:
    """A control-flow automaton.  Locations 0, 1 and 2 are FINISHED, WRONG and IDLE."""

    name: str
    counter: int
    """The address of its program counter."""
    entry: int
    locations: tuple[Location, ...]
    edges: tuple[Edge, ...]
    active: bool = True
    """False for a thread that another one creates: it starts at IDLE."""
    observer: bool = False
    """A thread that only checks a global property; it never counts as waiting."""

    @cached_property
    def outgoing(self) -> tuple[tuple[int, ...], ...]:
        """For each location the positions in `edges` of the edges that leave it."""
        leaving: list[list[int]] = [[] for _ in self.locations]
        for position, edge in enumerate(self.edges):
            leaving[edge.source].append(position)
        return tuple(map(tuple, leaving))

    @cached_property
    def arriving(self) -> tuple[tuple[int, ...], ...]:
        """For each location the positions in `edges` of the edges that lead to it."""
        found: list[list[int]] = [[] for _ in self.locations]
        for position, edge in enumerate(self.edges):
            found[edge.target].append(position)
        return tuple(map(tuple, found))

    @cached_property
    def ends(self) -> frozenset[int]:
        """The locations at which a thread has ended the process."""
        return frozenset(
            location
            for location, leaving in enumerate(self.outgoing)
            if leaving and all(self.edges[position].kind is Kind.END for position in leaving)
        )

    def edges_at(self, location: int) -> Iterator[Edge]:
        return (self.edges[position] for position in self.outgoing[location])

    def successors(self, location: int) -> list[int]:
        return [edge.target for edge in self.edges_at(location)]

    def reachable(self, start: int, inside: Container[int] | None = None) -> set[int]:
        """Find `start` and all locations that can be reached from it on paths `inside`."""
        found, waiting = {start}, [start]
        while waiting:
            for target in self.successors(waiting.pop()):
                if target not in found and (inside is None or target in inside):
                    found.add(target)
                    waiting.append(target)
        return found

    def loop_heads(self, inside: set[int]) -> set[int]:
        """Find a set of locations that every cycle within `inside` meets."""
        return self.search_inside(inside)[1]

    def search_inside(self, inside: set[int]) -> tuple[list[int], set[int]]:
        """Search the locations `inside` depth-first, without leaving them."""

        def follow(location: int) -> list[int]:
            return [target for target in self.successors(location) if target in inside]

        return search_depth_first(sorted(inside), follow)

    def is_exhaustive(self, location: int) -> bool:
        """Whether one of the location's guards always holds, judged by their form."""
        guards = [edge.guard for edge in self.edges_at(location)]
        return None in guards or any(negate(each) in guards for each in guards if each is not None)


def search_depth_first(
    roots: Iterable[int], successors: Callable[[int], Iterable[int]]
) -> tuple[list[int], set[int]]:
    """Return what is reached, in postorder, and the targets of back edges: each cycle has one."""
    finished: list[int] = []
    heads: set[int] = set()
    seen: set[int] = set()
    active: set[int] = set()
    for root in roots:
        path = [] if root in seen else [(root, iter(successors(root)))]
        seen.add(root)
        active.update(place for place, _ in path)
        while path:
            place, remaining = path[-1]
            target = next(remaining, None)
            if target is None:
                path.pop()
                active.discard(place)
                finished.append(place)
            elif target in active:
                heads.add(target)
            elif target not in seen:
                seen.add(target)
                active.add(target)
                path.append((target, iter(successors(target))))
    return finished, heads


DECLARED = ("protected", "unprotected", "unshared")
"""What a model can declare about how its threads share a cell."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a model declares about a cell.  It does not change the behaviour of the program, and an
    analysis that uses it has to check it."""

    kind: str
    """One of `DECLARED`."""
    lock: int | None
    """The owner cell of the lock that protects the cell; None for the other kinds."""
    span: Span


@dataclass(frozen=True, slots=True)
class DeclaredFormula:
    """A temporal formula that a model declares: all of its runs satisfy it.  It is text here:
    `mazurka.ltl` reads it, and nothing that the program does depends on it."""

    text: str
    fair: bool
    """Whether runs that are not fair are left out."""
    span: Span


@dataclass(frozen=True)
class Program:
    """A concurrent program.  `cells[0]` is the null cell, which must not be accessed."""

    name: str
    cells: tuple[Cell, ...]
    threads: tuple[Thread, ...]
    constants: Mapping[str, int] = field(default_factory=dict)
    """The constants that `-D` can override, with their values in this program."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The text of each source file, by the name that spans use."""
    declared: Mapping[int, Declaration] = field(default_factory=dict)
    """What the model declares about shared cells, by address."""
    text: Program | None = field(default=None, repr=False)
    """The program before passes have changed it, where assumptions may stop its threads: what a
    stopped thread would do decides which waits are excused.  Addresses and locations are the same.
    None: this is the text itself, or no thread is ever stopped."""
    formulas: tuple[DeclaredFormula, ...] = ()
    """The temporal formulas that the model declares."""
    functions: tuple[str, ...] = field(default=(), compare=False)
    """The functions that pointers may lead to, for people: the first one is -1, the next -2."""
    remarks: tuple[str, ...] = field(default=(), compare=False)
    """What the reader of the source finds odd, for people; the program does not depend on it."""
    assumed: tuple[str, ...] = field(default=(), compare=False)
    """What the reader of the source takes for granted, and every scope names."""
    weak: bool = field(default=False, compare=False)
    """Whether the source asks for less somewhere than the sequential consistency of programs."""

    @cached_property
    def first_edge(self) -> tuple[int, ...]:
        """The number of each thread's first edge; edges are numbered across all threads."""
        numbers, total = [], 0
        for thread in self.threads:
            numbers.append(total)
            total += len(thread.edges)
        return tuple(numbers)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, in the order of their numbers."""
        return tuple(edge for thread in self.threads for edge in thread.edges)

    @cached_property
    def has_assumptions(self) -> bool:
        """Whether an assumption may stop a thread."""
        return any(edge.kind is Kind.ASSUME for edge in self.edges)

    def has_ended(self, state: Sequence[int]) -> bool:
        """Whether a thread has ended the process."""
        return any(state[thread.counter] in thread.ends for thread in self.threads)

    def initial_state(self) -> tuple[int, ...]:
        return tuple(cell.initial for cell in self.cells)
