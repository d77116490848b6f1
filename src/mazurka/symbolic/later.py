"""What each thread may touch later, in a circuit: `touch-now-later` and `touch-now-later-LS`.

Kahlon, Gupta, Sinha (CAV 2006), section 4.2.  `mazurka.analysis.futures` knows for every location,
and every set of locks that another thread holds, what a thread may touch from there on.  Here this
becomes literals: the location is the thread's place, and a lock is held where its owner cell names
the other thread.

| paper | here |
|---|---|
| touch-now-later(T_j, x)(pc_j) | `LaterTouches.find(j, cells)` |
| touch-now-later-LS(T_j, x)(pc_j), given CLP(T_i, s) | `LaterTouches.find(j, cells, holder=i)` |
| CLP(T_i, s): "T_i owns lk in s" | `LaterTouches.holds(i, lk)` |
| AP_x, the disjunction of lockPred over all paths | a `LockTree` for each place |

*Reads and writes* are told apart, and several cells may be asked about together (`CellsAsked`).

**Lock trees.**  For one place and some cells, "the thread may touch one while these locks are
held" is an antitone function f of the set of locks: who may take fewer paths touches less.  A tree
tests one lock after the other.  Each test is of a lock in a smallest set of locks that keeps the
thread from the cell, so locks without any influence are never tested.  After `MOST_TESTS` tests the
tree says "may touch", which is always a sound answer: it is a conflict more.

**Sets of places.**  Threads come to an end, and what a thread may touch later becomes less: most of
the sets of places from which it may touch something contain each other.  So each is made of the
largest one that is known already and of what is missing (`PlaceSets`), or it is the opposite of
such a set, since a thread is at exactly one place.  The constraint of a frame is copied for every
frame, so its size matters more than that of anything else here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from mazurka.analysis.cell_sets import CellSets
from mazurka.analysis.futures import Futures
from mazurka.deadline import check_time
from mazurka.symbolic.environment import Environment, Places
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig
from mazurka.symbolic.graphs.words import Words

MOST_TESTS = 64
"""How many tests of locks a tree may have."""

LockTree: TypeAlias = "bool | tuple[int, LockTree, LockTree]"
"""Whether the cell may be touched; or a lock, with the trees if it is held and if it is not."""


class CellsAsked(NamedTuple):
    """Sets of cells, a bit a cell: one that is written later counts in both, one that is read later
    in the second."""

    written: int
    touched: int

    def meet(self, later: CellSets) -> bool:
        """Whether one of the cells is among what is touched later."""
        written, touched = self
        return bool(later.writes & (written | touched) or later.reads & touched)


class LaterTouches:
    """Finds what threads may touch later in one environment."""

    def __init__(
        self, futures: Futures, words: Words, environment: Environment, locks: frozenset[int]
    ) -> None:
        """`locks`: the owner cells that may be relied on (`find_pattern_locks`)."""
        self.futures, self.words, self.graph = futures, words, words.graph
        self.environment, self.locks = environment, locks
        self._found: dict[tuple[int, CellsAsked, int | None], int] = {}
        self._trees: dict[tuple[int, CellsAsked], dict[LockTree, frozenset[int]]] = {}
        self.sets = [PlaceSets(self.graph, places) for places in environment.places]
        self._later = [
            {place: futures.later(thread, place) for place in places}
            for thread, places in enumerate(environment.places)
        ]
        """By thread and place what it may touch while nobody holds a lock."""

    def prepare(self, questions: Iterable[tuple[int, CellsAsked]]) -> None:
        """Look ahead at what will be asked of threads: sets of places are made of smaller ones."""
        wanted: list[set[frozenset[int]]] = [set() for _ in self.sets]
        for thread, cells in questions:
            wanted[thread].update(self._trees_of(thread, cells).values())
        for made, sets in zip(self.sets, wanted, strict=True):
            made.prepare(sets)

    def find(self, thread: int, cells: CellsAsked, *, holder: int | None = None) -> int:
        """Whether a thread may touch one of the cells, now or later, before `holder` has moved."""
        key = thread, cells, holder
        if key not in self._found:
            parts = [
                self.graph.both(self.sets[thread].find(places), self._evaluate(tree, holder))
                for tree, places in self._trees_of(thread, cells).items()
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

    def _trees_of(self, thread: int, cells: CellsAsked) -> dict[LockTree, frozenset[int]]:
        """The distinct trees of a thread's places, each with the places that have it."""
        key = thread, cells
        if key not in self._trees:
            check_time("encoding what threads may do later")
            places: dict[LockTree, list[int]] = {}
            locks = self.locks & self.futures.needed_by[thread]
            for place, later in self._later[thread].items():
                if not cells.meet(later):
                    continue
                tree: LockTree = True
                if locks:
                    tree = _TreeBuilder(self.futures, thread, cells, place).build(locks)
                places.setdefault(tree, []).append(place)
            self._trees[key] = {tree: frozenset(at) for tree, at in places.items()}
        return self._trees[key]


class PlaceSets:
    """Literals that say a thread is at one of some places."""

    def __init__(self, graph: Aig, places: Places) -> None:
        self.graph, self.places = graph, places
        self.whole = frozenset(places)
        self._known: dict[frozenset[int], int] = {frozenset(): FALSE}

    def prepare(self, sets: Iterable[frozenset[int]]) -> None:
        """Make the literals of some sets, the small ones first."""
        for places in sorted(sets, key=lambda each: (len(each), sorted(each))):
            self.find(places)

    def find(self, places: frozenset[int]) -> int:
        if places not in self._known:
            rest = self.whole - places
            base, other = self._find_base(places), self._find_base(rest)
            if len(rest) - len(other) < len(places) - len(base):
                self._known[rest] = self._extend(other, rest)
            else:
                self._known[rest] = self._extend(base, places) ^ 1
            self._known[places] = self._known[rest] ^ 1
        return self._known[places]

    def _find_base(self, places: frozenset[int]) -> frozenset[int]:
        """The largest known set of some of the places."""
        return max((each for each in self._known if each <= places), key=len)

    def _extend(self, base: frozenset[int], places: frozenset[int]) -> int:
        missing = [self.places[place] for place in sorted(places - base)]
        return self.graph.some([self._known[base], *missing])


class _TreeBuilder:
    """Builds the tree of one thread at one place, for some cells."""

    def __init__(self, futures: Futures, thread: int, cells: CellsAsked, place: int) -> None:
        self.futures, self.thread, self.place, self.cells = futures, thread, place, cells
        self.tests = 0

    def build(self, locks: frozenset[int]) -> LockTree:
        """`locks`: those that may be tested."""
        return self._split(frozenset(), locks)

    def _touches(self, held: frozenset[int]) -> bool:
        return self.cells.meet(self.futures.later(self.thread, self.place, held))

    def _split(self, held: frozenset[int], untested: frozenset[int]) -> LockTree:
        if not self._touches(held):
            return False
        if not untested or self.tests >= MOST_TESTS or self._touches(held | untested):
            return True
        self.tests += 1
        lock = min(self._find_blocking(held, untested))
        rest = untested - {lock}
        return lock, self._split(held | {lock}, rest), self._split(held, rest)

    def _find_blocking(self, held: frozenset[int], untested: frozenset[int]) -> frozenset[int]:
        """Find a set of locks, none of them superfluous, that keep the thread from the cells."""
        blocking = untested
        for lock in sorted(untested):
            if not self._touches(held | (blocking - {lock})):
                blocking -= {lock}
        return blocking
