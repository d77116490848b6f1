"""Drops checks of lock ownership that cannot fail.

A lock is *disciplined* if no thread ever writes its owner cell unless the lock is free or the
thread holds it.  Once a thread has taken such a lock, nobody else can change the owner cell until
this thread does; so where every path to a release has taken the lock, the check that it is held
always succeeds.  (`with lock:` is the common case.)  Without these checks a thread needs no
WRONG location, and states get smaller.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load
from mazurka.ir.footprints import Footprints
from mazurka.ir.program import Assign, Check, Edge, Program, Role, Thread


def drop_proven_lock_checks(program: Program) -> Program:
    locks = _disciplined(program)
    if not locks:
        return program
    footprints = Footprints(program)
    threads = tuple(
        _drop(footprints, number, thread, locks) for number, thread in enumerate(program.threads)
    )
    return replace(program, threads=threads)


def conjuncts(expr: Expr | None) -> list[Expr]:
    """The parts of a conjunction, short circuits included."""
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


def _owner_is(expr: Expr) -> tuple[Expr, int] | None:
    """For `owner(address) == constant`: the address and the constant."""
    match expr:
        case Binary("eq", Load(address), Const(value)) | Binary("eq", Const(value), Load(address)):
            return address, value
        case _:
            return None


def _disciplined(program: Program) -> set[int]:
    """The owner cells that only their holder, or whoever finds them free, ever writes."""
    footprints = Footprints(program)
    locks = {address for address, cell in enumerate(program.cells) if cell.role is Role.OWNER}
    for number, thread in enumerate(program.threads):
        for edge in thread.edges:
            known = [_owner_is(part) for part in conjuncts(edge.guard)]
            changed = False
            for operation in edge.operations:
                if isinstance(operation, Check):
                    known.extend(_owner_is(part) for part in conjuncts(operation.condition))
                    continue
                targets = locks.intersection(footprints.targets(operation.address, edge.choices))
                if targets and not _entitled(operation.address, known, number, changed):
                    locks -= targets
                if targets and len(targets) > 0:
                    known = [fact for fact in known if fact and fact[0] != operation.address]
                    known.append(_stored_fact(operation))
                changed = True
    return locks


def _stored_fact(operation: Assign) -> tuple[Expr, int] | None:
    match operation.value:
        case Const(value):
            return operation.address, value
        case _:
            return None


def _entitled(
    address: Expr, known: list[tuple[Expr, int] | None], number: int, changed: bool
) -> bool:
    """Whether what is known on the edge shows the lock free or held by the acting thread.

    An address that is computed may mean another cell after an assignment on the same edge.
    """
    if changed and not isinstance(address, Const):
        return False
    return (address, 0) in known or (address, number + 1) in known


def _drop(footprints: Footprints, number: int, thread: Thread, locks: set[int]) -> Thread:
    held = _held(footprints, number, thread, locks)
    edges = []
    for edge in thread.edges:
        facts = held[edge.source]
        kept = []
        for operation in edge.operations:
            if isinstance(operation, Check) and _proven(operation.condition, facts, number):
                continue
            kept.append(operation)
            facts = _after_operation(footprints, edge, operation, facts, number, locks)
        edges.append(replace(edge, operations=tuple(kept)))
    return replace(thread, edges=tuple(edges))


def _proven(condition: Expr, facts: frozenset[int] | None, number: int) -> bool:
    if facts is None:
        return False
    match _owner_is(condition):
        case (Const(address), owner):
            return owner == number + 1 and address in facts
        case _:
            return False


def _after_operation(
    footprints: Footprints,
    edge: Edge,
    operation: Assign | Check,
    facts: frozenset[int] | None,
    number: int,
    locks: set[int],
) -> frozenset[int] | None:
    if facts is None:
        return None
    if isinstance(operation, Check):
        for part in conjuncts(operation.condition):
            match _owner_is(part):
                case (Const(address), owner) if owner == number + 1 and address in locks:
                    facts |= {address}
        return facts
    targets = footprints.targets(operation.address, edge.choices)
    facts = facts.difference(targets)
    match operation:
        case Assign(Const(address), Const(value)) if value == number + 1 and address in locks:
            facts |= {address}
    return facts


def _held(
    footprints: Footprints, number: int, thread: Thread, locks: set[int]
) -> list[frozenset[int] | None]:
    """For each location the locks held on every path to it (None: not reached yet)."""
    held: list[frozenset[int] | None] = [None] * len(thread.locations)
    held[thread.entry] = frozenset()
    work = [thread.entry]
    while work:
        location = work.pop()
        for edge in thread.edges_at(location):
            facts = held[location]
            for operation in edge.operations:
                facts = _after_operation(footprints, edge, operation, facts, number, locks)
            assert facts is not None
            old = held[edge.target]
            new = facts if old is None else old & facts
            if new != old:
                held[edge.target] = new
                work.append(edge.target)
    return held
