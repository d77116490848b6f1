"""What a C program asks of memory, and what its verdicts take for granted.

Memory is sequentially consistent here, whatever an atomic operation asks for.  Edges of operations
that are too weak to order other accesses say so (`Edge.relaxed`).
"""

from __future__ import annotations

from mazurka.ir.program import Relaxed

NO_FAILING_ALLOCATION = "allocations never fail"
NO_FAILING_CREATION = "creating a thread never fails"
ASSUMED = (NO_FAILING_ALLOCATION, NO_FAILING_CREATION)

RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = range(6)
"""The values of C11's `memory_order`, and of `__ATOMIC_RELAXED` and its like."""
_ACQUIRING = frozenset({ACQUIRE, ACQ_REL, SEQ_CST})
_RELEASING = frozenset({RELEASE, ACQ_REL, SEQ_CST})


def find_relaxed(order: int, *, reads: bool, writes: bool, failure: int = SEQ_CST) -> Relaxed:
    """What an operation of an order does without ordering other accesses; `failure` is the order in
    which it fails, if it compares."""
    found = Relaxed(0)
    if reads and order not in _ACQUIRING:
        found |= Relaxed.READ
    if writes and order not in _RELEASING:
        found |= Relaxed.WRITE
    if failure not in _ACQUIRING:
        found |= Relaxed.FAILURE
    return found
