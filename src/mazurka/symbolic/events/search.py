"""Bounded search over partial orders of events.

Each thread is unwound so many passes over its loops (`mazurka.symbolic.events.unwinding`), and the
solver is asked for an order of the events in which one fails (`mazurka.symbolic.events.ordering`,
with the argument).  If no thread can go on behind its last pass, all executions have been looked
at, and the program is proved.  Else there is another search with twice as many passes, up to
`--rounds`.

A violation is an order of steps, which are taken on the interpreter one by one.  Where assumptions
stop threads, the interpreter also decides whether a standstill is a deadlock.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.analysis.restarts import find_restartable_threads
from mazurka.analysis.standstill import examine_standstill
from mazurka.errors import InternalError
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.native.layout import make_layout
from mazurka.ir.program import Fault
from mazurka.ir.values.footprints import Footprints
from mazurka.search import ExplainedPart, Move, Violation
from mazurka.search.naming import name_cells
from mazurka.symbolic.bmc import CircuitSearch
from mazurka.symbolic.circuit import DEADLOCK, UNROLLING
from mazurka.symbolic.ends import SeenEnds
from mazurka.symbolic.environment import StateBits
from mazurka.symbolic.events.ordering import OrderClauses
from mazurka.symbolic.events.unwinding import (
    SharedCells,
    ThreadUnwinding,
    UnwoundStep,
    find_other_start,
    is_unknown,
)
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig
from mazurka.symbolic.graphs.words import Words
from mazurka.symbolic.options import UNROLLED
from mazurka.symbolic.schedules import take_chosen_step
from mazurka.symbolic.solving.solver import SatSolver
from mazurka.symbolic.steps import StepEncoder

EVENTS_AT_ONCE = 400
"""Threads that end by themselves within so many events are unwound to their ends at once."""
FIRST_PASSES = 2


class TooManyEvents(Exception):  # noqa: N818 - it is control flow, not an error
    """A thread has not ended within so many events."""


@dataclass
class Unwound:
    """The events of all threads, and what is asked about them."""

    threads: list[ThreadUnwinding]
    failures: dict[str, int]
    """By fault, and by what is not known, that some event fails so."""
    deadlock: int
    """Nobody can move, and somebody waits."""
    is_exact: bool
    """Whether `deadlock` is no more than that: no assumption stops anybody."""
    ends: dict[str, int]
    """Other states in which nobody can move (`mazurka.symbolic.outlook.Standstills`)."""
    beyond: int
    late: int


class EventSearch(CircuitSearch):
    """One search."""

    events = 0
    """How many there are."""
    unwound: Unwound | None = None
    order: OrderClauses | None = None

    def work(self) -> None:
        self.unit = "iteration"
        self.examined: set[str] = set()
        self.standing = DEADLOCK in self.options.properties
        footprints = Footprints(self.program)
        edge = find_other_start(footprints, find_restartable_threads(self.program))
        if edge is not None:
            self.limits.append(
                f"line {edge.span.line} may start a thread again, or not at its beginning, which"
                " --strategy events does not look at"
            )
            return
        passes = self.most_frames
        unwound = self.unwind_whole(passes)
        if unwound is None:
            passes = min(FIRST_PASSES, passes)
            unwound = self.unwind(passes, None)
        while self.decide(unwound):
            if passes >= self.most_frames:
                many = f"{passes:,} iteration{'' if passes == 1 else 's'}"
                self.limits.append(f"some thread makes more than {many} of its loops")
                return
            passes = min(2 * passes, self.most_frames)
            unwound = self.unwind(passes, None)

    def unwind_whole(self, passes: int) -> Unwound | None:
        """Make the events of all threads to their ends; None where these are too many, or where a
        thread may go on behind so many passes: then few passes may be enough."""
        try:
            unwound = self.unwind(passes, EVENTS_AT_ONCE)
        except TooManyEvents:
            return None
        return unwound if unwound.beyond == FALSE or passes <= FIRST_PASSES else None

    def own_bytes(self) -> int:
        made = super().own_bytes()
        if self.options.share_bytes is None or self.order is None:
            return made
        return made + self.order.bytes

    # --- from the program to a question -----------------------------------------------------------

    def unwind(self, passes: int, most_events: int | None) -> Unwound:
        """Make the events of all threads."""
        began = time.perf_counter()
        graph = self.frames = Aig(self.observer)
        bits = StateBits(make_layout(self.program), Words(graph))
        asks = "assert" in self.options.properties
        survived: frozenset[Fault] = frozenset() if asks else frozenset({Fault.ASSERT})
        encoder = StepEncoder(bits, unrolling=self.options.value(UNROLLED), survived=survived)
        shared, made = SharedCells(encoder), 0

        def look() -> None:
            nonlocal made
            made += 1
            self.doing = f"{made:,} events"
            self.keep_limits(lambda: 0)
            if most_events is not None and made > most_events:
                raise TooManyEvents

        threads = [
            ThreadUnwinding(shared, number, passes, standing=self.standing, look=look)
            for number in range(len(self.program.threads))
        ]
        self.shared, self.graph = shared, graph
        self.events = sum(len(thread.events) for thread in threads)
        found = self._ask(threads)
        self.encoding_seconds += time.perf_counter() - began
        return found

    def _ask(self, threads: list[ThreadUnwinding]) -> Unwound:
        graph = self.graph
        failures: dict[str, list[int]] = {}
        for thread in threads:
            for event in thread.events:
                for name, literal in event.failures.items():
                    failures.setdefault(name, []).append(graph.both(event.go, literal))
        deadlock, late = FALSE, FALSE
        ends: dict[str, int] = {}
        if self.standing:
            late = graph.add_leaf()
            deadlock, ends = self._find_standstills(threads, late)
        return Unwound(
            threads,
            {name: graph.some(each) for name, each in failures.items()},
            deadlock,
            all(e.stopped == FALSE for t in threads for e in t.events)
            and all(thread.stranded == FALSE for thread in threads),
            ends,
            graph.some(thread.beyond for thread in threads),
            late,
        )

    def _find_standstills(
        self, threads: list[ThreadUnwinding], late: int
    ) -> tuple[int, dict[str, int]]:
        """The states in which nobody can move; observers do not count."""
        graph = self.graph
        still, waits, stopped, over = [late], [], [], []
        for thread, automaton in zip(threads, self.program.threads, strict=True):
            if automaton.observer:
                continue
            still += [thread.beyond ^ 1, thread.wrong ^ 1]
            stopped.append(thread.stranded)
            over.append(thread.ended)
            for event in thread.events:
                pending = graph.both(event.arrives, event.go ^ 1)
                still.append(graph.both(pending, event.acts) ^ 1)
                still.append(graph.both(event.go, event.moved ^ 1) ^ 1)
                waits.append(graph.both(pending, graph.both(event.waits, event.stopped ^ 1)))
                stopped.append(graph.both(pending, event.stopped))
        quiet, waiting = graph.every(still), graph.some(waits)
        some_stopped, ended = graph.some(stopped), graph.both(quiet, graph.some(over))
        all_still = graph.both(quiet, ended ^ 1)
        freely = graph.every([all_still, waiting ^ 1, some_stopped ^ 1])
        ends = {
            "stopped": graph.both(all_still, some_stopped),
            "ended": graph.either(ended, freely),
            "excused": graph.every([all_still, waiting, some_stopped]),
        }
        return graph.both(all_still, waiting), ends

    # --- answers ----------------------------------------------------------------------------------

    def decide(self, unwound: Unwound) -> bool:
        """Ask the solver; whether there may be more behind the last pass."""
        roots = [*unwound.failures.values(), unwound.deadlock, unwound.beyond]
        roots += unwound.ends.values()
        order = OrderClauses(
            self.graph, self.shared, unwound.threads, unwound.late, roots, self.look_at_size
        )
        self.unwound, self.order = unwound, order
        clauses = order.make_clauses()
        with SatSolver(waiting=self.wait) as self.solver:
            self.solver.add(clauses)
            self.doing = f"{self.events:,} events, {self.solver.clauses:,} clauses"
            self.wait(self.solver)
            reader = _OrderReader(self, order, self.solver)
            if self._find_failure(unwound, order, reader):
                return False
            if self._find_deadlock(unwound, order, reader):
                return False
            self.covered = self.depth = max([1, *(each.passes for each in unwound.threads)])
            if self._is_possible(order, unwound.beyond):
                return True
            self._find_ends(unwound, order, reader)
            return False

    def _is_possible(self, order: OrderClauses, literal: int) -> bool:
        assert self.solver is not None
        if literal == FALSE:
            return False
        return self.solver.solve([order.term(literal)] if literal != TRUE else [])

    def _find_ends(self, unwound: Unwound, order: OrderClauses, reader: _OrderReader) -> None:
        """Look for states in which nobody moves because of assumptions, one of each kind."""
        ends = SeenEnds(self.program, unwound.ends)
        for kind, literal in list(ends.unseen.items()):
            if self._is_possible(order, literal):
                ends.note_state(kind, reader.read_end()[1])
        self.stop_notes = ends.describe(self.options.properties, complete=not self.limits)

    def look_at_size(self) -> None:
        self.doing = f"the order of {self.events:,} events"
        self.keep_limits(lambda: 0)

    def _find_failure(self, unwound: Unwound, order: OrderClauses, reader: _OrderReader) -> bool:
        for name, literal in unwound.failures.items():
            if is_unknown(name) and name in self.examined:
                continue
            if not self._is_possible(order, literal):
                continue
            path, step = reader.read_failure(name)
            self.depth = len(path)
            if not is_unknown(name):
                self.violation = Violation(name, path)
                return True
            self.examined.add(name)
            if self.examine_unknown(path, step):
                return True
        return False

    def _find_deadlock(self, unwound: Unwound, order: OrderClauses, reader: _OrderReader) -> bool:
        if not self._is_possible(order, unwound.deadlock):
            return False
        path, state = reader.read_end()
        found = examine_standstill(reader.interpreter, state)
        if found is None:
            raise InternalError("the order of events says that nobody moves, but somebody can")
        if found.deadlocked:
            self.violation, self.depth = Violation(DEADLOCK, path), len(path)
            return True
        if unwound.is_exact:
            raise InternalError("the order of events says that nobody moves, but somebody can")
        self.limits.append(
            "an assumption stops threads while others wait, and --strategy events does not tell"
            " such states from deadlocks"
        )
        return False

    def explain(self) -> Iterator[ExplainedPart]:
        if self.unwound is None or self.order is None:
            return
        threads = zip(self.program.threads, self.unwound.threads, strict=True)
        events = ", ".join(f"{thread.name} {len(made.events):,}" for thread, made in threads)
        writes = sum(map(len, self.order.writes.values()))
        rows = (
            ("events", f"{self.events:,}: {events}"),
            ("ordered", f"{sum(map(len, self.order.ordered)):,}, which others may notice"),
            ("cells", name_cells(self.program, sorted(self.order.writes)) or "none is shared"),
            ("reads", f"{len(self.order.readings):,}, of {writes:,} writes and the first values"),
            ("pairs", f"{len(self.order.befores):,} of events that may come in either order"),
            ("nodes", f"{self.graph.nodes:,} in all, for the steps of the events"),
            ("clauses", f"{self.solver.clauses if self.solver is not None else 0:,}"),
        )
        yield ExplainedPart("the events", rows)

    def describe_effort(self) -> tuple[str, ...]:
        if self.solver is None:
            return ()
        told = f"{self.events:,} events"
        if self.options.deterministic:
            return (told,)
        return (
            f"{told}; {self.encoding_seconds:.2f} s for encoding,"
            f" {self.solver.loading_seconds:.2f} s for loading {self.solver.clauses:,} clauses,"
            f" {self.solver.solving_seconds:.2f} s for solving",
        )


class _OrderReader:
    """Reads schedules out of the solver's models, and takes them on the interpreter."""

    def __init__(self, owner: EventSearch, order: OrderClauses, solver: SatSolver) -> None:
        self.owner, self.order, self.solver = owner, order, solver
        self.interpreter = Interpreter(owner.program)

    def read_failure(self, name: str) -> tuple[tuple[Move, ...], Step]:
        """The schedule to the event that fails so, and its last step."""
        state = self.owner.program.initial_state()
        path: list[Move] = []
        for event in self._sorted():
            move, step = self._take(state, event)
            failures = [each for each, x in event.failures.items() if self._is_true(x)]
            if name in failures:
                if name != UNROLLING and (step.fault is None or step.fault.fault != name):
                    raise InternalError(f"thread {event.thread} does not fail as it should")
                return (*path, move), step
            if not failures:  # of several events that fail, the others change nothing
                path.append(move)
                state = step.state
        raise InternalError("the order of events says that a step fails, but none does")

    def read_end(self) -> tuple[tuple[Move, ...], State]:
        """The schedule of all events, and the state behind it."""
        state = self.owner.program.initial_state()
        path: list[Move] = []
        for event in self._sorted():
            move, step = self._take(state, event)
            path.append(move)
            state = step.state
        return tuple(path), state

    def _sorted(self) -> list[UnwoundStep]:
        order, writer = self.order, self.order.writer
        goes = [placed.event.go for placed in order.events]
        bits = [
            bit
            for placed in order.events
            for word in placed.event.choices.values()
            for bit in order.shared.encoder.words.literals(word)
        ]
        failing = [lit for p in order.events for lit in p.event.failures.values() if lit > TRUE]
        nodes = [bit for bit in (*goes, *bits, *failing) if writer.has(bit)]
        variables = [abs(writer.literal(bit)) for bit in nodes]
        wanted = list(dict.fromkeys([*variables, *order.befores.values()]))
        self.values = dict(zip(wanted, self.solver.values(wanted), strict=True))
        going = [n for n, literal in enumerate(goes) if self._is_true(literal)]
        return [order.events[n].event for n in order.sort(going, self.values)]

    def _is_true(self, literal: int) -> bool:
        if literal <= TRUE:
            return bool(literal)
        if not self.order.writer.has(literal):
            return False
        named = self.order.writer.literal(literal)
        return bool(self.values[abs(named)]) == (named > 0)

    def _take(self, state: State, event: UnwoundStep) -> tuple[Move, Step]:
        if self.interpreter.location(state, event.thread) != event.location:
            raise InternalError(f"thread {event.thread} is not where the order of events says")
        words = self.order.shared.encoder.words
        raw = {
            key: sum(self._is_true(bit) << i for i, bit in enumerate(words.literals(word)))
            for key, word in event.choices.items()
        }
        move, step = take_chosen_step(self.interpreter, state, event.thread, raw)
        if not step.happened:
            raise InternalError(f"thread {event.thread} does not move as the order of events says")
        return move, step
