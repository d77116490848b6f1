"""What counts as a preemption.

To switch away from a thread that could go on is one.  Operations that *give way* (`time.sleep`, and
waits with a timeout that cannot succeed at the moment) are different in two respects:

- to switch away from a thread that stands before one is free;
- to let it go on *again* while somebody could who does not give way is a preemption: time has
  passed for this thread once more, although the others have not come far.

So the first time may pass at any moment, and after that, without preemptions, time passes only when
everybody waits for it.  Loops that look again and again after a while are finite that way.

From every state some step is free: if there are threads that can go on and do not give way, the
one that took the last step, or else any of them; if all give way, any.  That is what Theorems 2 and
4 of paper 001 need, besides that the cost of a step depends on the state, the thread that took the
last step, and the next one: for how often a thread has given way is part of the state.
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


def giving_way(pending: Sequence[Operation | None], enabled: Sequence[int]) -> tuple[int, ...]:
    """The threads that can go on and give way."""
    return tuple(
        [
            thread
            for thread in enabled
            if (operation := pending[thread]) is not None
            and operation.yields is not False
            and gives_way(operation)
        ]
    )


class Preemptions:
    """Those of a run, step by step."""

    def __init__(self) -> None:
        self.count = 0
        self._rested: set[int] = set()
        """The threads that have given way and gone on."""

    def take(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
    ) -> bool:
        """A thread goes on after `last`; whether that is a preemption."""
        giving = giving_way(pending, enabled)
        costs = chosen != last and last in enabled and last not in giving
        if chosen in giving:
            costs = costs or (chosen in self._rested and len(giving) < len(enabled))
            self._rested.add(chosen)
        self.count += costs
        return costs


def runs_on(pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
    """Without preemption: the same thread while it can and does not give way, else the next that
    does not, else the next."""
    giving = giving_way(pending, enabled)
    if last in enabled and last not in giving:
        return last
    free = [thread for thread in enabled if thread not in giving] or enabled
    return next((thread for thread in free if thread > last), free[0])
