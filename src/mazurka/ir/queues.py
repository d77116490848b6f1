"""Queues and rendezvous channels as cells, guards and assignments.

A *queue* is a count and then its slots, from the oldest item to the newest.  An item has `width`
fields, side by side in its slot.  `put` writes the slot behind the newest item; `get` takes the
oldest one out and moves the others up, so the same items in the same order are the same state,
whatever happened before.

A *rendezvous channel* has room for one item that changes hands: a status, and then the fields.  The
sender offers an item (`FREE` to `OFFERED`), a receiver takes it (`OFFERED` to `TAKEN`), and the
sender, who has waited for that, goes on (`TAKEN` to `FREE`).

Front ends build programs with these functions, and `mazurka.analysis.channels` recognizes what they
have built by building it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.ir.expressions import ONE, ZERO, Binary, Const, Element, Expr, Load
from mazurka.ir.program import Assign

FREE, OFFERED, TAKEN = 0, 1, 2
"""What the status of a rendezvous channel can be."""


def cell_at(base: Expr, offset: int) -> Expr:
    """Return the address of one of the cells of a queue whose first cell is at `base`."""
    if offset == 0:
        return base
    if isinstance(base, Const):
        return Const(base.value + offset)
    return Binary("add", base, Const(offset))


def has_room(base: Expr, capacity: int) -> Expr:
    return Binary("lt", Load(base), Const(capacity))


def has_item(base: Expr) -> Expr:
    return Binary("gt", Load(base), ZERO)


def put_item(base: Expr, capacity: int, fields: Sequence[Expr]) -> tuple[Assign, ...]:
    """Write an item behind the newest one; there must be room."""
    count, width = Load(base), len(fields)
    slots = [Element(cell_at(base, 1 + n), count, capacity, width) for n in range(width)]
    stores = [Assign(slot, field) for slot, field in zip(slots, fields, strict=True)]
    return (*stores, Assign(base, Binary("add", count, ONE)))


def get_item(
    base: Expr, capacity: int, targets: Sequence[Expr], empty: Sequence[Expr]
) -> tuple[Assign, ...]:
    """Take the oldest item into the target cells; a slot that becomes free is set to `empty`."""
    width = len(targets)
    slots = [cell_at(base, 1 + n) for n in range(capacity * width)]
    taken = [Assign(target, Load(slot)) for target, slot in zip(targets, slots, strict=False)]
    moved = [Assign(slots[n], Load(slots[n + width])) for n in range((capacity - 1) * width)]
    freed = [Assign(slots[n - width], value) for n, value in enumerate(empty)]
    fewer = Assign(base, Binary("sub", Load(base), ONE))
    return (*taken, *moved, *freed, fewer)


def has_status(base: Expr, status: int) -> Expr:
    return Binary("eq", Load(base), Const(status))


def offer_item(base: Expr, fields: Sequence[Expr]) -> tuple[Assign, ...]:
    """Offer an item through a channel that is free."""
    stores = [Assign(cell_at(base, 1 + n), field) for n, field in enumerate(fields)]
    return (*stores, Assign(base, Const(OFFERED)))


def take_offer(base: Expr, targets: Sequence[Expr], empty: Sequence[Expr]) -> tuple[Assign, ...]:
    """Take the item that is offered."""
    slots = [cell_at(base, 1 + n) for n in range(len(targets))]
    taken = [Assign(target, Load(slot)) for target, slot in zip(targets, slots, strict=True)]
    freed = [Assign(slot, value) for slot, value in zip(slots, empty, strict=True)]
    return (*taken, *freed, Assign(base, Const(TAKEN)))


def end_offer(base: Expr) -> tuple[Assign, ...]:
    """Free the channel again, as the sender of the item that was taken."""
    return (Assign(base, Const(FREE)),)
