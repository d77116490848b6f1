"""Gather threads that are started one after the other, and joins that follow each other.

Programs often start and join alike threads in a loop.  The order in which this happens tells the
threads apart, though it cannot matter: so a search that takes alike threads as one works on a
program in which a chain of starts is one step, and a chain of joins waits for all of them at once.

A *start* is a CREATE edge of a thread m that makes one idle thread t run: it checks that t is idle,
and stores constants in t's program counter, in t's status and in t's own cells.  No other edge
writes that counter, and the edge is taken at most once: m is never started by anybody, and no path
leads back.  No thread but m and t touches these cells.  A *join* is a location of m at which it
waits for t's status to be `DONE`, which only the last edge of t stores; every path to it contains
the start of t.  Between the edges of a chain m only sets local cells to constants, and nobody can
come to the middle of a chain from elsewhere.

**Nothing is lost.**  *Starts*: let other threads take steps between the starts of t and u.  These
steps neither use what the start of u writes, nor are they u's, so the start of u can be taken
before them: each run of the program is a run of the gathered one in another order, with the same
steps of the others, and the same faults and races among them.  In the middle of a chain m can
always move, so there is no deadlock.  *Joins*: a status that is `DONE` remains so.  So a join that
others' steps follow can be taken after them, together with the next one; again these steps and what
they show are the same.  If m waits in the middle of the chain for a thread that never ends, it
waits at its beginning in the gathered program, and the other way round; so deadlocks are the same.
Steps of a chain do not race: they only touch counters, states of synchronization, and cells of
threads that do not run yet.  States in the middle of a chain, and the lengths of runs, are not
preserved.

Where an assumption stops a thread, it depends on what each of the others waits for whether this is
a deadlock.  A program with assumptions is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mazurka.ir.expressions import ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.passes.liveness import find_starts
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    IDLE,
    Assign,
    Check,
    Edge,
    Kind,
    Mode,
    Operation,
    Program,
    Role,
    Thread,
)
from mazurka.ir.values.footprints import Footprints

KEY = "_gathered"


@dataclass(frozen=True)
class Gathered:
    """A program whose chains are single steps; its states are states of the original."""

    program: Program
    hidden: tuple[frozenset[int], ...]
    """For each thread the locations in the middle of its chains, where it never rests here."""


def gather(program: Program) -> Gathered | None:
    """Gather the chains of a prepared program; None if there are none.  The answer is kept."""
    kept: dict[str, object] = program.__dict__
    if KEY not in kept:
        kept[KEY] = _gather(program) if _has_chains(program) else None
    found = kept[KEY]
    return found if isinstance(found, Gathered) else None


def _has_chains(program: Program) -> bool:
    """Whether some thread has several edges that create threads, and no thread has assumptions."""
    if program.has_assumptions:  # it matters what each thread waits for
        return False
    return any(
        sum(edge.kind is Kind.CREATE for edge in thread.edges) > 1 for thread in program.threads
    )


def _gather(program: Program) -> Gathered | None:
    starts = _Starts(program)
    threads: list[Thread] = []
    hidden: list[frozenset[int]] = []
    for number, thread in enumerate(program.threads):
        chains = list(_Chains(starts, number).chains())
        threads.append(_with_chains(thread, chains))
        hidden.append(frozenset(place for chain in chains for place in chain.middle))
    if not any(hidden):
        return None
    return Gathered(replace(program, threads=tuple(threads)), tuple(hidden))


@dataclass(frozen=True)
class ThreadStart:
    """An edge that starts a thread: what it stores, and the cell that is the thread's status."""

    creator: int
    edge: Edge
    stores: tuple[Assign, ...]


