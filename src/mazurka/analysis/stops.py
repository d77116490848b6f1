"""What a search tells of states in which nobody moves because of an assumption.

Waits that a stopped thread could end are excused (`mazurka.analysis.standstill`), so a verdict
without a violation says in how many states they are.  It also says if no execution gets past the
assumptions: then the verdict may be about nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from mazurka.analysis.standstill import Standstill, find_failed_assumptions
from mazurka.ir.interpreter import Interpreter, State
from mazurka.ir.program import Edge, Kind, Program, Span

MOST_STATES = 200_000
"""How many states are kept to count each once; beyond that the count is a lower bound."""


class StopFacts(NamedTuple):
    """What `Stops` knows of states in which nobody moves."""

    excused: frozenset[State]
    spans: frozenset[Span]
    sampled: bool
    ended_freely: bool
    stopped: bool


class Stops:
    """The states that a search has met in which nobody moves and some thread is stopped."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.interpreter = Interpreter(program)
        watching = {n for n, thread in enumerate(program.threads) if thread.observer}
        self.counted_cells = [
            a for a, cell in enumerate(program.cells) if cell.owner not in watching
        ]
        """Cells that do not belong to an observer: how far it has got is no difference."""
        self.excused: set[State] = set()
        self.sampled = False
        """Whether there may be more such states than those that were counted."""
        self.ended_freely = False
        """Whether there was a state in which nobody moves and no thread is stopped."""
        self.spans: set[Span] = set()
        """Where the assumptions are because of which nobody moves."""
        self.looping = False
        """Whether threads go round for ever in some state, and it is no hang because of one."""
        self.looping_spans: set[Span] = set()
        """Where the assumptions are because of which they do."""
        self.stopped = False
        """Whether there was a state in which nobody moves and some thread is stopped."""

    def note(self, state: State, found: Standstill) -> None:
        """Take notice of a state in which nobody moves."""
        if found.failed or found.deadlocked:
            return
        self.ended_freely |= not found.stopped  # also where the process has ended
        if not found.stopped:
            return
        edges = list(self._find_edges(state, found.stopped))
        if any(edge.kind is Kind.END for edge in edges):  # inside an atomic section
            self.ended_freely = True
            return
        self.stopped = True
        if not found.is_excused:
            return
        self.spans.update(edge.span for edge in edges)
        if len(self.excused) < MOST_STATES:
            self.excused.add(tuple([state[address] for address in self.counted_cells]))
        else:
            self.sampled = True

    def add(self, other: StopFacts) -> None:
        """Take over what another search of the program has met, in other executions."""
        self.excused |= other.excused
        self.spans |= other.spans
        self.sampled |= other.sampled
        self.ended_freely |= other.ended_freely
        self.stopped |= other.stopped

    def facts(self) -> StopFacts:
        """What was met by a search over schedules, as something that can be sent."""
        return StopFacts(
            frozenset(self.excused),
            frozenset(self.spans),
            self.sampled,
            self.ended_freely,
            self.stopped,
        )

    def note_quiet(self, state: State, stopped: Collection[int], *, excused: bool) -> None:
        """Take notice of a state in which threads go round for ever and nothing else happens."""
        if excused:
            edges = list(self._find_edges(state, stopped))
            if all(edge.kind is Kind.ASSUME for edge in edges):
                self.looping = True
                self.looping_spans.update(edge.span for edge in edges)

    def _find_edges(self, state: State, stopped: Collection[int]) -> Iterator[Edge]:
        """The edges at which these threads are stopped."""
        for thread in stopped:
            automaton = self.program.threads[thread]
            place = state[automaton.counter]
            edges = list(automaton.edges_at(place))
            if all(edge.kind is Kind.ASSUME for edge in edges):
                yield from edges
            else:  # the assumption is inside an atomic section
                numbers = find_failed_assumptions(self.interpreter, state, thread)
                yield from (self.program.edges[number] for number in numbers)

    def notes(self, *, complete: bool, properties: frozenset[str]) -> tuple[str, ...]:
        """What to say when a search has found no violation of these properties."""
        exact = complete and not self.sampled
        told = []
        if self.excused and self.spans:
            many = len(self.excused)
            at_least = "" if exact else "at least "
            states = f"{at_least}{many:,} state{'' if many == 1 else 's'}"
            told.append(f"in {states} nobody moves because of {_describe(self.spans)}")
        if self.looping and "hang" in properties:
            why = _describe(self.looping_spans) if self.looping_spans else "an `assume`"
            told.append(f"threads go round for ever in some states because of {why}: no hang")
        # Without "assert" a thread may have failed, which looks like one that was stopped.
        always = exact and not self.ended_freely and {"assert", "deadlock"} <= properties
        if always and self.stopped:
            told.append(
                "no execution runs to its end: in every state in which nobody moves a thread is"
                f" stopped by {self._name_assumption()}"
            )
        return tuple(told)

    def _name_assumption(self) -> str:
        """The only assumption of the program, or any of them: not all such states are looked at."""
        spans = {edge.span for edge in self.program.edges if edge.kind is Kind.ASSUME}
        return _describe(spans) if len({span.line for span in spans}) == 1 else "an `assume`"


def _describe(spans: set[Span]) -> str:
    lines = sorted({span.line for span in spans})
    *others, last = map(str, lines)
    place = f"lines {', '.join(others)} and {last}" if others else f"line {last}"
    return f"`assume` at {place}"
