"""Learn what threads share by random schedules, where a search had to begin anew.

A search that meets something new loses all that it has seen (`observed_program.RelearnError`).  It
comes to new places one by one: a place that becomes a scheduling point lets the next search switch
there, which shows the next place.  Between two of them lie the runs of a whole search.  A random
schedule has nothing to lose, so what it shows counts from the next one on.

*Why nothing is lost or added.*  The search that follows still has to end without learning anything
(`sharing.locations` has the proof), so it does not matter what was tried before.  No schedule here
has more preemptions than the search allows, and so the search would have come to whatever these
runs show: more code that cannot be observed, for instance, makes no difference to its verdict.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.exploring.observed_program import ObservedProgram, RelearnError
from mazurka.runtime.sharing.locations import learned
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Abandon, Decider, Operation

QUIET = 8
"""So many runs in a row that show nothing new are enough."""
USUAL = 2
"""The preemptions of a run where there is no bound."""


class BoundedWalk(Decider):
    """Lets threads run at random, with no more preemptions than a bound allows.

    Where the running thread cannot go on, any other one does that costs no preemption.  The
    preemptions lie at steps that are chosen beforehand among as many as the last run had; and,
    every other time, where a thread comes to a place that has become a scheduling point just now:
    what it does right before may be the next thing to be learned.
    """

    def __init__(
        self,
        chance: random.Random,
        bound: int,
        steps: int,
        fresh: AbstractSet[int] = frozenset(),
        options: RunOptions | None = None,
    ) -> None:
        self._chance = chance
        self._fresh = fresh
        self._bound = bound
        self._options = options or RunOptions()
        self._changes = set(chance.sample(range(steps), min(bound, steps)))
        self._steps = 0
        self.preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        if self._steps >= self._options.max_steps:
            raise Abandon
        allowed = enabled
        if not self._options.early_timeouts:
            allowed = self.preemptions.leave_out_early(pending, enabled)
        chosen = self._choose(pending, enabled, allowed, last)
        self.preemptions.take(pending, enabled, last, chosen)
        self._steps += 1
        return chosen

    def _choose(
        self,
        pending: Sequence[Operation | None],
        enabled: Sequence[int],
        allowed: Sequence[int],
        last: int,
    ) -> int:
        costs = self.preemptions.costs
        if self.preemptions.count < self._bound and self._turns(
            pending[last] if last >= 0 else None
        ):
            others = [thread for thread in allowed if thread != last]
            if others:
                return self._chance.choice(others)
        free = [thread for thread in allowed if not costs(pending, enabled, last, thread)]
        return last if last in free else self._chance.choice(free)

    def _turns(self, operation: Operation | None) -> bool:
        """Whether the thread that ran last, and stands before an operation, is to be preempted."""
        if self._steps in self._changes:
            return True
        is_fresh = isinstance(operation, RealOperation) and operation.site in self._fresh
        return is_fresh and self._chance.random() < 0.5


def learn_ahead(program: ObservedProgram, bound: int | None, most: int, options: RunOptions) -> int:
    """Run random schedules until several in a row show nothing new, at most so many; return how
    many have shown something."""
    chance = random.Random(0)  # the same in every exploration of a test
    taught = quiet = 0
    preemptions = USUAL if bound is None else bound
    fresh = learned.new_places
    allowance = options.allowance
    for _ in range(most):
        if allowance is not None and allowance.find_exceeded():
            break
        steps = len(program.last_schedule)
        try:
            program.run(BoundedWalk(chance, preemptions, steps, fresh, options))
        except RelearnError:
            taught, quiet = taught + 1, 0
            fresh = learned.new_places or fresh
        else:
            quiet += 1
            if quiet == QUIET:
                break
    program.begin_search()
    return taught
