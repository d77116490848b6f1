"""One step a frame, and two adjacent independent steps only in the order of their threads.

Wang, Yang, Kahlon, Gupta, *Peephole Partial Order Reduction* (TACAS 2008).  The scheduler of the
full interleaving is kept.  A few latches remember which thread took the last step and what that
step has read and written, and the constraint is:

    a step of thread i does not follow a step of a thread k > i on which it does not depend.

Steps of different threads are *dependent* if one of them writes a cell that the other one reads or
writes, in the states in which they are taken (`mazurka.symbolic.interleavings.earliest` says what
these cells are).

**No violation is lost.**  Of all schedules that differ from a run only in the order of adjacent
independent steps, take the one whose sequence of thread numbers is the least in lexicographic
order.  There are finitely many, all of the same length.  If a step of thread i followed a step of
k > i on which it does not depend, exchanging the two would give a smaller one.  So this schedule
is kept, and it ends in the same state.  A *deadlock* is that state, and a *fault* is a step from
it: what the step depends on has been done, and the frame in which it fails need not satisfy the
constraint.

**No proof is wrong.**  The schedule that is kept is as long as the run.  So where no kept schedule
has another step, no run has; and "no violation within k steps" is true of all runs.
"""

from __future__ import annotations

from mazurka.symbolic.environment import Latch
from mazurka.symbolic.graphs.graph import FALSE
from mazurka.symbolic.interleavings import full
from mazurka.symbolic.interleavings.earliest import (
    READ,
    WRITE,
    Accesses,
    find_accesses,
    find_conflicting_cells,
)
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.steps import StepEncoder


def build_frame(encoder: StepEncoder) -> Frame:
    frame = full.build_frame(encoder)
    _Peephole(frame).restrict()
    return frame


class _Peephole:
    """Builds the constraint and its latches."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.graph = frame, frame.graph
        self.moves = [event.literal for event in frame.events if event.fault is None]
        """By thread whether it takes the step of this frame."""
        self.accesses = self._find_accesses()

    def _find_accesses(self) -> list[Accesses]:
        """By thread what its step reads and writes, wherever the thread is."""
        touched = find_conflicting_cells(self.frame.encoder.footprints)
        parts: list[tuple[dict[int, list[int]], dict[int, list[int]]]] = [({}, {}) for _ in touched]
        for (thread, place), record in self.frame.records.items():
            at = self.frame.before.places[thread][place]
            found = find_accesses(self.graph, record, touched[thread])
            for table, cells in zip(parts[thread], found, strict=True):
                for cell, condition in cells.items():
                    table.setdefault(cell, []).append(self.graph.both(at, condition))
        return [
            (
                {cell: self.graph.some(each) for cell, each in reads.items()},
                {cell: self.graph.some(each) for cell, each in writes.items()},
            )
            for reads, writes in parts
        ]

    def restrict(self) -> None:
        graph = self.graph
        before = [self._remember(f"moved {n}", move) for n, move in enumerate(self.moves)]
        last = self._remember_step(READ), self._remember_step(WRITE)
        allowed = []
        for thread, move in enumerate(self.moves):
            in_order = graph.some(before[thread + 1 :]) ^ 1
            allowed.append(graph.some([move ^ 1, in_order, self._depends(thread, last)]))
        self.frame.constraint = graph.every([self.frame.constraint, *allowed])

    def _remember(self, name: str, literal: int) -> int:
        """A latch with what a literal was in the frame before."""
        leaf = self.graph.add_leaf()
        self.frame.extra.append((Latch(leaf, 0, name), literal))
        return leaf

    def _remember_step(self, kind: int) -> dict[int, int]:
        """By cell the latch that says the last step has read it, or written it."""
        cells = sorted({cell for each in self.accesses for cell in each[kind]})
        return {
            cell: self._remember(
                f"{('read', 'written')[kind]} {cell}",
                self.graph.some(
                    self.graph.both(move, each[kind].get(cell, FALSE))
                    for move, each in zip(self.moves, self.accesses, strict=True)
                ),
            )
            for cell in cells
        }

    def _depends(self, thread: int, last: Accesses) -> int:
        """Whether the thread's step depends on the last one."""
        reads, writes = self.accesses[thread]
        return self.graph.some(
            [
                *(self.graph.both(at, last[WRITE].get(x, FALSE)) for x, at in reads.items()),
                *(
                    self.graph.both(at, last[kind].get(x, FALSE))
                    for x, at in writes.items()
                    for kind in (READ, WRITE)
                ),
            ]
        )
