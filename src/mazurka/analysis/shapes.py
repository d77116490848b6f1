"""Recognizes what an edge does to a synchronization cell from its expressions, not from its name.

A reduction must not depend on labels: an edge called `acquire` that does something else would make
it unsound.  So each operation that is claimed to move is matched in full: which address it goes
through, what its guard asks for, what it stores.  What does not match is a non-mover.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

from mazurka.ir.expressions import ONE, ZERO, Binary, Conditional, Const, Expr, Load, walk
from mazurka.ir.passes.held import conjuncts
from mazurka.ir.program import Assign, Check, Edge, Fault
from mazurka.ir.values.footprints import Footprints


class Use(enum.Enum):
    """What an edge does to one cell."""

    TAKE = "take"
    """Waits until the count is positive, then takes one (`semaphore.acquire()`)."""
    GIVE = "give"
    """Adds to the count (`semaphore.release()`); may fail where there are too many."""
    RAISE = "raise"
    """Stores one fixed value, whatever was there (`event.set()`, the end of a thread)."""
    AWAIT = "await"
    """Waits for that value (`event.wait()`, `thread.join()`), or fails."""
    OTHER = "other"


def expressions(edge: Edge) -> Iterator[Expr]:
    """Every expression that an edge evaluates, subexpressions included."""
    for root in edge.expressions:
        yield from walk(root)


def addresses(footprints: Footprints, edge: Edge, cell: int) -> set[Expr]:
    """The address expressions through which an edge may touch a cell."""
    found = {part.address for part in expressions(edge) if isinstance(part, Load)}
    found |= {each.address for each in edge.operations if isinstance(each, Assign)}
    return {address for address in found if cell in footprints.targets(address, edge.choices)}


def use_of(footprints: Footprints, edge: Edge, cell: int) -> tuple[Use, int]:
    """What an edge does to a cell; with RAISE and AWAIT the value that is stored or awaited."""
    through = addresses(footprints, edge, cell)
    if len(through) != 1:
        return Use.OTHER, 0
    (address,) = through
    stores = [each for each in edge.operations if isinstance(each, Assign)]
    mine = [store for store in stores if store.address == address]
    loads = sum(part == Load(address) for part in expressions(edge))
    if len(mine) == 1:
        return _store_use(edge, address, mine[0].value, loads)
    if not mine:
        return _await_use(edge, address, loads)
    return Use.OTHER, 0


def _store_use(edge: Edge, address: Expr, value: Expr, loads: int) -> tuple[Use, int]:
    here = Load(address)
    match value:
        case Const(constant) if loads == 0:
            return Use.RAISE, constant
        case Binary("sub", left, right) if left == here and right == ONE:
            if loads == 2 and Binary("gt", here, ZERO) in conjuncts(edge.guard):
                return Use.TAKE, 0
        case Binary("add", left, Const(count)) if left == here and count > 0:
            checks = [each for each in edge.operations if isinstance(each, Check)]
            limits = sum(_is_upper_limit(check, here) for check in checks)
            if loads == 1 + limits:
                return Use.GIVE, 0
    return Use.OTHER, 0


def _is_upper_limit(check: Check, here: Expr) -> bool:
    """A check that fails the sooner the more there is; a failed assertion might be ignored."""
    if check.fault is Fault.ASSERT:
        return False
    match check.condition:
        case Binary("le" | "lt", Binary("add", left, Const()), Const()) if left == here:
            return True
        case Binary("le" | "lt", left, Const()) if left == here:
            return True
    return False


def _await_use(edge: Edge, address: Expr, loads: int) -> tuple[Use, int]:
    here = Load(address)
    if loads != 1:
        return Use.OTHER, 0
    for part in conjuncts(edge.guard):
        match part:
            case Binary("eq", left, Const(value)) if left == here:
                return Use.AWAIT, value
            case Binary("ne", left, Const(0)) if left == here:
                return Use.AWAIT, 1
    return Use.OTHER, 0


def acquired(edge: Edge, thread: int) -> tuple[Expr, ...]:
    """The owner cells that an edge takes: it waits until they are free (or its own)."""
    stored = {each.address: each.value for each in edge.operations if isinstance(each, Assign)}
    mine = Const(thread + 1)
    waited = [_waits_for(part, mine) for part in conjuncts(edge.guard)]
    return tuple(
        address for address in waited if address is not None and stored.get(address) == mine
    )


def _waits_for(part: Expr, mine: Const) -> Expr | None:
    """The address in `owner == 0`, or in `owner == 0 or owner == mine`."""
    match part:
        case Binary("eq", Load(address), right) if right == ZERO:
            return address
        case Conditional(Binary("eq", Load(address), right), then, other) if right == ZERO:
            if then == ONE and other == Binary("eq", Load(address), mine):
                return address
    return None
