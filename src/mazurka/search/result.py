"""What a search answers: a schedule to a violation, or how much it has seen."""

from __future__ import annotations

from dataclasses import dataclass, field

BITSTATE = "bitstate"
"""The limit of a search that stores states as bits, and takes some of them for others."""
LOST_WORKER = "worker"
"""The limit of a search by a cluster, one of whose workers has ended."""
CUT_SHORT = frozenset(
    {"time", "memory", "disk", "interrupted", "transitions", "cancelled", BITSTATE, LOST_WORKER}
)
"""Limits after which a search has seen only a part of what it wanted to see."""


LASSO = "ltl"
"""The kind of a violation that is a run: it ends, or its last moves are repeated for ever."""


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a schedule: which thread, and which of its nondeterministic choices."""

    thread: int
    choice: int = 0


@dataclass(frozen=True, slots=True)
class Violation:
    """What was found, and the schedule that leads there from the initial state.

    For a fault the last move is the step that fails; for a deadlock and for a race the moves
    lead to the state in question, and a race names the two threads that collide.
    """

    kind: str
    path: tuple[Move, ...]
    racing: tuple[Move, Move] | None = None
    loop_start: int | None = None
    """For a run that never ends: the moves from this index of `path` on are repeated for ever."""
    settled: int | None = None
    """For a hang: the number of moves that lead to it.  Those behind them change nothing shared:
    each thread goes to its loop, and then round it once."""

    @property
    def leading(self) -> tuple[Move, ...]:
        """The moves that lead to what was found: the schedule that is compared and counted."""
        return self.path if self.settled is None else self.path[: self.settled]


@dataclass(frozen=True, slots=True)
class Statistics:
    states: int = 0
    transitions: int = 0
    depth: int = 0
    """The deepest point of the search: stack height, or levels of a breadth-first search."""
    seconds: float = 0.0
    table_bytes: int = 0
    """What the visited states take: the table and, where states are kept apart, the states."""
    peak_bytes: int = 0
    """Table, stack, queue and everything else of the search."""
    disk_bytes: int | None = None
    """The most that the search has had on disk, where it keeps states there."""
    coverage: float | None = None
    """The estimated part of the states that was visited, where some may have been passed over."""
    expanded: int | None = None
    """For searches by vectors: how many states have had their vectors made."""
    executions: int | None = None
    """For searches over schedules: how many runs came to an end: all threads have ended, none can
    move, or one has failed.  A run that the search cuts off, for any reason, does not count."""
    partial_orders: int | None = None
    """How many of them differ in more than the order of independent steps, where it is known."""
    unrolled: int | None = None
    """For searches that unroll a circuit and store no states: every execution of so many
    transitions of the circuit has been looked at.  `states` is then 0, unless they were counted."""
    unrolled_unit: str = "step"
    """What one of these transitions is: `step` or `round`."""
    proof: str | None = None
    """What proves that no longer execution violates anything either: `an inductive invariant of 12
    clauses`."""

    doing: str = ""
    """What the search is busy with, where its counts do not tell, for whoever watches it: `frame 7:
    120 clauses`."""
    encoding_seconds: float | None = None
    """For searches with a circuit: what making it and its copies took; the rest of `seconds` is
    loading and solving."""
    loading_seconds: float | None = None
    """What handing clauses to solvers took, where that is known."""
    conflicts: int | None = None
    """The conflicts of SAT solvers, where they are counted."""

    @property
    def bytes_per_state(self) -> float:
        stored = self.table_bytes if self.disk_bytes is None else self.disk_bytes
        return stored / self.states if self.states else 0.0

    @property
    def states_per_second(self) -> float:
        return self.states / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class CellClass:
    """How the threads share a cell, as a search has found it (paper 002's classification)."""

    cell: str
    kind: str
    """`unshared`, `read-only`, `protected`, `handed over` or `unprotected`."""
    lock: str | None = None
    """What protects it: the names of the locks held at every access."""
    round: int = 1
    """The round of the search from which on it had this class."""
    address: int = 0
    """Which cell of the program it is: variables of different calls have the same name."""


@dataclass(frozen=True, slots=True)
class Round:
    """A search that assumed too much, and what it taught; the next one starts afresh."""

    statistics: Statistics
    reason: str
    """A sentence: which assumption broke, where."""


@dataclass(frozen=True, slots=True)
class ExplainedPart:
    """A part of what a search has made of the program, for people: a title, and named rows."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SearchResult:
    """`limits` names what cut the search short, one of `CUT_SHORT`, or the message of a bound that
    the program passed.  Without limits and violation the search is complete."""

    statistics: Statistics
    violation: Violation | None = None
    limits: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    classification: tuple[CellClass, ...] = ()
    """For searches that classify cells: every shared cell."""
    interchangeable: tuple[tuple[str, ...], ...] = ()
    """The names of threads that were taken as one up to renaming, by class."""
    rounds: tuple[Round, ...] = ()
    """The rounds before the last one, whose statistics are `statistics`."""
    explanation: tuple[ExplainedPart, ...] = ()
    """What was made of the program, where that was asked for (`SearchOptions.explain`)."""
    order: str | None = None
    """The order of the search, where that was not for the user to choose."""
