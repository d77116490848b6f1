"""Which locks keep other threads from going on, and where: the lock conditions of paper 004.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006), section 3.  A step that thread j can only take after acquiring
a lock which thread i holds cannot come before i's next step.  Two things have to be certain.

*Nobody takes the lock away.*  `pattern_locks` are the disciplined locks of `ir.passes.held`: no
edge writes the owner cell unless it is free or names the acting thread.  So while it names i, it
goes on naming i until i moves.  A `threading.Lock` that some thread may release for another is not
among them; one whose releases all come from holders is.

*The step needs the lock.*  `needed_locks` are the locks that must be free, or the thread's own, for
an edge to be taken: its guard says so.  Names and kinds of edges mean nothing here.

| in the program | what is needed |
|---|---|
| `acquire`, of a lock at one address | the lock |
| `acquire` of a recursive lock | the lock: free, or held by the thread itself |
| waking up in a condition variable | the condition's lock |
| trying: the edge that succeeds | the lock |
| trying: the edge that fails | nothing |
| `acquire` through a pointer or an index | the lock, if no other cell can be meant, else nothing |
| an atomic section | what every way through it needs (`mazurka.analysis.futures`) |
"""

from __future__ import annotations

from mazurka.ir.passes.held import Ownership, conjuncts, owner_values
from mazurka.ir.program import Edge, Program, Role
from mazurka.ir.values.footprints import Footprints


def pattern_locks(program: Program) -> frozenset[int]:
    """The owner cells that nobody but the holder changes while the lock is held."""
    return frozenset(Ownership(program).disciplined)


def needed_locks(footprints: Footprints, edge: Edge, thread: int) -> frozenset[int]:
    """The owner cells which must be 0, or name the thread, whenever the edge is taken."""
    found = set()
    for part in conjuncts(edge.guard):
        shown = owner_values(part)
        if shown is None or not shown[1] <= {0, thread + 1}:
            continue
        targets = footprints.targets(shown[0], edge.choices)
        if len(targets) == 1 and footprints.program.cells[targets[0]].role is Role.OWNER:
            found.add(targets[0])
    return frozenset(found)
