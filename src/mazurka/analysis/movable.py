"""Find the locks whose acquire is a right mover and whose release is a left mover, statically.

Once a thread has taken a lock, whatever another thread does next was possible before: it cannot
have depended on the lock, provided that no thread but the holder reads the owner cell except to
wait until it is free.  So the acquire commutes to the right.  In the same way a release commutes to
the left: nothing that another thread did just before can have depended on the lock being held.
A `try`, a timeout, `locked()` or a release by another thread would be such a dependence.

Each edge is judged by what it does, not by its name.  It may touch the owner cell of a movable
lock in two ways:

- it *takes* the lock: the guard requires it to be free (or held by the thread), the first operation
  on it stores the thread's number, and nothing else of the edge reads it; and so do all edges
  of that location, so that the thread merely waits while the lock is taken;
- its thread *holds* the lock before the edge, on every path, and leaves it free or held.
"""

from __future__ import annotations

from mazurka.analysis.laws import walk_edge
from mazurka.ir.expressions import ZERO, Conditional, Const, Expr, Load, walk
from mazurka.ir.passes.held import Ownership, conjuncts, owner_values
from mazurka.ir.program import Assign, Edge, Kind, Program, Thread

LOOKING = frozenset({Kind.TRY_ACQUIRE, Kind.INSPECT})


def find_movable_locks(program: Program) -> frozenset[int]:
    """Find the owner cells of the movable locks."""
    ownership = Ownership(program)
    locks = set(ownership.disciplined)
    for number, thread in enumerate(program.threads):
        for location, held in enumerate(ownership.held[number]):
            if held is not None:
                locks -= _find_spoiled(ownership, thread, number, location)
    return frozenset(locks)


def _find_spoiled(ownership: Ownership, thread: Thread, number: int, location: int) -> set[int]:
    """Find the locks that some edge of a location touches in any but the two allowed ways."""
    edges = [_Touches(ownership, edge, number) for edge in thread.edges_at(location)]
    if not edges:
        return set()
    taken = set.intersection(*(edge.find_taken() for edge in edges))
    held = ownership.held[number][location] or frozenset()
    spoiled: set[int] = set()
    for touches in edges:
        locks = touches.locks()
        if touches.edge.kind not in LOOKING:
            locks -= taken | touches.find_kept_or_freed(held)
        spoiled |= locks
    return spoiled


class _Touches:
    """What one edge does to owner cells."""

    def __init__(self, ownership: Ownership, edge: Edge, number: int) -> None:
        self.ownership = ownership
        self.edge = edge
        self.me = number + 1
        self.loads = [each.address for each in walk_edge(edge) if isinstance(each, Load)]
        self.stores = edge.stores

    def may_reach(self, address: Expr, lock: int) -> bool:
        return lock in self.ownership.footprints.targets(address, self.edge.choices)

    def locks(self) -> set[int]:
        touched = self.ownership.footprints.of_edge(self.edge)
        return set(self.ownership.disciplined & (touched.reads | touched.writes))

    def find_taken(self) -> set[int]:
        """Find the locks, at fixed addresses, that the edge waits for and takes."""
        found = set()
        for part in conjuncts(self.edge.guard):
            match owner_values(part):
                case (Const(lock), values) if values <= {0, self.me}:
                    if self._only_takes(lock, part):
                        found.add(lock)
        return found

    def _only_takes(self, lock: int, waiting: Expr) -> bool:
        looks = sum(isinstance(each, Load) for each in walk(waiting))
        loads = [address for address in self.loads if self.may_reach(address, lock)]
        stores = [store for store in self.stores if self.may_reach(store.address, lock)]
        own = [Assign(Const(lock), Const(self.me))]
        return loads == [Const(lock)] * looks and stores == own

    def find_kept_or_freed(self, held: frozenset[int]) -> set[int]:
        """Find those of the held locks that the edge releases or still holds afterwards."""
        wild = [store for store in self.stores if not self._keeps_or_frees(store, store.value)]
        return {
            lock for lock in held if not any(self.may_reach(store.address, lock) for store in wild)
        }

    def _keeps_or_frees(self, store: Assign, value: Expr) -> bool:
        match value:
            case Conditional(_, then, otherwise):
                return all(self._keeps_or_frees(store, part) for part in (then, otherwise))
            case _:
                return value in (ZERO, Const(self.me), Load(store.address))
