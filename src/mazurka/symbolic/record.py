"""What the step of a thread from one location does, in literals and words of a circuit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mazurka.ir.program import DEAD_ENDS, WRONG, Fault, Program
from mazurka.symbolic.environment import PathView, Places
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.graphs.words import Word


class Arrival(NamedTuple):
    """An end of a step: where, with which location and changes."""

    condition: int
    location: int
    view: PathView


class ChoiceKey(NamedTuple):
    """Which choice a word decides: of this edge, in this pass of the step from `start`."""

    thread: int
    start: int
    edge: int
    """The position of the edge in `Thread.edges`."""
    repetition: int


@dataclass
class StepRecord:
    """What the step of a thread from one location does.  Literals hold *given* that the thread is
    at that location; the conditions of `moved`, `waits`, `stopped`, faults and `beyond` exclude
    each other, and one of them holds unless the thread has nothing to do there."""

    thread: int
    program: Program
    thread_of: dict[int, int]
    survived: frozenset[Fault]
    moved: int = FALSE
    """The step takes place."""
    waits: int = FALSE
    stopped: int = FALSE
    """An assumption stops it, or there is no edge."""
    acts: int = FALSE
    """It takes place, fails, or is not known: the thread neither waits nor is stopped.  In this
    form the condition depends on guards alone."""
    beyond: int = FALSE
    """Its loops were not unrolled often enough."""
    faults: dict[Fault, int] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)
    cells: dict[int, Word] = field(default_factory=dict)
    """What the cells that it may change hold after it, where it has moved."""
    places: dict[int, Places] = field(default_factory=dict)
    """The same for program counters, its own among them."""
    reads: dict[int, list[int]] = field(default_factory=dict)
    """The footprint: by cell the conditions under which it is read, also by guards that fail."""
    writes: dict[int, list[int]] = field(default_factory=dict)
    choices: dict[ChoiceKey, Word] = field(default_factory=dict)
    """The leaves behind its choices."""
    pending_faults: list[tuple[Fault, int]] = field(default_factory=list)
    """What `faults` is made of when the step has been followed to all of its ends."""

    def add_fault(self, fault: Fault, condition: int, view: PathView) -> None:
        if condition == FALSE:
            return
        self.pending_faults.append((fault, condition))
        if fault in self.survived and fault not in DEAD_ENDS:
            self.arrivals.append(Arrival(condition, WRONG, view.copy()))

    def add_access(self, address: int, condition: int, *, write: bool) -> None:
        if condition != FALSE:
            (self.writes if write else self.reads).setdefault(address, []).append(condition)

    def is_public(self, address: int) -> bool:
        """Whether accesses to the cell belong to the thread's footprint."""
        own = self.program.cells[address].owner == self.thread
        return not own or address == self.program.threads[self.thread].counter
