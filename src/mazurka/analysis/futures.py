"""What each thread may touch now and later, which locks it needs, where it loops: paper 004.

Kahlon, Gupta, Sinha, *Symbolic Model Checking of Concurrent Programs using Partial Orders and
On-the-fly Transactions* (CAV 2006), section 4.2: `touch-now`, `touch-now-later`, and, with the
locks that another thread holds, `touch-now-later-LS`.  The relation *might be the first to
interfere* asks whether thread j, on some local path from its present location, does something that
depends on an operation of thread i; sets of cells by location answer this question.

| paper | here |
|---|---|
| touch-now(T, x)(pc) | `Futures.now(thread, location)` |
| touch-now-later(T, x)(pc) | `Futures.later(thread, location)` |
| touch-now-later-LS(T, x)(pc), CLP(T', s) | `Futures.later(thread, location, held)` |
| lockPred of a path | `find_needed_locks` of its edges |

Sets of cells are integers, bit n standing for address n.  Reads and writes are kept apart, where
the paper has accesses.  Both contain what any step can touch in any state: every edge, every
choice, guards that fail as well as those that hold, the transient edges after the first one.

*A thread's own cells* are in no footprint of its steps.  If other threads touch them nevertheless,
`Futures.own` adds them to each step: what others may write as reads, and what others may read as
writes.  Two uses by others are harmless.  One is to ask whether a thread is IDLE: none of its steps
changes the answer.  The other is to write its counter and its arguments in the edge that starts it:
the thread is IDLE then, and is not started a second time.

*Creation.*  A thread at IDLE may begin later, at any location where its creators start it.  A
thread that has finished does nothing more, unless it may be started again
(`mazurka.analysis.restarts`): then it may execute all of its code from every location.

*Queues* that are channels (`mazurka.analysis.channels`) appear as their two ends, never as their
cells: what a step does to them follows from its location.  So `Futures.using` adds the ends to the
footprint of a step, and a step that is blocked reads those of `Channels.waiting` as well.

*With locks held* by another thread that does not move, an edge is dead if it needs one of them, and
so is an edge into an atomic section that cannot be left.  A section that may fail before it needs
the lock is not dead, since a step that fails has happened; nor is one that may run for ever.

**Lock conditions** (section 3).  A step that thread j can only take after acquiring a lock which
thread i holds cannot come before i's next step.  Two things have to be certain.

*No thread takes the lock away.*  `find_pattern_locks` returns the disciplined locks of
`ir.passes.held`: no edge writes the owner cell unless it is free or names the acting thread.  So
while it names i, it goes on naming i until i moves.  A `threading.Lock` that some thread may
release for another is not among them; a `threading.Lock` that only its holders release is.

*The step needs the lock.*  `find_needed_locks` returns the locks that must be free, or held by the
thread, for an edge to be taken: its guard says so.  Names and kinds of edges are not used for this.

| in the program | what is needed |
|---|---|
| `acquire`, of a lock at one address | the lock |
| `acquire` of a recursive lock | the lock: free, or held by the thread itself |
| waking up in a condition variable | the condition's lock |
| non-blocking acquire: the edge that succeeds | the lock |
| non-blocking acquire: the edge that fails | nothing |
| `acquire` through a pointer or an index | the lock, if it can be no other cell, else nothing |
| an atomic section | what every path through it needs (`Futures.later`) |

**Sticky locations** are chosen so that every local cycle of a thread contains one.  Kurshan,
Levin, Minea, Peled, Yenigün, *Static Partial Order Reduction* (TACAS 1998), as used in paper 004,
section 4.2.  A cycle of states projects to a closed walk of every thread that moves along it.  If
each such walk leaves a *sticky* location, and a thread at a sticky location counts as in conflict
with all others, then every cycle of a reduced search contains a state from which all threads are
explored, and no thread is delayed for ever.

The graph has a thread's locations as nodes and its steps as arcs: where a step may begin, and
where it may come to rest.  The targets of the back edges of a depth-first search break all its
cycles; in a structured program these are the heads of its loops.

A thread that may be started again has cycles outside this graph, through steps of its creators.
All of them begin again at one of its entry locations, so these are sticky, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from mazurka.analysis.cell_sets import NOTHING, CellSets, bits
from mazurka.analysis.channels import find_channels
from mazurka.analysis.ownership import reach
from mazurka.analysis.restarts import find_restartable_threads, find_unwatched_threads
from mazurka.deadline import check_time
from mazurka.ir.expressions import Const
from mazurka.ir.passes.held import conjuncts, find_ownership, owner_values
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    WRONG,
    Assign,
    Edge,
    Mode,
    Operation,
    Program,
    Role,
    Thread,
    search_depth_first,
)
from mazurka.ir.values.evaluation import cannot_fault
from mazurka.ir.values.footprints import Footprints


def find_pattern_locks(program: Program) -> frozenset[int]:
    """Return the owner cells that only the holder changes while the lock is held."""
    return find_ownership(program).disciplined


def find_needed_locks(footprints: Footprints, edge: Edge, thread: int) -> frozenset[int]:
    """Find the owner cells that must be 0, or name the thread, whenever the edge is taken."""
    found = set()
    for part in conjuncts(edge.guard):
        shown = owner_values(part)
        if shown is None or not shown[1] <= {0, thread + 1}:
            continue
        targets = footprints.targets(shown[0], edge.choices)
        if len(targets) == 1 and footprints.program.cells[targets[0]].role is Role.OWNER:
            found.add(targets[0])
    return frozenset(found)


def find_sticky_locations(program: Program) -> list[frozenset[int]]:
    """Find for each thread a set of locations that every local cycle meets."""
    beginnings = find_ownership(program).beginnings
    restartable = find_restartable_threads(program)
    found = []
    for number, thread in enumerate(program.threads):
        starts = sorted(place for place in beginnings[number] if place >= FIRST_LOCATION)
        # The search begins at `starts`, so that loops are entered by their heads, and then takes
        # all other locations as roots, whether or not they can be reached.
        roots = (*starts, *range(FIRST_LOCATION, len(thread.locations)))
        sticky = frozenset(search_depth_first(roots, partial(_find_rests, thread))[1])
        found.append(sticky.union(starts) if number in restartable else sticky)
    return found


def _find_rests(thread: Thread, location: int) -> tuple[int, ...]:
    """Find where a step from a location may end; no step begins inside an atomic section."""
    if thread.locations[location].mode is Mode.ATOMIC:
        return ()
    return reach(thread, location).rests


KEY = "_futures"

RESTING = (FINISHED, WRONG, IDLE)
"""The locations that no step leaves; only a creator can move a thread away from there."""


class Futures:
    """What each thread may touch now and later, by location."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.channels = find_channels(program)
        self.beginnings = find_ownership(program).beginnings
        self.restartable = find_restartable_threads(program)
        """The threads that may be started again, and so may always execute all of their code."""
        numbered = list(enumerate(program.threads))
        threads = range(len(program.threads))
        self.unwatched = find_unwatched_threads(program)
        self.mine = [
            bits(a for a, cell in enumerate(program.cells) if cell.owner == thread)
            for thread in threads
        ]
        """By thread: its own cells."""
        self.guards = [[self._of_guard(n, edge) for edge in each.edges] for n, each in numbered]
        """By thread and edge: what its guard may read."""
        self.operations = [
            [
                self._of_operations(n, edge) | self.channels.taking(n, position)
                for position, edge in enumerate(each.edges)
            ]
            for n, each in numbered
        ]
        """By thread and edge: what it may touch apart from its guard."""
        self.own = [self._find_own(thread) for thread in threads]
        """By thread: its own cells that each of its steps uses in addition to its footprint."""
        self._everywhere = [self._find_everywhere(thread) for thread in threads]
        self.needed = [
            [find_needed_locks(self.footprints, edge, n) for edge in each.edges]
            for n, each in numbered
        ]
        """By thread and edge: the locks that must be free, or held by the thread."""
        self.needed_by = [frozenset[int]().union(*needed) for needed in self.needed]
        """By thread: all locks that can change the result of `later`."""
        self.observers_meddle = any(
            each.observer and self.everywhere(thread).writes
            for thread, each in enumerate(program.threads)
        )
        """Whether an observer writes.  Observers do not count for deadlocks, so a reduced search
        may miss a deadlock that a step of an observer resolves."""
        self._now: dict[tuple[int, int], CellSets] = {}
        self._later: dict[tuple[int, frozenset[int]], list[CellSets]] = {}

    def now(self, thread: int, location: int) -> CellSets:
        """Return what a step from a location may touch; where none can start, the counter."""
        key = thread, location
        if key not in self._now:
            self._now[key] = self._find_now(thread, location)
        return self._now[key]

    def later(self, thread: int, location: int, held: frozenset[int] = frozenset()) -> CellSets:
        """Return what a thread may touch, now and later, while another one holds these locks."""
        key = thread, held & self.needed_by[thread]
        if key not in self._later:
            self._later[key] = _FutureUnderLocks(self, *key).find_by_location()
        return self._later[key][location]

    def using(self, thread: int, location: int) -> CellSets:
        """Return what a step from a location uses in addition to its footprint."""
        channels = self.channels
        if not channels.channels:
            return self.own[thread]
        found = self.own[thread] | channels.attempting(thread, location)
        for position in reach(self.program.threads[thread], location).edges:
            found |= channels.taking(thread, position)
        return found

    def everywhere(self, thread: int) -> CellSets:
        """Return what a thread touches in any of its edges, reachable or not."""
        return self._everywhere[thread]

    def _find_everywhere(self, thread: int) -> CellSets:
        found = self.own[thread]
        for touched in (*self.guards[thread], *self.operations[thread]):
            found |= touched
        return found

    def _find_now(self, thread: int, location: int) -> CellSets:
        automaton = self.program.threads[thread]
        if location in RESTING:
            return CellSets(reads=1 << automaton.counter)
        found = self.using(thread, location)
        for position in reach(automaton, location).edges:
            found |= self.guards[thread][position] | self.operations[thread][position]
        return found

    def _find_own(self, thread: int) -> CellSets:
        """Find those of a thread's own cells that other threads touch."""
        automaton, mine = self.program.threads[thread], self.mine[thread]
        read = written = 0
        for number, each in enumerate(self.program.threads):
            for position, edge in enumerate(each.edges if number != thread else ()):
                touched = self.guards[number][position] | self.operations[number][position]
                read |= touched.reads & mine
                if thread in self.restartable or not _starts(edge, automaton):
                    written |= touched.writes & mine
        counter = 1 << automaton.counter
        if thread not in self.restartable:
            written &= ~counter
        if thread in self.unwatched:
            read &= ~counter
        return CellSets(reads=written, writes=read)

    def _of_operations(self, thread: int, edge: Edge) -> CellSets:
        touched = self.footprints.of_edge(replace(edge, guard=None))
        hidden = self.mine[thread] | self.channels.cells
        return CellSets(bits(touched.reads), bits(touched.writes)).without(hidden)

    def _of_guard(self, thread: int, edge: Edge) -> CellSets:
        if edge.guard is None:
            return NOTHING
        loads = self.footprints.loads(edge.guard, edge.choices)
        return CellSets(reads=bits(loads)).without(self.mine[thread] | self.channels.cells)