class _Starts:
    """The starts of a program, by the thread that they start."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.counters = {thread.counter: n for n, thread in enumerate(program.threads)}
        self.touched = [
            [self.footprints.of_edge(edge) for edge in thread.edges] for thread in program.threads
        ]
        self.started = set(find_starts(self.footprints))
        self.found: dict[int, ThreadStart] = {}
        for number, thread in enumerate(program.threads):
            for edge in thread.edges:
                if edge.kind is Kind.CREATE:
                    self.consider(number, thread, edge)

    def consider(self, creator: int, thread: Thread, edge: Edge) -> None:
        stores = tuple(edge.stores)
        target = self.only_thread(stores)
        if target is None or creator in self.started or not thread.active:
            return
        once = edge.source not in thread.reachable(edge.target)
        if once and self.is_plain(edge, target) and self.is_private(creator, edge, target):
            self.found[target] = ThreadStart(creator, edge, stores)

    def only_thread(self, stores: Iterable[Assign]) -> int | None:
        """The thread that the stores make run; None if it is not exactly one that was idle."""
        written = [each.address.value for each in stores if isinstance(each.address, Const)]
        numbers = [self.counters[address] for address in written if address in self.counters]
        if len(numbers) != 1:
            return None
        counter = self.program.cells[self.program.threads[numbers[0]].counter]
        return numbers[0] if counter.initial == IDLE else None

    def is_plain(self, edge: Edge, target: int) -> bool:
        """Whether the edge stores constants, and checks nothing but that the thread is idle."""
        if edge.guard is not None or edge.choices > 1:
            return False
        counter = self.program.threads[target].counter
        idle = Binary("eq", Load(Const(counter)), Const(IDLE))
        for operation in edge.operations:
            if isinstance(operation, Check):
                if operation.condition != idle or not self.comes_first(edge, operation):
                    return False
            elif not self.is_constant_store(operation, target):
                return False
        return True

    def comes_first(self, edge: Edge, check: Check) -> bool:
        """Whether a check is made before anything is stored: then the thread is still idle."""
        return edge.operations.index(check) == 0

    def is_constant_store(self, store: Operation, target: int) -> bool:
        """Whether a store puts a constant that fits into a cell that is the thread's."""
        match store:
            case Assign(Const(address), Const(value)) if self.footprints.is_cell(address):
                cell = self.program.cells[address]
                own = cell.owner == target or cell.role is Role.SYNC
                return own and cell.low <= value <= cell.high
            case _:
                return False

    def is_private(self, creator: int, start: Edge, target: int) -> bool:
        """Whether only the creator and the thread touch what the start writes, and only the start
        writes the counter."""
        written = self.footprints.of_edge(start).writes
        counter = self.program.threads[target].counter
        for number, thread in enumerate(self.program.threads):
            for edge, touched in zip(thread.edges, self.touched[number], strict=True):
                if edge is start:
                    continue
                both = touched.reads | touched.writes
                if counter in both or (number not in (creator, target) and written & both):
                    return False
                if number == creator and written & touched.writes:
                    return False
        return True

    def done_value(self, target: int, status: int) -> int | None:
        """The constant that the last edge of a thread stores in its status; None if the thread
        uses the status in any other way."""
        values: set[int] = set()
        thread = self.program.threads[target]
        for edge, touched in zip(thread.edges, self.touched[target], strict=True):
            if status in touched.reads:
                return None
            if status in touched.writes:
                stores = [each for each in edge.stores if each.address == Const(status)]
                last = stores[-1].value if stores else None
                if edge.target != FINISHED or not isinstance(last, Const) or len(stores) != 1:
                    return None
                values.add(last.value)
        return values.pop() if len(values) == 1 else None


@dataclass(frozen=True)
class Chain:
    """Edges of a thread that become one, from the first location to the last."""

    gathered: Edge
    edges: tuple[Edge, ...]
    middle: tuple[int, ...]


@dataclass(frozen=True)
class _Link:
    """One start or join of a chain: the edges that leave its location, and what they amount to."""

    edges: tuple[Edge, ...]
    stores: tuple[Assign, ...] = ()
    test: Expr | None = None

    @property
    def target(self) -> int:
        return self.edges[0].target


