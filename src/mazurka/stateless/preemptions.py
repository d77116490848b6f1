"""What counts as a preemption.

To switch away from a thread that could go on is one.  Operations that *give way* (`time.sleep`, and
waits with a timeout that cannot succeed at the moment) are different in two respects:

- to switch away from a thread that stands before one is free;
- to let it go on while somebody could who does not give way is a preemption: its sleep, or its
  timeout, ends *early*, although others could still move.  So it is to let it go on while all give
  way, but somebody else waits for a moment that comes sooner: its time ends before that of another
  one who is *ahead*.  A wait of 0 seconds costs the same, but is never early.
- to let it go on while all give way, it is not early, and somebody else is not either but has given
  way less often, is a preemption, too.

So, without preemptions, time passes only when everybody waits for it, in its order.  But whoever
has given way more often than another one, by more than `PATIENCE`, is not ahead of that one however
soon its moment comes.  Loops that look again and again after a while are finite that way, also
while another thread sleeps for longer.

From every state some step is free: if there are threads that can go on and do not give way, the
one that took the last step, or else any of them; if all give way, some are not early, since nobody
is ahead of the one whose moment comes first, and of these the one that has given way least often.
That is what Theorems 2 and 4 of paper 001 need, besides that the cost of a step depends on the
state, the thread that took the last step, and the next one: for how often a thread has given way,
and the moment it waits for, are part of the state.

**Timeouts as a last resort.**  A search may leave out all schedules in which a sleep or a timeout
ends early (`RunOptions.early_timeouts`).  Such a step then costs more than any bound allows: it is
not in E(s).  Nothing else changes.  E(s) is still a function of the state, it is empty only where
nobody can go on, and every step that is free above is still there and still free: none of them is
early, and who has given way least often among those that are not early stays so.  So the theorems
hold with it.  The executions of such a search are the partial orders of which *some* schedule has
no early timeout: where others could move, but what they do is independent of the timeout, it is
enough that they move first.  The reductions without a bound (`reduction`) know no costs, and do not
have this: a timeout would depend on all that makes anybody able to move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, NamedTuple

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


def find_giving_way(pending: Sequence[Operation | None], enabled: Sequence[int]) -> tuple[int, ...]:
    """Find the threads that can go on and give way."""
    return tuple(
        [
            thread
            for thread in enabled
            if (operation := pending[thread]) is not None
            and operation.yields is not False
            and gives_way(operation)
        ]
    )


class GivingWay(NamedTuple):
    """A thread that gives way, where all do."""

    thread: int
    times: int
    """How often it has given way before."""
    lasts: bool
    """Whether it waits for time to pass."""
    ends: float
    """The moment it waits for."""


PATIENCE: Final = 3
"""Whoever has given way more often than another one, by more than this, is not ahead of it."""
MOMENT: Final = 0.001
"""Moments that are no more seconds apart than this may come in any order."""


def find_late(resting: Sequence[GivingWay]) -> list[int]:
    """Find the threads whose sleep or timeout would be early, where all give way: somebody is
    ahead of them."""
    if len(resting) < 2:
        return []
    first = min([rest.ends for rest in resting])
    return [
        rest.thread
        for rest in resting
        if rest.lasts
        and rest.ends > first + MOMENT
        and any(
            other.ends + MOMENT < rest.ends and other.times <= rest.times + PATIENCE
            for other in resting
        )
    ]


def find_hasty(resting: Sequence[GivingWay]) -> list[int]:
    """Find the threads for which to go on is a preemption, where all give way."""
    late = find_late(resting)
    least = min([rest.times for rest in resting if rest.thread not in late], default=0)
    return [rest.thread for rest in resting if rest.times > least or rest.thread in late]


def list_resting(
    pending: Sequence[Operation | None], giving: Sequence[int], rests: Mapping[int, int]
) -> list[GivingWay]:
    """What the threads that give way wait for; `rests` says how often each has done so before."""
    return [
        GivingWay(thread, rests.get(thread, 0), one.seconds > 0, one.ends)
        for thread in giving
        if (one := pending[thread]) is not None
    ]


def find_early(
    pending: Sequence[Operation | None],
    giving: Sequence[int],
    enabled: Sequence[int],
    rests: Mapping[int, int],
) -> tuple[int, ...]:
    """Find the threads that give way and for which to go on is a preemption, whoever was last."""
    if len(giving) < len(enabled):
        return tuple(giving)
    return tuple(find_hasty(list_resting(pending, giving, rests)))


def find_untimely(
    pending: Sequence[Operation | None],
    giving: Sequence[int],
    enabled: Sequence[int],
    rests: Mapping[int, int],
) -> tuple[int, ...]:
    """Find the threads whose sleep or timeout would be early."""
    resting = list_resting(pending, giving, rests)
    if len(giving) == len(enabled):
        return tuple(find_late(resting))
    return tuple([rest.thread for rest in resting if rest.lasts])


class Preemptions:
    """Counts the preemptions of a run, step by step."""

    def __init__(self) -> None:
        self.count = 0
        self.early = 0
        """How many sleeps and timeouts were early."""
        self._rests: Counter[int] = Counter()
        """How often each thread has given way and gone on."""

    def take(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
    ) -> bool:
        """Let a thread go on after `last`, and say whether that is a preemption."""
        costs = self.costs(pending, enabled, last, chosen)
        giving = find_giving_way(pending, enabled)
        if chosen in giving:
            self.early += chosen in find_untimely(pending, giving, enabled, self._rests)
            self._rests[chosen] += 1
        self.count += costs
        return costs

    def costs(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int, chosen: int
    ) -> bool:
        """Say whether it would be a preemption to let a thread go on after `last`."""
        giving = find_giving_way(pending, enabled)
        if chosen != last and last in enabled and last not in giving:
            return True
        return chosen in giving and chosen in find_early(pending, giving, enabled, self._rests)

    def choose_free(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        """Choose who goes on without a preemption: the same thread while it can and does not give
        way, otherwise the next one that does not give way, otherwise the next one whose turn it is
        to."""
        giving = find_giving_way(pending, enabled)
        if last in enabled and last not in giving:
            return last
        later = find_early(pending, giving, enabled, self._rests)
        free = [thread for thread in enabled if thread not in later]
        return next((thread for thread in free if thread > last), free[0])

    def leave_out_early(
        self, pending: Sequence[Operation | None], enabled: Sequence[int]
    ) -> Sequence[int]:
        """Return the threads that can go on without an early timeout."""
        giving = find_giving_way(pending, enabled)
        untimely = find_untimely(pending, giving, enabled, self._rests)
        return [thread for thread in enabled if thread not in untimely] if untimely else enabled
