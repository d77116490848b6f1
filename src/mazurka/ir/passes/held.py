"""Find the locks that a thread certainly holds, and drop ownership checks that cannot fail.

A lock is *disciplined* if no thread ever writes its owner cell unless the lock is free or the
thread holds it.  `Ownership` finds the disciplined locks and, for each location, the locks that
are held on every path to it.  The two depend on each other: a write is allowed if its own edge
shows that the lock is free or held, or if the lock has been taken on every path (so a
`threading.Lock`, which any thread may release, is disciplined if no thread releases it for
another).  The largest set of locks that satisfies all writes is found by starting from all locks.

Why that is not circular.  *Invariant:* if a disciplined lock is among those held at the location
of thread t, its owner cell names t.  It holds at first, since nothing is held where a thread
begins.  Let an edge of t follow the rule.  If it writes the owner cell of m, the cell was free or
named t: shown by the edge, or by the invariant.  So m was not among the locks held at another
thread's location, and the facts of the other threads stay true; those of t are updated
assignment by assignment.  Hence the invariant holds after every edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from mazurka.deadline import check_time
from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.program import Assign, Check, Edge, Program, Role
from mazurka.ir.values.evaluation import evaluate, members
from mazurka.ir.values.footprints import Footprints

KEY = "_ownership"

Known: TypeAlias = dict[Expr, frozenset[int]]
"""Maps addresses of locks to the values that their owner cells can have."""


def find_ownership(program: Program) -> Ownership:
    """Return the locks of a program and where they are held; this is cached in the program."""
    kept: Ownership | None = program.__dict__.get(KEY)
    if kept is None:
        kept = program.__dict__[KEY] = Ownership(program)
    return kept


def drop_proven_lock_checks(program: Program) -> Program:
    """Drop checks that cannot fail; a thread that cannot fail needs no WRONG, so states shrink."""
    ownership = Ownership(program)
    if not ownership.disciplined:
        return program
    threads = []
    for number, thread in enumerate(program.threads):
        edges = tuple(_drop(ownership, number, place) for place in range(len(thread.edges)))
        threads.append(replace(thread, edges=edges))
    return replace(program, threads=tuple(threads))


def conjuncts(expr: Expr | None) -> list[Expr]:
    """Return the parts of a conjunction, also of one with a short circuit."""
    match expr:
        case None:
            return []
        case Conditional(test, then, otherwise) if otherwise == ZERO:
            return conjuncts(test) + conjuncts(then)
        case Binary("ne", inner, right) if right == ZERO:
            return [expr, *conjuncts(inner)]
        case _ if expr == ONE:
            return []
        case _:
            return [expr]


def owner_values(expr: Expr) -> tuple[Expr, frozenset[int]] | None:
    """Return the address and the values in `owner == value`, or in several such joined by `or`."""
    match expr:
        case Binary("eq", Load(address), Const(value)) | Binary("eq", Const(value), Load(address)):
            return address, frozenset({value})
        case Conditional(test, then, otherwise) if then == ONE:
            left, right = owner_values(test), owner_values(otherwise)
            if left and right and left[0] == right[0]:
                return left[0], left[1] | right[1]
    return None


def find_shown_values(expr: Expr | None) -> Known:
    """Return what is known about owner cells if an expression is true."""
    known: Known = {}
    for part in conjuncts(expr):
        found = owner_values(part)
        if found is not None:
            known[found[0]] = known.get(found[0], found[1]) & found[1]
    return known


@dataclass(frozen=True, slots=True)
class _Write:
    """An assignment to owner cells."""

    targets: frozenset[int]
    taken: int | None
    """The lock that the acting thread holds afterwards."""
    entitled: bool
    """Whether the edge itself shows that the lock is free or held by the acting thread."""


@dataclass(frozen=True, slots=True)
class _Effects:
    """What an edge does to locks: `held[k]` are certainly held before operation k."""

    held: dict[int, frozenset[int]]
    writes: dict[int, _Write]


class Ownership:
    """The disciplined locks of a program, and the locations at which they are held."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.disciplined = frozenset(
            address for address, cell in enumerate(program.cells) if cell.role is Role.OWNER
        )
        """The owner cells of the disciplined locks."""
        self.beginnings = _find_beginnings(self.footprints)
        """By thread: the locations at which it can start."""
        threads = list(enumerate(program.threads))
        self._effects = [
            [self._find_effects(number, edge) for edge in thread.edges]
            for number, thread in threads
        ]
        self.held = [self._find_held(number) for number, _ in threads]
        """By thread and location: the locks held on every path there; None if there is no path."""
        while broken := {lock for number, _ in threads for lock in self._find_broken(number)}:
            self.disciplined -= broken
            self.held = [self._find_held(number) for number, _ in threads]

    def along(self, number: int, position: int) -> list[frozenset[int]] | None:
        """Return the locks held before each operation of a thread's edge, and after the last one;
        None for an edge that no path leads to."""
        facts = self.held[number][self.program.threads[number].edges[position].source]
        return None if facts is None else self._carry(number, position, facts)

    def _carry(self, number: int, position: int, facts: frozenset[int]) -> list[frozenset[int]]:
        operations = len(self.program.threads[number].edges[position].operations)
        effects = self._effects[number][position]
        if effects is None:
            return [facts] * (operations + 1)
        found = []
        for step in range(operations + 1):
            facts |= effects.held.get(step, frozenset()) & self.disciplined
            found.append(facts)
            write = effects.writes.get(step)
            if write is not None:
                facts -= write.targets
                if write.taken is not None and write.taken in self.disciplined:
                    facts |= {write.taken}
        return found

    def _find_effects(self, number: int, edge: Edge) -> _Effects | None:
        known = find_shown_values(edge.guard)
        found = _Effects({0: _find_mine(known, number)}, {})
        changed = False
        for position, operation in enumerate(edge.operations):
            if isinstance(operation, Check):
                known = known | find_shown_values(operation.condition)
                found.held[position + 1] = _find_mine(known, number)
                continue
            reached = self.footprints.targets(operation.address, edge.choices)
            targets = self.disciplined.intersection(reached)
            if targets:
                entitled = _is_entitled(operation.address, known, number, changed)
                known = _stored(operation)
                taken = next(iter(_find_mine(known, number)), None)
                found.writes[position] = _Write(targets, taken, entitled)
            changed = True
        return found if found.writes or any(found.held.values()) else None

    def _find_held(self, number: int) -> list[frozenset[int] | None]:
        thread = self.program.threads[number]
        held: list[frozenset[int] | None] = [None] * len(thread.locations)
        work = sorted(self.beginnings[number])
        for location in work:
            held[location] = frozenset()
        while work:
            check_time("looking for lock checks that cannot fail")
            location = work.pop()
            facts = held[location]
            assert facts is not None
            for position in thread.outgoing[location]:
                after = self._carry(number, position, facts)[-1]
                target = thread.edges[position].target
                old = held[target]
                new = after if old is None else old & after
                if new != old:
                    held[target] = new
                    work.append(target)
        return held

    def _find_broken(self, number: int) -> Iterator[int]:
        """Find the locks that a thread may write although they are neither free nor held by it."""
        for position, effects in enumerate(self._effects[number]):
            along = self.along(number, position) if effects and effects.writes else None
            if effects is None or along is None:
                continue
            for step, write in effects.writes.items():
                if not (write.entitled or write.targets <= along[step]):
                    yield from write.targets & self.disciplined


