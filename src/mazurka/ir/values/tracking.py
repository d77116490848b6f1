"""What the range analysis follows through a thread: in which order, and which local cells.

Only local cells that the thread names directly are worth following from location to location,
and only where they may still be read: this keeps the facts of a large thread small.  What is
not followed is covered by the summary of all stores, so nothing here bears on soundness.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.ir.expressions import Const, Element, Expr, Load, children, walk
from mazurka.ir.program import Assign, Edge, Program, Thread


@dataclass(frozen=True)
class Tracking:
    """The plan for one thread."""

    rank: tuple[int, ...]
    """The place of each location in reverse postorder: loops come after what leads to them."""
    heads: frozenset[int]
    """Locations such that every cycle of the automaton passes through one of them."""
    followed: tuple[tuple[int, ...], ...]
    """For each location the local cells that are followed there."""
    arriving: tuple[tuple[int, ...], ...]
    """For each location the positions of the edges that lead there."""


def plan(program: Program, number: int) -> Tracking:
    thread = program.threads[number]
    order, heads = _reverse_postorder(thread)
    rank = [0] * len(thread.locations)
    for place, location in enumerate(order):
        rank[location] = place
    arriving: list[list[int]] = [[] for _ in thread.locations]
    for position, edge in enumerate(thread.edges):
        arriving[edge.target].append(position)
    followed = _live_names(program, number, order)
    return Tracking(tuple(rank), frozenset(heads), followed, tuple(map(tuple, arriving)))


def _reverse_postorder(thread: Thread) -> tuple[list[int], set[int]]:
    """All locations, those that cannot be reached from the entry included; loop heads."""
    finished: list[int] = []
    heads: set[int] = set()
    seen: set[int] = set()
    active: set[int] = set()
    successors = [
        [thread.edges[position].target for position in leaving] for leaving in thread.outgoing
    ]
    for root in (thread.entry, *range(len(thread.locations))):
        if root in seen:
            continue
        seen.add(root)
        active.add(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            location, remaining = stack[-1]
            target = next(remaining, None)
            if target is None:
                stack.pop()
                active.discard(location)
                finished.append(location)
            elif target in active:
                heads.add(target)
            elif target not in seen:
                seen.add(target)
                active.add(target)
                stack.append((target, iter(successors[target])))
    finished.reverse()
    return finished, heads


def _live_names(program: Program, number: int, order: list[int]) -> tuple[tuple[int, ...], ...]:
    """Backward liveness of directly named local cells, with integers as bit sets."""
    thread = program.threads[number]
    bits: dict[int, int] = {}
    effects = [_effect(program, number, edge, bits) for edge in thread.edges]
    live = [0] * len(thread.locations)
    changed = True
    while changed:
        changed = False
        for location in reversed(order):
            mask = live[location]
            for position in thread.outgoing[location]:
                uses, kills = effects[position]
                mask |= uses | (live[thread.edges[position].target] & ~kills)
            if mask != live[location]:
                live[location] = mask
                changed = True
    shared: dict[int, tuple[int, ...]] = {}
    for mask in live:
        if mask not in shared:
            shared[mask] = tuple(address for address, bit in bits.items() if mask & bit)
    return tuple(shared[mask] for mask in live)


def _effect(program: Program, number: int, edge: Edge, bits: dict[int, int]) -> tuple[int, int]:
    """The named local cells that an edge reads before writing them, and those it writes."""
    counter = program.threads[number].counter
    uses = kills = 0

    def bit(address: int) -> int:
        local = 0 < address < len(program.cells) and program.cells[address].owner == number
        if not local or address == counter:
            return 0
        return bits.setdefault(address, 1 << len(bits))

    def read(expr: Expr) -> None:
        nonlocal uses
        for part in walk(expr):
            if isinstance(part, Load) and isinstance(part.address, Const):
                uses |= bit(part.address.value) & ~kills

    if edge.guard is not None:
        read(edge.guard)
    for operation in edge.operations:
        if isinstance(operation, Assign):
            read(operation.address)
            read(operation.value)
            if isinstance(operation.address, Const):
                kills |= bit(operation.address.value)
        else:
            read(operation.condition)
    return uses, kills


def thresholds(program: Program) -> tuple[int, ...]:
    """Numbers at which a growing range is likely to stop: the program's own, and neighbours."""
    numbers: set[int] = {0}
    for cell in program.cells:
        if not cell.inferred:
            numbers.update((cell.low, cell.high))
        numbers.add(cell.initial)
    for edge in program.edges:
        numbers.add(edge.choices - 1)
        for expr in _expressions(edge):
            numbers.update(_numbers(expr))
    return tuple(sorted({number + step for number in numbers for step in (-1, 0, 1)}))


def _expressions(edge: Edge) -> Iterator[Expr]:
    if edge.guard is not None:
        yield edge.guard
    for operation in edge.operations:
        yield operation.value if isinstance(operation, Assign) else operation.condition


def _numbers(expr: Expr) -> Iterator[int]:
    """The constants of an expression that are not addresses."""
    if isinstance(expr, Const):
        yield expr.value
    for child in children(expr):
        address = isinstance(expr, Load) or (isinstance(expr, Element) and child is expr.base)
        if not (address and isinstance(child, Const)):
            yield from _numbers(child)
