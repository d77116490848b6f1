"""Every step in the earliest turn possible: one schedule of rounds for each trace.

Two runs that differ only in the order of adjacent independent steps are the same Mazurkiewicz
*trace*; they end in the same state, and in the same fault.  Of all schedules of sweeps
(`mazurka.symbolic.interleavings.sweeps`) that make one trace, it is enough to keep one.  This
constraint keeps those in which the first step of a turn could not have been taken in the thread's
turn of the round before:

    the first step of thread t's turn in round r > 1 is dependent on a step that another thread has
    taken since t's turn in round r - 1, or t's turn in round r - 1 ended with a step back.

Steps of different threads are *dependent* if one of them writes a cell that the other one reads or
writes, in the states in which they are taken.

**No violation is lost.**  Take a run, and put its steps, in their order, each into the earliest
turn (r, t) such that (a) r is not before the round of t's last step, and not this round if that
step led back, and (b) every earlier step of another thread that is dependent on it has a turn
before (r, t).  Sorted by turns, dependent steps are in the order of the run, so this is a schedule
of the same trace: each step takes place as in the run, since it reads what it read there.  Let s be
the first step of the turn (r, t), r > 1.  It was not put into (r - 1, t), so either t's last step
is in round r - 1 and led back, or some step u of another thread is dependent on s and not before
(r - 1, t).  As u is before (r, t), it was taken since t's turn in round r - 1.  So the schedule is
kept.  None of its rounds before the last one is empty: the first turn after an empty round would
have no reason.

A *fault* is a step like any other: the steps that it depends on are in turns before its own, in
rounds that satisfy the constraint, and the round in which it happens need not.  A *deadlock* is the
end of a run, and so the end of a round.

**No proof is wrong.**  Where no schedule that is kept has another round, no run has more steps than
those that were looked at, since every run has such a schedule.

**What a step reads and writes** is its footprint (`StepRecord.reads`, `writes`), exact in the state
in which it is taken: so two adjacent steps that are not dependent can be exchanged, each with the
same footprint as before.  Footprints leave out a thread's own cells.  Those that others may touch
are added to every step of the thread: what others may read as written, what others may write as
read.  Its program counter is among them, so a step is dependent on the step that started its
thread, and whoever asks whether a thread has ended is dependent on its steps.
"""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.ir.values.footprints import Footprints
from mazurka.symbolic.environment import Latch, Places
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.record import StepRecord

READ, WRITE = 0, 1
Accesses = tuple[dict[int, int], dict[int, int]]
"""By cell, the literal that says it was read; and that it was written."""


