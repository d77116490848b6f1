"""What a search is asked for, what it answers, and how strategies are found.

A strategy is one file in `mazurka.stateful.strategies` that defines `STRATEGY`.  Its name is the
file's name with dashes for underscores.  Nothing else has to be edited to add one.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from mazurka.errors import OptionError
from mazurka.ir.program import Program

PROPERTIES = ("assert", "deadlock", "race")
CUT_SHORT = frozenset({"time", "memory", "interrupted", "transitions", "cancelled"})
"""Limits after which a search has seen only a part of what it wanted to see."""


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
    executions: int | None = None
    """For searches over schedules: how many runs came to an end."""
    partial_orders: int | None = None
    """How many of them differ in more than the order of independent steps, where it is known."""

    @property
    def bytes_per_state(self) -> float:
        return self.table_bytes / self.states if self.states else 0.0

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


@dataclass(frozen=True, slots=True)
class Round:
    """A search that assumed too much, and what it taught; the next one starts afresh."""

    statistics: Statistics
    reason: str
    """A sentence: which assumption broke, where."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    properties: frozenset[str] = frozenset({"assert", "deadlock"})
    order: str = "dfs"
    stop_at_first: bool = True
    """False: go on after a violation, so that the counts are those of the whole state space."""
    limit_seconds: float | None = None
    limit_bytes: int | None = None
    movers: str = "inferred"
    """Where a reduction by transactions takes the protection of cells from: `inferred` while
    searching, `static` (a lockset analysis beforehand), or `declared` in the model."""
    self_check: bool = False
    """Repeat the search on the interpreter, its invariants asserted (`stateful.self_check`)."""
    cycle_rule: str = "return"
    """When a thread's prefix in a cartesian vector counts as infinite (`stateful.cartesian`)."""
    workers: int = 1
    """How many cartesian vectors are made at the same time."""
    limit_transitions: int | None = None
    """Stop after about so many transitions; for searches that try something out."""
    cancelled: Callable[[], bool] | None = None
    """Asked between slices whether somebody else has found the answer meanwhile."""
    proviso: str = "stack"
    """What keeps persistent sets from ignoring a thread for ever: `stack` or `sticky`."""


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
    rounds: tuple[Round, ...] = ()
    """The rounds before the last one, whose statistics are `statistics`."""


class Observer(Protocol):
    """Told how a search stands, a few times a second; may draw it.  It never decides anything."""

    def progress(self, statistics: Statistics) -> None: ...

    def message(self, text: str) -> None:
        """What goes on now; of interest only to somebody who watches."""

    def notice(self, text: str) -> None:
        """Why there is a pause that nobody would expect; told even where nobody watches."""


class Silent:
    """An observer that looks away."""

    def progress(self, statistics: Statistics) -> None:
        pass

    def message(self, text: str) -> None:
        pass

    def notice(self, text: str) -> None:
        pass


@dataclass(frozen=True)
class Strategy:
    name: str
    summary: str
    preserves: frozenset[str]
    """The properties for which a complete search without violation means that they hold."""
    orders: tuple[str, ...]
    run: Callable[[Program, SearchOptions, Observer], SearchResult]
    sound: bool = True
    """False for a strategy that is unsound by design: it finds violations, never excludes them."""
    tuned_by: frozenset[str] = frozenset()
    """The options it listens to beyond those that all do: `cycle_rule`, `workers`, `proviso`."""
    over_schedules: bool = False
    """It runs schedules to their end and stores no states, so it needs executions that end."""


def strategy_names() -> list[str]:
    """All strategies, without importing any."""
    from mazurka.stateful import strategies

    return sorted(
        module.name.replace("_", "-") for module in pkgutil.iter_modules(strategies.__path__)
    )


def require_known(name: str, known: list[str]) -> None:
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise OptionError(f"unknown strategy {name!r}; there are: {', '.join(known)}{hint}")


def load_strategy(name: str) -> Strategy:
    require_known(name, strategy_names())
    module = importlib.import_module(f"mazurka.stateful.strategies.{name.replace('-', '_')}")
    strategy = module.STRATEGY
    assert isinstance(strategy, Strategy)
    return strategy
