"""What counts as a preemption.

To switch away from a thread that could go on is one.  Operations that *give way* (`time.sleep`, and
waits with a timeout that cannot succeed at the moment) are different in two respects:

- to switch away from a thread that stands before one is free;
- to let it go on while somebody could who does not give way is a preemption: the time has passed
  although the others have not come far.

So an execution without preemptions has time pass only when everybody waits for it, and with each
preemption once before.  Loops that look again and again after a while are finite that way.

From every state some step is free: if there are threads that can go on and do not give way, the
one that took the last step, or else any of them; if all give way, any.  That is what Theorems 2 and
4 of paper 001 need, besides that the cost of a step depends on the state, the thread that took the
last step, and the next one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mazurka.stateless.runs import Lookup, Operation, Shared


def live(shared: Shared) -> Hashable:
    """The state of an object now."""
    return shared.state


def gives_way(operation: Operation | None, lookup: Lookup = live) -> bool:
    """Whether a thread gives way before an operation."""
    if operation is None or operation.yields is False:
        return False
    yields = operation.yields
    return yields if isinstance(yields, bool) else yields(lookup)


def hasty(pending: Sequence[Operation | None], enabled: Sequence[int]) -> tuple[int, ...]:
    """The threads that give way while others could go on that do not."""
    found = [
        thread
        for thread in enabled
        if (operation := pending[thread]) is not None
        and operation.yields is not False
        and gives_way(operation)
    ]
    return tuple(found) if len(found) < len(enabled) else ()


def is_preemption(
    pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
) -> bool:
    """Whether it costs a preemption if a thread goes on after `last`."""
    if chosen in hasty(pending, enabled):
        return True
    return chosen != last and last in enabled and not gives_way(pending[last])


def runs_on(pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
    """Without preemption: the same thread while it can and does not give way, else the next."""
    if last in enabled and not gives_way(pending[last]):
        return last
    too_early = hasty(pending, enabled)
    free = [thread for thread in enabled if thread not in too_early]
    return next((thread for thread in free if thread > last), free[0])