class EarliestTurns:
    """Builds the constraint beside the turns of one frame."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.graph = frame, frame.graph
        self.touched = find_conflicting_cells(frame.encoder.footprints)
        self.past: list[Accesses] = [
            (self._remember(thread, "read", reads), self._remember(thread, "written", writes))
            for thread, (reads, writes) in enumerate(self._wanted())
        ]
        """By thread what others have done since its turn in the round before, in that round."""
        self.back = [self._add_latch(f"back {n}", 1) for n in range(len(self.touched))]
        self.done: list[Accesses] = []
        """What the threads have done in this round, those that have had their turns."""
        self.nexts: dict[int, int] = {}
        """By latch the literal that it takes."""

    def _wanted(self) -> list[tuple[set[int], set[int]]]:
        """By thread the cells whose reads, and whose writes, by others have to be remembered."""
        last = len(self.touched) - 1
        return [
            (set(writes), {*reads, *writes}) if thread < last else (set(), set())
            for thread, (reads, writes) in enumerate(self.touched)
        ]

    def _remember(self, thread: int, what: str, cells: set[int]) -> dict[int, int]:
        return {cell: self._add_latch(f"{what} {cell} since {thread}", 0) for cell in sorted(cells)}

    def _add_latch(self, name: str, initial: int) -> int:
        literal = self.graph.add_leaf()
        self.frame.extra.append((Latch(literal, initial, name), FALSE))
        return literal

    # --- one turn -----------------------------------------------------------------------------

    def begin(self, thread: int, places: Places) -> None:
        """A turn begins, with the thread at these places."""
        self.thread, self.entry = thread, dict(places)
        self.mine: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})

    def take(self, record: StepRecord, start: int, runs: int) -> None:
        """The thread takes a step where `runs` holds."""
        graph = self.graph
        accesses = find_accesses(graph, record, self.touched[record.thread])
        first = graph.both(runs, self.entry[start])
        if first != FALSE:
            free = graph.either(self.back[self.thread], self._depends(accesses))
            allowed = graph.either(first ^ 1, free)
            self.frame.constraint = graph.both(self.frame.constraint, allowed)
        for mine, found in zip(self.mine, accesses, strict=True):
            for cell, condition in found.items():
                mine.setdefault(cell, []).append(graph.both(runs, condition))

    def end(self, led_back: int) -> None:
        """The turn is over; `led_back` is whether its last step led back."""
        reads, writes = (
            {cell: self.graph.some(each) for cell, each in mine.items()} for mine in self.mine
        )
        self.done.append((reads, writes))
        self.nexts[self.back[self.thread]] = led_back

    def _depends(self, accesses: Accesses) -> int:
        """Whether a step depends on what others have done since the thread's last turn."""
        graph, (reads, writes) = self.graph, accesses
        conflicts = [graph.both(at, self._since(WRITE, cell)) for cell, at in reads.items()]
        conflicts += [
            graph.both(at, self._since(kind, cell))
            for cell, at in writes.items()
            for kind in (READ, WRITE)
        ]
        return graph.some(conflicts)

    def _since(self, kind: int, cell: int) -> int:
        """Whether another thread has read or written a cell since the thread's last turn."""
        now = [accesses[kind].get(cell, FALSE) for accesses in self.done]
        return self.graph.some([self.past[self.thread][kind].get(cell, FALSE), *now])

    # --- the end of the round -----------------------------------------------------------------

    def finish(self) -> None:
        """Say what the latches take."""
        graph = self.graph
        for thread, tables in enumerate(self.past):
            later = self.done[thread + 1 :]
            for kind, table in enumerate(tables):
                for cell, latch in table.items():
                    parts = [accesses[kind].get(cell, FALSE) for accesses in later]
                    self.nexts[latch] = graph.some(parts)
        self.frame.extra = [(latch, self.nexts[latch.literal]) for latch, _ in self.frame.extra]


def find_accesses(graph: Aig, record: StepRecord, static: tuple[set[int], set[int]]) -> Accesses:
    """What a step reads and writes, as far as another thread may care: `static` are the thread's
    cells of `find_conflicting_cells`."""
    own = find_own_cells(record.program, record.thread)
    reads, writes = (
        {
            cell: TRUE if cell in own else graph.some(recorded.get(cell, ()))
            for cell in sorted(cells)
        }
        for cells, recorded in zip(static, (record.reads, record.writes), strict=True)
    )
    return reads, writes


def find_conflicting_cells(footprints: Footprints) -> list[tuple[set[int], set[int]]]:
    """By thread the cells that it reads and others may write, and those that it writes and others
    may touch; its own cells that others touch count as touched by all of its steps."""
    program = footprints.program
    static = [[footprints.of_edge(edge) for edge in thread.edges] for thread in program.threads]
    reads = [{cell for each in touched for cell in each.reads} for touched in static]
    writes = [{cell for each in touched for cell in each.writes} for touched in static]
    own = [find_own_cells(program, thread) for thread in range(len(static))]
    all_reads = [each | (own[n] & _union(writes, without=n)) for n, each in enumerate(reads)]
    all_writes = [each | (own[n] & _union(reads, without=n)) for n, each in enumerate(writes)]
    found = []
    for n in range(len(static)):
        written, read = _union(all_writes, without=n), _union(all_reads, without=n)
        found.append((all_reads[n] & written, all_writes[n] & (written | read)))
    return found


def find_own_cells(program: Program, thread: int) -> set[int]:
    """The cells that accesses of the thread itself do not count for."""
    own = {address for address, cell in enumerate(program.cells) if cell.owner == thread}
    return own | {program.threads[thread].counter}


def _union(sets: list[set[int]], *, without: int) -> set[int]:
    return set().union(*(each for n, each in enumerate(sets) if n != without))