class _Chains:
    """Finds the chains of one thread."""

    def __init__(self, starts: _Starts, number: int) -> None:
        self.starts = starts
        self.number = number
        self.program = starts.program
        self.thread = starts.program.threads[number]
        counter = starts.program.cells[self.thread.counter]
        self.beginnings = {self.thread.entry, counter.initial}
        self.links = {
            place: link
            for place in range(FIRST_LOCATION, len(self.thread.locations))
            if (link := self.start_at(place) or self.join_at(place)) is not None
        }

    def start_at(self, place: int) -> _Link | None:
        edges = tuple(self.thread.edges_at(place))
        for start in self.starts.found.values():
            if start.creator == self.number and edges == (start.edge,):
                return _Link(edges, start.stores)
        return None

    def join_at(self, place: int) -> _Link | None:
        """A location at which the thread waits for the end of one that has surely been started."""
        edges = tuple(self.thread.edges_at(place))
        if not edges or any(edge.kind is not Kind.JOIN for edge in edges):
            return None
        for target, start in self.starts.found.items():
            for store in start.stores if start.creator == self.number else ():
                status, begun = store.address, store.value
                if not isinstance(status, Const) or not self.starts.footprints.is_cell(
                    status.value
                ):
                    continue
                if self.program.cells[status.value].role is not Role.SYNC:
                    continue
                done = self.starts.done_value(target, status.value)
                waits = [self.waits_for(edge, status, done, begun) for edge in edges]
                if any(waits) and None not in waits and self.is_after(place, start.edge):
                    ends = tuple(edge for edge, wait in zip(edges, waits, strict=True) if wait)
                    rest = tuple(edge for edge in edges if edge not in ends)
                    if len(ends) == 1 and all(edge.target == ends[0].target for edge in rest):
                        return _Link((*ends, *rest), test=ends[0].guard)
        return None

    def waits_for(self, edge: Edge, status: Const, done: int | None, begun: Expr) -> bool | None:
        """True for the edge that waits for the thread to end, False for one that is never taken,
        since the thread has been started; None for any other."""
        match edge.guard:
            case Binary("eq", Load(address), Const(value)) if address == status:
                if done is not None and value == done and begun != Const(done):
                    return True if not edge.operations and edge.choices == 1 else None
                return None if begun == Const(value) or done is None else False
            case _:
                return None

    def is_after(self, place: int, start: Edge) -> bool:
        """Whether every path to a location takes the start."""
        reached, waiting = set(self.beginnings), list(self.beginnings)
        while waiting:
            for edge in self.thread.edges_at(waiting.pop()):
                if edge is not start and edge.target not in reached:
                    reached.add(edge.target)
                    waiting.append(edge.target)
        return place not in reached

    # --- chains -----------------------------------------------------------------------------------

    def chains(self) -> Iterator[Chain]:
        """The longest chains: each link is in one of them at most."""
        following = {place: self.follow(place) for place in self.links}
        continued = {after[-1] for after in following.values() if after}
        for place in self.links:
            if place not in continued and following[place]:
                yield self.make_chain(place, following)

    def follow(self, place: int) -> list[int]:
        """The locations from the end of a link to the next one of its kind, if there is one."""
        link = self.links[place]
        passed = [link.target]
        before = set(link.edges)
        while True:
            here = passed[-1]
            mode = self.thread.locations[here].mode
            arriving = {self.thread.edges[position] for position in self.thread.arriving[here]}
            outside = here < FIRST_LOCATION or here in self.beginnings
            if mode is Mode.ATOMIC or outside or arriving != before:
                return []
            after = self.links.get(here)
            if after is not None:
                same = (after.test is None) == (link.test is None)
                return passed if same and mode is Mode.VISIBLE else []
            edges = list(self.thread.edges_at(here))
            if len(edges) != 1 or not self.is_local_constant(edges[0]):
                return []
            passed.append(edges[0].target)
            before = {edges[0]}

    def is_local_constant(self, edge: Edge) -> bool:
        """Whether an edge does nothing but store constants in cells of the thread's own."""
        if edge.guard is not None or edge.choices > 1 or edge.kind is not Kind.LOCAL:
            return False
        for operation in edge.operations:
            match operation:
                case Assign(Const(address), Const(value)) if self.starts.footprints.is_cell(
                    address
                ):
                    cell = self.program.cells[address]
                    if cell.owner != self.number or not cell.low <= value <= cell.high:
                        return False
                case _:
                    return False
        return True

    def make_chain(self, place: int, following: dict[int, list[int]]) -> Chain:
        edges: list[Edge] = []
        middle: list[int] = []
        tests: list[Expr] = []
        stores: list[Assign] = []
        own: dict[int, int] = {}
        """The values of local cells after the chain, as far as it sets them."""
        here = place
        while True:
            link = self.links[here]
            edges += link.edges
            stores += link.stores
            tests += [link.test] if link.test is not None else []
            if not following[here]:
                break
            for passed in following[here]:
                self.pass_by(passed, own)
                middle.append(passed)
                if passed not in self.links:
                    (edge,) = self.thread.edges_at(passed)
                    edges.append(edge)
                    own.update(_constants(edge))
            here = following[here][-1]
        first = self.links[place].edges[0]
        sets = (Assign(Const(address), Const(value)) for address, value in own.items())
        gathered = replace(
            first,
            target=self.links[here].target,
            guard=_all_of(tests),
            operations=(*stores, *sets),
            subject=None,
        )
        return Chain(gathered, tuple(edges), tuple(middle))

    def pass_by(self, place: int, own: dict[int, int]) -> None:
        """A thread that would rest there resets cells that are not needed any more."""
        location = self.thread.locations[place]
        if location.mode is Mode.VISIBLE:
            own.update((cell, self.program.cells[cell].initial) for cell in location.resets)


def _constants(edge: Edge) -> Iterator[tuple[int, int]]:
    for store in edge.stores:
        if isinstance(store.address, Const) and isinstance(store.value, Const):
            yield store.address.value, store.value.value


def _all_of(tests: list[Expr]) -> Expr | None:
    if not tests:
        return None
    *before, result = tests
    for test in reversed(before):
        result = Conditional(test, result, ZERO)
    return result


def _with_chains(thread: Thread, chains: list[Chain]) -> Thread:
    """The thread with one edge in place of each chain."""
    first = {chain.edges[0]: chain.gathered for chain in chains}
    gone = {edge for chain in chains for edge in chain.edges}
    edges = (first.get(edge, edge) for edge in thread.edges if edge in first or edge not in gone)
    return replace(thread, edges=tuple(edges))
