"""What each thread may touch later, in a circuit: `touch-now-later` and `touch-now-later-LS`.

Kahlon, Gupta, Sinha (CAV 2006), section 4.2.  `mazurka.analysis.futures` knows for every location,
and every set of locks that another thread holds, what a thread may touch from there on.  Here this
becomes literals: the location is the thread's place, and a lock is held where its owner cell names
the other thread.

| paper | here |
|---|---|
| touch-now-later(T_j, x)(pc_j) | `LaterTouches.find(j, x)` |
| touch-now-later-LS(T_j, x)(pc_j), given CLP(T_i, s) | `LaterTouches.find(j, x, holder=i)` |
| CLP(T_i, s): "T_i owns lk in s" | `LaterTouches.holds(i, lk)` |
| AP_x, the disjunction of lockPred over all paths | a `LockTree` for each place |

*Reads and writes* are told apart: `only_writes` leaves out reads.

**Lock trees.**  For one place and one cell, "the thread may touch the cell while these locks are
held" is an antitone function f of the set of locks: who may take fewer paths touches less.  A tree
tests one lock after the other.  Each test is of a lock in a smallest set of locks that keeps the
thread from the cell, so locks without any influence are never tested.  After `MOST_TESTS` tests the
tree says "may touch", which is always a sound answer: it is a conflict more.
"""

from __future__ import annotations

from typing import TypeAlias

from mazurka.analysis.futures import Futures
from mazurka.deadline import check_time
from mazurka.symbolic.environment import Environment
from mazurka.symbolic.graph import FALSE, TRUE
from mazurka.symbolic.words import Words

MOST_TESTS = 64
"""How many tests of locks a tree may have."""

LockTree: TypeAlias = "bool | tuple[int, LockTree, LockTree]"
"""Whether the cell may be touched; or a lock, with the trees if it is held and if it is not."""


class LaterTouches:
    """Finds what threads may touch later in one environment."""

    def __init__(
        self, futures: Futures, words: Words, environment: Environment, locks: frozenset[int]
    ) -> None:
        """`locks`: the owner cells that may be relied on (`find_pattern_locks`)."""
        self.futures, self.words, self.graph = futures, words, words.graph
        self.environment, self.locks = environment, locks
        self._found: dict[tuple[int, int, int | None, bool], int] = {}
        self._trees: dict[tuple[int, int, bool], list[tuple[LockTree, int]]] = {}

    def find(
        self, thread: int, cell: int, *, holder: int | None = None, only_writes: bool = False
    ) -> int:
        """Whether a thread may touch a cell, now or later, before `holder` has moved."""
        key = thread, cell, holder, only_writes
        if key not in self._found:
            parts = [
                self.graph.both(at, self._evaluate(tree, holder))
                for tree, at in self._trees_of(thread, cell, only_writes)
            ]
            self._found[key] = self.graph.some(parts)
        return self._found[key]

    def holds(self, thread: int, lock: int) -> int:
        """Whether a thread holds a lock: CLP."""
        return self.words.equals(self.environment.cells[lock], thread + 1)

    def _evaluate(self, tree: LockTree, holder: int | None) -> int:
        if isinstance(tree, bool):
            return TRUE if tree else FALSE
        lock, held, free = tree
        if holder is None:  # no lock stops it
            return self._evaluate(free, holder)
        return self.graph.choose(
            self.holds(holder, lock), self._evaluate(held, holder), self._evaluate(free, holder)
        )

    def _trees_of(self, thread: int, cell: int, only_writes: bool) -> list[tuple[LockTree, int]]:
        """The distinct trees of a thread's places, each with the literal of being there."""
        key = thread, cell, only_writes
        if key not in self._trees:
            check_time("encoding what threads may do later")
            places: dict[LockTree, list[int]] = {}
            for place, at in self.environment.places[thread].items():
                tree = _TreeBuilder(self.futures, *key, place).build(self.locks)
                if tree is not False:
                    places.setdefault(tree, []).append(at)
            self._trees[key] = [(tree, self.graph.some(at)) for tree, at in places.items()]
        return self._trees[key]


class _TreeBuilder:
    """Builds the tree of one thread at one place, for one cell."""

    def __init__(
        self, futures: Futures, thread: int, cell: int, only_writes: bool, place: int
    ) -> None:
        self.futures, self.thread, self.place = futures, thread, place
        self.cell, self.only_writes = cell, only_writes
        self.tests = 0

    def build(self, locks: frozenset[int]) -> LockTree:
        return self._split(frozenset(), locks & self.futures.needed_by[self.thread])

    def _touches(self, held: frozenset[int]) -> bool:
        found = self.futures.later(self.thread, self.place, held)
        cells = found.writes if self.only_writes else found.reads | found.writes
        return bool(cells >> self.cell & 1)

    def _split(self, held: frozenset[int], untested: frozenset[int]) -> LockTree:
        if not self._touches(held):
            return False
        if self.tests >= MOST_TESTS or self._touches(held | untested):
            return True
        self.tests += 1
        lock = min(self._find_blocking(held, untested))
        rest = untested - {lock}
        return lock, self._split(held | {lock}, rest), self._split(held, rest)

    def _find_blocking(self, held: frozenset[int], untested: frozenset[int]) -> frozenset[int]:
        """Find a set of locks, none of them superfluous, that keep the thread from the cell."""
        blocking = untested
        for lock in sorted(untested):
            if not self._touches(held | (blocking - {lock})):
                blocking -= {lock}
        return blocking