def _find_mine(known: Known, number: int) -> frozenset[int]:
    me = frozenset({number + 1})
    return frozenset(
        address.value
        for address, values in known.items()
        if isinstance(address, Const) and values == me
    )


def _stored(operation: Assign) -> Known:
    """Return what is known about owner cells after one of them has been written."""
    match operation:
        case Assign(Const() as address, Const(value)):
            return {address: frozenset({value})}
        case _:
            return {}


def _is_entitled(address: Expr, known: Known, number: int, changed: bool) -> bool:
    """Whether the known values show that the lock is free or held by the acting thread.

    A computed address may denote another cell after an assignment on the same edge.
    """
    if changed and not isinstance(address, Const):
        return False
    return address in known and known[address] <= {0, number + 1}


def _find_beginnings(footprints: Footprints) -> list[set[int]]:
    """Find where each thread can start: its entry, and all locations that others may store."""
    program = footprints.program
    counters = {thread.counter: thread for thread in program.threads}
    found = {
        thread.counter: {thread.entry, program.cells[thread.counter].initial}
        for thread in program.threads
    }
    for edge in program.edges:
        for store in edge.stores:
            for address in footprints.targets(store.address, edge.choices):
                if address in counters:
                    values = members(evaluate(store.value, footprints.lookup, edge.choices))
                    places = range(len(counters[address].locations))
                    found[address].update(places if values is None else values)
    return [
        {place for place in found[thread.counter] if 0 <= place < len(thread.locations)}
        for thread in program.threads
    ]


def _drop(ownership: Ownership, number: int, position: int) -> Edge:
    edge = ownership.program.threads[number].edges[position]
    along = ownership.along(number, position)
    if along is None:
        return edge
    kept = tuple(
        operation
        for operation, facts in zip(edge.operations, along, strict=False)
        if not (isinstance(operation, Check) and _is_proven(operation.condition, facts, number))
    )
    return edge if len(kept) == len(edge.operations) else replace(edge, operations=kept)


def _is_proven(condition: Expr, facts: frozenset[int], number: int) -> bool:
    """Whether a check that a lock is taken, or held by this thread, succeeds for certain."""
    match condition:
        case Binary("eq", Load(Const(lock)), Const(owner)):
            return lock in facts and owner == number + 1
        case Binary("ne", Load(Const(lock)), right):
            return lock in facts and right == ZERO
        case _:
            return False