def _starts(edge: Edge, thread: Thread) -> bool:
    """Whether an edge that writes anything is certain to start a thread.

    A check after the first write might fail because the thread runs already.
    """
    written = False
    for operation in edge.operations:
        if isinstance(operation, Assign):
            written = True
            if operation.address == Const(thread.counter):
                return True
        elif written:
            return False
    return False


def find_futures(program: Program) -> Futures:
    """Return the futures of a program's threads; they are cached in the program."""
    kept: Futures | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = Futures(program)
    return kept


class _FutureUnderLocks:
    """The future of one thread while another one holds some locks and does not move."""

    def __init__(self, futures: Futures, thread: int, held: frozenset[int]) -> None:
        self.futures = futures
        self.number = thread
        self.thread = futures.program.threads[thread]
        self.held = held
        locations = range(len(self.thread.locations))
        self.may_fail = [self._guards_may_fail(location) for location in locations]
        """By location: whether evaluating its guards may fault; a fault is a step as well."""
        self.sealed: set[int] = set()
        """Atomic locations that no path leaves: a step that comes here is discarded."""
        self._seal()

    def find_by_location(self) -> list[CellSets]:
        found = [self._find_here(location) for location in range(len(self.thread.locations))]
        self._propagate(found)
        futures, number = self.futures, self.number
        again = NOTHING
        for place in futures.beginnings[number]:
            again |= found[place]
        if number in futures.restartable:
            found = [each | again for each in found]
        found[IDLE] |= again
        return found

    def _find_here(self, location: int) -> CellSets:
        """Find what the edges of a location may touch, as far as they can be taken."""
        futures, number = self.futures, self.number
        leaving = self.thread.outgoing[location]
        alive = [position for position in leaving if self._is_alive(position)]
        merged = self.thread.locations[location].mode is Mode.MERGED
        if not (alive or self.may_fail[location] or (merged and leaving)):
            return NOTHING
        found = futures.own[number]
        for position in leaving:
            found |= futures.guards[number][position]
        for position in alive:
            found |= futures.operations[number][position]
        return found

    def _propagate(self, found: list[CellSets]) -> None:
        """Add to each location what can be reached from it."""
        arriving: list[list[int]] = [[] for _ in found]
        for position, edge in enumerate(self.thread.edges):
            if self._is_alive(position):
                arriving[edge.target].append(edge.source)
        work = list(range(len(found)))
        while work:
            check_time("analysing what threads may do later")
            target = work.pop()
            for source in arriving[target]:
                more = found[source] | found[target]
                if more != found[source]:
                    found[source] = more
                    work.append(source)

    def _is_alive(self, position: int) -> bool:
        """Whether a step that happens can take an edge."""
        edge = self.thread.edges[position]
        if self.futures.needed[self.number][position] & self.held:
            return False
        return edge.target not in self.sealed or self._edge_may_fail(edge)

    def _seal(self) -> None:
        """Find all atomic locations that no path leaves, one after another."""
        inside = [n for n, place in enumerate(self.thread.locations) if place.mode is Mode.ATOMIC]
        while more := [
            location
            for location in inside
            if location not in self.sealed
            and not self.may_fail[location]
            and not any(self._is_alive(position) for position in self.thread.outgoing[location])
        ]:
            self.sealed.update(more)

    def _guards_may_fail(self, location: int) -> bool:
        lookup = self.futures.footprints.lookup
        return not all(
            edge.guard is None or cannot_fault(edge.guard, lookup, edge.choices)
            for edge in self.thread.edges_at(location)
        )

    def _edge_may_fail(self, edge: Edge) -> bool:
        return not all(self._is_safe(operation) for operation in edge.operations)

    def _is_safe(self, operation: Operation) -> bool:
        """Whether an operation cannot fail; known only for stores of constants, as in locks."""
        cells = self.futures.program.cells
        match operation:
            case Assign(Const(address), Const(value)) if 0 < address < len(cells):
                return cells[address].low <= value <= cells[address].high
        return False
