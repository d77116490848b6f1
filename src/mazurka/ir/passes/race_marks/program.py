"""Turn data races into faults: an access can be declared by a mark, and one that meets it fails.

For engines that follow faults but not pairs of threads.  A race (`docs/semantics.md`) is a state
in which two threads can both move, their footprints share a data cell, one of them writes it, and
the step of one is *plain*: it does not begin with an atomic operation.  `mark_races` adds *marks*,
which are cells that no report shows, and changes the threads' automata:

- *Declaring.*  Where a thread rests before a plain step that touches one of `cells`, it chooses: it
  takes the step, or it evaluates the step (guards, addresses, values, whatever may fail), marks the
  cells that the step would read and write, and stops for ever without having changed anything else.
- *Checking.*  Each access to one of `cells`, by whatever kind of step, looks for another thread's
  mark: a read for one of a write, a write for any.  If there is one, the fault is `race`.

| where | what is done |
|---|---|
| steps of several edges | the atomic section is copied; the copy marks, and changes nothing |
| sections that may wait later on | they remember the mark, and fail when they are through |
| locks, queues, counts that a declared step reads | its marks are void behind a write |
| a thread that is started again, or whose own cells others write | its marks are void then |

Only what is needed is declared: a plain step that writes, and one that reads a cell which another
thread writes by a step that is not plain.  In any other pair the other step is declared.

**Theorem.**  The marked program can reach the fault `race` if and only if the program has a race on
one of `cells` between two steps that do not fail.  Its other faults are those of the program.

*Steps that fail* are left out: where the step of t or of u fails in s, by a fault of the program or
at a bound of the model, its evaluation fails in the same way, perhaps before it has marked the cell
or met a mark.  Then that fault is what the marked program reaches: a violation of its own, or a
bound, behind which nothing is known.  So a search of the marked program never says that there is no
race in such a program: it tells another violation, or is inconclusive.

*If.*  Let t and u race in s.  The marked program reaches s without declaring anything: all edges of
the program are there, and without marks no check fails.  At least one of the two, say t, is
declared as stated above.  From s, t declares: its step is possible, so the copy runs through as the
step would, and marks the footprint.  Nothing but marks has changed, so the step of u is possible
and touches the cell; it fails, for what it writes itself makes no marks void before its end.

*Only if.*  Let u fail because of a mark of t.  Leave the declaring moves out of the run; the rest
is a run of the program, since declaring changes nothing that others read: a thread that has
declared is one that has not moved since.  It leads to a state s in which the step of u is possible
and touches the cell.  The step of t is possible there, with the footprint that was marked, because
nothing that it reads has changed since it was declared:

- *data among `cells`* is marked as read, and a step that writes it would have failed;
- *other data* has no race, and t's plain step was possible all the time up to the first such write;
- *synchronization* written in between has made the marks void, and void marks make nobody fail;
- *cells of its own* that another thread has written have made the marks void, too.  (If the step
  reads a cell of another thread, which that one may change unseen, the program is refused.)

So t and u race in s.  *Other faults*: a run of the program is one of the marked program; and where
an evaluation for the sake of a mark fails, the step itself fails in the same way.

Deadlocks and hangs are not preserved, since threads stop for ever.  Reductions need not know of
marks: they are cells in footprints like others, an access depends on the declarations that it can
meet, and two reads do not depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.errors import UnsupportedError
from mazurka.ir.passes.race_marks.marks import Marks
from mazurka.ir.passes.race_marks.threads import MarkedThread
from mazurka.ir.program import Cell, Program, Thread

MOST_THREADS = 62
"""Threads that read are bits of one cell."""


@dataclass(frozen=True)
class MarkedProgram:
    """A program with marks, and what its moves mean in the program without them."""

    program: Program
    origin: Program
    declaring: frozenset[tuple[int, int]]
    """Threads and locations at which an odd choice declares a step, and an even one takes it."""


def mark_races(
    program: Program, cells: frozenset[int], restartable: frozenset[int] = frozenset()
) -> MarkedProgram:
    """Add marks for races on the given cells; all other data must be known to have none.

    `restartable` are the threads that might be started while they run.
    """
    if len(program.threads) > MOST_THREADS:
        raise UnsupportedError(
            f"{len(program.threads)} threads; races are marked for at most {MOST_THREADS}"
        )
    marks = Marks(program, cells, restartable)
    automata = [
        MarkedThread(marks, number, thread) for number, thread in enumerate(program.threads)
    ]
    threads = tuple(automaton.build() for automaton in automata)
    found = replace(
        program,
        cells=extend_counters(program, threads) + tuple(marks.added),
        threads=threads,
        text=None,
    )
    declaring = frozenset(
        (number, step.location) for number, steps in enumerate(marks.declared) for step in steps
    )
    return MarkedProgram(found, program, declaring)


def extend_counters(program: Program, threads: tuple[Thread, ...]) -> tuple[Cell, ...]:
    """Give the program counters room for the locations that have come along."""
    cells = list(program.cells)
    for before, thread in zip(program.threads, threads, strict=True):
        counter, last = cells[thread.counter], len(thread.locations) - 1
        points = counter.points
        if points is not None:
            points += tuple(range(len(before.locations), last + 1))
        cells[thread.counter] = replace(counter, high=max(counter.high, last), points=points)
    return tuple(cells)
