"""A transaction a frame: paper 004's third scheduler, and a thread runs on while it has no rival.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006).  The thread that begins a frame is chosen as the paper does it,
from the conditional stubborn set of the state, with lock patterns
(`mazurka.symbolic.interleavings.stubborn`).

*Deviation.*  In the paper a transition is one step, and a thread in the middle of a transaction is
alone in the stubborn set, so the scheduler takes it again and again.  Here these steps are one
frame: after a step the thread goes on, without being asked, as long as it is alone in a set that is
closed.  So a violation lies as many frames deep as its schedule has transactions, and the solver
does not have to find out, step by step, that there is nobody else to choose.

| paper | here |
|---|---|
| R = some i: execute_i and cstub_i and R_i | the first step of a frame |
| conflict_i(j) for no j: cstub = {i} | `TransactionFrame.is_alone` |
| CLP(T_i, s) within a transaction | the locks that the text shows to be held (`Ownership.held`) |

**Why nothing is lost.**  Let a thread i come to location p in a frame, in a state s.  If no other
thread might be the first to interfere with what i does at p, then {i} is closed under `conflict`,
and a scheduler may choose this set in s: the theorem of `stubborn` is about any choice of closed
sets, one of whose threads can move.  If i cannot move at p, the frame ends, and the next one begins
with the set of s.  So the ends of frames, and the states in between, are states of a reduced search
that the theorem allows; and in those in between nobody has to be looked at but i.  How i may fail
at p is noted where it comes to p.  A state in between is no deadlock, since i goes on.

Conflicts are those that the text knows: where i is alone, nothing that a step from p may touch in
any state is among what another thread, at its place, may touch later, while i holds the locks that
it holds at p on every path there.  What the text does not know ends a transaction, which is always
right.  So does a step back (each location is passed once in a frame), a sticky location, a step
without an end, and a step that changes where another thread is.
"""

from __future__ import annotations

from mazurka.analysis.futures import find_futures, find_pattern_locks, find_sticky_locations
from mazurka.ir.passes.held import find_ownership
from mazurka.ir.program import DEAD_ENDS
from mazurka.symbolic.circuit import StepEvent
from mazurka.symbolic.environment import Environment, Places
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.interleavings.full import choose_mover
from mazurka.symbolic.interleavings.stubborn import StubbornSets, restrict_to_stubborn_sets
from mazurka.symbolic.interleavings.sweeps import apply_step, rank_locations
from mazurka.symbolic.later import PlaceSets
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.steps import StepEncoder


def build_frame(encoder: StepEncoder) -> Frame:
    frame = Frame(encoder)
    threads = range(len(encoder.program.threads))
    _, moves = choose_mover(frame, threads)
    frame.constraint = encoder.graph.some(event.literal for event in moves)
    cstub = StubbornSets(frame, patterns=True).choose()
    restrict_to_stubborn_sets(frame, cstub, moves)
    TransactionFrame(frame).build()
    return frame


class TransactionFrame:
    """Builds what threads do in one frame, each from the state before it."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.graph, self.encoder = frame, frame.graph, frame.encoder
        self.program, self.before = frame.encoder.program, frame.before
        self.futures = find_futures(self.program)
        self.sticky = find_sticky_locations(self.program)
        self.held = find_ownership(self.program).held
        self.locks = find_pattern_locks(self.program)
        self.sets = [PlaceSets(self.graph, places) for places in self.before.places]

    def build(self) -> None:
        """Add the events of all threads, and say what is left behind by the one that moves."""
        encoder, words = self.encoder, self.encoder.words
        threads = range(len(self.program.threads))
        width = max(threads, default=0).bit_length()
        chosen = words.from_bits(self.frame.inputs[:width], 0, (1 << width) - 1)
        after = Environment(dict(self.before.cells), list(self.before.places))
        for thread in threads:
            moves = words.equals(chosen, thread)
            self._merge(after, moves, self.run_on(thread, moves))
        self.frame.nexts = encoder.bits.encode(self.before, after)

    def _merge(self, after: Environment, moves: int, now: Environment) -> None:
        graph, words = self.graph, self.encoder.words
        for address, word in now.cells.items():
            if word is not self.before.cells[address]:
                after.cells[address] = words.select(moves, word, after.cells[address])
        for number, places in enumerate(now.places):
            if places is not self.before.places[number]:
                old = after.places[number]
                after.places[number] = {at: graph.choose(moves, places[at], old[at]) for at in old}

    def run_on(self, thread: int, moves: int) -> Environment:
        """The environment after a transaction of a thread, which begins where `moves` holds."""
        encoder, graph = self.encoder, self.graph
        now = Environment(dict(self.before.cells), list(self.before.places))
        ranks = rank_locations(encoder, thread)
        entry = now.places[thread]
        arrived: Places = dict.fromkeys(entry, FALSE)
        """Where the thread has come in this frame, and may go on."""
        done: Places = dict.fromkeys(entry, FALSE)
        """Where it has come by a step that ended the transaction."""
        left: Places = dict.fromkeys(entry, FALSE)
        """By location whether the step from there has been taken."""
        for start in sorted(encoder.starts(thread), key=ranks.__getitem__):
            if entry[start] == arrived[start] == FALSE:
                continue
            record = self._encode(now, thread, start, first=arrived[start] == FALSE)
            if arrived[start] != FALSE:
                # A frame that does not count must not be bad, since its first step is not taken.
                self.frame.add_faults(record, graph.both(self.frame.constraint, arrived[start]))
            goes_on = graph.both(arrived[start], self.is_alone(record, start))
            begins = graph.both(entry[start], moves)
            runs = graph.both(record.moved, graph.either(begins, goes_on))
            if runs == FALSE:
                continue
            self.frame.events.append(StepEvent(runs, thread))
            left[start] = runs
            only_here = len(record.places) == 1
            for target, arrives in record.places[thread].items():
                table = arrived if only_here and ranks[target] > ranks[start] else done
                table[target] = graph.either(table[target], graph.both(runs, arrives))
            apply_step(encoder, now, record, runs)
        now.places[thread] = {
            place: graph.either(
                graph.both(graph.either(entry[place], arrived[place]), left[place] ^ 1),
                done[place],
            )
            for place in entry
        }
        return now

    def _encode(self, now: Environment, thread: int, start: int, *, first: bool) -> StepRecord:
        """The step from a location; the one that was encoded before, if nothing has happened."""
        return (
            self.frame.records[thread, start] if first else self.encoder.encode(now, thread, start)
        )

    def is_alone(self, record: StepRecord, place: int) -> int:
        """Whether the set of this thread alone is closed when it has come to a place."""
        thread, futures = record.thread, self.futures
        endless = [record.beyond, *(record.faults.get(fault, FALSE) for fault in DEAD_ENDS)]
        if futures.observers_meddle or place in self.sticky[thread] or any(endless):
            return FALSE
        held = (self.held[thread][place] or frozenset()) & self.locks
        return self.graph.every(
            self.sets[other].find(self._find_rivals(thread, place, other, held)) ^ 1
            for other in range(len(self.program.threads))
            if other != thread
        )

    def _find_rivals(
        self, thread: int, place: int, other: int, held: frozenset[int]
    ) -> frozenset[int]:
        """The places from which another thread might be the first to interfere."""
        touched = self.futures.now(thread, place)
        return frozenset(
            at
            for at in self.before.places[other]
            if touched.interferes(self.futures.later(other, at, held))
        )
