"""Where threads are started, and which of them might be started again.

A thread is started by a store into its program counter.  The edge that does it may have seen that
the thread is IDLE, in its guard or in a check before the store.  If it has not, the thread might be
started *again*, from wherever it is, with its local cells as they are.  That cannot happen where
one thread, which itself is started once, has all the stores, and no such store comes behind another
on any path: look at the first moment at which any thread is started that is not IDLE; its creator
has followed one path by then.

Stores through a pointer that may point almost anywhere are taken for starts on `create` edges only;
other edges must not write program counters (`docs/semantics.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.ir.expressions import Binary, Const, Expr, Load
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import IDLE, Assign, Check, Edge, Kind, Program
from mazurka.ir.values.evaluation import evaluate
from mazurka.ir.values.footprints import Footprints


@dataclass(frozen=True, slots=True)
class Start:
    """A store into the program counter of another thread."""

    thread: int
    creator: int
    edge: Edge
    location: int | None
    """Where the thread is put; None if that depends."""
    given: frozenset[int]
    """Cells that the edge has surely written by then."""
    sees_idle: bool


def all_starts(footprints: Footprints) -> dict[int, list[Start]]:
    """For each thread that others start, how they do."""
    program = footprints.program
    starts: dict[int, list[Start]] = {}
    for creator, thread in enumerate(program.threads):
        for edge in thread.edges:
            for start in _starts(footprints, creator, edge):
                begins = program.cells[program.threads[start.thread].counter].initial
                if not start.sees_idle or begins == IDLE:
                    starts.setdefault(start.thread, []).append(start)
    return starts


def starts_again(footprints: Footprints) -> dict[int, list[Start]]:
    """The threads that might be started again, and what might do it."""
    program, starts = footprints.program, all_starts(footprints)
    again = {number for number in starts if not all(each.sees_idle for each in starts[number])}
    once: set[int] = set()
    while more := {
        number
        for number in again - once
        if _happens_once(program, number, starts[number], again - once)
    }:
        once |= more
    return {
        number: [start for start in starts[number] if not start.sees_idle]
        for number in sorted(again - once)
    }


def _happens_once(program: Program, number: int, starts: list[Start], again: set[int]) -> bool:
    """Whether at most one of the stores is ever made, and that one to a thread that is IDLE."""
    creators = {start.creator for start in starts}
    idle = program.cells[program.threads[number].counter].initial == IDLE
    if not idle or len(creators) > 1 or creators & again:
        return False
    (creator,) = creators
    sources = {start.edge.source for start in starts}
    thread = program.threads[creator]
    return not any(sources & thread.reachable(start.edge.target) for start in starts)


def _starts(footprints: Footprints, creator: int, edge: Edge) -> Iterator[Start]:
    counters = {thread.counter: n for n, thread in enumerate(footprints.program.threads)}
    del counters[footprints.program.threads[creator].counter]
    idle = {_seen_idle(part) for part in conjuncts(edge.guard)}
    given: set[int] = set()
    for operation in edge.operations:
        if isinstance(operation, Check):
            idle |= {_seen_idle(part) for part in conjuncts(operation.condition)}
            continue
        value, seen = operation.value, operation.address in idle
        location = value.value if isinstance(value, Const) else None
        reached = evaluate(operation.address, footprints.lookup, edge.choices)
        if reached.points is not None or edge.kind is Kind.CREATE:
            for address in filter(reached.contains, counters):
                started = counters[address]
                yield Start(started, creator, edge, location, frozenset(given), seen)
        if isinstance(operation.address, Const):
            given.add(operation.address.value)
        idle = _still_idle(footprints, edge, operation, idle)


def _still_idle(
    footprints: Footprints, edge: Edge, store: Assign, idle: set[Expr | None]
) -> set[Expr | None]:
    """The addresses at which IDLE has been seen, and that a store leaves as they are."""
    written = set(footprints.targets(store.address, edge.choices))
    return {
        address
        for address in idle
        if address is not None
        and written.isdisjoint(footprints.loads(address, edge.choices))
        and written.isdisjoint(footprints.targets(address, edge.choices))
    }


def _seen_idle(part: Expr) -> Expr | None:
    """The address that holds IDLE if a condition is true."""
    match part:
        case Binary("eq", Load(address), Const(value)) if value == IDLE:
            return address
        case Binary("eq", Const(value), Load(address)) if value == IDLE:
            return address
        case _:
            return None
